"""Which files are documents, and what one says: read once, whole, and refused where it is not what it seems."""

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from agent.errors import DocumentMissing, DocumentUnreadable
from agent.ingesting import sections
from agent.ingesting.pieces import Piece, Section, pieces

Kind = Literal["markdown", "text", "code", "pdf"]

MOST_BYTES = 32 << 20
MOST_PIECES = 20_000
SAFE = "Nothing of it was taken in, and what was read of it before stays."

MARKDOWN = "md markdown mdown mkd qmd"
TEXT = "txt text rst org adoc tex srt log csv tsv"
CODE = (
    "py pyi js jsx mjs ts tsx java kt kts c h cc cpp hpp cxx cs go rs rb php swift scala clj ex exs erl hs ml lua pl "
    "pm r jl dart sh bash zsh fish ps1 sql html css scss vue svelte json yaml yml toml ini cfg nix zig cypher proto "
    "gradle cmake mk el lisp scm f90 asm s v vhd tf"
)
KINDS: dict[str, Kind] = {
    **dict.fromkeys(MARKDOWN.split(), "markdown"),
    **dict.fromkeys(TEXT.split(), "text"),
    **dict.fromkeys(CODE.split(), "code"),
    "pdf": "pdf",
}
NAMES: dict[str, Kind] = {"makefile": "code", "dockerfile": "code", "readme": "text", "license": "text"}
DATA = {".json", ".csv", ".tsv", ".log"}  # taken in when named, not where a folder holds them
PASSED_BY = {"node_modules", "__pycache__", "venv", "site-packages", "target", "dist", "build"}


@dataclass(frozen=True, slots=True)
class Reading:
    """What a file says."""

    path: Path
    kind: Kind
    title: str
    size: int  # bytes
    pieces: tuple[Piece, ...]


def kind_of(path: Path) -> Kind | None:
    """What kind of document a file is by its name; None for none."""
    return KINDS.get(path.suffix.lower().lstrip(".")) or NAMES.get(path.name.lower())


def find(folder: Path) -> Iterator[Path]:
    """The documents below a folder, in order; hidden ones are passed by, as is what tools put there, and data.

    Links to folders are not followed, so that no loop of them is walked; a link to a file counts as that file once.
    """
    seen: set[Path] = set()
    for at, folders, names in os.walk(folder):
        folders[:] = sorted(each for each in folders if not each.startswith(".") and each not in PASSED_BY)
        for name in sorted(names):
            path = Path(at, name)
            if not name.startswith(".") and kind_of(path) is not None and path.suffix.lower() not in DATA:
                real = path.resolve()
                if real not in seen and real.is_file():
                    seen.add(real)
                    yield real


def read(path: Path) -> Reading:
    """What a file says. Raises DocumentUnreadable, whose message says why and what to do."""
    kind = kind_of(path) or "text"
    data = _bytes(path)
    if kind == "pdf":
        title, parts = _pdf(path, data)
    else:
        text = _text(path, data)
        parts = {"markdown": sections.markdown, "code": sections.code, "text": sections.plain}[kind](text)
        title = ""
    found: list[Piece] = []
    headings: list[str] = []
    for piece in pieces(_watched(parts, headings)):
        found.append(piece)
        if len(found) > MOST_PIECES:
            raise DocumentUnreadable(f"{path.name} has more than {MOST_PIECES:,} pieces. {SAFE} Split the file.")
    if not found:
        raise DocumentUnreadable(f"{path.name} has no words. {SAFE}")
    title = title or (headings[0] if headings and kind == "markdown" else "") or path.name
    return Reading(path, kind, " ".join(title.split())[:120], len(data), tuple(found))


def _watched(parts: Iterator[Section], headings: list[str]) -> Iterator[Section]:
    """The sections, the first heading of which is remembered."""
    for section in parts:
        if section.headings and not headings:
            headings.append(section.headings[0])
        yield section


def _bytes(path: Path) -> bytes:
    """The file, the same before and after it was read."""
    try:
        for _ in range(2):
            before = path.stat()
            if not stat.S_ISREG(before.st_mode):
                raise DocumentUnreadable(f"{path} is no file that can be read. {SAFE}")
            if before.st_size > MOST_BYTES:
                mib = f"{before.st_size >> 20:,} MB, more than the {MOST_BYTES >> 20} MB"
                raise DocumentUnreadable(f"{path.name} has {mib} that are read of one file. {SAFE} Split it.")
            with path.open("rb") as file:
                data = file.read(MOST_BYTES + 1)
            after = path.stat()
            if (before.st_size, before.st_mtime_ns) == (after.st_size, after.st_mtime_ns) and len(data) <= MOST_BYTES:
                return data
    except FileNotFoundError as error:
        raise DocumentMissing(f"There is no file {path}. {SAFE}") from error
    except OSError as error:
        raise DocumentUnreadable(f"{path} cannot be read: {error.strerror or error}. {SAFE}") from error
    raise DocumentUnreadable(f"{path.name} changes while it is read. {SAFE} Try again when it is written.")


def _text(path: Path, data: bytes) -> str:
    encoding = "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        why = "is no text" if b"\0" in data[:8192] else f"is not UTF-8 text (byte {error.start})"
        raise DocumentUnreadable(f"{path.name} {why}. {SAFE}") from error
    if "\0" in text:
        raise DocumentUnreadable(f"{path.name} is no text, but a file of bytes. {SAFE}")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _pdf(path: Path, data: bytes) -> tuple[str, Iterator[Section]]:
    """A PDF's title and its pages. Its library is slow to import, and raises whatever a broken file brings it to."""
    import io
    import logging

    from pypdf import PdfReader
    from pypdf.errors import DependencyError, PyPdfError

    logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # it tells of every small fault, on the screen
    broken = f"{path.name} is a damaged PDF, or none. {SAFE}"
    if not data.lstrip()[:5].startswith(b"%PDF"):
        raise DocumentUnreadable(broken)
    locked = f"{path.name} is encrypted. {SAFE} Save it without a password."
    try:
        reader = PdfReader(io.BytesIO(data))
        if reader.is_encrypted and not reader.decrypt(""):
            raise DocumentUnreadable(locked)
        texts = [page.extract_text() for page in reader.pages]
        title = str((reader.metadata and reader.metadata.title) or "")
    except DependencyError as error:
        raise DocumentUnreadable(locked) from error
    except (PyPdfError, *PDF_SURPRISES) as error:
        raise DocumentUnreadable(f"{broken} ({type(error).__name__})") from error
    if not any(text.strip() for text in texts):
        raise DocumentUnreadable(f"{path.name} has no text, only pictures of it. {SAFE} Run it through an OCR first.")
    return title, sections.pages(texts)


# What the library was seen to raise of its own over damaged files, besides its errors.
PDF_SURPRISES = (
    ValueError,
    KeyError,
    IndexError,
    AttributeError,
    TypeError,
    RecursionError,
    ZeroDivisionError,
    OSError,
)
