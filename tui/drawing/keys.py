"""The keys of a drawn graph."""

from tui.keys import KeyRow, bind

VIEW = (
    KeyRow(
        "← → ↑ ↓, Tab",
        "drawing: next node in that direction, next node",
        (
            *(bind(way, f"move('{way}')") for way in ("up", "down", "left", "right")),
            bind("tab", "next(1)"),
            bind("shift+tab", "next(-1)"),
        ),
        "next node",
        "Tab",
    ),
    KeyRow("Enter", "drawing: explore the selected node", (bind("enter", "choose"),), "walk"),
    KeyRow(
        "+ - 0",
        "zoom in, zoom out, fit",
        (bind("plus,equals_sign", "zoom(1)"), bind("minus", "zoom(-1)"), bind("0", "fit")),
        "zoom",
    ),
    KeyRow(
        "Shift+arrows",
        "move the drawing",
        (
            bind("shift+left", "pan(-1, 0)"),
            bind("shift+right", "pan(1, 0)"),
            bind("shift+up", "pan(0, -1)"),
            bind("shift+down", "pan(0, 1)"),
        ),
        "move",
    ),
    KeyRow("l", "switch layout: force or layered", (bind("l", "other_layout"),), "layout"),
    KeyRow("s", "save the drawing as a picture", (bind("s", "save"),), "save"),
)
