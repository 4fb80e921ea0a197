"""What a chat model asks of the engine: a reply, a prefill, an object by grammar, in three contexts.

Two are of one size and trade places (models/placing.py says which a prompt goes into). A prefill is evaluated in the
background's, and when it is done that one simply becomes the foreground's: nothing is copied, and until then the old
prompt stays warm. Objects by grammar have a context to themselves, so that they push nobody out: a smaller one, made
for the first of them where there is memory for it beside the other two. Where there is none they take the background's.
"""

import asyncio
from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Literal

from pydantic import BaseModel

from models import machine, placing
from models.engine import Engine, EngineTask, Job, Rank
from models.errors import EngineClosed, StructuredOutputError
from models.fitting import APART, GRAPH_BYTES
from models.machine import Paces
from models.native import NativeContext, NativeModel
from models.protocols import Entry, Finished, Piece, ReadProgress, SamplingParams
from models.sampling import GrammarSampler, Sampler, gbnf
from models.template import ReplyText, Vocabulary


class Contexts:
    """What the jobs of one model work on, on the engine's thread; `kv_bytes` are those of a token's KV cache."""

    def __init__(
        self,
        model: NativeModel,
        front: NativeContext,
        engine: Engine,
        *,
        vocabulary: Vocabulary,
        paces: Paces,
        kv_bytes: int,
    ) -> None:
        self.model = model
        self.front = front
        self.vocabulary = vocabulary
        self.between = engine.between
        self.closed = False
        self._back: NativeContext | None = None
        self._apart: NativeContext | None = None
        self._engine = engine
        self._paces = paces
        self._kv_bytes = kv_bytes

    def check_open(self) -> None:
        """Raises EngineClosed after `close`."""
        if self.closed:
            raise EngineClosed

    def back(self) -> NativeContext | None:
        """The background's context, made when it is first needed; None if there is no memory for it."""
        if self._back is None:
            self._back = self._make(self.front.size)
        return self._back

    def apart(self, tokens: int) -> NativeContext | None:
        """Where an object by grammar of so many tokens, its prompt among them, is made: in a context for these alone,
        or where there is no memory for one in the background's. None if there is none for that either."""
        if self._apart is None or self._apart.size < tokens:
            size = min(APART, self.front.size) if tokens <= APART else self.front.size
            made = self._make(size) if self._room_for(size) else None
            if made is None:
                return self.back()
            self._free_apart()
            self._apart = made
        return self._apart

    def keeps(self, tokens: Sequence[int], prompt: Sequence[int], entry: Entry) -> bool:
        """As `Generator.keeps` has it; from any thread."""
        jobs = self._apart is None and not self._room_for(min(APART, self.front.size))
        return placing.keeps(self.front, self._back, tokens, prompt, entry, jobs=jobs)

    def beside(self, prompt: Sequence[int], entry: Entry) -> NativeContext | None:
        """The context for what is no reply; None if that is the background's, and there is no memory for it."""
        return self.back() if placing.behind(self.front, self._back, prompt, entry) else self.front

    def nearest(self, prompt: Sequence[int]) -> NativeContext:
        """The context for a reply to `prompt`, as the foreground's."""
        if placing.behind(self.front, self._back, prompt, "generate") and self.back() is not None:
            self.swap()
        return self.front

    def swap(self) -> None:
        """The background's context becomes the foreground's; on the engine's thread."""
        if self._back is not None:
            self.front, self._back = self._back, self.front

    def holder(self, tokens: Sequence[int]) -> NativeContext | None:
        """The context that has most of `tokens`, cut back to what it has of them; on the engine's thread.

        None where it was rather asked something else, which begins alike: cutting it would lose more than it saves.
        """
        context = self.front
        if self._back is not None and self._back.common(tokens) > self.front.common(tokens):
            context = self._back
        whole = [*tokens, -1]
        shared, lost = context.common(whole), placing.loses(context, whole)
        if lost > max(shared, placing.OPENING):
            return None
        context.keep_shared(tokens)
        return context

    def common(self, prompt: Sequence[int]) -> int:
        """How many tokens of `prompt` are evaluated already, in the one that has most; from any thread."""
        return max(context.common(prompt) for context in (self.front, self._back or self.front))

    def free(self) -> None:
        """Give the contexts and the model back."""
        self.front.free()
        if self._back is not None:
            self._back.free()
        self._free_apart()
        self.model.free()

    def _room_for(self, size: int) -> bool:
        """Whether there is memory for a third context of that size, and for the second too, if that is yet to come."""
        later = 0 if self._back is not None else self.front.size
        return machine.available_memory() >= (size + later) * self._kv_bytes + GRAPH_BYTES

    def _make(self, size: int) -> NativeContext | None:
        return NativeContext.make(self.model, self._engine.flag, size=size, paces=self._paces)

    def _free_apart(self) -> None:
        if self._apart is not None:
            self._apart.free()
            self._apart = None


EVERY_S = 0.033  # pieces a second that cross to the event loop: about 30
READ_EVERY_S = 0.1  # between two words on how far a prompt is read
LONG_TO_READ = 256  # tokens: fewer are read before anybody asks how far it is
Reason = Literal["end", "length", "stopped"]


