"""What events would change, or did: the plain values that a preview and an effect are compared by."""

from dataclasses import dataclass, field

from graph.beliefs import Observation
from graph.events import MAIN_WORLD
from graph.values import Turn


@dataclass(frozen=True, slots=True)
class RevisionStanding:
    """How a revision of an observation stands in its own world."""

    live: bool
    current: bool
    status: str


@dataclass(frozen=True, slots=True)
class Flags:
    """What decides about a turn in every world; `live` is of its own."""

    live: bool
    hidden: bool
    deleted: bool
    withheld: bool


@dataclass(frozen=True, slots=True)
class SupposedState:
    """How what is touched would be, by its id: what every world's view is worked out from.

    `pieces` of documents: whether they are live. `judged` of observations: as what, and whether they are deleted;
    nothing speaks any more against the `pardoned`.
    """

    turns: dict[str, Flags] = field(default_factory=dict)
    pieces: dict[str, bool] = field(default_factory=dict)
    judged: dict[str, tuple[str, bool]] = field(default_factory=dict)
    pardoned: frozenset[str] = frozenset()


Both = dict[str, tuple[RevisionStanding, RevisionStanding]]  # by id: how an observation stands before and after


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """What a list of events does to the graph: ids of what changes, with how it stood and will stand.

    `turns` by id: whether it is live before and after. `observations` stand as they do in their own worlds. `texts` are
    the numbers of the events whose texts are erased.
    """

    turns: dict[str, tuple[bool, bool]]
    observations: Both
    texts: tuple[int, ...] = ()
    supposed: SupposedState = field(default_factory=SupposedState)


@dataclass(frozen=True, slots=True)
class WorldImpact:
    """What a change does to the memories of one more world, by its id and its name."""

    world: str
    name: str | None
    lost: tuple[Observation, ...] = ()
    fallen_back: tuple[tuple[Observation, Observation], ...] = ()
    returning: tuple[Observation, ...] = ()


@dataclass(frozen=True, slots=True)
class Impact:
    """What a change does, in the very items. Everything is as it is before the change; turns are oldest first.

    `gone` leave (the path, view, or for good, where `erases`), `back` return. `lost` memories are no more believed;
    `fallen_back` are those that an earlier form stands for again, as pairs of the form that goes and the one that
    comes; `returning` are believed again; `weaker` lose a part of their proof and stay. All that is as `world` sees it,
    the one acted in; `elsewhere` is what it does in others. The words of `erased` go for good, in use or not.
    """

    gone: tuple[Turn, ...] = ()
    back: tuple[Turn, ...] = ()
    lost: tuple[Observation, ...] = ()
    fallen_back: tuple[tuple[Observation, Observation], ...] = ()
    returning: tuple[Observation, ...] = ()
    weaker: tuple[Observation, ...] = ()
    pins: tuple[str, ...] = ()  # turns and memories that are pinned, and go
    references: tuple[Turn, ...] = ()  # replies that were given one of these, and stay
    quoting: tuple[Turn, ...] = ()  # later turns that say words of these, and stay
    backups: tuple[str, ...] = ()  # paths of copies made by hand that hold words of these, and stay
    erases: bool = False
    world: str = MAIN_WORLD
    elsewhere: tuple[WorldImpact, ...] = ()
    erased: tuple[Observation, ...] = ()
    kept: frozenset[str] = frozenset()  # of a change that erases: turns among `gone` that leave and keep their words
