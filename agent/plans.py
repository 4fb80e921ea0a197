"""What a change by hand would do, in the very items: the one plan that a preview shows and the effect carries out.

What changes is rehearsed on log and graph (graph/history/rehearsing.py); which of it is told as lost, fallen back or
returning is decided here, and what stays although it says the same words is looked up beside it.
"""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field

from graph.events import (
    MAIN_WORLD,
    DocumentRemoved,
    Event,
    ObservationDeleted,
    SessionDeleted,
    TurnDeleted,
    TurnHidden,
    TurnUnhidden,
)
from graph.memory import Memory
from graph.values import Both, Impact, Observation, Rehearsal, RevisionStanding, Turn, World, WorldImpact

ERASING = (TurnDeleted, ObservationDeleted, DocumentRemoved, SessionDeleted)


@dataclass(frozen=True, slots=True)
class Plan:
    """A change that can be carried out: `what` it is in words, the events of it, and what they do.

    `notes` say what else is to be known before it happens: what stays, what is put back.
    """

    what: str
    events: tuple[Event, ...]
    impact: Impact
    notes: tuple[str, ...] = ()
    rehearsal: Rehearsal = field(default_factory=lambda: Rehearsal({}, {}), repr=False)


def plan(memory: Memory, what: str, events: Iterable[Event], notes: Iterable[str] = ()) -> Plan:
    """The plan of some events that would be appended together. Raises InvalidEvent or GraphFailure."""
    listed = tuple(events)
    rehearsal = memory.history.rehearse(*listed)
    return Plan(what, listed, _impact(memory, listed, rehearsal), tuple(notes), rehearsal)


def _impact(memory: Memory, events: tuple[Event, ...], rehearsal: Rehearsal) -> Impact:
    gone, back = _turns(memory, events, rehearsal)
    going = {turn.id for turn in gone}
    here, worlds = acted_in(memory, events), memory.readings.worlds()
    changes = _changes(memory, rehearsal, [world.id for world in worlds] + [here])
    erased = tuple(memory.history.reach.erased_with(rehearsal.texts))
    forms = memory.history.reach.formed({id for each in changes.values() for id in each} | {form.id for form in erased})
    lost, fallen_back, returning = _beliefs(
        forms, changes[here], {e.series for e in events if isinstance(e, ObservationDeleted)}
    )
    left = {each.id for each in lost} | {old.id for old, _ in fallen_back} | {form.id for form in erased}
    erases = any(isinstance(event, ERASING) for event in events)
    hides = any(isinstance(event, TurnHidden) for event in events)
    seqs = (set(rehearsal.texts) if erases else set()) | (
        memory.history.reach.seqs_of(going) if erases or hides else set()
    )
    return Impact(
        gone=gone,
        back=back,
        lost=lost,
        fallen_back=fallen_back,
        returning=returning,
        weaker=_weaker(forms, changes[here], going),
        pins=_pins(memory, gone, lost),
        references=tuple(
            turn for turn in memory.history.reach.given(going | left | _pieces(memory, events)) if turn.id not in going
        ),
        quoting=tuple(memory.history.reach.quoting(seqs, but=going)) if seqs else (),
        backups=tuple(memory.backups.holding(rehearsal.texts)) if rehearsal.texts else (),
        erases=erases,
        world=here,
        elsewhere=tuple(_elsewhere(forms, changes, [world for world in worlds if world.id != here])),
        erased=erased,
        kept=frozenset(going - {e.turn for e in events if isinstance(e, TurnDeleted)}) if erases else frozenset(),
    )


def acted_in(memory: Memory, events: Iterable[Event]) -> str:
    """The world of the chats or memories that events are about, if that is one; else main."""
    found: set[str] = set()
    for event in events:
        session, turn = getattr(event, "session", None), getattr(event, "turn", None)
        if isinstance(event, ObservationDeleted):
            found |= {form.world for form in memory.history.reach.formed([event.series]).values()}
        elif session is not None:
            found.add(memory.readings.session(session).world)
        elif turn is not None:
            found.add(memory.readings.session(memory.readings.turn(turn).session).world)
    return found.pop() if len(found) == 1 else MAIN_WORLD


