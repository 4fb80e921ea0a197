"""Walks the graph from what a key was pressed on."""

from graph.values import Ref
from tui.chat_view import ChatView


def walk_from(view: ChatView, table: str, identity: str) -> None:
    """Show a node with its neighbours."""
    view.ui.begin(_open(view, Ref(table, identity)))


async def _open(view: ChatView, ref: Ref) -> None:
    from tui.nodes.opening import open_node

    await open_node(view, ref)
