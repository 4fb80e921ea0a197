"""What strangers send is read in a process of its own, which has nothing else in reach.

It gets bytes through a pipe and answers with JSON. It has no environment, may read the libraries that it is made of and
no other file, write none, connect to nobody, look into no other process, and use so much time and memory; where that
runs out, or a library breaks, it alone ends. What a system cannot forbid is said in graph/console/sandbox.py.
"""

import asyncio
import importlib
import json
import resource
import subprocess
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from graph.console import sandbox
from graph.letters import paired_in
from models.bare import bare_environment

# What is read, the module whose `read_given(bytes, about)` does, which answers with JSON, and a library to begin with.
READERS = {"page": ("agent.references.extraction", "trafilatura"), "pdf": ("agent.ingesting.pdf", "pypdf")}
LIBRARIES = ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib")  # of the system
COMMAND = (sys.executable, "-P", "-m", "agent.confined")
WITHIN_S = 20.0
MOST_MEMORY = 2 << 30
MOST_TOLD = 256 << 20  # bytes of an answer


class Broken(Exception):
    """The process ended before it said what the bytes are: they are broken, or made to break whoever reads them."""


async def read(reader: str, given: bytes, about: Mapping[str, Any], *, within_s: float = WITHIN_S) -> Any:
    """What a reader of READERS says of some bytes. Raises Broken, TimeoutError, and OSError where none can start."""
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        *COMMAND,
        reader,
        f"{within_s:.0f}",
        stdin=pipe,
        stdout=pipe,
        stderr=asyncio.subprocess.DEVNULL,
        env=bare_environment(),
    )
    try:
        assert process.stdin is not None
        assert process.stdout is not None
        told = bytearray()
        async with asyncio.timeout(within_s):
            process.stdin.write(_message(given, about))
            with suppress(ConnectionError):
                await process.stdin.drain()
            process.stdin.close()
            while len(told) <= MOST_TOLD and (more := await process.stdout.read(MOST_TOLD)):
                told += more
            if len(told) <= MOST_TOLD:
                await process.wait()
    finally:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()
    return _answer(process.returncode, told)


def read_here(reader: str, given: bytes, about: Mapping[str, Any], *, within_s: float = WITHIN_S) -> Any:
    """The same for whoever is in a thread: it blocks."""
    process = subprocess.Popen(
        [*COMMAND, reader, f"{within_s:.0f}"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=bare_environment(),
    )
    late = threading.Event()

    def end() -> None:
        late.set()
        process.kill()

    timer = threading.Timer(within_s, end)
    timer.start()
    try:
        assert process.stdin is not None
        assert process.stdout is not None
        with suppress(ConnectionError), process.stdin as given_to:
            given_to.write(_message(given, about))
        told = process.stdout.read(MOST_TOLD + 1)
        if len(told) <= MOST_TOLD:
            process.wait()
    finally:
        timer.cancel()
        process.kill()
        process.wait()
        if process.stdout is not None:
            process.stdout.close()
    if late.is_set():
        raise TimeoutError
    return _answer(process.returncode, told)


def _message(given: bytes, about: Mapping[str, Any]) -> bytes:
    return json.dumps(about).encode() + b"\n" + given


def _answer(code: int | None, told: bytes | bytearray) -> Any:
    if code or len(told) > MOST_TOLD:
        raise Broken
    return paired_in(json.loads(told))  # a library may have met, or been made to tell, what is no letter


def main(reader: str, within_s: int, given: IO[bytes], told: IO[str]) -> None:
    """Read one thing, and say what it says."""
    module, _ = map(importlib.import_module, READERS[reader])
    resource.setrlimit(resource.RLIMIT_CPU, (within_s + 1, within_s + 2))
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    places = filter(None, (*sys.path, sys.prefix, sys.base_prefix, *LIBRARIES))
    sandbox.confine_reading({Path(each).resolve() for each in places})
    about = json.loads(given.readline())
    json.dump(module.read_given(given.read(), about), told)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), sys.stdin.buffer, sys.stdout)
