"""What the memory has learned after small conversations: true and sparse, or junk; with a small, a perfect and a
hostile model.

    python -m bench.observations [PATH] [--json] [--only small|perfect|hostile] [--limit N] [--why]

Each conversation has a memory of its own, with the real embedder. Its turns are appended as a chat's are, and after
each exchange the Agent reflects. `small` is the real default model. `perfect` answers as the file says a model should.
`hostile` finds everything that is true in the memory already, as a good model would have left it, and then does harm:
in every way it is trusted (it passes the probe), and once it is not. docs/observations-bench.md has the file's format
and the definitions of the figures. Memories that say a relationship and nothing else are left out: bench.relations
counts those. `--limit` takes so many conversations of each class, `--why` names what is amiss.
"""

import argparse
import asyncio
import json
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

from agent.agent import Agent
from agent.home import Home
from agent.model_host import EmbedderLoader, LoadedEmbedder, llama_embedder_loader, llama_loader
from agent.recall import Bounds, RecallRequest
from agent.settings import Settings
from bench.expected import Conversation, read
from bench.report import say
from bench.scoring import Seen, Tally, score, summary
from bench.scripted import Hostile, Perfect, RecallPath
from bench.seeding import Seeds
from graph.events import ReflectionFailed, Role, SessionStarted, StopReason, TurnSaid
from graph.ids import as_ms, new_id
from graph.memory import Memory
from graph.reader import LogReader
from graph.values import Hit, Observation, Wanted
from models.protocols import Embedder, Generator
from tui.commands.learned import later_json
from tui.mcp.serializers import told_hit
from tui.reasons import shared

FILE = Path(__file__).with_name("observations.json")
MODELS = ("small", "perfect", "hostile")
WITHOUT_REPLY = "Okay."  # said where a conversation ends without a reply: only what was answered is reflected on
FRACTIONS = ("precision", "recall", "history_kept", "junk_rate", "wrongly_retired")


class RecordingAgent(Agent):
    """An Agent whose memory can be written to and looked into."""

    @property
    def store(self) -> Memory:
        """The open memory."""
        return self._memory

    async def pack(self, text: str, model: Generator) -> tuple[Hit, ...]:
        """What would be put before a model with a message in a new chat, the best first."""
        session = new_id()
        await asyncio.to_thread(self._memory.append, SessionStarted(session=session, client="bench"))
        request = RecallRequest(text, session, frozenset(), None)
        return (await self._recaller.look(request, model, Bounds(turns=20, tokens=4000))).hits


class Lent:
    """A model that outlives the Agent it is lent to: all is the model's own but `close`, which does nothing."""

    def __init__(self, model: Generator | Embedder) -> None:
        self._model = model

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)

    async def close(self) -> None:
        return None


@dataclass(slots=True)
class Run:
    """One model over all conversations: what it is, whether the memory is seeded, and the counts by class."""

    name: str
    model: Generator
    seeded: bool = False
    counted: bool = True  # in the figures of its kind; one that is not is only shown beside them
    tallies: dict[str, Tally] = field(default_factory=dict)

    async def over(self, conversations: Sequence[Conversation], embedder: EmbedderLoader) -> None:
        """Each conversation in a memory of its own."""
        with tempfile.TemporaryDirectory(prefix="clew-bench-") as shared:
            for number, conversation in enumerate(conversations, start=1):
                with tempfile.TemporaryDirectory(prefix="clew-bench-") as folder:
                    home = replace(Home.resolve(Path(folder)), models=Path(shared))
                    keep_cache(home, Path(shared))
                    tally = await converse(self, home, conversation, embedder)
                self.tallies.setdefault(conversation.category, Tally()).add(tally)
                if number % 20 == 0 or number == len(conversations):
                    say(f"{self.name}: {number} of {len(conversations)}")


def keep_cache(home: Home, shared: Path) -> None:
    """Let what was found out about a model once, by the probe, hold for all memories of a run."""
    (shared / "cache").mkdir(exist_ok=True)
    home.cache.rmdir() if home.cache.is_dir() else None
    home.cache.symlink_to(shared / "cache", target_is_directory=True)


