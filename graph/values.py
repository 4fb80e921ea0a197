"""What the memory hands out: plain frozen values, so that no Kuzu or SQLite object leaves this package."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal

from graph.events import FROM_MEMORY, MAIN_WORLD, ObservationKind, Recalled, Seat, Strategy
from graph.fact_types import FactType, fact_type
from graph.relations import SPEAKER, kinds
from graph.visibility import EVERYONE, SEVERAL, Viewer, for_all, sees_made

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Turn:
    """One message as read back. `text` is None once erased; `at` is when it was said; `index` counts from 0."""

    id: str
    session: str
    parent: str | None
    index: int
    role: str
    speaker: str
    text: str | None
    at: datetime
    client: str
    queued: bool = False  # said while a reply was streaming, and not taken up yet
    hidden: bool = False
    stop_reason: str | None = None
    error: str | None = None
    model: str | None = None
    host: str | None = None  # another machine, where the model is and what was said went to
    prompt_hash: str | None = None
    prompt_tokens: int | None = None
    evaluated_tokens: int | None = None
    completion_tokens: int | None = None
    first_token_ms: float | None = None
    total_ms: float | None = None
    redrawn: int = 0  # how often, as nothing but a frame of clew's or nothing at all had come
    recalled: tuple[Recalled, ...] = ()  # what was put before the model for this reply, or what a tool's result quotes
    pinned: bool = False
    withheld: bool = False  # kept out of memory by the user
    deleted: bool = False  # gone for good; what followed it follows what it followed
    sampling: dict[str, float | int | None] | None = None  # that a reply was made with, as the log has it
    member: str | None = None  # in a story, who of the cast speaks: `speaker` is its name
    addressed: str | None = None  # in a story, the member of the cast that it is said to
    witnesses: tuple[str, ...] | None = None  # in a story, the members who saw it; None elsewhere

    @property
    def truncated(self) -> bool:
        """A reply that did not end by itself: stopped, failed, cut off by its limit or by a crash."""
        return self.stop_reason not in (None, "end")

    @property
    def retells(self) -> bool:
        """It only tells again what the memory holds: a tool's answer, or a reply of the memory itself."""
        return self.role == "tool" or self.model == FROM_MEMORY

    @property
    def empty(self) -> bool:
        """A reply of which no word came."""
        return self.role == "assistant" and not (self.text or "").strip()


@dataclass(frozen=True, slots=True)
class Session:
    """A session as listed. `name` is what to show: the user's name, else the title, else None."""

    id: str
    name: str | None
    named_by_user: bool
    world: str
    project: str | None
    head: str | None
    archived: bool
    deleted: bool
    started_at: datetime
    last_at: datetime
    turns: int  # said in this session, queued and off-path ones included, deleted ones not
    model: str | None = None
    system_prompt: str | None = None
    sampling: dict[str, float | int | None] | None = None
    story: str | None = None  # the world of the story that it plays in, maybe over what-ifs


@dataclass(frozen=True, slots=True)
class Speaker:
    """Who speaks a reply, and in a story the members of the cast who hear it."""

    speaker: str = "assistant"
    witnesses: tuple[str, ...] | None = None


ASSISTANT = Speaker()


@dataclass(frozen=True, slots=True)
class Member:
    """Who plays in a story: an id apart from its name, its seat, and after which event its memory begins."""

    id: str
    name: str
    seat: Seat
    since: int = 0


@dataclass(frozen=True, slots=True)
class StageLine:
    """What one aspect of something on a stage is; `seq` is its event, `after` the turn at which it was set.

    `value` is of a seat or a reset, which have no text. `text` is None where it was taken away, or erased.
    """

    owner: str
    aspect: str
    text: str | None
    value: str | None
    by: str
    seq: int
    at: datetime
    after: str | None


@dataclass(frozen=True, slots=True)
class StoryWorld:
    """A story, by the id of its world, and its chats that were not deleted, the newest activity first."""

    world: str
    name: str
    at: datetime
    sessions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Exchange:
    """A user turn and the reply to it, if there is one yet; `tools` are what was looked up on the way, oldest first.

    Only `exchange` reads the tools: lists of exchanges are without them.
    """

    turn: Turn
    reply: Turn | None
    project: str | None
    tools: tuple[Turn, ...] = ()


