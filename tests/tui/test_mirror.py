"""Two faces on one chat: whatever either of them does, both know the same in the end."""

import asyncio
import tempfile
from collections.abc import AsyncGenerator
from contextlib import suppress
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from agent.errors import AgentError
from agent.events import AgentEvent, ReplyEnded, ReplyStarted, TokensArrived, TurnAccepted
from agent.home import Home
from agent.service.client import AgentClient
from agent.settings import Settings
from graph.errors import MemoryFailure
from graph.events import Role
from graph.values import Turn
from tests.agent.service.behind import Behind, agent_of
from tests.examples import histories
from tests.fakes import FakeGenerator
from tui.fold import fold
from tui.state import State


class Face:
    """What a chat makes of the events of a session and of the notices."""

    def __init__(self, client: AgentClient, session: str) -> None:
        self.client, self.session = client, session
        self.state = State()
        self.heard: list[AgentEvent] = []
        self.own: list[AgentEvent] = []  # of what was said here
        self.following = [asyncio.create_task(self._watch()), asyncio.create_task(self._hear(client))]

    async def _watch(self) -> None:
        async for event in self.client.watch(self.session):
            self.heard.append(event)
            self.state = fold(self.state, event)

    async def _hear(self, client: AgentClient) -> None:
        async for notice in client.notices():
            self.state = fold(self.state, notice)

    async def said(self, events: AsyncGenerator[AgentEvent, None]) -> None:
        async for event in events:
            self.own.append(event)

    async def thread(self) -> list[Turn]:
        turns: list[Turn] = await self.client.chats.thread(self.session)
        return turns

    async def last(self, role: Role) -> Turn | None:
        return next((turn for turn in reversed(await self.thread()) if turn.role == role), None)


class Pair:
    """Both faces, the model, and what is under way."""

    def __init__(self, behind: Behind, model: FakeGenerator) -> None:
        self.behind, self.model = behind, model
        self.under_way: list[asyncio.Task[None]] = []
        self.said = 0

    def begin(self, face: Face, events: AsyncGenerator[AgentEvent, None]) -> None:
        self.under_way.append(asyncio.create_task(face.said(events)))


async def do(deed: str, face: Face, pair: Pair) -> None:
    """Do something in one of the two chats."""
    client, session = face.client, face.session
    match deed:
        case "say":
            pair.said += 1
            pair.begin(face, client.send(session, f"message {pair.said}"))
        case "regenerate":
            pair.begin(face, client.regenerate(session))
        case "edit" if (turn := await face.last(Role.USER)) is not None:
            pair.said += 1
            pair.begin(face, client.edit(session, turn.id, f"edited {pair.said}"))
        case "rewind" if (turn := await face.last(Role.ASSISTANT)) is not None:
            await client.branches.rewind(session, turn.id)
        case "hide" if (turn := await face.last(Role.USER)) is not None:
            await client.chats.hide(turn.id)
        case "withdraw":
            for turn in await client.chats.waiting(session):
                await client.withdraw(session, turn.id)
        case "rename":
            await client.chats.rename(session, f"Voyage {pair.said}")
        case "stop":
            client.stop()
        case "go on":
            client.go_on(session)
        case "hold":
            pair.model.gate.clear()
        case "release":
            pair.model.gate.set()


DEEDS = (
    *("say", "say", "say", "regenerate", "edit", "rewind", "hide", "withdraw", "rename"),
    *("stop", "go on", "hold", "release"),
)


def shown(events: list[AgentEvent]) -> list[AgentEvent]:
    """Events without their pieces, which come together as fast as they are read, and what does not become a reply."""
    return [event for event in events if isinstance(event, TurnAccepted | ReplyStarted | ReplyEnded)]


def words(events: list[AgentEvent]) -> dict[str, str]:
    """The text of each reply, as it was streamed."""
    said: dict[str, str] = {}
    for event in events:
        if isinstance(event, TokensArrived):
            said[event.reply_turn] = said.get(event.reply_turn, "") + event.text
    return said


async def mirrored(folder: Path, deeds: list[tuple[int, str]]) -> None:
    model = FakeGenerator("one two three four", "five six seven")
    home = Home(folder, folder / "models")
    behind = Behind(home, agent_of(home, model, Settings(reflect=False, recall=False)))
    await behind.start()
    try:
        clients = [await behind.client(), await behind.client()]
        session = await clients[0].chats.configure(None)
        faces = [Face(client, session) for client in clients]
        for face in faces:
            await face.thread()  # answered after the watch began
        pair = Pair(behind, model)
        for who, what in deeds:
            with suppress(AgentError, MemoryFailure):  # there was nothing to stop, to hide, to take back
                await do(what, faces[who], pair)
        model.gate.set()
        while not all(task.done() for task in pair.under_way):
            clients[0].go_on(session)
            await clients[0].idle()
        for task in pair.under_way:
            await task
        for face in faces:
            await face.client.idle()
            await face.client.close()
        for task in (task for face in faces for task in face.following):
            await task
        one, other = faces
        assert one.state == other.state
        assert shown(one.heard) == shown(other.heard)
        assert words(one.heard) == words(other.heard)
        everything = shown(one.heard)
        for event in shown([*one.own, *other.own]):
            assert everything.count(event) == 1, "what is told to whoever said it is told to all, once"
        kept = {turn.id: turn.text for turn in await behind.agent.chats.thread(session)}
        ended = {event.reply_turn: event.text for event in one.heard if isinstance(event, ReplyEnded)}
        assert all(kept.get(turn, text) == text for turn, text in ended.items())
    finally:
        model.gate.set()
        await behind.end()


@histories(20)
@given(st.lists(st.tuples(st.integers(0, 1), st.sampled_from(DEEDS)), min_size=1, max_size=14))
def test_two_faces_on_one_chat_know_the_same_after_whatever_either_did(deeds: list[tuple[int, str]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(asyncio.wait_for(mirrored(Path(folder), deeds), 60))
