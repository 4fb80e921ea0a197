"""Who is named in a text: members of a story by their names, as whole words, among the other words and the marks.

Case, accents and kinds of apostrophe make no difference, but the first letter: a name that is a word too (Will, Rose,
Captain) is surely a name only with a capital that no beginning of a sentence asks for.
"""

import re
import unicodedata
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

NO_SPACES = "\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"  # scripts whose words stand side by side
MARKS = "\u0300-\u036f"
SAME = str.maketrans("’‘ʼ`´‐‑", "'''''--")
WORD = rf"(?:(?![{NO_SPACES}])[^\W_])(?:(?![{NO_SPACES}])[^\W_]|[{MARKS}]|['-](?=[^\W_]))*|[{NO_SPACES}]"
END = r"[.!?…。！？]+|\n+"
MARK = r"[,;:—–、，：；()]|--+|(?<=\s)-(?=\s)"


@dataclass(frozen=True, slots=True)
class Named:
    """Whoever has an id and names: the full one first, then others and single words of it worth matching."""

    id: str
    names: tuple[str, ...]


class Part(StrEnum):
    """What a token is; an end is that of a sentence."""

    NAME = "name"
    WORD = "word"
    MARK = "mark"
    END = "end"


@dataclass(frozen=True, slots=True)
class Token:
    """A word, a mark or a name, the slice `start:end` of the text; `low` is folded.

    A name is that of the members `ids`, several where they share it. It is `sure` where it cannot be a word.
    """

    part: Part
    text: str
    low: str
    start: int
    end: int
    ids: frozenset[str] = frozenset()
    called: bool = False  # "@Mara"
    possessive: bool = False
    sure: bool = True

    @property
    def capital(self) -> bool:
        """Whether it is written as names are."""
        return self.text[:1].isupper()


def plain(text: str) -> str:
    """The text in lower case, without accents and kinds of apostrophe; as long as before."""
    return "".join(char if char < "\x80" else _bare(char) for char in text.translate(SAME)).lower()


def _bare(char: str) -> str:
    if unicodedata.category(char) == "Lo":
        return char  # a syllable has no accent
    first = unicodedata.normalize("NFKD", char)[0]
    return first if len(first.lower()) == 1 else char


class Names:
    """The names of some members, found in texts.

    `common`: words that in lower case, or where any word has a capital, are no names; `honorifics` may follow a name
    after a hyphen.
    """

    def __init__(self, members: Sequence[Named], *, common: Collection[str], honorifics: Collection[str] = ()) -> None:
        self._common = common
        self._ids: dict[str, frozenset[str]] = {}
        for member in members:
            for name in member.names:
                low = " ".join(plain(unicodedata.normalize("NFC", name)).split())
                if any(char.isalnum() for char in low):
                    self._ids[low] = self._ids.get(low, frozenset()) | {member.id}
        names = "|".join(_pattern(name) for name in sorted(self._ids, key=len, reverse=True)) or "(?!)"
        ending = rf"(?:-(?:{'|'.join(sorted(map(re.escape, honorifics)))})(?!\w))?" if honorifics else ""
        self._tokens = re.compile(
            rf"(?P<called>(?<!\w)@)?(?P<name>{names}){ending}(?P<possessive>'s(?!\w)|(?<=[sxz])'(?=\s+\w))?"
            rf"(?!['-]\w)|(?P<word>{WORD})|(?P<mark>{MARK})|(?P<end>{END})"
        )

    def tokens(self, text: str) -> list[Token]:
        """The words, names and marks of a text in order."""
        return list(self._found(text))

    def _found(self, text: str) -> Iterator[Token]:
        shouted, first = text.isupper(), True
        for match in self._tokens.finditer(plain(text)):
            if match["name"] is not None:
                yield self._name(match, text, first or shouted)
                first = False
                continue
            part = Part(match.lastgroup or "")
            start, end = match.span()
            yield Token(part, text[start:end], match[0], start, end)
            first = part is Part.END or match[0] in ":(" or (first and part is Part.MARK)

    def _name(self, match: re.Match[str], text: str, first: bool) -> Token:
        start, end = match.span()
        low = " ".join(re.sub(f"[{MARKS}]", "", match["name"]).split())
        said = text[match.start("name") :]
        sure = low not in self._common or (not first and said[:1].isupper())
        called, possessive = match["called"] is not None, match["possessive"] is not None
        return Token(Part.NAME, text[start:end], low, start, end, self._ids[low], called, possessive, sure or called)


def _pattern(name: str) -> str:
    """A name as a whole word, with any gap between its words."""
    before = "" if re.match(f"[{NO_SPACES}]", name[0]) else r"(?<!\w)(?<!\w['-])"
    after = "" if re.match(f"[{NO_SPACES}]", name[-1]) else rf"[{MARKS}]*(?![\w])"
    chars = (r"\s+" if char == " " else re.escape(char) + f"[{MARKS}]*" * char.isalpha() for char in name)
    return before + "".join(chars).removesuffix(f"[{MARKS}]*") + after