class GenerateJob(Job):
    """One reply, streamed into `items`; never interrupted but by cancelling. With `schema`, under its grammar."""

    rank = Rank.FOREGROUND

    def __init__(
        self,
        contexts: "Contexts",
        prompt: Sequence[int],
        params: SamplingParams,
        *,
        schema: type[BaseModel] | None = None,
        progress: ReadProgress | None = None,
    ) -> None:
        super().__init__()
        self._progress = progress
        self.items: asyncio.Queue[Piece | Finished | Exception] = asyncio.Queue()
        self._contexts = contexts
        self._prompt = list(prompt)
        self._params = params
        self._schema = schema
        self._reply = ReplyText(skip_space=contexts.vocabulary.spaced)
        self._sampled = 0
        self._told_at = 0.0
        self._read_at = 0.0
        self._first_ms: float | None = None
        self._start = perf_counter()

    def run(self) -> bool:
        self._contexts.check_open()
        context = self._contexts.nearest(self._prompt)
        kept = context.keep_common(self._prompt)
        complete = context.extend(self._prompt[kept:], between=self._between(context, kept))
        evaluated = len(context.tokens) - kept
        reason: Reason = self._decode() if complete else "stopped"
        self._tell(*self._reply.end())
        total_ms = (perf_counter() - self._start) * 1000
        self._put(Finished(reason, len(self._prompt), evaluated, self._sampled, self._first_ms, total_ms))
        return True

    def _between(self, context: "NativeContext", kept: int) -> Callable[[], None]:
        """What is done between two batches of the prompt: what is brief, and the word on how far it is."""
        progress, total = self._progress, len(self._prompt) - kept
        if progress is None or total < LONG_TO_READ:
            return self._contexts.between

        def between() -> None:
            self._contexts.between()
            if perf_counter() - self._read_at > READ_EVERY_S:
                self._read_at = perf_counter()
                self.tell(progress, len(context.tokens) - kept, total)

        return between

    def _decode(self) -> Reason:
        """Sample and evaluate until something ends it; the hot loop, kept free of what can wait."""
        context, vocabulary = self._contexts.front, self._contexts.vocabulary
        reply, ends, piece = self._reply, vocabulary.ends, vocabulary.reply_piece
        between = self._contexts.between
        room = context.size - len(context.tokens)
        most = self._params.max_tokens
        said = 0
        sampler = self._sampler()
        try:
            while not self.cancelled:
                token = sampler.sample(context)
                if token in ends:
                    return "end"
                self._sampled += 1
                reply.push(token, piece(token))
                said += reply.begun
                if perf_counter() - self._told_at > EVERY_S:
                    self._tell(*reply.take())
                if said >= most or self._sampled >= room:
                    return "length"
                if not context.extend_one(token):
                    break
                between()
        finally:
            sampler.free()
        return "stopped"

    def _sampler(self) -> Sampler | GrammarSampler:
        contexts = self._contexts
        if self._schema is None:
            return Sampler(contexts.model, self._params)
        return GrammarSampler(contexts.model, gbnf(self._schema), never=contexts.vocabulary.never_in_text)

    def _tell(self, tokens: tuple[int, ...], text: str) -> None:
        if not (tokens or text or self._reply.thinking):
            return
        if tokens and self._first_ms is None:
            self._first_ms = (perf_counter() - self._start) * 1000
        self._told_at = perf_counter()
        self._put(Piece(tokens, text, thinking=self._reply.thinking))

    def _put(self, item: Piece | Finished | Exception) -> None:
        self.tell(self.items.put_nowait, item)

    def fail(self, error: Exception) -> None:
        self._put(error)


class PrefillJob(EngineTask):
    """Evaluates a prompt in the background's context, then makes that the foreground's.

    Where the foreground's has only to be gone on with, and nothing of it is lost, that is done there.
    """

    def __init__(self, contexts: "Contexts", prompt: Sequence[int]) -> None:
        super().__init__()
        self._contexts = contexts
        self._prompt = list(prompt)

    def run(self) -> bool:
        self._contexts.check_open()
        if self._contexts.front.common(self._prompt) >= len(self._prompt) - 1:
            self.succeed(True)
            return True
        context = self._contexts.beside(self._prompt, "prefill")
        if context is None:
            self.succeed(False)
            return True
        kept = context.keep_common(self._prompt)
        if not context.extend(self._prompt[kept:]):
            return False
        if context is not self._contexts.front:
            self._contexts.swap()
        self.succeed(True)
        return True


class StructuredJob(EngineTask):
    """Decodes greedily under a grammar; after an interruption it goes on behind its last token."""

    def __init__(
        self, contexts: "Contexts", prompt: Sequence[int], schema: type[BaseModel], *, max_tokens: int
    ) -> None:
        super().__init__()
        self._contexts = contexts
        self._tokens = list(prompt)
        self._first = len(prompt)
        self._last = min(len(prompt) + max_tokens, contexts.front.size - 1)
        self._grammar = gbnf(schema)
        self._sampler: GrammarSampler | None = None

    def run(self) -> bool:
        self._contexts.check_open()
        context = self._contexts.apart(self._last + 1)
        if context is None:
            raise StructuredOutputError("there is no memory for a second context")
        if self._sampler is None:
            never = self._contexts.vocabulary.never_in_text
            self._sampler = GrammarSampler(self._contexts.model, self._grammar, never=never)
        kept = context.keep_common(self._tokens)
        if not context.extend(self._tokens[kept:]):
            return False
        while len(self._tokens) < self._last:
            token = self._sampler.sample(context)
            if token in self._contexts.vocabulary.ends:
                self.succeed(self._text())
                return True
            self._tokens.append(token)
            if self.cancelled or not context.extend_one(token):
                return False
        raise StructuredOutputError("it did not end in time", self._text())

    def _text(self) -> str:
        return self._contexts.vocabulary.words(self._tokens[self._first :])

    def release(self) -> None:
        if self._sampler is not None:
            self._sampler.free()
