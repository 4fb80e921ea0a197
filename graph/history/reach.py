"""How far a change by hand reaches: what belongs to an exchange or session alone, who was given it, who quotes it.

A run is four words, or fewer that are twenty characters long; one of nothing but the commonest words is nobody's quote.
The word index proposes, the texts themselves decide. Bounded: of long texts some runs are looked for, evenly spread.

Read from the log; whom a reply was given and how an observation stands, from the graph.
"""

import json
import re
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import islice

from graph.events import MAIN_WORLD
from graph.readings.exchanges import replies
from graph.readings.observations import Remembered
from graph.readings.rows import KEPT, SAID, TURN, said_row, turn_of, turns_of
from graph.readings.worlds import BEGUN, HEAD
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
    rows = db.execute(f"{TURN} WHERE said.seq IN (SELECT value FROM json_each(?))", (json.dumps(found[:MOST_FOUND]),))
    return sorted(turns_of(db, rows.fetchall()), key=lambda turn: turn.at)


def _proposed(db: sqlite3.Connection, some: Sequence[tuple[Run, int]]) -> set[int]:
    phrases = " OR ".join(f'"{" ".join(run)}"' for run, _ in some)
    first = min(seq for _, seq in some)
    return {seq for (seq,) in db.execute(_SAYING, (phrases, first, 4 * MOST_FOUND))}


def _says(db: sqlite3.Connection, seq: int, sought: dict[Run, int], but: Collection[str]) -> bool:
    row = db.execute(f"{TURN} WHERE said.seq = ? AND {SAID} AND {KEPT}", (seq,)).fetchone()
    if row is None:
        return False
    turn = turn_of(row, 0)
    return turn.id not in but and any(sought.get(run, seq) < seq for run in runs(turn.text or ""))


_PLACED = """
SELECT placed.parent, placed.role FROM events AS placed WHERE placed.turn = ?
AND placed.kind IN ('turn.said', 'turn.taken') ORDER BY placed.seq DESC LIMIT 1
"""
_DELETED = """
SELECT turn FROM events WHERE turn IN (SELECT value FROM json_each(?)) AND kind = 'turn.deleted'
"""
_BELOW = """
WITH RECURSIVE below (turn) AS (
    SELECT value FROM json_each(:turns)
    UNION
    SELECT placed.turn FROM below JOIN events AS placed ON placed.parent = below.turn
    WHERE placed.kind IN ('turn.said', 'turn.taken')
)
SELECT turn FROM below
"""
_PATH = """
WITH RECURSIVE path (turn) AS (
    SELECT :head
    UNION
    SELECT (SELECT placed.parent FROM events AS placed WHERE placed.turn = path.turn
        AND placed.kind IN ('turn.said', 'turn.taken') ORDER BY placed.seq DESC LIMIT 1)
    FROM path WHERE path.turn IS NOT NULL
)
SELECT turn FROM path WHERE turn IS NOT NULL
"""
_HEADS = f"""
SELECT begun.session, {HEAD} FROM events AS begun WHERE {BEGUN} AND NOT EXISTS (
    SELECT 1 FROM events AS gone WHERE gone.session = begun.session AND gone.kind = 'session.deleted'
)
"""
# Where the what-ifs begin in which another chat than one is kept: all above that is seen there, wherever heads stand.
_FORKS = f"""
SELECT fork.structure ->> '$.at' FROM events AS fork
WHERE fork.kind <> 'turn.said' AND fork.kind = 'session.forked' AND fork.structure ->> '$.world' <> '{MAIN_WORLD}'
AND EXISTS (
    SELECT 1 FROM events AS begun WHERE begun.kind <> 'turn.said'
    AND begun.kind IN ('session.started', 'session.forked') AND begun.session <> ?
    AND begun.structure ->> '$.world' = fork.structure ->> '$.world' AND NOT EXISTS (
        SELECT 1 FROM events AS gone WHERE gone.session = begun.session AND gone.kind = 'session.deleted'
    )
) AND NOT EXISTS (
    SELECT 1 FROM events AS first WHERE first.kind <> 'turn.said'
    AND first.kind IN ('session.started', 'session.forked') AND first.seq < fork.seq
    AND first.structure ->> '$.world' = fork.structure ->> '$.world'
)
"""
_WORDS_OF_SESSION = """
SELECT seq FROM events WHERE session = ? AND kind IN ('session.renamed', 'session.configured', 'session.titled')
AND text IS NOT NULL ORDER BY seq
"""
_TEXTS = "SELECT seq, text FROM events WHERE seq IN (SELECT value FROM json_each(?)) AND text IS NOT NULL"
_GIVEN = """
MATCH (reply:Turn)-[:RECALLED]->(given:Turn:Observation:Chunk)
WHERE given.id IN $ids AND reply.live AND reply.role = 'assistant' RETURN DISTINCT reply.id AS id
"""


