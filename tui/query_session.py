"""What lies on the desk of the query screen while the app runs: the text, the last answer, the values given last.

Invariants: it outlives the screen. The text outlives a crash too, as a message's draft does; of a private chat nothing
is on the disk.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tui.drafts import Drafts

if TYPE_CHECKING:
    from graph.querying.console import Answer

DRAFT = "query"  # the name of the draft; no session has it
LET_GO = "The memory was changed since this was asked. F5 asks again."


@dataclass(frozen=True, slots=True)
class ExecutedQuery:
    """A query that was run, as it was run: what is exported or loaded further is the same one."""

    cypher: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    limit: int = 500
    sample: str = ""  # the table that some rows of were asked for


@dataclass(slots=True)
class QuerySession:
    """The state of the screen; `drafts` is None in a private chat."""

    drafts: Drafts | None
    text: str = ""
    given: dict[str, Any] = field(default_factory=dict)  # values by name, as they were given last
    asked: ExecutedQuery | None = None
    answer: "Answer | None" = None
    failure: str = ""
    page: int = 1
    tables: bool | None = None  # whether the tables are shown; None: where there is room
    exported: str = ""  # the file that was written last

    def __post_init__(self) -> None:
        if self.drafts is not None and not self.text:
            self.text = self.drafts.load(DRAFT)

    def write(self, text: str) -> None:
        """The editor has this text now."""
        if text != self.text:
            self.text = text
            if self.drafts is not None:
                self.drafts.save(DRAFT, text)

    def let_go(self) -> None:
        """Drop the rows: something in the memory was deleted or changed, and they may show it still."""
        if self.answer is not None:
            self.answer, self.asked, self.failure = None, None, LET_GO
