"""The banner above the composer: what is being downloaded or loaded, what failed, and what to do about it."""

from typing import TYPE_CHECKING

from textual.content import Content
from textual.timer import Timer
from textual.widgets import Static

from tui.state import Model, State, model_step
from tui.text import MUTED, one_line, plain, size_of

if TYPE_CHECKING:
    from tui.backstage import Choice

BAR = 12
HINT_S = 6.0
ERROR_S = 15.0


class Banner(Static):
    """Hidden when there is nothing to say."""

    def __init__(self) -> None:
        super().__init__("", id="banner", markup=False)
        self.display = False
        self._painted: Content | None = None
        self._state = State()
        self._said = ""
        self._said_is_error = False
        self._held = ""
        self._held_short = ""
        self._timer: Timer | None = None

    @property
    def said(self) -> str:
        """The words shown in place of what the state has to say; empty if there are none."""
        return self._said

    def say(self, words: str, *, error: bool = False, for_s: float | None = None) -> None:
        """Show words for a while (`for_s` seconds) in place of what the state has to say."""
        self._said, self._said_is_error = words, error
        if self._timer is not None:
            self._timer.stop()
        self._timer = self.set_timer(for_s or (ERROR_S if error else HINT_S), self.unsay)
        self.paint(self._state)

    def unsay(self) -> None:
        self._said = ""
        self.paint(self._state)

    def unsay_this(self, words: str) -> None:
        """Take these words back, if they are still shown."""
        if self._said == words:
            self.unsay()

    def hold(self, words: str, short: str = "") -> None:
        """Words that stay until others, or none, are held; `short` of them, before what is said for a while."""
        self._held, self._held_short = words, short
        self.paint(self._state)

    def paint(self, state: State) -> None:
        self._state = state
        if self._said:
            content, failed = plain(self._said), self._said_is_error
            if self._held_short:
                content = plain(f"{self._held_short} · ", "$primary") + content
        elif self._held:
            content, failed = plain(self._held, "$primary"), False
        else:
            content, failed = compose_banner(state)
        if content != self._painted:
            self._painted = content
            self.update(content)
            self.set_class(failed, "failed")
            self.display = bool(content.plain)


def compose_banner(state: State) -> tuple[Content, bool]:
    """The words about the model, and whether they tell of a failure."""
    model = state.model
    match model.state:
        case "fetching" if model.total and model.done:  # not while connecting, nor while what came is checked
            return Content.assemble(
                plain(f"{_step(model)}  "),
                _bar(model.done / model.total),
                plain(f"  {size_of(model.done)} of {size_of(model.total)}", MUTED),
            ), False
        case "fetching" | "loading":
            return plain(f"{_step(model)} …"), False
        case "failed":
            return plain(f"{model.message}\nYour messages are safe. Use /model to choose another."), True
        case _ if state.offer is not None:
            return _offered(state.offer), False
        case _:
            return Content(""), False


def _step(model: Model) -> str:
    words = model_step(model.state, model.name)
    return words[0].upper() + words[1:]


def _offered(choice: "Choice") -> Content:
    size = "installed" if choice.installed else size_of(choice.size)
    return Content.assemble(
        plain(f"A better model fits this computer: {one_line(choice.name)}, {size}\n", MUTED),
        plain("F5", "bold"),
        plain(f" {'use it' if choice.installed else 'download it'}  ", MUTED),
        plain("Esc", "bold"),
        plain(" not now  ", MUTED),
        plain("/better never", "bold"),
    )


def _bar(share: float) -> Content:
    full = round(BAR * min(1.0, max(0.0, share)))
    return Content.assemble(plain("━" * full, "$primary"), plain("━" * (BAR - full), "$border"), f" {share:4.0%}")
