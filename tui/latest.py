"""The newest request wins: one answer is sought at a time, and one that nobody waits for any more is not heard of."""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from textual.widget import Widget

Asked = TypeVar("Asked")
Answer = TypeVar("Answer")


class Latest(Generic[Asked, Answer]):
    """Typing fast asks often: what is asked while an answer is sought replaces all that was asked before it.

    So the search is as quick as it can be and no timer slows it: the first letter is looked for at once, and the last
    one as soon as the answer before it is there.
    """

    def __init__(self, find: Callable[[Asked], Awaitable[Answer]], show: Callable[[Asked, Answer], None]) -> None:
        self._find = find
        self._show = show
        self._wanted: list[Asked] = []  # none, or the newest
        self._seeking = False

    @property
    def seeking(self) -> bool:
        """An answer to what was asked last is on its way."""
        return self._seeking

    async def ask(self, value: Asked) -> None:
        """Find the answer to `value` and show it, unless something newer is asked meanwhile."""
        self._wanted = [value]
        if self._seeking:
            return
        self._seeking = True
        try:
            while self._wanted:
                asked = self._wanted.pop()
                answer = await self._find(asked)
                if not self._wanted:
                    self._seeking = False
                    self._show(asked, answer)
        finally:
            self._seeking = False


def is_there(widget: "Widget") -> bool:
    """Whether an answer can be shown in it still.

    Textual 8.2.8: what is being closed is mounted yet, although its parts are gone.
    """
    return widget.is_mounted and widget.is_attached and widget.screen.display
