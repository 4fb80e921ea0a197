"""The drawn graph as one uses it: choosing, zooming, panning, saving, at any size and while it is laid out."""

import os
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from graph.values import Edge, Node, Ref, Subgraph
from tests.tui.acting import some
from tests.tui.conftest import wait_until
from tests.tui.drawing.graphs import SHAPES, TABLES, graph
from tests.tui.drawing.running import Drawing, chosen, drawn, fits, made, text_of
from tui.drawing import view as module
from tui.drawing.cells import kind_of
from tui.drawing.layout import Layout, layout
from tui.drawing.picture import BETWEEN
from tui.drawing.svg import save
from tui.drawing.view import GraphView

pytestmark = pytest.mark.ui

CROSS = Subgraph(
    tuple(Node(Ref("Entity", name), name) for name in ("middle", "a", "b", "c", "d")),
    tuple(Edge(Ref("Entity", "middle"), Ref("Entity", name), "KNOWS") for name in "abcd"),
)


async def test_arrows_lead_to_the_nearest_node_in_their_direction_enter_and_a_second_click_choose() -> None:
    middle = Ref("Entity", "middle")
    async with drawn(CROSS, focus=middle) as (app, pilot):
        spots = {spot.node.ref.id: spot for spot in made(app.view).spots}
        for key, across, down in (("left", -1, 0), ("right", 1, 0), ("up", 0, -1), ("down", 0, 1)):
            app.view.show(CROSS, middle)
            await wait_until(pilot, lambda: app.view.chosen and app.view.chosen.ref == middle)
            await pilot.press(key)
            found = spots[chosen(app).id]
            assert (found.x - spots["middle"].x) * across + (found.y - spots["middle"].y) * down > 0
        app.view.show(CROSS, middle)
        await wait_until(pilot, lambda: app.view.chosen and app.view.chosen.ref == middle)
        await pilot.press("enter")
        await pilot.pause()
        assert app.heard[-1] == ("chosen", middle)
        other = spots["b"]
        for times, heard in ((1, "moved"), (2, "chosen")):
            await pilot.click(GraphView, offset=(other.x, other.y), times=times)
            await pilot.pause()
            assert app.heard[-1] == (heard, Ref("Entity", "b"))
        before = app.view.render_line(11)
        app.theme = "clew-light"
        await pilot.pause()
        assert app.view.render_line(11) != before, "a new theme repaints"


async def test_tab_reaches_every_node_and_comes_back_and_l_lays_out_the_other_way() -> None:
    async with drawn(SHAPES["dense"]) as (app, pilot):
        seen = []
        for _ in range(40):
            seen.append(chosen(app))
            await pilot.press("tab")
        assert len(set(seen)) == 40
        assert chosen(app) == seen[0]
        await pilot.press("shift+tab")
        assert chosen(app) == seen[-1]
        for kind in ("layered", "force"):
            await pilot.press("l")
            await wait_until(pilot, lambda kind=kind: made(app.view).kind == kind)  # type: ignore[misc]


async def test_the_foot_tells_the_chosen_node_in_full_and_what_is_left_out_and_no_word_of_it_is_cut() -> None:
    title = "a title that is longer than any label may be, and then some"
    many = graph(210, [], titles=(title,))
    async with drawn(Subgraph(many.nodes, (), more_nodes=3)) as (app, pilot):
        about, foot = text_of(app).splitlines()[-2:]
        assert title in about
        assert "name" in about
        assert "40 of 213 nodes; + shows more" in foot
        app.view.show(Subgraph(graph(3, []).nodes, (), more_nodes=12_340))
        await wait_until(pilot, lambda: "3 of 12 343 nodes" in text_of(app))
        assert "shows more" not in text_of(app)
        app.view.show(SHAPES["pieces"])
        for width in some(*range(30, 100, 7)):
            await pilot.resize_terminal(width, 27)
            await wait_until(pilot, lambda width=width: made(app.view).width == width)  # type: ignore[misc]
            parts = text_of(app).splitlines()[-1].strip().split(BETWEEN)
            whole = [f"{kind.sign} {kind.word}" for kind in map(kind_of, TABLES)]
            assert set(parts[1:]) <= {*whole, "▸ mentions", "hollow: not in use"}
        app.view.show(SHAPES["star"])
        await pilot.resize_terminal(60, 20)
        await wait_until(pilot, lambda: "of 40 nodes; + shows more" in text_of(app))
        await pilot.press("plus", "plus", "plus", "plus")
        await wait_until(pilot, lambda: "40 nodes" in text_of(app) and "shows more" not in text_of(app))


