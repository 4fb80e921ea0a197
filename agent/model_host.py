"""Which model answers: fetched, loaded and swapped in threads, one at a time, with every step told."""

import asyncio
import threading
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from models.errors import FetchError, ModelError, ModelMissing, NotInstalled, TooBigForMemory, UnknownModel
from models.protocols import Embedder, Generator

from .events import ModelFailed, ModelProgress, ModelReady, Notice, Warned
from .home import Cached, Home, is_wanted
from .settings import Settings, server_of


class Loader(Protocol):
    """Brings a model up by name or path; blocking. Raises ModelError; `progress`, called now and then, may raise.

    What is to be known of a model that works is a Warned.
    """

    def __call__(self, name: str, progress: Callable[[ModelProgress | Warned], None]) -> Generator: ...


class Abandoned(Exception):
    """Raised out of a progress call to end a fetch nobody waits for any more."""


def llama_loader(home: Home, settings: Settings, *, fetching: bool = False) -> Loader:
    """The real loader. With `fetching` the model that was asked for at the first start is fetched; any other is there.

    The default embedder comes along then, if it is the one in use.
    """

    def load(name: str, progress: Callable[[ModelProgress | Warned], None]) -> Generator:
        if (served := server_of(name, settings.servers)) is not None:
            progress(ModelProgress("loading", name))
            return connected(home, settings, *served)
        if "@" in name and not Path(name).expanduser().exists():
            raise UnknownModel(
                f"There is no server {name.rpartition('@')[2]!r} in the settings. `clew models list` shows those there "
                "are, `clew models add ADDRESS` adds one. Your chats are safe."
            )
        from models.generator import load_generator
        from models.store import DEFAULT_EMBEDDER, ModelStore

        store = ModelStore(home.models)

        def fetch(name: str) -> Path:
            return store.pull(name, lambda step: progress(ModelProgress("fetching", name, step.done, step.total)))

        try:
            path = store.path(name)
        except NotInstalled:
            if not fetching or not is_wanted(home, name):
                raise
            path = fetch(name)
            home.wanted.unlink(missing_ok=True)
            if settings.embedder == DEFAULT_EMBEDDER:
                with suppress(FetchError):  # the chat needs none, and what loads the embedder tells that it is missing
                    fetch(DEFAULT_EMBEDDER)
        progress(ModelProgress("loading", name))
        return load_generator(
            path,
            name=Path(name).stem if name.endswith(".gguf") else name,
            context=settings.context,
            threads=settings.threads or None,
            gpu_layers=settings.gpu_layers,
            memo=home.probed,
            warn=lambda message: progress(Warned(message)),
            progress=lambda share: progress(ModelProgress("loading", name, round(100 * share), 100)),
        )

    return load


@dataclass(frozen=True, slots=True)
class LoadedEmbedder:
    """An embedder, and the key that its vectors are kept under: another file under the same name has another.

    What goes before a text that is looked for and one that is kept, and how its cosines are read, is the catalogue's.
    """

    embedder: Embedder
    key: str
    query: str = ""
    passage: str = ""
    zero: float = 0.0
    slope: float = 1.0


def connected(home: Home, settings: Settings, model: str, server: str) -> Generator:
    """A model of a server of the settings. Blocking. Raises ModelError."""
    import hashlib
    import uuid

    from models.servers.connecting import connect

    from .servers import addresses_of

    told = settings.servers[server]
    return connect(
        addresses_of(home, settings, server),
        model,
        name=f"{model}@{server}",
        context=settings.context,
        kind=told.kind,
        shared_states=told.states,
        owner=hashlib.blake2b(f"{uuid.getnode()} {home.root} {server}".encode(), digest_size=6).hexdigest(),
        note=home.cache / Cached.SLOTS,
    )


class EmbedderLoader(Protocol):
    """Brings an embedder up by name or path; blocking. Raises ModelError."""

    def __call__(self, name: str) -> LoadedEmbedder: ...


