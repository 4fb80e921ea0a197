"""Turns keep their places; deleted ones are passed by; and whether one is above another is found in few steps."""

import random

from graph.events import Event, TurnSaid
from graph.events.codec import Stored
from graph.memory import Memory
from graph.projection.projection import project
from graph.projection.sources import is_over
from graph.projection.tables import Tables
from tests.graph.deeds import begin, delete, fork, move, taken
from tests.graph.projection.test_rebuild_equals_live import edges, rows
from tests.graph.talk import reply, said, talk


def follows(memory: Memory) -> dict[object, object]:
    return {row[0]: row[1] for row in edges(memory, "REPLIES_TO")}


def heads(memory: Memory) -> dict[object, object]:
    return {row[0]: row[1] for row in edges(memory, "HEAD")}


def test_what_followed_a_deleted_turn_is_touched_and_follows_what_that_followed(memory: Memory) -> None:
    talk(memory, 4)
    (*_, deleted) = memory.append(reply("other", parent="s2"), delete("s2"))
    assert follows(memory) == {"s1": "s0", "s3": "s1", "other": "s1"}
    assert rows(memory, "Turn", ["parent", "depth", "touched"])["s3"] == ("s2", 3, deleted.seq)
    memory.append(said("waits", queued=True), taken("waits", "s", parent="s2"))
    assert follows(memory)["waits"] == "s1"
    memory.append(delete("s0"))
    assert follows(memory) == {"s3": "s1", "other": "s1", "waits": "s1"}
    memory.append(*(delete(turn) for turn in ("s1", "s3", "other", "waits")))
    assert (follows(memory), heads(memory)) == ({}, {})


def test_many_in_a_row_are_passed_by_in_whatever_order_they_go(memory: Memory) -> None:
    for session, order in (("a", (1, 2, 3)), ("b", (3, 2, 1)), ("c", (1, 3, 2)), ("d", (2, 1, 3))):
        talk(memory, 5, session)
        for number in order:
            memory.append(delete(f"{session}{number}"))
        assert {turn: above for turn, above in follows(memory).items() if str(turn).startswith(session)} == {
            f"{session}4": f"{session}0"
        }
        memory.append(reply(f"{session}late", session, parent=f"{session}3"))  # under what is gone
        assert follows(memory)[f"{session}late"] == f"{session}0"


def test_a_head_on_a_deleted_turn_leads_to_the_nearest_above(memory: Memory) -> None:
    talk(memory, 4)
    memory.append(fork("f", "s", "s3"), delete("s3"))
    assert heads(memory) == {"s": "s2", "f": "s2"}
    memory.append(delete("s2"))
    assert heads(memory) == {"s": "s1", "f": "s1"}
    assert rows(memory, "Session", ["head"]) == {"s": ("s3",), "f": ("s3",)}
    memory.append(move("f", "s2"))  # from one that is gone to another
    assert heads(memory) == {"s": "s1", "f": "s1"}
    memory.append(move("s", "s0"))
    assert heads(memory) == {"s": "s0", "f": "s1"}


class Counting(Tables):
    """Tables that count how often a turn is looked at."""

    looks = 0

    def node(self, table: str, id: str):  # type: ignore[no-untyped-def]
        self.looks += table == "Turn"
        return super().node(table, id)


def tree(parents: list[int | None]) -> Counting:
    """Turns by number, below those numbers."""
    turns: list[TurnSaid] = [
        said(f"{number}", parent=None if parent is None else f"{parent}") for number, parent in enumerate(parents)
    ]
    events: list[Event] = [begin("s"), *turns]
    tables = Counting(lambda seq: events[seq - 1])
    for seq, event in enumerate(events, 1):
        project(Stored(seq, f"{seq}", seq, event), tables)
    return tables


def test_whether_one_turn_is_above_another_is_as_the_tree_says() -> None:
    chance = random.Random(11)
    parents: list[int | None] = [None]
    parents += [max(0, number - chance.choice((1, 1, 1, 1, 2, 9, 40))) for number in range(1, 300)]
    tables = tree(parents)
    above: list[set[int]] = []
    for parent in parents:
        above.append(set() if parent is None else {parent} | above[parent])
    for lower in range(0, 300, 3):
        found = {upper for upper in range(300) if is_over(tables, f"{upper}", f"{lower}")}
        assert found == above[lower]


def test_in_a_long_chat_few_turns_are_looked_at() -> None:
    tables = tree([None, *range(4_999)])
    for upper in range(0, 4_999, 123):
        tables.looks = 0
        assert is_over(tables, f"{upper}", "4999")
        assert tables.looks < 60
