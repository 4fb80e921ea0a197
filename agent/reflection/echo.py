"""Whether a text says an observation again, which then counts as referred to."""

from .words import tokens

LEAST = 12  # characters
WINDOW = 80  # characters


def echoes(text: str, observation: str) -> bool:
    """Whether the normalised text holds the first 80 normalised characters of the observation, at least 12."""
    wanted = " ".join(tokens(observation))[:WINDOW].rstrip()
    return len(wanted) >= LEAST and f" {wanted}" in " " + " ".join(tokens(text))
