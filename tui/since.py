"""What `--since` and `--until` understand: a date or a time of the user's own clock, or how long ago (`2h`, `3d`)."""

import re
from datetime import UTC, date, datetime, time, timedelta

import typer

UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
EARLIEST = datetime(1970, 1, 1, tzinfo=UTC)
TICK = timedelta(milliseconds=1)
EXAMPLES = "2025-03-01, 2025-03-01T14:30, 90m, 2h, 3d or 1w"


def parse_since(text: str, *, now: datetime) -> datetime:
    """The UTC time that `text` means; `now` is aware. A time without an offset is local, a date its midnight.

    Raises ValueError, whose message says what would be understood. Nothing is earlier than 1970.
    """
    words = text.strip()
    if ago := re.fullmatch(r"(\d{1,12})\s*([smhdw])", words.lower()):
        try:
            return max(EARLIEST, now.astimezone(UTC) - timedelta(**{UNITS[ago[2]]: int(ago[1])}))
        except OverflowError:
            return EARLIEST
    try:
        moment = datetime.fromisoformat(words)
    except ValueError as error:
        raise ValueError(f"{text!r} is not a valid time. Write it as {EXAMPLES}.") from error
    try:
        return max(EARLIEST, moment.astimezone(UTC))
    except (OverflowError, OSError, ValueError):
        if moment.year < EARLIEST.year:
            return EARLIEST
        raise ValueError(f"{text!r} is out of range. Write it as {EXAMPLES}.") from None


def end_of(text: str, *, now: datetime) -> datetime:
    """The last moment, in UTC, that `text` may mean; `now` is aware. Raises ValueError, as `parse_since`."""
    try:
        day = date.fromisoformat(text.strip())
    except ValueError:
        return parse_since(text, now=now)
    try:
        return datetime.combine(day + timedelta(days=1), time.min).astimezone(UTC) - TICK
    except (OverflowError, OSError, ValueError):
        return parse_since(text, now=now)


def moment(text: str | None) -> datetime | None:
    """The UTC time that an option gives, None where it is not given. Raises BadParameter."""
    if text is None:
        return None
    try:
        return parse_since(text, now=datetime.now(UTC))
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error
