"""Ids that stand for text where a server has none: three bytes of UTF-8 each, and one for each frame's edge.

A prompt stays a list of ids that only grows, and can be read back into messages at any time. Real tokens are longer on
the whole, so that a count of these is a generous estimate of theirs.
"""

from collections.abc import Iterable, Sequence

from models.protocols import FrameRole
from models.template import Message

WIDTH = 3  # bytes of an id
# Below every id of text: the smallest of those is 256, a single zero byte.
EDGES: dict[FrameRole, int] = {"system": 1, "user": 2, "assistant": 3}
CLOSE = 4
ROLES = {edge: role for role, edge in EDGES.items()}
MARK = 0xF8  # plus an edge: a byte that UTF-8 has nowhere


def ids_of(text: str) -> list[int]:
    """The ids of a text: a one before its bytes tells how many there are. Half a surrogate pair becomes “?”."""
    data = text.encode("utf-8", "replace")
    return [int.from_bytes(b"\1" + data[at : at + WIDTH]) for at in range(0, len(data), WIDTH)]


def text_of(ids: Iterable[int]) -> str:
    """The text of ids; edges are left out, and a character that the ids end or begin within is U+FFFD."""
    return b"".join(map(_bytes_of, ids)).decode("utf-8", "replace")


def frame_of(role: FrameRole, text: str) -> list[int]:
    """One whole message."""
    return [EDGES[role], *ids_of(text), CLOSE]


def messages_of(prompt: Sequence[int]) -> list[Message]:
    """The messages of a prompt. A frame that is open at its end asks for a reply where it is empty, and is a message
    where it is not; what stands outside of frames is a user's."""
    messages: list[Message] = []
    role: FrameRole | None = None
    data = bytearray()

    def keep(*, closed: bool) -> None:
        if data or closed:
            messages.append((role or "user", data.decode("utf-8", "replace")))
        data.clear()

    for each in prompt:
        if each == CLOSE or each in ROLES:
            keep(closed=each == CLOSE and role is not None)
            role = ROLES.get(each)
        else:
            data += _bytes_of(each)
    keep(closed=False)
    return messages


def flat(ids: Iterable[int]) -> bytes:
    """Ids as bytes that are equal for equal messages, wherever their text was cut into ids."""
    return b"".join(_flat_of(each) for each in ids)


def shared(known: bytes, ids: Sequence[int]) -> int:
    """How many of `ids` lie wholly within the beginning that they share with what `flat` gave."""
    data = flat(ids)
    low, high = 0, min(len(known), len(data))
    while low < high:
        middle = (low + high + 1) // 2
        if known[:middle] == data[:middle]:
            low = middle
        else:
            high = middle - 1
    count = length = 0
    for each in ids:
        length += len(_flat_of(each))
        if length > low:
            break
        count += 1
    return count


def _flat_of(each: int) -> bytes:
    return bytes([MARK + each]) if each == CLOSE or each in ROLES else _bytes_of(each)


def _bytes_of(each: int) -> bytes:
    """Nothing for what is no id of text, such as one of another model."""
    length, odd = divmod(max(0, each).bit_length() - 1, 8)
    return (each ^ 1 << 8 * length).to_bytes(length) if not odd and 1 <= length <= WIDTH else b""
