"""The shelf: queries that are ready to run, each with what it shows and its parameters."""

from datetime import datetime

from .values import Ready


def shelf(now: datetime | None = None) -> tuple[Ready, ...]:
    """The ready queries; `now` (aware) is what "this month" is seen from, by default the time it is."""
    return (
        Ready(
            "Most proven memories",
            "What rests on the most of what was said.",
            "MATCH (o:Observation)-[:DERIVED_FROM|SUPPORTED_BY]->(t:Turn)\n"
            "WHERE o.current AND o.world = $world AND t.live\n"
            "RETURN o.text AS memory, o.kind AS kind, count(t) AS proof ORDER BY proof DESC, memory LIMIT 50",
        ),
    )
