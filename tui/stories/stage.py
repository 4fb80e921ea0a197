"""The stage of a story (Ctrl+T): cast, ties, what they know, plan and world; a drawer beside the chat where it fits."""

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from tui import history_handlers
from tui.chat_view import ChatView
from tui.keymaps import STAGE, STAGE_PAGES, STORY_PLACES, bindings, signs
from tui.latest import is_there
from tui.navigation import go_to
from tui.scene import bar_content, placed
from tui.stories.cast import CastScreen
from tui.stories.keep import KeepScreen
from tui.stories.rows import (
    LABELS,
    NAMES,
    OF_PLOT,
    PAGES,
    PLACE,
    Page,
    Row,
    cast_rows,
    know_rows,
    number,
    plan_rows,
    tie_rows,
    world_rows,
)
from tui.stories.seen import show_seen
from tui.stories.skip import skip_time
from tui.text import MUTED, cut, in_chat, one_line, plain, when
from tui.widgets.dialogs import AskLine, Pick, Reader
from tui.widgets.foot import Foot, StatusMessage
from tui.widgets.long_list import LongList

if TYPE_CHECKING:
    from agent.stories import Stories
    from agent.story.knowledge import Knowledge
    from agent.story.overview import Change, Overview, Seated
    from agent.story.plots import Plot
    from tui.state import CastMember, Scene

LOWEST, HIGHEST = -100, 100
NOTHING_HERE = {
    "plan": "Nothing is planned. n plans an event, t opens a thread.",
    "knows": "Nobody here.",
}
TRIGGERS = "clock: …, place: …, scene: …, present: NAME, after: PLOT, holding NAME: THING; other words wait for you"
HINTS = {"trigger": TRIGGERS, "needs": "as triggers are, parted by semicolons", "known": "names, parted by commas"}


