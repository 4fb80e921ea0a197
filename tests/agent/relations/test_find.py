"""Relationships are found in the direction in which they were said, and nothing is found where nothing surely is.

The tables beside this file have a text a line, and after the last " =" what it tells, of 20 August 2024: subject, kind,
object; "not" where it is said not to hold, "ended", ">2021" since when, "<2021" until when. Whoever has no name is
"you/sister". What stands there alone is more than nothing only where it is sure.
"""

from datetime import date
from pathlib import Path

import pytest

from agent.relations.clauses import FoundRelation
from agent.relations.find import find_relations
from agent.relations.naming import End, Kin
from agent.relations.words import LANGUAGES, language
from graph.relations import kinds

SAID_AT = date(2024, 8, 20)


def found(text: str) -> list[str]:
    """What is found in a text, written as in the tables."""
    return [written(each) for each in find_relations(text, speaker="you", said_at=SAID_AT)]


def written(each: FoundRelation) -> str:
    words = [end(each.subject), each.kind, end(each.object)]
    words += ["" if each.polarity else "not", "ended" if each.ended else ""]
    words += [f">{each.since}" if each.since else "", f"<{each.until}" if each.until else ""]
    return " ".join(word for word in words if word)


def end(which: End) -> str:
    return f"{which.owner}/{which.word}" if isinstance(which, Kin) else which


def lines(name: str) -> list[str]:
    return Path(__file__).with_name(name).read_text(encoding="utf-8").splitlines()


def table(name: str) -> list[tuple[str, list[str]]]:
    rows = [line.rpartition(" =") for line in lines(name)]
    return [(said, [each.strip() for each in tells.split(";") if each.strip()]) for said, _, tells in rows]


@pytest.mark.parametrize(("said", "tells"), [*table("english.txt"), *table("others.txt")])
def test_what_is_told_is_found_and_nothing_else(said: str, tells: list[str]) -> None:
    assert sorted(found(said)) == sorted(tells)


@pytest.mark.parametrize("said", lines("nothing.txt"))
def test_nothing_is_found_where_nothing_is_surely_told(said: str) -> None:
    assert found(said.replace("\\n", "\n")) == []


def test_the_word_of_relationship_is_told_and_the_sentence_that_tells_it() -> None:
    (one,) = find_relations("Hello! My little sis Ada is here.", speaker="you", said_at=SAID_AT)
    assert (one.subject, one.word, one.object, one.sentence) == ("you", "sister", "Ada", "My little sis Ada is here.")


def test_whoever_speaks_is_named_as_the_caller_says() -> None:
    (one,) = find_relations("My boss is Carla.", speaker="Tom", said_at=SAID_AT)
    assert (one.subject, one.kind, one.object) == ("Carla", "manages", "Tom")


@pytest.mark.parametrize(
    "text", ["", " ", "'s", "my", "My sister", "I", "?!", "Ada's", "my sister's", "\n\n", "w/", "a" * 9000]
)
def test_fragments_are_read_without_harm(text: str) -> None:
    assert found(text) == []


@pytest.mark.parametrize("name", LANGUAGES)
def test_a_language_tells_only_of_kinds_that_there_are(name: str) -> None:
    words = language(name)
    told = {noun.kind for noun in words.nouns.values()} | {
        each.kind for some in words.phrases.values() for each in some
    }
    assert told <= kinds().keys()
    assert all(set(phrase.words) for some in words.phrases.values() for phrase in some)
