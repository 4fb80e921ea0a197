"""Whatever a source does, through the whole Agent: the reply comes, why there is nothing is one sentence, none is kept.

Every text that is served carries a word that is in no file afterwards.
"""

import asyncio
import gzip
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from agent.references import quotes
from tests.agent.conftest import MakeAgent
from tests.agent.ingesting.test_files import pdf
from tests.agent.references.chats import NONCE, THREAD, at, chat_of, files_with, read_here
from tests.agent.references.test_extraction import ARTICLE, RSS
from tests.agent.references.test_threads import ADA, BOB, DEFS, gone, post, quoting
from tests.agent.references.web import Asked, Web, head, serving

pytestmark = pytest.mark.process

WORDS = f"The {NONCE} light burns all night, and somebody keeps it lit."
HTML = f"<html><body><article><p>{WORDS}</p></article></body></html>"
HALF = gzip.compress(HTML.encode() * 99, mtime=0)[:-30]
PICTURE = {"$type": "app.bsky.embed.images#view", "images": [{"alt": f"A {NONCE} at sea"}]}
BARE = {"$type": f"{DEFS}threadViewPost", "post": {"author": {}, "record": {"text": 7}}}
SILENT = "is still being read"
WITHHELD = [{"val": "!no-unauthenticated"}]
LONG = 11 << 20
Serve = Callable[[Web], None]


@dataclass(frozen=True)
class Case:
    """What is served at /it, or as a thread; what is told of it, empty where it is read; what stands in the prompt.

    Where it is read `apart`, that is done in a process of its own.
    """

    name: str
    serve: Serve
    says: str = ""
    given: str = NONCE
    apart: bool = False


def body(data: bytes | str, kind: str, **headers: Any) -> Serve:
    return lambda web: web.put("/it", data, kind, **headers)


def status(code: int, **headers: Any) -> Serve:
    return lambda web: web.put("/it", HTML, status=code, **headers)


