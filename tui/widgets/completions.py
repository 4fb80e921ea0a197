"""The list of slash commands that fit what is being typed, above the composer."""

from collections.abc import Sequence

from textual.content import Content
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from tui.actions import Action
from tui.text import MUTED, plain


class Completions(OptionList, can_focus=False):
    """Shown while a slash command is typed; the composer keeps the focus and tells it where to go."""

    def __init__(self) -> None:
        super().__init__(id="completions", markup=False, compact=True)
        self.actions: list[Action] = []

    def offer(self, actions: Sequence[Action]) -> None:
        """Show these, the first one chosen; hide when there are none."""
        if list(actions) != self.actions:
            self.actions = list(actions)
            self.clear_options()
            self.add_options([Option(_row(action), id=action.name) for action in actions])
        self.display = bool(actions)
        self.highlighted = 0 if actions else None

    def move(self, step: int) -> None:
        if self.actions:
            self.highlighted = ((self.highlighted or 0) + step) % len(self.actions)

    @property
    def chosen(self) -> Action | None:
        return self.actions[self.highlighted] if self.actions and self.highlighted is not None else None


def _row(action: Action) -> Content:
    command = f"/{action.slash} {action.argument}".strip()
    return Content.assemble(plain(f"{command:<24} ", "$primary"), plain(action.title, MUTED))
