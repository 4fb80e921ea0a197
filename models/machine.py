"""What this machine has for a model: the build of llama.cpp and its processor, memory, cores, and how many to use.

A library of llama.cpp made for another processor can take the process down while it is loaded, so nothing here imports
llama_cpp.

llama.cpp's threads wait for each other hundreds of times per token. Where another program takes one of the cores, each
wait lasts until the scheduler comes round: measured on 2 cores beside one busy process, two threads made 4–9 tokens a
second, one made 60, and undisturbed the two made 107. What is best cannot be known, only tried: now and then a few
steps are done with the other number of threads, and the faster one is kept.
"""

from __future__ import annotations

import os
import platform
import shlex
import sys
from collections import deque
from dataclasses import dataclass, field
from hashlib import blake2b
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from statistics import median

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


def available_memory() -> int:
    """Bytes that can be had without swapping: the machine's, or less in a container with a limit."""
    import psutil

    free: int = psutil.virtual_memory().available
    for limit_file, used_file in (
        ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
        ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"),
    ):
        try:
            limit, used = Path(limit_file).read_text().strip(), Path(used_file).read_text().strip()
        except OSError:
            continue
        if limit.isdigit():
            free = min(free, int(limit) - int(used))
    return max(0, free)


def physical_cores() -> int:
    """Threads that fit this machine: one for each core that this process may use, hyper-threads not counted."""
    import psutil

    usable = len(psutil.Process().cpu_affinity()) if hasattr(psutil.Process, "cpu_affinity") else psutil.cpu_count()
    return max(1, min(usable or 1, psutil.cpu_count(logical=False) or 1))


CLEARLY = 0.9  # the other number must take at most this share of the time to be kept
HOPELESS = 3.0  # one step of a trial that takes this many times as long is enough: the next could cost a second
SUDDENLY = 1.6  # steps that take this much longer than they did are a reason to try at once
WINDOW = 8


@dataclass
class Pace:
    """Picks `threads` for the next step from how long the last ones `took`.

    `trial` steps are tried with the other number, the first time after `soon` steps, later ever more seldom: after at
    most `seldom`. Pure but for its own state; for one kind of step.
    """

    most: int
    trial: int
    soon: int
    seldom: int
    threads: int = field(init=False)
    _usual: deque[float] = field(init=False, default_factory=lambda: deque(maxlen=WINDOW))
    _tried: list[float] = field(init=False, default_factory=list)
    _trying: bool = field(init=False, default=False)
    _best: float = field(init=False, default=float("inf"))
    _since: int = field(init=False, default=0)
    _due: int = field(init=False)

    def __post_init__(self) -> None:
        self.threads = self.most
        self._due = self.soon

    def took(self, seconds: float) -> None:
        """The last step, or each token of it, took so long."""
        if self._trying:
            self._tried.append(seconds)
            if len(self._tried) == self.trial or seconds > HOPELESS * median(self._usual):
                self._judge()
            return
        self._usual.append(seconds)
        if self.most == 1:
            return
        self._since += 1
        if self._since >= self._due or self._slower():
            self._trying = True
            self.threads = self._other()

    @property
    def quickest(self) -> float | None:
        """The shortest of the last steps, which other programs disturbed least; None before the first."""
        return min(self._usual, default=None)

    def _other(self) -> int:
        return max(1, self.most // 2) if self.threads == self.most else self.most

    def _slower(self) -> bool:
        """Whether the last steps were much slower than the best since the last trial."""
        if len(self._usual) < WINDOW or self._since % WINDOW:
            return False
        now = median(self._usual)
        self._best = min(self._best, now)
        return now > SUDDENLY * self._best

    def _judge(self) -> None:
        if median(self._tried) < CLEARLY * median(self._usual):
            self._due = 4 * self.soon
            self._usual = deque(self._tried, maxlen=WINDOW)
        else:
            self._due = min(2 * self._due, self.seldom)
            self.threads = self._other()
        self._trying = False
        self._tried = []
        self._best = float("inf")
        self._since = 0


@dataclass
class Paces:
    """The two kinds of step of one model: single tokens while it writes, batches while it reads."""

    writing: Pace
    reading: Pace

    @classmethod
    def of(cls, threads: int) -> Paces:
        """For at most so many threads. A trial costs a few tokens of some hundred, or one batch of 16."""
        return cls(
            Pace(threads, trial=4, soon=8, seldom=512),
            Pace(threads, trial=1, soon=1, seldom=16),
        )

    @classmethod
    def of_texts(cls, threads: int) -> Paces:
        """For an embedder, where a step is a whole text, of some 10 ms undisturbed."""
        return cls(Pace(threads, trial=2, soon=4, seldom=256), Pace(threads, trial=1, soon=1, seldom=16))
