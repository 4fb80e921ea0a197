"""A drawn graph: nodes to choose among with the arrows and the mouse, zoom, pan, two layouts, a picture to keep."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from math import hypot
from typing import ClassVar, Literal

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import BindingType
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from graph.values import Node, Ref, Subgraph
from tui.drawing.layout import LOWEST, NARROWEST, Layout, LayoutKind, Spot, layout
from tui.drawing.picture import Picture, about_node, about_picture, paint
from tui.drawing.svg import SavedDrawing, keep
from tui.keymaps import DRAWING, bindings

Direction = Literal["left", "right", "up", "down"]
ASIDE = 1.5  # how much a step aside counts beside one ahead


def nearest(spots: Sequence[Spot], place: int, direction: Direction) -> int | None:
    """The place of the nearest node in a direction, none that lies more aside than ahead if there is another."""
    here = spots[place]
    best: tuple[bool, float, int] | None = None
    for other, spot in enumerate(spots):
        across, down = spot.x - here.x, 2 * (spot.y - here.y)
        ahead, aside = (across, down) if direction in ("left", "right") else (down, across)
        ahead = -ahead if direction in ("left", "up") else ahead
        if ahead > 0:
            far = hypot(ahead, aside) + ASIDE * abs(aside)
            best = min(best or (True, float("inf"), other), (abs(aside) > ahead, far, other))
    return best[2] if best is not None else None


def next_one(spots: Sequence[Spot], place: int, step: int) -> int:
    """The place of the node that is so many further as one reads, line by line; from the last to the first."""
    order = sorted(range(len(spots)), key=lambda each: (spots[each].y, spots[each].x))
    return order[(order.index(place) + step) % len(order)]


def at_cell(spots: Sequence[Spot], x: int, y: int) -> int | None:
    """The place of the node whose sign or label is at a cell, or right beside it."""
    for reach in (0, 1):
        for place, spot in enumerate(spots):
            if spot.y == y and spot.box.start - reach <= x < spot.box.end + reach:
                return place
    return None


ZOOMS = (1.0, 1.5, 2.0, 3.0, 4.0)
PAN = 8, 4  # cells at a key press
LOW = 8  # rows: with fewer the foot has one line, and below 3 none


@dataclass(frozen=True, slots=True)
class LayoutRequest:
    """What a layout is made for."""

    subgraph: Subgraph
    focus: Ref | None
    kind: LayoutKind
    width: int
    height: int


class GraphView(ScrollView, can_focus=True):
    """Draws what `show` was given last; posts `Moved` when another node is chosen, `Chosen` on Enter, and `Saved`.

    Laying out happens in a thread, for the newest size and graph only; until it is there the last picture stays.
    """

    DEFAULT_CSS = """
    GraphView {
        background: $background; overflow: auto auto; scrollbar-size: 0 0;
        & > .graph-view--line { color: $foreground 38%; }
        & > .graph-view--lit { color: $primary; text-style: bold; }
        & > .graph-view--label { color: $foreground 78%; }
        & > .graph-view--near { color: $foreground; text-style: bold; }
        & > .graph-view--chosen { color: $background; background: $primary; text-style: bold; }
        & > .graph-view--name { color: $foreground 60%; text-style: italic; }
        & > .graph-view--name-lit { color: $primary; text-style: italic; }
        & > .graph-view--primary { color: $primary; text-style: bold; }
        & > .graph-view--secondary { color: $secondary; text-style: bold; }
        & > .graph-view--accent { color: $accent; text-style: bold; }
        & > .graph-view--warning { color: $warning; text-style: bold; }
        & > .graph-view--error { color: $error; text-style: bold; }
        & > .graph-view--foreground { color: $foreground; text-style: bold; }
        & > .graph-view--about { color: $foreground; background: $surface; }
        & > .graph-view--foot { color: $foreground 60%; background: $surface; }
    }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        f"graph-view--{role}"
        for role in (
            *("line", "lit", "label", "near", "chosen", "name", "name-lit", "about", "foot"),
            *("primary", "secondary", "accent", "warning", "error", "foreground"),
        )
    }
    BINDINGS: ClassVar[list[BindingType]] = bindings(DRAWING)

    class About(Message):
        """Something of a node of one view, which is its `control`."""

        def __init__(self, view: "GraphView", node: Node) -> None:
            super().__init__()
            self.view = view
            self.node = node

        @property
        def ref(self) -> Ref:
            return self.node.ref

        @property
        def control(self) -> "GraphView":
            return self.view

    class Moved(About):
        """Another node is chosen."""

    class Chosen(About):
        """Enter, or a second click on the chosen node."""

    class Saved(Message):
        """What became of the picture that was to be written."""

        def __init__(self, kept: SavedDrawing) -> None:
            super().__init__()
            self.kept = kept

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self.picture: Picture | None = None
        self._subgraph: Subgraph | None = None  # until `show` there is nothing to lay out
        self._focus: Ref | None = None
        self._chosen: Ref | None = None
        self._kind: LayoutKind = "force"
        self._zoom = 0
        self._made: LayoutRequest | None = None  # what `picture` shows
        self._working = False
        self._strips: dict[int, Strip] = {}
        self._styles: dict[str, Style] = {}

    @property
    def chosen(self) -> Node | None:
        """The chosen node."""
        if self.picture is None or self.picture.chosen is None:
            return None
        return self.picture.layout.spots[self.picture.chosen].node

    def show(self, subgraph: Subgraph, focus: Ref | None = None) -> None:
        """Draw this; `focus` is the node it is about, chosen first. Can be called before the view is mounted."""
        self._subgraph, self._focus = subgraph, focus
        self._chosen = focus if focus is not None else self._chosen
        self._zoom = 0
        if self.picture is not None and self._made == self._wanted:
            self._put(self.picture.layout)
        else:
            self._lay_out()

    def clear(self) -> None:
        """Draw nothing until the next graph is there: the one that was shown is of something else."""
        self._subgraph, self._focus, self._chosen = None, None, None
        self.picture, self._made = None, None
        self._strips.clear()
        self.refresh()

    # Laying out

    def on_mount(self) -> None:
        self._lay_out()

    def on_resize(self) -> None:
        self._lay_out()

    @property
    def _foot(self) -> int:
        return 2 if self.size.height >= LOW else 1 if self.size.height >= 3 else 0

    @property
    def _wanted(self) -> LayoutRequest | None:
        width, height = self.size.width, self.size.height - self._foot
        if self._subgraph is None or not self.size.area:
            return None
        if width < NARROWEST or height < LOWEST:  # a list, however large one had it before
            return LayoutRequest(self._subgraph, self._focus, "list", width, height)
        zoom = ZOOMS[self._zoom]
        return LayoutRequest(self._subgraph, self._focus, self._kind, round(width * zoom), round(height * zoom))

    def _lay_out(self) -> None:
        if self.is_attached and not self._working and self._wanted not in (None, self._made):
            self._working = True
            self.run_worker(self._work(), group="layout")

    async def _work(self) -> None:
        """Lay out until what is wanted is shown: many changes meanwhile cost one more layout."""
        try:
            while (wanted := self._wanted) is not None and wanted != self._made:
                made = await asyncio.to_thread(
                    layout,
                    wanted.subgraph,
                    kind=wanted.kind,
                    width=wanted.width,
                    height=wanted.height,
                    focus=wanted.focus,
                )
                if wanted.subgraph is self._subgraph:
                    self._made = wanted
                    self._put(made)
        finally:
            self._working = False

    def _put(self, made: Layout) -> None:
        """Show a layout, with the same node chosen as before if it is drawn."""
        places = {spot.node.ref: place for place, spot in enumerate(made.spots)}
        place = places.get(self._chosen) if self._chosen is not None else None
        self.virtual_size = Size(made.width, made.height + self._foot)
        self._paint(made, place if place is not None else 0 if made.spots else None)

    def _paint(self, made: Layout, place: int | None) -> None:
        before = self.chosen
        self.picture = paint(made, place)
        self._strips.clear()
        self.refresh()
        now = self.chosen
        if now is not None:
            self._chosen = now.ref
            box = made.spots[place or 0].box
            self.scroll_to_region(Region(box.start, box.y, box.end - box.start, 1 + self._foot), animate=False)
            if before is None or before.ref != now.ref:
                self.post_message(self.Moved(self, now).set_sender(self))

    # Drawing

    def render_line(self, y: int) -> Strip:
        width, foot = self.size.width, y - (self.size.height - self._foot)
        if self.picture is None or not self.picture.layout.spots:
            words = "" if y else " Drawing …" if self.picture is None else " Nothing to draw."
            return Strip([Segment(words, self._style("foot"))]).adjust_cell_length(width, self._style("blank"))
        if foot >= 0:
            return self._foot_line(foot, width)
        row = y + round(self.scroll_y)
        if row not in self._strips:
            runs = self.picture.row(row) if row < self.picture.layout.height else []
            self._strips[row] = Strip(Segment(text, self._style(role)) for text, role in runs)
        left = round(self.scroll_x)
        return self._strips[row].crop_extend(left, left + width, self._style("blank"))

    def _foot_line(self, line: int, width: int) -> Strip:
        assert self.picture is not None
        chosen = self.chosen
        if line == 0 and chosen is not None:
            words, role = about_node(chosen, datetime.now().astimezone(), width - 2), "about"
        else:
            larger = self._zoom + 1 < len(ZOOMS) and self.picture.layout.kind != "list"
            words = about_picture(self.picture.layout, width - 2, zoom=self._shown_zoom, larger=larger)
            role = "foot"
        return Strip([Segment(f" {words}", self._style(role))]).adjust_cell_length(width, self._style(role))

    @property
    def _shown_zoom(self) -> float:
        return ZOOMS[self._zoom] if self._made is not None and self._made.kind != "list" else 1.0

    def _style(self, role: str) -> Style:
        if role not in self._styles:
            name = f"graph-view--{role.removeprefix('sign ').replace(' ', '-')}"
            style = self.visual_style if role == "blank" else self.get_visual_style(name)
            self._styles[role] = style.rich_style
        return self._styles[role]

    def notify_style_update(self) -> None:
        self._strips.clear()
        self._styles.clear()
        super().notify_style_update()

    # Keys and mouse

    def _choose(self, place: int | None) -> None:
        if self.picture is not None and place is not None and place != self.picture.chosen:
            self._paint(self.picture.layout, place)

    def action_move(self, direction: Direction) -> None:
        if self.picture is not None and self.picture.chosen is not None:
            self._choose(nearest(self.picture.layout.spots, self.picture.chosen, direction))

    def action_next(self, step: int) -> None:
        if self.picture is not None and self.picture.chosen is not None:
            self._choose(next_one(self.picture.layout.spots, self.picture.chosen, step))

    def action_choose(self) -> None:
        if self.chosen is not None:
            self.post_message(self.Chosen(self, self.chosen).set_sender(self))

    def action_zoom(self, step: int) -> None:
        self._zoom = max(0, min(len(ZOOMS) - 1, self._zoom + step))
        self._lay_out()

    def action_fit(self) -> None:
        self.action_zoom(-len(ZOOMS))

    def action_pan(self, across: int, down: int) -> None:
        self.scroll_relative(across * PAN[0], down * PAN[1], animate=False, force=True)

    def action_other_layout(self) -> None:
        self._kind = "layered" if self._kind == "force" else "force"
        self._lay_out()

    def action_save(self) -> None:
        if self.picture is not None and self.picture.layout.spots:
            self.run_worker(self._save(self.picture.layout), group="save", exclusive=True)

    async def _save(self, made: Layout) -> None:
        kept = await asyncio.to_thread(keep, made, dark=self.app.current_theme.dark)
        self.post_message(self.Saved(kept))

    def on_click(self, event: events.Click) -> None:
        if self.picture is None or event.y >= self.size.height - self._foot:
            return
        place = at_cell(self.picture.layout.spots, event.x + round(self.scroll_x), event.y + round(self.scroll_y))
        if place is not None and place == self.picture.chosen and event.chain > 1:
            self.action_choose()
        else:
            self._choose(place)
