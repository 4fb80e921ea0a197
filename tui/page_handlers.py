"""What opens over the chat or beside it: screens, pages, the list of chats and the panel; pictures, themes, the end."""

import re
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textual.app import App

from graph.values import Ref
from tui import session_handlers
from tui.chat_view import NOT_YET, ChatView
from tui.files import path_of, write
from tui.navigation import go_to
from tui.node_links import walk_from
from tui.parts import Parts
from tui.widgets.search import SearchScreen
from tui.worlds import labels, what_if, world_of

if TYPE_CHECKING:
    from tui.drafts import QuerySession


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


async def sessions(parts: Parts, argument: str) -> None:
    await session_handlers.toggle(parts)


async def search(parts: Parts, argument: str) -> None:

    await search_messages(parts.view, argument)


async def memory(parts: Parts, argument: str) -> None:
    await parts.panel.toggle()


async def recall(parts: Parts, argument: str) -> None:
    if argument.strip():
        await parts.panel.show(query=argument.strip())
    else:
        await parts.panel.show()


async def graph(parts: Parts, argument: str) -> None:

    await open_graph(parts.view, argument.strip())


async def ego(parts: Parts, argument: str) -> None:
    from tui.nodes.opening import open_node

    if parts.view.chat is None:
        parts.ui.say(NOT_YET)
        return
    if name := argument.strip():
        world, project = parts.view.state.world, await parts.view.project()
        name = await parts.view.chat.service.memories.whom(name, world=world, project=project)
        await open_node(parts.view, Ref("Entity", name))
    elif parts.view.session is not None:
        await open_node(parts.view, Ref("Session", parts.view.session))
    else:
        parts.ui.say("This chat has no messages yet, so there is nothing to explore.")


async def stats(parts: Parts, argument: str) -> None:

    await open_charts(parts.view)


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


async def palette(parts: Parts, argument: str) -> None:
    parts.view.app.action_command_palette()


async def suspend(parts: Parts, argument: str) -> None:
    parts.view.app.action_suspend_process()


async def leave(parts: Parts, argument: str) -> None:
    await parts.view.app.action_quit()


async def open_charts(view: ChatView) -> None:
    """Show the charts of the memory."""
    if view.backstage is None:
        view.ui.say(NOT_YET)
        return
    from tui.charts import ChartsScreen

    view.ui.show(ChartsScreen(view))


async def open_graph(view: ChatView, cypher: str = "") -> None:
    """Show the query screen, until it closes; `cypher` takes the place of what stands in its editor."""
    from tui.queries.screen import QueryScreen

    if view.chat is None or view.backstage is None:
        view.ui.say(NOT_YET)
        return
    private = view.is_private(view.chat.session)
    desk = desk_of(view, private=private)
    if cypher.strip():
        desk.write(cypher.strip())
    world = await world_of(view.chat.service, view.chat.session)
    found = await what_if(view.chat.service, world)
    note = f"$world is the what-if {found.quoted}" if found is not None else ""
    await view.ui.ask(QueryScreen(view, desk, world=world, private=private, note=note))


def desk_of(view: ChatView, *, private: bool) -> "QuerySession":
    """The desk of this run of the app; private chats have one of their own, of which nothing is on the disk."""
    from tui.drafts import QuerySession

    if private not in view.desks:
        view.desks[private] = QuerySession(None if private else view.drafts)
    return view.desks[private]


async def search_messages(view: ChatView, text: str = "") -> None:
    """Search everything ever said, and go to what is chosen."""
    chat, backstage = view.chat, view.backstage
    if chat is None or backstage is None:
        view.ui.say(NOT_YET)
        return
    screen = SearchScreen(
        chat.service.search.words,
        backstage.failures,
        text or view.sessions.words or view.sought,
        worlds=await labels(chat.service),
        walk=lambda turn: walk_from(view, "Turn", turn),
    )
    found = await view.ui.ask(screen)
    view.sought = screen.text
    if found is not None:
        await go_to(view, found.turn.session, found.turn.id)
