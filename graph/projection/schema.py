"""The tables of graph and log, declared once: every sink, the rebuild and the doctor read them from here.

Neither has migrations. Whoever changes a table or a projection raises VERSION, and every graph is rebuilt; whoever
changes what the log's tables hold (sqlite_tables.py) raises TABLES, and they are.
Its names are typed by people and kept in their queries: whoever changes one adds it to graph/console/renames.py.
"""

from dataclasses import dataclass

VERSION = 9
TABLES = 5


@dataclass(frozen=True, slots=True)
class NodeTable:
    """A node table; `columns` are name and Kuzu type, the primary key `id` first.

    `read` are the columns that projections look at: a live sink loads no others, least of all long texts. `beside`
    is what the table is called beside the log, which has the words of every event and needs them no second time:
    `graph_only` columns are not in it, `log_only` columns in no graph.
    """

    name: str
    columns: tuple[tuple[str, str], ...]
    read: tuple[str, ...] = ()
    beside: str = ""
    graph_only: tuple[str, ...] = ()
    log_only: tuple[tuple[str, str], ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.columns)

    @property
    def stored(self) -> tuple[tuple[str, str], ...]:
        """The columns of the table beside the log."""
        return (*(each for each in self.columns if each[0] not in self.graph_only), *self.log_only)


@dataclass(frozen=True, slots=True)
class RelTable:
    """A directed relationship table; `ends` are the node tables it may lead to, `columns` name and Kuzu type.

    Projections ask for those that lead to a node only of tables that are looked at `backwards`. Those that a column of
    a node says too (`REPLIES_TO`: Turn.above) are no `links` beside the log. There may be several between the same two
    where a column, `key`, tells them apart.
    """

    name: str
    start: str
    ends: tuple[str, ...]
    columns: tuple[tuple[str, str], ...] = ()
    backwards: bool = False
    links: bool = False
    key: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.columns)


_ID = ("id", "STRING")

WORLD = NodeTable(
    "World",
    (
        _ID,
        ("parent", "STRING"),  # the world a what-if left, null of main
        ("fork", "STRING"),  # the turn it left that at
        ("seq", "INT64"),  # the event it began with: of its parent it sees what was then
        ("forked", "INT64"),  # the last event at which a what-if left it
        ("story", "STRING"),  # the story that it is, or that it left; null of main and its what-ifs
        ("name", "STRING"),  # of a story
        ("name_seq", "INT64"),
    ),
    read=("parent", "fork", "seq", "forked", "story", "name_seq"),
    beside="worlds",
    graph_only=("name",),
)

SESSION = NodeTable(
    "Session",
    (
        _ID,
        ("world", "STRING"),
        ("project", "STRING"),
        ("client", "STRING"),
        ("name", "STRING"),  # given by the user
        ("title", "STRING"),  # taken from the content: the latest whose sources all stand
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
        ("wording", "STRING"),  # the latest title, whether it may be shown or not
    ),
    read=("world", "project", "deleted", "turns", "last_at", "head", "name_seq", "title_seq", "prompt_seq", "wording"),
    beside="sessions",
    graph_only=("name", "title", "model", "system_prompt"),
    log_only=(
        ("seq", "INT64"),  # the event it began with
        ("origin", "STRING"),  # the session that a fork left, and the turn it left that at
        ("fork", "STRING"),
        ("last_seq", "INT64"),  # of what was said last in it, or of its beginning
    ),
)

