"""Drawings as files: whole, for the owner only, with every word."""

import stat
import xml.etree.ElementTree as ElementTree
from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import given
from PIL import Image

from graph.subgraphs import Subgraph
from tests.examples import examples
from tests.tui.drawing.graphs import SHAPES, graph, graphs
from tui.drawing import exporting
from tui.drawing.exporting import save
from tui.drawing.fonts import Fonts, NoFont, folders
from tui.drawing.layout import LayoutKind, layout, roomy
from tui.drawing.png import to_png
from tui.drawing.shapes import ShapeText, paper, shapes
from tui.drawing.svg import to_svg

SVG = "{http://www.w3.org/2000/svg}"


@examples(40)
@given(graphs(most=12))
def test_any_drawing_is_whole_xml_with_every_label(subgraph: Subgraph) -> None:
    made = layout(subgraph, kind="force", width=80, height=22)
    root = ElementTree.fromstring(to_svg(made))
    words = ["".join(each.itertext()) for each in root.iter(f"{SVG}text")]
    clean = [spot.text.replace("\ufffe", "\ufffd").replace("\uffff", "\ufffd") for spot in made.spots]
    assert all(label in words for label in clean)
    assert "http" not in to_svg(made).replace("http://www.w3.org/2000/svg", "")


@pytest.mark.parametrize("dark", [True, False])
def test_both_themes_make_a_png_of_the_size_of_the_paper(*, dark: bool) -> None:
    made = layout(SHAPES["tree"], kind="layered", width=80, height=22)
    image = Image.open(BytesIO(to_png(made, dark=dark)))
    assert image.size == tuple(2 * side for side in paper(made))
    corner = image.getpixel((0, 0))
    assert isinstance(corner, tuple)
    assert (sum(corner) < 200) is dark
    assert len(image.getcolors(1 << 24) or []) > 10


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


def test_a_file_is_for_the_owner_only_and_nothing_else_is_left(tmp_path: Path) -> None:
    made = layout(SHAPES["star"], kind="force", width=80, height=22)
    for name in ("drawing.svg", "drawing.png"):
        kept = save(made, tmp_path / name)
        assert not kept.failed
        assert name in kept.words
        assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o600
    assert sorted(path.name for path in tmp_path.iterdir()) == ["drawing.png", "drawing.svg"]


def test_words_that_no_font_here_has_become_an_svg_and_that_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tui.drawing.png.folders", list)
    made = layout(graph(2, [(0, 1)], titles=("東京", "Oslo")), kind="force", width=80, height=22)
    kept = save(made, tmp_path / "drawing.png")
    assert kept.path == tmp_path / "drawing.svg"
    assert "東" in kept.words
    assert "東京" in (tmp_path / "drawing.svg").read_text(encoding="utf-8")
    assert not (tmp_path / "drawing.png").exists()


def test_without_fonts_of_the_system_latin_words_are_written() -> None:
    runs = Fonts(16, []).runs("Anna moved to Oslo")
    assert "".join(text for text, _ in runs) == "Anna moved to Oslo"
    with pytest.raises(NoFont, match="שלום"):
        Fonts(16, []).runs("שלום")
    assert to_png(layout(SHAPES["star"], kind="force", width=80, height=22), places=[]).startswith(b"\x89PNG")


def test_a_file_that_is_no_font_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "DejaVuSansMono.ttf").write_text("no font")
    assert Fonts(16, [tmp_path]).runs("Oslo")


def test_what_is_drawn_with_the_fonts_of_this_machine_has_each_character_once() -> None:
    text = "Anna ● 23 — élan"
    assert "".join(run for run, _ in Fonts(16, folders()).runs(text.replace("●", ""))) == text.replace("●", "")


def test_a_picture_that_is_too_large_becomes_an_svg(tmp_path: Path) -> None:
    made = layout(SHAPES["star"], kind="force", width=800, height=240)
    kept = save(made, tmp_path / "drawing.png")
    assert kept.path == tmp_path / "drawing.svg"
    assert "pixels" in kept.words


def test_a_place_that_cannot_be_written_is_an_error_in_words(tmp_path: Path) -> None:
    made = layout(SHAPES["one"], kind="force", width=80, height=22)
    kept = save(made, tmp_path / "no" / "drawing.svg")
    assert kept.failed
    assert "drawing.svg" in kept.words


def test_a_drawing_is_kept_in_the_current_folder_under_a_new_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    kept = exporting.keep(layout(SHAPES["one"], kind="force", width=80, height=22))
    assert kept.path is not None
    assert kept.path.parent == tmp_path
    assert kept.path.exists()
