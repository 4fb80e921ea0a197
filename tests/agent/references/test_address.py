"""Addresses: one way of writing each thing, and a sentence for what is none."""

from pathlib import Path

import pytest

from agent.errors import AgentError
from agent.references.address import LONGEST, addresses_in, read_address

KEY = "3kabcdefghij2"
POST = f"at://ada.example/app.bsky.feed.post/{KEY}"


@pytest.mark.parametrize(
    ("said", "text"),
    [
        (f"at://Ada.Example/app.bsky.feed.post/{KEY}", POST),
        (f" https://bsky.app/profile/ada.example/post/{KEY} ", POST),
        (f"https://bsky.app/profile/ada.example/post/{KEY}?ref=x#top", POST),
        (f"{POST}/", POST),
        (f"https://bsky.app/profile/did:plc:Abc123/post/{KEY}", f"at://did:plc:Abc123/app.bsky.feed.post/{KEY}"),
    ],
)
def test_a_post_has_one_address_however_it_is_named(said: str, text: str) -> None:
    found = read_address(said)
    assert (found.sort, found.text, found.host) == ("thread", text, "")


@pytest.mark.parametrize(
    ("said", "text", "host"),
    [
        ("https://example.org", "https://example.org/", "example.org"),
        ("HTTPS://Example.ORG:443/A?b=C#d", "https://example.org/A?b=C", "example.org"),
        ("http://example.org.:8080/x", "http://example.org:8080/x", "example.org"),
        ("https://bücher.example/ä b", "https://xn--bcher-kva.example/%C3%A4%20b", "xn--bcher-kva.example"),
        ("https://example.org/%C3%A4?q=%20", "https://example.org/%C3%A4?q=%20", "example.org"),
        ("http://[::1]:8000/", "http://[::1]:8000/", "::1"),
        ("https://bsky.app/profile/ada.example", "https://bsky.app/profile/ada.example", "bsky.app"),
    ],
)
def test_a_page_has_one_address_however_it_is_written(said: str, text: str, host: str) -> None:
    found = read_address(said)
    assert (found.sort, found.text, found.host) == ("page", text, host)


def test_a_file_is_its_whole_path(tmp_path: Path) -> None:
    (tmp_path / "a note.md").write_text("x")
    for said in ("a note.md", "@a note.md", '@"a note.md"', str(tmp_path / "a note.md")):
        found = read_address(said, tmp_path)
        assert (found.sort, found.text, found.is_local) == ("file", str(tmp_path / "a note.md"), True)


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("", "is no address"),
        ("https://example.org/" + "x" * LONGEST, "is no address"),
        ("https://example.org/\x1b[2J", "is no address"),
        ("ftp://example.org/x", "ftp:// is nothing clew can read"),
        ("javascript://example.org/x", "is nothing clew can read"),
        ("at://ada.example", "is no post"),
        ("at://ada.example/app.bsky.graph.list/x", "is no post"),
        ("at://not a name/app.bsky.feed.post/x", "is no post"),
        ("https://ada:secret@example.org/", "a name or a password"),
        ("https://", "names no host"),
        ("https://exa mple.org/", "names no host"),
        ("https://example.org:99999/", "is no web address"),
        ("https://[::1/", "is no web address"),
        ("nowhere.txt", "neither a file nor an address"),
        ("~nobody-at-all/x", "neither a file nor an address"),
    ],
)
def test_what_is_no_address_is_told_and_attaches_nothing(said: str, why: str, tmp_path: Path) -> None:
    with pytest.raises(AgentError, match=why) as told:
        read_address(said, tmp_path)
    assert "Nothing was attached." in str(told.value)
    assert "secret" not in str(told.value)
    assert "\x1b" not in str(told.value)


def test_the_addresses_of_a_message_are_found_each_once() -> None:
    text = (
        f"Look at https://example.org/a_(b) (and https://example.org/c). Then **{POST}**, ftp://no.example, "
        f"“https://bsky.app/profile/ada.example/post/{KEY}”; https://example.org/c! https://"
    )
    assert [each.text for each in addresses_in(text)] == ["https://example.org/a_(b)", "https://example.org/c", POST]
