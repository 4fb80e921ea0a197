"""A question as Cypher by the model in use, held to a grammar and both walls, and whether it can be asked for that.

Nothing of the memory is in the prompt, only the schema, the day and the question: no stored text can speak to the model
here. What comes is never run by itself, and whatever it says, the walls let nothing but a read through. It is taken
only where it keeps to what is live and where every text in it is one of the question or of the schema: small models
like to copy the names of the examples.

Of the probe, what counts is what its queries find, not how they are written. The hardest questions come first, so that
a weak model costs two answers.
"""

import asyncio
import re
import shutil
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import BaseModel, Field

from agent.asking.shelf import Translation
from agent.background import Foreground
from agent.errors import NotUnderstood
from agent.question import question as asked_of
from agent.quoting import neutral
from agent.reflection.consolidation import within
from agent.reflection.trust import BAR
from graph.console.lexing import Sort, tokens_of
from graph.errors import QueryFailed, QueryTimeout, Refused
from graph.events import EntityNoted, ObservationKind, ObservationMade, Role, SessionRenamed, SessionStarted, TurnSaid
from graph.memory import Memory
from models.errors import EngineClosed, RunError
from models.protocols import Generator

OWN_TIME_S = 45.0  # of thinking about one answer
MOST_TOKENS = 240
TRIES = 2
LONGEST = 300  # characters of a question

Validate = Callable[[str], Awaitable[None]]

SCHEMA = """\
Turn(id, text, speaker, role, at, live, world, pinned, significance): messages; speaker 'you' is the user
Session(id, name, title, turns, started_at, last_at, world): chats
Entity(id, name, kind): kind is 'person', 'place', 'thing' or 'group'
Observation(id, text, kind, status, confidence, current, world, at, first_seen, pinned): memories; kind is 'identity', \
'preference', 'fact', 'state', 'plan', 'relationship', 'project' or 'episode'; status is 'candidate', 'active', \
'superseded' or 'invalid'
Document(id, title, type, at, deleted)
Chunk(id, text, position, live): pieces of documents
Project(id, description, status)
(Turn)-[:IN_SESSION]->(Session)
(Turn)-[:REPLIES_TO]->(Turn)
(Turn)-[:SAID_BY]->(Entity)
(Turn)-[:MENTIONS]->(Entity)
(Turn)-[:RECALLED]->(Turn|Observation|Chunk)
(Observation)-[:DERIVED_FROM]->(Turn|Chunk)
(Observation)-[:SUPPORTED_BY]->(Turn|Chunk)
(Observation)-[:SUPERSEDES]->(Observation)
(Observation)-[:ABOUT]->(Entity)
(Chunk)-[:PART_OF]->(Document)
(Session)-[:SCOPED_TO]->(Project)"""
RULES = """\
Rules: one statement of MATCH, OPTIONAL MATCH, WHERE, WITH, RETURN, ORDER BY, LIMIT. It only reads. Of messages say \
t.live AND t.world = $world, of memories o.current AND o.world = $world. Names and words in any case: \
lower(e.name) = lower('Kari'), lower(t.text) CONTAINS lower('boat'). Times are milliseconds: \
t.at >= to_epoch_ms(timestamp('2026-03-01')). Write values into the statement; $world is the only parameter."""
EXAMPLES = (
    (
        "Which chats mention Kari?",
        "MATCH (t:Turn)-[:MENTIONS]->(e:Entity), (t)-[:IN_SESSION]->(s:Session) WHERE t.live AND t.world = $world AND "
        "lower(e.name) = lower('Kari') RETURN s.name, s.title, count(t) AS messages ORDER BY messages DESC",
        "The chats in which messages mention Kari.",
    ),
    (
        "How many memories are under review?",
        "MATCH (o:Observation) WHERE o.current AND o.world = $world AND o.status = 'candidate' "
        "RETURN count(*) AS memories",
        "How many memories wait for review.",
    ),
)
_VALUES = (
    "you assistant user tool note person place thing group identity preference fact state plan relationship project "
    "episode candidate active superseded invalid main model verbatim year month day hour week"
)
KNOWN_VALUES = frozenset(_VALUES.split())
_DATE = re.compile(r"\d{4}-\d\d-\d\d(?:[ T]\d\d:\d\d(?::\d\d)?)?")
_DAYS = re.compile(r"\d{1,3} (?:day|week|month|year|hour)s?")


