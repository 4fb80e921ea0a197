"""As many layers go onto a GPU as fit there."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.fitting import APART, NOTHING, RESERVE, Offload, offload
from models.header import GgufHeader, read_header
from models.native import gpu_memory

BLOCK = 100 << 20
OUTPUT = 50 << 20
CONTEXT = 1024
CACHE = 3 * CONTEXT * 2 * 1 * (64 + 64)  # of one block, in two contexts and the one for objects, as small as they


def header(*, tied: bool = False) -> GgufHeader:
    """Four blocks of BLOCK bytes, and an output of OUTPUT bytes, with two key-value heads of 64."""
    tensors = {f"blk.{number}.{part}.weight": BLOCK // 2 for number in range(4) for part in ("attn", "ffn")}
    tensors |= {"token_embd.weight": OUTPUT} | (
        {} if tied else {"output.weight": OUTPUT - 10, "output_norm.weight": 10}
    )
    values = {"block_count": 4, "embedding_length": 64, "attention.head_count": 1, "attention.head_count_kv": 1}
    named: dict[str, object] = {f"x.{key}": value for key, value in values.items()}
    return GgufHeader(Path("m.gguf"), 500 << 20, tensors, {"general.architecture": "x", **named})  # type: ignore[dict-item]


@pytest.mark.parametrize("tied", [False, True])
def test_the_output_goes_first_and_then_block_after_block_with_its_cache(tied: bool) -> None:
    whole = OUTPUT + 4 * (BLOCK + CACHE)
    for fits in range(6):
        size = OUTPUT + (fits - 1) * (BLOCK + CACHE) if fits else 0
        placed = offload(header(tied=tied), context=CONTEXT, wanted=-1, free=[RESERVE + size])
        assert placed == Offload(fits, size)
        if 0 < fits < 5:
            assert offload(header(tied=tied), context=CONTEXT, wanted=-1, free=[RESERVE + size - 1]).layers == fits - 1
    assert offload(header(tied=tied), context=CONTEXT, wanted=-1, free=[1 << 40]) == Offload(5, whole)


def test_a_longer_context_leaves_room_for_fewer_layers() -> None:
    free = [RESERVE + OUTPUT + 4 * (BLOCK + CACHE)]
    assert offload(header(), context=CONTEXT, wanted=-1, free=free).layers == 5
    assert offload(header(), context=1000 * CONTEXT, wanted=-1, free=free).layers < 4


def test_none_are_put_where_none_are_wanted_or_there_is_no_gpu_and_a_number_is_taken_at_its_word() -> None:
    assert offload(header(), context=CONTEXT, wanted=0, free=[1 << 40]) == NOTHING
    assert offload(header(), context=CONTEXT, wanted=-1, free=[]) == NOTHING
    assert offload(header(), context=CONTEXT, wanted=7, free=[]) == NOTHING
    assert offload(header(), context=CONTEXT, wanted=3, free=[0]) == Offload(3, OUTPUT + 2 * (BLOCK + CACHE))


@given(free=st.lists(st.integers(0, 1 << 31), max_size=4), context=st.integers(1, 1 << 20))
def test_what_is_put_there_always_fits(free: list[int], context: int) -> None:
    placed = offload(header(), context=context, wanted=-1, free=free)
    assert placed.size <= sum(max(0, each - RESERVE) for each in free)
    assert 0 <= placed.layers <= 5


def test_the_sizes_of_the_real_model_add_up(chat_gguf: Path) -> None:
    real = read_header(chat_gguf)
    assert 0 < real.size - sum(real.tensors.values()) < 10 << 20  # its header
    placed = offload(real, context=8192, wanted=-1, free=[1 << 40])
    assert placed.layers == real.number("block_count") + 1
    weights = placed.size - (2 * 8192 + APART) * real.kv_bytes_per_token()
    assert weights == pytest.approx(sum(real.tensors.values()), rel=0.01)  # its output is its token embeddings


def test_the_gpus_of_this_build_are_asked() -> None:
    from models.machine import made_for_gpu

    memory = gpu_memory()
    assert memory == [] or made_for_gpu()
    assert all(free >= 0 for free in memory)
