"""Core blocks: short texts that are in every prompt; what one may be called and say, and what it is called there.

In a prompt a block is identified by its version, the event that wrote it, so that one which was written anew is new to
a prompt that holds the old one.
"""

import re

from graph.beliefs import CoreBlock

from .errors import AgentError
from .text import clean_message

NAME = re.compile(r"[\w-]{1,32}")
LONGEST = 2000  # characters
PREFIX = "block:"


def block_name(name: str) -> str:
    """A core block's name, checked. Raises AgentError."""
    if not NAME.fullmatch(name):
        raise AgentError("A core block's name can have up to 32 letters, digits, - and _. Nothing was changed.")
    return name


def block_text(text: str) -> str:
    """What a core block is to say, cleaned; it may be empty. Raises AgentError."""
    says = clean_message(text) if text.strip() else ""
    if len(says) > LONGEST:
        raise AgentError(
            f"That is {len(says):,} characters. A core block can have at most {LONGEST:,}, as it is in every prompt. "
            "Nothing was changed. Shorten it."
        )
    return says


def block_id(block: CoreBlock) -> str:
    """How a prompt and a context pack name this version of a block."""
    return f"{PREFIX}{block.name}@{block.version}"


def name_of(id: str) -> str:
    """The name in a block's id."""
    return id.removeprefix(PREFIX).rpartition("@")[0]


def version_of(id: str) -> int:
    """The version in a block's id; 0 for none."""
    version = id.rpartition("@")[2]
    return int(version) if version.isascii() and version.isdigit() else 0
