"""Whether what was told is answered in a later chat: in the reply, or in the quotes that are read below it.

    python -m bench.told [PATH] [--json] [--why] [--seeds 1,2] [--limit N] [--only trusted|doubted] [--again]

The file has chats of messages, some with questions about what they tell and the words one of which an answer has. They
are told with their dates, two days between chats, and learned from without a chat model. Then every question is asked
in a chat of its own, by the Agent, with a real model (CLEW_MODEL, or the smallest) and embedder: once as with a model
that passed the probe (`trusted`: up to five quotes) and once as with one that failed it (`doubted`: at most three). A
seed is a run over all of it.

`reply`: the reply has the answer; `quotes`: what is read below it has (under `trusted` it stands folded: what would be
read there); `either`: one of the two. Replies end after MOST_TOKENS. With `--again` every question was asked before, in
an earlier chat, and got a reply without an answer: neither may stand in the way of what answers it.
"""

import argparse
import asyncio
import json
import re
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, Literal, cast, get_args

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from agent.events import RecallDone, ReplyEnded
from agent.home import Home
from agent.model_host import EmbedderLoader, LoadedEmbedder, llama_embedder_loader, llama_loader
from agent.reflection.trust import VERSION
from agent.relevance import open_quotes
from agent.settings import Settings
from bench.expected import plain
from bench.observations import WITHOUT_REPLY, Lent, RecordingAgent
from bench.report import say
from graph.events import Event, Role, Sampling, SessionStarted, StopReason, TurnSaid
from graph.ids import as_ms, new_id
from models.protocols import Embedder, Generator

FILE = Path(__file__).with_name("told.json")
BETWEEN_CHATS = timedelta(days=2)
BETWEEN_MESSAGES = timedelta(minutes=3)
MOST_TOKENS = 96
Shape = Literal["trusted", "doubted"]
SCORES: dict[Shape, float] = {"trusted": 1.0, "doubted": 0.0}  # in the probe


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Question(_Part):
    """What is asked later; an answer has one of these words, which may go on: `bookbind` is in "a bookbinder"."""

    question: Annotated[str, Field(min_length=1)]
    answer: Annotated[tuple[str, ...], Field(min_length=1)]

    def answered_in(self, text: str) -> bool:
        """Whether a text has the answer; a word begins where it does, and a number ends there, too."""
        words = plain(text)
        return any(re.search(rf"(?<!\w){re.escape(way)}{NUMBER_ENDS}", words) for way in map(plain, self.answer))


NUMBER_ENDS = r"(?!(?<=\d)\d)"


class NodeWording(_Part):
    """A message, and what is asked about it later."""

    said: Annotated[str, Field(min_length=1)]
    asks: tuple[Question, ...] = ()


Chats = tuple[tuple[NodeWording, ...], ...]


def read(path: Path) -> Chats:
    """The chats of a file. Raises ValueError, with the place, for another one."""
    return TypeAdapter(Chats).validate_python(json.loads(path.read_text(encoding="utf-8"))["chats"])


@dataclass(slots=True)
class Tally:
    """What came of the questions in one shape of the prompt, and what is amiss."""

    asked: int = 0
    reply: int = 0
    quotes: int = 0
    either: int = 0
    prompt_tokens: int = 0
    amiss: list[str] = field(default_factory=list)

    def add(self, question: Question, recalled: RecallDone, ended: ReplyEnded) -> None:
        """Count one answer."""
        shown = [hit.text for hit in open_quotes(recalled.hits, question.question)]
        replied, quoted = question.answered_in(ended.text), question.answered_in("\n".join(shown))
        self.asked += 1
        self.reply += replied
        self.quotes += quoted
        self.either += replied or quoted
        self.prompt_tokens += ended.prompt_tokens
        if not replied or not quoted:
            self.amiss.append(f"{question.question} · {' '.join(ended.text.split())[:100]!r} · {shown}")

    def figures(self) -> dict[str, float | int]:
        """The shares in percent, and the prompt's mean size."""
        shares = {name: round(100 * getattr(self, name) / self.asked, 1) for name in ("reply", "quotes", "either")}
        return {"asked": self.asked, **shares, "prompt_tokens": round(self.prompt_tokens / self.asked)}


