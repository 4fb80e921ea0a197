"""What is offered where the cursor stands: what fits there, the likeliest first, and nothing in words of a person."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.console.grammar import checked
from graph.projection.schema import NODES, RELS
from tui.queries.completing import Suggestions, TokenKind, at_first, offer_at, tables_of

KNOWN = at_first()


def offered(text: str, *, asked: bool = False) -> list[str]:
    """What is offered at the mark `|` of a text."""
    place = text.index("¦")
    return [each.insert for each in offer(text, place, asked=asked).choices]


def offer(text: str, place: int, *, asked: bool = False) -> Suggestions:
    return offer_at(text.replace("¦", ""), place, KNOWN, asked=asked)


def test_after_a_colon_in_round_brackets_come_the_tables_of_nodes() -> None:
    assert set(offered("MATCH (t:¦")) == {each.name for each in NODES}
    assert offered("MATCH (t:Tu¦)") == ["Turn"]
    assert offered("MATCH (t : obs¦") == ["Observation"]


def test_after_a_colon_in_square_brackets_come_the_relationships() -> None:
    assert set(offered("MATCH (t)-[:¦")) == {each.name for each in RELS}
    assert offered("MATCH (t)-[r:DERIVED_FROM|supp¦]->()") == ["SUPPORTED_BY"]
    assert "IN_SESSION" in offered("MATCH ()-[:I¦")


def test_after_a_dot_come_the_properties_of_the_tables_of_the_variable() -> None:
    assert offered("MATCH (t:Turn)-[r:RECALLED]->(o:Observation) RETURN r.¦") == ["strategy", "rank", "score"]
    assert offered("MATCH (s:Session) RETURN s.sta¦") == ["started_at"]
    assert {"significance", "position"} <= set(offered("RETURN z.¦")), "of any table where it is not known"


def test_the_keys_of_a_map_are_the_properties_of_its_table() -> None:
    assert offered("MATCH (t:Turn {ro¦") == ["role: "]
    assert "pinned: " in offered("MATCH (t:Turn {role: 'user', p¦")


def test_a_word_is_completed_with_variables_first_then_words_then_functions() -> None:
    text = "MATCH (collected:Turn) WITH collected AS colour RETURN col¦"
    assert offered(text) == ["collected", "colour", "collect("]
    assert offered("MAT¦")[:1] == ["MATCH"]
    assert offered("MATCH (t) RETURN cou¦") == ["COUNT", "count("]


def test_one_letter_is_offered_nothing_unless_asked() -> None:
    assert offered("MATCH (t) R¦") == []
    assert "RETURN" in offered("MATCH (t) R¦", asked=True)
    assert "MATCH" in offered("¦", asked=True)


def test_parameters_are_those_that_are_written_elsewhere() -> None:
    assert offered("MATCH (t) WHERE t.text = $word AND t.world = $¦") == ["world", "word"]


@pytest.mark.parametrize("text", ["RETURN 'MAT¦", 'RETURN "t:¦"', "// MATCH (t:¦", "/* t.¦ */ RETURN 1"])
def test_nothing_is_offered_in_strings_and_comments(text: str) -> None:
    assert offered(text, asked=True) == []


def test_nothing_is_offered_for_a_word_that_is_whole() -> None:
    assert offered("MATCH (t:Turn¦)") == []


def test_a_hint_says_how_a_function_is_called() -> None:
    found = next(each for each in offer_at("levensh", 7, KNOWN).choices if each.kind is TokenKind.FUNCTION)
    assert found.insert == "levenshtein("
    assert found.label.startswith("levenshtein(")
    assert found.about


def test_the_tables_of_a_variable_are_read_anywhere_in_the_text() -> None:
    assert tables_of("MATCH (a:Turn)-[r:IN_SESSION|SAID_BY]->() MATCH (a:Chunk)", "a") == ["Turn", "Chunk"]
    assert tables_of("MATCH ()-[r:IN_SESSION|SAID_BY]->()", "r") == ["IN_SESSION", "SAID_BY"]


def test_every_table_that_is_offered_can_be_asked_for() -> None:
    for each in NODES:
        checked(f"MATCH (x:{each.name}) RETURN x.{each.names[-1]}")
    for rel in RELS:
        checked(f"MATCH ()-[x:{rel.name}]->() RETURN x")


@given(st.text(alphabet=st.sampled_from("MATCH tu:.|$'`(){}[],\n"), max_size=40), st.integers(0, 40), st.booleans())
def test_any_place_of_any_text_is_answered(text: str, place: int, asked: bool) -> None:
    place = min(place, len(text))
    found = offer_at(text, place, KNOWN, asked=asked)
    assert not found.choices or 0 <= found.start <= place
