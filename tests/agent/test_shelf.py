"""Sessions that leave the foreground come back with their state, and nothing that was taken out comes back."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from pydantic import BaseModel

from agent import prompt
from agent.agent import Agent
from agent.events import AgentEvent, ReplyEnded
from agent.home import Home
from agent.prompt import Limits, PromptLog, PromptMark
from agent.settings import Settings
from agent.shelf import IDLE_TOKENS, Shelf, StateKey, from_note, to_note
from graph.events import Sampling
from graph.events.references import quoted_as
from graph.values import Turn
from models import states
from models.errors import StructuredOutputError
from models.generator import LlamaGenerator, load_generator
from models.parked import Parked, ParkedStates
from models.protocols import Finished, KVState, SamplingParams
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
    model.reading_s = 0.001
    for _ in range(3):
        small = (await ended(agent, None, LONG)).session
    await agent._prompts.shelf.save()
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
    await agent._prompts.shelf.save()
    assert len(files()) == 1
    await agent._prompts.forget_turns({first.turn})
    assert files() == []
    agent._prompts.shelf.used(StateKey(first.session, agent._host.current))  # type: ignore[arg-type]
    await agent._prompts.shelf.leave()
    await agent._prompts.shelf.save()
    assert files() == []  # its log still has the turn
    assert agent._prompts.shelf._parked.items() == []
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


async def begin_to_save(shelf: Shelf) -> None:
    shelf._save_all(0)
    await asyncio.wait(set(shelf._copying))


@pytest.mark.parametrize("copy", [lambda shelf: shelf.leave(), begin_to_save])
async def test_what_was_forgotten_is_not_written(tmp_path: Path, copy: Callable[[Shelf], Awaitable[None]]) -> None:
    model = FakeGenerator()
    tokens = list(range(100))
    shelf = Shelf(KVStates(tmp_path / "kv", limit=1 << 30), lambda _: (tokens, {"marks": ["t"]}))
    key = StateKey("S", model)
    model.kv = list(tokens)
    shelf.used(key)
    await copy(shelf)  # copied out, not written yet
    await shelf.forget_turns({"t"})
    await shelf.written()
    assert shelf._parked.items() == []
    assert list((tmp_path / "kv").glob("*")) == []


async def test_a_story_left_alone_is_saved_if_much_is_new(tmp_path: Path) -> None:
    model = FakeGenerator()
    tokens = list(range(IDLE_TOKENS - 1))
    states = KVStates(tmp_path / "kv", limit=1 << 30)
    shelf = Shelf(states, lambda _: (list(tokens), {}))
    shelf.idle_s = 0
    key = StateKey("S", model, "mara")

    async def left_alone() -> bool:
        model.kv = list(tokens)
        shelf.used(key)
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        await shelf.written()
        return states.find("S", model.state_key, "mara") is not None

    assert not await left_alone()
    tokens.append(1)
    assert await left_alone()


async def test_a_chat_is_on_disk_after_each_reply_and_a_kill_costs_one_exchange_at_most(tmp_path: Path) -> None:
    killed = Story(tmp_path / "kv")
    chat = killed.key(None)
    for _ in range(3):
        await killed.replies(chat)
        await killed.shelf.written()
        killed.hears(chat)
    before = killed.known[chat]
    killed.logs[chat].tokens += killed.model.tokenize("of a reply that was killed")
    again = Story(tmp_path / "kv")
    again.model._vocabulary = killed.model._vocabulary
    again.logs[again.key(None)] = killed.logs[chat]
    assert await again.replies(again.key(None)) <= len(killed.logs[chat].tokens) - before + 1 < before


@pytest.mark.parametrize(("quoted", "kept"), [("turn", True), (quoted_as("R", "0f" * 32), False)], ids=["said", "read"])
async def test_a_state_that_was_shown_what_others_wrote_is_in_no_file(tmp_path: Path, quoted: str, kept: bool) -> None:
    model, tokens = FakeGenerator(), list(range(20, 900))
    log = PromptLog(tokens, [(0, "system")], [PromptMark("T", 5)], quoted={"T": [quoted]})
    states = KVStates(tmp_path / "kv", limit=1 << 30)
    shelf = Shelf(states, lambda _: (list(tokens), to_note(log)))
    model.kv = list(tokens)
    shelf.used(StateKey("S", model))
    await shelf.save()
    assert (states.find("S", model.state_key) is not None) == kept


async def test_a_state_the_model_refuses_is_removed(tmp_path: Path) -> None:
    model = FakeGenerator()
    states = KVStates(tmp_path / "kv", limit=1 << 30)
    tokens = list(range(20, 220))
    log = PromptLog(tokens, [(0, "system")])
    states.save("S", model.state_key, KVState(tuple(tokens), memoryview(b"not its own")), to_note(log))
    await Shelf(states, lambda _: None).bring_back(StateKey("S", model), log)
    assert model.kv == []
    assert states.find("S", model.state_key) is None


class Story:
    """A model and a shelf, and the logs of voices, which are told what was said since their last reply."""

    def __init__(self, folder: Path, *, limit: int = 1 << 30) -> None:
        self.folder = folder
        self.model = FakeGenerator("A reply.")
        self.logs: dict[StateKey, PromptLog] = {}
        self.known: dict[StateKey, int] = {}
        self.gone: set[str] = set()
        self.states = KVStates(folder, limit=limit)
        self.shelf = Shelf(self.states, self._current, lambda held: held & self.gone)

    def key(self, voice: str | None, session: str = "S") -> StateKey:
        """A voice's key; its log begins with who it is, and has one turn."""
        key = StateKey(session, self.model, voice)
        if key not in self.logs:
            who = self.model.frame("system", f"{session} {voice} " * 50, first=True)
            self.logs[key] = PromptLog(who, [(0, "")], [PromptMark(f"turn of {session}", 1)])
        return key

    def hears(self, *keys: StateKey) -> None:
        for key in keys:
            self.logs[key].tokens += self.model.frame("user", "Somebody says something.")

    def new(self, key: StateKey) -> int:
        """How many tokens of a prompt for a reply were not in a prompt or a reply of the log before."""
        return len(self.logs[key].tokens) + 1 - self.known.get(key, 0)

    async def replies(self, key: StateKey) -> int:
        """How many tokens were evaluated for a reply."""
        log = self.logs[key]
        await self.shelf.leave(stays=key)
        await self.shelf.bring_back(key, log)
        prompt = [*log.tokens, *self.model.reply_open()]
        said: list[int] = []
        async for item in self.model.generate(prompt, SamplingParams()):
            if isinstance(item, Finished):
                evaluated = item.evaluated_tokens
            else:
                said += item.tokens
        self.known[key] = len(prompt) + len(said)
        log.tokens = [*prompt, *said, *self.model.reply_close()]
        self.shelf.used(key)
        return evaluated

    @property
    def parked(self) -> list[StateKey]:
        return [key for key, _ in self.shelf._parked.items()]

    @property
    def written(self) -> set[tuple[str, str | None]]:
        return {(kept.header.session, kept.header.voice) for kept in self.states.kept()}

    async def idle(self) -> None:
        """Nothing happens for long enough."""
        assert self.shelf._timer is not None
        self.shelf._timer._run()
        await self.shelf.written()

    def _current(self, key: StateKey) -> tuple[list[int], object]:
        return list(self.logs[key].tokens), to_note(self.logs[key])


