"""All that stands on the stage of a chat, for whoever shows it; without the words of cards and books."""

from collections.abc import Iterable
from dataclasses import dataclass

from agent.story.between import Between, between
from agent.story.book import Book
from agent.story.lore import BOOK, read_book
from agent.story.play import CARD, Play
from agent.story.plots import Plot, plots_of
from agent.story.scenes import Scene, scenes_of
from agent.story.stage import RESTATED
from agent.story.ties import Tie, ties_of
from agent.story.voice import READ_AS, card_of
from graph.events import Seat
from graph.values import StageLine, Turn

INSIDE = (CARD, READ_AS, RESTATED)  # aspects that nobody is shown


@dataclass(frozen=True, slots=True)
class Seated:
    """A member of the cast, and whether it is there."""

    member: str
    name: str
    seat: Seat
    present: bool


@dataclass(frozen=True, slots=True)
class Shelf:
    """A lorebook: whose it is ("world": everybody's), and how many entries it has, so many of them told always."""

    owner: str
    name: str
    entries: int
    constant: int


@dataclass(frozen=True, slots=True)
class Overview:
    """The cast by seats; what is set, a line each; how they stand to each other, and what each two share; plots and
    scenes as they began."""

    cast: tuple[Seated, ...]
    lines: tuple[StageLine, ...]
    ties: tuple[Tie, ...]
    plots: tuple[Plot, ...]
    scenes: tuple[Scene, ...]
    books: tuple[Shelf, ...]
    between: tuple[Between, ...] = ()


@dataclass(frozen=True, slots=True)
class Change:
    """A line of the stage as it was set, and the message it was set at, empty where it was before the first one."""

    line: StageLine
    speaker: str = ""
    said: str = ""


@dataclass(frozen=True, slots=True)
class SkipPlan:
    """What a skip from one time to another would do: the scenes it closes, what is over, and what begins."""

    clock: str
    now: str  # empty where no time is set
    closes: tuple[Scene, ...]
    over: tuple[StageLine, ...]
    begins: tuple[Plot, ...]


def set_lines(play: Play) -> list[StageLine]:
    """What is set, a line each: neither seats nor cards nor books."""
    said = (line for line in play.lines.values() if line.value is None and line.text)
    return [line for line in said if line.aspect not in INSIDE and not line.aspect.startswith(BOOK)]


def overview(play: Play, path: Iterable[Turn] = ()) -> Overview:
    """A play as it stands, after the messages of a path."""
    return Overview(
        tuple(Seated(each.id, each.name, each.seat, play.is_present(each)) for each in play.cast),
        tuple(set_lines(play)),
        tuple(ties_of(play.cast, play.history)),
        tuple(plots_of(play)),
        tuple(scenes_of(play)),
        tuple(_shelves(play)),
        tuple(between(play.cast, path)),
    )


def _shelves(play: Play) -> list[Shelf]:
    found = []
    for each in play.cast:
        book = card_of(play, each).book
        if book is not None:
            found.append(_shelf(each.id, book.name or f"of {each.name}'s card", book))
    for (owner, aspect), line in play.lines.items():
        if aspect.startswith(BOOK) and line.text:
            found.append(_shelf(owner, aspect.removeprefix(BOOK), read_book(line.text)))
    return found


def _shelf(owner: str, name: str, book: Book) -> Shelf:
    return Shelf(owner, name, len(book.entries), sum(entry.constant for entry in book.entries))
