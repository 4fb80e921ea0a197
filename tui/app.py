"""The app: composes the widgets, binds the keys of the table, and routes messages.

It begins in startup.py and ends in shutdown.py; what the chat is made of is in chat_view.py and parts.py, and
what an action does is in handlers.py.
"""

import gc
from collections.abc import Awaitable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from rich.console import RenderableType
from rich.segment import Segments
from textual import events, on, work
from textual.app import App, ComposeResult, SystemCommand
from textual.binding import Binding
from textual.containers import Horizontal, Vertical
from textual.driver import Driver
from textual.screen import Screen
from textual.widgets import Markdown

from tui import actions, lazy
from tui.backstage import Options
from tui.chat_view import Answer, ChatView
from tui.drafts import Drafts
from tui.parts import Parts
from tui.shutdown import Shutdown
from tui.terminal import Unhurried
from tui.termination import Termination
from tui.text import in_chat, one_line
from tui.themes import DARK, THEMES, known_theme
from tui.widgets.banner import Approval, Banner
from tui.widgets.composer import Completions, Composer
from tui.widgets.memory import MemoryPanel
from tui.widgets.message import Message
from tui.widgets.sessions import SessionList
from tui.widgets.status import StatusBar, Title
from tui.widgets.transcript import Greeting, Transcript
from tui.window import Window

if TYPE_CHECKING:
    from tui.keyboard import Keyboard, Later
    from tui.startup import Connect

CHAT_ONLY = frozenset(("perform", "interrupt", "focus_messages"))


class ChatScreen(Screen[None]):
    """The screen of the chat: what is typed from the first moment on belongs to the composer."""

    AUTO_FOCUS = "Composer"


