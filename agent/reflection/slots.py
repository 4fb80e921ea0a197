"""What has one value at a time: a later statement of the same slot revises the earlier one.

A slot is a short key: "residence", "age", "sister anna employer", "favorite color", "taste coffee". Statements and
stored observations, in the first person and in the third, get the same key.
"""

import re

from agent.language.sentences import KIN, NAME, PETS, clause, parts
from agent.language.words import NUMBERS, STOP, stem, tokens, wordset

from .english import plain_predicate
from .languages import foreign_slots

SAME = {
    "surname": "last name",
    "full name": "name",
    "first name": "name",
    "real name": "name",
    "given name": "name",
    "date of birth": "birthday",
    "mobile": "phone",
    "cell": "phone",
    "phone number": "phone",
    "mobile number": "phone",
    "cell number": "phone",
    "e-mail": "email",
    "email address": "email",
    "e-mail address": "email",
    "occupation": "job",
    "profession": "job",
    "company": "employer",
    "home town": "hometown",
    "new job": "job",
    "new car": "car",
    "first car": "first car",
    "mother tongue": "native language",
    "first language": "native language",
    "dream": "goal",
    "ambition": "goal",
    "star sign": "zodiac sign",
    "wedding day": "wedding",
    "wedding date": "wedding",
    "wedding anniversary": "anniversary",
    "hobbies": "hobby",
}
MARITAL = "married|single|divorced|separated|widowed|engaged"
DIET = "vegetarian|vegan|pescatarian|keto|gluten[- ]free|paleo|omnivore|flexitarian"
NOT = r"(?:not |no longer |do not |does not |never |used to |have |has |been )*"
BE = r"(?:(?:am|is|are|was|were|be|have been|has been|been) )?(?:not |no longer )?"
DWELLING = (
    r"(?:an? |the |my |our )?(?:[\w-]+ ){0,3}?(?:flat|apartment|house|home|studio|dorm|hostel|room|bedsit|loft|cottage"
    r"|cabin|bungalow|van|caravan|trailer|houseboat|boat|condo|commune|flatshare|house ?share|farmhouse|villa|tent)"
)
LIVE = rf"{NOT}{BE}(?:lived?s?|living|resid\w+)"
RULES = tuple(
    (tuple(slots.split()), re.compile(pattern, re.I))
    for slots, pattern in (
        (
            "employer job",
            r"(?:got|was|were|am|have been|has been) (?:fired|laid off|unemployed|out of work"
            r"|jobless|retired|self-employed)|(?:am|is|are) retired|retired\b|(?:quit|lost|left"
            r"|resigned from) (?:my|his|her|their|the) (?:\w+ )?job|(?:quit|left) (?:my|his|her"
            r"|their) job",
        ),
        ("residence household", rf"{LIVE} .*\b(?:in|at|near|outside) (?-i:[A-ZÀ-Þ]).*\b(?:with|alone|by myself)\b"),
        (
            "household",
            rf"{LIVE} (?:(?:all )?alone|all by|by myself|on my own|together|with|in {DWELLING}\b"
            rf"(?!.*\b(?:in|at|near|outside) (?-i:[A-ZÀ-Þ])))",
        ),
        (
            "residence",
            rf"{NOT}{BE}(?:lived?s?|living|resid\w+|based|settled?) (?:\w+ )?(?:in|at|on|near"
            rf"|outside|downtown|abroad)\b|(?:have )?(?:just )?(?:moved|moving|am moving|relocat\w+)\b(?!"
            rf" on\b|.*\b(?:to|into) (?:an?|the|my|our|another) (?:[\w-]+ )?(?:desk|office|team|role|position"
            rf"|department"
            rf"|seat|table|tab|folder|branch|server|repo|project|group|class|room)\b)"
            rf"(?:.*\b(?:to|in|into)\b|.*\bback)",
        ),
        (
            "employer job",
            rf"{NOT}{BE}(?:works?|worked|working|started|start) (?:working )?as .{{2,40}}? (?:at" rf"|for)\b",
        ),
        (
            "job",
            rf"{NOT}{BE}(?:works?|worked|working|started|start|trained) (?:working )?(?:as|in"
            rf" (?:tech|finance|sales|marketing|education|healthcare|it|hr))\b",
        ),
        (
            "employer",
            rf"{NOT}{BE}(?:works?|worked|working|started|start|started a (?:new )?job|got a (?:new"
            rf" )?job|employed|joined|quit|left|was hired|got hired) (?:working )?(?:at|for|by"
            rf"|with|(?-i:[A-Z]))",
        ),
        ("employer job", r"(?:started|got|have|found|took|accepted) (?:an? |my )?(?:\w+ )?(?:new )?job\b"),
        ("hours", rf"{NOT}{BE}(?:works?|worked|working) (?:\w+ )?(?:part|full)[- ]time"),
        ("handedness", rf"{NOT}{BE}(?:left|right)[- ]?handed|{BE}(?:an? )?(?:lefty|righty)"),
        ("workplace", rf"{NOT}{BE}(?:works?|worked|working) (?:\w+ )?(?:in|near|outside) (?-i:[A-ZÀ-Þ])"),
        (
            "birthday",
            r"(?:was|were) born (?:on|in) (?:the )?(?:\d|january|february|march|april|may|june"
            r"|july|august|september|october|november|december)",
        ),
        ("birthplace", r"(?:was|were) born (?:and raised )?in"),
        ("hometown", rf"{NOT}grew up|(?:was|were) raised|(?:am|is|are) (?:originally )?from\b"),
        (
            "age",
            rf"{BE}(?:(?:about to )?turn(?:ed|ing|s)? )?(?:will be )?\d{{1,3}}(?: years?(?: old)?)?(?=\W*$"
            rf"|[,.;!]| now| and| today| years)|turned \w+|(?:am|is) (?:\w+-)?\w+ years old",
        ),
        (
            "name",
            rf"(?-i:am (?!\w+(?:ish|ese|ian|ean|an|ch)\b)[A-ZÀ-Þ][a-zà-ÿ]{{2,}}\b)|(?:go|goes)"
            rf" by\b|(?-i:is (?!\w+(?:ish|ese|ian|ean|an|ch)\b|Deaf|Muslim|Catholic|Jewish|Hindu)"
            rf"[A-ZÀ-Þ][a-zà-ÿ]{{2,}}(?=\W*$|,|\.| and\b))|{BE}(?:called|named)\b",
        ),
        (
            "marital",
            rf"{BE}(?:{MARITAL})\b|(?:got|getting|get) (?:married|divorced|engaged|separated)" rf"|married\b|broke up",
        ),
        (
            "diet",
            rf"{BE}(?:an? )?(?:{DIET})\b|(?:went|gone|became|turned) (?:an? )?(?:{DIET})|(?:eat"
            rf"|eats|ate|started eating|stopped eating|do not eat|no longer eat|does not eat|quit"
            rf" eating|gave up) (?:meat|fish again)",
        ),
        (
            "car",
            r"(?:drives?|drove) an?\b|(?:bought|got|have|has|own|owns|sold) (?:an?|my|his|her"
            r"|our) (?:\w+ ){0,3}(?:car|tesla|volvo|toyota|honda|bmw|ford|audi|vw|volkswagen"
            r"|subaru|prius)\b",
        ),
        ("smoking", rf"{NOT}smokes?\b|(?:quit|stopped|gave up) smoking|{BE}(?:an? )?(?:non-?|ex-?)?smoker"),
        ("partner", r"(?:am|is|are|have been|has been|started) (?:dating|seeing|engaged to|married to)\b"),
        ("studies", rf"{NOT}{BE}(?:stud(?:y|ies|ied|ying)|major(?:s|ed|ing)?)(?: in)?\b"),
        ("pronouns", r"(?:go by|use) \w+/\w+"),
        ("height", r"(?:am|is|are) \d(?:['’.,]\d*|\d* ?cm|\d* ?m)\b.*tall"),
        ("weight", r"weighs? "),
    )
)
JOB = re.compile(
    r"(?:(?:am|is|are|was|became|become) )(?:not |no longer )?(?:now )?an? ((?:[\w-]+" r" ){0,3}[\w-]+)", re.I
)
JOBS = re.compile(
    r"\b(?:\w{2,}(?:er|or|ist|ian|eer|ant)|nurse|vet|chef|cook|pilot|judge|student|architect"
    r"|mechanic|paramedic|surgeon|attorney|analyst|clerk|doctor)\b",
    re.I,
)
NO_JOBS = re.compile(
    r"\b(?:vegetarian|\w*ian\b(?<=[A-Z]ian)|lover|mother|father|sister|brother|daughter"
    r"|supporter|believer|sister|member|smoker|drinker|owner|runner|early riser|beginner"
    r"|survivor|importan|foreigner|eater|gamer|christian|person|fan)\b",
    re.I,
)
TASTE = re.compile(
    rf"{NOT}(?:can not )?(?:likes?|loves?|enjoys?|hates?|dislikes?|adores?|prefers?|stand"
    rf"|loathes?|detests?|fond of|into|eats?|drinks?|liked|loved|drinking|eating|stopped"
    rf" (?:liking|drinking|eating)|gave up|quit (?:drinking|eating)) (.+)",
    re.I,
)
DOES = re.compile(
    rf"{NOT}{BE}(plays?|played|playing|learn(?:s|ing|t|ed)?|speaks?|train(?:s|ing|ed)?"
    rf" for|takes?|taking|collects?|teach(?:es|ing)?|allergic to|allergy to|afraid of"
    rf"|scared of)\b (.+)",
    re.I,
)
GIVEN_UP = re.compile(r"(?:quit|stopped|gave up|started|have started|took up|has stopped) (\w+ing) (.+)", re.I)
COUNT = re.compile(
    rf"{NOT}(?:have|has|had|have got|got|has got) (?:an? |\w+ )(?:[\w-]+ ){{0,2}}?({PETS}"
    rf"|kids?|child|children|sons?|daughters?|brothers?|sisters?|siblings?)\b",
    re.I,
)
CALL = re.compile(
    r"(?:(?:you can|please|just|everyone|everybody|people|friends|my friends|they|everyone"
    r" just) )*calls? me (?-i:[A-ZÀ-Þ])",
    re.I,
)
BESIDE = re.compile(
    rf"\b(?:(?:my|our) (?:\w+ )?({KIN}|{PETS}),? (?:called |named |is )?|(?:an?|my|our|the|one|two|three) (?:\w+ )?"
    rf"({KIN}|{PETS}),? (?:is )?(?:called|named) ){NAME}",
    re.I,
)
BREAK = wordset(
    "and but because since when while so although though anymore more with in on at for every as now"
    " again after before than any instead only fluently well badly twice"
)
MONTHS = "january february march april may june july august september october november december"


