"""A session's title: its first words at once, then what the model proposes where the words bear it out."""

import re

from pydantic import BaseModel, Field

from graph.titles import LONGEST
from graph.titles import verbatim as verbatim
from models.errors import RunError
from models.protocols import Generator

EXCERPT = 600
ASK = "Give this conversation a title of two to six words, using its own words. No quotes, no full stop."


class GeneratedTitle(BaseModel):
    """What the model is held to while decoding."""

    title: str = Field(min_length=3, max_length=60)


async def propose_title(generator: Generator, said: str, reply: str) -> str | None:
    """The model's title for an exchange, or None if it has none that what was said bears out; background.

    The reply helps to find one, but its words are the model's: a chat is called by what a person wanted of it.
    """
    prompt = [
        *generator.frame("system", "You write short titles for conversations.", first=True),
        *generator.frame("user", f"{ASK}\n\nUser: {said[:EXCERPT]}\n\nAssistant: {reply[:EXCERPT]}"),
        *generator.reply_open(),
    ]
    try:
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
