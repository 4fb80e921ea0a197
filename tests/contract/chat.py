"""The chat as people use it: its slash commands, keys and settings."""

from typing import Any

from textual.binding import Binding

from agent.settings import CONFIG_TEXT, SETTINGS, Settings
from graph.events import Sampling
from tests.contract.command_line import kind_of
from tui import keymaps
from tui.actions import ACTIONS, FIRST
from tui.app import ClewApp
from tui.help import PLACES
from tui.keymaps import FOCUSED, STORY_FOCUSED, KeyContext, KeyRow, actions_of


def slash_commands() -> dict[str, Any]:
    """Every slash command with what it is called besides, what may follow it, its keys and what it does in words."""
    return {
        "commands": {
            action.slash: {
                "aliases": list(action.aliases),
                "argument": action.argument,
                "group": str(action.group),
                "keys": list(action.keys),
                "summary": action.title,
            }
            for action in ACTIONS
        },
        "offered first": list(FIRST),
    }


def keys() -> dict[str, Any]:
    """The keys of the whole app, and those of each place on the screen, under the heading that the help gives it."""
    bound = [each for each in ClewApp.BINDINGS if isinstance(each, Binding)]
    every = {place.title: place for place in (*PLACES, *keymaps.QUERY_HELP, *keymaps.NODE_HELP)}
    return {
        "everywhere": {each.key: {"action": each.action, "words": each.description} for each in bound},
        "places": {title.strip(): [_row(row) for row in place.rows] for title, place in every.items()},
        "foot of a focused message": [list(each) for each in FOCUSED],
        "foot of a focused message of a story": [list(each) for each in STORY_FOCUSED],
        "order of the help": [place.title for place in PLACES],
        "help of the query screen": _headings(keymaps.QUERY_HELP),
        "help of a node": _headings(keymaps.NODE_HELP),
    }


def settings() -> dict[str, Any]:
    """Every setting by its key in the file."""
    types = {name: field.annotation for name, field in Settings.model_fields.items()}
    types |= {f"sampling.{name}": field.annotation for name, field in Sampling.model_fields.items()}
    return {
        each.key: {
            "type": kind_of(types[each.key]),
            "default": each.default,
            "choices": list(each.choices),
            "allowed": each.allowed,
            "variable": f"CLEW_{each.key.upper().replace('.', '__')}",
            "in force": str(each.force),
            "description": each.meaning,
        }
        for each in SETTINGS
    }


def settings_file() -> str:
    """The commented file that a new home gets."""
    return CONFIG_TEXT


def _headings(places: tuple[KeyContext, ...]) -> list[str]:
    return [place.title for place in places]


def _row(row: KeyRow) -> dict[str, Any]:
    told = {"label": row.label, "words": row.words, "foot": row.foot, "sign": row.sign, "keys": actions_of((row,))}
    return {name: value for name, value in told.items() if value}
