"""The lines above and below the chat: its name; what clew is doing, the model, its speed, how full the context is."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual.content import Content
from textual.widgets import Static

from tui.keymaps import GAP, Sign, foot
from tui.servers import leaving
from tui.state import State, activity, speed_of
from tui.text import MUTED, counted, cut, one_line, plain, short_count

if TYPE_CHECKING:
    from tui.worlds import WhatIf


NEW, NEW_WHAT_IF = "New chat", "New what-if"


class Title(Static):
    """clew and the name of the chat on the screen."""

    def __init__(self) -> None:
        super().__init__("", id="title", markup=False)

    def name_chat(
        self, name: str | None, *, private: bool = False, what_if: "WhatIf | None" = None, session: str | None = None
    ) -> None:
        if private:
            self.update(
                Content.assemble(("clew", "bold $primary"), plain("  Private chat: nothing is saved", "$warning"))
            )
            return
        title = plain(f"  {one_line(name or (NEW if what_if is None else NEW_WHAT_IF))}", MUTED)
        world = plain(in_world(what_if, session), "$warning")
        self.update(Content.assemble(("clew", "bold $primary"), title, world))


def in_world(what_if: "WhatIf | None", session: str | None) -> str:
    """The world of a chat, to be put behind its name; empty in the main one."""
    if what_if is None:
        return ""
    return (
        f"  what-if of “{cut(what_if.of, 40)}”" if what_if.session == session else f"  in the what-if {what_if.quoted}"
    )


SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
WORTH_TELLING = 16  # turns still to embed: fewer are done before they are read of
NAME = 28  # cells of a model's name
ROOM_FOR_KEYS = 24  # cells from which they stand in the place of the figures
KEYS_ALWAYS: tuple[Sign, ...] = (("F1", "keys"), ("Esc", "back"))
Part = tuple[str, str]  # text, style


class StatusBar(Static):
    """One line, folded from the state. Where all does not fit, the left is shortened, then figures go, then parts."""

    def __init__(self) -> None:
        super().__init__("", id="status", markup=False)
        self._painted: Content | None = None
        self._last: tuple[State, str | None, int, Sequence[Sign]] | None = None

    def paint(self, state: State, session: str | None, *, beat: int = 0, keys: Sequence[Sign] = ()) -> None:
        self._last = (state, session, beat, keys)
        content = compose_line(state, session, max(1, self.size.width), beat, keys)
        if content != self._painted:
            self._painted = content
            self.update(content)

    def on_resize(self) -> None:
        if self._last is not None:
            state, session, beat, keys = self._last
            self.paint(state, session, beat=beat, keys=keys)


def compose_line(state: State, session: str | None, width: int, beat: int, keys: Sequence[Sign] = ()) -> Content:
    """The line for `width` cells: the state at the left; the figures at the right, or what the `keys` do now."""
    figures = _right(state, session)
    left = _left(state, session, beat)
    if keys or _length(left) + _length(_parted(figures)) + 3 > width:
        left = _left(state, session, beat, brief=True)
    if keys:
        content = Content.assemble(*(plain(text, style) for text, style in left), GAP)
        if (room := width - content.cell_length) >= ROOM_FOR_KEYS:
            return content + foot(keys, room, always=KEYS_ALWAYS)
    while figures and _length(left) + _length(_parted(figures)) + 3 > width:
        figures.pop(0)
    right = _parted(figures)
    while len(left) > 1 and _length(left) > width:
        left.pop()
    if _length(left) > width:
        left = [(text[: max(0, width - 1)], style) for text, style in left[:1]]
    gap = " " * max(1, width - _length(left) - _length(right)) if right else ""
    return Content.assemble(*(plain(text, style) for text, style in [*left, (gap, ""), *right] if text))


def _parted(figures: list[Part]) -> list[Part]:
    """Figures with a dot between them."""
    return [(f"{' · ' if place else ''}{text}", style) for place, (text, style) in enumerate(figures)]


def _length(parts: list[Part]) -> int:
    return sum(plain(text).cell_length for text, _ in parts)


def _left(state: State, session: str | None, beat: int, *, brief: bool = False) -> list[Part]:
    doing = activity(state, session)
    match doing:
        case "ready":
            parts: list[Part] = [("● ready", "$success")]
        case "no model":
            parts = [("● no model", "$error")]
        case _:
            parts = [(f"{SPINNER[beat % len(SPINNER)]} {doing}", "$primary")]
    if session in state.private:  # first, as what does not fit is left out from the end
        (words, style), *_ = parts
        parts = [("private", "bold $warning"), (f" · {words}", style)]
    elif state.what_if:
        parts.append((f" · what-if {state.what_if}", "bold $warning"))
    if state.away:  # ahead of all, as nothing may take its place
        (words, style), *rest = parts
        parts = [(leaving(state.away), "$warning"), (f" · {words}", style), *rest]
    if queued := len(state.queued_in(session)):
        held = bool(state.held.get(session or ""))
        parts.append((f" · {queued} {'on hold' if held else 'queued'}", "$secondary"))
    if state.compacting is not None:
        parts.append((" · making room", "$secondary"))
    graph = state.graph
    if graph is not None and graph.state in ("rebuilding", "catching up"):
        share = f" {100 * graph.done // graph.total}%" if graph.total else ""
        words = "rebuilding the graph" if graph.state == "rebuilding" else "graph catching up"
        parts.append((f" · {words}{share}", "$secondary"))
    elif graph is not None and graph.state == "failed":
        parts.append((" · graph failed", "$error"))
    parts.extend(_embedding(state))
    if state.reflecting:
        words = f"{state.reflecting:,}" if brief else f"from {counted(state.reflecting, 'message')}"
        parts.append((f" · learning {words}", MUTED))
    return parts


def _embedding(state: State) -> list[Part]:
    embedding = state.embedding
    match embedding.state if embedding is not None else None:
        case "embedding" if embedding is not None and embedding.total - embedding.done >= WORTH_TELLING:
            return [(f" · embedding {embedding.done:,}/{embedding.total:,}", "$secondary")]
        case "failed":
            return [(" · no embedder", "$warning")]
        case _:
            return []


def _right(state: State, session: str | None) -> list[Part]:
    parts: list[Part] = []
    model = state.model
    if model.state == "ready":
        answering = state.reply.model if state.reply is not None else ""  # which may stand in for the chat's own
        parts.append((_short(one_line(answering or state.chat_model or model.name)), MUTED))
    speed = _speed(state)
    if speed:
        parts.append((f"{speed:.1f} tok/s", MUTED))
    used, total = state.context.get(session or "", (0, 0))
    total = total or model.context
    if total:
        share = 100 * used // total
        style = "$warning" if share >= 70 else MUTED
        parts.append((f"{short_count(used)}/{short_count(total)} ctx {share}%", style))
    return parts


def _short(model: str) -> str:
    """A model's name, of one on a server with where it is."""
    name, at, server = model.rpartition("@")
    return f"{name[: NAME - len(server) - 2]}…@{server}" if at and len(model) > NAME else model[:NAME]


def _speed(state: State) -> float:
    if state.reply is not None and state.reply.tokens:
        return state.reply.tokens_per_second
    return speed_of(state.last)
