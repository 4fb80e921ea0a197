"""What every test shares: a home of its own, no network beyond this machine, and the real small models."""

import os
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from models.generator import LlamaGenerator

# Read before the fixture below hides them: where the developer's own models are.
MODELS = os.environ.get("CLEW_MODELS")
HOME = os.environ.get("CLEW_HOME")
LOOPBACK = {"127.0.0.1", "::1", "localhost"}


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty CLEW_HOME for this test alone."""
    folder = tmp_path / "clew-home"
    monkeypatch.setenv("CLEW_HOME", str(folder))
    monkeypatch.delenv("CLEW_MODELS", raising=False)
    return folder


@pytest.fixture(autouse=True)
def _no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Connections leave this machine in no test; servers of the tests themselves are on the loopback address."""

    def guarded(name: str) -> Any:
        connect = getattr(socket.socket, name)

        def local_only(self: socket.socket, address: Any) -> Any:
            if self.family != socket.AF_UNIX and address[0] not in LOOPBACK:
                raise AssertionError(f"a test tried to reach {address}")
            return connect(self, address)

        return local_only

    monkeypatch.setattr(socket.socket, "connect", guarded("connect"))
    monkeypatch.setattr(socket.socket, "connect_ex", guarded("connect_ex"))


@pytest.fixture(scope="session")
def models_folder() -> Path:
    """The folder of the GGUFs that `make` fetched."""
    from platformdirs import user_data_path

    return Path(MODELS) if MODELS else (Path(HOME) if HOME else user_data_path("clew")) / "models"


@pytest.fixture(scope="session")
def chat_gguf(models_folder: Path) -> Path:
    """The default chat model's file."""
    from models.store import DEFAULT_CHAT, ModelStore

    return ModelStore(models_folder).path(DEFAULT_CHAT)


@pytest.fixture(scope="session")
def embed_gguf(models_folder: Path) -> Path:
    """The default embedder's file."""
    from models.store import DEFAULT_EMBEDDER, ModelStore

    return ModelStore(models_folder).path(DEFAULT_EMBEDDER)


@pytest.fixture(scope="session")
def generator(chat_gguf: Path) -> Iterator["LlamaGenerator"]:
    """The default chat model, loaded once for the whole run (each test brings its own event loop)."""
    import asyncio

    from models.generator import load_generator

    loaded = load_generator(chat_gguf, name="smollm2-135m", context=4096)
    yield loaded
    asyncio.run(loaded.close())