@dataclass(frozen=True, slots=True)
class Recorded:
    """An appended event. `graph_behind` says that the graph could not follow and will catch up by itself."""

    seq: int
    id: str
    at: datetime
    graph_behind: bool


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a long piece of work on the memory is; `total` is 0 while unknown. What "failed" did so for a `why`."""

    what: Literal["opening", "catching up", "rebuilding", "ready", "purging", "failed"]
    done: int
    total: int
    why: str = ""


@dataclass(frozen=True, slots=True)
class Check:
    """One finding of the doctor: what was looked at, whether it is well, the detail, and what to do when it is not."""

    name: str
    ok: bool
    detail: str
    advice: str = ""


@dataclass(frozen=True, slots=True)
class World:
    """`main`, a story, or a what-if: its `parent` world as it was at event `seq`, without what follows turn `fork`.

    Of main, and of stories, parent, fork, session and origin are None; of main began_at is, too, and seq is 0. `name`
    is a story's, or else that of the session that began the what-if. `story` is the story that a world is, or that it
    left; a story is the one that has its own id there.
    """

    id: str
    name: str | None
    parent: str | None = None
    fork: str | None = None
    session: str | None = None
    seq: int = 0
    began_at: datetime | None = None
    origin: str | None = None  # the session it left
    story: str | None = None


@dataclass(frozen=True, slots=True)
class Alternatives:
    """The turns that stand in the place of one turn of a session, oldest first, and which of them it shows."""

    turns: tuple[str, ...]
    place: int  # from 0

    @property
    def label(self) -> str:
        """As people read it: 2/3."""
        return f"{self.place + 1}/{len(self.turns)}"


@dataclass(frozen=True, slots=True)
class Branch:
    """A turn in the tree of a session, with what follows it, the oldest first; tools' turns are left out.

    `on_path`: at or above the session's head. `forks` are the sessions that leave here.
    """

    turn: str
    role: str
    speaker: str
    text: str | None  # None where it is hidden or erased
    at: datetime
    on_path: bool
    head: bool
    hidden: bool
    children: tuple["Branch", ...] = ()
    forks: tuple[str, ...] = ()


Status = Literal["candidate", "active", "superseded", "invalid"]
Trend = Literal["new", "strengthening", "stable", "weakening", "stale"]


YOU = "you"


@dataclass(frozen=True, slots=True)
class Named:
    """An entity by its id, and what it is called; "" where all that named it was erased."""

    id: str
    name: str


@dataclass(frozen=True, slots=True)
class Entity:
    """A person, place or thing as a world knows it; `name` as for Named.

    `others` is what else it is called, `aliases` those of them that were given by hand, by their ids, and `merged` are
    the entities that are the same.
    """

    id: str
    name: str
    kind: str
    others: tuple[str, ...] = ()
    aliases: tuple[tuple[str, str], ...] = ()
    merged: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Relationship:
    """How one entity stands to another: a kind of graph/relations.toml, from subject to object.

    `since` and `until` are days, months or years ("2026-10-14", "2026-10", "2026"); `polarity` is false of what is said
    not to be so; `word` is what the speaker called it ("sister").
    """

    subject: Named
    kind: str
    object: Named
    since: str | None = None
    until: str | None = None
    polarity: bool = True
    word: str | None = None

    @property
    def sentence(self) -> str:
        """It in the table's words: "Ada works with Bob since 2024."; what `you` is, is told as by who speaks."""
        ends = (SPEAKER if end.name == YOU else end.name for end in (self.subject, self.object))
        return kinds()[self.kind].says(*ends, polarity=self.polarity, since=self.since, until=self.until)


@dataclass(frozen=True, slots=True)
class Later:
    """A turn that was said later on the topic of something older, which it may outdate."""

    turn: str
    session: str
    role: str
    speaker: str
    text: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Related:
    """A relationship that is in force in a world, and the id of the observation that says it."""

    memory: str
    relationship: Relationship


