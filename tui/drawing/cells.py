"""Words measured and cut by the cells that they take in a terminal."""

from functools import lru_cache
from unicodedata import normalize

from rich.cells import cell_len, split_graphemes

from tui.text import one_line

LONGEST = 400  # characters of a title that are looked at: no label is longer


@lru_cache(2048)
def label_of(title: str) -> str:
    """A title as a label: one line, harmless, never empty."""
    line = normalize("NFC", one_line(title[:LONGEST]))  # fewer terminals and fonts put marks on letters themselves
    if cell_len(line) == 0:
        return "(no words)"
    return f"◌{line}" if cell_len(line[0]) == 0 else line  # a mark that would join what stands before it


@lru_cache(8192)
def cut_to(text: str, cells: int) -> str:
    """Text in at most so many cells, with … at the end where it is cut; never half of a character."""
    if cell_len(text) <= cells:
        return text
    spans, _ = split_graphemes(text)
    used, end = 0, 0
    for _, after, width in spans:
        if used + width > cells - 1:
            break
        used, end = used + width, after
    return f"{text[:end].rstrip()}…" if cells > 0 else ""


__all__ = ["LONGEST", "cell_len", "cut_to", "label_of"]
