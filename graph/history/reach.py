"""How far a change by hand reaches: what belongs to an exchange or session alone, who was given it, who quotes it.

A run is four words, or fewer that are twenty characters long; one of nothing but the commonest words is nobody's quote.
The word index proposes, the texts themselves decide. Bounded: of long texts some runs are looked for, evenly spread.

Read from the tables; what a reply was given, from the graph.
"""

import json
import re
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import islice

from graph.memory_view import MemoryView
from graph.projection.paths import below, path_to
from graph.readings.exchanges import replies
from graph.readings.rows import AMONG, KEPT, TURN, among, turn_by_id, turn_of, turns_by_ids, turns_of
from graph.values import Observation, Turn

WORDS, CHARACTERS = 4, 20  # what makes a run
MOST_RUNS = 400  # that are looked for, of all texts together
AT_ONCE = 40  # runs in one query
MOST_FOUND = 50  # turns

_SAYING = "SELECT rowid FROM words WHERE words MATCH ? AND rowid > ? ORDER BY rowid LIMIT ?"
_WORD = re.compile(r"[^\W_]+")
_COMMON = frozenset(
    _WORD.findall(
        "a about all am an and any are as at be because been but by can could did do does for from get got had has have"
        " he her him his how i if in is it its just like me more most my no not now of on one or our out really she so"
        " some than that the their them then there they this to too up us was we were what when where which who why"
        " will with would you your don t s m re ll ve d"
    )
)

Run = tuple[str, ...]


def runs(text: str) -> Iterator[Run]:
    """The shortest run of words that begins at each word of a text."""
    words = _WORD.findall(text.casefold())
    for at in range(len(words)):
        for end in range(at + 1, min(at + WORDS, len(words)) + 1):
            run = tuple(words[at:end])
            if len(run) == WORDS or len(" ".join(run)) >= CHARACTERS:
                if not _COMMON.issuperset(run):
                    yield run
                break


