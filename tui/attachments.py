"""`@file` and `@https://…` in a message: its chat refers to that from then on, and it is read where it lies.

A name with blanks stands in quotes: `@"my notes.md"`. What was meant for a file and is none is told before anything is
sent; `@someone`, `@example.com` and an e-mail address are words like any other.
"""

import os
import re
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from tui.text import size_of

LARGEST = 10 << 20  # bytes; more is not read of anything
LOOKED_INTO = 8192  # bytes of a file that tell whether it is a text
SCHEMES = ("https://", "http://", "at://")
MENTION = re.compile(r'(?<!\S)@(?:"([^"\n]+)"|(\S+))')
AFTER = ".,;:!?…)]}>'\"’”»"  # what a sentence puts behind a name
CODE = re.compile(r"""[()\[\]{}<>"'`=,;|*\\]""")  # in no name that a person types without quotes
# What else the names of files end with that people speak of, and no host's: `@joe.me` and `@open.ai` are words.
SUFFIXES = (
    "doc docx xls xlsx ppt pptx odt ods odp rtf epub png jpg jpeg gif svg webp heic mp3 wav ogg mp4 mkv webm xml ipynb "
    "ics eml bin iso gguf gz tar tgz 7z bz2 xz"
)
OTHERS = frozenset(f".{suffix}" for suffix in SUFFIXES.split())
TOLD = 3  # names of which it is said why they are no files
LOOKED_AT, OFFERED = 5_000, 200  # names of a folder


class CannotAttach(Exception):
    """A file that was named cannot go along; the message says why."""


class NoFile(CannotAttach):
    """What was named is no file. It may be words after all: `attach` takes it so where it is told."""


@dataclass(frozen=True, slots=True)
class FileName:
    """A file or folder that a name being typed may become; `typed` is its whole path, written as that was begun."""

    typed: str
    about: str
    folder: bool

    @property
    def mention(self) -> str:
        """What stands in the message for it; a folder's is open, to go on with."""
        if not re.search(r"\s", self.typed):
            return f"@{self.typed}" if self.folder else f"@{self.typed} "
        return f'@"{self.typed}' if self.folder else f'@"{self.typed}" '


def attached(
    text: str, folder: Path, *, before: str = "", as_words: bool = False, brought: str = ""
) -> tuple[str, ...]:
    """What a message names as `@path` (from `folder`, or absolute, or `~`) or `@address`: whole paths and addresses.

    Nothing that stands in what was `brought`, which others may have written. Of what the text named already as it was
    `before` an edit nothing is asked again. Raises NoFile for what was meant for a file and is none, unless that is to
    go `as_words`; CannotAttach for one that is too large, or nothing to read.
    """
    known, found, missing = set(_names(before)), list[str](), list[str]()
    for name in dict.fromkeys(_names(text, not_of=brought)):
        if name.casefold().startswith(SCHEMES):
            found.append(name.rstrip(AFTER))
            continue
        bare = name if _file(name, folder) is not None else name.rstrip(AFTER)
        if (path := _file(bare, folder)) is not None:
            if name not in known:
                _look_into(bare, path)
            found.append(str(path.resolve()))
        elif name not in known and _meant(bare, folder):
            missing.append(_why(bare, folder))
    if missing and not as_words:
        raise NoFile(" ".join(missing[:TOLD]))
    return tuple(dict.fromkeys(found))


def files_brought(text: str, folder: Path, brought: str) -> list[str]:
    """The files that a message names where it was brought, and not typed: whole paths. None is opened."""
    if not brought:
        return []
    typed = set(_names(text, not_of=brought))
    names = (each for name in _names(text) if name not in typed for each in (name, name.rstrip(AFTER)))
    return list(dict.fromkeys(str(path.resolve()) for name in names if (path := _file(name, folder)) is not None))


def mentions(text: str) -> list[str]:
    """Everything in a text that has the form of a mention, with its @."""
    return list(dict.fromkeys(match[0].rstrip(AFTER) for match in MENTION.finditer(text)))


def being_typed(line: str) -> str | None:
    """What stands behind the @ at the end of a line, with its opening quote; None if no name is being typed there."""
    at = line.rfind("@")
    if at < 0 or line[at - 1 : at].strip():
        return None
    name = line[at + 1 :]
    ended = name.count('"') > 1 if name.startswith('"') else re.search(r"\s", name)
    return None if ended else name


