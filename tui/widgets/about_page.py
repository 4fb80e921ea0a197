"""The words of /about: what there is about a person, place or project, and where."""

from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING, ClassVar

from textual.binding import BindingType
from textual.content import Content

from tui.dates import when
from tui.keymaps import ABOUT, READER
from tui.keys import KeyRow, bindings
from tui.reasons import who
from tui.text import MUTED, cut, one_line, plain, spaced
from tui.widgets.columns import row
from tui.widgets.dialogs import Reader

if TYPE_CHECKING:
    from collections.abc import Sequence

    from graph.beliefs import Observation
    from graph.hits import About

KEYS = (*ABOUT, *READER)
LONGEST = 200


class AboutPage(Reader):
    """The page; `walk` shows whom it is about in the graph."""

    BINDINGS: ClassVar[list[BindingType]] = bindings(ABOUT)
    KEYS: ClassVar[tuple[KeyRow, ...]] = KEYS

    def __init__(self, title: str, words: Content, *, walk: Callable[[], None]) -> None:
        super().__init__(title, words)
        self._walk = walk

    def action_ego(self) -> None:
        self._walk()


def about_content(about: "About", width: int, beliefs: "Sequence[Observation]" = ()) -> Content:
    """The page, `width` cells wide inside; `beliefs` are what was learned about it."""
    if not about.said and not about.mentioned and not about.turns and not beliefs:
        return plain(f"Nothing in the memory mentions {one_line(about.name)}.")
    now = datetime.now().astimezone()
    lines = [
        row("said", _messages(about.said), width, 14),
        row("mentioned", f"mentioned in {_messages(about.mentioned)} by others", width, 14),
        row("", "the graph (g) counts only the messages linked to the name", width, 14),
    ]
    if about.first_at is not None and about.last_at is not None:
        lines.append(row("from", f"{when(about.first_at, now)} to {when(about.last_at, now)}", width, 14))
    for _, name, count in about.sessions:
        lines.append(row("in", f"{one_line(name or 'New chat')} ({spaced(count)})", width, 14))
    if beliefs:
        lines += [Content(""), plain("Memories", "bold $secondary")]
        lines += [_belief(belief, now) for belief in beliefs]
    if about.turns and beliefs:
        lines += [Content(""), plain("Messages", "bold $secondary")]
    for turn in about.turns:
        head = f"{when(turn.at, now)} · {who(turn.role, turn.speaker)}"
        lines += [Content(""), plain(head, MUTED), plain(cut(turn.text or "(erased)", LONGEST))]
    return Content("\n").join(lines)


def _messages(count: int) -> str:
    return f"{spaced(count)} {'message' if count == 1 else 'messages'}"


def _belief(belief: "Observation", now: datetime) -> Content:
    mark = "? " if belief.status == "candidate" else "· "
    return Content.assemble(
        plain(f"{mark}{cut(belief.text or 'erased', LONGEST)}"),
        plain(f"  {belief.kind}, {when(belief.at, now)}", MUTED),
    )
