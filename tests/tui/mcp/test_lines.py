"""The lines of MCP: those that are messages come whole, the others are answered or counted."""

import asyncio
import json
from io import BytesIO, TextIOWrapper

from hypothesis import given
from hypothesis import strategies as st

from tui.mcp.lines import WireAnswers, WireLines, id_in


async def read(*pieces: bytes, limit: int = 1_000) -> tuple[list[object], list[tuple[object, int]], int]:
    """The messages of what arrives, the ids and codes of what was refused, and how many lines nobody asked."""
    stream, wire = asyncio.StreamReader(limit=limit), BytesIO()
    lines = WireLines(stream, WireAnswers(TextIOWrapper(wire, encoding="utf-8", write_through=True)))
    for piece in pieces:
        stream.feed_data(piece)
    stream.feed_eof()
    found = [json.loads(line) async for line in lines]
    refused = [json.loads(line) for line in wire.getvalue().splitlines()]
    return found, [(each["id"], each["error"]["code"]) for each in refused], lines.passed_over


def ping(id: object) -> dict[str, object]:
    return {"jsonrpc": "2.0", "id": id, "method": "ping"}


async def test_lines_come_whole_however_they_arrive_and_none_is_longer_than_may_be() -> None:
    line = json.dumps(ping("h\u00e9"), ensure_ascii=False).encode() + b"\n"
    long = json.dumps({"jsonrpc": "2.0", "params": {"id": 1, "a": "x" * 200}, "id": 7}).encode() + b"\n"
    told = b'{"jsonrpc": "2.0", "method": "notifications/initialized"}'
    found = await read(line[:30], line[30:] + long + b"y" * 150, b"y\n\n" + line + b"\xff\n" + told, limit=60)
    assert found == ([ping("hé"), ping("hé"), json.loads(told)], [(7, -32600)], 2)


async def test_several_at_once_are_refused_each_and_what_asks_for_nothing_is_counted() -> None:
    batch = json.dumps([ping(1), ping("b"), {"method": "told"}, 5]).encode()
    assert await read(batch + b"\n", b"5\nnull\n{}\n[]\n") == ([{}], [(1, -32600), ("b", -32600)], 4)


@given(st.recursive(st.text() | st.integers() | st.none(), lambda of: st.lists(of) | st.dictionaries(st.text(), of)))
def test_the_id_is_that_of_the_request_and_of_nothing_in_it(inside: object) -> None:
    whole = json.dumps({"params": {"id": 1, "inside": inside}, "id": "mine"})
    assert id_in(whole) == "mine"
    assert id_in(whole[:-1]) == "mine", "also where the line is cut off"


async def test_what_the_sdk_would_not_read_is_answered_here() -> None:
    for depth in (150, 300, 600, 5_000):
        deep = f'{{"jsonrpc": "2.0", "id": 7, "method": "ping", "params": {{"a": {"[" * depth}{"]" * depth}}}}}\n'
        told = f'{{"jsonrpc": "2.0", "result": {"[" * depth}{"]" * depth}}}\n'
        assert await read(deep.encode(), told.encode(), limit=100_000) == ([], [(7, -32700)], 1)
    both = {**ping(8), "error": {"code": 1, "message": "x"}}
    assert await read(json.dumps(both).encode() + b"\n") == ([ping(8)], [], 0)
