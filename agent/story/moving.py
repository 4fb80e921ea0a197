"""Whether a verb and the words after it lead out of the place where one is, or into it; by english.toml's words.

Words are folded; a name among them is `NAME`, and whatever is somebody's `THEIRS`.
"""

from collections.abc import Sequence
from functools import cache
from typing import Literal

from agent.story.words import language, phrases

Way = Literal["leaves", "joins"]
Form = Literal["base", "third", "past", "ing", "done"]

FORMS: tuple[Form, ...] = ("base", "third", "past", "ing", "done")
NAME, THEIRS = "~", "~'s"
AROUND = 4  # words of a place


@cache
def forms() -> dict[str, tuple[tuple[str, Form], ...]]:
    """The verbs and forms that a written form may be."""
    found: dict[str, list[tuple[str, Form]]] = {}
    for line in language("english")["departures"]["verbs"]:
        written = line.split()
        for form, word in zip(FORMS, written, strict=True):
            found.setdefault(word, []).append((written[0], form))
    return {word: tuple(told) for word, told in found.items()}


def starts(role: str, words: Sequence[str], at: int = 0) -> int:
    """How many words from `at` on make the longest phrase of a role; 0 where none begins there."""
    return phrases("departures", role, "english").at(words, at)


def way(verb: str, words: Sequence[str], *, meant: bool) -> Way | None:
    """Where a verb and what follows it lead; `meant`: it is said of oneself, where "I have to go" is enough."""
    words = tuple(words)
    match verb:
        case "leave":
            return _leaves(words)
        case "come" | "return" | "arrive" | "enter" | "appear" | "reappear" | "join" | "rejoin":
            return "joins" if _comes(verb, words) else None
        case "excuse":
            return "leaves" if words and words[0].endswith("self") else None
        case "log" | "sign":
            return "leaves" if words and words[0] in ("off", "out") and _ends(words, 1) else None
        case "be":
            return _is(words)
        case "see" | "show" | "let":
            itself = len(words) > 1 and words[0].endswith("self")
            out = words[1:2] == ("out",) or words[1:4] == ("to", "the", "door")
            return None if not itself else "leaves" if out else "joins" if words[1] == "in" else None
        case "take" | "make" | "poke" | "stick" | "peek" | "clear" | "board" | "hang":
            return _idiom(verb, words)
        case "go" | "head" | "set" | "get":
            return "leaves" if _goes(verb, words, meant=meant) else None
    if starts("gone", [verb]):
        return "leaves" if _is_gone(words) else None
    if verb == "follow" and _determined(words, 0):
        words = next((words[at:] for at in range(2, min(5, len(words))) if _away(words, at)), ())
    return _moves(words) if verb != "climb" or "out" not in words or "window" in words else None


def _is(words: Sequence[str]) -> Way | None:
    """Be gone, out of the door; be back."""
    if words[:1] in (("gone",), ("off",)) and _ends(words, 1):
        return "leaves"
    if starts("doors", words):
        return "leaves"
    return "joins" if words[:1] == ("back",) and _ends(words, 1) and words[1:2] not in (("to",), ("at",)) else None


def _idiom(verb: str, words: Sequence[str]) -> Way | None:
    """Take one's leave, take off, make one's way out; poke one's head in."""
    owned = _determined(words, 0) > 0
    match verb, words[owned : owned + 1]:
        case "take", ("leave",) if owned:
            return "leaves"
        case ("take", ("off",)) | ("clear", ("out" | "off",)) if not owned:
            on = words[1:2] and (words[1].endswith("ing") or starts("path", words, 1))
            return "leaves" if on or _ends(words, 1) else None
        case "hang", ("up",):
            return "leaves"
        case "board", _ if owned:
            return "leaves" if _place(words, 1, "vehicles") == "place" else None
        case "make", ("way",) if owned:
            return _moves(words[2:])
        case (("poke" | "stick"), ("head",)) if owned and words[2:3] == ("in",):
            return "joins"
        case "peek", ("in",) if _ends(words, 1):
            return "joins"
    return None


def _ends(words: Sequence[str], at: int) -> bool:
    """Whether what is told of ends there, or goes on with how, with whom or what for."""
    return (
        at >= len(words)
        or words[at].endswith("ly")
        or starts("ends", words, at) > 0
        or starts("adverbs", words, at) > 0
    )


def _place(words: Sequence[str], at: int, *more: str) -> Literal["place", "near", "thing"] | None:
    """What is named there: a place (or of `more` roles), something within one, or something else; None for nothing."""
    size = 0
    while size < AROUND and at + size < len(words) and (size == 0 or not _closes(words, at + size)):
        size += 1
    named = words[at : at + size]
    if not named or _closes(words, at):
        return None
    if any(word in _plain(role) for role in more for word in named):
        return "place"
    if named[-1] == NAME or named[-1] in _plain("near"):
        return "near"
    return "place" if any(word in _plain("places") for word in named) else "thing"


def _closes(words: Sequence[str], at: int) -> bool:
    """Whether a name of a place ends before a word."""
    if starts("ends", words, at) or starts("path", words, at) or _determined(words, at):
        return True
    return words[at] in ("in", "on", "of", "out", "off")


def _plain(role: str) -> frozenset[str]:
    return phrases("departures", role, "english").words


