"""Sessions that leave the foreground come back with their state, and nothing that was taken out comes back."""

import asyncio
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from agent import prompt
from agent.agent import Agent
from agent.events import AgentEvent, ReplyEnded
from agent.home import Home
from agent.prompt import Limits, PromptLog, PromptMark
from agent.settings import Settings
from agent.shelf import IDLE_TOKENS, Shelf, StateKey, from_note, to_note
from graph.events import Sampling
from graph.values import Turn
from models import states
from models.generator import LlamaGenerator, load_generator
from models.protocols import KVState
from models.states import KVStates
from tests.agent.conftest import MakeAgent, collect
from tests.fakes import FakeGenerator

LONG = "word " * 200


async def ended(agent: Agent, session: str | None, text: str) -> ReplyEnded:
    last: AgentEvent = (await collect(agent.send(session, text)))[-1]
    assert isinstance(last, ReplyEnded)
    return last


def files() -> list[Path]:
    return sorted(Home.resolve().states.glob("*"))


async def restarted(agent: Agent, make_agent: MakeAgent) -> tuple[Agent, FakeGenerator]:
    """The same home under a new agent, with a model that has evaluated nothing but knows the same words."""
    old = agent._host.current
    assert isinstance(old, FakeGenerator)
    await agent.close()
    model = FakeGenerator("Again.")
    model._vocabulary = old._vocabulary
    return await make_agent(model, agent.settings), model


def test_a_prompt_log_comes_back_as_it_was() -> None:
    log = PromptLog([1, 2, 3], [(0, "sys")], [PromptMark("t", 1)], {"t": 4})
    assert from_note(to_note(log)) == log
    assert from_note({"tokens": "no"}) is None


@pytest.mark.restarts
async def test_after_a_restart_only_the_new_message_is_evaluated(make_agent: MakeAgent) -> None:
    agent = await make_agent(FakeGenerator("A reply of some length."))
    first = await ended(agent, None, LONG)
    said = next(iter(agent._prompts._logs.values())).tokens
    again, model = await restarted(agent, make_agent)
    second = await ended(again, first.session, "Go on.")
    assert second.evaluated_tokens < 12
    assert model.prompts[0][: len(said)] == said  # the reply as it was sampled
    assert len(said) > 200
    assert again.rewrites == {}


@pytest.mark.restarts
async def test_a_session_that_is_looked_at_is_fetched_before_anyone_asks(make_agent: MakeAgent) -> None:
    agent = await make_agent(FakeGenerator("A reply."))
    session = (await ended(agent, None, LONG)).session
    again, model = await restarted(agent, make_agent)
    await again.opened(session)  # the model may still be loading
    await again.idle()
    assert len(model.kv) > 200
    assert (await ended(again, session, "Go on.")).evaluated_tokens < 12


async def test_a_session_that_another_pushed_out_comes_back_from_disk(make_agent: MakeAgent) -> None:
    agent = await make_agent(FakeGenerator("A reply."))
    one = (await ended(agent, None, LONG)).session
    other = (await ended(agent, None, LONG.upper())).session
    for session in (one, other, one):
        assert (await ended(agent, session, "Go on.")).evaluated_tokens < 12


async def test_a_model_that_is_swapped_out_leaves_its_states(make_agent: MakeAgent) -> None:
    models = {name: FakeGenerator("A reply.", name=name) for name in ("one", "two", "three")}
    agent = Agent(Home.resolve(), Settings(model="one"), client="test", loader=lambda name, _: models[name])
    await agent.start()
    session = (await ended(agent, None, LONG)).session
    await agent.models.use("two")
    models["one"] = FakeGenerator("A reply.", name="one")
    assert (await ended(agent, session, "Go on.")).evaluated_tokens > 200
    await agent.models.use("one")
    assert (await ended(agent, session, "Go on.")).evaluated_tokens < 30
    await agent.close()
    assert len(files()) == 2


@pytest.mark.parametrize("harm", [lambda data: data[:-1], lambda data: b"x" + data[1:], lambda data: b""])
@pytest.mark.restarts
async def test_a_damaged_state_means_evaluating_again(make_agent: MakeAgent, harm: Callable[[bytes], bytes]) -> None:
    agent = await make_agent(FakeGenerator("A reply."))
    session = (await ended(agent, None, LONG)).session
    await agent.close()
    (path,) = files()
    path.write_bytes(harm(path.read_bytes()))
    again = await make_agent(FakeGenerator("Again."))
    assert (await ended(again, session, "Go on.")).evaluated_tokens > 200
    assert not path.exists()


@pytest.mark.restarts
async def test_without_room_nothing_is_kept_and_nothing_is_said(make_agent: MakeAgent) -> None:
    agent = await make_agent(FakeGenerator("A reply."), Settings(kv_mb=0))
    session = (await ended(agent, None, LONG)).session
    again, _ = await restarted(agent, make_agent)
    assert files() == []
    assert (await ended(again, session, "Go on.")).evaluated_tokens > 200


