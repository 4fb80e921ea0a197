"""What-ifs, and what-ifs of what-ifs: after every step each item stands in its own world as the definitions say.

The events are folded as they come, without a log, so that long histories can be looked at after each of their steps.
"""

import random

from hypothesis import given
from hypothesis import strategies as st

from graph.events.codec import Stored
from graph.projection.projection import project
from graph.projection.schema import NODES
from graph.projection.tables import Tables
from tests.examples import few, histories
from tests.graph.lessons import Lessons
from tests.graph.projection.test_rebuild_equals_live import relations

PLACES = {table.name: {name: place for place, name in enumerate(table.names)} for table in NODES}
OFTEN = (4, 4, 4, 9, 10, 12, 13, 14, 20, 22, 25, 30)  # talk, fork, rewind, hide, delete, learn, contradict
KINDS = st.sampled_from(OFTEN) | st.integers(0, 44)
STEPS = st.lists(st.tuples(KINDS, st.integers(0, 999), st.integers(0, 999)), min_size=20, max_size=80)


class FollowedGraph:
    """A history, and the tables that follow it."""

    def __init__(self) -> None:
        self.told = Lessons()
        self.tables = Tables(lambda seq: self.told.events[seq - 1])
        self._done = 0

    def step(self, step: tuple[int, int, int]) -> None:
        self.told.step(*step)
        for event in self.told.events[self._done :]:
            self._done += 1
            project(Stored(self._done, str(self._done), self._done, event), self.tables)

    def column(self, table: str, name: str) -> dict[str, object]:
        return {id: row[PLACES[table][name]] for id, row in self.tables.nodes[table].items()}

    def live(self) -> set[str]:
        return {id for id, live in self.column("Turn", "live").items() if live}

    def standings(self) -> dict[str, tuple[object, ...]]:
        columns = [self.column("Observation", name) for name in ("live", "status", "current")]
        return {id: tuple(column[id] for column in columns) for id in self.tables.nodes["Observation"]}

    def shown(self, table: str, column: str) -> dict[str, object]:
        return {id: seq for id, seq in self.column(table, column).items() if seq is not None}


def compare(here: FollowedGraph) -> None:
    told = here.told
    assert here.live() == told.live()
    assert here.standings() == told.holding()
    follows = {turn: above for turn, above in told.follows().items() if above is not None}
    assert relations(here.tables, "REPLIES_TO", "Turn") == follows
    heads = {session: told.nearest(head) for session, head in told.head.items()}
    assert relations(here.tables, "HEAD", "Turn") == {id: head for id, head in heads.items() if head is not None}
    for table, column in (("Session", "title_seq"), ("CoreBlock", "seq")):
        shown = {id: at + 1 for id, at in told.shown(table).items() if at is not None}
        assert here.shown(table, column) == shown


@histories(100)
@given(STEPS)
def test_each_world_believes_what_it_sees(steps: list[tuple[int, int, int]]) -> None:
    here = FollowedGraph()
    for step in steps:
        here.step(step)
        compare(here)


def test_histories_have_what_ifs_that_believe_what_they_inherited() -> None:
    """Or the test above would tell nothing: of many random histories, enough have each of these."""
    chance, nested, inheriting, apart = random.Random(5), 0, 0, 0
    for _ in range(few(150)):
        here = FollowedGraph()
        for _ in range(60):
            here.step((chance.choice((*OFTEN, chance.randrange(45))), chance.randrange(1000), chance.randrange(1000)))
        told = here.told
        nested += any(fork.parent in told.at_fork for fork in told.at_fork.values())
        of_what_ifs = [(id, each) for id, each in told.revisions.items() if each.world in told.at_fork]
        inherited = [
            source
            for id, each in of_what_ifs
            if told.holding()[id][0]
            for source in each.sources
            if source in told.home and told.world[told.home[source]] != each.world
        ]
        inheriting += bool(inherited)
        apart += any(source not in told.live() for source in inherited)
    assert min(nested, inheriting, apart) > few(10), (nested, inheriting, apart)
