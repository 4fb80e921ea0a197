"""Builds the demo's memory in an empty home, out of story.toml and lighthouse.toml: `python -m demo.memory FOLDER`.

The times are those of the story, counted back from now, so that what is called new or strengthening is so on any day.
"""

import argparse
import os
import sys
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

from agent.home import Home
from demo.fiction import Fiction
from graph.errors import MemoryFailure
from graph.events import (
    CoreWritten,
    EntityNoted,
    Event,
    HeadMoved,
    ObservationMade,
    ObservationSupported,
    PinSet,
    Recalled,
    ReflectionDone,
    Role,
    SessionForked,
    SessionRenamed,
    SessionStarted,
    SessionTitled,
    StopReason,
    TurnRated,
    TurnSaid,
)
from graph.ids import new_id, now_ms
from graph.memory import Memory

STORY = Path(__file__).with_name("story.toml")
MODEL = "smollm2-135m"
DAY_MS, EXCHANGE_MS, REPLY_MS = 86_400_000, 240_000, 4_000
MS_PER_TOKEN, FIRST_TOKEN_MS, CHARACTERS_PER_TOKEN = 28.0, 310.0, 4
NAME = "Without Wren"
WHAT_IF = "And if I had never bought the boat?"
TOLD = "Then you would still live in Munich, and the harbour of Cascais would have one leak less."


class DemoFailed(Exception):
    """There is something in the folder already, which a demo must not be mixed with."""


