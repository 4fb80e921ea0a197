"""Any text becomes harmless on its way to the screen, and stays the same words."""

import sys
import unicodedata
from contextlib import suppress

from hypothesis import given
from hypothesis import strategies as st

from agent.errors import EmptyMessage
from agent.text import clean_message
from tui.text import as_sent, clean, one_line, plain, shown, shown_in_place, size_of

OVERRIDES = ("RLO", "LRO", "RLE", "LRE", "PDF", "RLI", "LRI", "FSI", "PDI")
ANY_TEXT = st.text(st.characters(codec=None), max_size=200)


@given(ANY_TEXT)
def test_nothing_shown_or_stored_is_a_control_a_surrogate_or_an_override(text: str) -> None:
    for character in shown(text):
        assert character == "\n" or unicodedata.category(character) not in ("Cc", "Cs")
        assert unicodedata.bidirectional(character) not in OVERRIDES
    assert shown(shown(text)) == shown(text)
    assert "\r" not in clean(text)
    clean(text).encode("utf-8")  # as it is stored
    with suppress(EmptyMessage):  # as it will be kept
        assert clean_message(as_sent(text)) == clean_message(text)
        assert as_sent(text).strip() == clean_message(text)


def test_no_character_that_reorders_or_hides_words_is_shown_even_if_it_is_the_only_one() -> None:
    every = map(chr, range(sys.maxunicode + 1))
    hiding = [
        each for each in every if unicodedata.bidirectional(each) in OVERRIDES or unicodedata.category(each) == "Cc"
    ]
    assert len(hiding) > 70
    assert [each for each in hiding if each != "\n" and each in shown(f"a{each}b")] == []


def test_plain_text_is_never_markup_an_escape_is_words_one_line_is_one_and_sizes_are_for_people() -> None:
    for words in ("[bold", "[/]", "[@click=app.quit]x[/]", "\\[red]"):
        assert plain(words).plain == words
        assert plain(words).spans == []
    assert shown("\x1b[31mred\x1b[0m") == "␛[31mred␛[0m"
    assert one_line("a\n\tb\u2028c") == "a b c"
    assert [size_of(n) for n in (12, 204_800, 98_362_432, 2_497_281_312)] == ["12 B", "205 KB", "98 MB", "2.5 GB"]


@given(st.text(alphabet=st.characters(blacklist_characters="\n")))
def test_a_line_being_edited_keeps_every_place_and_obeys_nothing(text: str) -> None:
    painted = shown_in_place(text)
    assert len(painted) == len(text)
    assert all(character == "\t" or unicodedata.category(character) != "Cc" for character in painted)
