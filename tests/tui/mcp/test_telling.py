"""An answer as text: bounded, and saying what it leaves out."""

import json

from tui.mcp.serializers import MOST_ANSWER, MOST_TEXT, AboutShape, ChatShape, Quoted, RowsShape, as_text


def rows(*cells: object) -> RowsShape:
    return RowsShape(columns=["cell"], rows=[[cell] for cell in cells], total=len(cells), cut="", took_ms=1.0)


def test_of_many_long_rows_as_many_are_told_as_an_answer_holds_and_the_rest_is_counted() -> None:
    text = as_text(rows(*(f"{number}: " + "a very long letter " * 2_000 for number in range(500))))
    told = json.loads(text)
    assert MOST_ANSWER - 2 * MOST_TEXT < len(text) <= MOST_ANSWER
    kept = len(told["rows"])
    assert told["left_out"].startswith(f"{500 - kept} of 500 rows are left out, as an answer has at most 64,000")
    cell = told["rows"][0][0]
    assert (cell[:3], len(cell), cell[-1]) == ("0: ", MOST_TEXT + 1, "…")


def test_a_row_that_no_answer_holds_is_counted_too() -> None:
    told = json.loads(as_text(rows(["words"] * 100_000, "short")))
    assert (told["rows"], told["left_out"][:26]) == ([], "2 of 2 rows are left out, ")


def test_an_answer_that_holds_all_says_nothing() -> None:
    assert json.loads(as_text(rows("short", 7, None, [True, {"a": 1.5}])))["left_out"] == ""


def test_chats_give_way_before_the_messages_do() -> None:
    said = [Quoted(id=str(n), kind="message", text="x" * 400, at="", who="", session="") for n in range(50)]
    chats = [ChatShape(id=str(n), title="t" * 100, messages=1) for n in range(1_000)]
    answer = AboutShape(name="Ada", kind="person", said=0, mentioned=1, chats=chats, messages=said)
    text = as_text(answer)
    told = json.loads(text)
    assert len(text) <= MOST_ANSWER
    assert (len(told["messages"]), 0 < len(told["chats"]) < 1_000) == (50, True)
    assert told["left_out"].endswith("Ask for fewer, or for less of each.")
