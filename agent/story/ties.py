"""How one of a cast stands to another, in that direction: affinity and trust, as a clamped fold of their changes.

A change is a line of the stage: "+4" and "-2" are steps, "=30" is set by hand and begins the fold anew. What models
and rules move counts at most MOST points a turn, whatever they said.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import permutations

from graph.values import Member, StageLine

AFFINITY, TRUST, SUMMARY = "affinity", "trust", "summary"
LEAST, HIGHEST = -100, 100
POINT = 2  # points that one step of a judgement weighs
MOST = 4  # points that one turn moves, by judgement
APART = ">"
LIKES = ((-60, "hates"), (-20, "dislikes"), (20, ""), (60, "likes"), (HIGHEST, "loves"))
TRUSTS = ((-60, "fears"), (-20, "distrusts"), (20, ""), (60, "trusts"), (HIGHEST, "trusts completely"))


@dataclass(frozen=True, slots=True)
class Tie:
    """How `owner` stands to `target`; `changes` are the lines that made it so, the oldest first."""

    owner: Member
    target: Member
    affinity: int = 0
    trust: int = 0
    summary: str = ""
    changes: tuple[StageLine, ...] = ()


def pair(owner: str, target: str) -> str:
    """Whose the lines of a tie are."""
    return f"{owner}{APART}{target}"


def folded(changes: Iterable[StageLine]) -> int:
    """The value that some changes lead to, in their order along the path."""
    value, moved = 0, defaultdict[str | None, int](int)
    for line in changes:
        number = amount(line.text or "")
        if number is None:
            continue
        if (line.text or "").startswith("="):
            value = _within(number, LEAST, HIGHEST)
            continue
        step = number
        if line.by != "user":
            before = moved[line.after]
            moved[line.after] = _within(before + number, -MOST, MOST)
            step = moved[line.after] - before
        value = _within(value + step, LEAST, HIGHEST)
    return value


def ties_of(cast: Sequence[Member], lines: Iterable[StageLine]) -> list[Tie]:
    """The ordered pairs of a cast, from all lines that hold of them, the oldest first."""
    of: defaultdict[tuple[str, str], list[StageLine]] = defaultdict(list)
    for line in lines:
        of[line.owner, line.aspect].append(line)
    found = []
    for one, other in permutations(cast, 2):
        owner = pair(one.id, other.id)
        affinity, trust, summary = (of[owner, aspect] for aspect in (AFFINITY, TRUST, SUMMARY))
        says = summary[-1].text or "" if summary else ""
        changes = sorted((*affinity, *trust, *summary), key=lambda line: line.seq)
        found.append(Tie(one, other, folded(affinity), folded(trust), says, tuple(changes)))
    return found


def in_words(tie: Tie) -> str:
    """How one stands to the other, as a prompt has it; empty where nothing moved."""
    felt = [word for word in (_band(tie.affinity, LIKES), _band(tie.trust, TRUSTS)) if word]
    stands = f"{' and '.join(felt)} {tie.target.name}" if felt else ""
    about = f"about {tie.target.name}: {tie.summary}" if tie.summary else ""
    return "; ".join(part for part in (stands, about) if part)


def amount(text: str) -> int | None:
    """The number of a change; None for what is none."""
    bare = text.removeprefix("=").removeprefix("+")
    return (
        int(bare) if bare.removeprefix("-").isascii() and bare.removeprefix("-").isdigit() and len(bare) < 6 else None
    )


def _band(value: int, bands: Sequence[tuple[int, str]]) -> str:
    return next(word for most, word in bands if value <= most)


def _within(value: int, least: int, most: int) -> int:
    return max(least, min(most, value))
