"""Chats as files: JSON Lines for a clew, or Markdown for people.

Markdown has what a chat shows: its path, without alternatives, hidden and deleted messages, or what was looked up on
the way.
"""

import json
import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from graph.errors import CopyFailed
from graph.ids import now_ms
from graph.reader import LogReader
from graph.transfer.backup import sync
from graph.transfer.exporting import lines
from graph.values import Session, Turn

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
        turns = [turn for turn in reader.in_view(reader.thread(chat.id)) if is_shown(turn)]
        if turns or session is not None:
            yield ("\n---\n\n" if number else "") + _heading(chat)
            yield from map(message, turns)


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


def is_shown(turn: Turn) -> bool:
    """Whether people are shown a message that is in view; not a reply that stayed empty."""
    return turn.role in ROLES and turn.text is not None and not (turn.hidden or turn.deleted or turn.empty)


def _heading(chat: Session) -> str:
    began, last = (at.astimezone().strftime("%Y-%m-%d %H:%M") for at in (chat.started_at, chat.last_at))
    return f"# {one_line(chat.name or 'Untitled chat')}\n\n{began} to {last}\n"


def message(turn: Turn) -> str:
    """A message for people: who said it, when, and the words."""
    at = turn.at.astimezone().strftime("%Y-%m-%d %H:%M")
    return f"\n**{one_line(turn.speaker)}** · {at}\n\n{(turn.text or '').strip()}\n"


def one_line(text: str) -> str:
    """A text on one line."""
    return " ".join(text.split())
