"""What was hidden, deleted or erased leaves no KV state behind, also where clew was killed before it forgot it."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from agent.agent import Agent
from agent.home import Home
from agent.prompt import PromptLog, PromptMark
from agent.shelf import to_note
from graph.events import (
    Event,
    Recalled,
    Role,
    SessionDeleted,
    SessionStarted,
    TurnDeleted,
    TurnHidden,
    TurnSaid,
    TurnUnhidden,
)
from graph.memory import Memory
from models.protocols import KVState
from models.states import KVStates
from tests.agent.conftest import MakeAgent
from tests.fakes import FakeGenerator

OLD, QUOTING, OTHER = "OLD", "QUOTING", "OTHER"


@dataclass
class Written:
    """A memory of three chats, where nothing runs, and the states that a killed clew left of two of them."""

    home: Home

    def append(self, *events: Event) -> None:
        memory = Memory.open(self.home.memory, command="test")
        memory.append(*events)
        memory.close()

    def save(self, session: str, log: PromptLog) -> None:
        state = KVState((1, 2, 3), memoryview(b"state"))
        assert KVStates(self.home.states, limit=1 << 20).save(session, "model", state, to_note(log))

    @property
    def left(self) -> set[str]:
        return {path.name.partition("-")[0] for path in self.home.states.glob("*.kv")}


def said(turn: str, session: str, parent: str | None, role: Role, text: str, *quoted: str) -> TurnSaid:
    pack = tuple(Recalled(id=id, ranks={"tool": 1}) for id in quoted)
    return TurnSaid(
        turn=turn, session=session, parent=parent, role=role, speaker=role, client="test", text=text, recalled=pack
    )


@pytest.fixture
def written() -> Written:
    home = Home.resolve()
    home.root.mkdir(parents=True, exist_ok=True)
    made = Written(home)
    made.append(
        *(SessionStarted(session=session, client="test") for session in (OLD, QUOTING, OTHER)),
        said("secret", OLD, None, Role.USER, "A secret."),
        said("first answer", OLD, "secret", Role.ASSISTANT, "One."),
        said("answer", OLD, "secret", Role.ASSISTANT, "Another."),
        said("question", QUOTING, None, Role.USER, "What do you know?"),
        said("looked up", QUOTING, "question", Role.TOOL, "open_turn()\nA secret.", "secret"),
        said("harmless", OTHER, None, Role.USER, "Hello."),
    )
    made.save(OTHER, PromptLog([1], [(0, "")], [PromptMark("harmless", 0)]))
    return made


LOGS = {
    "in a frame": PromptLog([1], [(0, "")], [PromptMark("secret", 0)]),
    "quoted": PromptLog([1], [(0, "")], [PromptMark("question", 0)], quoted={"question": ["secret"]}),
    "pinned": PromptLog([1], [(0, "")], [PromptMark("question", 0)], pins=["secret"]),
    "quoted by a tool": PromptLog([1], [(0, "")], [PromptMark("question", 0), PromptMark("looked up", 0)]),
}
REMOVALS: list[Event] = [TurnHidden(turn="secret"), TurnDeleted(turn="secret"), SessionDeleted(session=OLD)]


@pytest.mark.parametrize("log", LOGS.values(), ids=LOGS.keys())
@pytest.mark.parametrize("event", REMOVALS, ids=lambda event: event.kind)
@pytest.mark.restarts
async def test_a_kill_between_the_event_and_the_forgetting_is_made_good_at_the_next_start(
    written: Written, make_agent: MakeAgent, event: Event, log: PromptLog
) -> None:
    written.save(QUOTING, log)
    written.append(event)
    await (await make_agent(FakeGenerator())).idle()
    assert written.left == {OTHER}


@pytest.mark.restarts
async def test_a_start_keeps_what_may_be_quoted(written: Written, make_agent: MakeAgent) -> None:
    written.save(QUOTING, LOGS["quoted by a tool"])
    written.append(TurnHidden(turn="secret"), TurnUnhidden(turn="secret"))
    await (await make_agent(FakeGenerator())).idle()
    assert written.left == {QUOTING, OTHER}


@pytest.mark.restarts
async def test_a_state_that_does_not_tell_what_it_holds_is_not_kept(written: Written, make_agent: MakeAgent) -> None:
    states = KVStates(written.home.states, limit=1 << 20)
    assert states.save(QUOTING, "model", KVState((1,), memoryview(b"")), {"marks": "of another version"})
    await (await make_agent(FakeGenerator())).idle()
    assert written.left == {OTHER}


async def hide(agent: Agent) -> None:
    await agent.chats.hide("secret")


async def delete(agent: Agent) -> None:
    await agent.chats.delete(OLD)


@pytest.mark.parametrize("remove", [hide, delete])
@pytest.mark.restarts
async def test_what_a_tool_quoted_is_forgotten_at_once(
    written: Written, make_agent: MakeAgent, remove: Callable[[Agent], object]
) -> None:
    agent = await make_agent(FakeGenerator())
    await agent.idle()
    written.save(QUOTING, LOGS["quoted by a tool"])
    await remove(agent)  # type: ignore[misc]
    assert written.left == {OTHER}


@pytest.mark.restarts
async def test_a_deleted_session_takes_its_alternatives_from_all_states(
    written: Written, make_agent: MakeAgent, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent = await make_agent(FakeGenerator())
    await agent.idle()
    forgotten: set[str] = set()

    async def forget_turns(turns: set[str]) -> None:
        forgotten.update(turns)

    monkeypatch.setattr(agent._prompts, "forget_turns", forget_turns)
    await agent.chats.delete(OLD)
    assert forgotten == {"secret", "first answer", "answer"}


@pytest.mark.restarts
async def test_an_agent_that_is_closed_at_once_ends_its_forgetting_first(
    written: Written, make_agent: MakeAgent, caplog: pytest.LogCaptureFixture
) -> None:
    written.save(QUOTING, LOGS["quoted"])
    written.append(TurnHidden(turn="secret"))
    agent = await make_agent(FakeGenerator())
    await agent.close()
    assert not agent._prompts.shelf._tasks
    assert caplog.records == []
    again = await make_agent(FakeGenerator())
    await again.idle()
    assert written.left == {OTHER}


def test_only_whole_states_tell_what_they_hold(tmp_path: Path) -> None:
    states = KVStates(tmp_path, limit=1 << 20)
    for session in ("A", "B"):
        states.save(session, "model", KVState((1,), memoryview(b"x")), {"of": session})
    damaged = tmp_path / "A-model.kv"
    damaged.write_bytes(damaged.read_bytes()[:-1])
    assert [kept.header.note for kept in states.kept()] == [{"of": "B"}]
    assert not damaged.exists()