def quoting(
    db: sqlite3.Connection, texts: Iterable[tuple[int, str]], *, but: Collection[str], erased: Collection[int]
) -> list[Turn]:
    """Turns that say words of texts with an earlier number than theirs, the oldest first.

    Those in `but` are left out, and those whose own words are among the `erased` events.
    """
    sought: dict[Run, int] = {}
    for seq, text in texts:
        for run in runs(text):
            sought[run] = min(seq, sought.get(run, seq))
    step = max(1, -(-len(sought) // MOST_RUNS))
    some = list(islice(sought.items(), 0, None, step))
    candidates: set[int] = set()
    for at in range(0, len(some), AT_ONCE):
        candidates |= _proposed(db, some[at : at + AT_ONCE])
    found = sorted(seq for seq in candidates - set(erased) if _says(db, seq, sought, but))
    rows = db.execute(f"{TURN} WHERE said.seq {AMONG}", (json.dumps(found[:MOST_FOUND]),))
    return sorted(turns_of(db, rows), key=lambda turn: turn.at)


def _proposed(db: sqlite3.Connection, some: Sequence[tuple[Run, int]]) -> set[int]:
    phrases = " OR ".join(f'"{" ".join(run)}"' for run, _ in some)
    first = min(seq for _, seq in some)
    return {seq for (seq,) in db.execute(_SAYING, (phrases, first, 4 * MOST_FOUND))}


def _says(db: sqlite3.Connection, seq: int, sought: dict[Run, int], but: Collection[str]) -> bool:
    row = db.execute(f"{TURN} WHERE said.seq = ? AND {KEPT}", (seq,)).fetchone()
    if row is None:
        return False
    turn = turn_of(row)
    return turn.id not in but and any(sought.get(run, seq) < seq for run in runs(turn.text or ""))


_HEADS = "SELECT head FROM sessions WHERE head IS NOT NULL AND id <> ?"
# Where the what-ifs begin in which another chat than one is kept: all above that is seen there, wherever heads stand.
_FORKS = """
SELECT fork FROM worlds WHERE parent IS NOT NULL
AND EXISTS (SELECT 1 FROM sessions WHERE world = worlds.id AND id <> ? AND NOT deleted)
"""
_OF_DELETED = f"""
SELECT said.id FROM turns AS said JOIN sessions AS own ON own.id = said.session
WHERE said.id {AMONG} AND own.deleted AND NOT said.deleted ORDER BY said.seq
"""
_WORDS_OF_SESSION = """
SELECT event.seq FROM subjects JOIN events AS event USING (seq)
WHERE subjects.id = ? AND subjects.kind IN ('session.renamed', 'session.configured', 'session.titled')
AND event.text IS NOT NULL ORDER BY event.seq
"""
_TEXTS = "SELECT seq, text FROM events WHERE seq IN (SELECT value FROM json_each(?)) AND text IS NOT NULL"
_GIVEN = """
MATCH (reply:Turn)-[:RECALLED]->(given:Turn:Observation:Chunk)
WHERE given.id IN $ids AND reply.live AND reply.role = 'assistant' RETURN DISTINCT reply.id AS id
"""


class Reach:
    """The questions that a preview asks, beyond what it rehearses."""

    def __init__(self, memory: MemoryView) -> None:
        self._readings, self._query = memory.readings, memory.query

    def deleted(self, turns: Iterable[str]) -> set[str]:
        """Those of the turns that were deleted."""
        with self._readings.snapshot() as db:
            return _deleted(db, turns)

    def whole_exchange(self, turn: str) -> list[str]:
        """The user's turn that a turn belongs to, all replies to it and the turns of tools between, as far as kept.

        The turn alone where it is of no exchange. Raises NotFound.
        """
        with self._readings.snapshot() as db:
            asked = _asked(db, turn_by_id(db, turn))
            if asked is None:
                return [turn]
            found = [asked, *_tools_below(db, asked), *(reply.id for reply in reversed(replies(db, asked)))]
            gone = _deleted(db, found)
            return [each for each in found if each not in gone]

    def reply_count(self, turn: str) -> int:
        """How many replies a message was given, those that are deleted or left behind among them."""
        with self._readings.snapshot() as db:
            return len(replies(db, turn))

    def own_turns(self, session: str) -> tuple[list[str], int]:
        """The turns of a session that are on no other one's path, and how many of it are on one and so stay.

        With those that stayed for its sake alone when the chat they were said in was deleted. Of whatever world the
        others are; deleted turns count as neither. Raises NotFound.
        """
        self._readings.session(session)
        with self._readings.snapshot() as db:
            said = [turn for (turn,) in db.execute("SELECT id FROM turns WHERE session = ? ORDER BY seq", (session,))]
            left = _left(db, session)
            gone, shared = _deleted(db, said), _shared(db, session, [*left, *said])
        return [turn for turn in [*left, *said] if turn not in gone | shared], len(shared.intersection(said) - gone)

    def words_of_session(self, session: str) -> tuple[int, ...]:
        """The events that carry words of a session beside its turns: its names, titles and system prompts."""
        with self._readings.snapshot() as db:
            return tuple(seq for (seq,) in db.execute(_WORDS_OF_SESSION, (session,)))

    def story_ending_with(self, session: str) -> str | None:
        """The name of the story that goes, with its cast and stage, when a session is deleted: it is the last of it."""
        last = (story.name for story in self._readings.stories() if story.sessions == (session,))
        return next(last, None)

    def turns(self, ids: Iterable[str]) -> list[Turn]:
        """Those of the turns that were said, whatever has become of them, the oldest first."""
        with self._readings.snapshot() as db:
            return turns_by_ids(db, set(ids))

    def formed(self, ids: Iterable[str]) -> dict[str, Observation]:
        """Those of the observations that were not forgotten, live or not, by their ids."""
        wanted = sorted(set(ids))
        return {each.id: each for each in self._readings.chosen(f"o.id {among('ids')}", {"ids": json.dumps(wanted)})}

    def erased_with(self, seqs: Iterable[int]) -> list[Observation]:
        """The observations whose words are those of some events, the oldest first."""
        listed = {"seqs": json.dumps(sorted(set(seqs)))}
        return [each for each in self._readings.chosen(f"o.seq {among('seqs')}", listed) if each.text]

    def given(self, ids: Collection[str]) -> list[Turn]:
        """The live replies that one of some turns, observations or chunks was put before. Raises GraphFailure."""
        return self.turns(row["id"] for row in self._query(_GIVEN, {"ids": sorted(ids)})) if ids else []

    def quoting(self, seqs: Collection[int], *, but: Collection[str]) -> list[Turn]:
        """Later turns that say words of some events and keep their own; those in `but` are left out."""
        with self._readings.snapshot() as db:
            texts = db.execute(_TEXTS, (json.dumps(sorted(seqs)),)).fetchall()
            return quoting(db, texts, but=but, erased=seqs)

    def seqs_of(self, turns: Iterable[str]) -> set[int]:
        """The events in which turns were said."""
        query = f"SELECT seq FROM turns WHERE id {AMONG}"
        with self._readings.snapshot() as db:
            return {seq for (seq,) in db.execute(query, (json.dumps(sorted(set(turns))),))}


def _deleted(db: sqlite3.Connection, turns: Iterable[str]) -> set[str]:
    query = f"SELECT id FROM turns WHERE deleted AND id {AMONG}"
    return {turn for (turn,) in db.execute(query, (json.dumps(list(turns)),))}


def _asked(db: sqlite3.Connection, turn: Turn) -> str | None:
    """The user's turn of an exchange, from any turn of it: up over turns of tools, and of no others."""
    if turn.role == "user":
        return turn.id
    at: str | None = turn.parent
    while turn.role in ("assistant", "tool") and at is not None:
        role, above = db.execute("SELECT role, above FROM turns WHERE id = ?", (at,)).fetchone()
        if role == "user":
            return at
        if role != "tool":
            return None
        at = above
    return None


def _tools_below(db: sqlite3.Connection, turn: str) -> list[str]:
    found = [turn]
    for above in found:
        tools = "SELECT id FROM turns WHERE parent = ? AND role = 'tool' ORDER BY seq"
        found += [each for (each,) in db.execute(tools, (above,))]
    return found[1:]


def _left(db: sqlite3.Connection, session: str) -> list[str]:
    """The turns of deleted chats that a session goes on from, the oldest first."""
    ends = db.execute("SELECT fork, head FROM sessions WHERE id = ?", (session,)).fetchone()
    path = {turn for end in ends if end is not None for turn in path_to(db, end)}
    return [turn for (turn,) in db.execute(_OF_DELETED, (json.dumps(list(path)),))]


def _shared(db: sqlite3.Connection, session: str, said: list[str]) -> set[str]:
    """Those of a session's turns that another one, which is not deleted, has on its path, or its what-if left from."""
    under, own, shared = below(db, said), set(said), set[str]()
    ends = {end for query in (_HEADS, _FORKS) for (end,) in db.execute(query, (session,))}
    for end in ends & under:
        shared |= own.intersection(path_to(db, end))
    return shared
