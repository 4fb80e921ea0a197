"""A BERT of two layers and eight words, to convert in tests."""

from typing import Any

import numpy

VOCABULARY = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "happy", "##ness", "[odd"]
WIDTH, WIDER, LAYERS, CONTEXT = 32, 64, 2, 16
CONFIG = {
    "hidden_size": WIDTH,
    "intermediate_size": WIDER,
    "num_hidden_layers": LAYERS,
    "num_attention_heads": 2,
    "layer_norm_eps": 1e-12,
    "max_position_embeddings": CONTEXT,
    "type_vocab_size": 2,
}


def tiny_bert() -> dict[str, Any]:
    """Random weights under the names of a Hugging Face BertModel, pooler and all."""
    random = numpy.random.default_rng(7)
    shapes: dict[str, tuple[int, ...]] = {
        "embeddings.word_embeddings.weight": (len(VOCABULARY), WIDTH),
        "embeddings.position_embeddings.weight": (CONTEXT, WIDTH),
        "embeddings.token_type_embeddings.weight": (2, WIDTH),
        "embeddings.LayerNorm.weight": (WIDTH,),
        "embeddings.LayerNorm.bias": (WIDTH,),
        "pooler.dense.weight": (WIDTH, WIDTH),
        "pooler.dense.bias": (WIDTH,),
    }
    for layer in range(LAYERS):
        at = f"encoder.layer.{layer}"
        parts = {f"attention.self.{each}": (WIDTH, WIDTH) for each in ("query", "key", "value")}
        parts |= {"attention.output.dense": (WIDTH, WIDTH)}
        parts |= {"intermediate.dense": (WIDER, WIDTH), "output.dense": (WIDTH, WIDER)}
        for name, shape in parts.items():
            shapes |= {f"{at}.{name}.weight": shape, f"{at}.{name}.bias": shape[:1]}
        for name in ("attention.output.LayerNorm", "output.LayerNorm"):
            shapes |= {f"{at}.{name}.weight": (WIDTH,), f"{at}.{name}.bias": (WIDTH,)}
    return {name: random.standard_normal(shape).astype(numpy.float32) for name, shape in shapes.items()}