def file_names(typed: str, folder: Path, *, whole: bool = False) -> list[FileName]:
    """What the name being typed may become, in the order of the alphabet; blocking.

    Nothing where it is a file's already, unless `whole` names are wanted too.
    """
    path, slash, begin = typed.removeprefix('"').rpartition("/")
    try:
        with os.scandir(folder / Path(path + slash).expanduser()) as entries:
            there = [each for each in islice(entries, LOOKED_AT) if _fits(each.name, begin)]
        there.sort(key=lambda each: each.name.casefold())
        if not whole and any(each.name == begin and not each.is_dir() for each in there):
            return []
        return [_offered(path + slash, each) for each in there[:OFFERED]]
    except (OSError, RuntimeError, ValueError):  # no such folder, or a home nobody has
        return []


def still_meant(offered: Iterable[object], typed: str) -> list[FileName]:
    """Those of the files that were offered which a name may still become, now that it is typed so far."""
    name = typed.removeprefix('"')
    files = [each for each in offered if isinstance(each, FileName)]
    if any(each.typed == name and not each.folder for each in files):
        return []
    return [each for each in files if each.typed.casefold().startswith(name.casefold())]


def _fits(name: str, begin: str) -> bool:
    hidden = name.startswith(".") and not begin
    return name.isprintable() and '"' not in name and not hidden and name.casefold().startswith(begin.casefold())


def _offered(path: str, entry: "os.DirEntry[str]") -> FileName:
    if entry.is_dir():
        return FileName(f"{path}{entry.name}/", "folder", True)
    try:
        return FileName(path + entry.name, size_of(entry.stat().st_size), False)
    except OSError:  # a link to nothing
        return FileName(path + entry.name, "", False)


def _names(text: str, *, not_of: str = "") -> Iterator[str]:
    """What stands behind an @, but for what does so in another text too."""
    others = {match[0].rstrip(AFTER) for match in MENTION.finditer(not_of)}  # at once, however many they are
    for match in MENTION.finditer(text):
        said = match[0].rstrip(AFTER)
        if said not in others and said not in not_of:
            yield match[1] or match[2]


def _file(name: str, folder: Path) -> Path | None:
    try:
        path = folder / Path(name).expanduser()
        return path if path.is_file() else None
    except (OSError, RuntimeError, ValueError):
        return None  # too long for a name, a home nobody has, a NUL: words, then


def _meant(name: str, folder: Path) -> bool:
    """Whether a name that is no file was meant for one: something has it, it is a path, or it ends as files do."""
    from agent.ingesting.files import kind_of

    if not name.strip("./~") and "/" not in name:
        return False
    if _mode(name, folder):
        return True
    if CODE.search(name):
        return False
    first, slash, _ = name.partition("/")
    if slash and (first in ("", ".", "..") or first.startswith("~") or _mode(first, folder)):
        return True
    path = Path(name)
    return path.suffix.lower() in OTHERS or kind_of(path) is not None


def _mode(name: str, folder: Path) -> int:
    """What kind of thing has that name, as `stat` says it; 0 where there is nothing."""
    try:
        return (folder / Path(name).expanduser()).stat().st_mode
    except (OSError, RuntimeError, ValueError):
        return 0


def _why(name: str, folder: Path) -> str:
    mode = _mode(name, folder)
    if stat.S_ISDIR(mode):
        return f"{name} is a folder. Only files can be attached."
    if mode:
        return f"{name} is not a regular file."
    return f"File not found: {name}." if name.startswith(("/", "~")) else f"File not found: {name} (in {folder})."


def _look_into(name: str, path: Path) -> None:
    """Raise CannotAttach where a file cannot be read as anything."""
    try:
        with path.open("rb") as file:
            size, begins = os.fstat(file.fileno()).st_size, file.read(LOOKED_INTO)
    except OSError as error:
        raise CannotAttach(f"@{name} cannot be read: {error.strerror or error}.") from error
    if size > LARGEST:
        raise CannotAttach(f"@{name} is larger than {LARGEST >> 20} MB.")
    if b"\0" in begins and path.suffix.lower() != ".pdf":
        raise CannotAttach(f"@{name} is neither a text nor a PDF.")