async def test_small_chats_leave_nothing_on_the_disk_and_a_long_one_does(make_agent: MakeAgent) -> None:
    model = FakeGenerator("A reply.")
    agent = await make_agent(model)
    model.reading_s = 0.005
    for _ in range(3):
        small = (await ended(agent, None, LONG)).session
    await agent._prompts.shelf.leave()
    await agent._prompts.shelf.written()
    assert files() == []
    await ended(agent, small, "long " * 1200)
    await agent.close()
    assert [path.name.partition("-")[0] for path in files()] == [small]


@pytest.mark.restarts
async def test_a_deleted_session_leaves_no_state(make_agent: MakeAgent) -> None:
    agent = await make_agent(FakeGenerator("A reply."))
    session = (await ended(agent, None, LONG)).session
    again, _ = await restarted(agent, make_agent)
    assert len(files()) == 1
    await again.chats.delete(session)
    assert files() == []


@pytest.mark.restarts
async def test_the_state_of_a_session_that_is_no_more_goes_at_the_next_start(make_agent: MakeAgent) -> None:
    agent = await make_agent(FakeGenerator("A reply."))
    await ended(agent, None, LONG)
    await agent.close()
    (path,) = files()
    path.rename(path.with_name("GONE-fake.kv"))
    again = await make_agent(FakeGenerator())
    await again.idle()
    assert files() == []


async def test_a_turn_that_was_taken_out_leaves_no_state_until_the_log_is_without_it(make_agent: MakeAgent) -> None:
    agent = await make_agent(FakeGenerator("A reply."))
    first = await ended(agent, None, LONG)
    await agent._prompts.shelf.leave()
    await agent._prompts.shelf.written()
    assert len(files()) == 1
    await agent._prompts.forget_turns({first.turn})
    assert files() == []
    agent._prompts.shelf.used(StateKey(first.session, agent._host.current))  # type: ignore[arg-type]
    await agent._prompts.shelf.leave()
    await agent._prompts.shelf.written()
    assert files() == []  # its log still has the turn
    await ended(agent, first.session, "Go on.")
    await agent.close()
    assert len(files()) == 1


async def test_a_log_that_left_the_path_is_cut_and_the_cause_counted() -> None:
    model = FakeGenerator()
    limits = Limits(4096, 3000, 2000)
    path = [turn(number) for number in range(4)]
    log = prompt.resume(model, "system", path, limits)
    back = from_note(to_note(log))
    assert back is not None
    rewrites: Counter[prompt.Cause] = Counter()
    brought = prompt.extend(back, model, "system", [*path[:2], turn(9)], limits, rewrites)
    assert [mark.turn for mark in brought.marks] == ["t0", "t1", "t9"]
    assert rewrites == {"head_move": 1}


def turn(number: int) -> Turn:
    role = "user" if number % 2 == 0 else "assistant"
    return Turn(f"t{number}", "s", None, number, role, role, f"text {number}", datetime.now(UTC), "test")


async def test_what_is_forgotten_while_it_is_copied_out_is_not_written(tmp_path: Path) -> None:
    model = FakeGenerator()
    tokens = list(range(100))
    shelf = Shelf(KVStates(tmp_path / "kv", limit=1 << 30), lambda _: (tokens, {"marks": ["t"]}))
    key = StateKey("S", model)
    model.kv = list(tokens)
    shelf.used(key)
    await shelf.leave()  # copied out, not written yet
    await shelf.forget_turns({"t"})
    await shelf.written()
    assert list((tmp_path / "kv").glob("*")) == []


async def test_a_chat_left_alone_is_saved_if_much_is_new(tmp_path: Path) -> None:
    model = FakeGenerator()
    tokens = list(range(IDLE_TOKENS - 1))
    states = KVStates(tmp_path / "kv", limit=1 << 30)
    shelf = Shelf(states, lambda _: (list(tokens), {}))
    shelf.idle_s = 0
    key = StateKey("S", model)

    async def left_alone() -> bool:
        model.kv = list(tokens)
        shelf.used(key)
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        await shelf.written()
        return states.find("S", model.state_key) is not None

    assert not await left_alone()
    tokens.append(1)
    assert await left_alone()


async def test_a_state_the_model_refuses_is_removed(tmp_path: Path) -> None:
    model = FakeGenerator()
    states = KVStates(tmp_path / "kv", limit=1 << 30)
    tokens = list(range(20, 220))
    log = PromptLog(tokens, [(0, "system")])
    states.save("S", model.state_key, KVState(tuple(tokens), memoryview(b"not its own")), to_note(log))
    await Shelf(states, lambda _: None).bring_back(StateKey("S", model), log)
    assert model.kv == []
    assert states.find("S", model.state_key) is None


async def test_the_real_model_goes_on_in_a_new_process_where_it_was(
    make_agent: MakeAgent, chat_gguf: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(states, "SPARES_S", 0)  # a chat that is long enough takes too long to be made here

    def real() -> LlamaGenerator:
        return load_generator(chat_gguf, name="real", context=2048)

    greedy = Settings(sampling=Sampling(temperature=0, max_tokens=20))
    agent = await make_agent(await asyncio.to_thread(real), greedy)
    first = await ended(agent, None, "Remember: the owl sleeps by day. " * 20)
    await agent.close()
    again = await make_agent(await asyncio.to_thread(real), greedy)
    second = await ended(again, first.session, "When does the owl sleep?")
    assert second.prompt_tokens > 200
    assert second.evaluated_tokens < 40
    assert again.rewrites == {}
