"""The words of the help, written from the table of actions."""

from textual.content import Content

from tui.actions import COMPOSER_KEYS, LIST_KEYS, MEMORIES_KEYS, MEMORY_KEYS, MESSAGE_KEYS, by_group, key_name
from tui.text import plain
from tui.widgets.columns import row

WIDE = 16


def help_content(width: int) -> Content:
    """The whole help for a dialog `width` cells wide inside."""
    parts: list[Content] = []
    places = (
        ("Writing", COMPOSER_KEYS),
        ("Messages (Tab)", MESSAGE_KEYS),
        ("List of chats (F2)", LIST_KEYS),
        ("Recalled (F7)", MEMORY_KEYS),
        ("What was learned (F4)", MEMORIES_KEYS),
    )
    for title, keys in places:
        parts.extend((Content(""), _heading(title)))
        parts.extend(row(key, words, width, WIDE) for key, words in keys)
    for group, actions in by_group():
        parts.extend((Content(""), _heading(f"Commands: {group}")))
        for action in actions:
            keys_of = ", ".join(key_name(key) for key in action.keys)
            words = f"{action.title} ({keys_of})" if keys_of else action.title
            parts.append(row(f"/{action.slash}", words, width, WIDE))
    return Content("\n").join(parts[1:])


def memories_help(width: int) -> Content:
    """The keys of the memory screen alone."""
    return Content("\n").join(row(key, words, width, WIDE) for key, words in MEMORIES_KEYS)


def _heading(title: str) -> Content:
    return plain(title, "bold $primary")
