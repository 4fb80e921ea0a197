"""The steps before a reply: the model's calls of tools, each decoded, run, kept as a turn of role tool, and told.

The turns are the only record of calls, and nothing else is one: what a reply says about tools is only text.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass
from typing import Literal, TypeVar

from pydantic import ValidationError

from graph.errors import MemoryFailure
from graph.events import Event, Role, TurnSaid, TurnWithheld
from graph.ids import new_id
from graph.memory import Memory
from graph.values import Recorded, Session
from models.errors import RunError
from models.protocols import Finished, Generator, Piece, SamplingParams

from .approvals import Approvals, Request
from .changes import ProposedChanges
from .errors import AgentError
from .events import AgentEvent, PromptRead, ToolAsked, ToolDone, ToolProgress
from .packs import Fresh
from .prompt import Limits, PromptLog
from .prompts import Prompts
from .tools import (
    CHOOSE,
    MOST_STEPS,
    Answered,
    AnswerNow,
    Call,
    Change,
    Look,
    Themes,
    Toolbox,
    ToolChoice,
    arguments,
    failed,
    in_use,
    spelled,
    turns_known,
)

Outbox = Callable[[AgentEvent | None], None]
Record = Callable[..., list[Recorded]]
Choice = Literal["auto", "on", "off"]
TOOL = "tool"
REFUSED = "The user did not allow it. Nothing was changed."
STEP_TOKENS = 160
T = TypeVar("T")


class CancelToken:
    """The user's wish to stop, for one message at a time."""

    def __init__(self) -> None:
        self._event = asyncio.Event()

    @property
    def asked(self) -> bool:
        """Whether to stop."""
        return self._event.is_set()

    def ask(self) -> None:
        """Stop what is being answered."""
        self._event.set()

    def clear(self) -> None:
        """Another message is taken up."""
        self._event.clear()

    async def unless(self, work: Awaitable[T]) -> T | None:
        """What comes of the work, or None if it was stopped, and so cancelled."""
        working = asyncio.ensure_future(work)
        stopped = asyncio.ensure_future(self._event.wait())
        await asyncio.wait({working, stopped}, return_when=asyncio.FIRST_COMPLETED)
        stopped.cancel()
        if not self.asked:
            return working.result()
        working.cancel()
        await asyncio.gather(working, return_exceptions=True)
        return None


@dataclass(frozen=True, slots=True)
class Regeneration:
    """A message is answered once more: the head goes to it, and if nothing comes of that, back to where it `was`."""

    was: str | None


@dataclass(frozen=True, slots=True)
class Accepted:
    """A durable message waiting for its reply; a `queued` one is not on the path yet.

    `after` is the turn that a reply follows: the message, or the last tool's turn of an answer that was stopped.
    """

    session: str
    turn: str
    queued: bool
    text: str
    first: bool = False  # it is what the session's title is made from
    after: str | None = None
    withheld: bool = False  # the user keeps it out of memory, and with it what is answered
    regeneration: Regeneration | None = None

    @property
    def is_safe(self) -> str:
        """What to say where nothing came of it."""
        return (
            "The chat is unchanged."
            if self.regeneration is not None
            else "Your message is saved; use /retry to get a reply."
        )


@dataclass(frozen=True, slots=True)
class AnswerContext:
    """What stays the same while one message is answered."""

    taken: Accepted
    session: Session
    generator: Generator
    limits: Limits
    out: Outbox

    def read(self, done: int, total: int) -> None:
        """Tell how far the model has read the prompt."""
        self.out(PromptRead(self.taken.session, self.taken.turn, done, total))


