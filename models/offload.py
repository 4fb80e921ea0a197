"""How many layers of a model go onto a GPU: as many as fit into what is free there, the rest stays with the CPU.

llama.cpp counts from the end: one layer is the output, two are the output and the last block, and so on; the token
embeddings stay with the CPU. With each block goes its part of the KV cache, for two contexts.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from models.header import GgufHeader

RESERVE = 512 << 20  # bytes left free on each GPU: graph buffers, and whatever draws the screen
CONTEXTS = 2


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
    cache = CONTEXTS * context * header.kv_bytes_per_token() // max(1, len(blocks))
    return [output, *(blocks[number] + cache for number in sorted(blocks, reverse=True))]
