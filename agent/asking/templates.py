"""The query of each common question, and in a sentence what it asks the graph.

What is asked for is live and of one world ($world, main unless the query is given another). Everything a person said
goes in as a parameter: no word of a question is ever part of a statement.
"""

from collections.abc import Callable
from datetime import timedelta

from . import pieces
from .question import Asking, Unfit
from .shelf import shelf
from .wording import subject

KINDS = {
    "pe": ("person", "people"), "na": ("", "people, places and things"), "pl": ("place", "places"),
    "ci": ("place", "places"), "th": ("thing", "things"), "gr": ("group", "groups"), "co": ("group", "groups"),
    "or": ("group", "groups"), "en": ("", "people, places and things"),
}  # fmt: skip
OF_KIND = {
    "plan": "plan", "goal": "plan", "preference": "preference", "like": "preference", "prefer": "preference",
    "love": "preference", "dislike": "preference", "hate": "preference", "likes and dislike": "preference",
    "project": "project", "relationship": "relationship", "fact": "fact", "episode": "episode",
    "identity": "identity", "state": "state",
}  # fmt: skip

Made = tuple[str, str]  # Cypher, and what it does in a sentence


def _and(*conditions: str) -> str:
    return "\n  AND ".join(conditions)


def _all(messages: str) -> str:
    return "all messages" if messages == "messages" else messages


def _kind(asking: Asking, default: str = "") -> tuple[str, str]:
    said = asking.fit.words.get("kind", default).casefold()[:2]
    return KINDS.get(said, ("person", "people"))


def _most_mentioned(asking: Asking) -> Made:
    kind, called = _kind(asking)
    by, messages = asking.by()
    wanted = [f"e.kind = '{kind}'"] if kind else ["e.kind <> 'you'", "e.kind <> 'assistant'"]
    conditions = _and(pieces.LIVE, *by, *wanted, "e.name IS NOT NULL", *asking.time())
    cypher = (
        f"MATCH (t:Turn)-[:MENTIONS]->(e:Entity)\nWHERE {conditions}\n"
        "RETURN e.name AS name, count(t) AS mentions ORDER BY mentions DESC, name LIMIT 20"
    )
    return cypher, f"The {called} mentioned most often in {_all(messages)}{asking.when}."


def _together(asking: Asking) -> Made:
    what = asking.named("what", "what")
    conditions = _and(
        pieces.LIVE, "lower(e.name) = lower($what)", "other.kind = 'person'", "other.id <> e.id", *asking.time()
    )
    cypher = (
        f"MATCH (e:Entity)<-[:MENTIONS]-(t:Turn)-[:MENTIONS]->(other:Entity)\nWHERE {conditions}\n"
        "RETURN other.name AS name, count(t) AS messages ORDER BY messages DESC, name LIMIT 20"
    )
    return cypher, f"The people mentioned in the same messages as {what}{asking.when}."


def _how_often(asking: Asking) -> Made:
    what, (by, messages) = asking.what(), asking.by()
    cypher = (
        f"{pieces.turns_about(*by, *asking.time())}\n"
        "RETURN count(*) AS messages, epoch_ms(min(t.at)) AS first_utc, epoch_ms(max(t.at)) AS last_utc"
    )
    return cypher, f"How many of {_all(messages)} have the word {what}{asking.when}, the first and the last."


def _when_about(asking: Asking) -> Made:
    what, (by, messages) = asking.what(), asking.by()
    first = asking.fit.words.get("which", "last").casefold() != "last"
    cypher = (
        f"{pieces.turns_about(*by, *asking.time(), joined='-[:`IN`]->(s:Session)', carried='t, s')}\n"
        f"RETURN epoch_ms(t.at) AS at_utc, t.speaker AS speaker, t.text AS text, {pieces.CHAT} AS chat\n"
        f"ORDER BY t.at{'' if first else ' DESC'}, t.seq{'' if first else ' DESC'} LIMIT 10"
    )
    return cypher, f"The {'first' if first else 'last'} of {_all(messages)} that have the word {what}{asking.when}."


