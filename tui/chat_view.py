"""The chat on the screen: its widgets, its session, the agent behind it, and what may be asked of the app.

What works on the chat is given this, and so knows no app. The widgets are on the lowest screen, whatever lies over it.
"""

import asyncio
from collections.abc import Awaitable
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, runtime_checkable

from textual.app import App
from textual.css.query import NoMatches
from textual.screen import Screen
from textual.timer import Timer

from tui.backstage import Options
from tui.drafts import Drafts
from tui.keymaps import FOCUSED, STORY_FOCUSED, Sign
from tui.latest import Latest
from tui.state import TOY, Scene, State, StoryDraft, Trail
from tui.widgets.banner import Approval, Banner
from tui.widgets.composer import Composer
from tui.widgets.memory import MemoryPanel
from tui.widgets.message import Message
from tui.widgets.sessions import SessionList
from tui.widgets.status import StatusBar, Title
from tui.widgets.transcript import Greeting, Transcript
from tui.worlds import MAIN, what_if

if TYPE_CHECKING:
    from textual.content import Content
    from textual.widget import Widget

    from graph.values import Session
    from tui.backstage import Backstage, Choice
    from tui.chat import Chat
    from tui.drafts import QuerySession


Answer = TypeVar("Answer")


@runtime_checkable
class Ui(Protocol):
    """Words for the person, screens over the chat, work beside it, and the way to what has a name."""

    def say(self, words: str, *, error: bool = False, for_s: float | None = None) -> None:
        """A word for the person: above the composer for a while, or where the screen over it has a place for it."""
        ...

    def unsay(self) -> None:
        """Take back what was said."""
        ...

    def show(self, screen: "Screen[Any]") -> None:
        """Lay a screen over the chat."""
        ...

    async def ask(self, screen: "Screen[Answer]") -> Answer:
        """Lay a screen over the chat; what it closes with."""
        ...

    def begin(self, work: Awaitable[None]) -> None:
        """Do this beside everything else; a failure whose message is for people is said."""
        ...

    async def open_session(self, session: str | None) -> None:
        """Show another chat (None: a new one); the draft of the one that is left stays with it."""
        ...

    def perform(self, name: str, argument: str = "", *, by_key: bool = False) -> None:
        """Do what the table's action `name` does (tui/actions.py); `by_key`: one of its keys was pressed."""
        ...


PAGE_WIDTH, PAGE_FRAME = 88, 6  # as in styles.tcss; its border, padding and scroll bar
LONG, PAUSE_S = 500, 0.3  # characters that are read at every key; of more, the seconds without one
NOT_YET = "The memory is still opening."
QUIT_HINT = "Press Ctrl+C again to quit."
BACK_HINT = "Press Esc again to go back to one of your messages."
HINTS = {"ctrl+c": QUIT_HINT, "escape": BACK_HINT}


