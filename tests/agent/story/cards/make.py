"""Makes those cards of this folder that are no plain JSON: python -m tests.agent.story.cards.make

What each is read as, or refused with, stands in tests/agent/story/cards.toml.
"""

import base64
import copy
import io
import json
import struct
import zipfile
import zlib
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent

TEXTS = {
    "name": "Mara",
    "description": "{{char}} keeps the lighthouse.",
    "personality": "wary",
    "scenario": "A storm.",
    "first_mes": "Who is there?",
    "mes_example": "<START>\n{{user}}: Hello.\n{{char}}: Go away.",
}
MORE = {
    "creator_notes": "Slow.",
    "system_prompt": "Be {{char}}. {{original}}",
    "post_history_instructions": "Stay in the lamp room.",
    "alternate_greetings": ["Come in.", "The lamp is out."],
    "tags": ["sea", "storm"],
    "creator": "someone",
    "character_version": "1.2",
    "extensions": {"talkativeness": "0.5", "regex_scripts": [{"run": "never"}]},
}
ENTRY = {"keys": ["lamp"], "content": "It is old.", "extensions": {}, "enabled": True, "insertion_order": 10}


def v2(**fields: Any) -> dict[str, Any]:
    """A card of version 2, with these fields in its data."""
    return {"spec": "chara_card_v2", "spec_version": "2.0", "data": {**TEXTS, **copy.deepcopy(MORE), **fields}}


def v3(**fields: Any) -> dict[str, Any]:
    """A card of version 3."""
    new = {"nickname": "Mar", "group_only_greetings": ["You two!"], "assets": [{"type": "icon", "uri": "ccdefault:"}]}
    return {**v2(**{**new, **fields}), "spec": "chara_card_v3", "spec_version": "3.0"}


def without(name: str, card: dict[str, Any]) -> dict[str, Any]:
    """A card with a field of its data missing."""
    return {**card, "data": {key: each for key, each in card["data"].items() if key != name}}


def small(**fields: Any) -> dict[str, Any]:
    """A card of version 2 that says only this and its name."""
    return {"spec": "chara_card_v2", "spec_version": "2.0", "data": {"name": "Mara", **fields}}


def as_json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()


BYTES: dict[str, bytes] = {
    "bom.json": b"\xef\xbb\xbf" + as_json(v2()),
    "utf-16.json": json.dumps(v2(name="Zoë")).encode("utf-16"),
    "utf-16-be-bare.json": json.dumps(v2(name="Zoë"), ensure_ascii=False).encode("utf-16-be"),
    "utf-16-cut.json": json.dumps(v2()).encode("utf-16")[:-1],
    "utf-32.json": json.dumps(v2()).encode("utf-32"),
    "windows-1252.json": json.dumps(v2(name="Zoë"), ensure_ascii=False).encode("cp1252"),
    "surrogates.json": json.dumps(v2(name="Mara \ud83d", first_mes="\ud83d\ude00 \ude00")).encode(),
    "surrogates-raw.json": json.dumps(v2(first_mes="\ud83d\ude00 \ude00"), ensure_ascii=False).encode(
        "utf-8", "surrogatepass"
    ),
    "raw-newlines.json": as_json(v2()).replace(b"Who is", b"Who\n\tis"),
    "padded-with-nuls.json": b"\n" + as_json(v2()) + b"\0\0\0\n",
    "trailing.json": as_json(v2()) + b"\n<!-- from a site -->",
    "big-numbers.json": as_json(v2())[:-1] + b', "a": ' + b"9" * 5000 + b', "b": ' + b"9" * 40 + b', "c": 1e999}',
    "named-twice.json": b'{"name": "Old", "description": "A keeper.", "name": "Mara"}',
    "empty.json": b"",
    "blank.json": b"\xef\xbb\xbf \r\n\0",
    "cut.json": as_json(v2())[:100],
    "broken.json": as_json(v2()).replace(b'"personality":', b'"personality"'),
    "page.json": b"<!DOCTYPE html><title>404</title>",
    "brackets.json": b"[" * 20_000,
    "noise.json": bytes(range(128, 256)),
    "picture.jpg": b"\xff\xd8\xff\xe0\x00\x10JFIF\0",
    "picture.webp": b"RIFF\x10\0\0\0WEBPVP8 ",
    "picture.gif": b"GIF89a\1\0\1\0",
}


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


SIGNATURE = b"\x89PNG\r\n\x1a\n"
HEAD = SIGNATURE + chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0))
PIXELS = chunk(b"IDAT", zlib.compress(b"\0\x7f"))
END = chunk(b"IEND", b"")
BOMB = zlib.compress(b" " * (5 << 20), 9)


def packed(card: Any) -> bytes:
    return base64.b64encode(as_json(card))


