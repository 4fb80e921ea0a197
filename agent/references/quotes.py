"""What was read at references, as prompts quote it: whole where it is short, else by the passages a message asks for.

The words are in memory alone. A prompt names them by the reference and the hash of what it said, so that the same words
stand in it once; what says something else now is quoted again, and what it said before stays where it stands, unless
something was taken back there: then that leaves the prompts with the next message.
"""

import asyncio
import threading
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Collection, Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from agent.errors import HostUnknown, Unreadable
from agent.quoting import Quote, quote_passage, quote_source
from agent.references.address import Address, read_address
from agent.references.client import GOES_ON, Busy
from agent.references.hosts import Hosts
from agent.references.passages import Passages, asked_for
from agent.references.reader import Reading, ReferenceReader
from graph.events import Recalled
from graph.events.references import PREFIX, quoted_as, referred
from graph.ids import as_ms
from graph.values import Reference, Vector
from models.protocols import Generator

PATIENCE_S = 3.0  # that a message waits at most for what is slow
MOST_PASSAGES = 2  # beside one message
LEADING = 2  # passages from the beginning of what was just attached, or is named in the message
LETTERS = 8  # of a token; a text with more than that for each is not even tokenised
AT_ONCE = 12  # things that are being read
MOST_KEPT = 400  # references whose words are kept
MOST_TEXT = 16 << 20  # characters of them all
VERSIONS = 8  # of one reference, which may stand in prompts

Vectors = Callable[[Sequence[str]], Awaitable[list[Vector | None]]]
Query = Callable[[str], Awaitable[Vector | None]]


@dataclass(frozen=True, slots=True)
class Brought:
    """What a message is given of its chat's references, and in sentences why of some there is nothing."""

    pack: tuple[Recalled, ...] = ()
    missing: tuple[str, ...] = ()


@dataclass(slots=True)
class _Source:
    """What is known of one reference; `lost` are the hashes of what it said before, and has taken back since."""

    reading: Reading | None = None
    passages: Passages | None = None
    earlier: OrderedDict[str, frozenset[str]] = field(default_factory=OrderedDict)  # lines of threads, by hash
    lost: set[str] = field(default_factory=set)
    why: str = ""  # it could not be read the last time