def slots_of(text: str) -> frozenset[str]:
    """All slots a text tells of: "I work as a nurse at the Charité, and I'm 41" is about employer, job and age."""
    return frozenset(slot for part in parts(text) for slot in _slots(part)) or foreign_slots(text)


def slots_of_part(text: str) -> frozenset[str]:
    """The slots of one clause."""
    return frozenset(_slots(text)) or foreign_slots(text)


def mentioned(text: str) -> frozenset[str]:
    """The slots that a text tells of by the way: "with my wife Ilse" is the wife's name."""
    return frozenset(f"{_same_kin((match[1] or match[2]).casefold())} name" for match in BESIDE.finditer(text))


def slot_of(text: str) -> str | None:
    """The slot a text tells of first, if any."""
    found = _slots(text) or next((slots for part in parts(text)[1:] if (slots := _slots(part))), ())
    return found[0] if found else None


def _slots(text: str) -> tuple[str, ...]:
    if CALL.search(text[:80]):
        return ("name",)
    taken = clause(text)
    if taken is None:
        return ()
    who = _same_kin(taken.who)
    if taken.trait:
        return (f"{who} {_trait(taken.trait)}".strip(),)
    return tuple(f"{who} {slot}".strip() for slot in _of_predicate(plain_predicate(taken.does)))