def _changes(memory: Memory, rehearsal: Rehearsal, worlds: Iterable[str]) -> dict[str, Both]:
    """How observations that are touched stand in every world, before and after: main's as the graph has them."""
    forms = memory.history.reach.formed(rehearsal.observations)
    own = {id: both for id, both in rehearsal.observations.items() if id in forms and forms[id].world == MAIN_WORLD}
    others = list(dict.fromkeys(world for world in worlds if world != MAIN_WORLD))
    return {MAIN_WORLD: own} | memory.recall.supposing(others, rehearsal.supposed, also=rehearsal.observations)


def _elsewhere(
    forms: dict[str, Observation], changes: dict[str, Both], worlds: Iterable[World]
) -> Iterator[WorldImpact]:
    """What changes in other worlds than the one acted in."""
    for world in worlds:
        lost, fallen_back, returning = _beliefs(forms, changes[world.id], ())
        if lost or fallen_back or returning:
            yield WorldImpact(world.id, world.name, lost, fallen_back, returning)


def _turns(
    memory: Memory, events: tuple[Event, ...], rehearsal: Rehearsal
) -> tuple[tuple[Turn, ...], tuple[Turn, ...]]:
    """The turns that leave, and those that return: what is live no more or again, and what is named by the events."""
    taken = {event.turn for event in events if isinstance(event, TurnDeleted | TurnHidden)}
    given = {event.turn for event in events if isinstance(event, TurnUnhidden)}
    already = memory.history.reach.deleted(taken | given)  # of these there is nothing left to take or to give
    gone = {id for id, (before, after) in rehearsal.turns.items() if before and not after} | (taken - already)
    back = {id for id, (before, after) in rehearsal.turns.items() if after and not before}
    back |= given - taken - already
    return tuple(memory.history.reach.turns(gone)), tuple(memory.history.reach.turns(back))


def _beliefs(
    forms: dict[str, Observation], changes: Both, forgotten: Collection[str]
) -> tuple[tuple[Observation, ...], tuple[tuple[Observation, Observation], ...], tuple[Observation, ...]]:
    """What is lost, what falls back to an earlier form, and what returns.

    A form whose place a later one takes is neither: that one returns. All forms of what is forgotten are lost.
    """
    standing = {id: both for id, both in changes.items() if id in forms}
    left = [forms[id] for id, (before, after) in standing.items() if before.current and not after.current]
    came = {id for id, (before, after) in standing.items() if after.current and not before.current}
    lost, fallen_back = [], []
    for form in sorted(left, key=lambda each: each.at):
        earlier = _earlier(form, forms, came)
        if earlier is not None:
            fallen_back.append((form, earlier))
        elif not _superseded(standing[form.id]):
            lost.append(form)
    paired = {earlier.id for _, earlier in fallen_back}
    counted = {form.id for form in lost} | {form.id for form, _ in fallen_back}
    lost += [form for form in forms.values() if form.series in forgotten and form.text and form.id not in counted]
    returning = sorted((forms[id] for id in came - paired), key=lambda each: each.at)
    return tuple(sorted(lost, key=lambda each: each.at)), tuple(fallen_back), tuple(returning)


def _earlier(form: Observation, forms: dict[str, Observation], came: Collection[str]) -> Observation | None:
    """The nearest form before this one that is current again; whatever stands between them changes too."""
    before = form.supersedes
    while before is not None and before in forms:
        if before in came:
            return forms[before]
        before = forms[before].supersedes
    return None


def _superseded(both: tuple[RevisionStanding, RevisionStanding]) -> bool:
    return both[1].live and both[1].status == "superseded"


def _weaker(forms: dict[str, Observation], changes: Both, going: set[str]) -> tuple[Observation, ...]:
    """What stays believed, and has one of the turns that go among its proof."""
    stay = [forms[id] for id, (before, after) in changes.items() if before.current and after.current and id in forms]
    found = [form for form in stay if not going.isdisjoint((*form.sources, *form.supports))]
    return tuple(sorted(found, key=lambda each: each.at))


def _pins(memory: Memory, gone: Iterable[Turn], lost: Iterable[Observation]) -> tuple[str, ...]:
    by_themselves = {turn.id for turn in memory.readings.pinned()}
    turns = [turn.id for turn in gone if turn.pinned or turn.id in by_themselves]
    return (*turns, *(form.id for form in lost if form.pinned))


def _pieces(memory: Memory, events: Iterable[Event]) -> set[str]:
    """The pieces of the documents that are removed, those of earlier readings among them."""
    removed = [event.document for event in events if isinstance(event, DocumentRemoved)]
    return {piece for document in removed for piece in memory.readings.chunk_hashes(document).values()}
