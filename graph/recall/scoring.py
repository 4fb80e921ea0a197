"""One score for every turn: what its words and its meaning say, what its neighbours and session add, and a few cues.

A weighted sum of parts that are each bounded, so that scores compare across questions and a missing strategy (no
vectors, no word found, a memory of one turn) leaves its part at zero. One unit is what a turn gets that holds all the
question's words. `total` is exactly `lexical + semantic + graph` and the boosts.

The weights began as a listwise logistic regression (softmax over the turns of a conversation) on half of LoCoMo, 760
questions, divided by the weight of the words and rounded; between 3/4 and 4/3 of any of them the figures stay within
0.8 points. They find 86 % of the turns looked for among the first ten; trained anew on four conversations and measured
on the fifth, such weights find 85 %; summed BM25 finds 62 %, cosines 63 %. What each part adds stands beside it, in
points of that figure and of the right session being first. A word counts once, however often a turn has it and however
long the turn is: turns are short, and with BM25's counts and lengths less was found. What was tried and found nothing
more: feedback from the first hits, for all questions or for lists; vectors of sentences; vectors without what all have
in common; words that are near in meaning to those of the question; that a chat begins with its news.
"""

import math
import re
from typing import TYPE_CHECKING

from graph.recall.evidence import Evidence, Scores, Term, Tree

if TYPE_CHECKING:  # numpy takes longer to import than the first paint may
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]
    Rows = NDArray[np.int32]

WORDS = 1.0  # +5.7 / +8.5
COSINE = 0.8  # +0.9 / +0.6; the more at .8 than at .6: +0.3 / +0.1
WINDOW = 1.4  # of the mean cosine around a turn; +1.2 / 0
SESSION = 1.0  # of the best cosine in the session; +1.1 / +0.7
CHAT = 0.25  # of the most of the question's words that are together anywhere in the session; +0.2 / +0.2

# The share of a term's worth that a turn has from one that stands one, two, three turns before it, and after it. What
# was said before counts for more: a question lifts its answer. +3.2 / +2.2 over the turn's own words alone; a sum
# instead of the best, BM25 instead of presence, and a floor for the whole session all found less.
BEFORE = (0.7, 0.5, 0.35)
AFTER = (0.5, 0.35, 0.2)
AROUND = (0.8, 0.64)  # weights of the cosines one and two turns away, on both sides

SPEAKER = 0.5  # said by whom the question is about; +3.3 / +1.2
AMONG_OTHERS = 0.5  # of it, where more than one is named: the first is most often the one; +0.7 / +0.4
TIME = 1.2  # said in the time that is asked for; +2.4 / +4
TIME_FADES_DAYS = 7.0  # an event is told of some days later; 3 to 30 did the same
ASKING = -0.17  # a turn that itself ends in a question holds fewer answers; +0.6 / 0
# Of the kind that is asked for: a time, where the question is when; a number, where it is how many; a name that no
# speaker has, where it is who, where, which, or what of things that have names. +1.2 / +1.2
DATED, COUNTED, NAMED = 0.5, 0.4, 0.5
SIGNIFICANT = 0.01  # for each step of how much a turn matters, 0 to 3: it parts equals; .03 cost .2 points of sessions
WEIGHED = 200  # turns whose text is looked at for the last two; 500 find the same

DAY_MS = 86_400_000

_WHEN = re.compile(r"^\W*when\b", re.IGNORECASE)
_HOW_MANY = re.compile(r"\bhow (?:many|much|often|long)\b", re.IGNORECASE)
_WHO = re.compile(r"^\W*(?:\w+ )?(?:who|whom|where|which)\b", re.IGNORECASE)
_WITH_NAMES = (
    "actor actress album app area artist author band bar beach book brand building cafe city class club college "
    "company country course destination doctor film firm game group hotel island lake language location magazine "
    "mountain movie museum musician neighborhood neighbourhood novel park person pet place play player podcast "
    "program programme project region restaurant river road school series shop show singer song sport state "
    "station store street team teacher town university village website writer"
)
_WHAT_NAMED = re.compile(
    r"\b(?:what|which|whose) (?:[\w-]+ ){0,3}?(?:people|"
    + "|".join(word[:-1] + "(?:y|ies)" if word.endswith("y") else f"{word}s?" for word in _WITH_NAMES.split())
    + r")\b",
    re.IGNORECASE,
)