def kept_out(taken: Accepted, turn: str) -> tuple[Event, ...]:
    """What keeps a turn out of memory that answers a message which is; it belongs into the turn's own append."""
    return (TurnWithheld(turn=turn),) if taken.withheld else ()


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
        client: str,
        record: Record,
    ) -> None:
        self._memory = memory
        self._prompts = prompts
        self._toolbox = toolbox
        self._cancel_token = cancel_token
        self._changes = changes
        self._approvals = approvals
        self._client = client
        self._record = record

    async def take(
        self,
        at: AnswerContext,
        choice: Choice,
        fresh: Fresh,
        log: PromptLog,
        *,
        themes: bool,
        known: tuple[Call, str] | None = None,
    ) -> tuple[str, PromptLog]:
        """Tools, until the model would answer; returns the turn that the reply follows, and the log with it all.

        Where `themes` are asked for, that tool comes first, whatever the model; so does what is `known` already, a call
        with its answer.
        """
        parent = at.taken.after or at.taken.turn
        if themes:
            parent = await self._look(at, Themes(tool="themes"), parent)
        elif known is not None and parent == at.taken.turn:  # not again where a stopped answer is gone on with
            parent = await self._tell(at, *known)
        if themes or known is not None:
            log = await self._prompts.before_reply(at.taken.session, at.generator, at.limits, fresh)
        if not in_use(choice, at.generator.info):
            return parent, log
        made: set[str] = set()
        for _ in range(MOST_STEPS):
            call = None if self._cancel_token.asked else await self._choice(at, log)
            if call is None or spelled(call) in made:  # asked for again, it would answer the same
                break
            made.add(spelled(call))
            if isinstance(call, Change):
                parent = await self._change(at, call, parent, log.held)
            else:
                parent = await self._look(at, call, parent)
            log = await self._prompts.before_reply(at.taken.session, at.generator, at.limits, fresh)
        return parent, log

    async def _choice(self, at: AnswerContext, log: PromptLog) -> Call | None:
        """The model's next call, decoded so that it can be nothing else; None where it would answer."""
        generator = at.generator
        asked = [*log.tokens, *generator.frame("user", CHOOSE), *generator.reply_open()]
        text, whole = "", False
        try:
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

    async def _look(self, at: AnswerContext, call: Look, parent: str) -> str:
        """Run a call and keep what it answered as a turn; returns the turn the conversation goes on from."""
        turn, taken = self._ask(at, call), at.taken
        path = await asyncio.to_thread(self._memory.thread, taken.session)
        answered = await self._cancel_token.unless(
            self._toolbox.call(
                call,
                session=taken.session,
                turn=taken.turn,
                generator=at.generator,
                known=turns_known(path),
                progress=lambda done, total: at.out(
                    ToolProgress(taken.session, taken.turn, turn, call.tool, done, total)
                ),
            )
        )
        if answered is None:
            at.out(ToolDone(taken.session, taken.turn, turn, call.tool, "", error="It was stopped."))
            return parent
        return await self._keep(at, turn, call, answered, parent)

    async def _change(self, at: AnswerContext, call: Change, parent: str, held: set[str]) -> str:
        """Ask the user for leave, do what a call says where they give it, and keep what came of it as a turn."""
        turn = self._ask(at, call)
        try:
            answered = await self._changed(at, call, held)
        except (AgentError, MemoryFailure) as error:
            answered = failed(str(error))
        return await self._keep(at, turn, call, answered, parent)

    async def _changed(self, at: AnswerContext, call: Change, held: set[str]) -> Answered:
        taken = at.taken
        if taken.withheld:
            return failed("The user keeps this message out of memory. Nothing was changed.")
        path = await asyncio.to_thread(self._memory.thread, taken.session)
        planned = await asyncio.to_thread(
            self._changes.plan,
            call,
            turn=taken.turn,
            held={taken.turn, *held, *turns_known(path)},
            project=at.session.project,
        )
        request = Request(taken.session, taken.turn, call.tool, planned.what, kept=spelled(call))
        if self._cancel_token.asked or not await self._approvals.ask(request, at.out):
            return failed(REFUSED)
        await self._changes.do(planned)
        return Answered(planned.done, tuple((id, "observation") for id in planned.made))

    async def _tell(self, at: AnswerContext, call: Call, answer: str) -> str:
        """Keep a call whose answer is known like one that was run."""
        return await self._keep(at, self._ask(at, call), call, Answered(answer), at.taken.turn)

    def _ask(self, at: AnswerContext, call: Call) -> str:
        """Tell of a call; returns the id its turn will have."""
        turn = new_id()
        at.out(ToolAsked(at.taken.session, at.taken.turn, turn, call.tool, arguments(call)))
        return turn

    async def _keep(self, at: AnswerContext, turn: str, call: Call, answered: Answered, parent: str) -> str:
        """Make a call and its answer a turn, and tell of it when that is durable."""
        taken = at.taken
        said = TurnSaid(
            turn=turn,
            session=taken.session,
            parent=parent,
            role=Role.TOOL,
            speaker=TOOL,
            client=self._client,
            model=at.generator.info.name,
            error=answered.error,
            recalled=answered.pack,
            text=f"{spelled(call)}\n{answered.text}",
        )
        await asyncio.to_thread(self._record, said, *kept_out(taken, turn))
        at.out(ToolDone(taken.session, taken.turn, turn, call.tool, answered.text, answered.error))
        return turn
