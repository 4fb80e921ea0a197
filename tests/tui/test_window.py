"""The mounted slice of a conversation is bounded, moves by pages, and never loses a turn."""

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from graph.values import Turn
from tui.window import MOUNTED, PAGE, Window, around, changed, down, older_read, opened, said, tail, top, up, upto

AT = datetime(2025, 1, 1, tzinfo=UTC)


def turns(first: int, last: int) -> list[Turn]:
    return [Turn(f"T{i}", "S", None, i, "user", "you", str(i), AT, "chat") for i in range(first, last)]


def test_opening_shows_the_last_page_and_reading_older_turns_leaves_what_is_mounted() -> None:
    window = opened(turns(40, 100), asked=60)
    assert [turn.index for turn in window.mounted] == list(range(100 - PAGE, 100))
    assert window.more
    assert not opened(turns(0, 5), asked=60).more
    older = older_read(window, turns(0, 40), asked=60)
    assert older.mounted == window.mounted
    assert (older.oldest, older.more) == ("T0", False)


def test_a_new_turn_is_mounted_only_at_the_tail() -> None:
    window = opened(turns(0, 60), asked=60)
    assert said(window, turns(60, 61)[0]).mounted[-1].id == "T60"
    above = up(up(up(up(up(window)))))
    assert said(above, turns(60, 61)[0]).mounted == above.mounted


@given(st.integers(0, 200), st.lists(st.sampled_from([up, down, tail, top]), max_size=30))
def test_any_walk_keeps_a_bounded_slice_in_range(count: int, steps: list[object]) -> None:
    window = opened(turns(0, count), asked=count or 1)
    for step in steps:
        assert callable(step)
        window = step(window)
        assert isinstance(window, Window)
        assert 0 <= window.first <= window.last <= count
        assert len(window.mounted) <= MOUNTED
        assert bool(window.mounted) == (count > 0)


def test_walking_up_and_down_reaches_both_ends() -> None:
    window = opened(turns(0, 95), asked=200)
    for _ in range(20):
        window = up(window)
    assert window.first == 0
    for _ in range(20):
        window = down(window)
    assert window.at_tail


@given(st.integers(1, 200), st.data())
def test_the_page_around_a_turn_has_it_in_its_midst_and_is_bounded(count: int, data: st.DataObject) -> None:
    place = data.draw(st.integers(0, count - 1))
    window = around(opened(turns(0, count), asked=60), f"T{place}")
    assert window is not None
    assert len(window.mounted) <= MOUNTED
    shown = [turn.index for turn in window.mounted]
    assert place in shown
    assert shown[0] == max(0, place - PAGE // 2)
    assert around(window, "elsewhere") is None


def test_a_window_ends_where_the_chat_goes_on_and_a_hidden_turn_is_mounted_as_such() -> None:
    window = changed(opened(turns(0, 5), asked=60), "T3", hidden=True)
    assert [turn.hidden for turn in window.turns] == [False, False, False, True, False]
    assert not any(turn.hidden for turn in changed(window, "T3", hidden=False).turns)
    left = upto(opened(turns(0, 50), asked=60), "T20")
    assert left is not None
    assert left.at_tail
    assert (left.turns[-1].id, len(left.turns), len(left.mounted)) == ("T20", 21, 10)
    assert upto(left, "T30") is None
