"""From a path to a loaded model, with every way it can go wrong told apart before llama.cpp is asked.

The order matters: the header is read by us (wrong file, cut off, wrong kind of model), the memory is reckoned, a file
never seen before is tried in a process of its own (a damaged one can abort llama.cpp), and only then it is loaded here.
"""

from collections.abc import Callable
from pathlib import Path

from models.errors import (
    DamagedModel,
    NotAChatModel,
    NotAnEmbedder,
    TooBigForMemory,
    TruncatedModel,
    UnknownArchitecture,
)
from models.header import GgufHeader, read_header
from models.native import NativeModel, collecting, library
from models.probe import check_apart

COMPUTE_BYTES = 200 << 20  # graph buffers of both contexts, generously
UNKNOWN = "unknown model architecture: '"


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


def load_model(
    path: Path,
    *,
    embeds: bool,
    context: int,
    gpu_layers: int,
    memo: Path | None,
    available: Callable[[], int] = available_memory,
) -> tuple[NativeModel, GgufHeader]:
    """Check `path` and load it as a chat model or an embedder. Blocking.

    `memo` is a file that remembers what was tried and found good. Raises the LoadErrors.
    """
    header = read_header(path)
    check_kind(header, embeds=embeds)
    check_memory(header, context=context, gpu=_on_gpu(gpu_layers), available=available)
    check_apart(path, memo=memo, embeds=embeds)
    with collecting() as lines:
        model = NativeModel.load(path, gpu_layers=gpu_layers)
    if model is None:
        raise refusal(header, lines)
    return model, header


def check_kind(header: GgufHeader, *, embeds: bool) -> None:
    """Raises NotAChatModel or NotAnEmbedder."""
    if header.embeds and not embeds:
        raise NotAChatModel(header.path, header.architecture)
    if embeds and not header.embeds:
        raise NotAnEmbedder(header.path, header.architecture)


def check_memory(header: GgufHeader, *, context: int, gpu: bool, available: Callable[[], int]) -> None:
    """Raises TooBigForMemory; on a GPU llama.cpp itself has to find out."""
    if gpu:
        return
    needed = header.size + 2 * context * header.kv_bytes_per_token() + COMPUTE_BYTES
    free = available()
    if needed > free:
        raise TooBigForMemory(header.path, needed, free)


def refusal(header: GgufHeader, lines: list[str]) -> Exception:
    """Which error llama.cpp's own words amount to."""
    said = "".join(lines)
    if UNKNOWN in said:
        return UnknownArchitecture(header.path, said.partition(UNKNOWN)[2].partition("'")[0])
    if "not within the file bounds" in said:
        return TruncatedModel(header.path, header.size)
    if "out of memory" in said or "failed to allocate" in said or "unable to allocate" in said:
        return TooBigForMemory(header.path, header.size, available_memory())
    errors = [line for line in said.splitlines() if "error" in line]
    return DamagedModel(header.path, errors[0].rpartition(": ")[2] if errors else "llama.cpp gave no reason")


def _on_gpu(gpu_layers: int) -> bool:
    return gpu_layers != 0 and bool(library().llama_supports_gpu_offload())
