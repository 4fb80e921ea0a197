"""The quick benchmarks in one go, and what a change made worse: `make bench`, `make bench ARGS="--against HEAD~5"`.

    python -m bench.quick [--against COMMIT] [--rounds 3] [--within 220] [--json]

Each benchmark is a process, and a round is one of each. Against another commit, which is laid out in a folder of its
own for as long as this takes, every benchmark runs on both trees one right after the other, the first to go changing
from round to round: whatever else the machine does meets both. The benchmarks are this tree's on either side, so that
both are measured with the same ruler; what an older tree cannot be measured by is said and left out. Both run in this
tree's environment.

A figure's change is the median, over the rounds, of this tree's value over the other's. Its noise is the larger of both
sides' spreads, (largest − smallest) / median of its runs, and at least LEAST_NOISE; a count has none. It is worse where
the change is to the bad side and larger than the noise. With three rounds a figure that did not change is called worse
about three times in a hundred, so what matters is worth a second run.
"""

import argparse
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.report import Figure, machine, report, say

ROOT = Path(__file__).resolve().parent.parent
LEAST_NOISE = 0.03
LEAST_ROUNDS = 2  # fewer have no spread
LONGEST_S = 150.0  # for one benchmark; one that takes longer is left out


@dataclass(frozen=True, slots=True)
class Wanted:
    """A figure of a benchmark that is looked at: which way is better, and whether it is a count, which has no noise."""

    name: str
    higher: bool = False
    count: bool = False


@dataclass(frozen=True, slots=True)
class Benchmark:
    """A module of bench/ that prints one flat JSON object, made short by these arguments."""

    name: str
    arguments: tuple[str, ...]
    figures: tuple[Wanted, ...]


BENCHMARKS = (
    Benchmark(
        "startup",
        ("--turns", "400", "--runs", "2"),
        (
            Wanted("clew_paint_ms"),
            Wanted("paint_ratio"),
            Wanted("typed_ratio"),
            Wanted("version_ratio"),
            Wanted("modules_at_paint", count=True),
        ),
    ),
    Benchmark(
        "append",
        ("--turns", "1000", "--samples", "150"),
        (Wanted("appends_per_s", higher=True), Wanted("append_p50_ms"), Wanted("append_p95_ms")),
    ),
    Benchmark(
        "recall",
        ("--sizes", "10000", "--samples", "40"),
        (
            Wanted("plain_p50_ms_at_10000"),
            Wanted("filtered_p50_ms_at_10000"),
            Wanted("after_an_append_p50_ms_at_10000"),
            Wanted("with_embedding_p50_ms_at_10000"),
            Wanted("with_embedding_p95_ms_at_10000"),
        ),
    ),
    Benchmark(
        "first_token",
        ("--exchanges", "12", "--usual-samples", "0", "--page-words", "90", "--reply-tokens", "6"),
        (Wanted("median_ms"), Wanted("first_message_ms"), Wanted("median_evaluated_tokens", count=True)),
    ),
    Benchmark(
        "throughput",
        ("--streams", "app", "--rounds", "1"),
        (Wanted("app_tps", higher=True), Wanted("app_over_raw", higher=True)),
    ),
)


class CannotCompare(Exception):
    """What stands in the way of a comparison, and what to do about it; written for the person at the terminal."""


class GitFailed(CannotCompare):
    """What git said last."""


class Failed(Exception):
    """A benchmark that did not end, or not with figures, in a few words."""


@dataclass(frozen=True, slots=True)
class Change:
    """A figure on both sides: medians, how it changed, and how much worse that is, both as shares of what it was."""

    name: str
    before: float
    now: float
    change: float
    worse_by: float
    noise: float

    @property
    def verdict(self) -> str:
        """`worse` or `better` where that is more than the noise, else nothing."""
        return "worse" if self.worse_by > self.noise else "better" if self.worse_by < -self.noise else ""


def spread(values: Sequence[float]) -> float:
    """(largest − smallest) / median of the runs of one side."""
    middle = statistics.median(values)
    return (max(values) - min(values)) / middle if middle else 0.0


def change(wanted: Wanted, before: Sequence[float], now: Sequence[float]) -> Change:
    """How a figure changed; the values of a round stand at the same place in both, and none is 0 or less."""
    ratio = statistics.median(new / old for old, new in zip(before, now, strict=True))
    noise = 0.0 if wanted.count else max(LEAST_NOISE, spread(before), spread(now))
    worse_by = 1 - ratio if wanted.higher else ratio - 1
    return Change(wanted.name, statistics.median(before), statistics.median(now), ratio - 1, worse_by, noise)


