"""What a recall costs: words, vectors and graph together, over memories of 1,000, 10,000 and 100,000 turns.

    python -m bench.recall [--json] [--samples 120] [--all] [--sizes 1000,10000] [--observations 10000]

The memories are real (log, word index, vectors kept in the log, graph); their words follow Zipf's law, their vectors
are unit vectors around a few hundred topics. A question takes its words from a turn that was said. Filters take turns
with none. Times are of the whole `memory.recall`; where they say so, with the embedding of the question by the real
embedder. `warm_ms` is what is read once after opening, beside the loading of the chat model. Sizes are asked in turn,
so that whatever else the machine does meets them alike. `--all` adds 250,000. `--observations` lets each memory learn
so many sentences beside, at most one from each turn.
"""

import argparse
import asyncio
import gc
import random
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from agent.home import Home
from bench.report import Figure, percentile, report, say
from graph.events import Event, ObservationKind, ObservationMade, Role, SessionStarted, TurnSaid
from graph.ids import new_id
from graph.memory import Memory
from graph.values import Filters, Vector
from models.embedder import LlamaEmbedder, load_embedder
from models.store import DEFAULT_EMBEDDER, ModelStore

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SIZES, LARGEST = (1_000, 10_000, 100_000), 250_000
SESSION_TURNS = 40
SPEAKERS = ("you", "assistant")
PEOPLE = ("Anna", "Tom", "Maria")
WORDS, ZIPF = 40_000, 1.05
DIMENSION, TOPICS = 384, 300
KEPT_AT_ONCE = 4_000
NOW = datetime(2026, 3, 1, tzinfo=UTC)
MODEL = "bench"
WAYS = ("plain", "filtered", "after an append")


@dataclass(slots=True)
class Case:
    """A memory of one size, what was said in it, and the times of its recalls in ms, by way of asking."""

    memory: Memory
    texts: list[str]
    session: str
    last: str
    warm_ms: float = 0.0
    first_ms: float = 0.0
    times: dict[str, list[float]] = field(default_factory=lambda: {way: [] for way in (*WAYS, "embedding")})


class Speech:
    """Texts with Zipf's distribution of words, lengths like a chat's."""

    def __init__(self) -> None:
        import numpy as np

        self.random = np.random.default_rng(11)
        syllables = [first + second for first in "bcdfghjklmnprstvwz" for second in "aeiou"]
        picked = self.random.integers(0, len(syllables), (WORDS, 4))
        sizes = self.random.integers(2, 5, WORDS)
        self.words = ["".join(syllables[n] for n in row[:size]) for row, size in zip(picked, sizes, strict=True)]
        weights = 1 / np.arange(3, WORDS + 3) ** ZIPF
        self._weights = np.cumsum(weights / weights.sum())
        self.topics = self.random.standard_normal((TOPICS, DIMENSION)).astype(np.float32)

    def texts(self, count: int) -> list[str]:
        import numpy as np

        sizes = np.clip(self.random.lognormal(2.9, 0.7, count), 3, 200).astype(int)
        drawn = np.searchsorted(self._weights, self.random.random(sizes.sum()))
        ends = np.cumsum(sizes)
        return [" ".join(self.words[n] for n in drawn[end - size : end]) for size, end in zip(sizes, ends, strict=True)]

    def vectors(self, count: int) -> "NDArray[np.float32]":
        """float32[count, 384], each of length 1, around a topic."""
        import numpy as np

        noise = self.random.standard_normal((count, DIMENSION)).astype(np.float32)
        vectors = 0.8 * self.topics[self.random.integers(0, TOPICS, count)] + noise
        return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), np.float32)


