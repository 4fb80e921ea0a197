"""Puts small mistakes into a copy of clew, one at a time, and tells how many of them its tests notice.

    python -m tests.mutation.run [MODULE ...] [--sample 20] [--seed 1] [--json FILE]

The mistakes are cosmic-ray's: another comparison, a number one off, a condition the other way round, a loop that is not
entered. Of each module in `modules.toml` some places are drawn by the seed, and for each place one mistake. What is
drawn hangs on the seed and the text of each line, so that a change elsewhere leaves the sample, and its score, alone.
Tests that load a model are left out, for their time.

A mistake that survives is shown as a diff: a test is missing, or the mistake changes nothing that anybody could notice.
Exit status 1: fewer were noticed than the floor of a module says; 2: the tests do not pass without any.
"""

import argparse
import hashlib
import json
import multiprocessing
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from multiprocessing.queues import Queue
from pathlib import Path

from cosmic_ray.ast import ast_nodes, get_ast_from_path
from cosmic_ray.mutating import mutate_and_test
from cosmic_ray.plugins import get_operator, operator_names
from cosmic_ray.work_item import MutationSpec

from tests import rooms
from tests.mutation.modules import ROOT, Module, modules

# Of these each is noticed at once or changes nothing: types in annotations, decorators, the names of exceptions.
LEFT_OUT = ("BitOr", "RemoveDecorator", "ExceptionReplacer")
AT_ONCE = 2


@dataclass(frozen=True, slots=True)
class Mutant:
    """What became of one mistake."""

    module: str
    mistake: str
    noticed: bool
    why: str  # the test that noticed, or the diff of what nobody did


def main(arguments: Sequence[str] | None = None) -> int:
    """Try a sample of mistakes; the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("modules", nargs="*", metavar="MODULE", help="only these")
    parser.add_argument("--sample", type=int, default=20, help="mistakes in each module")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write what became of each")
    options = parser.parse_args(arguments)
    known = modules()
    if unknown := [name for name in options.modules if name not in known]:
        parser.error(f"there is no module {', '.join(unknown)}; there are {', '.join(known)}")
    chosen = [known[name] for name in options.modules or known]
    rooms.in_ram()
    with tempfile.TemporaryDirectory(prefix="clew-mutants-", dir=os.environ.get("PYTEST_DEBUG_TEMPROOT")) as folder:
        trees = [Path(folder) / f"tree-{number}" for number in range(AT_ONCE)]
        copy(trees[0])
        limits: dict[str, float] = {}
        for module in chosen:
            began = time.monotonic()
            sound = subprocess.run(module.command(), cwd=trees[0], capture_output=True, text=True, check=False)
            took = time.monotonic() - began
            if sound.returncode:
                tell(f"The tests of {module.name} do not pass without any mistake.\n{sound.stdout[-4000:]}")
                return 2
            tell(f"{module.name}: its tests pass in {took:.0f} s")
            limits[module.name] = 3 * took + 30
        for tree in trees[1:]:
            shutil.copytree(trees[0], tree, copy_function=shutil.copy2)  # with what was compiled
        found = list(_tried(chosen, limits, trees, options.sample, options.seed))
    if options.json:
        options.json.write_text(json.dumps([asdict(each) for each in found], indent=1), encoding="utf-8")
    return _judged(chosen, found)


def copy(tree: Path) -> None:
    """Copy the files that git knows, and those it does not ignore, as they are now."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    for name in filter(None, listed.stdout.decode().split("\0")):
        if (ROOT / name).is_file():
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, tree / name)


def sample(module: Module, count: int, seed: int) -> list[MutationSpec]:
    """Draw places of a module, and for each of them one mistake; a line that stays the same is drawn as before."""
    places: dict[str, list[MutationSpec]] = defaultdict(list)
    operators = {
        name: get_operator(name)()
        for name in sorted(operator_names())
        if not any(part in name for part in LEFT_OUT) and not get_operator(name).arguments()
    }
    for path in module.paths():
        lines = (ROOT / path).read_text(encoding="utf-8").splitlines()
        nodes = list(ast_nodes(get_ast_from_path(ROOT / path)))
        for name, operator in operators.items():
            spots = (spot for node in nodes for spot in operator.mutation_positions(node))
            for occurrence, ((line, column), end) in enumerate(spots):
                text = lines[line - 1]
                place = f"{path}:{lines[:line].count(text)}:{column}:{text}"
                places[place].append(MutationSpec(path, name, occurrence, (line, column), end))

    def chance(text: str) -> bytes:
        return hashlib.sha256(f"{seed} {module.name} {text}".encode()).digest()

    drawn = sorted(places, key=chance)[:count]
    return [min(places[place], key=lambda spec: chance(f"{spec.operator_name} {place}")) for place in drawn]


def tell(text: str) -> None:
    """At once, also into a pipe."""
    print(text, flush=True)


def _tried(
    chosen: Sequence[Module], limits: dict[str, float], trees: Sequence[Path], count: int, seed: int
) -> Iterator[Mutant]:
    """Each of the sample, as it is known; in each tree one at a time."""
    spawning = multiprocessing.get_context("spawn")
    free: Queue[Path] = spawning.Queue()
    for tree in trees:
        free.put(tree)
    with ProcessPoolExecutor(AT_ONCE, spawning, _settle, (free,)) as pool:
        waiting = [
            (module, spec, pool.submit(_try, spec, shlex.join(module.command()), limits[module.name]))
            for module in chosen
            for spec in sample(module, count, seed)
        ]
        for module, spec, done in waiting:
            noticed, why = done.result()
            mistake = f"{spec.module_path}:{spec.start_pos[0]} {spec.operator_name.rpartition('/')[2]}"
            tell(f"{module.name:<10} {'noticed ' if noticed else 'SURVIVED'} {mistake}")
            yield Mutant(module.name, mistake, noticed, why)


def _settle(free: "Queue[Path]") -> None:
    """Let this process work in a tree of its own."""
    os.chdir(free.get())


def _try(spec: MutationSpec, command: str, limit_s: float) -> tuple[bool, str]:
    """Whether the tests notice a mistake, and the last word on it. Raises RuntimeError where it could not be made."""
    done = mutate_and_test([spec], command, limit_s)
    if done.test_outcome is None or done.worker_outcome != "normal":
        raise RuntimeError(f"{spec}: {done.worker_outcome}\n{done.output}")
    if not done.is_killed:
        return False, done.diff or ""
    named = [line for line in (done.output or "").splitlines() if line.startswith(("FAILED", "ERROR"))]
    return True, named[0] if named else (done.output or "")[-200:]


def _judged(chosen: Sequence[Module], found: Sequence[Mutant]) -> int:
    """Tell what survived, and the score of each module; the exit status."""
    low = False
    for mutant in found:
        if not mutant.noticed:
            tell(f"\n{mutant.mistake}\n{mutant.why}")
    tell("")
    for module in chosen:
        noticed = [mutant.noticed for mutant in found if mutant.module == module.name]
        score = sum(noticed) / len(noticed)
        low |= score < module.floor
        tell(f"{module.name:<10} {sum(noticed):>3} of {len(noticed):>3} noticed: {score:.2f}, floor {module.floor:.2f}")
    return int(low)


if __name__ == "__main__":
    sys.exit(main())
