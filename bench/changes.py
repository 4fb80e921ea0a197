"""Whether what changed in a life is told with what was said before: nothing outdated is given as if it were so now.

    python -m bench.changes [PATH] [--json] [--perfect] [--limit N] [--why]

The file has pairs: a fact, and days and a hundred other messages later its `change` in other words, or an `addition`
that changes nothing; and a question about the topic. Each has a memory of its own with the real embedder, reflected on
without a chat model, or (`--perfect`) with a scripted one that says what each tells and what it changes.
`newest_first`: of the changes, the share for which whatever the question recalls of the fact, and the fact in the list
of memories, has the change beside it or before it; `alone`: the share for which some of it is given without. `retired`,
`questioned`: of the additions, the share that retired the fact or put it in question; of the changes the same. `lost`:
facts of additions that are in use no more and asked about nowhere. `failed`: steps of reflections that failed.
"""

import argparse
import asyncio
import json
import random
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, cast

from agent.events import ModelProgress
from agent.home import Home
from agent.model_host import EmbedderLoader, LoadedEmbedder, llama_embedder_loader
from agent.reflection.consolidation import Action, Create, Update
from agent.settings import Settings
from bench.locomo import no_model
from bench.observations import WITHOUT_REPLY, Lent, RecordingAgent, failures
from bench.report import say
from bench.scripted import SURE, Prompt, Scripted
from graph.events import Event, ObservationKind, Role, SessionStarted, StopReason, TurnSaid
from graph.ids import as_ms, new_id
from graph.values import Observation, Wanted
from models.protocols import Embedder, Generator

FILE = Path(__file__).with_name("changes.json")
BETWEEN = 100  # messages
BEGINS = datetime(2026, 1, 5, 9, tzinfo=UTC)


class Remembering:
    """An embedder that embeds each text once: the hundred messages between are the same for many memories."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder, self._known = embedder, dict[str, Any]()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._embedder, name)

    async def embed(self, texts: Sequence[str], *, brief: bool = False, most: int | None = None) -> Any:
        """As the embedder's own."""
        import numpy as np

        if new := [text for text in dict.fromkeys(texts) if text not in self._known]:
            rows = await self._embedder.embed(new, brief=brief, most=most)
            self._known.update(zip(new, rows, strict=True))
        return np.array([self._known[text] for text in texts])


@dataclass(slots=True)
class Tally:
    """Counts over the pairs."""

    changes: int = 0
    newest_first: int = 0
    recalled: int = 0  # changes for which the fact was recalled at all
    revised: int = 0
    questioned_changes: int = 0
    additions: int = 0
    retired: int = 0
    questioned: int = 0
    lost: int = 0
    failed: int = 0


class Knowing(Scripted):
    """A model that knows what a pair tells: it notes the fact and the addition, and revises the fact by the change."""

    def __init__(self) -> None:
        super().__init__("scripted-knowing")
        self.pair: dict[str, Any] = {}

    def act(self, prompt: Prompt) -> list[Action]:
        """What it notes of the messages that are shown."""
        told = {" ".join(text.split()): number for number, text in prompt.told.items()}
        noted: list[Action] = []
        for part in ("fact", "addition", "change"):
            text = " ".join(self.pair.get(part, "").split())
            if text not in told:
                continue
            sources, text = [told[text]], text[:220]
            fact = " ".join(self.pair["fact"].split())[:220]
            known = next((number for number, shown in prompt.shown.items() if shown == fact), None)
            if part == "change" and known is not None:
                noted.append(Update(memory=known, text=text, confidence=SURE, sources=sources))
            else:
                noted.append(Create(text=text, category=ObservationKind.FACT, confidence=SURE, sources=sources))
        return noted


