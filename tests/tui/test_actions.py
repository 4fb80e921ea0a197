"""One table: every action has a handler, no key or command is given twice, and what is typed finds its action."""

from collections import Counter

import pytest

from tui.actions import ACTIONS, BY_SLASH, Command, completions, key_name, parse
from tui.handlers import HANDLERS
from tui.help import help_content
from tui.widgets.composer import rows


def test_every_action_has_a_handler_and_no_key_and_no_slash_word_is_given_twice() -> None:
    assert set(HANDLERS) == {action.name for action in ACTIONS}
    keys = Counter(key for action in ACTIONS for key in action.keys)
    words = Counter(word for action in ACTIONS for word in (action.slash, *action.aliases))
    assert max(keys.values()) == 1
    assert max(words.values()) == 1


def test_a_command_carries_its_argument_an_unknown_one_is_explained_and_other_messages_are_messages() -> None:
    assert parse("/rename My trip ") == Command(BY_SLASH["rename"], "My trip")
    assert parse("/EXIT") == Command(BY_SLASH["quit"], "")
    for text in ("/usr/bin is what?", "/ hello", "hello /quit", "/2 is a half", "/new\nlines"):
        assert parse(text) is None or isinstance(parse(text), Command) is False
    explained = parse("/nonsense")
    assert isinstance(explained, str)
    assert "/nonsense" in explained
    assert "Nothing was sent" in explained
    assert "Did you mean" not in explained
    near = parse("/models")
    assert isinstance(near, str)
    assert near.startswith("Unknown command /models. Did you mean /model? Nothing was sent.")


def test_completions_fit_what_is_typed() -> None:
    words = ["retry", "regenerate", "ref", "rename", "rewind", "recall", "review", "remember", "relate"]
    assert [action.slash for action in completions("/re")] == words
    assert [action.slash for action in completions("/mem")] == ["memories", "memory"]
    assert [action.slash for action in completions("/qu")] == ["quit", "graph"]  # whose other name is /query
    assert completions("/rename x") == []
    assert completions("hello") == []
    assert len(completions("/")) == len(ACTIONS)
    assert [action.slash for action in completions("/")][:3] == ["help", "new", "sessions"], "and not /stop"


@pytest.mark.parametrize("width", [30, 54, 74, 102])
def test_what_commands_do_stands_in_one_column(width: int) -> None:
    lines = [row.plain for row in rows(ACTIONS, width)]
    starts = {line.index(each.title[:8]) for line, each in zip(lines, ACTIONS, strict=True) if each.title[:8] in line}
    assert len(starts) == 1
    assert max(map(len, lines)) <= width
    assert any("[name|file] [here]" in line for line in lines) == (width > 70)


def test_the_help_names_every_command_and_key() -> None:
    words = help_content(80).plain
    for action in ACTIONS:
        assert f"/{action.slash}" in words
        assert all(key_name(key) in words for key in action.keys)