async def test_zooming_draws_more_keeps_the_chosen_node_in_view_and_nought_fits_again() -> None:
    async with drawn(graph(210, [(0, at) for at in range(1, 210)])) as (app, pilot):
        assert fits(app.view, 80, 22)
        await pilot.press("plus", "plus")
        await wait_until(pilot, lambda: fits(app.view, 160, 44))
        assert len(made(app.view).spots) == 160
        assert app.view.max_scroll_x == 80
        assert app.view.max_scroll_y == 22
        before = app.view.scroll_offset
        await pilot.press("shift+right", "shift+down", "shift+left", "shift+left", "shift+up", "shift+up")
        assert app.view.scroll_offset != before
        assert all(len(line) == 80 for line in text_of(app).splitlines())
        await pilot.press("0")
        await wait_until(pilot, lambda: fits(app.view, 80, 22))
        await pilot.press("minus")
        assert fits(app.view, 80, 22)
        assert app.view.scroll_offset == (0, 0)
        app.view.show(SHAPES["tree"], Ref("Entity", "36"))
        await wait_until(pilot, lambda: app.view.chosen and app.view.chosen.ref.id == "36")
        await pilot.press("plus", "plus", "plus", "plus")
        await wait_until(pilot, lambda: fits(app.view, 320, 88))
        assert chosen(app).id == "36"
        spot = next(spot for spot in made(app.view).spots if spot.node.ref.id == "36")
        assert spot.text in text_of(app)


@pytest.mark.process
async def test_s_writes_a_picture_and_says_where_or_why_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    async with drawn(CROSS) as (app, pilot):
        await pilot.press("s")
        await wait_until(pilot, lambda: app.saved)
        (written,) = os.listdir(tmp_path)
        assert written in app.saved[0].words
        monkeypatch.setattr(module, "keep", lambda made, *, dark: save(made, tmp_path / "gone" / "drawing.svg"))
        await pilot.press("s")
        await wait_until(pilot, lambda: len(app.saved) == 2)
        assert app.saved[1].failed
        assert "drawing.svg" in app.saved[1].words


async def test_twenty_columns_get_a_list_and_back_again_the_drawing_and_any_size_is_painted_whole() -> None:
    async with drawn(SHAPES["tree"]) as (app, pilot):
        await pilot.press("plus")
        await wait_until(pilot, lambda: fits(app.view, 120, 33))
        await pilot.resize_terminal(20, 12)
        await wait_until(pilot, lambda: made(app.view).kind == "list" and made(app.view).width == 20)
        assert len(made(app.view).spots) == 40
        await pilot.press("down", "down")
        assert chosen(app) == SHAPES["tree"].nodes[2].ref
        await pilot.press("shift+tab", "shift+tab", "shift+tab")
        assert "▲" in text_of(app)  # the last of the list is in view
        await pilot.press("0")
        await pilot.resize_terminal(80, 27)
        await wait_until(pilot, lambda: fits(app.view, 80, 22))

        app.view.show(SHAPES["scripts"])
        await wait_until(pilot, lambda: "[bold red]mar" in text_of(app))  # markup is shown as words
        assert "\x1b" not in text_of(app)
        assert "\u202e" not in text_of(app)
        for size in some((1, 4), (2, 5), (20, 5), (30, 10), (31, 11), (200, 60)):
            await pilot.resize_terminal(*size)
            await pilot.press("tab", "down", "right", "plus", "l", "minus")
            await pilot.pause()
            width = app.view.size.width
            assert all(app.view.render_line(y).cell_length == width for y in range(app.view.size.height))


