"""What the service costs and what it saves, beside an Agent in the face's own process, in one run and by turns.

    python -m bench.service [--calls 200] [--messages 12] [--starts 5] [--asks 4] [--keys 60] [--json]

Two copies of one memory of 4,000 messages, each with the default models: one is asked by an Agent in this process, the
other over the socket of a service in its own. Calls and messages alternate between them. A streamed token is timed with
a scripted model and both ends in this process, so that its figure has what either side pays. Chats on pseudo-terminals,
with `service` off and on by turns, tell how soon a chat is ready and how soon a key is echoed; `clew ask` is timed to
the first byte of its reply, without a service and with one that is warm.
"""

import argparse
import asyncio
import os
import select
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AbstractContextManager, aclosing, contextmanager
from pathlib import Path

from agent.agent import Agent
from agent.events import ReplyEnded, TokensArrived
from agent.home import Home
from agent.service.client import AgentClient
from agent.service.server import Service
from agent.service.starting import Starter
from agent.settings import Settings
from bench.report import Figure, percentile, report, say
from bench.startup import CLEW, KEY, PAINTED, fill, read_until, started
from graph.events import Sampling
from tests.agent.service.behind import agent_of
from tests.fakes import FakeGenerator

TURNS = 4_000
TOKENS = 5_000
REPLY_TOKENS = 24
READY = b"ready"
QUERY = "Message 1234 of a long memory"
ASKED = "In one sentence: what makes a good lighthouse keeper on {}?"
DAYS = ("a Monday", "a Tuesday", "a Wednesday", "a Thursday", "a Friday", "a Saturday", "a Sunday")
LETTERS = (KEY, b"\xc3\xb8", b"\xc3\xb1", b"\xc3\xa5")  # none of which a screen shows by itself

Call = Callable[[Agent | AgentClient], Awaitable[object]]


async def calls(own: Agent, client: AgentClient, many: int) -> dict[str, Figure]:
    """The calls of the bars: medians of either way and of the differences between neighbours, in ms."""
    session = (await own.chats.all())[0].id
    asked: dict[str, Call] = {
        "thread": lambda agent: agent.chats.thread(session),
        "recall": lambda agent: agent.search.recall(QUERY),
    }
    figures: dict[str, Figure] = {}
    for name, call in asked.items():
        pairs = [(await _ms(call(own)), await _ms(call(client))) for _ in range(many)]
        figures[f"{name}_own_ms"] = statistics.median(ours for ours, _ in pairs)
        figures[f"{name}_socket_ms"] = statistics.median(theirs for _, theirs in pairs)
        figures[f"{name}_more_ms"] = statistics.median(theirs - ours for ours, theirs in pairs)
    wire = await client._at()
    health = [await _ms(wire.ask("health", {})) for _ in range(many)]
    return figures | {"health_ms": statistics.median(health), "health_p95_ms": percentile(health, 0.95)}


async def _ms(asked: Awaitable[object]) -> float:
    began = time.perf_counter()
    await asked
    return 1000 * (time.perf_counter() - began)


async def first_tokens(own: Agent, client: AgentClient, messages: int) -> dict[str, Figure]:
    """The first text of a reply, in chats of the same messages, by turns; the first message of each warms it up."""
    sessions: dict[str, str | None] = {"own": None, "socket": None}
    pairs: list[dict[str, float]] = []
    for number in range(messages + 1):
        pair: dict[str, float] = {}
        for way, agent in (("own", own), ("socket", client)):
            sessions[way], pair[way] = await _first_token(agent, sessions[way], ASKED.format(DAYS[number % len(DAYS)]))
            await agent.idle()
        pairs.append(pair)
        say(f"first token {pair['own']:.0f} ms, over the socket {pair['socket']:.0f} ms")
    return {
        "first_token_own_ms": statistics.median(pair["own"] for pair in pairs[1:]),
        "first_token_socket_ms": statistics.median(pair["socket"] for pair in pairs[1:]),
        "first_token_more_ms": statistics.median(pair["socket"] - pair["own"] for pair in pairs[1:]),
        "first_token_ratio": statistics.median(pair["socket"] / pair["own"] for pair in pairs[1:]),
    }


