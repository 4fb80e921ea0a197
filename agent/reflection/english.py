"""What, said in English of oneself or one's people, is kept: predicates that tell something lasting, each of its kind.

A predicate is what follows the subject, short forms spelled out and mere emphasis dropped. What is not here is not
kept: of "I'm fine", "I think so", "I have a question" nothing should be.
"""

import re
import tomllib
from functools import lru_cache
from pathlib import Path

from graph.events import ObservationKind as Kind


def _words() -> dict[str, str]:
    with Path(__file__).with_name("english.toml").open("rb") as file:
        return {name: "|".join(words) for name, words in tomllib.load(file).items()}


_WORDS = _words()
FILLER = re.compile(
    r"\b(?:really|also|just|still|actually|recently|finally|now|currently|absolutely"
    r"|totally|simply|already|even|both|all|honestly"
    r"|truly|personally|officially|mostly|mainly|primarily|kind of|sort of|definitely"
    r"|certainly|indeed|sadly|happily|very|so|proudly"
    r"|presently|lately|originally|apparently|basically|only|quite|pretty|super|extremely"
    r"|completely|utterly|deeply|since|then) ",
    re.I,
)
FILLED = 6  # words at the beginning of a predicate in which emphasis is dropped
HEADS = _WORDS["heads"]
ENDINGS = r"\w{2,}(?:er|or|ist|ian|eer|woman|man|smith|wright|grapher|crat|herd|analyst|ress|ologist)"
NO_HEADS = _WORDS["no_heads"]
NP = (
    rf"(?:an?|the|one of the) (?!bit|little|tad|lot|few|bunch|couple|mess|huge mess)(?:(?!of\b"
    rf"|in\b|to\b|with\b|for\b|about\b|at\b|on\b"
    rf"|from\b|that\b|who\b|and\b|by\b|than\b|like\b)[\w'’-]+,? ){{0,4}}?(?:{HEADS}|(?!(?:{NO_HEADS})\b){ENDINGS})\b(?!"
    rf" of (?:myself|a)\b)"
)
STATES = _WORDS["states"]
DOING = _WORDS["doing"]
NUM = rf"(?:{_WORDS['num']})"
OWNED = rf"(?:{_WORDS['owned']})"
PLACES = rf"(?:{_WORDS['places']})"
ACTS = (
    rf"live {PLACES}|reside in|dwell in|rent (?:a|an|my)|own (?:a|an|my|two|three|\d+)"
    rf"|commute|work (?!on (?:it|this|that)|with you|out (?:how|what|if))"
    r"(?:as|at|for|in|from|on|with|night|nights|part|full|out|remotely|the|two|three"
    r"|mostly|a|evenings|weekends|shifts)|study|teach|run (?:a|an|my|our|every|marathons)"
    r"|keep (?:bees|chickens|goats|horses|a (?:diary|journal))|start (?:a|my|at|work"
    r"|school|university)|manage (?:a|an|the|my|our)|take my (?:coffee|tea)|speak (?!to\b"
    r"|with\b|up\b|of\b"
    r"|about\b)|play (?!the devil|a (?:role|part)|dumb|with\b"
    r"|along\b)|drive(?=\W*$)|drive an?|drive to|ride|sing|dance|paint|draw|knit|crochet"
    r"|sew|garden|bake|cook"
    r"|swim|hike|bike|cycle|jog|climb|surf|ski|snowboard|fish|meditate|journal|camp|box"
    r"|travel|volunteer|coach|collect|breed|grow|brew|compose|write (?:poetry|poems|novels"
    r"|songs"
    r"|stories|fiction|children|for|a (?:\w+ )?(?:blog|column|diary|journal))|blog|stream"
    r"|wear|smoke|vape|drink (?!it\b)|eat (?!it\b)|attend|take (?:\w+ ){0,3}(?:classes"
    r"|lessons|medication|insulin|pills|the (?:bus|train|subway)|walks)"
    r"|practi[cs]e|train|exercise|go (?:to (?:bed|the gym|church|mass|school|college"
    r"|university|therapy|yoga)|\w+ing\b|by|for (?:a|my) (?:run|walk|swim))|get up|wake"
    r" up|sleep (?:in|on|\w+ hours|badly|poorly|only)"
    r"|suffer from|struggle with|weigh|stand \d|follow an?|support|vote|believe in|value"
    r"|care about|subscribe|foster|raise|fast|stream|host|serve (?:as|in|on)|belong|read"
    r" (?:\w+ ){0,3}(?:books?|novels|every|before|a lot|fiction|manga|poetry|comics)"
    r"|watch (?:a lot|\w+ every|\w+ movies|anime|football|horror)|use (?:a (?:wheelchair"
    r"|cane|hearing|cpap|mac|linux)|(?-i:[A-Z]))|listen to|stay up|skip breakfast|bring"
    r"|spend (?:my|every|most|a lot)"
)
THING = (
    rf"(?:an?|my|our|the|two|three|new)(?: (?!sense|lot|bit)[\w'’-]+){{0,4}}? (?:{OWNED[3:-1]}"
    rf"|jobs?|position|role|offer|promotion|raise|gig|grant|award|medal|prize|trophy|bakery"
    rf"|caf[eé]|restaurant"
    r"|gallery|book|novel|album|song|game|project|group|club|team|band|choir|class|course"
    r"|school|firm|gym|charity|foundation|organi[sz]ation|community|campaign|campaign"
    r"|treehouse|shed|bookcase|instrument|keyboard)\b"
)
PAST = (
    rf"(?:have )?(?:changed my \w+ to|named (?:my|our)|(?:got|get) (?:married|engaged"
    rf"|divorced|promoted|fired|laid off|hired|accepted"
    rf"|pregnant|separated|tenure|{THING})|moved|relocated|grew up|was born|were born"
    rf"|was raised|were raised|was adopted|was diagnosed|was (?:promoted|fired|laid off"
    rf"|hired|elected|accepted|called)|graduated|majored|studied|attended|dropped out"
    rf"|trained as|worked (?:as|at|for|in)"
    rf"|lived|served|taught|adopted|rescued|fostered|married|divorced|met (?:my|our)|broke"
    rf" (?:my|up)|sprained|lost (?:my (?:job|mother|mom|mum|father|dad|wife|husband|son"
    rf"|daughter|brother|sister|grand\w+|dog|cat|friend|leg|arm|sight|hearing|home|house)"
    rf"|our \w+|\d+)|quit|left (?:my|our|the|home|(?-i:[A-Z]))|resigned|retired|joined"
    rf" (?:the (?:army|navy|marines|team|board|choir|union|gym|club|local)|(?-i:[A-Z])"
    rf"|{THING})|switched to|switched (?:jobs|schools|careers|majors)|converted"
    rf"|became|turned \d+|(?:bought|sold|built|founded|co-?founded|opened|launched|published"
    rf"|released|started|joined|got) {THING}|started (?:working (?!on it|again$)|learning"
    rf"|taking|playing|volunteering|school|university|college"
    rf"|running|painting|transitioning|dating|going|at|as|doing|training|therapy|teaching"
    rf"|studying|cooking|writing|knitting|baking|cycling|hiking|collecting|attending|eating"
    rf"|using|wearing|living|seeing|new)"
    rf"|(?:stopped|began) (?!trying|using|reading|getting|looking)\w+ing|gave up (?!on\b)"
    rf"|signed up|enrolled|registered for|took up|picked up|ran (?:a|my|the|for)|won|(?:finished"
    rf"|completed) (?!my (?:homework|dinner|lunch|breakfast|coffee|shift|work)\b)(?:my"
    rf"|a|an|writing|school|college|chemo)|passed (?:my|the)|failed my|climbed|travell?ed"
    rf"|visited|flew"
    rf"|backpacked|went (?:to (?:(?-i:[A-Z])|an? [\w' -]{{3,40}}|my (?:first)? ?[\w' -]{{3,30}}"
    rf"|school|college|university)|vegan|vegetarian|back to (?:school|college|work)|on"
    rf" an? |camping|hiking|skiing|swimming|surfing|fishing|biking|kayaking|sailing|through)"
    rf"|had (?:a baby|twins|surgery|a (?:miscarriage|stroke|heart attack|son|daughter"
    rf"|dog|cat)|an operation|my)|gave birth|came out|celebrated|hosted|performed|competed"
    rf"|painted (?:a|that|my)|wrote (?:a|my)|used to|inherited|received (?:a|an|my)|earned"
    rf"|took (?:my|our|the) (?:kids|family|fam|dog|dogs|son|daughter)|have (?:never )?(?:lived"
    rf"|worked|been to (?-i:[A-Z])|known|moved|played|owned|studied|taught|visited"
    rf"|run|loved|adopted|quit|left|joined|given up|become|retired"
    rf"|signed|lost|finished|won|written|published|decided|switched|collected|sung|practi[cs]ed"
    rf"|volunteered|wanted|struggled|suffered|taken up|gone (?:vegan|vegetarian|back)))"
)
NO_BEEN = r"(?!.*\b(?:minutes?|hours?)\b)"
BEEN = (
    r"have been (?:married|divorced|single|sober|vegan|vegetarian|diagnosed|together"
    r"|an? |to (?-i:[A-Z])|with|in (?-i:[A-Z])|into|living|working (?:as|at|for|in)|studying"
    r"|learning|playing|training|volunteering|taking|dating|teaching"
    r"|running|painting|writing|practi[cs]ing|doing \w+ (?:for|since)|seeing|collecting"
    r"|cooking|reading|struggling with|suffering|coaching|climbing|cycling|swimming|hiking"
    r"|dancing|singing|knitting|gardening|making|saving|going to|driving an?"
    r"|smoking|creating|eating|wearing|retired|unemployed|self-employed)"
)
NOT_LIKED = (
    r"(?!(?:it|that|this|these|those|you|him|her|them|how|what|when (?:you|that|this|it)|one|(?:all )?the"
    r" (?!sea\b|ocean|mountains|beach|outdoors|rain|snow|countryside|city|forest|smell"
    r" of (?!it|that|this)|sound of (?!it|that|this)|cold|heat|summer|winter|guitar|piano"
    r"|water|theat|opera|violin|desert|woods|(?-i:[A-Z]))|to (?:know|hear|see|ask|get"
    r"|find|have (?:a|the))|hearing|seeing (?:you|your|that)"
    r"|where|your|his|its|their|both|all|everything|nothing|so much|too|better)\b)"
)
LIKING = (
    rf"(?:do not |does not )?(?:like|love|enjoy|hate|dislike|loathe|despise|adore|prefer"
    rf"|detest|fancy|likes|loves|enjoys|hates|dislikes|prefers|adores) {NOT_LIKED}\w"
    rf"|(?:can|could) not stand {NOT_LIKED}\w|can not live without {NOT_LIKED}\w|do not"
    rf" care for {NOT_LIKED}\w|loved (?:reading )?(?=.*\b(?:as a (?:kid|child)|growing"
    rf" up)\b)"
)
HABIT = (
    r"(?:usually|normally|typically|generally|often|always|rarely|seldom|never|hardly"
    r" ever|almost always|tend to|try to) "
    r"(?!said|say|knew|know|thought|heard|got|get|meant|mean|asked|wanted|did|forget"
    r"|wonder|have (?:to|an?|the|no|some|trouble|problems?|issues?)|had|be|been|was|is"
    r"|saw|see|mind|told|tell|the|this|that|a|good|happy"
    r"|like that|understood|understand)\w+"
)
DAYS = "mondays?|tuesdays?|wednesdays?|thursdays?|fridays?|saturdays?|sundays?"
REGULARLY = (  # what is done for a living or time and again
    r"(?:do|make|take|use|have|run|walk|swim|cycle|drink|eat|play|read|watch|practi[cs]e|bake|cook|write|edit"
    r"|build|design|develop|code|program|repair|restore|sell|film|shoot|record|produce|mix"
    r"|translate|organi[sz]e|brew|carve|weave|breed|take photos of|photograph|clean|deliver|trade|review|test) "
    rf"(?!it\b|this|that|these|those|them|you|your|something|everything|so\b)(?:[\w'’-]+ ){{1,6}}?(?:as a hobby"
    rf"|for (?:a living|fun|work|money|clients|customers|friends)|at work|all day|professionally|on the side"
    rf"|(?:on|at|most|every|each) (?:the )?(?:weekends?|days?|mornings?|evenings?|nights?|weeks?|months?|{DAYS})"
    rf"|in my (?:free|spare) time|full[- ]time|part[- ]time|from home)\b"
)
PLANS = (
    r"(?:am |are )?(?:plan(?:ning)? (?:to|on)|aim(?:ing)? to|intend(?:ing)? to|decided"
    r" to (?!go with|use|try|ask)|dream(?:ing)? of|have (?:always )?(?:dreamed|dreamt"
    r"|wanted)|looking to (?:buy|adopt|move|rent)|looking for (?:a|an) (?:new )?(?:job"
    r"|apartment|flat|house|roommate)"
    r"|going to be an?)|want to (?:become|be an?|learn (?!how|more|about)|visit|travel"
    r"|move|start (?:a|my|an)|buy a (?:house|car|home|boat|flat|farm|condo|motorbike)"
    r"|adopt|retire|lose|quit|run a|open a|study|get (?:married|fit|a (?:dog|cat|puppy))"
    r"|climb|see the|write (?:a|my) (?:\w+ )?(?:book|novel|memoir)|have (?:kids|children)"
    r"|go to (?-i:[A-Z]))"
    r"|will be \d+|will (?:start (?:a|my|working|at|school)|move|marry|graduate|retire"
    r"|turn|visit|fly|travel|run|begin)"
)
OTHERS = _WORDS["others"]
PRONOUN = re.compile(
    r"^\s*(?:it|that|this(?! (?:year|month|week|summer|winter|spring|autumn|fall|semester"
    r"|morning|weekend|coming|past|time))|them|him|her|there|here|us|those|these|one|so"
    r"|too|again|you|what"
    r"|how)\b(?! \w+ (?:is|was))",
    re.I,
)


