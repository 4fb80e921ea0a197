"""A question in plain English made plainer: without courtesies and contractions; and the subjects in it."""

import re

LONGEST = 300  # characters of a question that are read
LONGEST_SUBJECT = 60
MOST_WORDS = 6

_QUOTES = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "«": '"', "»": '"', "`": "'"})
_CONTRACTIONS = (
    (r"\b(who|what|when|where|which|how|that|there|it)'s (?=been\b)", r"\1 has "),
    (r"\b(who|what|when|where|which|how|that|there|it)'s\b", r"\1 is"),
    (r"\b(who|what|when|where|how)'(?:d|ve) (?=i\b|we\b|you\b)", r"\1 did "),
    (r"\b(i|we|you|they)'ve\b", r"\1 have"),
    (r"\b(i|we|you|they)'re\b", r"\1 are"),
    (r"\bi'm\b", "i am"),
    (r"\b(i|we|you)'d\b", r"\1 had"),
)
_BEFORE = re.compile(
    r"(?:(?:hey|hi|hello|ok|okay|so|now|and|well|please|pls|plz|clew|quick question)\b[\s,.:!-]*"
    r"|(?:can|could|would|will) you(?: please)?(?: (?:quickly|maybe|just))? (?=\w)"
    r"|(?:please )?(?:tell|show|give|list|find|get|bring)(?: (?:me|us))?(?: again| quickly)?[\s,:]+(?!me\b|us\b)"
    r"|i(?: would|'d)? (?:like|want|need) to (?:know|see|find out)[\s,:]+"
    r"|(?:i am|i was) (?:curious|wondering)[\s,:]+"
    r"|(?:do|did) you (?:still )?(?:know|remember) (?=who|what|when|where|how|which)"
    r"|(?:any idea|remind me)[\s,:]+)",
    re.IGNORECASE,
)
_AFTER = re.compile(
    r"[\s,]+(?:please|pls|plz|thanks|thank you|so far|ever|in total|altogether|overall|all in all|at all|right now|now"
    r"|for me|by the way|again|to you|with you|in my memory|in your memory|in memory|in our chats|in my chats"
    r"|in (?:our|my|the) conversations)$",
    re.IGNORECASE,
)
_LEADING = re.compile(
    r"(?:the (?:topic|subject|word|name|person|project|theme|city|book|film) (?:of )?|my |our |your |the |an? |some "
    r"|about |of )+",
    re.IGNORECASE,
)
# What makes a question of its own of what should be the name of something, or stands for something said before.
_NO_SUBJECT = re.compile(
    r"(?:(?:how|why|what|who|whom|when|where|whether|which|if|to|that|because|and|or|but|not)\b.*"
    r"|.*\b(?:and then|so that|because|please|but|should|would|could|must|delete|drop|erase|remove|forget)\b.*"
    r"|it|this|that|these|those|him|her|them|us|you|someone|something|anything|anyone|everyone|everything|nothing|all"
    r"|.*\b(?:in|on|at|of|to|with|for|about|from|and|or|the|a|an)"
    r"|most|one|stuff|things?|other|others|else|more|less|last|first|often|much|many)",
    re.IGNORECASE,
)


def plainer(question: str) -> str:
    """The question on one line, without what only dresses it; "" where it is too long to be one."""
    text = " ".join(question.translate(_QUOTES).split())
    if len(text) > LONGEST:
        return ""
    for pattern, instead in _CONTRACTIONS:
        text = re.sub(pattern, instead, text, flags=re.IGNORECASE)
    before = None
    while text != before:
        before = text
        text = text.rstrip(" ?!.,;:…").lstrip(" ,.:;-")
        text = _AFTER.sub("", _BEFORE.sub("", text, count=1) if _BEFORE.match(text) else text)
    return text


def subject(said: str) -> str | None:
    """What a question is about, as it is looked for; None where these words are no name of anything."""
    text = " ".join(said.split()).strip(" ,.;:?!")
    quoted = re.fullmatch(r'"([^"]+)"|\'([^\']+)\'', text)
    if quoted:
        text = (quoted[1] or quoted[2]).strip()
    elif _NO_SUBJECT.fullmatch(text):
        return None
    else:
        text = _LEADING.sub("", text, count=1) if _LEADING.match(text) else text
        text = re.sub(r"'s?$", "", text)
    if not re.search(r"\w", text) or len(text) > LONGEST_SUBJECT or len(text.split()) > MOST_WORDS:
        return None
    return None if not quoted and _NO_SUBJECT.fullmatch(text) else text.replace("\\", "")