def score(evidence: Evidence) -> Scores:
    """The scores of all rows; -inf in `total` and 0 in the parts for those that are not seen."""
    import numpy as np

    own, near = _words(evidence)
    lexical = np.float32(WORDS) * own
    near_words = np.float32(WORDS) * (near - own)
    graph, session = near_words.copy(), np.zeros(evidence.size, np.float32)
    semantic = np.zeros(evidence.size, np.float32)
    cosines = _cosines(evidence)
    if cosines is not None:
        others, weight = _around(evidence, cosines)
        mine, session = (np.float32(SESSION) * part for part in _session_best(evidence, cosines))
        semantic = (np.float32(COSINE) + np.float32(WINDOW) / weight) * cosines + mine
        graph += np.float32(WINDOW) * others / weight + session
    boosts = _boosts(evidence, near)
    for part in (lexical, semantic, graph, near_words, session, *boosts.values()):
        part[~evidence.seen] = 0
    total = lexical + semantic + graph
    for boost in boosts.values():
        total += boost
    total[~evidence.seen] = -np.inf
    for name, boost in _cues(evidence, total).items():
        total += boost
        boosts[name] = boost
    return Scores(total, lexical, semantic, graph, near_words, session, boosts)


def _words(evidence: Evidence) -> "tuple[Floats, Floats]":
    """float32[size] each, 0–1: the share of the question's terms that a turn has, and has with those around it.

    A term weighs by its inverse document frequency among the turns that are seen, as in BM25.
    """
    import numpy as np

    own, near = np.zeros(evidence.size, np.float32), np.zeros(evidence.size, np.float32)
    whole = 0.0
    for term in evidence.terms:
        rows, idf = term.rows[evidence.seen[term.rows]], term_worth(evidence, term)
        whole += idf
        own[rows] += np.float32(idf)
        near += np.float32(idf) * around(evidence.tree, rows, evidence.size)
    if whole:
        own /= np.float32(whole)
        near /= np.float32(whole)
    return own, near


def term_worth(evidence: Evidence, term: Term) -> float:
    """What a term of a question is worth; nothing where nobody who is seen said it."""
    import numpy as np

    if term.worth is not None:
        return term.worth
    having = int(np.count_nonzero(evidence.seen[term.rows]))
    return worth_of(int(np.count_nonzero(evidence.seen)), having) if having else 0.0


def worth_of(count: int, having: int) -> float:
    """The inverse document frequency of a term that `having` of `count` rows have."""
    return math.log1p((max(count - having, 0) + 0.5) / (having + 0.5))


def around(tree: Tree, rows: "Rows", size: int) -> "Floats":
    """float32[size]: 1 for `rows`, and the largest share that reaches a turn for those up and down from them."""
    import numpy as np

    layers: list[tuple[float, Rows]] = [(1.0, rows)]
    above = below = rows
    for before, after in zip(BEFORE, AFTER, strict=True):
        above, below = _above(tree, above), _below(tree, below)
        layers += [(after, above), (before, below)]  # the turn below was said later: for it, `rows` came before
    worth = np.zeros(size, np.float32)
    for share, reached in sorted(layers, key=lambda layer: layer[0]):
        worth[reached] = share
    return worth


def _above(tree: Tree, rows: "Rows") -> "Rows":
    above = tree.parent[rows]
    return above[above >= 0]


def _below(tree: Tree, rows: "Rows") -> "Rows":
    import numpy as np

    below = tree.child[rows]
    below = below[below >= 0]
    if len(tree.others):
        among = np.zeros(len(tree.parent), np.bool_)
        among[rows] = True
        below = np.concatenate([below, tree.others[among[tree.others_of]]])
    return below


def _cosines(evidence: Evidence) -> "Floats | None":
    """The cosines; a turn that is not embedded yet gets the mean of the others, which neither lifts nor sinks it."""
    import numpy as np

    if evidence.cosines is None:
        return None
    known = evidence.seen & (evidence.cosines != 0)
    if not known.any():
        return None
    return np.where(known, evidence.cosines, np.float32(evidence.cosines[known].mean())).astype(np.float32)