class Runs:
    """The figures of one tree: for each benchmark a mapping a round, None where it failed."""

    def __init__(self, tree: Path, name: str) -> None:
        self.tree, self.name = tree, name
        self.rounds: dict[str, list[Mapping[str, Figure] | None]] = {each.name: [] for each in BENCHMARKS}
        self.failed: dict[str, str] = {}

    def run(self, benchmark: Benchmark, ruler: Path) -> None:
        """Once more, unless it has failed here before."""
        found: Mapping[str, Figure] | None = None
        if benchmark.name not in self.failed:
            try:
                found = run(benchmark, self.tree, ruler)
            except Failed as error:
                self.failed[benchmark.name] = str(error)
        self.rounds[benchmark.name].append(found)

    def values(self, benchmark: str, figure: str) -> list[float | None]:
        """The figure in each round; None where there is no such number."""
        found = [each.get(figure) if each is not None else None for each in self.rounds[benchmark]]
        return [float(each) if isinstance(each, int | float) and each > 0 else None for each in found]


def run(benchmark: Benchmark, tree: Path, ruler: Path) -> Mapping[str, Figure]:
    """One run on a tree; `ruler` is the folder that holds nothing but bench/. Raises Failed."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    command = [sys.executable, "-m", f"bench.{benchmark.name}", *benchmark.arguments, "--json"]
    try:
        ended = subprocess.run(
            command,
            cwd=ruler,
            env=environment | {"PYTHONPATH": str(tree)},
            capture_output=True,
            text=True,
            timeout=LONGEST_S,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise Failed(f"it did not end within {LONGEST_S:.0f} s") from error
    if ended.returncode:
        raise Failed(last_line(ended.stderr) or f"it ended with {ended.returncode}")
    try:
        found = json.loads(last_line(ended.stdout))
    except ValueError as error:
        raise Failed("it printed no figures") from error
    if not isinstance(found, dict):
        raise Failed("it printed no figures")
    return found


def last_line(text: str) -> str:
    """The last line that says something."""
    return next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "")


@contextmanager
def laid_out(commit: str, folder: Path) -> Iterator[Path]:
    """That commit's tree in a folder, for as long as this lasts. Raises CannotCompare."""
    tree = folder / "against"
    git("worktree", "add", "--detach", str(tree), whole_name(commit))
    try:
        yield tree
    finally:
        git("worktree", "remove", "--force", str(tree))


def whole_name(commit: str) -> str:
    """The hash of a commit. Raises CannotCompare where there is none of that name."""
    if not (ROOT / ".git").exists():
        raise CannotCompare(f"{ROOT} is no clone, so there is no other commit in it. Nothing was run.")
    try:
        return git("rev-parse", "--verify", "--quiet", "--end-of-options", f"{commit}^{{commit}}")
    except GitFailed as error:
        raise CannotCompare(
            f"There is no commit {commit!r} here. Nothing was run. `git log --oneline` shows those that there are; a "
            "shallow clone has only the newest, and `git fetch --unshallow` brings the others."
        ) from error


def git(*arguments: str) -> str:
    """What git says, in this tree. Raises CannotCompare."""
    try:
        ended = subprocess.run(["git", "-C", str(ROOT), *arguments], capture_output=True, text=True, check=False)
    except OSError as error:
        raise CannotCompare(
            f"git cannot be run: {error.strerror or error}. Without --against it is not needed."
        ) from error
    if ended.returncode:
        raise GitFailed(f"git {arguments[0]} did not succeed: {last_line(ended.stderr) or ended.returncode}")
    return ended.stdout.strip()


def measure(sides: Sequence[Runs], ruler: Path, *, rounds: int, within_s: float) -> int:
    """Run all on every side, at most so many rounds, and no more than fit; how many it were."""
    began, longest = time.monotonic(), 0.0
    for number in range(rounds):
        start = time.monotonic()
        if number >= LEAST_ROUNDS and start - began + longest > within_s:
            say(f"No more than {number} of {rounds} rounds fit into {within_s:.0f} s; --within gives them more.")
            return number
        for benchmark in BENCHMARKS:
            for side in sides if number % 2 == 0 else reversed(sides):
                say(f"round {number + 1} of {rounds}: {benchmark.name}, {side.name}")
                side.run(benchmark, ruler)
        longest = max(longest, time.monotonic() - start)
    return rounds


def changes(before: Runs, now: Runs) -> list[Change]:
    """Every figure that both sides have, by the rounds in which both have it."""
    found = []
    for benchmark in BENCHMARKS:
        for wanted in benchmark.figures:
            values = zip(
                before.values(benchmark.name, wanted.name), now.values(benchmark.name, wanted.name), strict=True
            )
            pairs = [(old, new) for old, new in values if old is not None and new is not None]
            if len(pairs) >= LEAST_ROUNDS:
                named = Wanted(f"{benchmark.name}.{wanted.name}", wanted.higher, wanted.count)
                found.append(change(named, [old for old, _ in pairs], [new for _, new in pairs]))
    return found


