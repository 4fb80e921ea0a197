"""The list of chats beside the chat: shown or hidden, filled, and what is asked of it about one chat."""

from typing import TYPE_CHECKING

from tui import altering
from tui.deeds import delete_session, stop_reply
from tui.walking import walk_from
from tui.widgets.dialogs import AskLine

if TYPE_CHECKING:
    from graph.values import Session
    from tui.app import ClewApp

ROOM_FOR_THREE = 120  # cells from which the memory panel may stand there too
ROOM_FOR_BOTH = 72  # cells from which the list stands beside the chat instead of in its place


async def toggle(app: "ClewApp") -> None:
    """Show the list, or hide it."""
    if app.sessions.display:
        hide(app)
        return
    if app.size.width < ROOM_FOR_THREE and app.remembering.open:
        app.remembering.hide()
    app.sessions.display = True
    app.screen_stack[0].set_class(True, "-listing")
    await fill(app)
    app.sessions.focus_search()


def hide(app: "ClewApp") -> None:
    """Back to the chat alone."""
    app.sessions.display = False
    app.screen_stack[0].set_class(False, "-listing")
    app.composer.focus()


async def fill(app: "ClewApp") -> None:
    """Read the list again, if it is shown."""
    if app.chat is not None and app.sessions.display:
        service = app.chat.service
        found = await service.chats.all(archived=app.sessions.archived)
        private = [] if app.sessions.archived else await service.private.all()
        app.sessions.fill([*private, *found], app.chat.session, private=app.state.private)


async def asked(app: "ClewApp", what: str, session: "Session | None") -> None:
    """A key or a choice in the list."""
    if what == "close":
        if not stop_reply(app):
            hide(app)
    elif what == "undo":
        await altering.undo(app, "")
    elif what == "archived":
        app.sessions.archived = not app.sessions.archived
        await fill(app)
    elif session is not None:
        await _with_session(app, what, session)


async def _with_session(app: "ClewApp", what: str, session: "Session") -> None:
    assert app.chat is not None
    service = app.chat.service
    if what != "open" and app.keeping.is_private(session.id):
        app.say(altering.PRIVATE)
        return
    match what:
        case "open":
            await app.open_session(session.id)
            if app.size.width < ROOM_FOR_BOTH:
                hide(app)
            else:
                app.composer.focus()
        case "rename":
            name = await app.push_screen_wait(AskLine("Rename this chat", session.name or "", placeholder="Name"))
            if name:
                await service.chats.rename(session.id, name)
        case "archive" if session.archived:
            await service.chats.unarchive(session.id)
        case "archive":
            await service.chats.archive(session.id)
            if session.id == app.current_session:
                await app.open_session(None)
        case "delete":
            await delete_session(app, session.id)
        case "ego":
            walk_from(app, "Session", session.id)
