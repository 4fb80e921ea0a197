"""`clew tree`: how a chat branches, drawn with lines. Reads the log without a lock, beside a running clew.

A line for each turn; one reply after the other stands below the one before, and only where a chat branches its branches
are set in.
"""

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from tui.commands.choosing import aim, complete_session
from tui.commands.place import home_of
from tui.commands.sessions import MAIN
from tui.output import fit, instant, paint, put, put_json, say, width
from tui.reasons import who
from tui.text import one_line

if TYPE_CHECKING:
    from graph.branches import Branch
    from graph.reading import LogReader

DEEPEST = 24  # columns that lines are set in at most

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


@dataclass(frozen=True, slots=True)
class TreeLine:
    """A turn of the tree: what is drawn before it and before what belongs to it, and its place among its like."""

    branch: "Branch"
    parent: str | None
    lead: str
    below: str
    place: str  # 2/3, or nothing where it stands alone


@app.command()
def tree(
    ctx: typer.Context,
    session: Annotated[
        str | None,
        typer.Argument(metavar="SESSION", help="The chat; without it the last one.", autocompletion=complete_session),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Show the branches of a chat.

    ● is on the current path, ○ on another branch; forks are listed where they leave.
    """
    from graph.reading import LogReader

    reader = LogReader.open(home_of(ctx, writing=False).memory)
    of, _ = aim(reader, session)
    lines = lines_of(reader.tree(of.id))
    if as_json:
        turns = [_json(reader, line) for line in lines]
        put_json({"session": of.id, "name": of.name, "world": of.world, "head": of.head, "turns": turns})
        return
    world = "" if of.world == MAIN else f" · what-if {one_line(of.world)}"
    put(paint(one_line(of.name or "(no title yet)"), "1") + paint(f"  {of.id}{world}", "2"))
    for line in lines:
        put(_drawn(line))
        for fork in line.branch.forks:
            put(_fork(reader, line, fork, of.world))
    if not lines:
        say("Nothing was said in this chat yet.")


def lines_of(branches: "tuple[Branch, ...]") -> list[TreeLine]:
    """The turns in the order in which they are drawn; however deep the tree is, nothing calls itself."""
    found: list[TreeLine] = []
    left = [*reversed(_siblings(branches, None, ""))]
    while left:
        line = left.pop()
        found.append(line)
        left += reversed(_siblings(line.branch.children, line.branch.turn, line.below))
    return found


def _siblings(branches: "tuple[Branch, ...]", parent: str | None, indent: str) -> list[TreeLine]:
    """What follows one turn, each on its line: set in where it is more than one."""
    among, before = Counter(branch.role for branch in branches), Counter[str]()
    lines = []
    for number, branch in enumerate(branches, start=1):
        before[branch.role] += 1
        count = among[branch.role]
        place = f"{before[branch.role]}/{count}" if count > 1 else ""
        last = number == len(branches)
        lead, below = (indent + ("└─ " if last else "├─ "), indent + ("   " if last else "│  "))
        if len(branches) == 1 or len(below) > DEEPEST:
            lead = below = indent
        lines.append(TreeLine(branch, parent, lead, below, place))
    return lines


def _drawn(line: TreeLine) -> str:
    branch = line.branch
    dot = "●" if branch.on_path else "○"
    words = "(hidden)" if branch.hidden else branch.text if branch.text is not None else "(erased)"
    place = f"‹{line.place}› " if line.place else ""
    tail = "  ◀ the chat is here" if branch.head else ""
    head = f"{line.lead}{dot} {one_line(branch.turn)}  "
    text = fit(f"{place}{who(branch.role, branch.speaker)}: {words}", max(12, width() - len(head) - len(tail)))
    return paint(head, "36" if branch.on_path else "2") + text + paint(tail, "1")


def _fork(reader: "LogReader", line: TreeLine, fork: str, world: str) -> str:
    about = reader.session(fork)
    kind = "fork" if about.world == world else "what-if"
    lead = f"{line.below}  ↳ {kind} {one_line(fork)}  "
    return paint(lead + fit(about.name or "(no title yet)", max(12, width() - len(lead))), "35")


def _json(reader: "LogReader", line: TreeLine) -> dict[str, object]:
    branch = line.branch
    forks = [reader.session(fork) for fork in branch.forks]
    return {
        "turn": branch.turn,
        "parent": line.parent,
        "role": branch.role,
        "speaker": branch.speaker,
        "text": branch.text,
        "at": instant(branch.at),
        "on_path": branch.on_path,
        "head": branch.head,
        "hidden": branch.hidden,
        "alternative": line.place or None,
        "forks": [{"session": fork.id, "world": fork.world, "name": fork.name} for fork in forks],
    }