async def converse(run: Run, home: Home, conversation: Conversation, embedder: EmbedderLoader) -> Tally:
    """Hold one conversation, reflect after each exchange, and score what is in the memory then."""
    settings = Settings(reflect=False)  # it is called for, after each exchange
    agent = RecordingAgent(
        home,
        settings,
        client="bench",
        loader=lambda name, progress: cast(Generator, Lent(run.model)),
        embedder_loader=embedder,
    )
    await agent.start()
    try:
        chat = Chat(agent, conversation)
        seeds = Seeds(conversation, chat.ids) if run.seeded else None
        for exchange in conversation.exchanges():
            await chat.say(exchange)
            if seeds is not None:
                await asyncio.to_thread(agent.store.append, *seeds.after(exchange))
            if isinstance(run.model, Perfect):
                run.model.conversation, run.model.said = conversation, exchange.stop
            await agent.idle()
            await agent.reflection.run()
        await agent.idle()
        found = await agent.memories.find(Wanted(everything=True, plain=False), limit=1000)
        beside = {
            each.id: await told_beside(agent, each, run.model)
            for each in found
            if each.current and each.status == "active"
        }
        told = [seen(each, chat.places, beside.get(each.id, frozenset())) for each in found]
        held = seeds.active if seeds else ()
        tally = score(conversation, told, held=held)
        tally.alone = score(conversation, [replace(each, later=frozenset()) for each in told], held=held)
        for failed in await asyncio.to_thread(failures, home):
            tally.failures += 1
            tally.amiss.append(f"{conversation.id}: the step {failed.step} failed: {failed.error}")
        return tally
    finally:
        await agent.close()


async def told_beside(agent: RecordingAgent, memory: Observation, model: Generator) -> frozenset[str]:
    """The turns that each surface gives beside a memory as said later: lists and their JSON, recall, MCP, prompts."""
    beside = {str(each["turn"]) for each in map(later_json, memory.later)}
    for hit in await agent.search.recall(memory.text or "", limit=20):
        if hit.id == memory.id or hit.id in memory.sources:
            beside &= {each.message for each in told_hit(hit, shared(())).later}
    pack = await agent.pack(f"What about this: {memory.text}?", model)
    for place, hit in enumerate(pack):
        if hit.id == memory.id or hit.id in memory.sources:
            beside &= {each.id for each in pack[:place]}
    return frozenset(beside)


def failures(home: Home) -> list[ReflectionFailed]:
    """The steps of reflections that failed, as the log tells them."""
    reader = LogReader.open(home.memory)
    try:
        stored = reader.events(limit=100_000)
    finally:
        reader.close()
    return [each.event for each in stored if isinstance(each.event, ReflectionFailed)]


class Chat:
    """A conversation as it goes into the memory: one session, its turns appended as a chat's are."""

    def __init__(self, agent: RecordingAgent, conversation: Conversation) -> None:
        self._agent, self._conversation = agent, conversation
        self._session = new_id()
        self._last: str | None = None
        self.ids = [new_id() for _ in conversation.turns]
        self.places = {id: place for place, id in enumerate(self.ids)}

    async def say(self, exchange: range) -> None:
        """Append the turns of one exchange, with a reply if there is none."""
        events: list[SessionStarted | TurnSaid] = []
        if self._last is None:
            events.append(SessionStarted(session=self._session, client="bench"))
        for place in exchange:
            said = self._conversation.turns[place]
            moment = as_ms(said.at) if said.at else None
            events.append(self._turn(self.ids[place], said.text, Role(said.role), moment))
        if self._conversation.turns[exchange[-1]].role == "user":
            events.append(self._turn(new_id(), WITHOUT_REPLY, Role.ASSISTANT, None))
        await asyncio.to_thread(self._agent.store.append, *events)

    def _turn(self, id: str, text: str, role: Role, moment: int | None) -> TurnSaid:
        before, self._last = self._last, id
        return TurnSaid(
            turn=id,
            session=self._session,
            parent=before,
            role=role,
            speaker="you" if role is Role.USER else "assistant",
            client="bench",
            stop_reason=StopReason.END if role is Role.ASSISTANT else None,
            said_at=moment,
            text=text,
        )


