"""What the chat is made of besides its view; what is not for the first paint is made when it is asked for."""

from typing import TYPE_CHECKING

from tui.chat_view import ChatView
from tui.composer_controller import ComposerController
from tui.editor import Editor

if TYPE_CHECKING:
    from agent.events import Failed, ReplyEnded
    from tui.memory_controller import MemoryController
    from tui.panel_controller import PanelController


class Parts:
    """Composer, memory panel and memory screen, each with what it does, and what concerns several of them."""

    def __init__(self, view: ChatView) -> None:
        self.view = view
        self.ui = view.ui
        self.composer = ComposerController(view)
        self.editor = Editor()
        self._panel: PanelController | None = None
        self._memory: MemoryController | None = None
        self._offer_due = True  # until the first reply has ended

    @property
    def panel(self) -> "PanelController":
        """What the memory panel does."""
        if self._panel is None:
            from tui.panel_controller import PanelController

            self._panel = PanelController(self.view, self.memory)
        return self._panel

    @property
    def memory(self) -> "MemoryController":
        """What was learned, in the chat and on the memory screen."""
        if self._memory is None:
            from tui.memory_controller import MemoryController

            self._memory = MemoryController(self.view, self.composer)
        return self._memory

    async def open_session(self, session: str | None) -> None:
        """Show another chat; the draft of the one that is left stays with it."""
        view, chat = self.view, self.view.chat
        if chat is None:
            return
        view.forget_hints()
        self.composer.turn_to(session, first=not chat.opened_once)
        before, chat.session = chat.session, session  # at once: what is typed from here on is this chat's draft
        self._show_privacy(before)
        await chat.open(session)
        await view.show_about()
        self.panel.chat_opened()
        await self._fill_list()

    def _show_privacy(self, before: str | None) -> None:
        """Whether the chat is private is shown before it is read; of a private one that is left no word stays."""
        view, session = self.view, self.view.session
        if view.is_private(before) != view.is_private(session):
            view.title.name_chat("…", private=view.is_private(session))
        if view.is_private(before) and before != session:
            self.ui.unsay()
            view.sought = ""
            view.sessions.forget_search()
        view.paint()

    async def session_changed(self, session: str) -> None:
        """Something about a chat has changed, such as its name."""
        if session == self.view.session:
            await self.view.show_about()
        await self._fill_list()

    async def _fill_list(self) -> None:
        from tui.chat_view import fill

        await fill(self.view)

    def make_room(self, width: int) -> None:
        """Something is written, or the terminal is `width` cells wide now: where the panel covers that, it goes."""
        if self._panel is not None:
            self._panel.make_room(width)

    def reply_ended(self, event: "ReplyEnded") -> None:
        """A reply was written to its end, or stopped."""
        view = self.view
        if view.refusal:
            view.banner.unsay_this(view.refusal)
            view.refusal = ""
        if self._offer_due and event.text:
            from tui.model_handlers import after_reply

            self._offer_due = False
            self.ui.begin(after_reply(view, event))
        limit = view.backstage.service.settings.bell_after_s if view.backstage is not None else 0
        if limit and event.total_ms > 1000 * limit:
            view.app.bell()

    def message_unanswered(self, event: "Failed", text: str, session: str | None) -> None:
        """A message was not taken, or not answered; `text` goes back to where it was written, in that session."""
        if text:
            self.composer.give_back(text, session)
        self.ui.say(event.message, error=True)
