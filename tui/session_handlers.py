"""What is done with chats: the list of them, and renaming, archiving and deleting one."""

from typing import TYPE_CHECKING

from tui import chat_view, history_handlers
from tui.chat_view import PRIVATE
from tui.navigation import stop_reply
from tui.node_links import walk_from
from tui.parts import Parts
from tui.text import cut
from tui.widgets.dialogs import AskLine
from tui.widgets.impact import ImpactChoice

if TYPE_CHECKING:
    from graph.values import Session

DELETE_WORDS = "Messages shared with other chats stay there."


async def toggle(parts: Parts) -> None:
    """Show the list, or hide it."""
    if parts.view.sessions.display:
        chat_view.hide(parts.view)
        return
    if parts.view.width < chat_view.ROOM_FOR_THREE and parts.panel.open:
        parts.panel.hide()
    parts.view.sessions.display = True
    parts.view.screen.set_class(True, "-listing")
    await chat_view.fill(parts.view)
    parts.view.sessions.focus_search()


async def asked(parts: Parts, what: str, session: "Session | None") -> None:
    """A key or a choice in the list."""
    if what == "close":
        if not stop_reply(parts.view):
            chat_view.hide(parts.view)
    elif what == "undo":
        await history_handlers.undo(parts.view, "")
    elif what == "archived":
        parts.view.sessions.archived = not parts.view.sessions.archived
        await chat_view.fill(parts.view)
    elif session is not None:
        await _with_session(parts, what, session)


async def _with_session(parts: Parts, what: str, session: "Session") -> None:
    assert parts.view.chat is not None
    service = parts.view.chat.service
    if what != "open" and parts.view.is_private(session.id):
        parts.ui.say(PRIVATE)
        return
    match what:
        case "open":
            await parts.ui.open_session(session.id)
            if parts.view.width < chat_view.ROOM_FOR_BOTH:
                chat_view.hide(parts.view)
            else:
                parts.view.composer.focus()
        case "rename":
            name = await parts.ui.ask(AskLine("Rename this chat", session.name or "", placeholder="Name"))
            if name:
                await service.chats.rename(session.id, name)
        case "archive" if session.archived:
            await service.chats.unarchive(session.id)
        case "archive":
            await service.chats.archive(session.id)
            if session.id == parts.view.session:
                await parts.ui.open_session(None)
        case "delete":
            await delete_session(parts, session.id)
        case "ego":
            walk_from(parts.view, "Session", session.id)


async def rename(parts: Parts, argument: str) -> None:
    session = parts.view.session
    if parts.view.chat is None or session is None:
        parts.ui.say("This chat has no messages yet. Send one first, then name it.")
        return
    if parts.view.is_private(session):
        parts.ui.say(PRIVATE)
        return
    name: str | None = argument
    if not argument:
        now = (await parts.view.chat.service.chats.get(session)).name or ""
        name = await parts.ui.ask(AskLine("Rename this chat", now, placeholder="Name"))
    if name:
        await parts.view.chat.service.chats.rename(session, name)


async def archive(parts: Parts, argument: str) -> None:
    session = parts.view.session
    if parts.view.chat is None or session is None:
        parts.ui.say("This chat has no messages yet.")
        return
    if parts.view.is_private(session):
        parts.ui.say(PRIVATE)
        return
    await parts.view.chat.service.chats.archive(session)
    await parts.ui.open_session(None)
    parts.ui.say("Chat archived. Its memories stay in use. Press F2, then Ctrl+T to see archived chats.")


async def delete(parts: Parts, argument: str) -> None:
    session = parts.view.session
    if parts.view.chat is None or session is None:
        parts.ui.say("This chat has no messages yet.")
        return
    await delete_session(parts, session)


async def delete_session(parts: Parts, session: str) -> None:
    """Delete a chat after asking."""
    assert parts.view.chat is not None
    service = parts.view.chat.service
    about = await service.chats.get(session)
    title = f"Delete the chat “{cut(about.name or 'New chat', 48)}” permanently?"
    way = ImpactChoice("the chat", lambda: service.plans.delete_session(session))
    agreed = await history_handlers.agreed(
        parts.view, title, way, yes="delete permanently", words=DELETE_WORDS, for_good=True
    )
    if agreed is None:
        return
    parts.view.drafts.save(session, "")
    if session == parts.view.session:
        await parts.ui.open_session(None)
    else:
        await history_handlers.refresh(parts.view)
    parts.ui.say("Chat deleted permanently.")