def _around(evidence: Evidence, cosines: "Floats") -> "tuple[Floats, Floats]":
    """The weighted sum of the cosines up to two turns up and down a turn, without its own; and all the weights."""
    import numpy as np

    seen = np.append(evidence.seen, False).astype(np.float32)  # place -1, before the first, is the last: never seen
    lent = np.append(cosines, np.float32(0)) * seen
    total, weight = np.zeros(evidence.size, np.float32), np.ones(evidence.size, np.float32)
    tree = evidence.tree
    for share, *places in zip(AROUND, (tree.parent, tree.grandparent), (tree.child, tree.grandchild), strict=True):
        for place in places:
            total += np.float32(share) * lent.take(place)
            weight += np.float32(share) * seen.take(place)
    return total, weight


def _session_best(evidence: Evidence, cosines: "Floats") -> "tuple[Floats, Floats]":
    """The best cosine in a turn's session: that a chat was about the matter speaks for all that was said in it.

    In two parts whose sum it is: what a turn has of it by itself, being the best, and what other turns lend it.
    """
    import numpy as np

    near = np.where(evidence.seen, cosines, np.float32(-1))
    best = np.full(evidence.sessions, -1, np.float32)
    np.maximum.at(best, evidence.session, near)
    of_best = best[evidence.session]
    lent = of_best.copy()
    rows = np.flatnonzero(evidence.seen & (near == of_best))
    leaders = np.full(evidence.sessions, -1, np.int32)
    leaders[evidence.session[rows]] = rows  # of equals one, which the other lends as much
    leaders = leaders[leaders >= 0]
    near[leaders] = -1
    second = np.full(evidence.sessions, -1, np.float32)
    np.maximum.at(second, evidence.session, near)
    lent[leaders] = np.clip(second[evidence.session[leaders]], 0, np.maximum(of_best[leaders], 0))
    return of_best - lent, lent


def _boosts(evidence: Evidence, near: "Floats") -> "dict[str, Floats]":
    """Lifts by what is known of a turn without its text; `near` are the words there are around it."""
    import numpy as np

    best = np.zeros(evidence.sessions, np.float32)
    np.maximum.at(best, evidence.session, np.where(evidence.seen, near, np.float32(0)))
    boosts = {"chat": np.float32(CHAT) * best[evidence.session]}
    if evidence.named:
        lift = SPEAKER * (1 if len(evidence.named) == 1 else AMONG_OTHERS)
        boosts["speaker"] = np.float32(lift) * (evidence.speaker == evidence.named[0])
    if evidence.since is not None or evidence.until is not None:
        early = evidence.since - evidence.at if evidence.since is not None else np.zeros(evidence.size, np.int64)
        late = evidence.at - evidence.until if evidence.until is not None else np.zeros(evidence.size, np.int64)
        days = np.maximum(np.maximum(early, late), 0) / DAY_MS
        boosts["time"] = np.float32(TIME) * np.exp(-days / TIME_FADES_DAYS)
    return {name: boost.astype(np.float32) for name, boost in boosts.items()}


def _cues(evidence: Evidence, total: "Floats") -> "dict[str, Floats]":
    """Lifts by a turn's text, for the turns that have come furthest."""
    import numpy as np

    rows = np.flatnonzero(evidence.seen)
    if len(rows) > WEIGHED:
        rows = rows[np.argpartition(-total[rows], WEIGHED)[:WEIGHED]]
    found = {"asking": (ASKING, evidence.trait("asks", rows))}
    if _WHEN.search(evidence.question):
        found["dated"] = (DATED, evidence.trait("dated", rows))
    if _HOW_MANY.search(evidence.question):
        found["counted"] = (COUNTED, evidence.trait("counted", rows))
    if _WHO.search(evidence.question) or _WHAT_NAMED.search(evidence.question):
        found["names"] = (NAMED, evidence.trait("names", rows))
    boosts = {}
    for name, (amount, marked) in found.items():
        boosts[name] = np.zeros(evidence.size, np.float32)
        boosts[name][rows] = np.float32(amount) * marked
    return boosts
