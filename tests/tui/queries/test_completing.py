"""A query while it is written: what is offered where the cursor stands, and what its pieces are."""

from hypothesis import given
from hypothesis import strategies as st

from graph.console.grammar import checked
from graph.console.lexing import LONGEST
from graph.projection.schema import NODES, RELS
from tests.tables import each
from tui.queries.completing import TokenKind, at_first, lines_in_colours, offer_at, pieces_of, tables_of

KNOWN = at_first()


def offered(text: str, *, asked: bool = False) -> list[str]:
    """What is offered at the mark of a text."""
    before, _, behind = text.partition("¦")
    return [choice.insert for choice in offer_at(before + behind, len(before), KNOWN, asked=asked).choices]


WHOLE: tuple[tuple[str, list[str]], ...] = (
    ("MATCH (t:Tu¦", ["Turn"]),
    ("MATCH (t : obs¦", ["Observation"]),
    ("MATCH (t:Turn¦)", []),  # it is whole
    ("MATCH (t)-[r:DERIVED_FROM|supp¦]->()", ["SUPPORTED_BY"]),
    ("MATCH (t:Turn)-[r:RECALLED]->(o:Observation) RETURN r.¦", ["strategy", "rank", "score"]),
    ("MATCH (s:Session) RETURN s.sta¦", ["started_at"]),
    ("MATCH (t:Turn {ro¦", ["role: "]),
    ("MATCH (collected:Turn) WITH collected AS colour RETURN col¦", ["collected", "colour", "collect("]),
    ("MATCH (t) RETURN cou¦", ["COUNT", "count("]),
    ("MATCH (t) R¦", []),  # one letter, unless asked
    ("MATCH (t) WHERE t.text = $word AND t.world = $¦", ["world", "word"]),
)


def test_what_fits_is_offered_variables_first_then_words_then_functions() -> None:
    def check(row: tuple[str, list[str]]) -> None:
        assert offered(row[0]) == row[1]

    each(WHOLE, check)
    assert offered("MAT¦")[:1] == ["MATCH"]
    assert "RETURN" in offered("MATCH (t) R¦", asked=True)
    assert "MATCH" in offered("¦", asked=True)


def test_tables_relationships_and_properties_come_where_they_are_written() -> None:
    assert set(offered("MATCH (t:¦")) == {table.name for table in NODES}
    assert set(offered("MATCH (t)-[:¦")) == {table.name for table in RELS}
    assert "IN_SESSION" in offered("MATCH ()-[:I¦")
    assert {"significance", "position"} <= set(offered("RETURN z.¦")), "of any table where it is not known"
    assert "pinned: " in offered("MATCH (t:Turn {role: 'user', p¦")
    for text in ("RETURN 'MAT¦", 'RETURN "t:¦"', "// MATCH (t:¦", "/* t.¦ */ RETURN 1"):
        assert offered(text, asked=True) == [], "strings and comments"


def test_hints_the_tables_of_a_variable_and_that_every_table_can_be_asked_for() -> None:
    found = next(one for one in offer_at("levensh", 7, KNOWN).choices if one.kind is TokenKind.FUNCTION)
    assert found.insert == "levenshtein("
    assert found.label.startswith("levenshtein(")
    assert found.about
    assert tables_of("MATCH (a:Turn)-[r:IN_SESSION|SAID_BY]->() MATCH (a:Chunk)", "a") == ["Turn", "Chunk"]
    assert tables_of("MATCH ()-[r:IN_SESSION|SAID_BY]->()", "r") == ["IN_SESSION", "SAID_BY"]
    for node in NODES:
        checked(f"MATCH (x:{node.name}) RETURN x.{node.names[-1]}")
    for rel in RELS:
        checked(f"MATCH ()-[x:{rel.name}]->() RETURN x")


@given(st.text(alphabet=st.sampled_from("MATCH tu:.|$'`(){}[],\n"), max_size=40), st.integers(0, 40), st.booleans())
def test_any_place_of_any_text_is_answered(text: str, place: int, asked: bool) -> None:
    place = min(place, len(text))
    found = offer_at(text, place, KNOWN, asked=asked)
    assert not found.choices or 0 <= found.start <= place


# The pieces of a query, however unfinished: what they are, where they end, and that any text has some

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
    assert set(told(QUERY)) >= {
        ("keyword", "MATCH"), ("table", "Turn"), ("property", "role"), ("string", "'us\ner'"), ("table", "IN_SESSION"),
        ("table", "SAID_BY"), ("comment", "// a note: 'no string'"), ("property", "text"), ("parameter", "$w"),
        ("function", "count"), ("number", "1.5"), ("property", "`a b`"), ("refused", "SET"),
        ("comment", "/* both\nlines */"), ("string", "'open"),
    }  # fmt: skip
    assert ("keyword", "IN") not in told(QUERY)


def test_what_does_not_end_is_open_and_a_string_may_have_an_escape_that_no_query_has() -> None:
    assert [piece.open for piece in pieces_of("'a' 'b")] == [False, True]
    assert [piece.open for piece in pieces_of("/* a */ /* b")] == [False, True]
    assert told(r"'a\q' b") == [("string", r"'a\q'"), ("name", "b")]


def test_a_piece_of_several_lines_is_coloured_on_each() -> None:
    assert painted("RETURN 'a\n\nbc' AS x") == [
        [("keyword", "RETURN"), ("string", "'a")],
        [],
        [("string", "bc'"), ("keyword", "AS"), ("name", "x")],
    ]
    assert painted("MATCH\n" * LONGEST) == [[]] * (LONGEST + 1), "longer than any query: lines without colours"


@given(st.text(alphabet=st.sampled_from("aT1_ .:$'\"`/*\\n\n()[]{}|-><=é\x00"), max_size=60))
def test_any_text_has_pieces_that_leave_out_nothing_but_blanks(text: str) -> None:
    end = 0
    for piece in pieces_of(text):
        assert not text[end : piece.start].strip()
        assert text[piece.start : piece.end] == piece.text
        end = piece.end
    assert not text[end:].strip()
    assert len(painted(text)) == len(text.split("\n"))
