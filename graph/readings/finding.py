"""Search of everything ever said: any typed text as a query, and snippets with what matched marked in them."""

import re
import sqlite3
import unicodedata
from collections.abc import Iterator
from contextlib import closing
from itertools import islice
from secrets import token_hex
from typing import Literal

from graph.letters import paired
from graph.projection.paths import Paths
from graph.readings.rows import NEWEST, TURN, session_by_id, turns_of
from graph.values import FoundTurn, Segment, Session, Turn

LONGEST_QUERY, MOST_WORDS = 1_000, 32  # of a pasted page the first words find it as well
SNIPPET_WORDS, SNIPPET_CHARACTERS = 24, 60

_MATCHES = """
SELECT words.rowid, snippet(words, 0, :open, :close, '…', :words)
FROM words JOIN turns ON turns.seq = words.rowid
WHERE words MATCH :query AND turns.role <> 'tool' ORDER BY words.rank
"""
_LITERAL = f"""
SELECT said.seq, event.text FROM turns AS said JOIN events AS event ON event.seq = said.seq
WHERE said.role <> 'tool' AND event.text LIKE :pattern ESCAPE '\\' {NEWEST}
"""
_PHRASE = re.compile(r'"([^"]*)"|([^\s"]+)')

Mark = Literal["", "alternative", "hidden", "archived"]


def search(db: sqlite3.Connection, typed: str, *, limit: int) -> list[FoundTurn]:
    """Turns with all the words typed, the last one as the beginning of a word, the best match first.

    Words in quotes are a phrase. Where nothing has them, turns that hold the very characters, then those that have
    some of the words. Nothing typed is an error; turns of tools, which only quote, and of deleted sessions are not
    looked for.
    """
    text = _typed(typed)
    all_words, any_word = fts_query(text), fts_query(text, every=False)
    for found in (
        _by_words(db, all_words) if all_words else iter(()),
        _by_characters(db, text) if text else iter(()),
        _by_words(db, any_word) if any_word else iter(()),
    ):
        listed = list(islice(_present(db, found), max(limit, 0)))
        if listed:
            return listed
    return []


def fts_query(typed: str, *, every: bool = True) -> str:
    """Any text as a query that FTS5 understands: its words, in quotes each; empty if it has none.

    The last word is a prefix if nothing follows it. `every`: all words have to be there, or else one of them. Each is
    asked for once: FTS5 counts every place of every word when it cuts a snippet, squared.
    """
    text = _typed(typed)
    parts = [(match.group(1) is not None, match.group(1) or match.group(2) or "") for match in _PHRASE.finditer(text)]
    words = [(phrase, part) for phrase, part in parts if any(map(_is_of_words, part))][:MOST_WORDS]
    terms = [f'"{part}"' for _, part in words]
    if words and not words[-1][0] and text.endswith(words[-1][1]):
        terms[-1] += " *"
    return (" " if every else " OR ").join(dict.fromkeys(terms))


def segments(snippet: str, opening: str, closing_mark: str) -> tuple[Segment, ...]:
    """A snippet in pieces, by the marks before and after what matched."""
    pieces: list[Segment] = []
    for part in snippet.split(opening):
        matched, mark, rest = part.rpartition(closing_mark)
        pieces += [Segment(matched, True)] if mark else []
        pieces += [Segment(rest, False)] if rest else []
    return tuple(pieces)


def _typed(text: str) -> str:
    """What was typed, as far as it counts: of control characters, NUL would end the query in the middle."""
    return "".join(" " if unicodedata.category(each) == "Cc" else each for each in paired(text)[:LONGEST_QUERY])


def _is_of_words(character: str) -> bool:
    """Whether the word index takes a character for part of a word."""
    category = unicodedata.category(character)
    return category[0] in "LN" or category == "Co"


def _by_words(db: sqlite3.Connection, query: str) -> Iterator[tuple[int, tuple[Segment, ...]]]:
    nonce = token_hex(8)  # so that no text can have the marks in it
    opening, closing_mark = f"\ue000{nonce}\ue001", f"\ue002{nonce}\ue003"
    values = {"query": query, "open": opening, "close": closing_mark, "words": SNIPPET_WORDS}
    with closing(db.execute(_MATCHES, values)) as rows:
        while (row := rows.fetchone()) is not None:
            yield row[0], segments(row[1], opening, closing_mark)


def _by_characters(db: sqlite3.Connection, text: str) -> Iterator[tuple[int, tuple[Segment, ...]]]:
    wanted = text.strip()
    pattern = re.sub(r"([%_\\])", r"\\\1", wanted)
    with closing(db.execute(_LITERAL, {"pattern": f"%{pattern}%"})) as rows:
        while wanted and (row := rows.fetchone()) is not None:
            yield row[0], _around(row[1], wanted)


def _around(text: str, wanted: str) -> tuple[Segment, ...]:
    match = re.search(re.escape(wanted), text, re.IGNORECASE)
    if match is None:
        return (Segment(text[: 2 * SNIPPET_CHARACTERS], False),)
    first, last = max(match.start() - SNIPPET_CHARACTERS, 0), match.end() + SNIPPET_CHARACTERS
    before = ("…" if first else "") + text[first : match.start()]
    after = text[match.end() : last] + ("…" if last < len(text) else "")
    pieces = Segment(before, False), Segment(match.group(), True), Segment(after, False)
    return tuple(piece for piece in pieces if piece.text)


def _present(db: sqlite3.Connection, found: Iterator[tuple[int, tuple[Segment, ...]]]) -> Iterator[FoundTurn]:
    """What was found, and what has become of it; what was a deleted session's and no fork keeps is gone."""
    paths, sessions = Paths(db), dict[str, Session]()
    for seq, snippet in found:
        turn = turns_of(db, db.execute(f"{TURN} WHERE said.seq = ?", (seq,)))[0]
        session = sessions.setdefault(turn.session, sessions.get(turn.session) or session_by_id(db, turn.session))
        if not session.deleted or paths.sees(turn.id, session.world):
            yield FoundTurn(turn, session.name, snippet, _mark(paths, session, turn), session.world)


def _mark(paths: Paths, session: Session, turn: Turn) -> Mark:
    if turn.hidden:
        return "hidden"
    if not turn.queued and not paths.is_on_one(turn.id):
        return "alternative"
    return "archived" if session.archived else ""
