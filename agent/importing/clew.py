"""clew's own export: JSON Lines of events, of one log or of several, in whatever order the lines stand.

The file is read through twice. First every line is understood, so that one of a newer clew stops the import before it
begins, and a broken one is told by its number; then the events come in the order of their numbers. What is kept of a
line in between is where it stands in the file, not what it says.
"""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from typing import IO, Any, NamedTuple

from agent.errors import ExportUnreadable
from graph.errors import LogDamaged
from graph.events import TurnSaid
from graph.transfer.merging import FORMAT, ExportedEvent, ExportSummary, Unknown, read

from .reading import MOST, PIECE, SAFE, ExportSource, line_of, lines

NAME = "clew's export"
TRIED = 20  # first lines that may be broken, or stand elsewhere
AT_ONCE = 200  # events in one transaction
MOST_UNPACKED = 2 << 30  # bytes, in the temporary folder while it is imported
FIRST_BAD = 5  # broken lines that are told of one by one


class Where(NamedTuple):
    """Where a line stands: its log (counted), the number of its event there, the byte it begins at, and its number."""

    log: int
    seq: int
    byte: int
    line: int


@dataclass(slots=True)
class ClewExport:
    """An export that was read through: what it says as a whole, where its events are, and which lines were broken."""

    source: ExportSource
    whole: ExportSummary = field(default_factory=ExportSummary)
    order: list[Where] = field(default_factory=list)
    turns: int = 0
    counted: int = 0  # events that its headers say it has
    bad: list[tuple[int, str]] = field(default_factory=list)
    bad_count: int = 0

    @property
    def missing(self) -> int:
        """How many events are not in it, which ended at the end of a line."""
        return max(0, self.counted - len(self.order) - self.bad_count)

    def batches(self) -> Iterator[list[ExportedEvent]]:
        """The events, in the order of their numbers, some at a time. Raises ExportUnreadable."""
        with (
            self.source.open() as file,
            _seekable(file, self.source.name, packed=self.source.member is not None) as seeking,
        ):
            at = -1
            for start in range(0, len(self.order), AT_ONCE):
                batch: list[ExportedEvent] = []
                for where in self.order[start : start + AT_ONCE]:
                    if where.byte != at:
                        seeking.seek(where.byte)
                    data = seeking.readline(MOST)
                    at = where.byte + len(data)
                    batch.append(self._again(where, data))
                yield batch

    def _again(self, where: Where, data: bytes) -> ExportedEvent:
        try:
            return read(where.line, line_of(where.line, data.removeprefix(b"\xef\xbb\xbf")).value)
        except LogDamaged as error:
            raise ExportUnreadable(
                f"{self.source.name} changed while it was being read. What was imported so far is kept."
            ) from error


def is_one(source: ExportSource) -> bool:
    """Whether a file is such an export, by its first lines."""
    return any(_is_header(line.value) or _is_event(line.value) for line in islice(lines(source), TRIED))


def open_clew(source: ExportSource) -> ClewExport:
    """Read an export through. Raises ExportUnreadable for one of a newer clew, and then nothing is imported."""
    export = ClewExport(source)
    logs: dict[str, int] = {}
    log, byte, number = 0, 0, 0
    with source.open() as file:
        while data := file.readline(MOST):
            number += 1
            if data.strip():
                line = line_of(number, data.removeprefix(b"\xef\xbb\xbf") if number == 1 else data)
                if line.error is None and _is_header(line.value):
                    log = _log(source, line.value, logs)
                    export.counted += _counted(line.value)
                else:
                    _add(export, Where(log, 0, byte, number), line.value, line.error)
            byte += len(data)
    if len(logs) <= 1:
        export.order = [where._replace(log=0) for where in export.order]  # lines before the first are of it too
    export.order.sort()
    return export


def _log(source: ExportSource, header: dict[str, Any], logs: dict[str, int]) -> int:
    """The number of the log that a header names. Raises ExportUnreadable."""
    form = header.get("format")
    if isinstance(form, int) and form > FORMAT:
        raise _newer(source, f"it has format {form}; this clew reads {FORMAT}")
    return logs.setdefault(str(header.get("log")), len(logs))


def _counted(header: dict[str, Any]) -> int:
    """How many events follow a header. Earlier clews said so of a whole log alone, by the number of its last event."""
    count = header.get("events", header.get("head") if header.get("session") is None else None)
    return count if isinstance(count, int) else 0


def _add(export: ClewExport, where: Where, value: Any, error: str | None) -> None:
    """Take a line into account. Raises ExportUnreadable for one that only a newer clew understands."""
    try:
        if error is not None:
            raise LogDamaged(error)
        brought = read(where.line, value)
    except Unknown as newer:
        raise _newer(export.source, str(newer)) from newer
    except LogDamaged as broken:
        export.bad_count += 1
        if len(export.bad) < FIRST_BAD:
            export.bad.append((where.line, str(broken)))
        return
    export.whole.add(brought)
    export.turns += isinstance(brought.event, TurnSaid)
    export.order.append(where._replace(seq=brought.seq))


def _newer(source: ExportSource, why: str) -> ExportUnreadable:
    return ExportUnreadable(f"{source.name} was written by a newer clew: {why}. {SAFE} Update clew.")


def _is_header(value: Any) -> bool:
    return isinstance(value, dict) and value.get("clew") == "export"


def _is_event(value: Any) -> bool:
    return isinstance(value, dict) and {"seq", "id", "kind", "structure"} <= value.keys()


@contextmanager
def _seekable(file: IO[bytes], name: str, *, packed: bool) -> Iterator[IO[bytes]]:
    """A file to go to and fro in; one that is packed is unpacked first, into a file without a name."""
    if not packed:
        yield file
        return
    with tempfile.TemporaryFile() as unpacked:
        while piece := file.read(PIECE):
            unpacked.write(piece)
            if unpacked.tell() > MOST_UNPACKED:
                raise ExportUnreadable(f"{name} unpacks to more than {MOST_UNPACKED >> 30} GB. {SAFE} Unpack it first.")
        unpacked.seek(0)
        yield unpacked
