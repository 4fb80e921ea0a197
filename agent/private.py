"""Private chats: a memory of their own in a folder that lives in RAM where there is such a thing, gone with them.

Nothing of a private chat enters the log, the graph, the states on disk or what is recalled: it has a log, prompts and a
conversation of its own, over the same model. The folder is removed when the chats end; what a clew that was killed left
behind is removed by the next one.
"""

import asyncio
import os
import resource
import shutil
import stat
import tempfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from agent.background import Foreground
from agent.events import Notice
from agent.loop import Conversation
from agent.model_host import ModelHost
from agent.prompts import Prompts
from agent.recall import Recaller
from agent.references.quotes import ReferenceQuotes
from agent.settings import Settings
from agent.themes import ThemeMaker
from agent.tools import Toolbox
from graph.errors import MemoryFailure
from graph.events import SessionStarted
from graph.ids import new_id
from graph.log.lock import MemoryLock
from graph.memory import Memory
from graph.values import Session
from models.states import KVStates

BEGINNING, DRAFTS = "clew-private-", "clew-draft-"
CLIENT = "private"
M_PERTURB = -6  # of mallopt(3): freed memory is filled with this byte, and given out filled with its complement


@dataclass(frozen=True, slots=True)
class Shared:
    """What private chats share with all others: the model, and whose turn it is to use it.

    Not what they read: `references` are their own, with whom they may ask.
    """

    models: ModelHost
    generation_lock: asyncio.Lock
    foreground: Foreground
    settings: Settings
    prompts: Prompts
    notify: Callable[[Notice], None]
    references: ReferenceQuotes
    noted: Path  # the file of the home that names where they lie


class PrivateMemory:
    """The memory of the private chats of one clew; `open` makes the place for it."""

    def __init__(self, folder: Path, memory: Memory, shared: Shared) -> None:
        settings = shared.settings.model_copy(update={"recall": False, "tools": "off", "reflect": False})
        self.folder = folder
        self.memory = memory
        self.references = shared.references
        self._sessions: set[str] = set()
        self._prompts = Prompts(
            memory,
            shared.notify,
            default_system=settings.system_prompt,
            states=KVStates(folder / "kv", limit=0),
            references=shared.references,
            leaving=shared.prompts.shelf.leave,
        )
        recaller = Recaller(memory, _no_vector)
        self.conversation = Conversation(
            memory,
            shared.models,
            self._prompts,
            recaller,
            Toolbox(memory, recaller, ThemeMaker(memory, lambda: None)),
            settings,
            client=CLIENT,
            notify=shared.notify,
            foreground=shared.foreground,
            answered=lambda session, first, generator: None,
            references=shared.references,
            generation_lock=shared.generation_lock,
        )

    @classmethod
    def open(cls, shared: Shared) -> "PrivateMemory":
        """Make a folder for private chats, for this user alone, and a memory in it. Raises OSError or MemoryFailure.

        From then on a crash of this process leaves no core file: that would hold every word.
        """
        resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
        _clear_what_is_freed(True)
        _note(shared.noted, place())
        folder = Path(tempfile.mkdtemp(prefix=BEGINNING, dir=place()))  # 0700
        try:
            return cls(folder, Memory.open(folder, command="clew (private)"), shared)
        except BaseException:
            _remove(folder)
            _clear_what_is_freed(False)
            raise

    def __contains__(self, session: object) -> bool:
        return session in self._sessions

    async def begin(self) -> str:
        """A new private chat; its id."""
        session = new_id()
        await asyncio.to_thread(self.memory.append, SessionStarted(session=session, client=CLIENT))
        self._sessions.add(session)
        return session

    def sessions(self) -> list[Session]:
        """The private chats, newest activity first."""
        return self.memory.readings.sessions()

    def use(self, settings: Settings) -> None:
        """Go on with other settings."""
        self.conversation.use(settings.model_copy(update={"recall": False, "tools": "off", "reflect": False}))

    async def close(self) -> None:
        """End the chats, and leave nothing of them."""
        ended = list(self._sessions)
        self._sessions.clear()
        await self.conversation.close()
        await self.references.close()
        for session in ended:
            await self._prompts.forget(session)
        await self._prompts.shelf.written()
        await asyncio.to_thread(self.memory.close)
        await asyncio.to_thread(_remove, self.folder)


def _clear_what_is_freed(wanted: bool) -> None:
    """Have memory overwritten as it is freed, and cleared as it is taken; only glibc can.

    The graph's engine writes buffers whole: what SQLite had read of a private chat stood between the pages of a file.
    """
    import ctypes

    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).mallopt(M_PERTURB, 0xFF if wanted else 0)


def sweep(noted: Path) -> None:
    """Remove what a clew that was killed left of its private chats, wherever that lay; those of one that runs stay.

    `noted` is the file of a home that names a place of its own.
    """
    for here in {*places(), *_noted(noted)}:
        with suppress(OSError):
            for folder in (*here.glob(f"{BEGINNING}*"), *here.glob(f"{DRAFTS}*")):
                about = folder.lstat()
                if stat.S_ISDIR(about.st_mode) and about.st_uid == os.getuid() and _abandoned(folder):
                    _remove(folder)


def draft_folder() -> tuple[Path, MemoryLock]:
    """A folder for what is written of a private chat that another machine holds; others leave it while it is locked.

    Raises OSError or MemoryFailure.
    """
    folder = Path(tempfile.mkdtemp(prefix=DRAFTS, dir=place()))
    return folder, MemoryLock.take(folder, command="clew (drafts)")