def _determined(words: Sequence[str], at: int) -> int:
    """1 where an article or a word of possession stands there."""
    if at >= len(words):
        return 0
    return int(
        words[at] == THEIRS or words[at] in phrases("address", "determiners", "english").words | _plain("pointing")
    )


def _leaves(words: Sequence[str]) -> Way | None:
    """Leave: the room, at once, somebody to it; but no letter on the table."""
    if words[:1] == ("you",) and _ends(words, 1):
        return "leaves"
    if words and (words[0] in ("you", "us", "them", "him", "her") or words[0] == NAME):
        left = any(
            tuple(words[at : at + 2]) == ("to", "it") or words[at] == "alone" for at in range(1, min(6, len(words)))
        )
        return "leaves" if left else None
    if _determined(words, 0):
        return "leaves" if _place(words, 1, "gatherings") == "place" else None
    return "leaves" if _ends(words, 0) else None


def _comes(verb: str, words: Sequence[str]) -> bool:
    match verb:
        case "come":
            size = max(starts("inward", words), starts("arriving", words))
            to = words[size : size + 1] == ("to",)
            if words[:1] and words[0].endswith("ing"):
                return True  # "comes running"
            return size > 0 and ((_ends(words, size) and not to) or _determined(words, size + to) > 0)
        case "return":
            to = words[:1] == ("to",)
            if "later" in words:
                return True
            return (
                _ends(words, 0)
                if not to
                else _determined(words, 1) > 0 and _place(words, 2, "gatherings") in ("place", "near")
            )
        case "arrive" | "reappear":
            return True
        case "enter":
            return _ends(words, 0) or (_determined(words, 0) > 0 and _place(words, 1) == "place")
        case "appear":
            return words[:1] in (("in",), ("at",), ("from",), ("beside",), ("behind",), ("on",))
    return bool(words) and (
        words[0] in ("us", "you", "them", NAME) or _place(words, _determined(words, 0), "gatherings") == "place"
    )


def _goes(verb: str, words: Sequence[str], *, meant: bool) -> bool:
    """Go, head, set off, get home: away from here, wherever it is to, but not within a place."""
    at = _aside(words)
    if verb == "set":
        return words[at : at + 1] in (("off",), ("out",))
    if verb == "get":
        return meant and (starts("getting", words, at) > 0)
    if (verb == "go" and meant and all(_is_adverb(word) for word in words)) or _away(words, at):
        return True
    if starts("inside", words, at):
        return True
    if words[at : at + 2] in (("for", "a"), ("for", "some")):
        return any(word in _plain("outings") for word in words[at + 2 : at + 5])
    if words[at : at + 1] and words[at].endswith("ing"):
        return True  # "goes looking for the cat"
    to_do = meant and at < len(words) and not _closes(words, at) and not starts("ways", words, at)
    if starts("goals", words, at) or to_do:
        return True  # "I need to go print some documents"
    size = starts("path", words, at)
    if not size:
        return False
    if not meant and starts("goals", words, at + size) and words[at + size - 1] == "to":
        return True  # "goes to fetch water", but "I'm going to tell you"
    determined = _determined(words, at + size)
    named = _place(words, at + size + determined)
    if not determined and words[at + size : at + size + 1] and words[at + size] not in _plain("places"):
        return False
    far = determined > 0 and words[at : at + size] not in (("up",), ("down",), ("back", "to"))
    return named == "place" or (far and named == "thing")


def _moves(words: Sequence[str]) -> Way | None:
    """Walk, run, slip: in or out, or to another place."""
    at = _aside(words)
    inward = starts("inward", words, at)
    if inward and words[at : at + inward] != ("back",) and _ends(words, at + inward):
        return "joins"
    if _away(words, at) or (words[:1] == ("after",) and words[1:2] and words[1] in (NAME, "her", "him", "them")):
        return "leaves"
    size = starts("path", words, at)
    named = _place(words, at + size + _determined(words, at + size)) if size else None
    return "leaves" if named == "place" else None


def _is_gone(words: Sequence[str]) -> bool:
    """Exit, vanish: with nothing after it that is no place."""
    if (
        not words
        or _ends(words, 0)
        or starts("path", words)
        or words[0] in ("in", "down", "up")
        or starts("inside", words)
        or _away(words, 0)
    ):
        return True
    return _determined(words, 0) > 0 and _place(words, 1) == "place"


def _away(words: Sequence[str], at: int) -> bool:
    """Whether words say that one goes away, and not from a chair or the window."""
    size = starts("away", words, at)
    if not size:
        return False
    after = at + size + (words[at + size : at + size + 1] in (("of",), ("from",)))
    if after == at + size:
        return words[at] != "off" or not _determined(words, after)
    determined = _determined(words, after)
    through = {"door", "window", "gate", "here"} & {*words[after : after + AROUND]}
    if words[at] == "out" and through:
        return True
    named = _place(words, after + determined)
    return named == "place" or (words[at] == "out" and determined > 0 and named == "thing")


def _aside(words: Sequence[str]) -> int:
    """Where the words go on after adverbs, and after whom one follows."""
    at = 0
    while (
        at < min(3, len(words))
        and not starts("away", words, at)
        and not starts("inward", words, at)
        and not starts("path", words, at)
    ):
        if not (_is_adverb(words[at]) or words[at] in (NAME, "him", "her", "them", "me", "us")):
            break
        at += 1
    return at


def _is_adverb(word: str) -> bool:
    return word.endswith("ly") or starts("adverbs", [word]) > 0
