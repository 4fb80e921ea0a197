"""What can go wrong in the agent.

AgentError            every message says what happened, what is safe and what to do next
├── SettingsError     a setting is wrong; the face prints it and exits 78 (a wrong configuration)
├── HomeError         the home folder cannot be used; the face prints it and exits
└── EmptyMessage      nothing was said; the composer keeps what is there
"""


class AgentError(Exception):
    """Caught by every face and shown as it is."""


class SettingsError(AgentError):
    """A setting that is not known, or a value that does not fit, named with its file and line."""


class HomeError(AgentError):
    """The home folder cannot be made, read or written."""


class EmptyMessage(AgentError):
    """The message is empty or blank."""
