"""What of a chat is read from the log into the window: its end, a page, around a turn, anew, with its quotes.

The chat on the screen is this, with what sends and paints (tui/chat.py); one lock keeps the two apart.
"""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from textual.widget import Widget

from tui import toolwords
from tui.latest import Latest
from tui.reasons import newer, who
from tui.scene import cue_named, cue_of, moves_in, newest_of, passed_in
from tui.state import ASSISTANT, Cue, Move, Passed, Scene, State, resumed
from tui.text import MUTED, cut, day, one_line, plain
from tui.widgets.message import AssistantMessage, Message, ToolBlock, UserMessage
from tui.widgets.transcript import Greeting, Transcript, widget_for
from tui.window import Window, around, changed, down, older_read, opened, tail, top, up, upto

if TYPE_CHECKING:
    from textual.content import Content

    from agent.events import RecallDone
    from agent.face import Face
    from graph.values import Alternatives, Hit, Turn


LONGEST_LATER = 120  # characters of what was said later
LONGEST_SOURCE = 48  # characters of a document's title with the headings


def quotes_content(hits: "Sequence[Hit]", now: datetime) -> "Content | None":
    """A line for each quote, which the screen wraps, and one for what was said later, unless it is a quote itself; None
    without any."""
    from textual.content import Content

    later = newer(hits)
    lines = [
        Content.assemble(
            *(plain(f"{day(each.at, now)} · later  “{cut(each.text, LONGEST_LATER)}”\n") for each in later[hit.id]),
            plain(f"{day(hit.at, now)} · {_source(hit)}  ", MUTED),
            plain(f"“{one_line(hit.text)}”"),
        )
        for hit in hits
    ]
    return Content("\n").join(lines) if lines else None


def _source(hit: "Hit") -> str:
    match hit.kind:
        case "observation":
            return "learned"
        case "chunk":
            return cut(hit.session_name or "a document", LONGEST_SOURCE)
        case _:
            return cut(who(hit.role, hit.speaker), LONGEST_SOURCE)


READ = 60  # turns read at a time
Places = tuple[str, tuple[str, ...]]  # a session, and turns of it


