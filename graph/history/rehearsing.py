"""Trying changes out: what an append would do to the log and the graph, worked out without doing it.

The log's part is the append itself, rolled back; the graph's part is the projection on an overlay that is never
written. So a preview and its effect cannot differ in more than the time between them, and `carry_out` closes that too:
nothing is appended between its rehearsal and its append.
"""

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from graph.errors import GraphFailure
from graph.events import Event, ObservationReturned, TextErased
from graph.events.codec import Stored
from graph.kuzu.follower import Follower
from graph.kuzu.overlay import Overlay
from graph.kuzu.store import GraphStore
from graph.log.log import Log
from graph.projection.projection import project
from graph.reader import LogReader
from graph.values import Flags, Recorded, Rehearsal, RevisionStanding, SupposedState


class Rehearsing:
    """The part of the Memory that rehearses; the log, its lock and the graph are the Memory's."""

    _writing: threading.Lock
    _log: Log
    _graph: Follower
    _reader: LogReader

    def rehearse(self, *events: Event) -> Rehearsal:
        """What an append of `events` would change; nothing is changed. Raises InvalidEvent or GraphFailure."""
        with self._writing:
            return self._rehearsed(events)

    def carry_out(self, expected: Rehearsal, *events: Event) -> list[Recorded] | None:
        """Append `events` if that does what was rehearsed; None, and nothing is stored, if it would do something else.

        Raises InvalidEvent, GraphFailure or LogUnwritable, and then nothing is stored either.
        """
        with self._writing:
            if self._rehearsed(events) != expected:
                return None
            stored, head = self._log.append(events), self._log.head
        return self._applied(stored, head)

    def _applied(self, stored: list[Stored], head: int) -> list[Recorded]:
        raise NotImplementedError

    def _rehearsed(self, events: Sequence[Event]) -> Rehearsal:
        """Under the lock: the graph has everything that the log has, and it stays like that meanwhile."""
        stored = self._log.rehearse(events)
        if self._log.head and not self._graph.follow(self._log.head):
            raise GraphFailure(
                "The graph is not ready, so the effects cannot be shown. Nothing was changed. Try again."
            )
        return self._graph.inspect(lambda store, at: rehearse(store, stored, self._reader.event))


def rehearse(store: GraphStore, stored: Sequence[Stored], event: Callable[[int], Event]) -> Rehearsal:
    """What events do to a graph, on its thread; nothing is written."""
    new = {each.seq: each.event for each in stored}
    watched = RecordingOverlay(store, lambda seq: new[seq] if seq in new else event(seq))
    for each in stored:
        project(each, watched)
    texts = {seq for each in stored if isinstance(each.event, TextErased) for seq in each.event.events}
    pardoned = {each.event.observation for each in stored if isinstance(each.event, ObservationReturned)}
    return Rehearsal(
        watched.turns(), watched.observations(), tuple(sorted(texts)), watched.supposed(frozenset(pardoned))
    )


class RecordingOverlay(Overlay):
    """An overlay that is never written, and remembers how what it changes stood before."""

    def __init__(self, store: GraphStore, event: Callable[[int], Event]) -> None:
        super().__init__(store, event)
        self._before: dict[tuple[str, str], dict[str, Any] | None] = {}

    def put_node(self, table: str, id: str, properties: Mapping[str, Any]) -> None:
        self._before.setdefault((table, id), None)
        super().put_node(table, id, properties)

    def set_node(self, table: str, id: str, properties: Mapping[str, Any]) -> None:
        if (table, id) not in self._before:
            now = self.node(table, id)
            self._before[table, id] = dict(now) if now is not None else None
        super().set_node(table, id, properties)

    def turns(self) -> dict[str, tuple[bool, bool]]:
        """The turns that come or go."""
        found = {id: (bool(before and before["live"]), bool(now["live"])) for id, before, now in self._of("Turn")}
        return {id: (before, after) for id, (before, after) in found.items() if before != after}

    def observations(self) -> dict[str, tuple[RevisionStanding, RevisionStanding]]:
        """The observations that are touched: those that stand otherwise, and those whose proof changes."""
        return {id: (_standing(before), _standing(now)) for id, before, now in self._of("Observation") if before}

    def supposed(self, pardoned: frozenset[str]) -> SupposedState:
        """How what is touched would be, for whoever works out what other worlds make of it."""
        return SupposedState(
            {
                id: Flags(bool(now["live"]), bool(now["hidden"]), bool(now["deleted"]), bool(now["withheld"]))
                for id, before, now in self._of("Turn")
                if before
            },
            {id: bool(now["live"]) for id, before, now in self._of("Chunk") if before},
            {
                id: (str(now["judged"]), bool(now["deleted"]))
                for id, before, now in self._of("Observation")
                if before and (before["judged"], before["deleted"]) != (now["judged"], now["deleted"])
            },
            pardoned,
        )

    def _of(self, wanted: str) -> list[tuple[str, dict[str, Any] | None, dict[str, Any]]]:
        found = [(id, before, self.node(table, id)) for (table, id), before in self._before.items() if table == wanted]
        return [(id, before, now) for id, before, now in sorted(found) if now is not None]


def _standing(node: Mapping[str, Any] | None) -> RevisionStanding:
    return RevisionStanding(
        bool(node and node["live"]), bool(node and node["current"]), str(node["status"]) if node else ""
    )