def chat(pair: dict[str, Any], filler: Sequence[str]) -> tuple[list[Event], str, str]:
    """The events of a chat, and the turns of the fact and of what follows; a day between every ten messages."""
    between = random.Random(pair["id"]).sample(list(filler), BETWEEN)
    said = [pair["fact"], *between, pair.get("change") or pair["addition"]]
    session, turns, last = new_id(), list[str](), None
    events: list[Event] = [SessionStarted(session=session, client="bench")]
    for number, text in enumerate(said):
        at = as_ms(BEGINS + timedelta(days=number // 10, minutes=3 * number))
        turns.append(new_id())
        reply = new_id()
        told: dict[str, Any] = {"session": session, "client": "bench", "said_at": at}
        events += [
            TurnSaid(turn=turns[-1], parent=last, role=Role.USER, speaker="you", text=text, **told),
            TurnSaid(
                turn=reply,
                parent=turns[-1],
                role=Role.ASSISTANT,
                speaker="assistant",
                stop_reason=StopReason.END,
                text=WITHOUT_REPLY,
                **told,
            ),
        ]
        last = reply
    return events, turns[0], turns[-1]


async def ask(
    pair: dict[str, Any],
    filler: Sequence[str],
    loader: EmbedderLoader,
    tally: Tally,
    *,
    model: Knowing | None,
    why: bool,
) -> None:
    """One pair in a memory of its own."""

    def lend(name: str, progress: Callable[[ModelProgress], None]) -> Generator:
        return no_model(name, progress) if model is None else cast(Generator, Lent(model))

    with tempfile.TemporaryDirectory(prefix="clew-bench-") as folder:
        home = replace(Home.resolve(Path(folder)))
        agent = RecordingAgent(home, Settings(reflect=False), client="bench", loader=lend, embedder_loader=loader)
        await agent.start(load_model=model is not None)
        if model is not None:
            model.pair = pair
        try:
            await agent.models.embedder_ready()
            events, fact, later = chat(pair, filler)
            await asyncio.to_thread(agent.store.append, *events)
            await agent.idle()
            await agent.reflection.run(by_model=model is not None)
            await agent.idle()
            tally.failed += len(await asyncio.to_thread(failures, home))
            known = await agent.memories.find(Wanted(everything=True), limit=1000)
            of_fact = [each for each in known if fact in each.sources]
            asks = [
                each for each in known if each.status == "candidate" and later in each.sources and fact in each.sources
            ]
            retired = any(each.status in ("superseded", "invalid") for each in of_fact)
            if "addition" in pair:
                tally.additions += 1
                tally.retired += retired
                tally.questioned += bool(asks)
                tally.lost += retired and not any(each.current for each in of_fact)
                if why and (retired or asks):
                    say(f"{pair['id']}: {'retired' if retired else 'questioned'}: {pair['fact']} / {pair['addition']}")
                return
            tally.changes += 1
            tally.revised += retired
            tally.questioned_changes += bool(asks)
            well = await _with_the_newer(agent, pair, of_fact, fact, later, tally)
            tally.newest_first += well
            if why and not well:
                say(f"{pair['id']}: {pair['fact']} / {pair['change']} / {pair['question']}")
        finally:
            await agent.close()


async def _with_the_newer(
    agent: RecordingAgent, pair: dict[str, Any], known: Sequence[Observation], fact: str, later: str, tally: Tally
) -> bool:
    """Whether all that is recalled of a fact, and lists that are in use, has what changed it beside it or before it."""
    hits = await agent.search.recall(pair["question"], limit=10)
    above, recalled = False, False
    well = all(
        later in [each.turn for each in memory.later]
        for memory in known
        if memory.current and memory.status == "active" and later not in memory.sources
    )
    for hit in hits:
        if hit.id == later or later in hit.sources:
            above = True
        elif hit.id == fact or fact in hit.sources:
            recalled = True
            well = well and (above or later in [each.turn for each in hit.later])
    tally.recalled += recalled
    return well


async def measure(content: dict[str, Any], limit: int | None, *, perfect: bool, why: bool) -> Tally:
    """All pairs of a file."""
    home, settings = Home.resolve(writing=False), Settings()
    loaded = await asyncio.to_thread(llama_embedder_loader(home, settings), settings.embedder)
    lent = LoadedEmbedder(cast(Embedder, Lent(cast(Embedder, Remembering(loaded.embedder)))), loaded.key)
    tally, model = Tally(), Knowing() if perfect else None
    try:
        for number, pair in enumerate([*content["changes"][:limit], *content["additions"][:limit]], start=1):
            await ask(pair, content["filler"], lambda name: lent, tally, model=model, why=why)
            if number % 20 == 0:
                say(f"{number} pairs")
    finally:
        await loaded.embedder.close()
    return tally


def figures(tally: Tally) -> dict[str, float | int]:
    """Shares (0–1), and what they are of."""
    shares = {
        "newest_first": tally.newest_first / max(tally.changes, 1),
        "alone": 1 - tally.newest_first / max(tally.changes, 1),
        "retired": tally.retired / max(tally.additions, 1),
        "questioned": tally.questioned / max(tally.additions, 1),
        "revised_changes": tally.revised / max(tally.changes, 1),
        "questioned_changes": tally.questioned_changes / max(tally.changes, 1),
    }
    return {
        **{name: round(share, 4) for name, share in shares.items()},
        **{
            name: count
            for name, count in asdict(tally).items()
            if name in ("changes", "additions", "recalled", "lost", "failed")
        },
    }


def main() -> None:
    """Run the benchmark and print its figures."""
    parser = argparse.ArgumentParser(prog="python -m bench.changes", description=__doc__)
    parser.add_argument("path", type=Path, nargs="?", default=FILE, help="a JSON file of changes, additions and filler")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--perfect", action="store_true", help="with a scripted model that knows what changes")
    parser.add_argument("--limit", type=int, help="so many changes and additions")
    parser.add_argument("--why", action="store_true", help="name what is amiss, on stderr")
    arguments = parser.parse_args()
    content = json.loads(arguments.path.read_text(encoding="utf-8"))
    found = figures(asyncio.run(measure(content, arguments.limit, perfect=arguments.perfect, why=arguments.why)))
    if arguments.json:
        print(json.dumps(found))
    else:
        for name, value in found.items():
            print(f"{name:<20}{value:>10}")


if __name__ == "__main__":
    main()
