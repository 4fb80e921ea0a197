"""An export's file as text, as the values of one JSON document, or as lines: a piece at a time, whatever its size.

The standard decoder is fed a growing window. Memory holds one value of the top level at a time, a whole conversation,
and never the file. A library that streams JSON was tried and not taken (ijson 3.6 with its C parser): a number of 5,000
digits crashes it, 20 kB of opening brackets take it a gigabyte, it does not say at which line a document is broken, and
it is no faster.
"""

import codecs
import json
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, Any

from agent.errors import ExportMissing, ExportUnreadable

PIECE = 1 << 20  # bytes read at once
MOST = 64 << 20  # characters of one value of the top level, or of one line
MOST_VALUES = 1_000_000  # in one of them: each takes some hundred bytes, however short it is
MANY = 2 << 20  # characters that may hold so many
NEAR_THE_END = 16  # an error so close to the end of what was read may only mean that more has to be read
CONVERSATIONS = "conversations"
SPACE = " \t\n\r"
PACKED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
NOT_UTF8 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
SAFE = "Nothing was imported."
TOO_LONG = "A number with too many digits"
TOO_DEEP = "Values nested too deeply"
TOO_MANY = f"More than {MOST_VALUES:,} values in one"


@dataclass(frozen=True, slots=True)
class ExportSource:
    """A file, or a member of a zip file."""

    path: Path
    member: str | None = None

    @property
    def name(self) -> str:
        return f"{self.path.name}:{self.member}" if self.member else self.path.name

    @contextmanager
    def open(self) -> Iterator[IO[bytes]]:
        """Its bytes. Raises ExportUnreadable or ExportMissing."""
        try:
            if self.member is None:
                with self.path.open("rb") as file:
                    if file.seekable():
                        file.seek(0)  # /dev/fd/N, which a pipe is read through, may stand where it was left
                    yield file
            else:
                with zipfile.ZipFile(self.path) as archive:
                    if archive.getinfo(self.member).compress_type not in PACKED:  # others say how much memory they take
                        raise ExportUnreadable(
                            f"{self.name} is packed in a way that is not read. {SAFE} "
                            "Unpack it, and import what is in it."
                        )
                    with archive.open(self.member) as packed:
                        yield packed
        except FileNotFoundError as error:
            raise ExportMissing(f"File not found: {self.path}. {SAFE}") from error
        except (OSError, EOFError, zipfile.BadZipFile, NotImplementedError, RuntimeError) as error:
            why = getattr(error, "strerror", None) or error
            raise ExportUnreadable(f"{self.name} cannot be read: {why}. {SAFE}") from error
        except zlib.error as error:
            raise ExportUnreadable(f"{self.name} is damaged inside its zip file. {SAFE} Download it again.") from error

    def size(self) -> int:
        """Bytes, unpacked."""
        if self.member is None:
            return self.path.stat().st_size
        with zipfile.ZipFile(self.path) as archive:
            return archive.getinfo(self.member).file_size


def sources(path: Path) -> list[ExportSource]:
    """The files to read: the one given, or the conversations in the .zip of an export.

    Raises ExportMissing or ExportUnreadable.
    """
    if path.is_dir():
        inside = path / f"{CONVERSATIONS}.json"
        give = f"the file in it, {inside}" if inside.is_file() else "a file"
        raise ExportUnreadable(f"{path} is a folder. {SAFE} Use {give}.")
    source = ExportSource(path)
    with source.open() as file:
        start = file.read(4)
    if not start:
        raise ExportUnreadable(f"{path.name} is empty. {SAFE}")
    if start != b"PK\x03\x04":
        return [source]
    try:
        with zipfile.ZipFile(path) as archive:
            names = [info.filename for info in archive.infolist() if not info.is_dir()]
    except (OSError, zipfile.BadZipFile) as error:
        raise ExportUnreadable(f"{path.name} is a damaged zip file: {error}. {SAFE} Download it again.") from error
    members = sorted(name for name in names if _has_conversations(PurePosixPath(name)))
    if not members and len(names) == 1 and names[0].endswith(".jsonl"):
        members = names  # an export of clew's own
    if not members:
        some = ", ".join(sorted(names)[:5]) or "nothing"
        raise ExportUnreadable(f"{path.name} has no conversations.json in it, but {some}. {SAFE}")
    return [ExportSource(path, member) for member in members]


def _has_conversations(name: PurePosixPath) -> bool:
    """conversations.json, or one of the numbered files that big exports have instead."""
    return name.suffix == ".json" and (name.stem == CONVERSATIONS or name.stem.startswith(f"{CONVERSATIONS}-"))


def text(source: ExportSource) -> Iterator[str]:
    """The file's text, piece by piece, without a byte order mark; what is no UTF-8 becomes U+FFFD.

    Raises ExportUnreadable for UTF-16.
    """
    decoder = codecs.getincrementaldecoder("utf-8-sig")("replace")
    with source.open() as file:
        data = file.read(PIECE)
        if data.startswith(NOT_UTF8):
            raise ExportUnreadable(f"{source.name} is UTF-16 text. {SAFE} Save it as UTF-8.")
        while data:
            if piece := decoder.decode(data):
                yield piece
            data = file.read(PIECE)
        if rest := decoder.decode(b"", final=True):
            yield rest


