"""Which observations the list shows: one key cycles each filter, and one line says what is chosen."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar, get_args

from textual.content import Content

from graph.beliefs import Trend, Wanted
from graph.events import ObservationKind
from tui.text import MUTED, one_line, plain

if TYPE_CHECKING:
    from graph.beliefs import Observation

Value = TypeVar("Value")
MOST_PEOPLE = 12
STATUSES = ("", "active", "candidate", "superseded", "invalid", "every")
STATUS_WORDS = {
    "": "current",
    "active": "in use",
    "candidate": "to review",
    "superseded": "superseded",
    "invalid": "not true",
    "every": "every status",
}


@dataclass(frozen=True, slots=True)
class There:
    """What there is to filter by: a key leads only to these."""

    people: Sequence[str] = ()
    projects: Sequence[str] = ()
    kinds: Sequence[ObservationKind] = ()


def cycled(wanted: Wanted, key: str, there: There) -> Wanted:
    """What is wanted after one press of a filter's key."""
    match key:
        case "S":
            return _with_status(wanted, _next(STATUSES, status_of(wanted)))
        case "K":
            return replace(wanted, kind=_next((None, *there.kinds), wanted.kind))
        case "W":
            return replace(wanted, about=_next((None, *there.people), wanted.about))
        case "J":
            return replace(wanted, project=_next((None, *there.projects), wanted.project))
        case "T":
            return replace(wanted, trend=_next((None, *get_args(Trend)), wanted.trend))
        case "P":
            return replace(wanted, pinned=_next((None, True, False), wanted.pinned))
        case _:
            return wanted


def _next(values: Sequence[Value], now: Value) -> Value:
    return values[(values.index(now) + 1) % len(values)] if now in values else values[0]


def status_of(wanted: Wanted) -> str:
    """The status that is wanted: empty for those in use or under review, `every` for all."""
    return "every" if wanted.everything else wanted.status or ""


def _with_status(wanted: Wanted, status: str) -> Wanted:
    known = {"active": "active", "candidate": "candidate", "superseded": "superseded", "invalid": "invalid"}
    return replace(wanted, status=known.get(status), everything=status == "every")  # type: ignore[arg-type]


def narrowed(wanted: Wanted) -> bool:
    """Some filter is set."""
    return wanted != Wanted(world=wanted.world)


def people_of(observations: "Sequence[Observation]") -> list[str]:
    """The names that the most of these are about, the most frequent first."""
    counts: dict[str, int] = {}
    for observation in observations:
        for name in observation.about:
            counts[name] = counts.get(name, 0) + 1
    return sorted(counts, key=lambda name: (-counts[name], name))[:MOST_PEOPLE]


def kinds_of(observations: "Sequence[Observation]") -> list[ObservationKind]:
    """The kinds that some of these are of, in the order of the kinds."""
    found = {observation.kind for observation in observations}
    return [kind for kind in ObservationKind if kind in found]


def line(wanted: Wanted, width: int) -> Content:
    """The filters on one line, in words as far as they fit, those chosen first; the rest by their keys."""
    status, pinned = status_of(wanted), "pinned" if wanted.pinned else "not pinned"
    about, project = one_line(wanted.about or "")[:16], one_line(wanted.project or "")[:16]
    parts: list[tuple[str, str, bool]] = [
        ("S", STATUS_WORDS[status], bool(status)),
        ("K", wanted.kind or "kind", wanted.kind is not None),
        ("W", about or "who", wanted.about is not None),
        ("J", project or "project", wanted.project is not None),
        ("T", wanted.trend or "trend", wanted.trend is not None),
        ("P", "pins" if wanted.pinned is None else pinned, wanted.pinned is not None),
        ("/", f"“{one_line(wanted.text)[:24]}”" if wanted.text else "words", bool(wanted.text)),
    ]
    told = {key for key, _, chosen in parts if chosen}
    if _joined(parts, told).cell_length > width:
        return _joined(parts, set()).truncate(width, ellipsis=True)
    for key, _, _ in parts:
        if _joined(parts, told | {key}).cell_length <= width:
            told.add(key)
    return _joined(parts, told)


def _joined(parts: Sequence[tuple[str, str, bool]], told: Collection[str]) -> Content:
    shown = [
        Content.assemble(plain(key, "bold"), plain(f" {words}", "$primary" if chosen else MUTED))
        if key in told
        else plain(key, "bold $primary" if chosen else f"bold {MUTED}")
        for key, words, chosen in parts
    ]
    return Content("  ").join(shown)
