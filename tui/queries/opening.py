"""Opens the query screen on its desk: the same text and rows as when it was closed."""

from typing import TYPE_CHECKING

from tui.chat_view import NOT_YET, ChatView
from tui.worlds import what_if, world_of

if TYPE_CHECKING:
    from tui.query_session import QuerySession


async def open_graph(view: ChatView, cypher: str = "") -> None:
    """Show the query screen, until it closes; `cypher` takes the place of what stands in its editor."""
    from tui.queries.screen import QueryScreen

    if view.chat is None or view.backstage is None:
        view.ui.say(NOT_YET)
        return
    private = view.is_private(view.chat.session)
    desk = desk_of(view, private=private)
    if cypher.strip():
        desk.write(cypher.strip())
    world = await world_of(view.chat.service, view.chat.session)
    found = await what_if(view.chat.service, world)
    note = f"$world is the what-if {found.quoted}" if found is not None else ""
    await view.ui.ask(QueryScreen(view, desk, world=world, private=private, note=note))


def desk_of(view: ChatView, *, private: bool) -> "QuerySession":
    """The desk of this run of the app; private chats have one of their own, of which nothing is on the disk."""
    from tui.query_session import QuerySession

    if private not in view.desks:
        view.desks[private] = QuerySession(None if private else view.drafts)
    return view.desks[private]
