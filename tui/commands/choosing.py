"""What a command line means: which home, session, turn and what-if, and which moments (`2h`, a date, `#123`).

A date alone means the end of that day on the user's own clock; `#123` is the moment right after event 123.
"""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from graph.errors import MemoryFailure, NotFound
from tui.output import Narration, instant, local, say
from tui.text import clean, counted, one_line
from tui.worlds import MAIN

if TYPE_CHECKING:
    from agent.face import Face
    from agent.home import Home
    from agent.past import PastView
    from graph.reader import LogReader
    from graph.values import Session, Turn


UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
EARLIEST = datetime(1970, 1, 1, tzinfo=UTC)
TICK = timedelta(milliseconds=1)
EXAMPLES = "2025-03-01, 2025-03-01T14:30, 90m, 2h, 3d or 1w"


def parse_since(text: str, *, now: datetime) -> datetime:
    """The UTC time that `text` means; `now` is aware. A time without an offset is local, a date its midnight.

    Raises ValueError, whose message says what would be understood. Nothing is earlier than 1970.
    """
    words = text.strip()
    if ago := re.fullmatch(r"(\d{1,12})\s*([smhdw])", words.lower()):
        try:
            return max(EARLIEST, now.astimezone(UTC) - timedelta(**{UNITS[ago[2]]: int(ago[1])}))
        except OverflowError:
            return EARLIEST
    try:
        moment = datetime.fromisoformat(words)
    except ValueError as error:
        raise ValueError(f"{text!r} is not a valid time. Write it as {EXAMPLES}.") from error
    try:
        return max(EARLIEST, moment.astimezone(UTC))
    except (OverflowError, OSError, ValueError):
        if moment.year < EARLIEST.year:
            return EARLIEST
        raise ValueError(f"{text!r} is out of range. Write it as {EXAMPLES}.") from None


def end_of(text: str, *, now: datetime) -> datetime:
    """The last moment, in UTC, that `text` may mean; `now` is aware. Raises ValueError, as `parse_since`."""
    try:
        day = date.fromisoformat(text.strip())
    except ValueError:
        return parse_since(text, now=now)
    try:
        return datetime.combine(day + timedelta(days=1), time.min).astimezone(UTC) - TICK
    except (OverflowError, OSError, ValueError):  # the first or last days of the calendar, which differ between Pythons
        return max(EARLIEST, datetime.combine(day, time.max, UTC))


def moment(text: str | None) -> datetime | None:
    """The UTC time that an option gives, None where it is not given. Raises BadParameter."""
    if text is None:
        return None
    try:
        return parse_since(text, now=datetime.now(UTC))
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error


def home_of(ctx: typer.Context, *, writing: bool = True, make: bool | None = None) -> "Home":
    """The home that the command line names, its folders made; one that is only read from need not be writable.

    Where there is none, a command that only reads makes none, unless it says so (`make`). Raises HomeError.
    """
    from agent.home import Home

    named = ctx.find_root().params.get("home")
    return Home.resolve(Path(named) if named else None, writing=writing, make=writing if make is None else make)


def reader_of(ctx: typer.Context, home: "Home | None" = None) -> "LogReader":
    """A reader of the log of `home`, or of that which is named, closed with the command. Raises as `home_of`, and
    MemoryMissing where there is none.
    """
    from graph.reader import LogReader

    there = home if home is not None else home_of(ctx, writing=False)
    return ctx.with_resource(closing(LogReader.open(there.memory)))


OFFERED = 50
SHORTEST_PREFIX = 6
SHORT = "Ids can be shortened to 6 characters or more. "


def session_of(reader: "LogReader", wanted: str) -> "Session":
    """The chat that `wanted` names: an id, the beginning of one, or `last`, the one that a person spoke in last.

    Raises NotFound or Ambiguous.
    """
    return reader.session_named(clean(wanted))


def aim(reader: "LogReader", wanted: str | None, session: str | None = None) -> "tuple[Session, Turn | None]":
    """The chat, and the turn of it, that are meant: by a turn's or a chat's id, or nothing for the `last` chat.

    `session` names the chat where a turn that several share is meant in another than the one it was said in. Ids may be
    cut to their first 6 or more characters. Raises NotFound or Ambiguous, and BadParameter for an empty one.
    """
    from graph.readings.conversation import LAST

    for given in (wanted, session):
        if given is not None and not given.strip():
            raise typer.BadParameter("The id is empty. `clew log` and `clew sessions` list the ids.")
    if wanted is None or wanted == LAST:
        return session_of(reader, session or LAST), None
    try:
        turn = reader.turn_named(clean(wanted))
    except NotFound as missing:
        try:
            return session_of(reader, wanted), None
        except NotFound:
            short = SHORT if len(clean(wanted).strip()) < SHORTEST_PREFIX else ""
            raise NotFound(
                f"There is no message or chat {wanted}. {short}`clew log` and `clew sessions` list them."
            ) from missing
    return session_of(reader, session or turn.session), turn


PROJECT = "Look from inside this project; otherwise from outside all projects."


def project_in(reader: "LogReader", named: str | None) -> str | None:
    """How the project that is named, in any case, is written; None where none is. Raises NotFound."""
    if named is None:
        return None
    there = [each.name for each in reader.projects()]
    wanted = " ".join(clean(named).split())
    found = [each for each in there if each.casefold() == wanted.casefold()]
    if not found:
        listed = f"Projects: {one_line(', '.join(there))}." if there else "There are no projects yet."
        raise NotFound(f"There is no project {one_line(wanted)}. {listed} Nothing was changed.")
    return wanted if wanted in found else found[0]


