"""What is live after forks, what-ifs, rewinds, hiding and deleting."""

from graph.events import HeadMoved, SessionDeleted, SessionForked, SessionStarted, TurnDeleted, TurnHidden, TurnUnhidden
from graph.memory import Memory
from tests.graph.projection.test_rebuild_equals_live import rows
from tests.graph.talk import reply, said, talk


def live(memory: Memory) -> set[object]:
    return {row["id"] for row in memory.query("MATCH (t:Turn) WHERE t.live RETURN t.id AS id")}


def test_a_rewind_takes_what_follows_and_going_forward_brings_it_back(whole: Memory) -> None:
    talk(whole, 4)
    whole.append(HeadMoved(session="s", turn="s1"))
    assert live(whole) == {"s0", "s1"}
    whole.append(HeadMoved(session="s", turn="s3"))
    assert live(whole) == {"s0", "s1", "s2", "s3"}
    whole.append(HeadMoved(session="s", turn=None))
    assert live(whole) == set()


def test_of_two_alternatives_the_one_below_the_head_is_live(whole: Memory) -> None:
    talk(whole, 2)
    whole.append(reply("other", parent="s0"))
    assert live(whole) == {"s0", "other"}


def test_a_fork_into_main_keeps_alive_what_its_origin_rewinds(whole: Memory) -> None:
    talk(whole, 4)
    whole.append(SessionForked(session="f", origin="s", at="s2", client="test"))
    whole.append(HeadMoved(session="s", turn="s0"))
    assert live(whole) == {"s0", "s1", "s2"}
    whole.append(SessionDeleted(session="f"))
    assert live(whole) == {"s0"}


def test_a_what_if_has_its_own_turns_and_keeps_none_of_main_alive(whole: Memory) -> None:
    talk(whole, 4)
    whole.append(SessionForked(session="w", origin="s", at="s2", world="what-if", client="test"))
    whole.append(said("w0", "w", parent="s2"))
    assert live(whole) == {"s0", "s1", "s2", "s3", "w0"}
    whole.append(HeadMoved(session="s", turn="s0"))
    assert live(whole) == {"s0", "w0"}


def test_main_keeps_nothing_of_a_what_if_alive(whole: Memory) -> None:
    talk(whole, 2)
    whole.append(SessionForked(session="w", origin="s", at="s1", world="what-if", client="test"))
    whole.append(said("w0", "w", parent="s1"), HeadMoved(session="s", turn="w0"))
    whole.append(HeadMoved(session="w", turn="s1"))
    assert live(whole) == {"s0", "s1"}


def test_hiding_is_reversible_and_deleting_is_not(whole: Memory) -> None:
    talk(whole, 2)
    whole.append(TurnHidden(turn="s0"))
    assert live(whole) == {"s1"}
    whole.append(TurnUnhidden(turn="s0"))
    assert live(whole) == {"s0", "s1"}
    whole.append(TurnDeleted(turn="s0"), TurnUnhidden(turn="s0"))
    assert live(whole) == {"s1"}


def test_a_queued_message_is_not_live_and_what_is_said_in_a_deleted_session_neither(whole: Memory) -> None:
    talk(whole, 1)
    whole.append(said("waits", queued=True), SessionStarted(session="gone", client="test"))
    whole.append(SessionDeleted(session="gone"), said("late", "gone"))
    assert live(whole) == {"s0"}


def test_a_head_move_touches_only_the_turns_between_its_places(whole: Memory) -> None:
    talk(whole, 30)
    written: list[str] = []

    def watch(store: object, applied: int) -> None:
        execute = whole._graph._store.execute  # type: ignore[union-attr]

        def counting(cypher: str, parameters: dict[str, object] | None = None) -> list[list[object]]:
            if cypher.startswith("MATCH (n:`Turn`") and " SET " in cypher:
                written.append(str((parameters or {})["id"]))
            return execute(cypher, parameters)

        whole._graph._store.execute = counting  # type: ignore[union-attr, method-assign]

    whole._graph.inspect(watch)
    whole.append(HeadMoved(session="s", turn="s25"))
    assert sorted(written) == ["s26", "s27", "s28", "s29"]


def test_it_is_known_since_when_a_turn_is_on_a_path_and_when_it_was_for_those_that_left_then(whole: Memory) -> None:
    talk(whole, 3)  # events 2 to 4 are its turns
    whole.append(HeadMoved(session="s", turn="s0"))  # 5
    assert times(whole) == {"s0": (2, None), "s1": (None, None), "s2": (None, None)}  # nobody left while they were
    whole.append(HeadMoved(session="s", turn="s2"))  # 6
    whole.append(SessionForked(session="w", origin="s", at="s0", world="w", client="test"))  # 7
    whole.append(HeadMoved(session="s", turn="s1"))  # 8
    whole.append(HeadMoved(session="s", turn=None))  # 9
    assert times(whole) == {"s0": (None, "2-9"), "s1": (None, "6-9"), "s2": (None, "6-8")}
    whole.append(HeadMoved(session="s", turn="s2"))  # 10
    whole.append(SessionForked(session="v", origin="s", at="s0", world="v", client="test"))  # 11
    whole.append(SessionDeleted(session="s"))  # 12
    assert times(whole) == {"s0": (None, "2-9,10-12"), "s1": (None, "6-9,10-12"), "s2": (None, "6-8,10-12")}


def test_a_second_head_does_not_change_since_when_a_turn_is_on_a_path(whole: Memory) -> None:
    talk(whole, 2)
    whole.append(SessionForked(session="f", origin="s", at="s1", client="test"), HeadMoved(session="s", turn="s0"))
    assert times(whole) == {"s0": (2, None), "s1": (3, None)}


def times(memory: Memory) -> dict[str, tuple[object, ...]]:
    return rows(memory, "Turn", ["on_path_since", "past_on_path"])
