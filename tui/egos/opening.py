"""Opens the view of a node and its neighbours, and goes where the walk leads in the end."""

from typing import TYPE_CHECKING

from tui import finding
from tui.worlds import MAIN, named

if TYPE_CHECKING:
    from graph.subgraphs import Ref
    from tui.app import ClewApp


async def open_ego(app: "ClewApp", ref: "Ref") -> bool:
    """Show a node with its neighbours, until the walk ends; then what it leads to, where that is at home, if anywhere.

    Answers whether it led anywhere. Raises NotFound or GraphFailure before anything is shown.
    """
    from tui.egos.screen import EgoScreen
    from tui.egos.walk import NodeWalk

    chat, backstage = app.chat, app.backstage
    if chat is None or backstage is None:
        app.say(finding.NOT_YET)
        return False
    service = chat.service
    walk = NodeWalk(service, await service.graph.ego(ref))
    what_ifs = [world for world in await chat.service.branches.worlds() if world.id != MAIN]
    worlds = {world.id: (await named(chat.service, world)).short for world in what_ifs}
    home = await app.push_screen_wait(EgoScreen(service, backstage.failures, walk, worlds))
    if home is not None:
        from tui.egos.home import show_at_home

        app.run_worker(app.guarded(show_at_home(app, home)))  # the app's: every other ends with its screen
    return home is not None
