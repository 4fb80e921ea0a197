"""What is learned without a model that can be trusted: people's own sentences about themselves, word for word.

Sparse and true rather than rich and false. A later sentence of the same kind, where there is one value at a time,
revises the earlier one; what a person takes back is retired; what is said again counts as proof.
"""

import re
from collections.abc import Awaitable, Callable
from dataclasses import replace

from agent.reflection.likeness import holds, says_again
from graph.beliefs import Near, Observation
from graph.values import Turn

from .applying import marks_change, newer
from .correcting import corrects
from .likeness import names_of, says_the_same
from .making import Draft, speaks_of
from .material import YOU
from .statements import Statement, denial, slots_of, statements
from .words import content, numbers, tokens

CONFIDENCE = 0.8
SHORT = 4  # telling words
LONGEST_ASKED = 2000  # characters of a turn by which what is known is looked for
GOES_ON = re.compile(
    r"\s*(?:[,;:–—]|\s-)?\s+(?:so|but|because|cuz|coz|since (?=i\b|my\b|we\b)|although|though|which"
    r"|and (?=i\b|i['’]|my\b|we\b|it\b|that\b))\b"
    r"|\s*(?:[;–—]|\s-\s|,\s(?=i\b|i['’]|my\b|we\b|can\b|what\b|how\b|any\b|is\b|do\b|should\b|could\b))",
    re.IGNORECASE,
)
IMAGINED = re.compile(
    r"\b(?:for (?:a|my|the|our) (?:\w+ ){0,2}(?:story|novel|poem|song|scene|sketch|play|script|game|campaign|character)"
    r"|write (?:me )?(?:a|an|the) (?:\w+ ){0,2}(?:story|poem|song|scene|sketch|paragraph|monologue|dialogue|limerick)"
    r"|(?:in|from) (?:the )?first person|role-?play|pretend|monologue|fan ?fiction)\b",
    re.IGNORECASE,
)
IN_EARNEST = re.compile(
    r"\b(?:(?:no,? )?seriously(?: though| now)?|jok(?:es|ing) aside|kidding aside|for real)\b", re.I
)
ONWARDS = re.compile(r"^[\s,;:–—(-]*(?:(?:so|but|because|cuz|coz|since|although|though|and)\b\s*)?", re.IGNORECASE)
FindNear = Callable[[str], Awaitable[list[Near]]]


async def keep_statements(draft: Draft, near: FindNear) -> None:
    """Every sentence of the draft's turns in which someone describes themselves becomes events.

    What is known and said again within other words gains a proof; what they take back without more is retired.
    """
    for turn in draft.material.said:
        for statement in latest(_told(turn)):
            for each in apart(statement):
                await _keep(draft, turn, each, near)
        for known_near in await near((turn.text or "")[:LONGEST_ASKED]):
            known = known_near.observation
            revised = any(made.supersedes == known.id for made in draft.made)
            if not speaks_of(known, turn.speaker) or revised or not known.text:
                continue
            again = says_again(turn.text or "", known.text.removeprefix(f"{turn.speaker}: "))
            if again and not marks_change(turn.text or ""):  # whatever else is denied beside it
                if not draft.touched(known):
                    draft.support(known, [turn.id])
            elif newer([turn], known) and corrects(turn.text or "", known.text):
                draft.outcome.deleted += draft.retire(known, turn.id)


def latest(found: list[Statement]) -> list[Statement]:
    """Of sentences of one turn about the same slot, only the last one where it changes the others."""
    return [
        each
        for at, each in enumerate(found)
        if each.slot is None or not any(later.slot == each.slot and later.cue != "new" for later in found[at + 1 :])
    ]


def _told(turn: Turn) -> list[Statement]:
    """What a person tells of themselves in a turn: nothing where they ask for fiction, or before "seriously though"."""
    text = turn.text or ""
    if IMAGINED.search(text):
        return []
    joke = max((match.start() for match in IN_EARNEST.finditer(text)), default=0)
    return statements(text[joke:], turn=turn.id)