@dataclass
class Story:
    """What was made of the story so far: the turns of each exchange and the memories, by their keys."""

    told: Mapping[str, Any]
    now: int
    asked: dict[str, str] = field(default_factory=dict)
    answered: dict[str, str] = field(default_factory=dict)
    sessions: dict[str, str] = field(default_factory=dict)
    made: dict[str, ObservationMade] = field(default_factory=dict)

    def events(self) -> Iterator[list[Event]]:
        """All of it, what belongs together in one list."""
        for chat in self.told["chat"]:
            yield from self._chat(chat)
        for memory in self.told["memory"]:
            yield self._memory(memory)
        yield [CoreWritten(block=each["name"], by="user", text=each["text"]) for each in self.told["block"]]
        yield self._versions()
        yield self._what_if()

    def _chat(self, chat: Mapping[str, Any]) -> Iterator[list[Event]]:
        session, at, parent = new_id(), self.now - int(chat["days"]) * DAY_MS, None
        yield [SessionStarted(session=session, client="chat", said_at=at)]
        for exchange in chat["exchange"]:
            turn, reply = new_id(), new_id()
            key = exchange["key"]
            self.asked[key], self.answered[key], self.sessions[key] = turn, reply, session
            yield [
                self._asked(turn, session, parent, at, exchange["you"]),
                self._reply(reply, session, turn, at + REPLY_MS, exchange),
                *self._noted(turn, exchange),
                ReflectionDone(reflection=new_id(), turns=(turn, reply), trust="verbatim"),
            ]
            parent, at = reply, at + EXCHANGE_MS
        yield [SessionTitled(session=session, sources=(self.asked[chat["exchange"][0]["key"]],), text=chat["title"])]

    def _asked(self, turn: str, session: str, parent: str | None, at: int, text: str) -> TurnSaid:
        return TurnSaid(
            turn=turn,
            session=session,
            parent=parent,
            role=Role.USER,
            speaker="you",
            client="chat",
            said_at=at,
            text=text,
        )

    def _reply(self, reply: str, session: str, turn: str, at: int, exchange: Mapping[str, Any]) -> TurnSaid:
        text = exchange["reply"]
        tokens = max(1, len(text) // CHARACTERS_PER_TOKEN)
        first = FIRST_TOKEN_MS + 40 * len(exchange.get("recalled", ()))
        return TurnSaid(
            turn=reply,
            session=session,
            parent=turn,
            role=Role.ASSISTANT,
            speaker="assistant",
            client="chat",
            stop_reason=StopReason.END,
            model=MODEL,
            prompt_tokens=600 + 2 * tokens,
            evaluated_tokens=60 + tokens,
            completion_tokens=tokens,
            first_token_ms=first,
            total_ms=first + tokens * MS_PER_TOKEN * (1 + len(self.asked) % 5 / 10),
            recalled=tuple(
                Recalled(
                    id=self.asked[key],
                    score=2.4 - 0.5 * place,
                    ranks={"lexical": place + 1, "semantic": 2 * place + 1},
                    boosts={"recency": 0.04},
                )
                for place, key in enumerate(exchange.get("recalled", ()))
            ),
            said_at=at,
            text=text,
        )

    def _noted(self, turn: str, exchange: Mapping[str, Any]) -> Iterator[Event]:
        for name, _, category in (each.partition(":") for each in exchange.get("names", ())):
            yield EntityNoted(entity=name, category=category, by_turn=turn, text=name)
        yield TurnRated(turn=turn, significance=exchange.get("rated", 0), by="rule")

    def _memory(self, told: Mapping[str, Any]) -> list[Event]:
        before = self.made.get(told.get("after", ""))
        id = new_id()
        made = ObservationMade(
            observation=id,
            series=before.series if before else id,
            supersedes=before.observation if before else None,
            about=tuple(told.get("about", ())),
            category=told["kind"],
            status=told.get("status", "active"),
            confidence=told.get("confidence", 0.85),
            grounded=True,
            origin="model",
            sources=(*(before.sources if before else ()), *(self.asked[key] for key in told["from"])),
            text=told["text"],
        )
        self.made[told["key"]] = made
        supports = [ObservationSupported(observation=id, source=self.asked[key]) for key in told.get("supports", ())]
        return [made, *supports, *([PinSet(observation=id)] if told.get("pinned") else [])]

    def _versions(self) -> list[Event]:
        """Another reply in the middle of the newest chat, which goes on from the first one: ‹1/2›."""
        before, last = self.told["chat"][-1]["exchange"][-2:]
        turn, session = self.asked[before["key"]], self.sessions[before["key"]]
        other = {**before, "reply": "An orange cake with polenta keeps well, and needs no icing."}
        said = self._reply(new_id(), session, turn, self.now - DAY_MS + 2 * EXCHANGE_MS, other)
        return [said, HeadMoved(session=session, turn=self.answered[last["key"]])]

    def _what_if(self) -> list[Event]:
        """A what-if that leaves the first chat."""
        session, world, turn, reply = new_id(), new_id(), new_id(), new_id()
        at = self.now - 5 * DAY_MS
        origin, fork = self.sessions["boat"], self.answered["boat"]
        return [
            SessionForked(session=session, origin=origin, at=fork, world=world, client="chat"),
            SessionRenamed(session=session, text=NAME),
            self._asked(turn, session, fork, at, WHAT_IF),
            self._reply(reply, session, turn, at + REPLY_MS, {"reply": TOLD}),
            ReflectionDone(reflection=new_id(), turns=(turn, reply), trust="verbatim"),
        ]


def build(home: Home) -> None:
    """Put the demo into a home that has no memory yet. Raises DemoFailed or MemoryFailure."""
    if (home.memory / "log.sqlite").exists():
        raise DemoFailed(f"There is already a memory in {home.root}. It was not changed. Name an empty folder.")
    now = now_ms()
    story = Story(tomllib.loads(STORY.read_text(encoding="utf-8")), now)
    with closing(Memory.open(home.memory, command="clew (demo)")) as memory:
        for events in chain(Fiction.read(now).events(), story.events()):
            memory.append(*events)
        memory.open_graph(lambda _: None)


def main() -> int:
    """The command line of this module."""
    parser = argparse.ArgumentParser(prog="python -m demo.memory", description=__doc__)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    os.umask(0o077)
    try:
        build(Home.resolve(folder))
    except (DemoFailed, MemoryFailure) as error:
        print(error, file=sys.stderr)
        return 1
    print(f"The demo is in {folder}: clew --home {folder}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
