"""The command palette's entries: the table of actions."""

from functools import partial
from typing import TYPE_CHECKING, cast

from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.content import Content

from tui.actions import ACTIONS, Action, key_name
from tui.text import MUTED, plain

if TYPE_CHECKING:
    from tui.app import ClewApp


class ActionProvider(Provider):
    """Finds actions by their title and slash command."""

    async def discover(self) -> Hits:
        for action in ACTIONS:
            if action.name != "palette":
                yield DiscoveryHit(_row(action), self._run(action), action.title)

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        for action in ACTIONS:
            text = f"{action.title} /{action.slash}"
            score = matcher.match(text)
            if score > 0 and action.name != "palette":
                yield Hit(score, matcher.highlight(text), self._run(action), action.title)

    def _run(self, action: Action) -> "partial[None]":
        return partial(cast("ClewApp", self.app).perform, action.name)


def _row(action: Action) -> Content:
    keys = f"  {key_name(action.keys[0])}" if action.keys else ""
    return Content.assemble(plain(action.title), plain(f"  /{action.slash}{keys}", MUTED))
