"""Shows a node where it is at home: a message in its chat, memories and documents on their pages, a name on its own."""

from typing import TYPE_CHECKING

from graph.subgraphs import Ref
from tui import finding

if TYPE_CHECKING:
    from tui.app import ClewApp

NO_HOME = "A {} cannot be opened outside the graph. Press g to explore it."


async def show_at_home(app: "ClewApp", ref: Ref) -> None:
    """Leave all that lies over the chat, and show the node. Raises NotFound."""
    from tui.deeds import about
    from tui.egos.words import NOUNS

    chat = app.chat
    if chat is None:
        return
    node = await chat.service.graph.node(ref)
    while len(app.screen_stack) > 1:
        await app.screen.dismiss(None)
    match ref.table:
        case "Turn":
            await finding.go_to(app, str(node.details["session"]), ref.id)
        case "Session":
            await app.open_session(ref.id)
            app.composer.focus()
        case "Observation":
            from graph.beliefs import Wanted

            await app.keeping.open(choose=ref.id, wanted=Wanted(everything=True))
        case "Document":
            await app.keeping.open("documents", choose=ref.id)
        case "Chunk":
            await app.keeping.open("documents", choose=str(node.details["document"]))
        case "CoreBlock":
            await app.keeping.open("blocks", choose=node.title)
        case "Entity" if node.title:
            await about(app, node.title)
        case _:
            app.say(NO_HOME.format(NOUNS.get(ref.table, (ref.table, ""))[0]))
