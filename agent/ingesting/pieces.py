"""What a document is cut into: pieces a paragraph or a few long, each under the headings that lead to it.

A piece is at most LONGEST characters, so that an embedder of 512 tokens sees all of it, and ends where a paragraph, a
line or at least a word does. The headings go into its text, as lines of their own: they are words to be found by, too.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

LONGEST = 1200  # characters of a piece without its headings
SHORT = 300  # a paragraph shorter than this joins the one before it
HEADING = 120  # characters of a heading
DEEPEST = 6  # headings


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a document: the headings that lead to it, the outermost first, and its paragraphs."""

    headings: tuple[str, ...]
    paragraphs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TextPiece:
    """A piece as it is kept: its words under `headings` lines of headings."""

    headings: int
    text: str


def pieces(sections: Iterable[Section]) -> Iterator[TextPiece]:
    """The pieces of a document, in its order; sections without words give none."""
    for section in sections:
        headings = [_heading(each) for each in section.headings if each.strip()][-DEEPEST:]
        for words in _packed(section.paragraphs):
            yield TextPiece(len(headings), "\n".join([*headings, words]))


def _packed(paragraphs: Iterable[str]) -> Iterator[str]:
    """Paragraphs joined while they are short, cut where they are long."""
    waiting = ""
    for paragraph in paragraphs:
        for part in _cut(paragraph.strip("\n").rstrip()):
            if not part.strip():
                continue
            if waiting and (len(waiting) + len(part) + 2 > LONGEST or min(len(waiting), len(part)) > SHORT):
                yield waiting
                waiting = part
            else:
                waiting = f"{waiting}\n\n{part}" if waiting else part
    if waiting:
        yield waiting


def _cut(paragraph: str) -> Iterator[str]:
    """A paragraph in parts of at most LONGEST characters, cut after a line, a sentence or a word where there is one."""
    start = 0
    while len(paragraph) - start > LONGEST:
        window = paragraph[start : start + LONGEST]
        end = next((at + len(mark) for mark in ("\n", ". ", " ") if (at := window.rfind(mark)) > SHORT), LONGEST)
        yield window[:end].rstrip()
        start += end
    yield paragraph[start:]


def _heading(text: str) -> str:
    return " ".join(text.split())[:HEADING]
