"""A walk through the graph, apart from any screen: where one stands, what is next to it, and the way one came."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from graph.errors import NotFound
from graph.walk.neighbours import PER

if TYPE_CHECKING:
    from agent.agent import Agent
    from graph.walk.subgraphs import Ego, Node, Ref, Side

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

    def __init__(self, service: "Agent", ego: "Ego") -> None:
        self._service = service
        self.ego = ego
        self.sides = ego.sides  # as they are shown: with more of them read, or only those with `text`
        self.text = ""
        self.trail: list[WalkStop] = []

    async def to(self, ref: "Ref", chosen: str | None) -> None:
        """Stand at another node; `chosen` is the row that is left. Raises NotFound or GraphFailure."""
        ego = await self._service.graph.ego(ref)
        if ego.node.ref != self.ego.node.ref:
            self.trail.append(WalkStop(self.ego.node, chosen))
        self._stand(ego)

    async def back(self) -> tuple[bool, str | None]:
        """Stand at the node before, past those that are gone: whether there is one, and the row that was chosen."""
        while self.trail:
            stop = self.trail[-1]
            try:
                ego = await self._service.graph.ego(stop.node.ref)
            except NotFound:
                self.trail.pop()
                continue
            self.trail.pop()
            self._stand(ego)
            return True, stop.chosen
        return False, None

    async def again(self) -> None:
        """Read where one stands again. Raises NotFound where it is gone, or GraphFailure."""
        ego, text = await self._service.graph.ego(self.ego.node.ref), self.text
        self._stand(ego)
        if text:
            await self.find(text)

    async def find(self, text: str) -> None:
        """Show only the neighbours with these words; all of them where there are none. Raises NotFound."""
        ego, words = self.ego, " ".join(text.split())
        if not words:
            self.text, self.sides = "", ego.sides
            return
        found = [
            await self._service.graph.neighbours(ego.node.ref, side.key, text=words, limit=PER) for side in ego.sides
        ]
        if ego is self.ego:
            self.text, self.sides = words, tuple(side for side in found if side.total)

    async def more(self, side: "Side") -> bool:
        """Read more of a side; False where no more of it is shown than is. Raises NotFound."""
        if len(side.nodes) >= MOST:
            return False
        ego, text = self.ego, self.text
        page = await self._service.graph.neighbours(
            ego.node.ref, side.key, text=text, offset=len(side.nodes), limit=MORE
        )
        if ego is not self.ego or text != self.text:
            return True
        nodes = tuple({node.ref: node for node in (*side.nodes, *page.nodes)}.values())
        longer = replace(side, nodes=nodes, total=max(page.total, len(nodes)) if page.nodes else len(nodes))
        self.sides = tuple(longer if each.key == side.key else each for each in self.sides)
        return True

    def _stand(self, ego: "Ego") -> None:
        self.ego, self.sides, self.text = ego, ego.sides, ""
