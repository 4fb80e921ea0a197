"""Whom a message is said to, on tables of how people write, and where it cannot be told."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.story.addressee import Addressee, addressed
from agent.story.names import Named
from bench.fiction.tables import Address, addresses
from tests.examples import few
from tests.phrases import Rows, babble, scored
from tests.tables import each

MARA, JONAS = Named("mara", ("Mara Voss", "Mara")), Named("jonas", ("Jonas Hale", "Jonas"))
BOTH = (MARA, JONAS)


def every(path: Path) -> Rows[Address]:
    return [(each, [each.expected]) for each in addresses(path.stem)]


def explicit(path: Path) -> Rows[Address]:
    """Those that name whom they speak to."""
    return [(row, expected) for row, expected in every(path) if row.explicit]


def test_whom_a_message_is_said_to_is_told_by_its_words() -> None:
    def told(row: Address) -> list[str]:
        return [row.got()]

    table = Path(__file__).with_name("addressee.toml")
    scored(table, told, 0.996, held_out=0.983, read=every)
    scored(table, told, 1, held_out=0.987, read=explicit)


def test_the_first_table_has_the_rows_that_are_asked_for() -> None:
    table = [*addresses("addressee")]
    assert len(table) >= 200
    assert len({(row.text, row.members, row.host) for row in table}) == len(table)
    assert all(row.expected in {*(member.id for member in row.members), row.host} for row in table)


RULES = [
    ("Tell Jonas I'm fine, Mara", Addressee("mara", "vocative", False)),
    ("Jonas knows.", Addressee("jonas", "named", False)),
    ("Jonas told Mara.", Addressee("mara", "host", True)),
    ("Jonas and Mara, come here.", Addressee("mara", "host", True)),
    ("Jonas's coat is wet.", Addressee("mara", "host", True)),
    ("What now?", Addressee("mara", "host", True)),
    ("", Addressee("mara", "host", True)),
    ("((Jonas, this is out of character.)) What now?", Addressee("mara", "host", True)),
]


def test_it_is_told_by_which_rule_and_whether_it_is_sure() -> None:
    def told(row: tuple[str, Addressee]) -> None:
        assert addressed(row[0], BOTH, host="mara") == row[1]

    each(RULES, told)


def test_whoever_is_alone_with_the_speaker_is_surely_spoken_to() -> None:
    assert addressed("What now?", [JONAS], host="mara") == Addressee("jonas", "host", False)
    assert addressed("Jonas?", [JONAS], host="mara") == Addressee("jonas", "vocative", False)
    assert addressed("Mara?", [], host="mara") == Addressee("mara", "host", False)


def test_a_name_that_two_share_is_nobodys() -> None:
    lund = Named("lund", ("Mara Lund", "Mara"))
    assert addressed("Mara, come here.", [lund, MARA], host="lund") == Addressee("lund", "host", True)
    assert addressed("Mara Voss, come here.", [lund, MARA], host="lund") == Addressee("mara", "vocative", False)


def test_a_name_of_nothing_but_signs_is_never_found() -> None:
    assert addressed("???", [Named("odd", ("???", "", " ")), MARA], host="mara") == Addressee("mara", "host", True)


def test_accents_may_be_written_as_marks_of_their_own() -> None:
    zoe, noe = Named("zoe", ("Zoe\u0308",)), Named("noe", ("No\u00e9",))
    for text in ("Zoe, where is Noe?", "Zo\u00eb, where is Noe\u0301?", "ZOE\u0308, where is Noe?"):
        assert addressed(text, [noe, zoe], host="noe") == Addressee("zoe", "vocative", False), text
    assert addressed("Where is Noe\u0301, Zoe\u0308?", [noe, zoe], host="noe").id == "zoe"


WORDS = """Mara jonas Jonas's @Mara hey and you , . ? * " ' ( to I -"""


@given(babble(WORDS, "\n"), st.booleans())
def test_somebody_present_is_spoken_to_whatever_is_said_and_whoever_comes_first(text: str, mara: bool) -> None:
    host = "mara" if mara else "jonas"
    got = addressed(text, BOTH, host=host)
    assert got.id in ("mara", "jonas")
    assert got == addressed(text, BOTH[::-1], host=host)
    assert (got.rule == "host") == got.unsure
    assert not got.unsure or got.id == host


@pytest.mark.parametrize(
    "piece",
    ["Mara ", "Mara, ", '"', "'a ", "‘a’b", "(", "*", "@", "and ", "hey ", "the ", "Old   ", "Jonas' ", "?", "-"],
)
def test_200_kilobytes_of_anything_are_read(piece: str) -> None:
    text = piece * (few(200_000) // len(piece))
    members = (MARA, Named("jonas", ("Jonas", "Old Tom")))
    assert addressed(text, members, host="jonas").id in ("mara", "jonas")
