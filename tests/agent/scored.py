"""Tables of phrases in a .toml beside a test, one row a line, and the share of them that a rule gets right."""

import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any


def tables(test: str) -> dict[str, list[Any]]:
    """The tables of a test, by name; `test` is its file, which has a .toml without the `test_` beside it."""
    file = Path(test)
    told = file.with_name(f"{file.stem.removeprefix('test_')}.toml").read_text(encoding="utf-8")
    return tomllib.loads(told)


def score(rows: Sequence[Any], rule: Callable[..., bool], *, least: float = 1.0) -> None:
    """Fails where a rule is right about less than that share of the rows; the misses are told in any case."""
    misses = [row for row in rows if not (rule(*row) if isinstance(row, list) else rule(row))]
    report = f"{len(misses)} of {len(rows)} rows missed:\n" + "\n".join(map(repr, misses))
    print(report)
    assert len(rows) - len(misses) >= least * len(rows) > 0, report
