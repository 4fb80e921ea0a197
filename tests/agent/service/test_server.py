"""The service at its socket: who is let in, what is refused and how, and that nobody costs the others anything."""

import asyncio
import contextlib
import json
import os
import shutil
import stat
from collections.abc import AsyncGenerator, Coroutine
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

from agent.events import (
    AgentEvent,
    ApprovalWanted,
    Failed,
    MemoryReady,
    QueueHeld,
    ReplyEnded,
    SessionsChanged,
    TokensArrived,
    ToolDone,
    TurnAccepted,
    Warned,
)
from agent.service import connection, limits, server
from agent.service.address import ELSEWHERE, socket_of
from agent.service.client import AgentClient
from agent.service.limits import RateWindow
from agent.service.methods import READING, methods
from agent.service.protocol import PROTOCOL, Code, RateLimited, ServiceEnding, ServiceError, ServiceLost, notification
from agent.service.wire import Wire
from agent.settings import Settings
from agent.steps import UNASKED
from graph.errors import LogUnwritable, MemoryHeld, NotFound
from tests.agent.conftest import collect
from tests.agent.service.behind import Behind
from tests.agent.service.conftest import MakeBehind
from tests.agent.test_changing_tools import ANSWER, REMEMBER, TOOLS
from tests.agent.test_recall import only
from tests.examples import few
from tests.fakes import FakeGenerator

HELLO: dict[str, Any] = {"protocol": PROTOCOL, "name": "test", "kind": "chat", "pid": 1}


