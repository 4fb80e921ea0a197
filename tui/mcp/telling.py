"""Memory's values as the answers that other programs get: bounded, with when, who and where, and nothing hidden."""

from typing import TYPE_CHECKING

from tui.commands.output import instant
from tui.mcp.shapes import MOST_TEXT, Hit, Item, Quoted
from tui.reasons import why
from tui.text import clean

if TYPE_CHECKING:
    from graph import hits
    from graph.subgraphs import Node
    from graph.values import Turn
    from tui.reasons import Shared

KINDS = {"turn": "message", "observation": "memory", "chunk": "document"}
IN_FORCE = frozenset({"", "archived"})  # marks of what still holds: an archived chat's memory stays


def may_be_told(turn: "Turn | None") -> bool:
    """Whether a turn is anybody else's business: it has words, and the user neither hid it nor keeps it out."""
    return turn is not None and turn.text is not None and not (turn.hidden or turn.withheld or turn.deleted)


def speaker(role: str, name: str) -> str:
    """Who said something, for somebody to whom "you" means themselves."""
    match role, name:
        case "assistant", "assistant" | "":
            return "the assistant"
        case "user" | "note", "you" | "":
            return "the user"
        case _:
            return clean(name) or role


def bounded(text: str) -> tuple[str, bool]:
    """A text, and whether something of it was left out."""
    words = clean(text)
    return words[:MOST_TEXT], len(words) > MOST_TEXT


def told(turn: "Turn", title: str | None) -> Quoted:
    """A turn that may be told."""
    text, cut = bounded(turn.text or "")
    return Quoted(
        id=turn.id,
        kind="message",
        text=text,
        cut=cut,
        at=instant(turn.at),
        who=speaker(turn.role, turn.speaker),
        session=turn.session,
        session_title=title,
    )


def told_hit(hit: "hits.Hit", tied: "Shared") -> Hit:
    """Something recalled."""
    text, cut = bounded(hit.text)
    return Hit(
        id=hit.id,
        kind=KINDS[hit.kind],
        text=text,
        cut=cut,
        at=instant(hit.at),
        who=f"document: {clean(hit.speaker)}" if hit.kind == "chunk" else speaker(hit.role, hit.speaker),
        session=hit.session,
        session_title=hit.session_name,
        score=round(hit.score, 4),
        why=why(hit, tied).replace("pinned by you", "pinned by the user"),
        sources=list(hit.sources),
    )


def told_node(node: "Node") -> Item:
    """A node of the graph."""
    at = instant(node.at) if node.at is not None else None
    return Item(id=node.ref.id, kind=node.ref.table, text=clean(node.title), at=at)


def in_force(node: "Node") -> bool:
    """Whether a node holds in the main world, and its words may be seen."""
    return node.mark in IN_FORCE and node.world is None and bool(node.title) and node.details.get("role") != "tool"
