"""Tables of phrases that score a rule: the share of them of which it tells all that it should and nothing else.

A table is a file beside its test, a row a line: a .toml with rows of a phrase and what it tells, or a .txt with both on
either side of the last " =". There is "; " between several, and nothing where it tells nothing. In a .txt \\n is a line
break.

A table by other hands, who have not seen the rule, lies beside it as `<name>_held_out`. The same test scores it, with a
floor of its own; none of its rows is ever changed.
"""

import tomllib
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from hypothesis import strategies as st

Said = TypeVar("Said")
Rows = Sequence[tuple[Said, Iterable[str]]]  # a phrase, or whatever the rule is given, and what it is to tell
Rule = Callable[[Said], Iterable[str]]

REPORT = "table "  # so begins what is printed of one; it is shown at the end of a run that passes, too


def rows(table: Path) -> Rows[str]:
    """The rows of a table."""
    text = table.read_text(encoding="utf-8")
    if table.suffix == ".toml":
        return [(said, several(tells)) for said, tells in tomllib.loads(text)["rows"]]
    lines = [line.rpartition(" =") if " =" in line else (line, "", "") for line in text.splitlines()]
    return [(said.replace("\\n", "\n"), several(tells)) for said, _, tells in lines]


def several(tells: str) -> list[str]:
    """What stands between semicolons."""
    return [each.strip() for each in tells.split(";") if each.strip()]


def score(table: Rows[Said], rule: Rule[Said]) -> tuple[float, str]:
    """The share of the rows that is right, and a line for each of the others."""
    misses = []
    for said, tells in table:
        wanted, got = sorted(tells), sorted(rule(said))
        if got != wanted:
            misses.append(f"{said!r}: {got}, not {wanted}")
    return 1 - len(misses) / len(table), "\n".join(misses)


def scored(
    table: Path,
    rule: Rule[Said],
    floor: float,
    held_out: float,
    read: Callable[[Path], Rows[Any]] = rows,
) -> None:
    """Print how a rule does on a table, and on the one that was held out; fail where one scores less than its floor."""
    for path, least in ((table, floor), (table.with_stem(f"{table.stem}_held_out"), held_out)):
        right, misses = score(read(path), rule)
        print(f"{REPORT}{path.name}: {right:.4f} right, of at least {least}\n{misses}")
        assert right >= least, f"{path.name}: {right:.4f} right, and it was {least}\n{misses}"


def babble(words: str, *more: str) -> st.SearchStrategy[str]:
    """Any of these words in any order, or any text."""
    return st.lists(st.sampled_from([*words.split(), *more])).map(" ".join) | st.text()
