"""One reply: the stream from the model, its text kept on disk while it comes, and how it ended.

Invariant: a text that was handed to `keep` is saved no later than SAVE_EVERY_S and one save after it, whether or not
more text follows. Saves never overlap, and none is running any more once `close` has returned.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field

from agent.events import ReplyEnded, TokensArrived
from agent.pending import PendingAnswer
from agent.story.stops import Stop
from graph.events import Recalled, Role, Sampling, StopReason, TurnSaid
from models.errors import ModelError, ServerError
from models.protocols import Finished, Generator, Piece, ReadProgress, SamplingParams

SAVE_EVERY_S = 0.4  # the text on disk may be 1 s behind; the save itself takes its time too


class StreamCheckpointer:
    """Saves the newest text in the background, at most every `every_s` seconds."""

    def __init__(self, save: Callable[[str], Awaitable[None]], *, every_s: float = SAVE_EVERY_S) -> None:
        self._save = save
        self._every_s = every_s
        self._text = ""
        self._fresh = asyncio.Event()
        self._saving = asyncio.Lock()
        self._task = asyncio.create_task(self._run())

    def keep(self, text: str) -> None:
        """The text is this now, whole. Raises what an earlier save raised."""
        if self._task.done():
            self._task.result()
        if text != self._text:
            self._text = text
            self._fresh.set()

    async def close(self) -> None:
        """No save follows; what was not saved is for whoever stores the whole reply."""
        async with self._saving:  # a save runs in a thread, where nothing could take it back
            self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    async def _run(self) -> None:
        while True:
            await self._fresh.wait()
            self._fresh.clear()
            async with self._saving:
                await self._save(self._text)
            await asyncio.sleep(self._every_s)


@dataclass(slots=True)
class PartialReply:
    """A reply as far as it has come; `stop_reason` is set when it has ended."""

    text: str = ""
    tokens: list[int] = field(default_factory=list)
    stop_reason: StopReason | None = None
    error: str | None = None
    cause: ModelError | None = None  # of the error
    prompt_tokens: int = 0
    evaluated_tokens: int = 0
    redrawn: int = 0
    first_token_ms: float | None = None
    total_ms: float = 0.0


async def stream_reply(
    reply: PartialReply,
    *,
    generator: Generator,
    prompt: Sequence[int],
    params: SamplingParams,
    session: str,
    reply_turn: str,
    save: Callable[[str], Awaitable[None]],
    progress: ReadProgress | None = None,
    stops: Sequence[Stop] = (),
    since: float | None = None,
) -> AsyncGenerator[TokensArrived, None]:
    """Fill `reply` from the model and tell of every piece; `save` gets the whole text so far, a few times a second.

    `progress` hears how far the prompt is read. The reply ends where one of `stops` says so. Its times count from
    `since`, when it was asked for by `time.perf_counter`, or from now on.

    Never raises for the model's sake: a failure ends the reply with what came, and its reason in `error`. Raises what
    `save` raises.
    """
    started = time.perf_counter()
    waited_ms = (started - since) * 1000 if since is not None else 0.0
    first: float | None = None
    checkpointer = StreamCheckpointer(save)
    reply.prompt_tokens = len(prompt)
    drawn, over, begun = Drawn(reply, stops), False, len(reply.tokens)
    try:
        async with aclosing(generator.generate(prompt, params, progress=progress)) as steps:
            async for step in steps:
                now = time.perf_counter()
                if isinstance(step, Finished):
                    _finish(reply, step, waited_ms)
                    break
                if over:
                    continue  # what came until it stopped
                shown, over = drawn.take(step)
                if shown or step.thinking:
                    first = first or now
                if over:
                    generator.stop()
                checkpointer.keep(reply.text)
                speed = (len(reply.tokens) - begun) / (now - first) if first is not None and now > first else 0.0
                yield TokensArrived(session, reply_turn, shown, len(reply.tokens), speed, step.thinking)
        rest = await asyncio.to_thread(drawn.end, generator)
        if rest:
            checkpointer.keep(reply.text)
            yield TokensArrived(session, reply_turn, rest, len(reply.tokens), 0.0)
    except ModelError as error:
        reply.stop_reason, reply.error, reply.cause = StopReason.FAILED, str(error), error
        reply.total_ms = waited_ms + (time.perf_counter() - started) * 1000
        reply.evaluated_tokens = error.evaluated if isinstance(error, ServerError) else 0
        reply.first_token_ms = waited_ms + (first - started) * 1000 if first is not None else None
    finally:
        await checkpointer.close()


class Drawn:
    """What a model has drawn of a reply, and what of it is the reply's: all, but for what `stops` keep back or cut.

    A voice begins behind its name, so that the space there is no part of what it says.
    """

    def __init__(self, reply: PartialReply, stops: Sequence[Stop]) -> None:
        self._reply = reply
        self._stops = stops
        self._whole = reply.text
        self._ends = [(len(reply.text), len(reply.tokens))]  # of each step: how many characters and tokens there were

    def take(self, step: Piece) -> tuple[str, bool]:
        """Another step: what may be shown of it and of what was kept back before, and whether the reply is over."""
        self._reply.tokens.extend(step.tokens)
        self._whole += step.text
        self._ends.append((len(self._whole), len(self._reply.tokens)))
        return self._show(self._kept()), self._met

    def end(self, generator: Generator) -> str:
        """The reply is over: what was kept back and is its own; its tokens are those of what it keeps. Blocking."""
        cut = self._met  # and so stopped, not by the user
        kept = self._kept(ended=True)
        shown = self._show(kept)
        if self._met:
            whole = [(0, 0), *(each for each in self._ends if each[0] <= kept)]
            characters = whole[-1][0]
            tokens = next(count for length, count in whole if length == characters)  # none of what begins a next letter
            rest = self._whole[characters:kept]
            self._reply.tokens[tokens:] = generator.tokenize(rest) if rest else []
            if self._reply.stop_reason is StopReason.STOPPED and cut:
                self._reply.stop_reason = next(each.why for each in self._stops if each.met)
        return shown

    @property
    def _met(self) -> bool:
        return any(each.met for each in self._stops)

    def _kept(self, *, ended: bool = False) -> int:
        return min((each.kept(self._whole, ended=ended) for each in self._stops), default=len(self._whole))

    def _show(self, kept: int) -> str:
        before = self._reply.text
        now = self._whole[:kept].lstrip()
        if not now.startswith(before):  # what is shown stays shown
            return ""
        self._reply.text = now
        return now[len(before) :]


def _finish(reply: PartialReply, end: Finished, waited_ms: float) -> None:
    reply.stop_reason = StopReason(end.reason)
    reply.prompt_tokens = end.prompt_tokens
    reply.evaluated_tokens += end.evaluated_tokens
    reply.first_token_ms = waited_ms + end.first_token_ms if end.first_token_ms is not None else None
    reply.total_ms = waited_ms + end.total_ms


def reply_event(
    at: PendingAnswer, turn: str, reply: PartialReply, sampling: Sampling | None, recalled: tuple[Recalled, ...]
) -> TurnSaid:
    """The reply as the log keeps it, under the id `turn`."""
    return TurnSaid(
        turn=turn,
        session=at.taken.session,
        parent=at.parent,
        role=Role.ASSISTANT,
        speaker=at.heard.speaker,
        client=at.taken.client,
        stop_reason=reply.stop_reason or StopReason.FAILED,
        error=reply.error,
        model=at.generator.info.name,
        host=at.generator.info.away or None,
        sampling=sampling,
        prompt_hash=at.log.hash(),
        prompt_tokens=reply.prompt_tokens,
        evaluated_tokens=reply.evaluated_tokens,
        completion_tokens=len(reply.tokens),
        first_token_ms=reply.first_token_ms,
        total_ms=reply.total_ms,
        redrawn=reply.redrawn or None,
        recalled=recalled,
        witnesses=at.heard.witnesses,
        text=reply.text,
    )


def reply_ended(at: PendingAnswer, turn: str, reply: PartialReply) -> ReplyEnded:
    """The same as faces are told."""
    reason = reply.stop_reason or StopReason.FAILED
    return ReplyEnded(
        session=at.taken.session,
        turn=at.taken.turn,
        reply_turn=turn,
        text=reply.text,
        truncated=reason is not StopReason.END,
        stop_reason=reason.value,
        error=reply.error,
        prompt_tokens=reply.prompt_tokens,
        evaluated_tokens=reply.evaluated_tokens,
        completion_tokens=len(reply.tokens),
        first_token_ms=reply.first_token_ms,
        total_ms=reply.total_ms,
        context_used=len(at.log.tokens),
        context_total=at.limits.context,
    )
