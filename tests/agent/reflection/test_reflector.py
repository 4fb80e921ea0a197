"""Reflection on a real memory: found again after a crash, one append an exchange, nothing twice, nobody waits."""

import asyncio
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, cast

import pytest

from agent.agent import Agent
from agent.events import Learned, ModelReady, Notice, Reflecting, TurnAccepted, Warned
from agent.home import Home
from agent.reflection.learning import Learning
from agent.reflection.likeness import Embed
from agent.reflection.reflector import Reflector
from agent.reflection.trust import TASKS, Trusts
from agent.settings import Settings
from graph.errors import LogUnwritable, NotFound
from graph.events import Event, ObservationRetired, ReflectionDone, ReflectionFailed
from graph.memory import Memory
from graph.values import Recorded, Unreflected, Wanted
from models.errors import EngineClosed, UnknownModel
from tests.agent.conftest import MakeAgent, collect, opened
from tests.fakes import FakeGenerator, Reply

from .told import no_vectors

QUIET = Settings(reflect=False)
OSLO = "I live in Oslo."
Say = Callable[..., Awaitable[tuple[str, str]]]


class Kept:
    """A memory that notes what is appended, and can be told to fail."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self.events: list[Event] = []
        self.appends = 0
        self.fail: Exception | None = None
        self.broken = ""
        self.before_append: Callable[[], None] = lambda: None

    @property
    def readings(self) -> "Kept":
        return self

    def __getattr__(self, name: str) -> Any:
        if name == self.broken:
            raise ValueError("a row is damaged")
        part = self._memory.readings if hasattr(self._memory.readings, name) else self._memory
        return getattr(part, name)

    def append(self, *events: Event) -> list[Recorded]:
        self.before_append()
        if self.fail is not None:
            raise self.fail
        self.appends += 1
        self.events += events
        return self._memory.append(*events)


class LookedInto(Kept):
    """Tells when it has said what is to be reflected on, and notes what else it is asked."""

    def __init__(self, memory: Memory) -> None:
        super().__init__(memory)
        self.found = threading.Event()
        self.asked: list[str] = []

    def unreflected(self, limit: int) -> list[Unreflected]:
        found = self._memory.readings.unreflected(limit)
        self.found.set()
        return found

    def __getattr__(self, name: str) -> Any:
        self.asked.append(name)
        return super().__getattr__(name)


async def say(agent: Agent, text: str, session: str | None = None) -> tuple[str, str]:
    """Send a message; its session and its turn."""
    accepted = (await collect(agent.send(session, text)))[0]
    await agent.idle()
    assert isinstance(accepted, TurnAccepted)
    return accepted.session, accepted.turn


def reflector(
    agent: Agent, store: Kept, tmp_path: Path, model: FakeGenerator | None = None, embed: Embed = no_vectors
) -> Reflector:
    learning = Learning(cast(Memory, store), Trusts(tmp_path / "trusted.json"), embed, agent._foreground)

    async def get() -> FakeGenerator | None:
        return model

    return Reflector(
        cast(Memory, store),
        learning,
        agent._prompts,
        agent._foreground,
        model=get,
        notify=lambda notice: None,
        review=lambda: "auto",
    )


async def texts(agent: Agent, **wanted: Any) -> list[str | None]:
    return [each.text for each in await agent.memories.find(Wanted(**wanted, plain=False))]


async def test_what_a_message_tells_is_known_soon_after_its_reply(make_agent: MakeAgent) -> None:
    agent = await make_agent(FakeGenerator("Nice!"))
    heard = agent.notices()
    session, turn = await say(agent, f"Hi! {OSLO}")
    (oslo,) = await agent.memories.find(Wanted(plain=False))
    assert (oslo.text, oslo.origin, oslo.sources) == (OSLO, "verbatim", (turn,))
    assert "you" in oslo.about
    assert await agent.reflection.unreflected() == 0
    await agent.close()
    notices: list[Notice] = [notice async for notice in heard]
    assert [(each.session, each.review) for each in notices if isinstance(each, Learned)] == [(session, 0)]
    reflecting = [each for each in notices if isinstance(each, Reflecting)]
    assert (reflecting[-1].left, reflecting[-1].trust) == (0, "verbatim")


@pytest.mark.model
async def test_a_change_in_ones_own_words_revises_a_memory(make_agent: MakeAgent, tmp_path: Path, embed: Embed) -> None:
    agent = await make_agent(FakeGenerator("Oh."), QUIET)
    store = Kept(agent._memory)
    floor = reflector(agent, store, tmp_path, embed=embed)
    session, first = await say(agent, "I'm a foster carer, we've had little Ryan with us for two years now")
    await floor.reflect(by_model=False)
    (any_vector,) = await embed(["?"])
    assert any_vector is not None
    waiting = store.unembedded(any_vector.model, 10)
    vectors = await embed([text for _, text in waiting])
    store.keep_vectors(
        any_vector.model, [(hash, each.values) for (hash, _), each in zip(waiting, vectors, strict=True) if each]
    )
    _, then = await say(agent, "the adoption went through at ten this morning and he's got our name.", session)
    await floor.reflect(by_model=False)
    assert not [each for each in store.events if isinstance(each, ReflectionFailed)]
    found = {each.sources: each for each in await agent.memories.find(Wanted(everything=True, plain=False))}
    assert (found[(first,)].status, found[(then,)].status) == ("superseded", "active")
    assert found[(then,)].supersedes == found[(first,)].id
    assert found[(then,)].proof_count == 1  # what it ends does not prove it


async def test_the_title_comes_first_and_the_probe_after_it(make_agent: MakeAgent) -> None:
    agent = await make_agent(FakeGenerator("Crabs live there.", answers=[{"title": "Crabs in tide pools"}]))
    session, _ = await say(agent, "What lives in tide pools?")
    assert (await agent.chats.get(session)).name == "Crabs in tide pools"


async def test_a_trusted_model_is_asked_and_its_file_probed_once(make_agent: MakeAgent) -> None:
    create = {"action": "create", "text": "The user has a red boat.", "category": "fact", "sources": [1]}
    right = [task.right for task in TASKS]
    model = FakeGenerator("Nice!", answers=[{"title": "a red boat"}, *right, {"actions": [create]}, {"actions": []}])
    agent = await make_agent(model)
    session, _ = await say(agent, "I have a red boat.")
    await say(agent, "ok thanks", session)
    assert await texts(agent) == ["The user has a red boat."]
    assert model.answers == []


async def test_what_a_crash_interrupts_is_learned_once_in_one_append(make_agent: MakeAgent, tmp_path: Path) -> None:
    agent = await make_agent(FakeGenerator("Nice!"), QUIET)
    await say(agent, OSLO)
    store = Kept(agent._memory)
    store.fail = LogUnwritable("the disk is full")
    with pytest.raises(LogUnwritable):
        await reflector(agent, store, tmp_path).reflect()
    assert (await texts(agent), await agent.reflection.unreflected()) == ([], 1)
    store.fail = None
    await reflector(agent, store, tmp_path).reflect()
    assert isinstance(store.events[-1], ReflectionDone)
    assert (store.events[-1].created, store.events[-1].trust) == (1, "verbatim")
    await reflector(agent, store, tmp_path).reflect()
    assert (await texts(agent), await agent.reflection.unreflected(), store.appends) == ([OSLO], 0, 1)


@pytest.mark.parametrize(
    ("broken", "step"), [("entities", "entities"), ("judged", "significance"), ("near", "observations")]
)
async def test_a_step_that_fails_is_recorded_and_takes_nothing_from_the_others(
    make_agent: MakeAgent, tmp_path: Path, broken: str, step: str
) -> None:
    agent = await make_agent(FakeGenerator("Nice!"), QUIET)
    await say(agent, f"{OSLO} I met Ana.")
    store = Kept(agent._memory)
    store.broken = broken
    await reflector(agent, store, tmp_path).reflect()
    failed = [each for each in store.events if isinstance(each, ReflectionFailed)]
    assert step in [each.step for each in failed]
    assert all(each.error == "ValueError" for each in failed)
    assert isinstance(store.events[-1], ReflectionDone)
    assert await agent.reflection.unreflected() == 0
    if step != "observations":
        assert await texts(agent) == [OSLO]


async def test_nothing_is_kept_of_words_that_were_hidden_meanwhile(make_agent: MakeAgent, tmp_path: Path) -> None:
    agent = await make_agent(FakeGenerator("Nice!"), QUIET)
    _, turn = await say(agent, OSLO)
    store = Kept(agent._memory)
    waits = asyncio.Event()

    class Slow(FakeGenerator):
        async def structured(self, prompt: Any, schema: Any, *, max_tokens: int = 512) -> Any:
            if not waits.is_set():
                waits.set()
                await agent.chats.hide(turn)
            return await super().structured(prompt, schema, max_tokens=max_tokens)

    reflecting = reflector(agent, store, tmp_path, Slow())
    await reflecting.reflect()
    assert waits.is_set()
    assert await texts(agent) == []
    assert store.appends == 0
    await agent.chats.unhide(turn)
    await reflecting.reflect()
    assert await texts(agent) == [OSLO]


async def test_a_model_that_was_swapped_is_asked_no_more_and_the_next_is(make_agent: MakeAgent, tmp_path: Path) -> None:
    class Closed(FakeGenerator):
        async def structured(self, prompt: Any, schema: Any, *, max_tokens: int = 512) -> Any:
            raise EngineClosed

    agent = await make_agent(FakeGenerator("Nice!"), QUIET)
    await say(agent, OSLO)
    models = [Closed(), FakeGenerator(name="next")]
    reflecting = reflector(agent, Kept(agent._memory), tmp_path)

    async def get() -> FakeGenerator:
        return models.pop(0)

    reflecting._model = get
    await reflecting.reflect()
    assert (await texts(agent), models) == ([OSLO], [])


async def test_it_begins_nothing_while_a_message_waits_for_its_answer(make_agent: MakeAgent, tmp_path: Path) -> None:
    agent = await make_agent(FakeGenerator("Nice!"), QUIET)
    await say(agent, OSLO)
    store = LookedInto(agent._memory)
    with agent._foreground.held():
        reflecting = asyncio.create_task(reflector(agent, store, tmp_path).reflect())
        await asyncio.to_thread(store.found.wait)
        for _ in range(20):  # time enough for the next step, if it were taken
            await asyncio.to_thread(int)
        assert store.asked == []
        assert not reflecting.done()
    await reflecting
    assert store.appends == 1


async def test_a_reply_does_not_wait_for_a_reflection_that_is_stuck(make_agent: MakeAgent) -> None:
    stuck = asyncio.Event()

    class Stuck(FakeGenerator):
        async def structured(self, prompt: Any, schema: Any, *, max_tokens: int = 512) -> Any:
            stuck.set()
            await asyncio.Event().wait()

    agent = await make_agent(Stuck("One.", "Two."))
    events = await collect(agent.send(None, OSLO))
    await stuck.wait()
    again = await collect(agent.send(events[0].session, "And?"))  # type: ignore[union-attr]
    assert type(again[-1]).__name__ == "ReplyEnded"
    await agent.close()  # and neither does the end


async def test_what_is_left_of_a_hidden_exchange_is_reflected_on_and_nothing_comes_twice(make_agent: MakeAgent) -> None:
    agent = await make_agent(FakeGenerator("Nice!"))
    session, first = await say(agent, OSLO)
    _, second = await say(agent, OSLO, session)
    (oslo,) = await agent.memories.find()
    assert (oslo.sources, oslo.supports) == ((first,), (second,))
    await agent.chats.hide(first)
    await agent.idle()
    (again,) = await agent.memories.find()
    assert (again.text, again.sources, again.id != oslo.id) == (OSLO, (second,), True)
    for _ in range(2):
        await agent.chats.unhide(first)
        await agent.idle()
        assert [each.id for each in await agent.memories.find()] == [oslo.id]
        await agent.chats.hide(first)
        await agent.idle()
        assert [each.id for each in await agent.memories.find()] == [again.id]


async def test_an_echo_can_be_switched_off_and_done_later_and_counts_once(make_agent: MakeAgent) -> None:
    agent = await make_agent(FakeGenerator("Nice!", "You told me: i live in oslo, I know."), QUIET)
    session, _ = await say(agent, OSLO)
    await agent.reflection.run()
    events = await collect(agent.send(session, "Where do I live?"))
    await agent.idle()
    await agent.reflection.run(reinforce=False)
    (before,) = await agent.memories.find()
    assert before.reference_count == 0
    reply = events[-1].reply_turn  # type: ignore[union-attr]
    (echo,) = await agent.reflection.reinforce([reply])
    assert (echo.by_turn, await agent.reflection.reinforce([reply])) == (reply, [])
    (after,) = await agent.memories.find()
    assert after.reference_count == 1
    assert after.confidence == pytest.approx(before.confidence + 0.02)


async def test_switched_off_it_learns_nothing_but_the_title(make_agent: MakeAgent) -> None:
    agent = await make_agent(FakeGenerator("Nice!", answers=[{"title": "living in Oslo"}]), QUIET)
    session, _ = await say(agent, f"I am living here. {OSLO}")
    assert (await agent.chats.get(session)).name == "living in Oslo"
    assert (await texts(agent), await agent.reflection.unreflected()) == ([], 1)


async def test_a_reply_that_was_stopped_is_reflected_on_too(make_agent: MakeAgent) -> None:
    agent = await make_agent(FakeGenerator(Reply("Nice", reason="length")))
    await say(agent, OSLO)
    assert await texts(agent) == [OSLO]


@pytest.mark.restarts
async def test_what_was_hidden_while_nobody_reflected_is_seen_to_at_the_next_start(make_agent: MakeAgent) -> None:
    agent = await make_agent(FakeGenerator("Nice!"))
    session, first = await say(agent, OSLO)
    _, second = await say(agent, OSLO, session)
    await agent.close()
    silent = await make_agent(FakeGenerator("Nice!"), QUIET)
    await silent.chats.hide(first)
    await silent.idle()
    assert (await texts(silent), await silent.reflection.unreflected()) == ([], 1)
    await silent.close()
    again = await make_agent(FakeGenerator("Nice!"))
    await again.idle()
    (oslo,) = await again.memories.find()
    assert (oslo.text, oslo.sources, await again.reflection.unreflected()) == (OSLO, (second,), 0)


JOURNEY = (
    "My name is Wilma.",
    "I live in Delft.",
    "I moved to Breda, I no longer live in Delft.",
    "I live in Utrecht now.",
)


async def journey(agent: Agent, *, each: bool) -> list[tuple[str | None, str]]:
    """What is known after four messages, reflected on after each of them or after all."""
    session = None
    for text in JOURNEY:
        session, _ = await say(agent, text, session)
        if each:
            await agent.reflection.run()
    await agent.reflection.run()
    found = await agent.memories.find(Wanted(everything=True, dead=True, plain=False))
    return [(memory.text, memory.status) for memory in reversed(found)]


@pytest.mark.restarts
async def test_what_waited_is_learned_in_the_order_it_was_said(
    make_agent: MakeAgent, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    by_and_by = await journey(await make_agent(FakeGenerator("Ok."), QUIET), each=True)
    monkeypatch.setenv("CLEW_HOME", str(tmp_path / "other"))
    at_once = await journey(await make_agent(FakeGenerator("Ok."), QUIET), each=False)
    assert at_once == by_and_by
    assert at_once == list(zip(JOURNEY, ("active", "superseded", "superseded", "active"), strict=True))


async def status(agent: Agent) -> list[tuple[str | None, str]]:
    """Everything that was ever learned, the oldest first."""
    found = await agent.memories.find(Wanted(everything=True, dead=True, plain=False))
    return sorted((memory.text, memory.status) for memory in found)


async def test_an_exchange_reflected_on_again_teaches_nothing_twice_whatever_came_of_it(make_agent: MakeAgent) -> None:
    agent = await make_agent(FakeGenerator("Ok."), QUIET)
    session, turns = None, []
    for text in JOURNEY:
        session, turn = await say(agent, text, session)
        turns.append(turn)
    await agent.reflection.run()
    wilma, _, _, utrecht = reversed(await agent.memories.find(Wanted(everything=True, dead=True, plain=False)))
    await agent.memories.reject(wilma.id)
    await agent.memories.reject(utrecht.id)
    before, head = await status(agent), agent._memory.head()
    for turn in turns:
        await agent.reflection.again(turn)
    assert await status(agent) == before
    assert not {"observation.made", "observation.supported", "observation.retired", "turn.rated"} & {
        each.event.kind for each in agent._memory._reader.events(after=head, limit=100)
    }
    await say(agent, JOURNEY[0], session)
    await agent.reflection.run()  # what was rejected is proposed where it has new proof
    assert await status(agent) == sorted([*before, (JOURNEY[0], "active")])


async def test_what_was_retired_and_taken_back_is_not_retired_by_the_same_words_again(make_agent: MakeAgent) -> None:
    agent = await make_agent(FakeGenerator("Ok."), QUIET)
    session, _ = await say(agent, OSLO)
    _, denied = await say(agent, "I do not live in Oslo.", session)
    await agent.reflection.run()
    boat = (await agent.memories.find(Wanted(everything=True, dead=True, plain=False)))[-1]
    agent._memory.append(ObservationRetired(observation=boat.id, by_turn=denied, reflection="r"))
    await agent.memories.restore(boat.id, "active")
    before = await status(agent)
    await agent.reflection.again(denied)
    assert await status(agent) == before


async def test_reinforcement_that_was_switched_off_is_made_up_for_once(make_agent: MakeAgent) -> None:
    agent = await make_agent(FakeGenerator("Nice!", "You told me: i live in oslo, I know."), QUIET)
    session, _ = await say(agent, OSLO)
    _, asked = await say(agent, "Where do I live?", session)
    await agent.reflection.run(reinforce=False)
    await agent.reflection.again(asked, reinforce=False)
    counts = []
    for _ in range(2):
        counts.append((await agent.memories.find())[0].reference_count)
        await agent.reflection.again(asked)
    counts.append((await agent.memories.find())[0].reference_count)
    assert counts == [0, 1, 1]


async def test_only_what_is_there_and_was_answered_can_be_reflected_on_again(make_agent: MakeAgent) -> None:
    agent = await make_agent(FakeGenerator("Nice!"), QUIET)
    _, turn = await say(agent, OSLO)
    await agent.reflection.again(turn)  # for the first time
    assert (await texts(agent), await agent.reflection.unreflected()) == ([OSLO], 0)
    noted = (await agent.memories.remember("I keep bees.")).sources[0]
    await agent.chats.withhold(turn)
    await agent.idle()
    for id, why in ((turn, "kept out of memory"), (noted, "no reply"), ("01NOTHING", "no message")):
        with pytest.raises(NotFound, match=why):
            await agent.reflection.again(id)


@pytest.mark.parametrize(
    ("review", "found"),
    [("auto", [("active", 1), ("candidate", 2)]), ("ask", [("candidate", 2)])],
)
async def test_what_waits_for_review_keeps_nobody_from_saying_the_same(
    make_agent: MakeAgent, review: Any, found: list[tuple[str, int]]
) -> None:
    agent = await make_agent(FakeGenerator("Nice!"), Settings(reflect=False, review=review))
    await agent.idle()
    await agent.proposals.add(OSLO, by="Other")
    _, turn = await say(agent, OSLO)
    for again in (False, True):
        await (agent.reflection.again(turn) if again else agent.reflection.run())
        known = await agent.memories.find(Wanted(plain=False))
        assert [each.text for each in known] == [OSLO] * len(found)
        assert sorted((each.status, each.proof_count) for each in known) == found


async def test_another_fallback_is_tried_though_the_one_before_was_unusable_and_the_old_one_goes() -> None:
    models = {name: FakeGenerator(name=name) for name in ("first", "second")}

    def load(name: str, progress: object) -> FakeGenerator:
        if name not in models:
            raise UnknownModel("There is no such model.")
        return models[name]

    settings = Settings(model="chat", fallback_model="first", reflect=False)
    async with opened(settings, load, load_model=False) as agent:
        assert await agent.models.fallback() is models["first"]
        await agent.use_settings(settings.model_copy(update={"fallback_model": "gone"}))
        assert models["first"].closed
        assert await agent.models.fallback() is None
        models["gone"] = FakeGenerator(name="gone")  # it is installed meanwhile
        for name in ("second", "gone"):
            await agent.use_settings(settings.model_copy(update={"fallback_model": name}))
            assert await agent.models.fallback() is models[name]


@pytest.mark.parametrize(
    ("fallback", "learned", "told"),
    [
        ("other", ["The user has a red boat."], []),
        ("gone", [], ["The fallback model cannot be used: There is no such model."]),
    ],
)
async def test_the_fallback_is_loaded_once_when_one_refuses(fallback: str, learned: list[str], told: list[str]) -> None:
    right = [task.right for task in TASKS]
    said: dict[str, Any] = {"action": "create", "category": "fact", "confidence": 0.9, "sources": [1]}
    sorry = {"actions": [said | {"text": "I'm sorry, I can't help with that."}]}
    boat = {"actions": [said | {"text": "The user has a red boat."}]}
    models = {
        "chat": FakeGenerator("Nice!", answers=[{"title": "a red boat"}, *right, *[sorry] * 4], name="chat"),
        "other": FakeGenerator(answers=[*right, boat, {"actions": []}], name="other"),
    }
    loaded: list[str] = []

    def load(name: str, progress: object) -> FakeGenerator:
        loaded.append(name)
        if name not in models:
            raise UnknownModel("There is no such model.")
        return models[name]

    settings = Settings(model="chat", fallback_model=fallback)
    agent = Agent(Home.resolve(), settings, client="test", loader=load)
    heard = agent.notices()
    await agent.start()
    try:
        session, _ = await say(agent, "I have a red boat.")
        await say(agent, "Thanks, that is all.", session)
        assert await texts(agent) == learned
        assert loaded == ["chat", fallback]
    finally:
        await agent.close()
    notices: list[Notice] = [notice async for notice in heard]
    assert [each.message for each in notices if isinstance(each, Warned)] == told
    assert {each.name for each in notices if isinstance(each, ModelReady)} == {"chat"}
    assert models["other"].closed == (fallback == "other")
