"""What was hidden, deleted or erased leaves no KV state behind, also where clew was killed before it forgot it."""

from dataclasses import dataclass
from pathlib import Path

import pytest

from agent.home import Home
from agent.prompt import PromptLog, PromptMark
from agent.shelf import to_note
from graph.events import Event, Recalled, Role, SessionDeleted, SessionStarted, TurnDeleted, TurnHidden, TurnUnhidden
from graph.memory import Memory
from models.protocols import KVState
from models.states import KVStates
from tests.agent.conftest import MakeAgent
from tests.fakes import FakeGenerator
from tests.graph.talk import reply, said

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


@pytest.fixture
def written() -> Written:
    home = Home.resolve()
    home.root.mkdir(parents=True, exist_ok=True)
    made = Written(home)
    made.append(
        *(SessionStarted(session=session, client="test") for session in (OLD, QUOTING, OTHER)),
        said("secret", OLD, text="A secret."),
        reply("first answer", OLD, parent="secret", text="One."),
        reply("answer", OLD, parent="secret", text="Another."),
        said("question", QUOTING, text="What do you know?"),
        said("looked up", QUOTING, parent="question", role=Role.TOOL, speaker="tool", text="open_turn()\nA secret.",
             recalled=(Recalled(id="secret", ranks={"tool": 1}),)),
        said("harmless", OTHER, text="Hello."),
    )  # fmt: skip
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
async def test_a_start_keeps_what_may_be_quoted_and_says_what_it_holds(written: Written, make_agent: MakeAgent) -> None:
    written.save(QUOTING, LOGS["quoted by a tool"])
    states = KVStates(written.home.states, limit=1 << 20)
    assert states.save(OLD, "model", KVState((1,), memoryview(b"")), {"marks": "of another version"})
    written.append(TurnHidden(turn="secret"), TurnUnhidden(turn="secret"))
    await (await make_agent(FakeGenerator())).idle()
    assert written.left == {QUOTING, OTHER}


@pytest.mark.restarts
async def test_what_a_tool_quoted_is_forgotten_at_once_and_a_session_with_its_alternatives(
    written: Written, make_agent: MakeAgent, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent = await make_agent(FakeGenerator())
    await agent.idle()
    written.save(QUOTING, LOGS["quoted by a tool"])
    await agent.chats.hide("secret")
    assert written.left == {OTHER}
    await agent.chats.unhide("secret")
    written.save(QUOTING, LOGS["quoted by a tool"])
    forgotten: set[str] = set()
    forget_turns = agent._prompts.forget_turns

    async def forgetting(turns: set[str]) -> None:
        forgotten.update(turns)
        await forget_turns(turns)

    monkeypatch.setattr(agent._prompts, "forget_turns", forgetting)
    await agent.chats.delete(OLD)
    assert written.left == {OTHER}
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
