"""The Generator over chat completions, against a scripted server: what is asked, what is told, and every fault."""

import asyncio
import itertools
import json
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from models.errors import ContextFull, EngineClosed, ServerBusy, ServerLost, ServerRefused, StructuredOutputError
from models.protocols import Finished, FrameRole, Generator, KVState, Piece, SamplingParams
from models.servers.address import ServerAddress, checked_address
from models.servers.answer import same_model
from models.servers.chat_completions import JOINER, ChatServerGenerator
from models.servers.client import ServerClient
from models.servers.pseudo_tokens import flat, frame_of, ids_of, messages_of, shared, text_of
from models.servers.written_object import FirstObject, strict_schema
from tests.models.chat_server import (
    DONE,
    MODEL,
    ChatServer,
    Request,
    Script,
    Scripted,
    chat_server,
    counts,
    event,
    refused,
    said,
)

KEY = "sk-secret-0123456789"
PARAMS = SamplingParams(max_tokens=64)
Made = tuple[ChatServer, ChatServerGenerator]
Making = Callable[..., AbstractAsyncContextManager[Made]]


class Sketch(BaseModel):
    """What the background asks for."""

    title: str
    weight: Annotated[int, Field(ge=0)] = 0


GOOD = {"title": "A boat", "weight": 3}


@asynccontextmanager
async def talking(*scripts: Script, context: int = 4096, key: str = KEY) -> AsyncIterator[Made]:
    """A scripted server, and a generator that talks with it."""
    async with chat_server(*scripts) as server:
        address = checked_address("attic", server.address, key=key)
        generator = ChatServerGenerator(
            ServerClient(address), model=MODEL, name="tiny@attic", context=context, others=("giant",)
        )
        try:
            yield server, generator
        finally:
            await generator.close()


def prompt_of(generator: Generator, *texts: str, system: str = "Be brief.") -> list[int]:
    """A prompt with a system text and what a user said."""
    users = [each for text in texts for each in generator.frame("user", text)]
    return [*generator.frame("system", system, first=True), *users, *generator.reply_open()]


async def heard(generator: Generator, prompt: list[int], **more: Any) -> tuple[list[Piece], Finished]:
    """A whole reply."""
    params = more.pop("params", PARAMS)
    items = [item async for item in generator.generate(prompt, params, **more)]
    (end,) = (item for item in items if isinstance(item, Finished))
    assert items[-1] is end
    return [item for item in items if isinstance(item, Piece)], end


async def until_failed(generator: Generator, prompt: list[int], error: type[Exception]) -> tuple[str, str]:
    """What came of a reply before it failed, and the sentence of the failure."""
    text = ""

    async def read() -> None:
        nonlocal text
        async for item in generator.generate(prompt, PARAMS):
            text += item.text if isinstance(item, Piece) else ""

    with pytest.raises(error) as caught:
        await read()
    assert KEY not in str(caught.value)
    return text, str(caught.value)


def joined(pieces: list[Piece]) -> str:
    return "".join(piece.text for piece in pieces)


# --- ids


roles = st.sampled_from(["system", "user", "assistant"])
talks = st.lists(st.tuples(roles, st.text(max_size=40)), max_size=8)


@given(st.text())
def test_a_text_becomes_ids_and_comes_back(text: str) -> None:
    ids = ids_of(text)
    assert text_of(ids) == text
    assert len(ids) == (len(text.encode()) + 2) // 3
    assert all(each > 255 for each in ids)  # what is below opens and closes frames


@given(talks, st.booleans())
def test_any_messages_that_are_framed_are_read_back(talk: list[tuple[FrameRole, str]], ask: bool) -> None:
    prompt = [each for role, text in talk for each in frame_of(role, text)]
    assert messages_of([*prompt, 3] if ask else prompt) == talk


@given(talks, st.text(min_size=1), st.lists(st.integers(0, 200), max_size=6))
def test_a_reply_is_read_back_however_it_came(talk: list[tuple[FrameRole, str]], reply: str, cuts: list[int]) -> None:
    data = reply.encode()
    places = sorted({0, len(data), *(cut for cut in cuts if cut < len(data))})
    pieces = [data[start:end] for start, end in itertools.pairwise(places)]
    # As `ids_of` has it, but of bytes: a piece may end within a character.
    ids = [int.from_bytes(b"\1" + piece[at : at + 3]) for piece in pieces for at in range(0, len(piece), 3)]
    prompt = [each for role, text in talk for each in frame_of(role, text)]
    whole = [*prompt, 3, *ids, 4]
    assert messages_of(whole) == [*talk, ("assistant", reply)]
    again = [*prompt, *frame_of("assistant", reply)]
    assert flat(whole) == flat(again)
    assert shared(flat(whole), again) == len(again)


