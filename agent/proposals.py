"""What other programs propose to remember: candidates for the user's review, never words of the user.

Invariants: the proof of a proposal is the call by which it was made, a turn of role tool in a session of its own, said
by the program under a name that no person and no assistant has. So it is evidence of nothing, reflection never reads
it, and it is not recalled; what the user takes into use of it is, as a memory. A proposal adds nothing to what is known
already, and what the user rejected is not proposed again.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

from graph.events import (
    MAIN_WORLD,
    Event,
    ObservationKind,
    ObservationMade,
    Role,
    SessionStarted,
    SessionTitled,
    TurnSaid,
)
from graph.ids import new_id
from graph.memory import Memory
from graph.values import Observation, Wanted

from .errors import AgentError
from .events import Notice, Proposed
from .memories import Memories, statement
from .notes import guess_kind, same
from .recorder import Recorder

CLIENT = "mcp"
TITLE = "Proposals from other programs"
NAMELESS = "another program"
LONGEST_NAME = 40
MOST_WAITING = 200  # in the review queue: one that is full is not read
CONFIDENCE = 0.5

Outcome = Literal["waits", "in use", "known", "waits already", "rejected before"]


@dataclass(frozen=True, slots=True)
class Proposal:
    """What became of a proposal; `memory` is what was made, or what says the same already."""

    outcome: Outcome
    memory: Observation


class Proposals:
    """Takes proposals."""

    def __init__(self, memory: Memory, memories: Memories, recorder: Recorder, tell: Callable[[Notice], None]) -> None:
        self._memory = memory
        self._memories = memories
        self._recorder = recorder
        self._tell = tell

    async def add(
        self,
        text: str,
        *,
        by: str,
        kind: ObservationKind | None = None,
        project: str | None = None,
        in_use: bool = False,
    ) -> Proposal:
        """Take what a program says is to be remembered, of a project or of none, for review or (`in_use`) at once.

        Raises EmptyMessage, AgentError for a text that is too long or a review queue that is full, and GraphFailure;
        then nothing was stored.
        """
        said = statement(text)
        async with self._recorder.changing:
            now = datetime.now(UTC)
            near = await asyncio.to_thread(
                self._memory.readings.memories, Wanted(text=said, world=MAIN_WORLD, everything=True), now=now
            )
            again = [each for each in near if each.project == project and same(said, each.text)]
            if (known := _known(again)) is not None:
                return known
            if not in_use and len(await self._memories.review(limit=MOST_WAITING)) >= MOST_WAITING:
                raise AgentError(
                    f"{MOST_WAITING} memories are already waiting for the user's review. Nothing was stored. "
                    "Propose it again after the user has reviewed some (`clew review`)."
                )
            events = await asyncio.to_thread(self._proposing, said, program_name(by), kind, project, in_use)
            await self._recorder.record(*events)
            made = (await self._memories.story(_made(events))).observation
            if not in_use:
                waiting = len(await self._memories.review(limit=MOST_WAITING))
                self._tell(Proposed(made.id, said, program_name(by), waiting))
            return Proposal("in use" if in_use else "waits", made)

    def _proposing(
        self, said: str, by: str, kind: ObservationKind | None, project: str | None, in_use: bool
    ) -> list[Event]:
        """The call as a turn, its session where that is not there yet, and the observation."""
        session, parent = self._memory.readings.notes_session(project, client=CLIENT), None
        events: list[Event] = []
        if session is None:
            session = new_id()
            events.append(SessionStarted(session=session, project=project, client=CLIENT))
            events.append(SessionTitled(session=session, sources=(), text=TITLE))
        else:
            parent = self._memory.readings.session(session).head
        called = TurnSaid(
            turn=new_id(),
            session=session,
            parent=parent,
            role=Role.TOOL,
            speaker=by,
            client=CLIENT,
            text=f'remember(text="{said}")',
        )
        id = new_id()
        made = ObservationMade(
            observation=id,
            series=id,
            project=project,
            category=kind or guess_kind(said),
            status="active" if in_use else "candidate",
            confidence=CONFIDENCE,
            grounded=False,
            origin="model",
            sources=(called.turn,),
            text=said,
        )
        return [*events, called, made]


def program_name(given: str) -> str:
    """What a program is called as a speaker, whatever it calls itself: never the name of a person or of clew."""
    kept = " ".join("".join(char if char.isprintable() else " " for char in given).split())[:LONGEST_NAME].strip()
    return f"{kept or NAMELESS} (over MCP)"


def _known(same: list[Observation]) -> Proposal | None:
    """What says the same already, the one in use first; what was replaced by a later form stands in no one's way."""
    outcomes: dict[str, Outcome] = {"active": "known", "candidate": "waits already", "invalid": "rejected before"}
    for status, outcome in outcomes.items():
        for each in same:
            if each.status == status and (each.current or status == "invalid"):
                return Proposal(outcome, each)
    return None


def _made(events: list[Event]) -> str:
    return next(event.observation for event in events if isinstance(event, ObservationMade))
