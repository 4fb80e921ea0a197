"""Entities in the graph: whoever speaks or is named, what it is called, and whom a name means.

An entity is called what a person calls it by hand, else what the latest event with a text says that noted it; a speaker
is called what it speaks as. Whom something means that names an entity: another one where it was split off from that;
and where that is the same as another, that other one. Only what was said by hand in main counts here.
"""

from collections.abc import Callable
from typing import Any

from graph.events import CastSet, EntityAliased, EntityKinded, EntityNamed, EntityNoted, EntitySplit
from graph.events.codec import Stored
from graph.projection.sink import Sink, node

CHARACTER = "character"  # the kind of the members of a story's cast, which have ids apart from their names
NAMELESS = 0  # in `name_seq`, where all that named it was erased


def followed(told: str, split_off: Callable[[str], str | None], same_as: Callable[[str], str | None]) -> str:
    """Whom an entity leads to, over those that were split off from it and those that it is the same as."""
    here: str | None = told
    passed: set[str] = set()
    while here is not None:
        last = here
        here = split_off(last) if last not in passed else None
        passed.add(last)
        here = here or same_as(last)
    return last


def meant(sink: Sink, told: str, item: str | None = None) -> str:
    """Whom a turn or an observation means that names an entity; without an item, whom it means by itself."""

    def split_off(entity: str) -> str | None:
        if item is None or not node(sink, "Entity", entity)["split"]:
            return None
        return next(
            (other for other, each in sink.edges("SPLIT_FROM", entity, to="Entity") if each["item"] == item), None
        )

    def same_as(entity: str) -> str | None:
        there: str | None = node(sink, "Entity", entity)["same_as"]
        return there

    return followed(told, split_off, same_as)


def led_to(sink: Sink, *entities: str) -> list[str]:
    """All that some entities may lead to, whatever names them: where all that names them hangs."""
    found = list(dict.fromkeys(entities))
    for here in found:
        now = node(sink, "Entity", here)
        others = {other for other, _ in sink.edges("SPLIT_FROM", here, to="Entity")} if now["split"] else set[str]()
        found += [each for each in sorted({*others, now["same_as"] or here}) if each not in found]
    return found


def speaker(sink: Sink, name: str) -> None:
    """Whoever speaks is an entity, of a name that nothing erases."""
    known = sink.node("Entity", name)
    if known is None:
        kind = name if name in ("you", "assistant") else "person"
        sink.put_node("Entity", name, {"kind": kind, "noted_kind": kind, "name": name, "split": False})
    elif known["noted_seq"] is not None and known["noted_kind"] != CHARACTER:
        _learn(sink, name, name, None)


def cast(sink: Sink, stored: Stored, event: CastSet) -> None:
    """A member of a cast has a name, until another event gives it another."""
    if sink.node("Entity", event.member) is None:
        _put(sink, event.member, CHARACTER, None, NAMELESS)
    if event.text is not None:
        _learn(sink, event.member, event.text, stored.seq)


def lose_name(sink: Sink, entity: str, seq: int) -> None:
    """Take away what event `seq` called a member or an author, unless it was given another name later.

    A replay finds the event without its text already, and an earlier name in its place.
    """
    if node(sink, "Entity", entity)["noted_seq"] <= seq:
        _learn(sink, entity, None, NAMELESS)


def put_author(sink: Sink, author: str, name: str | None, seq: int) -> None:
    """Whoever wrote what a session refers to is there, and called so from here on."""
    if sink.node("Entity", author) is None:
        _put(sink, author, "person", None, NAMELESS)
    if name is not None:
        _learn(sink, author, name, seq)


def note(sink: Sink, stored: Stored, event: EntityNoted) -> None:
    """A turn names an entity; that it does so again adds nothing."""
    told, turn = event.entity, event.by_turn
    known = sink.node("Entity", told)
    if known is None:
        _put(sink, told, event.category, None, NAMELESS)
    means = meant(sink, told, turn)
    if known is not None and sink.has_rel("MENTIONS", turn, means, key=told):
        return
    sink.put_rel("MENTIONS", turn, means, {"seq": stored.seq, "told": told}, key=told)
    if event.text is not None and node(sink, "Entity", told)["noted_seq"] is not None:
        _learn(sink, told, event.text, stored.seq)


def name(sink: Sink, event: EntityNamed, seq: int) -> None:
    """A person says what it is called."""
    if event.text is None:
        _call_as_noted(sink, event.entity)
    else:
        sink.set_node("Entity", event.entity, {"name": event.text, "name_seq": seq})


def kind(sink: Sink, event: EntityKinded) -> None:
    """A person says what it is."""
    noted = node(sink, "Entity", event.entity)["noted_kind"]
    sink.set_node("Entity", event.entity, {"kind": event.category or noted})


def bear(sink: Sink, stored: Stored, event: EntitySplit | EntityAliased) -> None:
    """One that is split off, and an alias, is there from the first such event on."""
    new = event.other if isinstance(event, EntitySplit) else event.alias
    if sink.node("Entity", new) is None and event.entity is not None:
        kind = node(sink, "Entity", event.entity)["kind"]
        _put(sink, new, "person" if kind in ("you", "assistant") else kind, event.text, stored.seq)


def erase_noted(sink: Sink, event: EntityNoted, seq: int) -> None:
    """Take a name away if it is the last one noted; the latest other event that noted it, with a text, counts then."""
    told = event.entity
    if node(sink, "Entity", told)["noted_seq"] != seq:
        return
    found, by = None, NAMELESS
    edges = [each for here in led_to(sink, told) for _, each in sink.edges("MENTIONS", here, to="Entity")]
    for other in sorted((each["seq"] for each in edges if each["told"] == told), reverse=True):
        noted = sink.event(other)
        if isinstance(noted, EntityNoted) and noted.text is not None:
            found, by = noted.text, other
            break
    _learn(sink, told, found, by)


def erase_named(sink: Sink, event: EntityNamed | EntitySplit | EntityAliased, seq: int) -> None:
    """Take a name away that a person gave, if it is the one shown."""
    match event:
        case EntityNamed(entity=entity) | EntitySplit(other=entity) | EntityAliased(alias=entity):
            pass
    if node(sink, "Entity", entity)["name_seq"] == seq:
        _call_as_noted(sink, entity)


def _put(sink: Sink, entity: str, kind: str, name: str | None, seq: int) -> None:
    named = {"name": name, "name_seq": seq if name is not None else NAMELESS, "noted_seq": NAMELESS}
    sink.put_node("Entity", entity, {"kind": kind, "noted_kind": kind, "split": False, **named})


def _learn(sink: Sink, entity: str, name: str | None, seq: int | None) -> None:
    """What it is noted as; it is called so, unless a person calls it otherwise."""
    now = node(sink, "Entity", entity)
    called: dict[str, Any] = {"name": name, "name_seq": seq} if now["name_seq"] == now["noted_seq"] else {}
    sink.set_node("Entity", entity, {**called, "noted_seq": seq})


def _call_as_noted(sink: Sink, entity: str) -> None:
    seq = node(sink, "Entity", entity)["noted_seq"]
    noted = sink.event(seq) if seq else None
    called = entity if seq is None else noted.text if isinstance(noted, EntityNoted) else None
    sink.set_node("Entity", entity, {"name": called, "name_seq": seq})
