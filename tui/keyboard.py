"""Keys in their order, and which of them were typed.

A key is handled whole, with the focus it moves, before the next one is looked at: Textual would hand all keys of a
burst to what had the focus when the first of them came.

Where letters act (on a message, in the memory panel), one acts only if no other key follows within ALONE_S: who writes
without looking presses the next one sooner. Then all of them go to the composer; an Enter behind them sends nothing. So
do letters over a question, which closes, and the one that asked it goes with them. j and k may be pressed again and
again, or held down, and act at once where a key follows that is no letter.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Iterator
from typing import TYPE_CHECKING, Protocol, TypeGuard

from textual import events
from textual.app import App
from textual.message_pump import MessagePump
from textual.widgets import Input, TextArea

from tui.widgets.dialogs import Question

if TYPE_CHECKING:
    from textual.widget import Widget


ALONE_S = 0.3
LONGEST_S = 1.0  # what a key moves is waited for no longer: Ctrl+C comes through to a widget that is stuck
MOVES = frozenset("jk")
TYPED = "Your text is in the composer. Letters act only when pressed alone."
TYPED_OVER = "Nothing was changed. Your text is in the composer."


class Stoppable(Protocol):
    """Something that is to happen later."""

    def stop(self) -> None:
        """It is not to happen."""
        ...


Handle = Callable[[events.Key | events.Paste], Awaitable[None]]
Later = Callable[[float, Callable[[], None]], Stoppable | None]  # in so many seconds, do that


class Keyboard:
    """Takes every key and paste before the screen does."""

    def __init__(self, app: App[int], handle: Handle, type_on: Callable[[str, str], None], later: Later) -> None:
        """`handle` does what a key does; `type_on` puts words into the composer, and says why."""
        self._app = app
        self._handle_event = handle
        self._type_on = type_on
        self._later = later
        self._waiting: deque[tuple[events.Key | events.Paste, bool]] = deque()  # whether it was kept back already
        self._handled = 0  # keys so far; the last of them is being handled while `_busy`
        self._busy = False
        self._written = False  # letters are on their way to a field
        self._letters: list[events.Key] = []  # pressed shortly after one another, where letters act
        self._acted = 0  # so many of these did what they do
        self._focused: Widget | None = None  # what had the focus then
        self._timer: Stoppable | None = None
        self._asked = ""  # the letter that acted last, if no key came since: it may have asked a question

    @property
    def idle(self) -> bool:
        """Every key is handled, but for a letter that waits to be alone."""
        return not self._busy and not self._waiting

    async def take(self, event: events.Key | events.Paste) -> None:
        """A key was pressed, or something pasted."""
        self._waiting.append((event, False))
        await self._go_on()

    async def _go_on(self) -> None:
        while self._waiting and not self._busy:
            if self._written and not self._writes(self._waiting[0][0]):
                self._written = False
                self._wait_for_it(self._app.focused or self._app.screen)
                return
            event, was_kept_back = self._waiting.popleft()
            if was_kept_back or not self._keeps_back(event):
                await self._handle(event)

    # In order

    async def _handle(self, event: events.Key | events.Paste) -> None:
        if self._writes(event):
            self._written = True
            await self._handle_event(event)
            return
        focused = self._app.focused or self._app.screen
        self._busy = True
        try:
            await self._handle_event(event)
        finally:
            self._wait_for_it(focused)

    def _writes(self, event: events.Key | events.Paste) -> bool:
        """Whether it is a letter for a field, which takes them in their order, and moves nothing for one."""
        focused = self._app.focused
        return _is_typed(event) and (
            isinstance(focused, Input) or (isinstance(focused, TextArea) and not focused.read_only)
        )

    def _wait_for_it(self, focused: "Widget") -> None:
        """Go on once the last key has had its effect.

        It went through the queues from what had the focus up to the app; what it asks for goes the same way behind it;
        and the focus is moved by the app, behind that.
        """
        self._busy = True
        self._handled += 1
        number, way = self._handled, list(focused.ancestors_with_self)
        waiting = asyncio.get_running_loop().call_later(LONGEST_S, lambda: self._done(number))
        self._follow(iter((*way, *way, self._app, self._app)), number, waiting)

    def _follow(self, way: Iterator[MessagePump], number: int, waiting: asyncio.TimerHandle) -> None:
        for pump in way:
            if pump.call_later(self._follow, way, number, waiting):
                return
        waiting.cancel()
        self._done(number)

    def _done(self, number: int) -> None:
        if number == self._handled and self._busy:
            self._busy = False
            if self._waiting:
                self._app.call_later(self._go_on)

    # Alone, or typed

    def _keeps_back(self, event: events.Key | events.Paste) -> bool:
        """Whether a key is not to be handled now: it may be typed, or it was, and is in the composer."""
        letters, acted, asked = self._letters, self._acted, self._asked
        self._forget_letters()
        self._asked = ""
        acting = self._acting()
        if acting is None or not (isinstance(event, events.Paste) or _is_typed(event)):
            return len(letters) > acted and self._ends(letters, acted, acting, event)
        if isinstance(event, events.Paste):
            self._type(letters if len(letters) > acted else [], asked)
            return False
        letters.append(event)
        if len(letters) > 1 and {each.key for each in letters} <= MOVES & acting:
            self._waiting.extendleft((each, True) for each in reversed(letters[acted:]))
            self._wait(letters, len(letters))
        elif event.key in acting and acted == len(letters) - 1:
            self._wait(letters, acted)
        else:
            self._type(letters, asked)
        return True

    def _ends(
        self, letters: list[events.Key], acted: int, acting: frozenset[str] | None, event: events.Key | events.Paste
    ) -> bool:
        """A key that is no letter follows letters: moves come first, others are typed. Whether the key is not for now.

        Enter is for nothing then: it was meant for a message, and would send what is typed.
        """
        waiting = letters[acted:]
        if (
            acting is not None
            and self._app.focused is self._focused
            and {each.key for each in waiting} <= MOVES & acting
        ):
            self._waiting.extendleft((each, True) for each in (event, *reversed(waiting)))
            return True
        self._type(letters)
        return isinstance(event, events.Key) and event.key == "enter"

    def _acting(self) -> frozenset[str] | None:
        """The letters that act where the keys go now; None where all of them are for what has the focus."""
        screens, focused = self._app.screen_stack, self._app.focused
        if len(screens) == 2 and isinstance(self._app.screen, Question):
            return self._app.screen.LETTERS
        if len(screens) > 1:
            return None
        if focused is None:
            return frozenset()
        found = (getattr(node, "LETTERS", None) for node in focused.ancestors_with_self)
        return next((letters for letters in found if letters is not None), None)

    def _wait(self, letters: list[events.Key], acted: int) -> None:
        """See whether another key follows."""
        self._letters, self._acted, self._focused = letters, acted, self._app.focused
        self._timer = self._later(ALONE_S, self._pause)

    def _pause(self) -> None:
        """No key followed: the letter was pressed alone, and acts, unless the focus went elsewhere meanwhile."""
        letters, acted = self._letters, self._acted
        self._forget_letters()
        if len(letters) == acted:
            return
        if self._app.focused is self._focused:
            self._waiting.appendleft((letters[-1], True))
            self._asked = letters[-1].character or ""
            self._app.call_later(self._go_on)
        else:
            self._type(letters)

    def _forget_letters(self) -> None:
        if self._timer is not None:
            self._timer.stop()
        self._letters, self._acted, self._timer = [], 0, None

    def _type(self, letters: list[events.Key], asked: str = "") -> None:
        """Put letters into the composer, which has the keys from here on."""
        words, why = "".join(each.character or "" for each in letters), TYPED
        if isinstance(self._app.screen, Question):
            self._app.screen.action_cancel()
            words, why = asked + words, TYPED_OVER
        self._type_on(words, why)


def _is_typed(event: events.Key | events.Paste) -> TypeGuard[events.Key]:
    return isinstance(event, events.Key) and event.is_printable and bool(event.character)
