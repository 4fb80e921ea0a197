"""What an erasure takes with it: every event that may carry words of what is gone.

A title, an observation, a core block, a name or a question for approval names the turns and chunks its words may come
from; the result of a tool names what it quotes. Whoever names what is gone loses its text with it, also one that is
stored later.
"""

import json
import sqlite3
from collections.abc import Iterable

from graph.events import (
    ApprovalAsked,
    CoreWritten,
    DocumentRemoved,
    EntityNoted,
    Event,
    ObservationDeleted,
    ObservationMade,
    SessionTitled,
    TurnDeleted,
)

ERASING = (TurnDeleted, ObservationDeleted, DocumentRemoved)

_NAMING = """
SELECT seq FROM named WHERE name IN (SELECT value FROM json_each(?)) AND kind IN
    ('session.titled', 'observation.made', 'core.written', 'entity.noted', 'approval.asked')
"""
_QUOTING = """
SELECT tool.seq FROM events AS tool JOIN json_each(tool.structure, '$.recalled') AS quoted
WHERE tool.role = 'tool' AND quoted.value ->> '$.id' IN (SELECT value FROM json_each(?))
"""
_OF_SERIES = "SELECT seq, item FROM events WHERE series = ? AND kind = 'observation.made'"
_OF_DOCUMENT = """
SELECT read.seq, read.item FROM named JOIN events AS read USING (seq) WHERE named.name = ? AND named.kind = 'chunk.read'
"""
# A turn or a chunk whose words are gone for good.
_GONE = """
SELECT 1 FROM json_each(?) AS source WHERE EXISTS (
    SELECT 1 FROM events WHERE turn = source.value AND kind = 'turn.deleted'
) OR EXISTS (
    SELECT 1 FROM events WHERE turn = source.value AND kind = 'turn.said' AND text IS NULL AND text_hash IS NOT NULL
) OR EXISTS (
    SELECT 1 FROM events WHERE item = source.value AND kind = 'chunk.read' AND text IS NULL AND text_hash IS NOT NULL
)
"""


def texts_of(db: sqlite3.Connection, event: TurnDeleted | ObservationDeleted | DocumentRemoved) -> tuple[int, ...]:
    """Which events carry words of what `event` takes away, by their numbers in order."""
    seqs: set[int] = set()
    gone: set[str] = set()
    match event:
        case TurnDeleted():
            seqs |= _seqs(db, "SELECT seq FROM events WHERE turn = ? AND kind = 'turn.said'", event.turn)
            gone = {event.turn}
        case ObservationDeleted():
            _take(db.execute(_OF_SERIES, (event.series,)), seqs, gone)
        case DocumentRemoved():
            _take(db.execute(_OF_DOCUMENT, (event.document,)), seqs, gone)
            seqs |= _seqs(db, "SELECT seq FROM events WHERE item = ? AND kind = 'document.read'", event.document)
    seqs |= _seqs(db, _NAMING, _list(gone))
    learned = "SELECT item FROM events WHERE kind = 'observation.made' AND seq IN (SELECT value FROM json_each(?))"
    gone |= {id for (id,) in db.execute(learned, (_list(seqs),))}
    return tuple(sorted(seqs | _seqs(db, _QUOTING, _list(gone))))


def bereft(db: sqlite3.Connection, event: Event) -> Event:
    """An event as it is stored: without its text, if something it names was erased before it came."""
    match event:
        case ObservationMade(sources=sources) | CoreWritten(sources=sources) | SessionTitled(sources=sources):
            names = sources
        case EntityNoted(by_turn=turn) | ApprovalAsked(by_turn=turn):
            names = (turn,)
        case _:
            return event
    gone = db.execute(_GONE, (_list(names),)).fetchone() is not None
    return event.model_copy(update={"text": None}) if gone else event


def _take(rows: Iterable[tuple[int, str]], seqs: set[int], ids: set[str]) -> None:
    for seq, id in rows:
        seqs.add(seq)
        ids.add(id)


def _seqs(db: sqlite3.Connection, query: str, value: str) -> set[int]:
    return {seq for (seq,) in db.execute(query, (value,))}


def _list(values: Iterable[str | int]) -> str:
    return json.dumps(list(values))
