"""What a character card says, to be read: on the page of /card, and beside the fields of a new story."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual.binding import BindingType
from textual.content import Content
from textual.suggester import Suggester

from tui.attachments import file_names
from tui.cards import ENDINGS, USER, about, sections
from tui.keymaps import CARD, READER, KeyRow, bindings
from tui.text import MUTED, counted, one_line, plain
from tui.widgets.dialogs import Reader

if TYPE_CHECKING:
    from agent.story.cards import Card

LONGEST = 4_000  # characters of one text of a card


class CardSuggester(Suggester):
    """The rest of the path of a card that is being typed."""

    def __init__(self) -> None:
        super().__init__(use_cache=False, case_sensitive=True)

    async def get_suggestion(self, value: str) -> str | None:
        if not value:
            return None
        found = await asyncio.to_thread(file_names, value, Path.cwd())
        offered = (each.typed for each in found if each.folder or each.typed.lower().endswith(ENDINGS))
        return next((each for each in offered if each.startswith(value)), None)


def note_lines(card: "Card") -> Iterator[Content]:
    """What was put right in the card, or left out of it."""
    for note in card.notes:
        yield plain(f"! {one_line(note)}", "$warning")


def card_content(card: "Card", *, user: str = USER) -> Content:
    """All that a card says, what was put right first; its name is filled in, and that of the `user`."""
    lines = [plain(about(card), MUTED)] if about(card) else []
    lines += note_lines(card)
    for title, text in sections(card, user=user):
        rest = f"\n… {len(text) - LONGEST:,} more characters" if len(text) > LONGEST else ""
        words = plain(text[:LONGEST]) + plain(rest, MUTED)
        lines += [*([Content("")] if lines else []), plain(title, "bold $secondary"), words]
    if card.book is not None:
        lines += [Content(""), plain(f"Lorebook: {counted(len(card.book.entries), 'entry', 'entries')}", MUTED)]
    return Content("\n").join(lines)


class CardPage(Reader):
    """A card to read; `seat` is the one that it is to have, if any: host of a new story."""

    BINDINGS: ClassVar[list[BindingType]] = bindings(CARD[:1])
    KEYS: ClassVar[tuple[KeyRow, ...]] = (*CARD[:1], *READER)

    def __init__(self, card: "Card") -> None:
        super().__init__(f"The card of {one_line(card.name)}", card_content(card))
        self.seat: str | None = None

    def action_take(self, seat: str) -> None:
        self.seat = seat
        self.dismiss(None)


class JoiningCardPage(CardPage):
    """The same where the story of the chat has room for a guest."""

    BINDINGS: ClassVar[list[BindingType]] = bindings(CARD[1:])
    KEYS: ClassVar[tuple[KeyRow, ...]] = (*CARD, *READER)
