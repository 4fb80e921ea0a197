"""The keys of a drawn graph."""

from tui.keys import Row, bind

VIEW = (
    Row(
        "← → ↑ ↓, Tab",
        "a drawing: the next node that way, the next one",
        (
            *(bind(way, f"move('{way}')") for way in ("up", "down", "left", "right")),
            bind("tab", "next(1)"),
            bind("shift+tab", "next(-1)"),
        ),
        "next node",
        "Tab",
    ),
    Row("Enter", "a drawing: go on from the chosen node", (bind("enter", "choose"),), "walk"),
    Row(
        "+ - 0",
        "larger, smaller, all of it",
        (bind("plus,equals_sign", "zoom(1)"), bind("minus", "zoom(-1)"), bind("0", "fit")),
        "zoom",
    ),
    Row(
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
    Row("l", "lay it out otherwise: by force, in layers", (bind("l", "other_layout"),), "layout"),
    Row("s", "save the drawing as a picture", (bind("s", "save"),), "save"),
)
