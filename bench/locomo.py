"""Recall quality on conversations in the shape of LoCoMo: how much of the evidence for each question is among the hits.

    python -m bench.locomo PATH [--json]

Each conversation becomes a memory of its own, by the app's own import and embedder; every question of categories 1–4
goes through `memory.recall`, asked a minute after the last session. Beside it, in the same run: the word index alone
(FTS5's BM25 with the words of the question but the most common ones and the speakers' names), and the vectors alone
(the cosine with the question, embedded as recall embeds it: as one of the speakers would have said it).
"""

import argparse
import asyncio
import json
import re
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent.home import Home
from bench.report import percentile, say
from graph.contents import KEPT_TYPE
from graph.contents import vectors as kept_vectors
from graph.events import Event, Role, SessionStarted, TurnSaid
from graph.hits import Vector
from graph.memory import Memory
from graph.reading import LogReader
from graph.recall.lexical import STOP_WORDS
from models.embedder import LlamaEmbedder, load_embedder
from models.store import DEFAULT_EMBEDDER, ModelStore

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open", 4: "single-hop"}
TURNS, SESSIONS = (5, 10, 20), (1, 5, 10)
EVIDENCE = re.compile(r"D:?(\d+):(\d+)")
WORD = re.compile(r"[^\W_]+")
WHEN = "%I:%M %p on %d %B, %Y"
BATCH = 64


@dataclass(frozen=True, slots=True)
class Question:
    """A question with the turns that answer it, by their ids in the file, and its category."""

    text: str
    evidence: frozenset[str]
    category: int


@dataclass(slots=True)
class Tally:
    """What one way of recalling found, a share (0–1) per question, by category; and how long each question took."""

    found: dict[int, list[dict[str, float]]] = field(default_factory=lambda: defaultdict(list))
    times_ms: list[float] = field(default_factory=list)

    def add(self, question: Question, ranked: Sequence[str], sessions: dict[str, str], took_s: float) -> None:
        """Count one question's hits: turn ids, the best first."""
        wanted = {sessions[turn] for turn in question.evidence}
        ranked_sessions = list(dict.fromkeys(sessions[turn] for turn in ranked))
        shares = {f"turn@{k}": _share(question.evidence, ranked[:k]) for k in TURNS}
        shares |= {f"session@{k}": _share(wanted, ranked_sessions[:k]) for k in SESSIONS}
        self.found[question.category].append(shares)
        self.times_ms.append(took_s * 1000)

    def figures(self) -> dict[str, Any]:
        """Overall, by category, and latency, in percent and milliseconds."""
        everything = [shares for each in self.found.values() for shares in each]
        return {
            "overall": _mean(everything),
            "by_category": {CATEGORIES[category]: _mean(self.found[category]) for category in sorted(self.found)},
            "latency_ms": {"p50": _rounded(self.times_ms, 0.5), "p95": _rounded(self.times_ms, 0.95)},
        }


def _share(wanted: frozenset[str] | set[str], found: Sequence[str]) -> float:
    return len(wanted.intersection(found)) / len(wanted)


def _mean(each: Sequence[dict[str, float]]) -> dict[str, float]:
    return {name: round(100 * sum(shares[name] for shares in each) / len(each), 1) for name in each[0]} if each else {}


def _rounded(times_ms: Sequence[float], share: float) -> float:
    return round(percentile(times_ms, share), 2) if times_ms else 0.0


def questions_of(conversation: dict[str, Any], turns: set[str]) -> Iterator[Question]:
    """The questions of categories 1–4 that have evidence among `turns`; ids that are no turn are left out."""
    for asked in conversation["qa"]:
        named = [EVIDENCE.findall(text) for text in asked.get("evidence", ())]
        evidence = frozenset(f"D{session}:{turn}" for ids in named for session, turn in ids) & turns
        if asked["category"] in CATEGORIES and evidence:
            yield Question(asked["question"], evidence, asked["category"])


def events_of(conversation: dict[str, Any]) -> Iterator[Event]:
    """The sessions and turns of a conversation, each said when the file says."""
    said = conversation["conversation"]
    numbers = sorted(int(key.split("_")[1]) for key, value in said.items() if isinstance(value, list))
    for number in numbers:
        began = datetime.strptime(said[f"session_{number}_date_time"], WHEN).replace(tzinfo=UTC)
        at = int(began.timestamp() * 1000)
        yield SessionStarted(session=f"session_{number}", client="bench", said_at=at)
        parent = None
        for place, turn in enumerate(said[f"session_{number}"]):
            caption = f"\n[photo: {turn['blip_caption']}]" if turn.get("blip_caption") else ""
            yield TurnSaid(
                turn=turn["dia_id"],
                session=f"session_{number}",
                parent=parent,
                role=Role.USER,
                speaker=turn["speaker"],
                client="bench",
                said_at=at + place * 1000,
                text=turn["text"] + caption,
            )
            parent = turn["dia_id"]


async def embed_all(memory: Memory, embedder: LlamaEmbedder, model: str) -> None:
    """Embed everything that has no vector."""
    while texts := memory.unembedded(model, BATCH):
        vectors = await embedder.embed([text for _, text in texts])
        memory.keep_vectors(model, [(hash, vector) for (hash, _), vector in zip(texts, vectors, strict=True)])


def bm25(reader: LogReader, question: str, names: Iterable[str]) -> list[str]:
    """The turns by FTS5's BM25 with any of the question's words that tell something."""
    common = {*STOP_WORDS.split(), *(name.lower() for name in names)}
    words = " OR ".join(f'"{word}"' for word in WORD.findall(question) if word.lower() not in common)
    return reader.search_words(words, limit=100_000) if words else []


