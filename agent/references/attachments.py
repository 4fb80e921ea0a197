"""What chats refer to: attached and dropped by hand, listed with what is known of it, and what a person allowed for it.

Only the address is kept, of a thread its authors too; a private chat keeps neither once it is ended.
"""

import asyncio
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from agent.errors import AgentError
from agent.references.address import Address, read_address
from agent.references.quotes import ReferenceQuotes, address_of
from agent.references.reader import Reading
from graph.errors import MemoryFailure, NotFound
from graph.events import Event, Recalled, ReferenceAdded, ReferenceDropped, ReferenceWritten
from graph.events.references import referred
from graph.ids import as_datetime, new_id
from graph.memory import Memory
from graph.values import Reference, Session

MOST = 200  # references of one chat
LONGEST_SHOWN = 20_000  # characters of a reference to look at
MOST_AUTHORS = 50  # of one thread, by the order of their posts
IN_STORY = "In a story nobody reads what lies elsewhere. Nothing was attached. A chat of your own can."
TOO_MANY = "A chat can refer to {} things. Nothing was attached. Drop some first (/ref drop)."


@dataclass(frozen=True, slots=True)
class Attached:
    """A reference of a chat, with what it said when it was read last in this run: none of that is kept.

    `why` says why it could not be read since; `characters` how much it is, and `cut` whether it goes on.
    """

    reference: Reference
    title: str = ""
    read_at: datetime | None = None
    hash: str = ""
    characters: int = 0
    hops: tuple[str, ...] = ()
    cut: bool = False
    why: str = ""


@dataclass(frozen=True, slots=True)
class Given:
    """What a reply was given of a reference as it was read then, whole or by `passages`; the address may be erased."""

    reference: str
    address: str
    read_at: datetime
    hash: str
    passages: int = 0


def attaching(
    memory: Memory,
    session: str,
    about: Session | None,
    addresses: Iterable[Address],
    *,
    turn: str | None = None,
    at: str | None = None,
) -> list[Event]:
    """What attaches these to a session, but for those that are already; blocking. Raises AgentError.

    `about` is the session where it is there already; `turn` the message they go along with, which follows `at` where it
    is not said at the head.
    """
    if about is not None and about.story is not None:
        raise AgentError(IN_STORY)
    there = memory.readings.attached(session, at=at) if about is not None else []
    known = {each.address for each in there}
    new = [each for each in dict.fromkeys(addresses) if each.text not in known]
    if len(there) + len(new) > MOST:
        raise AgentError(TOO_MANY.format(MOST))
    return [
        ReferenceAdded(reference=new_id(), session=session, category=each.sort, turn=turn, text=each.text)
        for each in new
    ]


