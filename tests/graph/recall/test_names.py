"""Names are found whole: among lines that have the lower-case word, or its stem, the first is about the person.

`names.txt`: 2,000 first names, and surnames, of English, German, French, Spanish and Italian.
"""

from datetime import UTC, datetime
from pathlib import Path
from unicodedata import normalize

import pytest

from graph.events import Event
from graph.log.byte_search import forms_of, look_into
from graph.memory import Memory
from graph.recall.naming import NameIndex
from graph.values import Entity
from graph.whole_words import STOP_WORDS, _stems, becomes_stop_word, fold, indexed, names_in
from tests.graph.conftest import bad, ignore
from tests.graph.deeds import begin, delete
from tests.graph.talk import said
from tests.tables import each

NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)
FIRST, LAST = (Path(__file__).parent / "names.txt").read_text().split("\n\n")
NAMES = (*FIRST.split(), *LAST.split())
TELLING = ("{} lives in Hamburg.", "My neighbour is called {}.", "I met {} at the station.")


def stem(word: str) -> str:
    return _stems().of(word) if word.isascii() else word


def lines(place: int, name: str) -> list[str]:
    """Three that only have the word or its stem, around one about a person."""
    low = name.lower()
    others = [f"we had {low} with it", f"they {stem(fold(name))} again and again", f"nobody has any {low}s there"]
    return [*others[: 1 + place % 2], TELLING[place % 3].format(name), *others[place % 4 :]]


def first(memory: Memory, question: str) -> str | None:
    """The first hit of a question."""
    return next((hit.id for hit in memory.recall.search(question, now=NOW, timezone=UTC)), None)


@pytest.fixture
def named(memory: Memory) -> Memory:
    """A chat of those lines for each name; the line about a person is `n` with the place of the name."""
    said_so: list[Event] = [begin("s")]
    before = None
    for place, name in enumerate(NAMES):
        for number, text in enumerate(lines(place, name)):
            id = f"n{place}" if number == 1 + place % 2 else f"n{place}.{number}"
            said_so.append(said(id, parent=before, text=text))
            before = id
    memory.append(*said_so)
    return memory


def test_each_of_2000_first_names_and_300_surnames_is_found_whole(named: Memory) -> None:
    assert (len(FIRST.split()), len(LAST.split())) == (2_000, 300)

    def is_first(row: tuple[int, str]) -> None:
        place, name = row
        assert first(named, f"Who is {name}?") == f"n{place}"
        assert named.readings.search(f"{name} ")[0].turn.id == f"n{place}"
        assert [turn.id for turn in named.readings.about(name, limit=9).turns] == [f"n{place}"]

    each(tuple(enumerate(NAMES)), is_first)


def test_the_names_of_others_are_no_stems(memory: Memory) -> None:
    memory.append(begin("s"), said("in", text="In the morning we go in."), said("ore", parent="in", text="or not"))
    for asked in ("Who is Ines?", "who is ines", "Wes", "Ore?"):
        assert first(memory, asked) is None
        assert memory.readings.about(asked.strip("?").split()[-1], limit=9).turns == ()
    assert memory.readings.search("Ines ") == []
    memory.append(said("low", parent="ore", text="ines is my sister"), said("rose", parent="low", text="a rose"))
    assert first(memory, "Who is Ines?") == "low"
    assert [found.turn.id for found in memory.readings.search("Ine")] == ["low"]
    assert [found.turn.id for found in memory.readings.search("ines")] == ["low"]
    assert first(memory, "Where is Rose?") == "rose", "where nobody is written as a name"


NO_NAMES = (
    "Will you come in May?",
    "May I ask what will happen on May 5?",
    "Don't. What will it be since last May",
    "on 5 June, in April, at the end of next August",
    "It WILL NOT do",
    "I, A and So it is",
)
WITH_NAMES = (
    ("What did Will say?", ["will"]),
    ("Will lives with May.", ["will", "may"]),
    ("I wrote to June and to April", ["june", "april"]),
    ("I gave it to May. Will?", ["may", "will"]),
)


