"""What lasts is told from what does not, by words alone here; with the default embedder it is surer (test_heads)."""

from hypothesis import given
from hypothesis import strategies as st

from agent.reflection.statements import MOST, told
from tests.agent.scored import score, tables

from .told import no_vectors

TABLES = tables(__file__)


async def texts(text: str) -> list[str]:
    return [each.text for each in (await told(text, no_vectors)).statements]


async def test_what_lasts_is_kept_word_for_word_and_the_rest_and_what_is_not_ones_own_leaves_nothing() -> None:
    kept = {text: await texts(text) for text in (*TABLES["lasting"], *TABLES["passing"])}
    score(TABLES["lasting"], lambda text: kept[text] == [text])
    score(TABLES["passing"], lambda text: kept[text] == [])


async def test_what_begins_with_a_pronoun_has_the_sentence_before_it() -> None:
    (kept,) = await texts("I am going to Iceland with my sister Bruna. She lives in Porto and works as a nurse.")
    assert "Bruna" in kept
    assert "Porto" in kept


async def test_a_turn_matters_as_much_as_what_it_tells() -> None:
    assert (await told("ok thanks!", no_vectors)).significance == 0
    assert (await told("I live in Oslo.", no_vectors)).significance >= 1


@given(st.text(max_size=300))
async def test_of_any_text_they_are_short_and_stand_in_it(text: str) -> None:
    found = await told(text, no_vectors)
    assert all(each.text in text and len(each.text.split()) <= MOST for each in found.statements)
    assert found.significance in range(4)
