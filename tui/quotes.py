"""What was recalled for a question, as it is read below the reply: dated quotes, the best first, never markup."""

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from tui.dates import day
from tui.reasons import who
from tui.text import MUTED, cut, one_line, plain

if TYPE_CHECKING:
    from textual.content import Content

    from graph.hits import Hit

LONGEST_SOURCE = 48  # characters of a document's title with the headings


def quotes_content(hits: "Sequence[Hit]", now: datetime) -> "Content | None":
    """A line for each quote, which the screen wraps; None without any."""
    from textual.content import Content

    lines = [
        Content.assemble(plain(f"{day(hit.at, now)} · {_source(hit)}  ", MUTED), plain(f"“{one_line(hit.text)}”"))
        for hit in hits
    ]
    return Content("\n").join(lines) if lines else None


def _source(hit: "Hit") -> str:
    match hit.kind:
        case "observation":
            return "learned"
        case "chunk":
            return cut(hit.session_name or "a document", LONGEST_SOURCE)
        case _:
            return cut(who(hit.role, hit.speaker), LONGEST_SOURCE)
