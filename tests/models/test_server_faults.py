"""What a server can do wrong, against both kinds of generator: a sentence each, nothing lost, no key anywhere."""

import asyncio
import itertools
import json
import logging
import math
import re
import traceback
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal

import pytest
from pydantic import BaseModel

from agent.agent import Agent
from agent.events import ReplyEnded
from agent.home import Home
from agent.settings import Server, Settings
from models.errors import (
    ModelError,
    ServerBroken,
    ServerBusy,
    ServerError,
    ServerLost,
    ServerRefused,
    ServerUnreachable,
)
from models.protocols import Finished, Generator, Piece, SamplingParams
from models.servers.address import checked_address
from models.servers.chat_completions import ChatServerGenerator
from models.servers.client import ServerClient
from models.servers.connecting import connect
from models.servers.llama_generator import connect_llama
from tests.agent.conftest import collect
from tests.models import scripted_llama as native
from tests.models.chat_server import (
    DONE,
    PING,
    ChatServer,
    Request,
    Scripted,
    beside,
    counts,
    event,
    line,
    refused,
    said,
)
from tests.models.rows import every
from tests.models.scripted_llama import MODEL, ScriptedLlama

KEY = "sk-fault-0a1b2c3d4e5f"
NAME = "attic"
PARAMS = SamplingParams(max_tokens=40)
SHORT_S, LONG_S = 0.3, 60.0  # how long a server may say nothing
WELL = "All well."
PROMPT = list(range(300, 340))  # at once; natively a longer one goes in steps
LONG = list(range(300, 500))
SENTENCE = re.compile(rf"The server {NAME}: [^\n]+[^.\n]\. [A-Z`][^\n]+\.")

Kind = Literal["llama", "openai"]
KINDS: tuple[Kind, ...] = ("llama", "openai")


@dataclass(frozen=True)
class Way:
    """How a reply of two words is sent."""

    one: bytes
    two: bytes
    end: bytes
    nothing: bytes  # an event that says nothing


WAYS: dict[Kind, Way] = {
    "llama": Way(
        one=line(native.word("One", 1)),
        two=line(native.word(" two", 2)),
        end=line(native.last(2)),
        nothing=line(native.word("", 1)),
    ),
    "openai": Way(one=event("One"), two=event(" two"), end=event(finish="stop") + DONE, nothing=event()),
}


@dataclass
class Site:
    """A server, what it says, and what it will do wrong with the next replies."""

    kind: Kind
    llama: ScriptedLlama = field(default_factory=ScriptedLlama)
    chat: ChatServer = field(default_factory=ChatServer)
    words: tuple[str, ...] = ("All", " well.")
    faults: list[Scripted] = field(default_factory=list)
    close: Callable[[], None] = lambda: None

    @property
    def address(self) -> str:
        return self.chat.address.removesuffix("/v1") if self.kind == "llama" else self.chat.address

    def says(self, *words: str) -> None:
        self.words = self.llama.says = words

    def script(self, request: Request) -> Scripted:
        if self.kind == "llama":
            return self.llama.answer(request)
        if request.body is None:
            known = request.path == "/v1/models"
            return Scripted([json.dumps({"data": [{"id": MODEL}]}).encode()], 200 if known else 404)
        return self.faults.pop(0) if self.faults else said(*self.words)


@asynccontextmanager
async def talking(kind: Kind, *, answer_s: float = LONG_S) -> AsyncIterator[tuple[Site, Generator]]:
    """A server that is sane as long as it is not told to be otherwise, and a generator that talks with it."""
    site = Site(kind)
    site.faults = site.llama.faults
    with ExitStack() as stack:
        site.chat = stack.enter_context(beside(site.script))
        site.close = stack.close
        client = ServerClient(checked_address(NAME, site.address, key=KEY), answer_s=answer_s)
        generator: Generator
        if kind == "llama":
            generator = await asyncio.to_thread(connect_llama, client, name=f"{MODEL}@{NAME}", context=4096)
        else:
            generator = ChatServerGenerator(
                client, model=MODEL, name=f"{MODEL}@{NAME}", context=4096, others=("giant",)
            )
        try:
            yield site, generator
        finally:
            await generator.close()