def llama_embedder_loader(home: Home, settings: Settings) -> EmbedderLoader:
    """The real loader. It fetches nothing: the network is for what was asked for, and recall has words without it."""

    def load(name: str) -> LoadedEmbedder:
        if (served := server_of(name, settings.servers)) is not None:
            return embedder_on_server(home, settings, *served)
        from models.catalogue import find
        from models.embedder import load_embedder
        from models.store import ModelStore

        path = ModelStore(home.models).path(name)
        embedder = load_embedder(
            path,
            name=Path(name).stem if name.endswith(".gguf") else name,
            threads=settings.threads or None,
            gpu_layers=settings.gpu_layers,
            memo=home.probed,
        )
        known = find(name)
        if known is None:
            return LoadedEmbedder(embedder, embedder_key(embedder.info.name, path))
        key = embedder_key(embedder.info.name, path, known.passage)
        return LoadedEmbedder(embedder, key, known.query, known.passage, known.zero, known.slope)

    return load


def embedder_on_server(home: Home, settings: Settings, model: str, server: str) -> LoadedEmbedder:
    """An embedding model of a server of the settings. Blocking. Raises ModelError.

    Of a pool the first address names it in the key, whichever answers.
    """
    from models.catalogue import find_embedder
    from models.servers.connecting import connect_embedder

    from .served_embedders import served_key
    from .servers import addresses_of

    addresses, name = addresses_of(home, settings, server), f"{model}@{server}"
    embedder = connect_embedder(addresses, model, name=name)
    known = find_embedder(model)
    passage = known.passage if known else ""
    key = served_key(home.served_embedders, name, addresses[0].url, embedder.probe, passage)
    if known is None:
        return LoadedEmbedder(embedder, key)
    return LoadedEmbedder(embedder, key, known.query, passage, known.zero, known.slope)


def embedder_key(name: str, path: Path, passage: str = "") -> str:
    """The name and the beginning of the SHA-256 of the model's file; and of what goes before a text that is kept.

    Raises ModelMissing.
    """
    import hashlib

    before = f"+{hashlib.sha256(passage.encode()).hexdigest()[:6]}" if passage else ""
    try:
        with path.open("rb") as file:
            return f"{name}@{hashlib.file_digest(file, 'sha256').hexdigest()[:12]}{before}"
    except OSError as error:
        raise ModelMissing(path, error.strerror or str(error)) from error


class ModelHost:
    """Holds the one loaded chat model; `get` swaps it where another is asked for. `leaving` is awaited before that."""

    def __init__(
        self,
        loader: Loader,
        notify: Callable[[Notice], None],
        *,
        leaving: Callable[[Generator], Awaitable[None]] | None = None,
    ) -> None:
        self._loader = loader
        self._notify = notify
        self._leaving = leaving
        self._lock = asyncio.Lock()
        self._closing = threading.Event()
        self._name: str | None = None
        self.current: Generator | None = None

    @property
    def name(self) -> str | None:
        """The name or path that the loaded model was asked for by."""
        return self._name if self.current is not None else None

    async def get(self, name: str) -> Generator:
        """The model `name`, loading it if another or none is loaded. Raises ModelError, after telling ModelFailed."""
        async with self._lock:
            if self.current is not None and self._name == name:
                return self.current
            return await self._swap(name)

    async def reload(self) -> None:
        """Load the model that is loaded, if one is, once more: it is to be loaded otherwise. Raises as `get` does."""
        async with self._lock:
            if self.current is not None and self._name is not None:
                await self._swap(self._name)

    async def close(self) -> None:
        """Give the model back; a fetch that runs is ended, a load is waited for."""
        self._closing.set()
        async with self._lock:
            await self._give_back()

    async def _swap(self, name: str) -> Generator:
        try:
            fresh = await self._load(name)
        except ModelError as error:
            self._notify(ModelFailed(name, str(error)))
            if self.current is not None:
                self._notify(ModelReady(self.current.info.name, self.current.info.context))
            raise
        await self._give_back()
        self.current, self._name = fresh, name
        self._notify(ModelReady(fresh.info.name, fresh.info.context))
        return fresh

    async def _give_back(self) -> None:
        if self.current is not None:
            if self._leaving is not None:
                await self._leaving(self.current)
            await self.current.close()
            self.current = None

    async def _load(self, name: str) -> Generator:
        loop = asyncio.get_running_loop()

        def progress(step: ModelProgress | Warned) -> None:
            if self._closing.is_set() and isinstance(step, ModelProgress) and step.state == "fetching":
                raise Abandoned
            loop.call_soon_threadsafe(self._notify, step)

        try:
            return await asyncio.to_thread(self._loader, name, progress)
        except TooBigForMemory:
            if self.current is None:
                raise
            # The one that is loaded takes the room: give it back and try again. It is loaded anew when asked for.
            await self._give_back()
            return await asyncio.to_thread(self._loader, name, progress)
