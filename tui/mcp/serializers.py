"""Memory's values as the answers that other programs get: bounded, with when, who and where, and nothing hidden."""

import json
import re
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from tui.mcp.shapes import MOST_ANSWER, MOST_TEXT, AnswerShape, HitShape, ItemShape, Quoted
from tui.output import instant
from tui.reasons import why
from tui.text import shown

if TYPE_CHECKING:
    from graph import hits
    from graph.newest import NewestItem
    from graph.subgraphs import Node
    from graph.values import Turn
    from tui.reasons import Shared

# Joiners and variation selectors that no script and no emoji has so many of in a row: they can spell out hidden text.
_HIDING = re.compile("[\u200c\u200d\ufe00-\ufe0f\U000e0100-\U000e01ef]{3,}")
MOST_REMARK = 200  # characters of what is said about one list that is cut
KINDS = {"turn": "message", "observation": "memory", "chunk": "document"}
IN_FORCE = frozenset({"", "archived"})  # marks of what still holds: an archived chat's memory stays


def may_be_told(turn: "Turn | None") -> bool:
    """Whether a turn is anybody else's business: it has words, and the user neither hid it nor keeps it out."""
    return turn is not None and turn.text is not None and not (turn.hidden or turn.withheld or turn.deleted)


def as_text(answer: AnswerShape) -> str:
    """An answer as JSON of at most MOST_ANSWER characters, which says what it leaves out of its lists.

    What could hide words in it or reorder them is replaced or gone, as on a screen.
    """
    told = harmless(answer.model_dump(mode="json"))
    text = _dumped(told)
    for name in answer.records:
        if len(text) <= MOST_ANSWER:
            break
        records = told[name]
        room = MOST_ANSWER - len(_dumped(told | {name: []})) - 2 * MOST_REMARK
        sizes = accumulate(len(_dumped(record)) + 2 for record in records)
        told[name] = records[: sum(size <= room for size in sizes)]
        said = (
            f"{len(records) - len(told[name]):,} of {len(records):,} {name} are left out, as an answer has at most "
            f"{MOST_ANSWER:,} characters. Ask for fewer, or for less of each."
        )
        told["left_out"] = f"{told['left_out']} {said}".lstrip()
        text = _dumped(told)
    return text


def harmless(value: Any) -> Any:
    """A JSON value whose every text is bounded and has nothing invisible, and nothing that a terminal would obey."""
    match value:
        case str():
            text, cut = bounded(_HIDING.sub("", value))
            return f"{text}…" if cut else text
        case list():
            return [harmless(each) for each in value]
        case dict():
            return {shown(key): harmless(each) for key, each in value.items()}
        case _:
            return value


def _dumped(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def speaker(role: str, name: str) -> str:
    """Who said something, for somebody to whom "you" means themselves."""
    match role, name:
        case "assistant", "assistant" | "":
            return "the assistant"
        case "user" | "note", "you" | "":
            return "the user"
        case _:
            return shown(name) or role


def bounded(text: str) -> tuple[str, bool]:
    """A text, and whether something of it was left out."""
    words = shown(text)
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


def told_hit(hit: "hits.Hit", tied: "Shared") -> HitShape:
    """Something recalled."""
    text, cut = bounded(hit.text)
    return HitShape(
        id=hit.id,
        kind=KINDS[hit.kind],
        text=text,
        cut=cut,
        at=instant(hit.at),
        who=f"document: {shown(hit.speaker)}" if hit.kind == "chunk" else speaker(hit.role, hit.speaker),
        session=hit.session,
        session_title=hit.session_name,
        score=round(hit.score, 4),
        why=why(hit, tied).replace("pinned by you", "pinned by the user"),
        sources=list(hit.sources),
    )


def told_node(node: "Node") -> ItemShape:
    """A node of the graph."""
    at = instant(node.at) if node.at is not None else None
    return ItemShape(id=node.ref.id, kind=node.ref.table, text=shown(node.title), at=at)


def told_newest(node: "NewestItem") -> ItemShape:
    """A node that is live, on one line."""
    return ItemShape(id=node.id, kind=node.kind.capitalize(), text=shown(node.text), at=instant(node.at))


def in_force(node: "Node") -> bool:
    """Whether a node holds in the main world, and its words may be seen."""
    return node.mark in IN_FORCE and node.world is None and bool(node.title) and node.details.get("role") != "tool"
