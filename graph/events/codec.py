"""How an event becomes a row of the log and comes back: structure, salted text, hashes.

Invariants:
- The structure is canonical JSON without the text; what is None is left out. It never changes once written.
- `text_hash` = SHA-256(salt ‖ text). Erasing takes text and salt; the hash stays and tells nothing. No hash: no text.
- `hash` = SHA-256(hash before ‖ everything but text and salt). So the chain still verifies after texts are erased.
- What is read was valid when written: an old version goes through its upcaster, a newer one is refused.
"""

import hashlib
import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from types import NoneType
from typing import Any, get_args

from pydantic import ValidationError

from graph.errors import InvalidEvent, LogDamaged, LogNewer
from graph.events import EVENT, Base, Event
from graph.letters import paired

SALT_BYTES = 16
_read = json.JSONDecoder().raw_decode  # what is canonical begins at its first character

Structure = dict[str, Any]

KINDS: dict[str, type[Base]] = {kind.model_fields["kind"].default: kind for kind in get_args(get_args(Event)[0])}


def _unchanged(structure: Structure) -> Structure:
    """The later version only added fields that may be missing."""
    return structure


# (kind, version) -> the structure as the version after it writes it.
UPCASTERS: dict[tuple[str, int], Callable[[Structure], Structure]] = {
    ("session.started", 1): _unchanged,
    ("turn.said", 1): _unchanged,
    ("turn.said", 2): _unchanged,
    ("turn.said", 3): _unchanged,
    ("turn.said", 4): _unchanged,
    ("turn.said", 5): _unchanged,
    ("turn.said", 6): _unchanged,
    ("pin.set", 1): _unchanged,
    ("pin.cleared", 1): _unchanged,
    ("pin.set", 2): _unchanged,
    ("pin.cleared", 2): _unchanged,
    ("document.read", 1): _unchanged,
    ("entity.noted", 1): _unchanged,
    ("observation.made", 1): _unchanged,
    ("reflection.failed", 1): _unchanged,
    ("reflection.failed", 2): _unchanged,
}

# Required fields that may be None are left out of the structure like any other None, and put back on reading.
_ABSENT: dict[str, Structure] = {
    name: {
        field: None
        for field, info in kind.model_fields.items()
        if info.is_required() and NoneType in get_args(info.annotation)
    }
    for name, kind in KINDS.items()
}


@dataclass(frozen=True, slots=True)
class Stored:
    """An event as it stands in the log; `at` is UTC milliseconds."""

    seq: int
    id: str
    at: int
    event: Event


# An event as the log has it now, without what chains it.
SELECT_EVENT = "SELECT seq, id, at, kind, version, structure, text FROM events"


@dataclass(frozen=True, slots=True)
class Row:
    """The columns of an event in `events`, in their order."""

    seq: int
    id: str
    at: int
    kind: str
    version: int
    structure: str
    text: str | None
    salt: bytes | None
    text_hash: bytes | None
    hash: bytes


def encode(event: Event, *, seq: int, id: str, at: int, before: bytes) -> Row:
    """The row of a new event, linked to the hash `before` it. Raises InvalidEvent."""
    fields = event.model_dump(mode="python", exclude_none=True, exclude={"kind", "text"})
    try:
        written = json.dumps(fields, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False)
    except ValueError as e:
        raise InvalidEvent("The event was not stored: a number in it is infinite, or none at all.") from e
    structure = paired(written)
    text: str | None = getattr(event, "text", None)
    text = paired(text) if text is not None else None
    salt = os.urandom(SALT_BYTES) if text is not None else None
    text_hash = hash_text(text, salt) if text is not None and salt is not None else None
    link = hash_link(before, seq, id, at, event.kind, event.version, structure, text_hash)
    return Row(seq, id, at, event.kind, event.version, structure, text, salt, text_hash, link)


def decode(kind: str, version: int, structure: str, text: str | None) -> Event:
    """The event of a row. Raises LogNewer for an unknown kind or version, LogDamaged for a structure that is none."""
    known = KINDS.get(kind)
    if known is None or version > known.version:
        raise LogNewer(f"The log holds an event this clew does not know ({kind}, version {version}). Update clew.")
    try:
        fields = {**fields_of(kind, version, structure), "kind": kind}
        if "text" in known.model_fields:
            fields["text"] = text
        return EVENT.validate_python(fields)
    except (ValueError, TypeError, KeyError, ValidationError) as e:
        raise LogDamaged(
            f"An event of the log ({kind}) cannot be read: {e}. Nothing was changed; see `clew doctor`."
        ) from e


def fields_of(kind: str, version: int, structure: str) -> Structure:
    """What an event of the log has beside its text, as today's version writes it."""
    fields: Structure
    fields, end = _read(structure)
    if end != len(structure):
        raise ValueError("something follows the structure")
    for known in range(version, KINDS[kind].version):
        fields = UPCASTERS[kind, known](fields)
    return {**_ABSENT[kind], **fields}


def event_of(row: tuple[Any, ...]) -> Stored:
    """An event, from a row of SELECT_EVENT."""
    seq, id, at, kind, version, structure, text = row
    return Stored(seq, id, at, decode(kind, version, structure, text))


def hash_text(text: str, salt: bytes) -> bytes:
    return hashlib.sha256(salt + text.encode()).digest()


def hash_link(
    before: bytes, seq: int, id: str, at: int, kind: str, version: int, structure: str, text_hash: bytes | None
) -> bytes:
    """The hash that chains an event to the one before it: 32 bytes."""
    said = text_hash.hex() if text_hash is not None else None
    link = json.dumps([seq, id, at, kind, version, structure, said], ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(before + link.encode()).digest()


def genesis(log_id: str) -> bytes:
    """The hash before the first event: no two logs share a chain."""
    return hashlib.sha256(f"clew log {log_id}".encode()).digest()
