"""The page of what matters: how the turns are rated, drawn as bars, and the turns of a bar to be rated anew."""

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from graph.values import Turn
from tui.dates import when
from tui.keymaps import BARS, TURNS, UNDO
from tui.keys import Sign, bindings, signs
from tui.memories.host import NOTHING_RATED
from tui.reasons import who
from tui.text import MUTED, one_line, plain
from tui.widgets.long_list import LongList

if TYPE_CHECKING:
    from tui.memories.host import Host

NAMES = ("routine", "notable", "significant", "pivotal")
EIGHTHS = " ▏▎▍▌▋▊▉█"
MOST = 500  # turns of a bar
HEAD = 14  # cells before a bar, and behind it for its count
Bar = tuple[int, int]  # significance, turns


class RatingBars(LongList[Bar]):
    """The four bars; Enter or → leads to their turns."""

    BINDINGS: ClassVar[list[BindingType]] = bindings(BARS)


class Turns(LongList[Turn]):
    """The turns of a bar. Here the digits rate, so they choose no page."""

    BINDINGS: ClassVar[list[BindingType]] = bindings(TURNS)

    class Asked(Message):
        """`significance` for the marked turns; None: back to the bars."""

        def __init__(self, significance: int | None) -> None:
            super().__init__()
            self.significance = significance

    def action_rate(self, significance: int) -> None:
        self.post_message(self.Asked(significance).set_sender(self))

    def action_back(self) -> None:
        self.post_message(self.Asked(None).set_sender(self))

    def action_mark(self) -> None:
        self.toggle_mark()

    def action_mark_all(self) -> None:
        self.mark_all()


class Ratings(Vertical):
    """Bars above, turns below; what has the keys is told by its mark."""

    def __init__(self, host: "Host") -> None:
        super().__init__(id="ratings", classes="memories-page")
        self._host = host
        self._most = 1

    def compose(self) -> ComposeResult:
        yield RatingBars(self._bar, lambda bar: f"{bar[0]}", height=1, id="bars")
        yield Static("", classes="memories-note", markup=False)
        yield Turns(_turn_row, lambda turn: turn.id, id="bar-turns", ticks=True)

    @property
    def rows(self) -> RatingBars:
        return self.query_one(RatingBars)

    @property
    def turns(self) -> Turns:
        return self.query_one(Turns)

    @property
    def count(self) -> str:
        return ""

    @property
    def signs(self) -> tuple[Sign, ...]:
        return signs((*(TURNS if self.turns.has_focus else BARS), UNDO))

    def _bar(self, bar: Bar, width: int) -> Sequence[Content]:
        significance, count = bar
        room = max(1, width - HEAD - 9)
        eighths = max(1, round(8 * room * count / self._most)) if count else 0
        drawn = EIGHTHS[8] * (eighths // 8) + EIGHTHS[eighths % 8].strip()
        style = ("$foreground 40%", "$secondary", "$accent", "$primary")[significance]
        name = plain(f"{NAMES[significance]:<12}")
        return [Content.assemble(f"{significance} ", name, plain(drawn, style), plain(f" {count:,}", MUTED))]

    async def refresh_page(self, *, choose: str | None = None) -> None:
        """Read the numbers and the turns of the chosen bar again."""
        counts = await self._host.view.significance()
        self._most = max(1, *(counts.get(each, 0) for each in range(4)))
        self.rows.fill([(each, counts.get(each, 0)) for each in range(4)], choose=choose)
        await self._fill_turns()
        if not sum(counts.values()):
            self._tell(NOTHING_RATED)

    async def _fill_turns(self) -> None:
        bar = self.rows.chosen
        if bar is None:
            return
        turns = await self._host.view.rated(bar[0], limit=MOST)
        self.turns.fill(turns)
        more = f", the newest {MOST} of them" if bar[1] > len(turns) >= MOST else ""
        pins = " The newest 8 of each speaker are pinned automatically." if bar[0] == 3 else ""
        self._tell(f"Rated {bar[0]}, {NAMES[bar[0]]}: {bar[1]:,}{more}.{pins}")
        if not turns and self.turns.has_focus:
            self.rows.focus()

    def _tell(self, words: str) -> None:
        self.query_one(".memories-note", Static).update(plain(words, MUTED))

    @on(LongList.Moved, "#bars")
    def _moved(self) -> None:
        self.turns.marks.clear()
        self.turns.choose(0)
        self._host.refresh_soon()

    @on(LongList.Chosen, "#bars")
    def _to_turns(self) -> None:
        if self.turns.items:
            self.turns.focus()
        else:
            self._host.say("No messages have this rating.")

    @on(LongList.Chosen, "#bar-turns")
    def _open(self) -> None:
        turn = self.turns.chosen
        if turn is not None:
            self._host.go_to(turn.session, turn.id)

    @on(Turns.Asked)
    def _asked(self, event: Turns.Asked) -> None:
        if event.significance is None:
            self.rows.focus()
        else:
            self.rate(event.significance)

    def rate(self, significance: int) -> None:
        """Rate the marked turns, or the chosen one."""
        bar, turns = self.rows.chosen, self.turns.marked
        if bar is None or not turns:
            return
        if significance == bar[0]:
            self._host.say("They already have this rating." if len(turns) > 1 else "It already has this rating.")
            return
        self._host.do(self._host.doing.rate(turns, significance, bar[0]))


def _turn_row(turn: Turn, width: int) -> Sequence[Content]:
    now = datetime.now().astimezone()
    text = "erased" if turn.text is None else one_line(turn.text[: 4 * width])
    pin = "◆ " if turn.pinned else ""
    return [
        Content.assemble(plain(pin, "$primary"), plain(text)),
        plain(f"{when(turn.at, now)} · {who(turn.role, turn.speaker)}", MUTED),
    ]
