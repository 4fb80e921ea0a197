"""The sentences of a turn in which people describe themselves, verbatim: what is kept where no model can be trusted.

Sparse and true beats rich: a sentence is kept only where it stands by itself, in the speaker's own name, without a
doubt or a joke near it, and tells something lasting of them, their people or their pets (agent/reflection/english.py,
and a few patterns in agent/reflection/languages.py). Who spoke and when is known from the turn.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from agent.language.doubt import DOUBT, LAUGH, MEANT, TAKEN_BACK, YOU, believed, injected
from agent.language.sentences import JOINT, Sentence, clause, led_in, parts, sentences, spelled
from agent.language.words import NEGATORS, tokens
from graph.events import ObservationKind

from .english import kind_of, tells_trait
from .grounding import denied
from .languages import foreign
from .slots import CALL, slot_of, slots_of

__all__ = ["Cue", "Statement", "slot_of", "slots_of", "statements"]

Cue = Literal["new", "change", "correction"]
MOST = 30  # words
MENDING = 8  # words of a sentence that only takes back what was said
CORRECTION = re.compile(
    r"\b(?:i mean|i meant|(?:was|got (?:it|that)) wrong|correct(?:ion| myself)|misspoke"
    r"|my mistake|not true|not right|by mistake|mistaken"
    r"|it (?:was|is) actually|actually (?:it )?(?:was|is|in|on|at|since)\b|make that|wrongly|no,? wait|oops"
    r"|typo)\b|^(?:no|nope|sorry|actually|wait|oops)\b"
    r"|, not \w+|\bnot [^,.]{1,30}, but\b",
    re.I,
)
CHANGE = re.compile(
    r"\b(?:moved|moving|relocated|now(?!here)|nowadays|these days|no longer|any ?more"
    r"|switched|quit|stopped|gave up|given up|left (?:my|the|[A-Z])|used to"
    r"|became|become|turned \w+|retired|got (?:married|divorced|engaged|promoted|fired"
    r"|laid off|a new|a job|hired)|broke up|sold|resigned"
    r"|(?:started|began|found|have|got) (?:a|an|my) new|started (?:working|eating|at"
    r"|as)|just (?:started|joined|became|bought|got)|laid off|fired|lost my job"
    r"|passed away|died|recently|as of|changed|instead of|converted|back to|joined|new"
    r" (?:job|name|phone|number|address|car|email|apartment|employer)"
    r"|ya no|nicht mehr|umgezogen|jetzt|ne .{1,20} plus|déménagé|maintenant|n[e'’] ?\w+ plus|ahora|adesso|non .{1,20}"
    r" più|agora|não .{1,20} mais|verhuisd|niet meer)\b",
    re.I,
)
STRONG = re.compile(
    r"\b(?:i meant|wrong|correction|correct (?:myself|that|this)|misspoke|mistake|mistaken|make that"
    r"|(?:ignore|disregard|forget) (?:what|that|the|my) [^,.]{0,30}|not true|untrue|typo|nonsense|i lied"
    r"|(?:only|just) said (?:that|it|so)|scra(?:p|tch) that)\b|, not \w+"
    r"|^i mean\b",
    re.I,
)
MENDS = re.compile(r"^(?:no|nope|wait|sorry|oops)\b", re.I)
AND_THEN = re.compile(
    r"\s+and (?=(?:(?:honestly|really|so|very|totally|quite|still|just|super|pretty) )?(?:fine|happy|ok|okay"
    r"|proud|tired"
    r"|glad|cool|loving|hating|thinking|wondering)\b)|,?\s*(?=¿)"
    r"|,\s+(?=(?!(?:right|no|huh|eh|yes|correct|is|are|am|was|were|do|does|did|don|isn|aren|won|haven|or|remember|you"
    r"|n['’]est|oder|nicht|verdad|vero|né|toch)\b)[^,?]{3,60}\?\W*$)"
    r"|(?:\s*[,;–—]\s*(?:and |so |but )?|\s+-\s+|\s+(?:and|so|but) )(?=(?:can|could|would|do|does"
    r"|did|what|how|which|where|who|when|why|is|are|should|any|will|please|tell"
    r"|give|help|suggest|recommend|thank|thanks|let)\b)|\s*,?\s+(?:and|but|so|because"
    r"|since)\s+(?=(?:i|we|you|my|that|this|it|they)\b)",
    re.I,
)
FOLLOW_UP = re.compile(
    r"(?:and )?(?:(?:his|her|its|their) names? (?:is|are|was)|(?:it|he|she|they)(?:['’]s"
    r"|['’]re| is| are) (?:called|named|an? \w+|\d+\b|from|my )"
    r"|(?:he|she|they) (?:works?|lives?|loves?|plays?|stud(?:y|ies))\b)",
    re.I,
)
BEFORE = re.compile(  # what may stand before a clause that tells something: "it's my birthday, I'm 30 now"
    r"(?:(?:yes|yeah|so|well|ok|okay|oh|and|but|right),? )*(?:it['’]?s|its|it is|that['’]?s|this is|(?:bad|sad"
    r"|good|big)"
    r" \w+|some|true|fair|exactly|agreed|indeed|i|we|i['’]m|my|our)\b(?!.*\b(?:if|when|as|like|says?|said)\b)",
    re.I,
)
HERE_IS = re.compile(
    r"(?:just|recently|finally) (?:moved|adopted|bought|started|quit|graduated|retired"
    r"|signed up|turned \d+|got (?:married|engaged|promoted|hired|an? ))",
    re.I,
)
AS_A = re.compile(r"(?:as|being) an? [\w' -]{3,40}?,? (?:i|we)\b", re.I)
BORN = re.compile(r"(?:born and raised in|born in) [A-Z]")


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence of `turn`, or two that belong together, verbatim.

    `slot` names what has one value at a time: a later statement of the same speaker and slot revises the earlier. `cue`
    tells how the words themselves stand to what was said before. `negated`: it says what is not.
    """

    text: str
    turn: str
    category: ObservationKind
    slot: str | None
    cue: Cue
    negated: bool


