"""Which of two contexts a prompt goes into, and what stays."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.placing import LOST, OPENING, SHARED, behind, common, keeps
from models.protocols import Entry

SYSTEM = list(range(1000, 1000 + SHARED))
A, B, C = ([number] * 400 for number in (1, 2, 3))
ASKS, REPLY = [8] * 20, [9] * 50
ENTRIES: tuple[Entry, ...] = ("generate", "prefill", "put_state")


@dataclass
class Held:
    """What a context has; `sampled` tokens of it are at its end."""

    tokens: list[int]
    sampled: int = 0

    @property
    def read(self) -> int:
        return len(self.tokens) - self.sampled


EMPTY = Held([])


@given(a=st.lists(st.integers(0, 2), max_size=40), b=st.lists(st.integers(0, 2), max_size=40))
def test_what_is_in_common_is_counted_but_for_the_last_token(a: list[int], b: list[int]) -> None:
    assert common(a, b) == len(list(takewhile(lambda pair: pair[0] == pair[1], zip(a, b[:-1], strict=False))))
    assert common(tuple(a), tuple(b)) == common(a, b)


@pytest.mark.parametrize("entry", ENTRIES)
@pytest.mark.parametrize(("front", "back", "is_behind"), [(A, B, False), (B, A, True)])
def test_a_log_is_gone_on_with_where_it_is(entry: Entry, front: list[int], back: list[int], is_behind: bool) -> None:
    held = Held([*front, *REPLY], sampled=len(REPLY)), Held([*back, *REPLY])
    for prompt in ([*A, *REPLY, *ASKS], [*A, *ASKS]):  # the last reply may have been left out
        assert behind(*held, prompt, entry) is is_behind


@pytest.mark.parametrize("entry", ENTRIES)
@pytest.mark.parametrize("back", [None, EMPTY, Held(B)])
def test_a_log_that_is_nowhere_leaves_what_is_in_front(entry: Entry, back: Held | None) -> None:
    assert behind(Held(A), back, C, entry)


def test_a_reply_does_not_wait_to_keep_what_is_in_front_where_it_shares_a_beginning_with_it() -> None:
    front, new = Held([*SYSTEM, *A]), [*SYSTEM, *C]
    assert not behind(front, None, new, "generate")
    assert behind(front, Held([*SYSTEM, *B]), new, "generate")  # what is behind shares it too, and is older
    assert behind(front, None, new, "prefill")  # nobody waits for that


def test_a_handful_of_tokens_is_not_worth_a_context() -> None:
    assert not behind(Held(A[:LOST]), None, C, "generate")
    assert behind(Held(A[: LOST + 1]), None, C, "generate")


@pytest.mark.parametrize("entry", ENTRIES[1:])
def test_even_a_handful_stays_where_nobody_waits(entry: Entry) -> None:
    assert behind(Held(A[:OPENING]), Held(B), C, entry)


def test_where_one_of_both_has_nothing_to_lose_it_is_taken() -> None:
    assert not behind(EMPTY, Held(B), C, "generate")
    assert not behind(EMPTY, Held(B), C, "put_state")
    assert not behind(EMPTY, Held(B), C, "prefill")
    assert behind(EMPTY, None, C, "prefill")  # a message that comes meanwhile is answered in front


def test_what_opened_a_reply_that_is_not_in_the_log_is_nothing_to_lose() -> None:
    opened = Held([*A, *[7] * OPENING, *REPLY], sampled=len(REPLY))
    assert not behind(opened, Held(B), [*A, *ASKS], "prefill")


@pytest.mark.parametrize("entry", ENTRIES)
def test_two_logs_that_take_turns_keep_each_other(entry: Entry) -> None:
    front, back = Held([*A, *REPLY], sampled=len(REPLY)), Held(B)
    assert keeps(front, back, [*A, *REPLY], [*B, *ASKS], entry, jobs=False)
    assert keeps(front, back, B, [*A, *REPLY, *ASKS], entry, jobs=False)


@pytest.mark.parametrize("entry", ENTRIES)
@pytest.mark.parametrize(("third", "stays"), [(C, (True, False)), ([*A, *C], (True, True))])
def test_a_third_log_pushes_out_the_oldest_or_goes_on(entry: Entry, third: list[int], stays: Sequence[bool]) -> None:
    front, back = Held(A), Held(B)
    assert tuple(keeps(front, back, log, third, entry, jobs=False) for log in (A, B)) == stays


def test_objects_by_grammar_that_share_the_context_behind_push_out_what_is_in_it() -> None:
    assert not keeps(Held(A), Held(B), A, [*B, *ASKS], "generate", jobs=True)
    assert keeps(Held(A), Held(B), B, [*B, *ASKS], "generate", jobs=True)


def test_what_is_in_neither_is_not_lost() -> None:
    assert keeps(Held(A), Held(B), C, [5] * 100, "generate", jobs=True)
