"""What holds in each world, from the definitions alone: which items it sees, which stand, and what is shown of them."""

from dataclasses import dataclass, field
from typing import Literal

from tests.graph.histories import Conversation

Judged = Literal["candidate", "active", "invalid"]


@dataclass
class Revision:
    """What an observation is, by the events alone."""

    series: str
    sources: tuple[str, ...]
    supersedes: str | None
    instead_of: str | None
    judged: Judged
    world: str = "main"
    number: int = 0  # of its event
    against: set[str] = field(default_factory=set)  # turns that contradict it
    proof: set[tuple[str, str]] = field(default_factory=set)  # kind and source of what was added later
    deleted: bool = False
    parents: tuple[str, ...] = ()


@dataclass
class Believed(Conversation):
    """A conversation with what was learned of it, whoever taught it."""

    revisions: dict[str, Revision] = field(default_factory=dict)
    chunks: dict[str, str] = field(default_factory=dict)  # their documents
    readings: dict[str, tuple[str, ...]] = field(default_factory=dict)
    removed: set[str] = field(default_factory=set)
    withheld: set[str] = field(default_factory=set)
    rated: dict[str, int] = field(default_factory=dict)
    projects: dict[str, str | None] = field(default_factory=dict)  # of sessions
    blocks: dict[str, str] = field(default_factory=dict)  # their worlds
    versions: dict[tuple[str, str], list[tuple[int, tuple[str, ...]]]] = field(default_factory=dict)

    def standing(self, world: str) -> set[str]:
        """Chunks that the latest reading of a document that is there holds, and turns that stand in a world.

        A world's own turns stand while they are live and not withheld; those it inherits while they are neither hidden,
        deleted nor withheld.
        """
        held = {chunk for doc, chunks in self.readings.items() if doc not in self.removed for chunk in chunks}
        of_others = {turn for turn, home in self.home.items() if self.world[home] != world}
        inherited = {turn for turn in of_others if self.inherits(world, turn)}
        return ((self.live() - of_others) | (inherited - self.hidden - self.deleted)) - self.withheld | held

    def holding(self) -> dict[str, tuple[bool, str, bool]]:
        """Live, status and current of every revision in its own world."""
        views = {world: self.view(world) for world in {each.world for each in self.revisions.values()}}
        return {id: views[each.world][id] for id, each in self.revisions.items()}

    def may_see(self, world: str, revision: Revision) -> bool:
        """Whether a world may see a revision: its own, or one of a world above it, if its sources stand there."""
        while world != revision.world and world in self.at_fork:
            world = self.at_fork[world].parent
        return world == revision.world

    def view(self, world: str) -> dict[str, tuple[bool, str, bool]]:
        """Live, status and current in a world of what it may see, straight from what the words mean."""
        standing = self.standing(world)
        seen = {id: each for id, each in self.revisions.items() if self.may_see(world, each)}
        live = {id for id, each in seen.items() if not each.deleted and standing.issuperset(each.sources)}

        def invalid(id: str) -> bool:
            return seen[id].judged == "invalid" or not standing.isdisjoint(seen[id].against)

        def superseded(id: str) -> bool:
            return any(says_more(other) for other, each in seen.items() if each.supersedes == id)

        def says_more(id: str) -> bool:
            return id in live and ((seen[id].judged == "active" and not invalid(id)) or superseded(id))

        found: dict[str, tuple[bool, str, bool]] = {}
        for id, each in seen.items():  # what it was made from comes before it
            status = "invalid" if invalid(id) else "superseded" if superseded(id) else each.judged
            in_use = id in live and status in ("candidate", "active")
            stands = all(found.get(parent, (False, "", False))[1:] == ("active", True) for parent in each.parents)
            found[id] = (id in live, status, in_use and each.instead_of not in live and stands)
        return found

    def forget(self, series: str) -> None:
        """A series is deleted, and with it what was made from one of it and another."""
        gone = {series}
        while True:
            more = {
                each.series
                for each in self.revisions.values()
                if any(self.revisions[parent].series in gone for parent in each.parents)
            }
            if more <= gone:
                break
            gone |= more
        for each in self.revisions.values():
            each.deleted = each.deleted or each.series in gone

    def shown(self, table: str) -> dict[str, int | None]:
        """By title's session or block, which event's words are shown: the latest of which all sources stand."""
        standing = {world: self.standing(world) for world in self.world.values()}
        found: dict[str, int | None] = {}
        for (of, owner), each in self.versions.items():
            if of == table:
                here = standing[self.world[owner] if of == "Session" else self.blocks[owner]]
                found[owner] = next((at for at, sources in reversed(each) if here.issuperset(sources)), None)
        return found
