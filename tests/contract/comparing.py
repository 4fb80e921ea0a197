"""A recording and what there is now, compared entry by entry: what was added, removed and changed, in words."""

import json
import textwrap
from collections.abc import Iterator
from difflib import unified_diff
from pathlib import Path
from typing import Any

RECORDED = Path(__file__).parent / "recorded"
MOST = 60  # differences that are told
WIDTH = 120
SHORT = 40  # entries that share a line
WHAT_NEXT = (
    "If nobody should notice a change, mend the code. If the change is meant, record the contract again with\n"
    "`python -m tests.contract.record`, review what git shows of tests/contract/recorded, and add it to CHANGELOG.md."
)


def written(value: object) -> str:
    """A recording as its file has it: text as it is, everything else as sorted JSON, of which a line has what fits."""
    return value if isinstance(value, str) else _json(value, 0) + "\n"


def check(name: str, value: object, folder: Path = RECORDED) -> None:
    """Compare what there is now with the recording of that name. Raises AssertionError, which tells the differences."""
    path = folder / name
    before = path.read_text(encoding="utf-8") if path.exists() else written("" if isinstance(value, str) else {})
    if (found := differences(name, before, written(value))) or not path.exists():
        more = [f"  … and {len(found) - MOST} more"] if len(found) > MOST else []
        raise AssertionError("\n".join([f"{name} is not as it was recorded:", *found[:MOST], *more, WHAT_NEXT]))


def differences(name: str, before: str, after: str) -> list[str]:
    """What is in only one of two recordings, or in both with another value, a line each."""
    if before == after:
        return []
    if not name.endswith(".json"):
        lines = unified_diff(before.splitlines(), after.splitlines(), "recorded", "now", lineterm="", n=1)
        return [f"  {line}" for line in lines]
    old, new = dict(_leaves(json.loads(before))), dict(_leaves(json.loads(after)))
    return [
        *(f"  added    {at}: {new[at]}" for at in new if at not in old),
        *(f"  removed  {at}: {old[at]}" for at in old if at not in new),
        *(f"  changed  {at}: {old[at]} → {new[at]}" for at in new if at in old and old[at] != new[at]),
    ]


def _json(value: object, depth: int) -> str:
    line = json.dumps(value, ensure_ascii=False, sort_keys=True)
    if not isinstance(value, dict | list) or len(line) <= WIDTH - depth:
        return line
    keys = sorted(value) if isinstance(value, dict) else range(len(value))
    names = [f"{json.dumps(key, ensure_ascii=False)}: " if isinstance(value, dict) else "" for key in keys]
    entries = [name + _json(value[key], depth + 1) for name, key in zip(names, keys, strict=True)]
    joint, indent = ",\n", " " * (depth + 1)
    if all(len(each) <= SHORT for each in entries):
        body = textwrap.fill(", ".join(each.replace(" ", "\0") for each in entries), WIDTH, break_on_hyphens=False)
        body = textwrap.indent(body.replace("\0", " "), indent)
    else:
        body = joint.join(indent + each for each in entries)
    return f"{line[0]}\n{body}\n{' ' * depth}{line[-1]}"


def _leaves(value: Any, at: str = "") -> Iterator[tuple[str, str]]:
    """Every entry of a recording: the way to it, and what it says. A list of plain values is one entry."""
    match value:
        case dict() if value:
            for key, each in value.items():
                yield from _leaves(each, f"{at} › {key}" if at else key)
        case list() if any(isinstance(each, dict | list) for each in value):
            for number, each in enumerate(value, start=1):
                yield from _leaves(each, f"{at} › {number}")
        case _:
            yield at, json.dumps(value, ensure_ascii=False)
