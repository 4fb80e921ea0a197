"""Cypher in colours while it is being typed: pieces by what they are, however unfinished or wrong the text is.

Which queries may run is for `graph.querying` to say; this only tells a person what they are writing.
"""

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from graph.querying.grammar import KEYWORDS, REACHING


class TokenKind(StrEnum):
    """What a piece of a query is; also the end of the name of its style in the editor."""

    KEYWORD = "keyword"
    REFUSED = "refused"  # a word that would do more than read
    FUNCTION = "function"
    TABLE = "table"
    PROPERTY = "property"
    NAME = "name"
    STRING = "string"
    NUMBER = "number"
    PARAMETER = "parameter"
    COMMENT = "comment"
    SIGN = "sign"


@dataclass(frozen=True, slots=True)
class QueryToken:
    """A piece of a text, from `start` to before `end`; `open` if it is a string or comment that does not end."""

    kind: TokenKind
    start: int
    end: int
    open: bool = False


_PIECE = re.compile(
    r"""
    (?P<comment> /\*.*?\*/ | //[^\n]* | (?P<endless>/\*.*\Z) )
    | (?P<string> '(?:[^'\\]|\\.)*(?P<end1>')? | "(?:[^"\\]|\\.)*(?P<end2>")? )
    | (?P<quoted> `[^`\n]*`? )
    | (?P<parameter> \$[A-Za-z0-9_]* )
    | (?P<number> \d+(?:\.\d+)?(?:[eE][-+]?\d+)?\b )
    | (?P<word> [^\W\d]\w* )
    | (?P<sign> \.\. | [^\w\s] )
    """,
    re.VERBOSE | re.DOTALL,
)


def pieces_of(text: str) -> list[QueryToken]:
    """The pieces of a text in their order; blanks are none."""
    pieces: list[QueryToken] = []
    brackets: list[str] = []
    before = ""
    for found in _PIECE.finditer(text):
        start, end = found.span()
        match found.lastgroup:
            case "comment" | "endless":
                # A line's comment is open at its end too: what is typed there goes on with it.
                pieces.append(QueryToken(TokenKind.COMMENT, start, end, not found[0].endswith("*/")))
                continue
            case "string" | "end1" | "end2":
                kind = TokenKind.STRING
                piece = QueryToken(kind, start, end, found["end1"] is None and found["end2"] is None)
            case "word" | "quoted":
                kind = _kind_of(found[0], before, brackets[-1:], text[end : end + 40].lstrip()[:1])
                piece = QueryToken(kind, start, end)
            case "number":
                piece = QueryToken(TokenKind.NUMBER, start, end)
            case "parameter":
                piece = QueryToken(TokenKind.PARAMETER, start, end)
            case _:
                piece = QueryToken(TokenKind.SIGN, start, end)
                if found[0] in "([{":
                    brackets.append(found[0])
                elif found[0] in ")]}" and brackets:
                    brackets.pop()
        pieces.append(piece)
        before = found[0]
    return pieces


def _kind_of(word: str, before: str, inside: Sequence[str], after: str) -> TokenKind:
    """What a word is, by what stands before it, the bracket it stands in, and the character after it."""
    if before == ".":
        return TokenKind.PROPERTY
    if (before == ":" and inside != ["{"]) or (before == "|" and inside == ["["]):
        return TokenKind.TABLE
    if inside == ["{"] and after == ":":
        return TokenKind.PROPERTY
    if word.startswith("`"):
        return TokenKind.NAME
    if word.upper() in REACHING:
        return TokenKind.REFUSED
    if word.upper() in KEYWORDS and not (after == "(" and word.upper() == "COUNT"):
        return TokenKind.KEYWORD
    return TokenKind.FUNCTION if after == "(" else TokenKind.NAME


Span = tuple[int, int, TokenKind]


def spans_by_line(text: str) -> dict[int, list[Span]]:
    """What is where on each line: from which column to before which one. What is only a name or a sign is not told."""
    starts = [0, *(found.end() for found in re.finditer("\n", text))]
    spans: dict[int, list[Span]] = {}
    for piece in pieces_of(text):
        if piece.kind in (TokenKind.NAME, TokenKind.SIGN):
            continue
        line = bisect_right(starts, piece.start) - 1
        for row in range(line, len(starts)):
            end = starts[row + 1] - 1 if row + 1 < len(starts) else len(text)
            spans.setdefault(row, []).append(
                (max(piece.start, starts[row]) - starts[row], min(piece.end, end) - starts[row], piece.kind)
            )
            if piece.end <= end + 1:
                break
    return spans
