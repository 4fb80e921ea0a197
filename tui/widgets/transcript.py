"""The conversation on the screen: a window of messages that follows the newest; a greeting where there are none.

Two rules. While the reader is at the end, the newest words stay in view. While the reader is above it, nothing moves
the line they read: not a reply that grows, not older messages coming in above, not a resize.
"""

from typing import TYPE_CHECKING, Any

from textual.containers import VerticalScroll
from textual.content import Content
from textual.geometry import Size
from textual.layout import DockArrangeResult
from textual.message import Message as TextualMessage
from textual.scrollbar import ScrollBar
from textual.widget import Widget
from textual.widgets import Static

from tui.servers import leaving
from tui.state import Cue
from tui.text import MUTED, one_line, plain
from tui.toolwords import read_call
from tui.widgets.message import Aside, AssistantMessage, Message, ToolBlock, UserMessage, how_it_ended
from tui.window import Window

if TYPE_CHECKING:
    from graph.values import Turn


NAME = "┌─┐ ┬   ┌─┐ ┬ ┬\n│   │   ├┤  │││\n└─┘ ┴─┘ └─┘ └┴┘"


STAYS = "A chat that remembers. Everything stays on this computer."
LEAVES = "A chat that remembers. What a model is given goes to {hosts}."


TOY = "The model in use is a toy: it talks and knows little. F5 gets one that answers."


class Greeting(Static):
    """Leaves when the first message comes."""

    def __init__(self) -> None:
        super().__init__(_greeting((), toy=False), classes="greeting", markup=False)
        self._said: tuple[tuple[str, ...], bool] = (), False

    def paint(self, away: tuple[str, ...], *, toy: bool) -> None:
        """Say whether words leave this computer, and where they go; and where the model is a toy, that it is."""
        if (away, toy) != self._said:
            self._said = away, toy
            self.update(_greeting(away, toy=toy))


def _greeting(away: tuple[str, ...], *, toy: bool) -> Content:
    words = LEAVES.format(hosts=leaving(away)) if away else STAYS
    return Content.assemble(
        (NAME, "$primary"),
        "\n\n",
        plain(words, "$foreground"),
        "\n\n",
        plain(f"{TOY}\n\n" if toy else "", MUTED),
        ("Enter", "bold"),
        (" sends    ", MUTED),
        ("/", "bold"),
        (" commands    ", MUTED),
        ("F1", "bold"),
        (" help", MUTED),
    )


CONTEXT = 4  # what is jumped to has this part of the view above it