async def _first_token(agent: Agent | AgentClient, session: str | None, text: str) -> tuple[str, float]:
    began, first = time.perf_counter(), None
    async with aclosing(agent.send(session, text)) as events:
        async for event in events:
            if isinstance(event, TokensArrived) and event.text and first is None:
                first = 1000 * (time.perf_counter() - began)
            if isinstance(event, ReplyEnded) and first is not None:
                return event.session, first
    raise SystemExit(f"{text!r} was not answered")


async def tokens(folder: Path) -> dict[str, Figure]:
    """What a token of a scripted reply takes more over the socket of a service in a process of its own."""
    own = _talker(Home(folder / "own", folder))
    await own.start()
    served = Home(folder / "served", folder)
    served.root.mkdir(parents=True)
    with _process(sys.executable, "-m", "bench.service", "--scripted", str(served.root)):
        client = AgentClient(Starter(served).connect, Settings(), name="bench")
        await client.start()
        pairs = [(await _reply_ms(own), await _reply_ms(client)) for _ in range(8)][1:]
        await client.close()
    await own.close()
    more = statistics.median(theirs - ours for ours, theirs in pairs)
    return {
        "token_own_us": 1000 * statistics.median(ours for ours, _ in pairs) / TOKENS,
        "token_more_us": 1000 * more / TOKENS,
    }


def _talker(home: Home) -> Agent:
    settings = Settings(sampling=Sampling(max_tokens=2 * TOKENS), reflect=False)
    return agent_of(home, FakeGenerator(" ".join(["word"] * TOKENS), context=8 * TOKENS), settings)


async def scripted(home: Home) -> None:
    """Serve the scripted model, until this process is ended."""
    await Service(home, _talker(home), version="bench", linger_s=60).run(lambda: print("ready", flush=True))


async def _reply_ms(agent: Agent | AgentClient) -> float:
    began, said = time.perf_counter(), 0
    async with aclosing(agent.send(None, "Talk.")) as events:
        async for event in events:
            said += len(event.text) if isinstance(event, TokensArrived) else 0
    if said < TOKENS:
        raise SystemExit(f"only {said} characters of the scripted reply arrived")
    return 1000 * (time.perf_counter() - began)


def starts(homes: dict[str, Path], many: int) -> dict[str, Figure]:
    """How soon a chat is painted and ready to answer: in its own process, starting a service, joining one."""
    ways = {"own": ("own", "0"), "starting": ("served", "1"), "joining": ("served", "1")}
    painted: dict[str, list[float]] = {way: [] for way in ways}
    ready: dict[str, list[float]] = {way: [] for way in ways}
    for number in range(many + 1):
        for way, (home, served) in ways.items():
            if way != "joining":
                _end(homes[home])
            with _environment(CLEW_SERVICE=served):
                began = time.perf_counter()
                process, leader = started(CLEW, homes[home])
                try:
                    times = (read_until(leader, PAINTED) - began, read_until(leader, READY) - began)
                finally:
                    process.kill()
                    process.wait()
                    os.close(leader)
            if number:  # the first of each is for the caches
                painted[way].append(1000 * times[0])
                ready[way].append(1000 * times[1])
        say(", ".join(f"{way} ready {ready[way][-1]:.0f} ms" for way in ways if ready[way]))
    figures: dict[str, Figure] = {f"paint_{way}_ms": statistics.median(painted[way]) for way in ways}
    figures |= {f"ready_{way}_ms": statistics.median(ready[way]) for way in ways}
    pairs = list(zip(ready["starting"], ready["own"], strict=True))
    first = list(zip(painted["starting"], painted["own"], strict=True))
    return figures | {
        "paint_starting_ratio": statistics.median(theirs / ours for theirs, ours in first),
        "ready_starting_more_ms": statistics.median(theirs - ours for theirs, ours in pairs),
    }


def keys(homes: dict[str, Path], many: int) -> dict[str, Figure]:
    """How soon a key is echoed in a chat that is ready, with and without a service, by turns."""
    opened = {}
    for way, home, served in (("own", "own", "0"), ("socket", "served", "1")):
        with _environment(CLEW_SERVICE=served):
            opened[way] = started(CLEW, homes[home])
        read_until(opened[way][1], READY)
    took: dict[str, list[float]] = {way: [] for way in opened}
    try:
        for number in range(many):
            for way, (_, leader) in opened.items():
                while select.select([leader], [], [], 0.05)[0]:
                    os.read(leader, 65536)
                letter = LETTERS[number % len(LETTERS)]
                began = time.perf_counter()
                os.write(leader, letter)
                took[way].append(1000 * (read_until(leader, letter) - began))
    finally:
        for process, leader in opened.values():
            process.kill()
            process.wait()
            os.close(leader)
    figures: dict[str, Figure] = {f"echo_{way}_ms": statistics.median(times) for way, times in took.items()}
    figures["echo_ratio"] = statistics.median(
        theirs / ours for theirs, ours in zip(took["socket"], took["own"], strict=True)
    )
    return figures