class ClewApp(App[int]):
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
                priority=action.name not in ("stop", "stage", "top", "bottom", "editor"),
            )
            for action in actions.ACTIONS
            if action.keys
        ),
        Binding("ctrl+c", "interrupt", "Stop, clear, quit", show=False, priority=True),
    ]

    def __init__(
        self,
        connect: "Connect",
        cache: Path,
        options: Options | None = None,
        *,
        theme: str = DARK.name,
        termination: Termination | None = None,
        driver_class: type[Driver] | None = None,
        later: "Later | None" = None,
    ) -> None:
        """`later` is the clock by which a letter is pressed alone; None: the usual one."""
        super().__init__(driver_class=driver_class)
        for own in THEMES:
            self.register_theme(own)
        self._begin_in(known_theme(theme, self.available_themes))
        self._connect = connect
        self._termination = termination
        self._later = later
        self._keyboard: Keyboard | None = None
        self.view = ChatView(self, self, Drafts(cache / "drafts"), options or Options())
        self.parts = Parts(self.view)
        self._leaving = Shutdown(self.parts, termination, self.lose_terminal)

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
    def keyboard(self) -> "Keyboard":
        """What takes the keys, made for the first of them."""
        if self._keyboard is None:
            from tui.keyboard import Keyboard

            self._keyboard = Keyboard(self, self._handle, self._type_on, self._later or self.set_timer)
        return self._keyboard

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
        self.view.composer.focus()
        await self.view.transcript.show(Window(), greeting=Greeting())
        self.app_resume_signal.subscribe(self, self._resumed)
        self.view.paint()
        self.call_after_refresh(self._begin)

    def _resumed(self, app: App[int]) -> None:
        # Textual 8.2.8: after a stop and `fg` the terminal is empty, and only what changes is painted.
        self.call_later(self.refresh, layout=True)

    def _begin(self) -> None:
        gc.enable()  # off since the start of the process: nothing is garbage yet (entry.py)
        gc.freeze()
        self._leaving.heed()  # again: Textual's driver for a browser takes the signals when it starts
        from tui import startup

        self.begin(startup.open_memory(self.parts, self._connect, self.leave))

    # Painting

    def _display(self, screen: Screen[object], renderable: RenderableType | None) -> None:
        # Textual 8.2.8: a frame is written whether the terminal reads or not.
        driver: object = self._driver
        if not (isinstance(driver, Unhurried) and driver.behind()):
            super()._display(screen, renderable)

    def asked_to_end(self, within_s: float) -> bool:
        """Whether the process was asked to end, or is in that time."""
        return self._termination is not None and self._termination.asked(within_s)

    def on_caught_up(self) -> None:
        """The terminal reads again, and has missed frames."""
        self.refresh(layout=True)

    def lose_terminal(self) -> None:
        """The terminal is gone. From any thread."""
        driver: object = self._driver
        if isinstance(driver, Unhurried):
            driver.lose()

    # What controllers and screens ask for (`Ui`)

    def say(self, words: str, *, error: bool = False, for_s: float | None = None) -> None:
        """A word for the person: above the composer for a while, or where the screen over it has a place for it."""
        own = getattr(self.screen, "say", None)
        if own is not None:
            own(words, error=error)
        elif len(self.screen_stack) > 1 or not self.view.screen.query_one("#main").display:
            self.notify(one_line(words), severity="error" if error else "information", markup=False)
        else:
            self.view.banner.say(words, error=error, for_s=for_s)

    def unsay(self) -> None:
        """Take back what was said."""
        self.view.banner.unsay()

    def show(self, screen: Screen[Any]) -> None:
        """Lay a screen over the chat."""
        self.push_screen(screen)

    async def ask(self, screen: Screen[Answer]) -> Answer:
        """Lay a screen over the chat; what it closes with."""
        return await self.push_screen_wait(screen)

    def begin(self, work: Awaitable[None]) -> None:
        """Do this beside everything else; a failure whose message is for people is said."""
        self.run_worker(self._guarded(work))

    async def _guarded(self, work: Awaitable[None]) -> None:
        try:
            await work
        except self.view.failures as error:
            self.say(in_chat(str(error)), error=True)

    async def open_session(self, session: str | None) -> None:
        """Show another chat; the draft of the one that is left stays with it."""
        await self.parts.open_session(session)

    def perform(self, name: str, argument: str = "", *, by_key: bool = False) -> None:
        """Do what the table's action `name` says; `by_key`: one of its keys was pressed."""
        self.begin(lazy.handlers().handler_of(name, by_key=by_key)(self.parts, argument))

    # The list of chats, and the memory panel

    @on(SessionList.Asked)
    def _about_session(self, event: SessionList.Asked) -> None:
        self.begin(lazy.session_handlers().asked(self.parts, event.what, event.session))

    @on(MemoryPanel.Asked)
    def _about_memory(self, event: MemoryPanel.Asked) -> None:
        self.begin(self.parts.panel.asked(event.what, event.item))

    @on(Message.Remembered)
    def _remember(self, event: Message.Remembered) -> None:
        self.begin(self.parts.panel.show(message=event.message.turn))

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        self.view.paint()  # the keys of a message, or none any more
        if self.view.panel is not None and isinstance(event.widget, (Message, Composer)):
            self.parts.panel.focus(event.widget if isinstance(event.widget, Message) else None)

    # What a person asks for

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
        self.parts.composer.typed()

    @on(Composer.SelectionChanged)
    def _cursor_moved(self, event: Composer.SelectionChanged) -> None:
        if isinstance(event.text_area, Composer) and event.text_area.choosing:
            self.parts.composer.moved()

    @on(Composer.Sent)
    def _sent(self, event: Composer.Sent) -> None:
        self.parts.composer.sent(event.text)

    @on(Composer.Asked)
    def _asked(self, event: Composer.Asked) -> None:
        if self.parts.composer.asked(event.what, event.amount):
            return
        match event.what:
            case "complete":
                self._focus_next()
            case "take back":
                self.begin(self.parts.composer.take_back())
            case "scroll":
                self.view.transcript.scroll_pages(event.amount)
            case "tail":
                self.perform("bottom")
            case "quit":
                self.perform("quit")

    @on(Completions.OptionSelected)
    def _clicked_completion(self, event: Completions.OptionSelected) -> None:
        if isinstance(event.option_list, Completions):
            self.parts.composer.complete(event.option_list.offered[event.option_index], self.view.composer)

    # Leave to change the memory

    @on(Approval.Answered)
    def _answered(self, event: Approval.Answered) -> None:
        self.begin(self.parts.memory.answer(event.approval, allowed=event.allowed))

    @on(Approval.Typed)
    def _typed_on(self, event: Approval.Typed) -> None:
        self.view.composer.focus()
        self.view.composer.insert(event.character)

    # Keys

    async def on_event(self, event: events.Event) -> None:
        if isinstance(event, (events.Key, events.Paste)) and not event.is_forwarded:
            await self.keyboard.take(event)
        else:
            await super().on_event(event)

    async def _handle(self, event: events.Key | events.Paste) -> None:
        """Do what a key does; its turn has come."""
        self.view.forget_hints(event.key if isinstance(event, events.Key) else "")
        await super().on_event(event)

    def _type_on(self, words: str, why: str) -> None:
        """These words go into the composer, and so does what is typed from here on."""
        composer = self.view.composer
        self.view.screen.set_focus(composer)
        composer.insert(words)
        self.parts.make_room(self.view.width)
        self.say(why)

    # The transcript

    def _focus_next(self) -> None:
        approval = self.view.screen.query_one(Approval)
        if approval.display:
            approval.focus()
            return
        messages = self.view.transcript.messages
        if messages:
            messages[-1].focus()

    def on_key(self, event: events.Key) -> None:
        """Keys on a focused message."""
        message = self.focused
        if not isinstance(message, Message) or len(self.screen_stack) > 1:
            return
        lazy.message_keys().key_on_message(self.parts, message, event)

    @on(Transcript.Edge)
    @work
    async def _turn_page(self, event: Transcript.Edge) -> None:
        if self.view.chat is not None:
            await self._guarded(self.view.chat.turn_page(up=event.up))

    @on(Message.Opened)
    def _open_message(self, event: Message.Opened) -> None:
        lazy.message_keys().read_message(self.parts, event.message)

    @on(Message.Moved)
    def _moved(self, event: Message.Moved) -> None:
        lazy.message_keys().agree_to_move(self.parts, event.message)

    @on(Markdown.LinkClicked)
    def _link(self, event: Markdown.LinkClicked) -> None:
        # No network unless asked, and a model's link is not the user asking: it is copied.
        self.begin(lazy.copying().copy_text(self.view, event.href, f"The link {one_line(event.href)[:60]}"))

    def on_resize(self, event: events.Resize) -> None:
        self.view.paint()
        self.parts.make_room(event.size.width)

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        return ()

    # Ending

    @property
    def parting(self) -> str | None:
        """What to say on stderr once the terminal is free."""
        return self._leaving.parting

    def _fatal_error(self) -> None:
        # Textual 8.2.8: the report of a bug prints what every variable held, and so people's words.
        from tui.shutdown import report

        self.bell()
        words = report(private=bool(self.view.state.private))
        self._exit_renderables.append(Segments(self.console.render(words, self.console.options)))
        self._close_messages_no_wait()

    async def action_quit(self) -> None:
        await self.leave()

    async def leave(self, code: int = 0, parting: str | None = None) -> None:
        """End the app with this exit code; everything is kept."""
        await self._leaving.leave(code, parting)
