"""Works off what was deleted in the background, until no file of the home has a byte of it.

Invariants:
- One purge at a time, and it begins at the start of clew where one was broken off. What is deleted while it runs is
  worked off after it. Every step can be done again; closing the agent ends it between two steps.
- The words are let go of last: before that every file of the home is looked into, but for the models.
- It steps aside while somebody waits for an answer, and never fails anybody: what is left is told in a notice.
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from agent import kept
from agent.background import Foreground, Jobs, Stopping
from graph.errors import LogDamaged, MemoryFailure
from graph.log.byte_search import Forms, files_under, look, look_into
from graph.log.erasing import unkept
from graph.memory import Memory
from graph.sqlite import LOG
from graph.transfer.backup import DAMAGED, ENDING, MADE, backups_of, forget_cut_off
from graph.values import Progress

from .asking.store import QueryStore
from .background import BackgroundTasks
from .errors import SettingsError
from .events import Notice, Warned
from .home import Home
from .prompts import Prompts
from .references.quotes import ReferenceQuotes
from .themes import ThemeMaker

AGAIN_S = (0.1, 0.4, 1.5, 4.0)  # until whoever reads the log has let go of it
LOG_FILES = (LOG, f"{LOG}-wal", f"{LOG}-shm")
TIMES = 2
GONE_TOO = "Deleted words were also in {}, which was deleted too."
TO_LOOK = "`clew doctor --deep --absent -` searches for words you type."
DAMAGED_STAYS = "That log is damaged and was left unchanged. Delete it yourself when you no longer need it."
UNREAD = "Deleted words may still be in {}, which cannot be read. Make it readable or remove it; clew looks again."
READ_MEANWHILE = (
    "The deletion is done everywhere you can see, but another program is reading the log, so its "
    "bytes are not erased yet. clew will try again automatically."
)

T = TypeVar("T")


class PurgeStopped(Exception):
    """The agent is closing: what is left is done after the next start."""


@dataclass(frozen=True, slots=True)
class Purged:
    """What a purge did: erased texts, distinctive words looked for, files looked into, and those that still hold one.

    `pending` says why it is not over.
    """

    texts: int = 0
    words: int = 0
    files: int = 0
    leftovers: tuple[Path, ...] = ()
    pending: str | None = None

    def __add__(self, other: "Purged") -> "Purged":
        return Purged(
            self.texts + other.texts,
            self.words + other.words,
            max(self.files, other.files),
            tuple(dict.fromkeys((*self.leftovers, *other.leftovers))),
            other.pending,
        )


class Erasure:
    """Erases in the background what was deleted."""

    def __init__(
        self,
        memory: Memory,
        home: Home,
        jobs: Jobs,
        prompts: Prompts,
        foreground: Foreground,
        background: BackgroundTasks,
        quotes: ReferenceQuotes,
        themes: ThemeMaker,
        *,
        tell: Callable[[Notice], None],
        graph_opened: Callable[[], Awaitable[None]],
    ) -> None:
        """`graph_opened` waits for the graph, where one is being opened."""
        self._memory = memory
        self._home = home
        self._jobs = jobs
        self._prompts = prompts
        self._foreground = foreground
        self._background = background
        self._quotes = quotes
        self._themes = themes
        self._tell = tell
        self._graph_opened = graph_opened
        self.put_off = False  # until `finished` is asked for
        self._task: asyncio.Task[None] | None = None
        self._again = False
        self._told = False  # what it came to was waited for
        self._report = Purged()

    async def finished(self) -> Purged:
        """Wait until nothing of what was deleted is left in any file, or as far as that can be done; what was done."""
        self._begin()
        assert self._task is not None
        await asyncio.shield(self._task)
        self._told = True
        return self._report

    async def is_left(self) -> bool:
        """Whether what was deleted is still being erased from the files, and nobody waited to hear of it."""
        return not self._told and bool(await asyncio.to_thread(self._memory.purge.waiting))

    def begin(self) -> None:
        """Work off what waits, in the background, after what is being worked off."""
        if not self.put_off:
            self._begin()

    def _begin(self) -> None:
        self._again = True
        if self._task is None or self._task.done():
            self._task = self._background.start(self._purge_all())

    async def resume(self) -> None:
        """Go on with what the last run had no time for."""
        if await asyncio.to_thread(self._memory.purge.waiting):
            self.begin()

    async def _purge_all(self) -> None:
        report = Purged()
        try:
            while self._again:
                self._again = False
                await self._graph_opened()
                while waiting := await asyncio.to_thread(self._memory.purge.waiting):
                    report += await self._purge_once(frozenset(waiting))
                    if report.pending is not None:
                        break
        except PurgeStopped:
            report += Purged(pending="clew was closed in the meantime. The rest is done at the next start.")
        except (MemoryFailure, OSError) as error:
            self._tell(Warned(f"The deletion is done everywhere you can see, but not yet in every file: {error}"))
            report += Purged(pending=str(error))
        self._report = report
        self._tell_of(report)

    async def _purge_once(self, events: frozenset[int]) -> Purged:
        """All steps for some events. Raises PurgeStopped or MemoryFailure."""
        memory, home = self._memory, self._home
        await self._step(lambda progress: self._let_go_of_hosts(events))
        await self._let_go_of_readings()
        self._themes.forget()
        kept.forget()
        words = await self._step(lambda progress: unkept(memory.purge.words(events), _settings_of(home)))
        await self._step(memory.purge.run)
        await self._prompts.tidy()
        files, held, unread = 0, tuple[Path, ...](), list[Path]()
        for _ in range(TIMES):  # a backup may have been made while the others were worked off
            for problem in await self._step(lambda progress: purge_copies(memory, home, progress)):
                self._tell(Warned(problem))
            files, held, unread, gone = await self._step(lambda progress: _sweep(memory, home, words, events, progress))
            if gone:
                self._tell(Warned(GONE_TOO.format("a saved query" if gone == 1 else f"{gone} saved queries")))
            if not any(_is_own(path, home) for path in held):
                break
        held = tuple(dict.fromkeys((*held, *(_set_aside(home) if words else ()))))
        if unread:
            self._tell(Warned(UNREAD.format(_listed(unread))))
            return Purged(len(events), len(words), files, held, UNREAD.format(_listed(unread)))
        if not await self._let_go(events):
            return Purged(len(events), len(words), files, held, READ_MEANWHILE)
        in_log = await self._step(lambda progress: _look_into_log(memory, home, words, events))
        return Purged(len(events), len(words), files + len(LOG_FILES), held + in_log)

    def _let_go_of_hosts(self, events: Collection[int]) -> None:
        """Ask again before a host is asked whose name is in what was deleted, and in nothing else."""
        hosts = self._quotes.hosts
        named = hosts.named()
        gone = self._memory.purge.only_there(set(named.values()), events)
        try:
            hosts.withdraw([each for each, name in named.items() if name in gone])
        except SettingsError as error:
            self._tell(Warned(f"A host of what was deleted is still in the setting hosts: {error}"))

    async def _let_go_of_readings(self) -> None:
        """Keep nothing in this process of what was read for messages and chats that are gone."""
        there = await self._step(lambda progress: self._memory.readings.references(self._quotes.known()))
        self._quotes.keep_only({id: each.address for id, each in there.items() if each.address})

    async def _step(self, work: Callable[[Callable[[Progress], None]], T]) -> T:
        """What a blocking step answers, begun when nobody waits for an answer; closing ends it."""
        await self._foreground.free()
        return await self._jobs.run(lambda stopping: work(_heeding(stopping)))

    async def _let_go(self, events: Collection[int]) -> bool:
        for wait in (*AGAIN_S, None):
            if await self._step(lambda progress: self._memory.purge.done(events)):
                return True
            if wait is not None:
                await asyncio.sleep(wait)
        return False

    def _tell_of(self, report: Purged) -> None:
        own = [path for path in report.leftovers if _is_own(path, self._home)]
        if own:
            self._tell(Warned(f"Deleted words may still be in {_listed(own)}. {TO_LOOK}"))
        aside = _set_aside(self._home)
        damaged = [path for path in report.leftovers if path in aside]
        if damaged:
            self._tell(Warned(f"Deleted words may still be in {_listed(damaged)}. {DAMAGED_STAYS}"))
        others = [path for path in report.leftovers if path not in own and path not in damaged]
        if others:
            self._tell(Warned(f"Deleted words are still in {_listed(others)}. clew does not change these files."))


def purge_copies(memory: Memory, home: Home, progress: Callable[[Progress], None]) -> list[str]:
    """Erase in the automatic backups what is erased in the memory; what is no log that can be read goes, and is told.

    Raises MemoryFailure where one cannot be written just now, once all others are done: then it is to be tried again.
    """
    problems, later = [], list[MemoryFailure]()
    with suppress(OSError):
        forget_cut_off(home.memory)
    copies = sorted(set(backups_of(home.memory).glob("*.sqlite")) - set(_set_aside(home)))
    for done, path in enumerate(copies):
        progress(Progress("purging", done, len(copies)))
        try:
            memory.purge.copy(path)
        except LogDamaged as error:
            path.unlink(missing_ok=True)
            problems.append(
                f"Deleted content could not be erased from the backup {path}: {error} That backup was removed."
            )
        except MemoryFailure as error:
            later.append(error)
    if later:
        raise later[0]
    return problems


def _set_aside(home: Home) -> list[Path]:
    """Logs that were too damaged to be copied when another took their place: kept as they are, for whoever can."""
    return sorted(backups_of(home.memory).glob(f"{DAMAGED}*{ENDING}*"))


def _is_own(path: Path, home: Home) -> bool:
    """Whether clew rewrites a file itself."""
    copy = backups_of(home.memory) == path.parent and ENDING in path.name
    return home.memory in path.parents or home.queries in (path, path.parent) or (copy and path not in _set_aside(home))


def _listed(paths: Iterable[Path]) -> str:
    return ", ".join(str(path) for path in paths)


def _heeding(stopping: Stopping) -> Callable[[Progress], None]:
    def progress(step: Progress) -> None:
        if stopping():
            raise PurgeStopped

    return progress


def _sweep(
    memory: Memory, home: Home, words: Forms, events: Collection[int], progress: Callable[[Progress], None]
) -> tuple[int, tuple[Path, ...], list[Path], int]:
    """Look into every file but the log's: how many there are, which still hold a word, which cannot be read, and how
    many saved queries held one.

    Caches that hold one go, and so do such lines of the queries, and of both what quotes a piece of a text.
    """
    held, unread, files, gone = [], list[Path](), 0, 0
    queries = QueryStore(home.queries)
    own = {home.memory / name for name in LOG_FILES}
    for path, found in look(home.root, words, leave_out=own | {home.models}):
        files += 1
        progress(Progress("purging", files, 0))
        if found is None:
            unread.append(path)
        if not found:
            continue
        if home.cache in path.parents and path != home.native_log:
            path.unlink(missing_ok=True)
        elif still := memory.purge.unkept({word: words[word] for word in found}, events):  # not said again
            if home.queries != path.parent:
                held.append(path)
                continue
            try:
                lines = queries.forget(path, still)
                gone += lines if path == queries.saved_file else 0
            except OSError:
                held.append(path)
    try:
        gone += _forget_quotations(memory, home, events)
    except OSError:
        held.append(home.queries)
    return files, tuple(held), unread, gone


def _forget_quotations(memory: Memory, home: Home, events: Collection[int]) -> int:
    """Let go of the queries and drafts that quote a piece of what was erased; how many saved queries went.

    A query seldom has the whole of a text, and all words of the piece it has may be said elsewhere. Raises OSError.
    """
    queries = QueryStore(home.queries)
    drafts = {path: path.read_text(encoding="utf-8", errors="replace") for path in files_under(home.drafts)}
    texts = queries.texts() | set(drafts.values())
    kept = (each.decode(errors="replace") for each in _settings_of(home))
    quoting = memory.purge.that_quote(texts, events, kept)
    for path in (path for path, text in drafts.items() if text in quoting):
        path.unlink(missing_ok=True)
    return queries.forget_texts(quoting) if quoting else 0


def _look_into_log(memory: Memory, home: Home, words: Forms, events: Collection[int]) -> tuple[Path, ...]:
    """The log's own files that still hold a word, after writing the log anew if it does."""

    def held() -> tuple[Path, ...]:
        found = ((path, look_into(path, words)) for path in (home.memory / name for name in LOG_FILES) if words)
        return tuple(path for path, each in found if each and memory.purge.unkept({w: words[w] for w in each}, events))

    if held():
        memory.purge.compact()
    return held()


def _settings_of(home: Home) -> Iterator[bytes]:
    """What is kept as it is, whatever is deleted: no word of a chat gets there by itself, nor where a backup lies."""
    made = backups_of(home.memory) / MADE
    for path in (home.config, home.native_log, home.trusted, home.translators, home.probed, made):
        with suppress(OSError):
            yield path.read_bytes() + b"\n"


def absent(home: Home, words: Forms) -> tuple[int, dict[Path, set[str]], list[Path]]:
    """Look into every file of the home but the models: how many there are, what each holds of some words, and which
    cannot be read."""
    files, found, unread = 0, {}, []
    for path, held in look(home.root, words, leave_out={home.models}):
        files += 1
        if held is None:
            unread.append(path)
        elif held:
            found[path] = held
    return files, found, unread
