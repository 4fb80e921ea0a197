"""Whether a message says of itself that it is to be kept out of memory: "don't remember this", "off the record".

The rule is narrow. What is kept out is lost to recall for good unless someone notices, so only a wish about this very
message counts, said at the beginning or the end of a sentence of its own; a question, a report or a quote of such words
is none. What the rule misses can be kept out by hand.

A message that holds nothing but such a wish means what was said before it, as does one about "what I just said".
"""

import re

LONGEST = 4000  # characters looked at from either end: a pasted book says many things

_THIS = (
    r"(?:this|that|it|what i(?:'m| am)? (?:say|said|tell|told|about to)\w*.*|(?:this|my) (?:message|part|bit|one|chat))"
)
_NOT = (
    r"(?:(?:please )?(?:do not|don'?t|never)|you (?:should not|shouldn'?t|must not|mustn'?t)|(?:please )?do not ever)"
)
_END = r"(?: (?:please|ok(?:ay)?|though|for me|thanks?|thank you|down|anywhere|ever))*"
_WISHES = (
    rf"(?:please |pls |and |but |so |also |btw |hey |ok |clew )*{_NOT} "
    rf"(?:remember|memori[sz]e|store|save|record|keep|log|note) {_THIS}(?: (?:in|to) (?:your |the )?memory)?{_END}",
    r"(?:please |and |but |so |also )*(?:keep|leave) (?:this|that|it|my message|this message) "
    rf"(?:out of|off) (?:your |the |my )?(?:memory|record|records|log){_END}",
    r"(?:this|that|the following|what follows|it)(?:'s| is| stays| must stay| should stay) "
    rf"(?:strictly )?(?:off the record|not (?:to be )?(?:remembered|for (?:your |the )?memory)){_END}",
    rf"(?:(?:please )?(?:keep|say|strictly) )?(?:this |that |it )?off[- ]the[- ]record{_END}",
    rf"(?:please )?forget (?:this|that) (?:message|one|right away|immediately|at once|again){_END}",
    rf"(?:please )?forget (?:that )?i (?:ever )?(?:said|told you) (?:this|that|so){_END}",
    # German, French, Spanish, Italian
    r"(?:bitte )?(?:merk(?:e)? dir das(?: bitte)? nicht|das (?:bitte )?nicht merken|vergiss das (?:gleich )?wieder)",
    r"(?:s'il te plaît )?ne (?:retiens|mémorise|garde) pas (?:ça|cela|ceci)",
    r"(?:por favor )?no (?:recuerdes|guardes|memorices) esto",
    r"(?:per favore )?non (?:ricordare|memorizzare|salvare) (?:questo|ciò)",
)
_SAID = (
    r"(?:what i(?:'ve| have)?(?: just| only)? (?:said|told you|wrote|typed|mentioned|sent)(?: (?:you|about|of) .+)?"
    r"|(?:my|the|that) (?:last|previous) (?:message|sentence|remark|one|thing(?: (?:that )?i (?:said|told you))?))"
    r"(?: (?:before|earlier|above|just now))?"
)
_EARLIER = re.compile(
    r"(?:please |pls |and |but |so |also |btw |hey |ok |clew |no |oh |actually )*(?:"
    rf"{_NOT} (?:remember|memori[sz]e|store|save|record|keep|log|note) {_SAID}|forget (?:about )?{_SAID}"
    rf"|(?:keep|leave) {_SAID} (?:out of|off) (?:your |the |my )?(?:memory|record|records|log)){_END}"
    r"|(?:bitte )?(?:vergiss|merk(?:e)? dir nicht),? was ich (?:dir )?(?:gerade|eben) gesagt habe"
    r"|(?:s'il te plaît )?oublie ce que je viens de (?:te )?dire"
)
_ALONE = re.compile(  # nothing but this is in the message
    rf"(?:please |pls |and |but |so |also |hey |ok |clew |no |oh |actually )*forget (?:about )?(?:this|that){_END}"
    r"|(?:bitte )?vergiss das(?: bitte)?|(?:s'il te plaît )?oublie (?:ça|cela)|(?:por favor )?olvida (?:eso|esto)"
)
_AHEAD = re.compile(r"off[- ]the[- ]record|following|follows|about to|what i(?:'m| am)? (?:say|tell)\b")  # not earlier
_BEGINS = re.compile(r"^(?:(?:please|sorry|oh|no|wait|hey|ok(?:ay)?|actually|hm+), )+")
_COURTESY = re.compile(r"(?:please|sorry|oh|no|wait|thanks|thank you|hey|ok(?:ay)?|actually|hm+)?")
_WISH = re.compile("|".join(f"(?:{wish})" for wish in _WISHES))
_SENTENCE = re.compile(r"[^.!?;:\n…—–()]+(?:[.!?…]+|[;:\n—–()]|$)")
_LEAD = re.compile(rf"(?:{'|'.join(_WISHES[3:4])}), ")  # "Off the record, I think …"
_TRAIL = re.compile(rf"[,-] ?(?:{_WISH.pattern})$")
_QUOTED = re.compile(r"[\"“„«][^\"”“»\n]*[\"”“»]|`[^`]*`")


def asks_to_withhold(text: str) -> bool:
    """Whether a message asks, for itself, not to be remembered."""
    told = _told(text)
    return any(map(_is_wish, told)) or any(map(_is_earlier, told[1:])) or _only_wishes(told)


def asks_to_withhold_earlier(text: str) -> bool:
    """Whether a message asks that the one before it is not remembered."""
    told = _told(text)
    return any(map(_is_earlier, told[:1])) or _only_wishes(told)


def _only_wishes(told: list[str]) -> bool:
    """Whether there is nothing but wishes about what was said before."""
    return bool(told) and all(_is_earlier(each) or _may_mean_earlier(each) for each in told)


def _told(text: str) -> list[str]:
    """The sentences that are more than courtesy."""
    return [each for each in _sentences(text) if _COURTESY.fullmatch(_bare(each)) is None]


def _sentences(text: str) -> list[str]:
    near = text if len(text) <= 2 * LONGEST else f"{text[:LONGEST]}\n{text[-LONGEST:]}"
    lines = (line for line in near.replace("’", "'").split("\n") if not line.lstrip().startswith(">"))
    return [sentence for line in lines for sentence in _SENTENCE.findall(_QUOTED.sub('"', line))]


def _is_earlier(sentence: str) -> bool:
    return not sentence.rstrip().endswith("?") and _EARLIER.fullmatch(_bare(sentence)) is not None


def _may_mean_earlier(sentence: str) -> bool:
    """Whether a sentence is a wish that means what was said before where it stands alone."""
    bare = _bare(sentence)
    if sentence.rstrip().endswith("?") or _AHEAD.search(bare):
        return False
    return bool(_WISH.fullmatch(bare) or _ALONE.fullmatch(bare))


def _is_wish(sentence: str) -> bool:
    if sentence.rstrip().endswith("?"):
        return False
    said = _folded(sentence)
    return bool(_WISH.fullmatch(_bare(sentence)) or _LEAD.match(f"{said} ") or _TRAIL.search(said))


def _folded(sentence: str) -> str:
    return " ".join(sentence.casefold().strip(" \t.!…;:—–()*_,-").split())


def _bare(sentence: str) -> str:
    return _BEGINS.sub("", _folded(sentence).replace(", please", " please"))