def text(keyword: bytes, data: bytes) -> bytes:
    return chunk(b"tEXt", keyword + b"\0" + data)


def png(*chunks: bytes) -> bytes:
    """A picture of one pixel with chunks before it."""
    return HEAD + b"".join(chunks) + PIXELS + END


def damaged(chunk: bytes) -> bytes:
    """A chunk with a wrong checksum."""
    return chunk[:-1] + bytes([chunk[-1] ^ 1])


CHARA, CCV3 = text(b"chara", packed(v2())), text(b"ccv3", packed(v3()))
WRAPPED = packed(v2(first_mes="???>>>")).replace(b"+", b"-").replace(b"/", b"_").rstrip(b"=")
PNG: dict[str, bytes] = {
    "v2": png(CHARA),
    "v3": png(CCV3),
    "both": png(CHARA, CCV3),
    "after-pixels": HEAD + PIXELS + CHARA + END,
    "keyword-in-capitals": png(text(b"Chara", packed(v2()))),
    "ztxt": png(chunk(b"zTXt", b"chara\0\0" + zlib.compress(packed(v2())))),
    "itxt": png(chunk(b"iTXt", b"ccv3\0\0\0en\0Karte\0" + packed(v3()))),
    "itxt-packed": png(chunk(b"iTXt", b"ccv3\0\1\0\0\0" + zlib.compress(as_json(v3())))),
    "not-packed": png(text(b"chara", as_json(v2()))),
    "packed-for-urls": png(text(b"chara", WRAPPED)),
    "packed-in-lines": png(text(b"chara", packed(v2())[:76] + b"\r\n" + packed(v2())[76:])),
    "first-broken": png(text(b"ccv3", b"!!!"), CHARA),
    "first-no-card": png(text(b"ccv3", packed({})), CHARA),
    "checksum-of-card": png(damaged(CHARA)),
    "checksum-of-pixels": HEAD + CHARA + damaged(PIXELS) + END,
    "cut-in-pixels": png(CHARA)[: -len(END) - 9],
    "cut-in-checksum": (HEAD + CHARA)[:-2],
    "not-chunks-after": HEAD + CHARA + b"\0\0\0\4\1\2\3\4garbage",
    "after-its-end": png(CHARA) + b"left over",
    "bomb-beside": png(chunk(b"zTXt", b"ccv3\0\0" + BOMB), CHARA),
    "broken-beside": png(chunk(b"zTXt", b"ccv3\0\0not zlib"), CHARA),
    "cut-in-card": (HEAD + CHARA)[:-80],
    "cut-before-card": HEAD[:20],
    "no-card": png(text(b"Software", b"GIMP")),
    "empty-text": png(text(b"chara", b"")),
    "noise": png(text(b"chara", base64.b64encode(bytes(range(256))))),
    "ztxt-broken": png(chunk(b"zTXt", b"chara\0\0not zlib")),
    "bomb": png(chunk(b"zTXt", b"chara\0\0" + BOMB)),
    "bomb-itxt": png(chunk(b"iTXt", b"ccv3\0\1\0\0\0" + BOMB)),
}


def zipped(files: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        for name, data in files.items():
            archive.writestr(zipfile.ZipInfo(name), data, method)
    return file.getvalue()


def patched(data: bytes, old: bytes, new: bytes) -> bytes:
    assert old in data
    return data.replace(old, new)


ICON = {"assets/icon/images/main.png": png()}
FULL = zipped({"card.json": as_json(v3()), **ICON})
STORED = zipped({"card.json": as_json(v3())}, zipfile.ZIP_STORED)
CHARX: dict[str, bytes] = {
    "v3.charx": FULL,
    "card-alone.charx": STORED,
    "in-folder.charx": zipped({"Mara/Card.json": as_json(v3()), "Mara/deep/card.json": b"{}", **ICON}),
    "shown-as-picture.jpg": BYTES["picture.jpg"] + FULL,
    "no-card.charx": zipped(ICON),
    "empty.charx": zipped({}),
    "cut.charx": FULL[:-30],
    "checksum.charx": patched(STORED, b"Who is there?", b"Who is here??"),
    "encrypted.charx": patched(STORED, b"PK\1\2\x14\x03\x14\0\0\0", b"PK\1\2\x14\x03\x14\0\1\0"),
    "lzma.charx": zipped({"card.json": as_json(v3())}, zipfile.ZIP_LZMA),
    "bomb.charx": zipped({"card.json": b" " * (5 << 20)}),
    "card-no-json.charx": zipped({"card.json": b"<html>"}),
}


def fixtures() -> dict[str, bytes]:
    """Every such file by its name."""
    return {
        **BYTES,
        **{f"{name}.png": data for name, data in PNG.items()},
        **CHARX,
    }


if __name__ == "__main__":
    for file, data in fixtures().items():
        (FOLDER / file).write_bytes(data)