def _trait(trait: str) -> str:
    trait = " ".join(trait.casefold().replace("favourite", "favorite").replace("all-time ", "").split())
    return SAME.get(trait, trait)


def _same_kin(who: str) -> str:
    first, _, rest = who.partition(" ")
    same = {
        "mom": "mother",
        "mum": "mother",
        "mama": "mother",
        "dad": "father",
        "papa": "father",
        "pup": "dog",
        "puppy": "dog",
        "kitty": "cat",
        "kitten": "cat",
    }
    return f"{same.get(first, first)} {rest}".strip()


def _of_predicate(does: str) -> tuple[str, ...]:
    for slots, pattern in RULES:
        if pattern.match(does):
            return slots
    job = JOB.match(does)
    if job and JOBS.search(job[1]) and not NO_JOBS.search(job[1]):
        return ("job",)
    for pattern, head in ((COUNT, "have"), (TASTE, "taste")):
        if match := pattern.match(does):
            return _keyed(head, match[1])
    if match := DOES.match(does) or GIVEN_UP.match(does):
        return _keyed(stem(tokens(match[1])[0]), match[2])
    return ()


def _keyed(head: str, thing: str) -> tuple[str, ...]:
    """A slot that is about one thing: its first words that say something, at most three."""
    words: list[str] = []
    for word in tokens(thing.split(",")[0])[:8]:
        if words and (word in BREAK or word in ("a", "an", "the", "per", "each")):
            break
        if word not in STOP and word not in ("lot", "much") and word not in NUMBERS and not word.isdigit():
            words.append(stem(word))
    return (f"{head} {' '.join(words[:3])}",) if words else ()
