"""The scripted models of the observation benchmark do as they are scripted: the perfect one right, the others harm."""

import asyncio
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from agent.reflection.consolidation import Actions, Create, Delete, Listed, NumberedLine, Update, question
from agent.reflection.trust import BAR, probe
from bench.expected import Conversation, Known, read
from bench.observations import FILE
from bench.scripted import BREACHES, Hostile, Perfect, Prompt, RecallPath, plan
from bench.seeding import Seeds
from graph.events import ObservationMade, ObservationRetired, ObservationSupported
from models.errors import StructuredOutputError
from tests.conversations import MOVED


@pytest.fixture(scope="module")
def conversations() -> list[Conversation]:
    """Those of our own file."""
    return read(FILE)


def test_a_perfect_model_creates_revises_and_takes_back() -> None:
    (made,) = plan(MOVED, {0: 1}, {})
    assert isinstance(made, Create)
    assert (made.text, made.sources) == ("I live in Lyon.", [1])
    (revised,) = plan(MOVED, {2: 1}, {1: "I like tea.", 2: "I live in Lyon."})
    assert isinstance(revised, Update)
    assert (revised.memory, revised.text) == (2, "I moved to Porto!")
    invalid = Known(terms=(("lyon",),), sources=(0,), status=("invalid",))
    (gone,) = plan(MOVED.model_copy(update={"known": (invalid,)}), {2: 1}, {3: "I live in Lyon."})
    assert gone == Delete(memory=3, sources=[1])


def test_a_perfect_model_reads_the_numbers_off_the_prompt() -> None:
    perfect = Perfect()
    perfect.conversation, perfect.said = MOVED, 4
    lines = [
        NumberedLine("you", "what?"),
        NumberedLine("you", MOVED.turns[2].text),
        NumberedLine("assistant", "Okay.", evidence=False),
    ]
    prompt = question(perfect, lines, [Listed("I like tea."), Listed("I live in Lyon.")])
    (revised,) = asyncio.run(perfect.structured(prompt, Actions)).actions
    assert isinstance(revised, Update)
    assert (revised.memory, revised.sources) == (2, [2])


def test_the_probe_trusts_the_perfect_and_the_hostile_that_pass_and_no_other() -> None:
    for way in RecallPath:
        assert asyncio.run(probe(Hostile(way))) == 1.0
        assert asyncio.run(probe(Hostile(way, passing=False))) < BAR
    assert asyncio.run(probe(Perfect())) == 1.0


@pytest.mark.parametrize("way", [RecallPath.HALLUCINATING, RecallPath.DELETING, RecallPath.TWISTING])
def test_a_hostile_model_does_harm_to_all_it_is_shown(way: RecallPath) -> None:
    hostile = Hostile(way)
    prompt = question(hostile, [NumberedLine("you", "Do trains run to Ghent?")], [Listed("The user lives in Lyon.")])
    actions = [action for _ in range(2) for action in asyncio.run(hostile.structured(prompt, Actions)).actions]
    assert actions
    told = [action.text for action in actions if not isinstance(action, Delete)]
    assert all("Lyon" not in text for text in told)
    if way is RecallPath.DELETING:
        assert {type(action) for action in actions} == {Update, Delete}


def test_no_invalid_answer_passes_for_one_that_was_checked() -> None:
    prompt = Prompt.read("The list:\n(empty)\n\nNew messages:\n[1] you: hello there")
    for breach in BREACHES:
        try:
            given = breach(prompt)
        except StructuredOutputError:
            continue
        assert len(given) > 5 or all(not_an_action(action) for action in given)


def not_an_action(given: Any) -> bool:
    """Whether something is not an action on what the prompt shows, as the schema has it."""
    if isinstance(given, Update | Delete):
        return given.memory > 90
    try:
        words = given if isinstance(given, dict) else vars(given)
        made = Create.model_validate(words)
    except (ValueError, TypeError):
        return True
    return made.text.strip(" .…\n") == "" or set(made.sources) != {1} or "The list" in made.text


def test_seeds_are_what_a_good_model_would_have_left(conversations: list[Conversation]) -> None:
    ids = ["t0", "t1", "t2", "t3"]
    seeds = Seeds(MOVED, ids)
    (lyon,) = seeds.after(range(0, 2))
    (porto,) = seeds.after(range(2, 4))
    assert isinstance(lyon, ObservationMade)
    assert isinstance(porto, ObservationMade)
    assert (porto.supersedes, porto.series, porto.sources) == (lyon.observation, lyon.observation, ("t0", "t2"))
    assert seeds.active == {1}
    kinds = {kind: events_of(conversations, kind) for kind in ("repeat", "contradiction")}
    assert any(isinstance(event, ObservationSupported) for event in kinds["repeat"])
    assert any(isinstance(event, ObservationRetired) for event in kinds["contradiction"])


def events_of(conversations: Sequence[Conversation], category: str) -> Iterator[object]:
    """All seeds of a class."""
    for conversation in conversations:
        if conversation.category == category:
            seeds = Seeds(conversation, [str(place) for place in range(len(conversation.turns))])
            for exchange in conversation.exchanges():
                yield from seeds.after(exchange)
