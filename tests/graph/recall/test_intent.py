"""What a question is after, read without a model."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from graph.recall.intent import Intent, read_intent, spoken

NOW = datetime(2026, 2, 11, 15, 0, tzinfo=UTC)
NAMES = ("Anna", "Tom Reed")


def read(query: str) -> Intent:
    return read_intent(query, now=NOW, timezone=UTC, names=NAMES)


@pytest.mark.parametrize(
    "query",
    [
        "Summarize my recent conversations",
        "summarize our conversations",
        "What have we been talking about lately?",
        "what did we talk about last Tuesday",
        "what happened this week",
        "two weeks ago",
        "What did I say yesterday morning?",
        "Catch me up",
        "recently",
        "Lately?",
        "What did we talk about over the weekend?",
        "what did I say on the weekend",
        "recap the weekend",
        "a fortnight ago",
        "summarize the last 3 conversations",
        "sum up our last three chats",
        "sum up last week",
        "on the 17th",
        "What did we discuss on the 17th?",
        "11/17",
        "17.11.2026",
        "2026-11-17",
        "last winter",
        "what did we talk about last winter?",
        "my conversations from last week",
        "Did anything happen over the weekend?",
    ],
)
def test_recency_words_and_times_alone_ask_for_the_recent_past(query: str) -> None:
    assert read(query).route == "recent"


@pytest.mark.parametrize(
    "query",
    [
        "summarize this conversation",
        "What have we discussed so far?",
        "recap this chat",
        "what did I just say?",
        "sum up this chat",
        "Recap",
        "recap, please",
        "Can you sum it all up?",
        "TL;DR",
    ],
)
def test_this_conversation_is_its_own_thread(query: str) -> None:
    assert read(query).route == "thread"


@pytest.mark.parametrize(
    "query",
    [
        "themes across everything",
        "What are the main topics of our chats?",
        "what do we talk about most?",
        "what patterns do you see across everything?",
        "What topics keep coming up?",
        "What themes run through our chats about the boat?",
    ],
)
def test_themes_are_heard(query: str) -> None:
    assert read(query).route == "themes"


@pytest.mark.parametrize(
    "query",
    [
        "what did we say about the tide pools",
        "What did Anna do on 3 May 2023?",
        "What's the weather today?",
        "How are you today?",
        "Write a poem about recent conversations in physics",
        "hello",
        "",
        "🙂🙂",
        "ما الذي قلناه أمس؟",
        'AND OR "NOT" (',
        "what themes does Hamlet have",
        "What are the main themes of Hamlet?",
        "the main topics of the French revolution",
        "recap the plot of Dune",
        "Sum up the numbers 3 and 4",
        "summarize the last three chapters of Dune",
        "the last 3 conversations about boats",
        "I was born on the 17th",
        "the weekend was great",
        "plans for the weekend",
        "1/2 cup of sugar",
        "24/7 support",
        "winter is coming",
        "my notes from last week on boats",
        "the latest news",
        "I recently moved",
    ],
)
def test_everything_else_is_for_recall(query: str) -> None:
    assert read(query).route == "recall"


def test_a_time_beside_content_words_is_kept_and_cut_from_the_words() -> None:
    found = read("What did Anna say about boats last month?")
    assert (found.since, found.until) == (datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 2, 1, tzinfo=UTC))
    assert found.words == "What did Anna say about boats ?"
    assert found.names == ("Anna",)


@pytest.mark.parametrize("query", ["over the weekend", "on the 17th", "11/17", "last winter", "a fortnight ago"])
def test_a_day_asked_for_begins_where_the_asker_is(query: str) -> None:
    for zone in (ZoneInfo("Pacific/Kiritimati"), ZoneInfo("Pacific/Pago_Pago")):
        found = read_intent(query, now=NOW, timezone=zone)
        assert found.since is not None
        assert found.until is not None
        since, until = found.since.astimezone(zone), found.until.astimezone(zone)
        assert (since.hour, since.minute, until.hour, until.minute) == (0, 0, 0, 0)
        assert until <= NOW


def test_a_season_is_a_time_of_saying_only_where_saying_is_spoken_of() -> None:
    since = datetime(2025, 6, 1, tzinfo=UTC)
    asked = read("What did we say about boats last summer?")
    assert (asked.since, asked.words) == (since, "What did we say about boats ?")
    assert read("our conversations last summer").since == read("last summer").since == since
    event = read("Where did Anna swim last summer?")
    assert (event.route, event.since, event.words) == ("recall", None, "Where did Anna swim last summer?")
    assert spoken("Where did Anna swim last summer?", now=NOW, timezone=UTC, names=NAMES).endswith("last summer?")


def test_names_come_in_the_order_of_the_question_and_only_whole() -> None:
    assert read("Did tom reed know ANNA?").names == ("Tom Reed", "Anna")
    assert read("Annabel met Tom").names == ()


def test_a_page_is_no_question_about_time() -> None:
    found = read("yesterday " * 2_000)
    assert (found.route, found.since) == ("recall", None)


def test_a_question_is_embedded_as_it_would_have_been_said() -> None:
    def as_said(query: str) -> str:
        return spoken(query, now=NOW, timezone=UTC, names=NAMES)

    assert as_said("When did Anna's dog die?") == "When did my dog die?"
    assert as_said("What did Anna tell Tom Reed on 3 May 2023?") == "What did I tell I?"
    assert as_said("What about boats?") == "What about boats?"
    assert as_said("last Tuesday") == "last Tuesday"


@pytest.mark.parametrize(
    "query",
    [
        "Which books has Anna read?",
        "What kinds of cheese do we like?",
        "In which towns have I lived?",
        "How many chairs do we own?",
        "What are Tom Reed's hobbies?",
        "Who all came to the party?",
        "List my allergies",
        "What people did we meet in Lisbon?",
    ],
)
def test_a_question_that_may_have_several_answers_is_known_by_its_plural(query: str) -> None:
    assert read(query).several


@pytest.mark.parametrize(
    "query",
    [
        "Which book did Anna read?",
        "What is the news?",
        "What did my friends say?",
        "When was it?",
        "Which bus goes?",
        "a",
    ],
)
def test_a_question_with_one_answer_is_not(query: str) -> None:
    assert not read(query).several
