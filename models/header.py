"""What a GGUF says of itself, read without llama.cpp: enough to refuse a wrong file with a clear word.

Only the header is read (a few MB of a file of any size), and every length is checked against the file before it is
believed, so no file can make this use much memory. Layout: docs/gguf.md of the ggml project, versions 2 and 3.
"""

import math
import mmap
import stat
import struct
from dataclasses import dataclass, field
from pathlib import Path

from models.errors import DamagedModel, ModelMissing, NotGguf, TruncatedModel

Value = int | float | bool | str | list[int | float | bool]
MAGIC = b"GGUF"
STRING, ARRAY = 8, 9
SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
SHORT_ARRAY = 1024  # longer arrays are vocabularies; nothing here needs their values
MAX_ENTRIES = 1 << 20
KINDS = (
    (b"PK\x03\x04", "a zip archive (perhaps a PyTorch model)"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"%PDF", "a PDF"),
    (b"ggjt", "a GGML file of 2023, from before GGUF"),
    (b"lmgg", "a GGML file of 2023, from before GGUF"),
    (b"version https://git-lfs", "a Git LFS pointer, not the file itself"),
)


@dataclass(frozen=True, slots=True)
class GgufHeader:
    """The metadata of a GGUF, long arrays left out; `size` in bytes; `chat_template` is Jinja.

    `tensors` has the bytes that each tensor takes in the file, by its name.
    """

    path: Path
    size: int
    tensors: dict[str, int] = field(repr=False)
    values: dict[str, Value] = field(repr=False)

    @property
    def architecture(self) -> str:
        return str(self.values.get("general.architecture", ""))

    @property
    def chat_template(self) -> str | None:
        template = self.values.get("tokenizer.chat_template")
        return template if isinstance(template, str) else None

    def number(self, key: str, default: int = 0) -> int:
        """A whole number under `{architecture}.key`; a per-layer array gives its largest."""
        value = self.values.get(f"{self.architecture}.{key}", default)
        several = value if isinstance(value, list) else [value]
        numbers = (int(each) for each in several if isinstance(each, int | float) and math.isfinite(each))
        return max(numbers, default=default)

    @property
    def embeds(self) -> bool:
        """Made to turn text into vectors: it pools (not for ranking, which is 4) or does not look back only."""
        pools = self.values.get(f"{self.architecture}.pooling_type")
        causal = self.values.get(f"{self.architecture}.attention.causal", True)
        return (pools is not None and pools not in (0, 4)) or causal is False

    def kv_bytes_per_token(self) -> int:
        """Bytes of a KV cache in half precision for one token."""
        heads = max(1, self.number("attention.head_count", 1))
        width = self.number("embedding_length") // heads
        key, value = self.number("attention.key_length", width), self.number("attention.value_length", width)
        return 2 * self.number("block_count") * self.number("attention.head_count_kv", heads) * (key + value)


class _Reader:
    """A cursor over the file that raises TruncatedModel instead of reading past its end."""

    def __init__(self, path: Path, data: mmap.mmap) -> None:
        self.path = path
        self.data = data
        self.at = 0

    def take(self, count: int) -> int:
        """Skip `count` bytes and return where they began."""
        start, self.at = self.at, self.at + count
        if self.at > len(self.data):
            raise TruncatedModel(self.path, len(self.data), self.at)
        return start

    def scalar(self, code: str) -> int | float | bool:
        value: int | float | bool = struct.unpack_from(f"<{code}", self.data, self.take(struct.calcsize(f"<{code}")))[0]
        return value

    def string(self) -> str:
        length = int(self.scalar("Q"))
        start = self.take(length)
        return self.data[start : start + length].decode("utf-8", "replace")

    def value(self) -> Value | None:
        kind = int(self.scalar("I"))
        if kind == STRING:
            return self.string()
        if kind == ARRAY:
            return self.array()
        if kind not in SCALARS:
            raise DamagedModel(self.path, f"a value of the unknown type {kind}")
        return self.scalar(SCALARS[kind])

    def array(self) -> list[int | float | bool] | None:
        kind, count = int(self.scalar("I")), int(self.scalar("Q"))
        if kind == STRING:
            unpack, data, at, end = struct.Struct("<Q").unpack_from, self.data, self.at, len(self.data)
            for _ in range(count):
                if at + 8 > end:
                    raise TruncatedModel(self.path, end, at + 8)
                at += 8 + unpack(data, at)[0]
            self.at = at
            return None
        if kind not in SCALARS:
            raise DamagedModel(self.path, f"an array of the unknown type {kind}")
        code = SCALARS[kind]
        start = self.take(count * struct.calcsize(f"<{code}"))
        return list(struct.unpack_from(f"<{count}{code}", self.data, start)) if count <= SHORT_ARRAY else None


def read_header(path: Path) -> GgufHeader:
    """Read and check the header of `path`.

    Raises ModelMissing, NotGguf, TruncatedModel or DamagedModel.
    """
    try:
        mode = path.stat().st_mode
        if not stat.S_ISREG(mode):
            raise ModelMissing(path, "it is a folder" if stat.S_ISDIR(mode) else "it is not a file")
        with path.open("rb") as file:
            start = file.read(64)
            if start[:4] != MAGIC:
                raise NotGguf(path, _kind(start))
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
                return _parse(_Reader(path, data))
    except FileNotFoundError as error:
        raise ModelMissing(path) from error
    except OSError as error:
        raise ModelMissing(path, (error.strerror or str(error)).lower()) from error


def _kind(start: bytes) -> str:
    if not start:
        return "an empty file"
    for magic, name in KINDS:
        if start.startswith(magic):
            return name
    if start[8:9] == b"{":
        return "perhaps a safetensors file"
    text = start.decode("utf-8", "ignore")
    readable = len(text) > len(start) - 4 and all(char.isprintable() or char.isspace() for char in text)
    return "a text file" if readable else "a file of another kind"


def _parse(reader: _Reader) -> GgufHeader:
    reader.take(4)
    version = int(reader.scalar("I"))
    if version not in (2, 3):
        raise DamagedModel(reader.path, f"GGUF version {version}; 2 and 3 are known")
    tensors, entries = int(reader.scalar("Q")), int(reader.scalar("Q"))
    if max(tensors, entries) > MAX_ENTRIES:
        raise DamagedModel(reader.path, "it claims more entries than any model has")
    values: dict[str, Value] = {}
    for _ in range(entries):
        key = reader.string()
        value = reader.value()
        if value is not None:
            values[key] = value
    offsets = _offsets(reader, tensors)
    size = len(reader.data)
    last = reader.at + max(offsets.values(), default=0)
    if size <= last:
        raise TruncatedModel(reader.path, size, last)
    return GgufHeader(reader.path, size, _sizes(offsets, size - reader.at), values)


def _offsets(reader: _Reader, tensors: int) -> dict[str, int]:
    """Where each tensor begins in the data that follows the header, which `reader` has then passed."""
    offsets = {}
    for _ in range(tensors):
        name = reader.string()
        dimensions = int(reader.scalar("I"))
        reader.take(8 * dimensions + 4)
        offsets[name] = int(reader.scalar("Q"))
    return offsets


def _sizes(offsets: dict[str, int], end: int) -> dict[str, int]:
    """The bytes from each tensor's beginning to the next one's."""
    names = sorted(offsets, key=lambda name: offsets[name])
    ends = [offsets[name] for name in names[1:]]
    return {name: after - offsets[name] for name, after in zip(names, [*ends, end], strict=False)}
