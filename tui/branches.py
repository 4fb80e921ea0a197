"""The tree of a chat as rows of a list: the way the chat took goes straight down, what it left is set in beside it.

Pure values, made without recursion: a chat may be thousands of turns deep.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from textual.content import Content

from tui.dates import when
from tui.reasons import who
from tui.text import MUTED, cut, one_line, plain

if TYPE_CHECKING:
    from graph.branches import Branch

DEEPEST = 8  # levels that are set in; further ones stand under one another
HERE, ON_PATH, OFF_PATH = "◉", "●", "○"


@dataclass(frozen=True, slots=True)
class TreeRow:
    """A turn of the tree: how deep it is set in, whether it begins a side branch, and its place among its siblings."""

    branch: "Branch"
    depth: int
    begins: bool
    place: int
    places: int


def rows_of(roots: "Sequence[Branch]") -> list[TreeRow]:
    """Every turn once, each before what follows it; side branches before the way that goes on."""
    rows: list[TreeRow] = []
    ahead = list(_children(roots, 0))
    while ahead:
        row = ahead.pop()
        rows.append(row)
        ahead.extend(_children(row.branch.children, row.depth))
    return rows


def _children(branches: "Sequence[Branch]", depth: int) -> Iterator[TreeRow]:
    """The rows of siblings, the one to be taken first last: the way that goes on comes after the side branches."""
    places = len(branches)
    main = next((branch for branch in branches if branch.on_path), branches[-1] if branches else None)
    for place, branch in reversed(list(enumerate(branches))):
        if branch is main:
            yield TreeRow(branch, depth, False, place, places)
    for place, branch in reversed(list(enumerate(branches))):
        if branch is not main:
            yield TreeRow(branch, depth + 1, True, place, places)


def head_of(rows: Sequence[TreeRow]) -> str | None:
    """The turn at which the chat stands."""
    return next((row.branch.turn for row in rows if row.branch.head), None)


def painted(row: TreeRow, width: int, names: Mapping[str, str]) -> list[Content]:
    """One line: where it stands, who said what, and the chats that leave here by `names`."""
    branch = row.branch
    depth = min(row.depth, DEEPEST)
    lanes = "│ " * (depth - 1) + ("├─" if row.begins else "│ ") if depth else ""
    mark = HERE if branch.head else ON_PATH if branch.on_path else OFF_PATH
    style = "bold $primary" if branch.head else "$primary" if branch.on_path else MUTED
    parts = [
        plain(lanes, "$border"),
        plain(f"{mark} ", style),
        plain(f"{who(branch.role, branch.speaker)}: ", "bold" if branch.on_path else MUTED),
    ]
    if row.places > 1:
        parts.insert(2, plain(f"‹{row.place + 1}/{row.places}› ", "$primary"))
    parts += [plain(f"↳ {cut(names.get(fork, 'New chat'), 24)}  ", "$warning") for fork in branch.forks]
    parts.append(_words(branch, width))
    return [Content.assemble(*parts)]


def _words(branch: "Branch", width: int) -> Content:
    if branch.hidden:
        return plain("hidden", f"italic {MUTED}")
    if branch.text is None:
        return plain("erased", f"italic {MUTED}")
    return plain(one_line(branch.text[: 4 * width]), "" if branch.on_path else MUTED)


def particulars(row: TreeRow, names: Mapping[str, str], now: datetime) -> Content:
    """When and by whom it was said, where it stands, and which chats leave it."""
    branch = row.branch
    facts = [f"{who(branch.role, branch.speaker)} · {when(branch.at, now)}"]
    if row.places > 1:
        facts.append(f"{row.place + 1} of {row.places} versions")
    facts.append(
        "current position" if branch.head else "on the current branch" if branch.on_path else "on another branch"
    )
    if branch.hidden:
        facts.append("hidden")
    lines = [plain(" · ".join(facts), MUTED)]
    lines += [plain(f"↳ “{cut(names.get(fork, 'New chat'), 60)}” forks here", "$warning") for fork in branch.forks]
    if branch.text is not None:
        lines += [Content(""), plain(branch.text[:4000])]
    return Content("\n").join(lines)
