"""The story of the demo, out of lighthouse.toml: its chat as it was played, scene by scene, each with who was there."""

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agent.story.cards import Card, card_json
from agent.story.play import ABSENT, CARD, PRESENT, WORLD
from agent.story.plots import ACTIVE, PLANNED, PLOT
from agent.story.scenes import CLOSED, OPEN, SCENE, STATE, TITLE, summary
from agent.story.ties import SUMMARY, TRUST, pair
from agent.story.voice import SCENARIO
from graph.events import (
    CastSet,
    Event,
    Role,
    SessionRenamed,
    SessionStarted,
    StageSet,
    StopReason,
    StoryBegun,
    TurnRated,
    TurnSaid,
)
from graph.ids import as_datetime, new_id
from graph.values import Turn

LIGHTHOUSE = Path(__file__).with_name("lighthouse.toml")
DAY_MS, LINE_MS, SCENE_MS = 86_400_000, 60_000, 7_200_000
SEATS = ("you", "host", "guest")


@dataclass
class Fiction:
    """A story as it is told in the file, `now` in UTC milliseconds."""

    told: Mapping[str, Any]
    now: int
    world: str = field(default_factory=new_id)
    session: str = field(default_factory=new_id)
    members: dict[str, str] = field(default_factory=lambda: {seat: new_id() for seat in SEATS})
    last: str | None = None  # the last turn

    @classmethod
    def read(cls, now: int) -> "Fiction":
        return cls(tomllib.loads(LIGHTHOUSE.read_text(encoding="utf-8")), now)

    def events(self) -> Iterator[list[Event]]:
        """All of it, what belongs together in one list."""
        at = self.now - int(self.told["days"]) * DAY_MS
        yield self._begun(at)
        here = set(SEATS)
        scenes = self.told["scene"]
        for number, scene in enumerate(scenes):
            at += SCENE_MS
            yield from self._scene(scene, at, here, closes=number + 1 < len(scenes))
            here = set(scene["present"])
        yield [event for plot in self.told["plot"] for event in self._plot(plot)]

    def _begun(self, at: int) -> list[Event]:
        names = {"you": self.told["you"], "host": self.told["host"]["name"], "guest": self.told["guest"]["name"]}
        events: list[Event] = [StoryBegun(world=self.world, text=self.told["name"])]
        for seat in SEATS:
            place = {"world": self.world, "member": self.members[seat], "seat": seat, "text": names[seat]}
            events.append(CastSet.model_validate(place))
            if seat != "you":
                card = Card(**{key: value.strip() for key, value in self.told[seat].items()})
                events.append(self._set(self.members[seat], CARD, card_json(card).decode()))
        return [
            *events,
            self._set(WORLD, SCENARIO, self.told["scenario"]),
            SessionStarted(session=self.session, world=self.world, client="chat", said_at=at),
            SessionRenamed(session=self.session, text=self.told["name"]),
        ]

    def _scene(self, scene: Mapping[str, Any], at: int, here: set[str], *, closes: bool) -> Iterator[list[Event]]:
        id, there = new_id(), set(scene["present"])
        events: list[Event] = [
            self._set(f"{SCENE}{id}", TITLE, scene["title"]),
            self._set(f"{SCENE}{id}", STATE, OPEN),
            self._set(WORLD, "scene", scene["title"]),
            *(self._set(WORLD, each, scene[each]) for each in ("place", "clock", "weather") if each in scene),
            *(self._set(self.members[seat], PRESENT, ABSENT) for seat in sorted(here - there)),
            *(self._set(self.members[seat], PRESENT, None) for seat in sorted(there - here)),
        ]
        yield events
        said: list[tuple[TurnSaid, int]] = []
        for number, line in enumerate(scene["lines"]):
            turn = self._line(line, there, at + number * LINE_MS)
            said.append((turn, line.get("rated", 0)))
            self.last = turn.turn
            yield [turn, TurnRated(turn=turn.turn, significance=line.get("rated", 0), by="rule")]
        for tie in scene.get("ties", ()):
            owner = pair(self.members[tie["of"]], self.members[tie["to"]])
            yield [self._set(owner, TRUST, f"={tie['trust']}"), self._set(owner, SUMMARY, tie["because"])]
        if closes:
            yield [self._set(f"{SCENE}{id}", STATE, CLOSED), *self._remembered(id, scene["title"], said)]

    def _line(self, line: Mapping[str, Any], there: set[str], at: int) -> TurnSaid:
        who = line["by"]
        spoken = who != "you"
        hearers = there if not line.get("whisper") else {"you", "host"}
        addressed = line.get("to", "host" if "host" in there else "guest")
        return TurnSaid(
            turn=new_id(),
            session=self.session,
            parent=self.last,
            role=Role.ASSISTANT if spoken else Role.USER,
            speaker=self.members[who],
            client="chat",
            stop_reason=StopReason.END if spoken else None,
            addressed=None if spoken else self.members[addressed],
            witnesses=tuple(self.members[seat] for seat in SEATS if seat in hearers),
            said_at=at,
            text=line["text"],
        )

    def _remembered(self, scene: str, title: str, said: list[tuple[TurnSaid, int]]) -> Iterator[Event]:
        """What each of those who were there keeps of a scene."""
        names = {self.members["you"]: self.told["you"]} | {
            self.members[seat]: self.told[seat]["name"] for seat in ("host", "guest")
        }
        for seat in ("host", "guest"):
            member = self.members[seat]
            seen = [(turn, rated) for turn, rated in said if member in (turn.witnesses or ())]
            if seen:
                turns = [_as_turn(turn, names[turn.speaker]) for turn, _ in seen]
                words = summary(title, turns, {turn.turn: rated for turn, rated in seen})
                sources = tuple(turn.turn for turn, _ in seen)
                yield self._set(member, f"{SCENE}{scene}", words).model_copy(update={"by": "rule", "sources": sources})

    def _plot(self, plot: Mapping[str, Any]) -> Iterator[Event]:
        owner, thread = f"{PLOT}{new_id()}", plot.get("thread", False)
        yield self._set(owner, "title", plot["title"])
        yield self._set(owner, "sort", "thread" if thread else "event")
        yield self._set(owner, "state", ACTIVE if thread else PLANNED)
        for aspect in ("trigger", "props"):
            if aspect in plot:
                yield self._set(owner, aspect, plot[aspect])

    def _set(self, owner: str, aspect: str, text: str | None) -> StageSet:
        return StageSet(world=self.world, owner=owner, aspect=aspect, after=self.last, text=text)


def _as_turn(said: TurnSaid, name: str) -> Turn:
    """What was said, as a reading tells it."""
    return Turn(
        id=said.turn,
        session=said.session,
        parent=said.parent,
        index=0,
        role=said.role,
        speaker=name,
        text=said.text,
        at=as_datetime(said.said_at or 0),
        client=said.client,
    )
