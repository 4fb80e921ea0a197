"""The models of an agent: the chat model, the one that judges, the one asked where that refuses, and the embedder.

Which ones these are, and how they are loaded, is said by the settings in force.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress

from models.errors import ModelError
from models.protocols import Generator

from .embedding import Embedding
from .errors import SettingsError
from .events import ModelFailed, Notice, OfPrivate, Warned, WordsLeave
from .home import Home
from .model_host import Abandoned, Loader, ModelHost
from .reflection.trust import Trusts
from .served import ModelServers
from .servers import hosts_away
from .settings import Server, Settings, server_of
from .themes import CAPABLE_BYTES

LOADS = ("context", "threads", "gpu_layers")  # the settings that say how a model is loaded


class Beside:
    """A model beside the one that answers: loaded when it is needed first, and kept. `what` names it to people."""

    def __init__(self, loader: Loader, tell: Callable[[Notice], None], what: str) -> None:
        self._loader = loader
        self._tell = tell
        self._what = what
        self._host = ModelHost(loader, self._told)
        self._unusable: str | None = None

    def may_be_asked(self, name: str) -> bool:
        """Whether this model was not found to be unusable."""
        return name != self._unusable

    async def get(self, name: str) -> Generator | None:
        """The model; None where it cannot be used, which is told once."""
        if name == self._unusable:
            return None
        try:
            return await self._host.get(name)
        except (ModelError, Abandoned):
            self._unusable = name
            return None

    async def forget(self) -> None:
        """Give it back; another one may be asked for."""
        self._unusable, left = None, self._host
        self._host = ModelHost(self._loader, self._told)
        await left.close()

    async def close(self) -> None:
        await self._host.close()

    def _told(self, notice: Notice) -> None:
        """Not all that is told of the model that answers: faces show whose state that is."""
        match notice:
            case ModelFailed():
                self._tell(Warned(f"{self._what} cannot be used: {notice.message}"))
            case Warned():
                self._tell(notice)


class Models:
    """Uses other models, and says which one there is to ask; where they are on a server, `servers` has more of that."""

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
        self._embedding = embedding
        self._trusts = trusts
        self._generation_lock = generation_lock
        self._settings = settings
        self._apply = apply
        self._configure = configure
        self._tell = tell
        self._fallback = Beside(loader, tell, "The fallback model")
        self._judge = Beside(loader, tell, "The judge")
        self._failed: str | None = None  # the model that could not be loaded for reflection
        self._away: tuple[str, ...] = ()  # as it was told last
        self.servers = ModelServers(home, host, settings=settings, use=self._use_servers)

    async def use(self, name: str, *, session: str | None = None) -> None:
        """Load another model and use it for `session`, or for all that have none of their own.

        Raises ModelError; then the one that was loaded stays.
        """
        if "@" in name and server_of(name, self._settings().servers) is None:
            with suppress(
                SettingsError
            ):  # of servers that were put there since the start; else it is told of the model
                await self.servers.names()
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
        self._tell_away()

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

    async def renamed(self, before: Settings, now: Settings) -> None:
        """Where others are named as fallback and judge: they are loaded when they are needed."""
        if before.fallback_model != now.fallback_model:
            await self._fallback.forget()
        if before.judge != now.judge:
            await self._judge.forget()
        self._tell_away()

    def heard(self, notice: Notice | OfPrivate) -> None:
        """Whatever is told may have come of another model: tell where words go now, if that is elsewhere."""
        if not isinstance(notice, WordsLeave):
            self._tell_away()

    @property
    def away(self) -> tuple[str, ...]:
        """The other machines that words go to, or may at any time: of the chat model, and of those beside it."""
        settings, current = self._settings(), self._host.current
        found = _hosts_of(current) if current is not None else []
        beside = [settings.embedder]
        beside += [settings.judge] if self._judge.may_be_asked(settings.judge) else []
        beside += [settings.fallback_model] if self._fallback.may_be_asked(settings.fallback_model) else []
        for name in beside:
            if (served := server_of(name, settings.servers)) is not None:
                found += hosts_away(settings, served[1])
        return tuple(dict.fromkeys(filter(None, found)))

    async def chat_model(self) -> Generator | None:
        """The chat model of the settings, loaded if need be; None where it cannot be."""
        try:
            return await self._host.get(self._settings().model)
        except ModelError:  # told by a notice
            return None

    async def judge(self) -> Generator | None:
        """The model that the settings name for titles, for themes and for what is learned; None: the one that answers.

        Also where it cannot be used, which is told once.
        """
        name = self._settings().judge
        return None if name in ("", self._host.name) else await self._judge.get(name)

    async def for_themes(self) -> Generator | None:
        """The judge, else the chat model."""
        return await self.judge() or await self.chat_model()

    async def for_reflection(self) -> Generator | None:
        """The judge, else the model that is loaded: swapping it for the background's sake would cost a reply."""
        if (judge := await self.judge()) is not None:
            return judge
        name = self._settings().model
        if self._host.current is None and self._failed != name:
            found = await self.chat_model()
            self._failed = name if found is None else None  # it is told once
        return self._host.current

    async def fallback(self) -> Generator | None:
        """The model that is asked where the other refuses: of a judge, where none is named, the one that answers."""
        settings = self._settings()
        if not settings.fallback_model:
            return self._host.current if settings.judge else None
        return None if settings.fallback_model == self._host.name else await self._fallback.get(settings.fallback_model)

    def doubts(self, name: str) -> bool:
        """Whether a model that gave a reply once is doubted; of one that is not loaded only its size is known."""
        model = self._host.current
        if model is not None and model.info.name == name:
            return self._trusts.doubts(model)
        from models.store import ModelStore

        return any(each.name == name and each.size < CAPABLE_BYTES for each in ModelStore(self._home.models).entries())

    def _use_servers(self, servers: dict[str, Server]) -> None:
        self._apply(self._settings().model_copy(update={"servers": servers}))
        self._tell_away()

    def _tell_away(self) -> None:
        if (away := self.away) != self._away:
            self._away = away
            self._tell(WordsLeave(away))

    async def close(self) -> None:
        """Give the models back."""
        await self._host.close()
        await self._fallback.close()
        await self._judge.close()


def _hosts_of(model: Generator) -> list[str]:
    """The other machines that a model's prompts go to: of a pool any of them, whichever answers now."""
    if "@" not in model.info.name:
        return [model.info.away]
    from models.servers.state import server_states

    return [each.host for each in server_states(model) if each.away] or [model.info.away]
