"""What is worth its tokens in a prompt, rule by rule, on hits made by hand."""

from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import pytest

from agent import relevance
from graph.recall.intent import read_intent
from graph.values import Hit, Reason, Step
from tests.agent.scored import score, tables
from tests.phrases import scored

TABLES = tables(__file__)
NOW = datetime(2026, 5, 3, tzinfo=UTC)


def hit(
    text: str, cosine: float = 0.0, *, score: float = 10.0, role: str = "user", id: str = "t", led: str = ""
) -> Hit:
    reasons = (Reason("semantic", 1, cosine),) if cosine else ()
    path = (Step("semantic", led), Step("REPLIES_TO", id)) if led else ()
    return Hit("turn", id, "s", None, role, "you", text, NOW, score, reasons, (), path)


def kept(message: str, *hits: Hit, read: bool = False) -> list[str]:
    return [
        each.text for each in relevance.relevant(hits, message, read_intent(message, now=NOW, timezone=UTC), read=read)
    ]


def test_a_hit_is_near_in_meaning_or_shares_the_words_asked_for() -> None:
    assert kept("What is my dog called?", hit("He is Biscuit, a beagle.", 0.45))
    assert kept("What is my dog called?", hit("My dog Biscuit barks.", 0.32))
    assert kept("What is my dog called?", hit("The dog is called Biscuit."))
    assert not kept("What is my dog called?", hit("The weather was lovely.", 0.25))
    assert not kept("How do volcanoes and glaciers form over time?", hit("The glaciers are melting.", 0.2))


def test_who_asks_of_their_own_life_is_told_so_and_few_others() -> None:
    def life(text: str) -> list[str]:
        return ["life"] * relevance.asks_of_life(text)

    scored(Path(__file__).with_name("life.txt"), life, 0.93, held_out=0.86)
    assert relevance.asks_of_life("When does Nina land?", ['- 2026-05-02, the user: "Nina comes on Sunday."'])
    assert not relevance.asks_of_life("what is " * 25_000 + "my name?")  # at once: it took a minute


def test_what_is_much_weaker_than_the_best_is_left_out() -> None:
    strong, weak = hit("My dog is Biscuit.", 0.6), hit("A dog barked in the park.", 0.45, score=5.0, id="u")
    assert kept("What is my dog called?", strong, weak) == [strong.text]


def test_what_the_message_says_itself_is_not_quoted_back() -> None:
    assert not kept("My dog is called Biscuit.", hit("my dog is called  Biscuit.", 0.99))
    assert not kept(
        "Earlier I said that I like owls; give me one more reason.",
        hit("Earlier I said that I like bees; give me one more reason.", 0.9),
    )
    assert kept("Is my dog Biscuit a beagle?", hit("My dog Biscuit is a brown beagle.", 0.9))
    assert relevance.repeats("the dog", "my dog")
    assert not relevance.repeats("the dog Biscuit", "my dog")


ASKED, ANSWER = "where do I live?", "I'm Robin and I live in Lisbon."


def test_a_question_that_was_asked_before_keeps_nothing_from_answering_it() -> None:
    before = hit("Where do I live?", 0.95, score=40.0, id="q")
    likewise = hit("Do you know where my sister lives?", 0.7, score=30.0, id="r")
    told = hit(ANSWER, 0.45)
    assert kept(ASKED, before, likewise, told) == [told.text, likewise.text]


def test_what_a_model_replied_to_a_question_about_oneself_proves_nothing_beside_what_was_told() -> None:
    reply = hit("You live in a big city called New York.", 0.8, score=30.0, role="assistant", id="a", led="q")
    told = hit(ANSWER, 0.45)
    assert kept(ASKED, reply, told) == [told.text]
    assert kept("Which city did you say I live in?", reply, told) == [reply.text]
    assert kept("What was that glue for old paper?", replace(reply, text="Try methyl cellulose.")) != []


