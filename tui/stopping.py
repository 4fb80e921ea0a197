"""Stops the reply that is being written in the chat on the screen."""

from tui.chat_view import ChatView


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
