"""The prepared home: unpacked into a folder, and clew run in it, in this process, with fakes for models.

What is patched here is all that this package knows of how the parts of clew come to their models.
"""

import io
import os
import tarfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from unittest.mock import patch

from agent.events import ModelProgress, Warned
from agent.model_host import LoadedEmbedder, Loader
from models.protocols import Generator
from tests.fakes import FakeEmbedder, FakeGenerator, Reply
from tests.tui.commands.conftest import Ended
from tui.commands import run

PACKED = Path(__file__).parent / "home" / "home.tar.gz"
NAME = "home"  # of the folder that is packed
KEY = "fake@0"  # of the vectors
REPLY = "So I hear."


def unpack(folder: Path) -> Path:
    """The prepared home, in a folder of its own below `folder`."""
    with tarfile.open(PACKED) as packed:
        packed.extraction_filter = lambda member, path: member  # it is ours; a parameter is unknown to Python 3.11.2
        packed.extractall(folder)
    return folder / NAME


@contextmanager
def living_in(root: Path) -> Iterator[None]:
    """Have every clew live in the home at `root`, by the settings of its file, with fakes for models."""
    mask = os.umask(0o077)  # as the program sets it
    others = {name: value for name, value in os.environ.items() if not name.startswith("CLEW_")}
    with (
        patch.dict(os.environ, others | {"CLEW_HOME": str(root)}, clear=True),
        patch("agent.agent.llama_loader", lambda home, settings, *, fetching=False: fake_model(REPLY)),
        patch("agent.agent.llama_embedder_loader", lambda home, settings: fake_embedder),
        patch("models.quiet.guard_descriptors", lambda log_file: None),  # they are of the program that runs this
    ):
        try:
            yield
        finally:
            os.umask(mask)


def call(*argv: str, stdin: bytes | None = None) -> Ended:
    """Run a command line where `living_in` says, with nobody at a terminal."""
    out, err = io.StringIO(), io.StringIO()
    given = io.TextIOWrapper(io.BytesIO(stdin)) if stdin is not None else None
    with patch("sys.stdin", given), redirect_stdout(out), redirect_stderr(err):
        code = run(argv)
    return Ended(code, out.getvalue(), err.getvalue())


def fake_model(*replies: str | Reply) -> Loader:
    """Brings up a fake that says `replies`, whichever model is asked for."""

    def load(name: str, progress: Callable[[ModelProgress | Warned], None]) -> Generator:
        return FakeGenerator(*replies)

    return load


def fake_embedder(name: str) -> LoadedEmbedder:
    """A fake, whichever embedder is asked for."""
    return LoadedEmbedder(FakeEmbedder(), KEY)
