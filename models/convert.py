"""Turns a BERT sentence embedder (safetensors and its vocabulary) into the one GGUF file that llama.cpp reads."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from models.errors import FetchFailed

# What sentence embedding does not use: the pooler is for next-sentence prediction, position_ids is 0..n-1.
DROPPED = ("pooler.", "position_ids", "cls.")
# llama.cpp adds these two to the token embeddings row by row, unquantised.
UNQUANTISED = ("position_embd.weight", "token_types.weight")
SPECIALS = {"[PAD]": "pad", "[UNK]": "unk", "[CLS]": "cls", "[SEP]": "sep", "[MASK]": "mask"}
WORD_START = "\u2581"


def convert_bert(
    weights: bytes, *, vocabulary: Sequence[str], config: Mapping[str, Any], name: str, destination: Path
) -> Path:
    """Write the GGUF (matrices Q8_0, the rest float32; mean pooling, not causal) to `destination`, which appears whole.

    `weights` is a safetensors file, `config` the model's config.json. Raises FetchFailed if they do not fit together.
    Source of the layout: BertModel in llama.cpp's convert_hf_to_gguf.py.
    """
    import gguf
    from safetensors import SafetensorError
    from safetensors.numpy import load

    try:
        tensors = load(weights)
        layers = int(config["num_hidden_layers"])
        partial = destination.with_name(destination.name + ".converting")
        writer = gguf.GGUFWriter(partial, "bert")
        _write_metadata(writer, config, vocabulary, name)
        _add_tensors(writer, tensors, gguf.get_tensor_name_map(gguf.MODEL_ARCH.BERT, layers))
    except (SafetensorError, KeyError, ValueError) as error:
        raise FetchFailed(f"{name} cannot be converted: {error}. Nothing installed has changed.") from error
    try:
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()
        partial.chmod(0o600)
        os.replace(partial, destination)
    finally:
        partial.unlink(missing_ok=True)
    return destination


def read_vocabulary(text: str) -> list[str]:
    """The tokens of a vocab.txt, in the order of their ids."""
    return text.removesuffix("\n").split("\n")


def read_config(text: str) -> dict[str, Any]:
    """The model's config.json."""
    values: dict[str, Any] = json.loads(text)
    return values


def gguf_token(token: str) -> str:
    """A WordPiece token as llama.cpp spells it: word starts are marked instead of continuations."""
    if token.startswith("[") and token.endswith("]"):
        return token
    return token[2:] if token.startswith("##") else WORD_START + token


def _write_metadata(writer: Any, config: Mapping[str, Any], vocabulary: Sequence[str], name: str) -> None:
    import gguf

    writer.add_name(name)
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_Q8_0)
    writer.add_quantization_version(gguf.GGML_QUANT_VERSION)
    writer.add_context_length(config["max_position_embeddings"])
    writer.add_embedding_length(config["hidden_size"])
    writer.add_feed_forward_length(config["intermediate_size"])
    writer.add_block_count(config["num_hidden_layers"])
    writer.add_head_count(config["num_attention_heads"])
    writer.add_layer_norm_eps(config["layer_norm_eps"])
    writer.add_causal_attention(False)
    writer.add_pooling_type(gguf.PoolingType.MEAN)

    ids = {part: vocabulary.index(token) for token, part in SPECIALS.items()}
    writer.add_tokenizer_model("bert")
    writer.add_token_list([gguf_token(token) for token in vocabulary])
    writer.add_token_types([_token_type(token) for token in vocabulary])
    writer.add_token_type_count(config["type_vocab_size"])
    writer.add_bos_token_id(ids["cls"])
    writer.add_eos_token_id(ids["sep"])
    writer.add_sep_token_id(ids["sep"])
    writer.add_unk_token_id(ids["unk"])
    writer.add_pad_token_id(ids["pad"])
    writer.add_mask_token_id(ids["mask"])


def _token_type(token: str) -> int:
    import gguf

    match SPECIALS.get(token):
        case None:
            return int(gguf.TokenType.NORMAL)
        case "unk":
            return int(gguf.TokenType.UNKNOWN)
        case _:
            return int(gguf.TokenType.CONTROL)


def _add_tensors(writer: Any, tensors: Mapping[str, Any], names: Any) -> None:
    import gguf
    import numpy

    for source, array in sorted(tensors.items()):
        short = source.removeprefix("bert.")
        if any(part in short for part in DROPPED):
            continue
        target = names.get_name(short, try_suffixes=(".weight", ".bias"))
        if target is None:
            raise ValueError(f"unknown tensor {source}")
        values = array.astype(numpy.float32)
        if values.ndim == 2 and target not in UNQUANTISED:
            kind = gguf.GGMLQuantizationType.Q8_0
            writer.add_tensor(target, gguf.quants.quantize(values, kind), raw_dtype=kind)
        else:
            writer.add_tensor(target, values)