class Raw:
    """A program that writes lines to the socket as it likes."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    async def say(self, line: bytes) -> dict[str, Any] | None:
        """Write something, and read the next line that is an answer; None where the other side has closed."""
        self.writer.write(line)
        while told := await self.reader.readline():
            message = json.loads(told)
            if "method" not in message:
                return dict(message)
        return None

    async def ask(self, method: str, id: int = 7, **params: Any) -> Any:
        return await self.say(line_of(method, id, **params))


def line_of(method: str, id: int, **params: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).encode() + b"\n"


async def raw(behind: Behind, *, greet: bool = True, **hello: Any) -> Raw:
    made = Raw(*await behind.raw())
    if greet:
        answer = await made.ask("hello", **{**HELLO, **hello})
        assert "result" in answer
    return made


@pytest.fixture
def model() -> FakeGenerator:
    return FakeGenerator("a reply")


@pytest.fixture
async def service(behind: MakeBehind, model: FakeGenerator) -> Behind:
    return await behind(model)


async def begun(client: AgentClient) -> str:
    """A chat with one exchange."""
    return only(await collect(client.send(None, "first")), TurnAccepted).session


async def asked(client: AgentClient) -> tuple[AsyncGenerator[AgentEvent, None], TurnAccepted]:
    """A message that is taken up; what else comes of it waits for the gate of the model."""
    events = client.send(None, "tell me")
    accepted = await anext(events)
    assert isinstance(accepted, TurnAccepted)
    return events, accepted


async def answered(client: AgentClient, session: str, model: FakeGenerator) -> None:
    """Let the model go on, and wait until a reply has ended in a chat."""
    watching = asyncio.create_task(to_the_end(client.watch(session)))
    await client.chats.get(session)  # answered after the watch began
    model.gate.set()
    await watching


async def to_the_end(events: AsyncGenerator[AgentEvent, None]) -> list[AgentEvent]:
    """What is told up to the end of a reply."""
    heard = []
    async with aclosing(events):
        async for event in events:
            heard.append(event)
            if isinstance(event, ReplyEnded):
                break
    return heard


async def test_the_socket_is_one_users_has_the_memory_and_goes_in_the_end(service: Behind, behind: MakeBehind) -> None:
    path = socket_of(service.home)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    with pytest.raises(MemoryHeld):
        await behind(FakeGenerator("Hello."))
    first = await service.client()
    await first.models.ready()
    later = AgentClient(service.connect, Settings(), name="later")
    heard = later.notices()
    await later.start()
    assert isinstance(await anext(heard), MemoryReady), "whoever comes later hears how it stands"
    await later.close()
    await service.end()
    assert not path.exists()


async def test_who_says_no_hello_is_told_why_and_sent_away(service: Behind, monkeypatch: pytest.MonkeyPatch) -> None:
    for line, code in (
        (b"garbage\n", Code.UNREADABLE),
        (b'{"method": 5}\n', Code.NO_REQUEST),
        (b"[1, 2]\n", Code.NO_REQUEST),
        (b'{"id": 1, "method": "memories.find", "params": {}}\n', Code.NOT_GREETED),
        (b'{"id": 1, "method": "hello", "params": {"protocol": 99}}\n', Code.OTHER_PROTOCOL),
    ):
        stranger = await raw(service, greet=False)
        answer = await stranger.say(line)
        assert answer is not None
        assert answer["error"]["code"] == code, line
        assert await stranger.say(b"") is None  # closed
    monkeypatch.setattr(connection, "HANDSHAKE_S", 0.05)
    silent = await raw(service, greet=False)
    assert await silent.reader.readline() == b"", "a hello that never comes is not waited for"
    monkeypatch.setattr(server, "peer", lambda connection: os.getuid() + 1)
    stranger = await raw(service, greet=False)
    assert await stranger.reader.read() == b"", "another user is not even answered"


async def test_what_cannot_be_asked_is_told_by_a_code_and_the_next_is_answered(service: Behind) -> None:
    asking = await raw(service)
    unanswerable: list[tuple[str, dict[str, Any], Code]] = [
        ("memories.nothing", {}, Code.UNKNOWN_METHOD),
        ("memories._find", {}, Code.UNKNOWN_METHOD),
        ("models.close", {}, Code.UNKNOWN_METHOD),
        ("private.end", {}, Code.UNKNOWN_METHOD),
        ("memories.find", {"limit": "many"}, Code.WRONG_PARAMETERS),
        ("memories.find", {"nope": 1}, Code.WRONG_PARAMETERS),
        ("memories.review", {"limit": 1 << 64}, Code.WRONG_PARAMETERS),
        ("search.recall", {}, Code.WRONG_PARAMETERS),
        ("chats.get", {"session": "nobody"}, Code.FAILED),
        ("then.chats", {"past": 5}, Code.FAILED),
    ]
    for method, params, code in unanswerable:
        assert (await asking.ask(method, **params))["error"]["code"] == code, (method, params)
        assert (await asking.ask("chats.all", 8))["result"] == []
    others: tuple[Any, ...] = ([], {}, None, "no such", 99)
    for not_under_way in others:
        asking.writer.write(notification("cancel", {"id": not_under_way}))
        assert (await asking.ask("then.close", 3, past=not_under_way))["result"] is None
        assert (await asking.ask("chats.all", 8))["result"] == []
    odd = await raw(service, name="\ud800x")  # no text, which costs nobody the health
    assert "\ud800x" in [each["name"] for each in (await odd.ask("health"))["result"]["clients"]]


async def test_half_a_line_and_an_endless_one_harm_nobody(behind: MakeBehind, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "LONGEST_LINE", 10_000)
    service = await behind(FakeGenerator("Hello."))
    half = await raw(service)
    half.writer.write(b'{"id": 1, "method": "cha')
    half.writer.close()
    endless = await raw(service)
    refused = await endless.say(b"x" * 25_000)
    assert refused is not None
    assert refused["error"]["code"] == Code.NO_REQUEST
    assert "was refused. Nothing was changed" in refused["error"]["message"]
    assert await endless.say(b"") is None  # closed
    assert await (await service.client()).chats.all() == []


async def test_settings_cross_unchanged_by_the_environment(behind: MakeBehind, monkeypatch: pytest.MonkeyPatch) -> None:
    service = await behind(FakeGenerator("Hello."), Settings(recall_limit=7))
    monkeypatch.setenv("CLEW_RECALL_LIMIT", "9")
    client = await service.client()
    assert client.settings == service.agent.settings
    assert client.settings.recall_limit == 7
    await client.use_settings(client.settings.model_copy(update={"recall_tokens": 50}))
    assert (service.agent.settings.recall_limit, service.agent.settings.recall_tokens) == (7, 50)


async def test_two_faces_on_one_chat_hear_the_same(service: Behind) -> None:
    one, other = await service.client(), await service.client()
    session = await begun(one)
    watching = asyncio.create_task(collect(other.watch(session)))
    await other.chats.get(session)  # asked after the watch began, and answered after it
    said = await collect(one.send(session, "second"))
    await other.close()
    heard = await watching
    assert [event for event in heard if not isinstance(event, TokensArrived)] == [
        event for event in said if not isinstance(event, TokensArrived)
    ]
    assert "".join(e.text for e in heard if isinstance(e, TokensArrived)) == only(said, ReplyEnded).text


async def test_what_came_of_a_request_is_told_before_its_answer(service: Behind) -> None:
    client = await service.client()
    session = only(await collect(client.send(None, "The ferry leaves at nine.")), TurnAccepted).session
    await client.idle()
    told = await raw(service)
    said: list[str] = []
    told.writer.write(line_of("chats.rename", 1, session=session, name="Voyage"))
    while not said or said[-1] != "answer":
        message = json.loads(await told.reader.readline())
        said.append("answer" if "id" in message else message["params"].get("k", message["method"]))
    assert said.count("SessionsChanged") == 1
    await client.use_settings(client.settings.model_copy(update={"recall_limit": 3}))
    assert client.settings.recall_limit == 3, "the client knows it when it has the answer"


async def test_a_chat_that_is_open_elsewhere_is_opened_a_second_time_only_by_choice(service: Behind) -> None:
    one, other = await service.client(), await service.client()
    session = await begun(one)
    assert await other.chats.last() == session
    watching = asyncio.create_task(collect(one.watch(session)))
    await one.chats.all()
    assert await one.chats.last() == session, "it is its own"
    assert await other.chats.last() is None
    assert (await other.chats.named("last")).id == session
    await one.close()
    await watching
    while await other.chats.last() is None:
        await other.chats.all()


async def test_a_face_that_goes_away_in_mid_reply_loses_nothing(service: Behind, model: FakeGenerator) -> None:
    staying = await service.client()
    model.gate.clear()
    leaving = await service.client()
    _, accepted = await asked(leaving)
    await leaving.close()
    await answered(staying, accepted.session, model)
    assert [turn.text for turn in await staying.chats.thread(accepted.session)] == ["tell me", "a reply"]


async def test_a_reply_nobody_looks_at_gives_way_to_one_that_is_awaited(service: Behind, model: FakeGenerator) -> None:
    leaving, waiting = await service.client(), await service.client()
    model.gate.clear()
    events, accepted = await asked(leaving)
    session = accepted.session
    await model.waiting.wait()
    said = asyncio.create_task(collect(waiting.send(None, "second")))
    await waiting.chats.all()
    assert service.agent.answering == session, "somebody looks on"
    await leaving.close()
    while service.agent.answering == session:
        await waiting.chats.all()
    model.gate.set()
    assert isinstance((await said)[-1], ReplyEnded)
    found = [(turn.text, turn.truncated) for turn in await waiting.chats.thread(session)]
    assert found == [("tell me", False), ("", True)]
    await events.aclose()


async def test_what_waits_is_told_to_all_and_goes_on_when_asked(service: Behind, model: FakeGenerator) -> None:
    one, other = await service.client(), await service.client()
    session = await begun(one)
    model.gate.clear()
    running = asyncio.create_task(collect(one.send(session, "second")))
    waiting = one.send(session, "third")
    assert isinstance(await anext(waiting), TurnAccepted)
    heard = one.notices(), other.notices()
    one.stop()
    for notices in heard:
        held = await anext(each async for each in notices if isinstance(each, QueueHeld))
        assert (held.session, len(held.turns)) == (session, 1)
    model.gate.set()
    await running
    assert one.go_on(session)
    assert isinstance((await collect(waiting))[-1], ReplyEnded)
    assert not one.go_on(session)


async def test_a_private_chat_is_of_one_face_and_gone_with_it(service: Behind) -> None:
    mine, theirs = await service.client(), await service.client()
    session, other = await mine.private.begin(), await theirs.private.begin()
    await collect(mine.send(session, "a secret"))
    assert [each.id for each in await mine.private.all()] == [session]
    assert [each.id for each in await theirs.private.all()] == [other]
    with pytest.raises(NotFound):
        await theirs.chats.thread(session)
    folder, kept = mine.private.folder, theirs.private.folder
    assert isinstance(folder, Path)
    assert isinstance(kept, Path)
    await mine.close()
    while await asyncio.to_thread(folder.exists):
        await theirs.chats.all()
    assert await asyncio.to_thread(kept.exists)
    assert [turn.text for turn in await theirs.chats.thread(other)] == []
    await service.end()
    assert not await asyncio.to_thread(kept.exists)


async def test_what_is_told_of_a_private_chat_is_heard_by_its_face_alone(service: Behind, tmp_path: Path) -> None:
    mine, theirs = await service.client(), await service.client()
    heard, others = mine.notices(), list[Any]()
    note = tmp_path / "zanzibar-divorce.txt"
    note.write_text("A secret.")

    async def listen() -> None:
        others.extend([str(each) async for each in theirs.notices()])

    listening = asyncio.create_task(listen())
    session = await mine.private.begin()
    await collect(mine.send(session, "Read this.", references=[str(note)]))
    note.unlink()
    await collect(mine.send(session, "And again."))
    told = await anext(str(each) async for each in heard if isinstance(each, Warned))
    assert note.name in told
    await mine.chats.rename(session, "A secret")
    await mine.chats.configure(session, system_prompt="Tell nobody.")
    await anext(each async for each in heard if isinstance(each, SessionsChanged) and each.session == session)
    assert theirs.answering in (None, "private")
    await theirs.chats.all()
    await theirs.close()
    await listening
    assert not [each for each in others if note.name in each or session in each]


async def test_leave_is_asked_of_the_face_whose_message_it_is(behind: MakeBehind) -> None:
    model = FakeGenerator("done")
    service = await behind(model, TOOLS)
    one, other = await service.client(), await service.client()
    other.approvals.clients = set()
    model.structured_replies = [REMEMBER, ANSWER, REMEMBER, ANSWER]
    refused = await collect(other.send(None, "My boat is called Zephyrine."))
    assert only(refused, ToolDone).error == UNASKED, "that one cannot be asked, whoever else can"
    told: list[AgentEvent] = []
    async for event in one.send(None, "My boat is called Zephyrine."):
        told.append(event)
        if isinstance(event, ApprovalWanted):
            await one.approvals.answer(event.approval, allowed=True)
    assert only(told, ToolDone).error is None


async def test_leave_that_nobody_can_give_any_more_is_refused(behind: MakeBehind) -> None:
    model = FakeGenerator("done")
    service = await behind(model, TOOLS)
    one, other = await service.client(), await service.client()
    model.structured_replies = [REMEMBER, ANSWER]
    async with aclosing(one.send(None, "My boat is called Zephyrine.")) as events:
        async for event in events:
            if isinstance(event, ApprovalWanted):
                break
        watching = asyncio.create_task(to_the_end(other.watch(event.session)))
        await other.chats.get(event.session)
    await one.close()
    heard = await watching
    assert only(heard, ToolDone).error == UNASKED
    assert only(heard, ReplyEnded).text == "done"


async def test_programs_may_ask_so_often_and_health_always(behind: MakeBehind, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "CALLS", 3)
    service = await behind(FakeGenerator("Hello."))
    program = AgentClient(service.connect, Settings(), name="editor", kind="foreign")
    await program.start()
    for _ in range(3):
        await program.chats.all()
    with pytest.raises(RateLimited, match=r"editor asked .* Ask again in") as limited:
        await program.chats.all()
    assert 0 < limited.value.retry_after_s <= 60
    assert (await (await raw(service, greet=False)).ask("health"))["result"]["clients"][0]["name"] == "editor"
    ours = await service.client()
    for _ in range(9):
        await ours.chats.all()
    await program.close()


def test_the_window_moves_on_and_forgets() -> None:
    now = [0.0]
    window = RateWindow(lambda: now[0])
    assert [window.take("a") for _ in range(60)] == [0.0] * 60
    assert window.take("a") == 60
    assert window.take("b") == 0
    now[0] = 59.0
    assert window.take("a") == 1
    now[0] = 60.5
    assert window.take("a") == 0


async def test_so_many_may_be_connected_and_the_next_is_refused_in_a_sentence(
    service: Behind, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "MOST_CONNECTIONS", 3)
    first, *others = [await raw(service) for _ in range(3)]
    late = await raw(service, greet=False)
    answer = await late.ask("hello", **HELLO)
    assert (answer["error"]["code"], answer["error"]["message"]) == (Code.TOO_MANY, connection.TOO_MANY)
    assert await late.say(b"") is None
    assert "result" in await others[0].ask("health")
    first.writer.close()
    async with asyncio.timeout(20):
        while len((await others[0].ask("health"))["result"]["clients"]) > 2:
            pass
    assert "result" in await (await raw(service, greet=False)).ask("hello", **HELLO)


async def test_it_ends_by_itself_when_nobody_is_there(behind: MakeBehind) -> None:
    service = await behind(FakeGenerator("Hello."), linger_s=0.05)
    client = await service.client()
    await client.chats.all()
    await client.close()
    await service.ended()
    assert not socket_of(service.home).exists()


async def test_asked_to_retire_it_finishes_the_reply_and_tells_the_face(service: Behind, model: FakeGenerator) -> None:
    client = await service.client()
    heard = client.notices()
    model.gate.clear()
    events, _ = await asked(client)
    assert (await (await raw(service, greet=False)).ask("retire"))["result"]["unanswered"] == 1
    assert (await (await raw(service, greet=False)).ask("hello", **HELLO))["error"]["code"] == Code.ENDING
    assert (await (await raw(service, greet=False)).ask("health"))["result"]["ending"] is True
    assert client._wire is not None
    with pytest.raises(ServiceEnding):
        await client._wire.ask("send", {"session": None, "text": "and on"})
    model.gate.set()
    assert isinstance((await collect(events))[-1], ReplyEnded)
    await service.ended()
    warned = await anext(each async for each in heard if isinstance(each, Warned))
    assert "It was ended from elsewhere" in warned.message
    assert client._wire.lost.done(), "another one is started by what is asked next, and not by the face itself"


async def test_stop_is_for_what_one_looks_at(service: Behind, model: FakeGenerator) -> None:
    mine, theirs = await service.client(), await service.client()
    model.gate.clear()
    events, accepted = await asked(mine)
    session = accepted.session
    await model.waiting.wait()
    await theirs.chats.all()
    assert theirs.answering == session
    assert not theirs.stop()
    assert (await (await raw(service)).ask("stop"))["result"] is False
    assert mine.stop()
    assert only(await collect(events), ReplyEnded).stop_reason == "stopped"


async def test_a_chat_that_begins_has_the_settings_of_the_file(behind: MakeBehind) -> None:
    file, loads = Settings(), 0
    service = await behind(FakeGenerator("Hello."), file)

    def load() -> Settings:
        nonlocal loads
        loads += 1
        return file

    service.service._hall._load = load
    looking = await raw(service, kind="command")
    first = await service.client()
    while loads == 0:
        await first.chats.all()
    file = Settings(recall_limit=9)
    second = await service.client()
    await second.chats.all()
    assert (loads, second.settings.recall_limit) == (1, Settings().recall_limit), "there is one that has begun already"
    await first.close()
    await second.close()
    while len((await looking.ask("health"))["result"]["clients"]) > 1:
        pass
    later = await service.client()
    while later.settings.recall_limit != 9:
        await later.chats.all()
    assert loads == 2


async def test_thousands_of_watches_of_one_face_are_bounded_and_cost_the_others_nothing(service: Behind) -> None:
    client = await service.client()
    session = await begun(client)
    greedy = await raw(service)
    count = few(10_000)
    for id in range(count):
        greedy.writer.write(line_of("watch", id, session=session))
    refused = 0
    while refused < count - connection.MOST_AT_ONCE:
        message = json.loads(await greedy.reader.readline())
        refused += message.get("error", {}).get("code") == Code.NO_REQUEST
    assert len(service.agent._conversation._watching[session]) == connection.MOST_AT_ONCE
    assert isinstance((await collect(client.send(session, "and on")))[-1], ReplyEnded)
    greedy.writer.close()
    await greedy.writer.wait_closed()
    while service.agent._conversation._watching[session]:
        await client.chats.all()


async def test_a_home_that_is_deleted_ends_it(behind: MakeBehind, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "LOOKED_S", 0.01)
    service = await behind(FakeGenerator("Hello."))
    await service.agent.idle()
    await asyncio.to_thread(shutil.rmtree, service.home.root)
    await asyncio.to_thread(service.home.memory.mkdir, parents=True)  # a face keeps drafts there, or begins anew
    await service.ended()


async def test_a_full_disk_is_told_and_the_service_goes_on(service: Behind, monkeypatch: pytest.MonkeyPatch) -> None:
    client = await service.client()

    def full(*events: object) -> None:
        raise LogUnwritable("The disk is full. Nothing was stored.")

    with monkeypatch.context() as here:
        here.setattr(service.agent._memory, "append", full)
        (failed,) = await collect(client.send(None, "hello"))
        assert isinstance(failed, Failed)
        assert failed.error is not None
        assert isinstance(failed.error.exception(), LogUnwritable)
    assert isinstance((await collect(client.send(None, "hello")))[-1], ReplyEnded)


async def test_who_reads_nothing_costs_nobody_anything(service: Behind) -> None:
    asleep, awake = await raw(service, name="asleep"), await service.client()
    hall = service.service._hall
    (sleeper,) = [each for each in hall.connections if each.guest is not None and each.guest.name == "asleep"]
    for number in range(2 * connection.MOST_TOLD):
        sleeper.tell(Warned(str(number)))
        sleeper.tell(SessionsChanged("one"))
    told = [params["v"] for _, params in sleeper._untold.values()]
    assert len(told) == connection.MOST_TOLD
    assert told[-1] == {"session": "one"}
    assert told.count(told[-1]) == 1  # which is told once, the newest
    assert told[-2] == {"message": str(2 * connection.MOST_TOLD - 1)}
    assert isinstance((await collect(awake.send(None, "hello")))[-1], ReplyEnded)
    assert not asleep.reader.at_eof()


async def test_faces_are_told_where_the_agent_is_only_when_it_is_elsewhere(service: Behind) -> None:
    client = await service.client()
    states: list[dict[str, Any]] = []
    wire = client._wire
    assert wire is not None
    wire.beside = lambda method, params: states.append(params) if method == "state" else None
    for _ in range(5):
        await client.chats.all()
    assert states == []
    await client.use_settings(Settings(recall_limit=7))
    await client.chats.all()
    assert [each["settings"]["recall_limit"] for each in states] == [7]


async def test_lost_in_mid_reply_the_message_is_there_once_which_is_told(service: Behind, model: FakeGenerator) -> None:
    client = await service.client()
    model.gate.clear()
    events, accepted = await asked(client)
    wire = client._wire
    assert wire is not None
    wire._transport.abort()
    failed = (await collect(events))[-1]
    assert "What came of it is kept" in getattr(failed, "message", "")
    again = await collect(client.send(accepted.session, "tell me", turn=accepted.turn))
    assert [type(each) for each in again] == [TurnAccepted]
    await answered(await service.client(), accepted.session, model)
    assert [turn.text for turn in await client.chats.thread(accepted.session)] == ["tell me", "a reply"]


async def test_what_only_reads_is_asked_again_where_the_service_was_lost_and_a_change_is_not(service: Behind) -> None:
    client = await service.client()
    session = await begun(client)

    async def lost(asked: Coroutine[Any, Any, Any]) -> Any:
        waiting = asyncio.ensure_future(asked)
        await asyncio.sleep(0)  # it is on its way
        assert client._wire is not None
        client._wire._transport.abort()
        return (await asyncio.gather(waiting, return_exceptions=True))[0]

    assert len(await lost(client.chats.thread(session))) == 2
    assert isinstance(await lost(client.chats.rename(session, "Voyage")), ServiceLost)
    assert set(methods()) >= READING
    await client.close()
    with pytest.raises(ServiceLost):
        await client.chats.all()


def test_every_part_of_the_agent_can_be_asked() -> None:
    parts = {name.partition(".")[0] for name in methods() if "." in name}
    assert parts >= {"chats", "branches", "memories", "entities", "projects", "plans", "history", "past", "search"}
    assert not [name for name in methods() if "._" in name or name.startswith("_")]
    assert {"memories.find", "history.marks.all", "then.memories.find", "graph.console", "send"} <= methods().keys()


async def test_no_file_is_asked_of_a_service_elsewhere_which_would_take_its_own_of_that_name(
    service: Behind, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    note = tmp_path / "note.md"
    note.write_text("Here.")
    face = await service.client()
    named = [name for name, method in methods().items() for hint in method.hints.values() if "Path" in str(hint)]
    assert {"documents.ingest", "documents.import_chats", "plans.take_out"} >= set(named), "another one names files"
    monkeypatch.setenv(ELSEWHERE, str(tmp_path / "brought.sock"))
    failed = only(await collect(face.send(None, "Sum this up.", references=[str(note)])), Failed)
    assert "would take a file of its own of that name. Nothing was sent" in str(failed)
    for asking in (
        face.references.asks([str(note)]),
        face.references.add("s", str(note)),
        face.documents.ingest(note),
        face.documents.import_chats(note),
        face.plans.take_out([str(note)]),
    ):
        with pytest.raises(ServiceError, match="Nothing was sent"):
            await asking
    assert await face.chats.all() == []
    assert await face.references.asks(["https://example.org/"]) == ["example.org"]


async def test_a_folder_that_a_service_elsewhere_names_is_not_written_to_here(
    service: Behind, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    face = await service.client()
    await face.private.begin()
    there = face.private.folder
    assert there is not None
    assert there == service.agent.private.folder_of("1")
    monkeypatch.setenv(ELSEWHERE, str(tmp_path / "brought.sock"))
    here = face.private.folder
    assert here is not None
    assert here != there
    assert await asyncio.to_thread(here.is_dir)
    await face.close()
    assert not await asyncio.to_thread(here.exists)


async def test_an_answer_without_an_end_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agent.service.wire.LONGEST_LINE", 1 << 16)

    async def endless(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readline()
        with contextlib.suppress(ConnectionError):
            while True:
                writer.write(b"x" * (1 << 12))
                await writer.drain()
        writer.close()

    async with await asyncio.start_unix_server(endless, str(tmp_path / "s")):
        wire = Wire(await asyncio.open_unix_connection(str(tmp_path / "s")))
        with pytest.raises(ServiceLost):
            await wire.ask("status", {})
        assert sum(map(len, wire._begun)) <= 1 << 17
