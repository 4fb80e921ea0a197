"""The catalogue is whole, and names lead where they should."""

import re
from pathlib import PurePosixPath

import pytest

from models.catalogue import CATALOGUE, DEFAULT_CHAT, DEFAULT_EMBEDDER, HubSource, WheelSource, entry, find
from models.errors import UnknownModel


def test_names_and_files_are_each_used_once() -> None:
    assert len({each.name for each in CATALOGUE}) == len({each.file for each in CATALOGUE}) == len(CATALOGUE)


def test_the_defaults_need_no_hub() -> None:
    assert [entry(name).kind for name in (DEFAULT_CHAT, DEFAULT_EMBEDDER)] == ["chat", "embed"]
    assert all(isinstance(entry(name).source, WheelSource) for name in (DEFAULT_CHAT, DEFAULT_EMBEDDER))


@pytest.mark.parametrize("each", CATALOGUE, ids=lambda each: each.name)
def test_every_entry_says_what_a_person_must_know(each: object) -> None:
    model = entry(each.name)  # type: ignore[attr-defined]
    assert model.memory > model.size > 10_000_000
    assert model.context >= 512
    assert model.licence
    assert model.description
    match model.source:
        case WheelSource(sha256=sha256):
            assert re.fullmatch("[0-9a-f]{64}", sha256)
        case HubSource(repo=repo, file=file):
            assert re.fullmatch(r"[\w.-]+/[\w.-]+", repo)
            assert PurePosixPath(file).name == model.file


def test_a_near_miss_is_answered_with_what_may_be_meant() -> None:
    with pytest.raises(UnknownModel, match="smollm2-135m"):
        entry("smollm")
    assert find("smollm") is None


def test_a_hub_reference_becomes_an_entry() -> None:
    made = entry("hf:owner/repo/sub/file.gguf")
    assert made.source == HubSource("owner/repo", "sub/file.gguf")
    assert made.file == "file.gguf"


@pytest.mark.parametrize(
    "wrong", ["hf:owner/repo", "hf:owner/repo/file.bin", "hf:owner/../../x.gguf", "hf:/a/b/c.gguf"]
)
def test_a_wrong_hub_reference_is_refused(wrong: str) -> None:
    with pytest.raises(UnknownModel, match="must look like"):
        entry(wrong)


def test_what_goes_before_a_text_and_how_cosines_are_read_is_an_embedders() -> None:
    for each in CATALOGUE:
        plain = (each.query, each.passage, each.zero, each.slope) == ("", "", 0.0, 1.0)
        assert plain or each.kind == "embed", each.name
        assert 0 <= each.zero < 1 <= each.slope
        assert each.zero + 1 / each.slope <= 1.05, each.name  # what is the same is read as about that
    assert entry(DEFAULT_EMBEDDER).slope == 1
