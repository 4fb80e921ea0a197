"""The terms of a question: which are kept, what they find, and that what is kept of them never goes stale."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from graph.memory import Memory
from graph.recall import lexical
from graph.recall.columns import Columns
from graph.recall.evidence import Term
from graph.recall.lexical import Words
from tests.examples import examples
from tests.graph.deeds import delete
from tests.graph.talk import said, talk


@pytest.fixture
def words(memory: Memory, folder: Path) -> Iterator[Words]:
    """The word index of the memory."""
    words = Words(folder / "log.sqlite")
    yield words
    words.close()


def columns_of(memory: Memory) -> Columns:
    columns = Columns()
    with memory.readings.snapshot() as db:
        columns.refresh(db, memory.head())
    return columns


def terms(memory: Memory, words: Words, query: str, *, without: tuple[str, ...] = ()) -> list[Term]:
    with words.snapshot() as db:
        return words.terms(db, query, columns_of(memory), without=without)


def stems(found: list[Term]) -> list[str]:
    return [term.stem for term in found]


def say(memory: Memory, *texts: str) -> None:
    """Turns with these texts, after what was said before."""
    start = memory.readings.counts()["turns"]
    for number, text in enumerate(texts, start):
        memory.append(said(f"x{number}", parent=f"x{number - 1}" if number > 1 else "s0", text=text))


def test_terms_are_stems_without_stop_words_and_names_the_rarest_eight_first(memory: Memory, words: Words) -> None:
    talk(memory, 1)
    say(memory, "boats and boats", "a boat sails", "lighthouses", "Anna paints", "Café olé")
    found = terms(memory, words, "What did Anna say about the sailing boats and lighthouse?", without=("Anna",))
    assert stems(found) == ["lighthous", "sail", "boat"]
    assert [term.rows.tolist() for term in found] == [[3], [2], [1, 2]]
    assert stems(terms(memory, words, "cafés ｃａｆé cafe café!")) == ["cafe"], "once, however it is written"
    names = [f"w{chr(97 + number)}q" for number in range(12)]
    say(memory, *(" ".join(names[number:]) for number in range(12)))
    assert stems(terms(memory, words, " ".join(names))) == names[:8]


def test_common_words_are_asked_only_if_alone(memory: Memory, words: Words, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lexical, "FEW", 2)
    talk(memory, 1)
    say(memory, *["rain again"] * 6, "rainbow rain")
    assert stems(terms(memory, words, "rain rainbow")) == ["rainbow"]
    assert stems(terms(memory, words, "rain")) == ["rain"]


def test_postings_grow_with_the_log_and_shrink_with_an_erasure(memory: Memory, words: Words) -> None:
    talk(memory, 1)
    say(memory, "a heron")
    for number in range(2, 6):
        assert len(terms(memory, words, "heron")[0].rows) == number - 1
        say(memory, "another heron")
    memory.append(delete("x1"), said("x9", parent="x5", text="no such bird"))
    assert terms(memory, words, "heron")[0].rows.tolist() == [2, 3, 4, 5]


def test_no_more_postings_are_kept_than_allowed(memory: Memory, words: Words, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lexical, "KEPT", 3)
    talk(memory, 1)
    say(memory, "heron stork", "heron stork", "stork")
    assert [len(terms(memory, words, query)[0].rows) for query in ("heron", "stork", "heron")] == [2, 3, 2]
    assert sum(len(kept.rows) for kept in words.of_turns._kept.values() if kept.rows is not None) <= 3


@examples(60, excused=[HealthCheck.function_scoped_fixture])
@given(st.text(max_size=300))
def test_whatever_is_typed_is_no_query_syntax(memory: Memory, words: Words, typed: str) -> None:
    if not memory.readings.counts()["turns"]:
        talk(memory, 2)
    assert all(len(term.rows) for term in terms(memory, words, typed))


def test_the_own_words_of_any_turn_find_it(memory: Memory, words: Words) -> None:
    talk(memory, 1)
    texts = ["naïve Straße", "Ærøskøbing", "привет мир", "12345 0.11.3", "don't", "foo_bar", "東京", "สวัสดี"]
    say(memory, *texts)
    for row, text in enumerate(texts, 1):
        if text != "don't":  # is made of stop words
            assert any(row in term.rows for term in terms(memory, words, text)), text