def asks(homes: dict[str, Path], many: int) -> dict[str, Figure]:
    """How soon `clew ask` writes the first byte of its reply: cold, and beside a service that is warm."""
    pairs = []
    with _service(homes["served"]):
        _asked(homes["served"])  # waits until the model is loaded
        for _ in range(many):
            pairs.append((_asked(homes["own"]), _asked(homes["served"])))
            say(f"ask cold {pairs[-1][0]:.0f} ms, warm {pairs[-1][1]:.0f} ms")
    return {
        "ask_cold_ms": statistics.median(cold for cold, _ in pairs),
        "ask_warm_ms": statistics.median(warm for _, warm in pairs),
        "ask_sooner": statistics.median(cold / warm for cold, warm in pairs),
    }


def _asked(home: Path) -> float:
    """Milliseconds from the start of `clew ask` to the first byte of the reply."""
    began = time.perf_counter()
    with subprocess.Popen(
        [sys.executable, "-m", "tui", "--home", str(home), "ask", "Say hello."],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as process:
        assert process.stdout is not None
        first = process.stdout.read(1)
        took = 1000 * (time.perf_counter() - began)
        process.stdout.read()
    if not first:
        raise SystemExit(f"clew ask ended with {process.returncode} and said nothing")
    return took


def _service(home: Path) -> AbstractContextManager[None]:
    """A service in a process of its own, which is ended after it."""
    return _process(sys.executable, "-m", "tui", "--home", str(home), "serve")


@contextmanager
def _process(*command: str) -> Iterator[None]:
    """A process that says a line when it is ready."""
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        if not process.stdout.readline():
            raise SystemExit(f"{' '.join(command)} did not start: {process.wait()}")
        try:
            yield
        finally:
            process.terminate()


@contextmanager
def _environment(**values: str) -> Iterator[None]:
    """Variables for what is started inside."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


async def compared(homes: dict[str, Path], models: Path, options: argparse.Namespace) -> dict[str, Figure]:
    """An Agent here beside one behind a service."""
    settings = Settings(sampling=Sampling(seed=7, max_tokens=REPLY_TOKENS))
    own = Agent(Home(homes["own"], models), settings, client="bench")
    client = AgentClient(Starter(Home(homes["served"], models)).connect, settings, name="bench", kind="command")
    await own.start()
    await client.start()
    await client.use_settings(settings)
    for agent in (own, client):
        await agent.models.ready()
        await agent.idle()
    try:
        return await calls(own, client, options.calls) | await first_tokens(own, client, options.messages)
    finally:
        await client.close()
        await own.close()


def measure(options: argparse.Namespace) -> dict[str, Figure]:
    """All figures, times in ms or µs as their names say."""
    models = Home.resolve().models
    with tempfile.TemporaryDirectory(prefix="clew-service-") as folder, _environment(CLEW_MODELS=str(models)):
        homes = {way: Path(folder) / way for way in ("own", "served")}
        fill(homes["own"], TURNS)
        shutil.copytree(homes["own"], homes["served"])
        try:
            figures = asyncio.run(tokens(Path(folder) / "scripted"))
            figures |= starts(homes, options.starts)
            figures |= keys(homes, options.keys)
            _end(homes["served"])
            figures |= asyncio.run(compared(homes, models, options))
            _end(homes["served"])
            return figures | asks(homes, options.asks)
        finally:
            _end(homes["served"])


def _end(home: Path) -> None:
    """Have the service of a home end, if one runs."""
    asyncio.run(Starter(Home(home, home / "models")).retire())


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m bench.service")
    parser.add_argument("--calls", type=int, default=200)
    parser.add_argument("--messages", type=int, default=12)
    parser.add_argument("--starts", type=int, default=5)
    parser.add_argument("--asks", type=int, default=4)
    parser.add_argument("--keys", type=int, default=60)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--scripted", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.scripted is not None:
        asyncio.run(scripted(Home(options.scripted, options.scripted)))
        return
    report(measure(options), as_json=options.json)


if __name__ == "__main__":
    main()
