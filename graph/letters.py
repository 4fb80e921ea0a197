"""Letters that can be written down: half of a surrogate pair, which JSON and other encodings can hold, is none."""

from typing import Any


def paired(text: str) -> str:
    """The text with surrogates in pairs as their character, and each lone one as U+FFFD."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def paired_in(value: Any) -> Any:
    """A value of JSON with all its texts, and the names in it, paired."""
    match value:
        case str():
            return paired(value)
        case list():
            return [paired_in(each) for each in value]
        case dict():
            return {paired(name): paired_in(each) for name, each in value.items()}
        case _:
            return value
