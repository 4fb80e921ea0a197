"""llama.cpp's samplers: the chain that draws a reply's tokens, and the grammar that constrains structured output."""

import ctypes
import random
from collections.abc import Sequence
from typing import Any

from models.errors import StructuredOutputError
from models.native import NativeContext, NativeModel, library
from models.protocols import SamplingParams

PENALTY_WINDOW = 64  # tokens; llama.cpp's own default


class Sampler:
    """A sampler chain for one reply."""

    def __init__(self, model: NativeModel, params: SamplingParams) -> None:
        c = library()
        self.chain = c.llama_sampler_chain_init(c.llama_sampler_chain_default_params())
        self._sample = c.llama_sampler_sample
        for part in _parts(c, model, params):
            c.llama_sampler_chain_add(self.chain, part)

    def sample(self, context: NativeContext) -> int:
        """Draw the next token after the context's last one."""
        token: int = self._sample(self.chain, context.handle, -1)
        return token

    def free(self) -> None:
        if self.chain:
            library().llama_sampler_free(self.chain)
            self.chain = None


def _parts(c: Any, model: NativeModel, params: SamplingParams) -> list[Any]:
    """The samplers in llama.cpp's usual order."""
    parts = []
    if params.repeat_penalty != 1.0:
        parts.append(c.llama_sampler_init_penalties(model.vocab_size, PENALTY_WINDOW, params.repeat_penalty, 0.0, 0.0))
    if params.temperature <= 0:
        return [*parts, c.llama_sampler_init_greedy()]
    seed = random.getrandbits(32) if params.seed is None else params.seed & 0xFFFFFFFF
    return [
        *parts,
        c.llama_sampler_init_top_k(params.top_k),
        c.llama_sampler_init_top_p(params.top_p, 1),
        c.llama_sampler_init_min_p(params.min_p, 1),
        c.llama_sampler_init_temp(params.temperature),
        c.llama_sampler_init_dist(seed),
    ]


class GrammarSampler:
    """Greedy under a GBNF grammar. It outlives an interruption: it knows only the tokens it gave.

    `never` are control tokens: a grammar reads them as the text they are written with, and lets them into a string.
    """

    def __init__(self, model: NativeModel, gbnf: str, *, never: Sequence[int] = ()) -> None:
        c = library()
        self._model = model
        self.grammar = c.llama_sampler_init_grammar(model.vocab, gbnf.encode(), b"root")
        if not self.grammar:
            raise StructuredOutputError("llama.cpp cannot read the grammar of this schema")
        self._never = list(never)
        self._candidates = (c.llama_token_data * model.vocab_size)()

    def sample(self, context: NativeContext) -> int:
        """The likeliest token the grammar allows; an end token once the text is complete.

        The likeliest of all is tried first, alone: it mostly fits, and asking the grammar about each of 50,000 tokens
        takes longer than the model.
        """
        c = library()
        logits = c.llama_get_logits_ith(context.handle, -1)
        best = self._best(logits)
        if self._allowed([(best, logits[best])]) != best:
            best = self._allowed(None, logits)
        if not self._model.is_end(best):
            c.llama_sampler_accept(self.grammar, best)
        return best

    def _best(self, logits: Any) -> int:
        import numpy as np

        scores = np.ctypeslib.as_array(logits, (self._model.vocab_size,))
        scores[self._never] = -np.inf
        return int(scores.argmax())

    def _allowed(self, few: list[tuple[int, float]] | None, logits: Any = None) -> int:
        """The likeliest of `few` (None: of the whole vocabulary) that the grammar allows; -1 if none of `few` is."""
        import numpy as np

        c = library()
        rows = np.ctypeslib.as_array(self._candidates)
        if few is None:
            count = self._model.vocab_size
            rows["id"] = np.arange(count, dtype=np.int32)
            rows["logit"] = np.ctypeslib.as_array(logits, (count,))
        else:
            count = len(few)
            for row, (token, logit) in enumerate(few):
                rows[row] = (token, logit, 0.0)
        data = c.llama_token_data_array(data=self._candidates, size=count, selected=-1, sorted=False)
        c.llama_sampler_apply(self.grammar, ctypes.byref(data))
        at = int(rows["logit"][:count].argmax())
        if np.isfinite(rows["logit"][at]):
            return int(rows["id"][at])
        if few is None:
            # To accept a token here would be a C++ exception through C, the end of the process.
            raise StructuredOutputError("the grammar allows nothing more")
        return -1

    def free(self) -> None:
        if self.grammar:
            library().llama_sampler_free(self.grammar)
            self.grammar = None