async def reply(generator: Generator, prompt: list[int] = PROMPT) -> tuple[str, Finished | ModelError]:
    """What came of a reply, and how it ended."""
    text = ""
    try:
        async with asyncio.timeout(LONG_S):  # so that one that hangs fails
            async for step in generator.generate(prompt, PARAMS):
                match step:
                    case Piece():
                        text += step.text
                    case Finished():
                        return text, step
    except ModelError as error:
        return text, error
    raise AssertionError("it had no end")


async def sane(generator: Generator, prompt: list[int] = PROMPT) -> Finished:
    """A reply as it should be."""
    text, end = await reply(generator, prompt)
    assert (text, type(end)) == (WELL, Finished)
    assert isinstance(end, Finished)
    return end


def told(error: object, kind: type[ModelError]) -> str:
    """The one sentence of an error, that names the server and says what to do, and has the key nowhere."""
    assert isinstance(error, kind), repr(error)
    assert SENTENCE.fullmatch(str(error)), str(error)
    assert not isinstance(error, ServerError) or KEY not in error.said
    each: BaseException | None = error
    while each is not None:
        assert KEY not in f"{each} {each!r} {each.args}"
        each = each.__cause__ or each.__context__
    assert KEY not in "".join(traceback.format_exception(error))
    return str(error)