class References:
    """Attaches, lists and drops. `memory_of` is the memory that a session stands in, `quotes_of` what reads for it."""

    def __init__(
        self,
        memory_of: Callable[[str], Memory],
        quotes_of: Callable[[str | None], ReferenceQuotes],
        *,
        changed: Callable[[str], None],
    ) -> None:
        self._memory_of = memory_of
        self._quotes_of = quotes_of
        self._changed = changed
        quotes_of(None).heard = self._note_authors

    async def asks(self, addresses: Collection[str], session: str | None = None) -> list[str]:
        """The hosts that a person has to allow before some addresses are read, as `allow` takes them; nobody is asked.

        `session` is the chat that they are for. Raises AgentError for what is no address.
        """
        lacking = [self._quotes_of(session).hosts.lacks(each) for each in map(read_address, addresses)]
        return list(dict.fromkeys(host for host in lacking if host is not None))

    async def allow(self, host: str, session: str | None = None) -> None:
        """A person says yes to a host; own:HOST[:PORT] for this machine and private networks. Raises AgentError.

        A yes in a private chat holds there, and goes with it.
        """
        await asyncio.to_thread(self._quotes_of(session).hosts.allow, host)

    async def add(self, session: str, address: str) -> Reference:
        """Let a session refer to something: an address, or a file's whole path; the one there is where it does already.

        Raises NotFound and AgentError, and then nothing is attached.
        """
        (wanted,) = self._quotes_of(session).hosts.allowed([address])
        reference = await asyncio.to_thread(self._add, session, wanted)
        self._changed(session)
        return reference

    async def drop(self, session: str, reference: str) -> Reference:
        """Let a session refer to something no more: by its id, its address, or its number in the list (from 1).

        Raises NotFound.
        """
        dropped = await asyncio.to_thread(self._drop, session, reference)
        self._quotes_of(session).forget([dropped.id])
        self._changed(session)
        return dropped

    async def all(self, session: str) -> list[Attached]:
        """What a session refers to, in the order in which that was attached, as it was read last. Nothing is read."""
        there = await asyncio.to_thread(self._memory_of(session).readings.attached, session)
        return [self._attached(each) for each in there]

    async def read(self, session: str) -> list[Attached]:
        """The same once all of it was read, where that is not known as it is now."""
        there = await asyncio.to_thread(self._memory_of(session).readings.attached, session)
        await self._quotes_of(session).refresh(there)
        return [self._attached(each) for each in there]

    async def words(self, session: str, reference: str) -> str:
        """How one that a session refers to begins, as it was read last in this run; empty where it was not."""
        there = await asyncio.to_thread(self._memory_of(session).readings.attached, session)
        reading, _ = (
            self._quotes_of(session).reading(reference) if any(each.id == reference for each in there) else (None, "")
        )
        return reading.text[:LONGEST_SHOWN] if reading is not None else ""

    async def given(self, session: str, reply_turn: str) -> list[Given]:
        """What a reply of a session was given of what that refers to, in its order. Raises NotFound."""
        return await asyncio.to_thread(self._given, session, reply_turn)

    async def close(self) -> None:
        """End what is being read. Idempotent."""
        await self._quotes_of(None).close()

    def _given(self, session: str, reply_turn: str) -> list[Given]:
        readings = self._memory_of(session).readings
        pack = [item for item in readings.turn(reply_turn).recalled if item.kind == "reference"]
        return given_of(pack, readings.references({referred(item.id) for item in pack}) if pack else {})

    def _attached(self, reference: Reference) -> Attached:
        reading, why = self._quotes_of(reference.session).reading(reference.id)
        if reading is None:
            return Attached(reference, why=why)
        size = len(reading.text)
        return Attached(reference, reading.title, reading.at, reading.hash, size, reading.hops, reading.cut, why)

    def _add(self, session: str, address: Address) -> Reference:
        memory = self._memory_of(session)
        about = memory.readings.session(session)
        if about.deleted:
            raise AgentError("This chat was deleted, so nothing was attached. Start a new one with /new.")
        events = attaching(memory, session, about, [address])
        if events:
            memory.append(*events)
        return next(each for each in memory.readings.attached(session) if each.address == address.text)

    def _drop(self, session: str, named: str) -> Reference:
        memory = self._memory_of(session)
        there = memory.readings.attached(session)
        wanted = named.strip()
        number = int(wanted) if wanted.isdecimal() and len(wanted) < 5 else 0
        found = [each for at, each in enumerate(there, start=1) if wanted in (each.id, each.address) or at == number]
        if not found:
            found = [each for each in there if _same(each, wanted)]
        if not found:
            raise NotFound(
                f"This chat refers to no “{wanted[:60]}”. Nothing was changed. /ref list shows what it does."
            )
        memory.append(ReferenceDropped(reference=found[0].id))
        return found[0]

    async def _note_authors(self, reference: Reference, reading: Reading) -> None:
        """Who wrote a thread is somebody from here on, whoever's thread they write in."""
        if reading.authors:
            await asyncio.to_thread(self._write, reference, reading)

    def _write(self, reference: Reference, reading: Reading) -> None:
        memory = self._memory_of(reference.session)
        try:
            known, authors = memory.readings.writers(reference.id), memory.readings.authors()
            events = [
                ReferenceWritten(
                    reference=reference.id,
                    author=authors.get(each.did) or new_id(),
                    text=f"{each.handle}\n{each.did}",
                )
                for each in reading.authors[:MOST_AUTHORS]
                if known.get(each.did) != each.handle
            ]
            if events and memory.readings.references([reference.id])[reference.id].attached:
                memory.append(*events)
        except MemoryFailure:
            return  # the thread is read all the same, and they are noted the next time


def given_of(pack: Iterable[Recalled], references: Mapping[str, Reference]) -> list[Given]:
    """The references of a context pack, once each, with those that are still known by their ids."""
    found: dict[str, Given] = {}
    for item in pack:
        if item.kind != "reference":
            continue
        id = referred(item.id)
        known = references.get(id)
        first = Given(id, known.address if known is not None else "", as_datetime(item.read_at or 0), item.hash or "")
        there = found.get(id, first)
        found[id] = replace(there, passages=there.passages + ("#" in item.id))
    return list(found.values())


def _same(reference: Reference, said: str) -> bool:
    """Whether somebody means a reference by an address as they write it."""
    try:
        return read_address(said) == address_of(reference)
    except AgentError:
        return False