class ReadWindow:
    """A growing piece of a text, and where in the whole it begins."""

    def __init__(self, source: ExportSource) -> None:
        self._source = source
        self._pieces = text(source)
        self._text = ""
        self._at = 0  # of what was not taken yet
        self._line, self._column = 1, 1  # of the window's beginning
        self._ended = False

    def peek(self) -> str:
        """The next character that is no space, '' at the end."""
        while True:
            while self._at < len(self._text):
                if self._text[self._at] not in SPACE:
                    return self._text[self._at]
                self._at += 1
            if not self._more():
                return ""

    def take(self) -> None:
        """Pass over the character that `peek` gave."""
        self._at += 1

    def value(self) -> Any:
        """The JSON value that begins here. Raises ExportUnreadable, with line and column, where it is broken."""
        self.peek()
        while True:
            if _may_hold_too_many(self._text, self._at):
                raise self.broken(TOO_MANY)
            try:
                value, self._at = DECODER.raw_decode(self._text, self._at)
                return value
            except json.JSONDecodeError as error:
                unsure = error.pos > len(self._text) - NEAR_THE_END or error.msg.startswith("Unterminated")
                broken = self.broken(error.msg, error.pos)  # before the window moves
                if not unsure or not self._more():
                    raise broken from error
            except RecursionError as error:
                raise self.broken(TOO_DEEP) from error
            except ValueError as error:  # what Python says is how a programmer can lift its limit
                raise self.broken(TOO_LONG) from error
            if len(self._text) - self._at > MOST:
                raise self.broken(f"One value is longer than {MOST >> 20} MB")

    def broken(self, what: str, at: int | None = None) -> ExportUnreadable:
        """The error that the document is no JSON at a place of the window, by default where it stands."""
        before = self._text[: self._at if at is None else at]
        lines = before.count("\n")
        column = len(before) - before.rfind("\n") if lines else self._column + len(before)
        return ExportUnreadable(
            f"{self._source.name} is not valid at line {self._line + lines}, column {column}: {what}. {SAFE}"
        )

    def _more(self) -> bool:
        """Read on; what was taken is forgotten. Each time as much again as is there, so that no value costs more."""
        if self._ended:
            return False
        taken = self._text[: self._at]
        lines = taken.count("\n")
        self._column = len(taken) - taken.rfind("\n") if lines else self._column + len(taken)
        self._line += lines
        kept = self._text[self._at :]
        pieces, length = [kept], 0
        while length <= len(kept):
            piece = next(self._pieces, None)
            if piece is None:
                self._ended = True
                break
            pieces.append(piece)
            length += len(piece)
        self._text, self._at = "".join(pieces), 0
        return length > 0


DECODER = json.JSONDecoder()


def document(source: ExportSource) -> Iterator[Any]:
    """The elements of a JSON array, or the one other value that the document is. Raises ExportUnreadable."""
    window = ReadWindow(source)
    if window.peek() != "[":
        yield window.value()
    else:
        window.take()
        if window.peek() == "]":
            window.take()
        else:
            while True:
                yield window.value()
                mark = window.peek()
                if mark not in ("]", ","):
                    raise window.broken("Expecting ',' delimiter" if mark else "The file ends in the middle")
                window.take()
                if mark == "]":
                    break
    if window.peek():
        raise window.broken("Extra data")


@dataclass(frozen=True, slots=True)
class ExportLine:
    """One line of JSON Lines: its number from 1, and its value, or what is wrong with it."""

    number: int
    value: Any = None
    error: str | None = None


def lines(source: ExportSource) -> Iterator[ExportLine]:
    """Every line that is not blank. A line that is broken is told as such, and the next one is as good as ever.

    Raises ExportUnreadable where the file cannot be read.
    """
    with source.open() as file:
        number = 0
        while data := file.readline(MOST):
            number += 1
            if number == 1:
                data = data.removeprefix(codecs.BOM_UTF8)
            if data.strip():
                yield line_of(number, data)


def line_of(number: int, data: bytes) -> ExportLine:
    """A line of a file, in bytes."""
    try:
        text = data.decode(errors="replace").strip(SPACE)
        if _may_hold_too_many(text, 0):
            return ExportLine(number, error=TOO_MANY)
        return ExportLine(number, DECODER.decode(text))
    except json.JSONDecodeError as error:
        return ExportLine(number, error=f"{error.msg}, column {error.colno}")
    except RecursionError:
        return ExportLine(number, error=TOO_DEEP)
    except ValueError:
        return ExportLine(number, error=TOO_LONG)


def _may_hold_too_many(text: str, start: int) -> bool:
    """Whether what is left of a text may be more values than memory is for: a small file can unpack to them."""
    return len(text) - start > MANY and sum(text.count(mark, start) for mark in ",[{") > MOST_VALUES


def in_words(value: Any) -> str:
    """What kind of JSON value this is."""
    match value:
        case None:
            return "null"
        case bool():
            return "true or false"
        case int() | float():
            return "a number"
        case str():
            return "a text"
        case list():
            return "a list"
        case _:
            return "an object"
