"""Which hits are worth their tokens in a prompt: near enough to the message, and saying something that it does not say.

Recall always finds something; most messages need nothing. These rules are pure and about words only, so that they cost
nothing beside the recall. The figures are read off cosines of MiniLM: evidence for a question is mostly above .35, what
has nothing to do with it mostly below .3. They read English; in other languages meaning alone decides.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from graph.recall.intent import Intent
from graph.values import Hit
from graph.whole_words import CAPITAL

from .language.person import LEAD, ORDERS
from .quoting import content_words, excerpt, neutral

NEAR = 0.4  # cosine from which meaning alone is reason enough; of unrelated English it is mostly below .3
RELATED = 0.3  # and from which it is, where a word is shared too
WORTH = 0.6  # of the best hit's score: what is much weaker is not worth its tokens
LENT = 0.8  # of it, for a turn that is there for its neighbour's sake; of the best cosine, for meaning alone
SURE = 0.5  # cosine from which the meaning of an observation is reason enough: short sentences come near to much
NEAREST = 0.6  # cosine for what the assistant said, where nobody asks for that
FEW = 3  # quotes that a small model can use, and that are read beside its reply
LONGEST_READ = 160  # characters of one that is read there
NEW = 1 / 3  # of a hit's words must not be in the message already
MEANING = frozenset({"semantic", "observation"})  # strategies whose score is a cosine
SMALL_TALK = frozenset(
    content_words(
        "thanks thank okay please sure great good nice cool fine right hello yeah well really very much also just like "
        "what when where which whose whom about have that this these those with would could should will your yours "
        "they them their there then than from into some more most other tell told know think said says remember talk "
        "talked mention mentioned conversation does doing done were been being because what's that's give make want "
        "lot lots need help continue again still yes something anything everything nothing thing things someone"
    )
)
LOOKS_BACK = re.compile(
    r"\b(?:did|was|were|(?<!if i )(?<!if we )had|said|told|earlier|before|again|remember|recall|remind|already"
    r"|previous\w*|last|ago|talked|discussed|mentioned|suggested|recommended|gave|wrote|explained|called)\b",
    re.IGNORECASE,
)
OWN_WORDS = re.compile(
    r"\b(?:i (?:\w+ )?(?:said|told|mentioned|wrote|asked)"
    r"|(?:did|have|had) i (?:\w+ )?(?:say|said|tell|told|mention\w*|ask\w*))\b",
    re.IGNORECASE,
)
SENTENCE = re.compile(r"[^.!?;\n]+[.!?;\n]*")
REQUEST = re.compile(rf"{LEAD}(?:{ORDERS}|whose|which|why|(?:what|who|how|where|when)s?)\b", re.IGNORECASE)
QUESTION = re.compile(
    r"\s*(?:(?:do|does|did|is|are|am|was|were|has|have|had|can|could|should|will|would)"
    r" (?:i|you|we|he|she|they|it|there|my|our|the)\b|remind me\b(?! to\b))",
    re.IGNORECASE,
)
INTERROGATIVE = re.compile(
    r"\s*(?:(?:and|so|then|but)[\s,]+)*(?:whose|which|why|(?:what|who|how|where|when)s?)\b", re.IGNORECASE
)
YOUR_WORDS = re.compile(
    r"\b(?:(?:you|we) (?:\w+ )?"
    r"(?:said|told|gave|wrote|called|talked|explained|suggested|recommended|mentioned|discussed)"
    r"|did (?:you|we) (?:\w+ )?(?:say|tell|give|write|call|talk|explain|suggest|recommend|mention|discuss)"
    r"|your (?:\w+ )?(?:advice|answer|idea|list|recipe|reply|suggestion|recommendation|explanation)s?)\b",
    re.IGNORECASE,
)
QUESTION_MARKS = frozenset("?\N{FULLWIDTH QUESTION MARK}\N{ARABIC QUESTION MARK}")
ABOUT_ONESELF = re.compile(
    r"\b(?:know|learn(?:ed|t)?|remember|recall) (?:\w+ )?(?:about|of) (?:me|myself)\b|\bdo you (?:know|remember) me\b"
    r"|\bwhat (?:else )?do you (?:still |already )?(?:know|remember|recall)\W*$"
    r"|\bwho (?:am i|i am)\b|\b(?:tell me|talk) (?:\w+ )?about (?:me|myself)\b|\bdescribe me\b",
    re.IGNORECASE,
)
# Of such a message, that says what about oneself.
NO_MORE = frozenset(content_words("myself describe everything actually really already exactly now far"))
ONESELF = re.compile(r"\b(?:i|me|my|mine|we|us|our|ours)\b", re.IGNORECASE)
OF_ONESELF = re.compile(r"\b(?:my|our|mine|i'm|i am|i've|we're|we are|we've)\b", re.IGNORECASE)


# What nobody but the memory can answer: who, when or where the user is, what is theirs, what they did …
LONGEST_ASKED = 2_000  # characters; what is longer asks of more than that
WHICH = (
    r"\b(?:what|which|who|whose|when|where|how (?:old|tall|many|much|long|often|big|far))(?:['’]?s|['’]re)?\b[^.?!]*\b"
)
OURS = (
    r"(?:my|mine|our(?! (?:own|bod|planet|earth|sun|moon|univers|galax|solar|world|species|brain|eye|ancestor|skin"
    r"|blood|bone|lung|heart|muscle|time|societ|cultur|atmospher))\w*)"
)
DID = (
    r"(?:told|said|mentioned|asked|promised|planned|wanted|decided|booked|bought|ordered|paid|sold|gave|lent|borrowed|set"
    r"|met|went|stayed|visited|used|saw|ate|left|put|parked|started|stopped|quit|chose|picked|moved|took|saved|signed)"
)
OF_LIFE = re.compile(
    rf"{WHICH}(?:{OURS}|grand(?:ma|pa)s?|mum|mom|dad)\b"
    rf"|(?:{WHICH}|\b(?:list|find|tell me|remember)\b[^.?!]*)\b(?:(?:i|we) (?:\w+ )?{DID}|(?:gave|sent|lent|told) me)\b"
    rf"|{WHICH}are we \w+ing\b|\bhow (?:did|was|were) {OURS}\b"
    rf"|^\W*(?:(?:and|so|ok|hey|hi)\W+)*(?:is|are|was|were|does|do|did|has|have|had) {OURS}\b"
    r"|\b(?:am|was|did|have|had) (?:\w+ and )?(?:i|we)\b|\b(?:do|should) you (?:know|remember|recall)\b"
    r"|\bremind me (?!to\b)|^\W*remember (?:the|that|when|what|which|who|how) "
    r"|\bi (?:ever )?(?:tell|told|mentioned) you\b"
    r"|\bdo (?:i|we) (?:even |really )?"
    r"(?:live|work|own|have|keep|like|love|hate|prefer|drive|ride|play|study|speak|collect|teach|drink|eat|go to)\b"
    r"|\bdo i (?:pay|earn|spend|owe|weigh|support|volunteer|commute|rent|sleep|swim|visit|listen to)\b"
    r"|\bdo (?:i|we) (?:still|usually|normally|always|regularly|mostly) \w"
    r"|\bdo i (?:use|wear|take)\W*$|\bdo i do for\b|\bwho am i\b",
    re.IGNORECASE,
)
# … and what is asked for help with something of theirs, which anybody may know.
FOR_HELP = re.compile(
    r"\b(?:should|could|would|can|may|might) (?:i|we|my|you(?! (?:tell|remind|list|find|say)\b))\b"
    r"|\bhow (?:do|can|to)\b|\bwhy\b|\bneeds?\b"
    r"|\b(?:wrong with|you think|means?|best way)\b|\bdid i do wrong\b"
    r"|\bmy (?:code|script|program|function|query|regex|config|essay|text|sentence|app)\b",
    re.IGNORECASE,
)
# What is about a day that depends on which one it is now, in six languages.
OF_TIME = re.compile(
    r"\b(?:today|tonight|tomorrow|yesterday|(?:what|which|whats|what's) (?:\w+ )?(?:day|date|time|month|year)|the date"
    r"|(?:this|next|last) (?:week|month|year|spring|summer|autumn|winter|\w+day)|how old|how (?:long|many \w+)"
    r" (?:until|till|since|ago)|days? (?:until|till|since|ago)|weeks? ago|months? ago|years? ago"
    r"|heute|morgen|gestern|welche[rsn]? (?:tag|datum)|diese woche|nächste|aujourd['’]hui|demain|hier"
    r"|quel jour|cette semaine|prochaine?|hoy|ayer|qué (?:día|fecha)|esta semana|hoje|amanhã|ontem|que dia)\b"
    r"|今天|明天|昨天|几号|星期几|这周|下周|上周",
    re.IGNORECASE,
)
NAME = re.compile(rf"(?<=[\w,'’] )[{CAPITAL}][^\W\d_]{{2,}}")


def asks_of_life(text: str, told: Iterable[str] = ()) -> bool:
    """Whether a message asks what nobody but the memory can know: about the user, or a name of what is `told`."""
    if len(text) > LONGEST_ASKED or "\n" in text.strip() or "```" in text or not asks(text):
        return False
    if any(asks(each) and FOR_HELP.search(each) for each in SENTENCE.findall(text)):
        return False
    lines = " ".join(told)
    return OF_LIFE.search(text) is not None or any(name in lines for name in NAME.findall(text))


def asks_of_time(text: str) -> bool:
    """Whether a message speaks of a day that depends on which one it is now."""
    return OF_TIME.search(text) is not None


def roles_asked(text: str) -> frozenset[str]:
    """Whose words a message asks for: "what did I say" is not answered by what the assistant said."""
    return frozenset({"user", "note"} if OWN_WORDS.search(text) else {"user", "assistant", "note"})


def says_something(intent: Intent) -> bool:
    """Whether there is anything to look for: "ok thanks" is answered from the conversation."""
    return bool(asked_words(intent) or intent.names)


def about_oneself(text: str, intent: Intent) -> bool:
    """Whether a message asks who its writer is, or what is known of them, and for nothing more exact."""
    return ABOUT_ONESELF.search(text) is not None and not asked_words(intent) - NO_MORE


def asked_words(intent: Intent) -> set[str]:
    """The words of a message that can tell one turn from another."""
    return set(content_words(intent.words)) - SMALL_TALK


def relevant(hits: Sequence[Hit], text: str, intent: Intent, *, read: bool = False) -> list[Hit]:
    """Without the hits that are too weak to be worth their tokens, and those that only say the message again.

    A turn that a kept one led to needs no words of its own, but must come close to the best. With `read` they are read
    by people too, who see at a glance what is beside the point: then less is enough for a question about oneself.
    """
    asked = asked_words(intent)
    said = {neutral(text).casefold()}
    back = LOOKS_BACK.search(text) is not None
    own = read and asks(text) and ONESELF.search(text) is not None
    # What was asked before is nearest to what is asked now, and the reply to it next: they measure no answer.
    asked_of_memory = inquires(text) and YOUR_WORDS.search(text) is None
    measures = [hit for hit in hits if not asked_of_memory or answers(hit)] or hits
    nearest = max((meaning(hit) for hit in measures), default=0.0)
    tells = "?" not in text  # a question may repeat what it wants confirmed
    kept: dict[str, Hit] = {}
    best = max((hit.score for hit in measures), default=0.0)
    for place, hit in enumerate(hits):
        words = neutral(hit.text).casefold()
        forms = [hit, *corrected(hit, hits[place + 1 :])]
        worth = max(each.score for each in forms) / best if best > 0 else 1.0
        near = any(strong(each, asked, back=back) for each in forms) or (worth >= LENT and lent(hit, kept, back=back))
        fits = (near and worth >= WORTH) or (own and told(hit) and meaning(hit) >= LENT * nearest)
        again = (tells or (asked_of_memory and wants(hit))) and repeats(hit.text, text)
        if words in said or not fits or again:
            continue
        said.add(words)
        kept[hit.id] = hit
    answered = {led_by(hit) for hit in kept.values() if hit.role == "assistant"}
    worthy = [hit for hit in kept.values() if hit.id in answered or not only_asks(hit)]
    return answers_first(worthy, text) if asked_of_memory else worthy


def without_outdated(hits: Sequence[Hit], outdated: Mapping[str, frozenset[str]]) -> list[Hit]:
    """Without the hits that are `outdated`, where one of those that tell it anew is among them."""
    there = {hit.id for hit in hits} - outdated.keys()
    return [hit for hit in hits if outdated.get(hit.id, frozenset()).isdisjoint(there)]


def answers_first(hits: Sequence[Hit], text: str) -> list[Hit]:
    """The hits for a question, those first that may answer it by themselves, each part in its order.

    Beside them no model's words count for a question about oneself: they came from there, or from nowhere.
    """
    best = [hit for hit in hits if answers(hit)]
    of_oneself = bool(best) and ONESELF.search(text) is not None
    return best + [hit for hit in hits if not answers(hit) and not (of_oneself and hit.role == "assistant")]


def corrected(hit: Hit, later: Sequence[Hit]) -> list[Hit]:
    """The turns behind an observation that it was made from: it stands before them because it puts them right."""
    return [each for each in later if each.kind == "turn" and each.id in hit.sources] if hit.sources else []


def strong(hit: Hit, asked: set[str], *, back: bool) -> bool:
    """Whether its own words or meaning make a hit one: near in meaning, or sharing half of the words asked for; or that
    relationships lead to it from whom the message names, where it is related in meaning.

    What the assistant said itself it can say again: where nobody looks `back`, only what is very near counts.
    """
    cosine = meaning(hit)
    if hit.way and cosine >= RELATED:  # it tells of who is meant, by another name
        return True
    shared = len(asked & set(content_words(hit.text)))
    if hit.kind == "observation":
        half = shared * 2 >= max(len(asked), 2)
        return cosine >= SURE or (shared > 0 and cosine >= NEAR) or (half and cosine > RELATED)
    if hit.role == "assistant" and not back:
        return cosine >= NEAREST
    return cosine >= NEAR or (shared > 0 and cosine >= RELATED) or shared * 2 >= max(len(asked), 2)


def told(hit: Hit) -> bool:
    """Whether a hit may answer a question about oneself: what somebody told, and related in meaning.

    Nothing but the memory knows such answers, and they may share no word with the question: "what do I do for a living"
    and "I work as a bookbinder" do not. So what its words weigh beside those of others says little, too.
    """
    return hit.role != "assistant" and hit.kind != "chunk" and meaning(hit) >= RELATED


def meaning(hit: Hit) -> float:
    """The cosine of a hit with the message; 0 where it was found otherwise."""
    return max((reason.score for reason in hit.reasons if reason.strategy in MEANING), default=0.0)


def lent(hit: Hit, kept: Collection[str], *, back: bool) -> bool:
    """Whether a turn that is kept led to this one, as a question leads to its answer."""
    return led_by(hit) in kept and (back or hit.role != "assistant")


def led_by(hit: Hit) -> str | None:
    """The turn just before or after that led to a hit; what led there from further off is no question or answer."""
    if hit.kind != "turn" or len(hit.path) != 2 or hit.path[1].relation == "IN_SESSION":
        return None
    return hit.path[0].node


def repeats(said: str, text: str) -> bool:
    """Whether a turn says little that the message does not say itself."""
    words = content_words(said)
    known = set(content_words(text))
    return bool(words) and sum(word not in known for word in words) < NEW * len(words)


def only_asks(hit: Hit) -> bool:
    """Whether a user's turn is all question or request, and tells nothing of the user: without its answer, nothing."""
    return wants(hit) and OF_ONESELF.search(hit.text) is None


