"""Tables of phrases in a .toml beside a test, one row a line, which a rule gets right."""

import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from tests.tables import each


def tables(test: str) -> dict[str, list[Any]]:
    """The tables of a test, by name; `test` is its file, which has a .toml without the `test_` beside it."""
    file = Path(test)
    told = file.with_name(f"{file.stem.removeprefix('test_')}.toml").read_text(encoding="utf-8")
    return tomllib.loads(told)


def score(rows: Sequence[Any], rule: Callable[..., bool]) -> None:
    """Fails, and tells which, where a rule is wrong about any row."""

    def check(row: Any) -> None:
        assert rule(*row) if isinstance(row, list) else rule(row)

    each(rows, check)
