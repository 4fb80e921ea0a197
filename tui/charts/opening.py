"""Opens the charts."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tui.app import ClewApp


async def open_charts(app: "ClewApp") -> None:
    """Show the charts of the memory."""
    if app.backstage is None:
        app.say("The memory is still opening.")
        return
    from tui.charts.screen import ChartsScreen

    app.push_screen(ChartsScreen(app))
