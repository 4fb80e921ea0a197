"""A query of the console cut into tokens, with what stands in brackets put together, and written anew from them.

Comments and blanks of any alphabet become plain blanks of the same length: places in the engine's messages stay true.
So do escapes in strings become the characters they stand for, and blanks behind the string: the engine, which does not
know them, would drop the backslash and look for a letter. What this does not know, down to such an escape, is an error:
nothing is passed on in the hope that the engine reads it the same.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeGuard

from graph.errors import Refused

LONGEST = 20_000  # characters
MOST_TOKENS = 2_000
WORLD = "$world"
# Words that the engine's parser takes for themselves even behind a dollar sign.
_RESERVED = (
    "ACYCLIC ALL AND ANY ASC ASCENDING CASE COLUMN CREATE DEFAULT DESC DESCENDING DISTINCT ELSE END ENDS EXISTS FALSE "
    "GLOB GROUP HEADERS HINT IN INSTALL JOIN MACRO MULTI_JOIN NONE NOT NULL ON ONLY OPTIONAL OR ORDER PRIMARY PROFILE "
    "SHORTEST SINGLE STARTS TABLE THEN TRAIL TRUE UNION UNWIND WHEN WHERE WITH WSHORTEST XOR"
)
NO_PARAMETERS = frozenset(_RESERVED.split())


def words(text: str) -> frozenset[str]:
    """The words of a line."""
    return frozenset(text.split())


BEGINNINGS = words("MATCH OPTIONAL WITH UNWIND RETURN")
CLAUSES = BEGINNINGS | words("WHERE ORDER SKIP LIMIT UNION")
OPERATORS = words("AND OR XOR NOT IN IS STARTS ENDS CONTAINS AS BY")
OTHERS = words(
    "ALL ANY NONE SINGLE DISTINCT CASE WHEN THEN ELSE END NULL TRUE FALSE ASC ASCENDING DESC DESCENDING EXISTS COUNT "
    "SHORTEST WSHORTEST TRAIL ACYCLIC"
)
KEYWORDS = CLAUSES | OPERATORS | OTHERS


class Sort(StrEnum):
    """What a token is; `value` is for messages."""

    WORD = "word"
    QUOTED = "name in backticks"
    STRING = "string"
    PARAMETER = "parameter"
    NUMBER = "number"
    SIGN = "sign"
    COMMENT = "comment"
    UNCLOSED = "string, name or comment that does not end"
    UNKNOWN = "character"


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of a query, as it is written, and where it begins."""

    sort: Sort
    text: str
    place: int

    @property
    def end(self) -> int:
        """The place behind it."""
        return self.place + len(self.text)

    @property
    def upper(self) -> str:
        """A word without its case, as the engine compares it; of anything else its text."""
        return self.text.upper() if self.sort is Sort.WORD else self.text


def line_and_column(query: str, place: int) -> tuple[int, int]:
    """A place in a query as people count: both from 1."""
    return query.count("\n", 0, place) + 1, place - query.rfind("\n", 0, place)


def refused(query: str, place: int, why: str) -> Refused:
    """Why a query is not run, with the place in it."""
    line, column = line_and_column(query, place)
    return Refused(why, line=line, column=column)


_ESCAPE = r"\\(?:[\\'\"bBfFnNrRtT]|[xX][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8})"
# A character beyond the first 65,536 may be written in two halves, as JSON has it.
_ESCAPED = re.compile(rf"\\u[dD][89abAB][0-9a-fA-F]{{2}}\\u[dD][c-fC-F][0-9a-fA-F]{{2}}|{_ESCAPE}")
_LETTERS = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_LAST_CHARACTER = 0x10FFFF
_TOKEN = re.compile(
    rf"""
    (?P<blank> [\s\ufeff]+ )
    | (?P<comment> /\*.*?\*/ | //[^\r\n]* )
    | (?P<string> '(?:[^'\\]|{_ESCAPE})*' | "(?:[^"\\]|{_ESCAPE})*" )
    | (?P<parameter> \$[A-Za-z_][A-Za-z0-9_]* )
    | (?P<quoted> `[^`]+` )
    | (?P<number> \d+(?:\.\d+)?(?:[eE][-+]?\d+)? | \.\d+(?:[eE][-+]?\d+)? )
    | (?P<word> [A-Za-z_][A-Za-z0-9_]* )
    | (?P<sign> <> | != | <= | >= | =~ | << | >> | \.\. | /(?!\*) | [-()\[\]{{}}<>=+*%^,.:;|&] )
    | (?P<unclosed> /\*.* | '(?:[^'\\]|\\.)*'? | "(?:[^"\\]|\\.)*"? | `[^`\n]*`? )
    | (?P<unknown> . )
    """,
    re.VERBOSE | re.DOTALL,
)


