"""What reflection costs: per exchange as the memory grows, and in time to first token while it runs.

    python -m bench.reflection [--exchanges 1000] [--real-embedder] [--json]
    python -m bench.reflection --first-token [--pairs 12] [--json]

The first holds so many exchanges in one memory, each reflected on as soon as it is said, by a scripted model that is
trusted and makes, repeats and revises observations; the cost of the last hundred is compared with that of the first.

The second chats with the real default model: every other message is sent while a reflection is at work, with that same
model as if it were trusted, in the middle of its answer; the others while nothing runs. Both are at the same depth.
"""

import argparse
import asyncio
import json
import re
import statistics
import tempfile
import time
from collections.abc import Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Any, cast

from agent.agent import Agent
from agent.events import RecallDone, ReplyEnded, TokensArrived
from agent.home import Home
from agent.model_host import EmbedderLoader, LoadedEmbedder, llama_embedder_loader, llama_loader
from agent.reflection.consolidation import Action, Actions, Create, Update, words_for
from agent.reflection.trust import TASKS, VERSION
from agent.settings import Settings
from bench.report import Figure, percentile, report, say
from graph.events import Event, ObservationKind, Role, Sampling, SessionStarted, StopReason, TurnSaid
from graph.ids import new_id
from graph.memory import Memory
from models.errors import StructuredOutputError
from models.protocols import Answer, Generator
from tests.fakes import FakeEmbedder, FakeGenerator

COMPARED = 100
WARM_UP = 5  # exchanges that open what is opened once
COLOURS = ("red", "green", "blue", "yellow", "black", "white", "silver", "purple", "orange", "brown")
THINGS = ("boat", "bicycle", "piano", "telescope", "kite", "tent", "violin", "greenhouse", "kayak", "loom")
FIRST = ("An", "Bel", "Cor", "Dar", "El", "Fen", "Gil", "Har", "Il", "Jor")
LAST = ("ta", "dora", "vin", "mund", "sa", "rik", "lotte", "bert", "wyn", "na")
CITIES = ("Oslo", "Bergen", "Lyon", "Porto", "Ghent", "Turin", "Graz", "Cork", "Malmö", "Tartu")
TOLD = re.compile(r"^\[1\] you: (.*)$", re.MULTILINE)
LISTED = re.compile(r"^\((\d+)\) (.*) \[[^\[\]]*\]$", re.MULTILINE)


def message(number: int) -> str:
    """What the user says in an exchange: mostly something new, now and then a repeat, a move, or chit-chat."""
    match number % 10:
        case 3:
            return "ok thanks, that is good to know!"
        case 5:
            return f"I moved again: I live in {CITIES[number // 10 % 10]} now."
        case 8:
            return message(max(0, number - 8))
    colour, thing = COLOURS[number % 10], THINGS[number // 10 % 10]
    name = f"{FIRST[number // 100 % 10]}{LAST[number % 10]}{LAST[number // 10 % 10]}"
    return f"I have a {colour} {thing} called {name} since {1900 + number}."


def exchange(session: str, parent: str | None, text: str, reply: str) -> tuple[str, list[Event]]:
    """A message with its reply, and the id of the reply."""
    asked, answered = new_id(), new_id()
    common: dict[str, Any] = {"session": session, "client": "bench"}
    return answered, [
        TurnSaid(turn=asked, parent=parent, role=Role.USER, speaker="you", text=text, **common),
        TurnSaid(
            turn=answered,
            parent=asked,
            role=Role.ASSISTANT,
            speaker="assistant",
            stop_reason=StopReason.END,
            text=reply,
            **common,
        ),
    ]


class Open(Agent):
    """An Agent whose memory can be written to."""

    @property
    def opened_memory(self) -> Memory:
        """The open memory."""
        return self._memory


class Scripted(FakeGenerator):
    """Passes the probe, and makes one action of what the first message says."""

    async def structured(self, prompt: Sequence[int], schema: type[Answer], *, max_tokens: int = 512) -> Answer:
        if not issubclass(schema, Actions):
            raise StructuredOutputError("the script has no answer to this")
        words = self.detokenize(prompt)
        right = next((task.right for task in TASKS if words_for(task.lines, task.known) in words), None)
        return cast(Answer, right if right is not None else Actions(actions=answer(words)))


def answer(words: str) -> list[Action]:
    """What the script does with a prompt."""
    told = TOLD.search(words)
    said = told[1] if told else ""
    if moved := re.search(r"I live in (\w+) now", said):
        text = f"The user lives in {moved[1]} now."
        before = next((int(number) for number, known in LISTED.findall(words) if " lives in " in known), None)
        if before is not None:
            return [Update(memory=before, text=text, confidence=0.9, sources=[1])]
        return [Create(text=text, category=ObservationKind.STATE, confidence=0.9, sources=[1])]
    if said.startswith("I have "):
        text = "The user has " + said.removeprefix("I have ")
        return [Create(text=text, category=ObservationKind.FACT, confidence=0.9, sources=[1])]
    return []


async def growth(exchanges: int, home: Home, embedder: EmbedderLoader) -> dict[str, Figure]:
    """Reflect on one exchange after another, and compare the first with the last."""
    model = Scripted(name="scripted")
    agent = Open(
        home, Settings(reflect=False), client="bench", loader=lambda name, step: model, embedder_loader=embedder
    )
    await agent.start()
    await agent.idle()
    costs: list[float] = []
    session, parent = new_id(), None
    await asyncio.to_thread(agent.opened_memory.append, SessionStarted(session=session, client="bench"))
    for number in range(exchanges + WARM_UP):
        parent, events = exchange(session, parent, message(number), "I see.")
        await asyncio.to_thread(agent.opened_memory.append, *events)
        await agent.idle()  # it is embedded
        start = time.perf_counter()
        await agent.reflection.run()
        costs.append((time.perf_counter() - start) * 1000)
        if number % COMPARED == COMPARED - 1:
            say(f"{number + 1:>5}  {statistics.mean(costs[-COMPARED:]):7.1f} ms an exchange")
    rows = await asyncio.to_thread(
        agent.opened_memory.query, "MATCH (o:Observation) WHERE o.current RETURN count(o) AS observations"
    )
    await agent.close()
    costs = costs[WARM_UP:]
    first, last = costs[:COMPARED], costs[-COMPARED:]
    return {
        "exchanges": exchanges,
        "observations": int(rows[0]["observations"]),
        "first_mean_ms": statistics.mean(first),
        "last_mean_ms": statistics.mean(last),
        "last_over_first": statistics.mean(last) / statistics.mean(first),
        "median_last_over_first": statistics.median(last) / statistics.median(first),
        "p95_ms": percentile(costs, 0.95),
    }


class RecordingGenerator:
    """A model that tells when it is in the middle of a structured answer; all else is the model's own."""

    def __init__(self, model: Generator) -> None:
        self._model = model
        self.at_it = asyncio.Event()
        self.asked = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)

    async def structured(self, prompt: Sequence[int], schema: type[Answer], *, max_tokens: int = 512) -> Answer:
        """The model's own answer."""
        self.asked += 1
        self.at_it.set()
        try:
            return await self._model.structured(prompt, schema, max_tokens=max_tokens)
        finally:
            self.at_it.clear()