def answers(hit: Hit) -> bool:
    """Whether a hit may answer by itself what nobody knows but the memory: no question does, and no model."""
    return hit.role != "assistant" and not wants(hit)


def wants(hit: Hit) -> bool:
    """Whether a user's turn is all question or request."""
    sentences = SENTENCE.findall(hit.text)
    if hit.kind != "turn" or hit.role != "user" or not sentences:
        return False
    return all("?" in each or REQUEST.match(each) or QUESTION.match(each) for each in sentences)


def asks(text: str) -> bool:
    """Whether a message wants to know something: it has a question mark, or a sentence that begins as a question."""
    sentences = SENTENCE.findall(text)
    return not QUESTION_MARKS.isdisjoint(text) or any(REQUEST.match(each) or QUESTION.match(each) for each in sentences)


def inquires(text: str) -> bool:
    """Whether a message asks a question, and does not just want something made."""
    return not QUESTION_MARKS.isdisjoint(text) or any(
        INTERROGATIVE.match(each) or QUESTION.match(each) for each in SENTENCE.findall(text)
    )


def open_quotes(hits: Sequence[Hit], text: str) -> tuple[Hit, ...]:
    """What is read beside the reply to a question: the few best hits, each cut to the stretch that answers; else none.

    What is pinned was not recalled for the question, and what this chat said itself stands above.
    """
    if not asks(text):
        return ()
    best = [hit for hit in hits if all(reason.strategy not in ("pin", "thread") for reason in hit.reasons)]
    few = len(best) if ABOUT_ONESELF.search(text) else FEW  # who asks what is known of them wants to see it
    return tuple(replace(hit, text=excerpt(" ".join(hit.text.split()), text, LONGEST_READ)) for hit in best[:few])
