"""What a PDF says: its pages, title, author and day. Its library raises whatever a broken file brings it to."""

import io
import logging
from contextlib import suppress
from typing import Any

LIGATURES = dict(zip(range(0xFB00, 0xFB07), ("ff", "fi", "fl", "ffi", "ffl", "st", "st"), strict=True))
LOCKED = "locked"  # instead of all of it, where it needs a password


def read_given(given: bytes, about: dict[str, Any]) -> dict[str, Any]:
    """The texts of its pages, up to `most` characters where that is said, and what it tells of itself."""
    from pypdf import PdfReader
    from pypdf.errors import DependencyError

    logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # it tells of every small fault
    most, texts, length = about.get("most"), list[str](), 0
    try:
        reader = PdfReader(io.BytesIO(given))
        if reader.is_encrypted and not reader.decrypt(""):
            return {LOCKED: True}
        for page in reader.pages:
            texts.append(page.extract_text().translate(LIGATURES))
            length += len(texts[-1])
            if most is not None and length > most:
                break
        told = reader.metadata
    except DependencyError:
        return {LOCKED: True}
    made = None
    with suppress(ValueError):  # it is written in a way of its own
        made = told.creation_date if told is not None else None
    return {
        "texts": texts,
        "title": str((told and told.title) or ""),
        "author": str((told and told.author) or ""),
        "date": made.date().isoformat() if made is not None else "",
    }
