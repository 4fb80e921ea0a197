"""Relationships are found in the direction in which they were said, and nothing is found where nothing surely is.

The tables beside this file (tests/phrases.py) have what a text tells on 20 August 2024: subject, kind, object; "not"
where it is said not to hold, "ended", ">2021" since when, "<2021" until when. Whoever has no name is "you/sister". What
stands there alone is more than nothing only where it is sure. All texts of nothing.txt tell nothing.
"""

import re
from datetime import date
from pathlib import Path

import pytest

from agent.relations.clauses import FoundRelation
from agent.relations.find import find_relations
from agent.relations.naming import End, Kin
from agent.relations.words import LANGUAGES, language
from graph.relations import kinds
from tests.phrases import Rows, rows, scored

SAID_AT = date(2024, 8, 20)
FLOORS = {"english.txt": 0.8, "others.txt": 0.28, "nothing.txt": 0.97}  # of the held-out tables


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


def in_order(tells: str) -> str:
    """A row's relationship as `written` has it; of a symmetric one whoever comes first in the alphabet is the first."""
    told = re.fullmatch(rf"(.+) ({'|'.join(kinds())}) (.+?)((?: not| ended| [<>]\S+)*)", tells)
    assert told is not None, tells
    subject, kind, object_, more = told.groups()
    if kinds()[kind].symmetric:
        subject, object_ = sorted((subject, object_))
    return f"{subject} {kind} {object_}{more}"


def table(path: Path) -> Rows[str]:
    return [(said, [in_order(each) for each in tells]) for said, tells in rows(path)]


@pytest.mark.parametrize(("name", "held_out"), FLOORS.items())
def test_what_is_told_is_found_and_nothing_else(name: str, held_out: float) -> None:
    def tells(said: str) -> list[str]:
        return [in_order(each) for each in found(said)]

    scored(Path(__file__).with_name(name), tells, 1, held_out, read=table)


def test_the_word_of_relationship_is_told_and_the_sentence_that_tells_it() -> None:
    (one,) = find_relations("Hello! My little sis Ada is here.", speaker="you", said_at=SAID_AT)
    assert (one.subject, one.word, one.object, one.sentence) == ("you", "sister", "Ada", "My little sis Ada is here.")


def test_whoever_speaks_is_named_as_the_caller_says() -> None:
    (one,) = find_relations("My boss is Carla.", speaker="Tom", said_at=SAID_AT)
    assert (one.subject, one.kind, one.object) == ("Carla", "manages", "Tom")


def test_fragments_are_read_without_harm() -> None:
    for text in ("", " ", "'s", "my", "My sister", "I", "?!", "Ada's", "my sister's", "\n\n", "w/", "a" * 9000):
        assert found(text) == [], text


@pytest.mark.parametrize("name", LANGUAGES)
def test_a_language_tells_only_of_kinds_that_there_are(name: str) -> None:
    words = language(name)
    phrases = [phrase for some in words.phrases.values() for phrase in some]
    told = {noun.kind for noun in words.nouns.values()} | {phrase.kind for phrase in phrases}
    assert told <= kinds().keys()
    assert all(set(phrase.words) for phrase in phrases)
