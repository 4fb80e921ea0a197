"""Nothing that native code prints reaches descriptors 1 and 2 of a guarded process; what Python prints does."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.process

LOAD_AND_TALK = """
import asyncio, ctypes, os, sys
from pathlib import Path

import pytest
from models.quiet import guard_descriptors
if {guarded}:
    guard_descriptors(Path({log!r}))
    guard_descriptors(Path("elsewhere.log"))
from models.errors import LoadError, StructuredOutputError
from models.generator import load_generator
from models.native import NativeModel
from models.protocols import SamplingParams
from models.sampling import GrammarSampler
try:
    load_generator(Path({bad!r}), name="bad")
except LoadError:
    print("refused")
generator = load_generator(Path({chat!r}), name="chat", context=256, memo=Path({memo!r}))
async def main():
    prompt = [*generator.frame("user", "Hi", first=True), *generator.reply_open()]
    async for item in generator.generate(prompt, SamplingParams(max_tokens=3)):
        pass
asyncio.run(main())
if {guarded}:
    try:
        GrammarSampler(generator.contexts.model, "this is no grammar")
    except StructuredOutputError:
        print("no grammar")
    ctypes.CDLL(None).puts(b"from C")
    ctypes.CDLL(None).fflush(None)
    os.write(2, b"from a driver")
    sys.__stdout__.write("dunder\\n")
print("said on stdout")
print("said on stderr", file=sys.stderr)
"""


def run(chat: Path, bad: Path, log: Path, memo: Path, *, guarded: bool) -> subprocess.CompletedProcess[str]:
    code = LOAD_AND_TALK.format(chat=str(chat), bad=str(bad), log=str(log), memo=str(memo), guarded=guarded)
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=bad.parent)


def test_a_guarded_process_prints_only_what_python_says(chat_gguf: Path, tmp_path: Path) -> None:
    bad, log = tmp_path / "bad.gguf", tmp_path / "cache" / "native.log"
    bad.write_text("text")
    done = run(chat_gguf, bad, log, tmp_path / "probed.json", guarded=True)
    assert done.stdout.splitlines() == ["refused", "no grammar", "dunder", "said on stdout"]
    assert done.stderr == "said on stderr\n"
    native = log.read_text()
    assert "from C" in native
    assert "from a driver" in native
    assert log.stat().st_mode & 0o777 == 0o600
    assert not (tmp_path / "elsewhere.log").exists()


def test_loading_and_talking_print_nothing_even_without_the_guard(chat_gguf: Path, tried: Path, tmp_path: Path) -> None:
    bad = tmp_path / "bad.gguf"
    bad.write_text("text")
    done = run(chat_gguf, bad, tmp_path / "unused.log", tried, guarded=False)
    assert done.stdout.splitlines() == ["refused", "said on stdout"]
    assert done.stderr == "said on stderr\n"


def guard_only(log: Path, code: str = "") -> subprocess.CompletedProcess[str]:
    text = (
        f"from pathlib import Path\nfrom models.quiet import guard_descriptors\nguard_descriptors(Path({str(log)!r}))\n"
    )
    command = [sys.executable, "-c", text + "import os\nos.write(1, b'native')\n" + code]
    return subprocess.run(command, capture_output=True, text=True, check=True)


def test_a_log_that_grew_too_long_is_begun_anew_and_one_that_cannot_be_written_stops_nothing(tmp_path: Path) -> None:
    log = tmp_path / "native.log"
    log.write_text("x" * (1 << 21))
    guard_only(log)
    assert log.read_text() == "native"
    guard_only(log)
    assert log.read_text() == "nativenative"
    (tmp_path / "file").touch()
    assert guard_only(tmp_path / "file" / "native.log", "print('goes on')").stdout == "goes on\n"


def test_children_are_given_the_terminal_by_name(tmp_path: Path) -> None:
    code = "import subprocess, sys\nsubprocess.run(['echo', 'child'], stdout=sys.stdout)\n"
    assert guard_only(tmp_path / "native.log", code).stdout == "child\n"
    assert os.listdir(tmp_path) == ["native.log"]
