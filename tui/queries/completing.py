"""Cypher while it is being typed: its tokens in colours, and what can be written where the cursor stands.

Which queries may run is for `graph.console` to say; this only tells a person what they are writing.

Completing reads the unfinished text leniently: a variable belongs to the tables that it is written with anywhere in it.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from rich.style import StyleType
from rich.text import Text

from graph.console.catalogue import PROPERTIES, TABLES
from graph.console.functions import FUNCTION_HELP
from graph.console.grammar import REACHING
from graph.console.lexing import KEYWORDS, LONGEST, WORLD, Sort, Token, scanned
from graph.projection.schema import NODES, RELS
from tui.text import shown_in_place

if TYPE_CHECKING:
    from graph.console.catalogue import Property, Schema


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


MOST = 200
PATTERN = re.compile(r"([A-Za-z_]\w*)?\s*:\s*((?:`[^`]+`|\w+)(?:\s*\|\s*:?\s*(?:`[^`]+`|\w+))*)")
NAMED = re.compile(r"\bAS\s+([A-Za-z_]\w*)", re.IGNORECASE)
_WORD = re.compile(r"\w*\Z")


@dataclass(frozen=True, slots=True)
class KnownTable:
    """A table of the graph: of nodes, or of relationships. `columns` by name, with a line on what each is.

    `ends` are where relationships lead: from which table to which. `count` is None while it is not known.
    """

    name: str
    relationship: bool = False
    columns: Mapping[str, str] = field(default_factory=dict)
    about: str = ""
    ends: tuple[tuple[str, str], ...] = ()
    count: int | None = None


@dataclass(frozen=True, slots=True)
class QueryVocabulary:
    """All there is to write: tables by name, functions by name with how they are called and what they do."""

    tables: Mapping[str, KnownTable]
    functions: Mapping[str, tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Completion:
    """What may be written: `insert` takes the place of the word that is being typed; `about` is a hint.

    `label` is how it is listed, where that says more.
    """

    insert: str
    kind: TokenKind
    about: str = ""
    label: str = ""


@dataclass(frozen=True, slots=True)
class Suggestions:
    """What fits where the cursor stands, the likeliest first; `start` is where the word begins that it replaces."""

    start: int
    choices: tuple[Completion, ...]


NOTHING = Suggestions(0, ())


def offer_at(text: str, place: int, vocabulary: QueryVocabulary, *, asked: bool = False) -> Suggestions:
    """What fits at a place of a text. Unless it is `asked` for, a bare word is completed from its second letter on."""
    pieces = pieces_of(text)
    before = [piece for piece in pieces if piece.start < place]
    if before and _is_inside_of_words(before[-1], place):
        return NOTHING
    found = _WORD.search(text, 0, place)
    start = found.start() if found is not None else place
    typed = text[start:place]
    before = [piece for piece in before if piece.start < start and piece.kind is not TokenKind.COMMENT]
    last = before[-1].text if before else ""
    if start and text[start - 1] == "$":
        names = _names(pieces, TokenKind.PARAMETER, start - 1)
        choices = [Completion(name[1:], TokenKind.PARAMETER) for name in (WORLD, *names)]
        return _fitting(start, typed, _distinct(choices))
    if last in (":", "|") and (tables := _tables(before, vocabulary)) is not None:
        return _fitting(start, typed, tables)
    if last == "." and len(before) > 1:
        return _fitting(start, typed, _properties(text, before[-2].text, vocabulary))
    if last in ("{", ",") and (label := _map_of(before)) is not None:
        keys = _properties_of([label], vocabulary)
        return _fitting(start, typed, [Completion(f"{each.insert}: ", each.kind, each.about) for each in keys])
    if not asked and len(typed) < 2:
        return NOTHING
    return _fitting(start, typed, _words(text, pieces, start, vocabulary))


def _is_inside_of_words(piece: QueryToken, place: int) -> bool:
    """Whether a place is in a string or a comment, where everything fits and nothing is known."""
    return piece.kind in (TokenKind.STRING, TokenKind.COMMENT) and (
        place < piece.end or (piece.open and place <= piece.end)
    )


def _fitting(start: int, typed: str, choices: Sequence[Completion]) -> Suggestions:
    """Those that begin like the word, then those that have it in them; none if the word is all there is to say."""
    word = typed.casefold()
    fit = [each for each in choices if each.insert.strip("`").casefold().startswith(word)]
    if len(word) > 2:
        fit += [each for each in choices if word in each.insert.casefold() and each not in fit]
    if len(fit) == 1 and fit[0].insert == typed:
        return NOTHING
    return Suggestions(start, tuple(fit[:MOST])) if fit else NOTHING


def _distinct(choices: Iterable[Completion]) -> list[Completion]:
    return list({each.insert: each for each in choices}.values())


def _names(pieces: Sequence[QueryToken], kind: TokenKind, but: int) -> list[str]:
    """What is written elsewhere in the text of this kind, but for what is being typed."""
    return list(dict.fromkeys(each.text for each in pieces if each.kind is kind and each.start != but))


def _tables(before: Sequence[QueryToken], vocabulary: QueryVocabulary) -> list[Completion] | None:
    """The tables that fit into the bracket that is open; None if no table can stand here."""
    bracket = _open_bracket(before)
    if bracket is None or bracket.text == "{":
        return None
    wanted = bracket.text == "["
    return [
        Completion(each.name, TokenKind.TABLE, each.about)
        for each in vocabulary.tables.values()
        if each.relationship == wanted
    ]


def _open_bracket(before: Sequence[QueryToken]) -> QueryToken | None:
    depth = 0
    for piece in reversed(before):
        if piece.text in (")", "]", "}"):
            depth += 1
        elif piece.text in ("(", "[", "{"):
            if not depth:
                return piece
            depth -= 1
    return None


def _map_of(before: Sequence[QueryToken]) -> str | None:
    """The table of a pattern whose map of properties is open, as in `(t:Turn {`; None if none is."""
    bracket = _open_bracket(before)
    if bracket is None or bracket.text != "{":
        return None
    place = before.index(bracket)
    owner = before[place - 1] if place else None
    return owner.text.strip("`") if owner is not None and owner.kind is TokenKind.TABLE else None


def tables_of(text: str, variable: str) -> list[str]:
    """The tables that a variable is written with in a text."""
    found: list[str] = []
    for name, tables in PATTERN.findall(text):
        if name == variable:
            found += [each.strip(" \t\n`:") for each in tables.split("|")]
    return list(dict.fromkeys(found))


def _properties(text: str, variable: str, vocabulary: QueryVocabulary) -> list[Completion]:
    """The properties of a variable's tables; of every table where those are not known."""
    known = [each for each in tables_of(text, variable) if each in vocabulary.tables]
    return _properties_of(known or list(vocabulary.tables), vocabulary)


