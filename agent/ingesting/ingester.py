"""Brings documents into the memory as they are on the disk now: new and changed ones; it names those that are gone.

Invariants:
- A document is known by its path. What has not changed says nothing anew: a piece keeps its id for as long as its words
  stay the same, so that what was learned from it, and its vector, stay too.
- A reading counts when its last event is there. Before that a new document is empty, and a changed one says what it
  said; an ingest that ended anywhere is done again by the same command.
- A file that cannot be read changes nothing, and is told with why. Neither does one that is gone: a disk may only not
  be mounted, so a person is asked first.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from agent.errors import DocumentMissing, DocumentUnreadable
from agent.ingesting.files import SAFE, ReadFile, find, is_gone, kind_of, locate, read
from agent.ingesting.sections import TextPiece
from graph.contents import hash_of
from graph.events import ChunkRead, DocumentRead, Event
from graph.ids import new_id
from graph.letters import paired
from graph.memory import Memory
from graph.values import Document

AT_ONCE = 64  # events in one transaction: a message that is sent meanwhile waits for no more than that


@dataclass(frozen=True, slots=True)
class IngestProgress:
    """How far an ingest is, in files, and which file it is at."""

    done: int
    total: int
    file: str


@dataclass(slots=True)
class IngestReport:
    """What an ingest did, in files by path; `chunks` counts the pieces that are new.

    `missing` are gone from the disk, and in the memory as they were; `skipped` could not be read, with why; `others`
    are no documents; of `guessed` it is not known how their letters are written.
    """

    path: str
    added: list[str] = field(default_factory=list)
    refreshed: list[str] = field(default_factory=list)
    unchanged: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    skipped: list[tuple[str, str]] = field(default_factory=list)
    others: list[str] = field(default_factory=list)
    guessed: list[str] = field(default_factory=list)
    chunks: int = 0
    stopped: bool = False


class Ingester:
    """One ingest; blocking. `stopping` is asked between files and transactions."""

    def __init__(
        self,
        memory: Memory,
        *,
        project: str | None = None,
        tags: Sequence[str] = (),
        progress: Callable[[IngestProgress], None] = lambda step: None,
        stopping: Callable[[], bool] = lambda: False,
    ) -> None:
        self._memory = memory
        self._project = project
        self._tags = tuple(tags)
        self._progress = progress
        self._stopping = stopping
        self._known: dict[str, Document] = {}
        self._ingest = new_id()

    def run(self, path: Path) -> IngestReport:
        """Ingest a file, or all documents of a folder. Raises DocumentUnreadable or MemoryFailure."""
        self._known = {document.path: document for document in self._memory.readings.documents()}
        try:
            real = locate(path)
        except DocumentMissing as error:
            raise DocumentMissing(f"{error}{self._kept_of(path)}") from error
        report = IngestReport(str(real))
        if real.is_dir():
            self._folder(real, report)
        else:
            self._progress(IngestProgress(0, 1, real.name))
            if real.is_file() and kind_of(real) is None and b"\0" in _start(real):
                raise DocumentUnreadable(
                    f"{real.name} is not a document type clew can read. {SAFE} Save it as text, Markdown or PDF."
                )
            self._take(read(real), report)
        return report

    def _folder(self, folder: Path, report: IngestReport) -> None:
        found, below = find(folder), self._below(folder)
        files = found.files
        if not files and not below:
            nothing = f"{folder} contains no Markdown, text, code or PDF files. Nothing was added."
            raise DocumentUnreadable(found.unreadable[0][1] if found.unreadable else nothing)
        report.others = [str(each) for each in found.others]
        report.skipped = [(str(each), why) for each, why in found.unreadable]
        for number, file in enumerate(files):
            if self._stopping():
                break
            self._progress(IngestProgress(number, len(files), file.name))
            try:
                self._take(read(file), report)
            except DocumentUnreadable as error:
                report.skipped.append((str(file), str(error)))
        if self._stopping():
            report.stopped = True
            return
        report.missing = [each.path for each in below if each.chunks and is_gone(Path(each.path))]
        self._progress(IngestProgress(len(files), len(files), ""))

    def _below(self, folder: Path) -> list[Document]:
        return [each for path, each in self._known.items() if Path(path).is_relative_to(folder)]

    def _kept_of(self, path: Path) -> str:
        """What is said of documents that were read from a file or a folder which is not there."""
        kept = sum(bool(each.chunks) for each in self._below(path.expanduser().resolve()))
        if not kept:
            return ""
        what = "The document that was" if kept == 1 else f"The {kept:,} documents that were"
        stay = "stays" if kept == 1 else "stay"
        return (
            f" {what} read from there {stay} in the memory. Mount the folder or restore its name, then try again; "
            "`clew ingest` lists the documents, `clew delete ID` erases one."
        )

    def _take(self, reading: ReadFile, report: IngestReport) -> None:
        """Make the memory say what a file says."""
        path = str(reading.path)
        if paired(path) != path:
            why = "has a name that is not UTF-8, so that it could not be told from others later"
            raise DocumentUnreadable(f"{paired(reading.path.name)} {why}. {SAFE} Rename it, then try again.")
        known = self._known.get(path)
        document = known.id if known is not None else new_id()
        ids = self._memory.readings.chunk_hashes(document) if known is not None else {}
        chunks, fresh = self._chunks(document, reading.pieces, ids)
        if reading.guessed:
            report.guessed.append(path)
        if known is not None and chunks == self._memory.readings.held_chunks(document) and known.title == reading.title:
            report.unchanged.append(path)
            return
        if known is None and len(fresh) > AT_ONCE:  # whatever happens next belongs to a document
            self._memory.append(self._reading(document, reading, [], known, ingest=None))
        whole = self._append(fresh, self._reading(document, reading, chunks, known, ingest=self._ingest))
        if whole:
            (report.refreshed if known is not None and known.chunks else report.added).append(path)
            report.chunks += len(fresh)
        else:
            report.stopped = True

    def _chunks(
        self, document: str, parts: Iterable[TextPiece], ids: dict[bytes, str]
    ) -> tuple[list[str], list[ChunkRead]]:
        """The ids of a document's pieces in their order, each once, and the events of those that are new."""
        known, chunks = dict(ids), list[str]()
        fresh: list[ChunkRead] = []
        for part in parts:
            hash = hash_of(part.text.encode())
            if hash is None:
                continue
            if hash not in known:
                known[hash] = new_id()
                fresh.append(ChunkRead(chunk=known[hash], document=document, headings=part.headings, text=part.text))
            chunks.append(known[hash])
        return list(dict.fromkeys(chunks)), fresh

    def _append(self, fresh: Sequence[ChunkRead], reading: DocumentRead) -> bool:
        """Store the new pieces, the reading with the last of them; False if that was stopped before."""
        events: list[Event] = [*fresh, reading]
        for at in range(0, len(events), AT_ONCE):
            if self._stopping():
                return False
            self._memory.append(*events[at : at + AT_ONCE])
        return True

    def _reading(
        self, document: str, reading: ReadFile, chunks: Sequence[str], known: Document | None, *, ingest: str | None
    ) -> DocumentRead:
        """A reading; without a project or tags of its own a document keeps those it has."""
        return DocumentRead(
            ingest=ingest,
            document=document,
            category=reading.kind,
            project=self._project or (known.project if known is not None else None),
            tags=self._tags or (known.tags if known is not None else ()),
            size=reading.size,
            chunks=tuple(chunks),
            text=f"{reading.title}\n{reading.path}",
        )


def _start(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(8192)
    except OSError as error:
        raise DocumentUnreadable(f"{path} cannot be read: {error.strerror or error}. {SAFE}") from error
