"""The app: composes the widgets, binds the keys of the table, and routes messages.

How it begins is in opening.py, how it ends in leaving.py; what is written goes to writing.py, the list of chats to
listing.py, and what an action does is in deeds.py.
"""

import gc
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from rich.console import RenderableType
from rich.segment import Segments
from textual import events, on, work
from textual.app import App, ComposeResult, SystemCommand
from textual.binding import Binding
from textual.containers import Horizontal, Vertical
from textual.css.query import NoMatches
from textual.driver import Driver
from textual.screen import Screen
from textual.widgets import Markdown

from tui import actions, lazy
from tui.boot import Options
from tui.drafts import Drafts
from tui.editor import Editor
from tui.leaving import Leaving
from tui.parts import Parts
from tui.places import FOCUSED
from tui.state import State
from tui.terminal import Unhurried
from tui.termination import Termination
from tui.text import in_chat, one_line
from tui.themes import DARK, THEMES
from tui.trail import Trail
from tui.widgets.approval import Approval
from tui.widgets.banner import Banner
from tui.widgets.completions import Completions
from tui.widgets.composer import Composer
from tui.widgets.greeting import Greeting
from tui.widgets.memory import MemoryPanel
from tui.widgets.message import Message
from tui.widgets.sessions import SessionList
from tui.widgets.status import StatusBar
from tui.widgets.title import Title
from tui.widgets.transcript import Transcript
from tui.window import Window
from tui.worlds import MAIN, what_if
from tui.writing import Writing

if TYPE_CHECKING:
    from agent.events import Failed, ReplyEnded
    from tui.backstage import Backstage
    from tui.chat import Chat
    from tui.keyboard import Later

PAGE_WIDTH, PAGE_FRAME = 88, 6  # as in styles.tcss; its border, padding and scroll bar
CHAT_ONLY = frozenset(("perform", "interrupt", "focus_messages"))


class ChatScreen(Screen[None]):
    """The screen of the chat: what is typed from the first moment on belongs to the composer."""

    AUTO_FOCUS = "Composer"


