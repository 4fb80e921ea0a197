"""What a turn's text is like, read once per turn when first asked for: does it ask, name a time, have a number?"""

import json
import re
import sqlite3
from typing import TYPE_CHECKING

from graph.recall.columns import Columns
from graph.recall.evidence import Traits

if TYPE_CHECKING:  # numpy takes longer to import than the first paint may
    import numpy as np
    from numpy.typing import NDArray

_KNOWN, _ASKS, _DATED, _COUNTED = 1, 2, 4, 8
_TIME = re.compile(
    r"\b(?:yesterday|today|tonight|tomorrow|last|next|ago|weeks?|weekend|months?|years?|days?|soon|since|recently"
    r"|monday|tuesday|wednesday|thursday|friday|saturday|sunday|january|february|march|april|may|june|july|august"
    r"|september|october|november|december|\d{4})\b",
    re.IGNORECASE,
)
_NUMBER = re.compile(
    r"\b(?:\d+|one|two|three|four|five|six|seven|eight|nine|ten|dozen|once|twice|first|second|third|couple|few)\b",
    re.IGNORECASE,
)


class TraitTable:
    """The traits of the rows of some columns."""

    def __init__(self) -> None:
        import numpy as np

        self._bits: NDArray[np.uint8] = np.zeros(0, np.uint8)

    def read(self, db: sqlite3.Connection, columns: Columns, rows: "NDArray[np.intp]") -> Traits:
        """The traits of `rows`, in their order."""
        import numpy as np

        if len(self._bits) < columns.size:
            grown = np.zeros(columns.size + columns.size // 4 + 64, np.uint8)
            grown[: len(self._bits)] = self._bits
            self._bits = grown
        unknown = rows[self._bits[rows] == 0]
        if len(unknown):
            of_event = dict(zip(columns["seq"][unknown].tolist(), unknown.tolist(), strict=True))
            self._bits[unknown] = _KNOWN
            query = "SELECT seq, text FROM events WHERE seq IN (SELECT value FROM json_each(?)) AND text IS NOT NULL"
            for seq, text in db.execute(query, (json.dumps(list(of_event)),)):
                self._bits[of_event[seq]] = _bits(text)
        bits = self._bits[rows]
        return Traits(bits & _ASKS != 0, bits & _DATED != 0, bits & _COUNTED != 0)


def _bits(text: str) -> int:
    said = text[:4_000]  # a page tells enough
    return (
        _KNOWN
        | (_ASKS if text.rstrip().endswith("?") else 0)
        | (_DATED if _TIME.search(said) else 0)
        | (_COUNTED if _NUMBER.search(said) else 0)
    )
