"""The models of an agent: the chat model, the one that is asked where it refuses, and the embedder.

Which ones these are, and how they are loaded, is said by the settings in force.
"""

import asyncio
from collections.abc import Awaitable, Callable

from models.errors import ModelError
from models.protocols import Generator

from .embedding import Embedding
from .events import ModelFailed, Notice, Warned
from .home import Home
from .model_host import Abandoned, Loader, ModelHost
from .reflection.trust import Trusts
from .settings import Settings
from .themes import CAPABLE_BYTES

LOADS = ("context", "threads", "gpu_layers")  # the settings that say how a model is loaded


class Models:
    """Uses other models, and says which one there is to ask."""

    def __init__(
        self,
        home: Home,
        host: ModelHost,
        loader: Loader,
        embedding: Embedding,
        trusts: Trusts,
        generation_lock: asyncio.Lock,
        *,
        settings: Callable[[], Settings],
        apply: Callable[[Settings], None],
        configure: Callable[[str, str], Awaitable[object]],
        tell: Callable[[Notice], None],
    ) -> None:
        """`generation_lock` is held by the reply in the making, `configure` gives a session a model of its own."""
        self._home = home
        self._host = host
        self._loader = loader
        self._embedding = embedding
        self._trusts = trusts
        self._generation_lock = generation_lock
        self._settings = settings
        self._apply = apply
        self._configure = configure
        self._tell = tell
        self._fallback = ModelHost(loader, self._tell_of_fallback)
        self._failed: str | None = None  # the model that could not be loaded for reflection
        self._unusable: str | None = None  # and the fallback

    async def use(self, name: str, *, session: str | None = None) -> None:
        """Load another model and use it for `session`, or for all that have none of their own.

        Raises ModelError; then the one that was loaded stays.
        """
        async with self._generation_lock:  # a reply is written to its end by the model that began it
            await self._host.get(name)
        if session is None:
            self._apply(self._settings().model_copy(update={"model": name}))
        else:
            await self._configure(session, name)

    async def use_embedder(self, name: str) -> None:
        """Load another embedder; everything said gets a vector of it in the background, and recall goes on meanwhile.

        Raises ModelError; then the one that was loaded stays.
        """
        await self._embedding.use(name)
        self._apply(self._settings().model_copy(update={"embedder": name}))

    async def ready(self) -> None:
        """Load the chat model of the settings, for a start that left that out. Raises ModelError, told by a notice."""
        await self._host.get(self._settings().model)

    async def embedder_ready(self) -> bool:
        """Wait until the embedder is loaded, or has failed to; whether recall goes by meaning too."""
        return await self._embedding.ready()

    async def reload(self, before: Settings, now: Settings) -> None:
        """Load what is loaded anew, where the settings say that it is to be loaded otherwise. Raises ModelError."""
        if before.threads != now.threads or before.gpu_layers != now.gpu_layers:
            await self._embedding.reload()
        if any(getattr(before, name) != getattr(now, name) for name in LOADS):
            async with self._generation_lock:
                await self._host.reload()

    async def forget_fallback(self) -> None:
        """Another one is named as fallback: it is loaded when it is needed."""
        self._unusable, left = None, self._fallback
        self._fallback = ModelHost(self._loader, self._tell_of_fallback)
        await left.close()

    async def chat_model(self) -> Generator | None:
        """The chat model of the settings, loaded if need be; None where it cannot be."""
        try:
            return await self._host.get(self._settings().model)
        except ModelError:  # told by a notice
            return None

    async def for_reflection(self) -> Generator | None:
        """The model that is loaded, whichever it is: swapping it for the background's sake would cost a reply."""
        name = self._settings().model
        if self._host.current is None and self._failed != name:
            found = await self.chat_model()
            self._failed = name if found is None else None  # it is told once
        return self._host.current

    async def fallback(self) -> Generator | None:
        """The model that is asked where the other refuses; loaded when it is needed first, and kept."""
        name = self._settings().fallback_model
        if name in ("", self._host.name, self._unusable):
            return None
        try:
            return await self._fallback.get(name)
        except (ModelError, Abandoned):  # told by a notice, once
            self._unusable = name
            return None

    def doubts(self, name: str) -> bool:
        """Whether a model that gave a reply once is doubted; of one that is not loaded only its size is known."""
        model = self._host.current
        if model is not None and model.info.name == name:
            return self._trusts.doubts(model)
        from models.store import ModelStore

        return any(each.name == name and each.size < CAPABLE_BYTES for each in ModelStore(self._home.models).entries())

    async def close(self) -> None:
        """Give the models back."""
        await self._host.close()
        await self._fallback.close()

    def _tell_of_fallback(self, notice: Notice) -> None:
        """What is to be known of it: it is not the model that answers, whose state faces show."""
        match notice:
            case ModelFailed():
                self._tell(Warned(f"The fallback model cannot be used: {notice.message}"))
            case Warned():
                self._tell(notice)
