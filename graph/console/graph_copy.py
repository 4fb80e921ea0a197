"""Copies the graph of a memory beside whoever writes: its file between two checkpoints, then what came since.

The file changes in checkpoints only, which wait for who reads it; its write-ahead log is copied on the graph's own
thread, where nothing is being written. A checkpoint in between makes both useless, and it begins again.
"""

from pathlib import Path

from graph.errors import GraphFailure, NoRoom
from graph.kuzu.follower import Follower, Stopped
from graph.kuzu.store import GraphStore

TRIES = 3


class FollowedGraph:
    """The graph that follows a log, as what can be copied."""

    def __init__(self, follower: Follower) -> None:
        self._follower = follower

    def at(self) -> int:
        """The last event of a graph that can be copied. Raises GraphFailure while it is not open, or is behind."""
        return self._follower.steady()[1]

    def size(self) -> int:
        """Bytes that a copy takes. Raises GraphFailure."""
        return self._follower.steady()[0].size()

    def copy(self, into: Path, stopped: Stopped) -> int:
        """Copy the graph to `into`; the last event it has. Raises GraphFailure, what `stopped` gives, or OSError."""

        def rest(store: GraphStore, at: int) -> int | None:
            if store is not source or stopped() is not None:
                return None
            try:
                return at if store.copy_log(into, since=since) else None
            except OSError as e:
                raise NoRoom(f"The graph could not be copied for the query: {e}. Free some space and ask again.") from e

        for _ in range(TRIES):
            source, _ = self._follower.steady()
            since = source.copy_file(into)
            at = self._follower.inspect(rest, stopped)
            if at is not None:
                return at
            if (why := stopped()) is not None:
                raise why
            into.unlink()
        raise GraphFailure("The graph changes too fast to be copied for the query. Nothing was changed; ask again.")
