"""The catalogue is whole, and names lead where they should."""

import re
from pathlib import PurePosixPath

import pytest

from models.catalogue import (
    CATALOGUE,
    DEFAULT_CHAT,
    DEFAULT_EMBEDDER,
    HubSource,
    WheelSource,
    entry,
    find,
    find_embedder,
    looks_like_embedder,
)
from models.errors import UnknownModel


def test_names_and_files_are_each_used_once_and_the_defaults_need_no_hub() -> None:
    assert len({each.name for each in CATALOGUE}) == len({each.file for each in CATALOGUE}) == len(CATALOGUE)
    assert [entry(name).kind for name in (DEFAULT_CHAT, DEFAULT_EMBEDDER)] == ["chat", "embed"]
    assert all(isinstance(entry(name).source, WheelSource) for name in (DEFAULT_CHAT, DEFAULT_EMBEDDER))


def test_every_entry_says_what_a_person_must_know() -> None:
    for model in CATALOGUE:
        assert model.memory > model.size > 10_000_000, model.name
        assert model.context >= 512
        assert model.licence
        assert model.description
        match model.source:
            case WheelSource(sha256=sha256):
                assert re.fullmatch("[0-9a-f]{64}", sha256)
            case HubSource(repo=repo, file=file):
                assert re.fullmatch(r"[\w.-]+/[\w.-]+", repo)
                assert PurePosixPath(file).name == model.file


def test_a_name_leads_to_an_entry_or_is_answered_with_what_may_be_meant() -> None:
    with pytest.raises(UnknownModel, match="smollm2-135m"):
        entry("smollm")
    assert find("smollm") is None
    made = entry("hf:owner/repo/sub/file.gguf")
    assert made.source == HubSource("owner/repo", "sub/file.gguf")
    assert made.file == "file.gguf"
    for wrong in ("hf:owner/repo", "hf:owner/repo/file.bin", "hf:owner/../../x.gguf", "hf:/a/b/c.gguf"):
        with pytest.raises(UnknownModel, match="must look like"):
            entry(wrong)


def test_what_goes_before_a_text_and_how_cosines_are_read_is_an_embedders() -> None:
    for each in CATALOGUE:
        plain = (each.query, each.passage, each.zero, each.slope) == ("", "", 0.0, 1.0)
        assert plain or each.kind == "embed", each.name
        assert 0 <= each.zero < 1 <= each.slope
        assert each.zero + 1 / each.slope <= 1.05, each.name  # what is the same is read as about that
    assert entry(DEFAULT_EMBEDDER).slope == 1


def test_what_a_server_calls_an_embedder_leads_to_its_entry_and_a_name_may_tell_one() -> None:
    for told, name in (
        ("nomic-embed-text", "nomic-embed-text"),
        ("nomic-embed-text:latest", "nomic-embed-text"),
        ("nomic-ai/nomic-embed-text-v1.5", "nomic-embed-text"),
        ("nomic-embed-text-v1.5.Q4_K_M.gguf", "nomic-embed-text"),
        ("all-MiniLM-L6-v2.Q8_0", "minilm-l6"),
        ("C:\\models\\bge-small-en-v1.5-f16.gguf", "bge-small"),
        ("Qwen/Qwen3-Embedding-0.6B-GGUF", "qwen3-embedding"),
        ("Qwen3-Embedding-8B", None),
        ("smollm2-135m", None),
        ("", None),
    ):
        found = find_embedder(told)
        assert (found.name if found else None) == name, told
    assert all(map(looks_like_embedder, ("text-embedding-3-small", "all-minilm-l6-v2", "e5-small-v2")))
    assert not any(map(looks_like_embedder, ("qwen3:8b", DEFAULT_CHAT, "")))
