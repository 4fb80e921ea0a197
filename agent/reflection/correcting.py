"""Whether a person's own words correct an observation, so that it may be retired without a review.

They do where a sentence of theirs, in earnest, takes it back or says that it is otherwise now: the same subject, by its
slot or its words, with a mark of correction, change or negation, and not just the same again. Compared is clause by
clause, so that "I'm not allergic to shellfish, I'm allergic to kiwi" is about both.
"""

import re
from dataclasses import dataclass
from difflib import SequenceMatcher

from agent.language.doubt import DOUBT, INJECTED, JOKE, believed
from agent.language.sentences import Sentence, clause, parts, sentences, spelled
from agent.language.words import MONTHS, NEGATORS, content, numbers, tokens, wordset
from agent.reflection.likeness import near

from .grounding import CONTRAST, FRAMED, KINDS, denied, denies
from .languages import AND, foreign
from .slots import slots_of, slots_of_part
from .statements import cue_of

SHARED = 0.6  # of the observation's words
ALIKE = 0.6  # of two names, of which one may be a slip for the other
LONGEST = 400  # characters
BACK = re.compile(
    r"\b(?:not true|wrong|false|incorrect|kidding|joking|made (?:that"
    r"|it) up|lied|misspoke|i meant|not really|outdated|forget|scra(?:p|tch) that|nonsense|untrue)\b",
    re.I,
)
NOT_BUT = (
    re.compile(
        r"\b(?P<right>[\w' -]{2,40}), (?:and )?not (?:in |at |on |a |an |the )?(?P<wrong>[\w'" r" -]{2,40})", re.I
    ),
    re.compile(
        r"\b(?:switched|changed|converted) from (?P<wrong>[\w'-]+(?: [\w'-]+)?) to (?P<right>[\w'-]+(?: [\w'-]+)?)",
        re.I,
    ),
    re.compile(r"\bnot (?P<wrong>[\w' -]{2,40}?),? but (?P<right>[\w' -]{2,40})", re.I),
)
WRONG_ABOUT = re.compile(
    r"\b(?:wrong|mistaken|mixed up|lied) about (?:the |my |our |that |those |being |having )?"
    r"(?P<wrong>[\w'-]+(?: [\w'-]+)?)",
    re.I,
)
MEANT = re.compile(
    r"\b(?:i (?:actually )?(?:mean|meant)(?: to (?:say|write|type))?|make that|correction:?|should (?:be|have been))"
    r" (?:in |at |on |a |an |the )?(?P<right>[\w'-]+(?: [\w'-]+)?)\W*(?:[,.;!]|$)",
    re.I,
)
INSTEAD = re.compile(r"\binstead\b(?! of)", re.I)
WED = re.compile(
    r"\b(?:got|are|am|get|were|was) (?:just )?(?:married|engaged|divorced)|\bmarried\b|broke up|split up", re.I
)
COUPLE = re.compile(
    r"\b(?:girlfriend|boyfriend|partner|fianc[eé]e?|dating|seeing|engaged|together with|in a relationship)\b", re.I
)
ALONE = re.compile(r"\b(?:on my own|by myself)\b", re.I)
DIED = re.compile(r"(?P<name>(?-i:[A-ZÀ-Þ])[\w'’-]+|(?<=my )\w+) (?:has |have )?(?:just )?(?:died|passed away)\b", re.I)
ONLY_CHILD = re.compile(r"\bonly child\b", re.I)
SIBLINGS = re.compile(r"\bhave (?:[\w-]+ ){1,3}(?:brothers?|sisters?|siblings?|twin)\b", re.I)
PREGNANT = re.compile(r"\b(?:pregnant|expecting (?:a|our|my|twins))\b", re.I)
BORN = re.compile(
    r"\b(?:my|our) (?:\w+ )?(?:daughter|son|baby|twins|girl|boy)\b.{0,20}\b(?:was|were|is|are) (?:just )?(?:born|here)"
    r"|\bgave birth\b|\bhad (?:the|our|my) (?:baby|twins)",
    re.I,
)
FOR_NOW = re.compile(
    r"\bnot (?:only|just|always|every|yet|so)\b|\b(?:today|tonight|tomorrow|this (?:week|weekend))\b", re.I
)
GIVING_UP = frozenset(("gav", "give", "giv", "given", "up", "quit", "stop", "stopp", "us", "longer", "mor"))
LIGHT = wordset(
    "have has had am is are was were like likes love loves want wants get got do does did can will would hate"
)
DAYS = wordset("monday tuesday wednesday thursday friday saturday sunday")
EMPTY = wordset("know think car mind want need understand remember get se see say mean believ sur go com feel tri even")
VERBS = frozenset(word for group in KINDS for word in group)


