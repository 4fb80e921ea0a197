"""One table of keys: what is bound is told in the help, what is told is bound, and each key does something."""

import importlib
import pkgutil
from collections.abc import Iterable, Iterator
from functools import cache

from textual.app import App
from textual.binding import Binding
from textual.dom import DOMNode
from textual.screen import Screen

import tui
from tui import branch_handlers, history_handlers, keymaps
from tui.app import ClewApp
from tui.help import PLACES, help_content
from tui.keymaps import KeyContext, KeyRow, actions_of, bind, bindings, foot, signs
from tui.message_keys import HANDLERS
from tui.queries import editor_actions
from tui.stories import all as stories
from tui.widgets.banner import Approval
from tui.widgets.dialogs import Answers, Confirm, Question
from tui.widgets.impact import ImpactScreen

FEET = 100  # cells


def modules() -> Iterator[str]:
    for found in pkgutil.walk_packages(tui.__path__, "tui."):
        if not found.name.startswith(("tui.commands", "tui.mcp", "tui.web", "tui.__main__")):
            yield found.name


@cache
def own_widgets() -> tuple[type[DOMNode], ...]:
    """Every widget and screen of clew."""
    for name in modules():
        importlib.import_module(name)
    found: list[type[DOMNode]] = []
    left = [DOMNode]
    while left:
        each = left.pop()
        left.extend(each.__subclasses__())
        if each.__module__.startswith("tui.") and each not in found:
            found.append(each)
    return tuple(found)


def pairs(rows: Iterable[KeyRow]) -> set[tuple[str, str]]:
    return {(key, binding.action) for row in rows for binding in row.binds for key in binding.key.split(",")}


def bound(widget: type[DOMNode]) -> set[tuple[str, str]]:
    """What a class itself binds: each key, and the action that it runs."""
    declared = [each for each in vars(widget).get("BINDINGS", ()) if isinstance(each, Binding)]
    return {(key, binding.action) for binding in declared for key in binding.key.split(",")}


def told() -> set[tuple[str, str]]:
    """The same of every row of the help."""
    return {pair for place in PLACES for pair in pairs(place.rows)}


def test_every_key_that_is_bound_is_in_the_help() -> None:
    for widget in own_widgets():
        if not issubclass(widget, ClewApp):  # its keys are those of the actions
            assert bound(widget) <= told(), (widget.__name__, bound(widget) - told())


def test_every_key_of_the_help_is_bound_or_heard() -> None:
    mine = (*editor_actions.KEYS, editor_actions.REMOVE_KEY)
    chosen = tuple(
        key.row
        for key in (
            *branch_handlers.REWIND_KEYS, *branch_handlers.TREE_KEYS, *history_handlers.MARK_KEYS, *stories.KEYS, *mine,
        )
    )  # fmt: skip
    heard = pairs(keymaps.MESSAGE) | pairs(keymaps.STORY_MESSAGE) | pairs(chosen)
    keys = heard.union(*(bound(widget) for widget in own_widgets()))
    for place in PLACES:
        assert pairs(place.rows) <= keys, (place.title, pairs(place.rows) - keys)


def test_no_key_is_dead_and_none_does_two_things() -> None:
    for widget in own_widgets():
        for key, action in bound(widget):
            where, _, name = action.partition("(")[0].rpartition(".")
            screens = tuple(each for each in own_widgets() if issubclass(each, Screen))
            there = {"app": (App,), "screen": screens}.get(where, (widget, App, Screen))
            assert any(hasattr(each, f"action_{name}") for each in there), (widget.__name__, key, action)
    for widget in own_widgets():
        keys = [key for key, _ in bound(widget)]
        assert len(keys) == len(set(keys)), widget.__name__


def test_every_key_on_a_message_has_its_deed_and_no_letter_answers_a_question() -> None:
    assert set(actions_of((*keymaps.MESSAGE, *keymaps.STORY_MESSAGE)).values()) == set(HANDLERS)
    asking = [each for each in own_widgets() if issubclass(each, (Question, Answers, Approval))]
    assert {ImpactScreen, Confirm} < set(asking)
    for widget in asking:
        assert not [key for key, _ in bound(widget) if len(key) == 1], widget.__name__


def test_every_row_of_every_place_is_in_the_help() -> None:
    words = " ".join(help_content(80).plain.split())
    for place in PLACES:
        assert place.title.strip() in words
        for row in place.rows:
            assert row.label in words
            assert " ".join(row.words.split()) in words


def test_a_foot_drops_what_has_no_room_from_the_right_and_never_the_way_back() -> None:
    own = (("p", "pin"), ("c", "correct"), ("d", "forget"))
    always = (("F1", "help"), ("Esc", "back"))
    assert foot(own, FEET, always=always).plain == "p pin   c correct   d forget   F1 help   Esc back"
    assert foot(own, 30, always=always).plain == "p pin   F1 help   Esc back"
    assert foot(own, 5, always=always).plain == "Esc back"
    assert foot(own, 20, 2, always=always).plain == "p pin   c correct\nF1 help   Esc back"


def test_rows_become_bindings_and_signs() -> None:
    rows = (
        KeyRow("↑ or k", "up", (bind("up,k", "move(-1)"),), "move", "↑"),
        KeyRow("type", "what is looked for"),
    )
    assert [binding.key for binding in bindings(rows) if isinstance(binding, Binding)] == ["up,k"]
    assert actions_of(KeyContext("Here", rows).rows) == {"up": "move(-1)", "k": "move(-1)"}
    assert signs(rows) == (("↑", "move"),)
