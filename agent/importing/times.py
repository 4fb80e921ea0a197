"""When something was said, as exports write it: seconds or milliseconds since 1970, ISO 8601, or LoCoMo's words."""

import re
from datetime import UTC, datetime
from typing import NamedTuple

LATEST_MS = 253_402_300_799_999  # the end of the year 9999
SECONDS_BELOW = 100_000_000_000  # a smaller number counts seconds: as milliseconds it would be before April 1973
LOCOMO = re.compile(r"\s*(\d{1,2}):(\d{2})\s*([ap])\.?m\.?\s+on\s+(\d{1,2})\s+([a-z]+),?\s+(\d{4})\s*", re.IGNORECASE)
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")


class SaidAt(NamedTuple):
    """UTC milliseconds; `naive` if the text named no offset, so that UTC was taken."""

    ms: int
    naive: bool = False


def moment(value: object) -> SaidAt | None:
    """The time that a JSON value means; None for one that means none, or that is before 1970."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return _of_number(value)
    if isinstance(value, str):
        return _of_text(value)
    return None


def _of_number(value: float) -> SaidAt | None:
    if not -LATEST_MS <= value <= LATEST_MS:  # not a number is neither
        return None
    ms = round(value * 1000) if abs(value) < SECONDS_BELOW else round(value)
    return SaidAt(ms) if 0 < ms <= LATEST_MS else None


def _of_text(text: str) -> SaidAt | None:
    stripped = text.strip()
    if re.fullmatch(r"\d+(\.\d+)?", stripped) and len(stripped) > 8:  # 20230508 is a date
        return _of_number(float(stripped))
    try:
        at = _locomo(stripped) or datetime.fromisoformat(re.sub(r"\s*UTC$", "+00:00", stripped))
    except ValueError:
        return None
    aware = at.replace(tzinfo=UTC) if at.tzinfo is None else at
    ms = round(aware.timestamp() * 1000)
    return SaidAt(ms, at.tzinfo is None) if 0 < ms <= LATEST_MS else None


def _locomo(text: str) -> datetime | None:
    """1:56 pm on 8 May, 2023. Raises ValueError for a date that is none."""
    found = LOCOMO.fullmatch(text)
    if found is None or found[5][:3].lower() not in MONTHS:
        return None
    hour = int(found[1]) % 12 + (12 if found[3].lower() == "p" else 0)
    return datetime(int(found[6]), MONTHS.index(found[5][:3].lower()) + 1, int(found[4]), hour, int(found[2]))
