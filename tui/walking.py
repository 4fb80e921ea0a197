"""Walks the graph from what a key was pressed on."""

from typing import TYPE_CHECKING

from graph.subgraphs import Ref

if TYPE_CHECKING:
    from tui.app import ClewApp


def walk_from(app: "ClewApp", table: str, identity: str) -> None:
    """Show a node with its neighbours."""
    app.run_worker(app.guarded(_open(app, Ref(table, identity))))


async def _open(app: "ClewApp", ref: Ref) -> None:
    from tui.egos.opening import open_ego

    await open_ego(app, ref)