def told_alone(side: Runs) -> Iterator[str]:
    """A line for each figure of one tree: its median, and from where to where it went."""
    for benchmark in BENCHMARKS:
        for wanted in benchmark.figures:
            values = [value for value in side.values(benchmark.name, wanted.name) if value is not None]
            if values:
                span = f"({min(values):.4g} – {max(values):.4g})"
                yield f"{benchmark.name + '.' + wanted.name:<40} {statistics.median(values):>9.4g}  {span}"


def told_against(found: Sequence[Change], commit: str) -> Iterator[str]:
    """A line for each figure on both sides, and last what got worse."""
    yield f"{'':<40} {'then':>9} {'now':>9} {'change':>8} {'noise':>7}"
    for each in found:
        medians = f"{each.before:>9.4g} {each.now:>9.4g}"
        yield f"{each.name:<40} {medians} {100 * each.change:>+7.1f}% {100 * each.noise:>6.1f}% {each.verdict}".rstrip()
    worse = [f"{each.name} ({100 * each.worse_by:.0f} %)" for each in found if each.verdict == "worse"]
    yield ""
    yield f"Worse than at {commit} by more than its noise: {', '.join(worse) or 'nothing'}."


def flat(sides: Sequence[Runs], found: Sequence[Change]) -> dict[str, Figure]:
    """All of it as one flat object: medians, and with another commit what they were, and how much worse they are."""
    figures: dict[str, Figure] = {}
    for benchmark in BENCHMARKS:
        for wanted in benchmark.figures:
            values = [value for value in sides[-1].values(benchmark.name, wanted.name) if value is not None]
            figures[f"{benchmark.name}.{wanted.name}"] = statistics.median(values) if values else None
    for each in found:
        figures |= {f"{each.name}.before": each.before, f"{each.name}.worse_by": each.worse_by}
        figures |= {f"{each.name}.noise": each.noise, f"{each.name}.verdict": each.verdict}
    return figures


def main() -> int:
    """The command line; 1 where a benchmark of this tree failed, 2 where there is nothing to compare with."""
    parser = argparse.ArgumentParser(prog="python -m bench.quick", description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--against", metavar="COMMIT", help="run them on this commit, too, and tell what got worse")
    parser.add_argument("--rounds", type=int, default=3, help=f"how often each runs, at least {LEAST_ROUNDS}")
    parser.add_argument("--within", type=float, default=220.0, help="seconds that it may take, if the rounds are many")
    parser.add_argument("--json", action="store_true", help="print one flat JSON object")
    options = parser.parse_args()
    if options.rounds < LEAST_ROUNDS:
        parser.error(f"--rounds must be at least {LEAST_ROUNDS}: one run alone has no spread")
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))  # the other tree is taken away
    try:
        return compare(options)
    except CannotCompare as error:
        print(error, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("\nStopped: there are no figures.", file=sys.stderr)
        return 130


def compare(options: argparse.Namespace) -> int:
    """Run what the command line asks for. Raises CannotCompare."""
    with tempfile.TemporaryDirectory(prefix="clew-bench-") as folder:
        ruler = Path(folder) / "ruler"
        ruler.mkdir()
        (ruler / "bench").symlink_to(ROOT / "bench")
        here = Runs(ROOT, "this tree")
        if options.against is None:
            measure([here], ruler, rounds=options.rounds, within_s=options.within)
            return tell([here], options)
        with laid_out(options.against, Path(folder)) as tree:
            say(f"This tree {uncommitted()}against {git('log', '-1', '--format=%h %s', whole_name(options.against))}")
            for name in ("constraints.txt", "pyproject.toml"):
                if (tree / name).exists() and (tree / name).read_bytes() != (ROOT / name).read_bytes():
                    say(f"{name} is another one there; both run with what is installed here.")
            there = Runs(tree, options.against)
            measure([there, here], ruler, rounds=options.rounds, within_s=options.within)
        return tell([there, here], options)


def uncommitted() -> str:
    """Says so where the tree is not as it was committed."""
    return "(with changes that are not committed) " if git("status", "--porcelain") else ""


def tell(sides: Sequence[Runs], options: argparse.Namespace) -> int:
    """Print what was found, and what could not be measured; the exit code."""
    found = changes(sides[0], sides[1]) if len(sides) > 1 else []
    if options.json:
        report(flat(sides, found), as_json=True)
    else:
        print(f"{machine()}\n")
        print("\n".join(told_against(found, options.against) if len(sides) > 1 else told_alone(sides[0])))
    for side in sides:
        for name, why in side.failed.items():
            print(f"bench.{name} cannot measure {side.name}, and was left out: {why}", file=sys.stderr)
    return 1 if sides[-1].failed else 0


if __name__ == "__main__":
    sys.exit(main())
