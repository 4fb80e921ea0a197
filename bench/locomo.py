"""Recall quality on conversations in the shape of LoCoMo: how much of the evidence for each question is among the hits.

    python -m bench.locomo PATH [--observations] [--json]

Each conversation becomes a memory of its own, by the app's own import and embedder; every question of categories 1–4
goes through `memory.recall`, asked a minute after the last session. Beside it, in the same run: the word index alone
(FTS5's BM25 with the words of the question but the most common ones and the speakers' names), and the vectors alone
(the cosine with the question, embedded as recall embeds it: as one of the speakers would have said it).

With `--observations` the app first reflects on all of it, without a chat model: sentences in which people describe
themselves, verbatim, how much turns matter, and whom they name. Then a hit that is an observation counts for the turns
it was made from, and `clew-turns` is what recall finds when it is asked for turns alone.
"""

import argparse
import asyncio
import json
import re
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent.agent import Agent
from agent.embedding import Embedding
from agent.events import ModelProgress
from agent.home import Home
from agent.importer import Importer
from agent.importing.locomo import sources_of
from agent.model_host import EmbedderLoader, llama_embedder_loader
from agent.relations.whom import called_in, kinds_in
from agent.settings import Settings
from bench.report import percentile, say
from graph.contents import KEPT_TYPE
from graph.contents import vectors as kept_vectors
from graph.memory import Memory
from graph.reader import LogReader
from graph.recall.search import ALL
from graph.values import Filters, Vector
from graph.whole_words import STOP_WORDS
from models.errors import ModelMissing
from models.protocols import Generator
from models.store import DEFAULT_EMBEDDER

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open", 4: "single-hop"}
TURNS, SESSIONS = (5, 10, 20), (1, 5, 10)
EVIDENCE = re.compile(r"D:?(\d+):(\d+)")
WORD = re.compile(r"[^\W_]+")


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

    def add(
        self, question: Question, ranked: Sequence[tuple[str, ...]], sessions: dict[str, str], took_s: float
    ) -> None:
        """Count one question's hits, the best first: each the turns it is or was made from."""
        wanted = {sessions[turn] for turn in question.evidence}
        ranked_sessions = list(dict.fromkeys(sessions[turn] for turns in ranked for turn in turns))
        shares = {
            f"turn@{k}": _share(question.evidence, {turn for turns in ranked[:k] for turn in turns}) for k in TURNS
        }
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


def _share(wanted: frozenset[str] | set[str], found: Iterable[str]) -> float:
    return len(wanted.intersection(found)) / len(wanted)


def _mean(each: Sequence[dict[str, float]]) -> dict[str, float]:
    return {name: round(100 * sum(shares[name] for shares in each) / len(each), 1) for name in each[0]} if each else {}


def _rounded(times_ms: Sequence[float], share: float) -> float:
    return round(percentile(times_ms, share), 2) if times_ms else 0.0


def questions_of(conversation: dict[str, Any], turns: set[str]) -> Iterator[Question]:
    """The questions of categories 1–4 that have evidence among `turns`; ids that are no turn are left out."""
    for asked in conversation["qa"]:
        named = [EVIDENCE.findall(text) for text in asked.get("evidence", ())]
        evidence = frozenset(f"D{int(session)}:{int(turn)}" for ids in named for session, turn in ids) & turns
        if asked["category"] in CATEGORIES and evidence:
            yield Question(asked["question"], evidence, asked["category"])


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
        seqs = dict(db.execute("SELECT id, seq FROM turns").fetchall())
    return np.array([of_event[seqs[turn]] for turn in turns], np.float32)


def by_cosine(query: "NDArray[np.float32]", vectors: "NDArray[np.float32]", turns: Sequence[str]) -> list[str]:
    """The turns by the cosine of their vectors with the query's."""
    return [turns[row] for row in (-(vectors @ query)).argsort(kind="stable")]


async def measure(
    conversation: dict[str, Any], loader: EmbedderLoader, tallies: dict[str, Tally], *, observations: bool
) -> None:
    """Import one conversation and ask its questions."""
    with tempfile.TemporaryDirectory(prefix="clew-bench-") as folder:
        export = Path(folder) / "export.json"
        export.write_text(json.dumps([conversation]), encoding="utf-8")
        home = Home.resolve(Path(folder))
        memory = Memory.open(home.memory, command="bench")
        await asyncio.to_thread(Importer(memory).run, export)
        memory.close()
        if observations:
            say(f"{await learn(home.root, loader)} observations")
        memory = Memory.open(home.memory, command="bench")
        embedding = Embedding(memory, loader, lambda notice: None, name=DEFAULT_EMBEDDER)
        reader = LogReader.open(home.memory)
        try:
            memory.open_graph(lambda progress: None)
            embedding.start()
            if not await embedding.ready():
                raise SystemExit("There is no embedder: `make setup` fetches it.")
            await embedding.idle()
            await Bench(memory, reader, embedding, conversation, tallies).ask_all()
        finally:
            await embedding.close()
            reader.close()
            memory.close()


