"""What is done in the chat itself: stopping, answering again, copying, writing in an editor, going through it."""

import asyncio
import time

from textual.app import SuspendNotSupported

from tui import branch_handlers, editor, model_handlers, navigation, session_handlers
from tui.chat_view import BACK_HINT
from tui.clipboard import copy_text
from tui.message_keys import say_otherwise
from tui.navigation import stop_reply
from tui.parts import Parts
from tui.widgets.message import UserMessage

ELSEWHERE = "A reply is being written in another chat. Press F2 to open that chat, then Esc to stop it."
TWICE_S = 1.5  # between the two presses of Esc Esc


async def stop(parts: Parts, argument: str) -> None:
    """Stop what there is to stop, and say so where there is nothing."""
    if parts.memory.refuse_waiting() or stop_reply(parts.view) or parts.memory.ingest.stop():
        return
    elsewhere = parts.view.chat is not None and parts.view.chat.service.answering is not None
    parts.ui.say(ELSEWHERE if elsewhere else "Nothing to stop.")


async def escape(parts: Parts, argument: str) -> None:
    """Refuse what a model waits for, else stop the reply, wherever the focus is; else close what is open."""
    if parts.memory.refuse_waiting() or stop_reply(parts.view):
        return
    if parts.composer.close_list() or parts.memory.ingest.stop() or parts.composer.editing.leave():
        return
    if parts.view.sessions.display:
        await session_handlers.toggle(parts)
    elif not parts.view.composer.has_focus:
        parts.view.composer.focus()
    elif parts.view.chat is not None and parts.view.chat.service.answering is not None:
        parts.ui.say(ELSEWHERE)
    elif parts.view.state.offer is not None:
        await model_handlers.later(parts.view)
    elif parts.view.session is not None and not parts.view.composer.text:
        await _once_more(parts)


async def _once_more(parts: Parts) -> None:
    """Esc with nothing to stop: a second one soon after leads back to an earlier message."""
    now = time.monotonic()
    if now - parts.view.escaped_at > TWICE_S:
        parts.view.escaped_at = now
        parts.ui.say(BACK_HINT, for_s=TWICE_S)
        return
    parts.view.escaped_at = 0.0
    parts.ui.unsay()
    await branch_handlers.rewind(parts.view, "")


async def retry(parts: Parts, argument: str) -> None:
    if parts.view.chat is None or not parts.view.chat.retry():
        parts.ui.say("There is no message to answer yet.")


async def edit(parts: Parts, argument: str) -> None:
    messages = parts.view.transcript.messages
    own = [each for each in messages if isinstance(each, UserMessage) and not each.queued]
    if not own:
        parts.ui.say(branch_handlers.NO_CHAT)
    else:
        say_otherwise(parts, own[-1], argument)


async def copy(parts: Parts, argument: str) -> None:
    answer = parts.view.transcript.last_answer
    if answer is None or not answer.text:
        parts.ui.say("There is no reply to copy yet.")
        return
    what, _, number = argument.partition(" ")
    if what != "code":
        await copy_text(parts.view, answer.text, "The reply")
        return
    blocks = answer.code_blocks()
    place = int(number) if number.strip().isdigit() else len(blocks)
    if not 1 <= place <= len(blocks):
        parts.ui.say(f"The last reply has {len(blocks) or 'no'} code block{'' if len(blocks) == 1 else 's'}.")
        return
    await copy_text(parts.view, blocks[place - 1], f"Code block {place} of {len(blocks)}")


async def write_in_editor(parts: Parts, argument: str) -> None:
    draft = parts.view.composer.text
    folder = parts.view.drafts.folder
    if parts.view.chat is not None and parts.composer.private:
        apart = parts.view.chat.service.private.folder
        if apart is None:
            parts.ui.say("The private chat is still starting.")
            return
        folder = apart
    # In a thread: this loop goes on writing a running reply to the log. The batch keeps the screen still meanwhile.
    try:
        with parts.view.app.suspend(), editor.keys_belong_to_it(), parts.view.app.batch_update():
            outcome = await asyncio.to_thread(parts.editor.edit, draft, folder)
    except SuspendNotSupported:
        parts.ui.say("An editor cannot be opened in this terminal.")
        return
    parts.view.app.refresh(layout=True)
    if isinstance(outcome, editor.EditorFailed):
        parts.ui.say(str(outcome), error=True)
    else:
        parts.view.composer.put(outcome)
    parts.view.composer.focus()


async def new(parts: Parts, argument: str) -> None:
    await parts.ui.open_session(None)
    parts.view.composer.focus()


async def back(parts: Parts, argument: str) -> None:
    await navigation.back(parts.view)


async def top(parts: Parts, argument: str) -> None:
    if parts.view.chat is not None:
        await parts.view.chat.to_top()


async def bottom(parts: Parts, argument: str) -> None:
    if parts.view.chat is not None:
        await parts.view.chat.to_tail()
