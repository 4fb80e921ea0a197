"""Opens the query screen on its desk: the same text and rows as when it was closed."""

from typing import TYPE_CHECKING

from tui.finding import NOT_YET
from tui.worlds import what_if, world_of

if TYPE_CHECKING:
    from tui.app import ClewApp
    from tui.queries.desk import Desk


async def open_graph(app: "ClewApp", cypher: str = "") -> None:
    """Show the query screen, until it closes; `cypher` takes the place of what stands in its editor."""
    from tui.queries.screen import QueryScreen

    if app.chat is None or app.backstage is None:
        app.say(NOT_YET)
        return
    private = app.keeping.is_private(app.chat.session)
    desk = desk_of(app, private=private)
    if cypher.strip():
        desk.write(cypher.strip())
    world = await world_of(app.chat.service, app.chat.session)
    found = await what_if(app.chat.service, world)
    note = f"$world is the what-if {found.quoted}" if found is not None else ""
    await app.push_screen_wait(QueryScreen(app, desk, world=world, private=private, note=note))


def desk_of(app: "ClewApp", *, private: bool) -> "Desk":
    """The desk of this run of the app; private chats have one of their own, of which nothing is on the disk."""
    from tui.queries.desk import Desk

    if private not in app.desks:
        app.desks[private] = Desk(None if private else app.drafts)
    return app.desks[private]