class ChatReader:
    """The chat `session` in the transcript. It calls `changed` when the state did."""

    def __init__(self, service: "Face", transcript: Transcript, changed: Callable[[], None]) -> None:
        self.service = service
        self.transcript = transcript
        self.state = State()
        self.session: str | None = None
        self.opened_once = False
        self._changed = changed
        self._lock = asyncio.Lock()  # one at a time changes the transcript
        self._tasks: set[asyncio.Task[None]] = set()
        self._places: Latest[Places, dict[str, Alternatives]] = Latest(self._find_alternatives, self._show_alternatives)
        self._moves: Latest[tuple[Scene, tuple[Turn, ...]], dict[str, Move | Passed]] = Latest(
            self._find_moves, self._show_moves
        )
        self._quotes: Latest[Places, dict[str, tuple[Hit, ...]]] = Latest(self._find_quotes, self._show_quotes)

    async def open(self, session: str | None) -> None:
        """Show a chat at its end; None is a new one."""
        async with self._lock:
            self.session = session
            self.opened_once = True
            turns = await self.service.chats.thread(session, limit=READ) if session is not None else []
            await self.transcript.show(
                opened(turns, asked=READ),
                *await self._on_their_way(Window(tuple(turns))),
                greeting=Greeting(),
            )
            self.tell_more()
        replies = [turn for turn in turns if turn.prompt_tokens is not None]
        if session is not None and replies:
            used = (replies[-1].prompt_tokens or 0) + (replies[-1].completion_tokens or 0)
            self.state = resumed(self.state, session, used)
        self._changed()
        if session is not None:
            await self.service.opened(session)

    async def reread(self, *, at: str | None = None, focus: bool = False) -> None:
        """Read the chat anew: its path is another one, or turns are gone. `at` is shown, else the reader's place kept.

        With `focus` the keys go to the message shown.
        """
        async with self._lock:
            at = at or self.transcript.top_turn
            count = max(READ, len(self.transcript.window.turns))
            turns = await self.service.chats.thread(self.session, limit=count) if self.session is not None else []
            window = opened(turns, asked=count)
            place = around(window, at) if at is not None else None
            window = window if place is None else place
            later = await self._on_their_way(window) if window.at_tail else []
            shown = at if place is not None else None
            await self.transcript.show(window, *later, greeting=Greeting(), follow=shown is None, at=shown)
            self.tell_more()
        message = self.transcript.message(at) if focus and at is not None else None
        if message is not None:
            message.focus()

    async def branched(self, turn: str, *, follow: bool = True) -> None:
        """The chat goes on from that message: what stood behind it leaves the screen, and the reader is taken along."""
        self.transcript.follow |= follow
        await self.reread()
        async with self._lock:
            window = upto(self.transcript.window, turn)
            if window is not None:
                await self.transcript.move(window)

    async def _on_their_way(self, window: Window) -> list[Widget]:
        """The messages behind the newest turn: the reply being written, then what is queued."""
        if self.session is None:
            return []
        known = {turn.id for turn in window.turns}
        widgets: list[Widget] = []
        tool = self.state.tool
        if tool is not None and tool.session == self.session and tool.call not in known:
            widgets.append(ToolBlock(tool.call, toolwords.asked(tool)))
        reply = self.state.reply_in(self.session)
        if reply is not None and reply.reply_turn not in known:
            recall = self.state.recall_for(reply.turn)
            widgets.append(answer_to(reply.reply_turn, reply.text, recall, cue=self.cue_of_reply(reply.speaker)))
        held = self.state.held.get(self.session, ())
        waiting = [each for each in await self.service.chats.waiting(self.session) if each.id not in known]
        widgets.extend(self.widget_of(each, held=each.id in held) for each in waiting)
        return widgets

    # A story

    @property
    def scene(self) -> Scene | None:
        """The story of the chat on the screen, once it is known."""
        scene = self.state.scene
        return scene if scene is not None and scene.session == self.session else None

    def plays(self, scene: Scene | None) -> None:
        """The chat on the screen plays in that story, as it stands, or in none."""
        if scene != self.state.scene:
            self.state = replace(self.state, scene=scene)
            self.tell_cast()
            self._changed()

    def tell_cast(self) -> None:
        """Show at the mounted messages of a story who speaks, and who saw it."""
        scene = self.scene
        if scene is None:
            return
        turns = {turn.id: turn for turn in self.transcript.window.turns}
        for message in self.transcript.messages:
            if message.cue is None:
                continue
            turn = turns.get(message.turn)
            known = cue_of(turn, scene) if turn is not None else cue_named(message.cue.name, scene, message.cue)
            message.show_cue(known)
        self.guess_moves(newest_of(self.transcript.window.turns))

    def guess_moves(self, turns: "Sequence[Turn]") -> None:
        """See who seems to have left the scene with these, or to be back, and whether time passes."""
        if self.scene is not None and turns:
            self._spawn(self._moves.ask((self.scene, tuple(turns))))

    async def _find_moves(self, asked: "tuple[Scene, tuple[Turn, ...]]") -> "dict[str, Move | Passed]":
        scene, turns = asked

        def found() -> dict[str, Move | Passed]:
            return {**passed_in(turns, scene), **moves_in(turns, scene)}

        return await asyncio.to_thread(found)

    def _show_moves(self, asked: "tuple[Scene, tuple[Turn, ...]]", answer: "dict[str, Move | Passed]") -> None:
        if asked[0] is self.scene:
            for message in self.transcript.messages:
                if message.cue is not None:
                    message.show_move(answer.get(message.turn))

    def widget_of(self, turn: "Turn", *, held: bool = False) -> Widget:
        """The widget of a turn, in a story with who saw it."""
        widget, scene = widget_for(turn, held=held), self.scene
        if scene is not None and isinstance(widget, Message) and widget.cue is not None:
            widget.show_cue(cue_of(turn, scene))
        return widget

    def cue_of_reply(self, speaker: str) -> Cue | None:
        """What stands above a reply that is being written; None in a chat of no story."""
        return cue_named(speaker, self.scene) if speaker != ASSISTANT else None

    def _mark_last(self) -> None:
        """Say of the chat's last message that it has no reply, where none is on its way."""
        window = self.transcript.window
        last = next((turn for turn in reversed(window.turns) if turn.role != "tool"), None)
        coming = self.state.waiting_in(self.session) or self.service.answering == self.session
        if last is not None and last.role == "user" and window.at_tail and not coming:
            message = self.transcript.message(last.id)
            if isinstance(message, UserMessage) and not message.queued:
                message.lack()

    def tell_more(self) -> None:
        """Show at the mounted messages which have others in their place, and what was recalled for their questions."""
        self._mark_last()
        self.tell_cast()
        self.tell_quotes()
        if self.session is not None and self.session not in self.state.private:
            turns = tuple(
                each.turn for each in self.transcript.messages if isinstance(each, UserMessage | AssistantMessage)
            )
            self._spawn(self._places.ask((self.session, turns)))

    async def _find_alternatives(self, asked: Places) -> "dict[str, Alternatives]":
        session, turns = asked
        return await self.service.branches.alternatives(session, turns) if turns else {}

    def _show_alternatives(self, asked: Places, answer: "dict[str, Alternatives]") -> None:
        for message in self.transcript.messages:
            if asked[0] == self.session and message.turn in asked[1]:
                message.show_place(answer.get(message.turn))

    def tell_quotes(self) -> None:
        """Show below the mounted replies what was recalled for their questions, as far as it may still be shown."""
        if self.session is not None and self.session not in self.state.private:
            turns = tuple(each.turn for each in self._quoting())
            self._spawn(self._quotes.ask((self.session, turns)))

    def _quoting(self) -> list[AssistantMessage]:
        """The mounted replies for which something was recalled."""
        messages = self.transcript.messages
        return [each for each in messages if isinstance(each, AssistantMessage) and each.recalled and not each.writing]

    async def _find_quotes(self, asked: Places) -> "dict[str, tuple[Hit, ...]]":
        return await self.service.search.quotes(asked[1]) if asked[1] else {}

    def _show_quotes(self, asked: Places, answer: "dict[str, tuple[Hit, ...]]") -> None:
        now = datetime.now().astimezone()
        for message in self._quoting():
            if asked[0] == self.session and message.turn in asked[1]:
                message.show_quotes(quotes_content(answer.get(message.turn, ()), now))

    async def turn_page(self, *, up: bool) -> None:
        """Older or newer messages, if the reader is still near that edge."""
        async with self._lock:
            if self.transcript.near_edge(up=up):
                await (self._page_up() if up else self._page_down())

    async def _page_up(self) -> None:
        window = self.transcript.window
        if window.first == 0 and window.more and self.session is not None:
            older = await self.service.chats.thread(self.session, before=window.oldest, limit=READ)
            window = older_read(window, older, asked=READ)
        if window.first > 0 or window.last != self.transcript.window.last:
            await self.transcript.move(up(window))
            self.tell_more()

    async def _page_down(self) -> None:
        window = down(self.transcript.window)
        await self.transcript.move(window)
        if window.at_tail:
            await self._add_on_their_way(window)
        self.tell_more()

    async def to_top(self) -> None:
        """The beginning of the chat."""
        async with self._lock:
            window = self.transcript.window
            if window.more and self.session is not None:
                window = older_read(
                    window, await self.service.chats.thread(self.session, before=window.oldest), asked=0
                )
            first = top(window)
            await self.transcript.show(first, *(await self._on_their_way(first) if first.at_tail else ()), follow=False)
            self.tell_more()

    async def show_turn(self, turn: str) -> bool:
        """Bring a turn of this chat into view, however far up; False if it is not on the path that the chat took."""
        async with self._lock:
            if self.transcript.message(turn) is not None:
                self.transcript.reveal(turn)
                return True
            window = around(self.transcript.window, turn) or await self._read_to(turn)
            if window is None:
                return False
            later = await self._on_their_way(window) if window.at_tail else []
            await self.transcript.show(window, *later, follow=False, at=turn)
            self.tell_more()
            return True

    async def _read_to(self, turn: str) -> Window | None:
        """The page around a turn that was not read yet, everything from it to the newest turn being read."""
        window, asked = self.transcript.window, READ
        found = None
        while found is None and window.more and self.session is not None:
            asked *= 4  # a chat of thousands of turns is read in a few pieces, a near turn with one
            older = await self.service.chats.thread(self.session, before=window.oldest, limit=asked)
            window = older_read(window, older, asked=asked)
            found = around(window, turn)
        return found

    def hidden(self, turn: str, *, hidden: bool) -> None:
        """A turn was hidden from recall, or is found again: say so at the message, if it is here."""
        self.transcript.window = changed(self.transcript.window, turn, hidden=hidden)
        self.tell_quotes()
        message = self.transcript.message(turn)
        if message is not None:
            message.hide(hidden=hidden)

    def withheld(self, turn: str, *, withheld: bool) -> None:
        """A turn was kept out of memory with what answered it, or may be remembered again: say so at the messages."""
        for each in self.transcript.with_answers(turn):
            self.transcript.window = changed(self.transcript.window, each.turn, withheld=withheld)
            each.withhold(withheld=withheld)

    async def to_tail(self) -> None:
        """The newest words."""
        async with self._lock:
            await self._to_tail()

    async def _to_tail(self) -> None:
        if not self.transcript.window.at_tail:
            window = tail(self.transcript.window)
            await self.transcript.show(window, *await self._on_their_way(window))
            self.tell_more()
        self.transcript.to_tail()

    async def _add_on_their_way(self, window: Window) -> None:
        for widget in await self._on_their_way(window):
            if isinstance(widget, Message) and self.transcript.message(widget.turn) is None:
                await self.transcript.add(widget)

    # Behind the scenes

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def answer_to(turn: str, text: str, recall: "RecallDone | None", *, cue: Cue | None = None) -> AssistantMessage:
    """The widget of a reply that is being written, with what was recalled for it."""
    if recall is None:
        return AssistantMessage(turn, text, writing=True, cue=cue)
    quotes = quotes_content(recall.quotes, datetime.now().astimezone())
    return AssistantMessage(
        turn, text, writing=True, recalled=len(recall.hits), read=recall.read, quotes=quotes, cue=cue
    )
