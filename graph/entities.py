"""Who and what is known by name, and which turns were judged already: small questions that a reflection asks."""

from collections.abc import Iterable, Mapping
from typing import Any


class Entities:
    """The questions about entities; what answers them is the Memory's graph."""

    def query(
        self, cypher: str, parameters: Mapping[str, Any] | None = None, *, timeout_s: float = 10.0
    ) -> list[dict[str, Any]]:
        raise NotImplementedError

    def entities(self, names: Iterable[str]) -> dict[str, str]:
        """The ids of those names that an entity has, in any case of letters. A speaker's id is its name.

        Raises GraphFailure while the graph is behind.
        """
        wanted = {name.lower(): name for name in names}
        if not wanted:
            return {}
        query = "MATCH (e:Entity) WHERE lower(coalesce(e.name, e.id)) IN $names RETURN e.id AS id, e.name AS name"
        rows = self.query(query, {"names": sorted(wanted)})
        # A speaker goes before one that is only named.
        rows.sort(key=lambda row: row["name"] is None)
        return {wanted[(row["name"] or row["id"]).lower()]: row["id"] for row in rows}

    def judged(self, turns: Iterable[str]) -> dict[str, int]:
        """The significance of those of the turns that have one. Raises GraphFailure while the graph is behind."""
        ids = list(turns)
        query = (
            "MATCH (t:Turn) WHERE t.id IN $ids AND t.significance IS NOT NULL RETURN t.id AS id, t.significance AS s"
        )
        return {row["id"]: row["s"] for row in self.query(query, {"ids": ids})} if ids else {}
