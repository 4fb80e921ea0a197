"""Short ways to say things into a memory."""

from datetime import UTC, datetime

from graph.events import Role, StopReason, TurnSaid
from graph.memory import Memory
from tests.graph.deeds import begin

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def said(
    turn: str, session: str = "s", *, parent: str | None = None, text: str | None = None, **more: object
) -> TurnSaid:
    """A user turn; its text is its id unless given."""
    fields: dict[str, object] = {
        "turn": turn,
        "session": session,
        "parent": parent,
        "role": Role.USER,
        "speaker": "you",
        "client": "test",
        "text": turn if text is None else text,
    }
    return TurnSaid.model_validate({**fields, **more})


def reply(turn: str, session: str = "s", *, parent: str | None, text: str | None = None, **more: object) -> TurnSaid:
    """A reply that ended by itself."""
    fields: dict[str, object] = {"role": Role.ASSISTANT, "speaker": "assistant", "stop_reason": StopReason.END}
    return said(turn, session, parent=parent, text=text, **{**fields, **more})


def talk(memory: Memory, turns: int, session: str = "s") -> list[str]:
    """A session of `turns` turns, users and replies by turns; their ids are s0, s1 …"""
    ids = [f"{session}{number}" for number in range(turns)]
    events = [
        (said if number % 2 == 0 else reply)(id, session, parent=ids[number - 1] if number else None)
        for number, id in enumerate(ids)
    ]
    memory.append(begin(session), *events)
    return ids