class Reach(Remembered):
    """The questions that a preview asks, beyond what it rehearses."""

    def deleted(self, turns: Iterable[str]) -> set[str]:
        """Those of the turns that were deleted."""
        with self.snapshot() as db:
            return _deleted(db, turns)

    def whole_exchange(self, turn: str) -> list[str]:
        """The user's turn that a turn belongs to, all replies to it and the turns of tools between, as far as kept.

        The turn alone where it is of no exchange. Raises NotFound.
        """
        with self.snapshot() as db:
            asked = _asked(db, turns_of(db, [said_row(db, turn)])[0])
            if asked is None:
                return [turn]
            found = [asked, *_tools_below(db, asked), *(reply.id for reply in reversed(replies(db, asked)))]
            gone = _deleted(db, found)
            return [each for each in found if each not in gone]

    def reply_count(self, turn: str) -> int:
        """How many replies a message was given, those that are deleted or left behind among them."""
        with self.snapshot() as db:
            return len(replies(db, turn))

    def own_turns(self, session: str) -> tuple[list[str], int]:
        """The turns of a session that are on no other one's path, and how many of it are on one and so stay.

        Of whatever world the others are; deleted turns count as neither. Raises NotFound.
        """
        self.session(session)
        with self.snapshot() as db:
            said = [
                turn
                for (turn,) in db.execute(f"SELECT turn FROM events AS said WHERE session = ? AND {SAID}", (session,))
            ]
            gone, shared = _deleted(db, said), _shared(db, session, said)
        return [turn for turn in said if turn not in gone | shared], len(shared - gone)

    def words_of_session(self, session: str) -> tuple[int, ...]:
        """The events that carry words of a session beside its turns: its names, titles and system prompts."""
        with self.snapshot() as db:
            return tuple(seq for (seq,) in db.execute(_WORDS_OF_SESSION, (session,)))

    def turns(self, ids: Iterable[str]) -> list[Turn]:
        """Those of the turns that were said, whatever has become of them, the oldest first."""
        with self.snapshot() as db:
            query = f"{TURN} WHERE said.turn IN (SELECT value FROM json_each(?)) AND {SAID} ORDER BY said.seq"
            return turns_of(db, db.execute(query, (json.dumps(sorted(set(ids))),)).fetchall())

    def formed(self, ids: Iterable[str]) -> dict[str, Observation]:
        """Those of the observations that were not forgotten, live or not, by their ids. Raises GraphFailure."""
        wanted = sorted(set(ids))
        return {each.id: each for each in self._all("o.id IN $ids", {"ids": wanted}, None)} if wanted else {}

    def erased_with(self, seqs: Iterable[int]) -> list[Observation]:
        """The observations whose words are those of some events, the oldest first. Raises GraphFailure."""
        listed = sorted(set(seqs))
        return [each for each in self._all("o.seq IN $seqs", {"seqs": listed}, None) if each.text] if listed else []

    def given(self, ids: Collection[str]) -> list[Turn]:
        """The live replies that one of some turns, observations or chunks was put before. Raises GraphFailure."""
        return self.turns(row["id"] for row in self.query(_GIVEN, {"ids": sorted(ids)})) if ids else []

    def quoting(self, seqs: Collection[int], *, but: Collection[str]) -> list[Turn]:
        """Later turns that say words of some events and keep their own; those in `but` are left out."""
        with self.snapshot() as db:
            texts = db.execute(_TEXTS, (json.dumps(sorted(seqs)),)).fetchall()
            return quoting(db, texts, but=but, erased=seqs)

    def seqs_of(self, turns: Iterable[str]) -> set[int]:
        """The events in which turns were said."""
        query = f"SELECT seq FROM events AS said WHERE said.turn IN (SELECT value FROM json_each(?)) AND {SAID}"
        with self.snapshot() as db:
            return {seq for (seq,) in db.execute(query, (json.dumps(sorted(set(turns))),))}


def _deleted(db: sqlite3.Connection, turns: Iterable[str]) -> set[str]:
    return {turn for (turn,) in db.execute(_DELETED, (json.dumps(list(turns)),))}


def _asked(db: sqlite3.Connection, turn: Turn) -> str | None:
    """The user's turn of an exchange, from any turn of it: up over turns of tools, and of no others."""
    if turn.role == "user":
        return turn.id
    at: str | None = turn.parent
    while turn.role in ("assistant", "tool") and at is not None:
        row = db.execute(f"SELECT role FROM events AS said WHERE turn = ? AND {SAID}", (at,)).fetchone()
        if row[0] == "user":
            return at
        if row[0] != "tool":
            return None
        at = db.execute(_PLACED, (at,)).fetchone()[0]
    return None


def _tools_below(db: sqlite3.Connection, turn: str) -> list[str]:
    found = [turn]
    for above in found:
        below = "SELECT turn FROM events WHERE parent = ? AND kind = 'turn.said' AND role = 'tool' ORDER BY seq"
        found += [each for (each,) in db.execute(below, (above,))]
    return found[1:]


def _shared(db: sqlite3.Connection, session: str, said: list[str]) -> set[str]:
    """Those of a session's turns that another one, which is not deleted, has on its path, or its what-if left from."""
    below = {turn for (turn,) in db.execute(_BELOW, {"turns": json.dumps(said)})}
    own, shared = set(said), set[str]()
    ends = {head for other, head in db.execute(_HEADS).fetchall() if other != session}
    ends |= {at for (at,) in db.execute(_FORKS, (session,))}
    for end in ends & below:
        shared |= own & {turn for (turn,) in db.execute(_PATH, {"head": end})}
    return shared
