"""A question before something changes: what would be done, to the very items, and only its button does it."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static

from tui.keymaps import IMPACT, bindings
from tui.latest import Latest, is_there
from tui.text import MUTED, plain
from tui.widgets.dialogs import CANCEL, Answers, Question
from tui.widgets.pages import Fold, Pages, PageText

if TYPE_CHECKING:
    from agent.plans import Plan

WIDEST, FRAME = 80, 6  # cells, as in styles.tcss; its border and padding
TALLEST = 22  # rows of the list, as in styles.tcss, before it takes all the height there is
AROUND = 14  # rows at most for all but the list
LOOKING = "Checking what this changes …"
FOR_GOOD = "This cannot be undone."
UNDONE_BY = "/undo undoes this."


@dataclass(frozen=True, slots=True)
class ImpactChoice:
    """One way to do it: what it is called among the others, and its plan."""

    name: str
    plan: Callable[[], Awaitable[Any]]


class ImpactScreen(Question["Plan | None"]):
    """Closes with the plan that was agreed to, or None. Each way has its button, and is shown once that is chosen.

    With `easy` the first way is chosen from the beginning: for what can be undone. Whether it can, and the buttons,
    stand below the list that scrolls: they are always in sight.
    """

    BINDINGS: ClassVar[list[BindingType]] = bindings(IMPACT)

    def __init__(
        self,
        title: str,
        ways: Sequence[ImpactChoice],
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
            yield Pages(plain(LOOKING, MUTED), classes="impact-body")
            yield Fold()
            yield Static("", classes="impact-last", markup=False)
            names = [way.name for way in self._ways] if len(self._ways) > 1 else [self._yes]
            yield Answers((CANCEL, *names), chosen=int(self._easy), classes="dialog-keys")

    def on_mount(self) -> None:
        self._turn_to(0)

    def _turn_to(self, place: int) -> None:
        self._place, self.plan = place, None
        self._tell(PageText(plain(LOOKING, MUTED)))
        self.run_worker(self._latest.ask(place))

    async def _look(self, place: int) -> "Plan | str":
        try:
            plan: Plan = await self._ways[place].plan()
        except self._failures as error:
            return str(error)
        return plan

    def _show(self, place: int, answer: "Plan | str") -> None:
        if not is_there(self) or place != self._place:
            return
        if isinstance(answer, str):
            self._tell(PageText(plain(answer, "$text-error")))
            return
        self.plan = answer
        self._tell(impact_words(answer, self._words))

    def _tell(self, words: PageText) -> None:
        self._body.tell(words)
        self._content = words.content(briefed=False)
        last = self.query_one(".impact-last", Static)
        last.display = self.plan is not None
        if self.plan is not None:
            last.update(last_of(self.plan, for_good=self._for_good))
        self._fit()

    @property
    def _body(self) -> Pages:
        return self.query_one(Pages)

    @on(Pages.Turned)
    def _turned(self, event: Pages.Turned) -> None:
        self.query_one(Fold).show(event)

    @property
    def _room(self) -> int:
        """The cells of a line of the dialog."""
        return max(1, min(WIDEST, self.size.width) - FRAME)

    def _fit(self) -> None:
        """A list that is too long takes all the height there is, and scrolls in it."""
        lines = self._content.get_height({}, max(1, self._room - 1))
        self.set_class(lines > min(TALLEST, self.size.height - AROUND), "-full")

    def on_resize(self) -> None:
        self._fit()

    @on(Answers.Chosen)
    def _chosen(self, event: Answers.Chosen) -> None:
        if event.place and event.place - 1 != self._place:
            self._turn_to(event.place - 1)

    @on(Answers.Pressed)
    def _pressed(self, event: Answers.Pressed) -> None:
        if not event.place:
            self.dismiss(None)
        elif event.place - 1 != self._place:  # a click: see first what it does
            self.query_one(Answers).choose(event.place)
        elif self.plan is not None:
            self.dismiss(self.plan)

    def action_scroll(self, lines: int) -> None:
        self._body.scroll_relative(y=lines, animate=False)

    def action_page(self, pages: int) -> None:
        self._body.turn(pages)


def impact_words(plan: "Plan", words: str = "") -> PageText:
    """What is to be known before it happens, then what a plan does, a line each."""
    from tui.impact import lines_of, summary_of

    first = Content("\n").join(plain(note, MUTED) for note in (*plan.notes, *([words] if words else [])))
    whole = Content("\n").join(plain(line) for line in lines_of(plan.impact))
    return PageText(whole, plain(summary_of(plan.impact), "bold"), first)


def preview_of(plan: "Plan") -> PageText:
    """A plan beside a list to choose from."""
    words = impact_words(plan)
    return replace(words, whole=Content("\n").join([words.whole, Content(""), last_of(plan)]))


def last_of(plan: "Plan", *, for_good: bool = False) -> Content:
    """Whether it can be undone."""
    return plain(FOR_GOOD, "bold $error") if for_good or plan.impact.erases else plain(UNDONE_BY, MUTED)