def test_what_stands_outside_of_frames_is_a_users_and_a_shared_beginning_is_counted_in_whole_ids() -> None:
    assert messages_of([*ids_of("Hello"), -5, 0, 9, 1 << 40]) == [("user", "Hello")]
    assert messages_of([4, 4, 3]) == []
    known = flat(frame_of("user", "one two"))
    assert shared(known, frame_of("user", "one three")) == 2  # the frame, and “one”: “ t” is not “ th”
    assert shared(b"", ids_of("one")) == 0


async def test_no_text_becomes_an_edge_and_what_is_cut_is_read_with_a_mark() -> None:
    async with talking(said("Hi")) as (_, generator):
        assert generator.frame("user", "a\x01\x04é") == [2, *generator.tokenize("a\x01\x04é"), 4]
        assert generator.detokenize(generator.tokenize("aaé")[:1]) == "aa\ufffd"
        reply = [*generator.reply_open(), *generator.tokenize("So"), *generator.reply_close()]
        assert generator.frame("assistant", "So", first=True) == reply
        assert generator.detokenize(generator.tokenize("a\ud800b")) == "a?b"


# --- what is asked


async def test_a_prompt_is_asked_as_messages_with_standard_parameters_only() -> None:
    async with talking(said("Hello", " there", usage=counts(20, 2, cached=12))) as (server, generator):
        prompt = prompt_of(generator, "Hi", "Anyone?")
        params = SamplingParams(temperature=0.5, top_p=0.9, seed=7, max_tokens=33)
        pieces, end = await heard(generator, prompt, params=params)
    (request,) = server.requests
    assert request.path == "/v1/chat/completions"
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert request.body == {
        "model": MODEL,
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Hi"},
            {"role": "user", "content": "Anyone?"},
        ],
        "stream": True,
        "stream_options": {"include_usage": True},
        "temperature": 0.5,
        "top_p": 0.9,
        "seed": 7,
        "max_tokens": 33,
    }
    assert joined(pieces) == "Hello there"
    assert generator.detokenize([each for piece in pieces for each in piece.tokens]) == "Hello there"
    assert (end.reason, end.prompt_tokens, end.evaluated_tokens, end.completion_tokens) == ("end", 20, 8, 2)
    assert end.first_token_ms is not None
    assert 0 < end.first_token_ms <= end.total_ms


CONTROLS = (
    "<|im_end|>", "<|im_start|>system", "<|eot_id|>", "<｜User｜>", "</s>", "[INST]", "[/INST]", "<<SYS>>",
    "<end_of_turn>",
    "<start_of_turn>model", "<eos>", "<|endoftext|>", "<|start_header_id|>", "<unused7>", "[SYSTEM_PROMPT]", "<think>",
    "<|turn>", "<turn|>", "<|channel>", "[|system|]", "[|endofturn|]", "]~b]", "]~!b[", "[e~[", "<seed:bos>", "<sop>",
    "<end_of_utterance>",
)  # fmt: skip


async def test_no_words_reach_a_server_as_a_control_token_of_any_model() -> None:
    plain = "if a <b> c: x[1] |> y; List<String> <- <br> [Instructions] <|> a||b"
    async with talking(said("Hello")) as (server, generator):
        await heard(generator, prompt_of(generator, " ".join(CONTROLS), plain))
    contents = [each["content"] for each in server.last["messages"]]
    assert [each for each in CONTROLS if any(each in content for content in contents)] == []
    assert contents[1].replace(JOINER, "") == " ".join(CONTROLS)
    assert contents[2] == plain


async def test_no_more_tokens_are_asked_than_fit_and_the_header_names_a_chat_and_has_no_word_of_it() -> None:
    async with talking(said("Hi"), context=80) as (server, generator):
        first = prompt_of(generator, "secret plan")
        longer = [*first, *generator.tokenize("Hi"), *generator.reply_close(), *generator.frame("user", "And?")]
        for prompt in (first, [*longer, *generator.reply_open()], prompt_of(generator, "another")):
            await heard(generator, prompt)
            assert "seed" not in server.last
            assert server.last["max_tokens"] == min(PARAMS.max_tokens, 80 - len(prompt))
    one, two, other = (request.headers["x-clew-chat"] for request in server.requests)
    assert one == two != other
    assert set(one) <= set("0123456789abcdef")
    assert len(one) == 24


