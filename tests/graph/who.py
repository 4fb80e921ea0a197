"""Who is who, straight from what people said by hand: the plainest reading of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from graph.events import EntityAliased, EntityChange, EntityKinded, EntityMerged, EntityNamed, EntitySplit


@dataclass
class Meaning:
    """What a world knows: names and kinds by hand, who is the same as whom, and what means another."""

    names: dict[str, str] = field(default_factory=dict)
    kinds: dict[str, str] = field(default_factory=dict)
    same: dict[str, str] = field(default_factory=dict)
    split: dict[tuple[str, str], str] = field(default_factory=dict)

    def meant(self, told: str, item: str = "") -> str:
        """Step by step: to one that was split off for this item, once from each; else to the one that is the same."""
        asked: list[str] = []
        while True:
            other = self.split.get((told, item)) if told not in asked else None
            asked.append(told)
            if (there := other or self.same.get(told)) is None:
                return told
            told = there

    def leads_to(self, entity: str, other: str) -> bool:
        """Whether one is another, or the same over others."""
        return entity == other or (entity in self.same and self.leads_to(self.same[entity], other))


@dataclass
class Who:
    """All that was said by hand, with the numbers of the events."""

    events: list[tuple[int, EntityChange]] = field(default_factory=list)

    def others(self) -> set[str]:
        """Those who were ever split off."""
        return {event.other for _, event in self.events if isinstance(event, EntitySplit)}

    def aliases(self) -> set[str]:
        """All that was ever an alias."""
        return {event.alias for _, event in self.events if isinstance(event, EntityAliased)}

    def view(self, worlds: Mapping[str, int | None]) -> Meaning:
        """What a world knows that comes from these, each known up to an event."""
        found, born = Meaning(), set[str]()
        for number, event in self.events:
            until = worlds.get(event.world, 0)
            known = until is None or number <= until
            match event:
                case EntitySplit(other=new, text=str() as name) | EntityAliased(alias=new, text=str() as name):
                    if new not in born and known:
                        found.names[new] = name
                    born.add(new)
                case EntityNamed(entity=entity, text=text) if known:
                    found.names.pop(entity, None)
                    found.names |= {entity: text} if text is not None else {}
                case EntityKinded(entity=entity, category=kind) if known:
                    found.kinds.pop(entity, None)
                    found.kinds |= {entity: kind} if kind is not None else {}
                case EntityMerged(entity=entity, into=into) if known:
                    found.same.pop(entity, None)
                    found.same |= {entity: into} if into is not None else {}
            match event:
                case EntityAliased(alias=alias, entity=of) if known:
                    found.same.pop(alias, None)
                    found.same |= {alias: of} if of is not None else {}
                case EntitySplit(entity=entity, other=other, items=items) if known:
                    before = {at: there for at, there in found.split.items() if (at[0], there) != (entity, other)}
                    found.split = before | {(entity, item): other for item in items}
        return found