NEW = 8  # at most, of a frame that is heard and what opens and closes a reply


@pytest.fixture
def story(tmp_path: Path) -> Story:
    return Story(tmp_path / "kv")


async def test_two_voices_that_take_turns_cost_no_copy_and_no_byte(story: Story) -> None:
    mara, jonas = story.key("mara"), story.key("jonas")
    assert [await story.replies(key) > 100 for key in (mara, jonas)] == [True, True]
    for key in (mara, jonas, mara, jonas, jonas, mara):
        story.hears(mara, jonas)
        new = story.new(key)
        assert await story.replies(key) == new < 30
    assert (story.model.taken, story.model.put) == (0, 0)
    assert story.parked == []
    assert not story.folder.exists()


async def test_a_voice_that_has_to_leave_waits_in_ram_and_comes_back_from_there(story: Story) -> None:
    mara, jonas, other = story.key("mara"), story.key("jonas"), story.key("ada", "T")
    for key in (mara, jonas, other):
        await story.replies(key)
    assert story.parked == [mara]
    assert story.shelf.log(mara) == story.logs[mara]
    for key in (mara, jonas, other):
        story.hears(key)
        assert await story.replies(key) <= NEW
    assert len(story.parked) == 1
    assert not story.folder.exists()


async def test_when_nothing_happens_all_that_is_new_goes_to_disk_and_is_in_ram_no_more(story: Story) -> None:
    keys = [story.key("mara"), story.key("jonas"), story.key(None, "T")]
    for key in keys:
        story.logs[key].tokens += story.model.tokenize("word " * IDLE_TOKENS)
        await story.replies(key)
    await story.idle()
    assert story.written == {("S", "mara"), ("S", "jonas"), ("T", None)}
    assert story.parked == []
    for key in keys:
        story.hears(key)
        assert await story.replies(key) <= NEW