SEEN_IN = "Only what is seen in this project; otherwise all, each with its project."


def project_named(home: "Home", named: str) -> str | None:
    """How the project is written in the memory of a home. Raises NotFound, and the MemoryFailures of reading it."""
    from graph.errors import MemoryMissing
    from graph.reader import LogReader

    try:
        reader = LogReader.open(home.memory)
    except MemoryMissing as error:
        raise NotFound(f"There is no project {one_line(named)}: the memory is empty.") from error
    with closing(reader):
        return project_in(reader, named)


def outside(reader: "LogReader", project: str | None) -> str:
    """What to add where nothing was found: that what belongs to projects was not looked at, if there are any."""
    return " outside of projects; use --project NAME for one" if project is None and reader.projects() else ""


def complete_session(ctx: typer.Context, incomplete: str) -> list[tuple[str, str]]:
    """For the shell: ids of sessions that begin like this, with their names."""
    return [(session.id, _harmless(session.name)) for session in _offered(ctx) if session.id.startswith(incomplete)][
        :OFFERED
    ]


def complete_shown(ctx: typer.Context, incomplete: str) -> list[tuple[str, str]]:
    """For the shell: ids of turns and of sessions that begin like this."""
    from agent.errors import AgentError
    from graph.reader import LogReader

    try:
        with closing(LogReader.open(home_of(ctx, writing=False).memory)) as reader:
            said = reader.in_view(each.turn for each in reader.exchanges(limit=500))
            turns = [(turn.id, _harmless(turn.text)) for turn in said]
    except (MemoryFailure, AgentError):
        return []
    return [each for each in turns if each[0].startswith(incomplete)][:OFFERED] + complete_session(ctx, incomplete)


def _harmless(text: str | None) -> str:
    """Stored words for a script that the shell evaluates: nothing is left in them that any shell would act on."""
    return " ".join(re.sub(r"[^\w.,? -]", " ", text or "").split())[:60]


def _offered(ctx: typer.Context) -> "list[Session]":
    from agent.errors import AgentError
    from graph.reader import LogReader

    try:
        with closing(LogReader.open(home_of(ctx, writing=False).memory)) as reader:
            return reader.sessions(archived=True)
    except (MemoryFailure, AgentError):
        return []


WORLD = "In this what-if, given by its id or by one of its chats."


def world_in(reader: "LogReader", named: str | None, *, told: str = "In") -> str:
    """The id of the world that is named, main where none is; one that is not main is said on stderr, with its name.

    Raises NotFound or Ambiguous.
    """
    if named is None:
        return MAIN
    world = reader.world(clean(named).strip())
    if world.id != MAIN:
        kind = "story" if world.story == world.id else "what-if"
        say(f"{told} the {kind} {f'“{one_line(world.name)}” ' if world.name else ''}({one_line(world.id)}).")
    return world.id


def world_of(home: "Home", named: str | None, *, told: str = "In") -> str:
    """As `world_in`, of the memory of a home; where none is named, nothing is opened. Raises MemoryMissing too."""
    if named is None:
        return MAIN
    from graph.reader import LogReader

    with closing(LogReader.open(home.memory)) as reader:
        return world_in(reader, named, told=told)


AS_OF = "As clew knew it then: 2025-03-01 (the end of that day), 2025-03-01T14:30, 3d; or #EVENT."
TRUE_AT = "Only what was said by then; same formats."


def when(text: str | None) -> datetime | int | None:
    """The moment or the event's number that `--as-of` gives, None where it is not given. Raises BadParameter."""
    if text is not None and (number := re.fullmatch(r"\s*#(\d{1,18})\s*", text)):
        return int(number[1])
    return _moment(text, also=" Or use #EVENT, for the moment right after that event.")


def said_by(text: str | None) -> datetime | None:
    """The moment that `--true-at` gives, None where it is not given. Raises BadParameter."""
    return _moment(text)


def _moment(text: str | None, *, also: str = "") -> datetime | None:
    if text is None:
        return None
    try:
        return end_of(text, now=datetime.now(UTC))
    except ValueError as error:
        raise typer.BadParameter(f"{error}{also}") from error


@asynccontextmanager
async def looking_back(agent: "Face", narration: Narration, at: datetime | int) -> AsyncIterator["PastView"]:
    """The memory as it was, which is said on stderr once it is there. Raises NothingThen, NotFound or GraphFailure."""
    opening = agent.past.open(at)
    async for step in opening:
        narration.tell(f"going back: {step.done:,} of {counted(step.total, 'event')}")
    past = await opening
    try:
        narration.clear()
        moment = f"on {local(at)}" if isinstance(at, datetime) else f"right after event {at}, {local(past.at)}"
        say(f"As clew knew it {moment} (the last change before was on {local(past.at)}).")
        yield past
    finally:
        await past.close()


def stamped(rows: list[dict[str, object]], as_of: datetime | int | None) -> list[dict[str, object]]:
    """Rows for programs, each with the moment it is of, where one was asked for."""
    if as_of is None:
        return rows
    return [row | {"as_of": instant(as_of) if isinstance(as_of, datetime) else as_of} for row in rows]
