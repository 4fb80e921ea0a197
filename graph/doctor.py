"""Looks the memory over and says what it found: is the log what was written, and does the graph say the same.

Nothing here changes anything. Each check is a finding with advice where it is not well.
"""

import os
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from graph.contents import differing, unsound
from graph.errors import SURPRISES, LogDamaged, LogUnreadable, MemoryFailure
from graph.events.codec import SELECT_EVENT, event_of, fields_of, hash_text
from graph.kuzu import rebuild
from graph.kuzu.store import GraphStore
from graph.log.log import Log, check_chain, hash_before
from graph.log.migrations import NEWEST, version_of
from graph.projection.schema import NODES, RELS
from graph.projection.sqlite_tables import TablesInMemory, are_current, are_whole, event_at
from graph.projection.tables import Tables, fold
from graph.reader import LogReader
from graph.sqlite import says_damage
from graph.values import Check

_RESTORE = "Make a copy of the folder, then restore a backup of log.sqlite. `clew log` shows what can still be read."
_REBUILD = "Run `clew rebuild`: the graph is rebuilt from the log, nothing is lost."

_AGAIN = "Run `clew doctor` again. If this stays, check the disk."
_EMBED_AGAIN = "Run `clew rebuild`: it removes them, and clew recreates them at the next start. No text is lost."
_FIRST_THE_LOG = "Fix the log first: a rebuild now would use the damaged log and replace the graph that was set aside."
_OF_THE_LOG = {"log", "log file", "chain", "texts", "events", "last events"}

_ERASURES = "SELECT kind, version, structure FROM events WHERE kind <> 'turn.said' AND kind = 'text.erased'"
_GONE_TEXTS = "SELECT seq FROM events WHERE text IS NULL AND text_hash IS NOT NULL"
_KEPT_TEXTS = "SELECT seq FROM events WHERE text IS NOT NULL"


def examine_log(reader: LogReader, folder: Path, *, deep: bool = True) -> list[Check]:
    """Check chain, texts, counts, word index and permissions; without `deep` only what is quick."""
    return weigh([_permissions(folder), *examine_copy(reader, deep=deep)])


def examine_copy(reader: LogReader, *, deep: bool = True) -> list[Check]:
    """The checks of a log's file alone, wherever it lies."""
    checks: list[Check] = []
    try:
        with reader.snapshot() as db:
            looks = [("log file", lambda: _file(db, deep=deep)), ("chain", lambda: _chain(db, deep=deep))]
            if deep:
                looks += [("texts", lambda: _texts(db)), ("events", lambda: _events(db)), ("words", lambda: _words(db))]
            if deep and version_of(db) == NEWEST:
                looks += [("tables", lambda: _tables(db))]
            if deep and version_of(db) > 1:
                looks += [("contents", lambda: _contents(db)), ("vectors", lambda: _vectors(db))]
            checks += [_sound(name, look) for name, look in looks]
    except (LogDamaged, LogUnreadable) as e:
        checks.append(Check("log", False, str(e), _RESTORE if isinstance(e, LogDamaged) else _AGAIN))
    return checks


def weigh(checks: list[Check]) -> list[Check]:
    """The checks, none of which says that a rebuild loses nothing where the log itself is not well."""
    if all(check.ok for check in checks if check.name in _OF_THE_LOG):
        return checks
    of_copies = {"words", "tables", "contents", "vectors", "graph"}
    return [
        replace(check, advice=_FIRST_THE_LOG) if check.name in of_copies and not check.ok else check for check in checks
    ]


def examine_words(log: Log) -> list[Check]:
    """Compare the word index with the texts, word by word: SQLite does this only on a connection that may write."""
    if log.words_agree():
        return []
    return [Check("words", False, "the word index does not match the texts", _REBUILD)]


