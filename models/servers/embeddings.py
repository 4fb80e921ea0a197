"""ServerEmbedder: the Embedder over a server's `/v1/embeddings`, a llama-server's or any other's.

With every request goes one short text of clew's own whose vector has been known since the server was connected. So it
is noticed when another model answers, also one whose vectors are as long: mixed with the others they would only make
recall wrong.
"""

import asyncio
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from models.errors import EngineClosed, ServerBroken, ServerBusy, ServerError, ServerLost
from models.protocols import ModelInfo
from models.servers.client import RETRY, ServerClient
from models.servers.llama_tokens import unreadable
from models.servers.refusals import CONTEXT, NUMBER, said
from models.servers.turns import Turns, ended
from models.servers.vectors import CHOOSE_AGAIN, alike, vectors_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Input = str | list[int]  # a text, or at a llama-server its token ids

PROBE = "The lighthouse of the old harbour is lit at dusk."
BATCH = 16  # texts of one request
BRIEF_S = 5.0  # for a text that somebody waits for
PATIENCE_S = 10.0  # that a busy server may want to be left alone
LONGEST = 2048  # tokens of one text; what is longer is cut
TOKEN_BYTES = 3  # of a token that nobody counts, with some to spare
TOKEN_CHARACTERS = 16  # of one that is counted: no text of more is worth tokenizing
SPARE = 8  # tokens that stand around a text
OPENING = frozenset("<[")  # what control tokens begin with, which a llama-server takes out of a text for such
LEAST = 64  # tokens; a smaller context has nothing to do with what was asked
TOO_LARGE = re.compile(r"too large to process|physical batch|input.{0,40}too (long|large)")


class ServerEmbedder:
    """One embedding model on a server. Made by `connect_embedder`; usable from one event loop."""

    def __init__(
        self,
        client: ServerClient,
        *,
        model: str,
        name: str,
        path: str,
        context: int,
        probe: "NDArray[np.float32]",
        size: int = 0,
        tokenizes: bool = False,
    ) -> None:
        """`path` is that of the embeddings, `context` in tokens; `probe`: float32[dimension], the vector of PROBE.

        `tokenizes`: it is a llama-server, which is asked where a long text is to be cut.
        """
        self.probe = probe
        self._client = client
        self._model = model
        self._path = path
        self._tokenizes = tokenizes
        away = "" if client.address.local else client.address.host
        self._info = ModelInfo(name, Path(name), "", size, min(context, LONGEST), "none", away)
        self._turns = Turns()
        self._brief: set[asyncio.Task[NDArray[np.float32]]] = set()
        self._closed = False

    @property
    def info(self) -> ModelInfo:
        return self._info

    @property
    def dimension(self) -> int:
        return len(self.probe)

    async def embed(self, texts: Sequence[str], *, brief: bool = False, most: int | None = None) -> Any:
        """float32[len(texts), dimension], each row of length 1; texts beyond `info.context` or `most` are cut.

        `brief` goes at once, on a connection of its own; what of the background is under way is asked again after it.
        Raises ServerError, and EngineClosed.
        """
        import numpy as np

        if self._closed:
            raise EngineClosed
        made = [np.zeros((0, self.dimension), np.float32)]
        for at in range(0, len(texts), BATCH):
            batch = texts[at : at + BATCH]
            made.append(await (self._at_once(batch, most) if brief else self._in_its_turn(batch, most)))
        return np.concatenate(made)

    async def close(self) -> None:
        """End what runs; whoever still waits gets EngineClosed. Idempotent."""
        if self._closed:
            return
        self._closed = True
        for task in [*self._brief]:
            await ended(task)
        await self._turns.close()
        await self._client.close()

    async def _in_its_turn(self, texts: Sequence[str], most: int | None) -> "NDArray[np.float32]":
        return await self._turns.background(lambda: self._vectors(texts, most, patient=True))

    async def _at_once(self, texts: Sequence[str], most: int | None) -> "NDArray[np.float32]":
        with self._turns.foreground():
            task = asyncio.create_task(self._vectors(texts, most, patient=False))
            self._brief.add(task)
            try:
                await asyncio.wait([task], timeout=BRIEF_S)
            finally:
                self._brief.discard(task)
                await ended(task)
        if task.cancelled():
            if self._closed:
                raise EngineClosed
            raise ServerLost(self._client.address.name, "nothing came from it for too long", RETRY)
        return task.result()

    async def _vectors(self, texts: Sequence[str], most: int | None, *, patient: bool) -> "NDArray[np.float32]":
        """The vectors of a batch; where it is too long, of shorter beginnings."""
        limit = min(self._info.context, most or self._info.context)
        while True:
            inputs = [await self._cut(text, limit) for text in texts]
            try:
                return await self._asked(inputs, patient=patient)
            except ServerError as error:
                shorter = self._shorter(error, limit)
                if shorter is None:
                    raise
                limit = shorter

    def _shorter(self, error: ServerError, limit: int) -> int | None:
        """How many tokens a text may have, where a server says that one is too long; what it tells is kept to."""
        words = said(error)
        if limit <= LEAST or not (CONTEXT.search(words) or TOO_LARGE.search(words)):
            return None
        numbers = [int(each.replace(",", "")) for each in NUMBER.findall(words)]
        told = min((each for each in numbers if LEAST <= each < limit), default=None)
        if told is None:
            return max(limit // 2, LEAST)
        self._info = replace(self._info, context=min(told, self._info.context))
        return told

    async def _asked(self, inputs: Sequence[Input], *, patient: bool) -> "NDArray[np.float32]":
        """One request; a second time where the connection was lost, or soon where it is busy and nobody waits."""
        lost = waited = False
        while True:
            try:
                found = await self._client.asked(self._path, {"model": self._model, "input": [*inputs, PROBE]})
            except ServerLost:
                if lost:
                    raise
                lost = True
            except ServerBusy as error:
                if waited or not patient or error.after_s is None or error.after_s > PATIENCE_S:
                    raise
                waited = True
                await asyncio.sleep(error.after_s)
            else:
                return self._checked(found, len(inputs))

    def _checked(self, found: Any, count: int) -> "NDArray[np.float32]":
        server = self._client.address.name
        rows = vectors_of(found, count + 1, server=server, model=self._model, dimension=self.dimension)
        if not alike(rows[-1], self.probe):
            raise ServerBroken(server, "another model answers there than at first", CHOOSE_AGAIN)
        return rows[:-1]

    async def _cut(self, text: str, most: int) -> Input:
        """A text of `most` tokens at most: as it is, or its beginning. Nothing in it becomes a control token."""
        data = (text or " ").encode("utf-8", "replace")
        if not self._tokenizes:
            return data[: most * TOKEN_BYTES].decode("utf-8", "ignore")
        if len(data) + SPARE <= most and not OPENING & set(text):  # a token has a byte at least
            return data.decode()
        asked = {"content": text[: most * TOKEN_CHARACTERS].encode("utf-8", "replace").decode()}
        match await self._client.asked("/tokenize", asked | {"add_special": True, "parse_special": False}):
            case {"tokens": [_, *_] as tokens} if all(isinstance(token, int) for token in tokens):
                return tokens if len(tokens) <= most else [*tokens[: most - 1], tokens[-1]]  # the one that ends it
        raise unreadable(self._client, "tokens")
