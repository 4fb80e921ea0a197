"""The benchmark of told facts: its file is sound, an answer is told from an echo, and it runs end to end."""

import asyncio

import pytest

from agent.model_host import LoadedEmbedder
from bench.told import FILE, SCORES, Chats, NodeWording, Question, Shape, Tally, ask, read
from tests.fakes import FakeEmbedder, FakeGenerator

CHATS: Chats = (
    (
        NodeWording(
            said="My dog Biscuit is a brown beagle.", asks=(Question(question="What is my dog?", answer=("beagle",)),)
        ),
    ),
    (NodeWording(said="The tide pools were full of anemones."),),
)


def test_the_file_asks_sixty_questions_that_their_message_answers_and_they_do_not() -> None:
    asked = [(told.said, question) for chat in read(FILE) for told in chat for question in told.asks]
    assert len(asked) == len({question.question for _, question in asked}) == 60
    for said, question in asked:
        assert question.answered_in(said), question
        assert not question.answered_in(question.question), question


def test_an_answer_is_a_word_that_begins_there_and_a_number_that_ends_there() -> None:
    question = Question(question="What am I?", answer=("bookbind", "44"))
    assert question.answered_in("You are a Bookbinder.")
    assert question.answered_in("It is 44.")
    assert not question.answered_in("It is 445 or 144.")
    assert not question.answered_in("an ebookbinder")


@pytest.mark.restarts
@pytest.mark.parametrize("shape", SCORES)
def test_a_model_that_repeats_its_quotes_answers_and_one_that_does_not_leaves_it_to_them(shape: Shape) -> None:
    tally = Tally()
    for model in (FakeGenerator(lambda prompt: " ".join(prompt.split())), FakeGenerator("I cannot say.")):
        embedder = LoadedEmbedder(FakeEmbedder(), "fake@1")
        asyncio.run(ask(CHATS, shape, model, lambda name: embedder, tally, seed=1))  # noqa: B023 - asked in this turn
    figures = tally.figures()
    assert (figures["asked"], figures["reply"], figures["quotes"], figures["either"]) == (2, 50.0, 100.0, 100.0)
    assert len(tally.amiss) == 1
