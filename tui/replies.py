"""Which reply belongs to which message, among those that are mounted."""

from typing import TYPE_CHECKING

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