def raw(data: bytes) -> Serve:
    async def answer(asked: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(data)

    return lambda web: web.answers.update({"/it": answer})


def endless(web: Web) -> None:
    async def answer(asked: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(head(200, {"Content-Type": "text/plain"}))
        piece = f"{WORDS}\n".encode() * 1000
        while True:
            writer.write(piece)
            await writer.drain()

    web.answers["/it"] = answer


def silent(after: bytes = b"") -> Serve:
    def serve(web: Web) -> None:
        async def answer(asked: Asked, writer: asyncio.StreamWriter) -> None:
            writer.write(after)
            await writer.drain()
            await web.over.wait()

        web.answers["/it"] = answer

    return serve


def moved(*hops: str) -> Serve:
    def serve(web: Web) -> None:
        for number, hop in enumerate(hops):
            web.move(f"/hop{number}" if number else "/it", hop)
        web.put("/there", HTML)

    return serve


def thread(node: Any) -> Serve:
    return lambda web: web.put_json(THREAD, {"thread": node})


def answered(value: Any, code: int = 200) -> Serve:
    return lambda web: web.put(THREAD, value, "application/json", status=code)


def chain(depth: int) -> dict[str, Any]:
    """A post that is answered by one that is answered, and so on."""
    node = post(f"The {NONCE} at the bottom.")
    for number in range(depth):
        node = post(f"Number {number}.", BOB if number % 2 else ADA, replies=[node])
    return node


def above(depth: int) -> dict[str, Any]:
    node = post("The oldest.")
    for number in range(depth):
        node = post(f"Above {number}.", parent=node)
    return post(f"The {NONCE} below.", parent=node)


SAID = post(f"The {NONCE} is out.")
BOMB = gzip.compress(WORDS.encode() * (LONG // 40), mtime=0)
WEB = [
    Case("a page", body(HTML, "text/html; charset=utf-8")),
    Case("a page that says nothing of its letters", body(HTML, "text/html")),
    Case("a page of XHTML", body(HTML, "application/xhtml+xml")),
    Case("a page without a type", body(f"<!doctype html>{HTML}", "")),
    Case("a whole article", body(ARTICLE.replace("conical", NONCE), "text/html; charset=utf-8"), apart=True),
    Case("plain text", body(WORDS, "text/plain")),
    Case("Markdown", body(f"# Light\n\n{WORDS}", "text/markdown")),
    Case("JSON", body(json.dumps({"says": WORDS}), "application/json")),
    Case("a feed", body(RSS.replace("highest", NONCE), "application/rss+xml")),
    Case("a feed that is said to be XML", body(RSS.replace("highest", NONCE), "text/xml")),
    Case("a PDF", body(pdf(WORDS), "application/pdf")),
    Case("a PDF that is said to be bytes", body(pdf(WORDS), "application/octet-stream")),
    Case("packed", lambda web: web.put("/it", HTML, packed=True)),
    Case("packed in UTF-16", body(WORDS.encode("utf-16"), "text/plain; charset=utf-16")),
    Case("Latin-1 that is said to be UTF-8", body(f"Größe: {WORDS}".encode("latin-1"), "text/plain; charset=utf-8")),
    Case("letters of no name that there is", body(HTML, "text/html; charset=klingon")),
    Case("letters that are no name", body(HTML, 'text/html; charset="')),
    Case("a redirect", moved("/there")),
    Case("five redirects", moved("/hop1", "/hop2", "/hop3", "/hop4", "/there")),
    Case("a redirect without an end", moved("/it"), "leads on more than 5 times", ""),
    Case("a redirect to another host", moved("http://other.example/"), "other.example was not asked", ""),
    Case("a redirect to a file", moved("file:///etc/passwd"), "leads to what is no web address", ""),
    Case("a redirect with a password", moved("http://a:b@127.0.0.1/"), "leads to what is no web address", ""),
    Case("a redirect to a post", moved("https://bsky.app/profile/ada.example/post/3k"), "which is no page", ""),
    Case("a redirect to nowhere", raw(head(302, {"Content-Length": "0"})), "answered with 302", ""),
    Case("nothing there", status(404), "nothing at that address any more (404)", ""),
    Case("gone", status(410), "nothing at that address any more (410)", ""),
    Case("forbidden", status(403), "does not show that to clew (403)", ""),
    Case("a sign-in", status(401), "does not show that to clew (401)", ""),
    Case("withheld by law", status(451), "does not show that to clew (451)", ""),
    Case("a teapot", status(418), "answered with 418", ""),
    Case("too many requests", status(429, Retry_After="7"), "is busy or broken (429)", ""),
    Case("too many, for no time that is one", status(429, Retry_After="soon"), "is busy or broken (429)", ""),
    Case("broken", status(500), "is busy or broken (500)", ""),
    Case("overloaded", status(503, Retry_After="99999999999"), "is busy or broken (503)", ""),
    Case("a bomb", body(BOMB, "text/plain", Content_Encoding="gzip"), "sends more than 10 MB", ""),
    Case("without an end", endless, "sends more than 10 MB", ""),
    Case("half of what was packed", body(HALF, "text/html", Content_Encoding="gzip"), "stopped before the end", ""),
    Case("no gzip", body(HTML, "text/html", Content_Encoding="gzip"), "cannot be unpacked", ""),
    Case("brotli", body(HTML, "text/html", Content_Encoding="br"), "packed in a way that was not asked for", ""),
    Case("shorter than it says", raw(head(200, {"Content-Length": "9999"}) + HTML.encode()), "cannot be read", ""),
    Case("no HTTP", raw(b"SSH-2.0-OpenSSH_9.6\r\n"), "cannot be read", ""),
    Case("nothing at all", raw(b""), "cannot be read", ""),
    Case("a 304 that was not asked for", raw(head(304, {})), "answered with 304", ""),
    Case("silence", silent(), SILENT, ""),
    Case("silence in the middle", silent(head(200, {"Content-Length": "99"}) + b"x"), SILENT, ""),
    Case("a picture", body(b"\x89PNG\r\n", "image/png"), "a picture (image/png)", ""),
    Case("a film", body(b"\0", "video/mp4"), "a film (video/mp4)", ""),
    Case("an archive", body(b"PK", "application/zip"), "application/zip, which clew cannot read", ""),
    Case("bytes that are no text", body(b"a\0b" * 99, "text/plain"), "is no text", ""),
    Case("no words", body("<html><body></body></html>", "text/html"), "There are no words", ""),
    Case("a broken PDF", body(b"%PDF-1.7 nothing", "application/pdf"), "is broken", "", apart=True),
]  # fmt: skip
THREADS = [
    Case("a post", thread(SAID)),
    Case("150 replies deep", thread(chain(150)), given="Number 149."),
    Case("99 replies deep", thread(chain(99)), given="Number 98."),
    Case("150 posts above", thread(above(150)), given="Above 149."),
    Case("answers, one deleted", thread(post(f"{NONCE}?", replies=[gone("notFoundPost"), SAID])), given="> (deleted)"),
    Case("answers, one blocked", thread(post(f"{NONCE}?", replies=[gone("blockedPost"), SAID])), given="> (blocked)"),
    Case("a deleted parent", thread(post(f"{NONCE}?", parent=gone("notFoundPost"))), given="> (deleted)"),
    Case("only for who is signed in", thread(post("secret", labels=WITHHELD)), given="signed in"),
    Case("an author who is", thread(post("secret", author_labels=WITHHELD)), given="signed in"),
    Case("a quote", thread(post(f"{NONCE}:", embed=quoting("viewNotFound"))), given="quotes a post that is deleted"),
    Case("a quote of who blocks", thread(post(f"{NONCE}:", embed=quoting("viewBlocked"))), given="is blocked"),
    Case("a picture", thread(post("Look:", embed=PICTURE)), given=f"picture: A {NONCE}"),
    Case("a time that is none", thread(post(f"The {NONCE}.", at="yesterday"))),
    Case("words that are none", thread(BARE), given="(no words)"),
    Case("a post that is gone", thread(gone("notFoundPost")), "is not there any more", ""),
    Case("a post that is blocked", thread(gone("blockedPost")), "was blocked", ""),
    Case("no such post", answered("{}", 400), "is not there any more", ""),
    Case("a service that limits", answered("{}", 429), "is busy or broken (429)", ""),
    Case("a service that is broken", answered("{}", 500), "is busy or broken (500)", ""),
    Case("no JSON", answered("<html>"), "is broken", ""),
    Case("JSON without an end", answered("[" * 99999), "is broken", ""),
    Case("JSON of another shape", answered("[1, 2]"), "is not there any more", ""),
]  # fmt: skip


@pytest.mark.parametrize("cases", [WEB, THREADS], ids=["pages", "threads"])
async def test_a_reply_comes_whatever_a_source_does(
    make_agent: MakeAgent, cases: list[Case], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert len({each.name for each in cases}) == len(cases)
    sessions = []
    async with serving() as web:
        chat = await chat_of(make_agent, web, reflect=True)
        for number, case in enumerate(cases):
            chat.agent.references._quotes_of(None)._reader._pace.answered(
                "127.0.0.1"
            )  # no host rests: here all are one
            case.serve(web)
            with monkeypatch.context() as here:
                if not case.apart:
                    read_here(here)
                if case.says == SILENT:
                    here.setattr(quotes.ReferenceQuotes.bring, "__kwdefaults__", {"patience_s": 0.2})
                address = web.url(f"/it?{number}") if cases is WEB else at(f"k{number}")
                ended = await chat.begin(f"What about {case.name}?", address)
            sessions.append(ended.session)
            assert ended.text == "Well.", case.name
            told = [each for each in chat.told if "tokens reserved" not in each]
            chat.told.clear()
            assert len(told) == bool(case.says), (case.name, told)
            assert all(case.says in each and "\n" not in each for each in told), (case.name, told)
            assert all(each.endswith(("goes on without it.", "if you say so.")) for each in told), (case.name, told)
            assert (case.given or "[From") in chat.shown or not case.given, case.name
            assert case.given or NONCE not in chat.shown, case.name
        for session, case in zip(sessions, cases, strict=True):
            said = [turn.text for turn in await chat.agent.chats.thread(session)]
            assert said == [f"What about {case.name}?", "Well."]
            assert len(await chat.agent.references.all(session)) == 1, "nothing is lost"
        await chat.agent.close()
    assert files_with(NONCE) == []
