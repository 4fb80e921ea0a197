"""Which tests are of which kind, and the order in which they run.

A test is marked by what it uses where that can be seen, and by hand where it cannot:
- `process` starts a process.
- `model` loads a real model, which is tried in a process first. One worker runs them all: the models are loaded once,
  and do not compete for the cores.
- `real` talks with a model that people run, where it is to be had: one worker of its own.
- `stateful` is a long random search.
- `restarts` opens a graph again and again: begins anew with the same memory, deletes for good, or gives many commands.
  One test in ten does, and they take two fifths of the time of all that run no process.
- `ui` runs an app, `opens` opens an agent or a memory by one of their fixtures. Of these `make check` runs those marked
  `sample`: pictures of the screens, one test in each file that opens something, and some that are marked so by hand.
- `soak` is run by `make soak` alone, where it takes long and shows no more than others do that are always run.
- `cases` is of a test whose many cases take long. Of those, and of all the kinds above, `make test` runs a quarter of
  the cases, the first and the last among them, and `make soak` all; `make check` runs a tenth of the
  cases of any test, two at least.

A test that starts a process, runs an app or opens a third graph without the mark fails, so that the marks stay true.
"""

import sys
import unittest
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tests.examples import few, hurrying, soaking

PROCESSES = {"spawn", "background", "connect", "told"}
NOT_HERE = "real model not here: "  # so begins why such a test is skipped, which the summary of the run says
MODELS = {"generator", "chat_gguf", "embed_gguf", "of_models", "answering"}
OPENS = {"agent", "make_agent", "clew", "memory", "opening", "whole"}
SLOW = ("stateful", "process")
SAMPLED = ("process", "model", "stateful", "restarts", "ui", "cases")
ALLOWED = {"restarts": 2}  # times without the mark: whether a second graph is opened can be a matter of luck

_IMPLIED_BY = {"process": ("model",), "restarts": ("process", "model", "stateful", "ui")}  # which are counted as theirs
_STARTS = {"subprocess.Popen", "os.fork", "os.forkpty", "os.posix_spawn"}
_seen: Counter[str] = Counter()
FAILED = pytest.StashKey[bool]()


def mark(items: list[pytest.Item]) -> None:
    """Mark the tests, and put first what takes longest, so that all workers end together."""
    sampled: set[Path] = set()
    for item in items:
        for kind in _kinds(item):
            item.add_marker(kind)
        if _is(item, "model"):
            item.add_marker(pytest.mark.xdist_group("real" if _is(item, "real") else "model"))
        if _is(item, "opens") and not _is(item, *SLOW, "model", "restarts") and item.path not in sampled:
            sampled.add(item.path)
            item.add_marker("sample")
        if "snap_compare" in getattr(item, "fixturenames", ()):
            item.add_marker("sample")
    items.sort(key=lambda item: [not _is(item, kind) for kind in SLOW])


def leave_out(items: list[pytest.Item]) -> list[pytest.Item]:
    """Take out of the items what is tried in `make soak` alone; those taken out."""
    if soaking():
        return []
    cases: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        cases[item.nodeid.partition("[")[0]].append(item)
    kept: set[pytest.Item] = set()
    for group in cases.values():
        lasting = [item for item in group if not _is(item, "soak")]
        sampled = hurrying() or any(_is(item, *SAMPLED) for item in lasting)
        kept.update(_spread(lasting) if sampled else lasting)
    left_out = [item for item in items if item not in kept]
    items[:] = [item for item in items if item in kept]
    return left_out


def _spread(cases: Sequence[pytest.Item]) -> list[pytest.Item]:
    """A quarter of them (in a hurry a tenth), or two: the first, the last, and others as far apart as can be."""
    most = min(len(cases), max(2, few(len(cases))))
    return [cases[round(place * (len(cases) - 1) / max(1, most - 1))] for place in range(most)]


def saw(kind: str) -> None:
    """Note what the running test does, each time; of `restarts`: that it opens a graph."""
    _seen[kind] += 1


def watch_processes() -> None:
    """Note every process that is started from now on."""

    def hook(event: str, _: object) -> None:
        if event in _STARTS:
            saw("process")

    sys.addaudithook(hook)


def held_to(item: pytest.Item) -> Iterator[None]:
    """Let a test run. Fails where it passed and did what it is not marked with."""
    _seen.clear()
    yield
    if item.stash.get(FAILED, False):
        return
    found = (kind for kind, times in _seen.items() if times > ALLOWED.get(kind, 0))
    missing = sorted(kind for kind in found if not _is(item, kind, *_IMPLIED_BY.get(kind, ())))
    assert not missing, f"mark it: {', '.join(f'@pytest.mark.{kind}' for kind in missing)}"


def _kinds(item: pytest.Item) -> Iterator[str]:
    used = set(getattr(item, "fixturenames", ()))
    if used & PROCESSES:
        yield "process"
    if used & MODELS:
        yield "model"
    if used & OPENS:
        yield "opens"
    if _has_usual_app(item):
        yield "ui"
    if issubclass(getattr(item, "cls", None) or object, unittest.TestCase):  # as hypothesis makes of a state machine
        yield "stateful"


def _has_usual_app(item: pytest.Item) -> bool:
    """Whether a test runs an app by one of the fixtures that make it, or compares a picture."""
    return "snap_compare" in getattr(item, "fixturenames", ()) or "tests.tui.conftest" in _makers(item, "chat")


def _makers(item: pytest.Item, fixture: str) -> Sequence[str]:
    """Modules that make a fixture which the test uses."""
    found = getattr(item, "_fixtureinfo", None)
    return [each.func.__module__ for each in found.name2fixturedefs.get(fixture, ())[-1:]] if found else []


def _is(item: pytest.Item, *kinds: str) -> bool:
    return any(item.get_closest_marker(kind) for kind in kinds)
