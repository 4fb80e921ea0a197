"""Every word of a reply is on the screen, whatever its Markdown may mean by it."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.geometry import Region

from tests.examples import examples
from tests.tui.conftest import Running, wait_until
from tests.tui.scripted import ScriptedAgent
from tests.tui.seeing import sees
from tui.markdown import parser
from tui.widgets.message import Prose

WORDS = re.compile(r"[^\W_]+")


def shown(source: str) -> str:
    """What is shown of a text: its lines, without what stands for a mark."""
    lines = []
    for token in parser().parse(source):
        lines += [
            {"softbreak": " ", "hardbreak": "\n"}.get(each.type, each.content) for each in token.children or [token]
        ]
        lines += ["\n", token.info]  # the number of an item, the language of code
    return "".join(lines)


LETTERS = [
    *("2*3*4", "a**b**c", "5 * 3 * 2", "x_1_y", "__init__.py", "__name__ == '__main__'", "f(*args, **kwargs)"),
    *(r"a \\ b", r"C:\new\*.txt", r"C:\dir\ ", r"\(x\) and \[y\]", "$$x_1$$"),
    *("&amp; &copy; &#65;", "[1]: the first", "<b>bold</b>", "|a|b|\n|-|-|\n|1|2|3|"),
]


@pytest.mark.parametrize("text", LETTERS)
def test_letters_that_look_like_marks_are_shown_as_they_are(text: str) -> None:
    assert shown(text).strip() == text.strip()


def test_marks_that_are_meant_are_none_of_the_words() -> None:
    assert (
        shown("He *waves*, **loudly**, ~~never~~ `so`. 这是**重点**内容").strip()
        == "He waves, loudly, never so. 这是重点内容"
    )
    assert shown("[here](http://a.example/b) <http://a.example>").strip() == (
        "here (http://a.example/b) http://a.example"
    )
    assert shown("![a cat](cat.png)").strip() == "a cat (cat.png)"


DEEP = [
    "\n".join(f"{'  ' * depth}- level{depth}" for depth in range(30)),
    f"{'> ' * 30}far down",
    f"{'> 1. > - ' * 12}end",
]
MARKS = st.sampled_from("*_`~[]()!<>&;:#|-+=.\\/$\"' \n\t0aä中")
WHOLE = ("word", "two", "**", "__", "```", "1.", "[x]", ":-:", "&lt;", "\n\n", "    ", "\n> ", "\n- ", "\n  - ", "\n# ")
PIECES = MARKS | st.sampled_from((*WHOLE, "\n|", "|\n|-|-|\n|", "\n```", "](x", "http://a.example/b", "[a]: b"))


@examples(2_000)
@given(st.lists(PIECES, max_size=60).map(" ".join) | st.lists(PIECES, max_size=60).map("".join))
def test_every_word_is_shown(source: str) -> None:
    there = WORDS.findall(shown(source))
    for word in set(WORDS.findall(source)):
        assert word in there or word in "".join(there), source


TABLE = "| Name | What it does for you | Notes |\n|---|---|---|\n" + "".join(
    f"| item{row} | a description number{row} that goes on and on | supercalifragilisticexpialidocious{row} |\n"
    for row in range(3)
)
WIDE = ["|".join(["", *(word if word == "-" else f"{word}{column}" for column in range(12)), ""]) for word in "a-b"]
CODE = f"```\n{' '.join(f'word{number}' for number in range(60))}\n{'x' * 300}end\n```"


def painted(prose: Prose) -> str:
    """The letters that a reply's widgets paint, each by itself: a word may go on in the next line of a cell."""
    leaves = [each for each in prose.query("*") if not each.children and each.size.width > 0]
    lines = (strip.text for each in leaves for strip in each.render_lines(Region(0, 0, *each.outer_size)))
    return re.sub(r"[\W_]", "", "".join(lines))


@pytest.mark.sample
@pytest.mark.parametrize("columns", [60, 90, 120])
async def test_what_is_nested_deep_wide_or_long_is_on_the_screen(chat: Running, columns: int) -> None:
    text = "\n\n---\n\n".join([*DEEP, TABLE, "\n".join(WIDE), CODE, "2*3*4 in `__init__.py`, C:\\new\\*.txt"])
    agent = ScriptedAgent()
    agent.add_session("Here", ("Tell me.", text))
    async with chat(agent, size=(columns, 500)) as (app, pilot):
        await sees(pilot, "C:\\new\\*.txt")
        prose = app.screen.query_one(Prose)
        await wait_until(pilot, lambda: all(map(painted(prose).__contains__, WORDS.findall(text))), "every word")


@pytest.mark.timeout(30)
def test_rows_without_an_end_are_read_in_time() -> None:
    parser().parse("a|b\n-|-\n" * 6_000 + "x|y|z\n")
    parser().parse("> a|b\n> -|-\n" * 2_000 + "> x|y|z\n")


def test_a_link_around_a_picture_leads_where_it_leads_and_titles_are_told() -> None:
    assert shown("[a ![i](http://pic.example) b](http://a.example)").strip() == (
        "a i (http://pic.example) b (http://a.example)"
    )
    assert shown("[here](http://a.example 'the title')").strip() == "here (http://a.example · the title)"


def test_the_lines_of_a_poem_are_lines() -> None:
    poem = "In the vast sea,\nwhispers of waves dance,\n*moonlight* breaks"
    assert shown(poem).strip() == poem.replace("*", "")
    assert shown("> one\n> two").strip() == "one\ntwo"