async def test_the_info_and_the_key_of_states_name_the_server_and_the_model() -> None:
    def made(url: str, model: str) -> ChatServerGenerator:
        return ChatServerGenerator(ServerClient(ServerAddress("x", url, "k")), model=model, name="n", context=9, size=5)

    here, else_ = (made("http://[::1]:1/v1", model) for model in "mo")
    there = made("https://far.example/v1", "m")
    try:
        assert (here.info.away, there.info.away) == ("", "far.example")
        info = here.info
        assert (info.name, info.path, info.architecture) == ("n", Path("n"), "openai")
        assert (info.size, info.context, info.format) == (5, 9, "chat")
        assert len({each.state_key for each in (here, there, else_)}) == 3
    finally:
        for each in (here, there, else_):
            await each.close()


# --- what is told


async def test_the_first_piece_comes_at_once_and_the_rest_in_few() -> None:
    go_on = asyncio.Event()
    many = [event("a") for _ in range(400)]
    script = Scripted([event("first"), go_on, b"".join(many), event(finish="stop"), DONE])
    async with talking(script) as (_, generator), aclosing(generator.generate([2, 300, 4, 3], PARAMS)) as steps:
        first = await anext(steps)
        go_on.set()
        rest = [item async for item in steps]
    assert isinstance(first, Piece)
    assert first.text == "first"
    assert joined([item for item in rest if isinstance(item, Piece)]) == "a" * 400
    assert len(rest) < 200


async def test_text_that_is_held_back_comes_though_nothing_follows_it() -> None:
    script = Scripted([event("one"), event(" two"), asyncio.Event()])
    async with talking(script) as (_, generator), aclosing(generator.generate([2, 300, 4, 3], PARAMS)) as steps:
        text = ""
        while text != "one two":
            item = await anext(steps)
            assert isinstance(item, Piece)
            text += item.text


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
async def test_reasoning_in_a_field_of_its_own_is_told_and_not_shown(field: str) -> None:
    seen = asyncio.Event()
    thoughts = [event(**{field: "secret"}) for _ in range(50)]
    script = Scripted([*thoughts, seen, event("Yes"), event(finish="stop"), DONE])
    async with talking(script) as (_, generator), aclosing(generator.generate([2, 300, 4, 3], PARAMS)) as steps:
        first = await anext(steps)
        seen.set()
        rest = [item async for item in steps if isinstance(item, Piece)]
    assert first == Piece((), "", thinking=True)
    assert joined(rest) == "Yes"
    assert not rest[-1].thinking
    assert all(piece.tokens == () for piece in rest if piece.thinking and not piece.text)


async def test_reasoning_within_the_text_is_told_and_not_shown_however_it_is_cut() -> None:
    texts = ["<th", "ink>secret", " </thi", "nk>\n\n", "Y", "es"]
    long = f"<think>{'x' * 500}</think>{'Yes' * 200}"
    async with talking(said(*texts), said(long)) as (_, generator):
        pieces, end = await heard(generator, prompt_of(generator, "Hi"))
        assert joined(pieces) == "Yes"
        assert generator.detokenize([each for piece in pieces for each in piece.tokens]) == "Yes"
        assert any(piece.thinking for piece in pieces)
        assert end.completion_tokens == 1
        assert joined((await heard(generator, prompt_of(generator, "Hi")))[0]) == "Yes" * 200


async def test_the_reason_of_the_end_is_told_and_what_a_server_does_not_count_is_counted_here() -> None:
    reasons = {"stop": "end", "length": "length", "content_filter": "end", "else": "end"}
    usages: list[Any] = [
        None,
        counts(0, 0),
        {"choices": [], "usage": None},
        {"choices": [], "usage": {"prompt_tokens": "many"}},
    ]
    ends = [said("Hi", finish=finish) for finish in reasons]
    async with talking(*ends, *(said("Hello", usage=usage) for usage in usages)) as (_, generator):
        prompt = prompt_of(generator, "Hi")
        for reason in reasons.values():
            assert (await heard(generator, prompt))[1].reason == reason
        for _usage in usages:
            _, end = await heard(generator, prompt)
            assert (end.prompt_tokens, end.evaluated_tokens, end.completion_tokens) == (len(prompt), len(prompt), 2)


