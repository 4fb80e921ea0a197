"""What terminals send: keys, reports, pastes, whole, cut off and mixed up, drawn by a seed."""

import random
from collections.abc import Iterator

from textual.message import Message

from tui.terminal_input import InputParser

# No control character but these: others are keys that leave the chat, as Ctrl+Q does.
SAFE = bytes([*range(0x20, 0x7F), *range(0x80, 0x100)])
FINALS = bytes(range(0x40, 0x7F))


def fed(parser: InputParser, data: bytes) -> list[Message]:
    """The messages of some bytes that a terminal sent."""
    return list(parser.feed(data.decode("latin-1")))


def sequences(seed: int, count: int) -> Iterator[bytes]:
    """So many of them."""
    dice = random.Random(seed)
    last = b""
    for _ in range(count):
        one = dice.choice(KINDS)(dice)
        match dice.randrange(8):
            case 0:
                one = one[: dice.randint(0, len(one))]
            case 1:
                place = dice.randint(0, len(one))
                one = one[:place] + last + one[place:]
            case 2:
                one = bytes(byte if dice.random() < 0.9 else dice.choice(SAFE) for byte in one)
            case _:
                pass
        last = one[:40]
        yield one or b"x"


def _some(dice: random.Random, most: int, of: bytes = SAFE) -> bytes:
    return bytes(dice.choice(of) for _ in range(dice.randint(0, most)))


def _number(dice: random.Random) -> bytes:
    of_size = (9, 60, 300, 57_345, 1_114_111, 1_114_112, 2**31, 10**12)
    return dice.choice((b"", b"-1", *(str(dice.randint(0, most)).encode() for most in of_size)))


def _control(dice: random.Random) -> bytes:
    numbers = [_number(dice) for _ in range(dice.randint(0, 5))]
    intro = dice.choice((b"", b"?", b"<", b">", b"="))
    return b"\x1b[" + intro + dice.choice((b";", b":")).join(numbers) + bytes([dice.choice(FINALS)])


def _kitty(dice: random.Random) -> bytes:
    parts = [b":".join(_number(dice) for _ in range(dice.randint(1, 3))) for _ in range(dice.randint(1, 3))]
    return b"\x1b[" + b";".join(parts) + bytes([dice.choice(b"u~ABCDEFHPQRS")])


def _shift(dice: random.Random) -> bytes:
    return b"\x1bO" + bytes([dice.choice(SAFE)])


def _string(dice: random.Random) -> bytes:
    return b"\x1b" + dice.choice((b"]", b"P", b"_", b"^")) + _some(dice, 30) + dice.choice((b"\x1b\\", b"", b"\x9c"))


def _x10(dice: random.Random) -> bytes:
    return b"\x1b[M" + bytes(dice.randint(0x20, 0xFF) for _ in range(3))


def _mouse(dice: random.Random) -> bytes:
    return b"\x1b[" + dice.choice((b"<", b"")) + b";".join(_number(dice) for _ in range(3)) + dice.choice((b"M", b"m"))


def _paste(dice: random.Random) -> bytes:
    return b"\x1b[200~" + _some(dice, 60, SAFE + b"\x1b\r\n\0\x03") + b"\x1b[201~"


def _window(dice: random.Random) -> bytes:
    return b"\x1b[48;" + b";".join(_number(dice) for _ in range(4)) + b"t"


def _letters(dice: random.Random) -> bytes:
    return dice.choice((b"a\x9b", "ä€𝄞".encode(), "ä€𝄞".encode()[: dice.randint(1, 8)], _some(dice, 4)))


KINDS = (_control, _kitty, _shift, _string, _x10, _mouse, _paste, _window, _letters)