class ChatView:
    """What is on the screen. `backstage` and `chat` are there once the memory is open."""

    def __init__(self, app: App[int], ui: Ui, drafts: Drafts, options: Options) -> None:
        self.app = app
        self.ui = ui
        self.drafts = drafts
        self.options = options
        self.backstage: Backstage | None = None
        self.chat: Chat | None = None
        self.early = State()  # until there is a chat
        self.fixed_theme: str | None = None  # whatever the settings say
        self.trail = Trail()
        self.desks: dict[bool, QuerySession] = {}  # what the query screen showed last, in private chats and in others
        self.sought = ""  # what was searched for last
        self.story_draft: StoryDraft | None = None  # a story that was not begun yet
        self.promised: Choice | None = None  # a model that was got for its pace, which was not seen yet
        self.refusal = ""  # words that hold while a reply is written in this chat
        self.escaped_at = 0.0  # when Esc was pressed with nothing to stop
        self._pause: Timer | None = None
        self._hearing: Latest[tuple[str, Scene], Content | None] = Latest(_heard, self._show_hearing)

    # The widgets

    @property
    def screen(self) -> Screen[object]:
        return self.app.screen_stack[0]

    @property
    def composer(self) -> Composer:
        return self.screen.query_one(Composer)

    @property
    def transcript(self) -> Transcript:
        return self.screen.query_one(Transcript)

    @property
    def sessions(self) -> SessionList:
        return self.screen.query_one(SessionList)

    @property
    def banner(self) -> Banner:
        return self.screen.query_one(Banner)

    @property
    def panel(self) -> MemoryPanel | None:
        """The memory panel, if it was ever shown."""
        found = self.screen.query(MemoryPanel)
        return found.first() if found else None

    @property
    def panel_has_keys(self) -> bool:
        """The memory panel is on the screen, and the keys go to it."""
        return self.panel is not None and self.panel.display and self.panel.has_keys

    @property
    def width(self) -> int:
        """The cells of a line of the terminal."""
        return self.app.size.width

    @property
    def page_width(self) -> int:
        """The cells that a page of words over the chat is wide."""
        return min(PAGE_WIDTH, self.width - 4) - PAGE_FRAME

    # The chat

    @property
    def state(self) -> State:
        return self.chat.state if self.chat is not None else self.early

    @property
    def session(self) -> str | None:
        """The chat on the screen; None: it has no messages yet."""
        return self.chat.session if self.chat is not None else None

    @property
    def failures(self) -> tuple[type[Exception], ...]:
        """The errors whose message is for people."""
        return self.backstage.failures if self.backstage is not None else (OSError,)

    @property
    def answers(self) -> bool:
        """Whether the reply being written is one in this chat."""
        chat = self.chat
        return chat is not None and chat.session is not None and chat.service.answering == chat.session

    def is_private(self, session: str | None) -> bool:
        """Whether nothing of that chat is kept."""
        return session in self.state.private

    async def project(self) -> str | None:
        """The project of the chat on the screen, or of the one that the next message begins."""
        if self.chat is None or self.chat.session is None:
            return self.options.project
        return (await self.chat.service.chats.get(self.chat.session)).project

    async def adopt(self, session: str | None, *, asked_in: str | None) -> None:
        """The chat `asked_in` is this session now, or has changed: show what there is to know about it.

        Another one may be on the screen by now, a private one too, and stays what it is.
        """
        if self.chat is not None:
            if self.chat.session == asked_in:
                self.chat.session = session
            await self.show_about()

    async def show_about(self) -> None:
        """Show in the title what there is to know about the chat, and who plays in a story."""
        name, found, session = None, None, None
        if self.chat is not None:
            service, session = self.chat.service, self.chat.session
            about = await service.chats.get(session) if session is not None else None
            world = about.world if about is not None else MAIN
            found = await what_if(service, world)
            scene = await self._scene(about) if about is not None and about.story is not None else None
            if session != self.chat.session:
                return  # another chat was opened meanwhile, and tells of itself
            name = about.name if about is not None else None
            short = found.short if found is not None else ""
            self.chat.belongs(world, short, (about.model if about is not None else None) or service.settings.model)
            self.chat.plays(scene)
            self._show_scene(scene, name)
            self.address()
        private = self.chat is not None and self.is_private(self.chat.session)
        self.title.name_chat(name, private=private, what_if=found, session=session)

    async def _scene(self, about: "Session") -> Scene | None:
        from tui.scene import scene_of

        assert self.chat is not None
        return await scene_of(self.chat.service, about)

    def _show_scene(self, scene: Scene | None, title: str | None) -> None:
        """Below the title, which says that; the bar is made for the first story."""
        bars = self.screen.query("#scene")
        if scene is None and not bars:
            return
        from tui.widgets.scene import SceneBar

        bar = bars.first(SceneBar) if bars else SceneBar()
        if not bars:
            self.screen.query_one("#main").mount(bar, after=self.title)
        bar.show(scene, title)

    def address(self) -> None:
        """Say in the composer's frame to whom in a story what is written goes; of a long text once typing pauses."""
        if self._pause is not None:
            self._pause.stop()
            self._pause = None
        if self.scene is None:
            self.composer.address(None)
        elif len(self.composer.text) > LONG:
            self._pause = self.app.set_timer(PAUSE_S, self._address_now)
        else:
            self._address_now()

    def _address_now(self) -> None:
        if self.scene is not None:
            self.ui.begin(self._hearing.ask((self.composer.text, self.scene)))

    def _show_hearing(self, asked: "tuple[str, Scene]", answer: "Content | None") -> None:
        if asked[1] is self.scene:
            self.composer.address(answer)

    @property
    def scene(self) -> Scene | None:
        """The story of the chat on the screen, once it is known."""
        return self.chat.scene if self.chat is not None else None

    @property
    def title(self) -> Title:
        return self.screen.query_one(Title)

    # Painting

    def paint(self) -> None:
        """Show the state in the bars."""
        chat, screen = self.chat, self.screen
        session, beat = (chat.session, chat.beat) if chat is not None else (None, 0)
        try:
            keys = _keys_of(screen.focused)
            screen.query_one(StatusBar).paint(self.state, session, beat=beat, keys=keys)
            self.banner.paint(self.state)
            for greeting in self.transcript.query_children(Greeting):
                greeting.paint(self.state.away, toy=self.state.model.name == TOY)
            self.composer.queued = bool(self.state.queued_in(session))
            idle = not self.composer.text and len(self.app.screen_stack) == 1
            screen.query_one(Approval).show(self.state.approval, take_keys=idle)
        except NoMatches:
            return  # the screen is being taken down

    def refresh_panel(self) -> None:
        """The memory panel reads again what it shows, if it is shown."""
        if self.panel is not None and self.panel.display:
            self.panel.reread()

    def refresh_soon(self) -> None:
        """What shows something of the memory reads it again: the screens over the chat, and the panel."""
        for screen in self.app.screen_stack[1:]:
            if (refresh := getattr(screen, "refresh_soon", None)) is not None:
                refresh()
        self.refresh_panel()

    def forget_hints(self, key: str = "") -> None:
        """A key was pressed, or another chat opened: what a second press of any other key would do holds no more."""
        for banner in (found for screen in self.app.screen_stack[:1] for found in screen.query(Banner)):
            for each, hint in HINTS.items():
                if each != key:
                    banner.unsay_this(hint)
        if key != "escape":
            self.escaped_at = 0.0