async def test_a_view_that_was_given_nothing_yet_does_not_say_that_there_is_nothing_to_draw() -> None:
    app = Drawing()
    async with app.run_test(size=(80, 27)) as pilot:
        await pilot.pause()
        assert "Drawing …" in text_of(app)
        app.view.show(SHAPES["star"])
        await wait_until(pilot, lambda: "40 nodes" in text_of(app))
        app.view.show(Subgraph((), ()))
        await wait_until(pilot, lambda: "Nothing to draw." in text_of(app))
        app.heard.clear()
        await pilot.press("tab", "down", "enter", "plus", "0", "l", "s", "shift+down")
        assert app.view.chosen is None
        assert app.heard == []


@pytest.mark.parametrize("no_color", [False, True])
async def test_without_colour_all_can_still_be_told_apart(monkeypatch: pytest.MonkeyPatch, *, no_color: bool) -> None:
    if no_color:
        monkeypatch.setenv("NO_COLOR", "1")
    nodes = (*CROSS.nodes, Node(Ref("Observation", "x"), "an old memory", mark="superseded"))
    async with drawn(Subgraph(nodes, CROSS.edges), focus=Ref("Entity", "a")) as (app, _):
        assert "◇" in text_of(app)
        segments = [segment for y in range(22) for segment in app.view.render_line(y)]
        style = next(segment.style for segment in segments if segment.text == "a")
        plain = next(segment.style for segment in segments if segment.text == "b")
        assert style is not None
        assert plain is not None
        assert style.bgcolor != plain.bgcolor
        assert style.bold


class Held:
    """A layout that waits until it is let go, and counts."""

    def __init__(self) -> None:
        self.go = threading.Event()
        self.begun = threading.Event()
        self.threads: list[str] = []

    def __call__(self, subgraph: Subgraph, **more: Any) -> Layout:
        self.threads.append(threading.current_thread().name)
        self.begun.set()
        self.go.wait(10)
        return layout(subgraph, **more)


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Held:
    held = Held()
    monkeypatch.setattr(module, "layout", held)
    return held


async def test_one_types_on_while_a_graph_is_laid_out_and_a_view_removed_meanwhile_is_let_go(held: Held) -> None:
    app = Drawing()
    async with app.run_test(size=(80, 27)) as pilot:
        app.view.show(SHAPES["tree"])
        await wait_until(pilot, held.begun.is_set)
        app.query_one(Input).focus()
        await pilot.press(*"words")
        assert app.query_one(Input).value == "words"
        assert app.view.picture is None
        assert "Drawing" in text_of(app)
        held.go.set()
        await wait_until(pilot, lambda: app.view.picture is not None)
        assert threading.main_thread().name not in held.threads
        held.go.clear()
        held.begun.clear()
        app.view.show(CROSS)
        await wait_until(pilot, held.begun.is_set)
        await app.view.remove()
        held.go.set()
        await pilot.pause()
        assert not app.query(GraphView)


async def test_many_sizes_during_a_layout_cost_one_more(held: Held) -> None:
    app = Drawing()
    async with app.run_test(size=(80, 27)) as pilot:
        app.view.show(SHAPES["tree"])
        await wait_until(pilot, held.begun.is_set)
        for width in range(81, 100):
            await pilot.resize_terminal(width, 30)
        app.view.show(CROSS)
        held.go.set()
        await wait_until(pilot, lambda: fits(app.view, 99, 25))
        assert len(made(app.view).spots) == 5
        assert len(held.threads) == 2


@pytest.mark.parametrize("theme", ["clew-dark", "clew-light"])
def test_a_drawing_in_layers(snap_compare: Callable[..., bool], theme: str) -> None:
    assert snap_compare(Drawing(theme), terminal_size=(80, 27), run_before=showing(SHAPES["tree"], "l", "down"))


def test_a_list_on_twenty_columns(snap_compare: Callable[..., bool]) -> None:
    assert snap_compare(Drawing(), terminal_size=(20, 12), run_before=showing(SHAPES["scripts"], "down"))


def showing(subgraph: Subgraph, *keys: str) -> Callable[[Pilot[None]], Awaitable[None]]:
    """Draw, press keys, and wait until all is drawn."""

    async def run(pilot: Pilot[None]) -> None:
        view = pilot.app.query_one(GraphView)
        view.show(subgraph)
        for key in ("", *keys):
            if key:
                await pilot.press(key)
            await wait_until(pilot, lambda: view.picture is not None and view._made == view._wanted)
        await pilot.pause()

    return run
