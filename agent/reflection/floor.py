"""What is learned without a model that can be trusted: people's own sentences about themselves, word for word.

Sparse and true rather than rich and false. A later sentence of the same kind, where there is one value at a time,
revises the earlier one; what a person takes back is retired; what is said again counts as proof.
"""

from collections.abc import Awaitable, Callable

from graph.beliefs import Near, Observation
from graph.values import Turn

from .applying import newer
from .correcting import corrects
from .likeness import says_the_same
from .making import Draft, speaks_of
from .material import YOU
from .statements import Statement, slots_of, statements

CONFIDENCE = 0.8
FindNear = Callable[[str], Awaitable[list[Near]]]


async def keep_statements(draft: Draft, near: FindNear) -> None:
    """Every sentence of the draft's turns in which someone describes themselves becomes events."""
    for turn in draft.material.said:
        for statement in latest(statements(turn.text or "", turn=turn.id)):
            await _keep(draft, turn, statement, near)


def latest(found: list[Statement]) -> list[Statement]:
    """Of sentences of one turn about the same slot, only the last one where it changes the others."""
    return [
        each
        for at, each in enumerate(found)
        if each.slot is None or not any(later.slot == each.slot and later.cue != "new" for later in found[at + 1 :])
    ]


async def _keep(draft: Draft, turn: Turn, statement: Statement, near: FindNear) -> None:
    text = statement.text if turn.speaker == YOU else f"{turn.speaker}: {statement.text}"
    known = [each for each in await near(text) if speaks_of(each.observation, turn.speaker)]
    for each in known:
        if says_the_same(text, each.observation.text or "", each.cosine or None):
            draft.outcome.skipped += not draft.support(each.observation, [turn.id])
            return
    old = _revised(statement, turn, [each.observation for each in known])
    if old is not None and not newer([turn], old):
        draft.outcome.skipped += 1
        return
    if old is not None and statement.cue == "correction":
        draft.outcome.deleted += draft.retire(old, turn.id)
    made = draft.make(text, category=statement.category, confidence=CONFIDENCE, sources=[turn.id], supersedes=old)
    draft.outcome.created += made and old is None
    draft.outcome.updated += made and old is not None
    draft.outcome.skipped += not made


def _revised(statement: Statement, turn: Turn, known: list[Observation]) -> Observation | None:
    """What a statement revises: what has its slot, or what its words correct."""
    for each in known:
        if statement.slot is not None and statement.slot in slots_of(each.text or ""):
            return each
    if statement.cue == "new":
        return None
    return next((each for each in known if corrects(turn.text or "", each.text or "")), None)
