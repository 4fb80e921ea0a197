"""The lower half of the query screen: the answer as a table, drawn or as JSON, and the line that counts its rows."""

import asyncio
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Static

from graph.console.paging import returned
from graph.values import Subgraph
from tui.drafts import ExecutedQuery
from tui.drawing.view import GraphView
from tui.keymaps import RESULTS, bindings
from tui.queries.cells import TIMES, rows_of, spread
from tui.queries.export import subgraph_of, unique
from tui.queries.table import ResultTable
from tui.text import MUTED, one_line, plain, spaced
from tui.widgets.long_list import LongList

if TYPE_CHECKING:
    from graph.console.console import Answer
    from tui.drawing.layout import Layout


_TIME = re.compile(rf"(?:(?:min|max)\(\s*)?(?:\w+\.)?(?:{'|'.join(TIMES)})\)?", re.IGNORECASE)


def times(cypher: str, columns: tuple[str, ...]) -> frozenset[int]:
    """The places of the columns that hold times."""
    said = [each for each, _ in returned(cypher)]
    if len(said) != len(columns) or "*" in said:
        said = list(columns)
    return frozenset(place for place, each in enumerate(said) if _TIME.fullmatch(each))


MOST_ROWS = 500
MOST_ITEMS = 100  # of a list or a structure
LONGEST = 2_000  # characters of a text
DEEPEST = 8


@dataclass(frozen=True, slots=True)
class JsonLine:
    """A line of the text, and of which row it is; -1 of none."""

    place: int
    text: str
    row: int


def lines_of(answer: "Answer") -> list[JsonLine]:
    """The first rows of an answer as lines of JSON; what is too long for a screen is cut, and says so."""
    names = unique(answer.columns)
    lines: list[JsonLine] = []
    for number, row in enumerate(answer.rows[:MOST_ROWS]):
        told = {name: _short(value, DEEPEST) for name, value in zip(names, row, strict=True)}
        for line in json.dumps(told, ensure_ascii=False, indent=2).split("\n"):
            lines.append(JsonLine(len(lines), line, number))
    if len(answer.rows) > MOST_ROWS:
        more = len(answer.rows) - MOST_ROWS
        there = "row is" if more == 1 else "rows are"
        rest = f"… {spaced(more)} more {there} here; x writes all to a file"
        lines.append(JsonLine(len(lines), rest, -1))
    return lines


def _short(value: Any, depth: int) -> Any:
    match value:
        case str() if len(value) > LONGEST:
            return f"{value[:LONGEST]}… ({spaced(len(value))} characters)"
        case Mapping() | list() | tuple() if depth <= 0:
            return "…"
        case Mapping():
            kept = {name: _short(each, depth - 1) for name, each in list(value.items())[:MOST_ITEMS]}
            return {**kept, "…": f"{len(value) - MOST_ITEMS} more"} if len(value) > MOST_ITEMS else kept
        case list() | tuple():
            items = [_short(each, depth - 1) for each in value[:MOST_ITEMS]]
            return [*items, f"… {len(value) - MOST_ITEMS} more"] if len(value) > MOST_ITEMS else items
        case _:
            return value


class JsonPage(LongList[JsonLine]):
    """The lines; Enter reads the row of the chosen one whole."""

    def __init__(self) -> None:
        super().__init__(_painted, lambda line: str(line.place), height=1, id="query-json")


def _painted(line: JsonLine, width: int) -> Sequence[Content]:
    text = line.text.rstrip()
    blank = len(text) - len(text.lstrip())
    name, colon, value = text.strip().partition('": ')
    if not colon or not name.startswith('"'):
        return [plain(" " * blank + one_line(text), MUTED if line.row < 0 else "")]
    return [
        plain(" " * blank)
        + plain(f"{one_line(name)}{colon.rstrip()} ", "$secondary")
        + plain(one_line(value[: 4 * max(1, width)]))
    ]