def apart(statement: Statement) -> list[Statement]:
    """What a sentence tells, each for itself, and without what it goes on to: a repeat of either is then known.

    "My name is Wilma and I live in Delft" is two, so that who moves keeps the name.
    """
    told: list[Statement] = []
    start = 0
    for end in [*(match.start() for match in GOES_ON.finditer(statement.text)), len(statement.text)]:
        found = statements(ONWARDS.sub("", statement.text[start:end]).rstrip(" .") + ".", turn=statement.turn)
        if len(found) == 1 and (found[0].negated == statement.negated or told):
            told += found
            start = end
    if len({each.negated for each in told}) > 1 or statement.cue == "correction":
        return [statement]  # what is not, and what is instead, say together what was wrong
    whole = [each for each in told if (each.slot, each.category) == (statement.slot, statement.category)]
    return [replace(each, cue=statement.cue) for each in told] if whole else [statement]


async def _keep(draft: Draft, turn: Turn, statement: Statement, near: FindNear) -> None:
    text = statement.text if turn.speaker == YOU else f"{turn.speaker}: {statement.text}"
    known = [each for each in await near(text) if speaks_of(each.observation, turn.speaker)]
    beside: set[str] = set()  # what waits for review with the same words
    for each in known:
        told = each.observation.text or ""
        if says_the_same(text, told, each.cosine or None) or _only_again(turn, statement, told):
            if draft.stands_beside(each.observation, [turn.id], confidence=CONFIDENCE):
                beside.add(each.observation.id)
                continue
            draft.outcome.skipped += not draft.support(each.observation, [turn.id])
            return
    others = [each.observation for each in known if each.observation.id not in beside]
    old = _revised(statement, turn, [each for each in others if not draft.touched(each)])
    if old is not None and not newer([turn], old):
        draft.outcome.skipped += 1
        return
    if old is not None and statement.cue != "change" and denial(statement):
        draft.outcome.deleted += draft.retire(old, turn.id)
        return
    if old is not None and statement.cue == "correction":
        draft.outcome.deleted += draft.retire(old, turn.id)
    made = draft.make(text, category=statement.category, confidence=CONFIDENCE, sources=[turn.id], supersedes=old)
    draft.outcome.created += made and old is None
    draft.outcome.updated += made and old is not None
    draft.outcome.skipped += not made


def _only_again(turn: Turn, statement: Statement, known: str) -> bool:
    """Whether a sentence says what is known, and no name and no number beside it; or less."""
    own = known.removeprefix(f"{turn.speaker}: ")
    fresh = names_of(statement.text) - set(tokens(own)) or numbers(statement.text) - numbers(own)
    if fresh:
        return False
    if says_again(statement.text, own) and not marks_change(turn.text or ""):
        return True  # whatever else is denied beside it
    less = statement.slot is not None and statement.slot in slots_of(own) and holds(own, statement.text)
    return not corrects(turn.text or "", own) and (less or says_again(statement.text, own))


def _revised(statement: Statement, turn: Turn, known: list[Observation]) -> Observation | None:
    """What a statement revises: what has its slot, or what its words correct."""
    for each in known:
        if statement.slot is not None and statement.slot in slots_of(each.text or "") and not denial(statement):
            return each
    meant = next((each for each in known if corrects(turn.text or "", each.text or "")), None)
    if meant is None and statement.cue == "correction":  # "wait no, I work in Bern": what was told just so before
        meant = next((each for each in known if each.kind == statement.category and _likewise(statement, each)), None)
    return meant


def _likewise(statement: Statement, known: Observation) -> bool:
    """Whether a short observation is told in the words of a sentence, but for what is different."""
    words = set(content(known.text or ""))
    return 0 < len(words) <= SHORT and 2 * len(words & set(content(statement.text))) >= len(words)
