"""What a person may say: one function turns any input into text that can be kept, shown and put before a model."""

import re

from .errors import EmptyMessage

# C0 and C1 controls but for tab and newline: they mean nothing in a message, and much to a terminal.
CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def clean_message(raw: str) -> str:
    """The message with newlines made one kind, controls and lone surrogates replaced, and the ends trimmed.

    Raises EmptyMessage if nothing is left.
    """
    text = raw.replace("\r\n", "\n").replace("\r", "\n")
    text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    text = CONTROLS.sub("\N{REPLACEMENT CHARACTER}", text).strip()
    if not text:
        raise EmptyMessage("The message is empty, so nothing was sent or stored. Write something and press Enter.")
    return text