def stored_vectors(reader: LogReader, model: str, turns: Iterable[str]) -> "NDArray[np.float32]":
    """The vectors of turns as the memory keeps them, in their order."""
    import numpy as np

    with reader.snapshot() as db:
        of_event = {seq: np.frombuffer(vector, KEPT_TYPE) for _, seq, vector in kept_vectors(db, model, after=0)}
        seqs = dict(db.execute("SELECT turn, seq FROM events WHERE kind = 'turn.said'").fetchall())
    return np.array([of_event[seqs[turn]] for turn in turns], np.float32)


def by_cosine(query: "NDArray[np.float32]", vectors: "NDArray[np.float32]", turns: Sequence[str]) -> list[str]:
    """The turns by the cosine of their vectors with the query's."""
    return [turns[row] for row in (-(vectors @ query)).argsort(kind="stable")]


async def measure(conversation: dict[str, Any], embedder: LlamaEmbedder, tallies: dict[str, Tally]) -> None:
    """Import one conversation and ask its questions."""
    model = embedder.info.name
    with tempfile.TemporaryDirectory(prefix="clew-bench-") as folder:
        memory = Memory.open(Path(folder), command="bench")
        try:
            memory.open_graph(lambda progress: None)
            events = list(events_of(conversation))
            memory.append(*events)
            said = [event for event in events if isinstance(event, TurnSaid)]
            names = frozenset(event.speaker for event in said)
            sessions = {event.turn: event.session for event in said}
            await embed_all(memory, embedder, model)
            now = datetime.fromtimestamp(max(event.said_at or 0 for event in said) / 1000, UTC) + timedelta(minutes=1)
            reader = LogReader.open(Path(folder))
            vectors = stored_vectors(reader, model, sessions)
            for question in questions_of(conversation, set(sessions)):
                await ask(memory, reader, embedder, question, now, sessions, vectors, names, tallies)
            reader.close()
        finally:
            memory.close()


async def ask(
    memory: Memory,
    reader: LogReader,
    embedder: LlamaEmbedder,
    question: Question,
    now: datetime,
    sessions: dict[str, str],
    vectors: "NDArray[np.float32]",
    names: frozenset[str],
    tallies: dict[str, Tally],
) -> None:
    """One question, in the three ways; each time has what that way needs, the embedding too."""
    start = time.perf_counter()
    asked = memory.spoken(question.text, now=now, timezone=UTC)
    query = (await embedder.embed([asked]))[0]
    embedded_s = time.perf_counter() - start
    vector = Vector(embedder.info.name, query)
    memory.recall(question.text, vector=vector, now=now, timezone=UTC, limit=max(TURNS))
    took_s = time.perf_counter() - start
    hits = memory.recall(question.text, vector=vector, now=now, timezone=UTC, limit=len(sessions))  # for the sessions
    tallies["clew"].add(question, [hit.id for hit in hits], sessions, took_s)
    start = time.perf_counter()
    found = bm25(reader, question.text, names)
    tallies["bm25"].add(question, found, sessions, time.perf_counter() - start)
    start = time.perf_counter()
    nearest = by_cosine(query, vectors, list(sessions))
    tallies["vectors"].add(question, nearest, sessions, embedded_s + time.perf_counter() - start)
    ceiling = tallies["ceiling"]
    others = [turn for turn in sessions if turn not in question.evidence]
    ceiling.add(question, _spread([*sorted(question.evidence), *others], question, sessions), sessions, 0)


def _spread(turns: list[str], question: Question, sessions: dict[str, str]) -> list[str]:
    """The evidence with each session's first turn ahead: no ranking can find more, of turns or of sessions."""
    firsts = {sessions[turn]: turn for turn in reversed(turns) if turn in question.evidence}
    return list(dict.fromkeys([*firsts.values(), *turns]))


async def run(conversations: Sequence[dict[str, Any]]) -> dict[str, Tally]:
    """All conversations."""
    file = ModelStore(Home.resolve(writing=False).models).path(DEFAULT_EMBEDDER)
    embedder = await asyncio.to_thread(load_embedder, file, name=DEFAULT_EMBEDDER)
    tallies = {name: Tally() for name in ("clew", "bm25", "vectors", "ceiling")}
    try:
        for conversation in conversations:
            await measure(conversation, embedder, tallies)
            say(f"{conversation.get('sample_id', '')}: {tallies['clew'].figures()['overall']}")
    finally:
        await embedder.close()
    return tallies


def show(tallies: dict[str, Tally]) -> None:
    """The figures as a table."""
    columns = [f"turn@{k}" for k in TURNS] + [f"session@{k}" for k in SESSIONS]
    for name, tally in tallies.items():
        figures = tally.figures()
        print(f"{name:<12}" + "".join(f"{column:>12}" for column in columns))
        for category, shares in [("overall", figures["overall"]), *figures["by_category"].items()]:
            print(f"  {category:<10}" + "".join(f"{shares[column]:>12}" for column in columns))
        if name != "ceiling":
            print(f"  p50 {figures['latency_ms']['p50']} ms, p95 {figures['latency_ms']['p95']} ms\n")


def main() -> None:
    """Run the benchmark and print its figures."""
    parser = argparse.ArgumentParser(prog="python -m bench.locomo", description=__doc__)
    parser.add_argument("path", type=Path, help="a JSON file of conversations with questions")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    arguments = parser.parse_args()
    tallies = asyncio.run(run(json.loads(arguments.path.read_text(encoding="utf-8"))))
    if arguments.json:
        print(json.dumps({name: tally.figures() for name, tally in tallies.items() if name != "ceiling"}))
    else:
        show(tallies)


if __name__ == "__main__":
    main()
