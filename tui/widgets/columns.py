"""Rows of a name and words beside it, wrapped in their own column; below each other where there is no room for two."""

from textual.content import Content

from tui.text import MUTED, plain


def row(name: str, words: str, width: int, column: int) -> Content:
    """One row `width` cells wide, the words from `column` on."""
    if width < 2 * column or len(name) >= column:
        return Content.assemble(plain(name, "bold"), "  ", plain(words, MUTED))
    lines = plain(words, MUTED).wrap(max(8, width - column))
    rows = [Content.assemble(plain(f"{name:<{column}}", "bold"), lines[0])] if lines else [plain(name, "bold")]
    return Content("\n").join([*rows, *(Content.assemble(" " * column, line) for line in lines[1:])])
