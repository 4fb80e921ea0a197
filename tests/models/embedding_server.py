"""A server of embeddings on the loopback address: its vectors are made of the words of a text, and it fails as told."""

import asyncio
import hashlib
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from tests.models.chat_server import ChatServer, Request, Scripted, chat_server

MODEL = "nomic-embed-text:latest"
Fault = Scripted | Callable[[dict[str, Any]], Any]  # instead of an answer, or made of it


def answer(value: Any, status: int = 200, **headers: str) -> Scripted:
    """JSON, in one part; headers with _ for -."""
    named = {name.replace("_", "-"): told for name, told in headers.items()}
    return Scripted([json.dumps(value).encode()], status, named)


def vector(text: str, dimension: int) -> list[float]:
    """Of some length; texts that share words are near."""
    made = [0.0] * dimension
    for word in text.lower().split() or [""]:
        digest = hashlib.sha256(word.encode()).digest()
        made[int.from_bytes(digest[:4]) % dimension] += 1 + digest[4] / 256
    return made


@dataclass
class EmbeddingServer:
    """`faults` are for the next requests for vectors, in their order; a request waits at `gate` while that is closed.

    `most` bytes a text may have; `batches` are the texts of each request, without the last one, which is clew's own.
    """

    site: ChatServer = field(default_factory=ChatServer)
    dimension: int = 16
    salt: str = ""  # another one is another model
    models: list[dict[str, Any]] = field(default_factory=lambda: [{"id": MODEL}])
    faults: list[Fault] = field(default_factory=list)
    most: int | None = None
    gate: asyncio.Event = field(default_factory=asyncio.Event)
    batches: list[list[Any]] = field(default_factory=list)
    waiting: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def address(self) -> str:
        return self.site.address

    def __call__(self, request: Request) -> Scripted:
        match request.path:
            case "/v1/models":
                return answer({"object": "list", "data": self.models})
            case "/v1/embeddings":
                return self._vectors(request.body)
        return answer({"error": {"message": "no such path"}}, 404)

    def _vectors(self, body: Any) -> Scripted:
        texts = body["input"]
        self.batches.append(texts[:-1])
        if self.most is not None and any(len(text.encode()) > self.most for text in texts):
            return answer({"error": {"message": f"maximum context length is {self.most // 3} tokens"}}, 400)
        rows = [vector(self.salt + text, self.dimension) for text in texts]
        data = [{"object": "embedding", "index": at, "embedding": row} for at, row in enumerate(rows)]
        whole: Any = {"object": "list", "model": body["model"], "data": data}
        fault = self.faults.pop(0) if self.faults else None
        if isinstance(fault, Scripted):
            return fault
        if fault is not None:
            whole = fault(whole)
        told = json.dumps(whole).encode()
        if self.gate.is_set() or len(texts) <= 2:
            return Scripted([told])
        self.waiting.set()
        return Scripted([self.gate, told])


@asynccontextmanager
async def embedding_server(**made: Any) -> AsyncIterator[EmbeddingServer]:
    """A running one; its gate is open."""
    server = EmbeddingServer(**made)
    server.gate.set()
    async with chat_server(server) as site:
        server.site = site
        yield server
