"""Questions in plain English: each common one becomes its query, what only looks like one becomes none."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.asking.english import by_template
from agent.asking.phrases import PHRASES
from agent.asking.pieces import _one
from agent.asking.question import Asking
from agent.asking.templates import QUERIES, Made
from agent.asking.values import Translation
from agent.asking.wording import LONGEST, plainer, subject
from graph.events import SessionStarted
from graph.memory import Memory
from graph.querying import parameters
from graph.querying.grammar import checked
from tests.agent.asking.phrasings import FIRST, SECOND, THIRD
from tests.agent.asking.told import NOW
from tests.examples import examples
from tests.graph.talk import said
from tests.tables import each

OSLO = ZoneInfo("Europe/Oslo")
NAMES = ("Anna Berg", "Ben", "Oslo", "Bergen")


def put(question: str, *, speakers: tuple[str, ...] = (), now: datetime = NOW) -> Translation | None:
    return by_template(question, now=now, zone=OSLO, names=NAMES, speakers=speakers)


def _watched(name: str, make: Callable[[Asking], Made], made: list[str]) -> Callable[[Asking], Made]:
    def watched(asking: Asking) -> Made:
        done = make(asking)
        made.append(name)
        return done

    return watched


def test_a_phrasing_is_the_common_question_that_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []
    for name, make in list(QUERIES.items()):
        monkeypatch.setitem(QUERIES, name, _watched(name, make, made))

    def check(row: tuple[str, str | None]) -> None:
        question, kind = row
        made.clear()
        assert (made[-1] if put(question) is not None else None) == kind

    each([*FIRST, *SECOND, *THIRD], check)


def test_there_are_enough_phrasings_and_every_common_question_is_among_them() -> None:
    kinds = [kind for _, kind in (*FIRST, *SECOND, *THIRD)]
    assert len(kinds) >= 60
    assert kinds.count(None) >= 20
    assert set(kinds) - {None} == set(QUERIES) == set(PHRASES)


@pytest.mark.process
def test_every_translation_passes_the_first_wall_runs_and_is_of_one_world(told: Memory) -> None:
    def check(question: str) -> None:
        found = put(question)
        assert found is not None
        assert (found.how, found.question, found.model) == ("template", question, "")
        assert found.words.endswith(".")
        assert "None" not in found.words
        checked(found.cypher)
        parameters.given(found.cypher, found.parameters)
        answer = told.console(found.cypher, parameters=found.parameters)
        assert "secret" not in repr(answer.rows)
        assert "What if" not in repr(answer.rows)
        assert "$world" in found.cypher or ":Document" in found.cypher or ":Project" in found.cypher

    each([question for question, kind in (*FIRST, *SECOND, *THIRD) if kind is not None], check)


SPRING, AUTUMN = "2026-03-10T09:0{}:00", "2026-11-05T15:0{}:00"
ROWS: dict[str, list[tuple[Any, ...]]] = {
    "who did I mention most?": [("Anna Berg", 2), ("Ben", 2)],
    "who did I mention most in March?": [("Anna Berg", 2), ("Ben", 1)],
    "which places did I mention most in November?": [("Bergen", 1), ("Oslo", 1)],
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
def test_a_question_is_answered_with_what_it_asks_for(told: Memory, question: str) -> None:
    found = by_template(question, now=NOW, zone=ZoneInfo("Europe/Berlin"), names=NAMES)
    assert found is not None
    rows = [tuple(map(_plain, row)) for row in told.console(found.cypher, parameters=found.parameters).rows]
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
def test_memories_are_found_by_whom_they_are_about_and_by_their_words(told: Memory, question: str) -> None:
    found = put(question)
    assert found is not None
    answer = told.console(found.cypher, parameters=found.parameters)
    assert [row[answer.columns.index("memory")] for row in answer.rows] == MEMORIES[question]


def test_a_time_is_a_range_of_the_wall_clock_of_here_and_told_in_words() -> None:
    found = put("Who did I mention most in March?")
    assert found is not None
    assert found.parameters == {"since": "2026-03-01T00:00:00+01:00", "until": "2026-04-01T00:00:00+02:00"}
    assert "from 1 March 2026 to 31 March 2026" in found.words
    yesterday = put("how many messages did I write yesterday?")
    assert yesterday is not None
    assert "on 21 November 2026" in yesterday.words
    lately = put("what have you learned lately?")
    assert lately is not None
    assert "since 23 October 2026, 14:00" in lately.words


def test_a_time_that_a_question_has_no_place_for_makes_it_none() -> None:
    assert put("how are Ben and Oslo connected in March?") is None
    assert put("which documents do you have since Monday?") is None


def test_names_are_found_in_any_case_and_by_their_beginning_where_that_is_clear() -> None:
    one = put("path between ANNA and oslo")
    assert one is not None
    assert one.parameters == {"one": "Anna Berg", "other": "Oslo"}
    several = by_template("path between Anna and Oslo", now=NOW, zone=OSLO, names=("Anna Berg", "Anna Beck"))
    assert several is not None
    assert several.parameters == {"one": "Anna", "other": "Oslo"}
    long = put("what do you know about Dr. Jean-Luc van der Berg?")
    assert long is not None
    assert long.parameters == {"what": "Dr. Jean-Luc van der Berg"}


def test_who_spoke_is_asked_of_those_who_speak_alone() -> None:
    assert put("what did Ben say about boats?") is None
    found = put("what did ben say about boats?", speakers=("Ben",))
    assert found is not None
    assert found.parameters == {"what": "boats", "who": "Ben"}


STRANGE = ("Zoë Ülrich", "李雷", "C++", "O'Brien", "100%", "(x)", "$world", "a.b", "[z]", "Æsir-Öl", "😀 cat")


@pytest.mark.process
def test_names_in_other_scripts_and_with_signs_are_found_as_they_are(whole: Memory) -> None:
    whole.append(
        SessionStarted(session="s", client="test"),
        *(said(f"s{at}", parent=f"s{at - 1}" if at else None, text=f"Today: {name.upper()}, again.")
          for at, name in enumerate(STRANGE)),
    )  # fmt: skip
    for name in STRANGE:
        found = put(f'how often did I mention "{name}"?')
        assert found is not None, name
        assert found.parameters == {"what": name}
        assert whole.console(found.cypher, parameters=found.parameters).rows[0][0] == 1, name


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
def test_no_word_of_a_question_is_part_of_a_statement(told: Memory, question: str) -> None:
    found = put(question)
    if found is not None:
        checked(found.cypher)
        for word in ("DELETE", "SET ", "COPY", "CALL", "LOAD", "passwd"):
            assert word not in found.cypher
        told.console(found.cypher, parameters=found.parameters)


@examples(200)
@given(
    st.sampled_from(
        ["what do you know about {}", "how often did I mention {}?", "path between {} and Ben", "who is {}"]
    ),
    st.text(max_size=80),
)
def test_whatever_is_asked_about_the_statement_is_the_same(form: str, words: str) -> None:
    found, plain = put(form.format(words)), put(form.format("Anna Berg"))
    assert plain is not None
    if found is not None and found.parameters.keys() == plain.parameters.keys():
        assert found.cypher == plain.cypher
        assert all(isinstance(value, str) and len(value) <= LONGEST for value in found.parameters.values())


@examples(300)
@given(st.text(max_size=400))
def test_any_text_is_a_question_or_none_and_never_an_error(text: str) -> None:
    found = put(text)
    if found is not None:
        checked(found.cypher)
    subject(text)
    plainer(text)


def test_a_very_long_question_is_none() -> None:
    assert put("what do you know about " + "x" * LONGEST) is None
    assert put(" ".join(["what", "do", "you", "know"] * 10_000)) is None


def test_now_is_seen_from_here() -> None:
    found = by_template("what changed today?", now=datetime(2026, 11, 22, 23, 30, tzinfo=UTC), zone=OSLO)
    assert found is not None
    assert found.parameters["since"] == "2026-11-23T00:00:00+01:00"


@pytest.mark.process
def test_what_is_asked_of_several_is_looked_for_as_one_too(told: Memory) -> None:
    ones = {
        "boats": "boat", "big boats": "big boat", "cities": "city", "boxes": "box", "glasses": "glass", "cows": "cow",
        "boat": "boat", "news": "news", "bus": "bus", "glass": "glass", "this": "this", "paris": "paris", "tea": "tea",
    }  # fmt: skip
    asked = told.console(f"UNWIND $words AS wanted RETURN wanted, {_one('wanted')}", parameters={"words": list(ones)})
    assert dict(asked.rows) == ones