async def test_more_cached_than_there_was_is_no_negative_count() -> None:
    async with talking(said("Hi", usage=counts(5, 1, cached=9))) as (_, generator):
        assert (await heard(generator, prompt_of(generator, "Hi")))[1].evaluated_tokens == 0
        assert generator.reading_s is None


async def test_an_empty_reply_is_one() -> None:
    async with talking(said()) as (server, generator):
        pieces, end = await heard(generator, prompt_of(generator, "Hi"))
    assert (pieces, end.reason, end.completion_tokens, end.first_token_ms) == ([], "end", 0, None)
    assert len(server.requests) == 1


# --- stopping


async def test_stop_from_another_thread_ends_it_and_the_connection() -> None:
    never = asyncio.Event()
    async with (
        talking(Scripted([event("Once"), never])) as (server, generator),
        aclosing(generator.generate([2, 300, 4, 3], PARAMS)) as steps,
    ):
        assert (await anext(steps)) == Piece(tuple(ids_of("Once")), "Once")
        await asyncio.to_thread(generator.stop)
        (end,) = [item async for item in steps]
        await server.left.wait()
    assert isinstance(end, Finished)
    assert (end.reason, end.prompt_tokens, end.completion_tokens) == ("stopped", 4, 2)


async def test_stop_ends_it_while_nothing_came_yet_or_the_server_is_busy() -> None:
    async with talking(Scripted([asyncio.Event()])) as (server, generator):
        reply = asyncio.create_task(heard(generator, prompt_of(generator, "Hi")))
        await server.asked.get()
        generator.stop()
        pieces, end = await reply
        await server.left.wait()
    assert (pieces, end.reason, end.first_token_ms) == ([], "stopped", None)
    async with talking(refused(429, retry_after="10")) as (server, generator):
        reply = asyncio.create_task(heard(generator, prompt_of(generator, "Hi")))
        await server.asked.get()
        generator.stop()
        assert (await reply)[1].reason == "stopped"
        assert len(server.requests) == 1


def test_stop_does_nothing_where_nothing_runs_also_after_the_loop_was_closed() -> None:
    kept: list[ChatServerGenerator] = []

    async def talk() -> None:
        async with talking(said("Hi")) as (_, generator):
            for _ in range(2):
                generator.stop()
                assert joined((await heard(generator, prompt_of(generator, "Hi")))[0]) == "Hi"
            kept.append(generator)

    thread = threading.Thread(target=asyncio.run, args=(talk(),))
    thread.start()
    thread.join()
    kept[0].stop()
    kept[0].stop()


async def test_who_closes_the_iterator_or_is_cancelled_ends_the_connection() -> None:
    async with talking(Scripted([event("Once"), asyncio.Event()])) as (server, generator):
        async with aclosing(generator.generate([2, 300, 4, 3], PARAMS)) as steps:
            await anext(steps)
        await server.left.wait()
    async with talking(Scripted([asyncio.Event()])) as (server, generator):
        reply = asyncio.create_task(heard(generator, prompt_of(generator, "Hi")))
        await server.asked.get()
        reply.cancel()
        await asyncio.wait([reply])
        assert reply.cancelled()
        await server.left.wait()


# --- faults; what else a server can do wrong is in test_server_faults.py


async def test_a_reply_or_a_stream_of_nothing_without_an_end_is_read_no_further_than_it_may_be() -> None:
    endless = itertools.chain([event("Hi")], itertools.repeat(event("blah " * 40)))
    nothing = itertools.repeat(event() * 50)
    async with talking(Scripted(endless), Scripted(nothing)) as (server, generator):
        pieces, end = await heard(generator, prompt_of(generator, "Hi"), params=SamplingParams(max_tokens=10))
        await server.left.wait()
        assert end.reason == "length"
        assert 10 * 8 + 4096 - 200 < len(joined(pieces)) < 10 * 8 + 4096 + 400
        server.left.clear()
        _, end = await heard(generator, prompt_of(generator, "Hi"), params=SamplingParams(max_tokens=10))
        await server.left.wait()
        assert (end.reason, end.completion_tokens) == ("length", 0)


async def test_what_was_held_back_as_perhaps_reasoning_is_left_where_the_connection_ends() -> None:
    async with talking(Scripted([event("<thi")], cut=True)) as (server, generator):
        text, why = await until_failed(generator, prompt_of(generator, "Hi"), ServerLost)
        assert (text, len(server.requests)) == ("<thi", 1)
        assert "the connection ended in the middle" in why


