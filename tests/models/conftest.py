"""Small helpers for damaged models."""

import struct
from collections.abc import Callable
from pathlib import Path

import pytest


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
