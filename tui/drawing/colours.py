"""The colours of a drawing on paper: those of clew's themes, with two that lie between words and ground."""

from textual.color import Color

from tui.themes import DARK, LIGHT


def colours(*, dark: bool) -> dict[str, str]:
    """Hexadecimal colours by name."""
    theme = DARK if dark else LIGHT
    ground, words = (Color.parse(colour or "") for colour in (theme.background, theme.foreground))
    named = {name: getattr(theme, name) for name in ("primary", "secondary", "accent", "warning", "error")}
    blended = {"line": ground.blend(words, 0.4).hex, "faint": ground.blend(words, 0.65).hex}
    return {**named, **blended, "foreground": words.hex, "background": ground.hex}
