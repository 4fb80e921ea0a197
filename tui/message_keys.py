"""The keys on a focused message: to the next, copy, open, pin, memory; answer again, edit, turn, fork, hide, delete."""

from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

from textual import events

from tui import altering, branching, clipboard
from tui.keys import actions_of
from tui.places import MESSAGE
from tui.walking import walk_from
from tui.widgets.dialogs import Reader
from tui.widgets.message import Answer, Message, UserMessage
from tui.widgets.tool import ToolBlock

if TYPE_CHECKING:
    from tui.app import ClewApp

ACTIONS = actions_of(MESSAGE)


def key_on_message(app: "ClewApp", message: Message, event: events.Key) -> None:
    """A key while a message has the focus; letters come here only if they were pressed alone (keyboard.py)."""
    deed = DEEDS.get(ACTIONS.get(event.key, ""))
    if deed is not None:
        deed(app, message)
        event.stop()
        event.prevent_default()


def _step(app: "ClewApp", message: Message, step: int) -> None:
    messages = app.transcript.messages
    place = (messages.index(message) if message in messages else 0) + step
    if place >= len(messages):
        app.composer.focus()
    elif place >= 0:
        messages[place].focus()
    else:
        app.transcript.scroll_relative(y=-3, animate=False)


def _page(app: "ClewApp", pages: int) -> None:
    app.transcript.scroll_relative(y=pages * max(1, app.transcript.size.height - 2), animate=False)


def _do(app: "ClewApp", deed: Coroutine[Any, Any, None]) -> None:
    app.run_worker(app.guarded(deed))


def _open(app: "ClewApp", message: Message) -> None:
    if isinstance(message, ToolBlock):
        message.toggle()
    else:
        read_message(app, message)


def _walk_graph(app: "ClewApp", message: Message) -> None:
    if not isinstance(message, UserMessage | Answer) or (isinstance(message, Answer) and message.writing):
        app.say("Only messages and finished replies are in the graph.")
    else:
        walk_from(app, "Turn", message.turn)


DEEDS: dict[str, Callable[["ClewApp", Message], object]] = {
    "next": lambda app, message: _step(app, message, 1),
    "previous": lambda app, message: _step(app, message, -1),
    "copy": lambda app, message: app.run_worker(copy_text(app, message.text, "The message")),
    "copy_block": lambda app, message: app.run_worker(copy_block(app, message)),
    "open": _open,
    "recalled": lambda app, message: app.run_worker(app.remembering.show(message=message.turn)),
    "ego": _walk_graph,
    "pin": lambda app, message: app.run_worker(app.remembering.pin_message(message)),
    "withhold": lambda app, message: _do(app, app.keeping.withhold(message)),
    "answer_again": branching.answer_again,
    "walk_left": lambda app, message: _do(app, branching.walk(app, message, -1)),
    "walk_right": lambda app, message: _do(app, branching.walk(app, message, 1)),
    "say_otherwise": branching.say_otherwise,
    "fork": lambda app, message: _do(app, branching.fork_at(app, message)),
    "hide": lambda app, message: _do(app, altering.hide_message(app, message)),
    "delete": lambda app, message: _do(app, altering.delete_message(app, message)),
    "page_up": lambda app, message: _page(app, -1),
    "page_down": lambda app, message: _page(app, 1),
    "tail": lambda app, message: app.perform("bottom"),
    "stop": lambda app, message: app.perform("stop", by_key=True),
    "leave": lambda app, message: app.composer.focus(),
}


def read_message(app: "ClewApp", message: Message) -> None:
    """A message whole, on a screen of its own."""
    app.push_screen(Reader("Message", message.text))


async def copy_text(app: "ClewApp", text: str, what: str) -> None:
    """Copy by the native tool, else through the terminal, and say which."""
    tool = clipboard.native_tool()
    if tool is not None and await clipboard.copy_native(text, tool):
        app.say(f"{what} was copied (with {tool.name}).")
    else:
        app.copy_to_clipboard(text)
        app.say(f"{what} was copied to the terminal's clipboard (OSC 52).")


async def copy_block(app: "ClewApp", message: Message) -> None:
    """Copy the message's next code block."""
    blocks = message.code_blocks()
    if not blocks:
        app.say("This message has no code block.")
        return
    place = message.next_block % len(blocks)
    message.next_block = place + 1
    await copy_text(app, blocks[place], f"Code block {place + 1} of {len(blocks)}")
