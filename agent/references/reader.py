"""What lies at an address, read where it lives and kept in memory alone: for five minutes as it is, then asked again.

A server is asked whether it changed, not for all of it; one that cannot answer rests. Who asks for the same thing at
the same time waits for the same answer. Files are read again when they changed.
"""

import asyncio
import hashlib
import os
import stat
import time
from collections import OrderedDict
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

from agent.errors import Unreadable
from agent.references.address import Address
from agent.references.client import GOES_ON, MOST_BYTES, Busy, Version, WebClient
from agent.references.extraction import LONGEST, Page, read_apart
from agent.references.pace import Pace
from agent.references.threads import SERVICE, Author, read_thread

FRESH_S = 300.0
MOST_KEPT = 200  # things
MOST_TEXT = 8 << 20  # characters of them all
KINDS = {".pdf": "application/pdf", ".html": "text/html", ".htm": "text/html"}  # of files
ACCEPT = "text/html, application/xhtml+xml, application/pdf;q=0.9, text/plain;q=0.8, */*;q=0.5"


@dataclass(frozen=True, slots=True)
class Reading:
    """What something said when it was read, with the SHA-256 of its words; `hops`: where redirects led over.

    `cut` tells that it goes on.
    """

    address: Address
    text: str
    at: datetime
    hash: str
    title: str = ""
    author: str = ""
    date: str = ""
    hops: tuple[str, ...] = ()
    authors: tuple[Author, ...] = ()
    cut: bool = False


@dataclass(slots=True)
class _Kept:
    reading: Reading
    since: float
    version: Version


class ReferenceReader:
    """Reads addresses, for one event loop; `now` gives seconds that only grow."""

    def __init__(
        self,
        client: WebClient,
        *,
        service: Callable[[], str] = lambda: SERVICE,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._client = client
        self._service = service
        self._now = now
        self._pace = Pace(now)
        self._kept: OrderedDict[str, _Kept] = OrderedDict()
        self._running: dict[str, asyncio.Task[Reading]] = {}

    def host_of(self, address: Address) -> str:
        """Who is asked for what lies at an address; empty for a file."""
        return urlsplit(self._service()).hostname or "" if address.sort == "thread" else address.host

    def known(self, address: Address) -> Reading | None:
        """What was read of it in the last five minutes, without asking anybody."""
        kept = self._kept.get(address.text)
        if kept is None or self._now() - kept.since >= FRESH_S:
            return None
        self._kept.move_to_end(address.text)
        return kept.reading

    async def read(self, address: Address) -> Reading:
        """What lies at an address now. Cancelled, the reading goes on for whoever asks next. Raises Unreadable."""
        if address.sort != "file" and (known := self.known(address)) is not None:
            return known
        running = self._running.get(address.text)
        if running is None:
            running = asyncio.create_task(self._read(address))
            self._running[address.text] = running
            running.add_done_callback(lambda done: self._ended(address.text, done))
        return await asyncio.shield(running)

    def keep_only(self, addresses: Collection[str] = ()) -> None:
        """Keep of what was read what these say."""
        for each in self._kept.keys() - set(addresses):
            del self._kept[each]

    async def close(self) -> None:
        """End what is being read. Idempotent."""
        running = list(self._running.values())
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        self.keep_only()
        await self._client.close()

    def _ended(self, address: str, done: "asyncio.Task[Reading]") -> None:
        self._running.pop(address, None)
        if not done.cancelled():
            done.exception()  # nobody may have waited for it to its end

    async def _read(self, address: Address) -> Reading:
        if address.sort == "file":
            return await self._read_file(address)
        host = self.host_of(address)
        rest = self._pace.rest_s(host)
        if rest:
            raise Busy(f"{host} could not answer, and is asked again in {rest:.0f} seconds. {GOES_ON}")
        try:
            reading = await (self._read_thread(address) if address.sort == "thread" else self._read_page(address))
        except Busy as error:
            self._pace.failed(host, error.after_s)
            raise
        self._pace.answered(host)
        return reading

    async def _read_thread(self, address: Address) -> Reading:
        thread = await read_thread(self._client, address.text, service=self._service())
        cut = thread.cut or len(thread.text) > LONGEST
        reading = _made(address, thread.text[:LONGEST], thread.title, cut)
        return self._keep(replace(reading, authors=thread.authors), Version())

    async def _read_page(self, address: Address) -> Reading:
        kept = self._kept.get(address.text)
        version = kept.version if kept is not None else Version()
        fetched = await self._client.get(address.text, accept=ACCEPT, known=version)
        if fetched is None and kept is not None:
            return self._keep(replace(kept.reading, at=datetime.now(UTC)), version)
        assert fetched is not None  # no version was known
        page = await read_apart(fetched.body, fetched.kind, fetched.charset)
        return self._keep(replace(_of_page(address, page), hops=fetched.hops), fetched.version)

    async def _read_file(self, address: Address) -> Reading:
        path, kept = Path(address.text), self._kept.get(address.text)
        body, version = await asyncio.to_thread(_file, path, kept.version if kept is not None else None)
        if kept is not None and body is None:
            return self._keep(kept.reading, version)
        assert body is not None  # no version was known
        page = await read_apart(body, KINDS.get(path.suffix.lower(), "text/plain"), "")
        return self._keep(_of_page(address, replace(page, title=page.title or path.name)), version)

    def _keep(self, reading: Reading, version: Version) -> Reading:
        self._kept[reading.address.text] = _Kept(reading, self._now(), version)
        self._kept.move_to_end(reading.address.text)
        room = MOST_TEXT - sum(len(each.reading.text) for each in self._kept.values())
        while len(self._kept) > 1 and (len(self._kept) > MOST_KEPT or room < 0):
            _, oldest = self._kept.popitem(last=False)
            room += len(oldest.reading.text)
        return reading


def _of_page(address: Address, page: Page) -> Reading:
    return replace(_made(address, page.text, page.title, page.cut), author=page.author, date=page.date)


def _made(address: Address, text: str, title: str, cut: bool) -> Reading:
    """What was read now."""
    return Reading(address, text, datetime.now(UTC), hashlib.sha256(text.encode()).hexdigest(), title, cut=cut)


def _file(path: Path, known: Version | None) -> tuple[bytes | None, Version]:
    """A file's bytes, None where it is as it is known; and what tells whether it is the same. Raises Unreadable."""
    try:
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            about = os.fstat(file.fileno())
            if not stat.S_ISREG(about.st_mode):  # such as a pipe, which may never end
                raise Unreadable(f"{path} is no regular file. {GOES_ON}")
            version = Version(f"{about.st_ino}-{about.st_size}-{about.st_mtime_ns}")
            if version == known:
                return None, version
            body = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise Unreadable(f"{path} cannot be read: {error.strerror or error}. {GOES_ON}") from error
    if len(body) > MOST_BYTES:
        raise Unreadable(f"{path.name} is larger than {MOST_BYTES >> 20} MB, which is more than clew reads. {GOES_ON}")
    return body, version
