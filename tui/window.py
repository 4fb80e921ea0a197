"""Which turns of a conversation are on the screen: all that were read, and the slice of them that has widgets.

A conversation can have thousands of turns and a widget costs milliseconds, so only a slice is mounted. It moves with
the reader, page by page; at the tail it follows the newest turn. Pure values: tested without an app.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from graph.values import Turn

PAGE = 10
MOUNTED = 40


@dataclass(frozen=True, slots=True)
class Window:
    """`turns` are those read so far, oldest first; `turns[first:last]` are mounted; `more` are still in the log."""

    turns: "tuple[Turn, ...]" = ()
    first: int = 0
    last: int = 0
    more: bool = False

    @property
    def mounted(self) -> "tuple[Turn, ...]":
        return self.turns[self.first : self.last]

    @property
    def at_tail(self) -> bool:
        return self.last == len(self.turns)

    @property
    def oldest(self) -> str | None:
        """The id to read older turns before."""
        return self.turns[0].id if self.turns else None


def opened(turns: "Sequence[Turn]", *, asked: int) -> Window:
    """The window on a conversation just opened, of which the last `asked` turns were read."""
    total = len(turns)
    return Window(tuple(turns), max(0, total - PAGE), total, more=total >= asked > 0)


def older_read(window: Window, turns: "Sequence[Turn]", *, asked: int) -> Window:
    """The window after older turns were read; what is mounted stays."""
    count = len(turns)
    return replace(
        window,
        turns=(*turns, *window.turns),
        first=window.first + count,
        last=window.last + count,
        more=count >= asked > 0,
    )


def up(window: Window) -> Window:
    """One page further into the past; at most MOUNTED turns stay mounted, so the newest may go."""
    first = max(0, window.first - PAGE)
    return replace(window, first=first, last=min(window.last, first + MOUNTED))


def down(window: Window) -> Window:
    """One page towards the newest."""
    last = min(len(window.turns), window.last + PAGE)
    return replace(window, first=max(window.first, last - MOUNTED), last=last)


def tail(window: Window) -> Window:
    """The newest page."""
    total = len(window.turns)
    return replace(window, first=max(0, total - PAGE), last=total)


def top(window: Window) -> Window:
    """The oldest page read."""
    return replace(window, first=0, last=min(len(window.turns), PAGE))


def around(window: Window, turn: str) -> Window | None:
    """The page in whose midst that turn stands; None if it is not among those read."""
    place = next((place for place, each in enumerate(window.turns) if each.id == turn), None)
    if place is None:
        return None
    first = max(0, place - PAGE // 2)
    return replace(window, first=first, last=min(len(window.turns), first + 2 * PAGE))


def upto(window: Window, turn: str) -> Window | None:
    """The newest page where that turn is the last one; None if it is not among those read."""
    place = next((place for place, each in enumerate(window.turns) if each.id == turn), None)
    return tail(replace(window, turns=window.turns[: place + 1])) if place is not None else None


def changed(window: Window, turn: str, *, hidden: bool | None = None, withheld: bool | None = None) -> Window:
    """The window after a turn was hidden or kept out of memory, or is seen or remembered again."""

    def now(each: "Turn") -> "Turn":
        if each.id != turn:
            return each
        return replace(
            each,
            hidden=each.hidden if hidden is None else hidden,
            withheld=each.withheld if withheld is None else withheld,
        )

    turns = tuple(now(each) for each in window.turns)
    return replace(window, turns=turns)


def said(window: Window, turn: "Turn") -> Window:
    """The window with one more turn at the end, mounted if the tail was; the oldest go beyond MOUNTED."""
    turns = (*window.turns, turn)
    if not window.at_tail:
        return replace(window, turns=turns)
    last = len(turns)
    return replace(window, turns=turns, first=max(window.first, last - MOUNTED), last=last)
