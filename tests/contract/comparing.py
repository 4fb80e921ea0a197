"""A recording and what there is now, compared entry by entry: what was added, removed and changed, in words."""

import json
from collections.abc import Iterator
from difflib import unified_diff
from pathlib import Path
from typing import Any

RECORDED = Path(__file__).parent / "recorded"
MOST = 60  # differences that are told
WHAT_NEXT = (
    "If nobody should notice a change, mend the code. If the change is meant, record the contract again with\n"
    "`python -m tests.contract.record`, review what git shows of tests/contract/recorded, and add it to CHANGELOG.md."
)


def written(value: object) -> str:
    """A recording as its file has it: text as it is, everything else as sorted JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=1, sort_keys=True) + "\n"


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
