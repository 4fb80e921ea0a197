"""Cuts a copy of the graph down to what is live in main: for whoever may not see what was hidden, superseded or tried.

What is left: turns that are live and not kept out of memory, but for those of tools, which quote others as they were
when they were asked, and hold what other programs propose before the user reviewed it; active observations that are
current, the chunks of the latest readings, chats that are not deleted, and only such people and things as something of
that names. How the user sets the assistant up, by core blocks and system prompts, is nobody else's business.
"""

from collections.abc import Iterator

_MAIN = "'main'"  # as graph.events has it, whose import takes longer than all else until a process is ready
_SAID = f"n.live AND NOT n.hidden AND NOT n.deleted AND NOT n.withheld AND n.role <> 'tool' AND n.world = {_MAIN}"
_KNOWN = f"n.live AND n.current AND NOT n.deleted AND n.status = 'active' AND n.world = {_MAIN}"
_KEPT = (  # what of each table stays; a null counts as a no
    ("World", f"n.id = {_MAIN}"),
    ("Session", f"NOT n.deleted AND n.world = {_MAIN}"),
    ("Turn", f"{_SAID} AND EXISTS {{ MATCH (n)-[:`IN`]->(:Session) }}"),
    ("Observation", _KNOWN),
    ("Document", "NOT n.deleted"),
    ("Chunk", "n.live AND EXISTS { MATCH (n)-[:PART_OF]->(:Document) }"),
    ("CoreBlock", "false"),
    ("Wording", "false"),
    ("Entity", "EXISTS { MATCH (n)--() }"),
)
_BLANKED = (("Session", "wording"), ("Session", "system_prompt"))


def cuts() -> Iterator[str]:
    """The statements that cut, in their order."""
    for table, stays in _KEPT:
        yield f"MATCH (n:`{table}`) WHERE NOT coalesce({stays}, false) DETACH DELETE n"
    for table, column in _BLANKED:
        yield f"MATCH (n:`{table}`) SET n.`{column}` = NULL"
