"""Copies text to the clipboard."""

from tui.clipboard import copy_native, native_tool
from tui.chat_view import ChatView


async def copy_text(view: ChatView, text: str, what: str) -> None:
    """Copy by the native tool, else through the terminal, and say which."""
    tool = native_tool()
    if tool is not None and await copy_native(text, tool):
        view.ui.say(f"{what} was copied (with {tool.name}).")
    else:
        view.app.copy_to_clipboard(text)
        view.ui.say(f"{what} was copied to the terminal's clipboard (OSC 52).")
