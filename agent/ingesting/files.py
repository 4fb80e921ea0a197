"""Which files are documents, and what one says: read once, whole, and refused where it is not what it seems."""

import codecs
import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from agent import confined
from agent.decoding import decoded
from agent.errors import DocumentMissing, DocumentUnreadable
from agent.ingesting import pdf, sections
from agent.ingesting.sections import LONGEST, Section, TextPiece, pieces

Kind = Literal["markdown", "text", "code", "pdf"]

MOST_BYTES = 32 << 20
MOST_PIECES = 20_000
PDF_S = 300.0  # in which the largest is read
CONTROLS = re.compile(rb"[\x00-\x08\x0b\x0e-\x1f\x7f]")  # which no text has
SAFE = "It was not added; what was added from it before is kept."

MARKDOWN = "md markdown mdown mkd qmd"
TEXT = "txt text rst org adoc tex srt log csv tsv json"
CODE = (
    "py pyi js jsx mjs ts tsx java kt kts c h cc cpp hpp cxx cs go rs rb php swift scala clj ex exs erl hs ml lua pl "
    "pm r jl dart sh bash zsh fish ps1 sql html css scss vue svelte yaml yml toml ini cfg nix zig cypher proto "
    "gradle cmake mk el lisp scm f90 asm s v vhd tf"
)
KINDS: dict[str, Kind] = {
    **dict.fromkeys(MARKDOWN.split(), "markdown"),
    **dict.fromkeys(TEXT.split(), "text"),
    **dict.fromkeys(CODE.split(), "code"),
    "pdf": "pdf",
}
NAMES: dict[str, Kind] = {"makefile": "code", "dockerfile": "code", "readme": "text", "license": "text"}
PASSED_BY = {"node_modules", "__pycache__", "venv", "site-packages", "target", "dist", "build"}


@dataclass(frozen=True, slots=True)
class ReadFile:
    """What a file says."""

    path: Path
    kind: Kind
    title: str
    size: int  # bytes
    pieces: tuple[TextPiece, ...]
    guessed: bool = False  # it is not all UTF-8: read as Windows-1252, or what is no letter as U+FFFD


@dataclass(frozen=True, slots=True)
class FoundFiles:
    """What a folder holds, in order: its documents, the files that are none, and what cannot be read, with why."""

    files: list[Path] = field(default_factory=list)
    others: list[Path] = field(default_factory=list)
    unreadable: list[tuple[Path, str]] = field(default_factory=list)


def kind_of(path: Path) -> Kind | None:
    """What kind of document a file is by its name; None for none."""
    return KINDS.get(path.suffix.lower().lstrip(".")) or NAMES.get(path.name.lower())


def find(folder: Path) -> FoundFiles:
    """What is below a folder; hidden files are passed by, and what tools put there.

    No link is followed: what it leads to is read where it lies, if that is in the folder; one that leads out of it is
    told, as whoever made the folder may have made it for files of others.
    """
    found = FoundFiles()
    root = Path(os.path.realpath(folder))

    def refused(error: OSError) -> None:
        found.unreadable.append((Path(error.filename), unreadable(error.filename, error)))

    for at, folders, names in os.walk(folder, onerror=refused):
        folders[:] = sorted(each for each in folders if not each.startswith(".") and each not in PASSED_BY)
        for path in (Path(at, name) for name in sorted(names) if not name.startswith(".")):
            if kind_of(path) is None:
                found.others.append(path)
                continue
            real = Path(os.path.realpath(path))
            try:
                is_file = real.is_file()
            except OSError as error:
                found.unreadable.append((path, unreadable(path, error)))
                continue
            if path.is_symlink():
                if is_file and not real.is_relative_to(root):
                    why = f"{path} is a link that leads out of the folder, to {real}. {SAFE} Name that to add it."
                    found.unreadable.append((path, why))
            elif is_file:
                found.files.append(real)
    return found


def locate(path: Path) -> Path:
    """Where a file or a folder really is. Raises DocumentMissing or DocumentUnreadable."""
    try:
        real = path.expanduser().resolve()
        real.stat()
    except (FileNotFoundError, NotADirectoryError) as error:
        raise DocumentMissing(f"File or folder not found: {path}. Nothing was changed.") from error
    except OSError as error:
        raise DocumentUnreadable(unreadable(path, error)) from error
    except (RuntimeError, ValueError) as error:  # links in a circle, nobody's home, a NUL
        raise DocumentUnreadable(f"{path} is not a valid path: {error}. Nothing was changed.") from error
    return real


