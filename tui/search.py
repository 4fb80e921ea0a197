"""The search of all messages: goes to the one that is chosen."""

from tui.chat_view import NOT_YET, ChatView
from tui.navigation import go_to
from tui.node_links import walk_from
from tui.widgets.search import SearchScreen
from tui.worlds import MAIN, named


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
