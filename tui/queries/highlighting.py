"""Cypher in colours while it is being typed: the tokens of a text by what they are, however unfinished or wrong it is.

Which queries may run is for `graph.querying` to say; this only tells a person what they are writing.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from rich.style import StyleType
from rich.text import Text

from graph.querying.grammar import REACHING
from graph.querying.lexing import KEYWORDS
from graph.querying.lexing import LONGEST, Sort, Token, scanned
from tui.text import shown_in_place


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


_KINDS = {"'": TokenKind.STRING, '"': TokenKind.STRING, "/": TokenKind.COMMENT}  # of what does not end


@dataclass(frozen=True, slots=True)
class QueryToken:
    """A piece of a text and where it begins; `open` if it is a string, name or comment that does not end."""

    kind: TokenKind
    text: str
    start: int
    open: bool = False

    @property
    def end(self) -> int:
        return self.start + len(self.text)


def pieces_of(text: str) -> list[QueryToken]:
    """The pieces of a text in their order; blanks are none."""
    pieces: list[QueryToken] = []
    brackets: list[str] = []
    before = ""
    for token in scanned(text):
        kind = _kind_of(text, token, before, brackets[-1:])
        # A line's comment is open at its end too: what is typed there goes on with it.
        is_open = token.sort is Sort.UNCLOSED or (kind is TokenKind.COMMENT and not token.text.endswith("*/"))
        pieces.append(QueryToken(kind, token.text, token.place, is_open))
        if kind is TokenKind.COMMENT:
            continue
        if token.text in ("(", "[", "{"):
            brackets.append(token.text)
        elif token.text in (")", "]", "}") and brackets:
            brackets.pop()
        before = token.text
    return pieces


def _kind_of(text: str, token: Token, before: str, inside: Sequence[str]) -> TokenKind:
    match token.sort:
        case Sort.UNKNOWN:
            return TokenKind.SIGN
        case Sort.UNCLOSED if token.text[0] in _KINDS:
            return _KINDS[token.text[0]]
        case Sort.WORD | Sort.QUOTED | Sort.UNCLOSED:
            return _kind_of_name(token, before, inside, after=text[token.end : token.end + 40].lstrip()[:1])
        case sort:
            return TokenKind(sort)


def _kind_of_name(token: Token, before: str, inside: Sequence[str], *, after: str) -> TokenKind:
    """What a name or word is, by what stands before it, the bracket it stands in, and the character after it."""
    if before == ".":
        return TokenKind.PROPERTY
    if (before == ":" and inside != ["{"]) or (before == "|" and inside == ["["]):
        return TokenKind.TABLE
    if inside == ["{"] and after == ":":
        return TokenKind.PROPERTY
    if token.sort is not Sort.WORD:
        return TokenKind.NAME
    if token.upper in REACHING:
        return TokenKind.REFUSED
    if token.upper in KEYWORDS and not (after == "(" and token.upper == "COUNT"):
        return TokenKind.KEYWORD
    return TokenKind.FUNCTION if after == "(" else TokenKind.NAME


def lines_in_colours(text: str, styles: Mapping[TokenKind, StyleType]) -> list[Text]:
    """The lines of a text as they may be painted; one that is longer than any query has no colours."""
    painted = Text(shown_in_place(text))
    for piece in pieces_of(text) if len(text) <= LONGEST else ():
        painted.stylize(styles.get(piece.kind, ""), piece.start, piece.end)
    return list(painted.split(allow_blank=True))
