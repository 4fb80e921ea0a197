"""The state machine of tests/timeline.py for a long time: deeds in every order, each held against the reference.

    python -m bench.timeline [--steps 50000] [--seed 1] [--json]

Exits 1 at the first step after which a world is not what the definitions say, with the steps that lead there.
"""

import argparse
import sys
import time

from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis.stateful import run_state_machine_as_test

from bench.report import report, say
from tests.timeline import Timeline

STEPS_OF_ONE = 100
TOLD = 20  # examples after which it is told how far it is


def main() -> int:
    """Run the machine and print how far it came."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--steps", type=int, default=50_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    done = examples = 0
    began = time.monotonic()

    class Counted(Timeline):
        def teardown(self) -> None:
            nonlocal done, examples
            super().teardown()
            done, examples = done + self.steps, examples + 1
            if examples % TOLD == 0:
                say(f"{done} steps in {time.monotonic() - began:.0f} s, all well")

    long = settings(
        max_examples=max(1, options.steps // STEPS_OF_ONE),
        stateful_step_count=STEPS_OF_ONE,
        deadline=None,
        database=None,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )
    failed = ""
    try:
        run_state_machine_as_test(seed(options.seed)(Counted), settings=long)
    except AssertionError as error:
        failed = str(error).splitlines()[0] if str(error) else "a world differs"
        print("\n".join(getattr(error, "__notes__", [])), file=sys.stderr)
    report({"checked_steps": done, "seconds": time.monotonic() - began, "failed": failed}, as_json=options.json)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
