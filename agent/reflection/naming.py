"""The people, places and things that a turn names, by rule: few, and only where the words leave no doubt.

A name is a word with a capital (or several) that does not begin a sentence, unless it is known or stands elsewhere in
the turn too; what it names is told by the words before it: "my sister Anna", "in Berlin", "my dog Rex", "at Siemens".
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from .clauses import ADJ, KIN, PETS
from .sentences import LINK, QUOTED
from .words import fold, wordset

Category = Literal["person", "place", "thing", "group"]
LONGEST = 20_000  # characters that are looked at
WORD = r"[A-ZÀ-ÞĀ-Ž][\w’'-]*[a-zà-ÿ\d][\w’-]*"
SEQUENCE = re.compile(rf"(?<![\w’'-]){WORD}(?: (?:{WORD}|of|de|da|van|von|der|la)(?= {WORD})| {WORD}){{0,4}}")
STOP = wordset(
    "monday tuesday wednesday thursday friday saturday sunday january february march"
    " april may june july august september october november"
    " december mon tue wed thu fri sat sun jan feb mar apr jun jul aug sep sept oct"
    " nov dec i im ive id ill ok okay god jesus christmas easter"
    " halloween thanksgiving hanukkah ramadan english german french spanish italian"
    " portuguese dutch russian chinese japanese korean arabic"
    " hindi latin greek polish turkish swedish norwegian danish finnish american british"
    " european asian african indian canadian australian"
    " irish scottish mexican brazilian christian jewish muslim catholic buddhist mr"
    " mrs ms dr prof hi hey hello thanks thank yes no wow"
    " yeah sorry please well mom dad mum grandma grandpa aunt uncle the a an my our"
    " your his her we you he she it they this that these"
    " those what who where when why how so and but or if then now today tomorrow yesterday"
    " am pm tv ai usa-based lol haha btw fyi dna cv"
    " internet web wifi user assistant"
)
PLACE = re.compile(
    r"\b(?:in|to|from|near|around|outside|through|across|leaving|visit(?:ed|ing)?|toward"
    r"|towards)\s+(?:the )?(?:(?:north|south|east|west|downtown|central|old)\w* )?$",
    re.I,
)
TO_PERSON = re.compile(
    r"\b(?:talk|talked|talking|spoke|speak|listen|said|write|wrote|married|engaged|gave"
    r"|give|introduced|explained|thanks|letter|according|happened) to\s+$|\bfrom my\b",
    re.I,
)
PERSON = re.compile(
    rf"\b(?:(?:my|our|his|her|their) (?:(?:{ADJ}) )*(?:{KIN}),?|friend|named|called|mr\.?"
    rf"|mrs\.?|ms\.?|dr\.?|dating|married|met|i am|i['’]m|name is|name['’]s|call me)\s+$",
    re.I,
)
PET = re.compile(rf"\b(?:(?:my|our|his|her|their|the) (?:\w+ )?(?:{PETS}),?|(?:{PETS}),? (?:named|called))\s+$", re.I)
GROUP = re.compile(
    r"\b(?:work(?:s|ed|ing)? (?:at|for|with)|job at|employed (?:at|by)|intern(?:ed|ing)?"
    r" at|joined|studied at|stud(?:y|ies|ying) at|hired by|left|member of|graduated from"
    r"|university of)\s+(?:the )?$",
    re.I,
)
GROUPS = re.compile(
    r"\b(?:university|college|school|institute|inc|ltd|gmbh|corp|company|club|church"
    r"|band|bank|hospital|team|association|foundation|party|union)\b",
    re.I,
)
LIVES = re.compile(
    r"^(?:['’]s (?:name|birthday|wedding|house|mom|wife|husband|sister|brother|job)|,? (?:who|is my (?:"
    + KIN
    + r")|(?:lives|works|says|said|told|loves|likes|and i)\b))",
    re.I,
)
ENDS = re.compile(r"(?:[.!?…:]\s*|\n\s*|^\s*|[\"“(]\s*)$")


@dataclass(frozen=True, slots=True)
class Named:
    """A name as it was written, and what it is the name of."""

    name: str
    category: Category


def named(text: str, known: Sequence[str]) -> list[Named]:
    """The names in a text, once each, in order; `known` are names of people that may also begin a sentence."""
    plain = LINK.sub(" ", QUOTED.sub(lambda match: " " * len(match[0]), text[:LONGEST]))
    people = {fold(name) for name in known}
    found = list(_sequences(plain))
    elsewhere = {fold(name) for name, begins, _, _ in found if not begins}
    names: dict[str, Named] = {}
    for name, begins, before, after in found:
        key = fold(name)
        if key in names or (begins and key not in people and key not in elsewhere and not LIVES.match(after)):
            continue
        category = "person" if key in people else _category(name, before, after)
        if category is not None:
            names[key] = Named(name, category)
    return list(names.values())


def _sequences(text: str) -> Iterable[tuple[str, bool, str, str]]:
    """Words with a capital that stand together, whether they begin a sentence, and what is before and after them."""
    for match in SEQUENCE.finditer(text):
        begins = ENDS.search(text[max(0, match.start() - 3) : match.start()]) is not None
        words = match[0].split(" ")
        start = match.start()
        while words and (
            fold(words[0]).split("'")[0].replace("’", "") in STOP or words[0] in ("of", "de", "da", "van", "von")
        ):
            start += len(words[0]) + 1
            begins = False
            words = words[1:]
        while words and fold(words[-1]).split("'")[0] in STOP:
            words = words[:-1]
        name = re.sub(r"['’]s$", "", " ".join(words)).rstrip("'’-")
        if len(name) > 1 and name.upper() != "I":
            end = start + len(name)
            yield name, begins, text[max(0, start - 40) : start], text[end : end + 30]


def _category(name: str, before: str, after: str) -> Category | None:
    """What a name is the name of, by the words around it; None where they do not tell."""
    if PET.search(before):
        return "thing"
    if PERSON.search(before) or TO_PERSON.search(before) or LIVES.match(after):
        return "person"
    if GROUP.search(before) or GROUPS.search(name):
        return "group"
    return "place" if PLACE.search(before) and "'" not in after[:1] else None