def scanned(text: str) -> Iterator[Token]:
    """The tokens of any text, unfinished or wrong, with its comments and with what no query has; blanks are none."""
    for found in _TOKEN.finditer(text):
        if (name := found.lastgroup or "blank") != "blank":
            yield Token(Sort[name.upper()], found[0], found.start())


def tokens_of(query: str) -> list[Token]:
    """The tokens of a query, without blanks and comments. Raises Refused for what no query has."""
    if len(query) > LONGEST:
        raise refused(query, LONGEST, f"A query has {LONGEST:,} characters at most; this one has {len(query):,}")
    tokens = list(_tokens(query))
    if len(tokens) > MOST_TOKENS:
        raise refused(query, tokens[MOST_TOKENS].place, f"A query has {MOST_TOKENS:,} words and signs at most")
    return tokens


def parameters_of(query: str) -> tuple[str, ...]:
    """The names of the values a query asks for, each once, as they come; `$world`, which has one, is left out.

    What stands in strings and comments is none. Raises Refused as `tokens_of`.
    """
    asked = (token.text for token in tokens_of(query) if token.sort is Sort.PARAMETER)
    return tuple(dict.fromkeys(each[1:] for each in asked if each != WORLD))


def written(query: str, tokens: Sequence[Token]) -> str:
    """A statement of nothing but these tokens; in strings only quotes and backslashes are escaped.

    What the query has itself stands where it stands there, as far as there is room: what was put for it may be longer.
    """
    laid_out = "".join(f"{blank}{text}" for blank, text, _ in _laid_out(query, tokens))
    return laid_out + _blank(query[len(laid_out) :])


def place_in(query: str, tokens: Sequence[Token], place: int) -> int:
    """The place in a query of what stands at a place of the statement that was written of its tokens."""
    end, found = 0, 0
    for blank, text, token in _laid_out(query, tokens):
        start, end = end + len(blank), end + len(blank) + len(text)
        if place < start:
            break
        found = token.place + (place - start if start == token.place else min(place - start, len(token.text)))
    return found


def text_of(token: Token) -> str:
    """What a string stands for."""
    return _ESCAPED.sub(lambda escape: chr(_code(escape[0])), token.text[1:-1])


def _laid_out(query: str, tokens: Sequence[Token]) -> Iterator[tuple[str, str, Token]]:
    """Each token with the blanks before it, and as it is written."""
    length, last = 0, Token(Sort.SIGN, "", 0)
    for token in tokens:
        text = _ESCAPED.sub(_unescaped, token.text).ljust(len(token.text)) if token.sort is Sort.STRING else token.text
        blank, end = "", last.end
        if end == token.place and query.startswith(last.text, last.place):
            pass  # so it is written
        elif end < token.place or {last.upper, token.upper} & KEYWORDS:
            blank = _blank(query[length : token.place]) or (" " if length else "")
        elif last.text and last.sort is not Sort.SIGN and token.sort is not Sort.SIGN:
            blank = " "
        yield blank, text, token
        length, last = length + len(blank) + len(text), token


def _blank(text: str) -> str:
    """As many blanks, on as many lines."""
    return "".join("\n" if each == "\n" else " " for each in text)


def _tokens(query: str) -> Iterator[Token]:
    for token in scanned(query):
        if token.sort in (Sort.UNCLOSED, Sort.UNKNOWN):
            raise refused(query, token.place, _unknown(query, token.place))
        if token.sort is Sort.COMMENT:
            continue
        text = token.text
        is_odd = _is_none if token.sort is Sort.STRING else _is_odd
        if odd := next((each for each in text if is_odd(each)), None):
            raise refused(query, token.place + text.index(odd), f"There is a character without a shape here ({odd!a})")
        for escape in _ESCAPED.finditer(text) if token.sort is Sort.STRING else ():
            code = _code(escape[0])
            if code > _LAST_CHARACTER or _is_none(chr(code)):
                raise refused(query, token.place + escape.start(), f"{escape[0]} is no character that a text can have")
        if token.sort is Sort.PARAMETER and text[1:].upper() in NO_PARAMETERS:
            raise refused(query, token.place, f"{text} is a word of the language, and no name: say {text}_ for it")
        yield token


