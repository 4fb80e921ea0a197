"""What each action of the table does: a function each, given the parts and what followed the slash.

The functions lie with those of their kind: chat, chats, branches, history, memory, model, pages.
"""

from collections.abc import Awaitable, Callable

from tui import (
    branch_handlers,
    chat_handlers,
    help,
    history_handlers,
    memory_handlers,
    model_handlers,
    page_handlers,
    session_handlers,
)
from tui.chat_view import ChatView
from tui.parts import Parts

Handler = Callable[[Parts, str], Awaitable[None]]
ViewHandler = Callable[[ChatView, str], Awaitable[None]]


def _on_view(handler: ViewHandler) -> Handler:
    """One that needs the view only."""
    return lambda parts, argument: handler(parts.view, argument)


HANDLERS: dict[str, Handler] = {
    "stop": chat_handlers.stop,
    "retry": chat_handlers.retry,
    "regenerate": _on_view(branch_handlers.regenerate),
    "edit": chat_handlers.edit,
    "rewind": _on_view(branch_handlers.rewind),
    "tree": _on_view(branch_handlers.tree),
    "fork": _on_view(branch_handlers.fork),
    "undo": _on_view(history_handlers.undo),
    "marks": _on_view(history_handlers.marks),
    "copy": chat_handlers.copy,
    "editor": chat_handlers.write_in_editor,
    "system": _on_view(model_handlers.system),
    "sampling": _on_view(model_handlers.sampling),
    "new": chat_handlers.new,
    "sessions": page_handlers.sessions,
    "search": page_handlers.search,
    "back": chat_handlers.back,
    "memory": page_handlers.memory,
    "recall": page_handlers.recall,
    "about": help.about,
    "graph": page_handlers.graph,
    "ego": page_handlers.ego,
    "stats": page_handlers.stats,
    "memories": memory_handlers.memories,
    "review": memory_handlers.review,
    "blocks": memory_handlers.blocks,
    "documents": memory_handlers.documents,
    "unlearn": memory_handlers.unlearn,
    "remember": memory_handlers.remember,
    "forget": memory_handlers.forget,
    "correct": memory_handlers.correct,
    "project": memory_handlers.project,
    "ingest": memory_handlers.ingest,
    "private": memory_handlers.private,
    "rename": session_handlers.rename,
    "archive": session_handlers.archive,
    "delete": session_handlers.delete,
    "model": _on_view(model_handlers.model),
    "better": _on_view(model_handlers.better),
    "theme": page_handlers.theme,
    "top": chat_handlers.top,
    "bottom": chat_handlers.bottom,
    "screenshot": page_handlers.screenshot,
    "settings": page_handlers.settings,
    "status": help.status,
    "help": help.show_help,
    "palette": page_handlers.palette,
    "suspend": page_handlers.suspend,
    "quit": page_handlers.leave,
}
BY_KEY: dict[str, Handler] = {"stop": chat_handlers.escape}  # where a key does more than the command of its action


def handler_of(name: str, *, by_key: bool) -> Handler:
    """What the action of that name does; `by_key`: where one of its keys was pressed."""
    return BY_KEY.get(name, HANDLERS[name]) if by_key else HANDLERS[name]
