"""A table of phrases as one test: every row is checked, and the failure lists all rows that missed."""

from collections.abc import Callable, Iterable
from typing import TypeVar

from graph.errors import MemoryFailure

Row = TypeVar("Row")


def each(rows: Iterable[Row], check: Callable[[Row], None]) -> None:
    """Check all rows. Fails with a line for each of which the check fails, or raises an error of the memory."""
    count, misses = 0, []
    for row in rows:
        count += 1
        try:
            check(row)
        except (AssertionError, MemoryFailure) as e:
            misses.append(f"{row!r}: {type(e).__name__} {e}")
    assert count, "the table is empty"
    assert not misses, f"{len(misses)} of {count} rows missed:\n" + "\n".join(misses)