def _who_said(asking: Asking) -> Made:
    what = asking.what()
    cypher = (
        f"{pieces.turns_about(*asking.time())}\n"
        "RETURN t.speaker AS speaker, count(*) AS messages, epoch_ms(max(t.at)) AS last_utc "
        "ORDER BY messages DESC, speaker"
    )
    return cypher, f"Who wrote messages with the word {what}{asking.when}, and how many."


def _said_about(asking: Asking) -> Made:
    what, (by, messages) = asking.what(), asking.by("who")
    cypher = (
        f"{pieces.turns_about(*by, *asking.time(), joined='-[:`IN`]->(s:Session)', carried='t, s')}\n"
        f"RETURN epoch_ms(t.at) AS at_utc, t.speaker AS speaker, t.text AS text, {pieces.CHAT} AS chat\n"
        "ORDER BY t.at DESC, t.seq DESC LIMIT 100"
    )
    return cypher, f"Those of {_all(messages)} that have the word {what}{asking.when}, newest first."


def _chats_about(asking: Asking) -> Made:
    what, (by, messages) = asking.what(), asking.by()
    cypher = (
        f"{pieces.turns_about(*by, *asking.time(), joined='-[:`IN`]->(s:Session)', carried='t, s')}\n"
        f"RETURN {pieces.CHAT} AS chat, count(t) AS messages, epoch_ms(max(t.at)) AS last_utc "
        "ORDER BY messages DESC, last_utc DESC LIMIT 50"
    )
    return cypher, f"The chats in which {messages} have the word {what}{asking.when}, most messages first."


def _talked_about(asking: Asking) -> Made:
    conditions = _and(pieces.LIVE, *asking.time())
    cypher = (
        f"MATCH (t:Turn)-[:`IN`]->(s:Session)\nWHERE {conditions}\n"
        f"RETURN {pieces.CHAT} AS chat, count(t) AS messages, epoch_ms(min(t.at)) AS first_utc, "
        "epoch_ms(max(t.at)) AS last_utc ORDER BY last_utc DESC LIMIT 100"
    )
    return cypher, f"The chats with messages{asking.when}, newest first."


def _happened(asking: Asking) -> Made:
    if asking.span is None:
        raise Unfit
    return _talked_about(asking)


def _changed(asking: Asking) -> Made:
    conditions = _and("o.live AND o.world = $world AND o.text IS NOT NULL", *asking.time("o.at"))
    cypher = (
        f"MATCH (o:Observation)\nWHERE {conditions}\nOPTIONAL MATCH (o)-[:SUPERSEDES]->(before:Observation)\n"
        "RETURN epoch_ms(o.at) AS at_utc, o.text AS memory, before.text AS before, o.status AS status "
        "ORDER BY o.at DESC, o.seq DESC LIMIT 200"
    )
    return cypher, f"What was learned or changed{asking.when}, with the earlier version, newest first."


def _learned(asking: Asking) -> Made:
    conditions = _and(pieces.CURRENT, *asking.time("o.first_seen"))
    cypher = (
        f"MATCH (o:Observation)\nWHERE {conditions}\n"
        "RETURN epoch_ms(o.first_seen) AS first_said_utc, o.text AS memory, o.kind AS kind, o.status AS status "
        "ORDER BY o.first_seen DESC, o.seq DESC LIMIT 100"
    )
    return cypher, f"The memories whose first proof was said{asking.when or ' at any time'}, newest first."


_MEMORY = "o.text AS memory, o.kind AS kind, o.status AS status, epoch_ms(o.at) AS at_utc"