@lru_cache(maxsize=64)
def _compiled(pattern: str) -> re.Pattern[str]:
    """Compiled when first asked, not at import."""
    return re.compile(rf"(?:{pattern})(?=\W|$|(?<=\W)|(?<=\W\w))", re.I)


OF_SELF = (
    (
        Kind.IDENTITY,
        rf"(?:am|are|was|were)(?: not| no longer)? (?:{NP}|(?<!was )\d{{1,3}}(?: years? old)?"
        rf"(?=\s*(?:$|[.,!]| and | now| today| years))|(?-i:(?:half |part )?[A-Z]\w+(?:ish"
        rf"|ese|ian|ean|[a-z]ican|exan|erman|rench|elsh|zech|utch|reek|hai|wiss|raqi|sraeli"
        rf"|kistani|ilipin[oa]|atin[oa]))(?=[\s.,!]|$))",
    ),
    (
        Kind.IDENTITY,
        r"(?-i:am (?!Sure|Fine|Done|Back|Sorry|Here|Good|Batman|Groot|Superman|Iron|Spider"
        r"|Jesus|God|Santa)[A-ZÀ-Þ][a-zà-ÿ]{2,}(?: [A-ZÀ-Þ][\w'’-]+){0,2})(?=\s*(?:$|[.,!]"
        r"| and | from | by the way))",
    ),
    (Kind.IDENTITY, r"go by |am (?:called|named|known as) "),
    (
        Kind.PLAN,
        r"have an? (?:[\w'’-]+ ){0,3}(?:meeting|call|date|exam|test|party|dinner|class|session)\b.{0,60}\b(?:on"
        r"|next|tomorrow|this weekend|every|each|weekly|daily)\b",
    ),
    (Kind.STATE, rf"(?:am|are|was|were)(?: not| no longer| \d+ \w+)? (?:{STATES})"),
    (Kind.STATE, rf"(?:am|are)(?: not| no longer)? (?:{DOING})"),
    (
        Kind.FACT,
        rf"(?:have|have got|do not have|no longer have|had)(?: {NUM})? (?:(?!to\b|question"
        rf"|problem|idea)[\w'’-]+ ){{0,4}}?{OWNED}\b(?!['’])",
    ),
    (Kind.STATE, rf"{BEEN}{NO_BEEN}"),
    (Kind.FACT, REGULARLY),
    (Kind.FACT, r"(?:have|own|drive|ride|play) an? (?:old |new |used |\d{4} )?(?-i:[A-Z]\w+ [A-Z0-9]\w*)"),
    (Kind.PREFERENCE, LIKING),
    (Kind.PLAN, PLANS),
    (Kind.PREFERENCE, HABIT),
    (Kind.EPISODE, rf"{PAST}"),
    (
        Kind.FACT,
        rf"(?:do not |no longer |do not usually |can |can not |need (?:glasses|insulin|a wheelchair"
        rf"|hearing)|(?:usually|often|always|rarely|never) )?(?:{ACTS})",
    ),
)
OF_OTHERS = (
    (Kind.RELATIONSHIP, rf"(?:is|are|was|were)(?: not)? (?:{NP}|{STATES})"),
    (Kind.RELATIONSHIP, rf"(?:{OTHERS})"),
    (
        Kind.RELATIONSHIP,
        r"(?-i:is (?!Batman|Superman|Darth|God|Jesus|Santa|Shrek|Yoda|Gandalf|Spider|Iron|OK|TV|AI)"
        r"[A-ZÀ-Þ][a-zà-ÿ]{2,}(?: [A-ZÀ-Þ][\w'’-]+)?)(?=\s*(?:$|[.,!]| and ))",
    ),
)


