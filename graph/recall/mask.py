"""Which turns recall may see, and which of them it may answer with: filters as masks over the columns."""

from typing import TYPE_CHECKING

from graph.events import MAIN_WORLD
from graph.hits import Filters
from graph.ids import as_ms
from graph.recall.columns import ROLES, TOOL, Columns
from graph.recall.table import NONE

if TYPE_CHECKING:  # numpy takes longer to import than the first paint may
    import numpy as np
    from numpy.typing import NDArray


def visible(columns: Columns, filters: Filters) -> "NDArray[np.bool_]":
    """Turns that carry evidence: of the world asked about, live there unless all are asked for; never a tool's.

    What the user withheld from memory carries none.
    A what-if is read as its own turns, and main as it was at the fork without what followed it in that session.
    """
    shown: NDArray[np.bool_] = ~columns["deleted"] & ~columns["withheld"] & (columns["role"] != TOOL)
    world = columns.worlds.code(filters.world)
    live = columns["live"] if filters.live else shown
    own: NDArray[np.bool_] = shown & live & (columns["world"] == world)
    if filters.world == MAIN_WORLD:
        return own
    inherited: NDArray[np.bool_] = shown & ~columns["hidden"] & _at_fork(columns, filters.world)
    return own | inherited


def allowed(columns: Columns, filters: Filters, seen: "NDArray[np.bool_]") -> "NDArray[np.bool_]":
    """Turns that may be hits: what is seen, narrowed by the filters."""
    import numpy as np

    mask: NDArray[np.bool_] = seen & np.array([role in filters.roles for role in ROLES])[columns["role"]]
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


def _at_fork(columns: Columns, world: str) -> "NDArray[np.bool_]":
    """Main's turns as a what-if found them: the path it left, and what was said elsewhere before and is live."""
    import numpy as np

    main: NDArray[np.bool_] = columns["world"] == columns.worlds.code(MAIN_WORLD)
    begun = [row.started_at for row in columns.session_rows if row is not None and row.world == world]
    fork = columns.row_of(columns.forks.get(world) or "")
    if fork == NONE or not begun:
        return np.zeros(columns.size, np.bool_)
    path = np.zeros(columns.size, np.bool_)
    row = fork
    while row != NONE:
        path[row] = True
        row = int(columns["parent"][row])
    elsewhere = columns["session"] != columns["session"][fork]
    before: NDArray[np.bool_] = columns["live"] & elsewhere & (columns["at"] < min(begun))
    return main & (path | before)
