"""Opens the charts."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tui.app import ClewApp


async def open_charts(app: "ClewApp") -> None:
    """Show the charts of the memory."""
    app.say("The charts are not built yet.")
