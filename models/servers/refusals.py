"""What a server means by the words in which it refuses: there is no standard for them, only habits."""

import re

from models.errors import ContextFull, ServerBroken, ServerError, ServerRefused

CONTEXT = re.compile(
    r"context_length|exceed_context|context.{0,40}\b(length|size|window|limit)|exceed.{0,60}context"
    r"|prompt is too long|too many (input )?tokens"
)
ROLES = re.compile(r"\broles?\b|alternat|template|jinja|system (message|prompt|instruction)|(first|last) message")
SYSTEM = re.compile(r"system.{0,40}(not|un)\s?-?support|system role")
SCHEMA = re.compile(r"response_?\s?format|json[_ ]?(schema|object|mode)|structured output|guided|grammar|\bschema\b")
ONE_SCHEMA = re.compile(r"invalid (json )?schema|schema.{0,40}(invalid|not (allowed|permitted)|unsupported)")
NUMBER = re.compile(r"\d[\d,]*")
SMALLEST_CONTEXT = 64  # a smaller number in a sentence on tokens counts something else


def said(error: ServerError) -> str:
    """What the server itself said when it refused what was asked, in small letters; "" for any other failure."""
    refused = isinstance(error, ServerRefused) and error.status in (400, 413, 422, 501)
    if not refused and not isinstance(error, ServerBroken):  # templates and grammars that fail are told as a 500, too
        return ""
    return error.said.lower()


def context_full(error: ServerError, *, tokens: int, context: int) -> ContextFull | None:
    """The same as the error of a prompt that is too long, where it means that; by its own counts where it tells them.

    `tokens` and `context` are ours.
    """
    words = said(error)
    if not isinstance(error, ServerRefused) or not CONTEXT.search(words):
        return None
    numbers = [int(each.replace(",", "")) for each in NUMBER.findall(words)]
    told = [each for each in numbers if each >= SMALLEST_CONTEXT][:2]
    if len(told) == 2 and told[0] != told[1]:
        return ContextFull(max(told), min(told))
    return ContextFull(tokens, min(context, tokens))
