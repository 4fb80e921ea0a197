"""Documents and chats taken into the memory from files."""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path

from agent.background import Jobs
from agent.events import MemoriesChanged, Notice, SessionsChanged
from agent.importer import Importer, ImportProgress, ImportReport
from agent.ingesting.ingester import Ingester, IngestProgress, IngestReport
from agent.outlets import Work, on_loop
from agent.past import DocumentReader
from graph.memory import Memory
from graph.values import Document


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
