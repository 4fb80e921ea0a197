"""Identifiers and times: ULIDs, and UTC milliseconds as the one format of time that is stored."""

from datetime import UTC, datetime, timedelta
from time import time_ns

from ulid import ULID

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)


def new_id() -> str:
    """A fresh ULID, 26 characters, sortable by its time."""
    return str(ULID())


def is_id(text: str) -> bool:
    """Whether a text is such an id, spelled as it is stored."""
    try:
        return str(ULID.from_str(text)) == text
    except ValueError:
        return False


def now_ms() -> int:
    """The time now, in UTC milliseconds."""
    return time_ns() // 1_000_000


def as_datetime(ms: int) -> datetime:
    """UTC milliseconds as an aware datetime, exact (a float of seconds would not be)."""
    return _EPOCH + timedelta(milliseconds=ms)


def as_ms(moment: datetime) -> int:
    """The first millisecond at or after `moment`. Raises ValueError if it is naive: whose clock would that be?"""
    if moment.tzinfo is None:
        raise ValueError("a time needs its offset: use an aware datetime")
    return -((_EPOCH - moment) // _MILLISECOND)
