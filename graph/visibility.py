"""What may be seen from where, by project: the one place that decides it.

Whoever looks is a chat of a project, a chat of none, or `EVERYONE`: the user, from whom nothing is kept apart.

- What is said belongs to the project of its chat, and is seen by chats of that project; what is said in a chat of none,
  by chats of none.
- What was made of words (memories, core blocks) belongs where the words do. What has words of two projects is nobody's.
- What belongs to no project is seen everywhere if it was made so by hand, or if it is a memory of who the user is or of
  what they like. Documents come only by hand.
"""

from collections.abc import Iterable
from enum import Enum


class Everyone(Enum):
    """The user, who sees everything."""

    EVERYONE = 0  # no string: as JSON it must be no project's name


class Several(Enum):
    """The owner of what has words of more than one project."""

    SEVERAL = 0  # the same


EVERYONE = Everyone.EVERYONE
SEVERAL = Several.SEVERAL
Viewer = str | None | Everyone
Owner = str | None | Several

PERSONAL = frozenset(("identity", "preference"))  # kinds of memories


def owner_of(projects: Iterable[str | None]) -> Owner:
    """To which project something belongs that was made of words of some."""
    found = set(projects) - {None}
    return SEVERAL if len(found) > 1 else next(iter(found), None)


def sees_said(viewer: Viewer, project: str | None) -> bool:
    """Whether what was said in a chat of a project, or of none, is seen."""
    return viewer is EVERYONE or project == viewer


def sees_made(viewer: Viewer, owner: Owner, *, everywhere: bool) -> bool:
    """Whether what was made of words is seen; `everywhere`, also where it belongs to no project."""
    return viewer is EVERYONE or owner == viewer or (owner is None and everywhere)


def for_all(kind: str, origin: str) -> bool:
    """Whether a memory that belongs to no project is seen everywhere."""
    return origin == "user" or kind in PERSONAL
