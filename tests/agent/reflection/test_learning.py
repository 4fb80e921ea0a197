"""Which way an exchange is learned from, and what becomes of a model that does not answer."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from agent.background import Foreground
from agent.reflection.consolidation import Actions, Create, refuses, within
from agent.reflection.learning import Learning
from agent.reflection.making import Draft
from agent.reflection.trust import TASKS, Trusts
from graph.events import ObservationKind, ObservationMade
from models.errors import StructuredOutputError
from tests.agent.scored import score, tables
from tests.fakes import FakeGenerator

from .told import material, no_vectors, said, shelf

EXCHANGE = material(
    said("t1", "I live in Oslo. I bought a red boat."), said("t2", "You own 3 submarines!", role="assistant")
)
BOAT = Create(text="The user bought a red boat.", category=ObservationKind.FACT, confidence=0.9, sources=[1])
RIGHT = [task.right for task in TASKS]


class Broken(FakeGenerator):
    """Passes the probe, then raises each of the errors in turn before it answers."""

    def __init__(self, *errors: Exception, answers: Sequence[Any] = (), name: str = "fake") -> None:
        super().__init__(answers=[*RIGHT, *answers], name=name)
        self.errors = list(errors)
        self.asked: list[str] = []

    async def structured(self, prompt: Any, schema: Any, *, max_tokens: int = 512) -> Any:
        self.asked.append(self.detokenize(prompt))
        if len(self.asked) > len(RIGHT) and self.errors:
            raise self.errors.pop(0)
        return await super().structured(prompt, schema, max_tokens=max_tokens)


async def learned(
    tmp_path: Path, model: FakeGenerator | None, *, own_time_s: float = 60, fallback: FakeGenerator | None = None
) -> Draft:
    async def other() -> FakeGenerator | None:
        return fallback

    trusts = Trusts(tmp_path / "trusted.json")
    learning = Learning(shelf(), trusts, no_vectors, Foreground(), own_time_s=own_time_s, fallback=other)
    return await learning.observe(EXCHANGE, model, {}, review="auto")


def texts(draft: Draft) -> list[str | None]:
    return [each.text for each in draft.outcome.events if isinstance(each, ObservationMade)]


async def test_a_model_that_passed_the_probe_is_asked(tmp_path: Path) -> None:
    draft = await learned(tmp_path, FakeGenerator(answers=[*RIGHT, Actions(actions=[BOAT])]))
    assert texts(draft) == ["The user bought a red boat."]
    assert (draft.outcome.trust, draft.outcome.probe, draft.outcome.model) == ("model", 1.0, "fake")


async def test_below_the_bar_peoples_own_sentences_are_kept(tmp_path: Path) -> None:
    draft = await learned(tmp_path, FakeGenerator(answers=[]))
    assert "I live in Oslo." in texts(draft)
    assert draft.outcome.trust == "verbatim"
    assert draft.outcome.probe is not None


async def test_without_a_model_they_are_too(tmp_path: Path) -> None:
    draft = await learned(tmp_path, None)
    assert "I live in Oslo." in texts(draft)
    assert (draft.outcome.model, draft.outcome.probe) == (None, None)


async def test_the_assistants_words_are_shown_but_never_evidence(tmp_path: Path) -> None:
    lie = Create(text="The user owns 3 submarines.", category=ObservationKind.FACT, confidence=1, sources=[1])
    draft = await learned(tmp_path, FakeGenerator(answers=[*RIGHT, Actions(actions=[lie])]))
    assert texts(draft) == []


async def test_bad_output_gets_one_stricter_question(tmp_path: Path) -> None:
    model = Broken(StructuredOutputError("no", "nonsense"), answers=[Actions(actions=[BOAT])])
    draft = await learned(tmp_path, model, fallback=FakeGenerator(name="other", answers=list(RIGHT)))
    assert texts(draft) == ["The user bought a red boat."]
    assert ["could not be used" in asked for asked in model.asked[len(RIGHT) :]] == [False, True]
    assert (draft.outcome.errors, draft.outcome.failure) == (1, None)


async def test_after_two_bad_answers_nothing_is_done_and_that_is_told(tmp_path: Path) -> None:
    bad = StructuredOutputError("no", "nonsense")
    draft = await learned(tmp_path, Broken(bad, bad))
    assert draft.outcome.events == []
    assert (draft.outcome.errors, draft.outcome.failure) == (2, "StructuredOutputError")


async def test_of_an_answer_that_was_cut_off_the_whole_part_is_taken(tmp_path: Path) -> None:
    cut = StructuredOutputError("cut", f'{{"actions": [{BOAT.model_dump_json()}, {{"act')
    draft = await learned(tmp_path, Broken(cut))
    assert texts(draft) == ["The user bought a red boat."]
    assert draft.outcome.failure is None


SORRY = "I'm sorry, but I can't help with that."
REFUSALS = (
    StructuredOutputError("no", SORRY),
    Actions(actions=[BOAT.model_copy(update={"text": "As an AI language model, I cannot assist with this."})]),
)


@pytest.mark.parametrize("refusal", REFUSALS)
async def test_a_refusal_goes_to_another_model_that_is_trusted(tmp_path: Path, refusal: Any) -> None:
    def refusing(*then: Any) -> Broken:
        error = isinstance(refusal, Exception)
        return Broken(*([refusal] if error else []), answers=[*([] if error else [refusal]), *then])

    right = FakeGenerator(name="other", answers=[*RIGHT, Actions(actions=[BOAT])])
    draft = await learned(tmp_path, refusing(), fallback=right)
    assert texts(draft) == ["The user bought a red boat."]
    assert (draft.outcome.model, draft.outcome.errors, draft.outcome.failure) == ("other", 1, None)
    assert right.answers == []

    for fallback in (None, FakeGenerator(name="weak"), FakeGenerator(name="fake", answers=[REFUSALS[1]])):
        draft = await learned(tmp_path / "not kept", refusing(Actions(actions=[BOAT])), fallback=fallback)
        assert texts(draft) == ["The user bought a red boat."]  # asked more strictly
        assert draft.outcome.model == "fake"


async def test_where_the_fallback_refuses_too_nothing_is_done(tmp_path: Path) -> None:
    refusal = StructuredOutputError("no", SORRY)
    other = Broken(refusal, name="other")
    draft = await learned(tmp_path, Broken(refusal), fallback=other)
    assert (draft.outcome.events, draft.outcome.failure, draft.outcome.errors) == ([], "Refused", 2)
    assert len(other.asked) == len(RIGHT) + 1


def test_a_refusal_is_told_from_what_people_cannot_do() -> None:
    refusals = tables(__file__)["refusals"]
    score(refusals, lambda text, is_one: refuses(text) is is_one)
    assert [SORRY, True] in refusals
    assert not refuses(None)
    both = [Actions(actions=[BOAT.model_copy(update={"text": text}), BOAT]) for text, _ in refusals if text]
    assert not any(map(refuses, both))


async def test_a_model_that_never_answers_has_its_time_and_no_more(tmp_path: Path) -> None:
    class Stuck(FakeGenerator):
        async def structured(self, prompt: Any, schema: Any, *, max_tokens: int = 512) -> Any:
            if self.answers:
                return await super().structured(prompt, schema, max_tokens=max_tokens)
            await asyncio.Event().wait()

    draft = await learned(tmp_path, Stuck(answers=list(RIGHT)), own_time_s=0.01)
    assert (draft.outcome.events, draft.outcome.failure) == ([], "TimeoutError")


async def test_the_time_in_which_a_reply_goes_before_does_not_count() -> None:
    foreground, answered = Foreground(), asyncio.Event()

    async def slow() -> str:
        await answered.wait()
        return "there"

    with foreground.held():
        asking = asyncio.ensure_future(within(0.0, slow(), foreground))
        done, _ = await asyncio.wait({asking}, timeout=0.05)
        assert not done
        answered.set()
        assert await asking == "there"
