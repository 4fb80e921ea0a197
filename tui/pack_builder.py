"""Makes what the memory panel shows: what was recalled for a reply, why, and why there is nothing.

Pure: made from what the agent hands out, tested without an app.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

from agent.quoting import excerpt
from tui.dates import when
from tui.reasons import shared, who, why
from tui.state import Pack, PackItem
from tui.text import cut, one_line

if TYPE_CHECKING:
    from graph.beliefs import Observation
    from graph.hits import Hit
    from graph.values import Turn
    from tui.reasons import Shared
    from tui.state import State

LONGEST = 280  # characters of an item's words; Enter opens all of them
MOST_PINNED = 12
NO_REPLY = "No reply yet. What is recalled for a reply appears here."
RECALL_OFF = "Recall is off (recall = false in config.toml): replies use only this chat."
NOTHING_FITS = "No memories match this message."
NOTHING_THEN = "No memories were used for this reply."
GONE = "What was recalled for this reply has been hidden or erased since."
ROUTES = {
    "recent": "You asked for recent messages: these are the newest, not the best matches.",
    "thread": "You asked about this chat: these are the parts that no longer fit in the prompt.",
    "themes": "You asked for themes: the model was given the themes of the whole memory.",
}
LOOKING = "Searching the memory …"


@dataclass(frozen=True, slots=True)
class PanelRequest:
    """What the panel is asked to show: the reply of that id (None: the one in the making) to the message `turn`.

    `query` is what was looked for by hand instead; then there is no reply.
    """

    reply: str | None = None
    turn: str | None = None
    said: str = ""
    recalled: int = 0
    newest: bool = True
    query: str | None = None


def title_of(wanted: PanelRequest) -> str:
    """What the items below were recalled for."""
    said = wanted.query if wanted.query is not None else wanted.said
    return f"for “{cut(said, 60)}”" if said.strip() else ""


def item_of_hit(hit: "Hit", now: datetime, tied: "Shared", *, asked: str, pinned: bool, hidden: bool) -> PackItem:
    """A hit as an item: of long words the stretch that answers best what was asked, as the model was given it."""
    words = excerpt(one_line(hit.text), asked, LONGEST - 2)  # and a mark at either end
    match hit.kind:
        case "observation":
            head = _joined((when(hit.at, now), "learned"))
        case "chunk":
            head = _joined((when(hit.at, now), cut(hit.session_name or "a document", 40)))
        case _:
            head = _joined(
                (when(hit.at, now), who(hit.role, hit.speaker), _chat(hit.session_name, cut(hit.text, LONGEST)))
            )
    whole = hit.text if hit.kind == "chunk" else ""
    return PackItem(hit.id, hit.session, head, words, why(hit, tied), pinned, hidden, hit.kind, whole)


def item_of_pin(turn: "Turn", now: datetime, names: Mapping[str, str | None], *, hidden: bool) -> PackItem:
    """A pinned turn as an item."""
    words = "erased" if turn.text is None else cut(turn.text, LONGEST)
    parts = (when(turn.at, now), who(turn.role, turn.speaker), _chat(names.get(turn.session), words))
    return PackItem(turn.id, turn.session, _joined(parts), words, "", pinned=True, hidden=hidden or turn.hidden)


def item_of_belief(observation: "Observation", now: datetime) -> PackItem:
    """A pinned observation as an item."""
    words = "erased" if observation.text is None else cut(observation.text, LONGEST)
    head = _joined((when(observation.at, now), "learned"))
    return PackItem(observation.id, "", head, words, "", pinned=True, kind="observation")


def _chat(name: str | None, words: str) -> str:
    """The chat's name, unless it is only the words below it again."""
    line = one_line(name or "")
    return "" if words.startswith(line.rstrip("…")) else cut(line, 22)


def _joined(parts: Sequence[str]) -> str:
    return " · ".join(part for part in parts if part)


