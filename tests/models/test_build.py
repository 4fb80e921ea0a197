"""What tells builds and processors apart is found without loading llama.cpp."""

import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from models import machine


@pytest.mark.process
def test_the_build_is_found_without_loading_it() -> None:
    code = "import sys; from models import machine as build; build.identity(); print('llama_cpp' in sys.modules); "
    code += "print(build.library_folder())"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    loaded, folder = said.splitlines()
    assert loaded == "False"
    assert (Path(folder) / "libllama.so").exists() or (Path(folder) / "libllama.dylib").exists()


def test_another_library_or_processor_is_another_identity(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LLAMA_CPP_LIB_PATH", str(tmp_path))
    found = {machine.identity()}
    (tmp_path / "libllama.so").write_bytes(b"one")
    found.add(machine.identity())
    (tmp_path / "libllama.so").write_bytes(b"another")
    found.add(machine.identity())
    info = tmp_path / "cpuinfo"
    info.write_text("processor\t: 0\nflags\t\t: sse2 avx\nprocessor\t: 1\nflags\t\t: sse2\n")
    monkeypatch.setattr(machine, "CPU_INFO", info)
    assert machine.processor_flags() == ["avx", "sse2"]
    found.add(machine.identity())
    assert machine.identity() in found
    assert len(found) == 4
    monkeypatch.setattr(machine, "CPU_INFO", tmp_path / "none")
    assert machine.processor_flags() == []


def test_a_build_for_a_gpu_is_known_by_its_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parts = {"cpu.so": False, "cuda.so": True, "hip.so": True, "metal.dylib": True}
    for part, gpu in parts.items():
        folder = tmp_path / part
        folder.mkdir()
        (folder / f"libggml-{part}").touch()
        monkeypatch.setenv("LLAMA_CPP_LIB_PATH", str(folder))
        assert machine.made_for_gpu() is gpu


def test_the_command_that_rebuilds_fits_how_clew_was_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clone = Path(machine.__file__).parents[1]
    monkeypatch.setattr(sys, "prefix", str(clone / ".venv"))
    assert machine.rebuild_command() == f"make -C {shlex.quote(str(clone))} rebuild-llama"
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    monkeypatch.setattr(sys, "executable", "/of a tool/bin/python")
    monkeypatch.setattr(machine, "processor_flags", lambda: ["avx", "avx2"])
    command = machine.rebuild_command()
    assert command.startswith(
        "CMAKE_ARGS=\"-DGGML_NATIVE=OFF\" '/of a tool/bin/python' -m pip install --force-reinstall"
    )
    assert "--no-cache-dir --no-binary llama-cpp-python llama-cpp-python==" in command
    monkeypatch.setattr(machine, "processor_flags", lambda: ["avx"])
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    assert "-DGGML_AVX2=OFF" in machine.rebuild_command()
