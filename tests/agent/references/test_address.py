"""Addresses: one way of writing each thing, and a sentence for what is none."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from agent.errors import AgentError
from agent.references.address import LONGEST, addresses_in, read_address
from tests.agent.scored import tables
from tests.tables import each

TABLES = tables(__file__)
KEY = "3kabcdefghij2"
POST = f"at://ada.example/app.bsky.feed.post/{KEY}"


def test_a_post_and_a_page_have_one_address_however_they_are_written() -> None:
    def check(row: list[str]) -> None:
        said, text, *host = row
        found = read_address(said)
        assert (found.sort, found.text, found.host) == ("page" if host else "thread", text, "".join(host))

    each([*TABLES["posts"], *TABLES["pages"]], check)


def test_a_file_is_its_whole_path(tmp_path: Path) -> None:
    (tmp_path / "a note.md").write_text("x")
    for said in ("a note.md", "@a note.md", '@"a note.md"', str(tmp_path / "a note.md")):
        found = read_address(said, tmp_path)
        assert (found.sort, found.text, found.is_local) == ("file", str(tmp_path / "a note.md"), True)


def test_what_is_no_address_is_told_and_attaches_nothing(tmp_path: Path) -> None:
    def check(row: Sequence[str]) -> None:
        said, why = row
        with pytest.raises(AgentError, match=why) as told:
            read_address(said, tmp_path)
        assert "Nothing was attached." in str(told.value)
        assert "secret" not in str(told.value)
        assert "\x1b" not in str(told.value)

    each([*TABLES["none"], ("https://example.org/" + "x" * LONGEST, "is no address")], check)


def test_the_addresses_of_a_message_are_found_each_once() -> None:
    text = (
        f"Look at https://example.org/a_(b) (and https://example.org/c). Then **{POST}**, ftp://no.example, "
        f"“https://bsky.app/profile/ada.example/post/{KEY}”; https://example.org/c! https://"
    )
    assert [found.text for found in addresses_in(text)] == ["https://example.org/a_(b)", "https://example.org/c", POST]