def statements(text: str, *, turn: str) -> list[Statement]:
    """What a person says of themselves and their people in a turn, ≤ 30 words each; mostly nothing."""
    said = sentences(text)
    if not said or injected(text):
        return []
    found: list[Statement] = []
    last: tuple[int, int] | None = None  # the place of the sentence kept last, and where it begins in the turn
    for at, sentence in enumerate(_meant(said)):
        if sentence is None:
            continue
        if last is not None and last[0] == at - 1 and _goes_on(sentence):
            whole = text[last[1] : sentence.end]
            if len(whole.split()) <= MOST:
                found[-1] = _joined(found[-1], whole, sentence)
                last = (at, last[1])
            elif MEANT.match(sentence.text):
                found.pop()
            continue
        made = _statement(sentence, turn)
        if made is not None:
            mended = at and TAKEN_BACK.match(said[at - 1].text) and len(said[at - 1].text.split()) <= MENDING
            found.append(replace(made, cue="correction") if mended else made)
            last = (at, text.index(made.text, sentence.start))
    return list({statement.text: statement for statement in _last_said(found)}.values())


def _meant(said: list[Sentence]) -> list[Sentence | None]:
    """The sentences that stand; of those that are laughed at only what puts something right."""
    return [
        sentence or (each if each and mends(each.text) else None)
        for sentence, each in zip(believed(said), believed(said, laughing=True), strict=True)
    ]


def mends(text: str) -> bool:
    """Whether a sentence says of itself that it puts something right."""
    plain = LAUGH.sub(" ", text).strip(" ,.!-")
    return bool(STRONG.search(plain) or MENDS.match(plain))


def _last_said(found: list[Statement]) -> list[Statement]:
    """Without what only denies a thing that another sentence of the turn says rightly."""
    return [
        each
        for each in found
        if not (
            each.negated
            and each.slot is not None
            and any(other.slot == each.slot and not other.negated and other.turn == each.turn for other in found)
        )
    ]


