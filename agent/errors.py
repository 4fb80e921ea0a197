"""What can go wrong in the agent.

AgentError            every message says what happened, what is safe and what to do next
├── SettingsError     a setting is wrong; the face prints it and exits 78 (a wrong configuration)
├── HomeError         the home folder cannot be used; the face prints it and exits
├── ExportUnreadable  a file of chats to import is broken, or of no kind clew knows; nothing of it was imported
│   └── ExportMissing there is no such file
├── DocumentUnreadable a file to ingest is broken, too large or no text; nothing of it was taken in
│   └── DocumentMissing there is no such file
├── QueriesUnwritable a query could not be saved or removed; the saved queries are as they were
├── Unreadable        what a reference points to cannot be read now; the chat goes on without it
│   └── HostUnknown   nobody allowed that host to be asked yet
├── NotUnderstood     a question in plain words became no query; nothing was run
└── EmptyMessage      nothing was said; the composer keeps what is there
"""


class AgentError(Exception):
    """Caught by every face and shown as it is."""


class SettingsError(AgentError):
    """A setting that is not known, or a value that does not fit, named with its file and line."""


class HomeError(AgentError):
    """The home folder cannot be made, read or written."""


class ExportUnreadable(AgentError):
    """A file of chats to import that is broken, or of no kind clew knows: nothing of it was imported."""


class ExportMissing(ExportUnreadable):
    """There is no such file."""


class DocumentUnreadable(AgentError):
    """A file to ingest that is broken, encrypted, too large, changing or no text: nothing of it was taken in."""


class DocumentMissing(DocumentUnreadable):
    """There is no such file."""


class QueriesUnwritable(AgentError):
    """A query could not be saved or removed: the saved queries are as they were."""


class NotUnderstood(AgentError):
    """A question in plain words that became no query: nothing was run."""


class EmptyMessage(AgentError):
    """The message is empty or blank."""


class Unreadable(AgentError):
    """What a reference points to cannot be read now: the chat goes on without it."""


class HostUnknown(Unreadable):
    """A host that nobody allowed yet; `own`: it is this machine, or in a private network."""

    def __init__(self, host: str, *, own: bool, name: str = "") -> None:
        """`name` is how it is allowed, where that is not the host."""
        self.host, self.own = host, own
        where = " It is this computer, or in a private network." if own else ""
        how = f"(/ref allow {name or host})"
        super().__init__(f"{host} was not asked for anything yet {how}, and is asked only if you say so.{where}")
