"""What a recall costs that is one character's: over a story of 100,000 turns, each of three saw two thirds of them.

    python -m bench.witness_recall [--json] [--samples 120] [--turns 100000] [--observations 10000] [--notes 20000]

The memory is as that of bench/recall.py, but all of one story; so many memories are learned of it, every tenth in place
of another, and so many times somebody of a few hundred is named. The same questions are asked as whoever plays, who
sees everything, and as the members in turn; also right after somebody said something, as in play. `with_embedding` has
the question's embedding by the real embedder beside it, measured in the same round. `kept_mib` is what the members'
views take in memory once all three were asked.
"""

import argparse
import asyncio
import gc
import random
import shutil
import tempfile
import time
import tracemalloc
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC
from pathlib import Path

from agent.home import Home
from bench.recall import KEPT_AT_ONCE, MODEL, NOW, SESSION_TURNS, Speech, question
from bench.report import Figure, percentile, report, say
from graph.events import (
    SEATS,
    CastSet,
    EntityNoted,
    Event,
    ObservationKind,
    ObservationMade,
    Role,
    SessionStarted,
    StoryBegun,
    TurnSaid,
)
from graph.ids import new_id
from graph.memory import Memory
from graph.values import Filters, Vector
from models.embedder import LlamaEmbedder, load_embedder
from models.store import DEFAULT_EMBEDDER, ModelStore

STORY = "story"
CAST = {"m-anna": "Anna", "m-tom": "Tom", "m-maria": "Maria"}
MEMBERS = tuple(CAST)
SCENE = 12  # turns that the same two see
NAMED = 300
REVISED = 10  # one memory of so many takes the place of another
WAYS = ("everything", "witness", "after_an_append_everything", "after_an_append_witness")


@dataclass(slots=True)
class Case:
    """The memory, what was said in it, where it goes on, and the times of its recalls in ms, by way of asking."""

    memory: Memory
    texts: list[str]
    session: str
    last: str
    times: dict[str, list[float]] = field(default_factory=lambda: {way: [] for way in (*WAYS, "embedding")})
    first: list[float] = field(default_factory=list)
    kept_mib: float = 0.0


def saw(place: int) -> tuple[str, ...]:
    """Two of the three, scene by scene."""
    away = place // SCENE % len(MEMBERS)
    return tuple(member for number, member in enumerate(MEMBERS) if number != away)


def build(folder: Path, turns: int, observations: int, notes: int, speech: Speech) -> Case:
    """The story, with its vectors, its graph open."""
    start = time.perf_counter()
    memory = Memory.open(folder, command="bench")
    memory.append(StoryBegun(world=STORY, text="The Lighthouse"))
    for seat, (member, name) in zip(SEATS, CAST.items(), strict=True):
        memory.append(CastSet(world=STORY, member=member, seat=seat, text=name))
    texts, ids = speech.texts(turns), [new_id() for _ in range(turns)]
    session = ""
    for first in range(0, turns, SESSION_TURNS):
        session = new_id()
        memory.append(*chat(session, first, ids[first : first + SESSION_TURNS], texts))
    for events in (list(learned(ids, speech.texts(observations))), list(named(ids, notes))):
        for first in range(0, len(events), KEPT_AT_ONCE):
            memory.append(*events[first : first + KEPT_AT_ONCE])
    while found := memory.unembedded(MODEL, KEPT_AT_ONCE):
        memory.keep_vectors(MODEL, list(zip([hash for hash, _ in found], speech.vectors(len(found)), strict=True)))
    memory.open_graph(lambda progress: None)
    say(f"{turns:>7,} turns built in {time.perf_counter() - start:.0f} s")
    return Case(memory, texts, session, ids[-1])


def chat(session: str, first: int, ids: list[str], texts: list[str]) -> Iterator[Event]:
    """A chat of the story."""
    yield SessionStarted(session=session, world=STORY, client="bench")
    parent = None
    for place, turn in enumerate(ids, start=first):
        yield turn_of(turn, session, parent, place, texts[place])
        parent = turn


def turn_of(turn: str, session: str, parent: str | None, place: int, text: str) -> TurnSaid:
    """A turn that one of those says who see it."""
    there = saw(place)
    return TurnSaid(
        turn=turn,
        session=session,
        parent=parent,
        role=Role.USER if place % 2 == 0 else Role.ASSISTANT,
        speaker=there[place % len(there)],
        witnesses=there,
        client="bench",
        text=text,
    )


