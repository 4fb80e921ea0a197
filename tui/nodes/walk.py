"""A walk through the graph, apart from any screen, and how nodes and what joins them are told on the way."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from textual.content import Content

from graph.errors import NotFound
from graph.relations import kinds
from graph.walk.neighbours import PER
from tui.drawing.cells import kind_of, sign_of
from tui.reasons import who
from tui.relationships import stands
from tui.text import MUTED, cut, one_line, plain, spaced, when
from tui.worlds import MAIN

if TYPE_CHECKING:
    from agent.face import Face
    from graph.values import Ego, Node, Ref, Side


Worlds = Mapping[str, str]  # what to call those that are not the main one

ROOM = 36  # columns from which a row tells more than words
MOST_SHOWN = 2_000  # characters of a text above the list
HIDDEN_WORDS = "hidden"
ERASED = "erased"
RELATIONS: Mapping[tuple[str, bool], str] = {
    ("IN_WORLD", True): "in the world",
    ("IN_WORLD", False): "chats of it",
    ("HEAD", True): "currently at",
    ("HEAD", False): "chats currently here",
    ("IN_SESSION", True): "said in",
    ("IN_SESSION", False): "said in it",
    ("REPLIES_TO", True): "follows",
    ("REPLIES_TO", False): "followed by",
    ("SAID_BY", True): "said by",
    ("SAID_BY", False): "said",
    ("RECALLED", True): "recalled for it",
    ("RECALLED", False): "recalled for",
    ("MENTIONS", True): "names",
    ("MENTIONS", False): "named in",
    ("DERIVED_FROM", True): "learned from",
    ("DERIVED_FROM", False): "proves",
    ("SUPPORTED_BY", True): "also proven by",
    ("SUPPORTED_BY", False): "also proof of",
    ("REINFORCED_BY", True): "came up again in",
    ("REINFORCED_BY", False): "came back to",
    ("RETIRED_BY", True): "contradicted by",
    ("RETIRED_BY", False): "contradicts",
    ("SUPERSEDES", True): "replaces",
    ("SUPERSEDES", False): "replaced by",
    ("INSTEAD_OF", True): "stands in for",
    ("INSTEAD_OF", False): "its stand-in",
    ("SYNTHESIZED_FROM", True): "made from",
    ("SYNTHESIZED_FROM", False): "what was made from it",
    ("WORDED_FROM", True): "consolidated from",
    ("WORDED_FROM", False): "went into",
    ("ABOUT", True): "about",
    ("ABOUT", False): "what was learned about it",
    ("SCOPED_TO", True): "of the project",
    ("SCOPED_TO", False): "chats of it",
    ("PART_OF", True): "part of",
    ("PART_OF", False): "its passages",
    ("REFERS_TO", True): "refers to",
    ("REFERS_TO", False): "attached to",
    ("WRITTEN_BY", True): "written by",
    ("WRITTEN_BY", False): "wrote in",
}
NOUNS: Mapping[str, tuple[str, str]] = {
    "Turn": ("message", "messages"),
    "Observation": ("memory", "memories"),
    "Entity": ("name", "names"),
    "Session": ("chat", "chats"),
    "Document": ("document", "documents"),
    "Chunk": ("passage", "passages"),
    "Project": ("project", "projects"),
    "World": ("world", "worlds"),
    "CoreBlock": ("core block", "core blocks"),
    "Wording": ("version", "versions"),
    "Reference": ("reference", "references"),
}
STATUS = {"active": "in use", "candidate": "to review", "superseded": "superseded", "invalid": "not true"}


def relation_of(name: str, *, outgoing: bool) -> str:
    """What a relationship means from where one stands; an unknown one is called as the graph calls it."""
    if (kind := kinds().get(name)) is not None:
        return kind.label if outgoing else kind.inverse
    return RELATIONS.get((name, outgoing)) or name.lower().replace("_", " ")


def heading(side: "Side", shown: int) -> Content:
    """A relationship, how many there are of it, and how a query calls it."""
    one, many = NOUNS.get(side.table, (side.table, side.table))
    count = f"{spaced(shown)} of {spaced(side.total)}" if shown < side.total else spaced(side.total)
    arrow = f"-[:{side.relation}]->" if side.outgoing else f"<-[:{side.relation}]-"
    return Content.assemble(
        plain(relation_of(side.relation, outgoing=side.outgoing), "bold $secondary"),
        plain(f"  {count} {one if side.total == 1 else many}"),
        plain(f"  {arrow}", MUTED),
    )


def related(node: "Node", now: datetime, *, outgoing: bool) -> Content:
    """A neighbour by a kind of relationship on one line; what is over is dimmed."""
    assert node.stands is not None
    over = node.stands.until is not None
    name = HIDDEN_WORDS if node.mark == HIDDEN_WORDS else one_line(node.title) or ERASED
    told, facts = stands(node.stands, name, now, outgoing=outgoing)
    return Content.assemble(
        plain(f"{sign_of(node)} ", MUTED if over else f"${kind_of(node.ref.table).colour}"),
        plain(told, MUTED if over else ""),
        plain(facts, MUTED),
    )


def row(node: "Node", width: int, now: datetime, worlds: Worlds) -> Content:
    """A neighbour on one line: its sign, whose and when, why it is not in force, and its words."""
    facts = _brief(node, now) if width >= ROOM else ""
    parts = [plain(f"{sign_of(node)} ", f"${kind_of(node.ref.table).colour}")]
    if facts:
        parts.append(plain(f"{facts}  ", MUTED))
    if marks := _marks(node, worlds):
        parts.append(plain(f"{marks}  ", "italic $warning"))
    return Content.assemble(*parts, _title(node, width))


def head(node: "Node", width: int, lines: int, now: datetime, worlds: Worlds) -> Content:
    """The node in the middle: what it is, its words in so many lines, and its particulars."""
    kind = NOUNS.get(node.ref.table, (node.ref.table, ""))[0]
    facts = _brief(node, now)
    marks = _marks(node, worlds)
    first = Content.assemble(
        plain(f"{sign_of(node)} {kind[:1].upper()}{kind[1:]}", f"bold ${kind_of(node.ref.table).colour}"),
        plain(f"  {facts}" if facts else "", MUTED),
        plain(f"  {marks}" if marks else "", "italic $warning"),
    ).truncate(max(1, width), ellipsis=True)
    text = str(node.details.get("text") or node.title)
    words = plain(text[:MOST_SHOWN].strip(), "bold") if text.strip() else _title(node, width)
    wrapped = words.wrap(max(1, width))
    if len(wrapped) > lines:
        wrapped = [*wrapped[: lines - 1], wrapped[lines - 1].truncate(max(1, width - 1)) + plain("…", "bold")]
    particulars = _particulars(node, now)
    last = [plain(particulars, MUTED).truncate(max(1, width), ellipsis=True)] if particulars else []
    return Content("\n").join([first, *wrapped, *last])


def told(node: "Node", text: str | None, width: int, now: datetime, worlds: Worlds) -> tuple[Content, Content]:
    """A step of a proof: what it is, then its words, quoted where somebody said them."""
    marks = _marks(node, worlds)
    first = Content.assemble(
        plain(f"{sign_of(node)} ", f"${kind_of(node.ref.table).colour}"),
        plain(_brief(node, now), MUTED),
        plain(f"  {marks}" if marks else "", "italic $warning"),
    )
    return first, plain(f"“{one_line(text[: 4 * max(1, width)])}”") if text else _title(node, width)


def name_of(node: "Node", most: int) -> str:
    """A node in a word or two, for the way that was walked."""
    if node.mark == HIDDEN_WORDS or not node.title:
        return NOUNS.get(node.ref.table, (node.ref.table, ""))[0]
    return cut(node.title, most)


def speaker(node: "Node") -> str:
    """Who said a message."""
    return who(str(node.details.get("role", "")), str(node.details.get("speaker", "")))


def _title(node: "Node", width: int) -> Content:
    if node.mark == HIDDEN_WORDS:
        return plain(HIDDEN_WORDS, f"italic {MUTED}")
    if not node.title:
        return plain(ERASED, f"italic {MUTED}")
    return plain(one_line(node.title[: 4 * max(1, width)]), MUTED if node.mark else "")


def _marks(node: "Node", worlds: Worlds) -> str:
    mark = "" if node.mark in (HIDDEN_WORDS, ERASED) else node.mark
    world = worlds.get(node.world, "what-if") if node.world is not None else ""
    return " · ".join(part for part in (mark, world) if part)


def _brief(node: "Node", now: datetime) -> str:
    """Whose and when."""
    details, at = node.details, when(node.at, now) if node.at is not None else ""
    match node.ref.table:
        case "Turn":
            return " · ".join(part for part in (at, speaker(node)) if part)
        case "Observation":
            return " · ".join(part for part in (at, str(details.get("kind", ""))) if part)
        case "Session":
            return " · ".join(part for part in (at, _counted(details.get("turns", 0), "message")) if part)
        case "Entity":
            return one_line(str(details.get("kind", "")))
        case "Document":
            return " · ".join(part for part in (at, one_line(str(details.get("type", "")))) if part)
        case "Reference":
            return " · ".join(part for part in (at, str(details.get("kind", ""))) if part)
        case "Chunk":
            place = details.get("position")
            return f"passage {place + 1}" if isinstance(place, int) else ""
    return ""


def _particulars(node: "Node", now: datetime) -> str:
    """What else there is to know of it, on one line."""
    details, parts = node.details, list[str]()
    match node.ref.table:
        case "Turn":
            if "significance" in details:
                parts.append(f"significance {details['significance']}")
            parts += [one_line(str(details[name])) for name in ("client", "model", "error") if name in details]
            if "completion_tokens" in details:
                parts.append(_counted(details["completion_tokens"], "token"))
        case "Observation":
            parts.append(STATUS.get(str(details.get("status")), ""))
            if isinstance(sure := details.get("confidence"), (int, float)):
                parts.append(f"{100 * sure:.0f}% sure at first")
            if "project" in details:
                parts.append(f"project {one_line(str(details['project']))}")
            if details.get("grounded") is False:
                parts.append("not fully supported by its proof")
        case "Session":
            parts += [f"{label} {one_line(str(details[name]))}" for name, label in _OF_CHATS if name in details]
        case "Document":
            parts += [one_line(str(details[name])) for name in ("path", "project", "tags") if name in details]
        case "Project":
            parts.append(one_line(str(details.get("description", ""))))
        case "CoreBlock":
            parts.append(f"written by {one_line(str(details['by']))}" if "by" in details else "")
    if details.get("pinned"):
        parts.append("pinned")
    return " · ".join(part for part in parts if part)


_OF_CHATS = (("project", "project"), ("model", "answered by"), ("client", "started in"))


def _counted(count: Any, noun: str) -> str:
    return f"{spaced(count)} {noun}" + ("" if count == 1 else "s")


MORE = 100  # neighbours that are read when more are asked for
MOST = 5_000  # neighbours of a side that are ever shown at once
GONE = "It has been deleted."


@dataclass(frozen=True, slots=True)
class WalkStop:
    """A node one came by, and the row that was chosen there."""

    node: "Node"
    chosen: str | None


class NodeWalk:
    """Where one stands. Every step asks the memory first: one that fails leaves everything as it is."""

    def __init__(self, service: "Face", ego: "Ego", *, world: str = MAIN) -> None:
        self._service = service
        self.world = world
        self.ego = ego
        self.sides = ego.sides  # as they are shown: with more of them read, or only those with `text`
        self.text = ""
        self.trail: list[WalkStop] = []

    async def to(self, ref: "Ref", chosen: str | None) -> None:
        """Stand at another node; `chosen` is the row that is left. Raises NotFound or GraphFailure."""
        ego = await self._service.graph.ego(ref, world=self.world)
        if ego.node.ref != self.ego.node.ref:
            self.trail.append(WalkStop(self.ego.node, chosen))
        self._stand(ego)

    async def back(self) -> tuple[bool, str | None]:
        """Stand at the node before, past those that are gone: whether there is one, and the row that was chosen."""
        while self.trail:
            stop = self.trail[-1]
            try:
                ego = await self._service.graph.ego(stop.node.ref, world=self.world)
            except NotFound:
                self.trail.pop()
                continue
            self.trail.pop()
            self._stand(ego)
            return True, stop.chosen
        return False, None

    async def again(self, *, if_changed: bool = False) -> bool:
        """Read where one stands again, or keep it where it is as it was and only wanted `if_changed`: whether it was.

        Raises NotFound where it is gone, or GraphFailure.
        """
        before, text = self.ego, self.text
        ego = await self._service.graph.ego(before.node.ref, world=self.world)
        if self.ego is not before or (if_changed and ego == before):
            return False
        self._stand(ego)
        if text:
            await self.find(text)
        return True

    async def find(self, text: str) -> None:
        """Show only the neighbours with these words; all of them where there are none. Raises NotFound."""
        ego, words = self.ego, " ".join(text.split())
        if not words:
            self.text, self.sides = "", ego.sides
            return
        found = [
            await self._service.graph.neighbours(ego.node.ref, side.key, text=words, limit=PER, world=self.world)
            for side in ego.sides
        ]
        if ego is self.ego:
            self.text, self.sides = words, tuple(side for side in found if side.total)

    async def more(self, side: "Side") -> bool:
        """Read more of a side; False where no more of it is shown than is. Raises NotFound."""
        if len(side.nodes) >= MOST:
            return False
        ego, text = self.ego, self.text
        page = await self._service.graph.neighbours(
            ego.node.ref, side.key, text=text, offset=len(side.nodes), limit=MORE, world=self.world
        )
        if ego is not self.ego or text != self.text:
            return True
        nodes = tuple({(node.ref, node.stands): node for node in (*side.nodes, *page.nodes)}.values())
        longer = replace(side, nodes=nodes, total=max(page.total, len(nodes)) if page.nodes else len(nodes))
        self.sides = tuple(longer if each.key == side.key else each for each in self.sides)
        return True

    def _stand(self, ego: "Ego") -> None:
        self.ego, self.sides, self.text = ego, ego.sides, ""
