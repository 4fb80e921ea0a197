"""Questions in plain words: each becomes the ready query that it means, or is said to be none or not sure."""

import itertools
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.asking import shelf
from agent.asking.matching import COUNT
from agent.asking.readings import LONGEST, MOST_WORDS, NONE, STANDS, languages
from graph import relations
from graph.console import parameters
from graph.console.console import Answer
from graph.console.grammar import checked
from graph.events import SessionStarted
from graph.memory import Memory
from tests.agent.asking.asked import Asking, answers, as_told, lines, some
from tests.agent.asking.phrasings import FRESH_NAMES, phrasings, score
from tests.examples import histories, soaking
from tests.fakes import FakeEmbedder
from tests.graph.talk import said
from tests.tables import each

TODAY, FRESH = phrasings("phrasings.txt"), phrasings("fresh.txt")
EVERY_PHRASING = [example for language in languages() for example in language.phrasings]


def parameters_for(asking: Asking, question: str, *, sure: bool = True, **known: Any) -> Mapping[str, Any]:
    """What a question is understood to ask for."""
    found = asking.sure(question, **known) if sure else asking.put(question, **known)
    assert found is not None, question
    return found.parameters


def rows_for(memory: Memory, found: shelf.Translation | None) -> Answer:
    """What the memory says to a question that was understood."""
    assert found is not None
    return memory.console.run(found.cypher, parameters=found.parameters)


# -- which query is meant --------------------------------------------------------------------------------------------


@pytest.mark.soak  # those that nobody fitted show it
def test_the_phrasings_of_today_become_their_queries(by_meaning: Asking) -> None:
    score(by_meaning, TODAY, right=0.99, sure=0.98, wrong=1)


def test_nine_of_ten_phrasings_that_nobody_fitted_become_their_queries(by_meaning: Asking) -> None:
    score(by_meaning, FRESH, FRESH_NAMES, right=0.9, sure=0.6, wrong=2)


def test_without_an_embedder_most_are_understood_by_their_words_and_few_wrongly(by_words: Asking) -> None:
    score(by_words, TODAY, right=0.97, sure=0.89, wrong=2)


def test_there_are_enough_phrasings_and_in_every_language_examples_of_every_ready_query() -> None:
    asked = {kind for _, wanted in (*TODAY, *FRESH) for kind in wanted}
    assert len(TODAY) >= 60
    assert [wanted for _, wanted in TODAY].count([]) >= 20
    assert asked <= set(shelf.ready_queries())
    assert len(asked) >= 34
    for language in languages():
        assert set(language.examples) == {*shelf.ready_queries(), NONE}
        assert all(len(found) >= 3 for found in language.examples.values())


def test_an_example_has_the_subjects_that_its_query_asks_for() -> None:
    for example in EVERY_PHRASING:
        if example.query != NONE:
            cypher = shelf.fill(shelf.ready_queries()[example.query].filled(), shelf.PIECES)
            wanted = {name for name in ("what", "one", "other") if f"${name}" in cypher}
            wanted |= {"what"} if example.query == STANDS else set()
            mine = {shelf.ready_queries()[example.query].mine}
            asked = {"what" if slot == "name" else slot for slot in example.slots} - {"who"}
            assert asked in (wanted, wanted - mine), example


def test_every_example_is_understood_as_its_own_query(by_words: Asking) -> None:
    said_for = {"what": "zebras", "name": "Ben", "one": "Ben", "other": "Oslo", "who": "Cyd", "when": "in March"}
    for language in languages():
        of_language = list(language.examples.items())
        of_language += [(STANDS, (*told.who, *told.whom)) for told in language.relations.values()]
        for query, text in some([(query, text) for query, texts in of_language for text in texts]):
            found = by_words.matches(shelf.fill(text, said_for), ("Ben", "Oslo", "Cyd"))
            assert query in [match.example.query for match in found if match.score > 0.99], text


# -- vectors ---------------------------------------------------------------------------------------------------------


def test_examples_are_embedded_once_and_kept_for_the_next_start_in_a_file_that_may_be_damaged(tmp_path: Path) -> None:
    file = tmp_path / "phrasings.npz"
    first = Asking(FakeEmbedder(), file)
    matches = [first.matches("what changed"), first.matches("what changed")]
    assert first.vectors.embedded[0] == len(languages()[0].phrasings)
    assert max(first.vectors.embedded[1:]) == 1
    again = Asking(FakeEmbedder(), file)
    assert [again.matches("what changed")] == matches[1:]
    assert max(again.vectors.embedded) == 1
    other = Asking(FakeEmbedder(name="another"), file)
    other.matches("what changed")
    assert max(other.vectors.embedded) > 1
    for damage in (b"", b"PK", b"nonsense"):
        file.write_bytes(damage)
        assert Asking(FakeEmbedder(), file).matches("what changed")[0].example.query == "changed"
        assert file.stat().st_size > 1000, "it is made again"
    assert Asking(FakeEmbedder(), tmp_path / "missing" / "phrasings.npz").matches("what changed")


