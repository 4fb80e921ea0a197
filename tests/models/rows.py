"""A table as one test within an event loop: every row is checked, and the failure lists all rows that missed."""

from collections.abc import Awaitable, Callable, Iterable
from typing import TypeVar

from models.errors import ModelError

Row = TypeVar("Row")


async def every(rows: Iterable[Row], check: Callable[[Row], Awaitable[None]]) -> None:
    """Check all rows, one after the other. Fails with a line for each that misses, or raises an error of models."""
    count, misses = 0, []
    for row in rows:
        count += 1
        try:
            await check(row)
        except (AssertionError, ModelError) as e:
            misses.append(f"{row!r}: {type(e).__name__} {e}")
    assert count, "the table is empty"
    assert not misses, f"{len(misses)} of {count} rows missed:\n" + "\n".join(misses)