@dataclass(frozen=True, slots=True)
class Observation:
    """One revision of something that was learned, as it stands now. `text` is None once erased.

    `confidence` is that of its making and what live supports and reinforcements add, at most 1. `sources` are the turns
    and chunks it was made from, `supports` those that say the same; both only as far as they are live, oldest first.
    `project` is that of the chats or documents of its sources, "" where they have several. `later` is what was said
    since on the same topic, the newest first, as far as it was asked for.
    """

    id: str
    series: str
    text: str | None
    kind: ObservationKind
    status: Status
    confidence: float
    grounded: bool
    origin: Literal["model", "verbatim", "user"]
    world: str
    project: str | None
    scope: str
    at: datetime  # when this revision was made
    first_seen: datetime  # when the first one's oldest source was said
    live: bool
    current: bool
    pinned: bool
    proof_count: int  # live sources, but for those it corrects, and supports
    trend: Trend
    times: tuple[datetime, ...]  # when its live sources and supports were said, oldest first
    sources: tuple[str, ...]
    supports: tuple[str, ...]
    about: tuple[str, ...]  # names
    reference_count: int  # live turns that echoed it
    last_referenced_at: datetime | None
    supersedes: str | None = None
    proposed_by: str = ""  # the program that it is from; empty where it was told or learned
    corrected: tuple[str, ...] = ()  # turns and chunks it was made from whose words it puts right: no proof of it
    tags: tuple[str, ...] = ()  # given by hand, sorted
    relationship: Relationship | None = None  # how two stand to each other, if it says that
    later: tuple[Later, ...] = ()
    parents: tuple[str, ...] = ()  # the two that it was made from, of a synthesis

    @property
    def said_at(self) -> datetime:
        """When it was last said; of what no live words say, when it was made."""
        return max(self.times, default=self.at)

    @property
    def fact_type(self) -> FactType:
        """Whether it is true of the world or of somebody, happened, or is somebody's opinion."""
        there = self.relationship
        return fact_type(self.text or "", self.kind, there.kind if there is not None else None)

    @property
    def whose(self) -> str:
        """Of whom it is said: who stands in the relationship, or is named first; else who speaks, `you`."""
        if self.relationship is not None:
            return self.relationship.subject.name or YOU
        first = (self.text or "").casefold()
        named = (name for name in self.about if re.match(rf"{re.escape(name.casefold())}\b", first))
        return max(named, key=len, default=YOU)

    @property
    def plain(self) -> bool:
        """Whether it was learned to say a relationship and nothing else, in the table's words, beside what was said."""
        there = self.relationship
        if there is None or self.origin == "user":
            return False
        return self.kind is ObservationKind.RELATIONSHIP and self.text == there.sentence


def seen_by(viewer: Viewer, memory: Observation) -> bool:
    """Whether a chat of a project, or of none, sees a memory."""
    owner = SEVERAL if memory.project == "" else memory.project
    return sees_made(viewer, owner, everywhere=for_all(memory.kind, memory.origin))


@dataclass(frozen=True, slots=True)
class Proof:
    """The words behind an observation: a turn or a chunk, by which relationship, and whether it is live."""

    id: str
    kind: Literal["turn", "chunk"]
    relation: Literal["DERIVED_FROM", "SUPPORTED_BY", "REINFORCED_BY", "RETIRED_BY"]
    at: datetime
    live: bool
    speaker: str  # of a chunk: its document's title
    session: str  # of a chunk: its document's id
    text: str | None  # None where it may not be shown
    role: str = "user"  # of a turn; what was written by hand is a note


