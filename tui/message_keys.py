"""The keys on a focused message: to the next, copy, open, pin, memory; answer again, edit, turn, fork, hide, delete."""

from collections.abc import Callable

from textual import events

from tui import branch_handlers, history_handlers, story_handlers
from tui.clipboard import copy_text
from tui.keymaps import MESSAGE, STORY_MESSAGE, actions_of
from tui.node_links import walk_from
from tui.parts import Parts
from tui.widgets.dialogs import Reader
from tui.widgets.message import AssistantMessage, Message, ToolBlock, UserMessage

ACTIONS = actions_of(MESSAGE)
STORY_ACTIONS = ACTIONS | actions_of(STORY_MESSAGE)


def key_on_message(parts: Parts, message: Message, event: events.Key) -> None:
    """A key while a message has the focus; letters come here only if they were pressed alone (keyboard.py)."""
    actions = ACTIONS if message.cue is None else STORY_ACTIONS
    handler = HANDLERS.get(actions.get(event.key, ""))
    if handler is not None:
        handler(parts, message)
        event.stop()
        event.prevent_default()


def _step(parts: Parts, message: Message, step: int) -> None:
    messages = parts.view.transcript.messages
    place = (messages.index(message) if message in messages else 0) + step
    if place >= len(messages):
        parts.view.composer.focus()
    elif place >= 0:
        messages[place].focus()
    else:
        parts.view.transcript.scroll_relative(y=-3, animate=False)


def _open(parts: Parts, message: Message) -> None:
    if isinstance(message, ToolBlock):
        message.toggle()
    else:
        read_message(parts, message)


def _walk_graph(parts: Parts, message: Message) -> None:
    if not isinstance(message, UserMessage | AssistantMessage) or (
        isinstance(message, AssistantMessage) and message.writing
    ):
        parts.ui.say("Only messages and finished replies are in the graph.")
    else:
        walk_from(parts.view, "Turn", message.turn)


def read_message(parts: Parts, message: Message) -> None:
    """A message whole, on a screen of its own."""
    parts.ui.show(Reader("Message", message.text))


async def copy_block(parts: Parts, message: Message) -> None:
    """Copy the message's next code block."""
    blocks = message.code_blocks()
    if not blocks:
        parts.ui.say("This message has no code block.")
        return
    place = message.next_block % len(blocks)
    message.next_block = place + 1
    await copy_text(parts.view, blocks[place], f"Code block {place + 1} of {len(blocks)}")


def say_otherwise(parts: Parts, message: Message, text: str = "") -> None:
    """`e` on a message: its text stands in the composer, to be sent as a new branch."""
    if not isinstance(message, UserMessage):
        parts.ui.say("Only your own messages can be edited. Press r to regenerate a reply.")
    elif message.queued:
        parts.ui.begin(parts.composer.take_back(message.turn))
    elif branch_handlers.chat_of(parts.view) is not None:
        parts.composer.editing.begin(message.turn, text or message.text)


def agree_to_move(parts: Parts, message: Message) -> None:
    """`a` on a message, or a click on its line: whoever seems to have left, or to be back."""
    parts.ui.begin(story_handlers.moved(parts.view, message))


HANDLERS: dict[str, Callable[[Parts, Message], object]] = {
    "next": lambda parts, message: _step(parts, message, 1),
    "previous": lambda parts, message: _step(parts, message, -1),
    "copy": lambda parts, message: parts.ui.begin(copy_text(parts.view, message.text, "The message")),
    "copy_block": lambda parts, message: parts.ui.begin(copy_block(parts, message)),
    "open": _open,
    "recalled": lambda parts, message: parts.ui.begin(parts.panel.show(message=message.turn)),
    "ego": _walk_graph,
    "pin": lambda parts, message: parts.ui.begin(parts.panel.pin_message(message)),
    "withhold": lambda parts, message: parts.ui.begin(parts.memory.withhold(message)),
    "go_on": lambda parts, message: branch_handlers.go_on(parts.view, message),
    "answer_again": lambda parts, message: branch_handlers.answer_again(parts.view, message),
    "walk_left": lambda parts, message: parts.ui.begin(branch_handlers.walk(parts.view, message, -1)),
    "walk_right": lambda parts, message: parts.ui.begin(branch_handlers.walk(parts.view, message, 1)),
    "say_otherwise": say_otherwise,
    "fork": lambda parts, message: parts.ui.begin(branch_handlers.fork_at(parts.view, message)),
    "hide": lambda parts, message: parts.ui.begin(history_handlers.hide_message(parts.view, message)),
    "delete": lambda parts, message: parts.ui.begin(history_handlers.delete_message(parts.view, message)),
    "speak": lambda parts, message: parts.ui.perform("speak"),
    "witnesses": lambda parts, message: parts.ui.begin(story_handlers.edit_witnesses(parts.view, message)),
    "moved": agree_to_move,
    "page_up": lambda parts, message: parts.view.transcript.scroll_pages(-1),
    "page_down": lambda parts, message: parts.view.transcript.scroll_pages(1),
    "tail": lambda parts, message: parts.ui.perform("bottom"),
    "stop": lambda parts, message: parts.ui.perform("stop", by_key=True),
    "leave": lambda parts, message: parts.view.composer.focus(),
}
