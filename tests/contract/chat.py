"""The chat as people use it: its slash commands, keys and settings."""

import json
from collections.abc import Iterable
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
            " ".join(filter(None, [action.slash, action.argument])): _line(
                f"{action.group}: {action.title}", also=action.aliases, keys=action.keys
            )
            for action in ACTIONS
        },
        "offered first": list(FIRST),
    }


def keys() -> dict[str, Any]:
    """The keys of the whole app, and those of each place on the screen, under the heading that the help gives it."""
    bound = [each for each in ClewApp.BINDINGS if isinstance(each, Binding)]
    every = {place.title: place for place in (*PLACES, *keymaps.QUERY_HELP, *keymaps.NODE_HELP)}
    return {
        "everywhere": {each.key: f"{each.action}: {each.description}" for each in bound},
        "places": {title.strip(): _rows(place) for title, place in every.items()},
        "foot of a focused message": [" ".join(each) for each in FOCUSED],
        "foot of a focused message of a story": [" ".join(each) for each in STORY_FOCUSED],
        "order of the help": [place.title for place in PLACES],
        "help of the query screen": _headings(keymaps.QUERY_HELP),
        "help of a node": _headings(keymaps.NODE_HELP),
    }


def settings() -> dict[str, Any]:
    """Every setting by its key in the file."""
    types = {name: field.annotation for name, field in Settings.model_fields.items()}
    types |= {f"sampling.{name}": field.annotation for name, field in Sampling.model_fields.items()}
    return {
        f"{each.key} CLEW_{each.key.upper().replace('.', '__')}": _line(
            f"{kind_of(types[each.key])} = {json.dumps(each.default)}",
            allowed=[each.allowed] if each.allowed else each.choices,
            force=[str(each.force)],
        )
        for each in SETTINGS
    }


def settings_file() -> str:
    """The commented file that a new home gets."""
    return CONFIG_TEXT


def _headings(places: tuple[KeyContext, ...]) -> list[str]:
    return [place.title for place in places]


def _rows(place: KeyContext) -> dict[str, str]:
    """The rows of the help by what they are labelled with; further ones of a label have a number."""
    found: dict[str, str] = {}
    for row in place.rows:
        labelled = sum(label.partition(" #")[0] == row.label for label in found)
        found[f"{row.label} #{labelled + 1}" if labelled else row.label] = _row(row)
    return found


def _row(row: KeyRow) -> str:
    does = [f"{key} → {action}" for key, action in actions_of((row,)).items()]
    return _line(row.words, foot=[row.foot], sign=[row.sign], keys=does)


def _line(words: str, **more: Iterable[str]) -> str:
    """One line: the words, then by name what there is of the rest."""
    there = ((name, "; ".join(filter(None, values))) for name, values in more.items())
    return " · ".join([words, *(f"{name}: {value}" for name, value in there if value)])
