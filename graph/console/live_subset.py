"""Cuts a copy of the graph down to what is live in main: for whoever may not see what was hidden or superseded.

And to what a chat of one project, or of none, sees of that: graph/visibility.py, as Cypher.

What is left: turns that are live and not kept out of memory, but for those of tools, which quote others as they were
when they were asked, and hold what other programs propose before the user reviewed it; active observations that are
current, the chunks of the latest readings, chats that are not deleted, and only such people and things as something of
that names. How the user sets the assistant up, by core blocks and system prompts, is nobody else's business.
"""

from collections.abc import Iterator

from graph.visibility import PERSONAL

_MAIN = "'main'"  # as graph.events has it, whose import takes longer than all else until a process is ready
_SAID = f"n.live AND NOT n.hidden AND NOT n.deleted AND NOT n.withheld AND n.role <> 'tool' AND n.world = {_MAIN}"
_LIVE = f"n.live AND n.current AND NOT n.deleted AND n.status = 'active' AND n.world = {_MAIN}"
_PERSONAL = ", ".join(f"'{kind}'" for kind in sorted(PERSONAL))
_WORDS = "(n)-[:DERIVED_FROM]->(:Turn:Chunk)-[:IN_SESSION|PART_OF]->(s:Session:Document)"
_OTHERS = f"EXISTS {{ MATCH {_WORDS} WHERE s.project <> $project }}"  # of none, a name that no project has
_OWN = f"EXISTS {{ MATCH {_WORDS} WHERE s.project = $project }}"
_FOR_ALL = f"n.origin = 'user' OR n.kind IN [{_PERSONAL}]"
_KNOWN = f"{_LIVE} AND NOT {_OTHERS}"
_KNOWN_IN_A_PROJECT = f"{_KNOWN} AND ({_OWN} OR {_FOR_ALL})"
_KEPT = (  # what of each table stays, in this order; a null counts as a no
    ("World", f"n.id = {_MAIN}"),
    ("Observation", _KNOWN),  # by its words' chats and documents, before those go
    ("Session", f"NOT n.deleted AND n.world = {_MAIN} AND coalesce(n.project, '') = $project"),
    ("Turn", f"{_SAID} AND EXISTS {{ MATCH (n)-[:IN_SESSION]->(:Session) }}"),
    (
        "Document",
        "NOT n.deleted AND coalesce(n.project, $project) = $project AND EXISTS { MATCH (:Chunk)-[:PART_OF]->(n) }",
    ),
    ("Project", "n.id = $project"),
    ("Chunk", "n.live AND EXISTS { MATCH (n)-[:PART_OF]->(:Document) }"),
    ("CoreBlock", "false"),
    ("Wording", "false"),
    ("StageLine", "false"),
    ("Reference", "n.attached AND EXISTS { MATCH (:Session)-[:REFERS_TO]->(n) }"),
    ("Entity", "EXISTS { MATCH (n)--() }"),
)
# What a memory says that is not here; and how the user told people apart.
_UNPROVED = """
MATCH (:Entity)-[r:RELATES]->(:Entity)
WHERE NOT EXISTS { MATCH (o:Observation) WHERE o.id = r.observation } DELETE r
"""
_TOLD_APART = "MATCH (:Entity)-[r:SPLIT_FROM]->(:Entity) DELETE r"
_BLANKED = (("Session", "wording"), ("Session", "system_prompt"))


def cuts(project: str) -> Iterator[tuple[str, dict[str, str]]]:
    """The statements that cut, in their order, with their parameters; `project` is "" for a chat of none."""
    known = _KNOWN_IN_A_PROJECT if project else _KNOWN
    for table, stays in _KEPT:
        condition = known if table == "Observation" else stays
        statement = f"MATCH (n:`{table}`) WHERE NOT coalesce({condition}, false) DETACH DELETE n"
        yield statement, {"project": project} if "$project" in statement else {}
        if table == "Observation":
            yield _UNPROVED, {}
            yield _TOLD_APART, {}
    for table, column in _BLANKED:
        yield f"MATCH (n:`{table}`) SET n.`{column}` = NULL", {}
