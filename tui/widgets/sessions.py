"""The list of chats: search over the titles, and what can be done with one."""

from datetime import datetime
from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from tui.keymaps import CHATS, bindings, signs
from tui.text import MUTED, one_line, plain, when
from tui.widgets.foot import Foot
from tui.widgets.long_list import Rows, type_into
from tui.worlds import MAIN

if TYPE_CHECKING:
    from graph.values import Session

UNTITLED, PRIVATE = "New chat", "Private chat"
STORY = "✎"
NO_MATCH = "No titles match.\nPress Ctrl+F to search all messages."


class SessionList(Vertical):
    """A panel beside the chat (over it where the terminal is narrow). The search keeps the focus, arrows choose."""

    BINDINGS: ClassVar[list[BindingType]] = bindings(CHATS)

    class Asked(Message):
        """`what` is to be done, with `session` where that is about one."""

        def __init__(self, what: str, session: "Session | None") -> None:
            super().__init__()
            self.what = what
            self.session = session

    def __init__(self) -> None:
        super().__init__(id="sessions")
        self.archived = False
        self._sessions: list[Session] = []
        self._shown: list[Session] = []
        self._current: str | None = None
        self._private: frozenset[str] = frozenset()

    def compose(self) -> ComposeResult:
        yield Static("Chats", id="sessions-title", markup=False)
        yield Input(placeholder="Search titles", id="sessions-search", compact=True)
        yield Rows(id="sessions-rows", markup=False, compact=True)
        yield Foot(signs(CHATS), id="sessions-keys")

    def fill(self, sessions: "list[Session]", current: str | None, *, private: frozenset[str] = frozenset()) -> None:
        """Show these sessions, in their order; the cursor stays on its chat. Of a `private` one no word is shown."""
        self._sessions = sessions
        self._private = private
        self._current = current
        self._refill()

    def _refill(self, *, keep: bool = True) -> None:
        rows = self.query_one("#sessions-rows", OptionList)
        chosen = self.chosen.id if keep and self.chosen is not None else self._current
        wanted = self.query_one(Input).value.casefold().split()
        self._shown = [s for s in self._sessions if all(word in self._title(s).casefold() for word in wanted)]
        now = datetime.now().astimezone()
        rows.clear_options()
        rows.add_options([Option(self._row(session, now)) for session in self._shown])
        if wanted and not self._shown:
            rows.add_option(Option(plain(NO_MATCH, MUTED), disabled=True))
        if self._shown:
            places = [place for place, session in enumerate(self._shown) if session.id == chosen]
            rows.highlighted = places[0] if places else 0
        kind = "Archived chats" if self.archived else "Chats"
        found = f"{len(self._shown)} of {len(self._sessions)}" if wanted else str(len(self._sessions))
        title = Content.assemble((kind, "bold $primary"), (f"  {found}", MUTED))
        self.query_one("#sessions-title", Static).update(title)

    @property
    def chosen(self) -> "Session | None":
        place = self.query_one("#sessions-rows", OptionList).highlighted
        return self._shown[place] if place is not None and place < len(self._shown) else None

    def forget_search(self) -> None:
        """What was searched for is gone."""
        self.query_one(Input).value = ""

    @property
    def words(self) -> str:
        """What is looked for while the keys go to the list."""
        return self.query_one(Input).value if self.has_focus_within else ""

    def focus_search(self) -> None:
        self.query_one(Input).focus()

    def on_key(self, event: events.Key) -> None:
        type_into(self.query_one(Input), event)

    def on_input_changed(self) -> None:
        self._refill()

    def on_input_submitted(self) -> None:
        self.action_ask("open")

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.action_ask("open")

    def action_choose(self, step: int) -> None:
        rows = self.query_one("#sessions-rows", OptionList)
        if self._shown:
            rows.highlighted = max(0, min(len(self._shown) - 1, (rows.highlighted or 0) + step))

    def action_ask(self, what: str) -> None:
        self.post_message(self.Asked(what, self.chosen))

    def _title(self, session: "Session") -> str:
        return PRIVATE if session.id in self._private else one_line(session.name or "") or UNTITLED

    def _row(self, session: "Session", now: datetime) -> Content:
        if session.id == self._current:
            style = "bold $primary"
        elif session.id in self._private:
            style = "$warning"
        else:
            style = "$foreground" if session.name else "italic $text-muted"
        title = plain(self._title(session), style).truncate(200, ellipsis=True)
        kind = f"{STORY} story · " if session.story is not None else ""
        kind += "" if session.world in (MAIN, session.story) else "what-if · "
        turns = f"{session.turns} message" + ("" if session.turns == 1 else "s")
        return Content.assemble(title, "\n", plain(f"{kind}{when(session.last_at, now)} · {turns}", MUTED))
