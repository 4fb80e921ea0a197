"""What stands above the composer: what a model asks leave for, and what is being loaded, failed, and can be done."""

import time
from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.binding import BindingType
from textual.content import Content
from textual.message import Message
from textual.timer import Timer
from textual.widgets import Static

from tui.keymaps import APPROVAL, bindings, button
from tui.state import Model, State, model_step
from tui.text import MUTED, one_line, plain, size_of

if TYPE_CHECKING:
    from agent.events import ApprovalWanted
    from tui.backstage import Choice


GUARD_S = 0.6  # an Enter that was on its way into the composer when this appeared answers nothing
LONGEST = 600
REFUSE, ALLOW = 0, 1
BUTTONS = ("Deny", "Allow")
HINT_TAB = Content.assemble(("Tab", "bold"), " answer it    ", ("Esc", "bold"), " deny")


class Approval(Static, can_focus=True):
    """It takes the keys only from an empty composer, and gives every letter back to it: none of them is an answer."""

    BINDINGS: ClassVar[list[BindingType]] = bindings(APPROVAL)
    guard_s = GUARD_S

    class Answered(Message):
        """The person said yes or no."""

        def __init__(self, approval: str, *, allowed: bool) -> None:
            super().__init__()
            self.approval = approval
            self.allowed = allowed

    class Typed(Message):
        """A letter that belongs to the composer."""

        def __init__(self, character: str) -> None:
            super().__init__()
            self.character = character

    def __init__(self) -> None:
        super().__init__("", id="approval", markup=False)
        self.display = False
        self._wanted: ApprovalWanted | None = None
        self._since = 0.0
        self._chosen = REFUSE

    def show(self, wanted: "ApprovalWanted | None", *, take_keys: bool) -> None:
        """Show what is wanted, if it is not shown already; None: nothing is."""
        if wanted == self._wanted:
            return
        self._wanted = wanted
        self.display = wanted is not None
        if wanted is None:
            return
        self._since, self._chosen = time.monotonic(), REFUSE
        self._paint()
        if take_keys:
            self.focus(scroll_visible=False)

    def _paint(self) -> None:
        if self._wanted is None:
            return
        what = self._wanted.what
        words = what if len(what) <= LONGEST else f"{what[:LONGEST]}…"
        buttons = [button(label, place, self._chosen) for place, label in enumerate(BUTTONS)]
        hint = Content("  ").join(buttons) if self.has_focus else HINT_TAB
        head = plain("The model wants to change your memory\n", "bold $warning")
        self.update(Content.assemble(head, plain(words), "\n", plain("", MUTED), hint))

    def watch_has_focus(self, _has_focus: bool) -> None:
        super().watch_has_focus(_has_focus)
        self._paint()

    def action_leave(self) -> None:
        self.post_message(self.Typed("").set_sender(self))

    def action_turn(self) -> None:
        self._chosen = ALLOW if self._chosen == REFUSE else REFUSE
        self._paint()

    def action_press(self) -> None:
        self.action_press_at(self._chosen)

    def action_press_at(self, place: int) -> None:
        """Answer with that button."""
        if self._wanted is not None and time.monotonic() - self._since >= self.guard_s:
            allowed = place == ALLOW
            self.post_message(self.Answered(self._wanted.approval, allowed=allowed).set_sender(self))

    def on_key(self, event: events.Key) -> None:
        if self._wanted is not None and event.is_printable and event.character:
            event.stop()
            event.prevent_default()
            self.post_message(self.Typed(event.character).set_sender(self))


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
    pace = f", about {choice.pace:.0f} tok/s" if choice.pace else ""
    return Content.assemble(
        plain(f"A better model fits this computer: {one_line(choice.name)}, {size}{pace}\n", MUTED),
        plain("F5", "bold"),
        plain(f" {'use it' if choice.installed else 'download it'}  ", MUTED),
        plain("Esc", "bold"),
        plain(" not now  ", MUTED),
        plain("/better never", "bold"),
    )


def _bar(share: float) -> Content:
    full = round(BAR * min(1.0, max(0.0, share)))
    return Content.assemble(plain("━" * full, "$primary"), plain("━" * (BAR - full), "$border"), f" {share:4.0%}")
