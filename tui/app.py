"""The app: composes the widgets, binds the keys of the table, and routes messages. What it does is in deeds.py."""

import asyncio
import gc
import signal
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, ClassVar

from textual import events, on, work
from textual.app import App, ComposeResult, SystemCommand
from textual.binding import Binding
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.css.query import NoMatches
from textual.screen import Screen
from textual.timer import Timer
from textual.widgets import Markdown, Static

from tui import actions
from tui.boot import BootFailed, Options
from tui.drafts import Drafts
from tui.exit_codes import ExitCode
from tui.palette import ActionProvider
from tui.service import Backstage
from tui.state import State
from tui.text import MUTED, one_line, plain
from tui.themes import DARK, THEMES, full_name
from tui.widgets.banner import Banner
from tui.widgets.completions import Completions
from tui.widgets.composer import Composer
from tui.widgets.greeting import Greeting
from tui.widgets.message import Message
from tui.widgets.sessions import SessionList
from tui.widgets.status import StatusBar
from tui.widgets.transcript import Transcript
from tui.window import Window

if TYPE_CHECKING:
    from agent.events import Failed, ModelProgress, ReplyEnded
    from tui.chat import Chat

DRAFT_S = 0.4
HINT_S = 6.0
ERROR_S = 15.0
QUIT_S = 2.0
CHAT_ONLY = frozenset(("perform", "interrupt", "focus_messages"))


