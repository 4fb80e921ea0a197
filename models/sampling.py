"""llama.cpp's samplers: the chain that draws a reply's tokens, and the grammar of a pydantic model.

llama.cpp's converter of JSON schemas honours types, enumerations, lengths and counts. Bounds of numbers it does not
honour, and given texts with quotes, backslashes or other scripts it writes as no grammar can be read: both are put in
here. What a grammar cannot say (validators) is checked on arrival.
"""

import ctypes
import json
import random
from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel

from models.errors import StructuredOutputError
from models.native import NativeContext, NativeModel, library
from models.protocols import SamplingParams

WIDEST = 10**15 - 1  # an open side of a range; more digits than this no model needs
DECIMALS = 3


def gbnf(schema: type[BaseModel]) -> str:
    """GBNF whose every sentence is JSON of this schema."""
    from llama_cpp.llama_grammar import json_schema_to_gbnf

    rules: dict[str, str] = {}
    text: str = json_schema_to_gbnf(json.dumps(_mark(schema.model_json_schema(), rules)))
    lines = ['space ::= ""' if line.startswith("space ::=") else line for line in text.splitlines()]
    whole = "\n".join(lines) + "\n"
    for marker, rule in rules.items():
        # As the converter writes the constant string that stands for the rule.
        whole = whole.replace(f'"\\"{marker}\\""', f"({rule})")
    return whole


def _mark(node: Any, rules: dict[str, str]) -> Any:
    """The schema with each bounded number and difficult constant replaced by a plain constant to be found again."""
    if isinstance(node, list):
        return [_mark(each, rules) for each in node]
    if not isinstance(node, dict):
        return node
    rule = _rule(node) if node.get("type") in ("integer", "number") else None
    if rule is not None:
        return {"const": _marker(rule, rules)}
    marked = {key: _mark(value, rules) for key, value in node.items()}
    if isinstance(node.get("const"), str):
        marked["const"] = _plain(node["const"], rules)
    if isinstance(node.get("enum"), list):
        marked["enum"] = [_plain(each, rules) if isinstance(each, str) else each for each in node["enum"]]
    return marked


def _marker(rule: str, rules: dict[str, str]) -> str:
    marker = f"rule-{len(rules)}-"
    rules[marker] = rule
    return marker


def _plain(text: str, rules: dict[str, str]) -> str:
    """The text itself where the converter can write it, else the marker of its rule."""
    if text.isascii() and text.isprintable() and not set(text) & {'"', "\\"}:
        return text
    quoted = json.dumps(text, ensure_ascii=False)
    escaped = quoted.replace("\\", "\\\\").replace('"', '\\"')
    return _marker(f'"{escaped}"', rules)


def _rule(node: dict[str, Any]) -> str | None:
    """The rule of a bounded number; None where it has no bounds, or a decimal has ones that no rule is made for."""
    keys = ("minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum")
    low, above, high, below = (node.get(key) for key in keys)
    if low is above is high is below is None:
        return None
    if node["type"] == "integer":
        lows = [bound for bound in (low, None if above is None else above + 1) if bound is not None]
        highs = [bound for bound in (high, None if below is None else below - 1) if bound is not None]
        return integers(max(lows, default=-WIDEST), min(highs, default=WIDEST))
    if low is None or high is None or above is not None or below is not None or low < 0 or low % 1 or high % 1:
        return None
    whole = f'({integers(int(low), int(high) - 1)}) ("." [0-9]{{1,{DECIMALS}}})? | ' if high > low else ""
    return f'{whole}"{int(high)}" (".0")?'


def integers(low: int, high: int) -> str:
    """A rule for exactly the whole numbers from `low` to `high`, both included."""
    parts = []
    if low < 0:
        parts.append(f'"-" ({_naturals(max(1, -high), -low)})')
    if high >= 0:
        parts.append(_naturals(max(0, low), high))
    return " | ".join(parts)


def _naturals(low: int, high: int) -> str:
    """From `low` to `high`, one alternative for each count of digits."""
    parts = []
    for digits in range(len(str(low)), len(str(high)) + 1):
        least = 0 if digits == 1 else 10 ** (digits - 1)
        parts.append(_digits(str(max(low, least)), str(min(high, 10**digits - 1))))
    return " | ".join(parts)


def _digits(low: str, high: str) -> str:
    """Numbers of one length, digit by digit."""
    rest = len(low) - 1
    if set(low[1:]) <= {"0"} and set(high[1:]) <= {"9"}:
        any_digits = f" [0-9]{{{rest}}}" if rest else ""
        return f"[{low[0]}-{high[0]}]{any_digits}"
    if low[0] == high[0]:
        return f'"{low[0]}" ({_digits(low[1:], high[1:])})'
    parts = [_digits(low, low[0] + "9" * rest)]
    if int(high[0]) - int(low[0]) > 1:
        parts.append(_digits(f"{int(low[0]) + 1}" + "0" * rest, f"{int(high[0]) - 1}" + "9" * rest))
    parts.append(_digits(high[0] + "0" * rest, high))
    return " | ".join(parts)


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
