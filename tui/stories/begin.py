"""A new story: its name, who plays in it, and where it starts; beside the fields, what the cards say."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container, Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widget import Widget
from textual.widgets import Input, Static, TextArea

from tui.cards import card_of, is_path
from tui.chat_view import ChatView
from tui.keymaps import GREETINGS, KICKOFF, STORY_PAGE, bindings, signs
from tui.latest import Latest, is_there
from tui.scene import YOU
from tui.state import StoryDraft
from tui.stories.card import CardSuggester, note_lines
from tui.stories.kickoff import MET, Beginning, Setting, Settings, put_on_stage, read_settings
from tui.text import MUTED, clean, cut, in_chat, one_line, plain, shown
from tui.themes import seat_style
from tui.widgets.dialogs import LinesInput
from tui.widgets.foot import Foot, StatusMessage
from tui.widgets.long_list import LongList
from tui.widgets.message import acted
from tui.widgets.pages import Fold, Pages, PageText

if TYPE_CHECKING:
    from agent.face import Face
    from agent.story.cards import Card

HOST, GUEST = "host", "guest"
NO_HOST = "A story needs a host: the file of a character card, or a name. Nothing was begun."
PICK_HOST = "The host and the guest are the file of a character card (JSON, PNG or CHARX), or just a name."
LONGEST = 600  # characters shown of a description


@dataclass(frozen=True, slots=True)
class Found:
    """The card that a field means, or what is wrong with it; neither where the field is empty."""

    card: "Card | None" = None
    wrong: str = ""


class Greetings(Static, can_focus=True):
    """With which of the host's greetings the story begins."""

    BINDINGS: ClassVar[list[BindingType]] = bindings(GREETINGS)

    def __init__(self, place: int) -> None:
        super().__init__("", classes="story-greeting", markup=False)
        self.place = place
        self._texts: tuple[str, ...] = ()

    def offer(self, texts: tuple[str, ...]) -> None:
        """These are to choose from; with fewer than two there is nothing to choose."""
        if texts != self._texts:
            self._texts = texts
            self.place = min(self.place, max(0, len(texts) - 1))
        self.display = bool(texts)
        self._paint()

    def action_turn(self, step: int) -> None:
        if self._texts:
            self.place = (self.place + step) % len(self._texts)
            self._paint()

    def watch_has_focus(self, _has_focus: bool) -> None:
        super().watch_has_focus(_has_focus)
        self._paint()

    def _paint(self) -> None:
        if not self._texts:
            return
        several = f" ‹{self.place + 1}/{len(self._texts)}›  ← →" if len(self._texts) > 1 else ""
        style = "bold $primary" if self.has_focus else MUTED
        self.update(Content.assemble(plain(f"It begins with{several}", style), "\n", acted(self._texts[self.place])))