def is_gone(path: Path) -> bool:
    """Whether there is no such file; what cannot be looked at may be there."""
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False
    return False


def unreadable(path: Path | str, error: OSError) -> str:
    """Why a file or a folder cannot be read."""
    return f"{path} cannot be read: {error.strerror or error}. {SAFE}"


def read(path: Path) -> ReadFile:
    """What a file says. Raises DocumentUnreadable, whose message says why and what to do."""
    kind = kind_of(path) or "text"
    data = _bytes(path)
    guessed = False
    if kind == "pdf":
        title, parts = _pdf(path, data)
    else:
        text, guessed = _text(path, data)
        parts = {"markdown": sections.markdown, "code": sections.code, "text": sections.plain}[kind](text)
        title = ""
    found: list[TextPiece] = []
    headings: list[str] = []
    for piece in pieces(_watched(parts, headings)):
        found.append(piece)
        if len(found) > MOST_PIECES:
            raise DocumentUnreadable(f"{path.name} has more than {MOST_PIECES:,} passages. {SAFE} Split the file.")
    if not found:
        raise DocumentUnreadable(f"{path.name} contains no text. {SAFE}")
    title = title or (headings[0] if headings and kind == "markdown" else "") or path.name
    return ReadFile(path, kind, " ".join(title.split())[:120], len(data), tuple(found), guessed)


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
                raise DocumentUnreadable(f"{path} is not a readable file. {SAFE}")
            if before.st_size > MOST_BYTES:
                mib = f"{before.st_size >> 20:,} MB, more than the {MOST_BYTES >> 20} MB"
                raise DocumentUnreadable(
                    f"{path.name} is too large: {mib} that clew reads from one file. {SAFE} Split it."
                )
            with path.open("rb") as file:
                data = file.read(MOST_BYTES + 1)
            after = path.stat()
            if (before.st_size, before.st_mtime_ns) == (after.st_size, after.st_mtime_ns) and len(data) <= MOST_BYTES:
                return data
    except FileNotFoundError as error:
        raise DocumentMissing(f"File not found: {path}. {SAFE}") from error
    except OSError as error:
        raise DocumentUnreadable(unreadable(path, error)) from error
    raise DocumentUnreadable(f"{path.name} is changing while it is being read. {SAFE} Try again when it is finished.")


def _text(path: Path, data: bytes) -> tuple[str, bool]:
    """The words of a file, and whether some of its letters had to be guessed."""
    wide = data[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
    if not wide and b"\0" in data:
        raise DocumentUnreadable(f"{path.name} is a binary file, not text. {SAFE}")
    found = decoded(data)
    whole = wide or found.text.encode() == data.removeprefix(codecs.BOM_UTF8)
    if "\0" in found.text or (not whole and CONTROLS.search(data)):
        raise DocumentUnreadable(f"{path.name} is not a text file. {SAFE} Save it as UTF-8.")
    return found.text.replace("\r\n", "\n").replace("\r", "\n"), not whole or found.unknown > 0


def _pdf(path: Path, data: bytes) -> tuple[str, Iterator[Section]]:
    """A PDF's title and its pages, read apart: its library may be brought to anything."""
    broken = f"{path.name} is damaged or not a PDF. {SAFE}"
    if not data.lstrip()[:5].startswith(b"%PDF"):
        raise DocumentUnreadable(broken)
    try:
        found = confined.read_here("pdf", data, {"most": MOST_PIECES * LONGEST}, within_s=PDF_S)
    except confined.Broken as error:
        raise DocumentUnreadable(broken) from error
    except TimeoutError as error:
        raise DocumentUnreadable(f"{path.name} takes longer than {PDF_S:.0f} s to read. {SAFE} Split it.") from error
    except OSError as error:
        raise DocumentUnreadable(unreadable(path, error)) from error
    if pdf.LOCKED in found:
        raise DocumentUnreadable(f"{path.name} is encrypted. {SAFE} Save it without a password first.")
    if not any(text.strip() for text in found["texts"]):
        raise DocumentUnreadable(f"{path.name} contains only images of text. {SAFE} Run OCR on it first.")
    return found["title"], sections.pages(found["texts"])
