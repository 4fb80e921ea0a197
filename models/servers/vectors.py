"""What a server answers to `/embeddings`, read with distrust: numbers that are no direction, or of another text, are
worse than none, as nothing shows that they are wrong once they are kept."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from models.errors import ServerBroken
from models.servers.answer import same_model
from models.servers.client import RETRY

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

ALIKE = 0.99  # the cosine of one text's vectors, made twice; rounding costs less than .001
CHOOSE_AGAIN = "Choose it again, and everything gets new vectors; the old ones stay."


def vectors_of(
    found: Any, count: int, *, server: str, model: str, dimension: int | None = None
) -> "NDArray[np.float32]":
    """float32[count, dimension], each of length 1, of an answer in OpenAI's shape; `dimension` None takes any.

    Raises ServerBroken for another count, order, length or model, and for what is no direction.
    """
    match found:
        case {"data": [*items]}:
            pass
        case _:
            raise ServerBroken(server, "it answered something else than vectors", RETRY)
    told = found.get("model")
    if isinstance(told, str) and told and not same_model(model, told):
        what = f"it answers with another model than “{model}”"  # what it calls that may be anything, as the key
        raise ServerBroken(server, what, "Your chats are safe. Choose one of its models.")
    if len(items) != count:
        raise ServerBroken(server, f"it answered {len(items)} vectors for {count} texts", RETRY)
    return _directions([_numbers(item, at, server) for at, item in enumerate(items)], server, dimension)


def alike(one: "NDArray[np.float32]", other: "NDArray[np.float32]") -> bool:
    """Whether two vectors of length 1 are of one text by one model."""
    return one.shape == other.shape and float(one @ other) > ALIKE


def _numbers(item: Any, at: int, server: str) -> list[float]:
    match item:
        case {"embedding": [_, *_]}:
            numbers: list[float] = item["embedding"]
        case _:
            raise ServerBroken(server, "it answered something else than vectors", RETRY)
    if item.get("index", at) != at:
        raise ServerBroken(server, "its vectors come in another order than the texts", RETRY)
    if not all(type(each) in (int, float) for each in numbers):
        raise ServerBroken(server, "its vectors have something else in them than numbers", RETRY)
    return numbers


def _directions(rows: Sequence[list[float]], server: str, dimension: int | None) -> "NDArray[np.float32]":
    import numpy as np

    wanted = len(rows[0]) if dimension is None else dimension
    other = next((len(row) for row in rows if len(row) != wanted), None)
    if other is not None:
        what = f"it answers with vectors of another length ({other:,}, was {wanted:,})"
        raise ServerBroken(server, what, CHOOSE_AGAIN)
    try:
        values = np.array(rows, np.float64)
    except OverflowError:
        values = np.full((len(rows), wanted), np.inf)
    largest = np.abs(values).max(axis=1, keepdims=True)
    if not np.all(np.isfinite(largest)) or not np.all(largest > 0):
        raise ServerBroken(server, "it answers with vectors that point nowhere (zero, or no numbers)", RETRY)
    values = values / largest  # so that no square is too large, or too small, for a number
    unit: NDArray[np.float32] = (values / np.linalg.norm(values, axis=1, keepdims=True)).astype(np.float32)
    return unit