async def learn(folder: Path, loader: EmbedderLoader) -> int:
    """Let the app reflect on all that was imported, without a chat model; how many observations there are then."""
    agent = Agent(Home(folder, folder), Settings(), client="bench", loader=no_model, embedder_loader=loader)
    await agent.start(load_model=False)
    try:
        await agent.models.embedder_ready()
        await agent.idle()
        await agent.reflection.run()
        return len(await agent.memories.find(limit=100_000))
    finally:
        await agent.close()


def no_model(name: str, progress: Callable[[ModelProgress], None]) -> Generator:
    """A loader without a model: what reflection then does is its floor."""
    raise ModelMissing(Path(name))


class Bench:
    """One conversation in its memory, and the questions about it."""

    def __init__(
        self,
        memory: Memory,
        reader: LogReader,
        embedding: Embedding,
        conversation: dict[str, Any],
        tallies: dict[str, Tally],
    ) -> None:
        self._memory, self._reader, self._embedding, self._tallies = memory, reader, embedding, tallies
        of_source = memory.readings.imported(list((sources := sources_of(conversation)).values()))
        self._turns = {
            of_source[source]: id for id, source in sources.items()
        }  # by the memory's ids, those of the file
        said = [memory.readings.turn(turn) for turn in self._turns]
        self._sessions = {self._turns[turn.id]: turn.session for turn in said}
        self._names = frozenset(turn.speaker for turn in said)
        self._now = max(turn.at for turn in said) + timedelta(minutes=1)
        self._vectors = stored_vectors(reader, embedding.key or "", list(self._turns))
        self._questions = list(questions_of(conversation, set(self._sessions)))

    async def ask_all(self) -> None:
        """Every question, in the three ways; each time has what that way needs, the embedding too."""
        for question in self._questions:
            start = time.perf_counter()
            asked = self._memory.recall.spoken(question.text, now=self._now, timezone=UTC)
            vector = await self._embedding.query(asked)
            if vector is None:
                raise SystemExit(f"{asked!r} could not be embedded")
            embedded_s = time.perf_counter() - start
            self._recall(question, vector, max(TURNS))
            took_s = time.perf_counter() - start
            self._count("clew", question, self._recall(question, vector, len(self._turns)), took_s)  # for the sessions
            if "clew-turns" in self._tallies:
                start = time.perf_counter()
                turns = self._recall(question, vector, len(self._turns), Filters(kinds=frozenset({"turn"})))
                self._count("clew-turns", question, turns, time.perf_counter() - start)
            start = time.perf_counter()
            found = bm25(self._reader, question.text, self._names)
            self._count("bm25", question, each_alone(found), time.perf_counter() - start)
            start = time.perf_counter()
            nearest = by_cosine(vector.values, self._vectors, list(self._turns))
            self._count("vectors", question, each_alone(nearest), embedded_s + time.perf_counter() - start)
            ceiling = each_alone(best_order(question, self._sessions))
            self._tallies["ceiling"].add(question, ceiling, self._sessions, 0)

    def _recall(self, question: Question, vector: Vector, limit: int, filters: Filters = ALL) -> list[tuple[str, ...]]:
        kin, asks = called_in(question.text), kinds_in(question.text)
        hits = self._memory.recall.search(
            question.text,
            vector=vector,
            filters=filters,
            now=self._now,
            timezone=UTC,
            limit=limit,
            kin=kin,
            asks=asks,
        )
        return [hit.sources if hit.kind == "observation" else (hit.id,) for hit in hits]

    def _count(self, way: str, question: Question, hits: Sequence[tuple[str, ...]], took_s: float) -> None:
        ranked = [tuple(self._turns[turn] for turn in turns) for turns in hits]
        self._tallies[way].add(question, ranked, self._sessions, took_s)


def each_alone(turns: Iterable[str]) -> list[tuple[str, ...]]:
    """Hits that are turns."""
    return [(turn,) for turn in turns]


def best_order(question: Question, sessions: dict[str, str]) -> list[str]:
    """The evidence, one turn of each of its sessions first: no ranking finds more, of turns or of sessions."""
    evidence = sorted(question.evidence)
    firsts = {sessions[turn]: turn for turn in reversed(evidence)}
    return list(dict.fromkeys([*firsts.values(), *evidence, *sessions]))


async def run(conversations: Sequence[dict[str, Any]], *, observations: bool = False) -> dict[str, Tally]:
    """All conversations."""
    home = Home.resolve(writing=False)
    ways = ("clew", *(("clew-turns",) if observations else ()), "bm25", "vectors", "ceiling")
    tallies = {name: Tally() for name in ways}
    for conversation in conversations:
        await measure(conversation, llama_embedder_loader(home, Settings()), tallies, observations=observations)
        say(f"{conversation.get('sample_id', '')}: {tallies['clew'].figures()['overall']}")
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
    parser.add_argument("--observations", action="store_true", help="let the memory learn before it is asked")
    arguments = parser.parse_args()
    conversations = json.loads(arguments.path.read_text(encoding="utf-8"))
    tallies = asyncio.run(run(conversations, observations=arguments.observations))
    if arguments.json:
        print(json.dumps({name: tally.figures() for name, tally in tallies.items() if name != "ceiling"}))
    else:
        show(tallies)


if __name__ == "__main__":
    main()
