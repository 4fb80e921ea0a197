"""Questions as people put them, of the tables beside this file, and how many of them become the query that is meant."""

from collections.abc import Sequence

from tests.agent.asking.asked import NAMES, Asking, lines
from tests.phrases import REPORT

Phrasing = tuple[str, list[str]]  # a question, and the ready queries that would do

FRESH_NAMES = ("Miriam", "Tomas", "Lisbon")  # whom fresh.txt speaks of


def phrasings(table: str) -> list[Phrasing]:
    """The rows of a table."""
    rows = (line.partition(":") for line in lines(table))
    return [(question.strip(), wanted.replace("-", "").split()) for wanted, _, question in rows]


def score(
    asking: Asking, rows: Sequence[Phrasing], names: Sequence[str] = NAMES, *, right: float, sure: float, wrong: int
) -> None:
    """Put the questions. Fails, and prints those that missed, where too few become a query that would do.

    `right` is of all, `sure` of those that have a query; `wrong` are surely taken for another one, at most.
    """
    counted, misses = {"right": 0, "sure": 0, "wrong": 0}, []
    for question, wanted in rows:
        found = asking.put(question, names=names)
        query, is_sure = (None, False) if found is None else (found.ready, found.how == "template")
        is_right = query in wanted or (not wanted and not is_sure)
        counted["right"] += is_right
        counted["sure"] += is_right and is_sure
        counted["wrong"] += is_sure and not is_right
        if not is_right:
            how = ", surely" if is_sure else ""
            misses.append(f"{question!r} is {query}{how}, and not {' or '.join(wanted) or 'none'}")
    print(f"{REPORT}of {len(rows)} questions: {counted}", *misses, sep="\n")
    assert counted["right"] >= right * len(rows), counted
    assert counted["sure"] >= sure * sum(bool(wanted) for _, wanted in rows), counted
    assert counted["wrong"] <= wrong, counted
