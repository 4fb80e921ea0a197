"""What of a message is said, what is done, and what is told around direct speech."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from agent.story.spans import Kind, spans

How = Literal["said", "done", "told"]

NEAR = 50  # characters beside a quotation mark that are looked at
ASIDE = re.compile(
    r'“(?P<a>[^“”\n]*)”?|"(?P<b>[^"\n]*)"?|„(?P<c>[^„“”"\n]*)[“”"]?|«(?P<d>[^«»\n]*)»?|‘(?P<e>[^‘\n]*?)’(?!\w)'
    r"|(?<!\w)'(?=\w)(?=(?P<f>(?:[^'\n]|(?<=\w)'(?=\w))*))(?P=f)'(?!\w)|\((?P<done>[^()\n]*)\)"
)
SPOKEN = re.compile(r"[.,!?…—–-]\s*$")


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a message: said, done (between asterisks or in parentheses), or told around direct speech."""

    how: How
    text: str


def pieces(text: str) -> Iterator[Piece]:
    """The parts of a message in order, without what is out of character.

    A message with no quotation marks is said where it is not between asterisks: nothing tells prose from speech.
    """
    for span in spans(text):
        if span.kind is Kind.ACTION:
            yield Piece("done", span.text)
        elif span.kind is Kind.SPEECH:
            yield from _spoken(span.text)


def _spoken(text: str) -> Iterator[Piece]:
    """What is outside of asterisks: where some of it is direct speech, the rest is told."""
    asides = [match for match in ASIDE.finditer(text) if match["done"] is not None or _is_direct(match, text)]
    how: How = "told" if any(match["done"] is None for match in asides) else "said"
    at = 0
    for match in asides:
        yield Piece(how, text[at : match.start()])
        yield Piece("done" if match["done"] is not None else "said", match[match.lastgroup or 0])
        at = match.end()
    yield Piece(how, text[at:])


def _is_direct(match: re.Match[str], text: str) -> bool:
    """Whether what is between quotation marks is speech, and no word that is meant otherwise or a title."""
    start, after = match.start(), text[match.end() : match.end() + 1]
    before = text[max(0, start - NEAR) : start].rstrip()
    introduced = before[-1:] in (":", ",") or (not before and start < NEAR)
    return introduced or after == "," or SPOKEN.search(match[match.lastgroup or 0][-NEAR:]) is not None
