"""The grammar of a pydantic model: JSON on one line, numbers within their bounds.

llama.cpp's converter honours types, enumerations, lengths and counts. Bounds of numbers it does not honour, and given
texts with quotes, backslashes or other scripts it writes as no grammar can be read: both are put in here. What a
grammar cannot say (validators) is checked on arrival.
"""

import json
from typing import Any

from pydantic import BaseModel

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
