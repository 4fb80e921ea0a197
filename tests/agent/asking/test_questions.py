"""Questions in plain words: each becomes the ready query that it means, or is said to be none or not sure."""

import itertools
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.asking.matching import COUNT
from agent.asking.readings import LONGEST, MOST_WORDS, NONE, STANDS, languages
from agent.asking.shelf import PIECES, _one, fill, of_entities, of_relationship, of_speaker, of_time, ready_queries
from graph import relations
from graph.console import parameters
from graph.console.grammar import checked
from graph.events import SessionStarted
from graph.memory import Memory
from tests.agent.asking.asked import NAMES, Asking
from tests.agent.asking.phrasings import FIRST, FRESH, FRESH_NAMES, SECOND, THIRD
from tests.examples import examples
from tests.fakes import FakeEmbedder
from tests.graph.talk import said
from tests.tables import each

TODAY = [*FIRST, *SECOND, *THIRD]
EVERY_PHRASING = [example for language in languages() for example in language.phrasings]


# -- which query is meant --------------------------------------------------------------------------------------------


def meant(asking: Asking, question: str, names: Sequence[str] = NAMES) -> tuple[str | None, bool]:
    """The ready query that is offered for a question, if any, and whether that is sure."""
    found = asking.put(question, names=names)
    return (None, False) if found is None else (found.ready, found.how == "template")


def test_the_phrasings_of_today_become_their_queries(by_meaning: Asking) -> None:
    right = sure = wrong = 0
    for question, wanted in TODAY:
        query, is_sure = meant(by_meaning, question)
        right += query == wanted or (wanted is None and not is_sure)
        sure += is_sure and query == wanted
        wrong += is_sure and query != wanted
    assert right >= 0.98 * len(TODAY)
    assert sure >= 0.95 * sum(wanted is not None for _, wanted in TODAY)
    assert wrong <= 2


def test_nine_of_ten_phrasings_that_nobody_fitted_become_their_queries(by_meaning: Asking) -> None:
    right = wrong = 0
    for question, wanted in FRESH:
        query, is_sure = meant(by_meaning, question, FRESH_NAMES)
        right += query in wanted or (not wanted and not is_sure)
        wrong += is_sure and query not in wanted
    assert right >= 0.9 * len(FRESH)
    assert wrong <= 2


def test_without_an_embedder_most_are_understood_by_their_words_and_few_wrongly(by_words: Asking) -> None:
    right = wrong = 0
    for question, wanted in TODAY:
        query, is_sure = meant(by_words, question)
        right += query == wanted or (wanted is None and not is_sure)
        wrong += is_sure and query != wanted
    assert right >= 0.9 * len(TODAY)
    assert wrong <= 10


def test_there_are_enough_phrasings_and_every_ready_query_is_among_them() -> None:
    kinds = [kind for _, kind in TODAY]
    assert len(kinds) >= 60
    assert kinds.count(None) >= 20
    asked = set(kinds) | {kind for _, wanted in FRESH for kind in wanted}
    assert asked - {None} <= set(ready_queries())
    assert len(asked) >= 35


def test_every_language_has_examples_of_every_ready_query() -> None:
    for language in languages():
        assert set(language.examples) == {*ready_queries(), NONE}
        assert all(len(found) >= 3 for found in language.examples.values())


def test_an_example_has_the_subjects_that_its_query_asks_for() -> None:
    for example in EVERY_PHRASING:
        if example.query != NONE:
            cypher = fill(ready_queries()[example.query].filled(), PIECES)
            wanted = {name for name in ("what", "one", "other") if f"${name}" in cypher}
            wanted |= {"what"} if example.query == STANDS else set()
            mine = {ready_queries()[example.query].mine}
            asked = {"what" if slot == "name" else slot for slot in example.slots} - {"who"}
            assert asked in (wanted, wanted - mine), example


def test_every_example_is_understood_as_its_own_query(by_words: Asking) -> None:
    said_for = {"what": "zebras", "name": "Ben", "one": "Ben", "other": "Oslo", "who": "Cyd", "when": "in March"}
    for language in languages():
        standing = [(STANDS, (*told.who, *told.whom)) for told in language.relations.values()]
        for query, texts in (*language.examples.items(), *standing):
            for text in texts:
                found = by_words.matches(fill(text, said_for), ("Ben", "Oslo", "Cyd"))
                assert query in [match.example.query for match in found if match.score > 0.99], text


# -- vectors ---------------------------------------------------------------------------------------------------------


def test_examples_are_embedded_once_and_kept_for_the_next_start(tmp_path: Path) -> None:
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


