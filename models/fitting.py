"""Which model of the catalogue is the best that this machine runs, and how many of its layers go onto a GPU.

llama.cpp counts from the end: one layer is the output, two are the output and the last block, and so on; the token
embeddings stay with the CPU. With each block goes its part of the KV cache, for the contexts that models/jobs.py has.
"""

import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from models.catalogue import CATALOGUE, FIRST_CHOICES, Entry, find
from models.header import GgufHeader
from models.machine import available_memory

RESERVE = 512 << 20  # bytes left free on each GPU: graph buffers, and whatever draws the screen
CONTEXTS = 2  # that trade places …
APART = 4096  # … and the tokens of a third, for objects by grammar; a longer one makes it as long as the others
GRAPH_BYTES = 100 << 20  # graph buffers of one context, generously


@dataclass(frozen=True, slots=True)
class Offload:
    """What goes onto the GPU: llama.cpp's `n_gpu_layers`, and the bytes that they take there."""

    layers: int
    size: int


NOTHING = Offload(0, 0)


def offload(header: GgufHeader, *, context: int, wanted: int, free: Sequence[int]) -> Offload:
    """What to put onto GPUs that have `free` bytes each; `wanted` is the setting: -1 for all that fit, else a number.

    A number is taken at its word, whether it fits or not.
    """
    if wanted == 0 or not free:
        return NOTHING
    steps = _steps(header, context=context)
    if wanted > 0:
        return Offload(wanted, sum(steps[:wanted]))
    room = sum(max(0, each - RESERVE) for each in free)
    size = layers = 0
    for step in steps:
        if size + step > room:
            break
        size, layers = size + step, layers + 1
    return Offload(layers, size)


def _steps(header: GgufHeader, *, context: int) -> list[int]:
    """The bytes that each further layer takes: the output first, then the blocks from the last to the first."""
    blocks: dict[int, int] = {}
    output = 0
    for name, size in header.tensors.items():
        kind, _, rest = name.partition(".")
        number = rest.partition(".")[0]
        if kind == "blk" and number.isdecimal():
            blocks[int(number)] = blocks.get(int(number), 0) + size
        elif kind.startswith("output"):
            output += size
    if "output.weight" not in header.tensors:  # tied: the token embeddings are put there a second time
        output += header.tensors.get("token_embd.weight", 0)
    tokens = CONTEXTS * context + min(APART, context)
    cache = tokens * header.kv_bytes_per_token() // max(1, len(blocks))
    return [output, *(blocks[number] + cache for number in sorted(blocks, reverse=True))]


SHARE = 0.5  # of the machine's memory: the rest belongs to whatever else runs
SLOWEST = 8.0  # tokens a second that are written without a GPU: people read as fast
NEW_TOKENS, PATIENCE_S = 250, 5.0  # so many new tokens of a message are read within so long
READS = 3.3  # times as many tokens as it writes a model reads at least: measured 3.3, 3.8 and 5.4
DISK_LEFT = 1 << 30  # bytes that stay free when a model has been fetched
ROUTES = Path("/proc/net/route"), Path("/proc/net/ipv6_route")
UP, REJECT = 0x1, 0x200  # flags of a route, as linux/route.h and linux/ipv6_route.h have them


LEAST_FREE = {"qwen2.5-coder-1.5b": 3_000_000_000, "qwen2.5-coder-0.5b": 1_200_000_000}  # bytes of memory and of disk
FIRST = "CLEW_FIRST"  # the variable that says "small" where a new home is to begin with the smallest one


def first_choice(folder: Path, *, memory: int | None = None, disk: int | None = None) -> Entry:
    """The chat model that a new home begins with: of those that are there the best, else the best that fits."""
    choices = [entry for name in FIRST_CHOICES if (entry := find(name)) is not None]
    if os.environ.get(FIRST) == "small":
        return choices[-1]
    if there := [entry for entry in choices if (folder / entry.file).is_file()]:
        return there[0]
    free = min(memory if memory is not None else available_memory(), disk if disk is not None else _free(folder))
    return next(entry for entry in choices if free >= LEAST_FREE.get(entry.name, 0))


def _free(folder: Path) -> int:
    """Bytes of disk that are free where a folder is, or will be."""
    there = next(place for place in (folder, *folder.parents) if place.is_dir())
    return shutil.disk_usage(there).free


def pace(used: Entry, other: Entry, speed: float) -> float:
    """Tokens a second that another model will write here, where the one in use writes `speed`.

    What a token takes grows with the weights that it goes through.
    """
    return speed * used.size * used.active / (other.size * other.active)


def best_fit(current: str, *, memory: int, gpu: int = 0, speed: float = 0.0) -> Entry | None:
    """The biggest chat model that fits and is bigger than the one in use, a mixture last; None if there is none.

    It fits into `gpu` bytes, or else into `memory` bytes where people can wait for it: `speed` is what the one in use
    writes (tokens a second; 0: not known, and then nobody can tell). None also where the one in use is not of the
    catalogue: then somebody chose it.
    """
    used = find(current)
    if used is None or not used.size:
        return None

    def fits(entry: Entry) -> bool:
        writes = pace(used, entry, speed)
        quick = writes >= SLOWEST and READS * writes * PATIENCE_S >= NEW_TOKENS
        return entry.memory <= gpu or (entry.memory <= memory and quick)

    bigger = [each for each in CATALOGUE if each.kind == "chat" and not each.old and each.memory > used.memory]
    return max(filter(fits, bigger), key=lambda entry: (entry.active == 1, entry.memory), default=None)


def memory_for_a_model() -> int:
    """Bytes of memory that a model may take: what is free, and no more than its share of the machine."""
    import psutil

    return min(available_memory(), int(psutil.virtual_memory().total * SHARE))


def gpu_for_a_model() -> int:
    """Bytes of the GPUs that a model may take; 0 where this build uses none."""
    from models.machine import made_for_gpu
    from models.native import gpu_memory

    return sum(max(0, each - RESERVE) for each in gpu_memory()) if made_for_gpu() else 0


def has_disk(folder: Path, size: int) -> bool:
    """Whether a file of that size may be put into a folder."""
    try:
        return shutil.disk_usage(folder).free >= size + DISK_LEFT
    except OSError:
        return False


def has_way_out(routes: tuple[Path, Path] = ROUTES) -> bool:
    """Whether the system has a route to the world, by its own tables: nothing is sent. True where it does not say."""
    if os.environ.get("HF_HUB_OFFLINE", "").upper() in ("1", "ON", "YES", "TRUE"):
        return False
    try:
        fourth, sixth = ([line.split() for line in path.read_text().splitlines()] for path in routes)
    except OSError:
        return True
    return any(map(_leads_out, fourth)) or any(map(_leads_out_6, sixth))


def _leads_out(columns: list[str]) -> bool:
    """Interface, destination, gateway, flags, three counts, mask …, all in hexadecimal."""
    return len(columns) > 7 and columns[1] == columns[7] == "00000000" and bool(int(columns[3], 16) & UP)


def _leads_out_6(columns: list[str]) -> bool:
    """Destination and its length, source and its length, next hop, metric, two counts, flags, interface."""
    if len(columns) < 10 or set(columns[0] + columns[1]) != {"0"}:
        return False
    flags = int(columns[8], 16)
    return bool(flags & UP) and not flags & REJECT and columns[9] != "lo"