def test_a_month_and_a_verb_are_nobody() -> None:
    def has(row: tuple[str, list[str]]) -> None:
        assert names_in(row[0]) == row[1]

    index = NameIndex()
    index.take([Entity(name.lower(), name, "person") for name in ("Will", "May", "June", "April", "August", "Don")])

    def brings_nobody(text: str) -> None:
        assert names_in(text.lstrip("ISo")) == []
        assert index.seeds(text, ()) == []

    each(WITH_NAMES, has)
    each(NO_NAMES[:-1], brings_nobody)
    assert [seed.entity for seed in index.seeds("Does Will know May?", ())] == ["will", "may"]


def test_sharp_s_wide_letters_and_apostrophes_fold(memory: Memory) -> None:
    memory.append(
        begin("s"),
        said("street", text="I live in Maßweg, a quiet straße"),
        said("wide", parent="street", text="ｐｙｔｈｏｎ３ is what I write"),
        said("brien", parent="wide", text="O’Brien’s boat is blue"),
    )
    for asked, wanted in (
        *(("massweg", "street"), ("STRASSE", "street"), ("Straße", "street"), ("python3", "wide")),
        *(("O'Brien's boat", "brien"), ("o’brien", "brien")),
    ):
        assert first(memory, asked) == wanted, asked
        assert [found.turn.id for found in memory.readings.search(asked)] == [wanted], asked


def test_a_snippet_is_of_the_text_however_many_names_it_has(memory: Memory) -> None:
    text = "The dog and the cat. " + " ".join(f"The Word{chr(65 + place)} is here." for place in range(26))
    memory.append(begin("s"), said("a", text=text))
    for asked in ("WordZ", "wordz", "WordZ ", "dog WordY"):
        snippet = memory.readings.search(asked)[0].snippet
        assert "".join(piece.text for piece in snippet).strip("…") in text, asked
        assert any(piece.matched for piece in snippet)


def test_names_in_decomposed_letters_are_found(memory: Memory) -> None:
    memory.append(begin("s"), said("a", text=normalize("NFD", "Inés met Renée in Évora")), said("b", parent="a"))
    for asked in ("Inés", "Ines", "Renée", "Renee", normalize("NFD", "Évora")):
        assert first(memory, f"Who is {asked}?") == "a", asked
        assert memory.readings.search(f"{asked} ")[0].turn.id == "a", asked
        assert [turn.id for turn in memory.readings.about(asked, limit=9).turns] == ["a"], asked


def test_small_letters_are_found_behind_the_capital(memory: Memory) -> None:
    texts = {"a": "Passport control was slow", "b": "my passport is in the drawer", "c": "passports are blue"}
    before = [None, *texts]
    memory.append(
        begin("s"), *(said(id, text=texts[id], parent=parent) for id, parent in zip(texts, before, strict=False))
    )
    assert [found.turn.id for found in memory.readings.search("Passport ")] == ["a", "b"]
    assert {hit.id for hit in memory.recall.search("WHERE IS MY PASSPORT", now=NOW, timezone=UTC)} >= {"a", "b"}


def test_a_name_that_is_erased_leaves_the_index_whole_too(memory: Memory, folder: Path) -> None:
    memory.append(begin("s"), said("a", text="Ines lives in Porto."), said("b", parent="a", text="In we go."))
    assert look_into(folder / "log.sqlite", forms_of(["Ines"], least=1)) == {"Ines"}
    memory.append(delete("a"))
    memory.purge.run(ignore)
    assert look_into(folder / "log.sqlite", forms_of(["Ines"], least=1)) == set()
    assert bad(memory) == []


def test_what_the_index_has_beside_a_text_belongs_to_the_logs_version() -> None:
    """Who changes this changes what an erasure takes out of the indexes of logs that are there: see `whole_words`."""
    assert indexed("Will Ines pay the Straße in May? I will, says wes to Don and May.") == (
        "Will Ines pay the Straße in May? I will, says wes to Don and May.\uffff"
        "\ue077\ue069\ue06c\ue06c \ue069\ue06e\ue065\ue073 \ue073\ue074\ue072\ue061\ue073\ue073\ue065 strasse "
        "\ue173\ue161\ue179\ue173 \ue177\ue165\ue173 \ue064\ue06f\ue06e \ue06d\ue061\ue079"
    )
    assert len(STOP_WORDS.split()) == 155
    assert [word for word in ("ines", "wes", "ames", "ore", "being", "rose") if becomes_stop_word(word)] == [
        *("ines", "wes", "ames", "ore"),
    ]