def pack_of(
    wanted: PanelRequest,
    hits: "Sequence[Hit]",
    pins: "Sequence[Turn]",
    *,
    state: "State",
    recall_on: bool,
    now: datetime,
    names: Mapping[str, str | None],
    hidden: frozenset[str] = frozenset(),
    missed: str = "",
    beliefs: "Sequence[Observation]" = (),
) -> Pack:
    """The panel for what is wanted; `hidden` are the turns that recall leaves out, `names` those of the chats.

    `missed` is what the reply was told instead of quotes, `beliefs` are the pinned observations.
    """
    pinned_ids = {turn.id for turn in pins} | {belief.id for belief in beliefs}
    asked = wanted.query if wanted.query is not None else wanted.said
    tied = shared(hits)
    items = tuple(
        item_of_hit(hit, now, tied, asked=asked, pinned=hit.id in pinned_ids, hidden=hit.id in hidden) for hit in hits
    )
    pinned = (
        *(item_of_belief(belief, now) for belief in beliefs),
        *(item_of_pin(turn, now, names, hidden=turn.id in hidden) for turn in pins),
    )
    return Pack(
        title_of(wanted),
        state.what_if,
        items,
        pinned[:MOST_PINNED],
        max(0, len(pinned) - MOST_PINNED),
        note_of(wanted, bool(items), state, recall_on=recall_on, missed=missed),
    )


def keep_hidden(pack: Pack, before: Pack, hidden: Collection[str]) -> Pack:
    """The pack with what was just hidden from it still at its place, marked, so that it can be brought back there."""
    if pack.title != before.title:
        return pack
    there = {item.turn for item in pack.recalled}
    items = list(pack.recalled)
    for place, item in enumerate(before.recalled):
        if item.turn in hidden and item.turn not in there:
            items.insert(place, replace(item, hidden=True))
    return replace(pack, recalled=tuple(items), note="" if items and not pack.recalled else pack.note)


def note_of(wanted: PanelRequest, found: bool, state: "State", *, recall_on: bool, missed: str = "") -> str:
    """Why there is nothing to see, or what the search could not use; empty where nothing needs saying."""
    recall = state.recall_for(wanted.turn) if wanted.turn is not None else None
    if wanted.query is None and wanted.reply is None and wanted.turn is None:
        return NO_REPLY if recall_on else RECALL_OFF
    now = wanted.newest or wanted.query is not None
    trouble = _trouble(state) if now else ""
    if found:
        return trouble or (ROUTES.get(recall.route, "") if recall is not None else "")
    if wanted.recalled and wanted.reply is not None and recall is None:
        return GONE
    if recall is not None and recall.note:
        return one_line(recall.note)
    if missed:
        return one_line(missed)
    if not recall_on and wanted.query is None:
        return RECALL_OFF
    if wanted.reply is None and wanted.query is None and recall is None:
        return LOOKING
    fits = NOTHING_FITS if now else NOTHING_THEN
    return f"{fits} {trouble}".strip()


def _trouble(state: "State") -> str:
    """What recall cannot use just now."""
    graph, embedding = state.graph, state.embedding
    if graph is None or graph.state == "opening":
        return "The memory graph is still opening."
    if graph.state in ("rebuilding", "catching up"):
        share = f" ({100 * graph.done // graph.total}%)" if graph.total else ""
        doing = "being rebuilt" if graph.state == "rebuilding" else "catching up"
        return f"The graph is {doing}{share}; recall will be complete when that is done."
    if graph.state == "failed":
        return "The graph cannot be read, so nothing can be recalled. Run `clew doctor` to find out why."
    if embedding is not None and embedding.state == "loading":
        return "The embedder is still loading: recall works by words only."
    if embedding is not None and embedding.state == "failed":
        return "No embedder: recall works by words only."
    if embedding is not None and embedding.state == "embedding" and 2 * embedding.done < embedding.total:
        return (
            f"{embedding.done:,} of {embedding.total:,} messages can be found by meaning so far, all of them by words."
        )
    return ""
