"""The banner above the composer: what is being fetched or loaded, what failed, and what to do about it."""

from textual.content import Content
from textual.widgets import Static

from tui.state import State
from tui.text import MUTED, one_line, plain, size_of

BAR = 24


class Banner(Static):
    """Hidden when there is nothing to say."""

    def __init__(self) -> None:
        super().__init__("", id="banner", markup=False)
        self.display = False
        self._painted: Content | None = None

    def paint(self, state: State, hint: str = "", *, error: bool = False) -> None:
        content, failed = (plain(hint), error) if hint else compose_banner(state)
        if content != self._painted:
            self._painted = content
            self.update(content)
            self.set_class(failed, "failed")
            self.display = bool(content.plain)


def compose_banner(state: State) -> tuple[Content, bool]:
    """The words about the model, and whether they tell of a failure."""
    model = state.model
    name = one_line(model.name)
    match model.state:
        case "fetching" if model.total:
            return Content.assemble(
                plain(f"Fetching {name}  "),
                _bar(model.done / model.total),
                plain(f"  {size_of(model.done)} of {size_of(model.total)}", MUTED),
            ), False
        case "fetching":
            return plain(f"Fetching {name} …"), False
        case "loading":
            return plain(f"Loading {name} …"), False
        case "failed":
            return plain(f"{model.message}\n/model chooses another; your messages are safe meanwhile."), True
        case _:
            return Content(""), False


def _bar(share: float) -> Content:
    full = round(BAR * min(1.0, max(0.0, share)))
    return Content.assemble(plain("━" * full, "$primary"), plain("━" * (BAR - full), "$border"), f" {share:4.0%}")