async def _heard(asked: tuple[str, Scene]) -> "Content | None":
    from tui.scene import hearing, hearing_content

    found = await asyncio.to_thread(hearing, *asked)
    return hearing_content(found) if found is not None else None


def _keys_of(focused: "Widget | None") -> tuple[Sign, ...]:
    """What the status line says of the keys of a message."""
    if not isinstance(focused, Message):
        return ()
    return FOCUSED if focused.cue is None else STORY_FOCUSED


ROOM_FOR_THREE = 120  # cells from which the memory panel may stand there too
ROOM_FOR_BOTH = 72  # cells from which the list stands beside the chat instead of in its place


def hide(view: ChatView) -> None:
    """Back to the chat alone."""
    view.sessions.display = view.sessions.archived = False  # it opens on the chats that are in use
    view.screen.set_class(False, "-listing")
    view.composer.focus()


async def fill(view: ChatView) -> None:
    """Read the list again, if it is shown."""
    if view.chat is not None and view.sessions.display:
        service = view.chat.service
        found = await service.chats.all(archived=view.sessions.archived)
        private = [] if view.sessions.archived else await service.private.all()
        view.sessions.fill([*private, *found], view.chat.session, private=view.state.private)


PRIVATE = "Private chats are not saved: this one is gone when you quit."


async def may_keep(view: ChatView, what: str = "a memory you add by hand is") -> bool:
    """Whether what is asked for may be kept for good: in a private chat the person is asked, and no is the rule."""
    from tui.widgets.dialogs import Confirm

    if not view.is_private(view.session):
        return True
    words = f"This chat is private, but {what} saved permanently."
    return await view.ui.ask(Confirm("Save it permanently?", words, yes="save"))
