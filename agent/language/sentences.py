"""The sentences of a turn that are the person's own words, and a sentence taken apart for the rules.

What is masked keeps its length, so that a sentence is always a slice of the turn, verbatim.

"Well, my sister Anna's a nurse" is (who "sister anna", does "is a nurse"); "By the way, we've two cats" is (who "",
does "have two cats"). Only sentences about the speaker, their people and pets have a subject here.
"""

import re
from dataclasses import dataclass
from functools import lru_cache

from agent.language.words import wordset

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
    r"[A-Z][\w.-]{0,20}(?: [\w.-]{1,20}){0,2}:\s|\t| {4})"
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
END = re.compile(r"(?:[.!?…]+[)\]'’]*(?=\s|$)|[。！？]+|\n+)[\s]*")
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
TRAITS = (
    "(?:(?:full|first|last|middle|real|given|maiden|legal) )?name|surname|nickname|birthday|date of birth|age|address"
    "|(?:phone|mobile|cell)(?: number)?|e-?mail(?: address)?|home ?town|(?:new )?job"
    "|occupation|profession|employer|company"
    "|(?:new |first |old )?car|(?:all-time )?favou?rite (?!part|thing about|bit)[\\w'"
    " -]{2,30}?|hobb(?:y|ies)|passion|(?:native|first) language"
    "|mother tongue|dream(?: job)?|goal|ambition|(?:(?:dentist|doctor['’]?s?|vet|hair|eye|job|driving"
    "|return) )?(?:flight|lease|driving test|marathon|meeting|allerg(?:y"
    "|ies)|surgery|exam|interview|graduation"
    "|appointment)(?: (?:to|with|in|for) [\\w' -]{2,20}?)?|blood type|height|weight"
    "|shoe size|(?:star|zodiac) sign|pronouns"
    "|religion|nationality|major|diet|wedding(?: day| date)?|(?:wedding )?anniversary"
    "|degree|bucket list|go-to [\\w ]{2,20}?"
)
ADJ = (
    "older|younger|big|little|best|twin|elder|eldest|oldest|youngest|middle|new|late|other|good|close|dear|old|beloved"
)
ADJ += "|only|two|three|four|five|both|\\d+|ex|former|childhood|best"
NAME = r"(?-i:[A-ZÀ-ÞĀ-Ž][\w'’-]+(?: [A-ZÀ-ÞĀ-Ž][\w'’-]+){0,2})"
LEAD = re.compile(
    r"(?:(?:hi|hey|hello|ha(?:ha)+h?|he(?:he)+|lo+l|lmao|ugh|argh|omg|hola|well|yeah|yea|yes|yep|yup|no|nope"
    r"|nah|oh|ah|wow|ok|okay"
    r"|sure|right|so|and|but|also|plus|anyways?"
    r"|besides|btw|by the way|fyi|just so you know|just fyi|for your information|for the record|for (?:some )?context"
    r"|for reference|in case (?:it|that) (?:matters|helps)|honestly|to be honest|tbh"
    r"|actually|in fact|as a matter of fact|wait"
    r"|hmm+|um+|uh+|thanks(?: a lot| so much| for (?:that|asking))?|thank you(?: so much)?"
    r"|sorry|oops|whoops|my (?:bad|mistake)"
    r"|correction|small correction|update|fun fact|good news|big news|guess what|sadly"
    r"|unfortunately|fortunately|luckily|finally"
    r"|firstly|first of all|second(?:ly)?|as (?:you know|i said|mentioned)|you know|you"
    r" see|like i said|unlike \w+|personally"
    r"|currently|nowadays|lately|recently|today|yesterday|now|then|p\.?s\.?|edit|info"
    r"|(?:real talk|seriously|serious|for real|(?:kidding|jokes|joking) aside)(?: (?:though|now))?"
    r"|about me|(?:quick )?intro|a bit about me|still|again|rather|plot twist|(?:big |small |quick |life "
    r"|great |amazing |exciting |sad |bad |other |some )*news"
    r"|(?:(?:a few|some|two|three|four|five|six|\d+) )?(?:days?|weeks?|months?|years?) later|confession|status update"
    r"|(?:one more time|once more|as i (?:said|told you|mentioned)|in case you forgot)(?: [^,.:;]{1,30})?(?=[,:])"
    r"|(?:please |pls |can you |could you )?(?:remember|note|keep in mind|don['’]t forget|know)(?: this| that|,)?"
    r"|(?:i|I) (?:should|must|have to|forgot to|wanted to|want to|need to) (?:add|mention"
    r"|say|tell you|confess|admit|correct myself)(?: that)?"
    r"|let me (?:introduce myself|correct (?:myself|that))|i (?:told|already told) you(?:"
    r" that)?|did i (?:mention|tell you) that"
    r"|i (?:was|got (?:it|that)) wrong(?: (?:about|before|earlier)[^,.:;]{0,30})?|that(?:['’]s"
    r"| was| is) (?:wrong|not (?:right|true|quite right))"
    r"|i (?:wrote|said|typed|put) [\w' -]{1,30} but (?:i )?mean(?:t)? [\w' -]{1,30}(?=[:;,.])"
    r"|i said [^.]{1,60}?but (?:that|it) was (?:wrong|a mistake)|i misspoke|i made a"
    r" mistake|not [\w' ]{1,30}(?=,)|(?:you|and you) (?:can|may|should)"
    r" know(?: that)?|i guess you know|it['’]s true)"
    r"[ ]*[,:;!.\-–—]*\s+|[,\-–—]\s*)",
    re.I,
)
# A clause that only says that something was wrong, before the one that says what is right.
MENDING = re.compile(
    r"(?=[^.!?\n]{0,90}?\b(?:wrong|typos?|nonsense|lied|lying|correct(?:ion|ing)?|mistake|mistaken|mist(?:yped|ook)"
    r"|misspoke|misspelled|misread|misheard|misremember(?:ed)?|mixed|mixing|messed|slip|meant|mean|wait"
    r"|scratch|scrap|strike|should (?:be|have been)|ignore|disregard|forget|not true|not right|untrue"
    r"|nope?|nah|never ?mind|false|incorrect|confused|rubbish|autocorrect|apologies|apologi[sz]e|sorry)\b)"
    r"(?!(?:if|when|because|unless)\b)"
    r"(?:[^,.:;!?–—\n]{1,60}(?:[,:;!.–—]+|\s-)\s*){1,3}?(?=(?:i|i['’]m|im|i['’]ve|we|we['’](?:re|ve)|my|our)\b)"
    r"|(?:no|nope|nah|wait|sorry|oops|ups)(?: (?:no|nope|wait|sorry|typo|actually|my bad))* (?=(?:i|we|my|our)\b)",
    re.I,
)
ONLY_MENDS = re.compile(
    r"(?:(?:i(?:['’](?:m|ve)| am| have| was)?|it|that|this|what i (?:said|wrote)|that['’]s|which|was|is|my|sorry|oh|ok"
    r"|okay|so|well|hm+|no|wait|actually|and|but|the|a|an|bit|just|got|had|wrote|said|made|did|let|me|to|stupid"
    r"|silly|all|it up|wrong|typos?|nonsense|lied|lying|correct|correction|correcting|mistake|mistaken|mistyped"
    r"|mistook|misspoke|misspelled|mixed|things|up|messed|slip|of tongue|meant|mean|scratch|scrap|strike|not|true"
    r"|right|untrue|nope|nah|never|nevermind|mind|false|incorrect|confused|rubbish|autocorrect|apologies"
    r"|apologi[sz]e|misread|misremember(?:ed)?|misheard|misstated|words?|one|way|around|number|date|day|name|city|place"
    r"|spelling|info|information|year|time|he|she|they|previous|message|i['’]d|again|should|be|have|been"
    r"|of course|supposed|ignore|disregard|forget|what i|previous|last|before|earlier|last time|there|myself"
    r"|bad|something|oops|ups|tbh|honestly|haha|lol|argh|ugh"
    r"|[\w-]+day|19\d\d|20\d\d|\d{1,3})\b[\s,.:;!–—'’-]*)+",
    re.I,
)
# Where another clause of the speaker's own begins.
JOINT = re.compile(
    r"(?:\s*[,;:–—]\s*(?:and |but |so |though |although )?|\s+-\s+|[.!]\s+|\s+(?:and|but|so|because|since) )"
    r"(?=(?:i|i['’](?:m|ve|d)|im|we|we['’](?:re|ve)|my|our|the user)\b"
    r"(?! (?:guess|think|mean|know|suppose|hope|said|should|would|could)\b))",
    re.I,
)
VOCATIVE = re.compile(r"[A-Z][a-zà-ÿ]+[,!]\s+(?=[A-Za-z])")
TIMES = re.compile(
    r"(?:(?:last|this|next|every|each|in|on|since|for|as of|after|at|during|when|these"
    r"|most|the (?:last|past|next|first|other|day|week|month|year|summer)|a few|\d+|two|three|over"
    r"|starting|until|till|back|growing up|as an? [\w -]{3,30}?,|once|twice|about|almost"
    r"|nearly|right now)\b(?![^,.;]{0,40}\b(?:opinion|case|mind|dreams?)\b)"
    r"[^,.;:?]{0,50}?)?,?\s*(?=\b(?:i|i['’]m|i['’]ve|we|we['’]ve|we['’]re|my|our)\b)",
    re.I,
)
SHORT = (
    (r"\bcan['’]?t\b|\bcannot\b", "can not"),
    (r"\bwon['’]t\b", "will not"),
    (r"\bain['’]t\b", "am not"),
    (r"n['’]t\b", " not"),
    (r"\bi['’]?m\b", "i am"),
    (r"['’]ve\b", " have"),
    (r"['’]re\b", " are"),
    (r"['’]ll\b", " will"),
    (r"\bi['’]d\b", "i would"),
    (r"\bdont\b", "do not"),
    (r"\bdoesnt\b", "does not"),
    (r"\bgonna\b", "going to"),
    (r"\bwanna\b", "want to"),
    (r"\bgotta\b", "have to"),
    (r"\s+", " "),
)
SPELLED = tuple((re.compile(pattern, re.I), whole) for pattern, whole in SHORT)
SELF = re.compile(
    rf"(?:i|we|(?:my|our) (?:{KIN})(?: {NAME})? and i|me and my (?:{KIN})|{NAME} and i|both of us) ", re.I
)
USER = re.compile(r"(?:the )?(?:user|speaker)(?P<own>['’]s?)? ", re.I)
ONE = rf"(?:(?:{ADJ})[ -])*(?P<kin>{KIN}|{PETS})"
PERSON = re.compile(rf"(?:my|our) {ONE}(?:,? (?P<name>{NAME}))?(?P<own>['’]s?)?,? ", re.I)
PERSON_NAMED = re.compile(rf"(?P<name>{NAME}), (?:my|our) {ONE}, ", re.I)
IS_MY = re.compile(
    rf"(?P<name>(?-i:[A-ZÀ-Þ])[\w'’ -]{{1,40}}?) (?:is|are|was) (?P<whole>(?:my|our) (?:{ONE}"
    rf"|(?P<trait>{TRAITS}))\b)",
    re.I,
)
TRAIT = re.compile(rf"(?:(?:my|our) |the )(?P<trait>{TRAITS})(?:['’]s| is| are| was| ends| starts| begins) ", re.I)
OWN_TRAIT = re.compile(rf"(?P<trait>{TRAITS}|wedding|school|job) (?:is|are|was) ", re.I)
SAYS_IS = re.compile(r"(?<=\w)['’]s (?=(?:a|an|the|now|not|called|named|from|in|pregnant|\d)\b)", re.I)
NOT_NAMES = wordset("it this that he she they what who there here which everything nothing something one")


