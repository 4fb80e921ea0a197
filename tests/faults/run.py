"""Puts each seeded fault into a copy of the tree, and says which test caught it.

    python -m tests.faults.run [ID ...] [--all-tests]

The copy has the files that git knows and those it does not ignore, as they are now; the checkout is not touched. First
every fault must have its place, and the tests that the faults name must pass without any. Then the faults are put in
one at a time, and only the tests that `caught_by` names are run, up to the first that fails. With `--all-tests` all
tests are run instead, and the first three that fail are named: to find what else catches a fault, or whether anything
does. Exit status 1: a fault survived, or its tests could not be run; 2: nothing was begun.

When code moves, whoever moves it takes its faults along ("re-anchoring"). `make check` names those that lost their
place (`test_catalogue.py`). For each of them: find where the behaviour is decided now; write that `file` and a piece
of its text as `before`, as short as it can be and still tell what it is about, once in that file (three lines at most;
one is best, without the words around it that may change next time); write as `after` the same mistake that `what`
describes, so that a person would meet the same trouble, and no error of syntax. `id`, `what` and `spec` stay. Where
the code that could have the fault is gone, because a library or a simpler design makes the mistake impossible, write
another fault that breaks the same promise in the new place. Then run this for the ids concerned. A fault that survives
is no reason to change the fault: it shows that the tests lost something in the move, and a test has to be mended or
written. Tests that were renamed are renamed in `caught_by`, too; a file without a test's name is enough.
"""

import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from tests import rooms
from tests.faults.catalogue import ROOT, Fault, load, misplaced, missing_tests

