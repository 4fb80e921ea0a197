"""Questions in plain English as Cypher, without a model: the common ones, with their names and times."""

from collections.abc import Collection
from datetime import UTC, datetime, timedelta, tzinfo

from graph.recall.times import Span, find_time

from .phrases import fits
from .question import Asking, Unfit
from .templates import QUERIES
from .values import Translation
from .wording import plainer

RECENT = timedelta(days=30)
_RECENTLY = ("recently", "lately", "these days", "of late")


def by_template(
    question: str, *, now: datetime, zone: tzinfo, names: Collection[str] = (), speakers: Collection[str] = ()
) -> Translation | None:
    """The question as a query, None where it is none of the common ones.

    `now` is aware; `names` are those of the people, places and things that there are, `speakers` of who speaks.
    """
    text = plainer(question)
    if not text:
        return None
    known = {name.casefold(): name for name in (*names, *speakers)}
    heard = {name.casefold(): name for name in speakers}
    for plain, span in _readings(text, now, zone):
        for fit in fits(plain):
            asking = Asking(fit, span, zone, known, heard, now)
            try:
                cypher, words = QUERIES[fit.kind](asking)
            except Unfit:
                continue
            if span is None or asking.timed:  # a time that was said is never left out
                return Translation(question, cypher, asking.parameters, "template", words)
    return None


def _readings(text: str, now: datetime, zone: tzinfo) -> list[tuple[str, Span | None]]:
    """The question without its time, and with it as it stands: "Friday" may be somebody's name."""
    readings: list[tuple[str, Span | None]] = []
    span = find_time(text, now=now, timezone=zone)
    if span is not None:
        readings.append((plainer(span.cut(text)), span))
    recently = next((word for word in _RECENTLY if text.casefold().endswith(f" {word}")), None)
    if span is None and recently is not None:
        readings.append((plainer(text[: -len(recently)]), Span((now - RECENT).astimezone(UTC), None, ())))
    return [*readings, (text, None)]
