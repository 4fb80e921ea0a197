"""Trying changes out: what an append would do, worked out without keeping any of it.

It is the append itself, rolled back.
"""

import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any

from graph.events import Event, ObservationReturned, TextErased
from graph.log.log import Log
from graph.projection.sqlite_tables import SqliteSink
from graph.values import Flags, Rehearsal, RevisionStanding, SupposedState


def rehearsed(log: Log, events: Sequence[Event]) -> Rehearsal:
    """What an append of `events` would change; nothing is kept. Raises InvalidEvent or LogUnwritable."""
    stored, watched = log.rehearse(events, RecordingSink)
    texts = {seq for each in stored if isinstance(each.event, TextErased) for seq in each.event.events}
    pardoned = {each.event.observation for each in stored if isinstance(each.event, ObservationReturned)}
    supposed = watched.supposed(frozenset(pardoned))
    return Rehearsal(watched.turns(), watched.observations(), tuple(sorted(texts)), supposed)


class RecordingSink(SqliteSink):
    """A sink that remembers how what it changes stood before."""

    def __init__(self, db: sqlite3.Connection) -> None:
        super().__init__(db)
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
