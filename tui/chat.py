"""What stands between the agent and the transcript: it sends, folds what comes back, and paints at about 10 Hz.

Every event goes through the fold first; widgets then show the state. Painting takes at most about an eighth of one core
(measured with the thread's own clock), because the model computes on the same cores.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import aclosing
from dataclasses import replace
from itertools import takewhile
from typing import TYPE_CHECKING

from textual.widget import Widget

from agent.events import (
    AgentEvent,
    ApprovalWanted,
    Failed,
    MemoriesChanged,
    ModelReady,
    Notice,
    PromptRead,
    QueueHeld,
    RecallDone,
    ReplyEnded,
    ReplyStarted,
    SessionsChanged,
    TokensArrived,
    ToolAsked,
    ToolDone,
    ToolProgress,
    TurnAccepted,
    TurnWithdrawn,
)
from agent.service.protocol import ServiceLost
from tui import toolwords
from tui.backstage import Choice
from tui.chat_reader import READ, ChatReader, answer_to
from tui.fold import fold, unawaited
from tui.state import State, activity, model_label
from tui.widgets.message import Aside, AssistantMessage, ToolBlock, UserMessage, how_it_ended
from tui.widgets.transcript import Transcript, line
from tui.window import said

if TYPE_CHECKING:
    from agent.face import Face

EXCHANGE = 20  # turns of a message, the most tools called for it, the reply, and the message before
PAINT_S = 0.1
SLOWEST_PAINT_S = 1.0
CORE_SHARE = 8  # a paint waits until this many times what the last one cost has passed


class Chat(ChatReader):
    """One chat at a time on the screen.

    It calls `changed` when the state did, `ended` and `failed` on those events (with the text that was not taken, and
    the session it was written in), and `recalled` when there may be something else to say of what was recalled for the
    newest reply.
    """

    def __init__(
        self,
        service: "Face",
        transcript: Transcript,
        *,
        changed: Callable[[], None],
        ended: Callable[[ReplyEnded], None],
        failed: Callable[[Failed, str, str | None], None],
        recalled: Callable[[], None] = lambda: None,
    ) -> None:
        super().__init__(service, transcript, changed)
        self.beat = 0
        self._ended = ended
        self._failed = failed
        self._recalled = recalled
        self._begun: asyncio.Future[str | None] | None = None  # the id of a new chat whose first message is on its way
        self._painter: asyncio.Task[None] | None = None
        self._messages_here: set[str] = set()  # that were sent from here and whose events are coming
        self._replies_here: set[str] = set()
        self._branches_here = 0  # begun here, and of which message is not known yet
        self._mirror: asyncio.Task[None] | None = None

    # Sending

    def whisper(self, text: str, member: str, *, typed: str) -> None:
        """Say something to one of a story's cast alone; `typed` is what goes back where it is not taken."""
        from graph.ids import new_id

        turn = new_id()
        self._messages_here.add(turn)
        events = self._from_here(self.service.send(self.session, text, turn=turn, whisper=member), turn)
        self._spawn(self._follow(events, typed, self.session))

    def speak(self, member: str) -> None:
        """Let one of a story's cast speak next."""
        assert self.session is not None
        self._spawn(self._follow(self._from_here(self.service.speak(self.session, member)), "", self.session))

    async def spoke_last(self) -> str | None:
        """Which of a story's cast spoke last; what is on the screen follows what was said a moment later."""
        assert self.session is not None
        turns = await self.service.chats.thread(self.session, limit=EXCHANGE)
        return next((turn.member for turn in reversed(turns) if turn.role == "assistant"), None)

    def send(self, text: str, *, project: str | None = None, references: Sequence[str] = ()) -> None:
        """Hand a message to the agent, with what it attaches; what comes of it arrives as events."""
        from graph.ids import new_id

        begun, turn = None, new_id()
        self._messages_here.add(turn)
        if self.session is None:
            if self._begun is not None:
                self._spawn(self._send_behind(self._begun, text, project, turn, references))
                return
            begun = self._begun = asyncio.get_running_loop().create_future()
        sent = self.service.send(self.session, text, project=project, turn=turn, references=references)
        events = self._from_here(sent, turn)
        self._spawn(self._follow(events, text, self.session, begun))

    async def _send_behind(
        self,
        begun: "asyncio.Future[str | None]",
        text: str,
        project: str | None,
        turn: str,
        references: Sequence[str],
    ) -> None:
        """A message typed before the new chat's first one was accepted: it belongs to the same chat."""
        session = await asyncio.shield(begun)
        events = self.service.send(session, text, project=project, turn=turn, references=references)
        await self._follow(self._from_here(events, turn), text, session)

    def retry(self) -> bool:
        """Answer the last message again; False where there is no chat yet."""
        if self.session is None:
            return False
        self._spawn(self._follow(self._from_here(self.service.retry(self.session)), "", self.session))
        return True

    async def _from_here(self, events: AsyncIterator[AgentEvent], turn: str | None = None) -> AsyncIterator[AgentEvent]:
        """The same events, which come from here: the mirror leaves them out. `turn` is the message, if it is known."""
        self._branches_here += turn is None
        try:
            async for event in events:
                if turn is None and isinstance(event, TurnAccepted):
                    turn = event.turn
                    self._messages_here.add(turn)
                    self._branches_here -= 1
                if isinstance(event, ReplyStarted):
                    self._replies_here.add(event.reply_turn)
                if _is_loss(event):
                    self._messages_here -= {turn}  # if it goes on, its events come from elsewhere
                yield event
        finally:
            self._branches_here -= turn is None
            self._messages_here -= {turn}

    def regenerate(
        self,
        turn: str | None = None,
        *,
        refused: Callable[[str], None],
        began: Callable[[], None] = lambda: None,
        keys: bool = False,
        goes_on: bool = False,
    ) -> bool:
        """Another reply beside the one in that turn, the last one where None; False where there is no chat yet.

        One that was cut off and `goes_on` begins with what that has.

        `refused` is told why there will be none, `began` is called once it is on its way. With `keys` the new reply
        gets the focus.
        """
        if self.session is None:
            return False
        events = self.service.regenerate(self.session, turn, goes_on=goes_on)
        self._spawn(self._branch(events, "", refused, began, keys=keys, over=self._over(turn)))
        return True

    def _over(self, turn: str | None) -> str | None:
        """In a story, the turn that a reply follows, which may be another one's reply; None where that is not known."""
        turns = self.transcript.window.turns if self.scene is not None else ()
        found = next((each for each in reversed(turns) if turn in (None, each.id)), None)
        return found.parent if found is not None and found.role == "assistant" else None

    def edit(self, turn: str, text: str, *, references: Sequence[str] = (), refused: Callable[[str], None]) -> None:
        """Say `text` in the place of that turn: a new branch, and its reply."""
        assert self.session is not None
        edited = self.service.edit(self.session, turn, text, references=references)
        self._spawn(self._branch(edited, text, refused))

    async def _branch(
        self,
        events: AsyncIterator[AgentEvent],
        text: str,
        refused: Callable[[str], None],
        began: Callable[[], None] = lambda: None,
        *,
        keys: bool = False,
        over: str | None = None,
    ) -> None:
        """As `_follow`, for what begins a branch: the screen is read anew where the chat takes another path.

        `over` is the turn that it leaves from, where that is not the message that is answered.
        """
        begun, session = False, self.session
        accepted: str | None = None
        async for event in self._from_here(events):
            if isinstance(event, Failed) and not begun:
                refused(event.message)
                return
            if isinstance(event, TurnAccepted):
                begun, accepted = True, event.turn
                if event.session == self.session:
                    await self.branched(over or event.turn)
                    began()
            async with self._lock:
                await self._take(event, text, session)
            if keys and isinstance(event, TurnAccepted | ReplyStarted):
                self._move_keys(event)
            if begun and _is_loss(event):
                await self._found_again()
            elif begun and _came_to_nothing(event) and self.session is not None:
                await self.reread()  # where no word came, the chat is as it was
        self._nothing_more(accepted)

    def _move_keys(self, event: TurnAccepted | ReplyStarted) -> None:
        """The keys go to the message that is answered again, then to its new reply, unless they were moved since."""
        question = self.transcript.message(event.turn)
        if isinstance(event, TurnAccepted):
            if question is not None:
                question.focus()
        elif question is not None and question.has_focus:
            answer = self.transcript.message(event.reply_turn)
            if answer is not None:
                answer.focus()

    async def _follow(
        self,
        events: AsyncIterator[AgentEvent],
        text: str,
        session: str | None,
        begun: "asyncio.Future[str | None] | None" = None,
    ) -> None:
        """Show what comes of a message. `begun` gets the id of the chat that it begins, or None if there is none."""
        accepted: str | None = None
        try:
            async for event in events:
                if isinstance(event, TurnAccepted):
                    accepted = event.turn
                async with self._lock:
                    if begun is not None and isinstance(event, TurnAccepted):
                        if self._begun is begun:  # no other chat was opened meanwhile
                            self.session, self._begun = event.session, None
                            self._mirror_chat(event.session)
                        begun.set_result(event.session)
                    await self._take(event, text, session)
                if _is_loss(event):
                    await self._found_again()
            self._nothing_more(accepted)
        finally:
            if begun is not None and not begun.done():
                begun.set_result(None)
            if begun is not None and self._begun is begun:
                self._begun = None

    def _nothing_more(self, turn: str | None) -> None:
        """All is told of a message: if it has no reply, none is on its way, as of one that nobody in a story hears."""
        if any(each.turn == turn for each in self.state.waiting):
            self.state = unawaited(self.state, turn or "")
            self._changed()

    def notice(self, notice: Notice) -> None:
        """Something happened beside the conversation."""
        self.state = fold(self.state, notice)
        if isinstance(notice, SessionsChanged | MemoriesChanged | ModelReady):
            self.tell_quotes()  # words that are quoted may have been taken out, and it is known what to make of a model
        if isinstance(notice, QueueHeld) and notice.session == self.session:
            for message in self.transcript.messages:
                if isinstance(message, UserMessage) and message.queued:
                    message.wait(queued=True, held=message.turn in notice.turns)
            self._keep_painting()
        self._changed()

    def belongs(self, world: str, what_if: str, model: str) -> None:
        """The chat on the screen is of that world, the name of which is `what_if`; `model`, or that file, answers."""
        self.state = replace(self.state, world=world, what_if=what_if, chat_model=model_label(model))
        self._changed()

    def begun_private(self, session: str) -> None:
        """Nothing of that chat is kept."""
        self.state = replace(self.state, private=self.state.private | {session})
        self._changed()

    def offer(self, choice: Choice | None) -> None:
        """A better model could be had, or that is settled."""
        self.state = replace(self.state, offer=choice)
        self._changed()

    def answered(self, approval: str) -> None:
        """What a model asked leave for is answered."""
        if self.state.approval is not None and self.state.approval.approval == approval:
            self.state = replace(self.state, approval=None)
            self._changed()

    async def _take(self, event: AgentEvent, text: str, written_in: str | None) -> None:
        before, self.state = self.state, fold(self.state, event)
        here = self.transcript.window.at_tail
        match event:
            case TurnAccepted(session=session, turn=turn, queued=queued) if session == self.session:
                if not here:
                    await self._to_tail()
                for message in self.transcript.messages:
                    if isinstance(message, ToolBlock) and message.call.error == toolwords.STOPPED:
                        await message.remove()  # it was not kept
                    elif isinstance(message, UserMessage) and message.failed:
                        message.wait(queued=queued and message.turn == turn)  # /retry is for the last message only
                if self.transcript.message(turn) is None:
                    held = self.state.held.get(session, ())
                    for said_now in await self._said_now(event, held):
                        # What is on hold stays below: this one is answered before it.
                        await self.transcript.add(said_now, before=None if queued or not held else held[0])
                if isinstance(self.transcript.message(turn), Aside):
                    self.state = unawaited(self.state, turn)
                self.transcript.to_tail()
            case TurnWithdrawn(session=session) if session == self.session:
                if (taken_back := self.transcript.message(event.turn)) is not None:
                    await taken_back.remove()
            case RecallDone(session=session) if session == self.session:
                self._taken_up(event.turn)
            case ToolAsked(session=session) if session == self.session and here:
                self._taken_up(event.turn)
                block = ToolBlock(event.call, toolwords.asked(event))
                await self.transcript.add(block, after=self.transcript.last_of(event.turn))
            case ToolProgress(session=session) if session == self.session:
                called = self.transcript.message(event.call)
                if isinstance(called, ToolBlock):
                    called.tell(toolwords.under_way(called.call, event))
            case ToolDone(session=session) if session == self.session:
                called = self.transcript.message(event.call)
                if isinstance(called, ToolBlock):
                    called.tell(toolwords.answered(called.call, event))
            case ReplyStarted(session=session) if session == self.session and here:
                await self._begin(event)
            case TokensArrived(session=session) if session == self.session:
                answer = self.transcript.message(event.reply_turn)
                coming = self.state.reply is not None and self.state.reply.reply_turn == event.reply_turn
                if isinstance(answer, AssistantMessage) and coming:  # else it was read from the log, with these words
                    answer.write(event.text)
            case ReplyEnded(session=session):
                if session == self.session:
                    await self._finish(event)
                self._ended(event)
            case Failed():
                if not await self._mark_unanswered(event, before):
                    self._failed(event, text if event.turn is None else "", written_in)
        if isinstance(event, (RecallDone, ReplyStarted, ReplyEnded)) and event.session == self.session:
            self._recalled()
        if not isinstance(event, TokensArrived | PromptRead):  # those are painted at the painter's own pace
            self._changed()
        self._keep_painting()

    async def _said_now(self, event: TurnAccepted, held: Sequence[str]) -> list[Widget]:
        """The widget of a message that was taken; in a story, as the log has it, behind what was said beside it."""
        if self.scene is None:
            return [UserMessage(event.turn, event.text, queued=event.queued, held=event.turn in held)]
        chats = self.service.chats
        turns = [*await chats.thread(event.session, limit=EXCHANGE), *await chats.waiting(event.session)]
        place = next((place for place, turn in enumerate(turns) if turn.id == event.turn), None)
        if place is None or any(turn.id == event.turn for turn in self.transcript.window.turns):
            return []  # what was said before is answered once more
        beside = takewhile(lambda turn: turn.role == "note", reversed(turns[:place]))
        fresh = [turn for turn in beside if self.transcript.message(turn.id) is None]
        said = (replace(turn, queued=event.queued) for turn in (*reversed(fresh), turns[place]))
        self.guess_moves(turns[place : place + 1])
        return [self.widget_of(turn, held=turn.id in held) for turn in said]

    def _taken_up(self, turn: str) -> None:
        """A message waits no more: it is being answered."""
        message = self.transcript.message(turn)
        if isinstance(message, UserMessage):
            message.take()

    async def _begin(self, event: ReplyStarted) -> None:
        self._taken_up(event.turn)
        if self.transcript.message(event.reply_turn) is None:  # it is there where another model begins it once more
            cue = self.cue_of_reply(event.speaker)
            answer = answer_to(event.reply_turn, "", self.state.recall_for(event.turn), cue=cue)
            # In a story more than one may answer a message.
            after = self.transcript.last_of(event.turn) if cue is None else self.transcript.last_said
            await self.transcript.add(answer, after=after)
        if event.cut_tokens:
            words = f"Too long for the model's context: {event.cut_tokens:,} tokens were left out."
            await self.transcript.add(line(words, "warning"), after=event.turn)

    async def _finish(self, event: ReplyEnded) -> None:
        answer = self.transcript.message(event.reply_turn)
        note = how_it_ended(event.stop_reason, event.error, empty=not event.text)
        if isinstance(answer, AssistantMessage):
            await answer.finish(note)
        elif self.transcript.window.at_tail and event.text and self.scene is None:  # of a story, it comes from the log
            self._taken_up(event.turn)
            whole = AssistantMessage(event.reply_turn, event.text, note=note)
            await self.transcript.add(whole, after=self.transcript.last_of(event.turn))
        await self._settle()

    async def _mark_unanswered(self, event: Failed, before: State) -> bool:
        """Say at the message that it has no reply, and why; False if the message is not on the screen."""
        reply = before.reply_in(self.session)
        if reply is not None and reply.turn == event.turn:
            begun = self.transcript.message(reply.reply_turn)
            if isinstance(begun, AssistantMessage):  # nothing of it was kept
                await begun.remove()
        message = self.transcript.message(event.turn) if event.turn is not None else None
        if not isinstance(message, UserMessage):
            return False
        message.fail(event.message)
        return True

    async def _settle(self) -> None:
        """Take finished turns from the log into the window, so that what is mounted stays bounded."""
        if self.session is None:
            return
        window = self.transcript.window
        known = {turn.id for turn in window.turns[-READ:]}
        for turn in await self.service.chats.thread(self.session, limit=EXCHANGE):
            if turn.id not in known:
                window = said(window, turn)
        await self.transcript.move(window)
        self.tell_more()

    # What is said elsewhere

    def _mirror_chat(self, session: str | None) -> None:
        """From now on show what other faces of the same service say in that chat, and in no other."""
        if self._mirror is not None:
            self._mirror.cancel()
            self._mirror = None
        if session is not None and getattr(self.service, "shared", False):
            self._mirror = asyncio.create_task(self._show_from_elsewhere(session))

    async def _show_from_elsewhere(self, session: str) -> None:
        """Show it as if it were said here; where the service was lost, watch that which follows it, and read anew."""
        lost = False
        while True:
            if lost and not await self.service.back():  # type: ignore[attr-defined]
                return
            async with aclosing(self.service.watch(session)) as events:
                try:
                    if lost:
                        await self._found_again()
                    lost = await self._take_from_elsewhere(session, events)
                except ServiceLost:
                    lost = True
            if not lost:
                return

    async def _take_from_elsewhere(self, session: str, events: AsyncIterator[AgentEvent]) -> bool:
        """Take the events of a chat that do not come from here, until there are none; whether the service was lost."""
        lost = False
        async for event in events:
            turn, reply = getattr(event, "turn", None), getattr(event, "reply_turn", None)
            lost = _is_loss(event)
            here = turn in self._messages_here or reply in self._replies_here or self._branches_here
            if here or lost or isinstance(event, ApprovalWanted):
                continue
            if isinstance(event, TurnAccepted):
                await self.branched(event.turn, follow=False)
            async with self._lock:
                if session == self.session:
                    await self._take(event, "", session)
        return lost

    async def _found_again(self) -> None:
        """The service was lost: what was on its way is known no more, and the chat is as the log has it."""
        self._replies_here.clear()
        self.state = replace(self.state, reply=None, read=None, tool=None, approval=None, waiting=())
        await self.reread()
        self._changed()

    # Painting

    def _keep_painting(self) -> None:
        if self._painter is None or self._painter.done():
            self._painter = asyncio.create_task(self._paint())

    async def _paint(self) -> None:
        while self.state.reply is not None or self.state.coming:
            spent = time.thread_time()
            answer = self.transcript.message(self.state.reply.reply_turn) if self.state.reply else None
            if isinstance(answer, AssistantMessage):
                answer.expect(activity(self.state, self.session))
                await answer.flush()
            for each in self.state.coming:
                asked = self.transcript.message(each.turn)
                if isinstance(asked, UserMessage):
                    asked.expect(activity(self.state, self.session))
            self.beat += 1
            self._changed()
            pause = PAINT_S
            while pause > 0:
                await asyncio.sleep(pause)
                cost = time.thread_time() - spent
                pause = min(SLOWEST_PAINT_S, CORE_SHARE * cost) - PAINT_S
                spent += cost

    # Ending

    async def open(self, session: str | None) -> None:
        """Show a chat at its end, and from then on what other faces say in it; None is a new one."""
        self._begun = None
        await super().open(session)
        self._mirror_chat(session)
        self._keep_painting()

    async def close(self) -> None:
        """Stop following what comes; the agent itself is closed by who opened it."""
        self._mirror_chat(None)
        for task in (*self._tasks, *([self._painter] if self._painter else [])):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


def _is_loss(event: AgentEvent) -> bool:
    """Whether the service went away: what came of a message, the log says."""
    return isinstance(event, Failed) and event.error is not None and event.error.type == ServiceLost.__name__


def _came_to_nothing(event: AgentEvent) -> bool:
    return isinstance(event, Failed) or (isinstance(event, ReplyEnded) and not event.text)
