"""Shows a node where it is at home: a message in its chat, memories and documents on their pages, a name on its own."""

from graph.subgraphs import Ref
from tui.chat_view import ChatView
from tui.navigation import go_to

NO_HOME = "A {} cannot be opened outside the graph. Press g to explore it."


async def show_at_home(view: ChatView, ref: Ref) -> None:
    """Leave all that lies over the chat, and show the node. Raises NotFound."""
    from tui.nodes.words import NOUNS

    chat = view.chat
    if chat is None:
        return
    node = await chat.service.graph.node(ref)
    while len(view.app.screen_stack) > 1:
        await view.app.screen.dismiss(None)
    match ref.table:
        case "Turn":
            await go_to(view, str(node.details["session"]), ref.id)
        case "Session":
            await view.ui.open_session(ref.id)
            view.composer.focus()
        case "Observation":
            view.ui.perform("memories", ref.id)
        case "Document":
            view.ui.perform("documents", ref.id)
        case "Chunk":
            view.ui.perform("documents", str(node.details["document"]))
        case "CoreBlock":
            view.ui.perform("blocks", node.title)
        case "Entity" if node.title:
            view.ui.perform("about", node.title)
        case _:
            view.ui.say(NO_HOME.format(NOUNS.get(ref.table, (ref.table, ""))[0]))