async def test_of_what_is_read_again_in_a_moment_only_voices_stay_in_ram_when_nothing_happens(story: Story) -> None:
    story.model.reading_s = 0.001
    for key in (story.key(None, "T"), story.key("mara"), story.key("jonas")):
        await story.replies(key)
    await story.shelf.leave()
    assert len(story.parked) == 3
    await story.idle()
    assert {key.voice for key in story.parked} == {"mara", "jonas"}
    assert story.written == set()


async def test_what_has_no_room_in_ram_any_more_goes_to_disk(story: Story) -> None:
    keys = [story.key(voice) for voice in ("mara", "jonas", "ada", "bo")]
    story.shelf._parked = ParkedStates(limit=700)
    for key in keys:
        await story.replies(key)
    await story.shelf.written()
    assert story.parked == [keys[1]]
    assert story.written == {("S", "mara")}
    story.hears(keys[0])
    assert await story.replies(keys[0]) <= NEW


async def test_where_objects_by_grammar_push_the_voice_behind_out_it_was_parked_before(story: Story) -> None:
    mara, jonas = story.key("mara"), story.key("jonas")
    story.model.crowded = True
    for key in (mara, jonas):
        await story.replies(key)
    for key in (mara, jonas, mara):
        with pytest.raises(StructuredOutputError):
            await story.model.structured(story.model.tokenize("a question"), BaseModel)
        story.hears(key)
        assert await story.replies(key) <= NEW
    assert not story.folder.exists()


async def test_the_other_voice_is_evaluated_while_nobody_waits_and_nobody_is_pushed_out_unkept(story: Story) -> None:
    mara, jonas, other = story.key("mara"), story.key("jonas"), story.key("ada", "T")
    for key in (other, jonas, mara):
        await story.replies(key)
    assert story.parked == [other]
    story.hears(mara, jonas)
    assert await story.shelf.prefill(jonas, story.logs[jonas].tokens)
    assert (story.model.taken, story.model.put) == (1, 0)
    assert await story.replies(jonas) <= 2
    assert await story.replies(mara) <= NEW
    story.hears(other)
    await story.shelf.bring_back(other, story.logs[other], replies=False)
    assert await story.shelf.prefill(other, story.logs[other].tokens)
    assert story.parked == [jonas]
    for key in (other, jonas):
        assert await story.replies(key) <= 2


async def forget_what_is_gone(story: Story) -> None:
    story.gone.add("turn of S")
    await story.shelf.forget_turns(())


FORGETTING: dict[str, Callable[[Story], Awaitable[None]]] = {
    "a chat": lambda story: story.shelf.forget("S"),
    "its turns": lambda story: story.shelf.forget_turns({"turn of S"}),
    "what is gone": forget_what_is_gone,
    "all but others": lambda story: story.shelf.tidy(("T", "U")),
}


@pytest.mark.parametrize("how", FORGETTING.values(), ids=FORGETTING)
@pytest.mark.parametrize("where", ["in RAM", "on disk"])
async def test_what_is_forgotten_is_forgotten_of_all_voices_wherever_it_waits(
    story: Story, how: Callable[[Story], Awaitable[None]], where: str
) -> None:
    mara, jonas, *left = (story.key("mara"), story.key("jonas"), story.key("ada", "T"), story.key("ada", "U"))
    for key in (mara, jonas, *left):
        await story.replies(key)
    await story.shelf.leave()
    assert set(story.parked) == {mara, jonas, *left}
    if where == "on disk":
        await story.shelf.save()
    await how(story)
    assert set(story.parked) == (set(left) if where == "in RAM" else set())
    assert story.written == (set() if where == "in RAM" else {(key.session, key.voice) for key in left})
    await story.shelf.save()
    assert story.written == {(key.session, key.voice) for key in left}
    assert story.shelf.log(mara) is None
    assert await story.replies(mara) > 100


