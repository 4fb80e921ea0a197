"""Reads as people write them, with what they find in the memory of `spoken`: six turns, something learned of them.

Every clause, keyword and function that may be used is in here; a test looks.
"""

from typing import Any

from tests.graph.console.told import told

READS: dict[str, list[tuple[Any, ...]]] = told("ordinary.txt") | {
    "// a comment with DELETE in it\nRETURN /* SET */ 1": [(1,)],
    "RETURN\u00a01\u2003AS\tx": [(1,)],
}
