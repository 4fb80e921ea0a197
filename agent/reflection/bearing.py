"""Whether what a model wrote of a person is what they said of themselves, and not only made of their words.

A sentence can have all its words from a message and be false: "The user's name is Otto", of "my dog is called Otto".
Looked for is one sentence, or two that follow one another, that the person meant: no question, no joke, no supposition,
nobody else's words; about the same one, telling the same trait, as sure or as denied.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from .clauses import KIN, clause, led_in, parts, spelled
from .doubt import DOUBT, FICTION, GIVEN, INJECTED, JOKE, LAUGH, REPORTED, TAKEN_BACK, WRITE, before_reports
from .grounding import agrees, ground, verbatim
from .languages import FIRST
from .sentences import MASK, Sentence, sentences
from .slots import mentioned, slots_of
from .words import content, fold, numbers, tokens, wordset

COMMA = re.compile(
    r"\s*[,;–—]\s+|\s+-\s+|\s+(?:and|but|so) (?=(?:i|i['’]m|we|my|our|what|which|how|any|can|do|is)\b)", re.I
)
ASKS = re.compile(
    r"^\W*(?:and |but |so |or |ok |then )?(?:am|is|are|was|were|do|does|did|don['’]?t|isn['’]?t|aren['’]?t|have|has|had"
    r"|can|could|should|shall|will|would|may|who|what|whats|which|where|when|why|how|whose|any)\b",
    re.I,
)
BARELY_ASKS = re.compile(
    r"^\W*(?:am|is|are|was|were|do|does|did|can|could|should|would|what|where|why|how|which)\b", re.I
)
SUPPOSES = re.compile(
    r"^\W*(?:and |but |so |well |ok )?(?:if|unless|suppose|supposing|imagine|let['’]?s say|say|assuming"
    r"|what if|wenn|falls"
    r"|si|se|s['’]il|als ik|in case i)\b(?!.{0,4}\b(?:llam|chiam|cham))",
    re.I,
)
POWER = re.compile(
    r"\b(?:am|['’]m) the (?:developer|creator|system|operator|programmer|admin\w*)|root access|superuser|privileges?"
    r"|authori[sz]ed|bypass|override",
    re.I,
)
BABBLE = re.compile(
    r"^(?:the )?(?:user|speaker)(?:['’]s [\w-]+)? (?:is|are|was|hates|likes|loves|has|wants"
    r"|lives in) (?:(?:the|a) )?(?:i|you|we|they"
    r"|he|she|it|its|is|are|am|was|should|could|would|to|for|this|that|those|these|any|what|how|why|if|so|or|and|but"
    r"|s|m|re|ve|ll|me|my|your|us|do|does|did|can|will|lol|ok|please)\b",
    re.I,
)
TWO_VERBS = re.compile(
    r"^(?:the )?(?:user|speaker) is (?:[\w'-]+ ){1,3}?(?<!and )(?<!who )(?<!that )(?<!but )(?<!which )(?:is"
    r"|was|are|were)\b",
    re.I,
)
NO_NAME = re.compile(r"\bname is (?:ich|je|io|eu|yo|ik|i|ok|hey|hi|hello|hallo|hola|ciao)\b", re.I)
COPULA = re.compile(r"^(?:the )?(?:user|speaker) (?:is|was) (?P<doing>(?=(?:not |now |\w+ly )?\w+ing\b))?", re.I)
BEING = "am|are|was|were|been|being|become|became|turned|went|got|get|stay|feel|identify|work|trained|retired"
ADVERB = r"not|now|also|just|an?|the|still|really|no|longer|so|very|as|both|currently|\w+ly|always|never|been"
PASSED = wordset("a an the not no longer now also very still just currently really")
OWN = wordset("i im ive my me mine we our us myself")
PRONOUNS = wordset("he she they it his her their its")
MINE = re.compile(rf"\b(?:my|our) (?:\w+ )?({KIN})\b", re.I)
STRICT = re.compile(r"^(?:.* )?(?:name|age|birthday|residence|employer|birthplace|hometown|marital|pronouns)$")


def babble(text: str) -> bool:
    """Whether a text is no sentence about anyone, but a piece of one stuck to "the user is"."""
    return bool(BABBLE.match(text) or NO_NAME.search(text) or TWO_VERBS.match(text))


def borne_out(text: str, said: Sequence[str], *, before: str = "", cosine: float | None = None) -> bool:
    """Whether a person's messages bear a sentence out; `before` is the observation that it revises, if it does."""
    if babble(text):
        return False
    return any(_bears(text, window, before, cosine) for window in _windows(said))