@pytest.fixture(autouse=True)
def _no_key_in_the_log(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    caplog.set_level(logging.DEBUG)
    yield
    assert KEY not in caplog.text
    assert KEY[3:] not in caplog.text


# --- the matrix


@dataclass(frozen=True)
class Fault:
    """One thing that goes wrong in a reply; `asked` is how often it is asked until that is told."""

    make: Callable[[Way], Scripted]
    error: type[ServerError]
    kept: str = ""
    asked: int = 1
    answer_s: float = LONG_S


def status(code: int, **headers: str) -> Callable[[Way], Scripted]:
    return lambda way: refused(code, f"no, not with Bearer {KEY}", **headers)


def stream(*parts: bytes, **more: Any) -> Callable[[Way], Scripted]:
    """A stream that begins with a word, and these behind it."""
    return lambda way: Scripted([way.one, *parts], **more)


def only(*parts: bytes, **more: Any) -> Callable[[Way], Scripted]:
    return lambda way: Scripted(parts, **more)


def raw(*parts: bytes) -> Callable[[Way], Scripted]:
    return lambda way: Scripted(parts, raw=True)


def silent(way: Way, *parts: bytes, raw: bool = False) -> Scripted:
    return Scripted([*parts, asyncio.Event()], raw=raw)


def endless(way: Way, part: bytes, *first: bytes, status: int = 200, raw: bool = False) -> Scripted:
    return Scripted(itertools.chain(first, itertools.repeat(part)), status, raw=raw)


def sized(way: Way, length: str, *parts: bytes) -> Scripted:
    """With a length of its own telling."""
    head = f"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: {length}\r\n\r\n"
    return Scripted([head.encode(), *parts], raw=True)


def unpackable(way: Way) -> Scripted:
    return Scripted([b"no gzip at all"], headers={"Content-Encoding": "gzip"})


def failing(error: Any) -> bytes:
    return line({"error": error})


SAID = f"the header was Bearer {KEY}"
PAGE = f"<!DOCTYPE html>\n<html><body>Welcome. {SAID}</body></html>".encode()
A_DAY = "Wed, 21 Oct 2037 07:28:00 GMT"
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"

FAULTS: dict[str, Fault] = {
    **{f"status {code}": Fault(status(code), ServerRefused) for code in (400, 401, 403, 404, 405, 413, 418, 422, 501)},
    **{f"status {code}": Fault(status(code), ServerBroken) for code in (408, 500, 502, 504, 599)},
    **{f"status {code}": Fault(status(code), ServerBusy) for code in (429, 503, 529)},
    "429, and to be left alone for a minute": Fault(status(429, retry_after="60"), ServerBusy),
    "503, and to be left alone until a day": Fault(status(503, retry_after=A_DAY), ServerBusy),
    **{
        f"redirect {code}": Fault(status(code, location="http://192.0.2.1/completion"), ServerRefused)
        for code in (301, 302, 307, 308)
    },
    "redirect without a place": Fault(status(302), ServerRefused),
    "an error page": Fault(only(PAGE, status=502), ServerBroken),
    "an error that is no text": Fault(only(b"\xff\x00\xfe", status=500), ServerBroken),
    "an error of another shape": Fault(only(json.dumps([None, {"error": SAID}]).encode(), status=500), ServerBroken),
    "an error without an end": Fault(lambda way: endless(way, b"no " * 9999, status=500), ServerBroken),
    "an error that trickles": Fault(lambda way: endless(way, b".", status=500), ServerBroken, answer_s=SHORT_S),
    "cut before the head": Fault(raw(), ServerLost, asked=2),
    "cut within the head": Fault(raw(b"HTTP/1.1 200 OK\r\nContent-Ty"), ServerLost, asked=2),
    "cut after the head": Fault(only(cut=True), ServerLost, asked=2),
    "cut within the first line": Fault(lambda way: Scripted([way.one[:9]], cut=True), ServerLost, asked=2),
    "cut within a line": Fault(lambda way: Scripted([way.one, way.two[:20]], cut=True), ServerLost, "One"),
    "cut within a character": Fault(stream(b'data: {"content": "\xc3', cut=True), ServerLost, "One"),
    "cut after some words": Fault(lambda way: Scripted([way.one, way.two], cut=True), ServerLost, "One two"),
    "an end within a line": Fault(lambda way: Scripted([way.one, way.two[:20]]), ServerBroken, "One"),
    "an end within a character": Fault(stream(b'data: {"content": "\xc3'), ServerBroken, "One"),
    "an end after some words": Fault(lambda way: Scripted([way.one, way.two]), ServerLost, "One two"),
    "an empty stream": Fault(only(), ServerLost, asked=2),
    "no content": Fault(raw(b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n"), ServerLost, asked=2),
    "not HTTP": Fault(raw(b"SSH-2.0-OpenSSH_9.2\r\n"), ServerLost, asked=2),
    "any bytes": Fault(raw(bytes(range(256)) * 4), ServerLost, asked=2),
    "no chunk": Fault(raw(CHUNKED, b"zz\r\nhello"), ServerLost, asked=2),
    "a head without an end": Fault(lambda way: endless(way, b"X: y\r\n", b"HTTP/1.1 200 OK\r\n", raw=True), ServerLost,
                                   asked=2),
    "heads without an end": Fault(lambda way: endless(way, b"HTTP/1.1 102 Processing\r\n\r\n", raw=True), ServerLost,
                                  asked=2, answer_s=SHORT_S),
    "no JSON": Fault(only(f"data: {{no JSON, {SAID}\n\n".encode()), ServerBroken),
    "no JSON after a word": Fault(stream(f"data: nothing, {SAID}\n\n".encode()), ServerBroken, "One"),
    "no UTF-8": Fault(only(b'data: {"content": "\xff\xfe"}\n\n'), ServerBroken),
    "JSON too deep": Fault(only(b"data: " + b"[" * 100_000 + b"\n\n"), ServerBroken),
    "a number too long": Fault(only(b'data: {"content": 1' + b"0" * 5000 + b"}\n\n"), ServerBroken),
    **{f"an event that is {shape}": Fault(only(line(shape)), ServerBroken) for shape in ([1], None, 5, "x", True)},
    "a null after a word": Fault(stream(line(None)), ServerBroken, "One"),
    "a page for people": Fault(only(PAGE), ServerLost, asked=2),
    "JSON in one piece": Fault(only(json.dumps({"content": "Hi", "choices": []}).encode()), ServerLost, asked=2),
    "garbage as gzip": Fault(unpackable, ServerBroken),
    "a length too great": Fault(lambda way: sized(way, "9999", way.one), ServerLost, "One"),
    "a length too small": Fault(lambda way: sized(way, f"{len(way.one) + 9}", way.one, way.two), ServerBroken, "One"),
    "a length that is no number": Fault(lambda way: sized(way, "many", way.one), ServerLost, asked=2),
    "an error first": Fault(only(failing({"message": SAID, "code": 500})), ServerBroken),
    "an error after a word": Fault(stream(failing({"message": SAID, "code": 500})), ServerBroken, "One"),
    "too much to do after a word": Fault(stream(failing({"message": SAID, "code": 503})), ServerBusy, "One"),
    "an error that is a text": Fault(stream(failing(SAID)), ServerBroken, "One"),
    "an error that is a list": Fault(stream(failing([SAID])), ServerBroken, "One"),
    "an error of no known code": Fault(stream(failing({"message": None, "code": -1})), ServerBroken, "One"),
    "a line without an end": Fault(lambda way: endless(way, b"x" * 65536, way.one, b"data: "), ServerBroken, "One"),
    "silence": Fault(lambda way: silent(way, raw=True), ServerLost, asked=2, answer_s=SHORT_S),
    "silence after the head": Fault(silent, ServerLost, asked=2, answer_s=SHORT_S),
    "silence after a word": Fault(lambda way: silent(way, way.one), ServerLost, "One", answer_s=SHORT_S),
    "silence in an error": Fault(lambda way: Scripted([b"no", asyncio.Event()], 500), ServerBroken, answer_s=SHORT_S),
    "pings without an end": Fault(lambda way: endless(way, PING), ServerLost, asked=2, answer_s=SHORT_S),
    "pings after a word": Fault(lambda way: endless(way, PING, way.one), ServerLost, "One", answer_s=SHORT_S),
    "a page without an end": Fault(lambda way: endless(way, PAGE), ServerLost, asked=2, answer_s=SHORT_S),
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("answer_s", [LONG_S, SHORT_S])
async def test_a_fault_is_one_sentence_and_the_next_reply_comes(kind: Kind, answer_s: float) -> None:
    async with talking(kind, answer_s=answer_s) as (site, generator):

        async def check(name: str) -> None:
            fault = FAULTS[name]
            if fault.asked == 2:  # what was lost before a word came is asked again, and nothing is told
                site.faults.append(fault.make(WAYS[kind]))
                await sane(generator)
            site.faults += [fault.make(WAYS[kind]) for _ in range(fault.asked)]
            text, error = await reply(generator)
            assert (text, site.faults) == (fault.kept, [])
            told(error, fault.error)
            await sane(generator)

        await sane(generator)
        await every([name for name, fault in FAULTS.items() if fault.answer_s == answer_s], check)


@pytest.mark.parametrize("kind", KINDS)
async def test_how_long_a_busy_server_wants_to_be_left_alone_is_told(kind: Kind) -> None:
    async with talking(kind) as (site, generator):
        for seconds in ("0", None, "60"):
            busy = refused(429, SAID, **({} if seconds is None else {"retry_after": seconds}))
            site.faults += [busy] * (2 if kind == "openai" and seconds == "0" else 1)
            _, error = await reply(generator)
            again = "Try again," if seconds is None else f"Try again in {seconds} s,"
            assert again in told(error, ServerBusy)
            assert site.faults == []
            await sane(generator)


@pytest.mark.parametrize("kind", KINDS)
async def test_an_endless_reply_ends_where_it_was_to_and_half_a_character_is_shown_as_one(kind: Kind) -> None:
    way = WAYS[kind]
    word = line(native.word("One \ud83d", 1)) if kind == "llama" else event("One \ud83d")
    async with talking(kind) as (site, generator):
        for part in (way.one, way.nothing):
            site.faults.append(Scripted(itertools.repeat(part)))
            text, end = await reply(generator)
            assert isinstance(end, Finished)
            assert end.reason == "length"
            assert len(text) < 8192
            await sane(generator)
        site.faults.append(Scripted([word, way.end]))
        assert (await reply(generator))[0] == "One ?"
        await sane(generator)


@pytest.mark.parametrize("kind", KINDS)
async def test_whoever_is_not_there_is_told_and_found_again(kind: Kind) -> None:
    async with talking(kind) as (site, generator):
        port = int(site.chat.address.rpartition(":")[2].removesuffix("/v1"))
        await sane(generator)
        site.close()
        _, error = await reply(generator)
        assert f"nobody answers at 127.0.0.1:{port}" in told(error, ServerUnreachable)
        with beside(site.script, port=port):
            await sane(generator)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "says", [b"HTTP/1.1 400 Bad Request\r\n\r\n", b"\x16\x03\x01\x00\x02\x02\x28", b"\xff" * 99, b""]
)
async def test_a_server_without_tls_gets_no_word_by_https(kind: Kind, says: bytes) -> None:
    heard = b""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal heard
        heard += await reader.read(1 << 16)
        writer.write(says)
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as plain:
        url = f"https://127.0.0.1:{plain.sockets[0].getsockname()[1]}"
        client = ServerClient(checked_address(NAME, url, key=KEY))
        if kind == "llama":
            with pytest.raises(ServerUnreachable) as caught:
                await asyncio.to_thread(connect_llama, client, name=MODEL, context=4096)
            told(caught.value, ServerUnreachable)
            client.drop()
        else:
            generator = ChatServerGenerator(client, model=MODEL, name=MODEL, context=4096)
            told((await reply(generator))[1], ServerUnreachable)
            await generator.close()
    assert KEY.encode() not in heard
    assert b"POST" not in heard


@pytest.mark.parametrize("kind", KINDS)
async def test_a_fault_in_the_background_is_told_there_and_the_next_object_comes(kind: Kind) -> None:
    class Sketch(BaseModel):
        title: str

    async def check(name: str) -> None:
        fault = FAULTS[name]
        async with talking(kind, answer_s=fault.answer_s) as (site, generator):
            site.says("{", '"title": "A boat"}')
            site.faults += [fault.make(WAYS[kind])] * (fault.asked if kind == "openai" else 1)
            with pytest.raises(ServerError) as caught:
                await generator.structured(PROMPT, Sketch)
            told(caught.value, fault.error)
            assert site.faults == []
            assert (await generator.structured(PROMPT, Sketch)).title == "A boat"

    names = ["status 500", "cut before the head", "no JSON", "an error first", "a page for people", "silence"]
    await every(names, check)


# --- what only one of them can do wrong


def changed(**fields: Any) -> Scripted:
    """A word that is not what it should be, and the end."""
    return Scripted([line(native.word("One", 1) | fields), WAYS["llama"].end])


def lacking(*fields: str) -> Scripted:
    found = {name: value for name, value in native.word("One", 1).items() if name not in fields}
    return Scripted([line(found), WAYS["llama"].end])


UNREADABLE: dict[str, Callable[[], Scripted]] = {
    "nothing in it": lambda: Scripted([line({})]),
    **{f"no {name}": partial(lacking, name) for name in ("tokens", "tokens_predicted", "timings")},
    **{
        f"{name} {value!r}": partial(changed, **{name: value})
        for name, values in {
            "tokens": (None, "abc", 5, [1.5], ["1"], {"1": 1}),
            "tokens_predicted": (None, "1", 1.5, [1]),
            "timings": (None, [], 5, {}, {"prompt_n": 4}, {"prompt_n": "4", "prompt_ms": 1.0}),
            "content": (None, 5, ["One"], {"text": "One"}),
        }.items()
        for value in values
    },
    "fewer than none evaluated": lambda: changed(timings={"prompt_n": -4, "prompt_ms": 1.0}),
    "more evaluated than there is room for": lambda: changed(timings={"prompt_n": 10**30, "prompt_ms": 1.0}),
}


async def test_a_reply_whose_counts_cannot_be_read_is_none_and_a_pace_that_is_none_is_not_kept() -> None:
    way = WAYS["llama"]
    async with talking("llama") as (site, generator):

        async def check(name: str) -> None:
            site.faults.append(UNREADABLE[name]())
            text, error = await reply(generator)
            assert text == ""
            assert "it answered something else than" in told(error, ServerBroken)
            site.faults.append(Scripted([way.one, *itertools.islice(UNREADABLE[name]().parts, 1)]))
            text, error = await reply(generator)
            assert text.startswith("One")
            told(error, ServerError)  # or its end is missed: how much was evaluated is read once
            await sane(generator)

        async def check_pace(pace: float) -> None:
            timings = {"prompt_n": len(PROMPT), "prompt_ms": pace}
            site.faults.append(Scripted([line(native.word("One", 1, timings=timings)), way.end]))
            text, end = await reply(generator)
            assert (text, type(end)) == ("One", Finished)
            await sane(generator, LONG)

        await every(UNREADABLE, check)
        await every([math.nan, math.inf, -math.inf, -5, 10**400, 0], check_pace)


ODD = [
    {}, {"choices": None}, {"choices": 5}, {"choices": [5]}, {"choices": [None, []]}, {"choices": [{"delta": None}]},
    {"choices": [{"delta": 5}]}, {"choices": [{"delta": []}]}, {"choices": [{"delta": {"content": 5}}]},
    {"choices": [{"delta": {"content": ["One"]}}]}, {"choices": [], "usage": "many"}, {"usage": {"prompt_tokens": -5}},
    {"choices": [{"index": 1, "delta": {"content": "Another"}}]}, {"model": 5}, {"error": None}, {"error": ""},
    {"model": None, "choices": {}},
]  # fmt: skip


async def test_an_event_of_a_common_server_that_has_nothing_to_read_is_passed_over() -> None:
    way = WAYS["openai"]
    async with talking("openai") as (site, generator):

        async def check(odd: Any) -> None:
            site.faults.append(Scripted([PING, line(odd), event("One", model=None), line(odd), way.two, way.end]))
            text, end = await reply(generator)
            assert (text, type(end)) == ("One two", Finished)
            site.faults += [Scripted([line(odd), DONE])] * 2
            told((await reply(generator))[1], ServerLost)
            assert site.faults == []
            await sane(generator)

        await every(ODD, check)


async def test_an_answer_of_another_model_is_told_and_what_came_is_kept() -> None:
    async with talking("openai") as (site, generator):
        site.faults.append(Scripted([WAYS["openai"].one, event("Hi", model="giant")]))
        text, error = await reply(generator)
        assert (text, site.faults) == ("One", [])
        assert "it answers with the model “giant”, and “tiny” was asked" in told(error, ServerBroken)
        await sane(generator)


async def test_a_model_that_was_changed_between_two_turns_is_told_and_not_asked() -> None:
    async with talking("llama") as (site, generator):
        await sane(generator)
        site.llama.model, asked = "giant", len(site.chat.requests)
        assert "another model" in told((await reply(generator))[1], ServerBroken)
        assert [each.path for each in site.chat.requests[asked:]] == ["/props"]
        site.llama.model = MODEL
        await sane(generator)


async def test_what_a_server_has_no_more_is_evaluated_again_and_counted() -> None:
    for prompt in (PROMPT, LONG):  # at once, and in steps
        async with talking("llama") as (site, generator):
            end = await sane(generator, prompt)
            assert end.evaluated_tokens == len(prompt)
            grown = [*prompt, *range(20, 30)]
            site.llama.slots = [[], []]
            end = await sane(generator, grown)
            assert (end.prompt_tokens, end.evaluated_tokens) == (len(grown), len(grown))
            assert (await sane(generator, [*grown, 7])).evaluated_tokens == 1
    async with talking("openai") as (site, generator):  # as it tells
        for cached, evaluated in ((90, 10), (0, 100), (None, 100)):
            site.faults.append(said("All", " well.", usage=counts(100, 2, cached=cached)))
            assert (await sane(generator)).evaluated_tokens == evaluated


PAGES: dict[str, tuple[Callable[[], Scripted], type[ServerError]]] = {
    "refused": (lambda: refused(401, SAID), ServerRefused),
    "busy": (lambda: refused(503, SAID), ServerBusy),
    "failed": (lambda: refused(500, SAID), ServerBroken),
    "elsewhere": (lambda: refused(307, location="http://192.0.2.1/"), ServerRefused),
    "a page": (lambda: Scripted([PAGE]), ServerBroken),
    "no JSON": (lambda: Scripted([SAID.encode()]), ServerBroken),
    "nothing": (lambda: Scripted(), ServerBroken),
    "null": (lambda: Scripted([b"null"]), ServerBroken),
    "a list": (lambda: Scripted([b"[[5]]"]), ServerBroken),
    "a number": (lambda: Scripted([b"5"]), ServerBroken),
    "a text": (lambda: Scripted([b'"slots"']), ServerBroken),
    "an empty object": (lambda: Scripted([b"{}"]), ServerBroken),
    "garbage as gzip": (lambda: unpackable(WAYS["llama"]), ServerBroken),
    "without an end": (lambda: Scripted(itertools.repeat(b"[" * 65536)), ServerBroken),
    "cut": (lambda: Scripted([b"{"], cut=True), ServerLost),
    "silence": (lambda: Scripted([asyncio.Event()]), ServerLost),
}


def asked_patiently(page: str) -> float:
    return SHORT_S if page == "silence" else LONG_S


async def test_what_a_llama_server_says_wrong_of_itself_or_of_a_step_is_told_and_the_next_reply_comes() -> None:
    async def check(page: str) -> None:
        make, error = PAGES[page]
        async with talking("llama", answer_s=asked_patiently(page)) as (site, generator):
            site.llama.pages["/props"] = make()
            told((await reply(generator))[1], ServerBroken if page == "an empty object" else error)
            site.llama.pages.clear()
            # A part of a prompt fails, too.
            site.llama.steps += [make() for _ in range(2 if error is ServerLost else 1)]
            text, failed = await reply(generator, LONG)
            told(failed, error)
            assert (text, site.llama.steps) == ("", [])
            await sane(generator, LONG)
            assert site.llama.slots[0][: len(LONG)] == LONG or site.llama.slots[1][: len(LONG)] == LONG

    await every(PAGES, check)


async def test_a_head_without_an_end_is_told_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("models.servers.client.CONNECT_S", SHORT_S)
    async with talking("llama", answer_s=SHORT_S) as (site, generator):
        site.llama.pages["/props"] = endless(WAYS["llama"], b"HTTP/1.1 102 Processing\r\n\r\n", raw=True)
        told((await reply(generator))[1], ServerLost)
        site.llama.pages.clear()
        await sane(generator)


async def test_a_llama_server_that_says_nothing_to_the_point_is_told_or_done_without() -> None:
    llama = ScriptedLlama()
    with beside(llama.answer) as server:
        address = checked_address(NAME, server.address.removesuffix("/v1"), key=KEY)

        async def check(row: tuple[str, str]) -> None:
            page, path = row
            llama.pages = {path: PAGES[page][0]()}
            client = ServerClient(address, answer_s=asked_patiently(page))
            try:
                generator = await asyncio.to_thread(connect_llama, client, name=MODEL, context=4096)
            except ModelError as error:
                told(error, ServerError)
                client.drop()
            else:
                assert path in ("/v1/models", "/slots")
                await sane(generator)
                await generator.close()

        await every(itertools.product(PAGES, ("/props", "/v1/models", "/slots", "/tokenize")), check)


async def test_a_server_that_has_another_model_than_asked_says_which() -> None:
    with beside(ScriptedLlama().answer) as server:
        address = checked_address(NAME, server.address, key=KEY)
        with pytest.raises(ServerRefused) as caught:
            await asyncio.to_thread(connect, [address], "giant", name="giant", context=4096)
    assert f"it has no model “giant”; it has {MODEL}" in told(caught.value, ServerRefused)


# --- through an agent


TOLD = ["status 401", "an error after a word", "no JSON", "cut after some words", "a page for people", "redirect 307",
        "cut within a character", "an error page"]  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
async def test_no_message_is_lost_and_no_file_below_the_home_has_the_key(kind: Kind) -> None:
    home = Home.resolve()
    home.keys.mkdir(parents=True, mode=0o700)
    key = home.keys / NAME
    key.touch(mode=0o600)
    key.write_text(KEY + "\n")
    messages: list[str] = []
    async with talking(kind) as (site, _):
        servers = {NAME: Server(address=site.address, kind=kind)}
        settings = Settings(model=f"{MODEL}@{NAME}", servers=servers, reflect=False, tools="off")
        agent = Agent(home, settings, client="test")
        await agent.start()
        try:
            session = None
            for name in ["", *TOLD, ""]:
                await agent.idle()  # a title takes no fault of a message's
                fault = FAULTS.get(name)
                if fault is not None:
                    site.faults += [fault.make(WAYS[kind])] * fault.asked
                messages.append(f"Message {len(messages)}: {name}.")
                *_, last = await collect(agent.send(session, messages[-1]))
                session = session or (await agent.chats.all())[0].id
                assert site.faults == []
                assert KEY not in repr(last)
                if fault is None:
                    assert isinstance(last, ReplyEnded)
                    assert last.text == WELL
                elif fault.kept:
                    assert isinstance(last, ReplyEnded)
                    assert (last.text, last.truncated) == (fault.kept, True)
                    assert last.error is not None
                    assert SENTENCE.match(last.error)
            path = await agent.chats.thread(session or "")
            assert [turn.text for turn in path if turn.role == "user"] == messages
        finally:
            await agent.close()
        assert any(each.headers.get("authorization") == f"Bearer {KEY}" for each in site.chat.requests)
    files = [each for each in home.root.rglob("*") if each.is_file() and each != key]
    assert files
    assert [each for each in files if KEY.encode() in each.read_bytes()] == []


def test_an_answer_of_endless_values_is_not_made_into_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("models.servers.client.MANY", 10)
    monkeypatch.setattr("models.servers.client.MOST_VALUES", 5)
    client = ServerClient(checked_address("den", "http://127.0.0.1:9"))
    assert client._read(b'{"models": ["a", "b"]}') == {"models": ["a", "b"]}
    with pytest.raises(ServerBroken, match="more than 5 values"):
        client._read(b"[{},{},{},{},{}]")
    client.drop()
