"""Sampled tokens become whole characters, and reasoning stays out."""

from hypothesis import given
from hypothesis import strategies as st

from models.template import ReplyText


def read(pieces: list[str | bytes], *, skip_space: bool = False) -> tuple[list[int], str, list[bool]]:
    """Push pieces as tokens 0, 1, …; gives the reply's tokens, its text, and where it was thinking."""
    reply = ReplyText(skip_space=skip_space)
    tokens, text, thinking = list[int](), "", list[bool]()
    for token, piece in enumerate(pieces):
        reply.push(token, piece if isinstance(piece, bytes) else piece.encode())
        thinking.append(reply.thinking)
        some, more = reply.take()
        tokens += some
        text += more
    some, more = reply.end()
    return [*tokens, *some], text + more, thinking


def test_text_passes_at_once_and_a_character_cut_between_tokens_comes_whole_or_is_marked() -> None:
    assert read(["Hel", "lo <b>"]) == ([0, 1], "Hello <b>", [False, False])
    waves = "🌊".encode()
    reply = ReplyText()
    reply.push(0, b"a" + waves[:2])
    assert reply.take() == ((0,), "a")
    reply.push(1, waves[2:])
    assert reply.take() == ((1,), "🌊")
    assert read([b"ok \xf0\x9f"]) == ([0], "ok \ufffd", [False])


def test_reasoning_and_the_space_around_it_stay_out_however_its_marks_are_cut() -> None:
    tokens, text, thinking = read(["\n", "<think>", "\nhm", " so", "</think>", "\n\n", "\n", "Yes", "."])
    assert (tokens, text) == ([7, 8], "Yes.")
    assert thinking == [False, True, True, True, False, False, False, False, False]
    assert read(["<th", "ink", "> why", " not</th", "ink>", "No"])[:2] == ([5], "No")
    assert read(["<think>a</think>\nNo", " way"])[:2] == ([0, 1], "No way")
    assert read(["<think>", "on and on"])[:2] == ([], "")


def test_what_only_looks_like_reasoning_is_kept() -> None:
    assert read(["<th", "e end>"])[:2] == ([0, 1], "<the end>")
    assert read(["<thi"])[:2] == ([0], "<thi")
    assert read(["so ", "<think>", "x"])[:2] == ([0, 1, 2], "so <think>x")


def test_a_word_space_of_sentencepiece_is_dropped_once() -> None:
    assert read([" Hello", " you"], skip_space=True)[:2] == ([0, 1], "Hello you")


@given(st.text(), st.integers(1, 7))
def test_any_text_in_any_pieces_comes_out_as_it_was(text: str, width: int) -> None:
    data = ("a" + text).encode()
    pieces: list[str | bytes] = [data[at : at + width] for at in range(0, len(data), width)]
    tokens, read_back, _ = read(pieces)
    assert read_back == "a" + text
    assert tokens == list(range(len(pieces)))