def learned(ids: list[str], texts: list[str]) -> Iterator[Event]:
    """Memories of turns all over the story, some in place of the one before."""
    before: ObservationMade | None = None
    for number, text in enumerate(texts):
        id, sources = new_id(), (ids[number * len(ids) // len(texts)],)
        revises = before if number % REVISED == 0 else None
        before = ObservationMade(
            observation=id,
            series=revises.series if revises is not None else id,
            supersedes=revises.observation if revises is not None else None,
            world=STORY,
            category=ObservationKind.FACT,
            status="active",
            confidence=0.8,
            grounded=True,
            origin="model",
            sources=(*(revises.sources if revises is not None else ()), *sources),
            text=text,
        )
        yield before


def named(ids: list[str], notes: int) -> Iterator[Event]:
    """Somebody is named, all over the story."""
    for number in range(notes):
        entity = random.randrange(NAMED)
        turn = ids[number * len(ids) // notes]
        yield EntityNoted(entity=f"entity{entity}", category="person", by_turn=turn, text=f"Somebody {entity}")


def ask(case: Case, text: str, vector: Vector, witness: str | None, exclude: frozenset[str] = frozenset()) -> float:
    """One recall, in ms."""
    filters = Filters(world=STORY, witness=witness, exclude=exclude)
    start = time.perf_counter()
    case.memory.recall.search(text, vector=vector, filters=filters, now=NOW, timezone=UTC, limit=10)
    return 1_000 * (time.perf_counter() - start)


def say_something(case: Case, text: str) -> None:
    """A turn more, as a story has before each recall; it gets its vector later."""
    turn = new_id()
    case.memory.append(turn_of(turn, case.session, case.last, len(case.texts), text))
    case.texts.append(text)
    case.last = turn


async def measure(case: Case, speech: Speech, embedder: LlamaEmbedder, samples: int) -> None:
    """Ask in every way, in turn."""
    recall = case.memory.recall
    recall.warm()
    for _ in range(5):
        ask(case, question(case.texts), Vector(MODEL, speech.vectors(1)[0]), None)
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    for member in MEMBERS:
        case.first.append(ask(case, question(case.texts), Vector(MODEL, speech.vectors(1)[0]), member))
    gc.collect()
    case.kept_mib = (tracemalloc.get_traced_memory()[0] - before) / 2**20
    tracemalloc.stop()
    for number in range(samples):
        member, text = MEMBERS[number % len(MEMBERS)], question(case.texts)
        start = time.perf_counter()
        spoken = recall.spoken(text, now=NOW, timezone=UTC, world=STORY, witness=member)
        await embedder.embed([spoken], brief=True)
        case.times["embedding"].append(1_000 * (time.perf_counter() - start))
        vector = Vector(MODEL, speech.vectors(1)[0])
        asked = [("everything", None), ("witness", member)]
        for way, who in asked if number % 2 else asked[::-1]:
            case.times[way].append(ask(case, text, vector, who))
        text = question(case.texts)
        for way, who in asked if number % 2 else asked[::-1]:
            say_something(case, text)
            case.times[f"after_an_append_{way}"].append(ask(case, text, vector, who, frozenset({case.last})))


def figures(case: Case) -> dict[str, Figure]:
    """p50 and p95 for each way, and of the whole with the embedding."""
    times = dict(case.times)
    for way in WAYS:
        times[f"{way}_with_embedding"] = [a + b for a, b in zip(times["embedding"], times[way], strict=True)]
    found: dict[str, Figure] = {
        f"{way}_p{share}_ms": percentile(values, share / 100) for way, values in times.items() for share in (50, 95)
    }
    ratios = [one / other for one, other in zip(times["witness"], times["everything"], strict=True)]
    return {**found, "ratio_p50": percentile(ratios, 0.5), "first_ms": max(case.first), "kept_mib": case.kept_mib}


async def run(folder: Path, arguments: argparse.Namespace) -> dict[str, Figure]:
    """Build, ask, and answer with the figures."""
    random.seed(7)
    file = ModelStore(Home.resolve(writing=False).models).path(DEFAULT_EMBEDDER)
    embedder = await asyncio.to_thread(load_embedder, file, name=DEFAULT_EMBEDDER)
    speech = Speech()
    case = build(folder, arguments.turns, arguments.observations, arguments.notes, speech)
    try:
        await measure(case, speech, embedder, arguments.samples)
        return figures(case)
    finally:
        case.memory.close()
        await embedder.close()


def main() -> None:
    """Run the benchmark and print its figures."""
    parser = argparse.ArgumentParser(prog="python -m bench.witness_recall", description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one flat JSON object")
    parser.add_argument("--samples", type=int, default=120)
    parser.add_argument("--turns", type=int, default=100_000)
    parser.add_argument("--observations", type=int, default=10_000)
    parser.add_argument("--notes", type=int, default=20_000)
    arguments = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="clew-bench-"))
    try:
        found = asyncio.run(run(folder, arguments))
    finally:
        shutil.rmtree(folder)
    report(found, as_json=arguments.json)


if __name__ == "__main__":
    main()
