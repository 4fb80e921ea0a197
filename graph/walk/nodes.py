"""Nodes as people read them: what a row says in one line, why it is not in force, and in which order rows come.

Invariants: what is deleted is no node. The words of a hidden turn are in no node: not in its own, nor in what
was learned from it, named in it or quoted of it.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from graph.events import MAIN_WORLD
from graph.ids import as_datetime
from graph.values import Node, Ref

Row = dict[str, Any]
Query = Callable[[str, Mapping[str, Any]], list[Row]]

TITLE = 400  # characters of a title: a row of a list, and a label
HIDDEN = "hidden"
UNNAMED_CHAT = "New chat"


@dataclass(frozen=True, slots=True)
class NodeWording:
    """How a table's rows are told; all of it Cypher about `m`.

    `there` holds for a row that is a node, `words` are what it says, `order` puts the most telling first, after
    `counting`, and `open` holds where its words may be seen. `brief` are the columns that a neighbour is given along,
    `details` those that a node is; `times` of them are UTC milliseconds. Nothing of it has a CASE: after a filter, one
    makes Kuzu 0.11.3 give wrong rows.
    """

    words: str
    order: str
    there: str = "true"
    counting: str = ""
    open: str = "true"
    at: str = "NULL"
    world: str = "NULL"
    flags: tuple[str, ...] = ()
    brief: tuple[str, ...] = ()
    details: tuple[str, ...] = ()
    times: tuple[str, ...] = ()
    whole: str = "NULL"  # the text of which `words` are the beginning, where there is more of it

    def row(self, *, whole: bool = False) -> str:
        """What is returned of `m`."""
        columns = [*self.flags, *(self.details if whole else self.brief)]
        parts = [
            "m.id AS `_id`",
            f"left({self.words}, {TITLE}) AS `_words`",
            f"{self.whole if whole else 'NULL'} AS `_whole`",
            f"{self.at} AS `_at`",
            f"{self.world} AS `_world`",
            *(f"m.`{name}` AS `{name}`" for name in dict.fromkeys(columns)),
        ]
        return ", ".join(parts)


_PROOFS = "WITH m, r, COUNT { MATCH (m)-[:DERIVED_FROM|SUPPORTED_BY]->(:Turn:Chunk) } AS proofs"
_UNSAID = "EXISTS { MATCH (m)-[:DERIVED_FROM]->(h:Turn) WHERE h.hidden }"
_NAMED = "EXISTS { MATCH (m)<-[:MENTIONS]-(h:Turn) WHERE NOT h.hidden AND NOT h.deleted }"
_WROTE = "EXISTS { MATCH (m)<-[:WRITTEN_BY]-(:Reference) }"
_TURN_COUNTS = ("prompt_tokens", "completion_tokens", "first_token_ms", "total_ms")

TABLES: Mapping[str, NodeWording] = {
    "Turn": NodeWording(
        words="m.text",
        whole="m.text",
        there="NOT m.deleted",  # one whose words alone were erased still joins what is around it
        open="NOT m.hidden",
        order="m.seq DESC",
        at="m.at",
        world="m.world",
        flags=("hidden", "queued", "withheld", "live", "pinned", "role"),
        brief=("role", "speaker", "session"),
        details=(
            *("role", "speaker", "session", "client", "index", "significance", "pinned"),
            *("model", "stop_reason", "error", *_TURN_COUNTS),
        ),
    ),
    "Observation": NodeWording(
        words="m.text",
        whole="m.text",
        there="NOT m.deleted AND m.text IS NOT NULL",
        open=f"(m.live OR NOT {_UNSAID})",
        counting=_PROOFS,
        order="m.current DESC, proofs DESC, m.seq DESC",
        at="m.at",
        world="m.world",
        flags=("status", "live", "current", "contradictions"),
        brief=("kind", "status", "relation"),
        details=("kind", "status", "confidence", "origin", "grounded", "project", "scope", "first_seen", "pinned"),
        times=("first_seen",),
    ),
    "Entity": NodeWording(
        words="m.name",
        there="m.same_as IS NULL",
        open=f"(m.noted_seq IS NULL OR m.name_seq <> m.noted_seq OR {_NAMED} OR {_WROTE})",
        order="m.name, m.id",
        brief=("kind",),
        details=("kind",),
    ),
    "Session": NodeWording(
        words=f"coalesce(m.name, m.title, '{UNNAMED_CHAT}')",
        there="NOT m.deleted",
        order="m.last_at DESC, m.id DESC",
        at="m.last_at",
        world="m.world",
        flags=("archived",),
        brief=("turns",),
        details=("turns", "project", "client", "model", "started_at", "last_at"),
        times=("started_at", "last_at"),
    ),
    "Document": NodeWording(
        words="coalesce(m.title, '')",
        there="NOT m.deleted",
        order="m.at DESC, m.id DESC",
        at="m.at",
        brief=("type",),
        details=("type", "path", "size", "project", "tags"),
    ),
    "Chunk": NodeWording(
        words="m.text",
        whole="m.text",
        there="m.text IS NOT NULL",
        order="m.live DESC, m.position, m.seq",
        at="m.at",
        flags=("live",),
        brief=("document", "position"),
        details=("document", "position"),
    ),
    "Project": NodeWording(words="m.id", order="m.id", flags=("status",), details=("description", "status")),
    "World": NodeWording(
        words="coalesce(m.name, m.id)", order="m.seq", flags=("story", "parent"), details=("parent", "fork")
    ),
    "CoreBlock": NodeWording(words="m.name", whole="m.text", order="m.name", world="m.world", details=("by",)),
    "Wording": NodeWording(
        words="m.of", order="CAST(m.id AS INT64) DESC", flags=("of", "owner", "lost_sources"), details=("of", "owner")
    ),
    "StageLine": NodeWording(
        words="m.aspect",
        whole="m.text",
        order="m.seq DESC",
        at="m.at",
        world="m.world",
        brief=("owner",),
        details=("owner", "aspect", "value", "by"),
    ),
    "Reference": NodeWording(
        words="m.address",
        order="m.attached DESC, m.seq DESC",
        at="m.at",
        flags=("attached",),
        brief=("kind",),
        details=("kind", "session"),
    ),
}

_MARKS = {"candidate": "under review", "superseded": "superseded"}
_HIDDEN_QUOTES = "MATCH (:Turn {id: $id})-[:RECALLED]->(h:Turn) WHERE h.hidden RETURN count(*) AS hidden"


def node_of(table: str, row: Row) -> Node:
    """A row of `Told.row` as a node; its words may still have to be veiled."""
    told = TABLES[table]
    times = {name: as_datetime(row[name]).isoformat() for name in told.times if row.get(name) is not None}
    named = {name: row[name] for name in dict.fromkeys((*told.brief, *told.details)) if name in row} | times
    details = {name: value for name, value in named.items() if value not in (None, "")}
    if row["_whole"] is not None:
        details["text"] = row["_whole"]
    world = row["_world"] if row["_world"] != MAIN_WORLD else None
    at = as_datetime(row["_at"]) if row["_at"] is not None else None
    mark = mark_of(table, row)
    found = Node(Ref(table, row["_id"]), _title(table, row), at, mark, world, details)
    return replace(found, title="", details=_bare(found)) if mark == HIDDEN else found


def mark_of(table: str, row: Row) -> str:
    """Why it is not in force; empty where it is."""
    match table:
        case "Turn" if row["hidden"]:
            return HIDDEN
        case "Turn" | "Entity" | "Reference" if row["_words"] is None:
            return "erased"
        case "Turn" if row["queued"]:
            return "waiting"
        case "Turn" if row["withheld"]:
            return "kept out"
        case "Turn" if not row["live"]:
            return "off the path"
        case "Observation" if row["status"] == "invalid":
            return "retired" if row["contradictions"] else "rejected"
        case "Observation" if row["status"] in _MARKS:
            return _MARKS[row["status"]]
        case "Observation" if not row["live"]:
            return "not in use"
        case "Session" if row["archived"]:
            return "archived"
        case "Chunk" if not row["live"]:
            return "from an earlier version"
        case "Reference" if not row["attached"]:
            return "dropped"
        case "Wording" if row["lost_sources"]:
            return "not in use"
        case "Project" if row["status"] == "archived":
            return "archived"
    return ""


def veiled(query: Query, nodes: Sequence[Node]) -> list[Node]:
    """The nodes, without the words of those that a hidden turn said first."""
    hidden = set(_hidden(query, nodes))
    return [replace(node, title="", mark=HIDDEN, details=_bare(node)) if node.ref in hidden else node for node in nodes]


def _hidden(query: Query, nodes: Sequence[Node]) -> Iterable[Ref]:
    for node in nodes:
        is_tool = node.ref.table == "Turn" and node.details.get("role") == "tool"
        if is_tool and node.mark != HIDDEN and query(_HIDDEN_QUOTES, {"id": node.ref.id})[0]["hidden"]:
            yield node.ref
    for table in ("Observation", "Entity"):
        ids = [node.ref.id for node in nodes if node.ref.table == table]
        if ids:
            condition = f"NOT {TABLES[table].open}"
            for row in query(f"MATCH (m:{table}) WHERE m.id IN $ids AND {condition} RETURN m.id AS id", {"ids": ids}):
                yield Ref(table, row["id"])


def _bare(node: Node) -> dict[str, Any]:
    return {name: value for name, value in node.details.items() if name != "text"}


def _title(table: str, row: Row) -> str:
    words: str | None = row["_words"]
    match table:
        case "World" if row["story"] is None or row["parent"] is not None:
            return "the main world" if words == MAIN_WORLD else "a what-if"
        case "Wording":
            return "a title of a chat" if words == "Session" else "a version of a core block"
        case _:
            return " ".join((words or "").split())
