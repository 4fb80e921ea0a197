"""What a page, a PDF, a feed or a plain text says: its words with title, author and date, without what stands around.

Plain UTF-8 is taken as it is. All else is read in a process of its own (agent/confined.py): what strangers send may be
made to take a library's time, or to break it. Nothing touches a disk.
"""

import asyncio
import codecs
import io
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from agent import confined
from agent.decoding import decoded
from agent.errors import Unreadable
from agent.ingesting import pdf
from agent.references.client import GOES_ON

LONGEST = 400_000  # characters of a text
MOST_ENTRIES = 50  # of a feed, the first ones
HTML = ("text/html", "application/xhtml+xml")
FEEDS = ("application/rss+xml", "application/atom+xml", "application/rdf+xml")
XML = ("application/xml", "text/xml")
PLAIN = ("application/json", "application/ld+json", "application/yaml", "application/toml", "application/javascript")
UTF_8 = ("", "utf-8", "utf8", "us-ascii")
UNSAID = ("", "application/octet-stream", "binary/octet-stream", "unknown/unknown")
_META = re.compile(rb"<meta[^>]{0,200}charset\s*=\s*[\"']?\s*([A-Za-z0-9._:-]{1,40})", re.IGNORECASE)
MEDIA = {"image": "a picture", "audio": "a recording", "video": "a film", "font": "a font"}


@dataclass(frozen=True, slots=True)
class Page:
    """What something says; `cut` tells that it goes on. A day is as it was written there."""

    text: str
    title: str = ""
    author: str = ""
    date: str = ""
    cut: bool = False


async def read_apart(body: bytes, kind: str, charset: str, *, within_s: float = confined.WITHIN_S) -> Page:
    """What a body of a type says, read in a process of its own where there is more to it. Raises Unreadable."""
    plain = await asyncio.to_thread(_plain, body, kind, charset)
    if plain is not None:
        return plain
    try:
        found = await confined.read("page", body, {"kind": kind, "charset": charset}, within_s=within_s)
    except TimeoutError as error:
        raise Unreadable(f"It takes too long to read what that page says. {GOES_ON}") from error
    except OSError as error:
        raise Unreadable(f"What lies there cannot be read now: {error.strerror or error}. {GOES_ON}") from error
    except confined.Broken as error:
        raise Unreadable(f"What lies there is broken, and cannot be read. {GOES_ON}") from error
    if "error" in found:
        raise Unreadable(found["error"])
    return Page(**found)


def read_given(given: bytes, about: dict[str, Any]) -> dict[str, Any]:
    """The same in the process that reads it: a page, or the `error` that is told of it."""
    try:
        return asdict(read(given, about["kind"], about["charset"]))
    except Unreadable as error:
        return {"error": str(error)}


def read(body: bytes, kind: str, charset: str) -> Page:
    """What a body of a type says. Raises Unreadable, and whatever a broken body brings a library to."""
    return _bounded(_read(body, kind, charset))


def _plain(body: bytes, kind: str, charset: str) -> Page | None:
    """A text that only has to be decoded, and is what it is said to be; None for all else."""
    if kind != "text/plain" or charset.casefold() not in UTF_8 or b"\0" in body:
        return None
    try:
        return _bounded(Page(body.decode("utf-8-sig")))
    except UnicodeDecodeError:
        return None


def _bounded(page: Page) -> Page:
    text = page.text.strip()
    if not text:
        raise Unreadable(f"There are no words in what lies there. {GOES_ON}")
    return Page(text[:LONGEST], _line(page.title), _line(page.author), _line(page.date), len(text) > LONGEST)


def _read(body: bytes, kind: str, charset: str) -> Page:
    begins = body[:2000].lstrip().lower()
    if kind == "application/pdf" or (kind in UNSAID and begins.startswith(b"%pdf")):
        return _pdf(body)
    if kind in FEEDS or (kind in (*XML, *UNSAID) and any(tag in begins for tag in (b"<rss", b"<feed", b"<rdf:rdf"))):
        return _feed(body, kind)
    if kind in HTML or (kind in UNSAID and any(tag in begins for tag in (b"<html", b"<!doctype html"))):
        return _html(_letters(body, charset))
    media = MEDIA.get(kind.partition("/")[0])
    if media is not None:
        raise Unreadable(f"What lies there is {media} ({kind}), in which clew reads no words. {GOES_ON}")
    if kind.startswith("text/") or kind in (*PLAIN, *XML, *UNSAID):
        if b"\0" in body[:8192] and body[:2] not in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
            raise Unreadable(f"What lies there is no text. {GOES_ON}")
        return Page(_letters(body, charset))
    raise Unreadable(f"What lies there is {kind}, which clew cannot read. {GOES_ON}")


def _letters(body: bytes, charset: str) -> str:
    """The letters of some bytes, as a server or the page itself says that they are written."""
    said = _META.search(body[:4096])
    return decoded(body, charset, said[1].decode() if said else "").text


def _html(text: str) -> Page:
    from trafilatura import bare_extraction, html2txt

    found: Any = bare_extraction(text, with_metadata=True, include_comments=False, include_tables=True)
    if found is None or not found.text:
        return Page(html2txt(text) or "")
    return Page(found.text, found.title or "", found.author or "", found.date or "")


def _pdf(body: bytes) -> Page:
    found = pdf.read_given(body, {"most": LONGEST})
    if pdf.LOCKED in found:
        raise Unreadable(f"That PDF is encrypted. {GOES_ON}")
    return Page("\n\n".join(found["texts"]), found["title"], found["author"], found["date"])


def _feed(body: bytes, kind: str) -> Page:
    import feedparser

    # As a file: bytes it takes for a name, and opens that.
    found = feedparser.parse(io.BytesIO(body), response_headers={"content-type": kind} if kind else {})
    about = found.feed
    return Page(
        "\n\n".join(_entries(found.entries)),
        about.get("title", ""),
        about.get("author", ""),
        (about.get("updated") or about.get("published") or "")[:40],
    )


def _entries(entries: list[Any]) -> Iterator[str]:
    from trafilatura import html2txt

    for entry in entries[:MOST_ENTRIES]:
        day = (entry.get("published") or entry.get("updated") or "")[:40]
        head = " · ".join(_line(part) for part in (entry.get("title", ""), day, entry.get("link", "")) if part)
        says = html2txt(f"<html><body>{entry.get('summary', '')}</body></html>") or ""
        yield "\n".join(part for part in (head, says) if part)


def _line(text: str) -> str:
    return " ".join(text.split())[:300]