async def test_a_told_end_is_one_whatever_becomes_of_connection_and_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    async with talking(Scripted([event("Hi", finish="stop")], cut=True)) as (_, generator):
        pieces, end = await heard(generator, prompt_of(generator, "Hi"))
    assert (joined(pieces), end.reason) == ("Hi", "end")
    monkeypatch.setattr("models.servers.answer.COUNTS_S", 0.0)  # they are not waited for for ever
    async with talking(Scripted([event("Hi", finish="length"), asyncio.Event()])) as (server, generator):
        assert (await heard(generator, prompt_of(generator, "Hi")))[1].reason == "length"
        await server.left.wait()


async def test_a_busy_server_is_left_alone_as_long_as_it_says_and_asked_once_more_unless_that_is_long() -> None:
    for status in (429, 503):
        busy = refused(status, "slow down", retry_after="0")
        async with talking(busy, said("Hi"), busy) as (server, generator):
            prompt = prompt_of(generator, "Hi")
            assert joined((await heard(generator, prompt))[0]) == "Hi"
            text, why = await until_failed(generator, prompt, ServerBusy)
            assert (text, len(server.requests)) == ("", 4)
        assert "slow down" in why
    async with talking(refused(429, retry_after="11")) as (server, generator):
        await until_failed(generator, prompt_of(generator, "Hi"), ServerBusy)
        assert len(server.requests) == 1


async def test_a_server_that_says_words_where_an_object_is_asked_is_not_waited_for_and_remembered() -> None:
    words = Scripted([event("word ") for _ in range(4000)])
    async with talking(words) as (server, generator):
        prompt = prompt_of(generator, "Sketch it.")
        with pytest.raises(StructuredOutputError):
            await heard(generator, prompt, schema=Sketch)
        assert len(server.requests) == 2
        for _ in range(2):
            with pytest.raises(StructuredOutputError, match="makes no objects"):
                await generator.structured(prompt, Sketch)
        assert len(server.requests) == 2


async def test_names_of_one_model_and_a_name_that_is_none_of_the_servers_others_is_an_alias() -> None:
    for asked, told, same in (
        ("llama3.2", "llama3.2:latest", True),
        ("llama3.2:latest", "llama3.2", True),
        ("gpt-4o", "gpt-4o-2024-08-06", True),
        ("claude-x", "claude-x-20241022", True),
        ("openai/gpt-4o", "gpt-4o-2024-08-06", True),
        ("qwen", "/home/me/models/Qwen.gguf", True),
        ("qwen", "qwen@q4_k_m", True),
        ("Qwen/Qwen3-8B", "Qwen/Qwen3-8B", True),
        ("gpt-4o", "gpt-4o-mini", False),
        ("llama3.2", "llama3.2:3b", False),
        ("a/qwen", "b/qwen", False),
        ("phi", "phi-3", False),
    ):
        assert same_model(asked, told) is same, (asked, told)
    async with talking(Scripted([event("Hi", model="gpt-4o-2024-08-06"), DONE])) as (_, generator):
        pieces, _ = await heard(generator, prompt_of(generator, "Hi"))
        assert [each.text for each in pieces] == ["Hi"]


# --- what a server does not take


def messages(request: Request) -> list[tuple[str, str]]:
    return [(each["role"], each["content"]) for each in request.body["messages"]]


def talk_of(generator: Generator) -> list[int]:
    """Two users' messages in a row, and a system text in the middle."""
    talk: list[tuple[FrameRole, str]] = [
        *(("system", "Be brief."), ("user", "One"), ("user", "Two"), ("assistant", "Yes")),
        *(("system", "Be kind."), ("system", "It is May."), ("user", "Three")),
    ]
    return [*(each for role, text in talk for each in generator.frame(role, text)), *generator.reply_open()]


async def test_roles_that_a_template_refuses_are_joined_and_stay_so() -> None:
    for status, why, system in (
        (400, "Conversation roles must alternate user/assistant/user/assistant/...", True),
        (400, "System message must be at the beginning.", True),
        (500, "Error rendering prompt with jinja template", True),
        (400, "System role not supported", False),  # it gets the system's texts from the user
    ):
        async with talking(refused(status, why), said("Hi")) as (server, generator):
            for _ in range(2):
                await heard(generator, talk_of(generator))
        first, *others = map(messages, server.requests)
        assert first[1:3] == [("user", "One"), ("user", "Two")]
        begun = [("system", "Be brief."), ("user", "One\n\nTwo")] if system else [("user", "Be brief.\n\nOne\n\nTwo")]
        joined = [*begun, ("assistant", "Yes"), ("user", "Be kind.\n\nIt is May.\n\nThree")]
        assert others == [joined, joined]