class StageScreen(ModalScreen[None]):
    """The rows of a page, below them the whole of the chosen one. Everything that is set is one change."""

    AUTO_FOCUS = "LongList"
    BINDINGS: ClassVar[list[BindingType]] = bindings(STAGE, *STAGE_PAGES)

    def __init__(self, view: ChatView, *, page: Page = "cast", member: str | None = None, words: str = "") -> None:
        """`member` is whose knowledge is shown first, of these `words` if there are any."""
        super().__init__()
        self._view = view
        self._page = page
        self._rows = LongList[Row](self._paint, lambda row: row.id, height=1, classes="stage-list")
        self._member = member
        self._words = words
        self._stage: Overview | None = None
        self._draft: tuple[Row, int] | None = None  # a number that is being changed
        self._busy = False  # something is being done, or asks the person

    def compose(self) -> ComposeResult:
        with Vertical(classes="stage"):
            yield Static("", id="stage-bar", markup=False)
            yield Static("", id="stage-tabs", markup=False)
            yield self._rows
            yield Static("", id="stage-about", markup=False)
            yield StatusMessage(id="stage-said")
            yield Foot((), id="stage-keys")

    def on_mount(self) -> None:
        self._view.screen.add_class("-staged")
        self._do(None)

    def on_unmount(self) -> None:
        self._view.screen.remove_class("-staged")

    # What is shown

    @property
    def _stories(self) -> "Stories":
        assert self._view.chat is not None
        return self._view.chat.service.stories

    @property
    def _session(self) -> str:
        assert self._view.session is not None
        return self._view.session

    async def _read(self) -> None:
        """The page as things stand now."""
        self._stage = stage = await self._stories.overview(self._session)
        rows: Sequence[Row]
        match self._page:
            case "cast":
                rows = list(cast_rows(stage))
            case "ties":
                rows = list(tie_rows(stage))
            case "knows":
                rows = list(know_rows(stage, self._whose(stage), await self._known(stage)))
            case "plan":
                rows = list(plan_rows(stage, await self._stories.due(self._session)))
            case "world":
                rows = list(world_rows(stage, await self._stories.decay(self._session)))
        if is_there(self):
            self._rows.fill(rows)
            self._tell()
            self._show()

    def _whose(self, stage: "Overview") -> "Seated":
        """Whose knowledge is shown: the host's, unless another one is chosen."""
        found = next((each for each in stage.cast if each.member == self._member), None)
        return found or next((each for each in stage.cast if each.seat == "host"), stage.cast[0])

    async def _known(self, stage: "Overview") -> "Knowledge | None":
        if not self._words:
            return None
        return await self._stories.knows(self._session, self._whose(stage).member, self._words)

    def _tell(self) -> None:
        """The story's bar, the pages, and the keys of this one."""
        width = max(1, self.query_one(Vertical).content_size.width)
        scene = self._view.scene
        if scene is not None:
            self.query_one("#stage-bar", Static).update(bar_content(scene, width, named=True))
        tabs = []
        for place, name in enumerate(NAMES):
            here = PAGES[place] == self._page
            style = "bold underline" if here else MUTED
            tabs.append(plain(f"{place + 1} ", "bold $primary" if here else "bold") + plain(name, style))
        if self._page == "knows" and self._stage is not None:
            tabs.append(plain(one_line(self._whose(self._stage).name), "$secondary"))
        self.query_one("#stage-tabs", Static).update(Content("  ").join(tabs))
        own = STAGE_PAGES[PAGES.index(self._page)]
        self.query_one(Foot).tell(signs((*own, *STAGE)), lines=0 if self.app.size.height >= 24 else 1)

    def on_resize(self) -> None:
        self._tell()

    def _paint(self, row: Row, width: int) -> Sequence[Content]:
        if self._draft is not None and self._draft[0].id == row.id:
            return [number(row.aspect, self._draft[1], drafted=True)]
        return [row.words]

    @on(LongList.Moved)
    def _show(self) -> None:
        row = self._rows.chosen
        if self._draft is not None and (row is None or row.id != self._draft[0].id):
            self._settle()
        about = row.about if row is not None else NOTHING_HERE.get(self._page, "Nothing here yet.")
        self.query_one("#stage-about", Static).update(plain(about, MUTED))

    # Pages

    async def action_page(self, number: int) -> None:
        self._settle()
        self._page = PAGES[number - 1]
        self._rows.choose(0)
        self._do(None)

    async def action_turn(self, step: int) -> None:
        await self.action_page((PAGES.index(self._page) + step) % len(PAGES) + 1)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """While something is done, or asked, no key does another thing; each page has its own keys."""
        if self._busy and action in ("edit", "undo", "ask", "step", "changes", "page", "turn", "leave"):
            return False
        if action == "step":
            return self._page == "ties"
        if action == "ask":
            own = STAGE_PAGES[PAGES.index(self._page)]
            return any(bound.action == f"ask('{parameters[0]}')" for row in own for bound in row.binds)
        return super().check_action(action, parameters)

    def action_leave(self) -> None:
        if self._draft is not None:
            self._draft = None
            self._rows.redraw()
        else:
            self.dismiss(None)

    def action_help(self) -> None:
        from tui.widgets.pages import keys_content

        self.app.push_screen(Reader("Story keys", keys_content(STORY_PLACES, self._view.page_width)))

    # One thing at a time

    def say(self, words: str, *, error: bool = False) -> None:
        """Words for the person, at the foot for a while."""
        self.query_one(StatusMessage).say(words, error=error)

    def _do(self, work: Awaitable[str | None] | None) -> None:
        """Do this, and read the page anew; what came of it is said."""
        self._busy = True
        self.run_worker(self._done(work))

    async def _done(self, work: Awaitable[str | None] | None) -> None:
        try:
            told = await work if work is not None else None
            await self._view.show_about()
            if is_there(self):
                await self._read()
                if told:
                    self.say(told)
        except self._view.failures as error:
            if is_there(self):
                self.say(in_chat(str(error)), error=True)
        finally:
            self._busy = False

    async def _line(self, title: str, value: str = "", *, words: str = "", yes: str = "save") -> str | None:
        """One line of the person's; empty: nothing; None where they left."""
        return await self.app.push_screen_wait(AskLine(title, value, words=words, yes=yes, live=True))

    # Lines

    @on(LongList.Chosen)
    def action_edit(self) -> None:
        """Write the chosen line anew, or go to the message of the row."""
        row = self._rows.chosen
        if row is None:
            return
        if self._draft is not None:
            self._settle()
        elif row.turn:
            self.dismiss(None)
            self._view.ui.begin(go_to(self._view, self._session, row.turn))
        elif row.is_line:
            self._do(self._edit(row))

    async def _edit(self, row: Row) -> str | None:
        name = LABELS.get(row.aspect, row.aspect.split(":")[0])
        said = await self._line(f"{name[:1].upper()}{name[1:]}", row.text, words=HINTS.get(row.aspect, ""))
        if said is None or said == row.text:
            return None
        await self._stories.put(self._session, row.owner, row.aspect, said)
        return "Set. u undoes it." if said else "Taken away. u undoes it."

    def action_step(self, by: int) -> None:
        """Change a number by some; it is set when the mark leaves it."""
        row = self._rows.chosen
        if row is not None and row.is_number:
            value = self._draft[1] if self._draft is not None else int(row.text)
            self._draft = row, max(LOWEST, min(HIGHEST, value + by))
            self._rows.redraw()
            self.query_one("#stage-about", Static).update(plain("Enter sets it, Esc leaves it as it was.", MUTED))

    def _settle(self) -> None:
        """Set the number that was being changed."""
        if self._draft is not None:
            (row, value), self._draft = self._draft, None
            if f"{value}" != row.text:
                self._do(self._set(row, value))

    async def _set(self, row: Row, value: int) -> str:
        await self._stories.put(self._session, row.owner, row.aspect, f"{value}")
        return f"{row.aspect} is {value}. u undoes it."

    def action_changes(self) -> None:
        row = self._rows.chosen
        if row is not None and row.is_line:
            self._do(self._changes(row))

    async def _changes(self, row: Row) -> str | None:
        found = await self._stories.changes(self._session, row.owner, row.aspect)
        if not found:
            return "Nothing changed it yet."
        self.app.push_screen(Reader(cut(f"Changes of {row.aspect.split(':')[0]}", 60), _told(found)))
        return None

    def action_undo(self) -> None:
        self._draft = None
        self._do(self._undo())

    async def _undo(self) -> str:
        assert self._view.chat is not None
        change = await self._view.chat.service.history.undo(None)
        await history_handlers.refresh(self._view)
        return f"You {one_line(change.what)}; that has been undone."

    # What the pages do

    def action_ask(self, key: str) -> None:
        row = self._rows.chosen
        does: dict[tuple[Page, str], Callable[[], Awaitable[str | None]]] = {
            ("knows", "m"): self._next_member,
            ("knows", "slash"): self._of_words,
            ("knows", "n"): self._learned,
            ("plan", "n"): lambda: self._plan("event"),
            ("plan", "t"): lambda: self._plan("thread"),
            ("world", "s"): self._scene,
            ("world", "z"): self._close,
            ("world", "k"): lambda: skip_time(self._view, ""),
            ("world", "n"): self._place,
            ("world", "r"): self._restate,
        }
        if (self._page, key) in does:
            self._do(does[self._page, key]())
        elif row is None:
            return
        elif self._page == "cast" and key == "space" and row.member:
            self._do(self._move(row.member))
        elif key == "c" and self._page == "cast":
            self._do(self._cards())
        elif key == "v":
            self._seen(row.member)
        elif row.plot is not None:
            moves = {"s": "active", "x": "cancelled"}
            if key == "f":
                self._do(self._field(row.plot))
            else:
                self._do(self._complete(row.plot) if key == "c" else self._become(row.plot, moves[key]))

    async def _restate(self) -> str:
        await self._stories.restate(self._session)
        return "With the next message, each voice is told anew what everybody does. u undoes it."

    async def _move(self, member: str) -> str | None:
        who = self._member_of(member)
        if who is None:
            return None
        await self._stories.place(self._session, member, present=not who.present)
        return placed(who, present=not who.present)

    def _member_of(self, member: str | None) -> "CastMember | None":
        scene: Scene | None = self._view.scene
        return scene.member(member) if scene is not None else None

    async def _cards(self) -> None:
        await self.app.push_screen_wait(CastScreen(self._view))

    def _seen(self, member: str) -> None:
        meant = member or (self._whose(self._stage).member if self._stage is not None else "")
        who, chat = self._member_of(meant), self._view.chat
        if who is not None and chat is not None and self._view.scene is not None:
            self._view.ui.begin(show_seen(self._view, chat, self._view.scene, who))

    async def _next_member(self) -> None:
        if self._stage is not None:
            cast = [each.member for each in self._stage.cast]
            self._member = cast[(cast.index(self._whose(self._stage).member) + 1) % len(cast)]

    async def _of_words(self) -> None:
        said = await self._line("What do they know of", self._words, yes="look")
        if said is not None:
            self._words = said

    async def _learned(self) -> str | None:
        if self._stage is None:
            return None
        who = self._whose(self._stage)
        said = await self._line(f"What did {one_line(who.name)} learn?")
        if not said:
            return None
        await self._stories.learn(self._session, who.member, said)
        return f"{one_line(who.name)} knows it from here on. u undoes it."

    async def _plan(self, sort: str) -> str | None:
        title = await self._line("What is to happen?" if sort == "event" else "What is open?", yes="note")
        if not title:
            return None
        await self._stories.note_plot(self._session, title, sort="thread" if sort == "thread" else "event")
        return "Planned. s starts it, f writes more of it." if sort == "event" else "It is open until c closes it."

    async def _field(self, plot: "Plot") -> str | None:
        names = {LABELS.get(each, each): each for each in OF_PLOT}
        chosen = await self.app.push_screen_wait(Pick(cut(one_line(plot.title), 40), tuple(names), "trigger"))
        if chosen is None:
            return None
        aspect = names[chosen]
        said = await self._line(f"{chosen[:1].upper()}{chosen[1:]}", words=HINTS.get(aspect, ""))
        if said is None:
            return None
        await self._stories.put(self._session, f"plot:{plot.id}", aspect, said)
        return "Set. u undoes it."

    async def _become(self, plot: "Plot", state: str) -> str:
        await self._stories.move_plot(self._session, plot.id, state)
        return f"“{cut(one_line(plot.title), 40)}” is {state}. u undoes it."

    async def _complete(self, plot: "Plot") -> str | None:
        keep = await self.app.push_screen_wait(KeepScreen(plot, self._stage.cast if self._stage is not None else ()))
        if keep is None:
            return None
        await self._stories.move_plot(self._session, plot.id, "completed", keep=keep)
        return f"“{cut(one_line(plot.title), 40)}” is completed. u undoes it."

    async def _scene(self) -> str | None:
        title = await self._line("What is the scene called?", yes="begin")
        if not title:
            return None
        await self._stories.open_scene(self._session, title)
        return f"“{cut(title, 40)}” begins here."

    async def _close(self) -> str:
        scene = await self._stories.close_scene(self._session)
        return f"“{cut(one_line(scene.title), 40)}” is over; each who was there remembers it as they saw it."

    async def _place(self) -> str | None:
        name = await self._line("Which place?", yes="next")
        if not name:
            return None
        heard = await self._line(f"From where is {cut(name, 30)} heard?", words="Names of places, parted by commas.")
        if heard is None:
            return None
        await self._stories.put(self._session, f"{PLACE}{name}", "audible", heard or "–")
        return f"{cut(name, 40)} is there. Who is in it, the cast says (1)."


def _told(changes: "Sequence[Change]") -> Content:
    """What a line was, the newest first, and what was said there."""
    from datetime import datetime

    from tui.stories.rows import BY

    now = datetime.now().astimezone()
    parts = []
    for change in reversed(changes):
        line = change.line
        where = f"at “{one_line(change.said)}” ({one_line(change.speaker)})" if change.said else "at the beginning"
        parts.append(
            plain(one_line(line.text or "taken away"), "bold")
            + plain(f"  {BY[line.by]}, {when(line.at, now)}", MUTED)
            + plain(f"\n   {where}", MUTED)
        )
    return Content("\n\n").join(parts)
