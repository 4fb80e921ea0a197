"""What there is in the graph, for people who ask it: its tables with counts, properties, and what they mean.

`graph.projection.schema` says what there is; a test keeps both the same.

The tables are those of `graph.projection.schema`; only the counts are asked for, so that a large graph answers at once.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from graph.projection.schema import META, NODES, RELS, RelTable

# A query of clew's own, and its parameters: rows as dictionaries.
TrustedQuery = Callable[[str, Mapping[str, Any]], list[dict[str, Any]]]

ID = "its id"
TIME = "in UTC milliseconds: epoch_ms(…) makes it a time"
SEQ = "the number of its event in the log"

TABLES: dict[str, str] = {
    "World": "main, each story, and each what-if that was made from a chat",
    "Session": "a chat",
    "Turn": "one message: what was said, answered, or looked up by a tool",
    "Entity": "a person or thing that speaks or is named",
    "Observation": "something clew learned: a memory, one node for each revision of it",
    "Project": "what several chats belong to",
    "CoreBlock": "a text that is in front of the model in every chat",
    "Wording": "a version of a title or of a core block",
    "Document": "a file that was read in",
    "Chunk": "a piece of a document",
    "StageLine": "in a story, what something is from a turn on: a mood, a place, a seat in the cast",
    "Reference": "something a chat refers to, read where it lives: only its address is here",
    "Meta": "one row: the version of the graph, and the last event it has seen",
    "IN_WORLD": "the world a chat belongs to",
    "HEAD": "the newest turn of a chat's path",
    "IN_SESSION": "the chat a turn was said in",
    "REPLIES_TO": "the turn before, on the same path",
    "SAID_BY": "who said it",
    "WITNESSED": "the turns that a character of a story saw",
    "SET_FROM": "the words that a line of a stage was made from",
    "RECALLED": "what was remembered for a reply, or quoted by a tool",
    "MENTIONS": "who or what a turn names",
    "DERIVED_FROM": "the words a memory was learned from: its proof",
    "SUPPORTED_BY": "words that say a memory again later",
    "REINFORCED_BY": "a turn that made a memory more certain",
    "RETIRED_BY": "a turn that contradicts a memory",
    "SUPERSEDES": "the older revision that a newer one takes the place of",
    "INSTEAD_OF": "the memory it was made instead of",
    "SYNTHESIZED_FROM": "one of the two memories that it was made from",
    "WORDED_FROM": "the words a title or core block was made from",
    "ABOUT": "who or what a memory is about",
    "SPLIT_FROM": "whom an entity was split off from: by each message and memory that means it",
    "RELATES": "how two people, places or things stand to each other, as a memory in use says",
    "SCOPED_TO": "the project of a chat",
    "PART_OF": "the document of a piece",
    "REFERS_TO": "what a chat refers to",
    "WRITTEN_BY": "who wrote it, as it was read",
}

PROPERTIES: dict[str, dict[str, str]] = {
    "World": {
        "id": "main, or the id of the story or the what-if",
        "parent": "the world a what-if left; null of main",
        "fork": "the turn at which it left",
        "seq": "the number of the event it began with: of its parent it sees what was then",
        "forked": "the last event at which a what-if left it",
        "story": "the story that it is, or that it left; null of main",
        "name": "what a story is called",
        "name_seq": "the number of the event that gave that name",
    },
    "Session": {
        "id": ID,
        "world": "the world it belongs to",
        "project": "the project it belongs to",
        "client": "where it was begun: the chat, a command, an import",
        "name": "the name you gave it",
        "title": "a title made from what was said",
        "started_at": f"when it began, {TIME}",
        "last_at": f"when something was last said in it, {TIME}",
        "archived": "whether it is put away",
        "deleted": "whether it was deleted",
        "turns": "how many turns were said in it, all paths together",
        "head": "the id of the newest turn of its path",
        "model": "the model that answers in it",
        "system_prompt": "the instruction the model has in it",
        "name_seq": "the number of the event that gave the name",
        "title_seq": "the number of the event that gave the title",
        "prompt_seq": "the number of the event that gave the instruction",
        "wording": "the id of its latest title, whether that may be shown or not",
    },
    "Turn": {
        "id": ID,
        "seq": SEQ,
        "session": "the chat it was said in",
        "world": "the world it belongs to",
        "role": "user, assistant or tool",
        "speaker": "who said it",
        "client": "where it was said: the chat, a command, an import",
        "text": "what was said",
        "at": f"when it was said, {TIME}",
        "index": "its place in the chat, from 0",
        "live": "whether it stands: on a path that is kept, not hidden, not deleted",
        "hidden": "whether you hid it",
        "deleted": "whether it was deleted",
        "queued": "whether it waited for the reply before it",
        "pinned": "whether you pinned it",
        "withheld": "whether you keep it out of memory",
        "significance": "how much it matters, 0 to 3; null while nobody judged it",
        "evidence": "how many memories, titles and core blocks rest on it",
        "touched": "the last event that changed it",
        "heads": "how many chats of its world have it on their path",
        "on_path_since": "the number of the event since which it is on the path of a chat; null while it is on none",
        "past_on_path": "earlier stretches on a path, by numbers of events: first-end, with commas between",
        "parent": "the id of the turn before it",
        "depth": "how many turns are above it on its path",
        "jump": "the id of a turn further up, by which clew climbs a long path in few steps",
        "above": "the id of the turn before it that is not deleted",
        "addressed": "in a story, the id of the character that it is said to",
        "witnesses": "in a story, the ids of the characters who saw it, with spaces between",
        "stop_reason": "why the reply ended",
        "error": "what went wrong with the reply",
        "model": "the model that answered",
        "prompt_hash": "a hash of what the model was given",
        "prompt_tokens": "tokens the model was given",
        "evaluated_tokens": "tokens of those that it had to read anew",
        "completion_tokens": "tokens of the reply",
        "first_token_ms": "milliseconds until the reply began",
        "total_ms": "milliseconds until it ended",
    },
    "Entity": {
        "id": "its id; of who speaks, the name it spoke as first",
        "kind": "you, assistant, person, or what else it was noted as, or you said it is",
        "name": "what it is called",
        "name_seq": "the number of the event the name came from, or 0",
        "noted_kind": "what it was noted as",
        "noted_seq": "the number of the event that noted its name last, or 0",
        "same_as": "the id of the one it is the same as, which has all its relationships",
        "split": "whether some that name it were said to mean another",
    },
    "Observation": {
        "id": ID,
        "seq": SEQ,
        "text": "what was learned",
        "kind": "identity, preference, fact, state, plan, relationship, project or episode",
        "status": "candidate, active, superseded or invalid: as it stands now",
        "judged": "candidate, active or invalid: as it was made or reviewed last",
        "confidence": "how certain it was when it was made, 0 to 1",
        "grounded": "whether its words were found in what was said",
        "origin": "model, verbatim or user",
        "world": "the world it belongs to",
        "project": "the project it belongs to",
        "scope": "its tags, or its project, or global",
        "at": f"when this revision was made, {TIME}",
        "first_seen": f"when the oldest words it rests on were said, {TIME}",
        "series": "the id of its first revision, which all of them share",
        "supersedes": "the id of the revision before it",
        "instead_of": "the id of the memory it was made instead of",
        "live": "whether what it rests on stands",
        "current": "whether it is in force: live, in use or under review, and the newest revision",
        "pinned": "whether you pinned it",
        "deleted": "whether it was deleted",
        "lost_sources": "how many of its sources do not stand",
        "newer_revisions": "how many newer revisions stand",
        "contradictions": "how many turns that stand contradict it",
        "substitutes": "how many memories were made instead of it",
        "parents": "how many memories it was made from: two, or none where it was made from words alone",
        "syntheses": "how many memories were made from it and another; counted at the first revision",
        "touched": "the last event that changed it",
        "relation": "how two stand to each other, if it says that: works_with, parent_of …",
        "subject": "the id of whom the relationship starts at",
        "object": "the id of whom it leads to",
        "since": "when the relationship began, if that was told: a day, a month or a year",
        "until": "when it ended, if it is over",
        "polarity": "false where it is said not to be so",
        "word": "what the speaker called it: sister, boss",
    },
    "Project": {
        "id": "its name",
        "description": "what it is about",
        "status": "active or archived",
        "seq": SEQ,
    },
    "CoreBlock": {
        "id": "its name, and its world where that is not main",
        "name": "its name",
        "world": "the world it belongs to",
        "text": "what it says",
        "by": "who wrote it last",
        "seq": "the number of the event that wrote it",
        "wording": "the id of its latest version, whether that may be shown or not",
    },
    "Wording": {
        "id": "the number of the event that wrote it",
        "of": "Session or CoreBlock",
        "owner": "the id of what it is a version of",
        "before": "the version before it",
        "lost_sources": "how many of its sources do not stand",
    },
    "StageLine": {
        "id": "the number of the event that set it",
        "seq": SEQ,
        "world": "the world it belongs to",
        "owner": "whose it is: the id of a character, or a name such as world",
        "aspect": "what of it: seat, card, mood, place …",
        "value": "of a seat: which; of a reset: the event after which memory begins",
        "text": "what it is",
        "by": "user, rule or model",
        "after": "the id of the turn at which it was set: it holds on the paths over it",
        "at": f"when it was set, {TIME}",
    },
    "Document": {
        "id": ID,
        "title": "its title",
        "path": "where it was read from",
        "type": "what sort of file it is",
        "project": "the project it belongs to",
        "tags": "its tags",
        "size": "its size in bytes",
        "at": f"when it was read last, {TIME}",
        "seq": SEQ,
        "deleted": "whether it was removed",
    },
    "Chunk": {
        "id": ID,
        "seq": SEQ,
        "document": "the id of its document",
        "text": "what it says, under its headings",
        "headings": "how many lines of headings the text begins with",
        "position": "its place in the document, from 0",
        "at": f"when it was read, {TIME}",
        "live": "whether the document still holds it",
        "evidence": "how many memories rest on it",
        "touched": "the last event that changed it",
    },
    "Reference": {
        "id": ID,
        "session": "the id of the chat that refers to it",
        "kind": "thread, page or file",
        "turn": "the id of the message it was attached with: it counts while that is on the chat's path",
        "address": "where it is read",
        "at": f"when it was attached last, {TIME}",
        "seq": SEQ,
        "attached": "whether the chat still refers to it",
    },
    "Meta": {
        "id": ID,
        "version": "the version of these tables",
        "applied": "the number of the last event the graph has seen",
        "link": "the hash of the log up to there",
    },
    "RECALLED": {
        "strategy": "what found it best: words, meaning, the graph, time",
        "rank": "its place among what was found, from 1",
        "score": "how well it fitted",
    },
    "MENTIONS": {
        "seq": "the number of the event that noted it",
        "told": "the id of the entity that was noted; it may be the same as another since",
    },
    "WRITTEN_BY": {
        "seq": "the number of the event that told it",
        "told": "the id of the entity it told; it may be the same as another since",
        "did": "the author's DID (AT Protocol)",
    },
    "ABOUT": {"told": "the id of the entity it was made about; it may be the same as another since"},
    "SPLIT_FROM": {"item": "the id of the message or memory that means it"},
    "DERIVED_FROM": {"at": f"when that was said, {TIME}"},
    "RELATES": {
        "observation": "the id of the memory that says it",
        "kind": "works_with, parent_of …: `clew relations --kinds` lists them",
        "since": "when it began, if that was told: a day, a month or a year",
        "until": "when it ended, if it is over",
        "polarity": "false where it is said not to be so",
        "confidence": "how certain the memory was when it was made, 0 to 1",
        "world": "the world it belongs to",
    },
    "SUPPORTED_BY": {"at": f"when that was said, {TIME}", "amount": "how much it adds to the confidence"},
    "REINFORCED_BY": {"at": f"when that was said, {TIME}", "amount": "how much it adds to the confidence"},
}


@dataclass(frozen=True, slots=True)
class Property:
    """A property of a node or relationship; `type` as the engine calls it."""

    name: str
    type: str
    meaning: str


@dataclass(frozen=True, slots=True)
class NodeKind:
    """A table of nodes, and how many there are."""

    name: str
    count: int
    meaning: str
    properties: tuple[Property, ...]


@dataclass(frozen=True, slots=True)
class RelationshipKind:
    """A table of relationships from nodes of one table to those of others, and how many there are."""

    name: str
    count: int
    meaning: str
    start: str
    ends: tuple[str, ...]
    properties: tuple[Property, ...]


@dataclass(frozen=True, slots=True)
class Schema:
    """Everything a query can ask for."""

    nodes: tuple[NodeKind, ...]
    relationships: tuple[RelationshipKind, ...]


def schema(query: TrustedQuery) -> Schema:
    """The tables of a graph, each with how much is in it now. Raises GraphFailure."""

    def counted(pattern: str) -> int:
        return int(query(f"MATCH {pattern} RETURN count(*) AS n", {})[0]["n"])

    there = {each.name: counted(f"(n:`{each.name}`)") for each in (*NODES, META)}
    joined = {each.name: sum(map(counted, _patterns(each, there))) for each in RELS}
    return Schema(
        tuple(
            NodeKind(each.name, there[each.name], TABLES[each.name], _properties(each.name, each.columns))
            for each in (*NODES, META)
        ),
        tuple(
            RelationshipKind(
                each.name,
                joined[each.name],
                TABLES[each.name],
                each.start,
                each.ends,
                _properties(each.name, each.columns),
            )
            for each in RELS
        ),
    )


def _patterns(rel: RelTable, there: Mapping[str, int]) -> Iterable[str]:
    """How the relationships to each table are counted, from the end with fewer nodes: the engine adds up degrees."""
    for end in rel.ends:
        if there[rel.start] and there[end]:
            start, stop, joined = f"(:`{rel.start}`)", f"(:`{end}`)", f"[:`{rel.name}`]"
            backwards = there[end] < there[rel.start]
            yield f"{stop}<-{joined}-{start}" if backwards else f"{start}-{joined}->{stop}"


def _properties(table: str, columns: Iterable[tuple[str, str]]) -> tuple[Property, ...]:
    return tuple(Property(name, type, PROPERTIES[table][name]) for name, type in columns)
