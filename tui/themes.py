"""The two themes of clew, dark and light: warm grounds and a golden thread; and the colours of a story's cast."""

import tomllib
from collections.abc import Collection
from pathlib import Path

from textual.theme import Theme

from tui.text import MUTED, one_line

DARK = Theme(
    name="clew-dark",
    dark=True,
    primary="#e0a458",
    secondary="#7fa7cc",
    accent="#86c5a4",
    success="#86c5a4",
    warning="#e3bf6b",
    error="#e5736f",
    foreground="#d9d6cf",
    background="#14151a",
    surface="#1a1c22",
    panel="#22252d",
    variables={
        "border": "#3a3e49",
        "block-cursor-background": "#2c2f39",
        "block-cursor-foreground": "#f0ece2",
        "block-cursor-text-style": "none",
        "input-selection-background": "#e0a458 30%",
        "scrollbar": "#2a2d36",
        "scrollbar-hover": "#3a3e49",
        "scrollbar-active": "#e0a458",
        "scrollbar-background": "#14151a",
        "scrollbar-background-hover": "#14151a",
        "scrollbar-background-active": "#14151a",
        "footer-key-foreground": "#e0a458",
    },
)

LIGHT = Theme(
    name="clew-light",
    dark=False,
    primary="#9a5a00",
    secondary="#2d628c",
    accent="#26704f",
    success="#26704f",
    warning="#8a5f00",
    error="#b3261e",
    foreground="#2a2926",
    background="#fbf9f5",
    surface="#f3efe7",
    panel="#e9e3d8",
    variables={
        "border": "#c9c1b2",
        "block-cursor-background": "#e2d9c8",
        "block-cursor-foreground": "#1d1c1a",
        "block-cursor-text-style": "none",
        "input-selection-background": "#9a5a00 25%",
        "scrollbar": "#ddd5c6",
        "scrollbar-hover": "#c9c1b2",
        "scrollbar-active": "#9a5a00",
        "scrollbar-background": "#fbf9f5",
        "scrollbar-background-hover": "#fbf9f5",
        "scrollbar-background-active": "#fbf9f5",
        "footer-key-foreground": "#9a5a00",
    },
)

SEATS = {"you": "$primary", "host": "$accent", "guest": "$secondary"}
HERE, THERE = "●", "○"  # present, or a witness; and not


def seat_style(seat: str) -> str:
    """The colour of whoever has a seat in a story."""
    return SEATS.get(seat, MUTED)


THEMES = (DARK, LIGHT)
SHORT_NAMES = {"dark": DARK.name, "light": LIGHT.name, "": DARK.name}


def full_name(name: str) -> str:
    """The theme that `name` means: `dark` and `light` are clew's own, any other name is Textual's."""
    return SHORT_NAMES.get(name, name)


def known_theme(name: str, known: Collection[str]) -> str:
    """The theme of that name, or the dark one if there is none."""
    return name if name in known else DARK.name


def unknown_theme(name: str, known: Collection[str]) -> str:
    """What to say of a theme in the settings that there is not; empty if there is one."""
    if full_name(name) in known:
        return ""
    return f"Unknown theme in config.toml: {one_line(name)}. Using dark instead. Use /theme to choose another."


def first_theme(config: Path) -> str:
    """The theme to paint with before the settings are loaded and checked, which takes longer than a first paint may."""
    try:
        value = tomllib.loads(config.read_text(encoding="utf-8")).get("theme", "")
    except (OSError, ValueError):
        return DARK.name
    return full_name(value) if isinstance(value, str) else DARK.name
