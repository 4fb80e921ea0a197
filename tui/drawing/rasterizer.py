"""The SVG on standard input as a PNG on standard output, so many times as fine; on standard error what no font has.

The fonts are the computer's, and where it has none, the one that clew's web face brings along.
"""

import os
import sys
from importlib.util import find_spec
from pathlib import Path

import resvg_py


def main() -> None:
    svg = sys.stdin.buffer.read().decode("utf-8")
    with os.fdopen(os.dup(1), "wb") as out:
        os.dup2(2, 1)  # resvg's log goes to the standard output of its process
        png = resvg_py.svg_to_bytes(
            svg_string=svg,
            zoom=float(sys.argv[1]),
            log_information=True,
            skip_system_fonts="--own-font" in sys.argv,
            font_files=_brought_along(),
        )
        out.write(png)


def _brought_along() -> list[str]:
    """The files of the fonts of textual-serve, which is not imported for that."""
    found = find_spec("textual_serve")
    places = (found.submodule_search_locations if found is not None else None) or ()
    return [str(font) for place in places for font in sorted(Path(place).glob("static/fonts/*.ttf"))]


if __name__ == "__main__":
    main()
