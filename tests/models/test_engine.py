"""The engine: foreground first, resumable background, and an end in order whatever was running."""

import asyncio
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from models.engine import Engine, EngineCall, EngineTask, Rank, shared_engine
from models.errors import EngineClosed


class Steps(EngineTask):
    """Runs until `steps` calls were made, waiting each time for the gate or an interruption."""

    def __init__(
        self, engine: Engine, name: str, ran: list[str], *, steps: int = 1, rank: Rank = Rank.BACKGROUND
    ) -> None:
        super().__init__()
        self.rank = rank
        self.gate = threading.Event()
        self.entered = threading.Event()
        self.released = 0
        self._engine, self._name, self._ran, self._left = engine, name, ran, steps

    def run(self) -> bool:
        self._ran.append(self._name)
        self.entered.set()
        while not self.gate.wait(0.001):
            if self._engine.flag:
                return False
        self._left -= 1
        if self._left == 0:
            self.succeed(self._name)
        return self._left == 0

    def release(self) -> None:
        self.released += 1


@pytest.fixture
def engine() -> Engine:
    return Engine()


async def test_the_foreground_interrupts_the_background_which_resumes(engine: Engine) -> None:
    ran = list[str]()
    slow, quick = Steps(engine, "slow", ran), Steps(engine, "quick", ran, rank=Rank.FOREGROUND)
    engine.submit(slow)
    await asyncio.to_thread(slow.entered.wait)
    quick.gate.set()
    engine.submit(quick)
    assert await quick.outcome == "quick"
    slow.gate.set()
    assert await slow.outcome == "slow"
    assert ran[:2] == ["slow", "quick"]
    assert ran[2:] == ["slow"] * len(ran[2:])
    engine.shutdown()
    assert (slow.released, quick.released) == (1, 1)


async def test_the_background_keeps_its_order_when_interrupted(engine: Engine) -> None:
    ran = list[str]()
    first, second = Steps(engine, "first", ran), Steps(engine, "second", ran)
    engine.submit(first)
    engine.submit(second)
    await asyncio.to_thread(first.entered.wait)
    engine.submit(EngineCall(lambda: None))
    first.gate.set()
    second.gate.set()
    await asyncio.gather(first.outcome, second.outcome)
    assert ran.index("second") == len(ran) - 1
    engine.shutdown()


async def test_a_cancelled_job_is_dropped_where_it_waits_and_ended_where_it_runs(engine: Engine) -> None:
    ran = list[str]()
    running, waiting = Steps(engine, "running", ran), Steps(engine, "waiting", ran)
    engine.submit(running)
    await asyncio.to_thread(running.entered.wait)
    engine.submit(waiting)
    engine.cancel(waiting)
    engine.cancel(running)
    done = EngineCall(lambda: "done", rank=Rank.BACKGROUND)
    engine.submit(done)
    assert await asyncio.wait_for(done.outcome, 5) == "done"
    engine.shutdown()
    assert ran == ["running"]
    assert (running.released, waiting.released) == (1, 1)


class Talk(Steps):
    """A long foreground job that lets brief ones in between two steps, until it is stopped."""

    def run(self) -> bool:
        self._ran.append(self._name)
        self.entered.set()
        while not self.cancelled and not self.gate.wait(0.001):
            self._engine.between()
        self.succeed("stopped" if self.cancelled else self._name)
        return True


async def test_a_brief_job_comes_into_a_long_foreground_one_before_others_and_stays_if_it_stops(engine: Engine) -> None:
    ran = list[str]()
    talk, next_one = Talk(engine, "talk", ran, rank=Rank.FOREGROUND), Steps(engine, "next", ran, rank=Rank.FOREGROUND)
    engine.submit(talk)
    await asyncio.to_thread(talk.entered.wait)
    engine.submit(next_one)
    brief = EngineCall(lambda: ran.append("brief"), rank=Rank.BRIEF)
    engine.submit(brief)
    await brief.outcome
    assert not talk.outcome.done()
    longer = Steps(engine, "longer", ran, rank=Rank.BRIEF)
    engine.submit(longer)
    await asyncio.to_thread(longer.entered.wait)
    engine.stop_foreground()
    next_one.gate.set()
    assert await asyncio.wait_for(talk.outcome, 5) == "stopped"
    longer.gate.set()
    await asyncio.gather(longer.outcome, next_one.outcome)
    assert list(dict.fromkeys(ran)) == ["talk", "brief", "longer", "next"]  # however often one was interrupted
    engine.shutdown()
    assert (talk.released, longer.released) == (1, 1)


async def test_a_job_that_raises_fails_alone(engine: Engine) -> None:
    def broken() -> None:
        raise ZeroDivisionError("a defect")

    call = EngineCall(broken)
    engine.submit(call)
    with pytest.raises(ZeroDivisionError):
        await call.outcome
    after = EngineCall(lambda: "alive")
    engine.submit(after)
    assert await after.outcome == "alive"
    engine.shutdown()


async def test_a_shut_down_engine_frees_what_it_owns_and_fails_what_waits(engine: Engine) -> None:
    ran, freed = list[str](), list[str]()
    running, waiting = Steps(engine, "running", ran), Steps(engine, "waiting", ran)

    def kept() -> None:
        freed.append("kept")

    def given_up() -> None:
        freed.append("given up")

    engine.own(kept)
    engine.own(given_up)
    engine.disown(given_up)
    engine.submit(running)
    await asyncio.to_thread(running.entered.wait)
    engine.submit(waiting)
    engine.shutdown()
    engine.shutdown()
    assert freed == ["kept"]
    with pytest.raises(EngineClosed):
        await waiting.outcome
    with pytest.raises(EngineClosed):
        engine.submit(EngineCall(lambda: None))
    running.outcome.cancel()


def test_a_job_whose_event_loop_is_gone_is_given_up(engine: Engine) -> None:
    async def start() -> EngineCall:
        call = EngineCall(gate.wait)
        engine.submit(call)
        return call

    gate = threading.Event()
    call = asyncio.run(start())
    gate.set()
    engine.shutdown()
    assert call.cancelled


def test_all_models_share_one_engine() -> None:
    assert shared_engine() is shared_engine()


EXITS = {
    "while it generates": "asyncio.run(begin(generator, 5000))",
    "after a close in the middle": "asyncio.run(begin(generator, 5000, close=True))",
    "while it prefills": "asyncio.run(fill(generator))",
    "without any use": "",
    "by sys.exit in the middle": "asyncio.run(begin(generator, 5000)); sys.exit(0)",
}
PROGRAM = """
import asyncio, sys
from pathlib import Path
from models.errors import LoadError
from models.generator import load_generator
from models.protocols import SamplingParams
try:
    load_generator(Path({text!r}), name="bad")
except LoadError:
    pass
generator = load_generator(Path({chat!r}), name="x", context=2048, memo=Path({tried!r}))
async def begin(generator, tokens, close=False):
    stream = generator.generate(generator.frame("user", "Count.", first=True), SamplingParams(max_tokens=tokens))
    await anext(stream)
    if close:
        await generator.close()
async def fill(generator):
    filling = asyncio.create_task(generator.prefill(list(range(1000, 3000))))
    await asyncio.sleep(0.05)
{last}
"""


@pytest.mark.parametrize("last", EXITS.values(), ids=EXITS.keys())
def test_the_interpreter_exits_cleanly(chat_gguf: Path, tried: Path, tmp_path: Path, last: str) -> None:
    text = tmp_path / "text.gguf"
    text.write_text("no model")
    program = PROGRAM.format(text=str(text), chat=str(chat_gguf), tried=str(tried), last=last)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=120)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
