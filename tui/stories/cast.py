"""Who plays in the story of the chat: presence, a guest who joins or leaves, names, cards, what each of them saw."""

import asyncio
from collections.abc import Awaitable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container, Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from agent.errors import AgentError
from tui import history_handlers
from tui.cards import card_path, pictured, read_card_at
from tui.chat_view import ChatView
from tui.files import ExportFailed, path_of, write
from tui.keymaps import CAST, bindings, signs
from tui.latest import is_there
from tui.scene import YOU, placed
from tui.state import CastMember
from tui.stories.card import CardSuggester, card_content
from tui.stories.seen import show_seen
from tui.text import MUTED, in_chat, one_line, plain
from tui.themes import HERE, THERE, seat_style
from tui.widgets.dialogs import AskLine, Confirm
from tui.widgets.foot import Foot, StatusMessage
from tui.widgets.long_list import LongList
from tui.widgets.pages import Fold, Pages, PageText

if TYPE_CHECKING:
    from agent.stories import Player
    from tui.chat import Chat

RESET = (
    "In every chat of this story {name} forgets all that was seen so far, as if it had not happened. The messages "
    "stay. /undo undoes it."
)


class CastScreen(ModalScreen[None]):
    """The cast by seats, and beside it the card of the one that is chosen."""

    AUTO_FOCUS = "LongList"
    BINDINGS: ClassVar[list[BindingType]] = bindings(CAST)

    def __init__(self, view: ChatView) -> None:
        super().__init__()
        self._view = view
        self._rows = LongList["Player"](_row, lambda player: player.member, height=2, classes="chooser-list")
        self._busy = False  # something is being done, or asks the person

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog page chooser cast"):
            yield Static("Cast", classes="dialog-title", markup=False)
            with Container(classes="chooser-body"):
                yield self._rows
                with Vertical(classes="chooser-preview"):
                    yield Pages(Content(""), classes="chooser-words")
                    yield Fold()
            yield StatusMessage(id="cast-said")
            yield Foot(signs(CAST), classes="dialog-keys")

    def on_mount(self) -> None:
        self._do(None)

    async def _read(self) -> None:
        """The cast as it stands now."""
        chat, session = self._here
        players = await chat.service.stories.cast(session)
        scene = self._view.scene
        title = plain("Cast") + plain(f"  {scene.name}" if scene is not None else "", f"not bold {MUTED}")
        self.query_one(".dialog-title", Static).update(title)
        self._rows.fill(players)
        self._show()

    @property
    def _here(self) -> "tuple[Chat, str]":
        assert self._view.chat is not None
        assert self._view.session is not None
        return self._view.chat, self._view.session

    @on(LongList.Moved)
    def _show(self) -> None:
        player = self._rows.chosen
        if player is not None:
            you = next((one_line(each.name) for each in self._rows.items if each.seat == YOU), YOU)
            self.query_one(Pages).tell(PageText(_about(player, you)))

    @on(Pages.Turned)
    def _turned(self, event: Pages.Turned) -> None:
        self.query_one(Fold).show(event)

    def say(self, words: str, *, error: bool = False) -> None:
        """Words for the person, at the foot for a while."""
        self.query_one(StatusMessage).say(words, error=error)

    # One thing at a time

    def _do(self, work: Awaitable[str | None] | None) -> None:
        """Do this, and read the cast anew; what came of it is said."""
        self.run_worker(self._done(work))

    async def _done(self, work: Awaitable[str | None] | None) -> None:
        self._busy = True
        try:
            told = await work if work is not None else None
            await self._view.show_about()
            if is_there(self):
                await self._read()
                if told:
                    self.say(told)
        except self._view.failures as error:
            self.say(in_chat(str(error)), error=True)
        finally:
            self._busy = False

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """While something is done, or asked, no key does another thing."""
        if self._busy and action not in ("dismiss", "turn"):
            return False
        return super().check_action(action, parameters)

    @property
    def _chosen(self) -> "Player":
        assert self._rows.chosen is not None
        return self._rows.chosen

    @on(LongList.Chosen)
    def action_place(self) -> None:
        """Take them off the scene, or bring them back."""
        if self._rows.chosen is not None:
            self._do(self._place(self._chosen))

    async def _place(self, player: "Player") -> str:
        chat, session = self._here
        await chat.service.stories.place(session, player.member, present=not player.present)
        member = CastMember(player.member, one_line(player.name), player.seat, player.present)
        return placed(member, present=not player.present)

    def action_join(self) -> None:
        self._do(self._join())

    async def _join(self) -> str | None:
        chat, session = self._here
        path = await self.app.push_screen_wait(
            AskLine(
                "Whose card joins as the guest?",
                placeholder="~/cards/jonas.png",
                yes="join",
                check=self._wrong,
                suggester=CardSuggester(),
            )
        )
        if path is None:
            return None
        card = await read_card_at(path)
        await chat.service.stories.join(session, card)
        told = f" {one_line(card.notes[0])}" if card.notes else ""
        return f"{one_line(card.name)} has joined, and knows nothing of what was said before.{told}"

    async def _wrong(self, path: str) -> str | None:
        """What is wrong with a card, in a sentence."""
        try:
            await read_card_at(path)
        except AgentError as error:
            return str(error)
        return None

    def action_leave(self) -> None:
        if self._rows.chosen is not None:
            self._do(self._leave(self._chosen))

    async def _leave(self, player: "Player") -> str:
        chat, session = self._here
        await chat.service.stories.leave(session, player.member)
        return f"{one_line(player.name)} has left the story. u undoes this."

    def action_rename(self) -> None:
        if self._rows.chosen is not None:
            self._do(self._rename(self._chosen))

    async def _rename(self, player: "Player") -> str | None:
        chat, session = self._here
        name = await self.app.push_screen_wait(AskLine("What are they called?", player.name, placeholder="Name"))
        if name is None or name == player.name:
            return None
        await chat.service.stories.rename(session, player.member, name)
        return f"{one_line(player.name)} is called {one_line(name)} from here on."

    def action_reset(self) -> None:
        if self._rows.chosen is not None:
            self._do(self._reset(self._chosen))

    async def _reset(self, player: "Player") -> str | None:
        chat, session = self._here
        name = "You" if player.seat == YOU else one_line(player.name)
        question = Confirm(f"Reset {name}?", RESET.format(name=one_line(player.name)), yes="reset")
        if not await self.app.push_screen_wait(question):
            return None
        await chat.service.stories.reset(session, player.member)
        return f"{one_line(player.name)} has forgotten everything so far. u undoes this."

    def action_seen(self) -> None:
        scene, member = self._view.scene, self._rows.chosen
        if scene is not None and member is not None and (who := scene.member(member.member)) is not None:
            self._view.ui.begin(show_seen(self._view, self._here[0], scene, who))

    def action_undo(self) -> None:
        self._do(self._undo())

    async def _undo(self) -> str:
        change = await self._here[0].service.history.undo(None)
        await history_handlers.refresh(self._view)
        return f"You {one_line(change.what)}; that has been undone."

    def action_export(self) -> None:
        if self._rows.chosen is not None:
            self._do(self._export(self._chosen))

    async def _export(self, player: "Player") -> str | None:
        try:
            return await self._export_card(player)
        except ExportFailed as error:
            raise AgentError(str(error)) from error

    async def _export_card(self, player: "Player") -> str | None:
        """Write the card as JSON, or into a picture where the name is that of one."""
        chat, session = self._here
        name = await self.app.push_screen_wait(
            AskLine(
                f"Write the card of {one_line(player.name)} to which file?",
                f"{one_line(player.name)}.json",
                words="A name that ends with .png puts it into a picture.",
                yes="write",
            )
        )
        if name is None:
            return None
        path = path_of(name, Path.cwd())
        if await asyncio.to_thread(path.exists) and not await self._overwrites(path):
            return None
        data = await chat.service.stories.card(session, player.member)
        if path.suffix.lower() == ".png":
            picture = await self.app.push_screen_wait(
                AskLine("Into which PNG picture?", placeholder="~/pictures/mara.png", yes="write")
            )
            if picture is None:
                return None
            data = await asyncio.to_thread(pictured, data, card_path(picture))
        await asyncio.to_thread(write, path, iter([data]))
        return f"Written to {one_line(str(path))}."

    async def _overwrites(self, path: Path) -> bool:
        question = Confirm(
            f"Overwrite {one_line(path.name)}?", f"{one_line(str(path))} is there already.", yes="overwrite"
        )
        return await self.app.push_screen_wait(question)

    def action_turn(self, pages: int) -> None:
        self.query_one(Pages).turn(pages)


SEATS = {"you": "you play them", "host": "the host", "guest": "the guest"}


def _row(player: "Player", width: int) -> Sequence[Content]:
    mark = plain(HERE if player.present else THERE, seat_style(player.seat) if player.present else MUTED)
    where = "on the scene" if player.present else "away"
    return [
        Content.assemble(mark, " ", plain(one_line(player.name), f"bold {seat_style(player.seat)}")),
        plain(f"  {SEATS[player.seat]} · {where}", MUTED),
    ]


def _about(player: "Player", user: str) -> Content:
    if player.seat == YOU and not player.card.description:
        return plain("You play them. What they are like, you say in the story.", MUTED)
    return card_content(player.card, user=user)
