"""Opens the screens over the chat: the search of all messages, the charts, the queries."""

from typing import TYPE_CHECKING

from tui.chat_view import NOT_YET, ChatView
from tui.navigation import go_to
from tui.node_links import walk_from
from tui.widgets.search import SearchScreen
from tui.worlds import MAIN, named, what_if, world_of

if TYPE_CHECKING:
    from tui.drafts import QuerySession


async def open_charts(view: ChatView) -> None:
    """Show the charts of the memory."""
    if view.backstage is None:
        view.ui.say(NOT_YET)
        return
    from tui.charts.screen import ChartsScreen

    view.ui.show(ChartsScreen(view))


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
    from tui.drafts import QuerySession

    if private not in view.desks:
        view.desks[private] = QuerySession(None if private else view.drafts)
    return view.desks[private]


async def search_messages(view: ChatView, text: str = "") -> None:
    """Search everything ever said, and go to what is chosen."""
    chat, backstage = view.chat, view.backstage
    if chat is None or backstage is None:
        view.ui.say(NOT_YET)
        return
    worlds = [world for world in await chat.service.branches.worlds() if world.id != MAIN]
    what_ifs = {world.id: (await named(chat.service, world)).short for world in worlds}
    screen = SearchScreen(
        chat.service.search.words,
        backstage.failures,
        text or view.sessions.words or view.sought,
        what_ifs=what_ifs,
        walk=lambda turn: walk_from(view, "Turn", turn),
    )
    found = await view.ui.ask(screen)
    view.sought = screen.text
    if found is not None:
        await go_to(view, found.turn.session, found.turn.id)