def examine_graph(store: GraphStore, applied: int, reader: LogReader) -> list[Check]:
    """Compare every table of the graph with a fresh fold of the log, row by row and column by column."""
    try:
        expected = fold(rebuild.events_of(reader, applied), reader.event)
    except SURPRISES as e:
        return [Check("graph", False, f"no graph can be built from the log: {e}", _RESTORE)]
    different = list(compare(expected, store))
    rows = sum(map(len, expected.nodes.values())) + sum(map(len, expected.rels.values()))
    if different:
        return [Check("graph", False, "; ".join(different[:3]), _REBUILD)]
    return [Check("graph", True, f"{rows} nodes and relationships agree with the log up to event {applied}")]


def compare(expected: Tables, store: GraphStore) -> Iterator[str]:
    """What differs between the tables expected and those in a store, a line per table."""
    for table in NODES:
        columns = ", ".join(f"n.`{name}`" for name in table.names)
        there = {row[0]: row for row in store.execute(f"MATCH (n:`{table.name}`) RETURN {columns}")}
        yield from _differences(table.name, expected.nodes[table.name], there)
    for rel, end in [(each, end) for each in RELS for end in each.ends]:
        name = rel.name if len(rel.ends) == 1 else f"{rel.name} to {end}"
        pattern = f"(a:`{rel.start}`)-[r:`{rel.name}`]->(b:`{end}`)"
        columns = "".join(f", r.`{name}`" for name in rel.names)
        rows = store.execute(f"MATCH {pattern} RETURN a.id, b.id{columns}")
        keyed = rel.names.index(rel.key) if rel.key else None
        found = {(a, b) if keyed is None else (a, b, values[keyed]): tuple(values) for a, b, *values in rows}
        if len(found) < len(rows):
            yield f"{name} holds {len(rows) - len(found)} relationships twice"
        yield from _differences(name, expected.rels[rel.name, end], found)


def _differences(name: str, expected: dict[Any, Any], there: dict[Any, Any]) -> Iterator[str]:
    missing, surplus = expected.keys() - there.keys(), there.keys() - expected.keys()
    changed = [key for key in expected.keys() & there.keys() if expected[key] != there[key]]
    if missing or surplus or changed:
        yield f"{name}: {len(missing)} missing, {len(surplus)} too many, {len(changed)} different"


def _permissions(folder: Path) -> Check:
    open_to_others = [path.name for path in [folder, *folder.iterdir()] if path.stat().st_mode & 0o077]
    if open_to_others and os.name == "posix":
        advice = f"Run: chmod -R go= '{folder}'"
        return Check("permissions", False, f"other users can access {', '.join(sorted(open_to_others))}", advice)
    return Check("permissions", True, "only you can read the memory")


def _file(db: sqlite3.Connection, *, deep: bool) -> Check:
    check = "integrity_check" if deep else "quick_check"
    answers = [row[0] for row in db.execute(f"PRAGMA {check}(3)")]
    if answers == ["ok"]:
        return Check("log file", True, "SQLite reports no errors")
    return Check("log file", False, "; ".join(answers), _RESTORE)


def _chain(db: sqlite3.Connection, *, deep: bool) -> Check:
    return _well("chain", lambda: f"{check_chain(db, last=None if deep else 1000)} events follow one another")


def _texts(db: sqlite3.Connection) -> Check:
    """Every text is the one that was hashed, and is gone exactly where an event says so."""
    changed = sum(
        not _is_what_was_said(text, salt, stored)
        for text, salt, stored in db.execute("SELECT text, salt, text_hash FROM events WHERE text IS NOT NULL")
    )
    erased = {seq for row in db.execute(_ERASURES) for seq in fields_of(*row)["events"]}
    lost = sum(seq not in erased for (seq,) in db.execute(_GONE_TEXTS))
    kept = sum(seq in erased for (seq,) in db.execute(_KEPT_TEXTS))
    if changed or lost or kept:
        detail = f"{changed} changed, {lost} missing, {kept} not erased"
        return Check("texts", False, detail, _RESTORE)
    return Check("texts", True, "all unchanged")


