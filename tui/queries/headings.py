"""Which columns of an answer are times: as the RETURN of the query says it."""

import re

from graph.querying.headings import returned
from tui.queries.cells import TIMES

_TIME = re.compile(rf"(?:(?:min|max)\(\s*)?(?:\w+\.)?(?:{'|'.join(TIMES)})\)?", re.IGNORECASE)


def times(cypher: str, columns: tuple[str, ...]) -> frozenset[int]:
    """The places of the columns that hold times."""
    said = [each for each, _ in returned(cypher)]
    if len(said) != len(columns) or "*" in said:
        said = list(columns)
    return frozenset(place for place, each in enumerate(said) if _TIME.fullmatch(each))
