"""Asks the web for one thing at a time, within bounds: of size, of time, of hops, and of which hosts may be asked.

A host is asked only if it was allowed, and one of a private network only if it was allowed as such: names are resolved
here, and the connection goes to the very address that was looked at, so that no name can point elsewhere in between.
Nothing of the environment is used (no proxy, no netrc), no cookie is kept, no redirect leads to a host that was not
allowed. What comes packed is unpacked as far as the bound and no further.
"""

import asyncio
import ipaddress
import re
import socket
import zlib
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

from agent.errors import AgentError, HostUnknown, Unreadable
from agent.references.address import named_own, read_address

if TYPE_CHECKING:  # it takes longer to import than the first paint may
    import httpx2

MOST_BYTES = 10 << 20
MOST_HOPS = 5
CONNECT_S, PIECE_S, WHOLE_S = 5.0, 10.0, 20.0
REDIRECTS = (301, 302, 303, 307, 308)
BUSY = (429, 500, 502, 503, 504)
GOES_ON = "The chat goes on without it."
AGENT = "clew (reads what its user refers to)"
# In which the last 32 bits are an address of IPv4; of this machine and private networks, whatever the library says.
INNER = (ipaddress.ip_network("64:ff9b::/96"), ipaddress.ip_network("::/96"))
OWN = (ipaddress.ip_network("64:ff9b:1::/48"), ipaddress.ip_network("fec0::/10"), ipaddress.ip_network("::/127"))

Resolve = Callable[[str, int], Awaitable[list[str]]]
# Whether a host may be asked; True: also where it is in a private network; at a port, None: the usual one.
Allows = Callable[[str, bool, int | None], bool]


@dataclass(frozen=True, slots=True)
class Version:
    """What a server calls the state of a thing, so that it can say that it is the same."""

    tag: str = ""
    modified: str = ""

    def __bool__(self) -> bool:
        return bool(self.tag or self.modified)


@dataclass(frozen=True, slots=True)
class Fetched:
    """What lies at an address; `hops` are the addresses that redirects led over, the last is where it was."""

    url: str
    kind: str  # the type without parameters, in small letters
    charset: str
    body: bytes
    version: Version
    hops: tuple[str, ...] = ()


class NotGiven(Unreadable):
    """A server that does not give that, with the status that says so."""

    def __init__(self, message: str, status: int) -> None:
        self.status = status
        super().__init__(message)


class Busy(Unreadable):
    """A server that cannot answer now; `after_s` is when to ask again, where it says so."""

    def __init__(self, message: str, after_s: float | None = None) -> None:
        self.after_s = after_s
        super().__init__(message)


