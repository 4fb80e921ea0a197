"""The pieces of a query, however unfinished: what they are, where they end, and that any text has some."""

from hypothesis import given
from hypothesis import strategies as st

from graph.console.lexing import LONGEST
from tui.queries.completing import TokenKind, lines_in_colours, pieces_of

QUERY = """MATCH (t:Turn {role: 'us
er'})-[r:IN_SESSION|SAID_BY]->(s) // a note: 'no string'
WHERE t.text CONTAINS $w AND count(t) > 1.5
RETURN count(*), t.`a b` SET x /* both
lines */ 'open"""


def told(text: str) -> list[tuple[str, str]]:
    return [(piece.kind.value, piece.text) for piece in pieces_of(text)]


def painted(text: str) -> list[list[tuple[str, str]]]:
    """What is coloured on each line, and as what."""
    lines = lines_in_colours(text, {kind: kind.value for kind in TokenKind})
    return [[(str(span.style), line.plain[span.start : span.end]) for span in line.spans] for line in lines]


def test_every_word_is_what_it_is_to_the_engine() -> None:
    found = told(QUERY)
    for piece in (
        ("keyword", "MATCH"),
        ("table", "Turn"),
        ("property", "role"),
        ("string", "'us\ner'"),
        ("table", "IN_SESSION"),
        ("table", "SAID_BY"),
        ("comment", "// a note: 'no string'"),
        ("property", "text"),
        ("parameter", "$w"),
        ("function", "count"),
        ("number", "1.5"),
        ("property", "`a b`"),
        ("refused", "SET"),
        ("comment", "/* both\nlines */"),
        ("string", "'open"),
    ):
        assert piece in found, piece
    assert ("keyword", "IN") not in found


def test_what_does_not_end_is_open() -> None:
    assert [piece.open for piece in pieces_of("'a' 'b")] == [False, True]
    assert [piece.open for piece in pieces_of("/* a */ /* b")] == [False, True]


def test_a_string_may_have_an_escape_that_no_query_has() -> None:
    assert told(r"'a\q' b") == [("string", r"'a\q'"), ("name", "b")]


def test_a_piece_of_several_lines_is_coloured_on_each() -> None:
    assert painted("RETURN 'a\n\nbc' AS x") == [
        [("keyword", "RETURN"), ("string", "'a")],
        [],
        [("string", "bc'"), ("keyword", "AS"), ("name", "x")],
    ]


def test_what_is_longer_than_any_query_has_its_lines_but_no_colours() -> None:
    assert painted("MATCH\n" * LONGEST) == [[]] * (LONGEST + 1)


@given(st.text(alphabet=st.sampled_from("aT1_ .:$'\"`/*\\n\n()[]{}|-><=é\x00"), max_size=60))
def test_any_text_has_pieces_that_leave_out_nothing_but_blanks(text: str) -> None:
    end = 0
    for piece in pieces_of(text):
        assert not text[end : piece.start].strip()
        assert text[piece.start : piece.end] == piece.text
        end = piece.end
    assert not text[end:].strip()
    assert len(painted(text)) == len(text.split("\n"))
