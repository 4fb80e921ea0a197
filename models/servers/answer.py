"""One streamed answer of a chat server, as it comes: what may be seen of it, its counts, and how it ended."""

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from models.errors import ServerBroken, ServerError, ServerLost
from models.servers.client import DONE, RETRY
from models.servers.written_object import FirstObject
from models.template import ReplyText

Hear = Callable[[str, bool], None]  # text that may be seen, and whether the model is thinking
COUNTS_S = 2.0  # that counts may come after the end of the text
NO_OBJECT, OBJECT_S = 600, 20.0  # bytes of words, or seconds of them, after which no object is waited for
AT_ONCE = 64  # characters: the end of a segment of reasoning is looked for in the last 200
# What one model is called besides its name: a date or a version, a variant, the file's kind.
SUFFIX = re.compile(r"(?:[-@:](?:latest|v?\d{3,}(?:-\d\d){0,2}))*(?:@\w+)?(?:\.gguf)?\Z")


@dataclass
class Answer:
    """What came of it. `most` bytes are read of one that has no end; counts are None where the server told none.

    `others` are the server's other models: any other name than the one that was asked may be that of an alias.
    """

    server: str
    model: str
    most: int
    others: Collection[str] = ()
    reason: Literal["end", "length"] | None = None
    begun: bool = False
    thinking: bool = False
    prompt_tokens: int | None = None
    cached_tokens: int | None = None
    completion_tokens: int | None = None
    first_s: float | None = None  # until the first word, thought or said
    _came: int = 0
    _words: int = 0
    _reply: ReplyText = field(default_factory=ReplyText)

    async def read(self, events: AsyncIterator[dict[str, Any]], hear: Hear, found: FirstObject | None = None) -> None:
        """All of it; where it is read for an object, only until that is found, or there is but words.

        Raises ServerError where it did not come to an end; what came was heard then, too.
        """
        loop = asyncio.get_running_loop()
        start, ends = loop.time(), 0.0
        try:
            async with asyncio.timeout(None) as limit:
                async for event in events:
                    text = self._take(event)
                    if self.first_s is None and (text or self.thinking):
                        self.first_s = loop.time() - start
                    hear(text, self.thinking)
                    if found is not None and found.whole:
                        self.reason = "end"
                    wordy = found is not None and not found.begun and self._words > 0
                    if self._came > self.most or (wordy and self._words > NO_OBJECT):
                        self.reason = self.reason or "length"
                        break
                    if self.reason is not None:
                        ends = ends or loop.time() + COUNTS_S
                        limit.reschedule(ends)
                    else:
                        limit.reschedule((limit.when() or loop.time() + OBJECT_S) if wordy else None)
        except TimeoutError:
            self.reason = self.reason or "length"
        except ServerError:
            if self.reason is None:
                raise
        finally:
            _, rest = self._reply.end()
            self.begun = self.begun or bool(rest)
            hear(rest, False)
            if found is not None and found.whole:
                self.reason = "end"
        if self.reason is None:
            what = "the connection ended in the middle" if self.begun else "its answer ended before it began"
            raise ServerLost(self.server, what, RETRY)

    def _take(self, event: Mapping[str, Any]) -> str:
        """What may be seen of one event. Raises ServerBroken where another model answers."""
        if event == DONE and self.begun:
            self.reason = self.reason or "end"
        told = event.get("model")
        if isinstance(told, str) and told and self._is_other(told):
            what = f"it answers with the model “{_name(told)}”, and “{_name(self.model)}” was asked"
            raise ServerBroken(self.server, what, "Your chats are safe. Choose one of its models (/model).")
        self._count(event.get("usage"))
        choice = _first(event.get("choices"))
        if ended := choice.get("finish_reason"):
            self.reason = "length" if ended == "length" else "end"
        delta = _mapping(choice.get("delta"))
        content, thought = (_text(delta, name) for name in ("content", "reasoning_content"))
        thought += _text(delta, "reasoning")
        self._came += 1 + len(content.encode("utf-8", "replace")) + len(thought.encode("utf-8", "replace"))
        for at in range(0, len(content), AT_ONCE):
            self._reply.push(0, content[at : at + AT_ONCE].encode("utf-8", "replace"))
        _, text = self._reply.take()
        self.thinking = self._reply.thinking or bool(thought and not content)
        self.begun = self.begun or bool(text)
        self._words += len(text)
        return text

    def _is_other(self, told: str) -> bool:
        return not same_model(self.model, told) and any(same_model(each, told) for each in self.others)

    def _count(self, usage: Any) -> None:
        """Counts that are missing or zero were not told."""
        usage = _mapping(usage)
        self.prompt_tokens = _number(usage, "prompt_tokens") or self.prompt_tokens
        self.completion_tokens = _number(usage, "completion_tokens") or self.completion_tokens
        details = _mapping(usage.get("prompt_tokens_details"))
        self.cached_tokens = _number(details, "cached_tokens") or self.cached_tokens


def same_model(asked: str, told: str) -> bool:
    """Whether two names are of one model: they differ in a folder before it, or in a suffix that is no other model."""
    left, right = asked.casefold(), told.casefold()
    if "/" not in left or "/" not in right or right.startswith("/"):
        left, right = left.rpartition("/")[2], right.rpartition("/")[2]
    short, long = sorted((left, right), key=len)
    return long.startswith(short) and SUFFIX.match(long, len(short)) is not None


def _first(choices: Any) -> Mapping[str, Any]:
    """The first choice of an event; empty where it has none."""
    found = choices if isinstance(choices, list) else []
    return next((each for each in found if isinstance(each, dict) and not each.get("index")), {})


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(values: Mapping[str, Any], name: str) -> str:
    found = values.get(name)
    return found if isinstance(found, str) else ""


def _number(values: Mapping[str, Any], name: str) -> int | None:
    found = values.get(name)
    return found if isinstance(found, int) and not isinstance(found, bool) and found > 0 else None


def _name(text: str) -> str:
    return "".join(each for each in text if each.isprintable())[:80]