@dataclass(frozen=True, slots=True)
class Story:
    """An observation with all there is to it: its revisions, the oldest first, and the proof of each by its id.

    `parents` are what a synthesis was made from, as far as they are not forgotten.
    """

    observation: Observation
    revisions: tuple[Observation, ...]
    proofs: dict[str, tuple[Proof, ...]]
    parents: tuple[Observation, ...] = ()


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which observations; None means any. Without `status`, those that are current. `about` is a name, in any case.

    `text` is looked for in words. `dead` shows those that are not live too. `project` asks for those of one, `viewer`
    for those that a chat of a project, or of none, sees. `since` (inclusive) and `until` (exclusive) are aware, and
    of when a revision was made. `related` asks for those that say how two stand to each other, `relation` for those
    that say one kind of that, `entity` for those in which one of them is the entity of that id, `plain` for those
    that say a relationship and nothing else, or for the others.
    `fact_type` asks for what is true of the world, happened, or is an opinion.
    """

    status: Status | None = None
    kind: ObservationKind | None = None
    about: str | None = None
    project: str | None = None
    trend: Trend | None = None
    pinned: bool | None = None
    text: str | None = None
    world: str = MAIN_WORLD
    dead: bool = False
    everything: bool = False  # whatever the status
    viewer: Viewer = EVERYONE
    since: datetime | None = None
    until: datetime | None = None
    related: bool = False
    relation: str | None = None
    entity: str | None = None
    plain: bool | None = None
    fact_type: FactType | None = None


@dataclass(frozen=True, slots=True)
class CoreBlock:
    """A short text that is in every prompt of its world, and of its project, if it has one.

    `version` is the event that wrote it.
    """

    name: str
    world: str
    text: str
    by: Literal["user", "agent"]
    version: int
    project: str | None = None


@dataclass(frozen=True, slots=True)
class Project:
    """What sessions, observations and documents can belong to."""

    name: str
    description: str
    status: Literal["active", "archived"]
    sessions: int
    observations: int  # current ones


@dataclass(frozen=True, slots=True)
class Reference:
    """Something that a session refers to and that is read where it lives; an erased `address` is empty.

    `attached` says whether the session still refers to it: where it went along with a message, `turn`, on the paths
    over that.
    """

    id: str
    session: str
    kind: Literal["thread", "page", "file"]
    address: str
    at: datetime
    attached: bool = True
    turn: str | None = None


@dataclass(frozen=True, slots=True)
class Document:
    """A file that was ingested, as it was read last."""

    id: str
    title: str
    path: str
    type: Literal["markdown", "text", "code", "pdf"]
    project: str | None
    tags: tuple[str, ...]
    size: int  # bytes
    at: datetime
    chunks: int


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of a document; `headings` lead to it, the outermost first."""

    id: str
    document: str
    title: str
    path: str
    position: int
    headings: tuple[str, ...]
    text: str  # without the headings
    at: datetime

    @property
    def place(self) -> str:
        """Where it stands: the title and the headings."""
        return place_of(self.title, self.headings)


def place_of(title: str, headings: Sequence[str]) -> str:
    """A document's title with the headings that lead to a piece of it; a title that is a heading too is said once."""
    return " › ".join(headings if headings and headings[0] == title else (title, *headings))


@dataclass(frozen=True, slots=True)
class Unreflected:
    """Turns that were not reflected on: an exchange that ended, oldest turn first, or what survived of `instead_of`."""

    turns: tuple[str, ...]
    session: str
    world: str
    project: str | None
    instead_of: str | None = None


@dataclass(frozen=True, slots=True)
class NearObservation:
    """An observation near to some words, in use or under review, and how near: cosine (0 without vectors), 0–1."""

    observation: Observation
    cosine: float
    words: float  # share of the words


Kind = Literal["turn", "observation", "chunk"]


@dataclass(frozen=True, slots=True)
class Vector:
    """A query's embedding: float32[dimension], of length 1, and the key of the model that made it.

    A cosine with it is read as (cosine - zero) * slope, so that it means the same whatever the model.
    """

    model: str
    values: "NDArray[np.float32]"
    zero: float = 0.0
    slope: float = 1.0


@dataclass(frozen=True, slots=True)
class Filters:
    """What recall may answer with. Times are aware; `since` is inclusive, `until` exclusive.

    `project` is who looks: a chat of that project, of none (None), or the user, who sees everything; with a `session`
    given, what that one sees. `person` is a speaker's name in any case; `exclude` are turns that the prompt holds
    already. `witness` is a member of a story's cast: nothing is told but what it saw itself.
    """

    session: str | None = None
    project: Viewer = EVERYONE
    person: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    roles: frozenset[str] = frozenset({"user", "assistant", "note"})
    world: str = MAIN_WORLD
    live: bool = True
    exclude: frozenset[str] = frozenset()
    witness: str | None = None
    kinds: frozenset[Kind] = frozenset({"turn", "observation", "chunk"})


@dataclass(frozen=True, slots=True)
class CalledBy:
    """Somebody whom a question means without a name: the owner's sister or landlord, by what they are called.

    `owner` is a name, or "you". Whoever is called so is the subject of the kind, or its object (`turned`).
    """

    owner: str
    word: str
    kind: str
    turned: bool = False