@dataclass(frozen=True, slots=True)
class Correction:
    """A sentence that says what is right instead of what: "I meant Bosch, not Siemens"."""

    text: str
    right: str
    wrong: str


def corrects(user_words: str, observation: str) -> bool:
    """Whether the words take the observation back, or say that it is otherwise now."""
    if INJECTED.search(user_words):
        return False
    said = sentences(user_words)
    mending = False  # what was said just before is that something was wrong
    for sentence, sure in zip(said, believed(said, laughing=True), strict=True):
        earnest = sentence.own and (sure is not None or _of_a_joke(sentence.text))
        if earnest and not sentence.text.rstrip().endswith("?") and _corrects(sentence.text, observation, mending):
            return True
        mending = earnest and _mends(sentence)
    return False


def corrections(user_words: str) -> list[Correction]:
    """What was meant instead of what, where a sentence says so."""
    found = []
    for sentence in believed(sentences(user_words)):
        for pattern in NOT_BUT if sentence is not None else ():
            if sentence is not None and len(sentence.text) <= 300 and (match := pattern.search(sentence.text)):
                found.append(Correction(sentence.text, match["right"].strip(), match["wrong"].strip()))
                break
    return found


def _mends(sentence: Sentence) -> bool:
    """Whether a sentence says that something is to be put right, and little else."""
    return len(sentence.text.split()) <= 10 and cue_of(sentence.text) == "correction"


def _of_a_joke(text: str) -> bool:
    """ "I was joking about the potato" is in earnest, about a joke."""
    return bool(
        re.search(r"\bi(?: was|['’]m| am) (?:just |only )?(?:kidding|joking) (?:about|when)\b", text, re.I)
        and JOKE.search(text)
    )


def _corrects(sentence: str, observation: str, mending: bool) -> bool:
    if DOUBT.search(sentence) or len(sentence) > LONGEST:
        return False
    told, mine = _words(observation), _words(sentence)
    shared = len(told & mine)
    same_words = bool(told) and shared >= SHARED * len(told)
    same_slot = bool(slots_of(sentence) & slots_of(observation))
    if BACK.search(spelled(sentence)) and (same_words or (shared and same_slot)):
        return True
    if _outlived(sentence, observation):
        return True
    if _wrong_one(sentence, told) or _meant(sentence, observation) or _wed(sentence, observation):
        return True
    cue = "correction" if mending else cue_of(sentence)
    return any(
        _part_corrects(part, other, cue)
        for part in (*parts(sentence), *AND.split(sentence)[1:])
        for other in (parts(observation) or (observation,))
    )


def _part_corrects(part: str, observation: str, cue: str) -> bool:
    """Whether a clause says the opposite of one of the observation, or something else in its place."""
    told, mine = _words(observation), _words(CONTRAST.sub(" ", part))
    same_slot = bool(slots_of_part(part) & slots_of_part(observation))
    if not same_slot and not _same_subject(part, observation):
        return False
    if denied(part) != denied(observation):
        return not FOR_NOW.search(part) and _refutes(part, mine, told, same_slot)
    if cue == "new" or told <= mine or mine <= told:
        return False
    if same_slot:
        return True
    if cue == "correction" and _head(part) and _head(part) == _head(observation):
        return True
    if INSTEAD.search(part) and _heads(part) & _heads(observation):
        return True
    return cue == "correction" and len(told & mine) >= SHARED * len(told) and _claims(told, mine)


