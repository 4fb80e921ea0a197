"""The memory screen: five pages chosen by number, a line for what was said, and the keys of the page below."""

from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Static

from tui import history_handlers
from tui.chat_view import ChatView, may_keep
from tui.ingestion import Ingestion
from tui.keymaps import MEMORIES, MEMORY_PLACES, UNDO, bindings, signs
from tui.latest import is_there
from tui.memories import view
from tui.memories.host import SessionChanges
from tui.memories.observations import Observations
from tui.memories.pages import Blocks, DocumentsPage, Ratings
from tui.memories.view import PAST_STAYS, View
from tui.memories.words import trouble_of
from tui.node_links import walk_from
from tui.text import MUTED, in_chat, one_line, plain
from tui.widgets.dialogs import AskLine, AskText, Confirm, Reader
from tui.widgets.foot import Foot, StatusMessage
from tui.widgets.impact import ImpactChoice
from tui.worlds import MAIN

if TYPE_CHECKING:
    from agent.face import Face
    from agent.plans import Plan
    from graph.values import Wanted
    from tui.state import State

PAGES = ("observations", "review", "blocks", "ratings", "documents")
NAMES = ("Memories", "Review", "Core blocks", "Significance", "Documents")
SHORT_NAMES = ("Memories", "Review", "Blocks", "Ratings", "Documents")
TALL = 18  # rows from which the keys may take two lines; as in the style sheet
MINE = tuple(row for row in MEMORIES if row.foot)
ALWAYS = signs(MINE[1:])  # help, and the way back
Page = Observations | Blocks | Ratings | DocumentsPage
Goal = tuple[str, str]  # the session and the turn to go to