class Written(BaseModel):
    """What the model is held to."""

    cypher: str = Field(min_length=10, max_length=700)
    meaning: str = Field(min_length=5, max_length=160)


class TooSlow(NotUnderstood):
    """The model took too long, which may be the machine's doing: it says nothing about what it can."""


class Unheld(Exception):
    """A query that would run, but is not to be taken."""


def prompt_for(
    generator: Generator, question: str, *, now: datetime, before: tuple[str, str] | None = None
) -> list[int]:
    """The question as the model gets it; `before` is a query it wrote, and what was wrong with it."""
    examples = "\n".join(
        f"Question: {asked}\n{Written(cypher=cypher, meaning=meaning).model_dump_json()}"
        for asked, cypher, meaning in EXAMPLES
    )
    system = f"You write Cypher for a graph of conversations.\n{SCHEMA}\n{RULES}\n{examples}"
    mend = "" if before is None else f"\nThis was wrong: {before[0]}\nBecause: {before[1]}\nWrite it right."
    asked = f"Today is {now:%A, %Y-%m-%d}.\nQuestion: {neutral(question)}{mend}"
    return asked_of(generator, system, asked)


async def by_model(
    question: str,
    generator: Generator,
    validate: Validate,
    foreground: Foreground,
    *,
    now: datetime,
    tries: int = TRIES,
    own_time_s: float | None = None,
) -> Translation:
    """What the model makes of a question, once it would run. Cancelling ends it; it steps aside for replies.

    `validate` raises Refused or QueryFailed for what would not. Raises NotUnderstood; EngineClosed where the model went
    away meanwhile; and what else `validate` raises.
    """
    if len(question) > LONGEST:
        raise NotUnderstood(f"A question can have at most {LONGEST} characters; this one has {len(question)}.")
    before: tuple[str, str] | None = None
    for _ in range(tries):
        try:
            prompt = await asyncio.to_thread(prompt_for, generator, question, now=now, before=before)
            call = generator.structured(prompt, Written, max_tokens=MOST_TOKENS)
            written = await within(own_time_s or OWN_TIME_S, call, foreground)
        except TimeoutError as error:
            raise TooSlow("The model took too long to write a query for this question. Nothing was run.") from error
        except EngineClosed:
            raise
        except RunError as error:
            raise NotUnderstood(f"{error} No query was written for this question, and nothing was run.") from error
        cypher = written.cypher.strip().rstrip(";").strip()
        try:
            await validate(cypher)
            hold(cypher, question)
        except (Refused, QueryFailed, QueryTimeout, Unheld) as error:
            before = cypher, str(error)
            continue
        words = neutral(written.meaning)
        return Translation(question, cypher, {}, "model", words, generator.info.name)
    assert before is not None
    raise NotUnderstood(
        f"The model's query could not be used: {before[1]} Nothing was run. Ask in other words, or write Cypher."
    )


def hold(cypher: str, question: str) -> None:
    """Raises Unheld where a query asks for what is not live, or for a text that nobody asked for."""
    tokens = tokens_of(cypher)
    said = {token.text.strip("`") for token in tokens if token.sort in (Sort.WORD, Sort.QUOTED)}
    if "Turn" in said and "live" not in said:
        raise Unheld("It does not keep to live messages: say t.live AND t.world = $world.")
    if "Observation" in said and not said & {"current", "live"}:
        raise Unheld("It does not keep to current memories: say o.current AND o.world = $world.")
    asked = question.casefold()
    for token in tokens:
        text = token.text[1:-1].casefold() if token.sort is Sort.STRING else ""
        if text in KNOWN_VALUES or text in asked or _DATE.fullmatch(text) or _DAYS.fullmatch(text):
            continue
        raise Unheld(f"{token.text} is not in the question.")


VERSION = 2  # other questions, another prompt: probe again
NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)
PROBE_TIME_S = 240.0  # of thinking about one answer: what it can matters here, and not how fast it is just now
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
        await asyncio.to_thread(memory.console.validate, cypher)

    try:
        found = await by_model(
            task.question, generator, validate, foreground, now=NOW, tries=1, own_time_s=PROBE_TIME_S
        )
        answer = await asyncio.to_thread(memory.console.run, found.cypher, timeout_s=SECONDS)
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
