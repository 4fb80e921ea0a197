"""`clew reflect`: learn now from what was said and waits, or once more from an exchange. Needs the memory alone."""

import asyncio
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from graph.errors import NotFound
from tui.commands.choosing import home_of
from tui.commands.learned import has_memory
from tui.exit_codes import ExitCode
from tui.output import Narration, put, put_json, say
from tui.text import clean, counted

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from agent.events import Notice
    from agent.face import Face


@dataclass(slots=True)
class Counts:
    """What came of it: exchanges reflected on, things learned, those of them that wait for review, exchanges left."""

    reflected: int = 0
    learned: int = 0
    review: int = 0
    left: int = 0
    stopped: bool = False

    def words(self) -> str:
        """The counts for people."""
        if not self.reflected:
            return "Nothing was reflected on." if self.left else "Nothing is waiting to be learned from."
        exchanges = counted(self.reflected, "exchange")
        learned = counted(self.learned, "thing") if self.learned else "nothing new"
        review = f", {self.review:,} waiting for `clew review`" if self.review else ""
        return f"Reflected on {exchanges} and learned {learned}{review}. `clew memories` lists them."


def reflect(
    ctx: typer.Context,
    no_model: Annotated[
        bool, typer.Option("--no-model", help="Use no model: keep what you said about yourself, word for word.")
    ] = False,
    again: Annotated[
        str | None,
        typer.Option(metavar="ID", help="Reflect again on the exchange of this message; nothing is learned twice."),
    ] = None,
    no_reinforce: Annotated[
        bool,
        typer.Option("--no-reinforce", help="Do not strengthen memories that are repeated."),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object with the counts.")] = False,
) -> None:
    """Learn now from exchanges that are waiting.

    The chat does it automatically. Ctrl+C loses nothing.
    """
    from tui.commands.opened import with_memory

    home = home_of(ctx)
    counts = Counts()

    async def work(agent: "Face", narration: Narration) -> None:
        await _reflect(agent, narration, counts, again, by_model=not no_model, reinforce=not no_reinforce)

    again = None if again is None else clean(again)
    try:
        if again is not None and not has_memory(home):
            raise NotFound(f"There is no message {again}: the memory is empty.")
        if has_memory(home):
            with_memory(home, work, client="reflect", by_meaning=not no_model, brief=False)
    except typer.Exit:
        if not counts.stopped:
            raise
    if as_json:
        put_json(asdict(counts))
    else:
        put(counts.words())
    if counts.stopped:
        say("Stopped. What was learned stays; run the same command again to continue.")
        raise typer.Exit(ExitCode.INTERRUPTED)


async def _reflect(
    agent: "Face", narration: Narration, counts: Counts, again: str | None, *, by_model: bool, reinforce: bool
) -> None:
    from models.errors import ModelError

    done = 0
    counts.left = waited = await agent.reflection.unreflected()
    heard = asyncio.create_task(_follow(agent.notices(), narration, counts, waited))
    try:
        if (waited or again is not None) and by_model:
            await agent.models.ready()
        if again is None:
            await agent.reflection.run(by_model=by_model, reinforce=reinforce)
        else:
            await agent.reflection.again(again, by_model=by_model, reinforce=reinforce)
            done = 1
    except ModelError:  # told by a notice
        say("Nothing was reflected on. `clew reflect --no-model` keeps what you told about yourself, word for word.")
        raise typer.Exit(ExitCode.UNAVAILABLE) from None
    except asyncio.CancelledError:
        counts.stopped = True
        raise
    finally:
        counts.left = await agent.reflection.unreflected()  # meanwhile the last notices are heard
        counts.reflected = max(done, waited - counts.left)
        heard.cancel()
        with suppress(asyncio.CancelledError):
            await heard
        narration.clear()


async def _follow(notices: "AsyncIterator[Notice]", narration: Narration, counts: Counts, waited: int) -> None:
    """Count what is learned, and tell how far it is."""
    from agent.events import Learned, Reflecting

    async for notice in notices:
        if isinstance(notice, Learned):
            counts.learned += len(notice.observations)
            counts.review += notice.review
        elif isinstance(notice, Reflecting) and notice.left:
            narration.tell(f"reflecting {max(1, waited - notice.left + 1):,} of {max(waited, notice.left):,}")
