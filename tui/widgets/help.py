"""The words of the help, written from the table of actions."""

from textual.content import Content

from tui.actions import COMPOSER_KEYS, LIST_KEYS, MESSAGE_KEYS, by_group, key_name
from tui.text import MUTED, plain

WIDE = 16


def help_content(width: int) -> Content:
    """The whole help for a dialog `width` cells wide inside."""
    parts: list[Content] = []
    for title, keys in (("Writing", COMPOSER_KEYS), ("Messages (Tab)", MESSAGE_KEYS), ("List of chats", LIST_KEYS)):
        parts.extend((Content(""), _heading(title)))
        parts.extend(_row(key, words, width) for key, words in keys)
    for group, actions in by_group():
        parts.extend((Content(""), _heading(f"Commands: {group}")))
        for action in actions:
            keys_of = ", ".join(key_name(key) for key in action.keys)
            words = f"{action.title} ({keys_of})" if keys_of else action.title
            parts.append(_row(f"/{action.slash}", words, width))
    return Content("\n").join(parts[1:])


def _heading(title: str) -> Content:
    return plain(title, "bold $primary")


def _row(key: str, words: str, width: int) -> Content:
    if width < 2 * WIDE:
        return Content.assemble(plain(key, "bold"), "  ", plain(words, MUTED))
    room = max(8, width - WIDE)
    lines = plain(words, MUTED).wrap(room)
    rows = [Content.assemble(plain(f"{key:<{WIDE}}", "bold"), lines[0])] if lines else [plain(key, "bold")]
    return Content("\n").join([*rows, *(Content.assemble(" " * WIDE, line) for line in lines[1:])])
