"""Values in cells: short, on one line, harmless, and in an order that has a place for everything."""

import json
from datetime import datetime

from hypothesis import given
from hypothesis import strategies as st

from graph.console.paging import headings
from tui.queries.cells import LONGEST, NULL, brief, cell, moment, order_of, spread, whole
from tui.queries.results import times

TURN = {"_id": "2:0", "_label": "Turn", "id": "T1", "text": "Hello\nthere", "pinned": None}
PERSON = {"_id": "3:0", "_label": "Entity", "id": "noor", "name": "Noor"}
SAID_BY = {"_src": "2:0", "_dst": "3:0", "_label": "SAID_BY", "_id": "9:0"}
PATH = {"_nodes": [TURN, PERSON], "_rels": [SAID_BY]}
BACK = {"_nodes": [PERSON, TURN], "_rels": [SAID_BY]}

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=20,
)


TOLD: tuple[tuple[object, str], ...] = (
    (None, NULL),
    (True, "true"),
    (12, "12"),
    (1.5, "1.5"),
    ("two\n lines", "two lines"),
    ([1, "a", None], '[1, "a", ∅]'),
    ({"a": {"b": [1]}}, "{a: {b: [1]}}"),
    (TURN, "● Hello there"),
    ({"_label": "World", "id": "main"}, "★ main"),
    (SAID_BY, "-[SAID_BY]->"),
    (PATH, "● Hello there -[SAID_BY]-> ▲ Noor"),
    (BACK, "▲ Noor <-[SAID_BY]- ● Hello there"),
    ("\x1b[31mred", "␛[31mred"),
)
# A query, its columns as the engine calls them and as they were written, and which of them are times.
NAMED: tuple[tuple[str, tuple[str, ...], tuple[str, ...], set[int]], ...] = (
    ("MATCH (t) RETURN [t.text], t.id", ("LIST_CREATION(t.text,)", "t.id"), ("[t.text]", "t.id"), set()),
    ("MATCH (t) RETURN t.at AS said, COUNT( * )", ("said", "COUNT_STAR()"), ("said", "COUNT( * )"), {0}),
    ("RETURN DISTINCT {a: 1,\n b: [2, 3]}, max(t.at) LIMIT 3", ("x", "y"), ("{a: 1, b: [2, 3]}", "max(t.at)"), {1}),
    ("MATCH (a) WHERE EXISTS { MATCH (b) } RETURN *", ("a.at",), ("a.at",), {0}),
    ("RETURN 1 AS `a b` UNION RETURN 2", ("a b",), ("a b",), set()),
    ("MATCH (t) RETURN * ORDER BY t.at", ("t", "u"), ("t", "u"), set()),
    ("MATCH (t) RETURN t.at - 5 // so, or so", ("-(t.at,5)",), ("t.at - 5",), set()),
)


def test_each_kind_of_value_has_its_words_and_columns_are_called_as_they_were_written() -> None:
    for value, told in TOLD:
        assert brief(value) == told
    for query, columns, written, timed in NAMED:
        assert headings(query, columns) == written
        assert set(times(query, columns)) == timed


def test_a_cell_looks_at_no_more_of_a_value_than_it_shows() -> None:
    class CountingList(list[int]):
        looked = 0

        def __iter__(self):  # type: ignore[no-untyped-def]
            for each in super().__iter__():
                CountingList.looked += 1
                yield each

    assert brief(CountingList(range(100_000))).endswith("…")
    assert CountingList.looked < 300
    assert len(brief("x" * 100_000)) == LONGEST


@given(VALUES)
def test_a_cell_is_one_short_line_of_harmless_words(value: object) -> None:
    said = cell(value).plain
    assert "\n" not in said
    assert "\x1b" not in said
    assert len(brief(value)) <= LONGEST


@given(st.lists(VALUES, max_size=6))
def test_any_values_can_be_put_in_order(values: list[object]) -> None:
    sorted(values, key=order_of)


def test_a_value_is_read_whole_and_a_time_says_which_day_it_is() -> None:
    assert whole("t.text", "x" * 100_000) == "x" * 100_000
    assert json.loads(whole("t", TURN)) == TURN
    assert "no value" in whole("x", None)
    assert "2025" in moment("t.at", 1_748_955_720_000)
    assert moment("n", 1_748_955_720_000) == ""
    assert moment("t.at", 12) == ""


def test_nodes_that_stand_alone_are_spread_over_columns_with_their_words_first() -> None:
    columns, rows = spread(("t",), [(TURN,), ({**TURN, "id": "T2", "text": None, "role": "user"},)])
    assert columns == ("t", "t.text", "t.id", "t.role")
    assert rows[0][1:] == ("Hello\nthere", "T1", None)
    assert rows[1][1:] == (None, "T2", "user")
    assert spread(("t", "n"), [(TURN, 1)]) == (("t", "n"), [(TURN, 1)])
    assert spread(("n",), [(1,), (TURN,)]) == (("n",), [(1,), (TURN,)])


def test_times_are_told_as_local_times_and_stay_numbers_in_all_else() -> None:
    at = 1_748_955_720_000
    columns, rows = spread(("t.at", "n"), [(at, at), (None, 2), (12, 3)], frozenset({0}))
    here = f"{datetime.fromtimestamp(at / 1000):%Y-%m-%d %H:%M:%S}"
    assert columns == ("t.at", "n")
    assert [brief(row[0]) for row in rows] == [here, NULL, "12"]
    assert brief(rows[0][1]) == f"{at}"
    assert rows[0][0] == at
    assert whole("x", rows[0][0]).startswith(f"{at}\n\n")
    assert json.dumps(rows[0]) == f"[{at}, {at}]"
    assert order_of(rows[0][0]) == order_of(at)
    columns, rows = spread(("t",), [({**TURN, "at": at},)])
    assert brief(rows[0][columns.index("t.at")]) == here
