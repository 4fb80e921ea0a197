"""The query screen: the tables at the left, the query above, its rows below, and a line for what was said."""

from collections.abc import Coroutine
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Static, TextArea

from tui.drawing.view import GraphView
from tui.keys import KeyRow, bindings, foot, signs
from tui.queries import choosers
from tui.queries.answering import AnswerActions
from tui.queries.asking import QueryRunner, is_question, state_in_words
from tui.queries.desk import Asked, Desk
from tui.queries.editor import Popup, QueryEditor
from tui.queries.exporting import ExportFailed
from tui.queries.json_page import JsonPage
from tui.queries.keys import ALWAYS, HELP, RUNNING, SCREEN, foot_of
from tui.queries.results import Results
from tui.queries.schema_tree import SchemaTree, sample_of, written
from tui.queries.table import ResultTable
from tui.queries.taking import Taking
from tui.queries.vocabulary import at_first, vocabulary_of
from tui.text import MUTED, in_chat, plain, spaced
from tui.widgets.dialogs import Reader
from tui.widgets.status_message import StatusMessage

if TYPE_CHECKING:
    from agent.agent import Agent
    from graph.querying.console import Answer
    from graph.subgraphs import Subgraph
    from tui.app import ClewApp
    from tui.state import State

MOST_JOINED = 200  # nodes whose relationships are looked for
WITH_TABLES = 100  # columns from which the tables are shown without being asked for
ROOMY = 34  # rows from which a drawing has room enough beside the whole query
TALL = 18  # rows from which the keys may take two lines


