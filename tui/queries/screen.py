"""The query screen: its keys, and what they do with what it shows (view.py)."""

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from textual import events, on
from textual.binding import BindingType
from textual.widget import Widget
from textual.widgets import TextArea

from tui.chat_view import ChatView
from tui.drafts import ExecutedQuery, QuerySession
from tui.drawing.view import GraphView
from tui.keymaps import QUERIES, QUERY_HELP, bindings
from tui.queries import editor_actions
from tui.queries.answer_actions import AnswerActions
from tui.queries.editor import QueryEditor
from tui.queries.editor_actions import EditorActions
from tui.queries.results import JsonPage, Results
from tui.queries.runner import QueryRunner, is_question
from tui.queries.schema_tree import SchemaTree, sample_of, written
from tui.queries.table import ResultTable
from tui.queries.view import QueryView
from tui.widgets.dialogs import Reader

if TYPE_CHECKING:
    from graph.values import Subgraph

MOST_JOINED = 200  # nodes whose relationships are looked for
WITH_TABLES = 100  # columns from which the tables are shown without being asked for
ROOMY = 34  # rows from which a drawing has room enough beside the whole query
TALL = 18  # rows from which the keys may take two lines


class QueryScreen(QueryView):
    """Asks the graph: its keys, and what they do."""

    AUTO_FOCUS = "QueryEditor"
    BINDINGS: ClassVar[list[BindingType]] = bindings(QUERIES)

    def __init__(self, view: ChatView, desk: QuerySession, *, world: str, private: bool, note: str = "") -> None:
        super().__init__(view, desk, world=world, private=private, note=note)
        self.asking = QueryRunner(self)
        self.answering = AnswerActions(self, self.asking)
        self.taking = EditorActions(self, self.asking)

    def on_resize(self) -> None:
        self.show_tables(self.wants_tables)
        self.paint()

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        self.paint()

    async def action_run(self) -> None:
        text = await self.editor.settled()
        self.unsay()
        if self.asking.running:
            self.say("A query is running; Esc stops it.")
        elif not text.strip():
            self.say("There is no query yet. Ctrl+L has ready ones.")
        elif is_question(text):
            self.do(self.taking.translate(text.strip().lstrip("?").strip()))
        else:
            self.do(self.asking.run(text))

    def action_ask(self) -> None:
        self.do(self.taking.ask())

    def action_history(self) -> None:
        self.do(self.taking.choose(editor_actions.from_history(self)))

    def action_saved(self) -> None:
        self.do(self.taking.choose(editor_actions.from_saved(self)))

    def action_shelf(self) -> None:
        self.do(self.taking.choose(editor_actions.from_shelf(self)))

    async def action_save(self) -> None:
        self.do(self.taking.save(await self.editor.settled()))

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
            joined = await self.service.graph.subgraph(
                [node.ref for node in found.nodes[:MOST_JOINED]], world=self.world
            )
        except self.failures:
            return  # the nodes are drawn as they are
        if joined.edges and self.results.drawn is found:
            self.results.draw(replace(found, edges=joined.edges))
            self.say("The lines show how these nodes are joined in the graph; the query asked for the nodes alone.")

    @on(Results.Turned)
    def _turned(self) -> None:
        self.desk.page = self.results.page
        self.paint()

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
        self.asking.sample(ExecutedQuery(sample_of(event.table), sample=event.table.name))

    def action_tables(self) -> None:
        shown, focused = self.tables.display, self.tables.has_focus
        self.desk.tables = not (shown and focused)
        self.show_tables(self.desk.tables)
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
        if self.popup.display:
            self.popup.display = False
        elif not self.asking.stop():
            self.dismiss(None)

    def action_help(self) -> None:
        from tui.widgets.pages import keys_content

        self.app.push_screen(Reader("Keys of the query screen", keys_content(QUERY_HELP, self.chat_view.page_width)))
