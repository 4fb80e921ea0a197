"""A package index and a model hub on the loopback address, whose connections break off, stall or lie when told to."""

import hashlib
import io
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from models.catalogue import Entry, HubSource, WheelSource

REVISION = "0123456789abcdef0123456789abcdef01234567"


@dataclass
class Site:
    """What is served, what was asked for, and how the next downloads go wrong."""

    address: str = ""
    files: dict[str, bytes] = field(default_factory=dict)
    pages: dict[str, str] = field(default_factory=dict)
    published: dict[str, str] = field(default_factory=dict)  # path → SHA-256 the hub claims
    refused: dict[str, tuple[int, str]] = field(default_factory=dict)  # path → status, the hub's error code
    moved: dict[str, str] = field(default_factory=dict)  # path → where a hub file's bytes really are
    headers: list[dict[str, str]] = field(default_factory=list)  # of every download
    offsets: list[int] = field(default_factory=list)  # of every download, as asked for
    cuts: list[int] = field(default_factory=list)  # bytes after which the next downloads break off
    stall_after: int | None = None
    stalled: threading.Event = field(default_factory=threading.Event)
    go_on: threading.Event = field(default_factory=threading.Event)
    ranges: bool = True

    def put_wheel(self, distribution: str, version: str, members: dict[str, bytes]) -> WheelSource:
        """Publish a wheel with these members; a source for the first of them."""
        packed = io.BytesIO()
        about = f"{distribution.replace('-', '_')}-{version}.dist-info"
        with zipfile.ZipFile(packed, "w") as archive:
            for name, content in members.items():
                archive.writestr(name, content)
            archive.writestr(f"{about}/METADATA", f"Metadata-Version: 2.1\nName: {distribution}\nVersion: {version}\n")
            archive.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel = packed.getvalue()
        name = f"{distribution.replace('-', '_')}-{version}-py3-none-any.whl"
        sha256 = hashlib.sha256(wheel).hexdigest()
        self.files[f"/files/{name}"] = wheel
        self.pages[f"/simple/{distribution}/"] = f'<a href="/files/{name}#sha256={sha256}">{name}</a>'
        return WheelSource(distribution, version, len(wheel), sha256, next(iter(members)))

    def put_hub(self, repo: str, file: str, content: bytes, *, sha256: str | None = None) -> HubSource:
        """Publish a file of a hub repository, under its own checksum or a wrong one."""
        path = f"/{repo}/resolve/main/{file}"
        self.files[path] = content
        self.published[path] = hashlib.sha256(content).hexdigest() if sha256 is None else sha256
        return HubSource(repo, file)

    @property
    def environment(self) -> dict[str, str]:
        """Sends pip and huggingface_hub here, and only here."""
        return {
            "PIP_CONFIG_FILE": "/dev/null",
            "PIP_INDEX_URL": f"{self.address}/simple/",
            "PIP_EXTRA_INDEX_URL": "",
            "PIP_FIND_LINKS": "",
            "PIP_NO_INDEX": "",
            "PIP_RETRIES": "0",
            "HF_ENDPOINT": self.address,
            "HF_HUB_OFFLINE": "0",
            "HF_TOKEN": "",
            "NO_PROXY": "127.0.0.1,localhost",
            "no_proxy": "127.0.0.1,localhost",
        }


def entry(source: WheelSource | HubSource, *, name: str = "tiny", file: str = "tiny.gguf", size: int = 1000) -> Entry:
    """A catalogue entry for a source of these servers."""
    return Entry(name, "chat", file, source, size, 0, "none", 512, "for tests")


@contextmanager
def serving() -> Iterator[Site]:
    """A running site; closing it lets every stalled connection go."""
    site = Site()

    class Handler(BaseHTTPRequestHandler):
        def do_HEAD(self) -> None:
            self._answer(body=False)

        def do_GET(self) -> None:
            self._answer(body=True)

        def _answer(self, *, body: bool) -> None:
            if self.path in site.refused:
                status, code = site.refused[self.path]
                self._head(status, {"X-Error-Code": code, "Content-Length": "0"})
            elif self.path in site.pages:
                page = site.pages[self.path].encode()
                self._head(200, {"Content-Type": "text/html", "Content-Length": str(len(page))})
                self.wfile.write(page if body else b"")
            elif self.path in site.files:
                self._file(site.files[self.path], body=body)
            else:
                self._head(404, {"X-Error-Code": "EntryNotFound", "Content-Length": "0"})

        def _file(self, content: bytes, *, body: bool) -> None:
            headers = {}
            if sha256 := site.published.get(self.path):
                headers = {"X-Repo-Commit": REVISION, "X-Linked-Size": str(len(content)), "X-Linked-Etag": sha256}
            if location := site.moved.get(self.path):
                self._head(302, headers | {"Location": location, "Content-Length": "0"})
                return
            if not body:
                self._head(200, headers | {"ETag": '"x"', "Content-Length": str(len(content))})
                return
            asked = int(self.headers.get("Range", "bytes=0-").removeprefix("bytes=").rstrip("-"))
            site.offsets.append(asked)
            site.headers.append({key.lower(): value for key, value in self.headers.items()})
            start = asked if site.ranges else 0
            if start:
                headers["Content-Range"] = f"bytes {start}-{len(content) - 1}/{len(content)}"
            self._head(206 if start else 200, headers | {"Content-Length": str(len(content) - start)})
            end = start + site.cuts.pop(0) if site.cuts else len(content)
            if site.stall_after is not None:
                self.wfile.write(content[start : site.stall_after])
                self.wfile.flush()
                start, site.stall_after = site.stall_after, None
                site.stalled.set()
                site.go_on.wait(30)
            self.wfile.write(content[start:end])

        def _head(self, status: int, headers: dict[str, str]) -> None:
            self.send_response(status)
            for key, value in headers.items():
                self.send_header(key, value)
            self.end_headers()

        def handle(self) -> None:
            try:
                super().handle()
            except (BrokenPipeError, ConnectionResetError):
                self.close_connection = True

        def log_message(self, format: str, *args: object) -> None:
            """Silence: the tests ask the site what was requested."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    site.address = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield site
    finally:
        site.go_on.set()
        server.shutdown()
        thread.join()
        server.server_close()
