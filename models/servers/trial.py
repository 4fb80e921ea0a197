"""What a model on a server can do, found out by asking it: some words of clew's own, never the user's.

Each finding is "yes", "no", or "not told" where nothing can be said of it.
"""

import json
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, Literal

from models.errors import ServerBroken, ServerRefused
from models.servers.client import ServerClient
from models.servers.discovery import ServerReport

Found = Literal["yes", "no", "not told"]

WORD, LINE = 24, 256  # tokens; a model that thinks needs more than it says
SYSTEM = (
    "You answer questions about a small harbour. The harbour has three piers, a lighthouse, a fish market and a boat "
    "yard. The first pier is for the ferry, which leaves at nine in the morning and comes back at six in the evening. "
    "The second pier is for fishing boats; they sell what they caught in the market before noon. The third pier is "
    "for guests, who pay at the lighthouse. The boat yard repairs hulls and sails and is closed on Sundays. Answer "
    "with as few words as you can."
)
SCHEMA = {
    "type": "object",
    "properties": {"bird": {"type": "string", "enum": ["heron", "curlew"]}},
    "required": ["bird"],
    "additionalProperties": False,
}
TOOL = {
    "type": "function",
    "function": {
        "name": "tide",
        "description": "Tells how high the water is in the harbour now.",
        "parameters": {"type": "object", "properties": {"pier": {"type": "integer"}}, "required": ["pier"]},
    },
}


@dataclass(frozen=True, slots=True)
class Findings:
    """What works with one model. `counts` and `slots` are a llama-server's own: prompts are evaluated exactly once."""

    stream: Found
    usage: Found
    cache: Found
    schema: Found
    tools: Found
    embeddings: Found
    counts: Found
    slots: Found


async def tested(client: ServerClient, report: ServerReport, model: str) -> Findings:
    """Ask for a word, for JSON, for a tool and for a vector, in some seconds of a server that is awake.

    `client` is of the address that was reported. Raises ServerError where the model does not reply at all, or the
    server stops answering.
    """
    chat = _Chat(client, f"{report.prefix or _native(report)}/chat/completions", model)
    first = await chat.said("When does the ferry leave?", most=WORD, counted=True)
    if not first.anything:
        what = f"its model {model} sent nothing that can be read as a streamed reply"
        raise ServerBroken(client.address.name, what, "Nothing was changed; --model MODEL tries another one.")
    again = await chat.said("Who pays at the lighthouse?", most=WORD, counted=first.usage is not None)
    return Findings(
        stream="yes" if first.text else "not told",
        usage="yes" if _count(first.usage, "prompt_tokens") and _count(first.usage, "completion_tokens") else "no",
        cache=_cache(again),
        schema=await _schema(chat),
        tools=await _tools(chat),
        embeddings=await _embeddings(client, report, model),
        counts=await _counts(client) if report.kind == "llama" else "not told",
        slots=await _slots(client) if report.kind == "llama" else "not told",
    )


def _native(report: ServerReport) -> str:
    return "/v1" if report.kind == "llama" else ""


@dataclass(slots=True)
class _Said:
    """A reply as it came, and what was told of it."""

    text: str = ""
    thought: bool = False
    called: bool = False
    ended: str = ""
    usage: dict[str, Any] | None = None
    cached: int | None = None

    @property
    def anything(self) -> bool:
        return bool(self.text or self.thought or self.called or _count(self.usage, "completion_tokens"))

    def take(self, event: dict[str, Any]) -> None:
        """Add an event of the stream; of one in another shape what can be read."""
        match event.get("choices"):
            case [{"delta": {**delta}, **choice}, *_]:
                match delta.get("content"):
                    case str(text) if text:
                        self.text += text
                self.thought = self.thought or any(delta.get(each) for each in ("reasoning_content", "reasoning"))
                self.called = self.called or bool(delta.get("tool_calls"))
                match choice.get("finish_reason"):
                    case str(reason):
                        self.ended = reason
        match event:
            case {"usage": dict(usage)}:
                self.usage = usage
        match event:
            case {"usage": {"prompt_tokens_details": {"cached_tokens": int(count)}}}:
                self.cached = count
            case {"timings": {"cache_n": int(count)}}:
                self.cached = count


