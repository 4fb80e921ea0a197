"""Which turns recall may see, and which of them it may answer with: filters as masks over the columns."""

from dataclasses import replace
from typing import TYPE_CHECKING

from graph.hits import Filters
from graph.ids import as_ms
from graph.recall.columns import ROLES, TOOL, Columns

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


def allowed(columns: Columns, filters: Filters, seen: "Mask") -> "Mask":
    """Turns that may be hits: what is seen, narrowed by the filters."""
    import numpy as np

    mask: Mask = seen & np.array([role in filters.roles for role in ROLES])[columns["role"]]
    if filters.session is not None:
        mask &= columns["session"] == columns.sessions.code(filters.session)
    if filters.project is not None:
        in_project = np.array([row is not None and row.project == filters.project for row in columns.session_rows])
        mask &= in_project[columns["session"]]
    if filters.person is not None:
        person = filters.person.casefold()
        mask &= np.array([name.casefold() == person for name in columns.speakers.names])[columns["speaker"]]
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


def _held(columns: Columns, world: str, own: "Mask", inherited: "Mask | None") -> "Mask":
    """Turns of a world that are among its `own`, and what it inherits, but for what is hidden."""
    held: Mask = own & (columns["world"] == columns.worlds.code(world))
    return held if inherited is None else held | (inherited & ~columns["hidden"])
