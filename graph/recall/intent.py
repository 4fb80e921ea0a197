"""What a question is after, read without a model: a time, a person, the recent past, this conversation, themes.

Only English is read here; a question in another language is one for words and meaning (`recall`).
"""

import re
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, tzinfo
from functools import lru_cache
from typing import Literal

from graph.recall.times import NUMBER, SEASON, Span, find_time
from graph.whole_words import STOP_WORDS

Route = Literal["recall", "recent", "thread", "themes"]

LONGEST = 2_000  # characters that are read; a longer text is no question about time


@dataclass(frozen=True, slots=True)
class Intent:
    """What is asked for: the route, the range of time (UTC, `until` exclusive), people named, and the words left.

    `recent` tells that the newest is asked for ("lately"), also where the route is `recall`; `several`, that there may
    be more than one answer ("which books", "how many").
    """

    route: Route
    since: datetime | None = None
    until: datetime | None = None
    names: tuple[str, ...] = ()
    words: str = ""
    recent: bool = False
    several: bool = False


_TALK = r"(?:conversations?|chats?|discussions?|threads?|sessions?|dialogs?|dialogues?)"
_THEMES = re.compile(
    r"\b(?:themes|(?:main|common|recurring|overall|overarching|central) (?:themes?|topics|threads|patterns|subjects)"
    r"|(?:themes?|topics|patterns|threads|subjects) (?:[\w']+ ){0,6}?"
    r"(?:across|through(?:out)?|in everything|recur|come up|keep coming)"
    r"|(?:what|which) (?:topics|subjects) (?:have|do|did) (?:we|i)"
    r"|what (?:do|have) (?:we|i) (?:\w+ )?(?:talk|talked|chat|chatted|write) about (?:the )?(?:most|usually))\b",
    re.IGNORECASE,
)
_THEME_WORDS = (
    "across central come coming common emerge emerged find found identify keep keeps kept main most notice noticed "
    "often overall overarching pattern patterns recur recurring recurs see seen spot stand theme themes there "
    "throughout together up usually"
)
_OF_THEMES = frozenset(_THEME_WORDS.split())
_OURS = re.compile(
    rf"\b(?:our|my|all|these|those|past|recent|the) (?:\w+ )?(?:{_TALK}|messages|notes|talks)\b"
    r"|\b(?:we|i)(?:'ve| have)? (?:\w+ )?(?:talk|chat|discuss|write|wrote|said|say|told|tell)(?:t?ed|t?ing)?\b",
    re.IGNORECASE,
)
_RECAP = re.compile(
    r"\b(?:recap|sum(?:med|ming)?(?: (?:it|this|that|everything|things|all)){0,2} up|summari[sz]e"
    r"|summary|tl;? ?dr)\b",
    re.IGNORECASE,
)
_THREAD = re.compile(
    rf"\b(?:this|the current|our current|the present) (?:\w+ )?{_TALK}\b|\b(?:so far|up to now|until now)\b"
    r"|\b(?:just|already) "
    r"(?:said|say|told|tell|asked|ask|talked|talk|discussed|discuss|mentioned|mention)\b"
    r"|\b(?:sum up|recap) (?:this|what we said)\b",
    re.IGNORECASE,
)
_LAST_FEW = (
    rf"(?:last|latest|past|previous|recent|newest) (?:(?:{NUMBER}|few) )?(?:{_TALK}|messages?|exchanges?|talks?)"
)
_RECENT = re.compile(
    rf"\b(?:recent(?:ly)?|lately|latest|newest|of late|these days|most recent|the last few|last few|{_LAST_FEW}"
    r"|last time|the other day|catch me up)\b",
    re.IGNORECASE,
)
LEFT_OFF = re.compile(
    r"\bwhere (?:were|did) we\b(?: (?:leave|left|stop|get)(?: off| it| to)?\b)?"
    r"|\bwhat were we (?:\w+ing )?(?:about|at|on|up to)\b"
    r"|\b(?:(?:continue|pick(?: it)? up|go on|carry on|resume) (?:from )?)?where we (?:left (?:off|it)|stopped|were)\b",
    re.IGNORECASE,
)
_COUNTED_TALK = re.compile(rf"\b{_LAST_FEW}\b", re.IGNORECASE)
_SEASON = re.compile(rf"\b(?:{SEASON})\b", re.IGNORECASE)
_SAYING = re.compile(
    rf"\b(?:(?:we|i|you)(?:'ve| have)? (?:\w+ )?(?:talk|chat|discuss|say|said|tell|told|writ|wrote|mention|speak|spoke)"
    rf"|{_TALK}\b)",
    re.IGNORECASE,
)
_ASKS_BACK = re.compile(
    rf"\b(?:talk(?:ed|ing)?|chat(?:ted|ting)?|discuss(?:ed|ing)?|spoke|spoken|speak|said|say|told|tell|wrote|written"
    rf"|mention(?:ed)?|remember|recall|summar\w+|recaps?|sum(?:med|ming)? (?:\w+ )?up|overview|review|history"
    rf"|messages?|{_TALK}"
    r"|(?:did|has) anything|what (?:did|have|had|was|were|happened)|catch me up)\b",
    re.IGNORECASE,
)
_EMPTY_WORDS = (
    "ago anything brief briefly can catch chat chats chatted chatting conversation conversations date day days "
    "discuss discussed discussing discussion discussions do dr earlier everything exchange exchanges far get give go "
    "got happen happened happening hello hey hi history important know last late lately latest let list main mention "
    "mentioned message messages month months newest ok okay one ones overview past please previous quick quickly re "
    "recall recalled recap recapping recaps recent recently remember review said say session sessions short show "
    "something speak spoke spoken stuff subject subjects sum summaries summarise summarised summarize summarized "
    "summarizing summary summed summing talk talked talking tell thing things thread threads time times tl tldr told "
    "topic topics us was week weeks went work worked write written wrote year years"
)
# Where there may be several answers, some word of the question is a plural: what is asked for ("which books"), or how.
_VERB = r"(?:is|are|was|were|do|does|did|has|have|had|will|would|can|could|should|might|may|must)"
_ASKED_FOR = re.compile(rf"^\W*(?:[a-z]+ )?(?:what|which)\s+((?:(?!{_VERB}\b)[\w'’/.-]+\s+)+?){_VERB}\b", re.IGNORECASE)
_SEVERAL = re.compile(
    r"^\W*(?:what|who|which)(?: all)? (?:are|were)\b|\b(?:what|who|where) all\b|\bhow many\b|^\W*who have\b"
    r"|\b(?:list|all (?:of )?(?:the|my|our|his|her|their)|different|various|every)\b",
    re.IGNORECASE,
)
_OF = re.compile(r"\s(?:of|in|for|from|with|about|on|to|that|by)\s.*", re.IGNORECASE)
_ONE = ("ss", "us", "is", "news", "series")  # endings of words that are no plurals
_MANY = frozenset(("people", "children"))
_EMPTY = frozenset(STOP_WORDS.split()) | frozenset(_EMPTY_WORDS.split())
_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)?")


