"""A converted embedder says what the original said, in llama.cpp's terms."""

from pathlib import Path

import gguf
import numpy
import pytest
from safetensors.numpy import save

from models.convert import convert_bert, gguf_token
from models.errors import FetchFailed
from models.header import read_header
from tests.models.tiny_bert import CONFIG, LAYERS, VOCABULARY, WIDTH, tiny_bert


@pytest.fixture
def converted(tmp_path: Path) -> Path:
    return convert_bert(
        save(tiny_bert()), vocabulary=VOCABULARY, config=CONFIG, name="tiny", destination=tmp_path / "tiny.gguf"
    )


def test_the_metadata_tells_llama_cpp_how_to_run_it_and_only_matrices_are_quantised(converted: Path) -> None:
    header = read_header(converted)
    assert header.architecture == "bert"
    assert header.embeds
    assert (header.number("context_length"), header.number("embedding_length")) == (16, WIDTH)
    assert header.number("pooling_type") == gguf.PoolingType.MEAN
    tensors = {each.name: each for each in gguf.GGUFReader(converted).tensors}
    assert len(tensors) == 5 + 16 * LAYERS
    assert tensors["token_embd.weight"].tensor_type == gguf.GGMLQuantizationType.Q8_0
    assert tensors["blk.1.ffn_down.weight"].tensor_type == gguf.GGMLQuantizationType.Q8_0
    for exact in ("position_embd.weight", "token_types.weight", "blk.0.attn_q.bias", "token_embd_norm.weight"):
        assert tensors[exact].tensor_type == gguf.GGMLQuantizationType.F32


def test_quantised_weights_stay_within_half_a_step(converted: Path) -> None:
    tensor = next(each for each in gguf.GGUFReader(converted).tensors if each.name == "blk.0.attn_q.weight")
    original = tiny_bert()["encoder.layer.0.attention.self.query.weight"]
    step = numpy.abs(original).max(axis=1, keepdims=True) / 127
    difference = numpy.abs(gguf.quants.dequantize(tensor.data, tensor.tensor_type) - original)
    # Half a step of rounding, and 127 steps times the half unit (2**-11) of the 16-bit scale.
    assert (difference <= step * (0.5 + 127 / 2**11 + 0.001)).all()


def test_word_starts_are_marked_instead_of_continuations() -> None:
    spelled = [gguf_token(token) for token in VOCABULARY]
    assert spelled[2:] == ["[CLS]", "[SEP]", "[MASK]", "▁happy", "ness", "▁[odd"]


def test_the_same_weights_give_the_same_file(converted: Path, tmp_path: Path) -> None:
    again = convert_bert(
        save(dict(reversed(tiny_bert().items()))),
        vocabulary=VOCABULARY,
        config=CONFIG,
        name="tiny",
        destination=tmp_path / "again.gguf",
    )
    assert again.read_bytes() == converted.read_bytes()


@pytest.mark.parametrize("weights", [b"no safetensors", save({"strange.weight": numpy.zeros((32, 32), numpy.float32)})])
def test_weights_that_are_no_bert_are_refused_and_leave_nothing(weights: bytes, tmp_path: Path) -> None:
    with pytest.raises(FetchFailed, match="cannot be converted"):
        convert_bert(weights, vocabulary=VOCABULARY, config=CONFIG, name="x", destination=tmp_path / "x.gguf")
    assert not any(path.is_file() for path in tmp_path.iterdir())
