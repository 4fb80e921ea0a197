"""Escapes in strings: the engine gets the characters they stand for, and places in what it says stay true."""

import pytest

from graph.console.grammar import checked
from graph.errors import Refused
from graph.memory import Memory
from tests.graph.console.conftest import place_of
from tests.graph.talk import said
from tests.tables import each

pytestmark = pytest.mark.process

MEANT = {
    r"'x\ny'": "x\ny",
    r"'\N\r\T\b\F'": "\n\r\t\b\f",
    r"'\u00e9\xE9\U0001f600'": "éé😀",
    r"'\ud83d\ude00'": "😀",
    r"'\x01\x1f\x7f\x9f\U0010ffff'": "\x01\x1f\x7f\x9f\U0010ffff",
    r"'\x27\x22\x5c'": "'\"\\",
    r'"\u0027\u0022\u005cn"': "'\"\\n",
    r"'\\n\'\"'": "\\n'\"",
    r"'\x5c\x27 RETURN 2 AS b //'": "\\' RETURN 2 AS b //",
    "'a\nb\tc'": "a\nb\tc",
}


def test_an_escape_is_the_character_it_stands_for_and_what_is_looked_for_is_what_was_written(spoken: Memory) -> None:
    def check(row: tuple[str, str]) -> None:
        string, meant = row
        assert spoken.console.run(f"RETURN {string} AS a, 1 AS b").rows == ((meant, 1),)
        statement = checked(f"RETURN {string}")
        assert checked(statement) == statement
        assert len(statement) == len(f"RETURN {string}")

    spoken.append(said("long", parent="s5", text="two\nlines of caf\u00e9"))
    each(MEANT.items(), check)
    for string in (r"'two\nlines'", r"'caf\u00e9'", r"'caf\xe9'"):
        assert spoken.console.run(f"MATCH (t:Turn) WHERE t.text CONTAINS {string} RETURN t.id").rows == (("long",),)
    assert spoken.console.run(r"MATCH (t:Turn) WHERE t.text CONTAINS '\n' RETURN count(*)").rows == ((1,),)


def test_what_is_no_character_is_refused_at_its_place(standing: Memory) -> None:
    def check(row: tuple[str, int]) -> None:
        query, column = row
        assert place_of(standing, query, "Nothing was run", Refused) == (1, column)

    rows = [
        (r"RETURN '\x00'", 9),
        (r"RETURN 'ab\u0000'", 11),
        (r"RETURN 'a\ud83d'", 10),
        (r"RETURN '\ude00\ud83d'", 9),
        (r"RETURN '\U00110000'", 9),
        (r"RETURN '\Uffffffff'", 9),
        ("RETURN 'a\0'", 10),
        (r"RETURN '\d'", 8),
        (r"RETURN '\u12'", 8),
    ]
    each(rows, check)


def test_places_behind_an_escape_are_those_of_the_query(standing: Memory) -> None:
    def check(row: tuple[str, tuple[int, int]]) -> None:
        query, place = row
        assert place_of(standing, query) == place

    rows = [
        (r"RETURN '\n\n\U0001f600' AS a, , 1", (1, 31)),
        ("RETURN '\\n',\n '\\x41' AS b, , 1", (2, 15)),
        (r"RETURN '\n\n' AS a, x", (1, 21)),
        ("RETURN '\\n' AS a,\n  x", (2, 3)),
        ("MATCH (t:Turn) WHERE t.text = '\\u000a' RETURN t.nope", (1, 49)),
        ("WITH '\\n' AS a\nMATCH (t:Turn) RETURN $b", (2, 23)),
    ]
    each(rows, check)
