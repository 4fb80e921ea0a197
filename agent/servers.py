"""The model servers of the settings: where each is, with its key, which lies in a file of its own.

A key is in no setting, as those are shown and sent between processes: it comes from a variable or from `keys/NAME` in
the home, which only the user may read.
"""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import SplitResult, urlsplit

from agent.errors import SettingsError
from agent.home import Home
from agent.settings import Server, Settings, remove_server, write_server
from models.errors import AddressRefused
from models.servers.address import ServerAddress, checked_address, is_local, key_of

LOCAL_NAMES = {8080: "llama-server", 11434: "ollama", 1234: "lm-studio", 8000: "vllm", 30000: "sglang"}


def addresses_of(home: Home, settings: Settings, name: str) -> tuple[ServerAddress, ...]:
    """Every address of a server, in the order of the settings; of a pool several, with one key.

    Raises SettingsError where there is no such server, AddressRefused where words may not be sent to one of them.
    """
    server = settings.servers.get(name)
    if server is None:
        raise SettingsError(
            f"There is no server {name} in the settings. `clew models list` shows the servers, "
            "`clew models add ADDRESS` adds one."
        )
    key = key_of(name, home.keys / name)
    certificate = certificate_of(server)
    return tuple(
        checked_address(name, url, key=key, insecure=server.insecure, certificate=certificate)
        for url in server.addresses
    )


def hosts_of(settings: Settings, name: str) -> tuple[str, ...]:
    """The host of every address of a server, with its port, as faces show it; none where there is no such server."""
    return tuple(map(_host, _places(settings, name)))


def hosts_away(settings: Settings, name: str) -> tuple[str, ...]:
    """Those of them that are other machines: words leave this one there."""
    return tuple(_host(each) for each in _places(settings, name) if not is_local(each.hostname or ""))


def is_at(url: str, server: Server) -> bool:
    """Whether a server is at an address, however that is written."""
    return _place(url) in map(_place, server.addresses)


def free_name(url: str, servers: Mapping[str, Server]) -> str:
    """A name for the server at an address, after that, which no other server has."""
    called = _named_after(url)
    number, free = 1, called
    while free in servers and not is_at(url, servers[free]):
        number += 1
        free = f"{called}-{number}"
    return free


def certificate_of(server: Server) -> Path | None:
    """The file that a server's certificate is checked against; None where that is as usual."""
    return Path(server.certificate).expanduser() if server.certificate else None


def checked_key(name: str, typed: str) -> str:
    """A key as it may be sent, without white space around it. Raises AddressRefused, which does not have it."""
    key = typed.strip()
    if not key.isascii() or not key.isprintable():
        raise AddressRefused(
            name, "its key has characters that no key has", "Copy the key again, on one line; nothing was changed."
        )
    return key


def keep_server(home: Home, name: str, server: Server, *, key: str = "") -> None:
    """Write a server into the settings, and its key, where one is given, into its file: both or neither.

    Raises SettingsError or OSError.
    """
    partial = _written(home, name, key) if key else None
    try:
        write_server(home.config, name, server)
    except SettingsError:
        if partial is not None:
            partial.unlink(missing_ok=True)
        raise
    if partial is not None:
        partial.replace(home.keys / name)


def drop_server(home: Home, name: str) -> None:
    """Take a server out of the settings, and remove its key. Raises SettingsError or OSError."""
    remove_server(home.config, name)
    (home.keys / name).unlink(missing_ok=True)


def _places(settings: Settings, name: str) -> list[SplitResult]:
    server = settings.servers.get(name)
    found = map(_parts, server.addresses) if server is not None else ()
    return [each for each in found if each is not None]


def _host(parts: SplitResult) -> str:
    return parts.netloc.rpartition("@")[2]  # without a password


def _named_after(url: str) -> str:
    parts = _parts(url)
    if parts is None:
        return "server"
    host = parts.hostname or ""
    if is_local(host):
        return LOCAL_NAMES.get(parts.port or 0, "local")
    label = host if host.replace(".", "").isdigit() or ":" in host else host.partition(".")[0]
    return re.sub("[^a-z0-9]+", "-", label)[:28].strip("-") or "server"


def _place(url: str) -> tuple[str, str, int | None, str]:
    """What two ways to write one address have in common: this machine has several names, and /v1 is found by itself."""
    parts = _parts(url)
    if parts is None:
        return url, "", None, ""
    host = parts.hostname or ""
    port = parts.port or {"http": 80, "https": 443}.get(parts.scheme)
    path = parts.path.rstrip("/").removesuffix("/v1").rstrip("/")
    return parts.scheme, "localhost" if is_local(host) else host, port, path


def _parts(url: str) -> SplitResult | None:
    """An address in its parts; None where it is none."""
    try:
        parts = urlsplit(url.strip())
        return parts if parts.port != 0 else None  # reading the port is what finds a wrong one
    except ValueError:
        return None


def _written(home: Home, name: str, key: str) -> Path:
    """A file with the key beside the place where it is to lie, which nobody else can read at any moment."""
    home.keys.mkdir(mode=0o700, exist_ok=True)
    home.keys.chmod(0o700)
    partial = home.keys / f"{name}.part"
    partial.unlink(missing_ok=True)
    descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="ascii") as file:
        file.write(key + "\n")
        file.flush()
        os.fsync(file.fileno())
    return partial
