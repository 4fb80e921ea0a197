"""What the faces ask about documents through the Agent: take them in, list them, let them go."""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path

from graph.beliefs import Chunk, Document
from graph.memory import Memory

from .altering import Altering
from .events import MemoriesChanged
from .ingesting.ingester import Ingester, IngestProgress, IngestReport
from .jobs import Jobs


class Documents(Altering):
    """The part of the Agent that keeps documents; what it works with is the Agent's."""

    _jobs: Jobs

    @property
    def _memory(self) -> Memory:
        raise NotImplementedError

    async def ingest(
        self,
        path: Path,
        progress: Callable[[IngestProgress], None] = lambda step: None,
        *,
        project: str | None = None,
        tags: Sequence[str] = (),
    ) -> IngestReport:
        """Take in a file or all documents of a folder: new and changed ones are read, vanished ones named (`missing`).

        `progress` is called on the event loop. Cancelled, the files that were read stay, and the same call goes on
        from there. Raises DocumentMissing, or DocumentUnreadable for a single file, and then nothing is changed.
        """
        loop, memory = asyncio.get_running_loop(), self._memory

        def tell(step: IngestProgress) -> None:
            loop.call_soon_threadsafe(progress, step)

        try:
            return await self._jobs.run(
                lambda stopping: Ingester(memory, project=project, tags=tags, progress=tell, stopping=stopping).run(
                    path
                )
            )
        finally:
            self._tell(MemoriesChanged())

    async def documents(self) -> list[Document]:
        """All documents, the one read last first."""
        return await asyncio.to_thread(self._memory.documents)

    async def document(self, id: str) -> Document:
        """One document, by its id or the beginning of it. Raises NotFound or Ambiguous."""
        return await asyncio.to_thread(self._memory.document, id)

    async def chunks(self, document: str) -> list[Chunk]:
        """The pieces of a document in their order. Raises NotFound."""
        return await asyncio.to_thread(self._memory.document_chunks, document)
