"""Every file that cannot be a model gets its own clear error, and the process goes on."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from models import errors
from models.embedder import load_embedder
from models.generator import load_generator
from models.header import read_header
from models.loading import check_memory, load_model, refusal
from models.machine import available_memory, physical_cores

Write = Callable[..., Path]


def load(path: Path, **named: object) -> object:
    return load_generator(path, name="x", context=512, memo=None, **named)  # type: ignore[arg-type]


def test_what_is_no_chat_model_or_ends_too_early_is_refused(chat_gguf: Path, embed_gguf: Path, tmp_path: Path) -> None:
    path = tmp_path / "notes.gguf"
    path.write_text("these are my notes\n")
    with pytest.raises(errors.NotGguf, match=r"notes\.gguf is not a GGUF model: it is a text file"):
        load(path)
    with pytest.raises(errors.NotAChatModel, match="bert"):
        load(embed_gguf)
    with pytest.raises(errors.NotAnEmbedder, match="llama"):
        load_embedder(chat_gguf, name="x")
    whole = chat_gguf.read_bytes()
    for cut in (whole[:3_000_000], whole[:-1000]):
        path.write_bytes(cut)
        with pytest.raises(errors.TruncatedModel):
            load(path)


@pytest.mark.process
def test_an_unknown_architecture_is_named_and_one_without_what_it_needs_is_damaged(write_gguf: Write) -> None:
    with pytest.raises(errors.UnknownArchitecture, match="'tomorrow'") as caught:
        load(write_gguf({"general.architecture": "tomorrow"}))
    assert caught.value.architecture == "tomorrow"
    with pytest.raises(errors.DamagedModel, match=r"made\.gguf is damaged"):
        load(write_gguf({"general.architecture": "llama"}))


def test_a_model_too_big_for_the_memory_is_refused_before_it_is_loaded(chat_gguf: Path) -> None:
    header = read_header(chat_gguf)
    with pytest.raises(errors.TooBigForMemory) as caught:
        check_memory(header, context=8192, placed=0, available=lambda: 300_000_000)
    assert caught.value.needed > header.size + 2 * 8192 * header.kv_bytes_per_token()
    check_memory(header, context=8192, placed=0, available=lambda: caught.value.needed)
    check_memory(header, context=8192, placed=caught.value.needed, available=lambda: 0)
    with pytest.raises(errors.TooBigForMemory):
        load_model(chat_gguf, embeds=False, context=512, gpu_layers=-1, memo=None, available=lambda: 1000)


def test_this_machine_has_memory_and_cores() -> None:
    assert available_memory() > 0
    assert 1 <= physical_cores() <= (os.cpu_count() or 1)


def test_what_llama_cpp_says_decides_which_error_it_is(write_gguf: Write) -> None:
    header = read_header(write_gguf({"general.architecture": "llama"}))
    for said, kind in (
        ("error loading model: unknown model architecture: 'foo'\n", errors.UnknownArchitecture),
        ("tensor 'a' data is not within the file bounds, model is corrupted\n", errors.TruncatedModel),
        ("ggml_backend_cpu_buffer: failed to allocate buffer of size 1\n", errors.TooBigForMemory),
        ("llama_model_load: error loading model: wrong shape\n", errors.DamagedModel),
        ("", errors.DamagedModel),
    ):
        assert type(refusal(header, [said])) is kind


def test_a_good_model_still_loads_after_every_kind_of_bad_one(chat_gguf: Path, tried: Path, write_gguf: Write) -> None:
    code = f"""
import asyncio, sys
from pathlib import Path
from models.errors import LoadError
from models.generator import load_generator
from models.protocols import SamplingParams
bad = {[str(write_gguf({"general.architecture": kind}, name=kind)) for kind in ("llama", "what")]!r}
for path in bad:
    try:
        load_generator(Path(path), name="bad")
    except LoadError as error:
        print(type(error).__name__)
generator = load_generator(Path({str(chat_gguf)!r}), name="good", context=256, memo=Path({str(tried)!r}))
async def main():
    prompt = [*generator.frame("user", "Hi", first=True), *generator.reply_open()]
    async for item in generator.generate(prompt, SamplingParams(max_tokens=3, temperature=0)):
        print(type(item).__name__)
asyncio.run(main())
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.split()[:3] == ["DamagedModel", "UnknownArchitecture", "Piece"]
    assert done.stdout.split()[-1] == "Finished"
