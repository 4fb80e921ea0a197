"""Later turns that say words of others are found by a run of words in common, and no others."""

from graph.history.reach import MOST_RUNS, quoting, runs
from graph.memory import Memory
from tests.graph.deeds import begin
from tests.graph.talk import said

TEXT = "The harbour master keeps seven grey cats in Kristiansund-Nordlandet."


def found(memory: Memory, text: str, *, but: tuple[str, ...] = (), erased: tuple[int, ...] = ()) -> list[str]:
    with memory.readings.snapshot() as db:
        return [turn.id for turn in quoting(db, [(2, text)], but=but, erased=erased)]


def told(memory: Memory, *texts: str) -> None:
    memory.append(begin("s"))
    for number, text in enumerate(texts):
        parent = f"t{number - 1}" if number else None
        memory.append(said(f"t{number}", parent=parent, text=text))


def test_four_words_or_twenty_characters_in_common_are_a_quote_whatever_their_case(memory: Memory) -> None:
    told(
        memory,
        TEXT,
        "He KEEPS seven, grey cats!",
        "Have you been to kristiansund nordlandet?",
        "Seven grey dogs of the harbour.",
        "He keeps seven gray cats.",
    )
    assert found(memory, TEXT) == ["t1", "t2"]


def test_what_was_said_before_what_goes_too_and_what_is_erased_is_no_quote(memory: Memory) -> None:
    told(memory, TEXT, TEXT, TEXT, TEXT)
    assert found(memory, TEXT) == ["t1", "t2", "t3"]
    assert found(memory, TEXT, but=("t1",), erased=(4,)) == ["t3"]
    with memory.readings.snapshot() as db:
        assert [turn.id for turn in quoting(db, [(4, TEXT)], but=(), erased=())] == ["t3"]


def test_the_commonest_words_alone_are_nobodys_quote_and_a_sentence_of_a_very_long_text_is_one(memory: Memory) -> None:
    words = [f"word{number}" for number in range(10 * MOST_RUNS)]
    said_often = "What do you have in there?"
    told(memory, " ".join(words), f"So {said_often.lower()}", " ".join(words[1200:1230]), "something else")
    assert found(memory, said_often) == []
    assert list(runs(said_often)) == []
    assert found(memory, " ".join(words)) == ["t2"]