_LIVENESS = ("hidden", "deleted", "withheld", "heads", "on_path_since", "past_on_path", "live")
_PLACE = ("parent", "depth", "jump", "above")

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
        ("withheld", "BOOL"),  # kept out of memory by the user
        ("significance", "INT64"),  # 0 to 3, null while nobody judged it
        ("evidence", "INT64"),  # relationships by which an observation, title or core block hangs on it
        ("touched", "INT64"),  # the last event that changed what it is: its text, its place, whether it is live
        ("heads", "INT64"),  # heads of its own world at or below it
        ("on_path_since", "INT64"),  # the event since which there is one, null while there is none
        # Earlier stretches in which a what-if left its world, joined by commas: "first-end", the end not included.
        ("past_on_path", "STRING"),
        ("parent", "STRING"),
        ("depth", "INT64"),  # turns above it on its path
        ("jump", "STRING"),  # a turn further up, to find any turn of the path in few steps
        ("above", "STRING"),  # the nearest turn above it that is not deleted: where REPLIES_TO leads
        ("addressed", "STRING"),  # in a story, the member of the cast that it is said to
        ("witnesses", "STRING"),  # in a story, the members who saw it, joined by spaces; null elsewhere
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
    read=("world", "seq", "speaker", *_LIVENESS, *_PLACE, "at", "evidence", "witnesses"),
    beside="turns",
    graph_only=(
        "text",
        "stop_reason",
        "error",
        "model",
        "prompt_hash",
        "prompt_tokens",
        "evaluated_tokens",
        "completion_tokens",
        "first_token_ms",
        "total_ms",
    ),
    log_only=(("placed", "INT64"),),  # the event that gave it its place: its saying, or its taking if it was queued
)

# A speaker's id is the name it spoke as first. What people said by hand counts here as it does in main; what a what-if
# says is read from the log.
ENTITY = NodeTable(
    "Entity",
    (
        _ID,
        ("kind", "STRING"),
        ("name", "STRING"),
        (
            "name_seq",
            "INT64",
        ),  # the event the name came from, so that erasing that erases it here; null: its id, 0: none
        ("noted_kind", "STRING"),  # the same as long as nobody says otherwise by hand
        ("noted_seq", "INT64"),
        ("same_as", "STRING"),  # the entity that it is the same as: it has no relationships then, that one has them
        ("split", "BOOL"),  # whether some that name it ever meant another
    ),
    read=("kind", "name_seq", "noted_kind", "noted_seq", "same_as", "split"),
    beside="entities",
    graph_only=("name",),
)

OBSERVATION = NodeTable(
    "Observation",  # one revision
    (
        _ID,
        ("seq", "INT64"),  # its event in the log
        ("text", "STRING"),
        ("kind", "STRING"),
        ("status", "STRING"),  # candidate, active, superseded, invalid: as it stands now
        ("judged", "STRING"),  # candidate, active, invalid: as it was made or reviewed last
        ("confidence", "DOUBLE"),  # as it was made; supports and reinforcements that are live add to it
        ("grounded", "BOOL"),
        ("origin", "STRING"),  # model, verbatim, user
        ("world", "STRING"),
        ("project", "STRING"),
        ("scope", "STRING"),  # its tags, sorted; else its project; else "global"
        ("at", "INT64"),  # when this revision was made, in UTC milliseconds
        ("first_seen", "INT64"),  # when the first revision's oldest source was said; survives revisions
        ("series", "STRING"),
        ("supersedes", "STRING"),
        ("instead_of", "STRING"),
        ("live", "BOOL"),
        ("current", "BOOL"),  # live, in use or under review, and no live revision supersedes it
        ("pinned", "BOOL"),
        ("deleted", "BOOL"),
        ("lost_sources", "INT64"),  # of its sources, how many do not stand: are not live, or are withheld
        # Live revisions that supersede it and are in use, or are superseded by such themselves.
        ("newer_revisions", "INT64"),
        ("contradictions", "INT64"),  # turns that stand and contradict it
        ("substitutes", "INT64"),  # revisions that were made instead of it
        ("parents", "INT64"),  # how many others it was made from: two of a synthesis, else none
        ("syntheses", "INT64"),  # of a first revision: how many were made from one of its series and another
        ("touched", "INT64"),  # the last event that changed it, its proof or its confidence
        ("relation", "STRING"),  # how two entities stand to each other, if it says that: RELATES, while it is in force
        ("subject", "STRING"),
        ("object", "STRING"),
        ("since", "STRING"),  # a day, a month or a year
        ("until", "STRING"),
        ("polarity", "BOOL"),  # false where it is said not to be so
        ("word", "STRING"),  # what the speaker called it: sister
    ),
    read=(
        "seq",
        "judged",
        "status",
        "world",
        "first_seen",
        "series",
        "supersedes",
        "instead_of",
        "live",
        "current",
        "deleted",
        "lost_sources",
        "newer_revisions",
        "contradictions",
        "substitutes",
        "parents",
        "syntheses",
        "confidence",
        "relation",
        "subject",
        "object",
        "since",
        "until",
        "polarity",
    ),
    beside="observations",
    graph_only=("text",),
)

