"""A book of who was where and saw what, kept beside a story by the rules alone: what is found is held against it.

Turns are a tree. Whoever is present at the end of the path that something is said on, and the speaker, sees it; of a
whisper, the one it is for; a reply, those of them who saw what it answers. A correction says otherwise. Presence is set
at a turn and holds on the paths over that, the one at the lowest turn first. A member remembers what it saw since its
last reset. A what-if inherits what its parent world held when it began, but nothing that followed the turn it left at.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal

Scope = Literal["path", "world", "ever"]
PRESENT, NAME, SEAT = "present", "name", "seat"


@dataclass(slots=True)
class Told:
    """A turn as the log has it, and what became of it; `ever` are all who were among its witnesses at any time."""

    id: str
    seq: int
    session: str
    parent: str | None
    role: str
    speaker: str
    text: str | None
    witnesses: frozenset[str]
    key: str = ""
    hidden: bool = False
    deleted: bool = False
    ever: set[str] = field(default_factory=set)

    @property
    def open(self) -> bool:
        """Whether its words may be shown."""
        return not self.hidden and not self.deleted


@dataclass(frozen=True, slots=True)
class Line:
    """What was set of a member at a turn; `at` is when, as a seq."""

    at: int
    world: str
    member: str
    aspect: str
    value: str | None
    after: str | None


@dataclass(slots=True)
class World:
    """A world; a what-if with its parent, the turn it left at, when that was, and what it inherits."""

    id: str
    parent: str | None = None
    fork: str | None = None
    began: int = 0
    inherits: frozenset[str] = frozenset()


@dataclass(slots=True)
class Chat:
    """A chat: its world, and the turn that its head stands at."""

    session: str
    world: str
    head: str | None = None


@dataclass(slots=True)
class Book:
    """All of a story."""

    turns: dict[str, Told] = field(default_factory=dict)
    chats: dict[str, Chat] = field(default_factory=dict)
    worlds: dict[str, World] = field(default_factory=dict)
    lines: list[Line] = field(default_factory=list)
    resets: list[Line] = field(default_factory=list)  # the value is the seq after which a member remembers

    # -- paths ----------------------------------------------------------------------------------------------------

    def up(self, turn: str | None) -> Iterator[Told]:
        """A turn and all above it, deleted ones too, the lowest first."""
        while turn is not None:
            told = self.turns[turn]
            yield told
            turn = told.parent

    def path(self, chat: Chat) -> list[Told]:
        """The path of a chat, oldest first, without deleted turns."""
        return [told for told in self.up(chat.head) if not told.deleted][::-1]

    def kept(self, turn: str | None) -> str | None:
        """The turn, or the nearest above it that is not deleted."""
        return next((told.id for told in self.up(turn) if not told.deleted), None)

    def held(self, world: str) -> set[str]:
        """The turns that a world holds: on a path of one of its chats, or inherited."""
        own = {told.id for chat in self.chats.values() if chat.world == world for told in self.up(chat.head)}
        return own | self.worlds[world].inherits

    def inherited(self, world: str, fork: str) -> frozenset[str]:
        """What a what-if of a world inherits that leaves at a turn now."""
        return frozenset(id for id in self.held(world) if id == fork or fork not in {each.id for each in self.up(id)})

    # -- the stage ------------------------------------------------------------------------------------------------

    def known(self, world: str, set_in: str, at: int) -> bool:
        """Whether a world knows what was set in another, or itself, at a time."""
        here: str | None = world
        until: float = float("inf")
        while here is not None:
            if here == set_in:
                return at <= until
            until = min(until, self.worlds[here].began)
            here = self.worlds[here].parent
        return False

    def value(self, world: str, head: str | None, member: str, aspect: str) -> tuple[bool, str | None]:
        """What holds of a member on a path: whether anything does, and what."""
        depth = {told.id: at for at, told in enumerate(reversed(list(self.up(head))))}
        holding = [
            (-1 if line.after is None else depth[line.after], line.at, line.value)
            for line in self.lines
            if (line.member, line.aspect) == (member, aspect)
            and (line.after is None or line.after in depth)
            and self.known(world, line.world, line.at)
        ]
        return (True, max(holding)[2]) if holding else (False, None)

    def cast(self, world: str, head: str | None) -> dict[str, str]:
        """Who plays on a path: the member of each seat, the one that took it last."""
        members = dict.fromkeys(line.member for line in self.lines if line.aspect == SEAT)
        depth = {told.id: at for at, told in enumerate(reversed(list(self.up(head))))}
        seated: dict[str, tuple[int, int, str]] = {}
        for member in members:
            _, seat = self.value(world, head, member, SEAT)
            if seat is None:
                continue
            place = max(
                (-1 if line.after is None else depth[line.after], line.at)
                for line in self.lines
                if (line.member, line.aspect) == (member, SEAT) and (line.after is None or line.after in depth)
            )
            seated[seat] = max(seated.get(seat, (-2, 0, "")), (*place, member))
        return {seat: member for seat, (_, _, member) in seated.items()}

    def present(self, world: str, head: str | None) -> set[str]:
        """Who of the cast is there at the end of a path."""
        return {
            member for member in self.cast(world, head).values() if self.value(world, head, member, PRESENT)[1] != "no"
        }

    # -- who knows what -------------------------------------------------------------------------------------------

    def since(self, world: str, member: str) -> int:
        """After which seq a member remembers."""
        said = [each for each in self.resets if each.member == member and self.known(world, each.world, each.at)]
        return int(max(said, key=lambda each: each.at).value or 0) if said else 0

    def seen(self, chat: Chat, member: str, scope: Scope) -> list[Told]:
        """The turns that a member may know of: V. On the path of a chat, in its world, or wherever they are now."""
        begins = self.since(chat.world, member)
        match scope:
            case "path":
                there: Iterable[Told] = self.path(chat)
            case "world":
                ids = self.held(chat.world) | {told.id for told in self.up(chat.head)}
                there = (self.turns[id] for id in ids)
            case "ever":
                there = self.turns.values()
        return [told for told in there if member in told.witnesses and told.seq > begins and told.open]