@dataclass(frozen=True, slots=True)
class Clause:
    """Who is spoken of ("": the speaker), the trait of theirs that is told, if it is one, and what is said of it."""

    who: str
    trait: str | None
    does: str


def spelled(text: str) -> str:
    """The text with short forms spelled out, on one line."""
    for pattern, whole in SPELLED:
        text = pattern.sub(whole, text)
    return text.strip()


def led_in(text: str) -> str:
    """The text without what only leads it in: "By the way, last month I moved" is "I moved"."""
    for _ in range(6):
        match = LEAD.match(text) or _mending(text) or VOCATIVE.match(text)
        if match is None:
            break
        text = text[match.end() :]
    match = TIMES.match(text)
    return text[match.end() :] if match else text


def _mending(text: str) -> re.Match[str] | None:
    """What a sentence begins with, where that only takes something back."""
    match = MENDING.match(text)
    return match if match and ONLY_MENDS.fullmatch(match[0]) else None


@lru_cache(maxsize=512)
def parts(text: str) -> tuple[str, ...]:
    """The clauses of a sentence that begin with the speaker or theirs; the first one may begin otherwise."""
    whole = led_in(text)
    found, start = [], 0
    for match in JOINT.finditer(whole):
        found.append(whole[start : match.start()])
        start = match.end()
    return tuple(part.strip() for part in (*found, whole[start:]) if part.strip())