def _known(asking: Asking) -> Made:
    said = asking.fit.words
    if "named" in said:  # "who is …" is asked of a name that there is, or of nobody
        if asking.known(subject(said["named"]) or "") is None:
            raise Unfit
        what = asking.what("named")
    elif said["what"].casefold() in ("me", "myself", "my life", "us"):
        cypher = (
            f"MATCH (o:Observation)\nWHERE {_and(pieces.CURRENT, *asking.time('o.at'))}\n"
            f"RETURN {_MEMORY} ORDER BY o.at DESC, o.seq DESC LIMIT 200"
        )
        return cypher, f"Everything that is remembered{asking.when}, newest first."
    else:
        what = asking.what()
    cypher = (
        f"{pieces.memories_about(*asking.time('o.at'))}\n"
        f"RETURN {_MEMORY} ORDER BY o.status, o.at DESC, o.seq DESC LIMIT 100"
    )
    return cypher, f"The memories about {what}, or with that word{asking.when and f', made{asking.when}'}."


def _wrong(asking: Asking) -> Made:
    conditions = _and(
        "o.live AND o.world = $world AND o.text IS NOT NULL",
        "o.status IN ['superseded', 'invalid']",
        *asking.time("o.at"),
    )
    cypher = (
        f"MATCH (o:Observation)\nWHERE {conditions}\nOPTIONAL MATCH (later:Observation)-[:SUPERSEDES]->(o)\n"
        "WHERE later.live\nRETURN o.text AS memory, later.text AS instead, o.status AS status, "
        "epoch_ms(o.at) AS at_utc ORDER BY o.at DESC, o.seq DESC LIMIT 100"
    )
    return cypher, f"Memories that no longer hold{asking.when and f', made{asking.when}'}, and what replaced them."


def _path(asking: Asking) -> Made:
    one, other = asking.named("a", "one"), asking.named("b", "other")
    if asking.parameters["one"].casefold() == asking.parameters["other"].casefold():
        raise Unfit
    return pieces.PATH, f"The shortest paths from {one} to {other} through messages and memories."


def _counted(asking: Asking) -> Made:
    thing = asking.fit.words["thing"].casefold()
    by, messages = asking.by() if thing in ("messages", "turns") else ([], "messages")
    turns = _and(pieces.LIVE, *by, *asking.time())
    match thing:
        case "messages" | "turns":
            return f"MATCH (t:Turn)\nWHERE {turns}\nRETURN count(*) AS messages", (
                f"The number of {messages}{asking.when}."
            )
        case "replies" | "answers":
            cypher = f"MATCH (t:Turn)\nWHERE {turns} AND t.role = 'assistant'\nRETURN count(*) AS replies"
            return cypher, f"How many replies there are{asking.when}."
        case "chats" | "conversations" | "sessions":
            cypher = f"MATCH (t:Turn)-[:`IN`]->(s:Session)\nWHERE {turns}\nRETURN count(DISTINCT s.id) AS chats"
            return cypher, f"How many chats have messages{asking.when}."
        case "people" | "persons" | "places" | "things" | "names":
            kind, called = _kind(asking, thing)
            of_kind = f"e.kind = '{kind}'" if kind else "e.kind <> 'you' AND e.kind <> 'assistant'"
            cypher = (
                f"MATCH (t:Turn)-[:MENTIONS]->(e:Entity)\nWHERE {turns}\n  AND {of_kind}\n"
                f"RETURN count(DISTINCT e.id) AS {thing}"
            )
            return cypher, f"How many {called} are named{asking.when}."
        case "documents" | "files":
            where = _and("NOT d.deleted", *asking.time("d.at"))
            return f"MATCH (d:Document)\nWHERE {where}\nRETURN count(*) AS documents", (
                f"How many documents there are{asking.when and f', read{asking.when}'}."
            )
        case "projects":
            return "MATCH (p:Project) RETURN count(*) AS projects", "How many projects there are."
        case _:
            where = _and(pieces.CURRENT, "o.status = 'active'", *asking.time("o.at"))
            return f"MATCH (o:Observation)\nWHERE {where}\nRETURN count(*) AS memories", (
                f"How many memories are in use{asking.when and f', made{asking.when}'}."
            )


