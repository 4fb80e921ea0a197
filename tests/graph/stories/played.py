"""Short ways to play in a memory: a story with you and Mara, what they say, and what stands on their stage."""

from typing import Any

from graph.events import CastSet, Event, Role, SessionStarted, StopReason, StoryBegun, TurnSaid
from graph.memory import Memory
from tests.graph.talk import said

STORY, CHAT = "lighthouse", "play"
YOU, MARA, JONAS = "m-you", "m-mara", "m-jonas"
BOTH, ALL = (YOU, MARA), (YOU, MARA, JONAS)


def begun(world: str = STORY, session: str = CHAT, *, you: str = YOU, host: str = MARA) -> list[Event]:
    """A story with two, and a chat of it in which nothing was said."""
    return [
        StoryBegun(world=world, text="The Lighthouse"),
        CastSet(world=world, member=you, seat="you", text="Ilya"),
        CastSet(world=world, member=host, seat="host", text="Mara"),
        SessionStarted(session=session, world=world, client="test"),
    ]


def asks(
    turn: str, parent: str | None = None, *, saw: tuple[str, ...] = BOTH, session: str = CHAT, **more: Any
) -> TurnSaid:
    """You say something in a story; its text is its id unless given."""
    return said(turn, session, parent=parent, **{"speaker": YOU, "witnesses": saw, **more})


def answers(
    turn: str, parent: str | None = None, *, saw: tuple[str, ...] = BOTH, session: str = CHAT, **more: Any
) -> TurnSaid:
    """Mara says something, unless another `speaker` is given."""
    spoken: dict[str, Any] = {
        "role": Role.ASSISTANT,
        "speaker": MARA,
        "stop_reason": StopReason.END,
        "witnesses": saw,
        **more,
    }
    return said(turn, session, parent=parent, **spoken)


def play(memory: Memory, turns: int, session: str = CHAT, saw: tuple[str, ...] = BOTH) -> list[str]:
    """A story of `turns` turns, yours and Mara's by turns; their ids are p0, p1 …"""
    ids = [f"p{number}" for number in range(turns)]
    memory.append(
        *begun(session=session),
        *(
            (asks if number % 2 == 0 else answers)(id, ids[number - 1] if number else None, session=session, saw=saw)
            for number, id in enumerate(ids)
        ),
    )
    return ids


def seated(memory: Memory, session: str = CHAT, *, at: str | None = None) -> dict[str, str]:
    """Who has which seat, by name."""
    return {member.seat: member.name for member in memory.readings.cast(session, at=at)}


def stands(memory: Memory, session: str = CHAT, *, at: str | None = None) -> dict[tuple[str, str], str | None]:
    """What is on a stage, but for seats and resets."""
    lines = memory.readings.stage(session, at=at)
    return {key: line.text for key, line in lines.items() if line.value is None and key[1] not in ("seat", "reset")}


def view(memory: Memory, member: str, session: str = CHAT) -> list[str]:
    """The turns of a chat that a member saw."""
    return [turn.id for turn in memory.readings.thread(session, witness=member)]
