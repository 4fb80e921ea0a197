"""Going to any turn of any chat, and back again: from the search, from the memory panel."""

from typing import TYPE_CHECKING

from tui.text import one_line
from tui.trail import ChatPlace
from tui.walking import walk_from
from tui.widgets.dialogs import Reader
from tui.widgets.search import SearchScreen
from tui.worlds import MAIN, named

if TYPE_CHECKING:
    from graph.values import Turn
    from tui.app import ClewApp
    from tui.chat import Chat

MOST_PARENTS = 50  # replies to replies that an alternative may be away from the chat's path
NOT_YET = "The memory is still opening."
OFF_PATH = "This message is on another branch. The chat behind this page shows where it branches off."


async def search(app: "ClewApp", text: str = "") -> None:
    """Search everything ever said, and go to what is chosen."""
    chat, backstage = app.chat, app.backstage
    if chat is None or backstage is None:
        app.say(NOT_YET)
        return
    worlds = [world for world in await chat.service.branches.worlds() if world.id != MAIN]
    what_ifs = {world.id: (await named(chat.service, world)).short for world in worlds}
    screen = SearchScreen(
        chat.service.search.words,
        backstage.failures,
        text or app.sessions.words or app.sought,
        what_ifs=what_ifs,
        walk=lambda turn: walk_from(app, "Turn", turn),
    )
    found = await app.push_screen_wait(screen)
    app.sought = screen.text
    if found is not None:
        await go_to(app, found.turn.session, found.turn.id)


async def go_to(app: "ClewApp", session: str, turn: str) -> None:
    """Show a turn where it was said; one that is off its chat's path is shown where it branches off."""
    chat = app.chat
    if chat is None:
        return
    app.trail.leave(ChatPlace(chat.session, app.transcript.top_turn))
    if session != chat.session:
        await app.open_session(session)
    if not await chat.show_turn(turn):
        await _show_branch(app, chat, turn)
    elif not app.remembering.has_keys:
        app.composer.focus()
    app.say("Press Alt+← to go back.")


async def _show_branch(app: "ClewApp", chat: "Chat", turn: str) -> None:
    """The nearest turn above it that the chat did take, and the words themselves on a page of their own."""
    exchange = await chat.service.chats.exchange(turn)
    found = exchange.reply if exchange.reply is not None and exchange.reply.id == turn else exchange.turn
    parent = found.parent
    for _ in range(MOST_PARENTS):
        if parent is None or await chat.show_turn(parent):
            break
        parent = await _parent(chat, parent)
    app.push_screen(Reader(_title(found), f"{OFF_PATH}\n\n{found.text if found.text is not None else '(erased)'}"))


async def _parent(chat: "Chat", turn: str) -> str | None:
    exchange = await chat.service.chats.exchange(turn)
    of: Turn | None = exchange.reply if exchange.reply is not None and exchange.reply.id == turn else exchange.turn
    return of.parent if of is not None else None


def _title(turn: "Turn") -> str:
    from tui.reasons import who

    waits = "Withdrawn before it was answered" if turn.hidden else "Waiting to be answered"
    kind = waits if turn.queued else "Not on the current branch"
    return one_line(f"{kind} · {who(turn.role, turn.speaker)} · {turn.at.astimezone():%-d %b %Y, %H:%M}")


async def back(app: "ClewApp") -> None:
    """Where the reader was before the last jump."""
    chat, place = app.chat, app.trail.back()
    if chat is None or place is None:
        app.say("There is nowhere to go back to.")
        return
    if place.session != chat.session:
        await app.open_session(place.session)
    if place.turn is None or not await chat.show_turn(place.turn):
        await chat.to_tail()