# -- what is asked for -----------------------------------------------------------------------------------------------


@pytest.mark.process
def test_every_translation_passes_the_first_wall_runs_and_is_of_one_world(told: Memory, by_words: Asking) -> None:
    by_query = dict[str, str]()

    def check(question: str) -> None:
        found = by_words.put(question)
        assert found is not None
        assert (found.question, found.model) == (question, "")
        assert found.words.endswith(".")
        assert "None" not in found.words
        assert "{" not in found.words
        checked(found.cypher)
        parameters.given(found.cypher, found.parameters)
        assert "$world" in found.cypher or ":Document" in found.cypher or ":Project" in found.cypher
        by_query.setdefault(found.ready, question)

    def run(question: str) -> None:
        rows = repr(rows_for(told, by_words.put(question)).rows)
        assert "secret" not in rows
        assert "What if" not in rows

    questions = [question for question, wanted in TODAY if wanted]
    each(questions, check)
    each(questions if soaking() else by_query.values(), run)


@pytest.mark.process
def test_a_question_is_answered_with_what_it_asks_for(told: Memory, by_words: Asking) -> None:
    def check(asked: tuple[str, list[Any]]) -> None:
        rows = [[as_told(value) for value in row] for row in rows_for(told, by_words.sure(asked[0])).rows]
        assert sorted(rows, key=repr) == sorted(asked[1], key=repr)

    each(answers("questions").items(), check)


def test_memories_are_found_by_whom_they_are_about_and_by_their_words(told: Memory, by_words: Asking) -> None:
    def check(asked: tuple[str, list[str]]) -> None:
        answer = rows_for(told, by_words.put(asked[0]))
        assert [row[answer.columns.index("memory")] for row in answer.rows] == asked[1]

    each(answers("memories").items(), check)


def test_a_time_and_whose_messages_count_are_told_in_words(by_words: Asking) -> None:
    def check(row: tuple[str, str]) -> None:
        found = by_words.put(row[0])
        assert found is not None
        assert row[1] in found.words

    each(answers("words").items(), check)


def test_a_time_is_a_range_of_the_wall_clock_of_here_and_now_is_seen_from_here(by_words: Asking) -> None:
    march = {"since": "2026-03-01T00:00:00+01:00", "until": "2026-04-01T00:00:00+02:00"}
    assert parameters_for(by_words, "Who did I mention most in March?") == march
    late = datetime(2026, 11, 22, 23, 30, tzinfo=UTC)
    today = parameters_for(by_words, "what changed today?", sure=False, now=late)
    assert today["since"] == "2026-11-23T00:00:00+01:00"


def test_a_time_that_a_query_has_no_place_for_is_not_left_out_and_can_be_somebodys_name(by_words: Asking) -> None:
    for question in ("how are Ben and Oslo connected in March?", "which documents do you have since Monday?"):
        assert by_words.sure(question) is None
        found = by_words.put(question)
        assert found is None or "since" in found.parameters
    found_of = parameters_for(by_words, "path between Friday and Ben", sure=False, names=("Friday", "Ben"))
    assert found_of == {"one": "Friday", "other": "Ben"}


def test_names_are_found_in_any_case_and_by_their_beginning_where_that_is_clear(by_words: Asking) -> None:
    assert parameters_for(by_words, "path between ANNA and oslo") == {"one": "Anna Berg", "other": "Oslo"}
    several = parameters_for(by_words, "path between Anna and Oslo", names=("Anna Berg", "Anna Beck", "Oslo"))
    assert several == {"one": "Anna", "other": "Oslo"}
    long = parameters_for(by_words, "what do you know about Dr. Jean-Luc van der Berg?")
    assert long == {"what": "Dr. Jean-Luc van der Berg"}
    quoted = parameters_for(by_words, "how often did I mention 'the last time'?")
    assert quoted == {"what": "the last time"}, "of words that questions are made of"
    for nobody in ("path between integral and gradient", "who is the zookeeper"):
        assert by_words.put(nobody) is None


