"""When a story event begins by itself: a trigger of a closed form, and what it needs besides.

`clock: dusk`, `place: cellar`, `scene: The cellar`, `present: Jonas`, `after: The picnic`, `holding Mara: lantern`.
`needs` are such forms too, parted by semicolons. A trigger in other words waits for a hand.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from agent.story.play import WORLD, Play
from agent.story.plots import ACTIVE, COMPLETED, PLANNED, PLOT, Plot, plots_of
from graph.events import Event, StageSet
from graph.ids import as_datetime
from graph.values import StageLine

FORM = re.compile(r"\s*(clock|place|scene|present|after|holding)(?:\s+([^:]+))?:\s*(.+?)\s*\Z", re.I | re.S)
FORMS = "clock: …, place: …, scene: …, present: NAME, after: PLOT, holding NAME: THING"


def started(play: Play, events: Iterable[Event]) -> Iterator[StageSet]:
    """What begins because of some changes of a stage. It is of the same append and author: one undo takes all back."""
    changes = [event for event in events if isinstance(event, StageSet)]
    before = {plot.id for plot in due(play)}
    for plot in due(_with(play, changes)) if changes else ():
        if plot.id not in before:
            place = {"world": changes[-1].world, "after": changes[-1].after}
            yield StageSet.model_validate({**place, "owner": f"{PLOT}{plot.id}", "aspect": "state", "text": ACTIVE})


def _with(play: Play, changes: Iterable[StageSet]) -> Play:
    """A play as it will be."""
    seq = max((line.seq for line in play.history), default=0)
    added = [
        StageLine(each.owner, each.aspect, each.text, None, each.by, seq + at, as_datetime(0), each.after)
        for at, each in enumerate(changes, start=1)
    ]
    lines = {**play.lines, **{(line.owner, line.aspect): line for line in added}}
    return replace(play, lines=lines, history=(*play.history, *added))


def is_form(text: str) -> bool:
    """Whether a trigger is one that can come by itself."""
    return FORM.match(text) is not None


def due(play: Play) -> list[Plot]:
    """The planned events whose trigger and needs hold as things stand."""
    plots = plots_of(play)
    return [
        plot for plot in plots if plot.state == PLANNED and _holds(plot.trigger, play, plots) and _needed(plot, play)
    ]


def _needed(plot: Plot, play: Play) -> bool:
    plots = plots_of(play)
    return all(_holds(each, play, plots) for each in plot.needs.split(";") if each.strip())


def _holds(text: str, play: Play, plots: list[Plot]) -> bool:
    form = FORM.match(text)
    if form is None:
        return False
    kind, whose, what = form[1].lower(), _folded(form[2] or ""), _folded(form[3])
    match kind:
        case "clock" | "scene":
            return _folded(play.text(WORLD, kind)) == what
        case "place":
            places = (play.text(each, "place") for each in (WORLD, *(member.id for member in play.present)))
            return any(_folded(place) == what for place in places)
        case "present":
            return any(_is_called(each.name, what) for each in play.present)
        case "after":
            return any(plot.state == COMPLETED and _folded(plot.title) == what for plot in plots)
    held = (play.text(each.id, "holding") for each in play.cast if not whose or _is_called(each.name, whose))
    return any(what in _folded(text) for text in held)


def _folded(text: str) -> str:
    return " ".join(text.split()).casefold()


def _is_called(name: str, what: str) -> bool:
    return what == _folded(name) or what in _folded(name).split()
