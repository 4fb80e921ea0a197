"""Bar 1: whatever a person does to time, every world is what the definitions say; bench/timeline.py is the long run."""

import pytest
from hypothesis import HealthCheck
from hypothesis.stateful import run_state_machine_as_test

from tests.examples import examples, few
from tests.timeline import Timeline

STEPS = 2_900  # three in ten of the deeds make no sense as things are, and are not done: 2,000 are
STEPS_OF_ONE = 50
PARTS = 4  # beside one another


@pytest.mark.stateful
@pytest.mark.parametrize("part", range(few(PARTS)))
def test_whatever_is_done_to_time_every_world_is_what_the_definitions_say(part: int) -> None:
    count = -(-STEPS // STEPS_OF_ONE // PARTS)
    run_state_machine_as_test(Timeline, settings=examples(count, excused=HealthCheck, stateful_step_count=STEPS_OF_ONE))