def test_a_damaged_file_of_vectors_is_made_again_and_one_that_cannot_be_written_is_done_without(tmp_path: Path) -> None:
    file = tmp_path / "phrasings.npz"
    for damage in (b"", b"PK", b"nonsense"):
        file.write_bytes(damage)
        assert Asking(FakeEmbedder(), file).matches("what changed")[0].example.query == "changed"
        assert file.stat().st_size > 1000
    assert Asking(FakeEmbedder(), tmp_path / "missing" / "phrasings.npz").matches("what changed")


# -- what is asked for -----------------------------------------------------------------------------------------------


@pytest.mark.process
def test_every_translation_passes_the_first_wall_runs_and_is_of_one_world(told: Memory, by_words: Asking) -> None:
    def check(question: str) -> None:
        found = by_words.put(question)
        assert found is not None
        assert (found.question, found.model) == (question, "")
        assert found.words.endswith(".")
        assert "None" not in found.words
        assert "{" not in found.words
        checked(found.cypher)
        parameters.given(found.cypher, found.parameters)
        answer = told.console.run(found.cypher, parameters=found.parameters)
        assert "secret" not in repr(answer.rows)
        assert "What if" not in repr(answer.rows)
        assert "$world" in found.cypher or ":Document" in found.cypher or ":Project" in found.cypher

    each([question for question, kind in TODAY if kind is not None], check)


SPRING, AUTUMN = "2026-03-10T09:0{}:00", "2026-11-05T15:0{}:00"
ROWS: dict[str, list[tuple[Any, ...]]] = {
    "who did I mention most?": [("Anna Berg", 2, SPRING.format(2)), ("Ben", 2, AUTUMN.format(0))],
    "who did I mention most in March?": [("Anna Berg", 2, SPRING.format(2)), ("Ben", 1, SPRING.format(0))],
    "which places did I mention most in November?": [
        ("Bergen", 1, AUTUMN.format(2)),
        ("Oslo", 1, AUTUMN.format(2)),
    ],
    "who is mentioned together with anna berg": [("Ben", 1)],
    "who is mentioned together with anna": [("Ben", 1)],
    "how often did I mention gardens?": [(2, SPRING.format(0), SPRING.format(2))],
    "how often did I mention the garden?": [(2, SPRING.format(0), SPRING.format(2))],
    "how often did we mention the garden?": [(3, SPRING.format(0), SPRING.format(2))],
    "how often did I mention ANNA": [(2, SPRING.format(0), SPRING.format(2))],
    "how often did I mention ann": [(0, None, None)],
    "when did I last talk about the garden?": [
        (SPRING.format(2), "you", "Anna Berg's gardens are in Oslo. ANNA BERG!", "Gardens"),
        (SPRING.format(0), "you", "Anna Berg planted a garden with Ben.", "Gardens"),
    ],
    "when did I first mention ben": [
        (SPRING.format(0), "you", "Anna Berg planted a garden with Ben.", "Gardens"),
        (AUTUMN.format(0), "you", "Ben likes planning boats, and I like tea.", "Sailing"),
    ],
    "which chats are about Oslo?": [("Gardens", 2, SPRING.format(3)), ("Sailing", 1, AUTUMN.format(2))],
    "which chats are about Oslo since April?": [("Sailing", 1, AUTUMN.format(2))],
    "what did you say about boats?": [(AUTUMN.format(1), "assistant", "Boats need wind.", "Sailing")],
    "who mentioned Oslo": [("you", 2, AUTUMN.format(2)), ("assistant", 1, SPRING.format(3))],
    "how many messages did I write in March?": [(2,)],
    "how many messages are there?": [(8,)],
    "how many chats are there": [(2,)],
    "how many replies are there?": [(4,)],
    "how many people did I mention?": [(2,)],
    "how many memories are there?": [(3,)],
    "what did we talk about in March?": [("Gardens", 4, SPRING.format(0), SPRING.format(3))],
    "what happened on 5 November?": [("Sailing", 4, AUTUMN.format(0), AUTUMN.format(4))],
    "when do I write most in March?": [(10, 2)],
    "on which days do I write": [("Thursday", 2), ("Tuesday", 2)],
    "what is the path between ben and bergen": [
        (["ben", "b1", "b2", "b3", "bergen"], 4),
        (["ben", "b1", "tea", "b3", "bergen"], 4),
    ],
}


