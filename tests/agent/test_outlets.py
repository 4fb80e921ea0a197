"""Outlets: every listener gets everything in its order, and a slow one gets what comes in pieces in larger ones."""

import asyncio

from agent.events import AgentEvent, PromptRead, TokensArrived, TurnAccepted
from agent.outlets import MOST_UNREAD, Outlet, joined

SAID = TurnAccepted("S", "T", "hello", queued=False, new_session=False)


def tokens(number: int, reply: str = "R") -> TokensArrived:
    return TokensArrived("S", reply, f"{number} ", number, 10.0)


async def taken(outlet: Outlet[AgentEvent]) -> list[AgentEvent]:
    return [event async for event in outlet.events()]


async def test_what_is_taken_as_it_comes_comes_as_it_was_told() -> None:
    outlet, heard, read = Outlet[AgentEvent](joined), list[AgentEvent](), asyncio.Event()

    async def listen() -> None:
        async for event in outlet.events():
            heard.append(event)
            read.set()

    listener = asyncio.create_task(listen())
    for number in range(3 * MOST_UNREAD):
        outlet.put(tokens(number))
        await read.wait()
        read.clear()
    outlet.put(None)
    await listener
    assert heard == [tokens(number) for number in range(3 * MOST_UNREAD)]


async def test_a_listener_that_does_not_read_misses_no_word_and_no_step() -> None:
    outlet = Outlet[AgentEvent](joined)
    outlet.put(SAID)
    for number in range(5_000):
        outlet.put(tokens(number))
    outlet.put(tokens(0, "another reply"))
    outlet.put(SAID)
    outlet.put(None)
    heard = await taken(outlet)
    assert len(heard) == MOST_UNREAD + 2
    pieces = [event for event in heard if isinstance(event, TokensArrived) and event.reply_turn == "R"]
    assert "".join(piece.text for piece in pieces) == "".join(f"{number} " for number in range(5_000))
    assert pieces[-1].tokens == 4_999
    assert heard[0] == heard[-1] == SAID

    outlet = Outlet[AgentEvent](joined)
    for done in range(1_000):
        outlet.put(PromptRead("S", "T", done, 1_000))
    outlet.put(None)
    heard = await taken(outlet)
    assert len(heard) == MOST_UNREAD
    assert heard[-1] == PromptRead("S", "T", 999, 1_000), "of how far something is only the last word waits"
