"""The sentences of a turn that are the person's own words, and the words for their people and pets.

What is masked keeps its length, so that a sentence is always a slice of the turn, verbatim.
"""

import re
from dataclasses import dataclass

PASTED = 400  # words: a turn that long is a document, not talk
MASK = "\ufffc"
QUOTED = re.compile(
    r'```.*?(?:```|\Z)|`[^`\n]{1,300}`|“[^”]{1,2000}”|«[^»]{1,2000}»|„[^“”"]{1,2000}[“”"]|"[^"\n]{1,2000}(?:"|\n|\Z)'
    r"|(?<![\w'’])['‘][^'‘’\n]{2,300}(?:['’][a-z]{1,2}\b[^'‘’\n]{0,300}){0,4}['’](?!\w)",
    re.S,
)
LINK = re.compile(r"(?:https?://|www\.)\S{1,2000}")
FOREIGN_LINE = re.compile(
    r"\s*(?:[-+•>#|$%{}<\[\]/\\]|\*(?!\w+[.!,]?(?:\s|$))|\d{1,3}[.)]\s|\d{4}-\d\d|\d\d:\d\d|\[?(?:INFO|WARN"
    r"|ERROR|DEBUG)\b|(?!(?:I|We|My|Our|It|And|But|So|Oh|Yes|No|Well|Ok|Okay|Sorry)\b)"
    r"(?!(?:Kids|Children|Grandkids|Grandchildren|Sons|Daughters|Sisters|Brothers|Siblings|Cats|Dogs|Pets|Flatmates"
    r"|Housemates|Roommates|Neighbours|Neighbors|Colleagues|Friends):)"
    r"[A-Z][\w.-]{0,20}(?: [A-Z][\w.-]{0,19}){0,2}:\s|\t| {4})"
)
TOLD = re.compile(
    r"(?:(?:small|quick|short|big|little|life|status|kleines?|kurzes?|petite?|pequeñ[ao]|piccol[ao]|pequen[ao]) )?"
    r"(?:korrektur|nachtrag|neuigkeit(?:en)?|nouvelle|mise à jour|corrección|actualización|noticia|correzione"
    r"|aggiornamento|novità|correção|atualização|novidade|correctie|nieuws|news|(?:(?:a few|some|two|three|four|five"
    r"|six|\d+) )?(?:days?|weeks?|months?|years?) later|plot twist|confession|note|(?:quick )?intro"
    r"|remember|fyi|btw|by the way|about me|update|correction"
    r"|fun fact|info|also|ps|p\.s\.|edit)\s*:",
    re.I,
)
# What may be long begins where nothing of it is before: from within, a run of it would be tried at each of its places.
END = re.compile(r"(?:(?<![.!?…])[.!?…]+[)\]'’]*(?=\s|$)|[。！？]+|\n+)[\s]*")
ABBREVIATED = re.compile(
    r"(?:\b(?:dr|mr|mrs|ms|st|prof|jr|sr|vs|etc|no|approx|e\.g|i\.e|u\.s|p\.s)|\b[A-Z])\.\s*$", re.I
)


@dataclass(frozen=True, slots=True)
class Sentence:
    """A slice of a turn, trimmed; `plain` is the same with what is not the person's own masked."""

    text: str
    plain: str
    start: int
    end: int

    @property
    def own(self) -> bool:
        """Whether nothing in it is code, a quote or a link."""
        return MASK not in self.plain


def sentences(text: str) -> list[Sentence]:
    """The sentences of a turn in order; none of a pasted document."""
    if len(text.split(maxsplit=PASTED)) > PASTED:
        return []
    plain = _without_lines(LINK.sub(_masked, QUOTED.sub(_masked, text)))
    found, start = [], 0
    for match in END.finditer(plain):
        if "\n" not in match[0] and ABBREVIATED.search(plain[max(start, match.start() - 8) : match.end()]):
            continue
        found.append(_slice(text, plain, start, match.end()))
        start = match.end()
    found.append(_slice(text, plain, start, len(text)))
    return [sentence for sentence in found if sentence.text]


def _masked(match: re.Match[str]) -> str:
    return "".join("\n" if char == "\n" else MASK for char in match[0])


def _without_lines(plain: str) -> str:
    """Lines of lists, logs and dialogue masked; after a line that ends with a colon comes what is not one's own."""
    lines, given = [], False
    for line in plain.split("\n"):
        foreign = given or (FOREIGN_LINE.match(line) and not TOLD.match(line.strip()))
        lines.append(MASK * len(line) if foreign else line)
        given = given or (line.rstrip().endswith(":") and not TOLD.search(line))
    return "\n".join(lines)


def _slice(text: str, plain: str, start: int, end: int) -> Sentence:
    said = text[start:end]
    start += len(said) - len(said.lstrip())
    end = start + len(said.strip())
    return Sentence(text[start:end], plain[start:end], start, end)


KIN = (
    "mother|mom|mum|mama|mommy|father|dad|papa|parents?|sisters?|brothers?|siblings?"
    "|sons?|daughters?|kids?|child|children"
    "|bab(?:y|ies)|twins|wife|husband|spouse|partner|fianc[eé]e?|girlfriend|boyfriend"
    "|grandm(?:a|other)|grandp(?:a|ops)"
    "|grandfather|grandparents|grandson|granddaughter|grandkids|grandchildren|aunt|uncle|cousins?|nephews?|nieces?"
    "|(?:mother|father|sister|brother|son|daughter|parents)-in-law|in-laws|step(?:mother|mom|father|dad|son|daughter"
    "|brother|sister)|family|friends?|best friend|roommate|flatmate|neighbou?rs?|boss"
    "|manager|colleague|co-?worker|mentor"
    "|coach|landlord|landlady|therapist|doctor|teacher|tutor|crush|ex|ex-(?:wife|husband|girlfriend|boyfriend)"
)
PETS = (
    "dogs?|pupp(?:y|ies)|pup|cats?|kittens?|kitt(?:y|ies)|pets?|rabbits?|bunn(?:y|ies)"
    "|hamsters?|parrots?|birds?|horses?"
)
PETS += "|fish|tortoise|turtles?|guinea pigs?|snakes?|lizards?|geckos?|goats?|chickens?|hens|ferrets?"
ADJ = (
    "older|younger|big|little|best|twin|elder|eldest|oldest|youngest|middle|new|late|other|good|close|dear|old|beloved"
)
ADJ += "|only|two|three|four|five|both|\\d+|ex|former|childhood|best"
