"""How much a turn matters in a life, by rule: 0 routine, 1 notable, 2 significant, 3 pivotal. When in doubt, less.

Only what stands in the speaker's own name, in earnest, counts, and of events only those of themselves or their people.
"""

import re

from .clauses import KIN, PETS, Clause, clause
from .doubt import DOUBT, believed, injected
from .english import plain_predicate
from .sentences import sentences
from .statements import statements

NEAREST = (
    "mother|mom|mum|father|dad|parents?|sisters?|brothers?|sons?|daughters?|kids?|child"
    "|children|bab(?:y|ies)|wife|husband|spouse|partner|fianc|best"
)
OF_SELF = (
    (
        3,
        r"(?:(?:just|finally) )?(?:got|am getting|are getting) (?:married|divorced)|married"
        r" my\b|gave birth|(?:have|had) (?:just )?(?:had )?(?:a baby|twins|a stroke|a heart"
        r" attack|a miscarriage)\b"
        r"|(?:was|were|have been|am|got) (?:just )?diagnosed with (?:\w+ ){0,2}(?:cancer"
        r"|leukemia|als|ms|hiv|parkinson|alzheimer|diabetes|bipolar|tumou?r)|(?:have|had)"
        r" (?:\w+ )?cancer\b|survived\b"
        r"|lost my (?:wife|husband|son|daughter|mother|father|mom|mum|dad|brother|sister"
        r"|baby|child|partner|parents)\b|am a widow|tried to kill myself|came out (?:as|to)\b"
        r"|transitioned|am (?:in remission|cancer[- ]free|getting sober)",
    ),
    (
        2,
        r"got (?:engaged|fired|laid off|promoted|accepted|my (?:degree|phd|citizenship)|a"
        r" (?:new )?job|hired|separated)|(?:am|are) (?:pregnant|engaged|expecting)|lost my"
        r" (?:job|home|house|dog|cat|grand\w+|best friend|friend)\b|quit my job|was (?:fired"
        r"|laid off|promoted|elected)"
        r"|(?:have )?(?:just )?moved (?:to|from|back|abroad|out)|graduated|retired|bought"
        r" (?:a|an|our|my) (?:\w+ )?(?:house|home|flat|apartment|farm)|broke up|had (?:surgery"
        r"|an operation|a car accident|an accident)|adopted|(?:started|founded|opened|launched)"
        r" (?:my|our) own"
        r"|(?:started|have started) (?:a|my) new job|published (?:my|a)|won (?:a|the|first)"
        r"|finished my (?:phd|degree|thesis|dissertation|chemo)|quit (?:smoking|drinking)"
        r"|have been sober|am moving to",
    ),
)
OF_NEAREST = (
    (
        3,
        r"(?:has |have )?(?:just )?(?:died|passed away|passed)\b(?! (?:the|his|her|their"
        r"|my|an?)\b)|(?:was|were|is|are|has been|got) diagnosed with (?:\w+ ){0,2}(?:cancer"
        r"|leukemia|dementia|alzheimer|parkinson)|was born(?! in)|left me\b|asked for a divorce",
    ),
    (
        2,
        r"(?:is|are) (?:pregnant|in (?:the )?hospital|very ill|getting married)|got (?:married"
        r"|engaged|divorced|accepted)|had (?:surgery|a stroke|a heart attack|an accident)"
        r"|moved (?:out|abroad)|graduated|is getting divorced",
    ),
)
OF_OTHERS = ((2, r"(?:has |have )?(?:just )?(?:died|passed away)\b"),)


def rate(said: str) -> int:
    """The significance of what a person said, 0-3."""
    if injected(said):
        return 0
    most = 1 if statements(said, turn="") else 0
    for sentence in believed(sentences(said)):
        if sentence is None or len(sentence.text) > 300 or "?" in sentence.text or DOUBT.search(sentence.text):
            continue
        taken = clause(sentence.text)
        if taken is not None and taken.trait is None:
            most = max(most, _weight(taken))
    return most


def _weight(taken: Clause) -> int:
    does = plain_predicate(taken.does)
    for weight, pattern in _rules(taken.who):
        if re.match(pattern, does, re.I):
            return weight
    return 0


def _rules(who: str) -> tuple[tuple[int, str], ...]:
    if not who:
        return OF_SELF
    if re.match(NEAREST, who):
        return OF_NEAREST
    return OF_OTHERS if re.match(rf"(?:{KIN}|{PETS})\b", who) else ()
