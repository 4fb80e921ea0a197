"""How much a turn matters in a life, by rule: 0 routine, 1 notable, 2 significant, 3 pivotal. When in doubt, less."""

from .statements import statements


def rate(said: str) -> int:
    """The significance of what a person said, 0-3."""
    return 1 if statements(said, turn="") else 0
