"""What a person may say, and what becomes of the rest."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.errors import EmptyMessage
from agent.text import clean_message


@pytest.mark.parametrize(
    "blank", ["", " ", "\n\t \r\n", "\u2003", "\u200b", "\ufeff \u202e", "\u3164\ufe0f", "\U000e0041"]
)
def test_a_blank_message_is_refused(blank: str) -> None:
    with pytest.raises(EmptyMessage):
        clean_message(blank)


@pytest.mark.parametrize(
    ("raw", "clean"),
    [
        ("  hi \r\nthere\r", "hi \nthere"),
        ("a\x1b[31mb\x00c\x07", "a\ufffd[31mb\ufffdc\ufffd"),
        ("half \ud83d a pair", "half \ufffd a pair"),
        ("\ud83d\ude00", "\U0001f600"),
        ("[bold] </s> <|im_end|>", "[bold] </s> <|im_end|>"),
        ("tabs\tstay", "tabs\tstay"),
        ("\U0001fae9", "\U0001fae9"),
        ("\ue0b0", "\ue0b0"),
    ],
)
def test_controls_and_lone_surrogates_are_replaced_and_words_stay(raw: str, clean: str) -> None:
    assert clean_message(raw) == clean


@given(st.text())
def test_what_comes_out_can_always_be_stored_and_cleaning_twice_changes_nothing(raw: str) -> None:
    try:
        clean = clean_message(raw)
    except EmptyMessage:
        return
    assert clean.encode("utf-8").decode("utf-8") == clean
    assert clean_message(clean) == clean
