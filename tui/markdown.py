"""The Markdown of replies, of which no letter is lost on the way to the screen.

CommonMark takes for marks, and leaves out, what people and models mean as letters: the backslashes of a path, the stars
of 2*3*4, the underscores of __init__, the cells of a row that the table's head has no column for, where a link leads,
what `&amp;` is written as, and all that is nested deeper than its parser likes. Here that is text, as it was typed.
"""

from collections.abc import Callable
from functools import cache, partial

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock, blockquote, list_block, table
from markdown_it.rules_block.table import escapedSplit, getLine
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline
from markdown_it.rules_inline.emphasis import tokenize as emphasis
from markdown_it.token import Token

# How deep lists and quotes may stand in others, in the parser's levels, of which a list takes two: below it would be
# columns of no width, and what looks like another one is text.
DEEPEST_LIST, DEEPEST_QUOTE = 16, 8
MOST_COLUMNS = 12  # of a table: of more there is no room for a letter each
_CJK = "\u2e80"  # from here on words have no blanks between them
BlockRule = Callable[[StateBlock, int, int, bool], bool]


@cache
def parser() -> MarkdownIt:
    """GitHub's Markdown, with HTML as words too: Textual drops HTML blocks."""
    made = MarkdownIt("gfm-like", {"html": False, "linkify": False}).disable(["linkify", "entity", "reference"])
    made.inline.ruler.at("escape", _escape)
    made.inline.ruler.at("emphasis", _emphasis)
    made.block.ruler.at("table", _table, {"alt": ["paragraph", "reference"]})
    ending = ["paragraph", "reference", "blockquote"]  # what each of them ends
    made.block.ruler.at("list", partial(_not_too_deep, list_block, DEEPEST_LIST), {"alt": ending})
    made.block.ruler.at("blockquote", partial(_not_too_deep, blockquote, DEEPEST_QUOTE), {"alt": [*ending, "list"]})
    made.core.ruler.push("lines", _keep_lines)
    made.core.ruler.push("addresses", _tell_addresses)
    return made


def _escape(state: StateInline, silent: bool) -> bool:
    """A backslash and what it stands before are both letters, and what it stands before is no mark."""
    if state.src[state.pos] != "\\":
        return False
    length = 1 if state.src[state.pos + 1 : state.pos + 2] in ("", "\n") else 2
    if not silent:
        state.pending += state.src[state.pos : state.pos + length]
    state.pos += length
    return True


def _emphasis(state: StateInline, silent: bool) -> bool:
    """Stars and underscores between letters or digits are text, and so are underscores in pairs."""
    src, start = state.src, state.pos
    marker, end = src[start], start
    while marker in "*_" and end < state.posMax and src[end] == marker:
        end += 1
    within = start > 0 and end < state.posMax and _is_of_word(src[start - 1]) and _is_of_word(src[end])
    if silent or end == start or not (within or (marker == "_" and end - start > 1)):
        return emphasis(state, silent)
    state.pending += src[start:end]
    state.pos = end
    return True


def _is_of_word(letter: str) -> bool:
    return letter.isalnum() and letter < _CJK


def _table(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """A table, unless its head has fewer cells than a row, which would be left out, or more than there is room for."""
    widest: dict[tuple[int, int], int] = state.env.setdefault("widest", {})  # by level and line: from there on
    if (state.level, start) not in widest:
        stop, most = start, 0
        while stop < end and _cells(state, stop):
            stop += 1
        for line in range(stop - 1, start - 1, -1):
            widest[state.level, line] = most = max(most, _cells(state, line))
    if widest.get((state.level, start), 0) > min(_cells(state, start), MOST_COLUMNS):
        return False
    return table(state, start, end, silent)


def _cells(state: StateBlock, line: int) -> int:
    """The cells of a row; 0 of an empty line, with which a table ends."""
    row = getLine(state, line).strip()
    return len(escapedSplit(row.removeprefix("|").removesuffix("|"))) if row else 0


def _not_too_deep(rule: BlockRule, deepest: int, state: StateBlock, start: int, end: int, silent: bool) -> bool:
    return state.level < deepest and rule(state, start, end, silent)


def _keep_lines(state: StateCore) -> None:
    """A line that ends ends on the screen too, as in a poem: nobody who answers wraps their lines by hand."""
    for block in state.tokens:
        for token in block.children or ():
            if token.type == "softbreak":
                token.type = "hardbreak"


def _tell_addresses(state: StateCore) -> None:
    """Where links and pictures lead stands behind them."""
    for block in state.tokens:
        if block.children and any(each.type in ("link_close", "image") for each in block.children):
            block.children = _with_addresses(block.children)


def _with_addresses(inline: list[Token]) -> list[Token]:
    told: list[Token] = []
    link, words = Token("link_open", "a", 1), ""
    for token in inline:
        told.append(token)
        match token.type:
            case "link_open":
                link, words = token, ""
            case "link_close":
                told += _address(link, "href", words)
            case "image":
                told += _address(token, "src", "")
            case _:
                words += token.content
    return told


def _address(of: Token, name: str, words: str) -> list[Token]:
    """Where something leads, and its title, in brackets; nothing where `words` say that already."""
    address, title = str(of.attrs.get(name, "")), str(of.attrs.get("title", ""))
    parts = [part for part in (address if address.removeprefix("mailto:") != words else "", title) if part]
    return [Token("text", "", 0, content=f" ({' · '.join(parts)})")] if parts else []
