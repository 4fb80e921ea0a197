"""Drawings as files: whole, for the owner only, with every word."""

import re
import stat
import struct
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from hypothesis import example, given

from graph.values import Subgraph
from tests.examples import examples
from tests.tui.drawing.graphs import SHAPES, graph, graphs
from tui.drawing.layout import LayoutKind, layout, roomy
from tui.drawing.svg import FONTS, NoPng, ShapeText, paper, rasterized, save, shapes, to_png, to_svg

SVG = "{http://www.w3.org/2000/svg}"


@examples(40)
@given(graphs(most=12))
@example(graph(2, [(0, 1)], titles=("a < b & c", "\"d\" > 'e'")))
def test_any_drawing_is_whole_xml_with_every_label(subgraph: Subgraph) -> None:
    made = layout(subgraph, kind="force", width=80, height=22)
    root = ElementTree.fromstring(to_svg(made))
    words = ["".join(each.itertext()) for each in root.iter(f"{SVG}text")]
    clean = [spot.text.replace("\ufffe", "\ufffd").replace("\uffff", "\ufffd") for spot in made.spots]
    assert all(label in words for label in clean)
    assert "http" not in to_svg(made).replace("http://www.w3.org/2000/svg", "")


@pytest.mark.process
def test_both_themes_make_a_png_of_the_size_of_the_paper() -> None:
    made = layout(SHAPES["tree"], kind="layered", width=80, height=22)
    dark, light = (to_png(made, dark=dark) for dark in (True, False))
    assert dark != light
    for picture in (dark, light):
        assert picture.startswith(b"\x89PNG")
        assert struct.unpack(">II", picture[16:24]) == tuple(2 * side for side in paper(made))  # PNG 3, 11.2.1: IHDR
        assert len(picture) > 50_000, "more than the ground is drawn"


@pytest.mark.parametrize("kind", ["force", "layered"])
def test_a_picture_has_all_nodes_however_small_the_terminal_is(tmp_path: Path, kind: LayoutKind) -> None:
    made = layout(SHAPES["dense"], kind=kind, width=60, height=12)
    assert len(made.spots) < 40
    assert not save(made, tmp_path / "drawing.svg").failed
    words = (tmp_path / "drawing.svg").read_text(encoding="utf-8")
    assert "40 nodes" in words or "lines not drawn" in words
    assert "of 40 nodes" not in words
    assert len(roomy(made).spots) == 40


def test_everything_lies_on_the_paper() -> None:
    made = layout(SHAPES["dense"], kind="force", width=80, height=22)
    width, height = paper(made)
    words = [shape for shape in shapes(made) if isinstance(shape, ShapeText)]
    assert all(each.at[0] >= 0 and each.at[0] + each.width <= width for each in words)
    assert all(0 < each.at[1] < height for each in words)


@pytest.mark.process
def test_a_file_is_for_the_owner_only_and_nothing_else_is_left(tmp_path: Path) -> None:
    made = layout(SHAPES["star"], kind="force", width=80, height=22)
    for name in ("drawing.svg", "drawing.png"):
        kept = save(made, tmp_path / name)
        assert not kept.failed
        assert name in kept.words
        assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o600
    assert sorted(path.name for path in tmp_path.iterdir()) == ["drawing.png", "drawing.svg"]


@pytest.mark.process
def test_words_that_no_font_has_and_a_picture_that_is_too_large_become_an_svg_which_is_said(tmp_path: Path) -> None:
    made = layout(graph(2, [(0, 1)], titles=("Oslo \U0010fffd", "Anna")), kind="force", width=80, height=22)
    kept = save(made, tmp_path / "drawing.png")
    assert kept.path == tmp_path / "drawing.svg"
    assert "“\U0010fffd”" in kept.words
    assert "Oslo \U0010fffd" in (tmp_path / "drawing.svg").read_text(encoding="utf-8")
    assert not (tmp_path / "drawing.png").exists()
    kept = save(layout(SHAPES["one"], kind="force", width=800, height=240), tmp_path / "large.png")
    assert kept.path == tmp_path / "large.svg"
    assert "pixels" in kept.words


@pytest.mark.process
def test_a_computer_without_any_font_writes_the_words_all_the_same_and_says_which_it_cannot() -> None:
    drawing = to_svg(layout(SHAPES["one"], kind="force", width=80, height=22))
    bare = re.sub(r"<text.*?</text>", "", drawing)
    assert rasterized(drawing, own_font=True) != rasterized(bare, own_font=True)
    words = to_svg(layout(graph(2, [(0, 1)], titles=("Oslo", "東京")), kind="force", width=80, height=22))
    with pytest.raises(NoPng, match="No font on this computer can show “東”"):
        rasterized(words, own_font=True)
    with pytest.raises(NoPng, match="no font"):
        rasterized(drawing.replace(FONTS, "none that is there"), own_font=True)
    with pytest.raises(NoPng, match="could not be drawn"):
        rasterized("<svg")
