"""What people tell in a message that lasts, in their own words: what is kept where no model can be trusted.

Sparse and true beats rich. A message is cut into clauses, and weights (heads.py) say of each how likely it tells
something that lasts. Clauses side by side that do are one statement, from the beginning of their sentence on,
so that it names whom it is about. Guards come first: what is quoted, pasted, acted, supposed or an order to the program
is nobody's statement.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from agent.language.clauses import Clause, clauses, contents
from agent.language.doubt import injected
from agent.language.words import tokens
from agent.reflection.heads import by_words, kind_and_weight, lasting
from agent.reflection.likeness import PRONOUNS, Embed
from graph.events import ObservationKind
from graph.values import Vector

MOST = 30  # words of a statement
TOLD = 0.61  # how likely the surest of its clauses is to last, and
BESIDE = 0.4  # every other one
NOTABLE = 0.3  # from which a message is notable, if nothing is kept of it
HARDLY = 0.06  # by words alone: what is less likely is not embedded
LEAST = 3  # words
LONGEST_BEFORE = 14  # words of a sentence before what is told, which may say of whom
WORD = re.compile(r"\w+(?:['’]\w+)?")


@dataclass(frozen=True, slots=True)
class Statement:
    """A stretch of a turn, verbatim, with its vector, if there is one; `significance` is how much it matters (1–3)."""

    text: str
    category: ObservationKind
    significance: int
    vector: Vector | None


@dataclass(frozen=True, slots=True)
class Told:
    """What a turn tells: its statements, and how much it matters, 0–3."""

    statements: tuple[Statement, ...] = ()
    significance: int = 0


async def told(text: str, embed: Embed) -> Told:
    """What a person tells in a turn that lasts; mostly nothing."""
    found = clauses(text) if not injected(text) else []
    likely = await _likely(text, found, embed)
    said = [_stretch(text, found, run) for run in _runs(text, found, likely)]
    said = [
        each
        for at, each in enumerate(said)
        if len(WORD.findall(each)) >= LEAST and not any(each in other for other in said[at + 1 :])
    ]
    vectors = await embed(said) if said else []
    statements = [
        Statement(each, *kind_and_weight(each, vector), vector) for each, vector in zip(said, vectors, strict=True)
    ]
    notable = int(max(likely, default=0.0) >= NOTABLE)
    return Told(tuple(statements), max((each.significance for each in statements), default=notable))


async def _likely(text: str, found: Sequence[Clause], embed: Embed) -> list[float]:
    """How likely each clause lasts; what words alone say is nothing is not embedded."""
    likely = by_words(text, found)
    near = [place for place, each in enumerate(likely) if each >= HARDLY]
    wanted = [found[place] for place in near]
    texts = list(dict.fromkeys(each for clause in wanted for each in contents(text, clause)))
    of = dict(zip(texts, await embed(texts), strict=True)) if texts else {}
    rows = [tuple(of[each] for each in contents(text, clause)) for clause in wanted]
    for place, sure in zip(near, lasting(text, wanted, rows), strict=True):  # type: ignore[arg-type]
        likely[place] = sure
    return [sure if clause.own else 0.0 for sure, clause in zip(likely, found, strict=True)]


def _runs(text: str, found: Sequence[Clause], likely: Sequence[float]) -> list[list[int]]:
    """The places of clauses of one sentence, side by side, that tell one thing."""
    runs = []
    for _, group in groupby(enumerate(likely), key=lambda each: (found[each[0]].opens, each[1] >= BESIDE)):
        places = [place for place, sure in group if sure >= BESIDE]
        if places and max(likely[place] for place in places) >= TOLD:
            runs += _short_enough(text, found, places, likely)
    return runs


def _short_enough(text: str, found: Sequence[Clause], places: list[int], likely: Sequence[float]) -> list[list[int]]:
    """A run, cut where it would be longer than a statement may be."""
    runs: list[list[int]] = [[]]
    for place in places:
        if runs[-1] and len(text[found[runs[-1][0]].start : found[place].end].split()) > MOST:
            runs.append([])
        runs[-1].append(place)
    fits = [run for run in runs if len(text[found[run[0]].start : found[run[-1]].end].split()) <= MOST]
    return [run for run in fits if max(likely[place] for place in run) >= TOLD]


def _stretch(text: str, found: Sequence[Clause], run: Sequence[int]) -> str:
    """The words of a run, with what stands before it in its sentence where that is short and asks nothing.

    What begins with a pronoun has the sentence before it too, if there is room.
    """
    first, last = found[run[0]], found[run[-1]]
    starts = [first.start]
    if "?" not in (before := text[first.opens : first.start]) and len(before.split()) <= LONGEST_BEFORE:
        starts.append(first.opens)
    opening = WORD.match(text, starts[-1])
    if opening is not None and not PRONOUNS.isdisjoint(tokens(opening[0])):
        starts += [each.opens for each in found[: run[0]] if each.opens < first.opens and each.own][-1:]
    fits = [start for start in starts if len(text[start : last.end].split()) <= MOST]
    return text[fits[-1] : last.end].rstrip(" ,;:–—-(")