def read_intent(query: str, *, now: datetime, timezone: tzinfo, names: Collection[str] = ()) -> Intent:
    """Read a question. `now` is aware; `names` are the speakers and entities that there are, in any case.

    A time or a word like "lately" alone asks for the recent past; beside words that mean something it is for recall
    to weigh.
    """
    text = " ".join(query[:LONGEST].split())
    span = _time_of(text, now, timezone) if len(query) <= LONGEST else None
    without = span.cut(text) if span else text
    named = _names_in(text, names)
    since, until = (span.since, span.until) if span else (None, None)
    recent = _RECENT.search(text) is not None
    words = " ".join((without if span else query).split())
    route: Route = "recall"
    left_off = LEFT_OFF.search(text) is not None
    left = _left(LEFT_OFF.sub(" ", without))
    bare = not _WORD.search(_RECENT.sub(" ", without)) and (span is not None or recent)
    if _THEMES.search(text) and (_OURS.search(text) or not set(left) - _OF_THEMES):
        route = "themes"
    elif left or named or len(query) > LONGEST:
        route = "recall"
    elif _THREAD.search(text) and span is None:
        route = "thread"
    elif bare or left_off or (_ASKS_BACK.search(text) and (recent or span is not None or _asks_for_all(text))):
        route = "recent"
    elif _RECAP.search(text) and span is None:
        route = "thread"  # of what, if not of what is being said
    return Intent(route, since, until, named, words, recent, _asks_for_several(text))


def spoken(query: str, *, now: datetime, timezone: tzinfo, names: Collection[str] = ()) -> str:
    """The query as its embedding should see it: without its time, and with speakers as they speak of themselves.

    "When did Caroline's dog die in May?" was never said; "my dog died" was. Measured with MiniLM on conversations of
    two named people, this doubles what cosines find.
    """
    text = query
    if len(query) <= LONGEST and (span := _time_of(query, now, timezone)) is not None:
        text = span.cut(query)
    if names:
        one = _one_of(frozenset(names))
        text = re.sub(rf"{one.pattern}['’]s(?!\w)", "my", text, flags=re.IGNORECASE)
        text = one.sub("I", text)
    text = re.sub(r"(?<!\s)\s+([?,.!])", r"\1", text)
    return text if text.strip() else query


def _time_of(text: str, now: datetime, timezone: tzinfo) -> Span | None:
    """The time a text speaks of, but for a season that says when something was and not when it was spoken of.

    "Where did we swim last summer?" was answered in autumn maybe, and with that word; a day or month is told of sooner.
    """
    span = find_time(text, now=now, timezone=timezone)
    if span is None or not any(_SEASON.search(text, *place) for place in span.places):
        return span
    return None if _left(span.cut(text)) and not _SAYING.search(text) else span


def _left(text: str) -> list[str]:
    """The words that tell what is meant; how many conversations are asked for tells nothing."""
    counted = _COUNTED_TALK.sub(" ", text.lower())
    return [word for word in _WORD.findall(counted) if word.split("'")[0] not in _EMPTY]


def _asks_for_several(text: str) -> bool:
    """Whether a question may have more than one answer, each told elsewhere."""
    if _SEVERAL.search(text):
        return True
    asked_for = _ASKED_FOR.search(text)
    if asked_for is None:
        return False
    words = _WORD.findall(_OF.sub("", asked_for[1]).lower())
    last = words[-1] if words else ""
    return last in _MANY or (last.endswith("s") and not last.endswith(_ONE))


def _asks_for_all(text: str) -> bool:
    """Conversations in general, as in "summarize our conversations": what else could be meant but the newest?"""
    return re.search(r"\b(?:conversations|chats|discussions|sessions|talk(?:ed|ing)? about)\b", text, re.I) is not None


def _names_in(text: str, names: Collection[str]) -> tuple[str, ...]:
    """Those of `names` that stand in the text as words, in its order."""
    if not names:
        return ()
    spelled = {name.casefold(): name for name in names}
    said = (match.casefold() for match in _one_of(frozenset(names)).findall(text))
    return tuple(dict.fromkeys(spelled[each] for each in said if each in spelled))


@lru_cache(maxsize=4)
def _one_of(names: frozenset[str]) -> "re.Pattern[str]":
    longest_first = sorted(filter(None, names), key=len, reverse=True)
    return re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, longest_first)) or '(?!)'})(?!\w)", re.IGNORECASE)