@pytest.mark.process
@pytest.mark.parametrize("question", list(ROWS))
def test_a_question_is_answered_with_what_it_asks_for(told: Memory, by_words: Asking, question: str) -> None:
    found = by_words.sure(question)
    assert found is not None
    rows = [tuple(map(_plain, row)) for row in told.console.run(found.cypher, parameters=found.parameters).rows]
    assert sorted(rows, key=repr) == sorted(ROWS[question], key=repr)


def _plain(value: Any) -> Any:
    """A path as the ids on it."""
    return [node["id"] for node in value["_nodes"]] if isinstance(value, dict) else value


MEMORIES: dict[str, list[str]] = {
    "what do you know about anna?": ["She has a garden."],
    "what do you know about Anna Berg": ["She has a garden."],
    "what do you know about tea": ["The user likes tea."],
    "what do you know about me?": [
        "The user plans a boat.", "She has a garden.", "The user likes tea.", "The user lives in Bergen.",
    ],
    "what are my plans?": ["The user plans a boat."],
    "what do I like?": ["The user likes tea."],
    "what was I wrong about?": ["The user is a boat.", "The user lives in Oslo."],
    "what do you know about secrets?": [],
    "what waits for my review?": ["The user plans a boat."],
}  # fmt: skip


@pytest.mark.parametrize("question", MEMORIES)
def test_memories_are_found_by_whom_they_are_about_and_by_their_words(
    told: Memory, by_words: Asking, question: str
) -> None:
    found = by_words.put(question)
    assert found is not None
    answer = told.console.run(found.cypher, parameters=found.parameters)
    assert [row[answer.columns.index("memory")] for row in answer.rows] == MEMORIES[question]


def test_a_time_is_a_range_of_the_wall_clock_of_here_and_told_in_words(by_words: Asking) -> None:
    found = by_words.sure("Who did I mention most in March?")
    assert found is not None
    assert found.parameters == {"since": "2026-03-01T00:00:00+01:00", "until": "2026-04-01T00:00:00+02:00"}
    assert "from 1 March 2026 to 31 March 2026" in found.words
    yesterday = by_words.sure("how many messages did I write yesterday?")
    assert yesterday is not None
    assert "on 21 November 2026" in yesterday.words
    lately = by_words.sure("what have you learned lately?")
    assert lately is not None
    assert "since 23 October 2026, 14:00" in lately.words


def test_a_time_that_a_query_has_no_place_for_is_not_left_out(by_words: Asking) -> None:
    for question in ("how are Ben and Oslo connected in March?", "which documents do you have since Monday?"):
        assert by_words.sure(question) is None
        found = by_words.put(question)
        assert found is None or "since" in found.parameters


def test_a_time_can_be_the_name_of_somebody(by_words: Asking) -> None:
    found = by_words.put("path between Friday and Ben", names=("Friday", "Ben"))
    assert found is not None
    assert found.parameters == {"one": "Friday", "other": "Ben"}


def test_names_are_found_in_any_case_and_by_their_beginning_where_that_is_clear(by_words: Asking) -> None:
    one = by_words.sure("path between ANNA and oslo")
    assert one is not None
    assert one.parameters == {"one": "Anna Berg", "other": "Oslo"}
    several = by_words.sure("path between Anna and Oslo", names=("Anna Berg", "Anna Beck", "Oslo"))
    assert several is not None
    assert several.parameters == {"one": "Anna", "other": "Oslo"}
    long = by_words.sure("what do you know about Dr. Jean-Luc van der Berg?")
    assert long is not None
    assert long.parameters == {"what": "Dr. Jean-Luc van der Berg"}


def test_of_names_that_nobody_has_there_is_no_path(by_words: Asking) -> None:
    assert by_words.put("path between integral and gradient") is None
    assert by_words.put("who is the zookeeper") is None


def test_a_subject_of_words_that_questions_are_made_of_is_put_in_quotes(by_words: Asking) -> None:
    found = by_words.sure("how often did I mention 'the last time'?")
    assert found is not None
    assert found.parameters == {"what": "the last time"}


def test_whose_messages_count_is_said_by_the_first_word_for_somebody(by_words: Asking) -> None:
    for question, speaker in (
        ("what did I say about boats?", "your messages"),
        ("what did you tell me about boats?", "the assistant's replies"),
        ("what have we said about boats?", "all messages"),
    ):
        found = by_words.put(question)
        assert found is not None
        assert speaker in found.words


def test_who_spoke_is_asked_of_those_who_speak_alone(by_words: Asking) -> None:
    assert by_words.sure("what did Ben say about boats?") is None
    found = by_words.sure("what did ben say about boats?", speakers=("Ben",))
    assert found is not None
    assert found.parameters == {"what": "boats", "who": "Ben"}


