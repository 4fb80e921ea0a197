"""One reply: the stream from the model, its text kept on disk while it comes, and how it ended."""

import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field

from graph.events import StopReason
from models.errors import ModelError
from models.protocols import Finished, Generator, ReadProgress, SamplingParams

from .events import TokensArrived
from .stream_checkpointer import StreamCheckpointer


@dataclass(slots=True)
class PartialReply:
    """A reply as far as it has come; `stop_reason` is set when it has ended."""

    text: str = ""
    tokens: list[int] = field(default_factory=list)
    stop_reason: StopReason | None = None
    error: str | None = None
    prompt_tokens: int = 0
    evaluated_tokens: int = 0
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
) -> AsyncGenerator[TokensArrived, None]:
    """Fill `reply` from the model and tell of every piece; `save` gets the whole text so far, a few times a second.

    `progress` hears how far the prompt is read.

    Never raises for the model's sake: a failure ends the reply with what came, and its reason in `error`. Raises what
    `save` raises.
    """
    started = time.perf_counter()
    first: float | None = None
    checkpointer = StreamCheckpointer(save)
    reply.prompt_tokens = len(prompt)
    try:
        async with aclosing(generator.generate(prompt, params, progress=progress)) as steps:
            async for step in steps:
                now = time.perf_counter()
                if isinstance(step, Finished):
                    _finish(reply, step)
                    break
                first = first or now
                reply.text += step.text
                reply.tokens.extend(step.tokens)
                checkpointer.keep(reply.text)
                speed = len(reply.tokens) / (now - first) if now > first else 0.0
                yield TokensArrived(session, reply_turn, step.text, len(reply.tokens), speed, step.thinking)
    except ModelError as error:
        reply.stop_reason, reply.error = StopReason.FAILED, str(error)
        reply.total_ms = (time.perf_counter() - started) * 1000
    finally:
        await checkpointer.close()


def _finish(reply: PartialReply, end: Finished) -> None:
    reply.stop_reason = StopReason(end.reason)
    reply.prompt_tokens = end.prompt_tokens
    reply.evaluated_tokens = end.evaluated_tokens
    reply.first_token_ms = end.first_token_ms
    reply.total_ms = end.total_ms
