"""The screen of a node: what it is, its neighbours by relationship, and beside them or in their place a drawing."""

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Input, Static

from graph.errors import NotFound
from tui.keymaps import NODE, NODE_ALWAYS, NODE_HELP, bindings, node_foot, signs
from tui.latest import Latest, is_there
from tui.nodes.panes import Drawing, NeighbourList, NeighbourRow, WordsInput, items_of
from tui.nodes.walk import GONE, HIDDEN_WORDS, NOUNS, NodeWalk, Worlds, head, name_of
from tui.text import MUTED, in_chat, one_line, plain
from tui.widgets.dialogs import Reader
from tui.widgets.foot import Foot, StatusMessage
from tui.widgets.long_list import LongList

if TYPE_CHECKING:
    from agent.face import Face
    from graph.values import Node, Ref

NAME = 24  # characters of a node on the way that was walked
WIDE = 104  # columns from which the drawing stands beside the list, as in the style sheet
TALL = 18  # rows from which there are blank lines, as in the style sheet
ALONE = "It has no connections."
NO_PROOF = "Only memories (◆) and relationships have proof. Choose one, then press p."


class NodeScreen(Screen["Ref | None"]):
    """A walk through the graph. It closes with the node that is to be shown where it is at home, or with None."""

    AUTO_FOCUS = ""
    DEFAULT_CSS = """
    NodeScreen { padding: 1 2 0 2; }
    #ego-way { height: 1; text-wrap: nowrap; }
    #ego-head { height: auto; margin: 1 0; }
    #ego-words { height: 1; margin: 0 0 1 0; }
    #ego-body { height: 1fr; }
    #ego-list { width: 1fr; height: 1fr; }
    #ego-drawing { width: 1fr; height: 1fr; }
    #ego-said { height: auto; max-height: 3; margin: 1 0 0 0; }
    #ego-said.failed { color: $text-error; }
    #ego-keys { height: auto; max-height: 2; margin: 1 0; }
    NodeScreen.-wide #ego-drawing { width: 6fr; margin: 0 0 0 2; }
    NodeScreen.-wide #ego-list { width: 5fr; }
    NodeScreen.-narrow { padding: 0 1; }
    NodeScreen.-short, NodeScreen.-tiny { padding-top: 0; }
    NodeScreen.-short #ego-head, NodeScreen.-tiny #ego-head, NodeScreen.-tiny #ego-words { margin: 0; }
    NodeScreen.-short #ego-keys, NodeScreen.-short #ego-said { margin: 0; max-height: 1; }
    NodeScreen.-tiny #ego-keys, NodeScreen.-tiny #ego-way { display: none; }
    """
    BINDINGS: ClassVar[list[BindingType]] = bindings(NODE)

    def __init__(self, service: "Face", failures: tuple[type[Exception], ...], walk: NodeWalk, worlds: Worlds) -> None:
        super().__init__()
        self.service = service
        self.walk = walk
        self._failures = failures
        self._worlds = worlds
        self._busy = False
        self._finding: Latest[str, str] = Latest(self._find, self._found)

    def compose(self) -> ComposeResult:
        yield Static("", id="ego-way", markup=False)
        yield Static("", id="ego-head", markup=False)
        yield WordsInput(placeholder="Filter neighbours", id="ego-words", compact=True)
        with Horizontal(id="ego-body"):
            yield NeighbourList(id="ego-list")
            with Vertical(id="ego-drawing"):
                yield Drawing()
        yield StatusMessage(id="ego-said")
        yield Foot(signs(node_foot(drawn=False)), always=signs(NODE_ALWAYS), lines=2, id="ego-keys")

    def on_mount(self) -> None:
        for name in ("#ego-words", "#ego-drawing"):
            self.query_one(name).display = False
        self.rows.worlds = self._worlds
        self.show(None)
        self.rows.focus()
        if self._wide:
            self.query_one("#ego-drawing").display = True
            self._draw()

    @property
    def rows(self) -> NeighbourList:
        return self.query_one(NeighbourList)

    @property
    def drawing(self) -> Drawing:
        return self.query_one(Drawing)

    @property
    def _wide(self) -> bool:
        return self.app.size.width >= WIDE

    @property
    def chosen(self) -> "Node":
        """The neighbour that the mark stands at, in the list or in the drawing; else the node itself."""
        drawn = self.drawing.chosen if self.drawing.has_focus_within else None
        item = self.rows.chosen
        return drawn or (item.node if item is not None and item.node is not None else self.walk.ego.node)

    # Painting

    def show(self, chosen: str | None) -> None:
        """Show where one stands, with a row chosen."""
        ego = self.walk.ego
        self.rows.place = 0
        self.rows.fill(items_of(ego, self.walk.sides), choose=chosen)
        self.rows.choose(self.rows.place)
        if not ego.sides:
            self.say(ALONE)
        self._paint()

    def _paint(self) -> None:
        width, height = max(1, self.size.width - 4), self.app.size.height
        node = self.walk.ego.node
        lines = 1 if height < TALL else max(2, min(6, height // 6))
        self.query_one("#ego-way", Static).update(self._way(width))
        said = head(node, width, lines, datetime.now().astimezone(), self._worlds)
        self.query_one("#ego-head", Static).update(said)
        self._paint_keys()

    def _paint_keys(self) -> None:
        """The keys of what has the focus."""
        own = signs(node_foot(drawn=self.drawing.has_focus_within))
        self.query_one(Foot).tell(own, lines=2 if self.app.size.height >= TALL else 1)

    def on_descendant_focus(self) -> None:
        self._paint_keys()

    def _way(self, width: int) -> Content:
        names = [name_of(stop.node, NAME) for stop in reversed(self.walk.trail)]
        way = plain(" ‹ ".join(["", *names]) if names else "", MUTED)
        found = plain(f"  with “{self.walk.text}” · Esc to show all", "$warning") if self.walk.text else Content("")
        return Content.assemble(plain("Graph", "bold $primary"), found, way).truncate(width, ellipsis=True)

    def on_resize(self, event: events.Resize) -> None:
        self._paint()
        if not self._wide and not self.drawing.has_focus_within and self.rows.display:
            self.query_one("#ego-drawing").display = False
        elif self._wide:
            self.rows.display = True

    def say(self, words: str, *, error: bool = False) -> None:
        """Words for the person, at the foot of the screen for a while."""
        self.query_one(StatusMessage).say(in_chat(words), error=error)

    # Walking

    def _do(self, work: Callable[[], Awaitable[None]]) -> None:
        """One step at a time; what is asked for meanwhile is not done."""
        if not self._busy:
            self._busy = True
            self.run_worker(self._done(work))

    async def _done(self, work: Callable[[], Awaitable[None]]) -> None:
        try:
            await work()
        except self._failures as error:
            await self._failed(error)
        finally:
            self._busy = False

    async def _failed(self, error: Exception) -> None:
        """Say why; what was deleted meanwhile is shown no more, and if all is gone the screen closes."""
        told = str(error)
        if isinstance(error, NotFound):
            told = GONE
            try:
                await self.walk.again()
            except NotFound:
                if not (await self.walk.back())[0]:
                    self.dismiss(None)
                    self.app.call_later(self.app.say, GONE)  # type: ignore[attr-defined]
                    return
            except self._failures as other:
                told = str(other)
            self._leave_words()
            self.show(None)
            self._draw()
        self.say(told, error=True)

    def refresh_soon(self) -> None:
        """Something was learned, changed or deleted: what is shown is read again, and the mark stays where it is."""
        self._do(self._again)

    async def _again(self) -> None:
        item = self.rows.chosen
        if await self.walk.again(if_changed=True):
            self.show(item.identity if item is not None else None)
            self._draw()

    async def walk_to(self, ref: "Ref") -> None:
        """Put a node in the middle."""
        item = self.rows.chosen
        await self.walk.to(ref, item.identity if item is not None else None)
        self._arrived(None)

    def _arrived(self, chosen: str | None) -> None:
        self.query_one(StatusMessage).unsay()
        self._leave_words()
        self.show(chosen)
        self._draw()

    @on(LongList.Chosen)
    def _enter(self) -> None:
        item = self.rows.chosen
        if item is None:
            return
        if item.kind == "more":
            self._do(lambda: self._more(item))
        elif item.kind == "node" and item.node is not None:
            ref = item.node.ref
            self._do(lambda: self.walk_to(ref))
        else:
            self.action_home()

    async def _more(self, item: NeighbourRow) -> None:
        place = self.rows.place
        if item.side is not None and not await self.walk.more(item.side):
            self.say("Not all are shown. Press / to filter.")
        self.rows.fill(items_of(self.walk.ego, self.walk.sides))
        self.rows.choose(place)

    @on(Drawing.Chosen)
    def _enter_drawn(self, event: Drawing.Chosen) -> None:
        ref = event.ref
        self._do(lambda: self.walk_to(ref))

    def action_back(self) -> None:
        self._do(self._back)

    async def _back(self) -> None:
        there, chosen = await self.walk.back()
        if there:
            self._arrived(chosen)
        else:
            self.say("This is where you started. Press Esc to close.")

    def action_side(self, step: int) -> None:
        if self.rows.display:
            self.rows.focus()
            self.rows.choose_side(step)

    # Finding

    def action_words(self) -> None:
        field = self.query_one(WordsInput)
        field.display = True
        field.focus()

    @on(Input.Changed, "#ego-words")
    def _typed(self, event: Input.Changed) -> None:
        if event.input.display:
            self.run_worker(self._finding.ask(event.value))

    async def _find(self, text: str) -> str:
        try:
            await self.walk.find(text)
        except self._failures as error:
            return str(error)
        return ""

    def _found(self, text: str, wrong: str) -> None:
        if not is_there(self):
            return
        if wrong:
            self.say(wrong, error=True)
        self.rows.place = 0
        self.rows.fill(items_of(self.walk.ego, self.walk.sides))
        self.rows.choose(2 if text else 0)
        self._paint()
        self._draw()

    @on(Input.Submitted, "#ego-words")
    def _end_words(self) -> None:
        field = self.query_one(WordsInput)
        field.display = bool(field.value.strip())
        self._focus_body()

    def _leave_words(self) -> None:
        field = self.query_one(WordsInput)
        field.display = False
        with self.prevent(Input.Changed):
            field.value = ""

    # The drawing

    def _draw(self) -> None:
        if self.query_one("#ego-drawing").display:
            only = self.walk.sides if self.walk.text else None
            ref, world = self.walk.ego.node.ref, self.walk.world
            self.run_worker(self.drawing.draw(self.service, ref, self._failures, only=only, world=world))

    def _focus_body(self) -> None:
        """The keys go to the list, or to the drawing where that has its place."""
        if self.rows.display:
            self.rows.focus()
        else:
            self.drawing.take_focus()

    def action_pane(self) -> None:
        """From the list to the drawing that stands beside it, and back; where there is no room, one for the other."""
        if self.rows.display and self.query_one("#ego-drawing").display:
            (self.rows.focus if self.drawing.has_focus_within else self.drawing.take_focus)()
        else:
            self.action_draw()

    @on(Drawing.Saved)
    def _saved(self, event: Drawing.Saved) -> None:
        self.say(event.kept.words, error=event.kept.failed)

    def action_draw(self) -> None:
        """Show the drawing, go into it, and away with it; where it has no room beside the list, in its place."""
        pane = self.query_one("#ego-drawing")
        if not pane.display:
            pane.display = True
            self._draw()
        elif self.drawing.has_focus_within:
            pane.display = False
        into = pane.display and (not self._wide or self.rows.has_focus)
        self.rows.display = self._wide or not pane.display
        self.call_after_refresh(self.drawing.take_focus if into else self.rows.focus)

    # What is done with the chosen one

    def action_read(self) -> None:
        ref = self.chosen.ref
        self._do(lambda: self._read(ref))

    async def _read(self, ref: "Ref") -> None:
        node = await self.service.graph.node(ref)
        text = str(node.details.get("text") or node.title)
        if node.mark == HIDDEN_WORDS:
            self.say("This message is hidden.")
        elif not text:
            self.say("Its text was deleted.")
        else:
            noun = NOUNS.get(ref.table, (ref.table, ""))[0]
            self.app.push_screen(Reader(one_line(f"{noun[:1].upper()}{noun[1:]}"), text))

    def action_proof(self) -> None:
        about = [node for node in (self.chosen, self.walk.ego.node) if node.ref.table == "Observation"]
        stands = self.chosen.stands
        memories = stands.memories if stands is not None else tuple(node.ref.id for node in about[:1])
        if not memories:
            self.say(NO_PROOF)
            return
        self._do(lambda: self._proof(memories))

    async def _proof(self, memories: Sequence[str]) -> None:
        from tui.nodes.panes import ProofScreen

        steps = [step for memory in memories for step in await self.service.graph.provenance(memory)]
        way = await self.app.push_screen_wait(ProofScreen(steps, self._worlds))
        if way is None:
            return
        ref, walking = way
        if walking:
            await self.walk_to(ref)
        else:
            self.dismiss(ref)

    def action_home(self) -> None:
        self.dismiss(self.chosen.ref)

    def action_leave(self) -> None:
        if self.walk.text:
            self._leave_words()
            self.run_worker(self._finding.ask(""))
            self._focus_body()
        else:
            self.dismiss(None)

    def action_help(self) -> None:
        from tui.widgets.pages import keys_content

        width = min(88, self.app.size.width - 4) - 6
        self.app.push_screen(Reader("Graph keys", keys_content(NODE_HELP, max(1, width))))
