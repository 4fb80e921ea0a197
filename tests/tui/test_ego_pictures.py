"""A node and its neighbours as whole screens, compared with pictures that were looked at."""

from collections.abc import Awaitable, Callable, Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from graph.branches import World
from graph.subgraphs import Edge, Ego, Node, ProofStep, Ref, Side, Subgraph
from graph.values import Session
from tests.tui.conftest import make_app, screen_text, settled, wait_until
from tests.tui.fake_agent import FakeAgent
from tui.app import ClewApp
from tui.egos.screen import EgoScreen
from tui.egos.walk import NodeWalk

Compare = Callable[..., bool]
NOON = datetime(2024, 3, 2, 12, tzinfo=UTC)


def message(id: str, words: str, *, speaker: str = "you", mark: str = "", days: int = 0) -> Node:
    role = "assistant" if speaker == "assistant" else "user"
    details: dict[str, Any] = {"role": role, "speaker": speaker, "session": "s", "text": words}
    return Node(Ref("Turn", id), words, NOON + timedelta(days=days), mark, None, details)


MEMORY = Node(
    Ref("Observation", "o"),
    "The boat is called Ada, after the grandmother who built it from larch.",
    NOON,
    "",
    "w",
    {"kind": "fact", "status": "active", "confidence": 0.82, "project": "boats"},
)
BEFORE = Node(Ref("Observation", "o0"), "The boat has no name yet", NOON, "superseded", None, {"kind": "fact"})
ADA = Node(Ref("Entity", "e"), "Ada", details={"kind": "person"})
SAID = (
    message("t1", "She built it from larch, you know, and named it after herself", days=1),
    message("t2", "", mark="hidden"),
    message("t3", "We call it Ada 🛶 [bold]not a tag[/]", speaker="Tom", days=40, mark="off the path"),
)


class FakeGraph:
    """The graph around one memory, as the parts of an agent that the screen asks."""

    def __init__(self) -> None:
        self.graph = self.branches = self.chats = self

    async def node(self, ref: Ref) -> Node:
        return MEMORY

    async def ego(self, ref: Ref, *, per: int = 20) -> Ego:
        sides = (
            Side("DERIVED_FROM", True, "Turn", 1_234, SAID),
            Side("SUPERSEDES", True, "Observation", 1, (BEFORE,)),
            Side("ABOUT", True, "Entity", 1, (ADA,)),
        )
        return Ego(MEMORY, sides)

    async def neighbours(
        self, ref: Ref, key: tuple[str, bool, str], *, text: str = "", offset: int = 0, limit: int = 50
    ) -> Side:
        return Side(*key, 0, ())

    async def provenance(self, observation: str) -> tuple[ProofStep, ...]:
        steps = (ProofStep(1, "DERIVED_FROM", each, each.details["text"] or None) for each in SAID)
        return (ProofStep(0, "", MEMORY), *steps, ProofStep(1, "SUPERSEDES", BEFORE))

    async def around(self, ref: Ref, *, limit: int = 40) -> Subgraph:
        ends = (*SAID, BEFORE, ADA)
        edges = tuple(Edge(MEMORY.ref, node.ref, "DERIVED_FROM" if node in SAID else "ABOUT") for node in ends)
        return Subgraph((MEMORY, *ends), edges, more_nodes=1_231, more_edges=1_231)

    async def subgraph(self, refs: Iterable[Ref]) -> Subgraph:
        raise AssertionError(refs)

    async def worlds(self) -> list[World]:
        return []

    async def get(self, session: str) -> Session:
        raise AssertionError(session)


def opened(app: ClewApp, *keys: str, shows: str) -> Callable[[Pilot[int]], Awaitable[None]]:
    async def run(pilot: Pilot[int]) -> None:
        await wait_until(pilot, lambda: app.chat is not None and app.chat.opened_once)
        graph: Any = FakeGraph()
        walk = NodeWalk(graph, await graph.ego(MEMORY.ref))
        await app.push_screen(EgoScreen(graph, (), walk, {"w": "Atlantis"}))
        await wait_until(pilot, lambda: "itself" in screen_text(app) or "Esc" in screen_text(app))
        await pilot.press(*keys)
        await wait_until(pilot, lambda: shows in screen_text(app), shows)
        await settled(pilot, app)

    return run


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (40, 14)])
def test_a_node_and_its_neighbours(snap_compare: Compare, tmp_path: Path, size: tuple[int, int]) -> None:
    app = make_app(FakeAgent(), tmp_path)
    shows = "of 1 237 nodes" if size[0] > 100 else "learned from"
    assert snap_compare(app, terminal_size=size, run_before=opened(app, "down", shows=shows))


def test_a_node_drawn_in_place_of_the_list(snap_compare: Compare, tmp_path: Path) -> None:
    app = make_app(FakeAgent(), tmp_path)
    assert snap_compare(app, terminal_size=(80, 24), run_before=opened(app, "d", shows="6 of 1 237 nodes"))


def test_the_words_that_prove_a_memory(snap_compare: Compare, tmp_path: Path) -> None:
    app = make_app(FakeAgent(), tmp_path)
    assert snap_compare(app, terminal_size=(80, 24), run_before=opened(app, "p", shows="this memory"))


def test_a_node_without_colour(snap_compare: Compare, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    app = make_app(FakeAgent(), tmp_path, theme="light")
    assert snap_compare(app, terminal_size=(80, 24), run_before=opened(app, "down", shows="learned from"))