async def ask(
    chats: Chats,
    shape: Shape,
    model: Generator,
    embedder: EmbedderLoader,
    tally: Tally,
    *,
    seed: int,
    again: bool = False,
) -> None:
    """Tell everything in a memory of its own, then ask every question in a chat of its own; or ask it `again`."""
    questions = [question for chat in chats for told in chat for question in told.asks]
    before: Chats = tuple((NodeWording(said=each.question),) for each in questions) if again else ()
    with tempfile.TemporaryDirectory(prefix="clew-bench-") as folder:
        home = Home.resolve(Path(folder))
        home.trusted.write_text(json.dumps({f"{VERSION}:{model.state_key}": SCORES[shape]}))
        agent = RecordingAgent(
            home,
            Settings(reflect=False, tools="off", kv_mb=0),
            client="bench",
            loader=lambda name, progress: cast(Generator, Lent(model)),
            embedder_loader=embedder,
        )
        await agent.start()
        try:
            await asyncio.to_thread(agent.store.append, *telling((*chats, *before), now=datetime.now(UTC)))
            await agent.idle()
            await agent.reflection.run(by_model=False)
            await agent.models.embedder_ready()
            await agent.idle()
            for number, question in enumerate(questions, start=1):
                recalled, ended = None, None
                # One seed for all would draw the first token of all alike: a bad draw would count sixty times.
                sampling = Sampling(seed=seed * len(questions) + number, max_tokens=MOST_TOKENS)
                session = await agent.chats.configure(None, sampling=sampling)
                async for event in agent.send(session, question.question):
                    recalled = event if isinstance(event, RecallDone) else recalled
                    ended = event if isinstance(event, ReplyEnded) else ended
                assert recalled is not None, question
                assert ended is not None, question
                tally.add(question, recalled, ended)
                if number % 20 == 0:
                    say(f"{shape}, seed {seed}: {number} of {len(questions)}")
        finally:
            await agent.close()


def telling(chats: Chats, *, now: datetime) -> list[Event]:
    """The chats as they come into a memory, the last one BETWEEN_CHATS ago."""
    events: list[Event] = []
    for number, chat in enumerate(chats):
        session, last = new_id(), None
        at = now - BETWEEN_CHATS * (len(chats) - number)
        events.append(SessionStarted(session=session, client="bench"))
        for told in chat:
            for role, text in ((Role.USER, told.said), (Role.ASSISTANT, WITHOUT_REPLY)):
                turn = TurnSaid(
                    turn=new_id(),
                    session=session,
                    parent=last,
                    role=role,
                    speaker="you" if role is Role.USER else "assistant",
                    client="bench",
                    stop_reason=StopReason.END if role is Role.ASSISTANT else None,
                    said_at=as_ms(at),
                    text=text,
                )
                last = turn.turn
                events.append(turn)
            at += BETWEEN_MESSAGES
    return events


async def measure(
    chats: Chats, shapes: Sequence[Shape], seeds: Sequence[int], *, again: bool = False
) -> dict[Shape, Tally]:
    """All shapes of the prompt with the real models."""
    home, settings = Home.resolve(writing=False), Settings()
    loaded = await asyncio.to_thread(llama_embedder_loader(home, settings), settings.embedder)
    lent = LoadedEmbedder(cast(Embedder, Lent(loaded.embedder)), loaded.key)
    model = await asyncio.to_thread(llama_loader(home, settings), settings.model, lambda progress: None)
    tallies = {shape: Tally() for shape in shapes}
    try:
        for seed in seeds:
            for shape, tally in tallies.items():
                await ask(chats, shape, model, lambda name: lent, tally, seed=seed, again=again)
    finally:
        await model.close()
        await loaded.embedder.close()
    return tallies


def show(tallies: dict[Shape, Tally]) -> None:
    """The figures side by side."""
    rows = {shape: tally.figures() for shape, tally in tallies.items()}
    print(f"{'':<16}" + "".join(f"{shape:>10}" for shape in rows))
    for name in next(iter(rows.values())):
        print(f"{name:<16}" + "".join(f"{row[name]:>10}" for row in rows.values()))


def main() -> None:
    """Run the benchmark and print its figures."""
    parser = argparse.ArgumentParser(prog="python -m bench.told", description=__doc__)
    parser.add_argument("path", type=Path, nargs="?", default=FILE, help="a JSON file of chats with questions")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--why", action="store_true", help="name what is amiss, on stderr")
    parser.add_argument("--seeds", default="1", help="of the sampling, with commas; a run each")
    parser.add_argument("--limit", type=int, help="only the first chats")
    parser.add_argument("--again", action="store_true", help="every question was asked before")
    parser.add_argument("--only", choices=get_args(Shape), help="one shape of the prompt")
    arguments = parser.parse_args()
    shapes: Sequence[Shape] = get_args(Shape) if arguments.only is None else [arguments.only]
    seeds = [int(seed) for seed in arguments.seeds.split(",")]
    tallies = asyncio.run(measure(read(arguments.path)[: arguments.limit], shapes, seeds, again=arguments.again))
    if arguments.why:
        for shape, tally in tallies.items():
            for line in tally.amiss:
                say(f"{shape}: {line}")
    if arguments.json:
        print(json.dumps({shape: tally.figures() for shape, tally in tallies.items()}))
    else:
        show(tallies)


if __name__ == "__main__":
    main()
