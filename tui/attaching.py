"""`@file` in a message: the text of the file goes along, behind the message, in a fence of its own."""

import re
from pathlib import Path

LARGEST = 256 * 1024  # bytes; more than any context here holds
MENTION = re.compile(r"(?<!\S)@(\S+)")


class CannotAttach(Exception):
    """A file that was named cannot go along; the message says why, and is not sent."""


def attach(text: str, folder: Path, *, before: str = "") -> str:
    """The message with the files it names as `@path` (from `folder`, or absolute, or `~`) added at its end.

    What is no file (`@someone`) is left as it is; what the text named already as it was `before` an edit went along
    then. Raises CannotAttach for one that is too large, or no readable text.
    """
    known = {match[1] for match in MENTION.finditer(before)}
    paths = dict.fromkeys(match[1] for match in MENTION.finditer(text) if match[1] not in known)
    found = [(name, path) for name in paths if (path := _file(name, folder)) is not None]
    return "\n\n".join([text, *(_fenced(name, _read(name, path)) for name, path in found)])


def _file(name: str, folder: Path) -> Path | None:
    try:
        path = folder / Path(name).expanduser()
        return path if path.is_file() else None
    except (OSError, RuntimeError, ValueError):
        return None  # too long for a name, a home nobody has, a NUL: words, then


def _read(name: str, path: Path) -> str:
    kept = "Nothing was sent; your message is still there."
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST + 1)
    except OSError as error:
        raise CannotAttach(f"@{name} cannot be read: {error.strerror or error}. {kept}") from error
    if len(data) > LARGEST:
        raise CannotAttach(f"@{name} is larger than {LARGEST // 1024} KB. {kept}")
    try:
        content = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise CannotAttach(f"@{name} is no UTF-8 text. {kept}") from error
    if "\0" in content:
        raise CannotAttach(f"@{name} is no text. {kept}")
    return content


def _fenced(name: str, content: str) -> str:
    longest = max((len(run) for run in re.findall(r"`{3,}", content)), default=2)
    fence = "`" * (longest + 1)
    return f"{name}:\n{fence}\n{content.rstrip(chr(10))}\n{fence}"
