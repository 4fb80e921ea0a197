"""A document as sections (Markdown headings, definitions, plain text), and as the pieces under them that are kept.

A piece is at most LONGEST characters, so that an embedder of 512 tokens sees all of it, and ends where a paragraph, a
line or at least a word does. The headings go into its text, as lines of their own: they are words to be found by, too.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
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
    """The pieces of a document, in its order; of headings with nothing under them they are a piece themselves."""
    bare: list[str] = []  # the last headings, as long as nothing is under them
    for section in sections:
        headings = [_heading(each) for each in section.headings if each.strip()][-DEEPEST:]
        if bare and headings[: len(bare)] != bare:
            yield _of_headings(bare)
        bare = headings
        for words in _packed(section.paragraphs):
            yield TextPiece(len(headings), "\n".join([*headings, words]))
            bare = []
    if bare:
        yield _of_headings(bare)


def _of_headings(headings: list[str]) -> TextPiece:
    return TextPiece(len(headings) - 1, "\n".join(headings))


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


DEFINES = re.compile(
    r"(?:@|(?:export |default |public |private |protected |internal |static |abstract |final |async |unsafe |"
    r"pub(?:\([^)]*\))? |inline |virtual |override |open |sealed |data |local )*"
    r"(?:def|class|func|function|fn|struct|enum|trait|impl|interface|module|mod|namespace|type|object|record|"
    r"sub|procedure|CREATE|create)\b)"
)
DECORATES = "@"
MOST_FRONT = 200  # lines before a Markdown text
MOST_LINES = 200_000  # of a Markdown text whose headings are looked for


def markdown(text: str) -> Iterator[Section]:
    """The sections of a Markdown text, code blocks left whole; a front matter is its first section."""
    from markdown_it import MarkdownIt

    lines = text.split("\n")
    if len(lines) > MOST_LINES:
        yield Section((), paragraphs(lines))  # as a text without headings: each line may become a dozen objects
        return
    path: list[tuple[int, str]] = []
    start = 0
    if end := _front_matter(lines):  # to Markdown it would be a heading, of all that follows
        yield Section((), paragraphs(lines[1:end]))
        lines[: end + 1] = [""] * (end + 1)
        text = "\n".join(lines)
    tokens = MarkdownIt("commonmark").parse(text)
    for at, token in enumerate(tokens):
        if token.type != "heading_open" or token.map is None or token.level:
            continue
        yield Section(tuple(title for _, title in path), paragraphs(lines[start : token.map[0]]))
        depth = int(token.tag[1:])
        path = [*((level, title) for level, title in path if level < depth), (depth, tokens[at + 1].content)]
        start = token.map[1]
    yield Section(tuple(title for _, title in path), paragraphs(lines[start:]))


def _front_matter(lines: list[str]) -> int:
    """The line on which what is said of a Markdown text before it ends; 0 where nothing is."""
    if lines[0].rstrip() != "---":
        return 0
    ends = (at for at, line in enumerate(lines[1:MOST_FRONT], 1) if line.rstrip() in ("---", "..."))
    return next(ends, 0)


def code(text: str) -> Iterator[Section]:
    """The sections of a source file: what stands at the margin and defines something begins one, named by its line."""
    name, decorated = "", False
    block: list[str] = []
    for line in text.split("\n"):
        begins = DEFINES.match(line) is not None
        if begins and not decorated:
            yield from _definition(name, block)
            name, block = "", []
        if begins and not line.startswith(DECORATES):
            name = name or line.strip().rstrip("{:( ")
        decorated = (begins and line.startswith(DECORATES)) or (decorated and not begins)
        block.append(line)
    yield from _definition(name, block)


def plain(text: str) -> Iterator[Section]:
    """A text without headings."""
    yield Section((), paragraphs(text.split("\n")))


def pages(texts: Iterable[str]) -> Iterator[Section]:
    """A section for each page that has words."""
    for number, text in enumerate(texts, start=1):
        if text.strip():
            yield Section((f"page {number}",), paragraphs(text.split("\n")))


def paragraphs(lines: Sequence[str]) -> tuple[str, ...]:
    """Lines joined to paragraphs, which blank lines part."""
    found: list[list[str]] = [[]]
    for line in lines:
        if line.strip():
            found[-1].append(line.rstrip())
        elif found[-1]:
            found.append([])
    return tuple("\n".join(each) for each in found if each)


def _definition(name: str, block: list[str]) -> Iterator[Section]:
    if any(line.strip() for line in block):
        yield Section((name,) if name else (), paragraphs(block))
