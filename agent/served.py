"""The models of the model servers, for whoever wants to choose one, and the servers of the one in use.

No server is asked anything before somebody asks here. What one answers, or why it does not, comes within seconds.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal
from urllib.parse import urlsplit

from models.errors import ModelError, ServerError
from models.protocols import Generator
from models.servers.address import ServerAddress
from models.servers.state import ServerState, asked_states, server_states

from .errors import SettingsError
from .home import Home
from .model_host import ModelHost
from .servers import addresses_of, free_name, hosts_away, hosts_of, is_at, keep_server
from .settings import Server, Settings, load_settings

if TYPE_CHECKING:
    from models.servers.discovery import ServerReport

WITHIN_S = 5.0  # that all addresses of a server may take together


@dataclass(frozen=True, slots=True)
class ServedModel:
    """A model that a server has; `context` in tokens, None where it does not tell."""

    name: str
    context: int | None = None


@dataclass(frozen=True, slots=True)
class Served:
    """What a server of the settings has, or in one sentence why that is not known.

    `hosts` are all its addresses, `away` those of them that are other machines.
    """

    server: str
    hosts: tuple[str, ...]
    away: tuple[str, ...]
    models: tuple[ServedModel, ...] = ()
    error: str = ""


@dataclass(frozen=True, slots=True)
class FoundServer:
    """A model server on this computer that the settings do not name; it would be called `name` there."""

    name: str
    product: str
    address: str
    host: str
    kind: Literal["llama", "openai"]
    models: tuple[ServedModel, ...]


@dataclass(frozen=True, slots=True)
class ModelServer:
    """The server that the model in use is on, by its name in the settings: of a pool every one of them."""

    name: str
    states: tuple[ServerState, ...]


class ModelServers:
    """The model servers of the settings, and those that could be put there."""

    def __init__(
        self,
        home: Home,
        host: ModelHost,
        *,
        settings: Callable[[], Settings],
        use: Callable[[dict[str, Server]], None],
    ) -> None:
        """`use` puts other servers into the settings in force."""
        self._home = home
        self._host = host
        self._settings = settings
        self._use = use

    async def names(self) -> tuple[str, ...]:
        """The servers that the file of settings names now, also those that were put there since the start.

        Raises SettingsError.
        """
        servers = (await asyncio.to_thread(load_settings, self._home.config)).servers
        if servers != self._settings().servers:
            self._use(servers)
        return tuple(servers)

    async def models_of(self, name: str) -> Served:
        """What a server has. What goes wrong is its `error`: it never raises for that."""
        told = Served(name, hosts_of(self._settings(), name), hosts_away(self._settings(), name))
        try:
            addresses = await asyncio.to_thread(addresses_of, self._home, self._settings(), name)
            return replace(told, models=await _first(addresses))
        except (SettingsError, ModelError) as error:
            return replace(told, error=str(error))

    async def found_here(self) -> tuple[FoundServer, ...]:
        """What answers on this computer's usual ports, and is not in the settings. Nothing else is asked."""
        from models.servers.discovery import root_of, usual_ports

        found = []
        servers = dict(self._settings().servers)
        for report in await asyncio.to_thread(usual_ports):
            url = root_of(report.base)
            if any(is_at(url, each) for each in servers.values()):
                continue
            name = free_name(url, servers)
            servers[name] = Server(address=url)
            host = urlsplit(url).netloc
            found.append(FoundServer(name, report.product, url, host, report.kind, _models(report)))
        return tuple(found)

    async def add(self, address: str, *, kind: Literal["auto", "llama", "openai"] = "auto") -> str:
        """Put a server of this computer into the settings, and into those in force; its name there.

        One that is there already stays as it is. Raises AddressRefused for another computer's, SettingsError, OSError.
        """
        name, servers = await asyncio.to_thread(self._add, address, kind)
        self._use(servers)
        return name

    async def in_use(self) -> ModelServer | None:
        """The server of the model in use, with what it says of its slots; None where the model is on this disk."""
        at = self._at
        return _as_one(at.name, await asked_states(at.model, at.host)) if at is not None else None

    @property
    def known(self) -> ModelServer | None:
        """The same by what is known: it is asked nothing."""
        at = self._at
        return _as_one(at.name, server_states(at.model, at.host)) if at is not None else None

    @property
    def _at(self) -> "_At | None":
        """The model in use and its server, by the form of its name; None where that is not MODEL@SERVER."""
        loaded, current = self._host.name or "", self._host.current
        _, at, name = loaded.rpartition("@")
        return _At(current, name, next(iter(hosts_of(self._settings(), name)), "")) if current and at else None

    def _add(self, address: str, kind: Literal["auto", "llama", "openai"]) -> tuple[str, dict[str, Server]]:
        from models.servers.address import checked_address
        from models.servers.discovery import root_of

        servers = load_settings(self._home.config).servers
        url = root_of(address)
        for name, server in servers.items():
            if is_at(url, server):
                return name, servers
        name = free_name(url, servers)
        url = checked_address(name, url).url
        keep_server(self._home, name, Server(address=url, kind=kind))
        return name, load_settings(self._home.config).servers


@dataclass(frozen=True, slots=True)
class _At:
    """The model in use, and the server it is on."""

    model: Generator
    name: str
    host: str


def _as_one(name: str, states: tuple[ServerState, ...]) -> ModelServer | None:
    return ModelServer(name, states) if states else None


async def _first(addresses: Sequence[ServerAddress]) -> tuple[ServedModel, ...]:
    """What the first has that answers, in their order; all are asked at once. Raises ServerError."""
    found = await asyncio.gather(*(asyncio.to_thread(_asked, each) for each in addresses), return_exceptions=True)
    for each in found:
        if not isinstance(each, BaseException):
            return each
    for each in found:
        if isinstance(each, BaseException) and not isinstance(each, ServerError):
            raise each
    raise next(each for each in found if isinstance(each, ServerError))


def _asked(address: ServerAddress) -> tuple[ServedModel, ...]:
    """Blocking. Raises ServerError."""
    from models.servers.client import ServerClient
    from models.servers.discovery import found_at, root_of

    client = ServerClient(replace(address, url=root_of(address.url)), answer_s=WITHIN_S)
    try:
        return _models(found_at(client, within_s=WITHIN_S))
    finally:
        client.drop()


def _models(report: "ServerReport") -> tuple[ServedModel, ...]:
    return tuple(ServedModel(each.name, each.context) for each in report.models)
