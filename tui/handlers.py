"""What each action of the table does: one function per action, given the parts and what followed the slash.

Those of a group of actions have a file of their own: chats, branches, history, memory, models.
"""

import asyncio
import re
import time
from collections.abc import Awaitable, Callable
from datetime import datetime
from pathlib import Path
from typing import Any

from textual.app import App, SuspendNotSupported

from graph.walk.subgraphs import Ref
from tui import branch_handlers, editor, history_handlers, memory_handlers, model_handlers, navigation, session_handlers
from tui.chat_view import BACK_HINT, NOT_YET, ChatView
from tui.clipboard import copy_text
from tui.files import path_of, write
from tui.message_keys import say_otherwise
from tui.navigation import stop_reply
from tui.node_links import walk_from
from tui.parts import Parts
from tui.text import one_line
from tui.themes import SHORT_NAMES, full_name
from tui.widgets.dialogs import AskLine, Reader
from tui.widgets.message import UserMessage

_FONT_FACE = re.compile(r"@font-face \{.*?\}\s*", re.DOTALL)


def picture(app: App[Any]) -> str:
    """The screen as SVG; fonts of the web are left out, so that looking at it asks no server for anything."""
    return _FONT_FACE.sub("", app.export_screenshot(title="clew"))


def save(app: App[Any], name: str = "") -> Path:
    """Write the picture to `name`, or to a new file named by the time, in the current folder. Raises ExportFailed.

    A name that ends otherwise gets .svg behind it, which is what the file is.
    """
    path = path_of(name or f"clew-{datetime.now():%Y%m%d-%H%M%S}.svg", Path.cwd())
    if path.suffix.lower() != ".svg":
        path = path.with_name(f"{path.name}.svg")
    write(path, iter([picture(app).encode("utf-8")]))
    return path


Handler = Callable[[Parts, str], Awaitable[None]]
ViewHandler = Callable[[ChatView, str], Awaitable[None]]

ELSEWHERE = "A reply is being written in another chat. Press F2 to open that chat, then Esc to stop it."
OTHER_THEMES = "/theme NAME takes others, such as nord; the settings (F10) list them all."
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
        await sessions(parts, "")
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


async def sessions(parts: Parts, argument: str) -> None:
    await session_handlers.toggle(parts)


async def search(parts: Parts, argument: str) -> None:
    from tui.screens import search_messages

    await search_messages(parts.view, argument)


async def memory(parts: Parts, argument: str) -> None:
    await parts.panel.toggle()


async def recall(parts: Parts, argument: str) -> None:
    if argument.strip():
        await parts.panel.show(query=argument.strip())
    else:
        await parts.panel.show()


async def about(parts: Parts, argument: str) -> None:
    if parts.view.chat is None:
        parts.ui.say(NOT_YET)
        return
    name: str | None = argument.strip()
    if not name:
        name = await parts.ui.ask(AskLine("About what?", placeholder="A person, place or project", yes="show"))
    if name:
        from tui.help import AboutPage, about_content

        found = await parts.view.chat.service.search.about(
            name, world=parts.view.state.world, project=await parts.view.project()
        )
        beliefs = await parts.memory.about(name)
        table, known = ("Project" if found.kind == "project" else "Entity"), found.name
        words = about_content(found, parts.view.page_width, beliefs)
        parts.ui.show(AboutPage(f"About {one_line(name)}", words, walk=lambda: walk_from(parts.view, table, known)))


async def graph(parts: Parts, argument: str) -> None:
    from tui.screens import open_graph

    await open_graph(parts.view, argument.strip())


async def ego(parts: Parts, argument: str) -> None:
    from tui.nodes.opening import open_node

    if parts.view.chat is None:
        parts.ui.say(NOT_YET)
        return
    if argument.strip():
        await open_node(parts.view, Ref("Entity", argument.strip()))
    elif parts.view.session is not None:
        await open_node(parts.view, Ref("Session", parts.view.session))
    else:
        parts.ui.say("This chat has no messages yet, so there is nothing to explore.")


async def stats(parts: Parts, argument: str) -> None:
    from tui.screens import open_charts

    await open_charts(parts.view)


async def back(parts: Parts, argument: str) -> None:
    await navigation.back(parts.view)


