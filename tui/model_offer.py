"""The offer of a better model after the first reply: one line, and the keys that download it, put it off or end it."""

import asyncio
from typing import TYPE_CHECKING

from tui.chat_view import ChatView
from tui.model_handlers import fetch, use_everywhere
from tui.state import speed_of
from tui.text import one_line

if TYPE_CHECKING:
    from agent.events import ReplyEnded

NOT_YET = "The list of models is still loading."
NONE_FITS = "No better model in the catalogue fits this computer. Use /model to see them all."
LATER = "You will be asked again in a week. Use /better to download it any time."
NEVER = "You will not be asked again. Use /better or /model to change the model."


async def after_reply(view: ChatView, event: "ReplyEnded") -> None:
    """The first reply has ended: offer what this machine could run, unless that is not wanted."""
    chat, backstage = view.chat, view.backstage
    if chat is None or backstage is None or not backstage.may_offer():
        return
    if (found := await asyncio.to_thread(backstage.better, speed_of(event))) is not None:
        chat.offer(found)


async def better(view: ChatView, argument: str) -> None:
    """F5: get what is offered; where nothing is, offer it. `not now` and `never` are remembered."""
    match argument.strip().lower():
        case "never":
            await never(view)
        case "not now" | "later":
            await later(view)
        case _:
            await _get_or_offer(view)


async def later(view: ChatView) -> None:
    """Esc on the offer."""
    if view.chat is None or view.backstage is None:
        return
    view.chat.offer(None)
    await asyncio.to_thread(view.backstage.postpone_offer)
    view.ui.say(LATER)


async def never(view: ChatView) -> None:
    if view.chat is None or view.backstage is None:
        return
    view.chat.offer(None)
    await asyncio.to_thread(view.backstage.keep, "offer_model", False)
    view.ui.say(NEVER)


async def _get_or_offer(view: ChatView) -> None:
    chat, backstage = view.chat, view.backstage
    if chat is None or backstage is None:
        view.ui.say(NOT_YET)
        return
    offered, session = chat.state.offer, chat.session
    if offered is None:  # F5 was pressed by chance, or /better typed: nothing is fetched that was not shown before
        found = await asyncio.to_thread(backstage.better, speed_of(chat.state.last))
        if found is None:
            view.ui.say(NONE_FITS)
        else:
            chat.offer(found)
        return
    chat.offer(None)
    if not offered.installed:
        await fetch(view, chat, backstage, offered.name)
    await use_everywhere(view, chat, backstage, offered.name, session)
    view.ui.say(f"{one_line(offered.name)} is now the model. Use /model to change it.")
