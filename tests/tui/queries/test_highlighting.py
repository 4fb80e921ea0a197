"""The pieces of a query, however unfinished: what they are, where they end, and that any text has some."""

from hypothesis import given
from hypothesis import strategies as st

from tui.queries.highlighting import TokenKind, pieces_of, spans_by_line

QUERY = """MATCH (t:Turn {role: 'us
er'})-[r:IN|SAID_BY]->(s) // a note: 'no string'
WHERE t.text CONTAINS $w AND count(t) > 1.5
RETURN count(*), t.`a b` SET x /* both
lines */ 'open"""


def told(text: str) -> list[tuple[str, str]]:
    return [(piece.kind.value, text[piece.start : piece.end]) for piece in pieces_of(text)]


def test_every_word_is_what_it_is_to_the_engine() -> None:
    found = told(QUERY)
    for piece in (
        ("keyword", "MATCH"),
        ("table", "Turn"),
        ("property", "role"),
        ("string", "'us\ner'"),
        ("table", "IN"),
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


def test_a_piece_of_several_lines_is_told_on_each() -> None:
    spans = spans_by_line("RETURN 'a\n\nbc' AS x")
    assert (7, 9, TokenKind.STRING) in spans[0]
    assert (0, 0, TokenKind.STRING) in spans[1]
    assert (0, 3, TokenKind.STRING) in spans[2]
    assert (4, 6, TokenKind.KEYWORD) in spans[2]


@given(st.text(alphabet=st.sampled_from("aT1_ .:$'\"`/*\\n\n()[]{}|-><=é\x00"), max_size=60))
def test_any_text_has_pieces_that_do_not_overlap(text: str) -> None:
    end = 0
    for piece in pieces_of(text):
        assert end <= piece.start < piece.end <= len(text)
        end = piece.end
    lines = text.split("\n")
    for line, spans in spans_by_line(text).items():
        assert all(0 <= start <= stop <= len(lines[line]) for start, stop, _ in spans)