@dataclass(slots=True)
class _Chat:
    """Asks one model, each time anew with the same beginning."""

    client: ServerClient
    path: str
    model: str

    async def said(self, question: str, *, most: int, counted: bool = False, **more: Any) -> _Said:
        """What it says to a question, streamed; `counted` asks to be told the usage, where that may be asked."""
        messages = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": question}]
        body = {"model": self.model, "messages": messages, "max_tokens": most, "temperature": 0, "stream": True} | more
        if counted:
            try:
                return await self._made(body | {"stream_options": {"include_usage": True}})
            except ServerRefused as error:
                if error.status not in (400, 422):
                    raise
        return await self._made(body)

    async def _made(self, body: dict[str, Any]) -> _Said:
        said = _Said()
        async with aclosing(self.client.stream(self.path, body)) as events:
            async for event in events:
                said.take(event)
        return said


def _cache(said: _Said) -> Found:
    if said.cached is None:
        return "not told"
    return "yes" if said.cached > 0 else "no"


async def _schema(chat: _Chat) -> Found:
    """Asked for something else than the schema wants, so that only one that is honoured leads to JSON of it."""
    wanted = {"type": "json_schema", "json_schema": {"name": "answer", "strict": True, "schema": SCHEMA}}
    try:
        said = await chat.said("On which days is the boat yard closed?", most=LINE, response_format=wanted)
    except (ServerRefused, ServerBroken):
        return "no"
    try:
        match json.loads(said.text):
            case {"bird": "heron" | "curlew", **others} if not others:
                return "yes"
    except (ValueError, RecursionError):
        pass
    return "not told" if said.ended == "length" and not said.text else "no"


async def _tools(chat: _Chat) -> Found:
    """Of a model that rather talks nothing can be said."""
    try:
        said = await chat.said("How high is the water at pier 2 now? Use the tool.", most=LINE, tools=[TOOL])
    except (ServerRefused, ServerBroken):
        return "no"
    return "yes" if said.called else "not told"


async def _embeddings(client: ServerClient, report: ServerReport, model: str) -> Found:
    path = f"{report.prefix or _native(report)}/embeddings"
    try:
        found = await client.asked(path, {"model": model, "input": "The harbour."})
    except (ServerRefused, ServerBroken):
        return "no"
    match found:
        case {"data": [{"embedding": [int() | float(), *_]}, *_]}:
            return "yes"
    return "no"


async def _counts(client: ServerClient) -> Found:
    """Half a prompt and then the whole: of the second only what is new may be evaluated."""
    try:
        match await client.asked("/tokenize", {"content": SYSTEM}):
            case {"tokens": [*tokens]} if len(tokens) > 16 and all(isinstance(each, int) for each in tokens):
                half = tokens[: len(tokens) // 2]
            case _:
                return "no"
        await _evaluated(client, half)
        return "yes" if await _evaluated(client, tokens) == len(tokens) - len(half) else "no"
    except (ServerRefused, ServerBroken):
        return "no"


async def _evaluated(client: ServerClient, prompt: Sequence[int]) -> int | None:
    body = {"prompt": list(prompt), "n_predict": 0, "cache_prompt": True, "temperature": 0}
    match await client.asked("/completion", body):
        case {"timings": {"prompt_n": int(count)}}:
            return count
    return None


async def _slots(client: ServerClient) -> Found:
    try:
        found = await client.asked("/slots")
    except (ServerRefused, ServerBroken):
        return "no"
    return "yes" if isinstance(found, list) and found else "no"


def _count(usage: dict[str, Any] | None, name: str) -> int:
    value = (usage or {}).get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) else 0