LIMIT_S, LONGEST_S = 300.0, 3600.0  # for the tests of one fault, and for all tests
PATIENCE_S = 15.0  # what a screen does not show by then it never will: most faults are caught so
SHOWN = 40  # lines of pytest's words where something is wrong with the tests themselves
PYTEST = ("-q", "-n0", "-p", "no:cacheprovider")
FAILED = 1  # pytest's exit status where tests failed; others are of what kept it from running them
_NAMED = re.compile(r"^(?:FAILED|ERROR) (\S+?)(?:\[.*)?(?: - .*)?$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Ended:
    """How pytest ended: its exit status (None: it was given up after its time), what it said, and how long it took."""

    status: int | None
    said: str
    took_s: float


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of a fault: the tests that caught it, or why there are none."""

    fault: Fault
    caught: tuple[str, ...]
    why: str
    took_s: float

    def __str__(self) -> str:
        return f"caught by {', '.join(self.caught)}" if self.caught else self.why


class Tree:
    """A copy of the working tree in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "tree"
        self._temporary = folder / "tests"
        self._temporary.mkdir()
        self._times = count(1)
        listed = subprocess.run(
            ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
            cwd=ROOT,
            capture_output=True,
            check=True,
        )
        for name in filter(None, listed.stdout.decode().split("\0")):
            if (ROOT / name).is_file():
                (self.root / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, self.root / name)

    def write(self, name: str, text: str) -> None:
        """Write a file anew; what was compiled of it before does not count, whatever the clock says."""
        path = self.root / name
        path.write_text(text, encoding="utf-8")
        moment = time.time() + next(self._times)
        os.utime(path, (moment, moment))

    def test(self, nodes: Sequence[str], *options: str, limit_s: float) -> Ended:
        """Run tests in the copy; what they start goes with them where they are given up."""
        command = [sys.executable, "-m", "pytest", *PYTEST, *options, *nodes]
        environment = os.environ | {
            "PYTHONPATH": str(self.root),
            "PYTEST_DEBUG_TEMPROOT": str(self._temporary),
            "CLEW_TEST_PATIENCE_S": str(PATIENCE_S),
        }
        environment.pop("PYTHONDONTWRITEBYTECODE", None)  # or all of it would be compiled for each fault
        began = time.monotonic()
        process = subprocess.Popen(
            command,
            cwd=self.root,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
        )
        status: int | None
        try:
            said, _ = process.communicate(timeout=limit_s)
            status = process.returncode
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            said, _ = process.communicate()
            status = None
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            raise
        return Ended(status, said, time.monotonic() - began)


def judged(fault: Fault, ended: Ended) -> Verdict:
    """What the end of its tests says of a fault."""
    match ended.status:
        case None:
            return Verdict(fault, ("the time limit",), "", ended.took_s)
        case 0:
            return Verdict(fault, (), "SURVIVED", ended.took_s)
        case status if status == FAILED and (named := failed_in(ended.said)):
            return Verdict(fault, named, "", ended.took_s)
        case status:
            return Verdict(fault, (), f"NOT RUN: pytest ended with {status}\n{_end_of(ended.said)}", ended.took_s)


def failed_in(said: str) -> tuple[str, ...]:
    """The tests that pytest's summary names, each once, without what they were given."""
    return tuple(dict.fromkeys(_NAMED.findall(said)))


def _end_of(said: str) -> str:
    return "\n".join(said.splitlines()[-SHOWN:])


def chosen(faults: Sequence[Fault], ids: Sequence[str]) -> list[Fault]:
    """The faults with these ids, all where none is named. Raises ValueError for one that there is not."""
    known = {fault.id: fault for fault in faults}
    if unknown := [id for id in ids if id not in known]:
        raise ValueError(f"There is no fault {', '.join(unknown)}.")
    return [known[id] for id in dict.fromkeys(ids)] if ids else list(faults)


def tried(tree: Tree, fault: Fault, *, all_tests: bool) -> Verdict:
    """Put a fault into the copy, run its tests, and take it out again."""
    sound = (tree.root / fault.file).read_text(encoding="utf-8")
    tree.write(fault.file, fault.in_place(tree.root))
    try:
        if all_tests:
            return judged(fault, tree.test(["tests"], "--ignore=tests/faults", "--maxfail=3", limit_s=LONGEST_S))
        return judged(fault, tree.test(fault.caught_by, "-x", limit_s=LIMIT_S))
    finally:
        tree.write(fault.file, sound)


def table(verdicts: Sequence[Verdict]) -> str:
    """A line for each fault, and one that counts them."""
    wide = max((len(each.fault.id) for each in verdicts), default=0)
    lines = [f"{each.fault.id:<{wide}}  {each.took_s:>5.1f} s  {str(each).splitlines()[0]}" for each in verdicts]
    caught = sum(bool(each.caught) for each in verdicts)
    return "\n".join([*lines, f"{len(verdicts)} faults: {caught} caught, {len(verdicts) - caught} not"])


def tell(text: str) -> None:
    """At once, also into a pipe."""
    print(text, flush=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """Try the faults; the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("ids", nargs="*", metavar="ID", help="only these faults")
    parser.add_argument("--all-tests", action="store_true", help="run all tests on each, not only those it names")
    options = parser.parse_args(arguments)
    try:
        faults = chosen(load(), options.ids)
    except ValueError as error:
        tell(str(error))
        return 2
    if wrong := misplaced(faults) + missing_tests(faults):
        tell("\n".join(wrong))
        return 2
    rooms.in_ram()
    with tempfile.TemporaryDirectory(prefix="clew-faults-", dir=os.environ.get("PYTEST_DEBUG_TEMPROOT")) as folder:
        tree = Tree(Path(folder))
        nodes = sorted({node for fault in faults for node in fault.caught_by})
        sound = tree.test(nodes, limit_s=LONGEST_S)
        if sound.status != 0:
            tell(f"The tests do not pass without any fault.\n{_end_of(sound.said)}")
            return 2
        tell(f"{len(nodes)} files and tests pass without any fault, in {sound.took_s:.0f} s.")
        verdicts: list[Verdict] = []
        for fault in faults:
            verdicts.append(tried(tree, fault, all_tests=options.all_tests))
            tell(f"{fault.id}: {verdicts[-1]}")
    tell("")
    tell(table(verdicts))
    return 0 if all(each.caught for each in verdicts) else 1


if __name__ == "__main__":
    sys.exit(main())