class ClewApp(Parts):
    """The chat. `connect` brings in the agent after the first paint."""

    CSS_PATH = "styles.tcss"
    TITLE = "clew"
    COMMANDS: ClassVar = {lazy.action_provider}
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (72, "-normal"), (104, "-wide")]  # noqa: RUF012 - App declares it so
    VERTICAL_BREAKPOINTS = [(0, "-tiny"), (9, "-short"), (18, "-tall")]  # noqa: RUF012
    BINDINGS: ClassVar = [
        *(
            Binding(
                ",".join(action.keys),
                f"perform('{action.name}')",
                action.title,
                show=False,
                priority=action.name not in ("stop", "top", "bottom", "editor"),
            )
            for action in actions.ACTIONS
            if action.keys
        ),
        Binding("ctrl+c", "interrupt", "Stop, clear, quit", show=False, priority=True),
    ]

    def __init__(
        self,
        connect: "Callable[[], Awaitable[Backstage]]",
        cache: Path,
        options: Options | None = None,
        *,
        theme: str = DARK.name,
        termination: Termination | None = None,
        driver_class: type[Driver] | None = None,
        later: "Later | None" = None,
    ) -> None:
        super().__init__(driver_class=driver_class)
        for own in THEMES:
            self.register_theme(own)
        self._begin_in(self.known_theme(theme))
        self.options = options or Options()
        self.backstage: Backstage | None = None
        self.chat: Chat | None = None
        self.drafts = Drafts(cache / "drafts")
        self.writing = Writing(self, self.drafts)
        self.fixed_theme: str | None = None
        self.connect = connect
        self.early = State()  # until there is a chat
        self.trail = Trail()
        self.sought = ""  # what was searched for last
        self.refusal = ""  # words that hold while a reply is written in this chat
        self.offer_due = True  # until the first reply has ended
        self.escaped_at = 0.0  # when Esc was pressed with nothing to stop
        self.editor = Editor()
        self.termination = termination
        self.later = later
        self._leaving = Leaving(self)

    def get_default_screen(self) -> Screen[None]:
        return ChatScreen(id="_default")

    def compose(self) -> ComposeResult:
        with Horizontal(id="body"):
            yield SessionList()
            with Vertical(id="main"):
                yield Title()
                yield Transcript()
                with Vertical(id="below"):
                    yield Banner()
                    yield Approval()
                    yield Completions()
                    yield Composer()
                yield StatusBar()

    @property
    def state(self) -> State:
        return self.chat.state if self.chat is not None else self.early

    @property
    def current_session(self) -> str | None:
        return self.chat.session if self.chat is not None else None

    @property
    def can_suspend(self) -> bool:
        return self._driver is not None and self._driver.can_suspend

    @property
    def page_width(self) -> int:
        """The cells that a page of words over the chat is wide."""
        return min(PAGE_WIDTH, self.size.width - 4) - PAGE_FRAME

    def known_theme(self, name: str) -> str:
        """The theme of that name, or the dark one if there is none."""
        return name if name in self.available_themes else DARK.name

    # Beginning

    def _begin_in(self, theme: str) -> None:
        # Textual 8.2.8 answers a new theme by reading all sheets again, even those that it has not read for the first
        # time, which is a tenth of the start. What its watcher does otherwise is done here, before they are read.
        self.set_reactive(App.theme, theme)
        self.stylesheet.set_variables(self.get_css_variables())
        dark = self.current_theme.dark
        for name, there in ((f"-theme-{theme}", True), ("-dark-mode", dark), ("-light-mode", not dark)):
            self.set_class(there, name, update=False)
        self._refresh_truecolor_filter(self.ansi_theme)

    def on_load(self) -> None:
        self._leaving.heed()

    async def on_mount(self) -> None:
        self.composer.focus()
        await self.transcript.show(Window(), greeting=Greeting())
        self.app_resume_signal.subscribe(self, self._resumed)
        self.paint()
        self.call_after_refresh(self._begin)

    def _resumed(self, app: App[int]) -> None:
        # Textual 8.2.8: after a stop and `fg` the terminal is empty, and only what changes is painted.
        self.call_later(self.refresh, layout=True)

    def _begin(self) -> None:
        gc.enable()  # off since the start of the process: nothing is garbage yet (entry.py)
        gc.freeze()
        self._leaving.heed()  # again: Textual's driver for a browser takes the signals when it starts
        from tui import opening

        self.run_worker(opening.open_memory(self))

    # Painting

    def _display(self, screen: Screen[object], renderable: RenderableType | None) -> None:
        # Textual 8.2.8: a frame is written whether the terminal reads or not.
        driver: object = self._driver
        if not (isinstance(driver, Unhurried) and driver.behind()):
            super()._display(screen, renderable)

    def asked_to_end(self, within_s: float) -> bool:
        """Whether the process was asked to end, or is in that time."""
        return self.termination is not None and self.termination.asked(within_s)

    def on_caught_up(self) -> None:
        """The terminal reads again, and has missed frames."""
        self.refresh(layout=True)

    def lose_terminal(self) -> None:
        """The terminal is gone. From any thread."""
        driver: object = self._driver
        if isinstance(driver, Unhurried):
            driver.lose()

    def paint(self) -> None:
        """Show the state in the bars."""
        chat = self.chat
        session, beat = (chat.session, chat.beat) if chat is not None else (None, 0)
        try:
            keys = FOCUSED if isinstance(self.screen_stack[0].focused, Message) else ()
            self.screen_stack[0].query_one(StatusBar).paint(self.state, session, beat=beat, keys=keys)
            self.screen_stack[0].query_one(Banner).paint(self.state)
            self.composer.queued = bool(self.state.queued_in(session))
            idle = not self.composer.text and len(self.screen_stack) == 1
            self.screen_stack[0].query_one(Approval).show(self.state.approval, take_keys=idle)
        except NoMatches:
            return  # the screen is being taken down

    def say(self, words: str, *, error: bool = False, for_s: float | None = None) -> None:
        """A word for the person: above the composer for a while, or where the screen over it has a place for it."""
        own = getattr(self.screen, "say", None)
        if own is not None:
            own(words, error=error)
        elif len(self.screen_stack) > 1 or not self.screen_stack[0].query_one("#main").display:
            self.notify(one_line(words), severity="error" if error else "information", markup=False)
        else:
            self.screen_stack[0].query_one(Banner).say(words, error=error, for_s=for_s)

    def unsay(self) -> None:
        """Take back what was said."""
        self.screen_stack[0].query_one(Banner).unsay()

    async def adopt(self, session: str | None, *, asked_in: str | None) -> None:
        """The chat `asked_in` is this session now, or has changed: show what there is to know about it.

        Another one may be on the screen by now, a private one too, and stays what it is.
        """
        if self.chat is not None:
            if self.chat.session == asked_in:
                self.chat.session = session
            await self._show_about()

    async def _show_about(self) -> None:
        name, found, session = None, None, None
        if self.chat is not None:
            service, session = self.chat.service, self.chat.session
            about = await service.chats.get(session) if session is not None else None
            world = about.world if about is not None else MAIN
            found = await what_if(service, world)
            if session != self.chat.session:
                return  # another chat was opened meanwhile, and tells of itself
            name = about.name if about is not None else None
            short = found.short if found is not None else ""
            self.chat.belongs(world, short, (about.model if about is not None else None) or service.settings.model)
        self.screen_stack[0].query_one(Title).name_chat(
            name,
            private=self.chat is not None and self.chat.session in self.state.private,
            what_if=found,
            session=session,
        )

    # Sessions

    async def open_session(self, session: str | None) -> None:
        """Show another chat; the draft of the one that is left stays with it."""
        chat = self.chat
        if chat is None:
            return
        self._leaving.forget_hints()
        self.writing.turn_to(session, first=not chat.opened_once)
        before, chat.session = chat.session, session  # at once: what is typed from here on is this chat's draft
        self._tell_private(before)
        await chat.open(session)
        await self._show_about()
        self.remembering.chat_opened()
        await lazy.listing().fill(self)

    def _tell_private(self, before: str | None) -> None:
        """Whether the chat on the screen is private is told before it is read; of a private one that is left no word
        stays."""
        private, session = self.state.private, self.current_session
        if (before in private) != (session in private):
            self.screen_stack[0].query_one(Title).name_chat("…", private=session in private)
        if before in private and before != session:
            self.unsay()
            self.sought = ""
            self.sessions.forget_search()
        self.paint()

    async def session_changed(self, session: str) -> None:
        if self.chat is not None and session == self.chat.session:
            await self._show_about()
        await lazy.listing().fill(self)

    @on(SessionList.Asked)
    @work
    async def _about_session(self, event: SessionList.Asked) -> None:
        await self.guarded(lazy.listing().asked(self, event.what, event.session))

    # The memory panel

    @on(MemoryPanel.Asked)
    @work
    async def _about_memory(self, event: MemoryPanel.Asked) -> None:
        await self.guarded(self.remembering.asked(event.what, event.item))

    @on(Message.Remembered)
    @work
    async def _remember(self, event: Message.Remembered) -> None:
        await self.guarded(self.remembering.show(message=event.message.turn))

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        self.paint()  # the keys of a message, or none any more
        if self._remembering is not None and isinstance(event.widget, (Message, Composer)):
            self._remembering.focus(event.widget if isinstance(event.widget, Message) else None)

    # What a person asks for

    def perform(self, name: str, argument: str = "", *, by_key: bool = False) -> None:
        """Do what the table's action `name` says; `by_key`: one of its keys was pressed."""
        self._perform(name, argument, by_key)

    @work
    async def _perform(self, name: str, argument: str, by_key: bool) -> None:
        deeds = lazy.deeds()
        deed = deeds.BY_KEY.get(name, deeds.DEEDS[name]) if by_key else deeds.DEEDS[name]
        await self.guarded(deed(self, argument))

    async def guarded(self, deed: Awaitable[None]) -> None:
        failures = self.backstage.failures if self.backstage is not None else (OSError,)
        try:
            await deed
        except failures as error:
            self.say(in_chat(str(error)), error=True)

    def action_perform(self, name: str) -> None:
        composer = self.focused
        if not isinstance(composer, Composer) or not composer.post_message(Composer.Passed(name)):
            self.perform(name, by_key=True)

    @on(Composer.Passed)
    def _passed(self, event: Composer.Passed) -> None:
        # Textual 8.2.8: a priority binding overtakes what was typed before it. Ctrl+N behind Enter would leave the chat
        # that the message was written in before it is sent.
        self.perform(event.action, by_key=True)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Over a dialog only its own keys work, and leaving."""
        if action in CHAT_ONLY and len(self.screen_stack) > 1:
            return parameters in (("quit",), ("suspend",))
        return super().check_action(action, parameters)

    def action_interrupt(self) -> None:
        self._leaving.interrupt()

    # The composer

    @on(Composer.Changed)
    def _typed(self) -> None:
        self.writing.typed()

    @on(Composer.SelectionChanged)
    def _cursor_moved(self, event: Composer.SelectionChanged) -> None:
        if isinstance(event.text_area, Composer) and event.text_area.choosing:
            self.writing.moved()

    @on(Composer.Sent)
    def _sent(self, event: Composer.Sent) -> None:
        self.writing.sent(event.text)

    @on(Composer.Asked)
    def _asked(self, event: Composer.Asked) -> None:
        if self.writing.asked(event.what, event.amount):
            return
        match event.what:
            case "complete":
                self._focus_next()
            case "take back":
                self.run_worker(self.guarded(self.writing.take_back()))
            case "scroll":
                self.transcript.scroll_relative(y=event.amount * max(1, self.transcript.size.height - 2), animate=False)
            case "tail":
                self.perform("bottom")
            case "quit":
                self.perform("quit")

    @on(Completions.OptionSelected)
    def _clicked_completion(self, event: Completions.OptionSelected) -> None:
        if isinstance(event.option_list, Completions):
            self.writing.complete(event.option_list.offered[event.option_index], self.composer)

    # Leave to change the memory

    @on(Approval.Answered)
    @work
    async def _answered(self, event: Approval.Answered) -> None:
        await self.guarded(self.keeping.answer(event.approval, allowed=event.allowed))

    @on(Approval.Typed)
    def _typed_on(self, event: Approval.Typed) -> None:
        self.composer.focus()
        self.composer.insert(event.character)

    # Keys

    async def on_event(self, event: events.Event) -> None:
        if isinstance(event, (events.Key, events.Paste)) and not event.is_forwarded:
            await self.keyboard.take(event)
        else:
            await super().on_event(event)

    async def handle(self, event: events.Key | events.Paste) -> None:
        """Do what a key does; its turn has come."""
        self._leaving.forget_hints(event.key if isinstance(event, events.Key) else "")
        await super().on_event(event)

    def write_on(self, words: str) -> None:
        """These words go into the composer, and so does what is typed from here on."""
        composer = self.composer
        self.screen_stack[0].set_focus(composer)
        composer.insert(words)
        if self._remembering is not None:
            self._remembering.make_room(self.size.width)

    # The transcript

    def _focus_next(self) -> None:
        approval = self.screen_stack[0].query_one(Approval)
        if approval.display:
            approval.focus()
            return
        messages = self.transcript.messages
        if messages:
            messages[-1].focus()

    def on_key(self, event: events.Key) -> None:
        """Keys on a focused message."""
        message = self.focused
        if not isinstance(message, Message) or len(self.screen_stack) > 1:
            return
        lazy.message_keys().key_on_message(self, message, event)

    @on(Transcript.Edge)
    @work
    async def _turn_page(self, event: Transcript.Edge) -> None:
        if self.chat is not None:
            await self.guarded(self.chat.turn_page(up=event.up))

    @on(Message.Opened)
    def _open_message(self, event: Message.Opened) -> None:
        lazy.message_keys().read_message(self, event.message)

    @on(Markdown.LinkClicked)
    def _link(self, event: Markdown.LinkClicked) -> None:
        # No network unless asked, and a model's link is not the user asking: it is copied.
        self.run_worker(lazy.message_keys().copy_text(self, event.href, f"The link {one_line(event.href)[:60]}"))

    def reply_ended(self, event: "ReplyEnded") -> None:
        if self.refusal:
            self.screen_stack[0].query_one(Banner).unsay_this(self.refusal)
            self.refusal = ""
        if self.offer_due and event.text:
            self.offer_due = False
            self.run_worker(self.guarded(lazy.offering().after_reply(self, event)))
        limit = self.backstage.service.settings.bell_after_s if self.backstage is not None else 0
        if limit and event.total_ms > 1000 * limit:
            self.bell()

    def message_unanswered(self, event: "Failed", text: str, session: str | None) -> None:
        """A message was not taken, or not answered; `text` goes back to where it was written, in that session."""
        if text:
            self.writing.give_back(text, session)
        self.say(event.message, error=True)

    def on_resize(self, event: events.Resize) -> None:
        self.paint()
        if self._remembering is not None:
            self._remembering.make_room(event.size.width)

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        return ()

    # Ending

    @property
    def parting(self) -> str | None:
        """What to say on stderr once the terminal is free."""
        return self._leaving.parting

    def _fatal_error(self) -> None:
        # Textual 8.2.8: the report of a bug prints what every variable held, and so people's words.
        from tui.crash import report

        self.bell()
        words = report(private=bool(self.state.private))
        self._exit_renderables.append(Segments(self.console.render(words, self.console.options)))
        self._close_messages_no_wait()

    async def leave(self, code: int = 0, parting: str | None = None) -> None:
        """End the app with this exit code; everything is kept."""
        await self._leaving.leave(code, parting)