async def test_a_refusal_that_nothing_can_be_done_about_is_asked_once() -> None:
    async with talking(refused(400, "roles must alternate")) as (server, generator):
        await until_failed(generator, prompt_of(generator, "Hi"), ServerRefused)
        assert len(server.requests) == 1
        await until_failed(generator, talk_of(generator), ServerRefused)
        assert len(server.requests) == 2


async def test_parameters_that_are_refused_are_left_out_from_then_on() -> None:
    scripts = [
        refused(400, "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."),
        refused(400, "Unsupported value: 'temperature' does not support 0.7 with this model."),
        refused(422, "extra fields not permitted: stream_options"),
        said("Hi"),
    ]
    async with talking(*scripts) as (server, generator):
        await heard(generator, prompt_of(generator, "Hi"))
        await heard(generator, prompt_of(generator, "Hi"))
    assert len(server.requests) == 5
    assert set(server.last) == {"model", "messages", "stream", "top_p", "max_completion_tokens"}


async def test_a_prompt_that_the_server_finds_too_long_is_told_with_its_own_counts() -> None:
    requested = "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens (4000 in …)"
    for why, tokens, context in (
        ("the request exceeds the available context size (n_prompt 1509, n_ctx 512)", 1509, 512),
        (requested, 5000, 4096),
        ("The input (5000 tokens) is longer than the model's context length (4096 tokens).", 5000, 4096),
        ("prompt is too long: 208,310 tokens > 200,000 maximum", 208310, 200000),
        ("context_length_exceeded", 9, 9),
    ):
        async with talking(refused(400, why)) as (server, generator):
            prompt = [*generator.frame("user", "x" * 18), *generator.reply_open()]
            with pytest.raises(ContextFull) as caught:
                await heard(generator, prompt)
            assert (caught.value.tokens, caught.value.context, len(server.requests)) == (tokens, context, 1)
            most = generator.info.context
            assert most == context or (most > context and tokens == context) or (most < context and tokens > context)


async def test_a_prompt_that_does_not_fit_is_not_asked() -> None:
    async with talking(said("Hi"), context=30) as (server, generator):
        long = prompt_of(generator, "x" * 90)
        with pytest.raises(ContextFull):
            await heard(generator, long)
        with pytest.raises(ContextFull):
            await generator.structured(long, Sketch)
        with pytest.raises(ContextFull):
            await heard(generator, [])
        assert not await generator.prefill(long)
        assert await generator.prefill(prompt_of(generator, "Hi"))
        assert server.requests == []


# --- objects


async def test_an_object_is_asked_by_its_schema() -> None:
    async with talking(said(json.dumps(GOOD)[:9], json.dumps(GOOD)[9:])) as (server, generator):
        made = await generator.structured(prompt_of(generator, "Sketch it."), Sketch, max_tokens=99)
    assert made == Sketch(**GOOD)  # type: ignore[arg-type]
    form = server.last["response_format"]
    assert form["type"] == "json_schema"
    assert (form["json_schema"]["name"], form["json_schema"]["strict"]) == ("Sketch", True)
    assert form["json_schema"]["schema"]["required"] == ["title", "weight"]
    assert form["json_schema"]["schema"]["additionalProperties"] is False
    assert (server.last["temperature"], server.last["max_tokens"]) == (0, 99)
    assert "top_p" not in server.last
    assert messages(server.requests[0])[-1] == ("user", "Sketch it.")


def without(*kinds: str) -> Callable[[Request], Scripted]:
    """A server that takes none of these response formats."""

    def answer(request: Request) -> Scripted:
        kind = request.body.get("response_format", {}).get("type")
        return refused(400, f"response_format {kind} is not supported") if kind in kinds else said(json.dumps(GOOD))

    return answer


async def test_where_no_schema_is_taken_it_is_asked_in_words_from_then_on() -> None:
    for kinds, forms in (
        (("json_schema",), ["json_schema", "json_object", "json_object"]),
        (("json_schema", "json_object"), ["json_schema", "json_object", None, None]),
    ):
        async with talking(without(*kinds)) as (server, generator):
            for _ in range(2):
                assert (await generator.structured(prompt_of(generator, "Sketch it."), Sketch)).title == "A boat"
        assert asked_forms(server) == forms
        last = messages(server.requests[-1])
        assert len(last) == 2  # the words are joined to what the user said
        assert last[-1][1].startswith("Sketch it.\n\nAnswer with one JSON object")
        assert '"weight"' in last[-1][1]


