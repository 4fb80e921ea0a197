"""The rows of the stage screen: each a heading, or a line of the stage that can be written anew."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from textual.content import Content

from tui.scene import WORLD, YOU
from tui.text import MUTED, counted, one_line, plain
from tui.themes import HERE, THERE, seat_style

if TYPE_CHECKING:
    from agent.story.decay import Decay
    from agent.story.knowledge import Knowledge
    from agent.story.overview import Overview, Seated
    from agent.story.plots import Plot
    from agent.story.ties import Tie
    from graph.values import StageLine

Page = Literal["cast", "ties", "knows", "plan", "world"]
PAGES: tuple[Page, ...] = ("cast", "ties", "knows", "plan", "world")
NAMES = ("Cast", "Ties", "Knows", "Plan", "World")
BARS = "▁▂▃▄▅▆▇█"
COLUMN = 13  # cells of a label
SEATS = {YOU: "you play them", "host": "the host", "guest": "the guest"}
BY = {"user": "set by you", "rule": "by rule, from what was said", "model": "judged by the model"}
UNSET = "–"
MARKS = {"knows": "✓", "outdated": "~", "does not know": "✗"}
# As in agent/story: stage.py, ties.py, plots.py, whose import the screen does not wait for.
OF_MEMBER = ("public", "mood", "goals", "status", "inventory", "place", "posture", "action", "holding", "attention")
OF_WORLD = ("scene", "place", "clock", "weather", "anchor")
OF_PLACE = ("slots", "moving", "public", "audible")
OF_GROUP = ("summary", "dynamic")
OF_PLOT = ("trigger", "needs", "on_start", "on_complete", "props", "significance", "known")
NUMBERS = ("affinity", "trust")
LABELS = {"on_start": "begins with", "on_complete": "ends with", "known": "known to"}
SORTS = (("fact:", "Knows"), ("scene:", "Scenes, as they saw them"), ("gap:", "Of times that were skipped"))
GROUP, PLACE, PLOT = "group", "place:", "plot:"


@dataclass(frozen=True, slots=True)
class Row:
    """One row. A line of the stage has an `owner` and an `aspect`, and the `text` that it is written anew from."""

    id: str
    words: Content
    about: str = ""
    owner: str = ""
    aspect: str = ""
    text: str = ""
    member: str = ""
    plot: "Plot | None" = None
    turn: str = ""  # the message that it is of

    @property
    def is_line(self) -> bool:
        return bool(self.aspect)

    @property
    def is_number(self) -> bool:
        return self.aspect in NUMBERS


def cast_rows(stage: "Overview") -> Iterator[Row]:
    """Everybody who plays, and what is set of them."""
    lines = {(line.owner, line.aspect): line for line in stage.lines}
    for each in stage.cast:
        where = "on the scene" if each.present else "away"
        mark = plain(HERE if each.present else THERE, seat_style(each.seat) if each.present else MUTED)
        name = plain(f" {one_line(each.name)}", f"bold {seat_style(each.seat)}")
        words = Content.assemble(mark, name, plain(f"  {SEATS[each.seat]} · {where}", MUTED))
        yield Row(each.member, words, f"{one_line(each.name)} is {where}. Space changes that.", member=each.member)
        for aspect in OF_MEMBER:
            yield _line(lines, each.member, aspect, member=each.member)


def tie_rows(stage: "Overview") -> Iterator[Row]:
    """How each stands to each other one, and what lies between the three."""
    names = {each.member: YOU if each.seat == YOU else one_line(each.name) for each in stage.cast}
    seats = {each.member: each.seat for each in stage.cast}
    for tie in stage.ties:
        owner = f"{tie.owner.id}>{tie.target.id}"
        ends = [plain(names[each.id], f"bold {seat_style(seats[each.id])}") for each in (tie.owner, tie.target)]
        count = counted(len(tie.changes), "change") if tie.changes else "nothing moved yet"
        stands = "stand" if seats[tie.owner.id] == YOU else "stands"
        about = f"How {names[tie.owner.id]} {stands} to {names[tie.target.id]}: {count}."
        yield Row(owner, Content.assemble(ends[0], plain(" → ", MUTED), ends[1]), about, member=tie.owner.id)
        for aspect, value in zip(NUMBERS, (tie.affinity, tie.trust), strict=True):
            yield Row(
                f"{owner}.{aspect}", number(aspect, value), _cause(tie, aspect), owner, aspect, f"{value}", tie.owner.id
            )
        said = one_line(tie.summary)
        words = _labelled("summary", said or UNSET, MUTED if not said else "")
        yield Row(f"{owner}.summary", words, tie.summary, owner, "summary", tie.summary, tie.owner.id)
        yield from _facts(stage, tie)
        yield from _shared(stage, tie, owner)
    if len(stage.cast) > 2:
        lines = {(line.owner, line.aspect): line for line in stage.lines}
        yield Row(GROUP, plain("All of them together", "bold"), "Told while all are there.")
        for aspect in OF_GROUP:
            yield _line(lines, GROUP, aspect)


def _facts(stage: "Overview", tie: "Tie") -> Iterator[Row]:
    """What one learned that names the other."""
    from agent.story.stops import called

    named = re.compile(rf"\b(?:{'|'.join(map(re.escape, called(tie.target.name)))})\b", re.IGNORECASE)
    for line in stage.lines:
        words = one_line(line.text or "")
        if line.owner == tie.owner.id and line.aspect.startswith("fact:") and named.search(words):
            yield Row(
                f"{tie.target.id}.{line.owner}.{line.aspect}",
                _labelled("knows", words),
                f"{words}  ({BY[line.by]})",
                line.owner,
                line.aspect,
                line.text or "",
                tie.owner.id,
            )


def _shared(stage: "Overview", tie: "Tie", owner: str) -> Iterator[Row]:
    """What only the two saw, and when they last spoke; told once of each two."""
    for each in stage.between:
        if (each.one, each.other) != (tie.owner.id, tie.target.id):
            continue
        if each.count:
            last = each.private[-1]
            said = f"{counted(each.count, 'message')} only the two saw"
            about = "\n".join(f"{one_line(moment.speaker)}: {one_line(moment.said)}" for moment in each.private)
            yield Row(f"{owner}.private", _labelled("private", said, MUTED), about, turn=last.turn)
        if each.last is not None:
            said = f"{one_line(each.last.speaker)}: {one_line(each.last.said)}"
            yield Row(f"{owner}.last", _labelled("last", said, MUTED), said, turn=each.last.turn)


def number(aspect: str, value: int, *, drafted: bool = False) -> Content:
    """A value from -100 to 100, and a bar of it."""
    bar = BARS[min(len(BARS) - 1, (value + 100) * len(BARS) // 201)]
    return _labelled(aspect, f"{value:>4} {bar}", "reverse" if drafted else "")


def know_rows(stage: "Overview", member: "Seated", asked: "Knowledge | None") -> Iterator[Row]:
    """What one of the cast knows: of some words that were asked, or all that it keeps."""
    if asked is not None:
        believes = asked.believed
        says = f"goes by: “{one_line(believes.text)}”" if believes is not None else asked.ignorance
        yield Row("asked", plain(f"“{one_line(asked.topic)}”: {one_line(member.name)} {says}", "bold"), says)
        for each in asked.every:
            mark = plain(f"{MARKS[each.mark]} ", "$success" if each.mark == "knows" else MUTED)
            said = plain(f"{one_line(each.speaker)}: {one_line(each.text)}", "" if each.mark == "knows" else MUTED)
            about = f"{each.mark}: {one_line(each.speaker)} said “{one_line(each.text)}”"
            yield Row(each.turn, Content.assemble(mark, said), about, turn=each.turn)
        return
    for sort, title in SORTS:
        kept = [line for line in stage.lines if line.owner == member.member and line.aspect.startswith(sort)]
        yield Row(
            sort, plain(title, "bold") + plain("" if kept else "  nothing yet", MUTED), title, member=member.member
        )
        for line in kept:
            words = Content.assemble("  ", plain(one_line(line.text or "")))
            about = f"{one_line(line.text or '')}  ({BY[line.by]})"
            yield Row(f"{line.owner}.{line.aspect}", words, about, line.owner, line.aspect, line.text or "", line.owner)


def plan_rows(stage: "Overview", due: Iterable["Plot"]) -> Iterator[Row]:
    """Events and threads by how they stand, and what is set of them."""
    lines = {(line.owner, line.aspect): line for line in stage.lines}
    ready = {plot.id for plot in due}
    names = {each.member: one_line(each.name) for each in stage.cast}
    for state in ("active", "planned", "completed", "cancelled", "expired"):
        for plot in stage.plots:
            if plot.state == state:
                owner = f"{PLOT}{plot.id}"
                told = f"{plot.sort} · {state}" + (" · its time has come" if plot.id in ready else "")
                title = plain(one_line(plot.title), "bold" if not plot.over else MUTED)
                words = title + plain(f"  {told}", "$warning" if plot.id in ready else MUTED)
                yield Row(owner, words, f"{one_line(plot.title)}: {told}", owner, "title", plot.title, plot=plot)
                for aspect in OF_PLOT:
                    if (owner, aspect) in lines:
                        row = _line(lines, owner, aspect, plot=plot)
                        yield row if aspect != "known" else _known(row, names)


def _known(row: Row, names: Mapping[str, str]) -> Row:
    """Members by their names."""
    told = ", ".join(names.get(each, each) for each in row.text.split())
    return Row(row.id, _labelled("known to", told), told, row.owner, row.aspect, told, plot=row.plot)


def world_rows(stage: "Overview", decay: "Mapping[str, Decay]") -> Iterator[Row]:
    """Where the story stands, its places and its lore, and how the replies of each voice go."""
    lines = {(line.owner, line.aspect): line for line in stage.lines}
    for aspect in OF_WORLD:
        yield _line(lines, WORLD, aspect)
    for place in dict.fromkeys(line.owner for line in stage.lines if line.owner.startswith(PLACE)):
        name = place.removeprefix(PLACE)
        yield Row(place, plain(one_line(name), "bold") + plain("  a place", MUTED), f"The place {one_line(name)}.")
        for aspect in OF_PLACE:
            yield _line(lines, place, aspect)
    for each in stage.scenes:
        how = "open" if each.open else "closed"
        yield Row(
            f"scene:{each.id}",
            plain("Scene: ", MUTED) + plain(one_line(each.title)) + plain(f"  {how}", MUTED),
            f"{one_line(each.title)}, {how}",
        )
    names = {each.member: one_line(each.name) for each in stage.cast}
    for book in stage.books:
        whose = names.get(book.owner, "everybody")
        told = f"{counted(book.entries, 'entry', 'entries')}, {book.constant} of them told always · for {whose}"
        title = plain("Lore: ", MUTED) + plain(one_line(book.name)) + plain(f"  {told}", MUTED)
        yield Row(f"book:{book.owner}:{book.name}", title, told)
    for member, found in decay.items():
        worse = "; ".join(found.worse) or "as it was"
        words = plain(f"Replies of {names.get(member, member)}: ", MUTED) + plain(
            worse, "$warning" if found.worse else ""
        )
        yield Row(f"decay.{member}", words, f"{worse}. {REMEDY}" if found.worse else worse)


REMEDY = (
    "r tells all voices anew what everybody does. Or write an anchor, which is told always, or give the voice another "
    "model or a higher temperature (/sampling)."
)


def _line(
    lines: "Mapping[tuple[str, str], StageLine]",
    owner: str,
    aspect: str,
    *,
    member: str = "",
    plot: "Plot | None" = None,
) -> Row:
    line = lines.get((owner, aspect))
    text = line.text or "" if line is not None else ""
    about = f"{one_line(text)}  ({BY[line.by]})" if line is not None else "Nothing is set. Enter sets it."
    words = _labelled(LABELS.get(aspect, aspect), one_line(text) or UNSET, "" if text else MUTED)
    return Row(f"{owner}.{aspect}", words, about, owner, aspect, text, member, plot)


def _labelled(label: str, words: str, style: str = "") -> Content:
    return Content.assemble(plain(f"  {label:<{COLUMN}}", MUTED), plain(words, style))


def _cause(tie: "Tie", aspect: str) -> str:
    last = next((line for line in reversed(tie.changes) if line.aspect == aspect), None)
    return f"{BY[last.by]}; ← → change it, h lists every change" if last is not None else "← → change it"
