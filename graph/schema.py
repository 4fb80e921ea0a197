"""The tables of the graph, declared once: the live sink, the rebuild and the doctor all read them from here.

The graph has no migrations. Whoever changes a table or a projection raises VERSION, and every graph is rebuilt.
"""

from dataclasses import dataclass

VERSION = 2


@dataclass(frozen=True, slots=True)
class NodeTable:
    """A node table; `columns` are name and Kuzu type, the primary key `id` first.

    `read` are the columns that projections look at: the live sink loads no others, least of all long texts.
    """

    name: str
    columns: tuple[tuple[str, str], ...]
    read: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.columns)


@dataclass(frozen=True, slots=True)
class RelTable:
    """A directed relationship table between two node tables; `columns` are the name and Kuzu type of its properties."""

    name: str
    start: str
    end: str
    columns: tuple[tuple[str, str], ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.columns)


_ID = ("id", "STRING")

WORLD = NodeTable("World", (_ID, ("fork", "STRING")))  # fork: the turn a what-if left its origin at

SESSION = NodeTable(
    "Session",
    (
        _ID,
        ("world", "STRING"),
        ("project", "STRING"),
        ("client", "STRING"),
        ("name", "STRING"),  # given by the user
        ("title", "STRING"),  # taken from the content
        ("started_at", "INT64"),
        ("last_at", "INT64"),
        ("archived", "BOOL"),
        ("deleted", "BOOL"),
        ("turns", "INT64"),  # said here, queued and off-path ones included
        ("head", "STRING"),
        ("model", "STRING"),
        ("system_prompt", "STRING"),
        ("name_seq", "INT64"),  # the event each text came from, so that erasing that event erases it here
        ("title_seq", "INT64"),
        ("prompt_seq", "INT64"),
    ),
    read=("world", "deleted", "turns", "last_at", "head", "name_seq", "title_seq", "prompt_seq"),
)

TURN = NodeTable(
    "Turn",
    (
        _ID,
        ("seq", "INT64"),  # its event in the log
        ("session", "STRING"),
        ("world", "STRING"),
        ("role", "STRING"),
        ("speaker", "STRING"),
        ("client", "STRING"),
        ("text", "STRING"),
        ("at", "INT64"),  # when it was said, in UTC milliseconds
        ("index", "INT64"),
        ("live", "BOOL"),
        ("hidden", "BOOL"),
        ("deleted", "BOOL"),
        ("queued", "BOOL"),
        ("pinned", "BOOL"),
        ("touched", "INT64"),  # the last event that changed what it is: its text, its place, whether it is live
        ("heads", "INT64"),  # heads of its own world at or below it
        ("parent", "STRING"),
        ("depth", "INT64"),  # turns above it on its path
        ("stop_reason", "STRING"),
        ("error", "STRING"),
        ("model", "STRING"),
        ("prompt_hash", "STRING"),
        ("prompt_tokens", "INT64"),
        ("evaluated_tokens", "INT64"),
        ("completion_tokens", "INT64"),
        ("first_token_ms", "DOUBLE"),
        ("total_ms", "DOUBLE"),
    ),
    read=("world", "hidden", "deleted", "heads", "parent", "depth"),
)

ENTITY = NodeTable("Entity", (_ID, ("kind", "STRING")))

NODES = (WORLD, SESSION, TURN, ENTITY)

RELS = (
    RelTable("IN_WORLD", "Session", "World"),
    RelTable("HEAD", "Session", "Turn"),
    RelTable("IN", "Turn", "Session"),
    RelTable("REPLIES_TO", "Turn", "Turn"),
    RelTable("SAID_BY", "Turn", "Entity"),
    # What was put before the model for a reply, or what a tool's result quotes; by the strategy that ranked it best.
    RelTable("RECALLED", "Turn", "Turn", (("strategy", "STRING"), ("rank", "INT64"), ("score", "DOUBLE"))),
)

# One row: which schema this is, and the last event applied with the hash of the chain there.
META = NodeTable("Meta", (("id", "INT64"), ("version", "INT64"), ("applied", "INT64"), ("link", "STRING")))


def statements() -> list[str]:
    """The Cypher that makes an empty graph."""
    nodes = [
        f"CREATE NODE TABLE `{table.name}` ({', '.join(f'`{name}` {type}' for name, type in table.columns)},"
        " PRIMARY KEY (`id`))"
        for table in (META, *NODES)
    ]
    rels = [
        f"CREATE REL TABLE `{rel.name}` (FROM `{rel.start}` TO `{rel.end}`"
        f"{''.join(f', `{name}` {type}' for name, type in rel.columns)})"
        for rel in RELS
    ]
    return nodes + rels