async def resolved(host: str, port: int) -> list[str]:
    """The IP addresses of a host, as the system knows them. Raises OSError."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(each[4][0]).partition("%")[0] for each in found]


class WebClient:
    """Asks hosts that `allows` lets it ask. Of one event loop."""

    def __init__(
        self, allows: Allows, *, most_bytes: int = MOST_BYTES, whole_s: float = WHOLE_S, resolve: Resolve = resolved
    ) -> None:
        self._allows = allows
        self._resolve = resolve
        self._most = most_bytes
        self._whole_s = whole_s
        self._transport: httpx2.AsyncHTTPTransport | None = None

    async def get(self, url: str, *, accept: str = "*/*", known: Version = Version()) -> Fetched | None:
        """What lies at a web address; None where it is the `known` version. Raises Unreadable."""
        host = urlsplit(url).hostname or ""
        try:
            async with asyncio.timeout(self._whole_s):
                return await self._follow(url, accept, known)
        except TimeoutError as error:
            raise Busy(f"{host} took longer than {self._whole_s:.0f} seconds. {GOES_ON}") from error

    async def close(self) -> None:
        """End its connections. Idempotent."""
        transport, self._transport = self._transport, None
        if transport is not None:
            await transport.aclose()

    async def _follow(self, url: str, accept: str, known: Version) -> Fetched | None:
        hops: list[str] = []
        while True:
            found = await self._ask(url, accept, known)
            if not isinstance(found, str):
                return found and Fetched(found.url, found.kind, found.charset, found.body, found.version, tuple(hops))
            if urlsplit(url).scheme == "https" and urlsplit(found).scheme != "https":
                raise Unreadable(f"{_host(url)} leads from https to http, where others could read along. {GOES_ON}")
            if len(hops) == MOST_HOPS:
                raise Unreadable(f"{_host(url)} leads on more than {MOST_HOPS} times. {GOES_ON}")
            hops.append(found)
            url, known = found, Version()

    async def _ask(self, url: str, accept: str, known: Version) -> Fetched | str | None:
        """What one address answers: the thing, where it leads to, or None for the known version."""
        import httpx2

        parts = urlsplit(url)
        host = parts.hostname or ""
        to = await self._checked(host, parts.port, {"http": 80, "https": 443}[parts.scheme])
        headers = {"Host": parts.netloc, "Accept": accept, "Accept-Encoding": "gzip", "User-Agent": AGENT}
        headers |= {"If-None-Match": known.tag} if known.tag else {}
        headers |= {"If-Modified-Since": known.modified} if known.modified else {}
        shown = f"[{to}]" if ":" in to else to
        port = f":{parts.port}" if parts.port else ""
        times = {"connect": CONNECT_S, "read": PIECE_S, "write": PIECE_S, "pool": self._whole_s}
        request = httpx2.Request(
            "GET",
            parts._replace(netloc=f"{shown}{port}").geturl(),
            headers=headers,
            extensions={"timeout": times, "sni_hostname": host},
        )
        if self._transport is None:
            # A connection is to an IP address, and was checked for one host of it: none is used again for another.
            limits = httpx2.Limits(max_keepalive_connections=0)
            self._transport = httpx2.AsyncHTTPTransport(trust_env=False, limits=limits)
        try:
            response = await self._transport.handle_async_request(request)
            try:
                return await self._answer(url, response, known)
            finally:
                await response.aclose()
        except httpx2.TimeoutException as error:
            raise Busy(f"{host} does not answer. {GOES_ON}") from error
        except httpx2.TransportError as error:
            raise Busy(f"{host} cannot be read: {_why(error)}. {GOES_ON}") from error

    async def _checked(self, host: str, port: int | None, usual: int) -> str:
        """The one address of a host that is connected to. Raises Unreadable."""
        port = None if port == usual else port
        if not self._allows(host, False, port):
            raise HostUnknown(host, own=False)
        try:
            async with asyncio.timeout(CONNECT_S):
                addresses = await self._resolve(host, port or usual)
        except TimeoutError as error:
            raise Busy(f"{host} cannot be found: its name was not resolved in time. {GOES_ON}") from error
        except (OSError, UnicodeError) as error:
            offline = "this computer is offline, or there is no such host"
            raise Busy(f"{host} cannot be found: {offline}. {GOES_ON}") from error
        if any(is_own(each) for each in addresses) and not self._allows(host, True, port):
            raise HostUnknown(host, own=True, name=named_own(host, port))
        return addresses[0]

    async def _answer(self, url: str, response: "httpx2.Response", known: Version) -> Fetched | str | None:
        host, status = _host(url), response.status_code
        if status == 304 and known:
            return None
        if status in REDIRECTS and (to := response.headers.get("Location")):
            return _led_to(url, to)
        if status in (404, 410):
            raise NotGiven(f"{host} has nothing at that address any more ({status}). {GOES_ON}", status)
        if status in (401, 403, 407, 451):
            raise NotGiven(f"{host} does not show that to clew ({status}). {GOES_ON}", status)
        if status in BUSY:
            raise Busy(f"{host} is busy or broken ({status}). {GOES_ON}", _after(response.headers))
        if status != 200:
            raise NotGiven(f"{host} answered with {status}. {GOES_ON}", status)
        kind, _, rest = response.headers.get("Content-Type", "").partition(";")
        charset = re.search(r"charset\s*=\s*\"?([\w.:-]+)", rest, re.IGNORECASE)
        version = Version(response.headers.get("ETag", "")[:1000], response.headers.get("Last-Modified", "")[:100])
        body = await self._body(host, response)
        return Fetched(url, kind.strip().casefold(), charset[1] if charset else "", body, version)

    async def _body(self, host: str, response: "httpx2.Response") -> bytes:
        packed = _packed(host, response.headers.get("Content-Encoding", ""))
        body, read = bytearray(), 0
        async for piece in response.aiter_raw():
            read += len(piece)
            room = self._most + 1 - len(body)
            try:
                body += piece[:room] if packed is None else packed.decompress(packed.unconsumed_tail + piece, room)
            except zlib.error as error:
                raise Unreadable(f"{host} sends what cannot be unpacked. {GOES_ON}") from error
            if read > self._most or len(body) > self._most:
                most = self._most >> 20
                raise Unreadable(f"{host} sends more than {most} MB, which is more than clew reads. {GOES_ON}")
        if packed is not None and not packed.eof:
            raise Busy(f"{host} stopped before the end. {GOES_ON}")
        return bytes(body)


def is_own(address: str) -> bool:
    """Whether an IP address is of this machine or of a private network, also inside an IPv6 one."""
    ip = ipaddress.ip_address(address)
    if isinstance(ip, ipaddress.IPv6Address):
        inner = ip.ipv4_mapped or ip.sixtofour or (ip.teredo[1] if ip.teredo else None)
        if any(ip in each for each in OWN):
            return True
        if inner is None and any(ip in each for each in INNER):
            inner = ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)
        if inner is not None:
            return is_own(str(inner))
    return not ip.is_global or ip.is_multicast


def _packed(host: str, encoding: str) -> "zlib._Decompress | None":
    """What unpacks a body, None where it is not packed. Raises Unreadable."""
    if encoding.strip().casefold() in ("", "identity"):
        return None
    if encoding.strip().casefold() in ("gzip", "x-gzip"):
        return zlib.decompressobj(31)
    raise Unreadable(f"{host} sends it packed in a way that was not asked for. {GOES_ON}")


def _led_to(url: str, to: str) -> str:
    """Where a redirect leads. Raises Unreadable."""
    try:
        found = read_address(urljoin(url, to))
    except (AgentError, ValueError) as error:
        raise Unreadable(f"{_host(url)} leads to what is no web address. {GOES_ON}") from error
    if found.sort != "page":
        raise Unreadable(f"{_host(url)} leads to {found.text}, which is no page. Attach that if you want it. {GOES_ON}")
    return found.text


def _after(headers: Mapping[str, str]) -> float | None:
    said = headers.get("Retry-After", "").strip()
    return float(said) if said.isdecimal() and len(said) < 8 else None


def _host(url: str) -> str:
    return urlsplit(url).hostname or ""


def _why(error: Exception) -> str:
    words = " ".join(str(error).split())[:120]
    return words or type(error).__name__
