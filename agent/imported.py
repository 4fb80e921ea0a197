"""What an import finds in the log already: turns by their source keys, and whether a chat is one of those there.

Invariant: a text that is gone, erased here or hidden, counts as any text: what may be it is never said again.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from graph.memory import Memory

from .errors import EmptyMessage
from .importing.chats import ImportedChat, ImportedMessage, message_source, unmarked
from .text import clean_message

CLIENT = "import"


@dataclass(frozen=True, slots=True)
class Likeness:
    """How a chat and one in the log agree: messages of the `same` text, `other` texts, texts `gone`, and not there."""

    same: int
    other: int
    gone: int
    contained: bool  # one of both holds the other

    def fits(self, identified: bool) -> bool:
        """Whether they are one chat. An id tells so as long as not most of what both hold has other words."""
        return self.same >= self.other if identified else self.other == 0 and self.contained


class Imported:
    """The log as an import sees it, with what waits to be written; `unsaid` are the ids of that by source key."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self.unsaid: dict[str, str] = {}
        self._texts: dict[str, str | None] = {}  # by turn: of what waits, and of what was compared with

    def say(self, source: str, turn: str, text: str) -> None:
        """Know a turn that waits to be written."""
        self.unsaid[source], self._texts[turn] = turn, text

    def likeness(self, parts: Iterable[ImportedChat], variant: int, session: str | None) -> Likeness:
        """How a chat and what was imported under this variant, in a session if that still is, agree."""
        same = other = gone = missing = 0
        matched: set[str] = set()
        for part in parts:
            self.forget_texts()
            known = self.turns(part, variant)
            for message in part.messages:
                if (text := clean(message.text)) is None:
                    continue
                _, turn, displaced = self.same_text(part, message, variant, text, known)
                if turn is not None:
                    matched.add(turn)
                    gone, same = (gone + 1, same) if self.text(turn) is None else (gone, same + 1)
                elif displaced:
                    other += 1
                else:
                    missing += 1
            if other and not part.identified:
                break
        contained = missing == 0 or session is None or other > 0
        if not contained and session is not None:
            path = self._memory.thread(session)
            contained = all(turn.id in matched or turn.client != CLIENT or turn.text is None for turn in path)
        return Likeness(same, other, gone, contained)

    def same_text(
        self, chat: ImportedChat, message: ImportedMessage, variant: int, text: str, known: dict[str, str]
    ) -> tuple[str, str | None, list[str]]:
        """The key under which this very text is known, or else may be, its turn, and those there with other texts.

        An erased text counts as the same.
        """
        displaced: list[str] = []
        source = message_source(chat, message, variant)
        while (turn := known.get(source)) is not None and self.text(turn) not in (None, text):
            displaced.append(turn)
            source = message_source(chat, message, variant, same=len(displaced) + 1)
            known = self.known([source])
        return source, turn, displaced

    def beside(self, chat: ImportedChat, variant: int) -> dict[str, str]:
        """By message: the turn that has its place in a variant before this one; one that is gone, if there is one."""
        found: dict[str, str] = {}
        for earlier in range(1, variant):
            known = self.turns(chat, earlier)
            for message in chat.messages:
                text = clean(message.text)
                if text is None:
                    continue
                _, turn, displaced = self.same_text(chat, message, earlier, text, known)
                if turn is not None and self.text(turn) is None:
                    found[message.key] = turn
                elif displaced:
                    found.setdefault(message.key, displaced[0])
        return found

    def turns(self, chat: ImportedChat, variant: int) -> dict[str, str]:
        """The turns of a chat's messages by their keys, their texts at hand."""
        known = self.known([message_source(chat, message, variant) for message in chat.messages])
        self.remember(known.values())
        return known

    def text(self, turn: str) -> str | None:
        """What a turn says; None if that is erased, and so not to be compared with."""
        if turn not in self._texts:
            self.remember([turn])
        return self._texts[turn]

    def remember(self, turns: Iterable[str]) -> None:
        """Have the texts of turns at hand."""
        missing = [turn for turn in turns if turn not in self._texts]
        kept = self._memory.quotable(missing)
        for turn in missing:
            text = kept[turn].text if turn in kept else None
            self._texts[turn] = unmarked(text).strip() if text is not None else None

    def forget_texts(self) -> None:
        """Keep the texts at hand of what waits only."""
        self._texts = {turn: self._texts[turn] for turn in self.unsaid.values() if turn in self._texts}

    def known(self, sources: list[str]) -> dict[str, str]:
        """The turn or session that has each key, where there is one."""
        unsaid = {source: self.unsaid[source] for source in sources if source in self.unsaid}
        return self._memory.imported(sources) | unsaid


def clean(text: str) -> str | None:
    """A text as the log keeps it, None if nothing is left of it."""
    try:
        return clean_message(unmarked(text))
    except EmptyMessage:
        return None
