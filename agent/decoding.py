"""Which letters some bytes are, by the names that pages and servers give their encodings, as the web reads those.

The web takes gb2312 for what GBK became, and x-sjis and iso-8859-1 for what Windows made of them. What Python alone
knows as encodings, of which some are none of text, has no name there.
"""

import codecs
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

NOT_OF_ASCII = {"iso2022_jp", "utf-16-le", "utf-16-be"}  # whose bytes are those of other letters in UTF-8
UNSURE = (None, "utf-8", "cp1252")  # is said of much that is not
BOMS = (
    *((codecs.BOM_UTF32_LE, "utf-32-le"), (codecs.BOM_UTF8, "utf-8")),
    *((codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be")),
)


@cache
def known() -> dict[str, str]:
    """What Python calls an encoding, by each of its names."""
    encodings = tomllib.loads(Path(__file__).with_name("encodings.toml").read_text(encoding="utf-8"))
    return {label: codec for codec, labels in encodings.items() for label in (codec, *labels.split())}


@dataclass(frozen=True, slots=True)
class Decoded:
    """A text, and how many of its letters are U+FFFD as nobody knows which they were."""

    text: str
    unknown: int


def decoded(data: bytes, *labels: str) -> Decoded:
    """The letters of some bytes, by what their encoding is said to be, the first of several that is one.

    What is UTF-8 is read as that whatever is said. Where nothing is said, most that is not is of Windows-1252.
    """
    for bom, codec in BOMS:
        if data.startswith(bom):
            return _replaced(data[len(bom) :], codec)
    named = known()
    said = next((named[name] for label in labels if (name := label.strip().casefold()) in named), None)
    if said in NOT_OF_ASCII:
        return _replaced(data, said)
    as_utf_8 = _replaced(data, "utf-8")
    letters = sum(letter > "\x7f" for letter in as_utf_8.text) - as_utf_8.unknown
    if not as_utf_8.unknown or (letters > as_utf_8.unknown and said in UNSURE):
        return as_utf_8
    return _replaced(data, "cp1252" if said in UNSURE else said)


def _replaced(data: bytes, codec: str) -> Decoded:
    text = data.decode(codec, "replace")
    return Decoded(text, text.count("\N{REPLACEMENT CHARACTER}"))
