"""How relationships are shown: "Ada —works with→ Bob, since 2024", and from one end: "works with → Bob"."""

from datetime import datetime
from typing import TYPE_CHECKING

from tui.text import counted, one_line

if TYPE_CHECKING:
    from graph.values import Relationship, Standing


def related(told: "Relationship", now: datetime | None = None) -> str:
    """How one stands to another: "Ada —works with→ Bob", with what is known of when; an end that is erased is "…".

    Dates are as they are stored, or as people say them `now`.
    """
    from graph.relations import kinds

    label = kinds()[told.kind].verb(polarity=told.polarity, until=told.until)
    dates = (("since", told.since), ("until", told.until))
    times = [f"{word} {date if now is None else day_of(date, now)}" for word, date in dates if date is not None]
    arrow = f"{one_line(told.subject.name) or '…'} —{label}→ {one_line(told.object.name) or '…'}"
    return ", ".join([arrow, *times])


def stands(told: "Standing", name: str, now: datetime, *, outgoing: bool) -> tuple[str, str]:
    """How somebody stands to `name`, and since when with how much proof: "works with → Bob", ", since May, 2 proofs".

    What is not in force is told from its subject, with the arrow turned where that is `name`: "managed ← Eve".
    """
    from graph.relations import kinds

    kind = kinds()[told.kind]
    if outgoing:
        lead = f"{kind.verb(polarity=told.polarity, until=told.until)} →"
    elif told.polarity and told.until is None:
        lead = f"{kind.inverse} →"
    else:
        lead = f"{kind.verb(polarity=told.polarity, until=told.until)} ←"
    times = [f"{word} {day_of(date, now)}" for word, date in (("since", told.since), ("until", told.until)) if date]
    return f"{lead} {name}", "".join(f", {each}" for each in (*times, counted(told.proofs, "proof")))


def day_of(date: str, now: datetime) -> str:
    """A day, a month or a year as people say it: 14 May, May 2024, 2020; the year of `now` is left out."""
    year, month, day = (*map(int, date.split("-")), 0, 0)[:3]
    if not month:
        return f"{year}"
    name = f"{datetime(year, month, 1):%B}" + (f" {year}" if year != now.year else "")
    return f"{day} {name}" if day else name
