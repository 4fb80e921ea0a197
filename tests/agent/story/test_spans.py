"""A message is cut into what is said, done and out of character; together the parts are the message."""

import sys
import tomllib
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.story.spans import Kind, Marker, marker_of, spans, split_ooc
from tests.examples import few
from tests.tables import each

TABLES = tomllib.loads(Path(__file__).with_name("spans.toml").read_text(encoding="utf-8"))
NAMES = {Kind.SPEECH: "said", Kind.ACTION: "done", Kind.OOC: "note"}


def test_a_message_is_cut_into_what_is_said_done_and_out_of_character() -> None:
    def cut(row: tuple[str, list[list[str]]]) -> None:
        assert [[NAMES[span.kind], span.text] for span in spans(row[0])] == row[1]

    each(TABLES["cut"], cut)


def test_notes_are_taken_out_of_a_message_and_the_rest_is_tidy() -> None:
    def split(row: tuple[str, str, list[str]]) -> None:
        assert split_ooc(row[0]) == (row[1], tuple(row[2]))

    each(TABLES["split"], split)


@pytest.mark.parametrize(
    ("setting", "text", "rest", "notes"),
    [
        ("[[ ]]", "Hi [[brb]] ((you))", "Hi ((you))", ("brb",)),
        ("[ ]", "Hi [a [b] c] you", "Hi you", ("a [b] c",)),
        ("// //", "Hi //brb// you //back", "Hi you", ("brb", "back")),
        ("{ooc }", "Hi {ooc brb} you", "Hi you", ("brb",)),
        ("OOC: .", "Hi OOC: brb. you", "Hi you", ("brb",)),
        ("< >>", "a <b >> c", "a c", ("b",)),
    ],
)
def test_another_marker_may_be_set(setting: str, text: str, rest: str, notes: tuple[str, ...]) -> None:
    assert split_ooc(text, marker_of(setting)) == (rest, notes)


@pytest.mark.parametrize("setting", ["", "((", "(( )) ((", "* *", "a**b )", "((((((((((( )"])
def test_what_is_no_pair_of_markers_is_refused_with_an_example(setting: str) -> None:
    with pytest.raises(ValueError, match=r"such as \(\( \)\)"):
        marker_of(setting)


PIECES = st.lists(st.sampled_from(["((", "))", "(", ")", "*", "**", " ", "\n", "\n\n", "a", "Mara", "1", ",", "\\"]))


@given(PIECES.map("".join), st.sampled_from([("((", "))"), ("[", "]"), ("//", "//"), ("(", "))")]))
def test_the_parts_together_are_the_message(text: str, marker: Marker) -> None:
    found = spans(text, marker=marker)
    assert "".join(text[span.start : span.end] for span in found) == text
    assert all(span.text in text[span.start : span.end] for span in found)
    assert all(span.start < span.end for span in found)


@given(PIECES.map("".join))
def test_what_is_in_a_note_is_not_in_the_rest(text: str) -> None:
    rest, notes = split_ooc(text)
    noted = [span.text.strip() for span in spans(text) if span.kind is Kind.OOC]
    assert notes == tuple(note for note in noted if note)
    kept = "".join(text[span.start : span.end] for span in spans(text) if span.kind is not Kind.OOC)
    assert "".join(rest.split()) == "".join(kept.split())


PATHOLOGICAL = ["((", "))", "*", "(", "((a)) ", "*a* ", "*a\n\n", "((a\n\n", "\n ", "((a *b)) c* "]


@pytest.mark.parametrize("piece", PATHOLOGICAL)
def test_a_message_of_nothing_but_markers_is_read_in_one_pass(piece: str) -> None:
    def steps(count: int) -> int:
        """How many lines of code run for so many pieces."""
        run = 0

        def trace(frame: FrameType, event: str, _arg: Any) -> Any:
            nonlocal run
            run += event == "line" and frame.f_code.co_filename == spans.__code__.co_filename  # others' may run between
            return trace

        text, before = piece * count, sys.gettrace()
        sys.settrace(trace)
        try:
            spans(text)
            split_ooc(text)
        finally:
            sys.settrace(before)
        return run

    assert steps(800) - steps(400) <= steps(400) - steps(0) + 50


@pytest.mark.parametrize("piece", PATHOLOGICAL)
def test_a_message_of_200_kilobytes_of_markers_is_cut_whole(piece: str) -> None:
    text = piece * (few(200_000) // len(piece))
    assert sum(span.end - span.start for span in spans(text)) == len(text)
    assert len(split_ooc(text)[0]) <= len(text)