def _unknown(query: str, place: int) -> str:
    match query[place]:
        case "'" | '"':
            return "This string does not end, or has an escape that is not known; a backslash itself is written \\\\"
        case "`":
            return "This name in backticks does not end, or is empty"
        case "/":
            return "This comment does not end"
        case "$":
            return "A parameter is a dollar sign and a name: $name"
        case other if other.isalpha():
            return f"Write names with letters like {other!r} in backticks"
        case other:
            return f"{other!a} cannot stand in a query"


def _code(escape: str) -> int:
    """The number of the character that an escape stands for."""
    if len(escape) > len(r"\U00000000"):
        return 0x10000 + ((int(escape[2:6], 16) - 0xD800) << 10) + int(escape[8:], 16) - 0xDC00
    if len(escape) > len(r"\n"):
        return int(escape[2:], 16)
    return ord(_LETTERS.get(escape[1].lower(), escape[1]))


def _unescaped(escape: re.Match[str]) -> str:
    """The character itself; a quote or a backslash with the backslash that it needs."""
    character = chr(_code(escape[0]))
    return f"\\{character}" if character in "\\'\"" else character


def _is_none(character: str) -> bool:
    """What cannot stand in a text: nothing at all, and half a character."""
    return character == "\0" or unicodedata.category(character) == "Cs"


def _is_odd(character: str) -> bool:
    """Controls and surrogates, which the engine cuts at or chokes on; line ends and tabs are none."""
    return character not in "\n\r\t" and unicodedata.category(character) in ("Cc", "Cs")


DEEPEST = 30  # brackets inside brackets: the engine's parser takes exponentially long, and cannot be stopped
CLOSING = {")": "(", "]": "[", "}": "{"}


@dataclass(frozen=True, slots=True)
class Bracketed:
    """Brackets, and what stands in them."""

    open: Token
    items: tuple["Item", ...]
    close: Token


Item = Token | Bracketed


def tree_of(tokens: Sequence[Token]) -> list[Item] | None:
    """The tokens by their brackets; None where these do not fit together, or go too deep."""
    levels: list[tuple[Token | None, list[Item]]] = [(None, [])]
    for token in tokens:
        if token.sort is Sort.SIGN and token.text in CLOSING.values():
            levels.append((token, []))
            if len(levels) > DEEPEST + 1:
                return None
        elif token.sort is Sort.SIGN and token.text in CLOSING:
            opening, items = levels.pop()
            if opening is None or opening.text != CLOSING[token.text]:
                return None
            levels[-1][1].append(Bracketed(opening, tuple(items), token))
        else:
            levels[-1][1].append(token)
    return levels[0][1] if len(levels) == 1 else None


def flat(items: Sequence[Item]) -> list[Token]:
    """The tokens, one after the other."""
    return list(_flat(items))


def _flat(items: Sequence[Item]) -> Iterator[Token]:
    for item in items:
        if isinstance(item, Bracketed):
            yield from (item.open, *_flat(item.items), item.close)
        else:
            yield item


def apart(items: Sequence[Item]) -> list[list[Item]]:
    """What stands between commas; nothing of nothing."""
    pieces: list[list[Item]] = [[]] if items else []
    for item in items:
        if is_sign(item, ","):
            pieces.append([])
        else:
            pieces[-1].append(item)
    return pieces


def together(pieces: Sequence[Sequence[Token]], items: Sequence[Item]) -> list[Token]:
    """What was made of the pieces of items, with the commas that were between."""
    commas = [each for each in items if is_sign(each, ",")]
    return [
        token
        for at, piece in enumerate(pieces)
        for token in (*(commas[at - 1 : at] if at else ()), *piece)
    ]  # fmt: skip


def is_sign(item: Item | None, *texts: str) -> TypeGuard[Token]:
    return isinstance(item, Token) and item.sort is Sort.SIGN and item.text in texts


def is_word(item: Item | None, *words: str) -> TypeGuard[Token]:
    """Whether this is one of these words, in any case."""
    return isinstance(item, Token) and item.sort is Sort.WORD and item.upper in words


def is_name(item: Item | None) -> TypeGuard[Token]:
    """Whether this is a word, or something in backticks."""
    return isinstance(item, Token) and item.sort in (Sort.WORD, Sort.QUOTED)


def is_in(item: Item | None, bracket: str) -> TypeGuard[Bracketed]:
    """Whether these are brackets of this sort, by how they open."""
    return isinstance(item, Bracketed) and item.open.text == bracket
