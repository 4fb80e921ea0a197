"""What can go wrong with the memory, and who should catch it.

MemoryFailure                 any of these; the faces print its message as it is
├── MemoryMissing             nothing was ever stored here: readers show an empty list or say so
├── MemoryHeld                another clew has it: exit 75, or read the log beside it
├── LogUnwritable             an append did not happen, nothing is half-written: keep the text, say why, try again
├── LogUnreadable             the log could not be read just now, which says nothing against it: try again
├── LogDamaged                the log cannot be trusted: stop writing, point at backups and `clew doctor`
│   ├── LogNewer              written by a newer clew: update clew
│   ├── NotABackup            a file to restore that is none, or not whole: nothing was changed
│   └── EventsMissing         the graph had seen more than the log has: told once, the graph follows what there is
├── CopyFailed                a copy or an export could not be written: nothing is left of it, the memory goes on
├── InvalidEvent              the event names what does not exist or cannot be: a bug of the caller, nothing stored
├── InvalidVector          an embedding that is no direction: nothing of its batch is kept, recall does without
├── CannotUndo            a change stands that cannot be taken back (any more): nothing stored, it says why
├── NotFound                  no such session, turn or exchange
│   └── NothingThen           there was no memory yet at the time that is asked for: name the first
├── Ambiguous                 an id prefix fits several: ask for more characters
└── GraphFailure              the graph cannot be used now; the log and the chat go on
    ├── NoRoom                the disk is nearly full: it waits, and goes on by itself when there is room
    └── QueryFailed           one query was refused
        ├── Refused           a person's own query is wrong or would do more than read: nothing was run
        ├── QueryTimeout      one query took too long, or was interrupted
        └── EngineEnded       one query broke down the process it ran in, or wanted more memory than that may take
"""

import errno
import sqlite3
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

# What rows that were damaged make of code that reads them; only for who has to go on whatever there is.
SURPRISES = (sqlite3.DatabaseError, LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError)


FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)  # what a disk without room says


@dataclass(frozen=True, slots=True)
class Holder:
    """Who holds a memory: process id, what it runs, and since when (UTC). One that is `brief` lets go by itself.

    While it is being opened, `done` of `total` events are read.
    """

    pid: int
    command: str
    since: datetime
    brief: bool = False
    done: int = 0
    total: int = 0


class MemoryFailure(Exception):
    """Anything of this package that reaches a person: what happened, what is safe, what to do next."""


class MemoryMissing(MemoryFailure):
    """There is no memory in the folder."""

    def __init__(self, folder: Path) -> None:
        super().__init__(
            f"There is no memory in {folder} yet. Start a chat with `clew`, or choose another home folder with --home."
        )
        self.folder = folder


SERVE = "clew serve"  # what holds a memory for all, and can be asked to end


class MemoryHeld(MemoryFailure):
    """Another process holds the memory; `holder` is None where it did not leave its name."""

    def __init__(self, holder: Holder | None) -> None:
        who = f"by `{holder.command}` (process {holder.pid})" if holder else "by another clew"
        if holder and holder.command == SERVE:
            then = "Close the chats and try again in a minute, or end it with `clew serve --stop`"
        else:
            then = "Try again when that has ended" if holder and holder.brief else "Close that one first"
        super().__init__(
            f"This memory is in use {who}. Nothing was changed. {then}; "
            "`clew log`, `show`, `tree`, `sessions`, `recent`, `about`, `export` and `backup` still work meanwhile."
        )
        self.holder = holder


class LogUnwritable(MemoryFailure):
    """The log could not be written: nothing of the append is stored, everything before it is safe."""


class LogUnreadable(MemoryFailure):
    """The log could not be read just now: locked, no more files may be opened, an error of the disk."""


class LogDamaged(MemoryFailure):
    """The log is not what was written."""


class LogNewer(LogDamaged):
    """The log was written by a newer clew."""


class NotABackup(LogDamaged):
    """A file that is no copy of a log, or not a whole one."""


class EventsMissing(LogDamaged):
    """The last events are gone from the log: the graph had seen them."""


class CopyFailed(MemoryFailure):
    """A copy could not be made: nothing is left of it, and the memory is as it was."""


class InvalidEvent(MemoryFailure):
    """An event that contradicts the log; it was not stored."""


class InvalidVector(MemoryFailure):
    """An embedding that cannot be compared with others; nothing of its batch was kept."""

    def __init__(self, why: str) -> None:
        super().__init__(
            f"A vector was rejected: {why}. Its batch was discarded. All text is safe, and recall continues by "
            "words only. Try another embedder with `clew models use`."
        )
        self.why = why


class CannotUndo(MemoryFailure):
    """A change that cannot be undone (any more)."""


class NotFound(MemoryFailure):
    """Nothing has this id."""


class NothingYet(NotFound):
    """There was no memory yet at the time that is asked for."""


class Ambiguous(MemoryFailure):
    """Several things have ids that begin like this."""


class GraphFailure(MemoryFailure):
    """The graph cannot be used now; the log, and with it every word, is not affected."""


class NoRoom(GraphFailure):
    """The disk is nearly full, and the engine is left alone until it is not."""


class QueryFailed(GraphFailure):
    """The graph refused a query; `line` and `column` from 1 say where, 0 where that is not known."""

    def __init__(self, why: str, *, line: int = 0, column: int = 0) -> None:
        super().__init__(why)
        self.line, self.column = line, column


class Refused(QueryFailed):
    """A query that the console does not run: it is wrong, or would do more than read."""

    def __init__(self, why: str, *, line: int, column: int) -> None:
        told = f"{why} (line {line}, column {column}). Nothing was run, and nothing was changed."
        super().__init__(told, line=line, column=column)


class EngineEnded(QueryFailed):
    """A query ended the process it ran in; the next one gets another."""


class QueryTimeout(QueryFailed):
    """A query was stopped: out of time, or the memory is closing."""
