"""From a path to a loaded model, with every way it can go wrong told apart before llama.cpp is asked.

The order matters: the header is read by us (wrong file, cut off, wrong kind of model), the memory is reckoned, a file
never seen before is tried in a process of its own (a damaged one can abort llama.cpp, and so can a build of llama.cpp
that does not fit this processor), and only then llama.cpp, and with it the file, is loaded here.
"""

from collections.abc import Callable
from pathlib import Path

from models import machine
from models.errors import (
    DamagedModel,
    NotAChatModel,
    NotAnEmbedder,
    TooBigForMemory,
    TruncatedModel,
    UnknownArchitecture,
)
from models.fitting import CONTEXTS, GRAPH_BYTES, offload
from models.header import GgufHeader, read_header
from models.machine import available_memory
from models.native import LoadProgress, NativeModel, collecting, gpu_memory
from models.probe import check_apart

SLOWER = (
    "This build of llama.cpp crashes on this processor, so the model runs in a slower compatible mode. "
    "Rebuilding llama.cpp may restore full speed (a few minutes): `{rebuild}`"
)
UNKNOWN = "unknown model architecture: '"


def load_model(
    path: Path,
    *,
    embeds: bool,
    context: int,
    gpu_layers: int,
    memo: Path | None,
    available: Callable[[], int] = available_memory,
    warn: Callable[[str], None] = lambda _: None,
    progress: LoadProgress = lambda _: None,
) -> tuple[NativeModel, GgufHeader]:
    """Check `path` and load it as a chat model or an embedder. Blocking.

    `gpu_layers` -1 puts as many on a GPU as fit there. `memo` is a file that remembers what was tried and found good.
    `warn` is told, when it is first found out, that the model only runs in a slower way here, and `progress` the share
    that is loaded. Raises the LoadErrors.
    """
    header = read_header(path)
    check_kind(header, embeds=embeds)
    if gpu_layers == 0 or not machine.made_for_gpu():
        check_memory(header, context=context, placed=0, available=available)
    trial = check_apart(path, memo=memo, embeds=embeds, context=context, gpu_layers=gpu_layers)
    placed = offload(header, context=context, wanted=gpu_layers, free=gpu_memory())
    check_memory(header, context=context, placed=placed.size, available=available)
    with collecting() as lines:
        model = NativeModel.load(path, gpu_layers=placed.layers, extra_buffers=trial.extra_buffers, progress=progress)
    if model is None:
        raise refusal(header, lines)
    if trial.fresh and not trial.extra_buffers:
        warn(SLOWER.format(rebuild=machine.rebuild_command()))
    return model, header


def check_kind(header: GgufHeader, *, embeds: bool) -> None:
    """Raises NotAChatModel or NotAnEmbedder."""
    if header.embeds and not embeds:
        raise NotAChatModel(header.path, header.architecture)
    if embeds and not header.embeds:
        raise NotAnEmbedder(header.path, header.architecture)


def check_memory(header: GgufHeader, *, context: int, placed: int, available: Callable[[], int]) -> None:
    """Raises TooBigForMemory; `placed` bytes are not needed here, as a GPU takes them.

    The context that only objects by grammar have is not reckoned with: it is made where there is memory left for it.
    """
    needed = header.size + CONTEXTS * (context * header.kv_bytes_per_token() + GRAPH_BYTES) - placed
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
