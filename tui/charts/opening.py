"""Opens the charts."""

from tui.chat_view import NOT_YET, ChatView


async def open_charts(view: ChatView) -> None:
    """Show the charts of the memory."""
    if view.backstage is None:
        view.ui.say(NOT_YET)
        return
    from tui.charts.screen import ChartsScreen

    view.ui.show(ChartsScreen(view))
