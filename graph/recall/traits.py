"""What a turn's text is like, read once per turn when first asked for: does it ask, have a time, a number, a name?"""

import json
import re
import sqlite3
from collections.abc import Iterable
from typing import TYPE_CHECKING

from graph.recall.columns import Columns
from graph.recall.evidence import Trait
from graph.recall.table import NONE
from graph.whole_words import CAPITAL

if TYPE_CHECKING:  # numpy takes longer to import than the first paint may
    import numpy as np
    from numpy.typing import NDArray

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


# Capitals tell a name in the middle of a sentence, and quotation marks a title.
_WORD = re.compile(r"[^\W_]+")
_NAME = re.compile(rf"(?:(?<=[^\W\d_A-Z] )|(?<=[,;:] ))(?!I\b)[{CAPITAL}][^\W\d_]+|[\"“„«]\S.*?[\"”»]")
UNKNOWN, NO, YES = 0, 1, 2
BLANKS = " \t\n\r"
READ = 4_000  # characters: the beginning of a page tells enough
KEPT = 8  # of those who speak, as members of casts know of them

_ASKING = """
SELECT seq FROM events WHERE kind = 'turn.said' AND substr(rtrim(text, char(32, 9, 10, 13)), -1) = '?'
"""


class TraitTable:
    """The traits of the rows of some columns."""

    def __init__(self) -> None:
        # By trait; of having a name, by the words of the names of those who speak.
        self._known: dict[Trait | frozenset[str], NDArray[np.uint8]] = {}

    def warm(self, db: sqlite3.Connection, columns: Columns) -> None:
        """Find out ahead which turns ask: every recall wants to know it of some."""
        import numpy as np

        known = self._table("asks", columns)
        known[: columns.size] = NO
        rows = columns.rows(np.array([seq for (seq,) in db.execute(_ASKING)], np.int64))
        known[rows[rows != NONE]] = YES

    def read(
        self,
        db: sqlite3.Connection,
        columns: Columns,
        trait: Trait,
        rows: "NDArray[np.intp]",
        people: Iterable[str] | None = None,
    ) -> "NDArray[np.bool_]":
        """Which of `rows` have a trait, in their order; `people` are the names of who speaks, if not of all."""
        import numpy as np

        key = self._names(columns.speakers.names if people is None else people) if trait == "names" else trait
        known = self._table(key, columns)
        unknown = rows[known[rows] == UNKNOWN]
        if len(unknown):
            of_event = dict(zip(columns["seq"][unknown].tolist(), unknown.tolist(), strict=True))
            known[unknown] = NO  # also where a text is gone
            query = "SELECT seq, text FROM events WHERE seq IN (SELECT value FROM json_each(?)) AND text IS NOT NULL"
            for seq, text in db.execute(query, (json.dumps(list(of_event)),)):
                known[of_event[seq]] = YES if _has(key, text) else NO
        found: NDArray[np.bool_] = known[rows] == YES
        return found

    def _table(self, trait: Trait | frozenset[str], columns: Columns) -> "NDArray[np.uint8]":
        """What is known of each row, with room for all there are."""
        import numpy as np

        known = self._known.get(trait)
        if known is None or len(known) < columns.size:
            grown = np.zeros(columns.size + columns.size // 4 + 64, np.uint8)
            if known is not None:
                grown[: len(known)] = known
            self._known[trait] = known = grown
        return known

    def _names(self, people: Iterable[str]) -> frozenset[str]:
        """What is known of names hangs on who speaks: whoever is spoken to is named in every other turn."""
        key = frozenset(word for name in people for word in _WORD.findall(name))
        others = [each for each in self._known if isinstance(each, frozenset) and each != key]
        for each in others[: max(len(others) - KEPT + 1, 0)]:
            del self._known[each]
        return key


def _has(trait: "Trait | frozenset[str]", text: str) -> bool:
    """Whether a text has a trait: a name, where these are the words of the names of who speaks."""
    match trait:
        case "asks":
            return text.rstrip(BLANKS).endswith("?")
        case "dated":
            return _TIME.search(text[:READ]) is not None
        case "counted":
            return _NUMBER.search(text[:READ]) is not None
        case _:
            found = (_WORD.match(each[0]) for each in _NAME.finditer(text[:READ]))
            return any(word is None or word[0] not in trait for word in found)
