"""A person going back and forth in time, as a state machine of hypothesis, held against the reference after each step.

After each deed every world is compared: which turns it sees, which memories are live and current in it and on how much
proof, what is pinned, what its core blocks say, and that recall answers with nothing else; and every chat of a story:
who plays, what stands on its stage, and what each of the cast saw. Every COMPARE_EVERY steps, and at the end, the live
graph must equal a replay of the log.
"""

import shutil
import tempfile
from pathlib import Path

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from bench.compared import differences
from bench.person import DEEDS, OFTEN, WORDS, Person

COMPARE_EVERY = 50
STAY = 8  # steps before one leaves again: coming back costs as much as eight deeds, and would be every other step
CHOICE = st.integers(0, 10_000)


class Timeline(RuleBasedStateMachine):
    """One person with one memory; `steps` counts the deeds that were done and compared."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="clew-time-"))
        self.homes = 0
        self.steps = 0
        self.came_at = 0
        self.person = Person(self.folder / "0")

    @initialize()
    def begin(self) -> None:
        """There is always a chat."""
        self.person.do("begin", 0, 0, 0, True)

    @rule(deed=st.sampled_from([*DEEDS, *OFTEN]), a=CHOICE, b=CHOICE, c=CHOICE, flag=st.booleans())
    def do(self, deed: str, a: int, b: int, c: int, flag: bool) -> None:
        """One deed, where it makes sense."""
        if self.person.do(deed, a, b, c, flag):
            self._compare_all()

    @precondition(lambda self: self.steps >= self.came_at + STAY)
    @rule(crash=st.booleans())
    def leave_and_come_back(self, crash: bool) -> None:
        """Close and open; or open what a kill would have left, in a copy."""
        here = self.folder / str(self.homes)
        if crash:
            self.homes += 1
            shutil.copytree(here, self.folder / str(self.homes))
        self.person.close()
        self.person.root = self.folder / str(self.homes)
        self.person.open()
        self._compare_all()
        self.came_at = self.steps

    def teardown(self) -> None:
        """The end is a step like any other, and everything is let go."""
        try:
            self._replay()
        finally:
            self.person.end()
            shutil.rmtree(self.folder, ignore_errors=True)

    def _compare_all(self) -> None:
        self.steps += 1
        word = WORDS[self.steps % len(WORDS)]
        assert [line for world in self.person.worlds() for line in differences(self.person, world, word)] == []
        if self.steps % COMPARE_EVERY == 0:
            self._replay()

    def _replay(self) -> None:
        assert [check for check in self.person.memory.doctor() if not check.ok] == []
