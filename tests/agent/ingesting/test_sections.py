"""Sections follow what stands in a document: headings, definitions, pages."""

import pytest

from agent.ingesting import sections
from agent.ingesting.sections import code, markdown, pages, plain


def test_markdown_sections_carry_the_path_of_their_headings() -> None:
    text = "Intro\n\n# Boat\n\nIt floats.\n\n## Sails\n\nThree.\n\nHouse\n=====\n\nIt stands.\n"
    assert [(each.headings, each.paragraphs) for each in markdown(text)] == [
        ((), ("Intro",)),
        (("Boat",), ("It floats.",)),
        (("Boat", "Sails"), ("Three.",)),
        (("House",), ("It stands.",)),
    ]


def test_what_is_said_of_a_text_before_it_is_its_first_section_and_no_heading() -> None:
    text = "---\ntitle: Tides\ntags: [sea]\n---\n\n# Boat\n\nIt floats.\n"
    assert [(each.headings, each.paragraphs) for each in markdown(text) if each.paragraphs] == [
        ((), ("title: Tides\ntags: [sea]",)),
        (("Boat",), ("It floats.",)),
    ]
    assert [each.headings for each in markdown("---\n\nNo end\n") if each.paragraphs] == [()]


def test_a_hash_inside_a_code_block_is_no_heading() -> None:
    (section,) = (each for each in markdown("# Run it\n\n```sh\n# not a heading\nmake\n```\n") if each.paragraphs)
    assert section.headings == ("Run it",)
    assert "# not a heading" in section.paragraphs[0]


def test_a_definition_at_the_margin_begins_a_section_with_its_decorators() -> None:
    tide = "@cache\n@other\ndef tide(day: int) -> int:\n    def inner(): ...\n    return day\n"
    source = f"import os\n\n{tide}\nclass Boat:\n    x = 1\n"
    found = [(each.headings, each.paragraphs[0].split("\n")[0]) for each in code(source)]
    assert found == [((), "import os"), (("def tide(day: int) -> int",), "@cache"), (("class Boat",), "class Boat:")]


def test_words_that_begin_like_a_definition_are_none() -> None:
    (section,) = code("define = 1\ntyped = 2\n")
    assert section.headings == ()


def test_plain_text_is_parted_by_blank_lines() -> None:
    (section,) = plain("one\ntwo\n\n\nthree")
    assert section.paragraphs == ("one\ntwo", "three")


def test_pages_without_words_are_left_out() -> None:
    assert [each.headings for each in pages(["First", " \n", "Third"])] == [("page 1",), ("page 3",)]


def test_a_markdown_text_of_too_many_lines_is_read_as_one_without_headings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sections, "MOST_LINES", 5)
    (section,) = markdown("# One\n\n# Two\n\n# Three\n\nwords")
    assert section.headings == ()
    assert section.paragraphs == ("# One", "# Two", "# Three", "words")
