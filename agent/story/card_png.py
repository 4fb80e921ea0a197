"""Texts in a PNG picture: found by their keyword, in whatever form, and replaced with the rest left byte for byte.

A picture that is damaged or cut off gives what can be read of it. Nothing is unpacked beyond a bound.
The form is that of the PNG specification, third edition, section 11.3.3 (tEXt, zTXt, iTXt).
"""

import struct
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

SIGNATURE = b"\x89PNG\r\n\x1a\n"
MOST_CHUNKS = 100_000
MOST_TEXTS = 4  # under one keyword; each may be unpacked to the bound
AROUND = 12  # bytes of a chunk besides its data: length, kind and checksum


@dataclass(frozen=True, slots=True)
class PngChunk:
    """A chunk, at bytes `start` to `end` of its picture; `data` is short where the picture is cut off."""

    kind: bytes
    data: bytes
    start: int
    end: int
    damaged: bool  # its checksum is wrong


@dataclass(frozen=True, slots=True)
class PngTexts:
    """The texts of a picture that were asked for: keyword in lower case, and bytes, in the order of the picture.

    `damaged` chunks have a wrong checksum; `too_long` texts unpack to more than was allowed, `broken` ones not at all;
    not `whole`: its end is missing or cannot be found.
    """

    texts: tuple[tuple[str, bytes], ...]
    damaged: int
    too_long: int
    broken: int
    whole: bool


def is_png(data: bytes) -> bool:
    """Whether a file begins as PNG pictures do."""
    return data.startswith(SIGNATURE)


def chunks(png: bytes) -> Iterator[PngChunk]:
    """The chunks of a picture up to its end, to where it is cut off, or to what cannot be a chunk."""
    at = len(SIGNATURE)
    for _ in range(MOST_CHUNKS):
        if at + 8 > len(png):
            return
        length, kind = struct.unpack_from(">I4s", png, at)
        if not kind.isalpha():
            return
        end = at + AROUND + length
        damaged = end <= len(png) and zlib.crc32(png[at + 4 : end - 4]) != int.from_bytes(png[end - 4 : end])
        yield PngChunk(kind, png[at + 8 : end - 4], at, end, damaged)
        if kind == b"IEND":
            return
        at = end


def texts_of(png: bytes, *keywords: str, most: int) -> PngTexts:
    """The first texts of a picture under some keywords, in any case of letters, each of at most `most` bytes."""
    texts: list[tuple[str, bytes]] = []
    seen: Counter[str] = Counter()
    damaged = too_long = broken = 0
    whole = False
    for chunk in chunks(png):
        damaged += chunk.damaged
        whole = chunk.kind == b"IEND"
        keyword = _keyword(chunk)
        seen[keyword] += 1
        if keyword not in keywords or seen[keyword] > MOST_TEXTS:
            continue
        try:
            text = _text(chunk, most)
        except zlib.error:
            broken += 1
            continue
        if len(text) > most:
            too_long += 1
        else:
            texts.append((keyword, text))
    return PngTexts(tuple(texts), damaged, too_long, broken, whole)


def with_texts(png: bytes, texts: Mapping[str, bytes]) -> bytes:
    """The picture with these texts (keyword in lower case, Latin-1 bytes), in the place of any it has under them.

    Raises ValueError if it is no whole PNG picture.
    """
    found = list(chunks(png)) if is_png(png) else []
    if not found or found[0].kind != b"IHDR" or found[-1].kind != b"IEND" or found[-1].end > len(png):
        raise ValueError("not a whole PNG picture")
    first = next(place for place, chunk in enumerate(found) if chunk.kind in (b"IDAT", b"IEND"))
    parts = [SIGNATURE]
    for place, chunk in enumerate(found):
        if place == first:
            parts.extend(chunk_of(b"tEXt", keyword.encode("latin-1") + b"\0" + text) for keyword, text in texts.items())
        if _keyword(chunk) not in texts:
            parts.append(png[chunk.start : chunk.end])
    return b"".join([*parts, png[found[-1].end :]])


def chunk_of(kind: bytes, data: bytes) -> bytes:
    """A chunk as bytes."""
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def _keyword(chunk: PngChunk) -> str:
    """The keyword of a text in lower case, '' of anything else."""
    if chunk.kind not in (b"tEXt", b"zTXt", b"iTXt"):
        return ""
    return chunk.data[:80].partition(b"\0")[0].decode("latin-1").lower()


def _text(chunk: PngChunk, most: int) -> bytes:
    """A text's bytes; longer than `most` tells that there are more. Raises zlib.error where it cannot be unpacked."""
    _, _, rest = chunk.data.partition(b"\0")
    match chunk.kind:
        case b"zTXt":
            return _inflated(rest[1:], most)
        case b"iTXt":
            text = rest[2:].partition(b"\0")[2].partition(b"\0")[2]  # after the language, and the keyword in it
            return _inflated(text, most) if rest[:1] == b"\1" else text
        case _:
            return rest


def _inflated(packed: bytes, most: int) -> bytes:
    return zlib.decompressobj().decompress(packed, most + 1)
