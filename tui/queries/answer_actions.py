"""What is done with the answer on the query screen: read whole, copied, written to a file, walked from."""

import asyncio
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from graph.values import Ref
from tui.drawing.view import GraphView
from tui.queries.cells import rows_of, whole
from tui.queries.export import (
    PICTURES,
    as_text,
    cell_as_text,
    ref_in,
    row_as_text,
    target_of,
    written,
    wrong_with,
)
from tui.queries.results import JsonPage
from tui.queries.table import ResultTable
from tui.text import cut, one_line, spaced
from tui.widgets.dialogs import AskLine, Confirm, Reader

if TYPE_CHECKING:
    from tui.drawing.layout import Layout
    from tui.queries.runner import QueryRunner
    from tui.queries.view import QueryView


NO_NODE = "There is no node in this row. Return one, or its id, as in RETURN t or RETURN t.id."
ROWS_TO = "Write all rows (.csv or .json) to"
DRAWING_TO = "Write the drawing (.svg, .png), or all rows (.csv, .json), to"


class AnswerActions:
    """What is done with the answer that one screen shows."""

    def __init__(self, screen: "QueryView", asking: "QueryRunner") -> None:
        self._screen = screen
        self._asking = asking

    def wanted(self, what: str) -> None:
        """Do what a key asks for: more, export, copy, copy_all, ego."""
        screen = self._screen
        if screen.desk.answer is None or screen.desk.asked is None:
            screen.say("There are no rows yet.")
            return
        match what:
            case "more":
                self._asking.more()
            case "export":
                screen.do(self._export())
            case "copy" | "copy_all":
                screen.run_worker(self._copy(everything=what == "copy_all"))
            case "ego":
                screen.do(self._walk())

    # Reading

    def read(self) -> None:
        """The chosen cell, or the row of the chosen line, on a page of its own."""
        screen = self._screen
        answer = screen.desk.answer
        match screen.results.body:
            case ResultTable() as table if table.rows:
                column = table.columns[table.column]
                screen.app.push_screen(Reader(one_line(column), whole(column, table.value)))
            case JsonPage() as page if answer is not None and page.chosen is not None and page.chosen.row >= 0:
                row = page.chosen.row
                words = row_as_text(answer.columns, answer.rows[row])
                screen.app.push_screen(Reader(f"Row {spaced(row + 1)}", words))

    # Copying

    async def _copy(self, *, everything: bool) -> None:
        from tui.clipboard import copy_text

        chat_view, answer = self._screen.chat_view, self._screen.desk.answer
        assert answer is not None
        if everything:
            await copy_text(chat_view, as_text(answer), f"The table of {rows_of(len(answer.rows))}")
            return
        match self._screen.results.body:
            case ResultTable() as table if table.rows:
                await copy_text(chat_view, cell_as_text(table.columns[table.column], table.value), "The cell")
            case JsonPage() as page if page.chosen is not None and page.chosen.row >= 0:
                await copy_text(chat_view, row_as_text(answer.columns, answer.rows[page.chosen.row]), "The row")
            case GraphView() as view if view.chosen is not None:
                await copy_text(chat_view, view.chosen.title, "The name of the node")

    # Walking

    def _ref(self) -> Ref | None:
        """The node that is meant by what is chosen."""
        answer, asked = self._screen.desk.answer, self._screen.desk.asked
        if answer is None or asked is None:
            return None
        match self._screen.results.body:
            case ResultTable() as table if table.chosen is not None:
                return ref_in(asked.cypher, table.columns, table.chosen, table.column)
            case JsonPage() as page if page.chosen is not None and page.chosen.row >= 0:
                return ref_in(asked.cypher, answer.columns, answer.rows[page.chosen.row], 0)
            case GraphView() as view if view.chosen is not None:
                return view.chosen.ref
        return None

    async def _walk(self) -> None:
        ref = self._ref()
        if ref is None:
            self._screen.say(NO_NODE)
            return
        from tui.nodes.opening import open_node

        if await open_node(self._screen.chat_view, ref):
            self._screen.dismiss(None)  # the walk led to the chat, which lies below

    # Writing to a file

    async def _export(self) -> None:
        screen = self._screen
        drawing = screen.results.drawing
        drawn = drawing is not None
        said = screen.desk.exported or ("drawing.svg" if drawn else "answer.csv")
        if not drawn and said.lower().endswith(PICTURES):
            said = "answer.csv"
        title = DRAWING_TO if drawn else ROWS_TO
        check = partial(wrong_with, drawn=drawn)
        name = await screen.app.push_screen_wait(AskLine(title, said, yes="write it", check=check))
        if name is None:
            return
        target = target_of(name, Path.cwd(), drawn=drawn)
        title = f"Overwrite {cut(str(target.path), 60)}?"
        if target.exists and not await screen.app.push_screen_wait(
            Confirm(title, "What is in it now is lost.", yes="overwrite it")
        ):
            return
        if drawing is not None and target.ending in PICTURES:
            await self._draw(name, target.path, drawing)
        elif (everything := await self._asking.everything()) is not None:
            screen.say(await written(target, everything))
            screen.desk.exported = name

    async def _draw(self, name: str, path: Path, drawing: "Layout") -> None:
        from tui.drawing.svg import save

        kept = await asyncio.to_thread(save, drawing, path, dark=self._screen.app.current_theme.dark)
        self._screen.say(kept.words, error=kept.failed)
        if not kept.failed:
            self._screen.desk.exported = name
