"""Every word of a reply is on the screen, whatever its Markdown may mean by it."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.app import App, ComposeResult

from tests.examples import examples
from tests.tui.conftest import screen_text
from tui.markdown import parser
from tui.widgets.message import Prose

WORDS = re.compile(r"[^\W_]+")


def shown(source: str) -> str:
    """What is shown of a text: its lines, without what stands for a mark."""
    lines = []
    for token in parser().parse(source):
        breaks = ("softbreak", "hardbreak")
        lines += ["\n" if each.type in breaks else each.content for each in token.children or [token]]
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


class Shown(App[None]):
    """Shows one reply."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.reply = text

    def compose(self) -> ComposeResult:
        yield Prose(self.reply)


@pytest.mark.ui
@pytest.mark.parametrize("columns", [60, 90, 120])
@pytest.mark.parametrize("text", [*DEEP, "2*3*4 in `__init__.py`, C:\\new\\*.txt"])
async def test_what_is_nested_deep_is_on_the_screen(text: str, columns: int) -> None:
    async with Shown(text).run_test(size=(columns, 200)) as pilot:
        screen = re.sub(r"[\W_]", "", screen_text(pilot.app))
        for word in WORDS.findall(text):
            assert re.sub(r"[\W_]", "", word) in screen
