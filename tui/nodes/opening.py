"""Opens the view of a node, and what the walk leads to where that is at home: a chat, a page, a name."""

from graph.values import Ref
from tui.chat_view import NOT_YET, ChatView
from tui.navigation import go_to
from tui.worlds import labels

NO_HOME = "A {} cannot be opened outside the graph. Press g to explore it."


async def show_at_home(view: ChatView, ref: Ref) -> None:
    """Leave all that lies over the chat, and show the node. Raises NotFound."""
    from tui.nodes.walk import NOUNS

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
        case "Reference":
            await view.ui.open_session(str(node.details["session"]))
            view.composer.focus()
        case "CoreBlock":
            view.ui.perform("blocks", node.title)
        case "Entity" if node.title:
            view.ui.perform("about", node.title)
        case _:
            view.ui.say(NO_HOME.format(NOUNS.get(ref.table, (ref.table, ""))[0]))


async def open_node(view: ChatView, ref: "Ref") -> bool:
    """Show a node with its neighbours, until the walk ends; then what it leads to, where that is at home, if anywhere.

    Answers whether it led anywhere. Raises NotFound or GraphFailure before anything is shown.
    """
    from tui.nodes.screen import NodeScreen
    from tui.nodes.walk import NodeWalk

    chat, backstage = view.chat, view.backstage
    if chat is None or backstage is None:
        view.ui.say(NOT_YET)
        return False
    service = chat.service
    world = view.state.world
    walk = NodeWalk(service, await service.graph.ego(ref, world=world), world=world)
    home = await view.ui.ask(NodeScreen(service, backstage.failures, walk, await labels(chat.service)))
    if home is not None:
        view.ui.begin(show_at_home(view, home))  # the app's: every other ends with its screen
    return home is not None
