"""A question before something changes: what would be done, to the very items, and only `y` does it."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from tui.keys import bindings, in_lines
from tui.latest import Latest
from tui.places import IMPACT
from tui.text import MUTED, plain

if TYPE_CHECKING:
    from tui.time_service import Plan

NARROW = 60
WIDEST, FRAME = 80, 6  # cells, as in styles.tcss; its border and padding
SHORT = 20  # rows from which a preview needs no summary
AROUND = 14  # rows at most for all but the list
LOOKING = "Looking what it changes …"
FOR_GOOD = "This cannot be undone."
UNDONE_BY = "/undo takes it back."


@dataclass(frozen=True, slots=True)
class Way:
    """One way to do it: what it is called among the others, and its plan."""

    name: str
    plan: Callable[[], Awaitable[Any]]


class ImpactScreen(ModalScreen["Plan | None"]):
    """Closes with the plan that was agreed to, or None. Tab shows the other way, where there is one.

    With `easy` Enter agrees too: for what can be undone. Whether it can, and the keys, stand below the list that
    scrolls: they are always in sight.
    """

    BINDINGS: ClassVar[list[BindingType]] = bindings(IMPACT)

    def __init__(
        self,
        title: str,
        ways: Sequence[Way],
        *,
        yes: str,
        failures: tuple[type[Exception], ...],
        words: str = "",
        easy: bool = False,
        for_good: bool = False,
    ) -> None:
        super().__init__()
        self._title = title
        self._ways = ways
        self._yes = yes
        self._failures = failures
        self._words = words
        self._easy = easy
        self._for_good = for_good  # whatever the plan erases
        self._place = 0
        self.plan: Plan | None = None  # of the way that is shown, once it is known
        self._content = Content("")
        self._latest: Latest[int, Plan | str] = Latest(self._look, self._show)

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog impact" if self._easy else "dialog impact warn"):
            yield Static(plain(self._title), classes="dialog-title", markup=False)
            yield Static("", classes="impact-ways", markup=False)
            with VerticalScroll(
                classes="impact-body several" if len(self._ways) > 1 else "impact-body", can_focus=False
            ):
                yield Static(plain(LOOKING, MUTED), markup=False)
            yield Static("", classes="impact-last", markup=False)
            yield Static("", classes="dialog-keys", markup=False)

    def on_mount(self) -> None:
        self.query_one(".impact-ways").display = len(self._ways) > 1
        self._turn_to(0)

    def _turn_to(self, place: int) -> None:
        self._place, self.plan = place, None
        names = [
            plain(f" {way.name} ", "reverse" if number == place else MUTED) for number, way in enumerate(self._ways)
        ]
        self.query_one(".impact-ways", Static).update(Content(" ").join(names))
        self._tell(plain(LOOKING, MUTED))
        self.run_worker(self._latest.ask(place))

    async def _look(self, place: int) -> "Plan | str":
        try:
            plan: Plan = await self._ways[place].plan()
        except self._failures as error:
            return str(error)
        return plan

    def _show(self, place: int, answer: "Plan | str") -> None:
        if not self.is_mounted or place != self._place:
            return
        if isinstance(answer, str):
            self._tell(plain(answer, "$text-error"))
            return
        self.plan = answer
        self._tell(impact_content(answer, self._words))

    def _tell(self, content: Content) -> None:
        body = self.query_one(".impact-body")
        body.query_one(Static).update(content)
        body.scroll_home(animate=False)
        self._content = content
        last = self.query_one(".impact-last", Static)
        last.display = self.plan is not None
        if self.plan is not None:
            last.update(last_of(self.plan, for_good=self._for_good))
        self._fit()

    @property
    def _room(self) -> int:
        """The cells of a line of the dialog."""
        return max(1, min(WIDEST, self.size.width) - FRAME)

    def _fit(self) -> None:
        """The keys in lines of their own; a list that is too long takes all the height there is, and scrolls in it."""
        lines = self._content.get_height({}, max(1, self._room - 1))
        self.set_class(lines > self.size.height - AROUND, "-full")
        keys = [plain("Esc", "bold") + plain(" leave it" if self.size.width < NARROW else " leave it as it is")]
        if len(self._ways) > 1:
            keys.insert(0, plain("Tab", "bold") + plain(" the other way"))
        if self.plan is not None:
            label = "Enter" if self._easy else "y"
            keys.insert(0, plain(label, "bold" if self._easy else "bold $error") + plain(f" {self._yes}"))
        self.query_one(".dialog-keys", Static).update(Content("\n").join(in_lines(keys, self._room)))

    def on_resize(self) -> None:
        self._fit()

    def action_agree(self) -> None:
        if self.plan is not None:
            self.dismiss(self.plan)

    def action_enter(self) -> None:
        if self._easy:
            self.action_agree()
        else:
            self.dismiss(None)

    def action_turn(self, step: int) -> None:
        if len(self._ways) > 1:
            self._turn_to((self._place + step) % len(self._ways))

    def action_scroll(self, lines: int) -> None:
        self.query_one(".impact-body").scroll_relative(y=lines, animate=False)

    def action_page(self, pages: int) -> None:
        body = self.query_one(".impact-body")
        body.scroll_relative(y=pages * max(1, body.size.height - 1), animate=False)


def impact_content(plan: "Plan", words: str = "") -> Content:
    """What is to be known before it happens, then what a plan does, a line each."""
    from tui.impact import lines_of

    lines = [plain(note, MUTED) for note in (*plan.notes, *([words] if words else []))]
    if lines:
        lines.append(Content(""))
    return Content("\n").join([*lines, *(plain(line) for line in lines_of(plan.impact))])


def preview_content(plan: "Plan", *, rows: int) -> Content:
    """A plan beside a list to choose from; where there are few rows, all of it in one line first."""
    from tui.impact import counts_of

    lines = [impact_content(plan), Content(""), last_of(plan)]
    counts = counts_of(plan.impact)
    if rows < SHORT and counts:
        lines.insert(0, plain(f"{counts[:1].upper()}{counts[1:]}.", "bold"))
    return Content("\n").join(lines)


def last_of(plan: "Plan", *, for_good: bool = False) -> Content:
    """Whether it can be undone."""
    return plain(FOR_GOOD, "bold $error") if for_good or plan.impact.erases else plain(UNDONE_BY, MUTED)