class Transcript(VerticalScroll, can_focus=False):
    """The mounted messages, and where the reader is among them."""

    BLANK = True

    class Edge(TextualMessage):
        """The reader came near the first (`up`) or the last mounted message."""

        def __init__(self, *, up: bool) -> None:
            super().__init__()
            self.up = up

    def __init__(self) -> None:
        super().__init__(id="transcript")
        self.window = Window()
        self._held: tuple[Widget, int] | None = None  # the message at the top of the view, and its distance to the top
        self._follow = True

    @property
    def follow(self) -> bool:
        """The newest words are kept in view. Our own flag: Textual's anchor seldom comes back (8.2.8: #6677)."""
        return self._follow

    @follow.setter
    def follow(self, value: bool) -> None:
        self._follow = value
        if value:
            self._held = None

    def release_anchor(self) -> None:
        """Textual calls this for every scroll the user makes."""
        super().release_anchor()
        self._follow = False

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        if round(old_value) == round(new_value):
            return
        if new_value >= self.max_scroll_y and self.window.at_tail:
            self.follow = True
        elif not self.follow:
            self._hold()
        # The sender is set because the app may be the one that scrolls: Textual sends no message back to its sender.
        if new_value < old_value and self.near_edge(up=True):
            self.post_message(self.Edge(up=True).set_sender(self))
        elif new_value > old_value and self.near_edge(up=False):
            self.post_message(self.Edge(up=False).set_sender(self))

    def _size_updated(self, size: Size, virtual_size: Size, container_size: Size, layout: bool = True) -> bool:
        changed = super()._size_updated(size, virtual_size, container_size, layout)
        if changed:
            self.call_later(self._check_edges)
        return changed

    def _check_edges(self) -> None:
        """Ask for more where too little is mounted around the view; a layout has just been made."""
        for up in (True, False):
            if self.near_edge(up=up):
                self.post_message(self.Edge(up=up).set_sender(self))
                return

    def near_edge(self, *, up: bool) -> bool:
        """The view is less than half its height from where what is mounted ends, and there is more."""
        near = self.size.height // 2
        if up:
            return self.scroll_y <= near and (self.window.first > 0 or self.window.more)
        return self.scroll_y >= self.max_scroll_y - near and not self.window.at_tail

    def _hold(self) -> None:
        """Remember the message at the top of the view."""
        self._held = None  # asking for a region may arrange, which must not bring the old place back
        top = round(self.scroll_y)
        for child in self.children:
            region = child.virtual_region
            if region.bottom > top and region.height:
                self._held = (child, region.y - top)
                return

    def arrange(self, size: Size, optimal: bool = False) -> DockArrangeResult:
        """Lay the messages out, and move the view with them: to the end, or with the line the reader holds."""
        result = super().arrange(size, optimal)
        if not optimal and self.is_attached:
            target = self._target(result, size.height)
            if target is not None and target != round(self.scroll_y):
                # Textual 8.2.8: as the compositor moves its own anchor, so that no frame shows the view elsewhere.
                self.set_reactive(Widget.scroll_y, float(target))
                self.set_reactive(Widget.scroll_target_y, float(target))
                self.vertical_scrollbar.set_reactive(ScrollBar.position, float(target))
        return result

    def _target(self, result: DockArrangeResult, height: int) -> int | None:
        """The line that belongs at the top of the view now; None: it stays."""
        last = max(0, result.total_region.bottom - height)
        if self.follow:
            return last
        if self._held is None:
            return None
        widget, distance = self._held
        region = next((place.region for place in result.placements if place.widget is widget), None)
        if region is None:
            return None
        return max(0, min(last, region.y - max(distance, 1 - region.height)))

    # What is shown

    @property
    def messages(self) -> list[Message]:
        return [child for child in self.children if isinstance(child, Message)]

    def message(self, turn: str) -> Message | None:
        return next((message for message in self.messages if message.turn == turn), None)

    @property
    def last_answer(self) -> AssistantMessage | None:
        return next((message for message in reversed(self.messages) if isinstance(message, AssistantMessage)), None)

    async def show(
        self,
        window: Window,
        *later: Widget,
        greeting: Widget | None = None,
        follow: bool = True,
        at: str | None = None,
    ) -> None:
        """Replace everything: the window's messages, then those on their way; at the end, at the beginning, or `at`
        that turn.
        """
        self.window = window
        with self.app.batch_update():
            await self.remove_children()
            self.follow = follow
            self._held = None
            if not follow:
                self.scroll_to(y=0, animate=False, immediate=True)
            widgets: list[Widget] = [widget_for(turn) for turn in window.mounted]
            if not widgets and not later and greeting is not None:
                widgets = [greeting]
            self.set_class(widgets == [greeting], "-empty")
            await self.mount_all([*widgets, *later])
            if at is not None:
                self.reveal(at)

    def reveal(self, turn: str) -> None:
        """Bring a mounted message near the top of the view, and mark it for a moment."""
        message = self.message(turn)
        if message is not None:
            self.follow = False
            self._held = (message, self.size.height // CONTEXT)
            self.refresh(layout=True)
            message.flash()

    @property
    def top_turn(self) -> str | None:
        """The turn at the top of the view; None where the newest is followed."""
        if self.follow or self._held is None or not isinstance(self._held[0], Message):
            return None
        return self._held[0].turn

    @property
    def last_said(self) -> str | None:
        """The last turn that does not wait for its own."""
        said = (each.turn for each in reversed(self.messages) if not (isinstance(each, UserMessage) and each.queued))
        return next(said, None)

    def last_of(self, turn: str) -> str:
        """The last turn of what belongs to a message so far: the message itself, or a tool called for it."""
        messages = self.messages
        place = next((place for place, message in enumerate(messages) if message.turn == turn), len(messages))
        for message in messages[place + 1 :]:
            if not isinstance(message, ToolBlock):
                break
            turn = message.turn
        return turn

    def with_answers(self, turn: str) -> list[Message]:
        """A message with the tools' blocks and the reply that belong to it; of a reply only itself."""
        messages = self.messages
        place = next((place for place, each in enumerate(messages) if each.turn == turn), None)
        if place is None:
            return []
        found = [messages[place]]
        if isinstance(messages[place], UserMessage):
            for each in messages[place + 1 :]:
                if isinstance(each, UserMessage):
                    break
                found.append(each)
        return found

    async def move(self, window: Window) -> None:
        """Mount and unmount so that `window` is what stands here; messages that stay are not touched.

        Messages on their way stand behind the newest turn only: they go when the window leaves the tail.
        """
        before, self.window = self.window, window
        wanted = {turn.id for turn in window.mounted}
        had = {turn.id for turn in before.mounted}
        present = {message.turn for message in self.messages}
        leaving = before.at_tail and not window.at_tail
        gone = [m for m in self.messages if m.turn not in wanted and (leaving or m.turn in had)]
        fresh = [turn for turn in window.mounted if turn.id not in present]
        edge = before.mounted[0].id if before.mounted else None
        order = [turn.id for turn in window.turns]
        older = [turn for turn in fresh if edge in order and order.index(turn.id) < order.index(edge)] if edge else []
        newer = fresh[len(older) :]
        with self.app.batch_update():
            if gone:
                await self.remove_children(gone)
            if older:
                await self.mount_all([widget_for(turn) for turn in older], before=0)
            if newer:
                await self.mount_all([widget_for(turn) for turn in newer], **self._after_window(before))

    def _after_window(self, window: Window) -> dict[str, Any]:
        """Where newer turns go: behind the last mounted one, before what is on its way."""
        last = self.message(window.mounted[-1].id) if window.mounted else None
        return {"after": last} if last is not None else {"before": 0} if self.children else {}

    async def add(self, widget: Widget, *, after: str | None = None, before: str | None = None) -> None:
        """A message at the end, or behind the turn `after`, or ahead of the turn `before`."""
        if self.has_class("-empty"):
            await self.remove_children(".greeting")
            self.remove_class("-empty")
        anchor = self.message(after) if after is not None else None
        later = self.message(before) if before is not None else None
        await self.mount(widget, after=anchor, before=later)

    def scroll_pages(self, pages: int) -> None:
        """Up (less than 0) or down by so many heights of the view, less two lines to go on reading from."""
        self.scroll_relative(y=pages * max(1, self.size.height - 2), animate=False)

    def to_tail(self) -> None:
        """Show the newest words and follow them."""
        self.follow = True
        self.scroll_end(animate=False, immediate=True)
        self.refresh(layout=True)


def widget_for(turn: "Turn", *, held: bool = False) -> Widget:
    """The widget of a turn that is over, or queued and maybe on hold."""
    cue = Cue(one_line(turn.speaker)) if turn.witnesses is not None else None
    if turn.role == "assistant":
        note = how_it_ended(turn.stop_reason, turn.error, empty=turn.text == "")
        return AssistantMessage(
            turn.id,
            turn.text,
            note=note,
            recalled=sum(item.kind != "reference" for item in turn.recalled),
            read=len({item.id.partition("@")[0] for item in turn.recalled if item.kind == "reference"}),
            hidden=turn.hidden,
            withheld=turn.withheld,
            cue=cue,
        )
    if turn.role == "tool":
        return ToolBlock(turn.id, read_call(turn))
    if turn.role == "note" and cue is not None:
        return Aside(turn.id, turn.text, hidden=turn.hidden)
    return UserMessage(
        turn.id, turn.text, queued=turn.queued, held=held, hidden=turn.hidden, withheld=turn.withheld, cue=cue
    )


def line(text: str, kind: str) -> Static:
    """A line of clew's own between the messages: a failure, a notice."""
    return Static(plain(text), classes=f"line {kind}", markup=False)