class ReferenceQuotes:
    """Reads references for messages, and quotes them for prompts. Reading is of one event loop; `quotes` of any."""

    def __init__(self, reader: ReferenceReader, hosts: Hosts, *, vectors: Vectors, query: Query) -> None:
        self.hosts = hosts
        self._reader = reader
        self._vectors = vectors
        self._query = query
        self._sources: OrderedDict[str, _Source] = OrderedDict()
        self._sizes: dict[tuple[str, str], int] = {}  # tokens of whole quotes, by model
        self._lock = threading.Lock()
        self._running: dict[str, asyncio.Task[None]] = {}
        self._late: set[asyncio.Task[None]] = set()  # for which a message waited in vain
        self._embedding: set[asyncio.Task[None]] = set()
        self._one_by_one = asyncio.Lock()
        self._few = asyncio.Semaphore(AT_ONCE)
        self.heard: Callable[[Reference, Reading], Awaitable[None]] | None = None  # what was read

    # -- reading --------------------------------------------------------------------------------------------------

    def begin(self, references: Iterable[Reference]) -> list["asyncio.Task[None]"]:
        """Read what is not known as it is now; what is read goes on though nobody waits for it.

        What a message is to wait for: not again for what one waited for in vain.
        """
        tasks = []
        for each in references:
            if each.id not in self._running:
                if self._is_known(each):
                    continue
                task = asyncio.create_task(self._read(each))
                self._running[each.id] = task
                task.add_done_callback(lambda done, id=each.id: self._ended(id, done))  # type: ignore[misc]
            if self._running[each.id] not in self._late:
                tasks.append(self._running[each.id])
        return tasks

    def _ended(self, reference: str, done: "asyncio.Task[None]") -> None:
        self._running.pop(reference, None)
        self._late.discard(done)

    async def refresh(self, references: Sequence[Reference]) -> None:
        """Read them all, however long it takes within the bounds of the reader."""
        self.begin(references)
        if tasks := [self._running[each.id] for each in references if each.id in self._running]:
            await asyncio.wait(tasks)

    def reading(self, reference: str) -> tuple[Reading | None, str]:
        """What a reference said when it was read last, and why it could not be read since; empty where it could."""
        with self._lock:
            source = self._sources.get(reference, _Source())
            return source.reading, source.why

    def forget(self, references: Iterable[str]) -> None:
        """Keep nothing of what these said."""
        with self._lock:
            for each in references:
                self._sources.pop(each, None)

    def known(self) -> list[str]:
        """The references of which something is kept."""
        with self._lock:
            return list(self._sources)

    def keep_only(self, addresses: Mapping[str, str]) -> None:
        """Keep of what was read what these references said, by their ids, at these addresses."""
        with self._lock:
            for each in self._sources.keys() - addresses.keys():
                del self._sources[each]
        self._reader.keep_only(set(addresses.values()))

    async def close(self) -> None:
        """End what is being read, and keep nothing. Idempotent."""
        running = [*self._running.values(), *self._embedding]
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        with self._lock:
            self._sources.clear()
        await self._reader.close()

    def _is_known(self, reference: Reference) -> bool:
        """Whether it was read so shortly before that it is not asked for again; files are looked at each time."""
        known = self._reader.known(address_of(reference)) if reference.kind != "file" else None
        if known is None:
            return False
        with self._lock:
            source = self._sources.get(reference.id)
            return source is not None and source.reading is known and not source.why

    async def _read(self, reference: Reference) -> None:
        try:
            async with self._few:
                reading = await self._reader.read(address_of(reference))
        except Unreadable as error:
            with self._lock:
                self._fail(reference.id, error)
            return
        passages = await asyncio.to_thread(self._passages, reference.id, reading)
        with self._lock:
            source = self._source(reference.id)
            self._take(source, reading)
            source.reading, source.why, source.passages = reading, "", passages
            self._let_go()
        if len(passages.texts) > 1 and not passages.vectors:
            self._beside(self._embed(passages))
        if self.heard is not None:
            await self.heard(reference, reading)

    async def _embed(self, passages: Passages) -> None:
        """Find passages by meaning too, once there is time for it: no message waits for that."""
        async with self._one_by_one:
            passages.vectors = await self._vectors(passages.texts)

    def _beside(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._embedding.add(task)
        task.add_done_callback(self._embedding.discard)

    def _passages(self, reference: str, reading: Reading) -> Passages:
        with self._lock:
            source = self._sources.get(reference)
        known = source is not None and source.reading is not None and source.reading.hash == reading.hash
        return (
            source.passages
            if source is not None and known and source.passages is not None
            else Passages.of(reading.text)
        )

    def _source(self, reference: str) -> _Source:
        source = self._sources.setdefault(reference, _Source())
        self._sources.move_to_end(reference)
        return source

    def _let_go(self) -> None:
        """Keep no more than there is room for: what was read longest ago goes, and is read again when it is needed."""
        texts = {id: len(each.reading.text) for id, each in self._sources.items() if each.reading is not None}
        room = MOST_TEXT - sum(texts.values())
        while len(self._sources) > 1 and (len(self._sources) > MOST_KEPT or room < 0):
            oldest, _ = self._sources.popitem(last=False)
            room += texts.get(oldest, 0)

    def _take(self, source: _Source, reading: Reading) -> None:
        """Something was read: where posts of a thread are gone or say something else, their old words have to go."""
        lines = frozenset(reading.text.split("\n")) if reading.address.sort == "thread" else frozenset()
        for hash, before in source.earlier.items():
            if not before <= lines:
                source.lost.add(hash)
        source.lost.discard(reading.hash)
        source.earlier[reading.hash] = lines
        source.earlier.move_to_end(reading.hash)
        while len(source.earlier) > VERSIONS:  # of what is not known any more nobody could say what was taken back
            source.lost.add(source.earlier.popitem(last=False)[0])

    def _fail(self, reference: str, error: Unreadable) -> None:
        """Nothing could be read: what is not there any more, or not for us, must not be quoted any more."""
        source = self._source(reference)
        source.why = str(error)
        if not isinstance(error, Busy | HostUnknown):
            source.lost.update(source.earlier)
            source.reading = source.passages = None

    # -- for a message --------------------------------------------------------------------------------------------

    async def bring(
        self,
        references: Sequence[Reference],
        about: str,
        *,
        held: Collection[str],
        since: datetime | None,
        generator: Generator,
        room: int,
        beside: int,
        tasks: Sequence["asyncio.Task[None]"],
        patience_s: float = PATIENCE_S,
    ) -> Brought:
        """What a prompt that holds `held` is given of some references with a message, which waits for `tasks` a while.

        Whole ones take at most `room` tokens of the prompt, those it holds among them, passages `beside` with one
        message. Of what was attached after `since` the beginning is given, where there is no room for all of it.
        """
        pending = {task for task in tasks if not task.done()}
        if pending:
            _, pending = await asyncio.wait(pending, timeout=patience_s)
            self._late |= pending
        query = await self._query(about) if self._has_vectors(references) else None
        return await asyncio.to_thread(self._chosen, references, about, query, held, since, generator, room, beside)

    def _has_vectors(self, references: Sequence[Reference]) -> bool:
        with self._lock:
            sources = [self._sources.get(each.id) for each in references]
        return any(each is not None and each.passages is not None and each.passages.vectors for each in sources)

    def _chosen(
        self,
        references: Sequence[Reference],
        about: str,
        query: Vector | None,
        held: Collection[str],
        since: datetime | None,
        generator: Generator,
        room: int,
        beside: int,
    ) -> Brought:
        room -= sum(self._sizes.get((generator.state_key, each), 0) for each in held if "#" not in each)
        chosen: list[Recalled] = []
        missing: list[str] = []
        rest: list[tuple[Reference, Reading, Passages]] = []
        for each in reversed(references):  # what was attached last is what it is about
            with self._lock:
                source = self._sources.get(each.id, _Source())
                reading, passages, why = source.reading, source.passages, source.why
            if reading is None or passages is None:
                missing.append(why or f"{_short(each.address)} is still being read. {GOES_ON}")
                continue
            if (name := quoted_as(each.id, reading.hash)) in held:
                continue
            size = self._whole_size(name, reading, generator) if len(reading.text) <= room * LETTERS else None
            if size is not None and size <= room:
                room -= size
                chosen.append(_recalled(name, reading, len(chosen) + 1))
            else:
                rest.append((each, reading, passages))
        chosen += self._parts(rest, about, query, held, since, generator, beside, len(chosen))
        return Brought(tuple(chosen), tuple(reversed(missing)))

    def _parts(
        self,
        rest: Sequence[tuple[Reference, Reading, Passages]],
        about: str,
        query: Vector | None,
        held: Collection[str],
        since: datetime | None,
        generator: Generator,
        beside: int,
        rank: int,
    ) -> list[Recalled]:
        """Passages of those that there is no room for: how those begin that are new, and what the message asks for."""
        found: list[tuple[str, int, float]] = []
        for each, _, passages in rest:
            if since is None or each.at > since or each.address in about:
                found += [(each.id, place, 0.0) for place in range(min(LEADING, len(passages.texts)))]
        wanted = asked_for(((each.id, passages) for each, _, passages in rest), about, query, most=MOST_PASSAGES * 2)
        found += [(each.source, each.place, each.score) for each in wanted]
        readings = {each.id: (reading, passages) for each, reading, passages in rest}
        chosen: list[Recalled] = []
        seen: set[str] = set()
        asked = 0
        for source, place, score in found:
            reading, passages = readings[source]
            name = quoted_as(source, reading.hash, place)
            if name in held or name in seen or (score and asked == MOST_PASSAGES):
                continue
            size = _size(quote_part(name, reading, passages.texts[place], about), generator)
            if size <= beside:
                beside -= size
                asked += bool(score)
                seen.add(name)
                chosen.append(_recalled(name, reading, rank + len(chosen) + 1, score))
        return chosen

    def _whole_size(self, name: str, reading: Reading, generator: Generator) -> int:
        key = generator.state_key, name
        if key not in self._sizes:
            self._sizes[key] = _size(quote_whole(name, reading), generator)
        return self._sizes[key]

    # -- for prompts ----------------------------------------------------------------------------------------------

    def quotes(self, names: Iterable[str], about: Callable[[str], str] = lambda name: "") -> dict[str, Quote]:
        """Those of the quotes that say what was read last, by the names they have; `about` gives what is asked."""
        found: dict[str, Quote] = {}
        for name in names:
            with self._lock:
                source = self._sources.get(referred(name), _Source())
                reading, passages = source.reading, source.passages
            if reading is None or passages is None:
                continue
            whole, _, place = name.partition("#")
            if whole != quoted_as(referred(name), reading.hash):
                continue
            if not place:
                found[name] = quote_whole(name, reading)
            elif place.isdecimal() and int(place) < len(passages.texts):
                found[name] = quote_part(name, reading, passages.texts[int(place)], about(name))
        return found

    def taken_back(self, names: Iterable[str]) -> set[str]:
        """Those of the quotes whose words were taken back where they were read."""
        with self._lock:
            return {
                name
                for name in names
                if any(
                    name.partition("#")[0] == quoted_as(referred(name), hash)
                    for hash in self._sources.get(referred(name), _Source()).lost
                )
            }


def address_of(reference: Reference) -> Address:
    """Where a reference is read."""
    return Address("file", reference.address) if reference.kind == "file" else read_address(reference.address)


def is_read(name: str) -> bool:
    """Whether a prompt names by it what was read at a reference."""
    return name.startswith(PREFIX)


def count_read(pack: Iterable[Recalled]) -> int:
    """How many references a context pack has something of."""
    return len({referred(item.id) for item in pack if item.kind == "reference"})


def quote_whole(name: str, reading: Reading) -> Quote:
    """All that was read, under a header of its own."""
    about = (reading.title, reading.author, reading.date)
    return quote_source(name, reading.address.text, reading.text, at=reading.at, about=about, cut=reading.cut)


def quote_part(name: str, reading: Reading, text: str, about: str) -> Quote:
    """A passage of it."""
    return quote_passage(name, reading.title or reading.address.text, text, at=reading.at, about=about)


def _size(quote: Quote, generator: Generator) -> int:
    """How many tokens a quote takes in a prompt."""
    return len(generator.tokenize(quote.line)) + 1


def _recalled(name: str, reading: Reading, rank: int, score: float = 0.0) -> Recalled:
    return Recalled(
        id=name,
        kind="reference",
        score=score,
        ranks={"reference": rank},
        read_at=as_ms(reading.at),
        hash=reading.hash,
    )


def _short(address: str) -> str:
    return address if len(address) <= 80 else address[:79] + "…"
