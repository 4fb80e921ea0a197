"""Turns what was said into vectors, in the background: newest first, batch by batch, each kept as soon as it is there.

Invariants:
- Nobody waits for it. The engine runs a reply before a batch, also in the middle of a text, and a query's embedding
  before everything; recall goes on with words and with the vectors there are.
- What is kept is kept: a kill costs the batch that was being embedded. What to do next is asked of the memory each
  time, so that nothing is queued only in RAM.
- A text that gives no usable vector is left out until the next start, and counted; it never holds up the others. Where
  one after another is useless, it is the embedder, which is then left alone.
- A server that is away is left alone, for longer each time, and asked nothing meanwhile; this is told once. What had no
  vector then gets one when it is back. A text is left out because of a server only where that embeds another one.
- Of a text longer than the embedder's context (512 tokens for the default one) only the beginning counts; its words
  are found all the same.
"""

import asyncio
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from graph.errors import InvalidVector, MemoryFailure
from graph.memory import Memory
from graph.values import Vector
from models.errors import AddressRefused, EngineClosed, ModelError, ServerBroken, ServerError, ServerRefused

from .background import Worker
from .errors import AgentError
from .events import EmbeddingProgress, Notice
from .model_host import EmbedderLoader, LoadedEmbedder
from .resting import Rest

if TYPE_CHECKING:  # numpy takes longer to import than the first paint may
    import numpy as np
    from numpy.typing import NDArray

PAGE = 256  # texts that are asked for at once
BATCH = 32  # texts that are embedded and kept at once
USELESS = 8  # this many failures one after another are the embedder's, not the texts'
TELL_EVERY_S = 0.2
QUERY_TOKENS = 512
QUERY_CHARACTERS = 8192  # more are not even tokenised
TRIED = "A ship comes in at noon."  # no server has anything against it
OF_TEXTS = (400, 413, 422)  # how a server refuses what it was given, in HTTP's terms
GO_ON = "Recall continues by words only."
ANY_FILE = " or `--model PATH.gguf`"  # advice that holds for chat models only
Text = tuple[bytes, str]  # content hash and text
T = TypeVar("T")


class UselessEmbedder(AgentError):
    """One vector after another cannot be used."""


