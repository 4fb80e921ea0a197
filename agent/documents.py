"""Documents and chats taken into the memory from files, and chats as files: JSON Lines for a clew, or Markdown.

Markdown has what a chat shows: its path, without alternatives, hidden and deleted messages, or what was looked up on
the way.
"""

import asyncio
import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from agent.background import Jobs
from agent.events import MemoriesChanged, Notice, SessionsChanged
from agent.importer import Importer, ImportProgress, ImportReport
from agent.ingesting.ingester import Ingester, IngestProgress, IngestReport
from agent.outlets import Work, on_loop
from agent.past import DocumentReader
from graph.errors import CopyFailed
from graph.ids import now_ms
from graph.memory import Memory
from graph.reader import LogReader
from graph.transfer.backup import sync
from graph.transfer.exporting import lines
from graph.values import Document, Session, Turn

ROLES = ("user", "assistant", "note")


def as_jsonl(reader: LogReader, *, clew: str, session: str | None = None) -> Iterator[str]:
    """The lines of an export, each with its end; `clew` is this program's version. Raises NotFound."""
    for line in lines(reader, clew=clew, at=now_ms(), session=session):
        yield json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n"


def as_markdown(reader: LogReader, *, session: str | None = None) -> Iterator[str]:
    """A chat for people, or all of them, the oldest first. Raises NotFound."""
    if session is not None:
        chats = [reader.session(session)]
    else:
        chats = sorted(reader.sessions(archived=True), key=lambda each: each.started_at)
    for number, chat in enumerate(chats):
        turns = [turn for turn in reader.in_view(reader.thread(chat.id)) if _is_shown(turn)]
        if turns or session is not None:
            yield ("\n---\n\n" if number else "") + _heading(chat)
            yield from map(_message, turns)


def into_file(path: Path, pieces: Iterable[str], *, replace: bool) -> None:
    """Write a file, whole or not at all. Raises CopyFailed."""
    if path.is_dir():
        raise CopyFailed(f"{path} is a folder. Nothing was written. Name a file in it.")
    if os.path.lexists(path) and not replace:
        raise CopyFailed(f"{path} already exists. Nothing was written. Name another file, or use --force.")
    part = path.with_name(path.name + ".part")
    try:
        with open(os.open(part, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
            file.writelines(pieces)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
        sync(path.parent)
    except OSError as error:
        raise CopyFailed(
            f"{path} could not be written ({error.strerror}). No partial file was left. Choose a writable folder "
            "with enough space."
        ) from error
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)


def _is_shown(turn: Turn) -> bool:
    return turn.role in ROLES and turn.text is not None and not turn.hidden and not turn.deleted


def _heading(chat: Session) -> str:
    began, last = (at.astimezone().strftime("%Y-%m-%d %H:%M") for at in (chat.started_at, chat.last_at))
    return f"# {_line(chat.name or 'Untitled chat')}\n\n{began} to {last}\n"


def _message(turn: Turn) -> str:
    at = turn.at.astimezone().strftime("%Y-%m-%d %H:%M")
    return f"\n**{_line(turn.speaker)}** · {at}\n\n{(turn.text or '').strip()}\n"


def _line(text: str) -> str:
    return " ".join(text.split())


class Documents(DocumentReader):
    """Takes files in, and lists the documents there are."""

    def __init__(
        self, memory: Memory, jobs: Jobs, *, tell: Callable[[Notice], None], erase: Callable[[], None]
    ) -> None:
        """`erase` begins to work off, in the background, what was deleted."""
        super().__init__(memory)
        self._memory = memory
        self._jobs = jobs
        self._tell = tell
        self._erase = erase

    def ingest(
        self, path: Path, *, project: str | None = None, tags: Sequence[str] = ()
    ) -> Work[IngestProgress, IngestReport]:
        """Take in a file or all documents of a folder: new and changed ones are read, vanished ones named (`missing`).

        Cancelled, the files that were read stay, and the same call goes on from there. Raises DocumentMissing, or
        DocumentUnreadable for a single file, and then nothing is changed.
        """
        memory = self._memory

        async def ingest(tell: Callable[[IngestProgress], None]) -> IngestReport:
            progress = on_loop(tell)
            try:
                return await self._jobs.run(
                    lambda stopping: Ingester(
                        memory, project=project, tags=tags, progress=progress, stopping=stopping
                    ).run(path)
                )
            finally:
                self._tell(MemoriesChanged())

        return Work(ingest)

    async def get(self, id: str) -> Document:
        """One document, by its id or the beginning of it. Raises NotFound or Ambiguous."""
        return await asyncio.to_thread(self._memory.readings.document, id)

    def import_chats(self, path: Path) -> Work[ImportProgress, ImportReport]:
        """Import a file of chats; what is in the memory already is not said again, nor is what was deleted from it.

        Raises ExportUnreadable, and then nothing is imported; cancelled, what was imported stays.
        """
        return Work(lambda tell: self._import(path, tell))

    async def _import(self, path: Path, tell: Callable[[ImportProgress], None]) -> ImportReport:
        memory, progress = self._memory, on_loop(tell)
        report = await self._jobs.run(lambda stopping: Importer(memory, progress=progress, stopping=stopping).run(path))
        if report.last_session is not None:
            self._tell(SessionsChanged(report.last_session))
        if report.merged is not None and report.merged.deleted:
            self._erase()
        return report
