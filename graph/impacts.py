"""What events would change, or did: the plain values that a preview and an effect are compared by."""

from dataclasses import dataclass

from graph.beliefs import Observation
from graph.values import Turn


@dataclass(frozen=True, slots=True)
class Standing:
    """How a revision of an observation stands in its own world."""

    live: bool
    current: bool
    status: str


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """What a list of events does to the graph: ids of what changes, with how it stood and will stand.

    `turns` by id: whether it is live before and after. `texts` are the numbers of the events whose texts are erased.
    """

    turns: dict[str, tuple[bool, bool]]
    observations: dict[str, tuple[Standing, Standing]]
    texts: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Impact:
    """What a change does, in the very items. Everything is as it is before the change; turns are oldest first.

    `gone` leave (the path, view, or for good, where `erases`), `back` return. `lost` memories are no more believed;
    `fallen_back` are those that an earlier form stands for again, as pairs of the form that goes and the one that
    comes; `returning` are believed again; `weaker` lose a part of their proof and stay.
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
    kept: frozenset[str] = frozenset()  # of a change that erases: turns among `gone` that leave and keep their words
