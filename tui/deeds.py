"""What each action of the table does: one function per action, given the app and what followed the slash."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from graph.subgraphs import Ref
from tui import altering, branching, editor, memory_deeds, offering, tuning
from tui.leaving import BACK_HINT, answers_here
from tui.message_keys import copy_text
from tui.text import cut, one_line
from tui.themes import SHORT_NAMES, full_name
from tui.widgets.dialogs import AskLine, Reader
from tui.widgets.impact import ImpactChoice

if TYPE_CHECKING:
    from tui.app import ClewApp

Deed = Callable[["ClewApp", str], Awaitable[None]]

DELETE_WORDS = "Messages shared with other chats stay there."
ELSEWHERE = "A reply is being written in another chat. Press F2 to open that chat, then Esc to stop it."
OTHER_THEMES = "/theme NAME takes others, such as nord; the settings (F10) list them all."
TWICE_S = 1.5  # between the two presses of Esc Esc


async def stop(app: "ClewApp", argument: str) -> None:
    """Stop what there is to stop, and say so where there is nothing."""
    if app.keeping.refuse_waiting() or stop_reply(app) or app.keeping.ingest.stop():
        return
    elsewhere = app.chat is not None and app.chat.service.answering is not None
    app.say(ELSEWHERE if elsewhere else "Nothing to stop.")


async def escape(app: "ClewApp", argument: str) -> None:
    """Refuse what a model waits for, else stop the reply, wherever the focus is; else close what is open."""
    if app.keeping.refuse_waiting() or stop_reply(app):
        return
    if app.writing.close_list() or app.keeping.ingest.stop() or app.writing.editing.leave():
        return
    if app.sessions.display:
        await sessions(app, "")
    elif not app.composer.has_focus:
        app.composer.focus()
    elif app.chat is not None and app.chat.service.answering is not None:
        app.say(ELSEWHERE)
    elif app.state.offer is not None:
        await offering.later(app)
    elif app.current_session is not None and not app.composer.text:
        await _once_more(app)


def stop_reply(app: "ClewApp") -> bool:
    """Stop the reply in the chat on the screen; False if none is being written there."""
    if app.chat is None or not answers_here(app):
        return False
    state = app.chat.state
    reply, queued = state.reply_in(app.chat.session), len(state.queued_in(app.chat.session))
    app.chat.service.stop()
    if reply is None:
        words = "Stopped before the reply began. Your message is saved; use /retry to get a reply."
    else:
        words = "Stopped. Partial reply saved." if reply.text else "Stopped before the first word."
    app.say(f"{words} {_on_hold(queued)}".strip())
    return True


def _on_hold(queued: int) -> str:
    if not queued:
        return ""
    if queued == 1:
        return "1 queued message is on hold. Press Enter to send it, or ↑ to edit it."
    return f"{queued} queued messages are on hold. Press Enter to send them, or ↑ to edit the last one."


async def _once_more(app: "ClewApp") -> None:
    """Esc with nothing to stop: a second one soon after leads back to an earlier message."""
    now = time.monotonic()
    if now - app.escaped_at > TWICE_S:
        app.escaped_at = now
        app.say(BACK_HINT, for_s=TWICE_S)
        return
    app.escaped_at = 0.0
    app.unsay()
    await branching.rewind(app, "")


async def retry(app: "ClewApp", argument: str) -> None:
    if app.chat is None or not app.chat.retry():
        app.say("There is no message to answer yet.")


async def copy(app: "ClewApp", argument: str) -> None:
    answer = app.transcript.last_answer
    if answer is None or not answer.text:
        app.say("There is no reply to copy yet.")
        return
    what, _, number = argument.partition(" ")
    if what != "code":
        await copy_text(app, answer.text, "The reply")
        return
    blocks = answer.code_blocks()
    place = int(number) if number.strip().isdigit() else len(blocks)
    if not 1 <= place <= len(blocks):
        app.say(f"The last reply has {len(blocks) or 'no'} code block{'' if len(blocks) == 1 else 's'}.")
        return
    await copy_text(app, blocks[place - 1], f"Code block {place} of {len(blocks)}")


async def write_in_editor(app: "ClewApp", argument: str) -> None:
    draft = app.composer.text
    if not app.can_suspend:
        app.say("An editor cannot be opened in this terminal.")
        return
    folder = app.drafts.folder
    if app.chat is not None and app.writing.private:
        apart = app.chat.service.private.folder
        if apart is None:
            app.say("The private chat is still starting.")
            return
        folder = apart
    # In a thread: this loop goes on writing a running reply to the log. The batch keeps the screen still meanwhile.
    with app.suspend(), editor.keys_belong_to_it(), app.batch_update():
        outcome = await asyncio.to_thread(app.editor.edit, draft, folder)
    app.refresh(layout=True)
    if isinstance(outcome, editor.EditorFailed):
        app.say(str(outcome), error=True)
    else:
        app.composer.put(outcome)
    app.composer.focus()


async def new(app: "ClewApp", argument: str) -> None:
    await app.open_session(None)
    app.composer.focus()


async def sessions(app: "ClewApp", argument: str) -> None:
    from tui import listing

    await listing.toggle(app)


async def search(app: "ClewApp", argument: str) -> None:
    from tui import finding

    await finding.search(app, argument)


async def memory(app: "ClewApp", argument: str) -> None:
    await app.remembering.toggle()


async def recall(app: "ClewApp", argument: str) -> None:
    if argument.strip():
        await app.remembering.show(query=argument.strip())
    else:
        await app.remembering.show()


async def about(app: "ClewApp", argument: str) -> None:
    if app.chat is None:
        app.say("The memory is still opening.")
        return
    name: str | None = argument.strip()
    if not name:
        name = await app.push_screen_wait(AskLine("About what?", placeholder="A person, place or project", yes="show"))
    if name:
        from tui.walking import walk_from
        from tui.widgets.about_page import AboutPage, about_content

        found = await app.chat.service.search.about(name, world=app.state.world, project=await app.keeping.project())
        beliefs = await app.keeping.about(name)
        table, known = ("Project" if found.kind == "project" else "Entity"), found.name
        words = about_content(found, app.page_width, beliefs)
        app.push_screen(AboutPage(f"About {one_line(name)}", words, walk=lambda: walk_from(app, table, known)))


async def graph(app: "ClewApp", argument: str) -> None:
    from tui.queries.opening import open_graph

    await open_graph(app, argument.strip())


async def ego(app: "ClewApp", argument: str) -> None:
    from tui.egos.opening import open_ego

    if app.chat is None:
        app.say("The memory is still opening.")
        return
    if argument.strip():
        await open_ego(app, Ref("Entity", argument.strip()))
    elif app.current_session is not None:
        await open_ego(app, Ref("Session", app.current_session))
    else:
        app.say("This chat has no messages yet, so there is nothing to explore.")


async def stats(app: "ClewApp", argument: str) -> None:
    from tui.charts.opening import open_charts

    await open_charts(app)


async def back(app: "ClewApp", argument: str) -> None:
    from tui import finding

    await finding.back(app)


async def rename(app: "ClewApp", argument: str) -> None:
    session = app.current_session
    if app.chat is None or session is None:
        app.say("This chat has no messages yet. Send one first, then name it.")
        return
    if app.keeping.is_private(session):
        app.say(altering.PRIVATE)
        return
    name: str | None = argument
    if not argument:
        now = (await app.chat.service.chats.get(session)).name or ""
        name = await app.push_screen_wait(AskLine("Rename this chat", now, placeholder="Name"))
    if name:
        await app.chat.service.chats.rename(session, name)


async def archive(app: "ClewApp", argument: str) -> None:
    session = app.current_session
    if app.chat is None or session is None:
        app.say("This chat has no messages yet.")
        return
    if app.keeping.is_private(session):
        app.say(altering.PRIVATE)
        return
    await app.chat.service.chats.archive(session)
    await app.open_session(None)
    app.say("Chat archived. Its memories stay in use. Press F2, then Ctrl+T to see archived chats.")


async def delete(app: "ClewApp", argument: str) -> None:
    session = app.current_session
    if app.chat is None or session is None:
        app.say("This chat has no messages yet.")
        return
    await delete_session(app, session)


async def delete_session(app: "ClewApp", session: str) -> None:
    """Delete a chat after asking."""
    assert app.chat is not None
    service = app.chat.service
    about = await service.chats.get(session)
    title = f"Delete the chat “{cut(about.name or 'New chat', 48)}” permanently?"
    way = ImpactChoice("the chat", lambda: service.plans.delete_session(session))
    agreed = await altering.agreed(app, title, way, yes="delete permanently", words=DELETE_WORDS, for_good=True)
    if agreed is None:
        return
    app.drafts.save(session, "")
    if session == app.current_session:
        await app.open_session(None)
    else:
        await altering.refresh(app)
    app.say("Chat deleted permanently.")


async def theme(app: "ClewApp", argument: str) -> None:
    name = full_name(argument) if argument else _other_theme(app)
    if name not in app.available_themes:
        known = ", ".join(["dark", "light", *sorted(set(app.available_themes) - set(SHORT_NAMES.values()))])
        app.say(f"Unknown theme {one_line(argument)}. Available themes: {known}.")
        return
    app.theme = name
    if app.backstage is not None:
        await asyncio.to_thread(app.backstage.keep, "theme", _theme_word(name))
    app.say(f"The theme is now {_theme_word(name)}. {'' if argument else OTHER_THEMES}".strip())


def _theme_word(name: str) -> str:
    """A theme as people call it, and the settings."""
    return next((short for short, full in SHORT_NAMES.items() if full == name and short), name)


def _other_theme(app: "ClewApp") -> str:
    return full_name("light" if app.current_theme.dark else "dark")


async def top(app: "ClewApp", argument: str) -> None:
    if app.chat is not None:
        await app.chat.to_top()


async def bottom(app: "ClewApp", argument: str) -> None:
    if app.chat is not None:
        await app.chat.to_tail()


async def screenshot(app: "ClewApp", argument: str) -> None:
    from tui.screenshot import save

    try:
        path = save(app, argument)
    except OSError as error:
        where = one_line(argument) or "this folder"
        app.say(f"The picture could not be saved to {where}: {error.strerror}. Try another file name.", error=True)
    else:
        app.say(f"Screen saved to {path}")


async def settings(app: "ClewApp", argument: str) -> None:
    from tui.settings import change_settings

    await change_settings(app, argument.strip())


async def status(app: "ClewApp", argument: str) -> None:
    if app.chat is None:
        app.say("The memory is still opening.")
        return
    from agent.home import Home
    from tui.commands.disk import parts_of
    from tui.widgets.status_page import status_content

    facts = await app.chat.service.status()
    disk = await asyncio.to_thread(lambda: parts_of(Home.resolve(app.options.home)))
    graph = app.chat.state.graph
    state = graph.state if graph is not None else "opening"
    app.push_screen(Reader("Status", status_content(facts, state, disk, app.page_width)))


async def show_help(app: "ClewApp", argument: str) -> None:
    from tui.widgets.help import help_content

    app.push_screen(Reader("Keys and commands", help_content(app.page_width)))


async def palette(app: "ClewApp", argument: str) -> None:
    app.action_command_palette()


async def suspend(app: "ClewApp", argument: str) -> None:
    app.action_suspend_process()


async def leave(app: "ClewApp", argument: str) -> None:
    await app.leave()


DEEDS: dict[str, Deed] = {
    "stop": stop,
    "retry": retry,
    "regenerate": branching.regenerate,
    "edit": branching.edit,
    "rewind": branching.rewind,
    "tree": branching.tree,
    "fork": branching.fork,
    "undo": altering.undo,
    "marks": altering.marks,
    "copy": copy,
    "editor": write_in_editor,
    "system": tuning.system,
    "sampling": tuning.sampling,
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
    "memories": memory_deeds.memories,
    "review": memory_deeds.review,
    "blocks": memory_deeds.blocks,
    "documents": memory_deeds.documents,
    "unlearn": memory_deeds.unlearn,
    "remember": memory_deeds.remember,
    "forget": memory_deeds.forget,
    "correct": memory_deeds.correct,
    "project": memory_deeds.project,
    "ingest": memory_deeds.ingest,
    "private": memory_deeds.private,
    "rename": rename,
    "archive": archive,
    "delete": delete,
    "model": tuning.model,
    "better": offering.better,
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
BY_KEY: dict[str, Deed] = {"stop": escape}  # where a key does more than the command of its action
