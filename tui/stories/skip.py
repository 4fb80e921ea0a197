"""Time passes in a story: until when, what is told of it, and what each remembers of the time between."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from tui.chat_view import ChatView
from tui.keymaps import SKIP, bindings, signs
from tui.scene import YOU
from tui.text import MUTED, clean, cut, one_line, plain
from tui.widgets.foot import Foot

if TYPE_CHECKING:
    from agent.stories import Stories
    from agent.story.overview import SkipPlan
    from tui.state import Scene

WHEN, TOLD = "Until when", "What is told of it"
EMPTY = "nothing: as if no time had passed for them"


@dataclass(frozen=True, slots=True)
class Skip:
    """Until when, what is told, and by member what they remember."""

    clock: str
    narration: str
    gaps: Mapping[str, str]


class SkipScreen(ModalScreen[Skip | None]):
    """Closes with what was written; None if left. What the skip ends and begins stands below the fields."""

    BINDINGS: ClassVar[list[BindingType]] = bindings(SKIP)

    def __init__(self, stories: "Stories", scene: "Scene", clock: str, failures: tuple[type[Exception], ...]) -> None:
        super().__init__()
        self._stories = stories
        self._scene = scene
        self._clock = clock
        self._failures = failures

    def compose(self) -> ComposeResult:
        with VerticalScroll(classes="dialog skip", can_focus=False):
            yield Static("Time passes", classes="dialog-title", markup=False)
            yield Static(plain(WHEN, MUTED), classes="dialog-words", markup=False)
            yield Input(clean(self._clock), placeholder="the next morning", compact=True, id="skip-clock")
            yield Static(plain(f"{TOLD}, to whoever is there", MUTED), classes="dialog-words", markup=False)
            yield Input(placeholder="may stay empty", compact=True, id="skip-told")
            for each in self._scene.cast:
                if each.seat != YOU:
                    title = f"What {cut(each.name, 30)} remembers of the time between"
                    yield Static(plain(title, MUTED), classes="dialog-words", markup=False)
                    yield Input(placeholder=EMPTY, compact=True, classes="skip-gap", name=each.id)
            yield Static("", classes="dialog-wrong", markup=False)
            yield Static("", id="skip-does", classes="dialog-words", markup=False)
            yield Foot(signs(SKIP), classes="dialog-keys")

    @property
    def _until(self) -> str:
        return clean(self.query_one("#skip-clock", Input).value).strip()

    def on_mount(self) -> None:
        self.query_one("#skip-clock", Input).focus()
        self._planned()

    @on(Input.Changed, "#skip-clock")
    def _planned(self) -> None:
        self._plan(self._until)

    @work(group="planned", exclusive=True)
    async def _plan(self, clock: str) -> None:
        """What it would do, told while one types."""
        self.query_one(".dialog-wrong", Static).update("")
        if not clock:
            return
        try:
            plan = await self._stories.skip_plan(self._scene.session, clock)
        except self._failures as error:
            self.query_one(".dialog-wrong", Static).update(plain(str(error), "$text-error"))
            return
        self.query_one("#skip-does", Static).update(_does(plan, self._scene))

    @on(Input.Submitted)
    def _done(self) -> None:
        if not self._until:
            self.query_one(".dialog-wrong", Static).update(plain("Say until when.", "$text-error"))
            self.query_one("#skip-clock", Input).focus()
            return
        gaps = {each.name: clean(each.value).strip() for each in self.query(".skip-gap").results(Input) if each.name}
        told = clean(self.query_one("#skip-told", Input).value).strip()
        self.dismiss(Skip(self._until, told, {member: words for member, words in gaps.items() if words}))


def _does(plan: "SkipPlan", scene: "Scene") -> Content:
    """What a skip ends and begins, in words."""
    names = {each.id: each.name for each in scene.cast}
    parts = [f"It is {one_line(plan.now)} now." if plan.now else "No time was set yet."]
    parts += [f"The scene “{one_line(each.title)}” closes." for each in plan.closes]
    parts += [f"Over: {names.get(each.owner, '')} {each.aspect} {one_line(each.text or '')}." for each in plan.over]
    parts += [f"“{one_line(each.title)}” begins." for each in plan.begins]
    return plain(" ".join(parts), MUTED)


async def skip_time(view: ChatView, clock: str) -> str | None:
    """Ask how time passes, and let it; what came of it in words. Raises AgentError."""
    if view.chat is None or view.scene is None:
        return None
    stories, scene = view.chat.service.stories, view.scene
    skip = await view.ui.ask(SkipScreen(stories, scene, clock, view.failures))
    if skip is None:
        return None
    await stories.skip(scene.session, skip.clock, narration=skip.narration, gaps=skip.gaps)
    await view.show_about()
    return f"It is {cut(skip.clock, 40)}. /undo takes it back."
