"""Opens the query screen."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tui.app import ClewApp


async def open_graph(app: "ClewApp", cypher: str = "") -> None:
    """Show the query screen, with these words in its editor."""
    app.say("The query screen is not built yet.")
