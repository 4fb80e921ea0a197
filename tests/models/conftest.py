"""A model of one's own, with nothing in its cache; real llama-servers; and small helpers for damaged models."""

import asyncio
import struct
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache
from pathlib import Path

import httpcore2
import pytest

from models.generator import LlamaGenerator, load_generator
from tests.models import servers
from tests.models.llama_server import serving

SHORT = 2048  # tokens of the context of a model of one's own
_trusted = cache(httpcore2.default_ssl_context)


def _string(text: str) -> bytes:
    return struct.pack("<Q", len(text.encode())) + text.encode()


def _value(value: object) -> bytes:
    match value:
        case bool():
            return struct.pack("<I?", 7, value)
        case int():
            return struct.pack("<II", 4, value)
        case float():
            return struct.pack("<If", 6, value)
        case str():
            return struct.pack("<I", 8) + _string(value)
        case list():
            items = [_value(each) for each in value]
            return struct.pack("<I4sQ", 9, items[0][:4], len(items)) + b"".join(item[4:] for item in items)
        case _:
            raise TypeError(value)


@pytest.fixture
def write_gguf(tmp_path: Path) -> Callable[..., Path]:
    """Writes a GGUF without tensors: `write_gguf({"general.architecture": "llama", …}, name=…)`."""

    def write(values: dict[str, object], *, name: str = "made.gguf", tail: bytes = b"\0" * 64) -> Path:
        entries = b"".join(_string(key) + _value(value) for key, value in values.items())
        path = tmp_path / name
        path.write_bytes(struct.pack("<4sIQQ", b"GGUF", 3, 0, len(values)) + entries + tail)
        return path

    return write


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Iterator[servers.Site]:
    """An index and a hub, where pip and huggingface_hub look."""
    with servers.serving() as site:
        for key, value in site.environment.items():
            monkeypatch.setenv(key, value)
        yield site


@pytest.fixture
def tried(_tried: Path) -> Path:
    """A note of the default models that were tried: who has it loads them without a process of its own for that."""
    return _tried


@pytest.fixture(scope="session")
def _another(chat_gguf: Path, _tried: Path) -> Iterator[LlamaGenerator]:
    loaded = load_generator(chat_gguf, name="another", context=SHORT, memo=_tried)
    yield loaded
    asyncio.run(loaded.close())


@pytest.fixture
async def fresh(_another: LlamaGenerator) -> LlamaGenerator:
    """A generator with nothing in its cache and a single context, as a new process has it."""

    def empty() -> None:
        contexts = _another.contexts
        contexts._free_apart()
        if contexts._back is not None:
            contexts._back.free()
            contexts._back = None
        contexts.front.keep_shared([])

    await _another._call(empty)
    return _another


@pytest.fixture(scope="session")
def slots_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the llama-servers write down what is in their slots."""
    return tmp_path_factory.mktemp("slots")


@pytest.fixture(scope="session")
def llama_servers(chat_gguf: Path, slots_folder: Path) -> Iterator[list[str]]:
    """The addresses of two real llama-servers with the default model."""
    with ExitStack() as stack:
        yield [stack.enter_context(serving(chat_gguf, states=slots_folder)) for _ in range(2)]


@pytest.fixture(autouse=True, scope="module")
def _certificates_are_read_once() -> Iterator[None]:
    """What the system trusts is read by each client of a server, and that is most of the time that one takes."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(httpcore2, "default_ssl_context", _trusted)
        yield
