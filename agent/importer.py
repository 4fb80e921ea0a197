"""Writes imported chats into the log: each message once, however often and however far a file is imported.

Invariants:
- A text that is gone, erased here or hidden, counts as any text: what may be it is never said again.
- What is in the log already, also what was deleted or erased since, is known by its source key and never said again.
- Every transaction leaves whole messages behind, each after the one it follows; an import that ended anywhere goes on
  with the next one. A chat's head and title come with its last messages.
- A chat that was gone on with here keeps its head: what its export has gained becomes another branch.
- Nothing is lost silently: what has the place or the id of something imported before but other words is kept beside it.
  A chat without an id is one imported before only if one of both holds the other, word for word.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from agent.errors import EmptyMessage, ExportUnreadable
from agent.importing.chats import ImportedChat, ImportedMessage, chat_source, message_source, name, unmarked
from agent.importing.clew import NAME, ClewExport
from agent.importing.formats import Export, clew_export, open_export
from agent.importing.reading import SAFE
from agent.text import clean_message, verbatim
from graph.errors import LogUnwritable
from graph.events import Event, HeadMoved, SessionArchived, SessionStarted, SessionTitled, TurnSaid, TurnWithheld
from graph.ids import new_id, now_ms
from graph.memory import Memory
from graph.sqlite import NOTHING_STORED
from graph.transfer.merging import Merge, Merged

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
            path = self._memory.readings.thread(session)
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
        kept = self._memory.readings.quotable(missing)
        for turn in missing:
            text = kept[turn].text if turn in kept else None
            self._texts[turn] = unmarked(text).strip() if text is not None else None

    def forget_texts(self) -> None:
        """Keep the texts at hand of what waits only."""
        self._texts = {turn: self._texts[turn] for turn in self.unsaid.values() if turn in self._texts}

    def known(self, sources: list[str]) -> dict[str, str]:
        """The turn or session that has each key, where there is one."""
        unsaid = {source: self.unsaid[source] for source in sources if source in self.unsaid}
        return self._memory.readings.imported(sources) | unsaid


def clean(text: str) -> str | None:
    """A text as the log keeps it, None if nothing is left of it."""
    try:
        return clean_message(unmarked(text))
    except EmptyMessage:
        return None


AT_ONCE = 200  # events in one transaction
MOST_ODD = 20  # things that are named
TITLED_BY = 4  # first turns whose words an export's title may carry
DAY_MS = 86_400_000
DELETED = "in a chat that was deleted here"
LIKE_DELETED = 'in a chat that cannot be told apart from one deleted here (give its "session" in its lines)'
ID_ERASED = "with the id of one deleted or hidden here"
LIKE_ERASED = 'that cannot be told apart from one deleted or hidden here (give its "session" in its line)'


@dataclass(frozen=True, slots=True)
class ImportProgress:
    """How far an import is, in messages; `total` is 0 while the file is still being read through."""

    done: int
    total: int


@dataclass(slots=True)
class ImportReport:
    """What an import did. Times are those of messages: `future` ones were not kept, `naive` ones taken as UTC.

    `gone` are those of the `known` ones that were erased or deleted here; `differing` those of the new ones that have
    the id of a known one but other words.
    """

    file: str
    format: str = ""
    chats_new: int = 0
    chats_grown: int = 0
    chats_known: int = 0
    archived: int = 0  # of the new ones
    new: int = 0
    known: int = 0
    gone: int = 0
    differing: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    odd: list[str] = field(default_factory=list)  # the first things that were not understood, each named
    future: int = 0
    naive: int = 0
    bad: list[tuple[int, str]] = field(default_factory=list)  # the first broken lines: number and why
    bad_count: int = 0
    missing: int = 0  # events that an export of clew's own counts in its header and does not have
    counted: int = 0  # by its headers
    stopped: bool = False
    last_session: str | None = None  # of those that gained something
    merged: Merged | None = None  # of an export of clew's own: what became of its events


def _unread(chat: ImportedChat) -> Iterator[str]:
    """How many letters of a chat were none that can be read, if there are any."""
    unknown = sum((message.text or "").count("\N{REPLACEMENT CHARACTER}") for message in chat.messages)
    if unknown:
        title = name(chat.title) or "a chat without a title"
        yield f"“{title}”: {unknown:,} letters that could not be read stand there as �"


class Stopped(Exception):
    """The import was asked to end."""


@dataclass(slots=True)
class ImportPlace:
    """Where a chat goes: its session, which turn each message is, and where the session's head stood before."""

    session: str
    variant: int
    new: bool
    deleted: bool = False
    head: str | None = None
    follows: bool = True  # the head stood nowhere, or at one of the export's messages
    titled: bool = False
    begun: bool = False  # its first event is on its way
    grown: bool = False
    turns: dict[str, str | None] = field(default_factory=dict)  # by message; an empty message is the one before it
    times: dict[str, int | None] = field(default_factory=dict)
    path: frozenset[str] = frozenset()  # messages on the way to where the export stands
    first: list[tuple[str, str | None]] = field(default_factory=list)  # ids and texts (None: gone) of its first turns


