"""What a model is trusted with, and that it is not paid for twice."""

from pathlib import Path

from agent.reflection.consolidation import Actions, Create
from agent.reflection.trust import BAR, TASKS, Trusts, passes, probe, trusted
from graph.events import ObservationKind
from tests.fakes import FakeGenerator

JUNK = Actions(actions=[Create(text="A new memory.", category=ObservationKind.FACT, confidence=1, sources=[1])])
RIGHT = [task.right for task in TASKS]


async def test_a_model_that_does_all_tasks_right_is_trusted() -> None:
    assert trusted(await probe(FakeGenerator(answers=RIGHT)))


async def test_one_mistake_is_forgiven_and_two_are_not() -> None:
    assert trusted(await probe(FakeGenerator(answers=[JUNK, *RIGHT[1:]])))
    assert not trusted(await probe(FakeGenerator(answers=[JUNK, JUNK, *RIGHT[2:]])))


async def test_it_stops_where_the_bar_cannot_be_reached_any_more() -> None:
    model = FakeGenerator(answers=[JUNK] * len(TASKS))
    await probe(model)
    assert len(model.answers) == len(TASKS) - 2


async def test_saying_nothing_to_everything_is_not_enough() -> None:
    assert not trusted(await probe(FakeGenerator(answers=[Actions(actions=[])] * len(TASKS))))


async def test_a_model_that_gives_no_answer_is_not_trusted() -> None:
    assert await probe(FakeGenerator()) < BAR


def test_every_task_accepts_its_own_answer_and_no_other_tasks() -> None:
    for task in TASKS:
        assert passes(task, task.right)
        assert not passes(task, JUNK)
        others = [other.right for other in TASKS if other.right.actions and other is not task]
        assert not any(passes(task, other) for other in others)


async def test_the_score_is_kept_by_model_file_and_a_damaged_cache_is_made_again(tmp_path: Path) -> None:
    file = tmp_path / "trusted.json"
    model = FakeGenerator(answers=list(RIGHT))
    assert Trusts(file).known(model) is None
    assert await Trusts(file).score(model) == 1
    assert not model.answers
    again = Trusts(file)
    assert await again.score(model) == 1  # it has no answer left, so it was not asked
    assert again.known(model) == 1
    assert not trusted(await again.score(FakeGenerator(name="another")))
    file.write_text("{", encoding="utf-8")
    assert not trusted(await Trusts(file).score(model))