def seen(observation: Observation, places: dict[str, int], later: frozenset[str]) -> Seen:
    """An observation with its proof as places in the conversation."""
    proof = {*observation.sources, *observation.supports}
    return Seen(
        id=observation.id,
        series=observation.series,
        text=observation.text,
        status=observation.status,
        current=observation.current,
        sources=frozenset(places[id] for id in proof if id in places),
        foreign=not proof <= places.keys(),
        later=frozenset(places[id] for id in later if id in places),
    )


def hostile_runs() -> list[Run]:
    """Every way of doing harm while trusted, and one that failed the probe."""
    trusted = [
        Run(f"trusted, {way}", Hostile(way), seeded=True, counted=way is not RecallPath.TWISTING) for way in RecallPath
    ]
    return [*trusted, Run("not trusted", Hostile(RecallPath.HALLUCINATING, passing=False), seeded=True)]


async def measure(conversations: Sequence[Conversation], only: str | None) -> dict[str, list[Run]]:
    """All runs, by the kind of their model."""
    home, settings = Home.resolve(writing=False), Settings()
    loaded = await asyncio.to_thread(llama_embedder_loader(home, settings), settings.embedder)
    lent = LoadedEmbedder(cast(Embedder, Lent(loaded.embedder)), loaded.key)
    wanted: dict[str, Callable[[], list[Run]]] = {
        "small": lambda: [Run("small", llama_loader(home, settings)(settings.model, lambda progress: None))],
        "perfect": lambda: [Run("perfect", Perfect())],
        "hostile": hostile_runs,
    }
    done: dict[str, list[Run]] = {}
    try:
        for kind in MODELS if only is None else [only]:
            done[kind] = wanted[kind]()
            for run in done[kind]:
                await run.over(conversations, lambda name: lent)
                await run.model.close()
    finally:
        await loaded.embedder.close()
    return done


def figures(runs: Sequence[Run]) -> dict[str, Any]:
    """The figures of one kind of model; of several runs all together, and each by its name."""
    together: dict[str, Tally] = {}
    for run in (run for run in runs if run.counted):
        for name, tally in run.tallies.items():
            together.setdefault(name, Tally()).add(tally)
    each = {"runs": {run.name: summary(run.tallies) for run in runs}} if len(runs) > 1 else {}
    alone = {name: tally.alone for name, tally in together.items() if tally.alone is not None}
    return {**summary(together), **each, "alone": summary(alone)["overall"]}


def show(name: str, found: dict[str, Any]) -> None:
    """The figures as a table."""
    columns = [*FRACTIONS, "exchanges", "observations", "known", "candidates", "failures"]
    print(f"{name:<28}" + "".join(f"{column:>16}" for column in columns))
    for label, row in [("overall", found["overall"]), *found["by_class"].items()]:
        print(f"  {label:<26}" + "".join(f"{row[column]:>16}" for column in columns))
    print(f"  {'older ones count alone':<26}" + "".join(f"{found['alone'][column]:>16}" for column in columns))
    for label, part in found.get("runs", {}).items():
        print(f"  {label:<26}" + "".join(f"{part['overall'][column]:>16}" for column in columns))
    print()


def some(conversations: Sequence[Conversation], limit: int | None) -> list[Conversation]:
    """The first `limit` conversations of each class."""
    counts: Counter[str] = Counter()
    taken = []
    for conversation in conversations:
        counts[conversation.category] += 1
        if limit is None or counts[conversation.category] <= limit:
            taken.append(conversation)
    return taken


def main() -> None:
    """Run the benchmark and print its figures."""
    parser = argparse.ArgumentParser(prog="python -m bench.observations", description=__doc__)
    parser.add_argument("path", type=Path, nargs="?", default=FILE, help="a JSON file of conversations")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--only", choices=MODELS, help="one kind of model")
    parser.add_argument("--limit", type=int, help="so many conversations of each class")
    parser.add_argument("--why", action="store_true", help="name what is amiss, on stderr")
    arguments = parser.parse_args()
    done = asyncio.run(measure(some(read(arguments.path), arguments.limit), arguments.only))
    if arguments.why:
        for run in (run for runs in done.values() for run in runs):
            for tally in run.tallies.values():
                for line in tally.amiss:
                    say(f"{run.name}: {line}")
    if arguments.json:
        print(json.dumps({name: figures(runs) for name, runs in done.items()}, ensure_ascii=False))
    else:
        for name, runs in done.items():
            show(name, figures(runs))


if __name__ == "__main__":
    main()
