"""The keys on a focused message: to the next, copy, open, pin, memory; answer again, edit, turn, fork, hide, delete."""

from typing import TYPE_CHECKING

from textual import events

from tui import altering, branching, clipboard
from tui.widgets.dialogs import Reader
from tui.widgets.message import Message
from tui.widgets.tool import ToolBlock

if TYPE_CHECKING:
    from tui.app import ClewApp


def key_on_message(app: "ClewApp", message: Message, event: events.Key) -> None:
    """A key while a message has the focus."""
    messages = app.transcript.messages
    place = messages.index(message) if message in messages else 0
    match event.key:
        case "j" | "down":
            if place + 1 < len(messages):
                messages[place + 1].focus()
            else:
                app.composer.focus()
        case "k" | "up":
            if place:
                messages[place - 1].focus()
            else:
                app.transcript.scroll_relative(y=-3, animate=False)
        case "c":
            app.run_worker(copy_text(app, message.text, "The message"))
        case "b":
            app.run_worker(copy_block(app, message))
        case "m":
            app.run_worker(app.remembering.show(message=message.turn))
        case "p":
            app.run_worker(app.remembering.pin_message(message))
        case "o":
            app.run_worker(app.guarded(app.keeping.withhold(message)))
        case "f":
            app.run_worker(app.guarded(branching.fork_at(app, message)))
        case "r":
            branching.answer_again(app, message)
        case "e":
            branching.say_otherwise(app, message)
        case "left" | "right":
            app.run_worker(app.guarded(branching.walk(app, message, -1 if event.key == "left" else 1)))
        case "h":
            app.run_worker(app.guarded(altering.hide_message(app, message)))
        case "x" | "delete":
            app.run_worker(app.guarded(altering.delete_message(app, message)))
        case "enter" if isinstance(message, ToolBlock):
            message.toggle()
        case "enter":
            read_message(app, message)
        case "pageup" | "pagedown":
            pages = -1 if event.key == "pageup" else 1
            app.transcript.scroll_relative(y=pages * max(1, app.transcript.size.height - 2), animate=False)
        case "end":
            app.perform("bottom")
        case "escape" | "tab":
            app.composer.focus()
        case _ if event.is_printable and event.character:
            app.composer.focus()
            app.composer.insert(event.character)
        case _:
            return
    event.stop()
    event.prevent_default()


def read_message(app: "ClewApp", message: Message) -> None:
    """A message whole, on a screen of its own."""
    app.push_screen(Reader("Message", message.text))


async def copy_text(app: "ClewApp", text: str, what: str) -> None:
    """Copy by the native tool, else through the terminal, and say which."""
    tool = clipboard.native_tool()
    if tool is not None and await clipboard.copy_native(text, tool):
        app.say(f"{what} was copied with {tool.name}.")
    else:
        app.copy_to_clipboard(text)
        app.say(f"{what} was handed to the terminal's clipboard (OSC 52).")


async def copy_block(app: "ClewApp", message: Message) -> None:
    """Copy the message's next code block."""
    blocks = message.code_blocks()
    if not blocks:
        app.say("This message has no code block.")
        return
    place = message.next_block % len(blocks)
    message.next_block = place + 1
    await copy_text(app, blocks[place], f"Code block {place + 1} of {len(blocks)}")