def test_who_spoke_is_asked_of_those_who_speak_alone(by_words: Asking) -> None:
    assert by_words.sure("what did Ben say about boats?") is None
    asked = parameters_for(by_words, "what did ben say about boats?", speakers=("Ben",))
    assert asked == {"what": "boats", "who": "Ben"}


STRANGE = ("Zoë Ülrich", "李雷", "C++", "O'Brien", "100%", "(x)", "$world", "a.b", "[z]", "Æsir-Öl", "😀 cat")


@pytest.mark.process
def test_names_in_other_scripts_and_with_signs_are_found_as_they_are(whole: Memory, by_words: Asking) -> None:
    whole.append(
        SessionStarted(session="s", client="test"),
        *(said(f"s{at}", parent=f"s{at - 1}" if at else None, text=f"Today: {name.upper()}, again.")
          for at, name in enumerate(STRANGE)),
    )  # fmt: skip
    for name in STRANGE:
        question = f'how often did I mention "{name}"?'
        assert parameters_for(by_words, question) == {"what": name}
        assert rows_for(whole, by_words.sure(question)).rows[0][0] == 1, name


def test_no_word_of_a_question_is_part_of_a_statement(told: Memory, by_words: Asking) -> None:
    understood = [found for question in lines("hostile.txt") if (found := by_words.put(question)) is not None]
    assert understood
    for found in understood:
        checked(found.cypher)
        for word in ("DELETE", "SET ", "COPY", "CALL", "LOAD", "passwd"):
            assert word not in found.cypher
        rows_for(told, found)


def unlimited(cypher: str) -> str:
    """A statement without the number of rows, which may be asked for."""
    return re.sub(r"LIMIT \d*$", "LIMIT", cypher)


def statements() -> set[str]:
    """All statements that there can be, whatever is asked."""
    kinds = [shelf.of_entities(kind) for kind in languages()[0].entities]
    speakers = [shelf.of_speaker("you"), shelf.of_speaker("assistant"), "", " AND lower(t.speaker) = lower($who)"]
    bounds = (("since", ">="), ("until", "<"))
    edges = [shelf.of_relationship("", "", over=None)]
    for kind, over in itertools.product(relations.kinds(), (False, True)):
        edges += [shelf.of_relationship(kind, "who", over=over), shelf.of_relationship(kind, "whom", over=over)]
    return {
        unlimited(query.filled(by=by, entities=kind, related=edge, time=shelf.of_time(query.time, *bounds[first:last])))
        for query in shelf.ready_queries().values()
        for by, kind, first, last in itertools.product(speakers, kinds, (0, 1), (0, 1, 2))
        for edge in (edges if query.id == STANDS else ("",))
    }


STATEMENTS = statements()
FORMS = ["what do you know about {}", "how often did I mention {}?", "path between {} and Ben", "who is {}", "{}"]


@histories(200)
@given(form=st.sampled_from(FORMS), words=st.text(max_size=80))
def test_whatever_is_asked_the_statement_is_one_that_was_there_before(by_words: Asking, form: str, words: str) -> None:
    found = by_words.put(form.format(words))
    if found is not None:
        assert unlimited(found.cypher) in STATEMENTS
        texts = [value for name, value in found.parameters.items() if name in ("what", "one", "other", "who")]
        assert all(len(text.split()) <= MOST_WORDS for text in texts)


def test_a_very_long_question_is_none(by_words: Asking) -> None:
    many = " ".join(f"zebra{number}" for number in range(MOST_WORDS + 1))
    for question in (
        *(f"what do you know about {what}" for what in ("x" * LONGEST, many)),
        "what do you know " * 10_000,
    ):
        assert by_words.put(question) is None


def test_as_many_messages_are_shown_as_are_asked_for(by_words: Asking) -> None:
    questions = {"show me my last 5 messages": 5, "my last 9999 messages": 500, "newest messages": COUNT}
    for question, count in questions.items():
        found = by_words.put(question)
        assert found is not None
        assert found.cypher.endswith(f"LIMIT {count}")


@pytest.mark.process
def test_what_is_asked_of_several_is_looked_for_as_one_too(told: Memory) -> None:
    ones = {
        "boats": "boat", "big boats": "big boat", "cities": "city", "boxes": "box", "glasses": "glass", "cows": "cow",
        "boat": "boat", "news": "news", "bus": "bus", "glass": "glass", "this": "this", "paris": "paris", "tea": "tea",
    }  # fmt: skip
    asked = told.console.run(
        f"UNWIND $words AS wanted RETURN wanted, {shelf._one('wanted')}", parameters={"words": list(ones)}
    )
    assert dict(asked.rows) == ones
