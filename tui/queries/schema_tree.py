"""The tables of the graph with their counts and properties, to look at, to write into the query, and to sample."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual.binding import BindingType
from textual.content import Content
from textual.message import Message

from tui.keymaps import TABLES, bindings
from tui.queries.completing import KnownTable, QueryVocabulary, tables_of
from tui.text import MUTED, plain, spaced
from tui.widgets.long_list import LongList

SAMPLE = 25  # rows
OPEN, SHUT, NONE = "▾", "▸", " "


@dataclass(frozen=True, slots=True)
class SchemaLine:
    """A table, one of its properties, or (without a table) a heading."""

    table: KnownTable | None
    column: str = ""
    heading: str = ""

    @property
    def identity(self) -> str:
        return f"{self.table.name}.{self.column}" if self.table is not None else f" {self.heading}"


class SchemaTree(LongList[SchemaLine]):
    """Folded and unfolded by table; Enter writes what is chosen."""

    BINDINGS: ClassVar[list[BindingType]] = bindings(TABLES)

    class Sampled(Message):
        """Some rows of a table are to be seen."""

        def __init__(self, table: KnownTable) -> None:
            super().__init__()
            self.table = table

    def __init__(self) -> None:
        super().__init__(self._row, lambda line: line.identity, height=1, id="query-tables")
        self._vocabulary = QueryVocabulary({}, {})
        self._open: set[str] = set()

    def learn(self, vocabulary: QueryVocabulary) -> None:
        """Show these tables; what is unfolded stays so."""
        self._vocabulary = vocabulary
        self._refill()
        if self.chosen is not None and self.chosen.table is None:
            self.choose(self.place + 1)

    def _refill(self) -> None:
        tables = self._vocabulary.tables.values()
        lines: list[SchemaLine] = []
        for heading, relationship in (("Nodes", False), ("Relationships", True)):
            lines.append(SchemaLine(None, heading=heading))
            for table in tables:
                if table.relationship is relationship:
                    lines.append(SchemaLine(table))
                    if table.name in self._open:
                        lines += [SchemaLine(table, column) for column in table.columns]
        self.fill(lines)

    def _row(self, line: SchemaLine, width: int) -> Sequence[Content]:
        if line.table is None:
            return [plain(line.heading, MUTED)]
        if line.column:
            name = plain(f"    {line.column} ")
            about = plain(line.table.columns[line.column], MUTED)
            return [name + about.truncate(max(1, width - name.cell_length), ellipsis=True)]
        mark = OPEN if line.table.name in self._open else SHUT if line.table.columns else NONE
        name = plain(f"{mark} {line.table.name}", "$success")
        count = plain(spaced(line.table.count) if line.table.count is not None else "", MUTED)
        room = max(1, width - count.cell_length - 1)
        return [name.truncate(room, ellipsis=True, pad=True) + plain(" ") + count]

    # Keys

    def action_unfold(self) -> None:
        line = self.chosen
        if line is not None and line.table is not None and not line.column and line.table.columns:
            self._open.add(line.table.name)
            self._refill()

    def action_fold(self) -> None:
        line = self.chosen
        if line is not None and line.table is not None and line.table.name in self._open:
            self._open.discard(line.table.name)
            self.choose(next(at for at, each in enumerate(self.items) if each.table == line.table))
            self._refill()

    def action_sample(self) -> None:
        if self.chosen is not None and self.chosen.table is not None:
            self.post_message(self.Sampled(self.chosen.table))

    def action_choose(self) -> None:
        if self.chosen is not None and self.chosen.table is not None:
            super().action_choose()


def pattern_of(table: KnownTable) -> str:
    """A table as it is written in a MATCH."""
    if not table.relationship:
        return f"({letter_of(table.name)}:{table.name})"
    start, end = table.ends[0] if table.ends else ("", "")
    first, second = letter_of(start), letter_of(end)
    second = f"{second}2" if first == second and first else second
    return f"({_end(first, start)})-[:{table.name}]->({_end(second, end)})"


def _end(letter: str, table: str) -> str:
    return f"{letter}:{table}" if table else ""


def letter_of(table: str) -> str:
    """What a variable of a table is called: t of Turn."""
    return table[:1].lower()


def sample_of(table: KnownTable) -> str:
    """A query for some rows of a table."""
    pattern = pattern_of(table)
    if table.relationship:
        pattern = f"(a)-[r:{table.name}]->(b)"
        return f"MATCH {pattern}\nRETURN a, r, b\nLIMIT {SAMPLE}"
    return f"MATCH {pattern}\nRETURN {letter_of(table.name)}\nLIMIT {SAMPLE}"


def written(line: SchemaLine, text: str) -> str:
    """What Enter writes of a line into a query that says `text` so far: a whole query where there is none."""
    table = line.table
    assert table is not None
    if line.column:
        pattern = f"({letter_of(table.name)}:{table.name})"
        own = letter_of(table.name) if not table.relationship else "r"
        if not text.strip():
            pattern = pattern if not table.relationship else f"()-[r:{table.name}]->()"
            return f"MATCH {pattern}\nRETURN {own}.{line.column}\nLIMIT {SAMPLE}"
        return f"{variable_of(table, text) or own}.{line.column}"
    if text.strip():
        return pattern_of(table)
    if not table.relationship:
        return sample_of(table)
    return f"MATCH {pattern_of(table)}\nRETURN *\nLIMIT {SAMPLE}"


def variable_of(table: KnownTable, text: str) -> str:
    """The variable that a text already has for a table; empty if it has none."""
    import re

    names = dict.fromkeys(re.findall(r"[(\[]\s*([A-Za-z_]\w*)\s*:", text))
    return next((name for name in names if table.name in tables_of(text, name)), "")