@pytest.mark.parametrize(
    "text",
    ["What is the capital of Peru?", "Tell me something about owls that I could repeat.", "ok, please write a poem"],
)
def test_requests_that_tell_nothing_of_the_user_need_their_answer(text: str) -> None:
    ask = hit(text, 0.9)
    answer = hit("Here you are: a good one.", 0.6, role="assistant", id="a", led="t")
    assert relevance.only_asks(ask)
    assert kept("You suggested something about owls, Peru or a poem, what was it?", ask) == []
    assert kept("You suggested something about owls, Peru or a poem, what was it?", ask, answer) == [text, answer.text]


def test_what_the_assistant_said_counts_where_somebody_looks_back_or_it_is_very_near() -> None:
    said = hit("Try a longer walk with the dog.", 0.45, role="assistant")
    assert kept("What did you suggest for my dog?", said)
    assert not kept("Give my dog a nickname", said)
    assert not kept("If I had a dog, where should it walk?", said)
    assert kept("Give my dog a longer walk plan", hit("Walk to the lake and back, then rest.", 0.6, role="assistant"))
    assert relevance.roles_asked("What did I say about the dog?") == {"user", "note"}
    assert "assistant" in relevance.roles_asked("What did you say about the dog?")


def test_a_turn_that_a_kept_one_led_to_comes_along_if_it_is_close_to_the_best() -> None:
    first = hit("What was the name of the hotel?", 0.0, id="q", score=10)
    fact = hit("The hotel in Lisbon was called Mar.", 0.5, id="f")
    lent = hit("Breakfast at nine.", 0.1, id="n", led="f", score=9)
    assert kept("What was the hotel in Lisbon?", fact, lent) == [fact.text, lent.text]
    assert kept("What was the hotel in Lisbon?", fact, hit("Breakfast at nine.", 0.1, id="n", led="f", score=7)) == [
        fact.text
    ]
    assert kept("And the weather in Peru?", first, lent) == []


def test_where_it_is_read_a_question_about_oneself_is_answered_by_what_is_related_in_meaning_alone() -> None:
    fact = hit("I work as a bookbinder.", 0.37, id="f", score=5)
    words = hit("No living thing is here.", 0.35, id="w", score=10)
    assert kept("What do I do for a living?", words, fact, read=True) == [words.text, fact.text]
    assert kept("What do I do for a living?", words, fact) == [words.text]
    assert kept("What does one do for a living?", words, fact, read=True) == [words.text]
    near = hit("My living is sewing.", 0.6, score=10)
    assert kept("What do I do for a living?", near, fact, read=True) == [near.text]
    said = hit("You could bind books.", 0.37, role="assistant", id="a", score=10)
    assert kept("What do I do for a living?", words, said, read=True) == [words.text]


def test_beside_a_reply_stand_the_best_few_cut_around_what_was_asked_and_only_for_a_question() -> None:
    long = f"{'blah ' * 60}my bike is green {'blah ' * 60}"
    hits = [hit(long, 0.6, id="a"), *(hit(f"Bike number {n}.", 0.5, id=str(n)) for n in range(relevance.FEW))]
    first, *others = relevance.open_quotes(hits, "What colour is my bike?")
    assert [each.id for each in (first, *others)] == ["a", "0", "1"]
    assert "my bike is green" in first.text
    assert first.text[0] == first.text[-1] == "…"
    assert len(first.text) <= relevance.LONGEST_READ + 2
    assert relevance.open_quotes(hits, "My bike is green.") == ()
    pinned, dropped = (replace(hits[0], reasons=(Reason(way, 1, 0.0),)) for way in ("pin", "thread"))
    assert relevance.open_quotes([pinned, dropped], "What colour is my bike?") == ()


def test_messages_that_ask_are_told_from_those_that_tell() -> None:
    score(TABLES["asks"], lambda text, does: relevance.asks(text) is does)
    score(TABLES["tells_of_the_user"], lambda text: not relevance.only_asks(hit(text)))
    intents = partial(read_intent, now=NOW, timezone=UTC)
    score(TABLES["about_oneself"], lambda text, is_it: relevance.about_oneself(text, intents(text)) is is_it)
