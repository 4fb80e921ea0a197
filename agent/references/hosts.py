"""Which hosts may be asked for what a person refers to: those that they said yes to, once each.

A host of this machine or of a private network needs a yes of its own, for each of its ports, so that no link can lead
there. All of them stand in the setting `hosts`, where they can be taken back.
"""

from collections.abc import Callable, Collection, Sequence
from urllib.parse import urlsplit

from agent.errors import AgentError
from agent.references.address import OWN, Address, named_own, read_address
from agent.references.client import is_own

ASK_FIRST = (
    "{} was not asked for anything yet. Nothing was attached. Allow it first: /ref allow {} in the chat, or the setting"
    " hosts."
)
_NAMES = ("localhost", "local", "internal", "lan", "home", "home.arpa", "intranet", "localdomain")  # last parts


class Hosts:
    """The hosts of the settings; `write` keeps them with one more. Raises what that raises.

    Threads are asked for at the service `threads_from`.
    """

    def __init__(
        self, said: Callable[[], str], write: Callable[[str], None], *, threads_from: Callable[[], str]
    ) -> None:
        self._said = said
        self._write = write
        self._threads_from = threads_from

    def apart(self) -> "Hosts":
        """The same for chats that keep nothing: what is said yes to there holds for them alone, and is in no file."""
        more: list[str] = []

        def keep(hosts: str) -> None:
            more[:] = hosts.split()

        return Hosts(lambda: " ".join([self._said(), *more]), keep, threads_from=self._threads_from)

    def allows(self, host: str, own: bool, port: int | None = None) -> bool:
        """Whether a host may be asked at a port (None: the usual one); `own`: also where it is in a private network."""
        known = self._said().split()
        return named_own(host, port) in known or (not own and host in known)

    def lacks(self, address: Address) -> str | None:
        """What a person has to allow before an address is read, as `allow` takes it; None where that is nothing."""
        if address.is_local:
            return None
        parts = urlsplit(address.text if address.sort == "page" else self._threads_from())
        host, own = parts.hostname or "", is_named_own(parts.hostname or "")
        return None if self.allows(host, own, parts.port) else named_own(host, parts.port) if own else host

    def allowed(self, addresses: Sequence[str]) -> tuple[Address, ...]:
        """Addresses as they are read. Raises AgentError for what is none, or is of a host that nobody allowed."""
        found = tuple(map(read_address, addresses))
        for each in found:
            if (host := self.lacks(each)) is not None:
                raise AgentError(ASK_FIRST.format(host.removeprefix(OWN), host))
        return found

    def allow(self, host: str) -> None:
        """A person says yes to a host, written as in the setting. Raises AgentError for what is none."""
        name = host.strip().casefold()
        if not name.removeprefix(OWN) or any(not each.isprintable() or each.isspace() for each in name):
            raise AgentError(f"“{host[:60]}” is no host. Nothing was changed. A host is a name such as example.org.")
        known = self._said().split()
        if name not in known:
            self._write(" ".join([*known, name]))

    def named(self) -> dict[str, str]:
        """What was said yes to, each with the name of its host alone."""
        return {each: urlsplit(f"//{each.removeprefix(OWN)}").hostname or each for each in self._said().split()}

    def withdraw(self, gone: Collection[str]) -> None:
        """Take back some of what was said yes to, as the setting has it. Raises what writing it raises."""
        kept = [each for each in self._said().split() if each not in gone]
        if len(kept) < len(self._said().split()):
            self._write(" ".join(kept))


def own_of(address: str) -> str | None:
    """What stands in the setting for a page of this machine or a private network, by its name; None for all others."""
    parts = urlsplit(address)
    return named_own(parts.hostname, parts.port) if parts.hostname and is_named_own(parts.hostname) else None


def is_named_own(host: str) -> bool:
    """Whether a host says by its name that it is this machine or in a private network; nobody is asked."""
    try:
        return is_own(host)
    except ValueError:
        return "." not in host or any(host == each or host.endswith(f".{each}") for each in _NAMES)
