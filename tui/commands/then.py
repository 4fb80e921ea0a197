"""What `--as-of` and `--true-at` understand, and how a command says which moment it shows.

A date alone means the end of that day on the user's own clock; `#123` is the moment right after event 123.
"""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import typer

from tui.output import Narration, instant, local, say
from tui.since import end_of
from tui.text import counted

if TYPE_CHECKING:
    from agent.agent import Agent
    from agent.past import PastView

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
async def looking_back(agent: "Agent", narration: Narration, at: datetime | int) -> AsyncIterator["PastView"]:
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
