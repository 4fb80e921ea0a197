"""Copying: the native clipboard tool first, the terminal's own (OSC 52) second, and a word on which it was."""

import asyncio
import os
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass

from tui.chat_view import ChatView

TIMEOUT_S = 2.0


@dataclass(frozen=True, slots=True)
class ClipboardTool:
    """A clipboard command that reads the text from its standard input."""

    name: str
    command: tuple[str, ...]


def native_tool(environment: Mapping[str, str] | None = None, platform: str = sys.platform) -> ClipboardTool | None:
    """The clipboard tool of this desktop, if there is a desktop and one is installed."""
    environment = os.environ if environment is None else environment
    candidates: list[ClipboardTool] = []
    if platform == "darwin":
        candidates.append(ClipboardTool("pbcopy", ("pbcopy",)))
    if environment.get("WAYLAND_DISPLAY"):
        candidates.append(ClipboardTool("wl-copy", ("wl-copy",)))
    if environment.get("DISPLAY"):
        candidates.append(ClipboardTool("xclip", ("xclip", "-selection", "clipboard")))
        candidates.append(ClipboardTool("xsel", ("xsel", "--clipboard", "--input")))
    if environment.get("WSL_DISTRO_NAME"):
        candidates.append(ClipboardTool("clip.exe", ("clip.exe",)))
    path = environment.get("PATH")
    return next((tool for tool in candidates if shutil.which(tool.command[0], path=path)), None)


async def copy_native(text: str, tool: ClipboardTool) -> bool:
    """Hand `text` to the tool; False if it fails or takes longer than TIMEOUT_S."""
    quiet = asyncio.subprocess.DEVNULL  # xclip stays behind as the clipboard's owner: a pipe would never close
    try:
        process = await asyncio.create_subprocess_exec(
            *tool.command, stdin=asyncio.subprocess.PIPE, stdout=quiet, stderr=quiet
        )
    except OSError:
        return False
    try:
        async with asyncio.timeout(TIMEOUT_S):
            await process.communicate(text.encode("utf-8", errors="replace"))
    except TimeoutError:
        process.kill()
        await process.wait()
        return False
    return process.returncode == 0


async def copy_text(view: ChatView, text: str, what: str) -> None:
    """Copy by the native tool, else through the terminal, and say which."""
    tool = native_tool()
    if tool is not None and await copy_native(text, tool):
        view.ui.say(f"{what} was copied (with {tool.name}).")
    else:
        view.app.copy_to_clipboard(text)
        view.ui.say(f"{what} was copied to the terminal's clipboard (OSC 52).")
