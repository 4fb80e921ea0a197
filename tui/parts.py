"""The parts of the chat's screen by their names; those that are not for the first paint are made when asked for."""

from typing import TYPE_CHECKING, cast

from textual.app import App

from tui.widgets.composer import Composer
from tui.widgets.sessions import SessionList
from tui.widgets.transcript import Transcript

if TYPE_CHECKING:
    from tui.app import ClewApp
    from tui.keeping import Keeping
    from tui.keyboard import Keyboard, Later
    from tui.queries.desk import Desk
    from tui.remembering import Remembering


class Parts(App[int]):
    """The app without what it does. The chat's widgets are on the lowest screen, whatever lies over it."""

    _remembering: "Remembering | None" = None
    _keeping: "Keeping | None" = None
    _desks: "dict[bool, Desk] | None" = None
    _keyboard: "Keyboard | None" = None
    later: "Later | None" = None  # the clock by which a letter is pressed alone; None: the usual one

    @property
    def composer(self) -> Composer:
        return self.screen_stack[0].query_one(Composer)

    @property
    def transcript(self) -> Transcript:
        return self.screen_stack[0].query_one(Transcript)

    @property
    def sessions(self) -> SessionList:
        return self.screen_stack[0].query_one(SessionList)

    @property
    def remembering(self) -> "Remembering":
        """The memory panel's part of the app, made when it is first needed."""
        if self._remembering is None:
            from tui.remembering import Remembering

            self._remembering = Remembering(cast("ClewApp", self))
        return self._remembering

    @property
    def keyboard(self) -> "Keyboard":
        """What takes the keys, made for the first of them."""
        if self._keyboard is None:
            from tui.keyboard import Keyboard

            self._keyboard = Keyboard(cast("ClewApp", self), self.later or self.set_timer)
        return self._keyboard

    @property
    def keeping(self) -> "Keeping":
        """The part of the app for what was learned, made when it is first needed."""
        if self._keeping is None:
            from tui.keeping import Keeping

            self._keeping = Keeping(cast("ClewApp", self))
        return self._keeping

    @property
    def desks(self) -> "dict[bool, Desk]":
        """What lies on the desk of the query screen, in private chats and in others."""
        if self._desks is None:
            self._desks = {}
        return self._desks
