"""Drawings kept as files: SVG, and PNG where there are fonts for all words. Whole or not at all, for the owner only."""

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from tui.drawing.layout import Layout, roomy
from tui.drawing.png import NoPng, to_png
from tui.drawing.svg import to_svg
from tui.files import ExportFailed, write
from tui.text import one_line


@dataclass(frozen=True, slots=True)
class SavedDrawing:
    """What became of it, in words; `path` is None if nothing was written."""

    path: Path | None
    words: str

    @property
    def failed(self) -> bool:
        return self.path is None


def save(layout: Layout, path: Path, *, dark: bool = True) -> SavedDrawing:
    """Write a drawing to `path`, as PNG if its name ends so, else as SVG. Blocking.

    Nodes that the terminal had no room for are on it. A PNG that cannot be made becomes an SVG beside it, and that is
    said.
    """
    why, layout = "", roomy(layout)
    try:
        if path.suffix.lower() == ".png":
            try:
                write(path, iter([to_png(layout, dark=dark)]))
                return SavedDrawing(path, f"Drawing saved to {one_line(str(path))}.")
            except NoPng as error:
                why, path = f" as SVG, not PNG: {error}", path.with_suffix(".svg")
        write(path, iter([to_svg(layout, dark=dark).encode("utf-8")]))
    except ExportFailed as error:
        return SavedDrawing(None, str(error))
    return SavedDrawing(path, f"Drawing saved to {one_line(str(path))}{why or '.'}")


def keep(layout: Layout, *, dark: bool = True) -> SavedDrawing:
    """Write a drawing as PNG to the current folder, under a name made of the time. Blocking."""
    return save(layout, Path.cwd() / f"clew-graph-{datetime.now():%Y%m%d-%H%M%S}.png", dark=dark)
