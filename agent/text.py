"""What a person may say, as text that can be kept, shown and put before a model; a chat's title; the user's clock."""

import re
import unicodedata
from datetime import tzinfo
from functools import cache

from pydantic import BaseModel, Field

from agent.errors import EmptyMessage
from agent.question import asking
from graph.letters import paired
from graph.readings.rows import LONGEST
from graph.readings.rows import verbatim as verbatim
from models.errors import RunError
from models.protocols import Generator

# C0 and C1 controls but for tab and newline: they mean nothing in a message, and much to a terminal.
CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")

# Letters, marks and symbols that show nothing by themselves; those of the category Cf are told by that.
INVISIBLE = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]")


def fenced(name: str, content: str) -> str:
    """A text that goes along with a message, named, in a fence of its own: it is quoted, and said by nobody."""
    longest = max((len(run) for run in re.findall(r"`{3,}", content)), default=2)
    fence = "`" * (longest + 1)
    return f"{name}:\n{fence}\n{content.rstrip(chr(10))}\n{fence}"


def clean_message(raw: str) -> str:
    """The message with newlines made one kind, controls and lone surrogates replaced, and the ends trimmed.

    Raises EmptyMessage if nothing is left, or nothing that can be seen.
    """
    text = paired(raw.replace("\r\n", "\n").replace("\r", "\n"))
    text = CONTROLS.sub("\N{REPLACEMENT CHARACTER}", text).strip()
    if not any(map(_is_seen, text)):
        raise EmptyMessage("The message is empty. Nothing was sent or stored.")
    return text


def _is_seen(char: str) -> bool:
    return not (char.isspace() or unicodedata.category(char) == "Cf" or INVISIBLE.match(char))


@cache
def local_zone() -> tzinfo:
    """The system's time zone."""
    from tzlocal import get_localzone

    return get_localzone()


EXCERPT = 600
ASK = "Give this conversation a title of two to six words, using its own words. No quotes, no full stop."


class GeneratedTitle(BaseModel):
    """What the model is held to while decoding."""

    title: str = Field(min_length=3, max_length=60)


async def propose_title(generator: Generator, said: str, reply: str) -> str | None:
    """The model's title for an exchange, or None if it has none that what was said bears out; background.

    The reply helps to find one, but its words are the model's: a chat is called by what a person wanted of it.
    """
    shown = f"{ASK}\n\nUser: {said[:EXCERPT]}\n\nAssistant: {reply[:EXCERPT]}"
    try:
        prompt = await asking(generator, "You write short titles for conversations.", shown)
        answer = await generator.structured(prompt, GeneratedTitle, max_tokens=64)
    except RunError:
        return None
    proposed = " ".join(answer.title.split()).strip(" \"'.:“”")
    return proposed if grounded(proposed, said) else None


def grounded(title: str, source: str) -> bool:
    """Whether a title is short, and its numbers and most of its longer words (two or more) occur in the source."""
    words = [word for word in re.findall(r"\w+", title.casefold()) if len(word) > 3]
    known = set(re.findall(r"\w+", source.casefold()))
    if len(words) < 2 or len(title) > LONGEST or not known.issuperset(re.findall(r"\d+", title)):
        return False
    return sum(word in known for word in words) * 3 >= len(words) * 2