@dataclass(frozen=True, slots=True)
class Reason:
    """One strategy that found a hit: its rank there, from 1, and the score on that strategy's own scale."""

    strategy: Strategy
    rank: int
    score: float


@dataclass(frozen=True, slots=True)
class Boost:
    """A bounded lift after fusion: what for ("recency", "pin", "speaker", "time" …), and how much of the score."""

    name: str
    amount: float


@dataclass(frozen=True, slots=True)
class Step:
    """One edge on the way from what matched to what was found: the relationship, and the node it leads to."""

    relation: str
    node: str


@dataclass(frozen=True, slots=True)
class Hit:
    """Something recalled, with why: rank per strategy, boosts, and the path in the graph if a neighbour led to it.

    `way` is that path in words where relationships led to it ("Ada —works with→ Bob"); it is not kept with a reply.
    Of an observation `sources` are the live turns and chunks that prove it, the best first; session, role and speaker
    are those of the oldest turn it was made from, and `at` is the newest's. Of a chunk `session` is its document, and
    `session_name` the document's title with the headings. `later` is what people said since on the same topic, the
    newest first: it is given wherever the hit is, as the hit may be outdated.
    """

    kind: Kind
    id: str
    session: str
    session_name: str | None
    role: str
    speaker: str
    text: str
    at: datetime
    score: float
    reasons: tuple[Reason, ...] = ()
    boosts: tuple[Boost, ...] = ()
    path: tuple[Step, ...] = ()
    sources: tuple[str, ...] = ()
    later: tuple[Later, ...] = ()
    way: str = ""


@dataclass(frozen=True, slots=True)
class Segment:
    """A piece of a snippet, and whether it matched."""

    text: str
    matched: bool


@dataclass(frozen=True, slots=True)
class FoundTurn:
    """A turn that a search of everything ever said found. `mark` is empty for a turn that is live in its `world`."""

    turn: Turn
    session_name: str | None
    snippet: tuple[Segment, ...]
    mark: Literal["", "alternative", "hidden", "archived"] = ""
    world: str = MAIN_WORLD


@dataclass(frozen=True, slots=True)
class About:
    """What there is about one person, place or project, from its edges and the words; `turns` newest first."""

    name: str
    kind: str  # of the entity: you, assistant, person, project; "word" where only the words know it
    said: int  # turns it said
    mentioned: int  # turns of others that name it
    first_at: datetime | None
    last_at: datetime | None
    sessions: tuple[tuple[str, str | None, int], ...] = field(default=())  # id, name, turns about it
    turns: tuple[Turn, ...] = field(default=())


@dataclass(frozen=True, slots=True)
class Community:
    """Turns that belong together in the memory graph, the most central first, and the words that set them apart.

    `people` are those that it names, unless they are named everywhere.
    """

    turns: tuple[Turn, ...]
    words: tuple[str, ...]
    size: int
    people: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RevisionStanding:
    """How a revision of an observation stands in its own world."""

    live: bool
    current: bool
    status: str


@dataclass(frozen=True, slots=True)
class Flags:
    """What decides about a turn in every world; `live` is of its own."""

    live: bool
    hidden: bool
    deleted: bool
    withheld: bool


@dataclass(frozen=True, slots=True)
class SupposedState:
    """How what is touched would be, by its id: what every world's view is worked out from.

    `pieces` of documents: whether they are live. `judged` of observations: as what, and whether they are deleted;
    nothing speaks any more against the `pardoned`.
    """

    turns: dict[str, Flags] = field(default_factory=dict)
    pieces: dict[str, bool] = field(default_factory=dict)
    judged: dict[str, tuple[str, bool]] = field(default_factory=dict)
    pardoned: frozenset[str] = frozenset()


Both = dict[str, tuple[RevisionStanding, RevisionStanding]]  # by id: how an observation stands before and after


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """What a list of events does to the graph: ids of what changes, with how it stood and will stand.

    `turns` by id: whether it is live before and after. `observations` stand as they do in their own worlds. `texts` are
    the numbers of the events whose texts are erased.
    """

    turns: dict[str, tuple[bool, bool]]
    observations: Both
    texts: tuple[int, ...] = ()
    supposed: SupposedState = field(default_factory=SupposedState)