def denial(statement: Statement) -> bool:
    """Whether it only says what is not."""
    telling = [part for part in parts(statement.text) if _kind(part) is not None]
    telling += [part for part in re.split(r"[.!,;]\s+(?:but |and )?", statement.text)[1:] if FOLLOW_UP.match(part)]
    return statement.negated and all(denied(part) for part in telling)


def cue_of(text: str) -> Cue:
    """Whether the words tell of a change, correct what was said, or neither."""
    strong = STRONG.search(text)
    if strong and not (strong[0].startswith(",") and CHANGE.search(text)):
        return "correction"
    if CHANGE.search(text):
        return "change"
    return "correction" if CORRECTION.search(text) else "new"


def negates(text: str) -> bool:
    """Whether a text says what is not."""
    return any(word in NEGATORS for word in tokens(spelled(text)))


def _goes_on(sentence: Sentence) -> bool:
    return bool(FOLLOW_UP.match(sentence.text) or MEANT.match(sentence.text)) and not YOU.search(sentence.text)


def _joined(before: Statement, whole: str, sentence: Sentence) -> Statement:
    return replace(before, text=whole, cue="correction" if MEANT.match(sentence.text) else before.cue)


def _statement(sentence: Sentence, turn: str) -> Statement | None:
    for text in _versions(sentence.text):
        kind = _kind(text)
        if kind is not None:
            cue = "correction" if cue_of(sentence.text) == "correction" else cue_of(text)
            return Statement(text, turn, kind, slot_of(text) or _foreign_slot(text), cue, negates(text))
    return None


def _versions(text: str) -> Iterator[str]:
    """The sentence, if it is sure, no question, and does not speak to the listener; else its first clauses."""
    if len(text.split()) > MOST:
        return
    asks = text.rstrip(" )!.").endswith(("?", "？"))
    if not asks and (_sure(text) or CALL.search(text[:80])):
        yield text
    for match in AND_THEN.finditer(text):
        first = text[: match.start()].rstrip(" ,;–—-¿")
        if len(first.split()) > 1 and _sure(first) and "?" not in first:
            yield first
    for match in reversed([*JOINT.finditer(text)]):
        first = text[: match.start()].rstrip(" ,;–—-")
        if len(first.split()) > 1 and _sure(first) and "?" not in first:
            yield first
        rest = text[match.end() :]
        if not asks and BEFORE.match(text[: match.start()]) and _sure(text[: match.start()]) and _sure(rest):
            yield rest


def _sure(text: str) -> bool:
    return not DOUBT.search(text) and not YOU.search(led_in(text))


def _kind(text: str) -> ObservationKind | None:
    if CALL.search(led_in(text)[:80]):
        return ObservationKind.IDENTITY
    if taken := clause(text):
        if taken.trait:
            return _kind_of_trait(taken.who, taken.trait) if tells_trait(taken.does) else None
        if kind := kind_of(taken.does, of_others=bool(taken.who)):
            return kind
    bare = led_in(text)
    if AS_A.match(bare) and (made := kind_of("am " + bare[bare.index(" ") + 1 :], of_others=False)):
        return made
    if HERE_IS.match(text) or BORN.match(bare):
        return ObservationKind.EPISODE
    found = foreign(text)
    return found[0] if found else None


def _foreign_slot(text: str) -> str | None:
    found = foreign(text)
    return found[1] if found else None


def _kind_of_trait(who: str, trait: str) -> ObservationKind:
    if who:
        return ObservationKind.RELATIONSHIP
    if trait.startswith(("favo", "all-time", "hobb", "passion", "go-to")):
        return ObservationKind.PREFERENCE
    if trait in ("dream", "goal", "ambition", "dream job", "bucket list"):
        return ObservationKind.PLAN
    return ObservationKind.IDENTITY if "name" in trait else ObservationKind.FACT
