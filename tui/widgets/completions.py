"""The list of slash commands, or of files, that fit what is being typed, above the composer."""

from collections.abc import Sequence

from textual.content import Content
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from tui.actions import Action
from tui.attaching import FileName
from tui.text import MUTED, plain

Completion = Action | FileName


class Completions(OptionList, can_focus=False):
    """Shown while a command or a file is named; the composer keeps the focus and tells it where to go."""

    def __init__(self) -> None:
        super().__init__(id="completions", markup=False, compact=True)
        self.offered: list[Completion] = []

    def offer(self, completions: Sequence[Completion]) -> None:
        """Show these, the first one chosen; hide when there are none."""
        if list(completions) != self.offered:
            self.offered = list(completions)
            self.clear_options()
            self.add_options([Option(_row(each)) for each in completions])
        self.display = bool(completions)
        self.highlighted = 0 if completions else None

    def move(self, step: int) -> None:
        if self.offered:
            self.highlighted = ((self.highlighted or 0) + step) % len(self.offered)

    @property
    def chosen(self) -> Completion | None:
        return self.offered[self.highlighted] if self.offered and self.highlighted is not None else None


def _row(completion: Completion) -> Content:
    if isinstance(completion, FileName):
        return Content.assemble(plain(f"{completion.typed:<24}  ", "$primary"), plain(completion.about, MUTED))
    command = f"/{completion.slash} {completion.argument}".strip()
    return Content.assemble(plain(f"{command:<24} ", "$primary"), plain(completion.title, MUTED))
