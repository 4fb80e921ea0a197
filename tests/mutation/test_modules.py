"""What mistakes are put into, and the tests that have to notice them, are there."""

from tests.mutation.modules import ROOT, modules


def test_every_module_has_files_and_tests_that_are_there() -> None:
    known = modules()
    assert set(known) == {"log", "codec", "projection", "recall", "prompt", "erasure", "masks", "steps", "service"}
    for module in known.values():
        assert module.paths()
        assert 0 < module.floor < 1, module.name
        assert [path for path in module.tests if not (ROOT / path).exists()] == [], module.name