PAGES = ("Table", "Graph", "JSON")
FIRST_WORDS = (
    "Ask your memory in Cypher: it is a graph of what was said and learned. Nothing you write here can change it.\n\n"
    "Ctrl+L has ready queries, F2 shows the tables there are, and Ctrl+T makes a query of a question in words."
)
NO_ROWS = "No rows: nothing in the memory matches this query."
LOOKING = "Looking for what can be drawn …"
NOTHING_DRAWN = "Nothing to draw: these rows have no nodes. Return a node or a path, as in RETURN t."


class Results(Vertical):
    """Shows what `tell` and `show` were given last; the keys of its pages are asked of the screen."""

    BINDINGS: ClassVar[list[BindingType]] = bindings(RESULTS)

    class Wanted(Message):
        """A key about the answer that is for the screen: more, export, copy, copy_all, ego."""

        def __init__(self, what: str) -> None:
            super().__init__()
            self.what = what

    class Unjoined(Message):
        """The rows have nodes and no relationships among them."""

        def __init__(self, subgraph: Subgraph) -> None:
            super().__init__()
            self.subgraph = subgraph

    class Turned(Message):
        """Another page is shown."""

    def __init__(self) -> None:
        super().__init__(id="query-results")
        self.page = 1
        self.answer: Answer | None = None
        self.drawn: Subgraph | None = None  # of the answer, once it was looked through
        self._jsoned = False
        self._count = ""
        self._run = 0  # which answer is shown: what was made of an earlier one is shown no more

    def compose(self) -> ComposeResult:
        yield Static("", id="query-line", markup=False)
        with VerticalScroll(id="query-words"):
            yield Static("", markup=False)
        yield ResultTable(id="query-table")
        yield GraphView(id="query-graph")
        yield JsonPage()

    def on_mount(self) -> None:
        self.tell(FIRST_WORDS)

    # What is shown

    def tell(self, words: str, *, error: bool = False, count: str = "") -> None:
        """Words instead of rows."""
        self._begin(None, count)
        self._write(words, "$text-error" if error else MUTED)
        self._lay_out()

    def _begin(self, answer: "Answer | None", count: str) -> None:
        """Another answer, or none: nothing of the one before stays on any page."""
        self._run += 1
        self.answer, self.drawn, self._jsoned, self._count = answer, None, False, count
        self.query_one(GraphView).clear()
        self.query_one(JsonPage).fill([])

    def _write(self, words: str, style: str = MUTED) -> None:
        self.query_one("#query-words Static", Static).update(plain(words, style))

    def show(self, answer: "Answer", asked: ExecutedQuery) -> None:
        """The rows of an answer, on the page that is chosen."""
        if not answer.columns or not answer.rows:
            self.tell(NO_ROWS, count=counted(answer, asked))
            self.answer = answer
            return
        self._begin(answer, counted(answer, asked))
        self.query_one(ResultTable).fill(*spread(answer.columns, answer.rows, times(asked.cypher, answer.columns)))
        self._lay_out()
        self._fill_page()

    def running(self, seconds: float, words: str = "running") -> None:
        """How long a query has been running by now."""
        self._count = f"{words} … {seconds:.1f} s"
        self._paint_line()

    def counted(self, answer: "Answer", asked: ExecutedQuery) -> None:
        """The same rows, of which more is known."""
        self.answer = answer
        self._count = counted(answer, asked)
        self._paint_line()

    def turn(self, page: int) -> None:
        """Show another page of the answer; the focus goes along."""
        self.page = page
        self._lay_out()
        self._fill_page()
        self.post_message(self.Turned())

    @property
    def body(self) -> Widget:
        """What is shown now, and takes the keys."""
        return self.query_one(self._shown())

    @property
    def drawing(self) -> "Layout | None":
        """What is drawn, if a drawing is shown."""
        picture = self.query_one(GraphView).picture if self._shown() == "#query-graph" else None
        return picture.layout if picture is not None and picture.layout.spots else None

    def _shown(self) -> str:
        if self.answer is None or not self.answer.rows:
            return "#query-words"
        if self.page == 2 and (self.drawn is None or not self.drawn.nodes):
            return "#query-words"
        return ("#query-table", "#query-graph", "#query-json")[self.page - 1]

    def _lay_out(self) -> None:
        shown, focused = self._shown(), self.has_focus_within
        for each in ("#query-words", "#query-table", "#query-graph", "#query-json"):
            self.query_one(each).display = each == shown
        if focused:
            self.screen.set_focus(self.body)
        self._paint_line()

    def _fill_page(self) -> None:
        if self.answer is None or not self.answer.rows:
            return
        if self.page == 2 and self.drawn is None:
            self._write(LOOKING)
            self.run_worker(self._draw(self.answer, self._run), group="draw", exclusive=True)
        elif self.page == 3 and not self._jsoned:
            self.run_worker(self._write_json(self.answer, self._run), group="json", exclusive=True)

    async def _draw(self, answer: "Answer", run: int) -> None:
        """Look through the rows in a thread: there may be a hundred thousand."""
        found = await asyncio.to_thread(subgraph_of, answer.rows)
        if self._run == run:
            self.draw(found)
            if len(found.nodes) > 1 and not found.edges:
                self.post_message(self.Unjoined(found))

    def draw(self, subgraph: Subgraph) -> None:
        """Draw this, which was found in the rows."""
        self.drawn = subgraph
        if subgraph.nodes:
            self.query_one(GraphView).show(subgraph)
        else:
            self._write(NOTHING_DRAWN)
        self._lay_out()

    async def _write_json(self, answer: "Answer", run: int) -> None:
        lines = await asyncio.to_thread(lines_of, answer)
        if self._run == run:
            self._jsoned = True
            self.query_one(JsonPage).fill(lines)

    # The line above

    def _paint_line(self) -> None:
        width = max(1, self.size.width)
        count = plain(self._count)
        tabs = Content("")
        for names in (PAGES, tuple(name if place + 1 == self.page else "" for place, name in enumerate(PAGES))):
            tabs = Content("  ").join(self._tab(place + 1, name) for place, name in enumerate(names))
            if tabs.cell_length + count.cell_length + 2 <= width:
                break
        else:  # hardly any room: at least which page it is
            tabs = self._tab(self.page, PAGES[self.page - 1])
        room = width - tabs.cell_length - count.cell_length
        line = tabs + plain(" " * max(2, room)) + count if self._count else tabs
        self.query_one("#query-line", Static).update(line.truncate(width, ellipsis=True))

    def _tab(self, number: int, name: str) -> Content:
        here = number == self.page
        digit = plain(f"{number}", "bold $primary" if here else "bold")
        return digit + plain(f" {name}", "bold underline" if here else MUTED) if name else digit

    def on_resize(self) -> None:
        self._paint_line()

    @on(ResultTable.Sorted)
    def _sorted(self) -> None:
        self._paint_line()

    # Keys

    def action_page(self, number: int) -> None:
        self.turn(number)

    def action_more(self) -> None:
        self.post_message(self.Wanted("more"))

    def action_export(self) -> None:
        self.post_message(self.Wanted("export"))

    def action_copy(self) -> None:
        self.post_message(self.Wanted("copy"))

    def action_copy_all(self) -> None:
        self.post_message(self.Wanted("copy_all"))

    def action_ego(self) -> None:
        self.post_message(self.Wanted("ego"))


def counted(answer: "Answer", asked: ExecutedQuery) -> str:
    """How many rows there are and how many of them are here, how long it took, and of what they are a sample."""
    here, took = len(answer.rows), took_of(answer.took_ms)
    if asked.sample:
        return f"{rows_of(here)} of {asked.sample}, {took}"
    if answer.total is None:
        there = f"the first {rows_of(here)}"
    elif answer.total == here:
        there = rows_of(here)
    else:
        there = f"{spaced(here)} of {rows_of(answer.total)}"
    why = {"bytes": " (too large for more)", "time": " (no time for more)"}.get(answer.cut, "")
    return f"{there}{why}, {took}"


def took_of(took_ms: float) -> str:
    return f"{took_ms:.0f} ms" if took_ms < 1000 else f"{took_ms / 1000:.1f} s"