async def theme(parts: Parts, argument: str) -> None:
    name = full_name(argument) if argument else _other_theme(parts)
    if name not in parts.view.app.available_themes:
        known = ", ".join(["dark", "light", *sorted(set(parts.view.app.available_themes) - set(SHORT_NAMES.values()))])
        parts.ui.say(f"Unknown theme {one_line(argument)}. Available themes: {known}.")
        return
    parts.view.app.theme = name
    if parts.view.backstage is not None:
        await asyncio.to_thread(parts.view.backstage.keep, "theme", _theme_word(name))
    parts.ui.say(f"The theme is now {_theme_word(name)}. {'' if argument else OTHER_THEMES}".strip())


def _theme_word(name: str) -> str:
    """A theme as people call it, and the settings."""
    return next((short for short, full in SHORT_NAMES.items() if full == name and short), name)


def _other_theme(parts: Parts) -> str:
    return full_name("light" if parts.view.app.current_theme.dark else "dark")


async def top(parts: Parts, argument: str) -> None:
    if parts.view.chat is not None:
        await parts.view.chat.to_top()


async def bottom(parts: Parts, argument: str) -> None:
    if parts.view.chat is not None:
        await parts.view.chat.to_tail()


async def screenshot(parts: Parts, argument: str) -> None:
    from tui.files import ExportFailed

    try:
        path = save(parts.view.app, argument)
    except ExportFailed as error:
        parts.ui.say(str(error), error=True)
    else:
        parts.ui.say(f"Screen saved to {path}")


async def settings(parts: Parts, argument: str) -> None:
    from tui.settings import change_settings

    await change_settings(parts.view, argument.strip())


async def status(parts: Parts, argument: str) -> None:
    if parts.view.chat is None:
        parts.ui.say(NOT_YET)
        return
    from agent.home import Home
    from tui.commands.disk import parts_of
    from tui.help import status_content

    facts = await parts.view.chat.service.status()
    disk = await asyncio.to_thread(lambda: parts_of(Home.resolve(parts.view.options.home)))
    graph = parts.view.chat.state.graph
    state = graph.state if graph is not None else "opening"
    parts.ui.show(Reader("Status", status_content(facts, state, disk, parts.view.page_width)))


async def show_help(parts: Parts, argument: str) -> None:
    from tui.help import help_content

    parts.ui.show(Reader("Keys and commands", help_content(parts.view.page_width)))


async def palette(parts: Parts, argument: str) -> None:
    parts.view.app.action_command_palette()


async def suspend(parts: Parts, argument: str) -> None:
    parts.view.app.action_suspend_process()


async def leave(parts: Parts, argument: str) -> None:
    await parts.view.app.action_quit()


def _on_view(handler: ViewHandler) -> Handler:
    """One that needs the view only."""
    return lambda parts, argument: handler(parts.view, argument)


HANDLERS: dict[str, Handler] = {
    "stop": stop,
    "retry": retry,
    "regenerate": _on_view(branch_handlers.regenerate),
    "edit": edit,
    "rewind": _on_view(branch_handlers.rewind),
    "tree": _on_view(branch_handlers.tree),
    "fork": _on_view(branch_handlers.fork),
    "undo": _on_view(history_handlers.undo),
    "marks": _on_view(history_handlers.marks),
    "copy": copy,
    "editor": write_in_editor,
    "system": _on_view(model_handlers.system),
    "sampling": _on_view(model_handlers.sampling),
    "new": new,
    "sessions": sessions,
    "search": search,
    "back": back,
    "memory": memory,
    "recall": recall,
    "about": about,
    "graph": graph,
    "ego": ego,
    "stats": stats,
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
    "theme": theme,
    "top": top,
    "bottom": bottom,
    "screenshot": screenshot,
    "settings": settings,
    "status": status,
    "help": show_help,
    "palette": palette,
    "suspend": suspend,
    "quit": leave,
}
BY_KEY: dict[str, Handler] = {"stop": escape}  # where a key does more than the command of its action


def handler_of(name: str, *, by_key: bool) -> Handler:
    """What the action of that name does; `by_key`: where one of its keys was pressed."""
    return BY_KEY.get(name, HANDLERS[name]) if by_key else HANDLERS[name]
