"""A session's title: its first words at once, then what the model proposes where the words bear it out."""

import re

from pydantic import BaseModel, Field

from models.errors import RunError
from models.protocols import Generator

LONGEST = 48
EXCERPT = 600
ASK = "Give this conversation a title of two to six words, using its own words. No quotes, no full stop."


class Title(BaseModel):
    """What the model is held to while decoding."""

    title: str = Field(min_length=3, max_length=60)


async def propose_title(generator: Generator, said: str, reply: str) -> str | None:
    """The model's title for an exchange, or None if it has none that the words bear out; background."""
    prompt = [
        *generator.frame("system", "You write short titles for conversations.", first=True),
        *generator.frame("user", f"{ASK}\n\nUser: {said[:EXCERPT]}\n\nAssistant: {reply[:EXCERPT]}"),
        *generator.reply_open(),
    ]
    try:
        answer = await generator.structured(prompt, Title, max_tokens=64)
    except RunError:
        return None
    proposed = " ".join(answer.title.split()).strip(" \"'.:“”")
    return proposed if grounded(proposed, f"{said} {reply}") else None


def grounded(title: str, source: str) -> bool:
    """Whether a title is short, and most of its longer words (two or more) occur in the source: models invent."""
    words = [word for word in re.findall(r"\w+", title.casefold()) if len(word) > 3]
    known = set(re.findall(r"\w+", source.casefold()))
    if len(words) < 2 or len(title) > LONGEST:
        return False
    return sum(word in known for word in words) * 3 >= len(words) * 2


def verbatim(said: str) -> str:
    """The first line with words in it, cut at a word to at most LONGEST characters."""
    line = next((line.strip() for line in said.splitlines() if re.search(r"\w", line)), said.strip())
    line = " ".join(line.split())
    if len(line) <= LONGEST:
        return line
    head, _, _ = line[: LONGEST - 1].rpartition(" ")
    return (head or line[: LONGEST - 1]) + "…"
