"""Whatever works as long as clew does: a bug ends it for a moment, that is told, and it goes on."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

import agent.background
from agent.background import BackgroundTasks, Worker
from agent.backups import Nightly
from agent.embedding import Embedding
from agent.events import GraphProgress, Notice, OfPrivate, ReplyEnded, Warned
from agent.home import Home
from agent.opening import GraphOpening
from agent.reflection.reflector import Reflector
from agent.service.connection import Hall
from agent.service.server import Service
from agent.settings import Settings
from graph.errors import LogUnreadable
from graph.kuzu.overlay import Overlay
from models.engine import Engine, EngineCall
from tests.agent.service.behind import Behind, agent_of
from tests.fakes import FakeGenerator

BUG = AssertionError("This cannot be.")


class Once:
    """In the place of a method: it meets a bug the first time, and is as it was from then on."""

    def __init__(self, owner: type, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
        self.times = 0
        self.again = asyncio.Event()
        original: Callable[..., Any] = getattr(owner, name)

        async def method(self_: Any, *args: Any, **more: Any) -> Any:
            self.times += 1
            if self.times == 1:
                raise BUG
            self.again.set()
            return await original(self_, *args, **more)

        monkeypatch.setattr(owner, name, method)


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody pauses."""
    monkeypatch.setattr(agent.background, "FIRST_PAUSE_S", 0.0)


@pytest.fixture
async def working(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[tuple[Behind, list[Notice]]]:
    """A service that was not started, and what it tells."""
    hear = Hall.hear

    def heard(self: Hall, notice: Notice) -> None:
        told.append(notice)
        hear(self, notice)

    monkeypatch.setattr(Hall, "hear", heard)
    home, told = Home.resolve(), list[Notice]()
    agent_ = agent_of(home, FakeGenerator(), Settings(tools="off", kv_mb=0))
    behind = Behind(home, agent_)
    yield behind, told
    await behind.end()


@pytest.mark.parametrize(
    ("owner", "name", "stopped"),
    [
        (Reflector, "reflect", "Learning stopped"),
        (Embedding, "_load_first", "Search by meaning stopped"),
        (Nightly, "look", "The automatic backup stopped"),
        (Service, "_look", "The look at the socket stopped"),
        (GraphOpening, "_open", "Opening the graph stopped"),
    ],
)
async def test_a_bug_ends_no_worker_for_good_and_is_told(
    working: tuple[Behind, list[Notice]], monkeypatch: pytest.MonkeyPatch, owner: type, name: str, stopped: str
) -> None:
    behind, told = working
    monkeypatch.setattr("agent.backups.SETTLE_S", 0.0)
    met = Once(owner, name, monkeypatch)
    await behind.start()
    async with asyncio.timeout(30):
        await met.again.wait()
    (warned,) = [each.message for each in told if isinstance(each, Warned)]
    assert warned.startswith(f"{stopped} because of a bug (AssertionError: This cannot be.). Nothing that is stored is")


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
@pytest.mark.parametrize("error", [BUG, LogUnreadable("The log could not be read just now."), OSError(24, "EMFILE")])
async def test_what_ends_the_graphs_thread_or_its_moment_leaves_the_chat_and_the_graph_comes_back(
    working: tuple[Behind, list[Notice]], monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    behind, told = working
    await behind.start()
    agent_ = behind.agent
    await agent_.idle()
    flush, back, met = Overlay.flush, asyncio.Event(), agent_._memory._graph._thread

    def fails(self: Overlay, *, applied: int, link: str) -> None:
        monkeypatch.setattr(Overlay, "flush", flush)
        raise error

    def heard(notice: Notice | OfPrivate) -> None:
        if isinstance(notice, GraphProgress) and notice.state == "ready" and failures(told):
            back.set()

    agent_.on_notice(heard)
    monkeypatch.setattr(Overlay, "flush", fails)
    events = [event async for event in agent_.send(None, "Good morning.")]
    assert isinstance(events[-1], ReplyEnded)
    async with asyncio.timeout(30):
        await back.wait()
    (failed,) = failures(told)
    assert "backup" not in failed
    memory = agent_.private.memory_of("")
    assert memory.query("MATCH (t:Turn) RETURN count(t) AS count") == [{"count": 2}]
    if error is BUG:
        assert met is not None
        met.join()


def threads(name: str) -> set[threading.Thread]:
    return {each for each in threading.enumerate() if each.name == name}


def failures(told: list[Notice]) -> list[str]:
    return [each.message for each in told if isinstance(each, GraphProgress) and each.state == "failed"]


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
async def test_a_bug_of_the_engine_fails_the_job_it_met_and_the_next_is_done() -> None:
    engine, others = Engine(), threads("clew-llama")
    broken, waiting = EngineCall(lambda: 1), EngineCall(lambda: 2)

    def never() -> bool:
        raise SystemExit  # what no handover takes

    broken.run = never  # type: ignore[method-assign]
    gate = threading.Event()
    first = EngineCall(gate.wait)
    for each in (first, broken, waiting):
        engine.submit(each)
    (met,) = threads("clew-llama") - others
    gate.set()
    with pytest.raises(RuntimeError, match="it goes on"):
        await broken.outcome
    assert await waiting.outcome == 2
    engine.shutdown()
    met.join()


async def test_pauses_grow_while_a_worker_is_not_well(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agent.background, "FIRST_PAUSE_S", 1.0)
    pauses, told, enough = list[float](), list[Notice](), asyncio.Event()
    sleep = asyncio.sleep

    async def pause(seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == 8:
            enough.set()
        await sleep(0)

    async def work() -> None:
        raise BUG

    monkeypatch.setattr(asyncio, "sleep", pause)
    worker = Worker("It", work, told.append)
    worker.start()
    await enough.wait()
    await worker.close()
    assert pauses[:8] == [1, 4, 16, 64, 256, 600, 600, 600]
    assert not worker.works


async def test_work_in_the_background_that_meets_a_bug_is_told() -> None:
    told = list[Notice]()
    tasks = BackgroundTasks(told.append)

    async def work() -> None:
        raise BUG

    tasks.start(work())
    await tasks.done()
    await asyncio.sleep(0)
    assert [type(each) for each in told] == [Warned]
