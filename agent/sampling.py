"""Sampling settings as a person writes them: `temperature=0.2 top_k=10`, on top of those in force."""

from pydantic import ValidationError

from graph.events import RANDOM, Sampling

from .errors import SettingsError


def read_sampling(text: str, now: Sampling) -> Sampling:
    """The settings `now` with those named in `text` changed; pairs NAME=VALUE, between blanks or commas.

    Raises SettingsError, which names what is wrong; nothing is changed then.
    """
    changes: dict[str, str] = {}
    for pair in text.replace(",", " ").split():
        name, equals, value = pair.partition("=")
        if not equals or name not in Sampling.model_fields:
            known = ", ".join(Sampling.model_fields)
            raise SettingsError(f"“{pair}” is not a sampling setting. Write NAME=VALUE with one of: {known}.")
        changes[name] = value
    try:
        return Sampling.model_validate(now.model_dump() | changes)
    except ValidationError as error:
        problem = error.errors()[0]
        name = ".".join(str(part) for part in problem["loc"])
        raise SettingsError(f"{name} cannot be {problem['input']!r}: {problem['msg']}. Nothing was changed.") from error


def write_sampling(settings: Sampling) -> str:
    """The settings as `read_sampling` reads them."""
    return " ".join(f"{name}={RANDOM if value is None else value}" for name, value in settings)
