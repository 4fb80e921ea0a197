"""Opens the view of a node and its neighbours, and goes where the walk leads in the end."""

from typing import TYPE_CHECKING

from tui.chat_view import NOT_YET, ChatView
from tui.worlds import MAIN, named

if TYPE_CHECKING:
    from graph.subgraphs import Ref


async def open_node(view: ChatView, ref: "Ref") -> bool:
    """Show a node with its neighbours, until the walk ends; then what it leads to, where that is at home, if anywhere.

    Answers whether it led anywhere. Raises NotFound or GraphFailure before anything is shown.
    """
    from tui.nodes.screen import NodeScreen
    from tui.nodes.walk import NodeWalk

    chat, backstage = view.chat, view.backstage
    if chat is None or backstage is None:
        view.ui.say(NOT_YET)
        return False
    service = chat.service
    walk = NodeWalk(service, await service.graph.ego(ref))
    what_ifs = [world for world in await chat.service.branches.worlds() if world.id != MAIN]
    worlds = {world.id: (await named(chat.service, world)).short for world in what_ifs}
    home = await view.ui.ask(NodeScreen(service, backstage.failures, walk, worlds))
    if home is not None:
        from tui.nodes.home import show_at_home

        view.ui.begin(show_at_home(view, home))  # the app's: every other ends with its screen
    return home is not None