class StoryScreen(ModalScreen[str | None]):
    """Closes with the chat of the story that was begun; None if left, with what was typed kept for the next time."""

    BINDINGS: ClassVar[list[BindingType]] = bindings(STORY_PAGE)

    def __init__(self, view: ChatView, *, name: str = "", host: str = "") -> None:
        super().__init__()
        self._view = view
        kept = view.story_draft or StoryDraft()
        self._draft = replace(kept, name=name or kept.name, host=host or kept.host)
        self._found: dict[str, Found] = {HOST: Found(), GUEST: Found()}
        self._reading = {seat: Latest[str, Found](_find, partial(self._show_card, seat)) for seat in (HOST, GUEST)}
        self._kickoff: Latest[Beginning, list[Setting]] = Latest(read_settings, self._offer)
        self.told = ""  # what went wrong behind the beginning
        self._beginning = False
        self._refused: StoryDraft | None = None  # what could not be begun

    def compose(self) -> ComposeResult:
        draft = self._draft
        with Vertical(classes="dialog page story"):
            yield Static("A new story", classes="dialog-title", markup=False)
            with Container(classes="story-body"):
                with VerticalScroll(classes="story-fields", can_focus=False):
                    yield _field("Name of the story", _line("story-name", draft.name, ""))
                    yield _field("Who you are in it", _line("story-you", draft.you, "You"))
                    yield _field("Host", _card_line("story-host", draft.host))
                    yield _field("What they are like", _lines("story-host-is", draft.host_is))
                    yield _field("Guest (optional)", _card_line("story-guest", draft.guest))
                    yield _field("What they are like", _lines("story-guest-is", draft.guest_is))
                    yield _field("Where it starts", _lines("story-scenario", draft.scenario))
                    with Vertical(classes="story-kickoff"):
                        yield Static("Taken from it", classes="story-label", markup=False)
                        yield Settings()
                    yield Greetings(draft.greeting)
                with Vertical(classes="story-about"):
                    yield Pages(Content(""), classes="chooser-words")
                    yield Fold()
            yield StatusMessage(id="story-said")
            yield Foot(signs(STORY_PAGE), classes="dialog-keys")

    def on_mount(self) -> None:
        for seat in (HOST, GUEST):
            self._show_card(seat, self._text(seat), Found())
            self.run_worker(self._reading[seat].ask(self._text(seat)))
        empty = next((each for each in self.query(Input) if not each.value), None)
        (empty or self.query(Input).first()).focus()

    # What is typed

    def _text(self, field: str) -> str:
        found = self.query_one(f"#story-{field}")
        return clean(found.value if isinstance(found, Input) else found.text if isinstance(found, TextArea) else "")

    def _typed(self) -> StoryDraft:
        return StoryDraft(
            self._text("name").strip(),
            self._text("you").strip(),
            self._text(HOST).strip(),
            self._text("host-is").strip(),
            self._text(GUEST).strip(),
            self._text("guest-is").strip(),
            self._text("scenario").strip(),
            self.query_one(Greetings).place,
        )

    @on(Input.Changed)
    def _changed(self, event: Input.Changed) -> None:
        for seat in (HOST, GUEST):
            if event.input.id == f"story-{seat}":
                self.run_worker(self._reading[seat].ask(event.value))
        self._told_more()

    @on(TextArea.Changed)
    def _told_more(self) -> None:
        if self._typed() != self._refused:  # what was wrong before may be no more
            self.query_one(StatusMessage).unsay()
        self._tell()

    def _show_card(self, seat: str, said: str, found: Found) -> None:
        """What a field means is known now. Of one that is only named it is asked what it is like."""
        if not is_there(self) or said.strip() != self._text(seat).strip():
            return
        self._found[seat] = found
        for part in self.query(f".of-{seat}-is"):
            part.display = bool(said.strip()) and not is_path(said.strip())
        host, guest = self._found[HOST].card, self._found[GUEST].card
        texts = _greetings(host, company=guest is not None) if host is not None else ()
        self.query_one(Greetings).offer(tuple(map(self._filled, texts)))
        self._tell()

    def _tell(self) -> None:
        """Show who is who, and what the cards say; see what the beginning says."""
        self.query_one(Pages).tell(PageText(Content("\n").join(self._about())))
        self.run_worker(self._kickoff.ask(Beginning(self._scenario, tuple(self._names()))))

    def _names(self) -> Iterator[tuple[str, str]]:
        """Who plays, by seats."""
        yield YOU, self._you
        for seat, found in self._found.items():
            if found.card is not None:
                yield seat, one_line(found.card.name)

    def _offer(self, asked: object, settings: list[Setting]) -> None:
        if is_there(self):
            self.query_one(Settings).offer(settings)
            self.query_one(".story-kickoff").display = bool(settings)

    def _about(self) -> Iterator[Content]:
        seats = {seat: self._found[seat] for seat in (HOST, GUEST)}
        for found in seats.values():
            if found.wrong:
                yield from (plain(found.wrong, "$text-error"), Content(""))
        host = seats[HOST].card
        if host is None:
            yield plain(PICK_HOST, MUTED)
            return
        yield plain(self._you, f"bold {seat_style('you')}") + plain("  is played by you", MUTED)
        for seat, found in seats.items():
            if found.card is not None:
                yield from self._about_card(seat, found.card)
        if self._scenario:
            yield from (Content(""), plain("Where it starts", "bold $secondary"), plain(cut(self._scenario, LONGEST)))

    def _about_card(self, seat: str, card: "Card") -> Iterator[Content]:
        yield Content("")
        yield plain(one_line(card.name), f"bold {seat_style(seat)}") + plain(f"  is the {seat}", MUTED)
        yield from note_lines(card)
        told = card.description or card.personality or self._text(f"{seat}-is").strip()
        if told:
            yield plain(cut(self._filled(told, card.name), LONGEST))

    @property
    def _scenario(self) -> str:
        """Where it starts, as it was typed or as the host's card has it."""
        host = self._found[HOST].card
        return self._text("scenario").strip() or (self._filled(host.scenario).strip() if host is not None else "")

    @property
    def _you(self) -> str:
        return one_line(self._text("you").strip() or "You")

    def _filled(self, text: str, char: str = "") -> str:
        """A text of a card with the names in it."""
        from agent.story.cards import filled

        host = self._found[HOST].card
        return filled(text, char=char or (host.name if host is not None else ""), user=self._you)

    # Keys

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        rows = {Greetings: GREETINGS, Settings: KICKOFF}.get(type(event.widget), ())
        self.query_one(Foot).tell(signs((*rows, *STORY_PAGE)))

    @on(Input.Submitted)
    @on(LinesInput.Done)
    @on(LongList.Chosen)
    def _next(self) -> None:
        self.focus_next()

    def action_turn(self, pages: int) -> None:
        self.query_one(Pages).turn(pages)

    @on(Pages.Turned)
    def _turned(self, event: Pages.Turned) -> None:
        self.query_one(Fold).show(event)

    def say(self, words: str, *, error: bool = False) -> None:
        """Words for the person, at the foot for a while."""
        self.query_one(StatusMessage).say(words, error=error)

    def action_leave(self) -> None:
        self._view.story_draft = self._typed()
        self.dismiss(None)

    def action_begin(self) -> None:
        if not self._beginning:
            self._beginning = True
            self.run_worker(self._begin(self._typed(), self.query_one(Settings).ticked))

    async def _begin(self, draft: StoryDraft, settings: Sequence[Setting]) -> None:
        """Begin it; what is wrong is said, and everything stays as it was typed."""
        try:
            strangers = any(each.aspect == MET for each in settings)
            session = await begin(self._view, draft, strangers=strangers)
        except self._view.failures as error:
            self._refused = draft
            self.say(in_chat(str(error)), error=True)
        else:
            self._view.story_draft = None
            await self._set(session, draft.greeting, settings)
            self.dismiss(session)
        finally:
            self._beginning = False

    async def _set(self, session: str, greeting: int, settings: Sequence[Setting]) -> None:
        """Take the greeting, and set what was read of the beginning; the story has begun, whatever comes of that."""
        assert self._view.chat is not None
        try:
            await _greet(self._view.chat.service, session, greeting)
            await put_on_stage(self._view.chat.service, session, settings)
        except self._view.failures as error:
            self.told = in_chat(str(error))


