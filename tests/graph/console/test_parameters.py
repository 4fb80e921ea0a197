"""The values of a query: which it asks for, which are refused, and what comes back of the others."""

from datetime import UTC, date, datetime
from typing import Any

import pytest

from graph.console.lexing import parameters_of
from graph.console.parameters import MOST_CHARACTERS, given
from graph.errors import Refused


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


def test_a_query_tells_which_values_it_asks_for() -> None:
    query = "MATCH (t:Turn) WHERE t.text = $text AND t.world = $world // $comment\nRETURN '$string', $n, $text, `$x`"
    assert parameters_of(query) == ("text", "n")


def test_only_what_is_asked_for_is_given_and_the_world_by_itself() -> None:
    assert given("RETURN $a, $world", {"a": 1}) == {"a": 1, "world": "main"}
    assert given("RETURN $a", {"a": None}, world="w") == {"a": None}
    assert given("RETURN $world", {"world": "mine"}, world="w") == {"world": "mine"}
    assert given("RETURN 1", None) == {}
    assert given("RETURN $a, $world", None, needed=False) == {"world": "main"}


def test_what_is_missing_is_told_with_its_place_and_what_is_too_much_with_what_was_meant() -> None:
    with pytest.raises(Refused, match=r"\$b has no value: give it one \(line 2, column 8\)") as caught:
        given("WITH $a AS x\nRETURN $b", {"a": 1})
    assert (caught.value.line, caught.value.column) == (2, 8)
    with pytest.raises(Refused, match=r"no \$txet in this query; did you mean \$text\? "):
        given("RETURN $text", {"text": "x", "txet": "x"})
    with pytest.raises(Refused, match=r"no \$other in this query: it asks for \$a, \$b"):
        given("RETURN $a, $b", {"a": 1, "b": 2, "other": 3})
    with pytest.raises(Refused, match=r"no \$a in this query \(line"):
        given("RETURN 1", {"a": 1})


def test_what_is_no_name_of_a_value_is_refused() -> None:
    for name in ("order", "All", "WHERE"):
        with pytest.raises(Refused, match=rf"\${name} is a word of the language.*say \${name}_ "):
            parameters_of(f"RETURN ${name}")
    for query in ("RETURN $", "RETURN $1", "RETURN $`a`", "RETURN $ a", "RETURN $é"):
        with pytest.raises(Refused, match="A parameter is a dollar sign and a name"):
            parameters_of(query)


@pytest.mark.parametrize(
    ("value", "why"),
    [
        (2**63, "more than 64 bits"),
        ([1, 2**70], "more than 64 bits"),
        ("a\ud800", "half a character"),
        ([1, "a"], "a list of both a whole number and a text"),
        ([True, 1], "a list of both true or false and a whole number"),
        ([[1], ["a"]], "a list of both a whole number and a text"),
        ([{"a": 1}, {"b": 2}], "a list of both a map of a and a map of b"),
        ([{"a": 1}, {"a": "x"}], "a list of both"),
        ([{"a": {"b": 1}}, {"a": {"b": "x"}}], "a list of both"),
        ([[{"a": 1}], [{"a": "x"}]], "a list of both"),
        ([1, {"a": 1}], "a list of both"),
        ({}, "a map without keys"),
        ({"a": None, "b": 1}, "a map with a key that is null"),
        ([{"a": None}], "a map with a key that is null"),
        ({1: 2}, "keys that are no names"),
        ({"": 2}, "keys that are no names"),
        ("x" * (MOST_CHARACTERS + 1), "longer than 1,000,000 characters"),
        (nested(30), "nested more than 20 deep"),
        (datetime(2026, 1, 1, tzinfo=UTC), "a time with a zone"),
        (object(), "of the type object"),
        (b"x", "of the type bytes"),
    ],
)
def test_a_value_that_the_engine_would_spoil_is_refused(value: Any, why: str) -> None:
    with pytest.raises(Refused, match=rf"\$a cannot be .*{why}.* \(line 1, column 8\)\. Nothing was run"):
        given("RETURN $a", {"a": value})


def test_a_value_that_fits_is_given_as_it_is() -> None:
    for value in (
        *(None, True, -(2**63), 2.5, "é \0", "x" * 100_000, date(2026, 1, 1), datetime(2026, 1, 1, 12)),
        *([1, 2.5, None], [[1], [], None], ["a"], {"a": {"b": [1, None]}}),
        *([{"a": 1, "b": None}, {"b": "x", "a": 2.5}], [{"a": [1]}, {"a": []}]),
    ):
        assert given("RETURN $a", {"a": value}) == {"a": value}