def places() -> list[Path]:
    """Where private chats may lie: not everybody is told of the same folders."""
    named = (os.environ.get("XDG_RUNTIME_DIR"), f"/run/user/{os.getuid()}", "/dev/shm", tempfile.gettempdir(), "/tmp")
    return [Path(name) for name in named if name]


def _noted(file: Path) -> list[Path]:
    try:
        return [Path(line) for line in file.read_text(encoding="utf-8").splitlines() if line]
    except (OSError, ValueError):
        return []


def _note(file: Path, here: Path) -> None:
    """Note a place that the next clew would not look into by itself."""
    usual = (f"/run/user/{os.getuid()}", "/dev/shm", "/tmp")
    if str(here) not in usual and here not in (before := _noted(file)):
        file.write_text("".join(f"{each}\n" for each in (*before, here)), encoding="utf-8")


def place() -> Path:
    """A folder in RAM that is this user's or everyone's, else the system's one for what is temporary."""
    for name in (os.environ.get("XDG_RUNTIME_DIR"), "/dev/shm"):
        if name and os.path.isdir(name) and os.access(name, os.W_OK | os.X_OK):
            return Path(name)
    return Path(tempfile.gettempdir())


def _abandoned(folder: Path) -> bool:
    """Whether nobody has it. One with nothing but its lock in it is only just made."""
    if {path.name for path in folder.iterdir()} <= {"lock", "holder.json", "holder.new"}:
        return False
    try:
        MemoryLock.take(folder, command="clew (tidying up)").release()
    except MemoryFailure:
        return False
    return True


def _remove(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)


async def _no_vector(text: str) -> None:
    """Private chats embed nothing."""


class PrivateChats:
    """The private chats of one clew, and the way from a session to the memory and the conversation it belongs to.

    Each of those who have some, faces of a service, has a memory of its own for them, which goes when they do.
    """

    def __init__(
        self,
        memory: Memory,
        conversation: Conversation,
        references: ReferenceQuotes,
        shared: Callable[[str], Shared],
        noted: Path,
    ) -> None:
        """`memory`, `conversation` and `references` are those of all other chats; `noted` as `sweep` has it."""
        self._memory = memory
        self._conversation = conversation
        self._references = references
        self._shared = shared
        self._noted = noted
        self._open: dict[str, PrivateMemory] = {}  # by their owners
        self._door = asyncio.Lock()  # held while one is opened or closed

    def __contains__(self, session: object) -> bool:
        return self._of(session) is not None

    async def begin(self, face: str = "") -> str:
        """Begin a chat that keeps nothing: it is gone when it is ended, or clew is. Raises OSError or MemoryFailure."""
        async with self._door:
            if face not in self._open:
                opening = asyncio.ensure_future(asyncio.to_thread(PrivateMemory.open, self._shared(face)))
                try:
                    self._open[face] = await asyncio.shield(opening)
                except asyncio.CancelledError:
                    self._open[face] = await opening  # it is there, and will be ended
                    raise
            return await self._open[face].begin()

    async def all(self, face: str = "") -> list[Session]:
        """The private chats there are, newest activity first; they are gone when clew is left."""
        return [] if face not in self._open else await asyncio.to_thread(self._open[face].sessions)

    @property
    def folder(self) -> Path | None:
        """Where what is written of private chats may lie: it goes with them. None where there is none yet."""
        return self.folder_of("")

    def folder_of(self, owner: str) -> Path | None:
        """The same of the chats of one owner."""
        return self._open[owner].folder if owner in self._open else None

    def owner_of(self, session: object) -> str | None:
        """Whose private chat that is; None where it is none."""
        return next((owner for owner, memory in self._open.items() if session in memory), None)

    @property
    def answering(self) -> str | None:
        """The private session whose reply is in the making."""
        return next((each.conversation.answering for each in self._open.values() if each.conversation.answering), None)

    def stop(self) -> bool:
        """Stop a reply in the making, keeping what came until the chat ends."""
        return any([each.conversation.stop() for each in self._open.values()])

    async def end(self, owner: str | None = None) -> None:
        """End the private chats of one owner, or all: what was said in them is gone."""
        async with self._door:
            for each in list(self._open) if owner is None else [owner]:
                if (ending := self._open.pop(each, None)) is not None:
                    await ending.close()
                    if not self._open:
                        _clear_what_is_freed(False)

    async def sweep(self) -> None:
        """Remove what a clew that was killed left of its private chats."""
        await asyncio.to_thread(sweep, self._noted)

    def use(self, settings: Settings) -> None:
        """Go on with other settings."""
        for each in self._open.values():
            each.use(settings)

    def conversation_of(self, session: str | None) -> Conversation:
        """The conversation that a session belongs to."""
        found = self._of(session)
        return found.conversation if found is not None else self._conversation

    def memory_of(self, session: str) -> Memory:
        """The memory that a session stands in."""
        found = self._of(session)
        return found.memory if found is not None else self._memory

    def references_of(self, session: str | None) -> ReferenceQuotes:
        """What reads, and was read, for a session."""
        found = self._of(session)
        return found.references if found is not None else self._references

    def _of(self, session: object) -> PrivateMemory | None:
        return next((memory for memory in self._open.values() if session in memory), None)
