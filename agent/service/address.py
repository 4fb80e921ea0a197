"""Where the service of a home is found: a socket in a folder that is this user's alone, and who is at its other end.

Invariant: both ends ask the system who is at the other one. Nothing is sent to a socket at which another user listens:
whoever comes first can make a folder in /tmp, and a socket that somebody is told of may be anybody's.
"""

import hashlib
import os
import socket
import stat
import struct
import sys
from asyncio.trsock import TransportSocket
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from agent.home import Cached, Home
from agent.service.protocol import ServiceError

Connected = socket.socket | TransportSocket
FOLDER = "clew"
ELSEWHERE = "CLEW_SOCKET"
# Parameters of methods that name a file, and those that do where it is no address of the network.
FILES, MAY_BE_FILES = {"path", "paths"}, {"references", "address", "addresses"}
LONGEST_PATH = 100  # bytes of a socket's path; systems allow 104 to 108
NAME = 22  # bytes of a socket's own name, with the slash before it
KNOCKED_S = 1.0
_XUCRED, _XUCRED_SIZE = 1, 76  # LOCAL_PEERCRED of macOS and BSD


def folder() -> Path:
    """The folder of all sockets: in the runtime directory, else one in /tmp by the user's number; made where it is not.

    Raises ServiceError where it is not this user's alone.
    """
    there = _folder()
    try:
        there.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise ServiceError(
            f"The folder for clew's socket, {there}, cannot be made ({error.strerror}). Nothing was changed. Set "
            "XDG_RUNTIME_DIR to a folder of your own, or `service = false` in the settings."
        ) from error
    if not _is_ours(there):
        raise ServiceError(
            f"{there} is not yours alone, so no socket is made there. Nothing was changed. Remove it, or make it yours "
            "(chmod 700)."
        )
    return there


def _folder() -> Path:
    runtime = os.environ.get("XDG_RUNTIME_DIR") or (os.environ.get("TMPDIR") if sys.platform == "darwin" else None)
    there = Path(runtime) / FOLDER if runtime and Path(runtime).is_dir() else None
    room = there is not None and len(os.fsencode(there)) + NAME <= LONGEST_PATH
    return there if there is not None and room else Path(f"/tmp/{FOLDER}-{os.getuid()}")


def name(home: Home) -> str:
    """What the files of a home's service are called."""
    return hashlib.sha256(os.fsencode(home.root.resolve())).hexdigest()[:16]


def socket_of(home: Home) -> Path:
    """The socket of a home's service. Raises ServiceError."""
    return folder() / f"{name(home)}.sock"


def elsewhere() -> Path | None:
    """The socket that faces are told to use: of a service on another machine, as `ssh -L` brings it here."""
    told = os.environ.get(ELSEWHERE)
    return Path(told).expanduser().absolute() if told else None


FILES_STAY = (
    "The service is on another machine ({}), which would take a file of its own of that name. Nothing was sent. Copy "
    "the text into the message, or the file to that machine and name it there."
)


def keep_files_here(method: str, params: Mapping[str, Any]) -> None:
    """Raise ServiceError where a request, by its parameters as JSON, names a file and the service is elsewhere.

    A model is named as it is there, and so is the address of a server.
    """
    if elsewhere() is None or method.startswith("models."):
        return
    for name in (FILES | MAY_BE_FILES) & params.keys():
        said = [params[name]] if isinstance(params[name], str) else params[name]
        if any(name in FILES or "://" not in each for each in said if isinstance(each, str)):
            raise ServiceError(FILES_STAY.format(ELSEWHERE))


def answered(home: Home) -> bool:
    """Whether somebody listens at the socket: one that a killed service left is nobody's. Nothing is made for it."""
    return knocked(found(home))


def found(home: Home) -> Path:
    """The socket of the service that runs, as that noted it; where it would be from here, if there is none.

    Not everybody is told of the same runtime directory: a program that an editor starts is often told of none.
    """
    with suppress(OSError, ValueError):
        noted = Path((home.cache / Cached.SOCKET).read_text(encoding="utf-8"))
        if noted.name == f"{name(home)}.sock" and knocked(noted):
            return noted
    return _folder() / f"{name(home)}.sock"


def note(home: Home, path: Path) -> None:
    """Tell everybody where the socket is. Raises OSError."""
    home.cache.mkdir(mode=0o700, parents=True, exist_ok=True)
    written = (home.cache / Cached.SOCKET).with_suffix(f".{os.getpid()}")
    written.write_text(str(path), encoding="utf-8")
    written.replace(home.cache / Cached.SOCKET)


def _is_ours(folder: Path) -> bool:
    try:
        about = folder.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(about.st_mode) and about.st_uid == os.getuid() and not about.st_mode & 0o077


def knocked(path: Path) -> bool:
    """Whether somebody listens there who is this user, in a folder that is theirs alone."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as asking, suppress(OSError, ServiceError):
        asking.settimeout(KNOCKED_S)
        asking.connect(str(path))
        check(asking, path)
        return _is_ours(path.parent)
    return False


def check(connection: Connected, path: Path) -> None:
    """Raises ServiceError where it is not this user who listens at a socket: nothing may be sent there.

    Where the system does not tell, the folder has to be theirs alone.
    """
    who = peer(connection)
    if who != os.getuid() and (who is not None or not _is_ours(path.parent)):
        whose = "another user" if who is None else f"user {who}"
        raise ServiceError(
            f"At the socket {path} {whose} listens, and not you. Nothing was sent there, and nothing was changed. Set "
            f"XDG_RUNTIME_DIR (or {ELSEWHERE}, if you have set that) to a place in a folder of your own."
        )


def lock_of(home: Home) -> Path:
    """The file that is locked by whoever starts the service: in the home, where everybody finds the same."""
    home.cache.mkdir(mode=0o700, parents=True, exist_ok=True)
    return home.cache / Cached.STARTING


def process_of(connection: Connected) -> int | None:
    """The process at the other end of a socket; None where the system does not tell."""
    if not hasattr(socket, "SO_PEERCRED"):
        return None
    told = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    return int(struct.unpack("3i", told)[0]) or None


def peer(connection: Connected) -> int | None:
    """The user at the other end of a socket; None where the system does not tell."""
    if hasattr(socket, "SO_PEERCRED"):
        told = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
        return int(struct.unpack("3i", told)[1])
    try:
        told = connection.getsockopt(0, _XUCRED, _XUCRED_SIZE)
    except OSError:
        return None
    return int(struct.unpack_from("II", told)[1])