PROJECT = NodeTable(
    "Project",
    (_ID, ("description", "STRING"), ("status", "STRING"), ("seq", "INT64")),
    read=("seq",),
    beside="projects",
    graph_only=("description",),
)

CORE_BLOCK = NodeTable(  # id: its name; and the world in a second line, its project in a third, where it has them
    "CoreBlock",
    (
        _ID,
        ("name", "STRING"),
        ("world", "STRING"),
        ("text", "STRING"),  # of the latest version whose sources all stand; null where that is empty
        ("by", "STRING"),
        ("seq", "INT64"),  # the event that wrote that version
        ("wording", "STRING"),  # the latest version, whether it may be shown or not
    ),
    read=("world", "seq", "wording"),
    beside="core_blocks",
    graph_only=("text", "by"),
)

WORDING = NodeTable(  # a version of a title or a core block; id: the number of the event that wrote it
    "Wording",
    (
        _ID,
        ("of", "STRING"),  # the table of what it is a version of: Session, CoreBlock
        ("owner", "STRING"),
        ("before", "STRING"),  # the version before it
        ("lost_sources", "INT64"),  # of its sources, how many do not stand
    ),
    read=("of", "owner", "before", "lost_sources"),
    beside="wordings",
)

DOCUMENT = NodeTable(
    "Document",
    (
        _ID,
        ("title", "STRING"),
        ("path", "STRING"),
        ("type", "STRING"),
        ("project", "STRING"),
        ("tags", "STRING"),
        ("size", "INT64"),
        ("at", "INT64"),  # of the latest reading
        ("seq", "INT64"),
        ("deleted", "BOOL"),
    ),
    read=("seq", "deleted"),
    beside="documents",
    graph_only=("title", "path"),
)

CHUNK = NodeTable(
    "Chunk",
    (
        _ID,
        ("seq", "INT64"),
        ("document", "STRING"),
        ("text", "STRING"),
        ("headings", "INT64"),  # lines of headings its text begins with
        ("position", "INT64"),  # in the latest reading that holds it, from 0
        ("at", "INT64"),
        ("live", "BOOL"),  # the document's latest reading holds it
        ("evidence", "INT64"),
        ("touched", "INT64"),
    ),
    read=("document", "position", "live", "at", "evidence"),
    beside="chunks",
    graph_only=("text",),
)

STAGE_LINE = NodeTable(  # in a story, what one aspect of something is from a turn on; id: its event's number
    "StageLine",
    (
        _ID,
        ("seq", "INT64"),
        ("world", "STRING"),
        ("owner", "STRING"),  # a member of the cast, or a name such as "world"
        ("aspect", "STRING"),  # seat, card, mood, place …
        ("value", "STRING"),  # of a seat: which; of a reset: the event after which a member's memory begins
        ("text", "STRING"),
        ("by", "STRING"),  # user, rule, model
        ("after", "STRING"),  # the turn at which it was set: it holds on the paths over it; null: on all
        ("at", "INT64"),
    ),
    read=("seq",),
    beside="stage_lines",
    graph_only=("text",),
)

REFERENCE = NodeTable(  # something that is read from its source, whose words are nowhere here
    "Reference",
    (
        _ID,
        ("session", "STRING"),
        ("kind", "STRING"),  # thread, page, file
        ("turn", "STRING"),  # the message it was attached with: it counts on the paths over that; null: on all
        ("address", "STRING"),
        ("at", "INT64"),  # when it was attached last
        ("seq", "INT64"),
        ("attached", "BOOL"),  # whether its session refers to it: REFERS_TO
    ),
    read=("session", "seq", "attached"),
    beside="attachments",  # `references` is a word of SQL
    graph_only=("address",),
)

