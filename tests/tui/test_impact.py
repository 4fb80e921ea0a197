"""A change in words: the number of each kind, the very items, and nothing that a terminal would obey."""

from datetime import UTC, datetime

from graph.values import Impact, Turn
from tui.impact import as_json, lines_of, many, summary_of

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def turn(id: str, text: str | None = None, *, hidden: bool = False) -> Turn:
    return Turn(id, "s", None, 0, "user", "you", text if text is not None else id, NOON, "test", hidden=hidden)


def test_nothing_one_and_several_are_told_apart_and_of_many_the_first_are_shown() -> None:
    assert [many(1, "memory"), many(2, "memory"), many(1, "reply"), many(3, "message")] == [
        "1 memory",
        "2 memories",
        "1 reply",
        "3 messages",
    ]
    assert lines_of(Impact(gone=(turn("a"),))) == ["1 message will be removed:", "  you: a"]
    assert lines_of(Impact(gone=(turn("a"), turn("b")), erases=True))[0] == "2 messages will be deleted:"
    assert lines_of(Impact()) == ["Nothing else changes."]
    assert summary_of(Impact()) == "Nothing else changes."
    told = lines_of(Impact(gone=tuple(turn(str(number)) for number in range(25))), most=3)
    assert told == ["25 messages will be removed:", "  you: 0", "  you: 1", "  you: 2", "  … and 22 more"]


def test_what_leaves_and_what_is_erased_are_told_apart() -> None:
    impact = Impact(gone=(turn("a"), turn("b")), erases=True, kept=frozenset("b"))
    kept = "1 message will be removed here and kept in other chats"
    assert lines_of(impact) == ["1 message will be deleted:", "  you: a", f"{kept}:", "  you: b"]
    assert summary_of(impact) == f"1 message will be deleted; {kept}."
    assert as_json(impact)["gone"] == [
        {"id": "a", "session": "s", "role": "user", "speaker": "you", "text": "a", "erased": True},
        {"id": "b", "session": "s", "role": "user", "speaker": "you", "text": "b", "erased": False},
    ]


def test_items_are_one_line_each_without_what_is_hidden_or_would_move_the_cursor() -> None:
    told = lines_of(Impact(back=(turn("a", "two\nlines\x1b[2J"), turn("b", "secret", hidden=True)), pins=("c",)))
    assert told == [
        "2 messages will be unhidden:",
        "  you: two lines␛[2J",
        "  you: secret",
        "1 pin will be removed:",
        "  c",
    ]
