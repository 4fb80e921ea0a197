"""What the query screen shows: the tables at the left, the query above, its rows below, and a line for what is said."""

from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.screen import Screen
from textual.widgets import Static

from tui.chat_view import ChatView
from tui.drafts import ExecutedQuery, QuerySession
from tui.drawing.view import GraphView
from tui.files import ExportFailed
from tui.keymaps import QUERY_ALWAYS, RUNNING, KeyRow, foot, query_foot, signs
from tui.queries.completing import at_first, vocabulary_of
from tui.queries.editor import Popup, QueryEditor
from tui.queries.results import Results
from tui.queries.schema_tree import SchemaTree
from tui.queries.table import ResultTable
from tui.state import State, graph_trouble
from tui.text import MUTED, in_chat, plain, spaced
from tui.widgets.foot import StatusMessage

if TYPE_CHECKING:
    from agent.face import Face
    from graph.console.console import Answer


WITH_TABLES = 100  # columns from which the tables are shown without being asked for
ROOMY = 34  # rows from which a drawing has room enough beside the whole query
TALL = 18  # rows from which the keys may take two lines


class QueryView(Screen[None]):
    """Its parts, and what is shown in them. What lies on its desk stays when it closes."""

    def __init__(self, view: ChatView, desk: QuerySession, *, world: str, private: bool, note: str = "") -> None:
        super().__init__()
        assert view.backstage is not None
        self.chat_view = view
        self.service: Face = view.backstage.service
        self.failures: tuple[type[Exception], ...] = (*view.failures, ExportFailed)
        self.desk = desk
        self.world = world
        self.private = private
        self.running = False  # a query is
        self.go_to_rows = False  # when they are there: who took a query to run it has nothing to write
        self._note = note  # what is to be known of the world that is asked
        self.popup = Popup()
        self._about = ""  # how much there is in the graph, once that is known
        self._busy = False  # a dialog of this screen is open, or its answer is being done

    @property
    def state(self) -> "State":
        return self.chat_view.state

    def compose(self) -> ComposeResult:
        yield Static("", id="query-title", markup=False)
        with Horizontal(id="query-body"):
            yield SchemaTree()
            with Vertical(id="query-main"):
                yield QueryEditor(self.popup, at_first())
                yield Results()
        yield StatusMessage(id="query-said")
        yield Static("", id="query-keys", markup=False)
        yield self.popup

    def on_mount(self) -> None:
        self.results.page = self.desk.page
        self.editor.put(self.desk.text)
        self.tables.learn(self.editor.vocabulary)
        self.show_tables(self.wants_tables)
        if self.desk.answer is not None and self.desk.asked is not None:
            self.results.show(self.desk.answer, self.desk.asked)
        elif self.desk.failure:
            self.results.tell(self.desk.failure)
        self.paint()
        self.run_worker(self._learn(), group="learn", exclusive=True)

    async def _learn(self) -> None:
        """Make the engine ready for the first query, then read what there is: no query waits for the counting."""
        if state_in_words(self.state):
            self.paint()
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
        self.paint()

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
    def wants_tables(self) -> bool:
        """Whether the tables are shown: as they were left, else where there is room."""
        return self.size.width >= WITH_TABLES if self.desk.tables is None else self.desk.tables

    def show_tables(self, shown: bool) -> None:
        """Show the tables, or hide them."""
        self.tables.display = shown
        self.set_class(shown, "-tables")

    def paint(self) -> None:
        """Show the title and the keys."""
        width = max(1, self.size.width - 2)
        trouble = state_in_words(self.state)
        about = plain(f"   {trouble}", "$text-warning") if trouble else plain(f"   {self._note or self._about}", MUTED)
        title = plain("Graph", "bold $primary") + about
        self.query_one("#query-title", Static).update(title.truncate(width, ellipsis=True))
        lines = 2 if self.app.size.height >= TALL else 1
        own = signs(self._rows_here())
        keys = RUNNING if self.running else QUERY_ALWAYS
        self.query_one("#query-keys", Static).update(foot(own, width, lines, always=keys))
        self.set_class(isinstance(self.focused, GraphView) and self.app.size.height < ROOMY, "-drawing")

    def _rows_here(self) -> tuple[KeyRow, ...]:
        """The keys of what has the focus, the nearest first."""
        if self.tables.has_focus:
            return query_foot("tables")
        if self.results.has_focus_within:
            if self.desk.answer is None or not self.desk.answer.rows:
                return query_foot("words")
            match self.focused:
                case ResultTable():
                    return query_foot("table")
                case GraphView():
                    return query_foot("drawing")
            return query_foot("rows")
        return query_foot("editor")

    def ran(self, *, running: bool) -> None:
        """A query has begun, or has ended."""
        self.running = running
        if self.is_attached:
            self.paint()

    # What is said

    def say(self, words: str, *, error: bool = False) -> None:
        """Words for the person, at the foot of the screen for a while."""
        self.query_one(StatusMessage).say(words, error=error)

    def unsay(self) -> None:
        """Take back what was said."""
        self.query_one(StatusMessage).unsay()

    # Rows

    def show(self, answer: "Answer", asked: ExecutedQuery) -> None:
        """The rows of a query."""
        self.desk.answer, self.desk.asked, self.desk.failure = answer, asked, ""
        self.results.show(answer, asked)
        self.paint()
        if self.go_to_rows:
            self.go_to_rows = False
            self.set_focus(self.results.body)

    def settle(self, answer: "Answer", asked: ExecutedQuery) -> None:
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

    def do(self, work: Coroutine[Any, Any, None]) -> None:
        """One at a time: what asks the person something, and then does it."""
        if self._busy:
            work.close()
            return
        self._busy = True
        self.run_worker(self._do(work))

    async def _do(self, work: Coroutine[Any, Any, None]) -> None:
        try:
            await work
        except self.failures as error:
            line, column = getattr(error, "line", 0), getattr(error, "column", 0)
            if line:
                self.failed(in_chat(str(error)), place=(line, column))
            else:
                self.say(in_chat(str(error)), error=True)
        finally:
            self._busy = False


def state_in_words(state: "State") -> str:
    """What keeps the graph from being asked just now; empty where nothing does."""
    return graph_trouble(
        state,
        opening="The graph is still opening. Ask again in a moment; what you wrote stays here.",
        until=". Ask again when that is done; what you wrote stays here.",
        following="catching up with what was said",
        failed="The graph cannot be read now; everything is safe. `clew doctor` says what to do.",
    )