class MemoriesScreen(Screen[Goal | None]):
    """Everything that was learned. It closes with where to go, if a source was chosen."""

    AUTO_FOCUS = ""
    BINDINGS: ClassVar[list[BindingType]] = bindings(MEMORIES, (UNDO,))

    def __init__(
        self,
        view: ChatView,
        ingest: Ingestion,
        *,
        page: str = "observations",
        choose: str | None = None,
        wanted: "Wanted | None" = None,
        proposed: str = "",
        world: str = MAIN,
        project: str | None = None,
    ) -> None:
        super().__init__()
        assert view.backstage is not None
        self._chat_view = view
        self._ingest = ingest
        self.service: Face = view.backstage.service
        self.failures = view.failures
        self.view = View(self.service, world, project)
        self.doing = SessionChanges(self.service, self.view)
        self.page_name = page
        self._choose = choose
        self._wanted = wanted
        self.proposed = proposed
        self.busy = False  # something is being done, or asks the person
        self.left_at: str | None = None  # the memory that led away
        self._waiting = 0  # candidates to review
        self._where = ""  # the world and the time that are shown, where they are not the usual ones

    @property
    def state(self) -> "State":
        return self._chat_view.state

    def compose(self) -> ComposeResult:
        yield Static("", id="memories-tabs", markup=False)
        yield Static("", id="memories-where", markup=False)
        with Vertical(id="memories-pages"):
            yield Observations(self, wanted=self._wanted)
            yield Observations(self, review=True)
            yield Blocks(self)
            yield Ratings(self)
            yield DocumentsPage(self)
        yield StatusMessage(id="memories-said")
        yield Foot((), always=ALWAYS, id="memories-keys")

    async def on_mount(self) -> None:
        await self._show_where()
        await self.show_page(self.page_name, choose=self._choose)

    # Pages

    @property
    def page(self) -> Page:
        """The page on the screen."""
        found = self.query_one(f"#{self.page_name}")
        assert isinstance(found, Page)
        return found

    async def show_page(self, name: str, *, choose: str | None = None) -> None:
        """Turn to a page, with that item chosen."""
        self.page_name = name
        for each in PAGES:
            self.query_one(f"#{each}").display = each == name
        self.page.rows.focus()
        self._paint()
        await self.refresh_page(choose=choose)

    async def refresh_page(self, *, choose: str | None = None) -> None:
        """Read the page again, and what the tabs count; the chosen row stays chosen."""
        page = self.page
        try:
            await page.refresh_page(choose=choose)
            self._waiting = len(await self.view.review())
        except self.failures as error:
            if not trouble_of(self.state):
                self.say(str(error), error=True)
        if is_there(self):
            self._paint()

    def refresh_soon(self) -> None:
        """Something changed beside this screen."""
        self.run_worker(self.refresh_page(), group="refresh")

    def _paint(self) -> None:
        self.query_one("#memories-tabs", Static).update(self._tabs(max(1, self.size.width - 4)))
        view = self.query_one("#memories-where", Static)
        view.update(plain(self._where, "$warning"))
        view.display = bool(self._where)
        lines = 2 if self.app.size.height >= TALL else 1
        self.query_one(Foot).tell((*self.page.signs, *signs(MINE[:1])), lines=lines)

    async def _show_where(self) -> None:
        self._where = await view.heading(self.service, self.view)
        self._paint()

    def counted(self) -> None:
        """The page has another count."""
        self._paint()

    def _tabs(self, width: int) -> Content:
        for gap, names in (("   ", NAMES), ("  ", SHORT_NAMES)):
            whole = Content.assemble(plain("Memory", "bold $primary"), gap, self._joined(gap, names))
            if whole.cell_length <= width:
                return whole
        here = PAGES.index(self.page_name)
        told = ["" if place != here else name for place, name in enumerate(SHORT_NAMES)]
        for place, name in enumerate(SHORT_NAMES):
            more = [*told[:place], name, *told[place + 1 :]]
            if self._joined("  ", more).cell_length <= width:
                told = more
        line = self._joined("  ", told)
        return line if line.cell_length <= width else self._tab(here, SHORT_NAMES[here])

    def _joined(self, gap: str, names: Sequence[str]) -> Content:
        return Content(gap).join(self._tab(place, name) for place, name in enumerate(names))

    def _tab(self, place: int, name: str) -> Content:
        here = PAGES[place] == self.page_name
        count = self.page.count if here else f"{self._waiting}" if PAGES[place] == "review" and self._waiting else ""
        words = " ".join(part for part in (name, count) if part)
        number = plain(f"{place + 1}", "bold $primary" if here else "bold")
        return Content.assemble(number, plain(f" {words}", "bold underline" if here else MUTED)) if words else number

    def on_resize(self) -> None:
        self._paint()

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        self._paint()

    async def action_page(self, number: int) -> None:
        await self.show_page(PAGES[number - 1])

    async def action_turn(self, step: int) -> None:
        await self.show_page(PAGES[(PAGES.index(self.page_name) + step) % len(PAGES)])

    # What the pages ask for

    def say(self, words: str, *, error: bool = False) -> None:
        """Words for the person, at the foot of the screen for a while."""
        self.query_one(StatusMessage).say(words, error=error)

    def unsay(self) -> None:
        """Take back what was said."""
        self.query_one(StatusMessage).unsay()

    def do(self, work: Coroutine[Any, Any, str | None], *, reads: bool = False) -> None:
        """One at a time: what is asked for while another one is done, or asks something, is not done."""
        if self.busy or (self.view.at is not None and not reads):
            work.close()
            if not self.busy:
                self.say(PAST_STAYS)
            return
        self.busy = True
        self.doing.follow = None
        self.run_worker(self._do(work))

    async def _do(self, work: Awaitable[str | None]) -> None:
        try:
            if told := await work:
                self.say(told)
        except self.failures as error:
            self.say(in_chat(str(error)), error=True)
        try:
            if is_there(self):
                await self.refresh_page()
        finally:
            self.busy = False  # only now: a key on a row that is not there any more would be for another one

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """While something is done, no key turns the page under it or leaves."""
        if self.busy and action in ("page", "turn", "undo", "world", "as_of", "help", "leave"):
            return False
        return super().check_action(action, parameters)

    async def keeps(self) -> bool:
        """Whether it may be kept for good; in a private chat the person is asked."""
        return await may_keep(self._chat_view)

    async def ask_line(
        self,
        title: str,
        value: str = "",
        *,
        placeholder: str = "",
        yes: str = "save",
        check: Callable[[str], Awaitable[str | None]] | None = None,
    ) -> str | None:
        return await self.app.push_screen_wait(AskLine(title, value, placeholder=placeholder, yes=yes, check=check))

    async def ask_text(self, title: str, value: str, *, words: str = "") -> str | None:
        return await self.app.push_screen_wait(AskText(title, value, words=words))

    async def agree(self, title: str, plan: "Callable[[], Awaitable[Plan]]", *, yes: str, words: str = "") -> bool:
        return (
            await history_handlers.agreed(self._chat_view, title, ImpactChoice("", plan), yes=yes, words=words)
            is not None
        )

    async def confirm(self, title: str, words: str, *, yes: str) -> bool:
        return await self.app.push_screen_wait(Confirm(title, words, yes=yes))

    def read(self, title: str, words: Content | str) -> None:
        self.app.push_screen(Reader(one_line(title), words))

    def ingest(self, path: str) -> None:
        self._ingest.begin(path)

    def walk_from(self, table: str, identity: str) -> None:
        if not self.busy:
            walk_from(self._chat_view, table, identity)

    def go_to(self, session: str, turn: str) -> None:
        if not self.busy:
            if isinstance(self.page, Observations) and not self.page.review and self.page.chosen is not None:
                self.left_at = self.page.chosen.id
            self.dismiss((session, turn))

    # Keys

    def action_undo(self) -> None:
        self.do(self._undo())

    async def _undo(self) -> str:
        here = self.doing.can_undo
        told = await self.doing.undo()
        if not here:
            await history_handlers.refresh(self._chat_view)  # the chat behind this screen may be what was changed
        return told

    def action_world(self) -> None:
        self.do(self._next_world(), reads=True)

    async def _next_world(self) -> str | None:
        told = await view.next_world(self.service, self.view)
        await self._show_where()
        return told

    def action_as_of(self) -> None:
        self.do(self._ask_day(), reads=True)

    async def _ask_day(self) -> None:
        await self.ask_line(view.DAY, placeholder=view.DAYS, yes="show", check=self._show_day)

    async def _show_day(self, said: str) -> str | None:
        try:
            wrong = await view.show_day(self.view, said)
        except self.failures as error:
            return str(error)
        if wrong is None:
            await self._show_where()
        return wrong

    def action_leave(self) -> None:
        if self._ingest.stop():
            return
        if self.view.at is not None:
            self.do(self._come_back(), reads=True)
        else:
            self.dismiss(None)

    async def _come_back(self) -> None:
        await self.view.come_back()
        await self._show_where()

    async def on_unmount(self) -> None:
        await self.view.come_back()

    def action_help(self) -> None:
        from tui.widgets.pages import keys_content

        self.read("Memory screen keys", keys_content(MEMORY_PLACES, self._chat_view.page_width))
