"""Letters that can be written down: half of a surrogate pair, which JSON and other encodings can hold, is none."""


def paired(text: str) -> str:
    """The text with surrogates in pairs as their character, and each lone one as U+FFFD."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text
