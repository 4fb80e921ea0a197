"""The model servers of the settings: where each is, with its key, which lies in a file of its own.

A key is in no setting, as those are shown and sent between processes: it comes from a variable or from `keys/NAME` in
the home, which only the user may read.
"""

import os
from pathlib import Path

from agent.errors import SettingsError
from agent.home import Home
from agent.settings import Server, Settings, remove_server, write_server
from models.errors import AddressRefused
from models.servers.address import ServerAddress, checked_address, key_of


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