class Embedding:
    """The background embedder of a memory: `start` it, ask it for a `query`'s vector, `close` it."""

    def __init__(
        self,
        memory: Memory,
        loader: EmbedderLoader,
        notify: Callable[[Notice], None],
        *,
        name: str,
        rest: Rest | None = None,
    ) -> None:
        self._memory = memory
        self._loader = loader
        self._notify = notify
        self._name = name
        self._loaded: LoadedEmbedder | None = None
        self._given_up = False
        self._rest = rest or Rest()
        self._bad: set[bytes] = set()
        self._failures = 0  # one after another
        self._done = self._total = 0
        self._told_at = 0.0
        self._told: EmbeddingProgress | None = None
        self._wake = asyncio.Event()
        self._quiet = asyncio.Event()
        self._quiet.set()
        self._going = asyncio.Event()
        self._going.set()
        self._settled = asyncio.Event()
        self._swapping = asyncio.Lock()
        self._worker = Worker("Search by meaning", self._run, notify)
        self._after: asyncio.Task[None] | None = None
        self._threads: set[asyncio.Future[Any]] = set()

    def start(self, *, after: asyncio.Task[None] | None = None) -> None:
        """Load the embedder, once `after` has ended, and from then on embed whatever is said."""
        loop, others = asyncio.get_running_loop(), self._memory.appended

        def heard() -> None:
            others()
            if not loop.is_closed():
                loop.call_soon_threadsafe(self._heard)

        self._memory.appended = heard
        self._quiet.clear()
        self._after = after
        self._worker.start()

    async def query(self, text: str) -> Vector | None:
        """The vector of what is looked for; None while no embedder is loaded or it is left alone, or where it fails.

        Comes before all other work of the models; the first 512 tokens count.
        """
        loaded = self._loaded
        if loaded is None or not text.strip() or self._rest.lasts:
            return None
        try:
            rows = await loaded.embedder.embed([loaded.query + text[:QUERY_CHARACTERS]], brief=True, most=QUERY_TOKENS)
        except ModelError as error:  # a local one's is told where the batches meet it
            self._met(error)
            return None
        return _unit(loaded, rows[0])

    async def vectors(self, texts: Sequence[str]) -> list[Vector | None]:
        """The vectors of some texts, in the background: behind every reply. None where there is none."""
        loaded = self._loaded
        if loaded is None or not texts or self._rest.lasts:
            return [None] * len(texts)
        try:
            kept = [loaded.passage + (text[:QUERY_CHARACTERS] or " ") for text in texts]
            rows = await loaded.embedder.embed(kept, most=QUERY_TOKENS)
        except ModelError as error:
            self._met(error)
            return [None] * len(texts)
        return [_unit(loaded, row) for row in rows] if len(rows) == len(texts) else [None] * len(texts)

    @property
    def key(self) -> str | None:
        """The key of the model in use, as vectors are kept under it; None while there is none."""
        return self._loaded.key if self._loaded else None

    async def ready(self) -> bool:
        """Wait until the embedder is loaded, or has failed to; whether queries can be embedded."""
        await self._settled.wait()
        return self._loaded is not None

    async def use(self, name: str) -> None:
        """Go on with another embedder, or the same one anew; what has no vector of it yet is embedded.

        Raises ModelError; then the one that was loaded stays.
        """
        async with self._swapping:
            try:
                fresh = await self._load(name)
            except ModelError:
                if self._told is not None:
                    self._notify(self._told)  # as it was
                raise
            before, self._loaded, self._name = self._loaded, fresh, name
            self._given_up, self._failures, self._told = False, 0, None
            self._bad.clear()
            self._rest.end()
            self._settled.set()
            self._heard()
            if before is not None:
                await before.embedder.close()

    async def reload(self) -> None:
        """Load the embedder that is loaded, if one is, once more. Raises as `use` does."""
        if self._loaded is not None:
            await self.use(self._name)

    def pause(self) -> None:
        """Begin no further batch until `resume`; queries are still embedded."""
        self._going.clear()

    def resume(self) -> None:
        """Go on after `pause`."""
        self._going.set()

    async def idle(self) -> None:
        """Wait until everything that can have a vector has one."""
        await asyncio.sleep(0)  # an append that was heard on another thread is on its way
        await self._quiet.wait()

    async def close(self) -> None:
        """Stop, keep what is embedded, give the model back."""
        self._memory.appended = _nobody
        await self._worker.close()
        await asyncio.gather(*self._threads, return_exceptions=True)
        self._rest.end()
        async with self._swapping:
            if self._loaded is not None:
                await self._loaded.embedder.close()
                self._loaded = None
        self._settled.set()
        self._quiet.set()

    # -- the background -------------------------------------------------------------------------------------------

    def _heard(self) -> None:
        if self._rest.lasts:
            return  # it comes to that afterwards
        if (self._loaded is not None or self._rest.troubled) and not self._given_up:
            self._quiet.clear()
        self._wake.set()

    async def _run(self) -> None:
        if self._after is not None:
            await asyncio.wait({self._after})
        async with self._swapping:
            await self._load_first()
        self._settled.set()
        self._wake.set()
        while True:
            if not self._wake.is_set():
                self._quiet.set()
            await self._wake.wait()
            self._wake.clear()
            if self._rest.lasts:
                continue
            if self._loaded is None and self._rest.troubled:
                async with self._swapping:
                    await self._load_first()
            if self._loaded is not None and not self._given_up:
                await self._catch_up(self._loaded)

    async def _load_first(self) -> None:
        if self._loaded is not None:  # `use` may have come first
            return
        try:
            self._loaded = await self._load(self._name, silently=self._rest.troubled)
            self._rest.end()
        except ServerError as error:
            self._leave_alone(error)
        except ModelError as error:
            self._tell("failed", f"{str(error).replace(ANY_FILE, '')} {GO_ON}")

    async def _load(self, name: str, *, silently: bool = False) -> LoadedEmbedder:
        if not silently:
            self._notify(EmbeddingProgress("loading", name))
        task = asyncio.ensure_future(asyncio.to_thread(self._loader, name))
        try:
            return await self._whole(task)
        except asyncio.CancelledError:
            await asyncio.gather(task, return_exceptions=True)
            if not task.cancelled() and task.exception() is None:
                await task.result().embedder.close()
            raise

    async def _catch_up(self, loaded: LoadedEmbedder) -> None:
        """Embed all that has no vector yet; whatever goes wrong is told, and tried again with what is said next.

        A server that was left alone is asked for one text first.
        """
        try:
            if self._rest.troubled:
                await loaded.embedder.embed([TRIED])
                self._rest.end()
            await self._embed_all(loaded)
        except UselessEmbedder as error:
            self._given_up = True
            self._tell("failed", str(error))
        except EngineClosed:
            return  # another embedder took its place, or clew is closing
        except ServerError as error:
            if self._loaded is loaded:
                self._leave_alone(error)
        except (MemoryFailure, ModelError) as error:
            self._tell("failed", f"Vectors cannot be created or saved right now: {error} {GO_ON}")

    def _met(self, error: ModelError) -> None:
        """A server that fails outside of the batches is left alone, too."""
        if isinstance(error, ServerError) and not _refuses_text(error):
            self._leave_alone(error)

    def _leave_alone(self, error: ServerError) -> None:
        refused = isinstance(error, ServerRefused | AddressRefused)
        if self._rest.begin(self._heard, refused=refused):
            self._tell("failed", f"Vectors cannot be created right now: {error} {GO_ON}")

    async def _embed_all(self, loaded: LoadedEmbedder) -> None:
        keeping: asyncio.Task[None] | None = None
        while texts := await self._next_page(loaded):
            if self._told is None or len(texts) >= BATCH:
                self._done, self._total = await self._in_thread(self._memory.readings.embedded, loaded.key)
            else:
                self._total = max(self._total, self._done + len(texts) + len(self._bad))
            try:
                for at in range(0, len(texts), BATCH):
                    await self._going.wait()
                    if self._loaded is not loaded:
                        return
                    batch = texts[at : at + BATCH]
                    vectors = await self._embed(loaded, batch)
                    if keeping is not None:
                        await keeping
                    # One batch is kept while the next is embedded: the engine never waits for the disk.
                    keeping = asyncio.create_task(self._keep(loaded, vectors))
            finally:
                if keeping is not None:
                    await keeping
        if self._told is None:
            self._done, self._total = await self._in_thread(self._memory.readings.embedded, loaded.key)
        now = EmbeddingProgress("ready", self._name, self._done, self._total, self._left_out())
        if now != self._told:
            self._tell("ready", self._left_out())

    async def _next_page(self, loaded: LoadedEmbedder) -> list[Text]:
        found = await self._in_thread(self._memory.unembedded, loaded.key, PAGE + len(self._bad))
        return [each for each in found if each[0] not in self._bad]

    async def _embed(self, loaded: LoadedEmbedder, batch: Sequence[Text]) -> "list[tuple[bytes, NDArray[np.floating]]]":
        """The vectors of a batch; a text that fails alone is left out. Raises ServerError where it is not the text."""
        try:
            rows = await loaded.embedder.embed([loaded.passage + text for _, text in batch])
            if len(rows) == len(batch):
                return [(hash, row) for (hash, _), row in zip(batch, rows, strict=True)]
        except EngineClosed:
            raise
        except ModelError as error:
            if isinstance(error, ServerError):
                if not await self._of_texts(loaded, error):
                    raise
                self._failures = 0
            if len(batch) == 1:
                self._leave_out(batch[0][0], error)
                return []
        if len(batch) == 1:
            self._leave_out(batch[0][0], f"{len(rows)} vectors came for one text")
            return []
        return [pair for each in batch for pair in await self._embed(loaded, [each])]

    async def _of_texts(self, loaded: LoadedEmbedder, error: ServerError) -> bool:
        """Whether a server fails because of what it was given: it embeds another text."""
        if not (isinstance(error, ServerBroken) or _refuses_text(error)):
            return False
        try:
            await loaded.embedder.embed([TRIED])
        except ServerError:
            return False
        return True

    async def _keep(self, loaded: LoadedEmbedder, vectors: "list[tuple[bytes, NDArray[np.floating]]]") -> None:
        """Keep a batch; where a vector in it is useless, the others."""
        try:
            await self._in_thread(self._memory.keep_vectors, loaded.key, vectors)
        except InvalidVector as error:
            if len(vectors) == 1:
                self._leave_out(vectors[0][0], error)
                return
            for pair in vectors:
                await self._keep(loaded, [pair])
            return
        if vectors:
            self._failures = 0
        self._done += len(vectors)
        if asyncio.get_running_loop().time() - self._told_at >= TELL_EVERY_S:
            self._tell("embedding")

    def _leave_out(self, hash: bytes, why: object) -> None:
        """Do without this text's vector for this run. Raises UselessEmbedder after several, one after another."""
        self._bad.add(hash)
        self._failures += 1
        if self._failures >= USELESS:
            raise UselessEmbedder(
                f"{self._name} keeps failing, so it is no longer used. {why} Choose another embedder with `clew "
                f"models use NAME`, or download it again: `clew models rm {self._name}`, then pull."
            )

    def _left_out(self) -> str:
        match len(self._bad):
            case 0:
                return ""
            case 1:
                return "1 text has no vector and is found by words only."
            case count:
                return f"{count} texts have no vector and are found by words only."

    def _tell(self, state: Literal["embedding", "ready", "failed"], message: str = "") -> None:
        self._told_at = asyncio.get_running_loop().time()
        self._told = EmbeddingProgress(state, self._name, self._done, self._total, message)
        self._notify(self._told)

    async def _in_thread(self, function: Callable[..., T], *arguments: object) -> T:
        return await self._whole(asyncio.ensure_future(asyncio.to_thread(function, *arguments)))

    async def _whole(self, task: "asyncio.Future[T]") -> T:
        """Wait for what a thread does; if the wait is cancelled, `close` still waits for the thread."""
        self._threads.add(task)
        task.add_done_callback(self._threads.discard)
        return await asyncio.shield(task)


def _unit(loaded: LoadedEmbedder, row: Any) -> Vector | None:
    """A row as a vector of length 1; None where it is no direction."""
    import numpy as np

    values = np.asarray(row, np.float32)
    length = float(np.linalg.norm(values))
    if not 0 < length < float("inf"):
        return None
    return Vector(loaded.key, values / np.float32(length), loaded.zero, loaded.slope)


def _refuses_text(error: ServerError) -> bool:
    return isinstance(error, ServerRefused) and error.status in OF_TEXTS


def _nobody() -> None:
    """Nobody is told of appends."""
