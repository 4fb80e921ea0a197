"""Pictures of the screen as SVG."""

import re
from datetime import datetime
from pathlib import Path
from typing import Any

from textual.app import App

from tui.files import path_of, write

_FONT_FACE = re.compile(r"@font-face \{.*?\}\s*", re.DOTALL)


def picture(app: App[Any]) -> str:
    """The screen as SVG; fonts of the web are left out, so that looking at it asks no server for anything."""
    return _FONT_FACE.sub("", app.export_screenshot(title="clew"))


def save(app: App[Any], name: str = "") -> Path:
    """Write the picture to `name`, or to a new file named by the time, in the current folder. Raises ExportFailed.

    A name that ends otherwise gets .svg behind it, which is what the file is.
    """
    path = path_of(name or f"clew-{datetime.now():%Y%m%d-%H%M%S}.svg", Path.cwd())
    if path.suffix.lower() != ".svg":
        path = path.with_name(f"{path.name}.svg")
    write(path, iter([picture(app).encode("utf-8")]))
    return path