def _of_kind(asking: Asking) -> Made:
    said = asking.fit.words["of"].casefold()
    kind = OF_KIND.get(said) or OF_KIND.get(said.rstrip("s"))
    if kind is None:
        raise Unfit
    conditions = _and(pieces.CURRENT, f"o.kind = '{kind}'", *asking.time("o.at"))
    cypher = (
        f"MATCH (o:Observation)\nWHERE {conditions}\n"
        "RETURN o.text AS memory, o.status AS status, epoch_ms(o.at) AS at_utc ORDER BY o.at DESC, o.seq DESC LIMIT 100"
    )
    return cypher, f"The memories of the kind “{kind}”{asking.when and f', made{asking.when}'}, newest first."


def _ready(name: str) -> "Callable[[Asking], Made]":
    """A query of the shelf, which has no time."""

    def make(asking: Asking) -> Made:
        ready = next(each for each in shelf(asking.now) if each.name == name)
        asking.parameters |= ready.parameters
        return ready.cypher, ready.about

    return make


def _hours(asking: Asking) -> Made:
    return _local("date_part('hour', epoch_ms(t.at + $offset)) AS hour", "hour", asking, "At which hours of the day")


def _weekdays(asking: Asking) -> Made:
    return _local("dayname(epoch_ms(t.at + $offset)) AS day", "day", asking, "On which days of the week")


def _local(column: str, name: str, asking: Asking, words: str) -> Made:
    """By the wall clock of here and now: `$offset` is its distance to UTC in milliseconds."""
    offset = asking.now.astimezone(asking.zone).utcoffset() or timedelta(0)
    asking.parameters["offset"] = int(offset.total_seconds() * 1000)
    conditions = _and(pieces.LIVE, "t.speaker = 'you'", *asking.time())
    cypher = f"MATCH (t:Turn)\nWHERE {conditions}\nRETURN {column}, count(*) AS messages ORDER BY messages DESC, {name}"
    return cypher, f"{words} you write how many messages{asking.when}."


def _who_said_most(asking: Asking) -> Made:
    cypher = (
        f"MATCH (t:Turn)\nWHERE {_and(pieces.LIVE, *asking.time())}\n"
        "RETURN t.speaker AS speaker, count(*) AS messages, sum(size(t.text)) AS characters "
        "ORDER BY messages DESC, speaker"
    )
    return cypher, f"Who wrote how many messages, and how long they are{asking.when}."


def _newest_messages(asking: Asking) -> Made:
    number = min(max(int(asking.fit.words.get("n", "20")), 1), 500)
    cypher = (
        f"MATCH (t:Turn)-[:`IN`]->(s:Session)\nWHERE {_and(pieces.LIVE, *asking.time())}\n"
        f"RETURN epoch_ms(t.at) AS at_utc, t.speaker AS speaker, t.text AS text, {pieces.CHAT} AS chat "
        f"ORDER BY t.at DESC, t.seq DESC LIMIT {number}"
    )
    return cypher, f"The last {number} messages{asking.when}."


QUERIES: "dict[str, Callable[[Asking], Made]]" = {
    "most_mentioned": _most_mentioned,
    "together": _together,
    "how_often": _how_often,
    "when_about": _when_about,
    "who_said": _who_said,
    "said_about": _said_about,
    "chats_about": _chats_about,
    "wrong": _wrong,
    "changed": _changed,
    "learned": _learned,
    "known": _known,
    "path": _path,
    "counted": _counted,
    "talked_about": _talked_about,
    "happened": _happened,
    "of_kind": _of_kind,
    "proven": _ready("Most proven memories"),
    "pinned": _ready("Pinned"),
    "review": _ready("Waiting for your review"),
    "busiest": _ready("Busiest chats"),
    "hours": _hours,
    "weekdays": _weekdays,
    "who_said_most": _who_said_most,
    "documents": _ready("Documents"),
    "never_recalled": _ready("Messages never recalled"),
    "most_recalled": _ready("Most recalled memories"),
    "newest_messages": _newest_messages,
}
