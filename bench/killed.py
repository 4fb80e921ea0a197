"""kill -9 while a person goes back and forth, deletes, and the purge runs: nothing acknowledged is lost, no word back.

    python -m bench.killed [--n 1000] [--seed 1] [--longest 1.0] [--json]

A child process does one deed after the other and says after each where the log stands; it is killed, and the memory is
opened again and looked at: every acknowledged event is there with its hash, the doctor is content, every world is what
the definitions say; and every CHECKED kills, when the purge is through, no file under the home holds an erased word.
Exits 1 if a promise was broken.
"""

import argparse
import random
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from bench.compared import differences
from bench.person import DEEDS, OFTEN, WORDS, Person
from bench.report import report, say

CHECKED = 5
FRESH = 50  # kills after which a new memory is begun, so that the looks stay quick
ALWAYS = [*DEEDS, *OFTEN, "delete", "delete"]
FIRST = ["delete", "send", "learn"]  # where a child is slow, few deeds follow


@dataclass(slots=True)
class Toll:
    """What the kills did."""

    kills: int = 0
    deeds: int = 0
    deletions: int = 0
    lost: int = 0
    failed_starts: int = 0
    failed_doctors: int = 0
    wrong_worlds: int = 0
    words_back: int = 0
    first_failure: str = ""
    seconds: float = 0.0

    @property
    def clean(self) -> bool:
        """Whether no promise was broken."""
        return not (self.lost or self.failed_starts or self.failed_doctors or self.wrong_worlds or self.words_back)


def kill_many(folder: Path, *, kills: int, seed: int, longest_s: float) -> Toll:
    """Kill a child so often, each up to `longest_s` seconds after it began its deeds or, by turns, its opening."""
    chance, toll, began = random.Random(seed), Toll(), time.monotonic()
    gone: set[str] = set()
    home = folder / "0"
    while toll.kills < kills:
        if toll.kills % FRESH == 0:
            home, gone = folder / str(toll.kills), set()
        head, link = _kill_one(home, chance, toll, gone, longest_s)
        toll.kills += 1
        _look(home, head, link, toll, gone, thoroughly=toll.kills % CHECKED == 0)
        if toll.kills % 20 == 0:
            say(f"{toll.kills} of {kills} killed, {toll.deeds} deeds: {'well' if toll.clean else toll.first_failure}")
    toll.seconds = round(time.monotonic() - began, 1)
    return toll


def _kill_one(home: Path, chance: random.Random, toll: Toll, gone: set[str], longest_s: float) -> tuple[int, str]:
    """Let a child do deeds and kill it; the last head it acknowledged, and the hash there."""
    command = [sys.executable, "-m", "bench.killed", "--child", str(home), "--seed", str(chance.randrange(10**9))]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    head, link = 0, ""
    with process:
        if process.stdout is None or process.stderr is None:
            raise RuntimeError("there is no pipe to the child")
        if toll.kills % 4 == 0:
            _wait(process, chance.uniform(0.2, 1.5))  # while it opens
        elif process.stdout.readline():
            _wait(process, chance.uniform(0, longest_s))
        ended = process.poll()
        process.kill()
        for line in process.stdout:
            match line.split():
                case ["at", number, hash] if line.endswith("\n"):
                    head, link = int(number), hash
                    toll.deeds += 1
                case ["gone", *words] if line.endswith("\n"):
                    gone |= set(words)
                    toll.deletions += 1
                case _:
                    pass
        if ended is not None:
            toll.failed_starts += 1
            _note(toll, process.stderr.read()[-2000:])
    return head, link


def _wait(process: "subprocess.Popen[str]", seconds: float) -> None:
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        return


def _look(home: Path, head: int, link: str, toll: Toll, gone: set[str], *, thoroughly: bool) -> None:
    """Open what the kill left, and hold it against all promises."""
    person = Person(home)
    try:
        memory = person.memory
        if memory.head() < head or (head and memory._reader.link(head).hex() != link):
            toll.lost += 1
            _note(toll, f"event {head} was acknowledged, and the log ends at {memory.head()}")
        if thoroughly:
            person.runner.run(person.agent.erasure.finished())
            for word in sorted(gone):
                back = [str(path) for path in home.rglob("*") if path.is_file() and word.encode() in path.read_bytes()]
                toll.words_back += bool(back)
                if back:
                    _note(toll, f"the erased word {word} is in {back}")
        wrong = [check for check in memory.doctor() if not check.ok and memory.graph_ready]
        toll.failed_doctors += bool(wrong)
        apart = (
            [line for world in person.worlds() for line in differences(person, world, WORDS[0])] if thoroughly else []
        )
        toll.wrong_worlds += bool(apart)
        for trouble in (wrong, apart):
            if trouble:
                _note(toll, str(trouble[0]))
    finally:
        person.end()


def _note(toll: Toll, words: str) -> None:
    toll.first_failure = toll.first_failure or words


def child(home: Path, seed: int) -> None:
    """One deed after the other, until somebody ends it; each is told when it is durable."""
    chance = random.Random(seed)
    person = Person(home, patient=False)
    print("open", flush=True)
    if not person.reference.head:
        person.do("begin", 0, 0, 0, True)
    told, deed = len(person.gone), chance.choice(FIRST)
    while True:
        numbers = [chance.randrange(10_000) for _ in range(3)]
        person.do(deed, numbers[0], numbers[1], numbers[2], chance.random() < 0.5)
        head = person.memory.head()
        if len(person.gone) > told:
            print("gone", *person.gone[told:], flush=True)
            told = len(person.gone)
        print("at", head, person.memory._reader.link(head).hex(), flush=True)
        deed = chance.choice(ALWAYS)


def main() -> int:
    """Run the benchmark and print its figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--n", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--longest", type=float, default=1.0, help="seconds of deeds, at most")
    parser.add_argument("--child", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child is not None:
        child(options.child, options.seed)
        return 0
    with tempfile.TemporaryDirectory(prefix="clew-killed-") as folder:
        toll = kill_many(Path(folder), kills=options.n, seed=options.seed, longest_s=options.longest)
    report(asdict(toll), as_json=options.json)
    return 0 if toll.clean else 1


if __name__ == "__main__":
    sys.exit(main())
