"""What pages, PDFs, feeds and texts say, and what is told of what says nothing: in the process that reads them."""

import sys
from pathlib import Path

import pytest

from agent import confined
from agent.errors import Unreadable
from agent.references.extraction import LONGEST, Page, read, read_apart
from tests.agent.ingesting.test_files import pdf

ARTICLE = """<!doctype html><html><head><title>On limpets - The Tide</title><meta name="author" content="Ada Byron">
<meta property="article:published_time" content="2026-03-04T10:00:00Z"></head><body><nav><a href="/">Home</a> Menu</nav>
<article><h1>On limpets</h1><p>Limpets are aquatic snails with a shell that is broadly conical, and they cling to rocks
when the tide goes out.</p><p>They return to the same spot, their home scar, and graze on algae at high tide.</p>
<script>alert("no")</script></article><footer>Copyright nobody</footer></body></html>"""
RSS = """<?xml version="1.0"?><rss version="2.0"><channel><title>The Tide</title><link>https://tide.example/</link>
<item><title>Spring tide</title><link>https://tide.example/1</link><pubDate>Wed, 04 Mar 2026 10:00:00 GMT</pubDate>
<description>&lt;p&gt;The &lt;b&gt;highest&lt;/b&gt; of the year.&lt;/p&gt;</description></item>
<item><title>Neap tide</title><link>https://tide.example/2</link></item></channel></rss>"""
ABOUT = {"/Title": "On tides", "/Author": "Ada", "/CreationDate": "D:20260304120000Z"}


@pytest.mark.parametrize("kind", ["text/html", "application/xhtml+xml", "", "application/octet-stream"])
def test_a_page_is_its_words_without_what_stands_around(kind: str) -> None:
    page = read(ARTICLE.encode(), kind, "utf-8")
    assert (page.title, page.author, page.date) == ("On limpets", "Ada Byron", "2026-03-04")
    assert "home scar" in page.text
    assert not [word for word in ("Menu", "alert", "Copyright", "<p>") if word in page.text]


def test_a_page_without_an_article_is_all_its_words() -> None:
    assert "Only this." in read(b"<html><body><div>Only this.</div></body></html>", "text/html", "").text


@pytest.mark.parametrize("kind", ["application/rss+xml", "text/xml", "application/xml", ""])
def test_a_feed_is_its_entries(kind: str) -> None:
    page = read(RSS.encode(), kind, "")
    assert page.title == "The Tide"
    assert page.text.splitlines()[0] == "Spring tide · Wed, 04 Mar 2026 10:00:00 GMT · https://tide.example/1"
    assert "The highest of the year." in page.text
    assert page.text.endswith("Neap tide · https://tide.example/2")


@pytest.mark.parametrize("kind", ["application/pdf", ""])
def test_a_pdf_is_its_pages(kind: str) -> None:
    page = read(pdf("The tide comes at nine", about=ABOUT), kind, "")
    assert page == Page("The tide comes at nine", "On tides", "Ada", "2026-03-04")


def test_letters_are_read_as_the_server_or_the_page_says_that_they_are_written() -> None:
    assert read("潮は満ちる".encode("shift_jis"), "text/plain", "x-sjis").text == "潮は満ちる"
    page = '<html><meta charset="windows-1251"><body><p>Прилив приходит каждый день.</p></body></html>'
    assert "Прилив приходит" in read(page.encode("cp1251"), "text/html", "").text


def test_a_long_text_is_cut_and_says_so() -> None:
    page = read(b"tide " * LONGEST, "text/plain", "")
    assert (len(page.text), page.cut) == (LONGEST, True)


@pytest.mark.parametrize(
    ("body", "kind", "why"),
    [
        (b"\x89PNG", "image/png", "a picture"),
        (b"ID3", "audio/mpeg", "a recording"),
        (b"PK\3\4", "application/zip", "is application/zip, which clew cannot read"),
        (b"\0\1\2", "application/octet-stream", "is no text"),
        (b"\0\1\2", "text/plain", "is no text"),
        (b"  \n ", "text/plain", "There are no words"),
        (b"<html></html>", "text/html", "There are no words"),
        (b"", "", "There are no words"),
        (b"<rss></rss>", "application/rss+xml", "There are no words"),
    ],
)
def test_what_has_no_words_is_told(body: bytes, kind: str, why: str) -> None:
    with pytest.raises(Unreadable, match=why):
        read(body, kind, "")


@pytest.mark.process
async def test_it_is_read_in_a_process_of_its_own() -> None:
    page = await read_apart(ARTICLE.encode(), "text/html", "utf-8")
    assert page == read(ARTICLE.encode(), "text/html", "utf-8")
    with pytest.raises(Unreadable, match="a picture"):
        await read_apart(b"\x89PNG", "image/png", "")


def test_a_feed_is_what_was_sent_and_no_file_of_that_name(tmp_path: Path) -> None:
    (tmp_path / "feed").write_text(RSS, encoding="utf-8")
    with pytest.raises(Unreadable, match="no words"):
        read(str(tmp_path / "feed").encode(), "application/rss+xml", "")


DEEP_ENTITIES = "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10 if n else "tide"}">' for n in range(12))
HOSTILE = {
    "no pdf": (b"%PDF-1.7 then nothing", "application/pdf"),
    "half a pdf": (pdf("words")[:300], "application/pdf"),
    "deep": (b"<html>" + b"<div>" * 200_000 + b"deep", "text/html"),
    "attributes": (b"<a " + b"x=1 " * 200_000, "text/html"),
    "entities": (
        f"<!DOCTYPE x [{DEEP_ENTITIES}]><rss><channel><title>&a11;</title></channel></rss>".encode(),
        "text/xml",
    ),
    "outside": (
        b'<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]><rss><channel><title>&a;</title></channel></rss>',
        "text/xml",
    ),
}


@pytest.mark.process
@pytest.mark.parametrize("name", HOSTILE)
async def test_what_is_broken_or_hostile_ends_in_a_sentence_or_in_words(name: str) -> None:
    said = await told(*HOSTILE[name])
    assert 0 < len(said) <= LONGEST
    assert "root:" not in said


async def told(body: bytes, kind: str) -> str:
    """The words of a body, or the sentence about it."""
    try:
        page = await read_apart(body, kind, "")
    except Unreadable as error:
        return str(error)
    return page.title + page.text


@pytest.mark.process
async def test_what_takes_too_long_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(confined, "COMMAND", (sys.executable, "-c", "import time; time.sleep(9999)"))
    with pytest.raises(Unreadable, match="takes too long"):
        await read_apart(b"x", "text/html", "", within_s=0.1)