def _is_what_was_said(text: object, salt: object, stored: object) -> bool:
    """Whether text and salt give the hash; a row that was tampered with can hold anything."""
    return isinstance(text, str) and isinstance(salt, bytes) and stored is not None and hash_text(text, salt) == stored


def _events(db: sqlite3.Connection) -> Check:
    def look() -> str:
        counted = sum(1 for _ in map(event_of, db.execute(f"{SELECT_EVENT} ORDER BY seq")))
        turns = db.execute("SELECT count(*) FROM events WHERE kind = 'turn.said'").fetchone()[0]
        return f"{counted} can be read, {turns} of them turns"

    return _well("events", look)


def _words(db: sqlite3.Connection) -> Check:
    """The word indexes have an entry for every text that was said or learned, and no other."""
    lost = left = 0
    for texts, index in [("said", "words"), ("taught", "learned")][: 1 if version_of(db) < 3 else 2]:
        missing = f"SELECT count(*) FROM {texts} WHERE seq NOT IN (SELECT id FROM {index}_docsize)"
        surplus = f"SELECT count(*) FROM {index}_docsize WHERE id NOT IN (SELECT seq FROM {texts})"
        lost += db.execute(missing).fetchone()[0]
        left += db.execute(surplus).fetchone()[0]
    if lost or left:
        return Check("words", False, f"{lost} texts missing from the word index, {left} too many", _REBUILD)
    return Check("words", True, "the word index has every text")


def _tables(db: sqlite3.Connection) -> Check:
    """The tables beside the events say what a fold of these says."""
    seq, link = db.execute("SELECT seq, hash FROM events ORDER BY seq DESC LIMIT 1").fetchone() or (
        0,
        hash_before(db, 1),
    )
    if not (are_whole(db) and are_current(db, seq, link)):
        return Check("tables", True, "they are of another version; the next start makes them anew")
    try:
        events = map(event_of, db.execute(f"{SELECT_EVENT} ORDER BY seq"))
        expected = TablesInMemory(events, partial(event_at, db), seq)
    except MemoryFailure as e:
        return Check("tables", False, f"they cannot be compared with the log: {e}", _RESTORE)
    different = expected.differing(db)
    expected.close()
    if different:
        return Check("tables", False, f"they do not match the log: {'; '.join(different[:3])}", _REBUILD)
    return Check("tables", True, f"they agree with the log up to event {seq}")


def _contents(db: sqlite3.Connection) -> Check:
    """Every text has its hash, by which its vector is found."""
    wrong = differing(db)
    if wrong:
        return Check("contents", False, f"{wrong} content hashes do not match the texts", _REBUILD)
    return Check("contents", True, "every text has its hash")


def _vectors(db: sqlite3.Connection) -> Check:
    """Every vector is a direction, of as many numbers as its embedder's are."""
    wrong = Counter(embedder for _, embedder in unsound(db))
    everything = db.execute("SELECT count(*) FROM vectors").fetchone()[0]
    if not wrong:
        return Check("vectors", True, f"{everything} can be compared")
    names = dict(db.execute("SELECT id, name FROM embedders"))
    of = ", ".join(f"{count} of {names.get(id, 'no embedder')}" for id, count in sorted(wrong.items()))
    detail = f"{wrong.total()} of {everything} vectors are damaged ({of}); recall works without them"
    return Check("vectors", False, detail, _EMBED_AGAIN)


def _sound(name: str, look: Callable[[], Check]) -> Check:
    """A check, or what stopped it: rows that were tampered with may hold what no code expects, and the rest goes on."""
    try:
        return look()
    except SURPRISES as e:
        return Check(name, False, f"it cannot be checked: {e}", _RESTORE if says_damage(e) else _AGAIN)


def _well(name: str, look: Callable[[], str]) -> Check:
    try:
        return Check(name, True, look())
    except MemoryFailure as e:
        return Check(name, False, str(e), _AGAIN if isinstance(e, LogUnreadable) else _RESTORE)
