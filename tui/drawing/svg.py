"""A layout as SVG, whole in itself: it names no font of the web and no script, and its words are words."""

import re
from xml.sax.saxutils import escape

from tui.drawing.colours import colours
from tui.drawing.layout import Layout
from tui.drawing.shapes import ACROSS, DOWN, Shape, ShapeText, Stroke, paper, shapes

_NOT_IN_XML = re.compile("[^\t\n -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
FONTS = (
    "ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, 'Noto Sans Mono', 'Liberation Mono', 'Noto Sans CJK JP', "
    "'DejaVu Sans', 'Noto Sans', Arial, monospace"
)


def to_svg(layout: Layout, *, dark: bool = True) -> str:
    """The drawing as an SVG document."""
    width, height = paper(layout)
    palette = colours(dark=dark)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}">',
        f'<rect width="{width}" height="{height}" fill="{palette["background"]}"/>',
        f'<g font-family="{FONTS}" font-size="{ACROSS * 1.6:g}" xml:space="preserve">',
        *(_element(shape, palette) for shape in shapes(layout)),
        "</g>",
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _element(shape: Stroke | Shape | ShapeText, palette: dict[str, str]) -> str:
    colour, ground = palette[shape.colour], palette["background"]
    match shape:
        case Stroke(start, end, width=width):
            ends = f'x1="{start[0]:.1f}" y1="{start[1]:.1f}" x2="{end[0]:.1f}" y2="{end[1]:.1f}"'
            return f'<line {ends} stroke="{colour}" stroke-width="{width:g}"/>'
        case Shape(points, filled=filled):
            at = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
            fill = colour if filled else ground
            return f'<polygon points="{at}" fill="{fill}" stroke="{colour}" stroke-width="1.6"/>'
        case ShapeText((x, y), text, width):
            box = f'x="{x - 3:.1f}" y="{y - DOWN * 0.45:.1f}" width="{width + 6:.1f}" height="{DOWN * 0.9:.1f}"'
            words = escape(_NOT_IN_XML.sub("\N{REPLACEMENT CHARACTER}", text))
            exact = f'textLength="{width:.1f}" lengthAdjust="spacingAndGlyphs"' if width else ""
            return (
                f'<rect {box} fill="{ground}" fill-opacity="0.85"/>'
                f'<text x="{x:.1f}" y="{y + ACROSS * 0.55:.1f}" fill="{colour}" {exact}>{words}</text>'
            )
