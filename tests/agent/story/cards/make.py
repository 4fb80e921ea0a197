"""Makes the cards of this folder: python -m tests.agent.story.cards.make

What each is read as, or refused with, stands in tests/agent/story/test_cards.py.
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
BOOK = {"name": "Lighthouse", "scan_depth": 4, "token_budget": 300, "extensions": {}, "entries": [ENTRY]}


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


def book(**fields: Any) -> dict[str, Any]:
    """A small card with a lorebook of one entry, which has these fields."""
    return small(character_book={"entries": [{**ENTRY, **fields}]})


def as_json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()


JSON: dict[str, Any] = {
    "v1": TEXTS,
    "v2": v2(),
    "v3": v3(character_book=BOOK),
    "name-only": small(),
    "without-spec": {"data": TEXTS},
    "pygmalion": {"char_name": "Mara", "char_persona": "wary", "char_greeting": "Who?", "world_scenario": "Sea."},
    "sillytavern": {**TEXTS, "creatorcomment": "Slow.", "avatar": "none", "fav": False, "chat": "Mara - 1", **v2()},
    "beside-differs": {"name": "Old Mara", "first_mes": "Old.", **v2()},
    "beside-only": {"personality": "wary", "tags": ["sea"], **small(description="A keeper.")},
    "unknown-fields": {**v2(creation_date=7, creator_notes_multilingual={"de": "Langsam."}), "vendor": {"a": [1]}},
    "spec-v9": {**v3(), "spec": "chara_card_v9", "spec_version": "9.0"},
    "spec-newer": {**v3(), "spec_version": "3.1"},
    "spec-number": {**v3(), "spec": 3},
    "data-text": {"spec": "chara_card_v2", "data": json.dumps(TEXTS)},
    "data-number": {**TEXTS, "data": 5},
    "whole-text": json.dumps(v2()),
    "list": [TEXTS, v2(name="Jonas")],
    "greetings-text": v2(alternate_greetings="Come in."),
    "greetings-null": v2(alternate_greetings=None, group_only_greetings=None),
    "greetings-numbered": v2(alternate_greetings={"0": "Come in.", "1": "Out."}),
    "greetings-mixed": v2(alternate_greetings=["Come in.", None, "  ", 7, {"text": "?"}]),
    "greetings-201": small(alternate_greetings=[f"{number}." for number in range(201)]),
    "greeting-list": v2(first_mes=["Who?", "Go."], alternate_greetings=["Come in."]),
    "description-list": small(description=["A keeper.", "Wary."]),
    "description-number": small(description=42),
    "description-object": small(description={"text": "A keeper."}, first_mes="Who?"),
    "texts-null": small(description=None, scenario=None, first_mes="Who?"),
    "name-missing": without("name", v2()),
    "name-blank": v2(name=" \u200b\n"),
    "name-number": v2(name=47),
    "name-lines": v2(name="Mara\n of the  Lighthouse"),
    "name-long": v2(name="Mara " * 40),
    "version-number": v2(character_version=1.5),
    "tags-text": v2(tags="sea, storm,, "),
    "tags-null": v2(tags=None),
    "extensions-list": v2(extensions=["talkativeness"]),
    "crlf": v2(first_mes="Who\r\nis\rthere?"),
    "controls": v2(first_mes="Who\0 \x1b[31mis\x07 there?"),
    "not-finite": v2(creation_date=float("nan"), extensions={"depth": float("inf")}),
    "book": v2(character_book=BOOK),
    "book-null": v2(character_book=None),
    "book-number": v2(character_book=5),
    "book-beside-data": {**v2(), "character_book": BOOK},
    "book-in-extensions": v2(extensions={"character_book": BOOK, "depth": 4}),
    "book-text": v2(character_book=json.dumps(BOOK)),
    "book-list": v2(character_book=[ENTRY]),
    "book-wrapped": v2(character_book={"spec": "lorebook_v3", "data": BOOK}),
    "book-without-entries": small(character_book={"name": "Empty"}),
    "book-entries-null": small(character_book={"entries": None}),
    "book-entries-broken": small(character_book={"entries": [ENTRY, None, "lamp", 7]}),
    "book-by-uid": small(
        character_book={
            "entries": {
                "0": {"uid": 0, "key": ["lamp"], "keysecondary": ["oil"], "selective": True, "comment": "the lamp",
                      "content": "It is old.", "order": 50, "position": 0, "disable": True, "caseSensitive": None},
                "7": {"uid": 7, "key": ["sea"], "content": "Cold.", "constant": True, "position": 4, "depth": 2},
            }
        }
    ),
    "book-risu": small(character_book={"entries": [{"key": "lamp, oil", "content": "Old.", "alwaysActive": True}]}),
    "book-2001": small(character_book={"entries": [{"content": "x"}] * 2001}),
    "keys-text": book(keys="lamp, oil ,", secondary_keys="night,storm"),
    "keys-regex-text": book(keys="lamps?,{1,2}", use_regex=True),
    "keys-numbers": book(keys=[1984, "lamp"]),
    "keys-long": book(keys=["lamp", "x" * 501]),
    "keys-201": book(keys=[f"k{number}" for number in range(201)]),
    "entry-flags": book(enabled="false", constant=1, selective="maybe", case_sensitive="yes"),
    "entry-numbers": book(insertion_order="7", priority="high"),
    "entry-huge-numbers": small(character_book={"scan_depth": -3, "token_budget": 1e300, "entries": [ENTRY]}),
    "entry-decorators": book(content="@@depth 4\n@@@instruct_depth 5\n\n@@role system\n\nIt is old.\n@@not one"),
    "entry-only-decorators": book(content="@@dont_activate"),
    "entry-content-null": book(content=None),
    "no-card-object": {"apiVersion": 1, "kind": "Secret"},
    "no-card-name-only": {"name": "Mara"},
    "no-card-number": 42,
    "no-card-empty-list": [],
    "no-card-text": "Mara",
    "nothing-said": {"spec": "chara_card_v2", "data": {"name": "", "description": ""}},
    "lorebook": {"spec": "lorebook_v3", "data": {**BOOK, "description": "About the sea."}},
    "world-info": {"entries": {"0": {"uid": 0, "key": ["lamp"], "content": "Old."}}},
    "nested": {**TEXTS, "x": json.loads("[" * 70 + "]" * 70)},
    "nested-once-too-often": {**TEXTS, "x": json.loads("[" * 63 + "]" * 63)},
}  # fmt: skip

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
    """Every file of the folder by its name."""
    return {
        **{f"{name}.json": as_json(value) for name, value in JSON.items()},
        **BYTES,
        **{f"{name}.png": data for name, data in PNG.items()},
        **CHARX,
    }


if __name__ == "__main__":
    for file, data in fixtures().items():
        (FOLDER / file).write_bytes(data)
