"""Whether a message says of itself that it is to be kept out of memory: "don't remember this", "off the record".

The rule is narrow. What is kept out is lost to recall for good unless someone notices, so only a wish about this very
message counts, said at the beginning or the end of a sentence of its own; a question, a report or a quote of such words
is none. What the rule misses can be kept out by hand.
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
_WISH = re.compile("|".join(f"(?:{wish})" for wish in _WISHES))
_SENTENCE = re.compile(r"[^.!?;:\n…—–()]+(?:[.!?…]+|[;:\n—–()]|$)")
_LEAD = re.compile(rf"(?:{'|'.join(_WISHES[3:4])}), ")  # "Off the record, I think …"
_TRAIL = re.compile(rf"[,-] ?(?:{_WISH.pattern})$")
_QUOTED = re.compile(r"[\"“„«][^\"”“»\n]*[\"”“»]|`[^`]*`")


def asks_to_withhold(text: str) -> bool:
    """Whether a message asks, for itself, not to be remembered."""
    near = text if len(text) <= 2 * LONGEST else f"{text[:LONGEST]}\n{text[-LONGEST:]}"
    lines = (line for line in near.replace("’", "'").split("\n") if not line.lstrip().startswith(">"))
    return any(_is_wish(sentence) for line in lines for sentence in _SENTENCE.findall(_QUOTED.sub('"', line)))


def _is_wish(sentence: str) -> bool:
    if sentence.rstrip().endswith("?"):
        return False
    said = " ".join(sentence.casefold().strip(" \t.!…;:—–()*_,-").split())
    bare = said.replace(", please", " please").removeprefix("please, ")
    return bool(_WISH.fullmatch(bare) or _LEAD.match(f"{said} ") or _TRAIL.search(said))
