"""A build of llama.cpp that crashes: the real probe and the real models, with a library that is made to crash."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from models import machine
from tests.crashing import crashing_library

# Loads both models, embeds and speaks; prints what is told, and what comes.
CHAT = """
import asyncio, sys
from pathlib import Path
from models.embedder import load_embedder
from models.generator import load_generator
from models.protocols import Piece, SamplingParams
chat, embedder, memo = map(Path, sys.argv[1:])
model = load_generator(chat, name="c", context=512, memo=memo, warn=print)
embeds = load_embedder(embedder, name="e", memo=memo)

async def main():
    print(len(await embeds.embed(["a text of more than one token"])))
    prompt = [*model.frame("user", "Hi", first=True), *model.reply_open()]
    items = [item async for item in model.generate(prompt, SamplingParams(max_tokens=3, temperature=0))]
    print(repr("".join(item.text for item in items if isinstance(item, Piece))))
    print(type(items[-1]).__name__)

asyncio.run(main())
"""


@pytest.fixture(scope="module")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Path]:
    """Folders of libraries that crash with extra buffers, and always."""
    folder = tmp_path_factory.mktemp("libraries")
    return {name: crashing_library(folder / name, always=name == "always") for name in ("buffers", "always")}


def ran(arguments: list[str], library: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *arguments]
    environment = os.environ | {"LLAMA_CPP_LIB_PATH": str(library)}
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def test_a_build_that_crashes_with_extra_buffers_goes_on_without_them_and_says_so_once(
    libraries: Mapping[str, Path], chat_gguf: Path, embed_gguf: Path, tmp_path: Path
) -> None:
    memo = tmp_path / "probed.json"
    chat = ["-c", CHAT, str(chat_gguf), str(embed_gguf), str(memo)]
    first = ran(chat, libraries["buffers"])
    assert (first.returncode, first.stderr) == (0, "")
    told, *came = first.stdout.splitlines()
    assert "This build of llama.cpp crashes on this processor" in told
    assert machine.rebuild_command() in told
    assert (came[0], came[2]) == ("1", "Finished")
    assert len(came[1]) > len("''")
    second = ran(chat, libraries["buffers"])
    assert second.stdout.splitlines() == came
    tried = [entry for entry in json.loads(memo.read_text()).values() if isinstance(entry, list)]
    assert [entry[-1] for entry in tried] == [False, False]


def test_a_build_that_always_crashes_is_told_as_that(
    libraries: Mapping[str, Path], chat_gguf: Path, embed_gguf: Path, tmp_path: Path
) -> None:
    failed = ran(["-c", CHAT, str(chat_gguf), str(embed_gguf), str(tmp_path / "probed.json")], libraries["always"])
    assert failed.returncode == 1  # an error, and no crash of this process
    assert "CrashingBuild: This build of llama.cpp crashes on this processor" in failed.stderr


def test_the_proof_of_the_set_up_takes_no_plainer_way_and_knows_a_model_that_ran_from_then_on(
    libraries: Mapping[str, Path], chat_gguf: Path, embed_gguf: Path, tmp_path: Path
) -> None:
    crashed = ran(["-P", "-m", "models.proof", str(chat_gguf)], libraries["buffers"])
    assert crashed.returncode == 10
    assert "SmolLM2-135M-Instruct.Q4_1.gguf is not the cause" in crashed.stderr
    embedder = tmp_path / "e.gguf"
    embedder.write_bytes(embed_gguf.read_bytes())
    proof = ["-P", "-m", "models.proof", str(embedder)]
    assert ran(proof, libraries["always"]).returncode == 1  # nobody knows yet who is at fault
    proven = ran([*proof, str(chat_gguf)], build_folder())
    assert (proven.returncode, proven.stderr) == (0, "")
    assert ran(proof, libraries["always"]).returncode == 10
    embedder.write_bytes(embed_gguf.read_bytes() + b"?")
    assert ran(proof, libraries["always"]).returncode == 1


def test_a_swapped_model_makes_no_build_broken(libraries: Mapping[str, Path], chat_gguf: Path, tmp_path: Path) -> None:
    swapped = tmp_path / chat_gguf.name
    swapped.write_bytes(chat_gguf.read_bytes() + b"?")
    crashed = ran(["-P", "-m", "models.proof", str(swapped)], libraries["always"])
    assert crashed.returncode == 1
    assert "it is not the file that was installed" in crashed.stderr
    assert "clew models rm smollm2-135m" in crashed.stderr


def test_a_library_that_cannot_load_is_told(libraries: Mapping[str, Path], chat_gguf: Path, tmp_path: Path) -> None:
    for name, content in (("none", None), ("damaged", b"\x7fELF, and no more")):
        folder = tmp_path / name
        folder.mkdir()
        if content is not None:
            (folder / "libllama.so").write_bytes(content)
        failed = ran(["-P", "-m", "models.proof", str(chat_gguf)], folder)
        assert failed.returncode == 11, failed.stderr
        assert "llama.cpp cannot be loaded" in failed.stderr
        assert machine.rebuild_command() in failed.stderr


def build_folder() -> Path:
    """The libraries that are installed."""
    folder = machine.library_folder()
    assert folder is not None
    return folder
