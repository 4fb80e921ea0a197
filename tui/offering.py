"""The offer of a better model after the first reply: one line, and the keys that download it, put it off or end it."""

import asyncio
from typing import TYPE_CHECKING

from tui.state import speed_of
from tui.text import one_line
from tui.tuning import fetch, use_everywhere

if TYPE_CHECKING:
    from agent.events import ReplyEnded
    from tui.app import ClewApp

NOT_YET = "The list of models is still loading."
NONE_FITS = "No better model in the catalogue fits this computer. Use /model to see them all."
LATER = "You will be asked again in a week. Use /better to download it any time."
NEVER = "You will not be asked again. Use /better or /model to change the model."


async def after_reply(app: "ClewApp", event: "ReplyEnded") -> None:
    """The first reply has ended: offer what this machine could run, unless that is not wanted."""
    chat, backstage = app.chat, app.backstage
    if chat is None or backstage is None or not backstage.may_offer():
        return
    if (found := await asyncio.to_thread(backstage.better, speed_of(event))) is not None:
        chat.offer(found)


async def better(app: "ClewApp", argument: str) -> None:
    """F5: get what is offered; where nothing is, offer it. `not now` and `never` are remembered."""
    match argument.strip().lower():
        case "never":
            await never(app)
        case "not now" | "later":
            await later(app)
        case _:
            await _get_or_offer(app)


async def later(app: "ClewApp") -> None:
    """Esc on the offer."""
    if app.chat is None or app.backstage is None:
        return
    app.chat.offer(None)
    await asyncio.to_thread(app.backstage.postpone_offer)
    app.say(LATER)


async def never(app: "ClewApp") -> None:
    if app.chat is None or app.backstage is None:
        return
    app.chat.offer(None)
    await asyncio.to_thread(app.backstage.keep, "offer_model", False)
    app.say(NEVER)


async def _get_or_offer(app: "ClewApp") -> None:
    chat, backstage = app.chat, app.backstage
    if chat is None or backstage is None:
        app.say(NOT_YET)
        return
    offered, session = chat.state.offer, chat.session
    if offered is None:  # F5 was pressed by chance, or /better typed: nothing is fetched that was not shown before
        found = await asyncio.to_thread(backstage.better, speed_of(chat.state.last))
        if found is None:
            app.say(NONE_FITS)
        else:
            chat.offer(found)
        return
    chat.offer(None)
    if not offered.installed:
        await fetch(app, chat, backstage, offered.name)
    await use_everywhere(app, chat, backstage, offered.name, session)
    app.say(f"{one_line(offered.name)} is now the model. Use /model to change it.")