class Importer:
    """One import into a memory; blocking. `stopping` is asked between transactions."""

    def __init__(
        self,
        memory: Memory,
        *,
        progress: Callable[[ImportProgress], None] = lambda step: None,
        stopping: Callable[[], bool] = lambda: False,
        now: Callable[[], int] = now_ms,
    ) -> None:
        self._memory = memory
        self._progress = progress
        self._stopping = stopping
        self._latest = now() + DAY_MS
        self._places: dict[tuple[str, str], ImportPlace] = {}
        self._all: list[ImportPlace] = []
        self._waiting: list[Event] = []
        self._log = Imported(memory)
        self._seen = self._total = 0
        self._stored = 0  # messages that are in the log now
        self._report = ImportReport("")

    def run(self, path: Path) -> ImportReport:
        """Import a file. Raises ExportMissing, ExportUnreadable or a MemoryFailure, which says what was imported."""
        try:
            return self._run(path)
        except (LogUnwritable, ExportUnreadable) as error:
            if not self._stored:
                raise
            why = str(error).removesuffix(NOTHING_STORED).removesuffix(SAFE).strip()
            stored = f"{self._stored:,} {'message was' if self._stored == 1 else 'messages were'} imported before that"
            raise type(error)(f"{why} {stored} and are kept. Run the same command to continue.") from error

    def _run(self, path: Path) -> ImportReport:
        report = self._report = ImportReport(str(path))
        self._progress(ImportProgress(0, 0))
        own = clew_export(path)
        if own is not None:
            return self._merge(own, report)
        export = open_export(path, self._latest)
        self._total = export.total
        report.format, report.bad, report.bad_count = export.format, export.bad, export.bad_count
        try:
            for number, chat in enumerate(export.chats()):
                report.skipped.update(chat.skipped)
                report.odd += [*chat.odd, *_unread(chat)][: MOST_ODD - len(report.odd)]
                if chat.messages:
                    self._add(chat, export, number)
            self._flush()
        except Stopped:
            report.stopped = True
        for place in self._all:
            report.chats_new += place.new and place.grown
            report.chats_grown += place.grown and not place.new
            report.chats_known += not place.new and not place.grown
        return report

    def _merge(self, export: ClewExport, report: ImportReport) -> ImportReport:
        """Import an export of clew's own: its events, each under its own id."""
        report.format, report.bad, report.bad_count = NAME, export.bad, export.bad_count
        report.missing, report.counted = export.missing, export.counted
        merge = Merge(export.whole)
        done = report.merged = merge.done
        self._total = len(export.order)
        for batch in export.batches():
            self._memory.merge(batch, merge)
            self._stored = done.turns
            self._seen += len(batch)
            self._progress(ImportProgress(self._seen, self._total))
            if self._stopping():
                report.stopped = True
                break
        report.new, report.known, report.gone = done.turns, export.turns - done.turns, done.erased
        report.chats_new, report.chats_grown = len(done.begun), len(done.grown)
        report.chats_known = len(done.known_sessions - done.grown)
        report.last_session = done.last_session
        return report

    def _add(self, chat: ImportedChat, export: Export, number: int) -> None:
        """One chat, or a part of one: the one of this number in the export."""
        self._log.forget_texts()
        place = self._places.get((chat.format, chat.id)) if chat.continues else None
        if place is None:
            place = self._places[chat.format, chat.id] = self._find(chat, export, number)
            self._all.append(place)
        self._seen += len(chat.messages)
        if place.deleted:
            self._report.skipped[DELETED if chat.identified else LIKE_DELETED] += len(chat.messages)
            return
        self._report.naive += chat.naive
        known = self._log.turns(chat, place.variant)
        beside = self._log.beside(chat, place.variant)
        near = self._near(chat)
        last: str | None = None
        place.path = _path(chat)
        for message in chat.messages:
            last = self._message(chat, place, message, known, beside.get(message.key), near) or last
        if last is not None or self._shows(place):
            self._waiting += self._titling(chat, place)
        if last is not None:
            self._waiting += self._closing(chat, place, last)
        # The next part, if there is one, goes on at the head; nothing else of this one is asked for again.
        place.turns = {key: turn for key, turn in place.turns.items() if key == chat.head}
        place.times = {key: at for key, at in place.times.items() if key == chat.head}

    def _message(
        self,
        chat: ImportedChat,
        place: ImportPlace,
        message: ImportedMessage,
        known: dict[str, str],
        beside: str | None,
        near: int | None,
    ) -> str | None:
        """The new turn of a message; None for one that is known, or empty."""
        parent = place.turns.get(message.parent) if message.parent is not None else None
        before = place.times.get(message.parent) if message.parent is not None else None
        place.turns[message.key] = parent
        if (text := clean(message.text)) is None:
            self._report.skipped["empty"] += 1
            return None
        source, turn, displaced = self._log.same_text(chat, message, place.variant, text, known)
        place.times[message.key] = at = self._time(message, before if before is not None else near)
        if turn is not None:
            self._report.known += 1
            self._report.gone += self._log.text(turn) is None
            place.turns[message.key] = turn
            place.follows = place.follows or turn == place.head
            self._titled_by(place, message, turn)
            return None
        if beside is not None and self._log.text(beside) is None:
            self._report.skipped[ID_ERASED if chat.identified else LIKE_ERASED] += 1
            return None
        place.follows = place.follows or place.head in displaced
        self._report.differing += bool(displaced) or (chat.identified and beside is not None)
        if len(self._waiting) >= AT_ONCE:
            self._flush()
        if place.new and not place.begun:
            self._begin(chat, place, at)
        turn = place.turns[message.key] = new_id()
        self._waiting.append(
            TurnSaid(
                turn=turn,
                session=place.session,
                parent=parent,
                role=message.role,
                speaker=message.speaker,
                client=CLIENT,
                model=message.model,
                source=source,
                said_at=at,
                text=text,
            )
        )
        if chat.withheld:
            self._waiting.append(TurnWithheld(turn=turn))
        self._log.say(source, turn, text)
        self._report.new += 1
        place.grown = True
        self._titled_by(place, message, turn)
        return turn

    def _titled_by(self, place: ImportPlace, message: ImportedMessage, turn: str) -> None:
        """Have a turn among the first on the chat's path, whose words its title may carry."""
        if not place.titled and len(place.first) < TITLED_BY and message.key in place.path:
            place.first.append((turn, self._log.text(turn)))

    def _begin(self, chat: ImportedChat, place: ImportPlace, at: int | None) -> None:
        source = chat_source(chat, place.variant)
        self._waiting.append(SessionStarted(session=place.session, client=CLIENT, source=source, said_at=at))
        if chat.archived:
            self._waiting.append(SessionArchived(session=place.session))
            self._report.archived += 1
        self._log.unsaid[source] = place.session
        place.begun = True

    def _titling(self, chat: ImportedChat, place: ImportPlace) -> list[Event]:
        """The title of a chat that has none. Where a first turn is gone, the export's title may tell of that one."""
        there = [(turn, text) for turn, text in place.first if text is not None]
        if place.titled or not there:
            return []
        place.titled = True
        if chat.title is None or (chat.titled_by_content and len(there) < len(place.first)):
            (turn, text), *_ = there
            return [SessionTitled(session=place.session, sources=(turn,), text=verbatim(text))]
        sources = tuple(turn for turn, _ in there) if chat.titled_by_content else ()
        return [SessionTitled(session=place.session, sources=sources, text=chat.title)]

    def _shows(self, place: ImportPlace) -> bool:
        """Whether a chat that is here without a title shows its first turns, so that a title from them would show."""
        if place.new or place.titled or not place.first:
            return False
        path = {turn.id for turn in self._memory.readings.thread(place.session) if not (turn.hidden or turn.withheld)}
        return all(turn in path for turn, _ in place.first)

    def _closing(self, chat: ImportedChat, place: ImportPlace, last: str) -> list[Event]:
        """What comes with the last new turn of a chat: its head, if that is another."""
        self._report.last_session = place.session
        head = place.turns.get(chat.head or "") if place.follows else place.head
        return [HeadMoved(session=place.session, turn=head)] if head is not None and head != last else []

    def _find(self, chat: ImportedChat, export: Export, number: int) -> ImportPlace:
        """The session of a chat that was imported before, or the place of a new one.

        Of several it is the one with most of the texts. One whose texts are all gone may be any chat; it is taken where
        no other fits, so that nothing gone is said again.
        """
        variant, most = 1, 0
        found: ImportPlace | None = None
        while (session := self._log.known([source := chat_source(chat, variant)]).get(source)) is not None:
            self._flush()
            about = self._memory.readings.session(session)
            parts = _parts(export, number) if chat.more and not chat.identified else [chat]
            like = self._log.likeness(parts, variant, None if about.deleted else session)
            may_be = like.same or like.gone or chat.identified
            if like.fits(chat.identified) and may_be and (found is None or like.same > most):
                most = like.same
                found = ImportPlace(
                    session,
                    variant,
                    new=False,
                    deleted=about.deleted,
                    head=about.head,
                    follows=about.head is None,
                    titled=self._memory.readings.is_titled(session),
                )
            variant += 1
        return found or ImportPlace(new_id(), variant, new=True)

    def _near(self, chat: ImportedChat) -> int | None:
        """The time for messages before which none is known: when the chat began, or else the nearest one there is."""
        times = [chat.at, *(message.at for message in chat.messages), *chat.times]
        return next((at for at in times if at is not None and at <= self._latest), None)

    def _time(self, message: ImportedMessage, otherwise: int | None) -> int | None:
        """When a message was said; one from the future was not, and one without a time follows what is before it."""
        if message.at is not None and message.at > self._latest:
            self._report.future += 1
            return otherwise
        return message.at if message.at is not None else otherwise

    def _flush(self) -> None:
        """Write what waits, in one transaction. Raises Stopped, after it, if the import was asked to end."""
        if self._waiting:
            self._memory.append(*self._waiting)
            self._stored += sum(isinstance(event, TurnSaid) for event in self._waiting)
            self._waiting.clear()
            self._log.unsaid.clear()
        self._progress(ImportProgress(self._seen, self._total))
        if self._stopping():
            raise Stopped


def _path(chat: ImportedChat) -> frozenset[str]:
    """The messages of a chat from its first to the one at which it stands."""
    before = {message.key: message.parent for message in chat.messages}
    path: set[str] = set()
    key = chat.head
    while key is not None and key in before:
        path.add(key)
        key = before[key]
    return frozenset(path)


def _parts(export: Export, number: int) -> Iterator[ImportedChat]:
    """The chat of this number in an export, and its later parts."""
    chats = islice(export.chats(), number, None)
    first = next(chats)
    yield first
    for chat in chats:
        if (chat.format, chat.id) == (first.format, first.id):
            if not chat.continues:
                return
            yield chat
