"""The process of a service: how it is started, by whoever waits for it or ahead of that.

Invariant: of two that would start one, the second waits at the start lock. Whoever waits for the service holds that
lock until it can be asked; a service that was started ahead holds it itself, and lets go of it then, or when it dies.
"""

import fcntl
import os
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from agent.home import Cached, Home
from agent.service.address import answered, lock_of
from agent.service.protocol import ServiceError
from graph.errors import SERVE, Holder
from graph.log.lock import holder

COMMAND = (sys.executable, "-m", "tui", "serve")
STARTED = "CLEW_STARTED"  # set where somebody waits for what it says on stdout
READY = "ready"  # what it says when it can be asked
LOCK = "CLEW_START_LOCK"  # the descriptor of a start lock that it holds itself
MOST_LOGGED = 256 * 1024
# A face ends with all that it has started: what outlives it is started by somebody who is gone.
ORPHANED = '"$@" &'


def spawn(
    home: Home,
    command: Sequence[str] = COMMAND,
    *,
    model: str | None = None,
    stdout: int = subprocess.DEVNULL,
    lock: int | None = None,
) -> "subprocess.Popen[bytes]":
    """Start a service, which is nobody's child; the process that did so and has ended. Raises OSError."""
    log = home.cache / Cached.SERVICE
    log.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    environment = os.environ | {"CLEW_MODELS": str(home.models), STARTED: "1"}
    environment |= ({} if model is None else {"CLEW_MODEL": model}) | ({} if lock is None else {LOCK: str(lock)})
    with open(os.open(log, os.O_CREAT | os.O_WRONLY | _kept(log), 0o600), "wb") as errors:
        process = subprocess.Popen(
            ["/bin/sh", "-c", ORPHANED, "clew", *command, "--home", str(home.root)],
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=errors,
            start_new_session=True,
            cwd="/",
            env=environment,
            pass_fds=() if lock is None else (lock,),
        )
    process.wait()
    return process


def _kept(log: Path) -> int:
    """How to open a log: what an earlier service said last stays, unless that is much."""
    return os.O_TRUNC if log.exists() and log.stat().st_size > MOST_LOGGED else os.O_APPEND


def hasten(home: Home) -> None:
    """Start a service ahead of being asked for, unless one runs or starts; what keeps it from that shows later."""
    with suppress(OSError, ServiceError):
        if answered(home):
            return
        lock = os.open(lock_of(home), os.O_CREAT | os.O_RDWR, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            spawn(home, lock=lock)
        finally:
            os.close(lock)


def starts(home: Home) -> bool:
    """Whether somebody is starting a service."""
    with suppress(OSError, ServiceError):
        lock = os.open(lock_of(home), os.O_RDWR)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        finally:
            os.close(lock)
    return False


def opening(home: Home) -> Holder | None:
    """A service that holds the memory and cannot be asked yet."""
    who = holder(home.memory)
    return who if who is not None and who.command == SERVE and not who.brief and not answered(home) else None


def let_others_start() -> None:
    """In a service that was started ahead, once it can be asked."""
    if (lock := os.environ.pop(LOCK, None)) is not None:
        with suppress(OSError, ValueError):
            os.close(int(lock))