def build(
    folder: Path, turns: int, speech: Speech, observations: int, *, learned: Callable[[Memory], object] = id
) -> Case:
    """A memory of so many turns with their vectors, its graph open; `learned` adds to it before it is embedded."""
    start = time.perf_counter()
    memory = Memory.open(folder, command="bench")
    texts = speech.texts(turns)
    sessions = -(-turns // SESSION_TURNS)
    session = last = ""
    for number in range(sessions):
        said = texts[number * SESSION_TURNS : (number + 1) * SESSION_TURNS]
        events = list(conversation(said, number, sessions))
        memory.append(*events)
        session, last = ends_of(events)
    learn(memory, speech, min(observations, turns))
    learned(memory)
    while found := memory.unembedded(MODEL, KEPT_AT_ONCE):
        memory.keep_vectors(MODEL, list(zip([hash for hash, _ in found], speech.vectors(len(found)), strict=True)))
    memory.open_graph(lambda progress: None)
    say(f"{turns:>7,} turns built in {time.perf_counter() - start:.0f} s")
    return Case(memory, texts, session, last)


def learn(memory: Memory, speech: Speech, observations: int) -> None:
    """An observation from each of the newest turns."""
    turns = [turn.id for turn in memory.readings.recent("turn", observations)] if observations else []
    events = [
        ObservationMade(
            observation=(id := new_id()),
            series=id,
            category=ObservationKind.FACT,
            status="active",
            confidence=0.8,
            grounded=True,
            origin="model",
            sources=(turn,),
            text=text,
        )
        for turn, text in zip(turns, speech.texts(len(turns)), strict=True)
    ]
    for start in range(0, len(events), KEPT_AT_ONCE):
        memory.append(*events[start : start + KEPT_AT_ONCE])


def ends_of(events: Sequence[Event]) -> tuple[str, str]:
    """The session and the last turn of a conversation."""
    last = events[-1]
    if not isinstance(last, TurnSaid):
        raise ValueError("a conversation without turns")
    return last.session, last.turn


def conversation(texts: list[str], number: int, sessions: int) -> Iterator[Event]:
    """A session; every tenth is with a person, every fourth belongs to a project."""
    session, parent = new_id(), None
    began = NOW - timedelta(days=365) * (sessions - number) / sessions
    at = int(began.timestamp() * 1000)
    yield SessionStarted(session=session, client="bench", project="garden" if number % 4 == 0 else None, said_at=at)
    for place, text in enumerate(texts):
        turn = new_id()
        role = Role.USER if place % 2 == 0 else Role.ASSISTANT
        speaker = PEOPLE[number % len(PEOPLE)] if number % 10 == 0 and place % 2 == 0 else SPEAKERS[place % 2]
        yield TurnSaid(
            turn=turn,
            session=session,
            parent=parent,
            role=role,
            speaker=speaker,
            client="bench",
            said_at=at + place * 20_000,
            text=text,
        )
        parent = turn


def question(texts: list[str]) -> str:
    """Some words of something that was said, asked for."""
    words = random.choice(texts).split()
    picked = random.sample(words, min(len(words), random.randint(3, 7)))
    who, when = random.choice(("we", "you", "Anna")), random.choice(("", " in June"))
    return f"What did {who} say about the {' '.join(picked)}{when}?"


def filters(case: Case) -> Filters:
    """One of the filters people use."""
    return random.choice(
        [
            Filters(session=case.session),
            Filters(project="garden"),
            Filters(project=None),  # as a chat of none asks
            Filters(person="Anna"),
            Filters(since=NOW - timedelta(days=30)),
            Filters(roles=frozenset({"user"})),
        ]
    )


def ask(case: Case, text: str, vector: Vector, filters: Filters) -> float:
    """One recall, in ms."""
    start = time.perf_counter()
    case.memory.recall.search(text, vector=vector, filters=filters, now=NOW, timezone=UTC)
    return 1_000 * (time.perf_counter() - start)


def say_something(case: Case, text: str) -> None:
    """A turn more, as a chat has before each recall; it gets its vector later."""
    turn = new_id()
    said = TurnSaid(
        turn=turn, session=case.session, parent=case.last, role=Role.USER, speaker="you", client="bench", text=text
    )
    if case.memory.append(said)[0].graph_behind:
        raise RuntimeError("the graph did not follow; the figure would leave it out")
    case.last = turn


async def measure(cases: dict[int, Case], speech: Speech, embedder: LlamaEmbedder, samples: int) -> None:
    """Ask every memory, in turn, in every way."""
    for case in cases.values():
        start = time.perf_counter()
        case.memory.recall.warm()
        case.warm_ms = 1_000 * (time.perf_counter() - start)
        case.first_ms = ask(case, question(case.texts), Vector(MODEL, speech.vectors(1)[0]), Filters())
        for _ in range(5):
            ask(case, question(case.texts), Vector(MODEL, speech.vectors(1)[0]), Filters())
    gc.collect()
    for _ in range(samples):
        for case in cases.values():
            text = question(case.texts)
            start = time.perf_counter()
            await embedder.embed([case.memory.recall.spoken(text, now=NOW, timezone=UTC)], brief=True)
            case.times["embedding"].append(1_000 * (time.perf_counter() - start))
            vector = Vector(MODEL, speech.vectors(1)[0])
            case.times["plain"].append(ask(case, text, vector, Filters()))
            case.times["filtered"].append(ask(case, question(case.texts), vector, filters(case)))
            text = question(case.texts)
            say_something(case, text)
            case.times["after an append"].append(ask(case, text, vector, Filters(exclude=frozenset({case.last}))))


def figures(cases: dict[int, Case]) -> dict[str, Figure]:
    """p50 and p95 for each size and way; of 100,000 over 1,000, of the whole (`ratio`) and without the embedding."""
    found: dict[str, Figure] = {}
    for size, case in cases.items():
        found |= {f"warm_ms_at_{size}": case.warm_ms, f"first_ms_at_{size}": case.first_ms}
        whole = [a + b for a, b in zip(case.times["embedding"], case.times["plain"], strict=True)]
        for way, times in (*case.times.items(), ("with embedding", whole)):
            for share in (50, 95):
                found[f"{way.replace(' ', '_')}_p{share}_ms_at_{size}"] = percentile(times, share / 100)
    found["ratio"] = ratio(found, "with_embedding_p95_ms_at")
    found["ratio_without_embedding"] = ratio(found, "plain_p95_ms_at")
    return found


def ratio(found: dict[str, Figure], name: str) -> float | None:
    large, small = found.get(f"{name}_100000"), found.get(f"{name}_1000")
    return float(large) / float(small) if large and small else None


async def run(folder: Path, sizes: list[int], samples: int, observations: int) -> dict[str, Figure]:
    """Build, ask, and answer with the figures."""
    random.seed(7)
    file = ModelStore(Home.resolve(writing=False).models).path(DEFAULT_EMBEDDER)
    embedder = await asyncio.to_thread(load_embedder, file, name=DEFAULT_EMBEDDER)
    speech = Speech()
    cases = {size: build(folder / str(size), size, speech, observations) for size in sizes}
    try:
        await measure(cases, speech, embedder, samples)
        return figures(cases)
    finally:
        for case in cases.values():
            case.memory.close()
        await embedder.close()


def main() -> None:
    """Run the benchmark and print its figures."""
    parser = argparse.ArgumentParser(prog="python -m bench.recall", description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one flat JSON object")
    parser.add_argument("--samples", type=int, default=120)
    parser.add_argument("--all", action="store_true", help=f"also {LARGEST:,} turns")
    parser.add_argument("--sizes", type=lambda text: [int(each) for each in text.split(",")], default=list(SIZES))
    parser.add_argument("--observations", type=int, default=0, help="how many each memory learned, at most its turns")
    arguments = parser.parse_args()
    sizes = [*arguments.sizes, *([LARGEST] if arguments.all else [])]
    folder = Path(tempfile.mkdtemp(prefix="clew-bench-"))
    try:
        found = asyncio.run(run(folder, sizes, arguments.samples, arguments.observations))
    finally:
        shutil.rmtree(folder)
    report(found, as_json=arguments.json)


if __name__ == "__main__":
    main()