def _properties_of(tables: Sequence[str], vocabulary: QueryVocabulary) -> list[Completion]:
    columns: dict[str, str] = {}
    for name in tables:
        if (table := vocabulary.tables.get(name)) is not None:
            for column, about in table.columns.items():
                columns.setdefault(column, about)
    return [Completion(name, TokenKind.PROPERTY, about) for name, about in columns.items()]


def _words(text: str, pieces: Sequence[QueryToken], start: int, vocabulary: QueryVocabulary) -> list[Completion]:
    """Variables first, then the words of the language, then functions."""
    names = [name for name, _ in PATTERN.findall(text) if name] + NAMED.findall(text)
    written = set(_names(pieces, TokenKind.NAME, start))
    variables = [Completion(name, TokenKind.NAME, _of(text, name)) for name in dict.fromkeys(names) if name in written]
    words = [Completion(word, TokenKind.KEYWORD) for word in WORDS]
    functions = [
        Completion(f"{name}(", TokenKind.FUNCTION, does, called)
        for name, (called, does) in vocabulary.functions.items()
    ]
    return [*variables, *words, *functions]


def _of(text: str, variable: str) -> str:
    return " or ".join(tables_of(text, variable))


# Those that begin a clause come first: each begins a line more often than the rest.
_FIRST = ("MATCH", "OPTIONAL MATCH", "WHERE", "RETURN", "WITH", "ORDER BY", "LIMIT", "SKIP", "UNWIND", "UNION")
WORDS = (*_FIRST, *sorted(KEYWORDS - {"OPTIONAL", "ORDER", "BY", *_FIRST}))


TYPES = {"STRING": "text", "INT64": "number", "DOUBLE": "number", "BOOL": "yes or no"}


def at_first() -> QueryVocabulary:
    """What is known without asking the graph: everything but how much there is."""
    nodes = {
        each.name: KnownTable(each.name, columns=_columns(each.name, each.columns), about=TABLES[each.name])
        for each in NODES
    }
    rels = {
        each.name: KnownTable(
            each.name,
            relationship=True,
            columns=_columns(each.name, each.columns),
            about=TABLES[each.name],
            ends=tuple((each.start, end) for end in each.ends),
        )
        for each in RELS
    }
    return QueryVocabulary({**nodes, **rels}, functions())


def vocabulary_of(schema: "Schema") -> QueryVocabulary:
    """What the graph says there is."""
    nodes = {
        each.name: KnownTable(each.name, columns=_told(each.properties), about=each.meaning, count=each.count)
        for each in schema.nodes
    }
    rels = {
        each.name: KnownTable(
            each.name,
            relationship=True,
            columns=_told(each.properties),
            about=each.meaning,
            ends=tuple((each.start, end) for end in each.ends),
            count=each.count,
        )
        for each in schema.relationships
    }
    return QueryVocabulary({**nodes, **rels}, functions())


def functions() -> dict[str, tuple[str, str]]:
    """The functions there are, each with how it is called and what it does."""
    return dict(sorted(FUNCTION_HELP.items()))


def _told(properties: "tuple[Property, ...]") -> dict[str, str]:
    return {each.name: _hint(each.type, each.meaning) for each in properties}


def _columns(table: str, columns: tuple[tuple[str, str], ...]) -> dict[str, str]:
    return {name: _hint(type, PROPERTIES[table][name]) for name, type in columns}


def _hint(type: str, meaning: str) -> str:
    return f"{TYPES.get(type, type.lower())}: {meaning}" if meaning else TYPES.get(type, type.lower())
