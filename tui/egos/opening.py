"""Opens the view of a node and its neighbours."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from graph.subgraphs import Ref
    from tui.app import ClewApp


async def open_ego(app: "ClewApp", ref: "Ref") -> None:
    """Show a node with its neighbours."""
    app.say("The view of a node is not built yet.")
