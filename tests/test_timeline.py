"""Bar 1: whatever a person does to time, every world is what the definitions say; bench/timeline.py is the long run."""

from hypothesis import HealthCheck

from tests.examples import examples
from tests.timeline import Timeline

STEPS = 2_600  # a fifth of the deeds make no sense as things are, and are not done: 2,000 are
STEPS_OF_ONE = 50

TestTimeline = Timeline.TestCase
TestTimeline.settings = examples(STEPS // STEPS_OF_ONE, excused=HealthCheck, stateful_step_count=STEPS_OF_ONE)
