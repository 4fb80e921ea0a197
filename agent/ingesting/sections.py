"""A document's text as sections: Markdown by its headings, code by its definitions, plain text as it stands."""

import re
from collections.abc import Iterable, Iterator, Sequence

from agent.ingesting.pieces import Section

DEFINES = re.compile(
    r"(?:@|(?:export |default |public |private |protected |internal |static |abstract |final |async |unsafe |"
    r"pub(?:\([^)]*\))? |inline |virtual |override |open |sealed |data |local )*"
    r"(?:def|class|func|function|fn|struct|enum|trait|impl|interface|module|mod|namespace|type|object|record|"
    r"sub|procedure|CREATE|create)\b)"
)
DECORATES = "@"


def markdown(text: str) -> Iterator[Section]:
    """The sections of a Markdown text, code blocks left whole; a front matter is its first section."""
    from markdown_it import MarkdownIt

    lines = text.split("\n")
    path: list[tuple[int, str]] = []
    start = 0
    tokens = MarkdownIt("commonmark").parse(text)
    for at, token in enumerate(tokens):
        if token.type != "heading_open" or token.map is None or token.level:
            continue
        yield Section(tuple(title for _, title in path), paragraphs(lines[start : token.map[0]]))
        depth = int(token.tag[1:])
        path = [*((level, title) for level, title in path if level < depth), (depth, tokens[at + 1].content)]
        start = token.map[1]
    yield Section(tuple(title for _, title in path), paragraphs(lines[start:]))


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