STRANGE = ("Zoë Ülrich", "李雷", "C++", "O'Brien", "100%", "(x)", "$world", "a.b", "[z]", "Æsir-Öl", "😀 cat")


@pytest.mark.process
def test_names_in_other_scripts_and_with_signs_are_found_as_they_are(whole: Memory, by_words: Asking) -> None:
    whole.append(
        SessionStarted(session="s", client="test"),
        *(said(f"s{at}", parent=f"s{at - 1}" if at else None, text=f"Today: {name.upper()}, again.")
          for at, name in enumerate(STRANGE)),
    )  # fmt: skip
    for name in STRANGE:
        found = by_words.sure(f'how often did I mention "{name}"?')
        assert found is not None, name
        assert found.parameters == {"what": name}
        assert whole.console.run(found.cypher, parameters=found.parameters).rows[0][0] == 1, name


HOSTILE = (
    "what do you know about '}) DETACH DELETE o //?",
    "how often did I mention x' RETURN 1; MATCH (n) DELETE n; //",
    "how often did I mention \"x') SET t.text = 'y\"",
    "path between a` and b$world) DELETE (a",
    "what do you know about \\E) | CALL show_tables() RETURN *",
    "what did I say about LOAD FROM '/etc/passwd'",
    "which chats are about */ COPY (MATCH (t) RETURN t) TO 'x'",
)


@pytest.mark.parametrize("question", HOSTILE)
def test_no_word_of_a_question_is_part_of_a_statement(told: Memory, by_words: Asking, question: str) -> None:
    found = by_words.put(question)
    if found is not None:
        checked(found.cypher)
        for word in ("DELETE", "SET ", "COPY", "CALL", "LOAD", "passwd"):
            assert word not in found.cypher
        told.console.run(found.cypher, parameters=found.parameters)


def unlimited(cypher: str) -> str:
    """A statement without the number of rows, which may be asked for."""
    return re.sub(r"LIMIT \d*$", "LIMIT", cypher)


def statements() -> set[str]:
    """All statements that there can be, whatever is asked."""
    kinds = [of_entities(kind) for kind in languages()[0].entities]
    speakers = [of_speaker("you"), of_speaker("assistant"), "", " AND lower(t.speaker) = lower($who)"]
    bounds = (("since", ">="), ("until", "<"))
    edges = [of_relationship("", "", over=None)]
    for kind, over in itertools.product(relations.kinds(), (False, True)):
        edges += [of_relationship(kind, "who", over=over), of_relationship(kind, "whom", over=over)]
    return {
        unlimited(query.filled(by=by, entities=kind, related=edge, time=of_time(query.time, *bounds[first:last])))
        for query in ready_queries().values()
        for by, kind, first, last in itertools.product(speakers, kinds, (0, 1), (0, 1, 2))
        for edge in (edges if query.id == STANDS else ("",))
    }


STATEMENTS = statements()
FORMS = ["what do you know about {}", "how often did I mention {}?", "path between {} and Ben", "who is {}", "{}"]


@examples(200)
@given(form=st.sampled_from(FORMS), words=st.text(max_size=80))
def test_whatever_is_asked_the_statement_is_one_that_was_there_before(by_words: Asking, form: str, words: str) -> None:
    found = by_words.put(form.format(words))
    if found is not None:
        assert unlimited(found.cypher) in STATEMENTS
        texts = [value for name, value in found.parameters.items() if name in ("what", "one", "other", "who")]
        assert all(len(text.split()) <= MOST_WORDS for text in texts)


def test_a_very_long_question_is_none(by_words: Asking) -> None:
    assert by_words.put("what do you know about " + "x" * LONGEST) is None
    assert by_words.put(" ".join(["what", "do", "you", "know"] * 10_000)) is None
    assert (
        by_words.put("what do you know about " + " ".join(f"zebra{number}" for number in range(MOST_WORDS + 1))) is None
    )


def test_now_is_seen_from_here(by_words: Asking) -> None:
    found = by_words.put("what changed today?", now=datetime(2026, 11, 22, 23, 30, tzinfo=UTC))
    assert found is not None
    assert found.parameters["since"] == "2026-11-23T00:00:00+01:00"


def test_as_many_messages_are_shown_as_are_asked_for(by_words: Asking) -> None:
    for question, count in (
        ("show me my last 5 messages", 5),
        ("my last 9999 messages", 500),
        ("newest messages", COUNT),
    ):
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
        f"UNWIND $words AS wanted RETURN wanted, {_one('wanted')}", parameters={"words": list(ones)}
    )
    assert dict(asked.rows) == ones
