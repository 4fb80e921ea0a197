"""Where a model server is, and whether words may be sent there.

On this machine (loopback) an address needs nothing. Anywhere else it has to be https and to have a key: what is sent is
what the user said and what the memory has about them. `insecure` is the user's own word that a network may see it.
"""

import ipaddress
import os
import stat
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import SplitResult, urlsplit

from models.errors import AddressRefused

LOCAL = ("localhost", "localhost.localdomain", "ip6-localhost")


@dataclass(frozen=True, slots=True)
class ServerAddress:
    """One server. `url` is without a / at its end; `certificate` is a file of PEM that its own is checked against."""

    name: str
    url: str
    key: str = field(default="", repr=False)  # in no error and no log
    certificate: Path | None = None

    @property
    def host(self) -> str:
        """The host with its port, as faces show it."""
        return urlsplit(self.url).netloc

    @property
    def local(self) -> bool:
        """Whether it is this machine."""
        return is_local(urlsplit(self.url).hostname or "")


def is_local(host: str) -> bool:
    """Whether a host is this machine, by its name alone: nobody is asked."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower().rstrip(".") in LOCAL


def checked_address(
    name: str, url: str, *, key: str = "", insecure: bool = False, certificate: Path | None = None
) -> ServerAddress:
    """An address that words may be sent to. Raises AddressRefused, which never has a password or a key in it."""
    parts = _parts(name, url)
    host = parts.hostname or ""
    plain = parts._replace(query="", fragment="", path=parts.path.rstrip("/"))
    address = ServerAddress(name, plain.geturl(), key, certificate)
    if certificate is not None and not certificate.is_file():
        raise AddressRefused(name, f"its certificate {certificate} cannot be read", "Correct the path in the settings.")
    if is_local(host) or insecure:
        return address
    if parts.scheme != "https":
        raise AddressRefused(
            name,
            f"{host} is another machine, and over http everybody between can read what you say",
            "Use https, or a tunnel to this machine (`ssh -L 8080:localhost:8080 HOST`, then http://localhost:8080). "
            "If the network is yours alone, add it with --insecure.",
        )
    if not key:
        raise AddressRefused(
            name,
            f"{host} is another machine, and there is no key for it",
            f"Put its key into the variable {variable_of(name)}, or into the file that `clew models add` names.",
            wants_key=True,
        )
    return address


def _parts(name: str, url: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise AddressRefused(name, "its address cannot be read", "Write it like http://localhost:8080.") from None
    if parts.username is not None or parts.password is not None:
        raise AddressRefused(
            name,
            f"its address has a name or a password in it (…@{parts.hostname})",
            f"Leave that out, and give the server's key by the variable {variable_of(name)} or a key file.",
        )
    if parts.scheme not in ("http", "https") or not parts.hostname or port == 0:
        raise AddressRefused(name, f"“{url[:80]}” is no address of a server", "Write it like http://localhost:8080.")
    return parts


def variable_of(name: str) -> str:
    """The environment variable that has the key of a server."""
    return "CLEW_KEY_" + "".join(each if each.isalnum() else "_" for each in name).upper()


def key_of(name: str, file: Path) -> str:
    """The key of a server: its variable's, else that of a file that only the user may read; "" where there is none.

    Raises AddressRefused where others can read the file, or it is no text.
    """
    if given := os.environ.get(variable_of(name), "").strip():
        return _sendable(name, given)
    try:
        with file.open(encoding="utf-8") as opened:
            mode = os.fstat(opened.fileno()).st_mode
            if mode & (stat.S_IRWXG | stat.S_IRWXO):
                raise AddressRefused(
                    name, f"others can read its key file {file}", f"Run `chmod 600 {file}`; nothing was sent."
                )
            return _sendable(name, opened.read(1 << 16).strip())
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else "it is no text"
        raise AddressRefused(name, f"its key file {file} cannot be read ({why})", "Write it again.") from None


def _sendable(name: str, key: str) -> str:
    if not key.isascii() or not key.isprintable():
        raise AddressRefused(name, "its key has characters that no key has", "Copy the key again, on one line.")
    return key