def meant(said: str) -> list[str]:
    """What a person told in a message, in earnest and of their own, clause by clause where the rest is not."""
    found = []
    all_said = sentences(said)
    for at, sentence in enumerate(all_said):
        plain = sentence.plain.replace(MASK, " ")
        if INJECTED.search(plain) or FICTION.search(plain) or GIVEN.search(plain) or WRITE.search(plain):
            break
        following = all_said[at + 1].plain if at + 1 < len(all_said) else ""
        told = "" if _unmeant(plain, following) else _told(sentence, plain)
        found.append(told)
    return found


def _unmeant(plain: str, following: str) -> bool:
    sober, next_sober = LAUGH.sub(" ", plain), LAUGH.sub(" ", following).strip()
    back = TAKEN_BACK.match(next_sober) is not None or JOKE.search(next_sober) is not None
    return bool(JOKE.search(sober) or POWER.search(plain) or SUPPOSES.match(plain)) or back


def _told(sentence: Sentence, plain: str) -> str:
    """The clauses of a sentence that are told: not asked, not doubted, not reported."""
    plain = before_reports(plain)
    if REPORTED.search(led_in(plain)):
        return ""
    whole = plain.strip() == sentence.plain.replace(MASK, " ").strip()
    asked = whole and sentence.text.rstrip(" )!.").endswith(("?", "？"))
    if ASKS.match(plain) and (not whole or asked or BARELY_ASKS.match(plain)):
        return ""
    if not asked and not DOUBT.search(plain):
        return plain
    pieces = [piece for piece in COMMA.split(plain) if piece]
    told = [piece for piece in (pieces[:-1] if asked else pieces) if not DOUBT.search(piece) and not ASKS.match(piece)]
    return ", ".join(told)


def _windows(said: Sequence[str]) -> Iterator[str]:
    """Each sentence that is meant, and each two that follow one another."""
    for words in said:
        told = meant(words)
        yield from (each for each in told if each)
        yield from (f"{one}. {other}" for one, other in pairwise(told) if one and other)


def _bears(text: str, window: str, before: str, cosine: float | None) -> bool:
    if verbatim(text, window):
        return True
    grounding = ground(text, [window, before] if before else [window], cosine=cosine, known=("user",))
    if not grounding.grounded or not _about_the_same(text, window):
        return False
    telling = slots_of(text) - slots_of(before) or slots_of(text)
    if not telling:
        return _is_said_to_be(text, window)
    pieces = (window, *parts(window), *COMMA.split(window))
    there = frozenset(slot for piece in pieces for slot in slots_of(piece)) | mentioned(window)
    there |= {f"have {match[1].casefold()}" for match in MINE.finditer(window)}  # who speaks of a brother has one
    if telling & there or {slot.split(" ")[0] for slot in telling if not STRICT.match(slot)} & {
        slot.split(" ")[0] for slot in there
    }:
        return True
    return grounding.overlap == 1 and not any(STRICT.match(slot) for slot in telling)


def _is_said_to_be(text: str, window: str) -> bool:
    """Of "The user is …": whether the person says of themselves that they are, right before the first word of it."""
    match = COPULA.match(text)
    if match is None:
        return True
    first = next((word for word in tokens(text[match.end() :]) if word not in PASSED), "")
    words = spelled(fold(window))
    doing = match["doing"] is not None
    between = r".{0,60}\b" if doing else rf"\b(?:{BEING})\b(?: (?:{ADVERB}))*? "
    return bool(first) and re.search(rf"\b(?:i|we) (?:[\w'-]+ )?{between}{re.escape(first)}", words) is not None


def _about_the_same(text: str, window: str) -> bool:
    """Whether the clause that has most of the text's words speaks of the one that the text does."""
    taken = clause(text)
    if taken is None:
        return True
    wanted = set(content(text)) | numbers(text)
    pieces = [piece for sentence in re.split(r"[.!?]\s+", window) for piece in parts(sentence)]
    shares = [len(wanted & (set(content(piece)) | numbers(piece))) for piece in pieces]
    most = max(shares, default=0)
    nearest = [piece for piece, share in zip(pieces, shares, strict=True) if share == most]
    return any(_speaks_of(taken.who, piece) and (len(nearest) == 1 or agrees(text, [piece])) for piece in nearest)


def _speaks_of(who: str, piece: str) -> bool:
    found, words = clause(piece), set(tokens(piece))
    if not who:
        if found is not None:
            return not found.who or bool(mentioned(piece))
        return bool(words & OWN) or FIRST.match(piece.strip()) is not None or not words & PRONOUNS
    kin = who.split(" ")[0]
    return kin in words or bool(words & PRONOUNS) or bool(set(tokens(who)) & words)