@dataclass(frozen=True, slots=True)
class WorldImpact:
    """What a change does to the memories of one more world, by its id and its name."""

    world: str
    name: str | None
    lost: tuple[Observation, ...] = ()
    fallen_back: tuple[tuple[Observation, Observation], ...] = ()
    returning: tuple[Observation, ...] = ()


@dataclass(frozen=True, slots=True)
class Impact:
    """What a change does, in the very items. Everything is as it is before the change; turns are oldest first.

    `gone` leave (the path, view, or for good, where `erases`), `back` return. `lost` memories are no more believed;
    `fallen_back` are those that an earlier form stands for again, as pairs of the form that goes and the one that
    comes; `returning` are believed again; `weaker` lose a part of their proof and stay. All that is as `world` sees it,
    the one acted in; `elsewhere` is what it does in others. The words of `erased` go for good, in use or not.
    """

    gone: tuple[Turn, ...] = ()
    back: tuple[Turn, ...] = ()
    lost: tuple[Observation, ...] = ()
    fallen_back: tuple[tuple[Observation, Observation], ...] = ()
    returning: tuple[Observation, ...] = ()
    weaker: tuple[Observation, ...] = ()
    pins: tuple[str, ...] = ()  # turns and memories that are pinned, and go
    references: tuple[Turn, ...] = ()  # replies that were given one of these, and stay
    quoting: tuple[Turn, ...] = ()  # later turns that say words of these, and stay
    backups: tuple[str, ...] = ()  # paths of copies made by hand that hold words of these, and stay
    erases: bool = False
    world: str = MAIN_WORLD
    elsewhere: tuple[WorldImpact, ...] = ()
    erased: tuple[Observation, ...] = ()
    kept: frozenset[str] = frozenset()  # of a change that erases: turns among `gone` that leave and keep their words


@dataclass(frozen=True, slots=True)
class Ref:
    """Which node: its table (Turn, Observation, Entity, Session, Document …) and the id it has there."""

    table: str
    id: str


@dataclass(frozen=True, slots=True)
class Standing:
    """How a neighbour stands to the node in the middle, by a kind of graph/relations.toml.

    `memories` are the ids of the observations that say so, `proofs` how many live turns and chunks are behind them.
    """

    kind: str
    memories: tuple[str, ...]
    since: str | None = None
    until: str | None = None
    polarity: bool = True
    proofs: int = 0


@dataclass(frozen=True, slots=True)
class Node:
    """A node in words. `title` is one line of what it says (never of what is hidden); `mark` why it is not in force.

    `details` are its other columns, by name, as JSON has them, without those that only clew needs.
    """

    ref: Ref
    title: str
    at: datetime | None = None  # when it was said, made or begun, aware
    mark: str = ""  # "hidden", "off the path", "deleted", "superseded", "retired", "under review", "kept out" …
    world: str | None = None  # the what-if it is of; None of main and of what has no world
    details: Mapping[str, Any] = field(default_factory=dict)
    stands: Standing | None = None  # of a neighbour by a kind of relationship


@dataclass(frozen=True, slots=True)
class Edge:
    """A directed relationship: REPLIES_TO, DERIVED_FROM …; of RELATES its kind in words: "works with"."""

    start: Ref
    end: Ref
    name: str


@dataclass(frozen=True, slots=True)
class Subgraph:
    """What is drawn: nodes, the most important first, the edges among them, and how much there is besides."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    more_nodes: int = 0  # that are left out here
    more_edges: int = 0


@dataclass(frozen=True, slots=True)
class Side:
    """The neighbours of a node by one relationship, one direction and one table: how many, and the first of them.

    Of RELATES there is a side for each kind, called by that; one that holds both ways leads away.
    """

    relation: str
    outgoing: bool
    table: str
    total: int
    nodes: tuple[Node, ...]

    @property
    def key(self) -> tuple[str, bool, str]:
        return self.relation, self.outgoing, self.table


@dataclass(frozen=True, slots=True)
class Ego:
    """A node and its neighbours, by relationship."""

    node: Node
    sides: tuple[Side, ...]


@dataclass(frozen=True, slots=True)
class ProofStep:
    """A step on the way from a memory to the words that prove it; `depth` from 0, `relation` leads here from above."""

    depth: int
    relation: str
    node: Node
    words: str | None = None  # the whole text of a turn or chunk, None where it may not be shown
