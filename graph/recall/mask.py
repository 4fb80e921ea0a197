"""Which turns recall may see, and which of them it may answer with: filters as masks over the columns.

The masks by project are the rules of graph/visibility.py over whole columns.
"""

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from graph.ids import as_ms
from graph.recall.columns import ROLES, TOOL, Columns
from graph.recall.learned import DERIVED, LearnedIndex
from graph.recall.table import NONE
from graph.values import Filters
from graph.visibility import EVERYONE, Viewer, sees_made

SEVERAL, NOWHERE = -2, -3  # no project has these codes
NOBODY: Mapping[str, str] = MappingProxyType({})

if TYPE_CHECKING:  # numpy takes longer to import than the first paint may
    import numpy as np
    from numpy.typing import NDArray

    Mask = NDArray[np.bool_]


def visible(columns: Columns, filters: Filters, inherited: "Mask | None") -> "Mask":
    """Turns that carry evidence: those of the world asked about, live there unless all are asked for; never a tool's.

    What the user withheld from memory carries none. `inherited` are those that a what-if has from other worlds.
    """
    shown: Mask = ~columns["deleted"] & ~columns["withheld"] & (columns["role"] != TOOL)
    if not filters.live:
        return shown & _held(columns, filters.world, shown, inherited)
    return shown & _held(columns, filters.world, columns["live"], inherited)


def sources(columns: Columns, world: str, inherited: "Mask | None") -> "Mask":
    """Turns that stand in a world: it sees them, and they are not withheld; those of tools too."""
    stands: Mask = ~columns["deleted"] & ~columns["withheld"]
    return stands & _held(columns, world, columns["live"], inherited)


def seen(columns: Columns, world: str, inherited: "Mask | None") -> "Mask":
    """Turns that a world sees, withheld or not."""
    return ~columns["deleted"] & _held(columns, world, columns["live"], inherited)


def witnessed(columns: Columns, member: str, since: int) -> "Mask":
    """Turns of stories that a member of the cast saw after an event."""
    import numpy as np

    among = [member in names.split() for names in columns.crowds.names]
    mask: Mask = np.array([*among, False])[columns["witnesses"]]  # NONE is the last
    return mask & (columns["seq"] > since)


def allowed(columns: Columns, filters: Filters, seen: "Mask", members: Mapping[str, str] = NOBODY) -> "Mask":
    """Turns that may be hits: what is seen, narrowed by the filters but the project; `members` are called otherwise."""
    import numpy as np

    mask: Mask = seen & np.array([role in filters.roles for role in ROLES])[columns["role"]]
    if filters.session is not None:
        mask &= columns["session"] == columns.sessions.code(filters.session)
    if filters.person is not None:
        person = filters.person.casefold()
        called = (members.get(name, name) for name in columns.speakers.names)
        mask &= np.array([name.casefold() == person for name in called])[columns["speaker"]]
    if filters.since is not None:
        mask &= columns["at"] >= as_ms(filters.since)
    if filters.until is not None:
        mask &= columns["at"] < as_ms(filters.until)
    return mask


def proposed(columns: Columns, filters: Filters, inherited: "Mask | None") -> "Mask":
    """The calls by which other programs proposed what to remember: nobody's words, and no hits themselves.

    What the user took into use of that may be one, where not only people's own words are asked for.
    """
    stands = sources(columns, filters.world, inherited)
    if "assistant" not in filters.roles:
        return stands & False
    return allowed(columns, replace(filters, roles=frozenset({"tool"})), stands)


def viewer_of(columns: Columns, filters: Filters) -> Viewer:
    """Who looks: the project that is asked for, else that of the session."""
    if filters.project is not EVERYONE or filters.session is None:
        return filters.project
    session = columns.sessions.code(filters.session)
    row = columns.session_rows[session] if session != NONE else None
    return row.project if row is not None else None


def said_to(columns: Columns, viewer: Viewer) -> "Mask":
    """Turns of chats that somebody may look into."""
    import numpy as np

    if viewer is EVERYONE:
        return np.ones(columns.size, np.bool_)
    mask: Mask = (columns.owners == _code(columns, viewer))[columns["session"]]
    return mask


def read_to(learned: LearnedIndex, viewer: Viewer) -> "Mask":
    """Chunks of documents that somebody may look into."""
    import numpy as np

    seen = [sees_made(viewer, learned.project_of(name), everywhere=True) for name in learned.documents.names]
    mask: Mask = np.array(seen, np.bool_)[learned.pieces["document"]]
    return mask


def learned_for(columns: Columns, learned: LearnedIndex, viewer: Viewer) -> "Mask":
    """Observations that somebody may look at."""
    import numpy as np

    size = learned.beliefs.size
    if viewer is EVERYONE or not size:
        return np.ones(size, np.bool_)
    owners = _owners(columns, learned)
    mask: Mask = (owners == _code(columns, viewer)) | ((owners == NONE) & learned.beliefs["for_all"])
    return mask


def _owners(columns: Columns, learned: LearnedIndex) -> "NDArray[np.int32]":
    """The project of each observation, by code, as the words that it was made of have it; SEVERAL if they have more."""
    import numpy as np

    size = learned.beliefs.size
    least, most = np.full(size, np.iinfo(np.int32).max, np.int32), np.full(size, NONE, np.int32)
    documents = [learned.project_of(name) for name in learned.documents.names]
    codes = [columns.projects.add(project) if project is not None else NONE for project in documents]
    of_pieces = np.array(codes, np.int32)[learned.pieces["document"]]
    for edges, ends in ((learned.of_turns, columns.owners[columns["session"]]), (learned.of_chunks, of_pieces)):
        made_of = edges[DERIVED]
        owners = np.append(ends, np.int32(NONE))[made_of.other]  # NONE is the last
        owned = owners != NONE
        np.minimum.at(least, made_of.one[owned], owners[owned])
        np.maximum.at(most, made_of.one[owned], owners[owned])
    return np.where((most != NONE) & (least != most), np.int32(SEVERAL), most)


def _code(columns: Columns, project: str | None) -> int:
    """The code of a project; NONE is that of none, and one that nobody ever named owns nothing."""
    if project is None:
        return NONE
    code = columns.projects.code(project)
    return code if code != NONE else NOWHERE


def _held(columns: Columns, world: str, own: "Mask", inherited: "Mask | None") -> "Mask":
    """Turns of a world that are among its `own`, and what it inherits, but for what is hidden."""
    held: Mask = own & (columns["world"] == columns.worlds.code(world))
    return held if inherited is None else held | (inherited & ~columns["hidden"])
