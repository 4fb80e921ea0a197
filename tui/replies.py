"""Replies on the screen: which belongs to which message, and stopping the one that is being written."""

from typing import TYPE_CHECKING

from tui.chat_view import ChatView
from tui.widgets.message import AssistantMessage, Message, UserMessage

if TYPE_CHECKING:
    from collections.abc import Sequence


def answer_at(messages: "Sequence[Message]", place: int) -> AssistantMessage | None:
    """The reply that belongs to the message at `place`: itself, or the next one before another question; else the last
    before it.
    """
    for message in messages[place:]:
        if isinstance(message, AssistantMessage):
            return message
        if isinstance(message, UserMessage) and message is not messages[place]:
            break
    return next((each for each in reversed(messages[:place]) if isinstance(each, AssistantMessage)), None)


def question_of(messages: "Sequence[Message]", place: int) -> UserMessage | None:
    return next((each for each in reversed(messages[:place]) if isinstance(each, UserMessage)), None)


def said_in(messages: "Sequence[Message]", turn: str) -> str:
    return next((message.text for message in messages if message.turn == turn), "")


def stop_reply(view: ChatView) -> bool:
    """Stop the reply in the chat on the screen; False if none is being written there."""
    if view.chat is None or not view.answers:
        return False
    state = view.chat.state
    reply, queued = state.reply_in(view.chat.session), len(state.queued_in(view.chat.session))
    view.chat.service.stop()
    if reply is None:
        words = "Stopped before the reply began. Your message is saved; use /retry to get a reply."
    else:
        words = "Stopped. Partial reply saved." if reply.text else "Stopped before the first word."
    view.ui.say(f"{words} {_on_hold(queued)}".strip())
    return True


def _on_hold(queued: int) -> str:
    if not queued:
        return ""
    if queued == 1:
        return "1 queued message is on hold. Press Enter to send it, or ↑ to edit it."
    return f"{queued} queued messages are on hold. Press Enter to send them, or ↑ to edit the last one."