@lru_cache(maxsize=512)
def clause(text: str) -> Clause | None:
    """The sentence taken apart; None where nobody of the speaker's is its subject."""
    said = spelled(SAYS_IS.sub(" is ", led_in(text)))
    if match := SELF.match(said):
        return Clause("", None, said[match.end() :])
    if match := USER.match(said):
        rest = said[match.end() :]
        return _of_user(rest) if match["own"] else Clause("", None, rest)
    if match := IS_MY.match(said):
        if match["name"].split()[0].casefold() in NOT_NAMES:
            return None
        return (
            Clause("", match["trait"], match["name"]) if match["trait"] else Clause(_who(match), "name", match["name"])
        )
    if match := TRAIT.match(said):
        return Clause("", match["trait"].casefold(), said[match.end() :])
    match = PERSON.match(said) or PERSON_NAMED.match(said)
    return _of_person(match, said[match.end() :]) if match else None


def _of_user(rest: str) -> Clause | None:
    """What follows "The user's"."""
    return clause("my " + rest)


def _of_person(match: re.Match[str], rest: str) -> Clause:
    own = OWN_TRAIT.match(rest) if match.groupdict().get("own") else None
    if own:
        return Clause(_who(match), own["trait"].casefold(), rest[own.end() :])
    return Clause(_who(match), None, rest)


def _who(match: re.Match[str]) -> str:
    name = (match["name"] or "").casefold()
    return f"{match['kin'].casefold()} {name}".strip()
