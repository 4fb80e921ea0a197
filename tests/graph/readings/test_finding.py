"""Any typed text can be searched for, and what is found shows where it matched and what has become of it."""

import tomllib
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from graph.memory import Memory
from graph.readings.finding import fts_query, segments
from graph.values import Segment
from graph.whole_words import small, whole
from tests.examples import examples
from tests.graph.deeds import archive, begin, delete, drop, fork, hide, move, rename
from tests.graph.talk import reply, said, talk
from tests.tables import each

SAYINGS = {
    "pools": "We looked at the tide pools near Lisbon, and at the running crabs.",
    "code": 'He said "hello world" AND (then) NOT NEAR(a b) * col:umn ^first -minus +plus',
    "party": "Surprise 🎉 for everybody",
    "greek": "Ο λαβύρινθος της Κνωσού",
    "cyrillic": "Клубок нити",
    "chinese": "阿里阿德涅的线团在迷宫里",
    "arabic": "خيط أريادني",
    "accent": "A café, naïve and déjà vu",
    "digits": "Port 8080, version 0.11.3",
    "stop": "to be or not to be",
    "nul": "before\x00after",
    "marks": "\ue000private\ue001 use",
    "percent": "100% of a_b\\c",
}


TYPED: dict[str, list[str]] = tomllib.loads((Path(__file__).parent / "typed.toml").read_text("utf-8"))


@pytest.fixture
def spoken(memory: Memory) -> Memory:
    memory.append(begin("s"))
    parent = None
    for turn, text in SAYINGS.items():
        memory.append(said(turn, parent=parent, text=text))
        parent = turn
    return memory


def found(memory: Memory, typed: str) -> list[str]:
    return [each.turn.id for each in memory.readings.search(typed)]


def test_what_was_said_is_found_however_it_is_typed_and_nothing_else(spoken: Memory) -> None:
    def finds(row: tuple[str, str]) -> None:
        turn, typed = row
        assert turn in found(spoken, typed)

    def finds_none(typed: str) -> None:
        assert found(spoken, typed) == []

    each([("pools", "lisbon \ud800"), *((turn, text) for turn, texts in TYPED.items() for text in texts)], finds)
    each(["", "   ", "\x00", "\n\t", '""', '"" ""', "xylophone", "🦀", "x" * 20_000], finds_none)
    assert (found(spoken, "%"), found(spoken, '"')) == (["percent"], ["code"])


def test_a_page_pasted_finds_the_turn_that_has_it_and_else_what_has_some_of_it(spoken: Memory) -> None:
    page = "word " * 4_000
    assert found(spoken, page) == []
    spoken.append(said("page", parent="percent", text=page))
    assert found(spoken, page) == ["page"]
    assert found(spoken, "lisbon was never mentioned beside helicopters") == ["pools"]


@examples(300, excused=[HealthCheck.function_scoped_fixture])
@given(st.text(st.characters(exclude_categories=[]), max_size=60) | st.text('"*^():-+{}NEAROTAD ', max_size=40))
def test_no_typed_text_is_an_error(spoken: Memory, typed: str) -> None:
    for query in (fts_query(typed), fts_query(typed, every=False)):
        if query:
            spoken.readings.search_words(query)
    spoken.readings.search(typed, limit=3)


QUERIES = (
    ("tide po", f'"tide" AND ("po" * OR "{whole("po")}" *)'),
    ("tide po ", '"tide" AND "po"'),
    ('"tide pools"', '"tide pools"'),
    ('a "b c" d', f'"a" AND "b c" AND ("d" * OR "{whole("d")}" *)'),
    ("don't OR ", '"don\'t" AND "OR"'),
    ("Ines said ", f'"{whole("ines")}" AND "said"'),
    ("with wes", f'"with" AND ("{whole("wes")}" * OR "{small("wes")}" *)'),
    ("O'Brien's", f'("O\'Brien\'s" * AND "{whole("o")}" AND "{whole("brien")}")'),
    ("🎉 ! ?", ""),
)


def test_words_become_a_query() -> None:
    def check(row: tuple[str, str]) -> None:
        assert fts_query(row[0]) == row[1]

    each(QUERIES, check)


def test_a_snippet_marks_the_words_that_matched_and_no_others(spoken: Memory) -> None:
    snippet = spoken.readings.search("tide run")[0].snippet
    assert [piece.text for piece in snippet if piece.matched] == ["tide", "running"]
    assert "".join(piece.text for piece in snippet) == SAYINGS["pools"]
    long = "start " * 200 + "needle " + "end " * 200
    spoken.append(said("long", parent="percent", text=long))
    pieces = spoken.readings.search("needle")[0].snippet
    assert [piece.text for piece in pieces if piece.matched] == ["needle"]
    assert len("".join(piece.text for piece in pieces)) < 200
    assert spoken.readings.search("🎉")[0].snippet == (
        Segment("Surprise ", False),
        Segment("🎉", True),
        Segment(" for everybody", False),
    )


def test_no_text_can_bring_marks_of_its_own(spoken: Memory) -> None:
    snippet = spoken.readings.search("private")[0].snippet
    assert "".join(piece.text for piece in snippet) == SAYINGS["marks"]
    assert segments("a<<b>>c", "<<", ">>") == (Segment("a", False), Segment("b", True), Segment("c", False))
    assert segments("<<b>>", "<<", ">>") == (Segment("b", True),)
    assert segments("", "<<", ">>") == ()


def marked(memory: Memory, mark: str) -> set[str]:
    return {each.turn.id for each in memory.readings.search("larch") if each.mark == mark}


def test_what_is_not_live_is_marked(memory: Memory) -> None:
    memory.append(begin("s"), rename("s", "Boats"))
    memory.append(said("q", text="the larch"), reply("one", parent="q", text="larch it is"))
    memory.append(reply("two", parent="q", text="no larch"), said("h", parent="two", text="larch, larch"))
    memory.append(hide("h"), said("waits", text="larch", queued=True))
    memory.append(said("tool", parent="h", role="tool", text="larch"), said("d", parent="h", text="larch"))
    memory.append(delete("d"))
    marks = {each.turn.id: (each.mark, each.session_name) for each in memory.readings.search("larch")}
    assert marks == {
        "q": ("", "Boats"),
        "one": ("alternative", "Boats"),
        "two": ("", "Boats"),
        "h": ("hidden", "Boats"),
        "waits": ("", "Boats"),
    }
    memory.append(archive("s"))
    assert marked(memory, "archived") == {"q", "two", "waits"}
    memory.append(move("s", None))
    assert marked(memory, "alternative") == {"q", "one", "two"}
    assert len(memory.readings.search("larch", limit=2)) == 2
    assert memory.readings.search("larch", limit=0) == []


def test_what_a_deleted_session_had_is_gone_but_for_what_a_fork_keeps(memory: Memory) -> None:
    talk(memory, 4)
    memory.append(fork("f", "s", "s1"), drop("s"))
    assert found(memory, "s1") == ["s1"]
    assert found(memory, "s3") == []