def asked_forms(server: ChatServer) -> list[str | None]:
    return [each.body.get("response_format", {}).get("type") for each in server.requests]


async def test_a_schema_that_alone_is_refused_leaves_the_others_their_form() -> None:
    class Other(BaseModel):
        title: str

    scripts = [refused(400, "Invalid schema for response_format 'Sketch': no"), said(json.dumps(GOOD))]
    async with talking(*scripts) as (server, generator):
        await generator.structured(prompt_of(generator, "Sketch it."), Sketch)
        await generator.structured(prompt_of(generator, "Sketch it."), Other)
    assert asked_forms(server) == ["json_schema", "json_object", "json_schema"]


async def test_an_object_is_found_among_other_words() -> None:
    for text in (
        '```json\n{"title": "A boat", "weight": 3}\n```\nHope this helps! {}',
        'Sure: {"title": "A boat", "weight": 3} and so on',
        '<think>{"title": 1}</think>{"title": "A boat", "weight": 3}',
    ):
        async with talking(said(*text)) as (server, generator):
            assert (await generator.structured(prompt_of(generator, "Sketch it."), Sketch)).weight == 3
            pieces, end = await heard(generator, prompt_of(generator, "Sketch it."), schema=Sketch)
            assert (json.loads(joined(pieces)), end.reason) == (GOOD, "end")
            assert len(server.requests) == 2


def test_the_first_object_of_a_text_is_let_through_to_its_last_brace() -> None:
    found = FirstObject()
    text = 'x {"a": "}\\"}", "b": [{"c": {}}]} y {}'
    assert "".join(map(found.push, text)) == '{"a": "}\\"}", "b": [{"c": {}}]}'
    assert found.whole
    assert FirstObject().push("none") == ""


async def test_an_object_that_is_not_valid_is_asked_for_once_more_and_in_words_and_one_without_an_end_is_told() -> None:
    for bad in ('{"title": "A boat", "weight": -1}', "I would rather not.", '{"title": "A bo'):
        async with talking(said(bad), said(json.dumps(GOOD)), said(bad)) as (server, generator):
            prompt = prompt_of(generator, "Sketch it.")
            assert (await generator.structured(prompt, Sketch)).weight == 3
            assert "Your last answer could not be used" in messages(server.requests[1])[-1][1]
            assert server.requests[1].body["response_format"]["type"] == "json_schema"
            with pytest.raises(StructuredOutputError):
                await generator.structured(prompt, Sketch)
            assert len(server.requests) == 4
    async with talking(said('{"title": "', finish="length")) as (_, generator):
        with pytest.raises(StructuredOutputError, match="did not end in time") as caught:
            await generator.structured(prompt_of(generator, "Sketch it."), Sketch)
    assert caught.value.text == '{"title": "'


async def test_an_object_in_the_foreground_is_streamed() -> None:
    go_on = asyncio.Event()
    script = Scripted([event('{"title": '), go_on, event('"x"}'), event(finish="stop"), DONE])
    async with talking(script) as (server, generator):
        async with aclosing(generator.generate([2, 300, 4, 3], SamplingParams(max_tokens=9), schema=Sketch)) as steps:
            first = await anext(steps)
            go_on.set()
            *rest, end = [item async for item in steps]
        assert server.last["response_format"]["type"] == "json_schema"
        assert (server.last["temperature"], server.last["max_tokens"]) == (0, 9)
    assert isinstance(first, Piece)
    assert isinstance(end, Finished)
    assert first.text + joined([item for item in rest if isinstance(item, Piece)]) == '{"title": "x"}'
    assert end.reason == "end"


async def test_in_the_foreground_words_without_an_object_are_asked_again_and_half_an_object_is_no_end() -> None:
    prompt = [2, 300, 4, 3]
    async with talking(said("I will not."), said("{}"), said("No.")) as (server, generator):
        assert joined((await heard(generator, prompt, schema=Sketch))[0]) == "{}"
        assert len(server.requests) == 2
        with pytest.raises(StructuredOutputError):
            await heard(generator, prompt, schema=Sketch)
        assert len(server.requests) == 4
    half = '{"title": '
    async with talking(said(half, finish="length"), said(half, finish="stop")) as (server, generator):
        assert (await heard(generator, prompt, schema=Sketch))[1].reason == "length"
        with pytest.raises(StructuredOutputError):
            await heard(generator, prompt, schema=Sketch)
        assert len(server.requests) == 2


