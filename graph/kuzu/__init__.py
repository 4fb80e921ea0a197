"""The graph in Kuzu: opened, followed, rebuilt, with the room it needs."""
