"""The steps before a reply: the model's calls of tools, each decoded, allowed by the user, run, kept and told.

Asking for leave and answering are events. Whatever is no answer refuses: a stop, a new message, a face that cannot ask
anybody, the end of the program.

The turns of role tool are the only record of calls, and nothing else is one: what a reply says about tools is only
text.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass
from typing import Literal

from pydantic import ValidationError

from agent.errors import AgentError
from agent.events import AgentEvent, ApprovalWanted, ToolAsked, ToolDone, ToolProgress
from agent.pending import CancelToken, PendingAnswer, Record
from agent.prompts import Prompts
from agent.tools import (
    CHOOSE,
    MOST_STEPS,
    Answered,
    AnswerNow,
    Call,
    Change,
    Look,
    ProposedChanges,
    Themes,
    Toolbox,
    ToolChoice,
    arguments,
    failed,
    spelled,
    turns_known,
)
from graph.errors import MemoryFailure, NotFound
from graph.events import ApprovalAsked, ApprovalGiven, ApprovalRefused, Role, TurnSaid
from graph.ids import new_id
from graph.memory import Memory
from models.errors import RunError
from models.protocols import Finished, Piece, SamplingParams

CHAT = "chat"


@dataclass(frozen=True, slots=True)
class Request:
    """What a tool wants to change, for which message, in words for people; `kept` is what the log keeps of them.

    `client` said the message.
    """

    session: str
    turn: str
    tool: str
    what: str
    kept: str
    client: str


class Approvals:
    """The requests that wait. `clients` are those that can be asked; `reaches` says so of a request."""

    def __init__(self, record: Record) -> None:
        self.clients = {CHAT}
        self.reaches: Callable[[Request], bool] = lambda request: request.client in self.clients
        self._record = record
        self._waiting: dict[str, tuple[str, asyncio.Future[bool]]] = {}  # with the message it is asked for

    async def ask(self, request: Request, tell: Callable[[ApprovalWanted], None]) -> bool:
        """Ask for leave and wait for the answer; whether it was given. Raises LogUnwritable."""
        approval = new_id()
        asked = ApprovalAsked(
            approval=approval, session=request.session, by_turn=request.turn, tool=request.tool, text=request.kept
        )
        if not self.reaches(request):
            await asyncio.to_thread(self._record, asked, ApprovalRefused(approval=approval))
            return False
        answer: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._waiting[approval] = request.turn, answer
        try:
            await asyncio.to_thread(self._record, asked)
            tell(ApprovalWanted(request.session, request.turn, approval, request.tool, request.what))
            allowed = await answer
            if not allowed:
                await asyncio.to_thread(self._record, ApprovalRefused(approval=approval))
            return allowed
        finally:
            self._waiting.pop(approval, None)

    async def answer(self, approval: str, *, allowed: bool) -> None:
        """Answer one. Raises NotFound if it waits for no answer (any more): then nothing comes of it."""
        _, waiting = self._waiting.pop(approval, ("", None))
        if waiting is None or waiting.done():
            raise NotFound("That request was already answered, or its reply has ended. Nothing was changed.")
        if allowed:
            await asyncio.to_thread(self._record, ApprovalGiven(approval=approval))
        if not waiting.done():
            waiting.set_result(allowed)

    def refuse_all(self, turn: str | None = None) -> None:
        """No answer comes any more: to what is asked for a message, or for any."""
        for of, waiting in self._waiting.values():
            if turn in (None, of) and not waiting.done():
                waiting.set_result(False)


Choice = Literal["auto", "on", "off"]
TOOL = "tool"
REFUSED = "The user did not allow it. Nothing was changed."
UNASKED = "Nobody can be asked for leave here. Nothing was changed."
STEP_TOKENS = 160


class Steps:
    """Lets a model look into the memory before it answers, and change it where the user gives leave."""

    def __init__(
        self,
        memory: Memory,
        prompts: Prompts,
        toolbox: Toolbox,
        cancel_token: CancelToken,
        changes: ProposedChanges,
        approvals: Approvals,
        *,
        record: Record,
    ) -> None:
        self._memory = memory
        self._prompts = prompts
        self._toolbox = toolbox
        self._cancel_token = cancel_token
        self._changes = changes
        self._approvals = approvals
        self._record = record

    async def take(self, at: PendingAnswer, choice: Choice, *, themes: bool) -> AsyncGenerator[AgentEvent, None]:
        """Tools, until the model would answer: each call and what it answered, once that is durable.

        Where `themes` are asked for, that tool comes first, whatever the model.
        """
        if themes:
            async for event in self._look(at, Themes(tool="themes")):
                yield event
            await self._read_again(at)
        if choice != "on":
            return
        made: set[str] = set()
        for _ in range(MOST_STEPS):
            call = None if self._cancel_token.asked else await self._choice(at)
            if call is None or spelled(call) in made:  # asked for again, it would answer the same
                break
            made.add(spelled(call))
            async for event in self._change(at, call) if isinstance(call, Change) else self._look(at, call):
                yield event
            await self._read_again(at)

    async def _read_again(self, at: PendingAnswer) -> None:
        """The prompt has the turns of tools in it, too."""
        at.log = await self._prompts.before_reply(at.taken.session, at.generator, at.limits, at.fresh)

    async def _choice(self, at: PendingAnswer) -> Call | None:
        """The model's next call, decoded so that it can be nothing else; None where it would answer."""
        generator = at.generator
        text, whole = "", False
        try:
            choose = await asyncio.to_thread(generator.frame, "user", CHOOSE)
            if self._cancel_token.asked:  # meanwhile: a model that is asked nothing yet cannot be stopped
                return None
            asked = [*at.log.tokens, *choose, *generator.reply_open()]
            async with aclosing(
                generator.generate(asked, SamplingParams(max_tokens=STEP_TOKENS), schema=ToolChoice, progress=at.read)
            ) as steps:
                async for step in steps:
                    match step:
                        case Piece():
                            text += step.text
                        case Finished():
                            whole = step.reason == "end"
            chosen = ToolChoice.model_validate_json(text).root if whole else None
        except (RunError, ValidationError):
            return None
        return None if chosen is None or isinstance(chosen, AnswerNow) else chosen

    async def _look(self, at: PendingAnswer, call: Look) -> AsyncGenerator[AgentEvent, None]:
        """Run a call, and keep what it answered as a turn."""
        turn, taken = new_id(), at.taken
        yield _asked(at, turn, call)
        path = await asyncio.to_thread(self._memory.readings.thread, taken.session)
        answered = await self._cancel_token.unless(
            self._toolbox.call(
                call,
                session=taken.session,
                turn=taken.turn,
                generator=at.generator,
                known=turns_known(path),
                progress=lambda done, total: at.tell(
                    ToolProgress(taken.session, taken.turn, turn, call.tool, done, total)
                ),
            )
        )
        if answered is None:
            yield ToolDone(taken.session, taken.turn, turn, call.tool, "", error="It was stopped.")
        else:
            at.looked_up = answered.text, answered.pack
            yield await self._keep(at, turn, call, answered)

    async def _change(self, at: PendingAnswer, call: Change) -> AsyncGenerator[AgentEvent, None]:
        """Ask the user for leave, do what a call says where they give it, and keep what came of it as a turn."""
        turn = new_id()
        yield _asked(at, turn, call)
        try:
            answered = await self._changed(at, call)
        except (AgentError, MemoryFailure) as error:
            answered = failed(str(error))
        yield await self._keep(at, turn, call, answered)

    async def _changed(self, at: PendingAnswer, call: Change) -> Answered:
        taken = at.taken
        if taken.withheld:
            return failed("The user keeps this message out of memory. Nothing was changed.")
        path = await asyncio.to_thread(self._memory.readings.thread, taken.session)
        planned = await asyncio.to_thread(
            self._changes.plan,
            call,
            turn=taken.turn,
            held={taken.turn, *at.log.held, *turns_known(path)},
            project=at.session.project,
        )
        request = Request(taken.session, taken.turn, call.tool, planned.what, kept=spelled(call), client=taken.client)
        if self._cancel_token.asked or not await self._approvals.ask(request, at.tell):
            return failed(REFUSED if self._approvals.reaches(request) else UNASKED)
        await self._changes.do(planned)
        return Answered(planned.done, tuple((id, "observation") for id in planned.made))

    async def _keep(self, at: PendingAnswer, turn: str, call: Call, answered: Answered) -> ToolDone:
        """Make a call and its answer a turn; what is told of it when that is durable."""
        taken = at.taken
        said = TurnSaid(
            turn=turn,
            session=taken.session,
            parent=at.parent,
            role=Role.TOOL,
            speaker=TOOL,
            client=taken.client,
            model=at.generator.info.name,
            host=at.generator.info.away or None,
            error=answered.error,
            recalled=answered.pack,
            text=f"{spelled(call)}\n{answered.text}",
        )
        await asyncio.to_thread(self._record, said, *taken.kept_out(turn))
        at.parent = turn
        return ToolDone(taken.session, taken.turn, turn, call.tool, answered.text, answered.error)


def _asked(at: PendingAnswer, turn: str, call: Call) -> ToolAsked:
    """A call, the turn of which will have this id."""
    return ToolAsked(at.taken.session, at.taken.turn, turn, call.tool, arguments(call))