async def test_a_state_that_does_not_tell_what_it_holds_is_not_parked_any_longer(story: Story) -> None:
    (key, state) = story.key("mara"), KVState((1,), memoryview(b"x"))
    story.shelf._parked.put(key, Parked(state, {"marks": "of another version"}))
    await story.shelf.forget_turns({"any"})
    assert story.parked == []


async def test_before_its_model_is_closed_every_voice_is_saved_and_comes_back_by_itself(story: Story) -> None:
    keys = [story.key(voice) for voice in ("mara", "jonas", "ada")]
    for key in keys:
        await story.replies(key)
    await story.shelf.give_up(story.model)
    assert story.written == {("S", "mara"), ("S", "jonas"), ("S", "ada")}
    assert story.parked == []
    again = Story(story.folder)
    again.model._vocabulary = story.model._vocabulary
    for key in keys:
        there = again.key(key.voice)
        log = again.shelf.log(there)
        assert log == story.logs[key]
        again.logs[there] = log
        again.hears(there)
        assert await again.replies(there) <= NEW


async def test_somebody_unknown_has_everything_parked_and_saved_when_nothing_happens(story: Story) -> None:
    mara, jonas = story.key("mara"), story.key("jonas")
    for key in (mara, jonas):
        await story.replies(key)
    await story.shelf.leave()
    assert story.parked == [mara, jonas]
    assert not story.folder.exists()
    await story.idle()
    assert story.written == {("S", "mara"), ("S", "jonas")}


async def test_a_copy_is_parked_also_if_whoever_asked_for_it_is_cancelled(story: Story) -> None:
    mara = story.key("mara")
    await story.replies(mara)
    leaving = asyncio.create_task(story.shelf.leave())
    await asyncio.sleep(0)
    assert story.shelf._copying
    leaving.cancel()
    await asyncio.gather(leaving, return_exceptions=True)
    await story.shelf.leave(stays=mara)
    assert story.parked == [mara]


async def test_a_parked_state_that_the_model_refuses_is_let_go(story: Story) -> None:
    mara = story.key("mara")
    await story.replies(mara)
    await story.shelf.leave()
    story.model.kv = []
    state = KVState(tuple(story.logs[mara].tokens), memoryview(b"not its own"))
    story.shelf._parked.put(mara, Parked(state, to_note(story.logs[mara])))
    assert await story.replies(mara) > 100
    assert story.parked == []


async def test_a_disk_without_room_leaves_it_in_the_model_and_then_in_ram(tmp_path: Path) -> None:
    story = Story(tmp_path / "kv", limit=10)
    mara, jonas, other = story.key("mara"), story.key("jonas"), story.key(None, "T")
    await story.replies(mara)
    await story.shelf.save()
    assert story.written == set()
    for key in (jonas, other):
        await story.replies(key)
    assert story.parked == [mara]
    story.hears(mara)
    assert await story.replies(mara) <= NEW


async def test_the_real_model_goes_on_in_a_new_process_where_it_was(
    make_agent: MakeAgent, chat_gguf: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(states, "SPARES_S", 0)  # a chat that is long enough takes too long to be made here

    def real() -> LlamaGenerator:
        return load_generator(chat_gguf, name="real", context=2048, memo=Home.resolve().probed)

    greedy = Settings(recall=False, reflect=False, tools="off", sampling=Sampling(temperature=0, max_tokens=8))
    agent = await make_agent(await asyncio.to_thread(real), greedy)
    first = await ended(agent, None, "Remember: the owl sleeps by day. " * 12)
    await agent.close()
    again = await make_agent(await asyncio.to_thread(real), greedy)
    second = await ended(again, first.session, "When does the owl sleep?")
    assert second.prompt_tokens > 120
    assert second.evaluated_tokens < 40
    assert again.rewrites == {}
