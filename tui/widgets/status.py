"""The status bar: what clew is doing, the model, its speed, how full the context is; less of it where it is narrow."""

from textual.content import Content
from textual.widgets import Static

from tui.state import State, activity
from tui.text import MUTED, cut, one_line, plain, short_count

SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
WORTH_TELLING = 16  # turns still to embed: fewer are done before they are read of
Part = tuple[str, str]  # text, style


class StatusBar(Static):
    """One line, folded from the state; parts that do not fit are left out, the least important first."""

    def __init__(self) -> None:
        super().__init__("", id="status", markup=False)
        self._painted: Content | None = None
        self._last: tuple[State, str | None, int] | None = None

    def paint(self, state: State, session: str | None, *, beat: int = 0) -> None:
        self._last = (state, session, beat)
        content = compose_line(state, session, max(1, self.size.width), beat)
        if content != self._painted:
            self._painted = content
            self.update(content)

    def on_resize(self) -> None:
        if self._last is not None:
            state, session, beat = self._last
            self.paint(state, session, beat=beat)


def compose_line(state: State, session: str | None, width: int, beat: int) -> Content:
    """The line for `width` cells: the state at the left, the figures at the right."""
    left = _left(state, session, beat)
    right = _right(state, session)
    while right and _length(left) + _length(right) + 3 > width:
        right.pop(0)
    while len(left) > 1 and _length(left) > width:
        left.pop()
    if _length(left) > width:
        left = [(text[: max(0, width - 1)], style) for text, style in left[:1]]
    gap = " " * max(1, width - _length(left) - _length(right)) if right else ""
    return Content.assemble(*(plain(text, style) for text, style in [*left, (gap, ""), *right] if text))


def _length(parts: list[Part]) -> int:
    return sum(plain(text).cell_length for text, _ in parts)


def _left(state: State, session: str | None, beat: int) -> list[Part]:
    doing = activity(state, session)
    match doing:
        case "ready":
            parts: list[Part] = [("● ready", "$success")]
        case "no model":
            parts = [("● no model", "$error")]
        case _:
            parts = [(f"{SPINNER[beat % len(SPINNER)]} {doing}", "$primary")]
    if session in state.private:
        parts.append((" · private", "bold $warning"))
    elif state.what_if:
        parts.append((f" · what-if {cut(state.what_if, 20)}", "bold $warning"))
    if queued := sum(message.queued for message in state.waiting_in(session)):
        parts.append((f" · {queued} queued", "$secondary"))
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
        parts.append((f" · reflecting {state.reflecting:,}", MUTED))
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
        parts.append((one_line(state.chat_model or model.name)[:28], MUTED))
    speed = _speed(state)
    if speed:
        parts.append((f"{' · ' if parts else ''}{speed:.1f} tok/s", MUTED))
    used, total = state.context.get(session or "", (0, 0))
    total = total or model.context
    if total:
        share = 100 * used // total
        style = "$warning" if share >= 70 else MUTED
        parts.append((f"{' · ' if parts else ''}{short_count(used)}/{short_count(total)} ctx {share}%", style))
    return parts


def _speed(state: State) -> float:
    if state.reply is not None and state.reply.tokens:
        return state.reply.tokens_per_second
    last = state.last
    if last is None or last.first_token_ms is None or last.completion_tokens < 2:
        return 0.0
    writing_ms = last.total_ms - last.first_token_ms
    return 1000 * (last.completion_tokens - 1) / writing_ms if writing_ms > 0 else 0.0