LOOSE_END = re.compile(
    r"(?:\b(?:with|for|to|about|of|from|on|like) (?:them|him|her|it|that|this|those|these)\W*$"
    r"|\b(?:of|to|by|with|for|from|that|and|but|or|the|an?|my|your|if|as|than|because"
    r"|when)|[:\-–—])\W*$",
    re.I,
)


POINTS = re.compile(  # at what was said or shown before
    r"\bthis\b(?! (?:year|month|week|summer|winter|spring|autumn|fall|semester|morning|weekend|coming|past|time))"
    r"|\b(?:these|those)\b(?! days)|\bthere\W*$|\b(?:them|him|her) around\b",
    re.I,
)


def plain_predicate(does: str) -> str:
    """A predicate without emphasis at its beginning."""
    words = does.split(" ")
    head = FILLER.sub("", " ".join(words[:FILLED]) + " ")
    return (head.strip() + " " + " ".join(words[FILLED:])).strip()


def kind_of(does: str, *, of_others: bool) -> Kind | None:
    """The kind of what a predicate tells; None where it tells nothing that lasts."""
    said = plain_predicate(does)
    for kind, pattern in OF_OTHERS if of_others else OF_SELF:
        match = _compiled(pattern).match(said)
        if match and not PRONOUN.match(said[match.end() :]) and not LOOSE_END.search(said) and not POINTS.search(said):
            return kind
    return None


def tells_trait(value: str) -> bool:
    """Whether what is said of a trait ("my birthday is …") is a value."""
    return bool(re.search(r"\w", value)) and not re.match(
        r"(?:not (?:important|relevant|your|the same)|none of|what|why|it\b|that\b|this\b"
        r"|so\b|too\b|irrelevant|dead|slow|very\b|up to|on the way|coming|broken|ready|running|wrong)",
        value,
        re.I,
    )