class ClewApp(App[int]):
    """The chat. `connect` brings in the agent after the first paint."""

    CSS_PATH = "styles.tcss"
    TITLE = "clew"
    COMMANDS: ClassVar = {lambda: ActionProvider}
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (72, "-normal"), (104, "-wide")]  # noqa: RUF012 - App declares it so
    VERTICAL_BREAKPOINTS = [(0, "-tiny"), (9, "-short"), (18, "-tall")]  # noqa: RUF012
    BINDINGS: ClassVar = [
        *(
            Binding(
                ",".join(action.keys),
                f"perform('{action.name}')",
                action.title,
                show=False,
                priority=action.name not in ("stop", "top", "bottom"),
            )
            for action in actions.ACTIONS
            if action.keys
        ),
        Binding("ctrl+c", "interrupt", "Stop, clear, quit", show=False, priority=True),
    ]

    def __init__(
        self,
        connect: Callable[[], Awaitable[Backstage]],
        cache: Path,
        options: Options | None = None,
        *,
        theme: str = DARK.name,
    ) -> None:
        super().__init__()
        for own in THEMES:
            self.register_theme(own)
        self.theme = theme if theme in self.available_themes else DARK.name
        self.options = options or Options()
        self.backstage: Backstage | None = None
        self.chat: Chat | None = None
        self.drafts = Drafts(cache / "drafts")
        self.draft_folder = cache / "drafts"
        self.fixed_theme: str | None = None
        self.parting: str | None = None  # what to say on stderr once the terminal is free
        self._connect = connect
        self._early = State()  # until there is a chat
        self._hint = ""
        self._hint_is_error = False
        self._hint_timer: Timer | None = None
        self._draft_timer: Timer | None = None
        self._send_when_open = ""  # the text on which Enter was pressed before the memory was open
        self._quit_armed = False
        self._draft_of: str | None = None
        self._leaving = False

    def compose(self) -> ComposeResult:
        with Horizontal(id="body"):
            yield SessionList()
            with Vertical(id="main"):
                yield Static("", id="title", markup=False)
                yield Transcript()
                yield Banner()
                yield Completions()
                yield Composer()
                yield StatusBar()

    # Widgets

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
    def state(self) -> State:
        return self.chat.state if self.chat is not None else self._early

    @property
    def current_session(self) -> str | None:
        return self.chat.session if self.chat is not None else None

    @property
    def can_suspend(self) -> bool:
        return self._driver is not None and self._driver.can_suspend

    # Beginning

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
        loop = asyncio.get_running_loop()
        for number, code in ((signal.SIGTERM, ExitCode.TERMINATED), (signal.SIGHUP, ExitCode.HANGUP)):
            loop.add_signal_handler(number, self._asked_to_end, code)
        self._boot()

    @work
    async def _asked_to_end(self, code: int) -> None:
        await self.leave(code)

    @work
    async def _boot(self) -> None:
        try:
            backstage = await self._connect()
        except BootFailed as error:
            await self.leave(error.code, str(error))
            return
        from tui.chat import Chat

        self.backstage = backstage
        self.theme = self.fixed_theme or _known(full_name(backstage.service.settings.theme), self)
        chat = Chat(
            backstage.service, self.transcript, changed=self.paint, ended=self._reply_ended, failed=self._send_failed
        )
        self._listen(chat, backstage)
        await asyncio.sleep(0)  # the listener is there before the first notice
        try:
            await backstage.service.start()
        except backstage.failures as error:
            await self.leave(backstage.exit_code(error), str(error))
            return
        self.chat = chat
        self.composer.sent = await backstage.service.said()
        session = None if self.options.new else self.options.session or await backstage.service.last_session()
        try:
            await self.open_session(session)
        except backstage.failures as error:
            await self.open_session(None)
            self.say(str(error), error=True)
        if chat.state.recovered:
            self.say(f"{chat.state.recovered} reply was cut off last time; what had come of it was kept.")
        if self._send_when_open and self.composer.text.endswith(self._send_when_open):
            self._send_when_open = ""
            self.composer.action_send()

    @work
    async def _listen(self, chat: "Chat", backstage: Backstage) -> None:
        from agent.events import GraphProgress, MemoryReady, SessionsChanged, Warned

        async for notice in backstage.service.notices():
            chat.notice(notice)
            match notice:
                case MemoryReady():
                    self._early = chat.state
                case SessionsChanged(session=session):
                    await self._session_changed(session)
                case Warned(message=message) | GraphProgress(state="failed", message=message):
                    self.say(message, error=True)
            self._early = chat.state
            self.paint()

    # Painting

    def paint(self) -> None:
        """Show the state in the bars."""
        chat = self.chat
        session, beat = (chat.session, chat.beat) if chat is not None else (None, 0)
        try:
            self.screen_stack[0].query_one(StatusBar).paint(self.state, session, beat=beat)
            self.screen_stack[0].query_one(Banner).paint(self.state, self._hint, error=self._hint_is_error)
        except NoMatches:
            return  # the screen is being taken down

    def say(self, words: str, *, error: bool = False) -> None:
        """A word for the person: above the composer for a while, or over the dialog that is open."""
        if len(self.screen_stack) > 1:
            self.notify(one_line(words), severity="error" if error else "information", markup=False)
            return
        self._hint, self._hint_is_error = words, error
        if self._hint_timer is not None:
            self._hint_timer.stop()
        self._hint_timer = self.set_timer(ERROR_S if error else HINT_S, self._unsay)
        self.paint()

    def _unsay(self) -> None:
        self._hint, self._hint_is_error = "", False
        self._quit_armed = False
        self.paint()

    def progress_from_thread(self, progress: "ModelProgress") -> None:
        """A fetch in a thread has come further."""
        chat = self.chat
        if chat is not None:
            self.call_from_thread(chat.notice, progress)

    async def adopt(self, session: str | None) -> None:
        """The chat on the screen is this session now, or has changed: show what there is to know about it."""
        if self.chat is not None:
            self.chat.session = session
            await self._show_about()

    async def _show_about(self) -> None:
        name = None
        if self.chat is not None:
            service, session = self.chat.service, self.chat.session
            about = await service.session(session) if session is not None else None
            name = about.name if about is not None else None
            self.chat.answered_by((about.model if about is not None else None) or service.settings.model)
        words = Content.assemble(("clew", "bold $primary"), plain(f"  {one_line(name or 'New chat')}", MUTED))
        self.screen_stack[0].query_one("#title", Static).update(words)

    # Sessions

    async def open_session(self, session: str | None) -> None:
        """Show another chat; the draft of the one that is left stays with it."""
        chat = self.chat
        if chat is None:
            return
        draft = self.drafts.load(session)
        if chat.opened_once:
            self._keep_draft()
            self.composer.put(draft)
        elif draft and draft != self.composer.text:  # what was typed before there was a chat follows its draft
            self.composer.give_back(draft)
        chat.session = self._draft_of = session  # at once: what is typed from here on is this chat's draft
        await chat.open(session)
        await self._show_about()
        if self.sessions.display:
            await self._fill_sessions()

    async def _session_changed(self, session: str) -> None:
        if self.chat is not None and session == self.chat.session:
            await self._show_about()
        if self.sessions.display:
            await self._fill_sessions()

    async def _fill_sessions(self) -> None:
        if self.chat is not None:
            found = await self.chat.service.sessions(archived=self.sessions.archived)
            self.sessions.fill(found, self.chat.session)

    @work
    async def toggle_sessions(self, *, show: bool | None = None) -> None:
        """Show or hide the list of chats."""
        panel = self.sessions
        visible = not panel.display if show is None else show
        panel.display = visible
        self.screen_stack[0].set_class(visible, "-listing")
        if visible:
            await self._fill_sessions()
            panel.focus_search()
        else:
            self.composer.focus()

    @on(SessionList.Asked)
    def _about_session(self, event: SessionList.Asked) -> None:
        self._do_with_session(event)

    @work
    async def _do_with_session(self, event: SessionList.Asked) -> None:
        chat, session = self.chat, event.session
        if event.what == "close":
            self.toggle_sessions(show=False)
            return
        if event.what == "archived":
            self.sessions.archived = not self.sessions.archived
            await self._fill_sessions()
            return
        if chat is None or session is None:
            return
        await self._guarded(_deeds().with_session(self, event.what, session))

    # What a person asks for

    def perform(self, name: str, argument: str = "") -> None:
        """Do what the table's action `name` says."""
        self._perform(name, argument)

    @work
    async def _perform(self, name: str, argument: str) -> None:
        await self._guarded(_deeds().DEEDS[name](self, argument))

    async def _guarded(self, deed: Awaitable[None]) -> None:
        failures = self.backstage.failures if self.backstage is not None else (OSError,)
        try:
            await deed
        except failures as error:
            self.say(str(error), error=True)

    def action_perform(self, name: str) -> None:
        self.perform(name)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Over a dialog only its own keys work, and leaving."""
        if action in CHAT_ONLY and len(self.screen_stack) > 1:
            return parameters in (("quit",), ("suspend",))
        return super().check_action(action, parameters)

    def action_interrupt(self) -> None:
        """Ctrl+C: copy what is selected, else stop the reply, else clear the text, else quit on the second press."""
        selected = self.composer.selected_text or self.screen.get_selected_text()
        if selected:
            self.screen.clear_selection()
            self.composer.move_cursor(self.composer.cursor_location)
            self.run_worker(_deeds().copy_text(self, selected, "The selection"))
        elif self.chat is not None and self.chat.service.answering is not None:
            self.perform("stop")
        elif self.composer.text:
            self.composer.remember(self.composer.text)
            self.composer.put("")
            self.say("Cleared; ↑ brings it back.")
        elif self._quit_armed:
            self.perform("quit")
        else:
            self.say("Press Ctrl+C again to quit.")
            self._quit_armed = True
            self.set_timer(QUIT_S, self._disarm)

    def _disarm(self) -> None:
        self._quit_armed = False

    # The composer

    @on(Composer.Changed)
    def _typed(self) -> None:
        if self._send_when_open and self.composer.text != self._send_when_open:
            self._send_when_open = ""
            self._unsay()
        self._offer(actions.completions(self.composer.text))
        if self._draft_timer is None:
            self._draft_timer = self.set_timer(DRAFT_S, self._keep_draft)

    def _offer(self, found: list[actions.Action]) -> None:
        panel = self.screen_stack[0].query_one(Completions)
        panel.offer(found)
        self.composer.choosing = bool(found)

    def _keep_draft(self) -> None:
        if self._draft_timer is not None:
            self._draft_timer.stop()
            self._draft_timer = None
        session = self.current_session
        if self._draft_of is None and session is not None:
            self.drafts.save(None, "")  # the new chat has become a session
        self._draft_of = session
        self.drafts.save(session, self.composer.text)

    @on(Composer.Sent)
    def _sent(self, event: Composer.Sent) -> None:
        command = actions.parse(event.text)
        match command:
            case str():
                self.composer.give_back(event.text)
                self.say(command)
                return
            case actions.Command(action, argument):
                self.composer.remember(event.text)
                self.perform(action.name, argument)
                return
        if not event.text.strip():
            self.say("There is nothing to send: the message is empty.")
        elif self.chat is None or not self.state.memory_open:
            self.composer.give_back(event.text)
            self._send_when_open = event.text
            self.say("The memory is being opened; this is sent the moment it is.")
        else:
            self.composer.remember(event.text)
            self.chat.send(event.text, project=self.options.project)

    @on(Composer.Asked)
    async def _asked(self, event: Composer.Asked) -> None:
        panel = self.screen_stack[0].query_one(Completions)
        match event.what:
            case "choose":
                panel.move(event.amount)
            case "accept" | "complete" if panel.chosen is not None:
                action = panel.chosen
                if event.what == "accept":
                    self.composer.put("")
                    self.composer.remember(f"/{action.slash}")
                    self.perform(action.name)
                else:
                    self.composer.put(f"/{action.slash} ")
            case "complete":
                self._focus_messages()
            case "scroll":
                self.transcript.scroll_relative(y=event.amount * max(1, self.transcript.size.height - 2), animate=False)
            case "tail":
                self.perform("bottom")
            case "quit":
                self.perform("quit")

    @on(Completions.OptionSelected)
    def _clicked_completion(self, event: Completions.OptionSelected) -> None:
        if isinstance(event.option_list, Completions) and event.option_id is not None:
            self.composer.put(f"/{actions.BY_NAME[event.option_id].slash} ")
            self.composer.focus()

    # The transcript

    def _focus_messages(self) -> None:
        messages = self.transcript.messages
        if messages:
            messages[-1].focus()

    def on_key(self, event: events.Key) -> None:
        """Keys on a focused message; anything printable goes back to the composer."""
        message = self.focused
        if not isinstance(message, Message) or len(self.screen_stack) > 1:
            return
        _deeds().key_on_message(self, message, event)

    @on(Transcript.Edge)
    def _edge(self, event: Transcript.Edge) -> None:
        self._turn_page(up=event.up)

    @work
    async def _turn_page(self, *, up: bool) -> None:
        if self.chat is not None:
            await self._guarded(self.chat.turn_page(up=up))

    @on(Message.Opened)
    def _open_message(self, event: Message.Opened) -> None:
        _deeds().read_message(self, event.message)

    @on(Markdown.LinkClicked)
    def _link(self, event: Markdown.LinkClicked) -> None:
        # No network unless asked, and a model's link is not the user asking: it is copied.
        self.run_worker(_deeds().copy_text(self, event.href, f"The link {one_line(event.href)[:60]}"))

    def _reply_ended(self, event: "ReplyEnded") -> None:
        limit = self.backstage.service.settings.bell_after_s if self.backstage is not None else 0
        if limit and event.total_ms > 1000 * limit:
            self.bell()

    def _send_failed(self, event: "Failed", text: str) -> None:
        if text:
            self.composer.give_back(text)
        self.say(event.message, error=True)

    def on_resize(self) -> None:
        self.paint()

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        return ()

    # Ending

    async def leave(self, code: int = 0, parting: str | None = None) -> None:
        """Keep the draft, stop what runs (its words are kept), close the memory, give the terminal back."""
        if self._leaving:
            return
        self._leaving = True
        self.parting = parting
        self._keep_draft()
        if self.backstage is not None:
            self.say("Closing …")
            await self.backstage.service.close()
        if self.chat is not None:
            await self.chat.close()
        self.exit(code, return_code=code)


def _deeds() -> ModuleType:
    """What actions do, imported when the first one is asked for: not needed for the first paint."""
    from tui import deeds

    return deeds


def _known(theme: str, app: ClewApp) -> str:
    return theme if theme in app.available_themes else DARK.name