NODES = (
    *(WORLD, SESSION, TURN, ENTITY, OBSERVATION, PROJECT, CORE_BLOCK, WORDING, DOCUMENT, CHUNK, STAGE_LINE),
    REFERENCE,
)

_AT = ("at", "INT64")

RELS = (
    RelTable("IN_WORLD", "Session", ("World",)),
    RelTable("HEAD", "Session", ("Turn",), backwards=True),  # deleted turns are passed by, here and in REPLIES_TO
    RelTable("IN_SESSION", "Turn", ("Session",)),
    RelTable("REPLIES_TO", "Turn", ("Turn",), backwards=True),
    RelTable("SAID_BY", "Turn", ("Entity",), backwards=True),
    RelTable("WITNESSED", "Entity", ("Turn",)),  # members of a story's cast, and the turns that they saw
    RelTable("SET_FROM", "StageLine", ("Turn",), links=True),  # whose words it may carry
    # What was put before the model for a reply, or what a tool's result quotes; by the strategy that ranked it best.
    RelTable(
        "RECALLED",
        "Turn",
        ("Turn", "Observation", "Chunk", "Reference"),
        (("strategy", "STRING"), ("rank", "INT64"), ("score", "DOUBLE")),
    ),
    # Whom a turn names, and what an observation is about: those who are meant today. `told` is the entity it told.
    RelTable(
        "MENTIONS",
        "Turn",
        ("Entity",),
        (("seq", "INT64"), ("told", "STRING")),  # seq: the event that noted it
        backwards=True,
        links=True,
        key="told",
    ),
    RelTable(
        "DERIVED_FROM", "Observation", ("Turn", "Chunk"), (_AT,), backwards=True, links=True
    ),  # at: when that was said
    RelTable("SUPPORTED_BY", "Observation", ("Turn", "Chunk"), (_AT, ("amount", "DOUBLE")), backwards=True, links=True),
    RelTable("REINFORCED_BY", "Observation", ("Turn",), (_AT, ("amount", "DOUBLE")), backwards=True, links=True),
    RelTable("RETIRED_BY", "Observation", ("Turn",), backwards=True, links=True),
    RelTable("SUPERSEDES", "Observation", ("Observation",), backwards=True),
    RelTable("INSTEAD_OF", "Observation", ("Observation",), backwards=True),
    RelTable("SYNTHESIZED_FROM", "Observation", ("Observation",), backwards=True, links=True),
    RelTable("WORDED_FROM", "Wording", ("Turn", "Chunk"), backwards=True, links=True),
    RelTable("ABOUT", "Observation", ("Entity",), (("told", "STRING"),), backwards=True, links=True, key="told"),
    # An entity that was split off from another, by the turns and observations that mean it.
    RelTable("SPLIT_FROM", "Entity", ("Entity",), (("item", "STRING"),), backwards=True, links=True, key="item"),
    # What an observation says of two entities, while it is in force and in use.
    RelTable(
        "RELATES",
        "Entity",
        ("Entity",),
        (
            ("observation", "STRING"),
            ("kind", "STRING"),
            ("since", "STRING"),
            ("until", "STRING"),
            ("polarity", "BOOL"),
            ("confidence", "DOUBLE"),
            ("world", "STRING"),
        ),
        key="observation",
    ),
    RelTable("SCOPED_TO", "Session", ("Project",)),
    RelTable("PART_OF", "Chunk", ("Document",), backwards=True),  # of the latest reading
    RelTable("REFERS_TO", "Session", ("Reference",)),
    # Who wrote it, as it was read: an author is known by a DID. `told` is the entity it told.
    RelTable(
        "WRITTEN_BY",
        "Reference",
        ("Entity",),
        (("seq", "INT64"), ("told", "STRING"), ("did", "STRING")),
        backwards=True,
        links=True,
        key="told",
    ),
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
        f"CREATE REL TABLE `{rel.name}` ({', '.join(f'FROM `{rel.start}` TO `{end}`' for end in rel.ends)}"
        f"{''.join(f', `{name}` {type}' for name, type in rel.columns)})"
        for rel in RELS
    ]
    return nodes + rels