async def first_token(pairs: int, home: Home) -> dict[str, Figure]:
    """Send messages with and without a reflection at work, and time the first token of each."""
    settings = Settings(sampling=Sampling(seed=7, max_tokens=32))
    model = RecordingGenerator(await asyncio.to_thread(llama_loader(home, settings), settings.model, _nothing))
    trust_it(home, model)
    agent = Open(home, settings, client="bench", loader=lambda name, step: cast(Generator, model))
    await agent.start()
    await agent.idle()
    session, warm = await measured(agent, None, "Hello! Tell me something about tide pools.")
    times: dict[bool, list[float]] = {True: [], False: []}
    for number in range(pairs * 2):
        await agent.idle()
        busy = number % 2 == 1
        if busy:
            await asyncio.to_thread(agent.opened_memory.append, *backlog(number))
            await asyncio.wait_for(model.at_it.wait(), timeout=60)
        session, took = await measured(agent, session, f"And one more thing about {THINGS[number % 10]}s, please.")
        times[busy].append(took)
        say(f"{number:>3}  {took:7.0f} ms  {'while reflecting' if busy else ''}")
    await agent.close()
    without, during = statistics.median(times[False]), statistics.median(times[True])
    return {
        "pairs": pairs,
        "first_message_ms": warm,
        "without_median_ms": without,
        "during_median_ms": during,
        "during_over_without": during / without,
        "difference_ms": during - without,
        "without_p95_ms": percentile(times[False], 0.95),
        "during_p95_ms": percentile(times[True], 0.95),
        "structured_calls": model.asked,
    }


def trust_it(home: Home, model: RecordingGenerator) -> None:
    """As if it had passed the probe, so that reflection keeps the model busy."""
    home.trusted.write_text(json.dumps({f"{VERSION}:{model.state_key}": 1.0}), encoding="utf-8")


def backlog(number: int) -> list[Event]:
    """A chat whose long messages were not reflected on yet."""
    session, parent = new_id(), None
    events: list[Event] = [SessionStarted(session=session, client="bench")]
    for place in range(3):
        text = " ".join(message(number * 40 + place * 12 + each) for each in range(12))
        parent, said = exchange(session, parent, text, "I see.")
        events += said
    return events


async def measured(agent: Agent, session: str | None, text: str) -> tuple[str, float]:
    """Send a message; the session, and the time to the first text the user sees, in ms."""
    start, first = time.perf_counter(), 0.0
    async with aclosing(agent.send(session, text)) as events:
        async for event in events:
            if isinstance(event, TokensArrived) and not first and event.text:
                first = (time.perf_counter() - start) * 1000
            if isinstance(event, RecallDone) and event.note:
                say(f"     {event.note}")
            if isinstance(event, ReplyEnded):
                return event.session, first or (time.perf_counter() - start) * 1000
    raise SystemExit("a message was not answered")


def _nothing(step: object) -> None:
    """Nobody watches it load."""


def fake_embedder(name: str) -> LoadedEmbedder:
    return LoadedEmbedder(FakeEmbedder(dimension=384), "fake")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--exchanges", type=int, default=1000)
    parser.add_argument("--real-embedder", action="store_true", help="embed with the default model, not with a fake")
    parser.add_argument("--first-token", action="store_true", help="time the first token while a reflection runs")
    parser.add_argument("--pairs", type=int, default=12, help="messages with and without a reflection")
    options = parser.parse_args()
    models = Home.resolve().models
    with tempfile.TemporaryDirectory(prefix="clew-bench-") as folder:
        root = Path(folder)
        for name in ("memory", "cache"):
            (root / name).mkdir()
        home = Home(root, models)
        if options.first_token:
            figures = asyncio.run(first_token(options.pairs, home))
        else:
            real = llama_embedder_loader(home, Settings())
            figures = asyncio.run(growth(options.exchanges, home, real if options.real_embedder else fake_embedder))
        report(figures, as_json=options.json)


if __name__ == "__main__":
    main()
