"""What can be written where the cursor stands: tables, properties of the variable's table, functions, words, values.

It reads the unfinished text leniently: a variable belongs to the tables that it is written with anywhere in it.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from graph.querying.lexing import KEYWORDS, WORLD
from tui.queries.highlighting import QueryToken, TokenKind, pieces_of

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