async def begin(view: ChatView, draft: StoryDraft, *, strangers: bool = False) -> str:
    """A story as it was typed, and its chat. Raises AgentError."""
    from agent.errors import AgentError

    assert view.chat is not None
    stories = view.chat.service.stories
    host = await card_of(draft.host, draft.host_is)
    if host is None:
        raise AgentError(NO_HOST)
    guest = await card_of(draft.guest, draft.guest_is)
    return await stories.begin(
        draft.name or host.name,
        host,
        guest=guest,
        you=draft.you or "You",
        scenario=draft.scenario or None,
        strangers=strangers,
    )


async def _greet(service: "Face", session: str, place: int) -> None:
    """Let a chat begin with that of its greetings, which stand beside each other; it stands at the first."""
    for first in (await service.chats.thread(session))[: 1 if place else 0]:
        beside = (await service.branches.alternatives(session, [first.id])).get(first.id)
        if beside is not None and place < len(beside.turns):
            await service.branches.switch(session, beside.turns[place])


async def _find(said: str) -> Found:
    from agent.errors import AgentError

    try:
        return Found(await card_of(said.strip()))
    except AgentError as error:
        return Found(wrong=str(error))


def _greetings(host: "Card", *, company: bool) -> tuple[str, ...]:
    """With what the host can begin, as agent/stories.py has it."""
    return tuple(text for text in (host.group_greetings if company else ()) or host.greetings if text.strip())


def _field(label: str, field: Widget) -> Widget:
    """A field with its label."""
    of = (field.id or "").removeprefix("story-")
    return Horizontal(Static(label, classes="story-label", markup=False), field, classes=f"story-field of-{of}")


def _line(id: str, value: str, placeholder: str) -> Input:
    return Input(shown(value), placeholder=placeholder, compact=True, id=id)


def _card_line(id: str, value: str) -> Input:
    return Input(shown(value), placeholder="a card file, or a name", compact=True, id=id, suggester=CardSuggester())


def _lines(id: str, value: str) -> LinesInput:
    return LinesInput(clean(value), soft_wrap=True, compact=True, show_line_numbers=False, id=id)
