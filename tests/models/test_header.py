"""The header reader tells files apart before llama.cpp sees them."""

import math
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.errors import DamagedModel, LoadError, ModelMissing, NotGguf, TruncatedModel
from models.header import read_header
from tests.examples import examples

Write = Callable[..., Path]


def test_the_headers_of_the_real_models_say_what_they_are(chat_gguf: Path, embed_gguf: Path) -> None:
    header = read_header(chat_gguf)
    assert header.architecture == "llama"
    assert header.number("context_length") == 8192
    assert header.kv_bytes_per_token() == 30 * 3 * 2 * 64 * 2
    assert "<|im_start|>" in str(header.chat_template)
    assert not header.embeds
    assert read_header(embed_gguf).embeds


def test_a_model_embeds_if_it_pools_or_looks_ahead(write_gguf: Write) -> None:
    for values, embeds in (
        ({"qwen3.pooling_type": 3}, True),
        ({"qwen3.pooling_type": 0}, False),
        ({"qwen3.pooling_type": 4}, False),
        ({"qwen3.attention.causal": False}, True),
        ({}, False),
    ):
        assert read_header(write_gguf({"general.architecture": "qwen3", **values})).embeds is embeds


def test_values_of_every_kind_are_read_and_layers_may_differ(write_gguf: Write) -> None:
    path = write_gguf(
        {
            "general.architecture": "x",
            "x.block_count": 4,
            "x.embedding_length": 32,
            "x.attention.head_count": 4,
            "x.attention.head_count_kv": [1, 2, 2, 1],
            "x.rope": 0.5,
            "words": ["a", "b"],
        }
    )
    header = read_header(path)
    assert header.kv_bytes_per_token() == 2 * 4 * 2 * 16
    assert header.values["x.rope"] == 0.5
    assert "words" not in header.values


def test_no_gguf_is_named_and_what_cannot_be_read_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "model.gguf"
    for data, found in (
        (b"", "an empty file"),
        (b"# My model\nnotes about it", "a text file"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0", "a Git LFS pointer"),
        (b"PK\x03\x04rest", "a zip archive"),
        (b'\x40\0\0\0\0\0\0\0{"__metadata__":', "a safetensors file"),
        (b"\x00\xff\x00\xfe" * 20, "a file of another kind"),
    ):
        path.write_bytes(data)
        with pytest.raises(NotGguf, match=found):
            read_header(path)
    os.mkfifo(tmp_path / "pipe")
    for each, why in ((tmp_path, "a folder"), (tmp_path / "none", "does not exist"), (tmp_path / "pipe", "not a file")):
        with pytest.raises(ModelMissing, match=why):
            read_header(each)

    def refuse(*_args: object, **_named: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)  # root may read everything
    with pytest.raises(ModelMissing, match="permission denied"):
        read_header(path)


def test_a_model_cut_off_anywhere_is_called_cut_off(chat_gguf: Path, tmp_path: Path) -> None:
    whole = chat_gguf.read_bytes()
    for size in (5, 30, 1000, 100_000, 2_000_000):
        path = tmp_path / f"{size}.gguf"
        path.write_bytes(whole[:size])
        with pytest.raises(TruncatedModel, match="cut off"):
            read_header(path)


def test_nonsense_in_the_header_is_damage(write_gguf: Write) -> None:
    path = write_gguf({"a": 1})
    good = path.read_bytes()
    for data, why in (
        (good[:4] + b"\x09\0\0\0" + good[8:], "GGUF version 9"),
        (good[:8] + b"\xff" * 8 + good[16:], "more entries"),
        (good.replace(b"\x04\0\0\0\x01\0\0\0", b"\x63\0\0\0\x01\0\0\0"), "unknown type 99"),
    ):
        path.write_bytes(data)
        with pytest.raises(DamagedModel, match=why):
            read_header(path)


@given(data=st.binary(max_size=200), at=st.integers(0, 60), count=st.integers(0, 1 << 40))
@examples(200)
def test_no_bytes_fail_otherwise(tmp_path_factory: pytest.TempPathFactory, data: bytes, at: int, count: int) -> None:
    path = tmp_path_factory.getbasetemp() / "fuzzed.gguf"
    start = b"GGUF\x03\0\0\0" + (1).to_bytes(8, "little") + count.to_bytes(8, "little")
    path.write_bytes(start + b"\0" * at + data)
    with suppress(LoadError):
        assert read_header(path).size == path.stat().st_size


def test_a_number_that_is_none_or_endless_is_not_there(write_gguf: Write) -> None:
    odd = {"x.context_length": math.nan, "x.block_count": math.inf, "x.attention.head_count": [math.nan, 4.0]}
    header = read_header(write_gguf({"general.architecture": "x", **odd}))
    assert [header.number(key, 7) for key in ("context_length", "block_count", "attention.head_count")] == [7, 7, 4]
