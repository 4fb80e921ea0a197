"""Whether a model can be asked for queries: little questions to a made-up memory, whose right answers are known.

What counts is what its queries find, not how they are written. The hardest questions come first, so that a weak model
costs two answers.
"""

import asyncio
import shutil
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from agent.errors import NotUnderstood
from agent.foreground import Foreground
from agent.reflection.probe import BAR
from graph.errors import QueryFailed, QueryTimeout, Refused
from graph.events import EntityNoted, ObservationKind, ObservationMade, Role, SessionRenamed, SessionStarted, TurnSaid
from graph.memory import Memory
from models.protocols import Generator

from .modelled import TooSlow, by_model

VERSION = 2  # other questions, another prompt: probe again
NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)
OWN_TIME_S = 240.0  # of thinking about one answer: what it can matters here, and not how fast it is just now
SECONDS = 5.0  # that a query may take


@dataclass(frozen=True, slots=True)
class QueryTask:
    """A question, and the rows that answer it: each with these values, in any order, among others."""

    question: str
    rows: frozenset[frozenset[Any]]


def _rows(*rows: Any) -> frozenset[frozenset[Any]]:
    return frozenset(frozenset(row if isinstance(row, tuple) else (row,)) for row in rows)


TASKS: tuple[QueryTask, ...] = (
    QueryTask("Which people are named in messages that also name Bodø?", _rows("Tora")),
    QueryTask("Which places did I mention in April 2026?", _rows("Bodø", "Senja")),
    QueryTask("How many memories are there of each kind?", _rows(("fact", 2), ("plan", 1))),
    QueryTask("Which memories are about Tora? Give their texts.", _rows("Tora is a vet.", "Tora has goats.")),
    QueryTask("Which memories have a confidence below 0.5? Give their texts.", _rows("The user will sail to Senja.")),
    QueryTask("In which chat is Ask mentioned? Give its name.", _rows("Boats")),
    QueryTask("How many messages mention Tora?", _rows(3)),
    QueryTask("How many chats are there?", _rows(2)),
)


async def probe(generator: Generator, foreground: Foreground, tasks: Sequence[QueryTask] = TASKS) -> float:
    """The share of the questions that the model's queries answer right; stops where the bar is out of reach.

    Raises TooSlow or EngineClosed, and then nothing is known about the model.
    """
    right = 0
    async with _made_up() as memory:
        for done, task in enumerate(tasks, start=1):
            right += await _answers(generator, foreground, memory, task)
            if (right + len(tasks) - done) / len(tasks) < BAR:
                break
    return right / len(tasks)


async def _answers(generator: Generator, foreground: Foreground, memory: Memory, task: QueryTask) -> bool:
    async def validate(cypher: str) -> None:
        await asyncio.to_thread(memory.validate, cypher)

    try:
        found = await by_model(task.question, generator, validate, foreground, now=NOW, tries=1, own_time_s=OWN_TIME_S)
        answer = await asyncio.to_thread(memory.console, found.cypher, timeout_s=SECONDS)
    except TooSlow:
        raise
    except (NotUnderstood, Refused, QueryFailed, QueryTimeout):
        return False
    return passes(task, answer.rows)


def passes(task: QueryTask, rows: Sequence[Sequence[Any]]) -> bool:
    """Whether rows are the right ones: as many, and each with the values of another one that is expected."""
    left = list(task.rows)
    for row in rows:
        values = [value for value in row if isinstance(value, str | int | float)]
        found = next((wanted for wanted in left if wanted <= set(values)), None)
        if found is None:
            return False
        left.remove(found)
    return not left


@asynccontextmanager
async def _made_up() -> AsyncIterator[Memory]:
    """A memory for the questions, gone afterwards; also where this is cancelled while it is being made."""
    folder = Path(tempfile.mkdtemp(prefix="clew-probe-"))
    opening = asyncio.ensure_future(asyncio.to_thread(_tell, folder))
    try:
        yield await asyncio.shield(opening)
    finally:
        memory = await opening
        await asyncio.to_thread(memory.close)
        await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)


def _tell(folder: Path) -> Memory:
    memory = Memory.open(folder / "memory", command="clew (probing a model)")
    memory.open_graph(lambda progress: None)
    people = ("Tora", "Ask")
    said = (
        ("goats", (3, 2), "I visited Tora in Bodø.", ("Tora", "Bodø")),
        ("goats", (4, 5), "Tora has goats in Bodø.", ("Tora", "Bodø")),
        ("goats", (5, 9), "Tora is in Narvik now.", ("Tora", "Narvik")),
        ("boats", (4, 20), "Ask and I may sail to Senja.", ("Ask", "Senja")),
    )
    learned = (
        ("Tora is a vet.", ObservationKind.FACT, "turn0", ("Tora",), 0.9),
        ("Tora has goats.", ObservationKind.FACT, "turn1", ("Tora",), 0.8),
        ("The user will sail to Senja.", ObservationKind.PLAN, "turn3", ("Ask",), 0.3),
    )
    for session, name in (("goats", "Goats"), ("boats", "Boats")):
        memory.append(SessionStarted(session=session, client="probe"), SessionRenamed(session=session, text=name))
    heads: dict[str, str] = {}
    for number, (session, (month, day), text, named) in enumerate(said):
        at = int(datetime(2026, month, day, 12, tzinfo=UTC).timestamp() * 1000)
        turn = TurnSaid(
            turn=f"turn{number}", session=session, parent=heads.get(session), role=Role.USER, speaker="you",
            client="probe", said_at=at, text=text,
        )  # fmt: skip
        heads[session] = turn.turn
        notes = [
            EntityNoted(entity=each, category="person" if each in people else "place", by_turn=turn.turn, text=each)
            for each in named
        ]
        memory.append(turn, *notes)
    memory.append(
        *(
            ObservationMade(
                observation=f"memory{number}", series=f"memory{number}", category=kind, status="active",
                confidence=confidence, grounded=True, origin="model", sources=(source,), about=about, text=text,
            )
            for number, (text, kind, source, about, confidence) in enumerate(learned)
        )
    )  # fmt: skip
    return memory