class QueryScreen(Screen[None]):
    """Asks the graph. What lies on its desk stays when it closes."""

    AUTO_FOCUS = "QueryEditor"
    BINDINGS: ClassVar[list[BindingType]] = bindings(SCREEN)

    def __init__(self, app: "ClewApp", desk: Desk, *, world: str, private: bool, note: str = "") -> None:
        super().__init__()
        assert app.backstage is not None
        self.clew = app
        self.service: Agent = app.backstage.service
        self.failures: tuple[type[Exception], ...] = (*app.backstage.failures, ExportFailed)
        self.desk = desk
        self.world = world
        self.private = private
        self.asking = QueryRunner(self)
        self.answering = AnswerActions(self)
        self.taking = Taking(self)
        self._note = note  # what is to be known of the world that is asked
        self._popup = Popup()
        self._about = ""  # how much there is in the graph, once that is known
        self._busy = False  # a dialog of this screen is open, or its answer is being done

    @property
    def state(self) -> "State":
        return self.clew.state

    def compose(self) -> ComposeResult:
        yield Static("", id="query-title", markup=False)
        with Horizontal(id="query-body"):
            yield SchemaTree()
            with Vertical(id="query-main"):
                yield QueryEditor(self._popup, at_first())
                yield Results()
        yield StatusMessage(id="query-said")
        yield Static("", id="query-keys", markup=False)
        yield self._popup

    def on_mount(self) -> None:
        self.results.page = self.desk.page
        self.editor.put(self.desk.text)
        self.tables.learn(self.editor.vocabulary)
        self._show_tables(self._wants_tables)
        if self.desk.answer is not None and self.desk.asked is not None:
            self.results.show(self.desk.answer, self.desk.asked)
        elif self.desk.failure:
            self.results.tell(self.desk.failure)
        self._paint()
        self.run_worker(self._learn(), group="learn", exclusive=True)

    async def _learn(self) -> None:
        """Make the engine ready for the first query, then read what there is: no query waits for the counting."""
        if state_in_words(self.state):
            self._paint()
            return
        try:
            if not self._about:
                await self.service.graph.prepare()
            schema = await self.service.graph.schema()
        except self.failures as error:
            self.say(in_chat(str(error)), error=True)
            return
        self.editor.vocabulary = vocabulary_of(schema)
        self.tables.learn(self.editor.vocabulary)
        nodes, edges = sum(each.count for each in schema.nodes), sum(each.count for each in schema.relationships)
        self._about = f"{spaced(nodes)} nodes, {spaced(edges)} relationships"
        self._paint()

    def refresh_soon(self) -> None:
        """The graph has changed, or is ready now."""
        self.run_worker(self._learn(), group="learn", exclusive=True)

    # The parts

    @property
    def editor(self) -> QueryEditor:
        return self.query_one(QueryEditor)

    @property
    def results(self) -> Results:
        return self.query_one(Results)

    @property
    def tables(self) -> SchemaTree:
        return self.query_one(SchemaTree)

    @property
    def _wants_tables(self) -> bool:
        return self.size.width >= WITH_TABLES if self.desk.tables is None else self.desk.tables

    def _show_tables(self, shown: bool) -> None:
        self.tables.display = shown
        self.set_class(shown, "-tables")

    def _paint(self) -> None:
        width = max(1, self.size.width - 2)
        trouble = state_in_words(self.state)
        about = plain(f"   {trouble}", "$text-warning") if trouble else plain(f"   {self._note or self._about}", MUTED)
        title = plain("Graph", "bold $primary") + about
        self.query_one("#query-title", Static).update(title.truncate(width, ellipsis=True))
        lines = 2 if self.app.size.height >= TALL else 1
        own = signs(self._rows_here())
        keys = RUNNING if self.asking.running else ALWAYS
        self.query_one("#query-keys", Static).update(foot(own, width, lines, always=keys))
        self.set_class(isinstance(self.focused, GraphView) and self.app.size.height < ROOMY, "-drawing")

    def _rows_here(self) -> tuple[KeyRow, ...]:
        """The keys of what has the focus, the nearest first."""
        if self.tables.has_focus:
            return foot_of("tables")
        if self.results.has_focus_within:
            if self.desk.answer is None or not self.desk.answer.rows:
                return foot_of("words")
            match self.focused:
                case ResultTable():
                    return foot_of("table")
                case GraphView():
                    return foot_of("drawing")
            return foot_of("rows")
        return foot_of("editor")

    def on_resize(self) -> None:
        self._show_tables(self._wants_tables)
        self._paint()

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        self._paint()

    def ran(self) -> None:
        """A query has begun, or has ended."""
        if self.is_attached:
            self._paint()

    # What is said

    def say(self, words: str, *, error: bool = False) -> None:
        """Words for the person, at the foot of the screen for a while."""
        self.query_one(StatusMessage).say(words, error=error)

    def unsay(self) -> None:
        """Take back what was said."""
        self.query_one(StatusMessage).unsay()

    # Rows

    def show(self, answer: "Answer", asked: Asked) -> None:
        """The rows of a query."""
        self.desk.answer, self.desk.asked, self.desk.failure = answer, asked, ""
        self.results.show(answer, asked)
        self._paint()
        if self.taking.go_to_rows:
            self.taking.go_to_rows = False
            self.set_focus(self.results.body)

    def settle(self, answer: "Answer", asked: Asked) -> None:
        """The rows that are shown, of which more is known now."""
        self.desk.answer, self.desk.asked, self.desk.failure = answer, asked, ""
        self.results.counted(answer, asked)

    def failed(self, words: str, *, place: tuple[int, int] = (0, 0), error: bool = True) -> None:
        """Why there are no rows; where it is wrong is marked in the editor."""
        self.desk.answer, self.desk.asked, self.desk.failure = None, None, words
        self.results.tell(words, error=error)
        if place[0]:
            self.editor.mark(*place)

    # Running

    def do(self, deed: Coroutine[Any, Any, None]) -> None:
        """One at a time: what asks the person something, and then does it."""
        if self._busy:
            deed.close()
            return
        self._busy = True
        self.run_worker(self._do(deed))

    async def _do(self, deed: Coroutine[Any, Any, None]) -> None:
        try:
            await deed
        except self.failures as error:
            line, column = getattr(error, "line", 0), getattr(error, "column", 0)
            if line:
                self.failed(in_chat(str(error)), place=(line, column))
            else:
                self.say(in_chat(str(error)), error=True)
        finally:
            self._busy = False

    def action_run(self) -> None:
        self.editor.typed(self._run)

    def _run(self) -> None:
        self.unsay()
        if self.asking.running:
            self.say("A query is running; Esc stops it.")
        elif not self.editor.text.strip():
            self.say("There is no query yet. Ctrl+L has ready ones.")
        elif is_question(self.editor.text):
            self.do(self.taking.translate(self.editor.text.strip().lstrip("?").strip()))
        else:
            self.do(self.taking.run())

    def action_ask(self) -> None:
        self.do(self.taking.ask())

    def action_history(self) -> None:
        self.do(self.taking.choose(choosers.from_history(self)))

    def action_saved(self) -> None:
        self.do(self.taking.choose(choosers.from_saved(self)))

    def action_shelf(self) -> None:
        self.do(self.taking.choose(choosers.from_shelf(self)))

    def action_save(self) -> None:
        self.editor.typed(lambda: self.do(self.taking.save()))

    # The answer

    @on(Results.Wanted)
    def _wanted(self, event: Results.Wanted) -> None:
        self.answering.wanted(event.what)

    def action_edit(self) -> None:
        self.set_focus(self.editor)

    @on(GraphView.Saved)
    def _drawing_saved(self, event: GraphView.Saved) -> None:
        self.say(event.kept.words, error=event.kept.failed)

    @on(GraphView.Chosen)
    def _node_chosen(self) -> None:
        self.answering.wanted("ego")

    @on(ResultTable.Opened)
    def _cell_opened(self) -> None:
        self.answering.read()

    @on(JsonPage.Chosen)
    def _line_opened(self, event: JsonPage.Chosen) -> None:
        if isinstance(event.rows, JsonPage):
            self.answering.read()

    @on(Results.Unjoined)
    def _join(self, event: Results.Unjoined) -> None:
        """Draw how the nodes are joined in the graph, where the query asked for nodes alone."""
        self.run_worker(self._joined(event.subgraph), group="join", exclusive=True)

    async def _joined(self, found: "Subgraph") -> None:
        try:
            joined = await self.service.graph.subgraph([node.ref for node in found.nodes[:MOST_JOINED]])
        except self.failures:
            return  # the nodes are drawn as they are
        if joined.edges and self.results.drawn is found:
            self.results.draw(replace(found, edges=joined.edges))
            self.say("The lines show how these nodes are joined in the graph; the query asked for the nodes alone.")

    @on(Results.Turned)
    def _turned(self) -> None:
        self.desk.page = self.results.page
        self._paint()

    # The tables

    @on(SchemaTree.Chosen)
    def _table_chosen(self, event: SchemaTree.Chosen) -> None:
        if isinstance(event.rows, SchemaTree) and event.rows.chosen is not None:
            words = written(event.rows.chosen, self.editor.text)
            if self.editor.text.strip():
                self.editor.write(words)
            else:
                self.editor.put(words)
            self.set_focus(self.editor)

    @on(SchemaTree.Sampled)
    def _sampled(self, event: SchemaTree.Sampled) -> None:
        self.asking.run(Asked(sample_of(event.table), sample=event.table.name), keep=False)

    def action_tables(self) -> None:
        shown, focused = self.tables.display, self.tables.has_focus
        self.desk.tables = not (shown and focused)
        self._show_tables(self.desk.tables)
        self.set_focus(self.tables if self.desk.tables else self.editor)

    # Keys

    @on(TextArea.Changed, "#query-editor")
    def _typed(self) -> None:
        self.desk.write(self.editor.text)

    @property
    def _panes(self) -> list[Widget]:
        return [self.editor, self.results.body, *([self.tables] if self.tables.display else [])]

    def action_pane(self, step: int) -> None:
        """On to the next part of the screen."""
        panes = self._panes
        here = next((at for at, each in enumerate(panes) if each.has_focus_within or each.has_focus), 0)
        self.set_focus(panes[(here + step) % len(panes)])

    @on(QueryEditor.Interrupted)
    def _interrupted(self) -> None:
        if not self.asking.stop():
            self.say("Nothing is running. Esc goes back to the chat.")

    def action_leave(self) -> None:
        if self._popup.display:
            self._popup.display = False
        elif not self.asking.stop():
            self.dismiss(None)

    def action_help(self) -> None:
        from tui.widgets.help import keys_content

        self.app.push_screen(Reader("Keys of the query screen", keys_content(HELP, self.clew.page_width)))
