"""The recorded contract: what people and programs touch, and the tests that say where the present code differs."""
