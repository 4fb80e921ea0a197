"""The list of slash commands, or of files, that fit what is being typed, above the composer."""

from collections.abc import Sequence

from textual.content import Content
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from tui.actions import Action
from tui.attachments import FileName
from tui.text import MUTED, cut, plain

Completion = Action | FileName
GAP = 2
LEAST = 24  # cells for a command with what may follow it


class Completions(OptionList, can_focus=False):
    """Shown while a command or a file is named; the composer keeps the focus and tells it where to go."""

    def __init__(self) -> None:
        super().__init__(id="completions", markup=False, compact=True)
        self.offered: list[Completion] = []

    def offer(self, completions: Sequence[Completion]) -> None:
        """Show these, the first one chosen; hide when there are none."""
        if list(completions) != self.offered:
            self.offered = list(completions)
            self._fill()
        self.display = bool(completions)
        self.highlighted = 0 if completions else None

    def _fill(self) -> None:
        width = self.scrollable_content_region.width or self.app.size.width
        self.clear_options()
        self.add_options([Option(row) for row in rows(self.offered, width)])

    def on_resize(self) -> None:
        chosen = self.highlighted
        self._fill()
        self.highlighted = chosen

    def move(self, step: int) -> None:
        if self.offered:
            self.highlighted = ((self.highlighted or 0) + step) % len(self.offered)

    @property
    def chosen(self) -> Completion | None:
        return self.offered[self.highlighted] if self.offered and self.highlighted is not None else None


def rows(completions: Sequence[Completion], width: int) -> list[Content]:
    """A line for each, `width` cells wide: what is typed, then in a column what it is.

    What may follow a command is cut where there is no room for both, and left out where little of it would be left.
    """
    heads, tails = [_typed(each) for each in completions], [_about(each) for each in completions]
    column = min(max(map(len, heads), default=0), width - GAP - max(map(len, tails), default=0))
    if column < LEAST and max(map(len, heads), default=0) > column:
        heads = [head.split(" ")[0] if head.startswith("/") else head for head in heads]
        column = max(map(len, heads), default=0)
    lines = [
        plain(f"{cut(head, column):<{column + GAP}}", "$primary") + plain(tail, MUTED)
        for head, tail in zip(heads, tails, strict=True)
    ]
    return [line.truncate(max(1, width), ellipsis=True) for line in lines]


def _typed(completion: Completion) -> str:
    if isinstance(completion, FileName):
        return completion.typed
    return f"/{completion.slash} {completion.argument}".strip()


def _about(completion: Completion) -> str:
    return completion.about if isinstance(completion, FileName) else completion.title
