"""Going to any turn of any chat, and back again; which reply belongs to which message, and stopping one."""

from typing import TYPE_CHECKING

from tui.chat_view import ChatView
from tui.state import ChatPlace
from tui.text import one_line
from tui.widgets.dialogs import Reader
from tui.widgets.message import AssistantMessage, Message, UserMessage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from graph.values import Turn
    from tui.chat import Chat


MOST_PARENTS = 50  # replies to replies that an alternative may be away from the chat's path
OFF_PATH = "This message is on another branch. The chat behind this page shows where it branches off."


async def go_to(view: ChatView, session: str, turn: str) -> None:
    """Show a turn where it was said; one that is off its chat's path is shown where it branches off."""
    chat = view.chat
    if chat is None:
        return
    view.trail.leave(ChatPlace(chat.session, view.transcript.top_turn))
    if session != chat.session:
        await view.ui.open_session(session)
    if not await chat.show_turn(turn):
        await _show_branch(view, chat, turn)
    elif not view.panel_has_keys:
        view.composer.focus()
    view.ui.say("Press Alt+← to go back.")


async def _show_branch(view: ChatView, chat: "Chat", turn: str) -> None:
    """The nearest turn above it that the chat did take, and the words themselves on a page of their own."""
    exchange = await chat.service.chats.exchange(turn)
    found = exchange.reply if exchange.reply is not None and exchange.reply.id == turn else exchange.turn
    parent = found.parent
    for _ in range(MOST_PARENTS):
        if parent is None or await chat.show_turn(parent):
            break
        parent = await _parent(chat, parent)
    view.ui.show(Reader(_title(found), f"{OFF_PATH}\n\n{found.text if found.text is not None else '(erased)'}"))


async def _parent(chat: "Chat", turn: str) -> str | None:
    exchange = await chat.service.chats.exchange(turn)
    of: Turn | None = exchange.reply if exchange.reply is not None and exchange.reply.id == turn else exchange.turn
    return of.parent if of is not None else None


def _title(turn: "Turn") -> str:
    from tui.reasons import who

    waits = "Withdrawn before it was answered" if turn.hidden else "Waiting to be answered"
    kind = waits if turn.queued else "Not on the current branch"
    return one_line(f"{kind} · {who(turn.role, turn.speaker)} · {turn.at.astimezone():%-d %b %Y, %H:%M}")


async def back(view: ChatView) -> None:
    """Where the reader was before the last jump."""
    chat, place = view.chat, view.trail.back()
    if chat is None or place is None:
        view.ui.say("There is nowhere to go back to.")
        return
    if place.session != chat.session:
        await view.ui.open_session(place.session)
    if place.turn is None or not await chat.show_turn(place.turn):
        await chat.to_tail()


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
