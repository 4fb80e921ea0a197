"""The grammar of a schema keeps to one line and to the bounds of its numbers."""

import re
from typing import Literal

from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from models.sampling import gbnf, integers


class Plain(BaseModel):
    kind: Literal["a", "b"]
    number: int


class Bounded(BaseModel):
    level: int = Field(ge=0, le=3)
    above: int = Field(gt=4)
    share: float = Field(ge=0, le=1)
    odd: float = Field(ge=0.5)


def as_regex(rule: str) -> re.Pattern[str]:
    """A rule of literals, digit ranges, groups and alternatives reads the same as a regular expression."""
    return re.compile(rule.replace('"', "").replace(" ", "").replace(".", r"\."))


@given(st.integers(-2000, 2000), st.integers(0, 3000), st.integers(-6000, 6000))
def test_a_range_takes_exactly_its_numbers(low: int, width: int, number: int) -> None:
    taken = as_regex(integers(low, low + width)).fullmatch(str(number))
    assert (taken is not None) == (low <= number <= low + width)


@given(st.integers(-(10**15) + 1, 10**15 - 1), st.integers(0, 10**15))
def test_the_ends_of_a_range_of_any_size_belong_to_it_and_their_neighbours_do_not(low: int, width: int) -> None:
    pattern, high = as_regex(integers(low, low + width)), low + width
    assert pattern.fullmatch(str(low))
    assert pattern.fullmatch(str(high))
    assert not pattern.fullmatch(str(low - 1))
    assert not pattern.fullmatch(str(high + 1))


def test_no_number_is_written_with_a_leading_zero() -> None:
    assert not as_regex(integers(0, 99)).fullmatch("07")
    assert not as_regex(integers(-5, 5)).fullmatch("-0")


def test_bounds_are_in_the_grammar_and_white_space_is_not() -> None:
    grammar = gbnf(Bounded)
    assert 'space ::= ""' in grammar
    assert "[0-3]" in grammar
    assert "range-" not in grammar
    assert "[0-9]{1,3}" in grammar
    assert gbnf(Plain).count("integer ::=") == 1
