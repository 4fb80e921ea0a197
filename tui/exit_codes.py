"""What clew's exit codes mean: one table, and the one place where an error becomes a code.

The numbers from 65 on are those of sysexits.h, so that scripts can tell what to do next: 75 is worth trying again
later, 69 wants a model, 78 wants the settings mended, 65 wants `clew doctor`.
"""

from enum import IntEnum


class ExitCode(IntEnum):
    """Every code that `clew` ends with; the comment is what README and `clew --help` say."""

    OK = 0  # done
    FAILED = 1  # the reply failed, what was asked could not be done, or the doctor found something
    USAGE = 2  # wrong usage, or an empty message
    BAD_DATA = 65  # the log is damaged or of a newer clew, or the input is nothing a message or an import can be
    NOT_FOUND = 66  # no such session, turn, memory, world or file to read
    UNAVAILABLE = 69  # the model is not there, cannot be fetched, or cannot be used
    SOFTWARE = 70  # a bug in clew
    CANNOT_CREATE = 73  # the home folder cannot be made or written
    IO_ERROR = 74  # the log, a copy or the output cannot be written, or something cannot be erased
    HELD = 75  # another clew has this memory: try again when it is closed
    CONFIG = 78  # a setting is wrong
    HANGUP = 129  # the terminal went away
    INTERRUPTED = 130  # Ctrl+C
    BROKEN_PIPE = 141  # whoever read the output went away
    TERMINATED = 143  # asked to end by a signal


def exit_code_of(error: BaseException) -> ExitCode:
    """The code for an error of any of the packages, of the system, or of the user's keyboard."""
    from agent.errors import (
        AgentError,
        DocumentMissing,
        DocumentUnreadable,
        EmptyMessage,
        ExportMissing,
        ExportUnreadable,
        HomeError,
        SettingsError,
    )
    from agent.story.cards import CardError
    from graph.errors import (
        Ambiguous,
        CopyFailed,
        InvalidEvent,
        LogDamaged,
        LogUnreadable,
        LogUnwritable,
        MemoryFailure,
        MemoryHeld,
        MemoryMissing,
        NotFound,
    )
    from models.errors import FetchError, LoadError, ModelError
    from tui.output import TerminalGone

    match error:
        case TerminalGone():
            return ExitCode.HANGUP
        case MemoryHeld():
            return ExitCode.HELD
        case MemoryMissing() | NotFound():
            return ExitCode.NOT_FOUND
        case ExportMissing() | DocumentMissing():
            return ExitCode.NOT_FOUND
        case LogDamaged() | ExportUnreadable() | DocumentUnreadable() | CardError():
            return ExitCode.BAD_DATA
        case LogUnwritable() | LogUnreadable() | CopyFailed():
            return ExitCode.IO_ERROR
        case InvalidEvent():
            return ExitCode.SOFTWARE
        case EmptyMessage() | Ambiguous():
            return ExitCode.USAGE
        case SettingsError():
            return ExitCode.CONFIG
        case HomeError():
            return ExitCode.CANNOT_CREATE
        case LoadError() | FetchError():
            return ExitCode.UNAVAILABLE
        case MemoryFailure() | ModelError() | AgentError():
            return ExitCode.FAILED
        case BrokenPipeError():
            return ExitCode.BROKEN_PIPE
        case KeyboardInterrupt():
            return ExitCode.INTERRUPTED
        case OSError():
            return ExitCode.IO_ERROR
        case _:
            return ExitCode.SOFTWARE