def test_a_strict_schema_requires_all_and_allows_no_more_at_every_depth() -> None:
    class Cat(BaseModel):
        kind: Literal["cat"]
        default: int = 1

    class Dog(BaseModel):
        kind: Literal["dog"]

    class House(BaseModel):
        pets: list[Annotated[Cat | Dog, Field(discriminator="kind")]] = []
        words: dict[str, str] = {}

    schema = strict_schema(House)
    assert schema["required"] == ["pets", "words"]
    assert schema["$defs"]["Cat"]["required"] == ["kind", "default"]
    assert schema["$defs"]["Cat"]["additionalProperties"] is False
    assert len(schema["properties"]["pets"]["items"]["anyOf"]) == 2
    assert schema["properties"]["words"]["additionalProperties"] == {"type": "string"}
    assert "discriminator" not in json.dumps(schema)


# --- foreground first


async def test_the_background_waits_for_a_reply_or_is_interrupted_by_one_and_begins_again_after_it() -> None:
    go_on, good = asyncio.Event(), said(json.dumps(GOOD))
    reply = Scripted([event("Hi"), go_on, event(finish="stop"), DONE])
    half = Scripted([event('{"title": '), asyncio.Event()])
    async with talking(reply, good, half, said("Hi"), good) as (server, generator):
        sketch, prompt = prompt_of(generator, "Sketch it."), prompt_of(generator, "Hi")
        async with aclosing(generator.generate(prompt, PARAMS)) as steps:
            await anext(steps)
            made = asyncio.create_task(generator.structured(sketch, Sketch))
            go_on.set()
            assert isinstance([item async for item in steps][-1], Finished)
            assert len(server.requests) == 1
        assert (await made).weight == 3
        assert len(server.requests) == 2
        while not server.asked.empty():
            server.asked.get_nowait()
        made = asyncio.create_task(generator.structured(sketch, Sketch))
        await server.asked.get()
        pieces, _ = await heard(generator, prompt)
        await server.left.wait()
        assert joined(pieces) == "Hi"
        assert (await made).title == "A boat"
        assert len(server.requests) == 5


async def test_background_work_is_done_one_by_one_and_can_be_cancelled() -> None:
    async with talking(Scripted([asyncio.Event()]), said(json.dumps(GOOD))) as (server, generator):
        prompt = prompt_of(generator, "Sketch it.")
        first = asyncio.create_task(generator.structured(prompt, Sketch))
        await server.asked.get()
        second = asyncio.create_task(generator.structured(prompt, Sketch))
        first.cancel()
        await server.left.wait()
        assert (await second).title == "A boat"
        assert first.cancelled()


async def test_closing_ends_whoever_waits() -> None:
    async with talking(Scripted([asyncio.Event()])) as (server, generator):
        prompt = prompt_of(generator, "Hi")
        running = asyncio.create_task(generator.structured(prompt, Sketch))
        await server.asked.get()
        reply = asyncio.create_task(heard(generator, prompt))
        await server.asked.get()
        await generator.close()
        for task in (running, reply):
            with pytest.raises(EngineClosed):
                await task
        await generator.close()
        with pytest.raises(EngineClosed):
            await generator.structured(prompt, Sketch)
        with pytest.raises(EngineClosed):
            await generator.prefill(prompt)
        with pytest.raises(EngineClosed):
            await heard(generator, prompt)


# --- what is warm


async def test_warm_is_the_last_prompt_with_its_reply_and_the_pace_is_known_but_no_state_given_or_taken() -> None:
    async with talking(said("Hello there", usage=counts(100, 1, cached=50))) as (_, generator):
        prompt = prompt_of(generator, "Hi")
        assert generator.warm(prompt) == 0
        before = generator.reading_s
        await heard(generator, prompt)
        after = generator.reading_s
        assert before is None
        assert after is not None
        assert after > 0
        assert generator.warm(prompt) == len(prompt)
        reread = [*prompt[:-1], *generator.frame("assistant", "Hello there"), *generator.frame("user", "And?")]
        assert generator.warm(reread) == len(reread) - len(generator.frame("user", "And?")) - 1
        assert generator.warm(generator.frame("system", "Be long.")) == 2
        assert await generator.take_state([2, 300, 4]) is None
        assert not await generator.put_state(KVState((2, 300, 4), memoryview(b"")))
