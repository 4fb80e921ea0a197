"""A layout as PNG: its SVG, twice as fine, drawn by resvg with the fonts of this machine.

resvg runs in a process of its own: only in a log that it prints does it say which characters no font has.
"""

import re
import subprocess
import sys
import unicodedata

from tui.drawing.layout import Layout
from tui.drawing.shapes import paper
from tui.drawing.svg import to_svg

FINE = 2  # pixels for each unit
MOST_PIXELS = 40_000_000  # 160 MB in memory
_MISSING = re.compile(r"No fonts with a .+?/U\+([0-9A-F]+) character were found")


class NoPng(Exception):
    """Why there can be no PNG of a drawing, in words for people."""


def to_png(layout: Layout, *, dark: bool = True) -> bytes:
    """The drawing as a PNG file. Raises NoPng where it is too large, or has words that cannot be written. Blocking."""
    width, height = (side * FINE for side in paper(layout))
    if width * height > MOST_PIXELS:
        raise NoPng(f"The picture would be too large ({width} × {height} pixels).")
    return rasterized(to_svg(layout, dark=dark))


def rasterized(svg: str) -> bytes:
    """An SVG document as a PNG file. Raises NoPng as `to_png`."""
    command = [sys.executable, "-P", "-m", "tui.drawing.rasterizer", str(FINE)]
    done = subprocess.run(command, input=svg.encode("utf-8"), capture_output=True)
    log = done.stderr.decode("utf-8", "replace")
    if done.returncode:
        raise NoPng("The picture could not be drawn.")
    missing = (chr(int(code, 16)) for code in _MISSING.findall(log))
    # Marks and controls have no look of their own.
    if character := next((each for each in missing if unicodedata.category(each) not in ("Mn", "Cf")), None):
        raise NoPng(f"No font on this computer can show “{character}”.")
    if "No match for" in log:
        raise NoPng("There is no font on this computer to write it with.")
    return done.stdout