def _refutes(part: str, mine: set[str], told: set[str], same_slot: bool) -> bool:
    """ "No A" refutes "A with B", and "A with B" refutes "no A"."""
    if clause(part) is None and not same_slot and foreign(part) is None:
        return False
    if same_slot:
        ours = mine - VERBS
        return not ours or any(near(word, other) for word in ours for other in told)
    mine, told = mine - GIVING_UP, told - GIVING_UP
    fewer, more = (mine, told) if denied(part) else (told, mine)
    return bool(fewer - EMPTY) and fewer <= more


def _head(text: str) -> str:
    """What is done and how it is said: "work in" of "I work in Bern"; nothing of what says little by itself."""
    taken = clause(text)
    words = tokens(taken.does)[:2] if taken and not taken.trait else []
    return f"{taken.who} {' '.join(words)}" if taken and len(words) == 2 and words[0] not in LIGHT else ""


def _claims(told: set[str], mine: set[str]) -> bool:
    """Whether each has something the other has not: another value in the same place."""
    return bool(told - mine) and bool(mine - told)


def _same_subject(one: str, other: str) -> bool:
    mine, told = clause(one), clause(other)
    if mine is None and told is None:
        return foreign(one) is not None and foreign(other) is not None
    return mine is not None and told is not None and mine.who.split(" ")[0] == told.who.split(" ")[0]


def _heads(text: str) -> frozenset[str]:
    return frozenset(slot.split(" ")[0] for slot in slots_of_part(text))


def _wed(sentence: str, observation: str) -> bool:
    """Whether it tells of a wedding or a parting of the couple of an observation, by name."""
    names = {word for word in tokens(observation) if word.capitalize() in observation and word not in FRAMED}
    return bool(
        WED.search(sentence)
        and COUPLE.search(observation)
        and not WED.search(observation)
        and names & set(tokens(sentence))
    )


def _outlived(sentence: str, observation: str) -> bool:
    """Whether what it tells ends what the observation says of a pregnancy, a life, or an only child."""
    if denied(observation) or denies(sentence):
        return False
    died = DIED.search(sentence)
    if died and DIED.search(observation) is None and re.search(r"\bis\b|['’]s\b|\bhas\b", observation):
        return died["name"].casefold() in tokens(observation)
    return bool(
        (PREGNANT.search(observation) and BORN.search(sentence))
        or (ONLY_CHILD.search(observation) and SIBLINGS.search(spelled(sentence)))
    )


def _wrong_one(sentence: str, told: set[str]) -> bool:
    """Whether it names what is wrong, which the observation says, and in its place something that it does not say."""
    about = WRONG_ABOUT.search(sentence)
    if about and (wrong := _words(about["wrong"])) and wrong <= told:
        return True
    for pattern in NOT_BUT:
        match = pattern.search(sentence)
        if match and (wrong := _words(match["wrong"])) and wrong <= told and _words(match["right"]) - told:
            return True
    return False


def _meant(sentence: str, observation: str) -> bool:
    """Whether it gives, for a day, a number or a name of the observation, the one that was meant."""
    match = MEANT.search(sentence)
    if match is None or len(sentence.split()) > 25:
        return False
    right, words = set(tokens(match["right"])), set(tokens(observation))
    if right <= words:
        return False
    for kind in (DAYS, frozenset(MONTHS)):
        if right & kind:
            return bool(words & kind)
    if numbers(match["right"]):
        return bool(numbers(observation)) and len(right) == 1
    names = [word for word in observation.split() if word[:1].isupper()][1:] or observation.split()
    slips = (SequenceMatcher(None, match["right"].casefold(), name.strip(".,!").casefold()).ratio() for name in names)
    return match["right"][:1].isupper() and any(ALIKE <= alike < 1 for alike in slips)


def _words(text: str) -> set[str]:
    alone = {"alone"} if ALONE.search(text) else set()
    return {word for word in content(text) if word not in FRAMED and word not in NEGATORS} | numbers(text) | alone
