"""Which build of llama.cpp is here and which processor it meets, found without loading it.

A library made for another processor can take the process down while it is loaded, so nothing here imports llama_cpp.
"""

from __future__ import annotations

import os
import platform
import shlex
import sys
from hashlib import blake2b
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

PACKAGE = "llama-cpp-python"
GPU_BACKENDS = ("cuda", "vulkan", "metal", "hip", "musa", "sycl", "opencl", "cann")
NO_AVX = "".join(f" -DGGML_{name}=OFF" for name in ("AVX", "AVX2", "FMA", "F16C", "BMI2"))
CPU_INFO = Path("/proc/cpuinfo")


def library_folder() -> Path | None:
    """Where the native libraries lie; None if llama-cpp-python is not installed."""
    if named := os.environ.get("LLAMA_CPP_LIB_PATH"):  # llama-cpp-python looks there first
        return Path(named)
    spec = find_spec("llama_cpp")
    return Path(spec.origin).parent / "lib" if spec is not None and spec.origin else None


def identity() -> str:
    """Tells this build on this processor from any other: what was found out with one need not hold with another."""
    parts = [platform.machine(), *processor_flags(), *sorted(_libraries())]
    return blake2b("\n".join(parts).encode(), digest_size=16).hexdigest()


def made_for_gpu() -> bool:
    """Whether the build has a part for a GPU; there may be none in this machine."""
    return any(f"ggml-{backend}." in each for each in _libraries() for backend in GPU_BACKENDS)


def processor_flags() -> list[str]:
    """The instruction sets that the system reports, sorted; empty where it does not list them."""
    try:
        with CPU_INFO.open() as lines:
            for line in lines:
                name, _, value = line.partition(":")
                if name.strip() in ("flags", "Features"):
                    return sorted(value.split())
    except OSError:
        pass
    return []


def rebuild_command() -> str:
    """What makes a build that runs on this processor: from a clone its set-up, elsewhere pip, plainer than before."""
    clone = Path(__file__).resolve().parents[1]
    if (clone / "scripts" / "bootstrap.py").exists() and Path(sys.prefix).resolve() == clone / ".venv":
        return f"make -C {shlex.quote(str(clone))} rebuild-llama"
    switches = "-DGGML_NATIVE=OFF"
    if platform.machine() in ("x86_64", "AMD64") and "avx2" not in processor_flags():
        switches += NO_AVX
    try:
        wanted = f"{PACKAGE}=={version(PACKAGE)}"
    except PackageNotFoundError:
        wanted = PACKAGE
    return (
        f'CMAKE_ARGS="{switches}" {shlex.quote(sys.executable)} -m pip install --force-reinstall --no-deps '
        f"--no-cache-dir --no-binary {PACKAGE} {wanted}"
    )


def _libraries() -> list[str]:
    """Each library as its name, size and time of change."""
    folder = library_folder()
    try:
        found = [(path.name, path.stat()) for path in folder.iterdir()] if folder is not None else []
    except OSError:
        return []
    return [f"{name} {stat.st_size} {stat.st_mtime_ns}" for name, stat in found]
