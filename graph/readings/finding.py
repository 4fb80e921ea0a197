"""Search of everything ever said: any typed text as a query, and snippets with what matched marked in them."""

import re
import sqlite3
import unicodedata
from collections.abc import Collection, Iterable, Iterator
from contextlib import closing
from itertools import islice
from secrets import token_hex
from typing import Literal

from graph.letters import paired
from graph.projection.paths import Paths
from graph.readings.rows import NEWEST, TURN, session_by_id, turns_of
from graph.values import FoundTurn, Segment, Session, Turn
from graph.whole_words import END, becomes_stop_word, fold, names_in, says_whole, small, whole, words_in

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
_SAID = "SELECT words.rowid, event.text FROM words JOIN events AS event ON event.seq = words.rowid WHERE words MATCH ?"
_PHRASE = re.compile(r'"([^"]*)"|([^\s"]+)')

Mark = Literal["", "alternative", "hidden", "archived"]


def search(db: sqlite3.Connection, typed: str, *, limit: int) -> list[FoundTurn]:
    """Turns with all the words typed, the last one as the beginning of a word, the best match first.

    Words in quotes are a phrase, and names are looked for whole: with their capital first, then in small letters.
    Where nothing has them, turns that have names by their stems, then those that hold the very characters, then those
    that have some of the words. Nothing typed is an error; turns of tools, which only quote, and of deleted sessions
    are not looked for.
    """
    text = _typed(typed)
    for found in (
        _in_any_case(db, text),
        _by_words(db, text, names=False),
        _by_characters(db, text) if text else iter(()),
        _by_words(db, text, every=False),
    ):
        listed = list(islice(_present(db, found), max(limit, 0)))
        if listed:
            return listed
    return []


def fts_query(typed: str, *, every: bool = True, names: bool = True) -> str:
    """Any text as a query that FTS5 understands: its words, in quotes each; empty if it has none.

    The last word is a prefix if nothing follows it. `every`: all words have to be there, or else one of them; `names`:
    words that are written as names are asked for whole. Each is asked for once: FTS5 counts every place of every word
    when it cuts a snippet, squared.
    """
    text = _typed(typed)
    parts = [(match.group(1) is not None, match.group(1) or match.group(2) or "") for match in _PHRASE.finditer(text)]
    words = [(phrase, part) for phrase, part in parts if any(map(_is_of_words, part))][:MOST_WORDS]
    capital = set(names_in(text, told=True)) if names else set[str]()
    terms = [_all_of(_terms(part, capital)) for _, part in words]
    if words and not words[-1][0] and text.endswith(words[-1][1]):
        terms[-1] = _beginning(words[-1][1], capital)
    return (" AND " if every else " OR ").join(dict.fromkeys(terms))


def _terms(part: str, names: Collection[str]) -> Iterator[str]:
    """What is asked for by a word or a phrase: its words in a row, and those that are names."""
    words = words_in(part)
    apart = {word for word in words if word in names or becomes_stop_word(word)}
    if not apart or len(words) > 1:
        yield f'"{part}"'
    yield from (_whole(word, names) for word in dict.fromkeys(words) if word in apart)


def _all_of(terms: Iterable[str]) -> str:
    listed = list(terms)
    return listed[0] if len(listed) == 1 else f"({' AND '.join(listed)})"


def _whole(word: str, names: Collection[str], star: str = "") -> str:
    name = f'"{whole(word)}"{star}'
    return name if word in names else f'({name} OR "{small(word)}"{star})'


def _beginning(part: str, names: Collection[str]) -> str:
    """The same for what may be only the beginning of a word: of one that is a name too."""
    words = words_in(part)
    if len(words) != 1:
        return _all_of([f'"{part}" *', *list(_terms(part, names))[1:]])
    if words[0] in names or becomes_stop_word(words[0]):
        return _whole(words[0], names, " *")
    return f'("{part}" * OR "{whole(words[0])}" *)'


def saying_whole(db: sqlite3.Connection, names: Iterable[str]) -> list[int]:
    """The events that say one of some names, whole: of the word index those whose texts have it so.

    With the capital it has; where nothing has that, in any case of letters.
    """
    found = set[int]()
    for name in names:
        words = words_in(name)
        query = " AND ".join(_whole(word, ()) if becomes_stop_word(word) else f'"{word}"' for word in words)
        rows = db.execute(_SAID, (query,)).fetchall() if query else []
        said = [seq for seq, text in rows if says_whole(text, name)]
        found.update(said or (seq for seq, text in rows if says_whole(text, fold(name))))
    return sorted(found)


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


def _by_words(
    db: sqlite3.Connection, typed: str, *, every: bool = True, names: bool = True
) -> Iterator[tuple[int, tuple[Segment, ...]]]:
    query = fts_query(typed, every=every, names=names)
    if not query:
        return
    nonce = token_hex(8)  # so that no text can have the marks in it
    opening, closing_mark = f"\ue000{nonce}\ue001", f"\ue002{nonce}\ue003"
    values = {"query": query, "open": opening, "close": closing_mark, "words": SNIPPET_WORDS}
    with closing(db.execute(_MATCHES, values)) as rows:
        while (row := rows.fetchone()) is not None:
            cut = row[1].partition(END)[0]
            text = _text_of(db, row[0])
            said = cut.replace(opening, "").replace(closing_mark, "").removeprefix("…").removesuffix("…")
            if opening not in cut or said not in text:  # what stands behind the text, for the index alone, matched
                yield row[0], _around(text, *typed.replace('"', " ").split())
            else:
                yield row[0], segments(cut, opening, closing_mark)


def _in_any_case(db: sqlite3.Connection, typed: str) -> Iterator[tuple[int, tuple[Segment, ...]]]:
    """What has all the words, names whole: those with the capital first."""
    yielded = set[int]()
    for found in _by_words(db, typed):
        yielded.add(found[0])
        yield found
    names = [f" {name} " for name in names_in(typed, told=True)]
    if names and typed[-1:].isalnum():
        names[-1] = names[-1].rstrip()  # which may be only the beginning of a word
    for found in _by_words(db, typed, names=False) if names else ():
        said = f" {' '.join(words_in(_text_of(db, found[0])))} "
        if found[0] not in yielded and all(name in said for name in names):
            yield found


def _text_of(db: sqlite3.Connection, seq: int) -> str:
    text: str = db.execute("SELECT text FROM events WHERE seq = ?", (seq,)).fetchone()[0]
    return text


def _by_characters(db: sqlite3.Connection, text: str) -> Iterator[tuple[int, tuple[Segment, ...]]]:
    wanted = text.strip()
    pattern = re.sub(r"([%_\\])", r"\\\1", wanted)
    with closing(db.execute(_LITERAL, {"pattern": f"%{pattern}%"})) as rows:
        while wanted and (row := rows.fetchone()) is not None:
            yield row[0], _around(row[1], wanted)


def _around(text: str, *wanted: str) -> tuple[Segment, ...]:
    """The text around the first of what is wanted, with all of that marked."""
    pattern = re.compile("|".join(map(re.escape, wanted)), re.IGNORECASE)
    match = pattern.search(text)
    if match is None:
        return (Segment(text[: 2 * SNIPPET_CHARACTERS], False),)
    first, last = max(match.start() - SNIPPET_CHARACTERS, 0), match.end() + SNIPPET_CHARACTERS
    pieces, at = [Segment("…" if first else "", False)], first
    for match in pattern.finditer(text, first, last):
        pieces += [Segment(text[at : match.start()], False), Segment(match.group(), True)]
        at = match.end()
    pieces.append(Segment(text[at:last] + ("…" if last < len(text) else ""), False))
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
