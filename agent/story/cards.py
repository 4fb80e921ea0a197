"""Character cards: read from JSON, PNG or CHARX whatever state they are in, written as version 3, and their macros.

Reading takes two steps, as in book.py. First any JSON becomes a card of version 3 with all its unknown fields, which is
kept as `source` and exported again; a card that was exported gives itself. Then the `Card` is taken from that, within
the bounds. What was put right on the way is in its `notes`; what cannot be read raises CardError.

A card is data. Nothing in it is run, opened or fetched, its `extensions` and `assets` least of all.
The formats: github.com/malfoyslastname/character-card-spec-v2, github.com/kwaroran/character-card-spec-v3.
"""

import base64
import binascii
import io
import json
import random
import re
import struct
import zipfile
import zlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

from agent.errors import AgentError
from agent.story.book import (
    BLANK,
    EMPTY,
    NO_OBJECT,
    UNPACKED,
    Book,
    Salvage,
    book_json,
    book_of,
    is_too_deep,
    normal_book,
    renamed,
)
from agent.story.card_png import PngTexts, is_png, texts_of, with_texts

MOST_BYTES = 20 << 20  # of a file
MOST_JSON = 2 << 20  # bytes of a card's JSON
MOST_GREETINGS = 200
MOST_TAGS = 200
MOST_PACKED = 10_000  # files in a CHARX file
LONGEST_NAME = 120  # characters

V2, V3 = ("chara_card_v2", "2.0"), ("chara_card_v3", "3.0")
SPECS = ("chara_card_v1", V2[0], V3[0], None)
KEYWORDS = ("ccv3", "chara")  # of a picture's texts, the better one first
CARD_FILE = "card.json"
ZIP, ZIP_END = b"PK\3\4", b"PK\5\6"
ZIP_TAIL = 22 + 0xFFFF  # bytes in which a zip file's end is marked
LISTED = b"PK\1\2"  # before each file in a zip file's list
PICTURES = {b"\xff\xd8\xff": "JPEG", b"RIFF": "WebP", b"GIF8": "GIF"}

# The texts of a card by their names here, and in JSON.
TEXTS = {
    "name": "name",
    "description": "description",
    "personality": "personality",
    "scenario": "scenario",
    "examples": "mes_example",
    "system_prompt": "system_prompt",
    "post_history": "post_history_instructions",
    "creator_notes": "creator_notes",
    "creator": "creator",
    "version": "character_version",
}
LISTS = ("alternate_greetings", "group_only_greetings", "tags")
FIELDS = (*TEXTS.values(), "first_mes", *LISTS, "nickname", "character_book")
# Without one of these an object is no card, unless it says that it is one.
TELLING = ("description", "personality", "scenario", "first_mes", "mes_example", "system_prompt", "alternate_greetings")
OLD_NAMES = {
    "char_name": "name",
    "char_persona": "description",
    "world_scenario": "scenario",
    "char_greeting": "first_mes",
    "example_dialogue": "mes_example",
    "creatorcomment": "creator_notes",
}

AGAIN = "download or export the card again"
FORMATS = "export the card as JSON, PNG or CHARX"
TWICE = "Said twice in the file, of which the newer part counts"
BESIDE = "Taken from beside the card's data, where it does not belong"
IN_EXTENSIONS = "The lorebook stood among the extensions and was taken from there"
UNNAMED = "The card has no name and is called after its file"
NO_CARD = "holds no character card"
TOO_LONG = f"The card is longer than {MOST_JSON >> 20} MB without its pictures"
NOT_WHOLE_TEXT = "Letters that cannot be read were replaced"


class CardError(AgentError):
    """A file that no card can be read from, or a picture that none can be put into: nothing was changed."""


@dataclass(frozen=True, slots=True)
class Card:
    """A character as its card has it. Equal are those that say the same.

    `greetings` are the first message and its alternatives, `group_greetings` those for more than one character.
    `post_history` goes after the dialogue, `system_prompt` in the place of the story's. `creator_notes`, `creator`,
    `version` and `tags` are for people only. `notes` are sentences: what was put right or left out in reading.
    `source` is the whole card as JSON of version 3, unknown fields too; '' for a card that was not read.
    """

    name: str
    nickname: str = ""
    description: str = ""
    personality: str = ""
    scenario: str = ""
    greetings: tuple[str, ...] = ()
    group_greetings: tuple[str, ...] = ()
    examples: str = ""
    system_prompt: str = ""
    post_history: str = ""
    creator_notes: str = ""
    creator: str = ""
    version: str = ""
    tags: tuple[str, ...] = ()
    book: Book | None = None
    notes: tuple[str, ...] = field(default=(), compare=False)
    source: str = field(default="", compare=False, repr=False)


def read_card(data: bytes, stem: str = "") -> Card:
    """The card of a file's bytes: JSON, PNG or CHARX, told by how they begin. Raises CardError.

    `stem` is the file's name without its ending, for a card that has none.
    """
    if len(data) > MOST_BYTES:
        raise _refused(f"The file is larger than {MOST_BYTES >> 20} MB", "export the card as JSON, without pictures")
    if is_png(data):
        return _of_png(data, stem)
    if data.startswith((ZIP, ZIP_END)):
        return _of_charx(data, stem)
    for start, picture in PICTURES.items():
        if data.startswith(start):
            if ZIP_END in data[-ZIP_TAIL:]:  # a CHARX file that is shown as a picture
                return _of_charx(data, stem)
            raise _refused(f"The file is a {picture} picture, which no card is read from", FORMATS)
    return _of_json(data, stem, Salvage(), "The file holds no card in the form of JSON, PNG or CHARX")


def card_json(card: Card) -> bytes:
    """The card as JSON of version 3, UTF-8, which readers of version 2 understand; read again it gives an equal card.

    What the card was read with is kept, unknown fields too; what differs from that is written over it.
    """
    return _dumped(_whole(card)).encode()


def into_png(card: Card, png: bytes) -> bytes:
    """The PNG picture with the card in it, for readers of version 3 and of version 2; the rest stays byte for byte.

    Raises CardError for a picture that is damaged, and where the result is larger than is read.
    """
    whole = _whole(card)
    cards = {"ccv3": whole, "chara": {**whole, "spec": V2[0], "spec_version": V2[1]}}
    texts = {keyword: base64.b64encode(_dumped(each).encode()) for keyword, each in cards.items()}
    try:
        picture = with_texts(png, texts)
    except ValueError as error:
        advice = "choose a PNG picture that an image viewer opens"
        raise CardError(f"The picture is not a whole PNG; the card was not written; {advice}.") from error
    if len(picture) > MOST_BYTES:
        advice = "choose a smaller picture"
        raise CardError(f"The picture is larger than {MOST_BYTES >> 20} MB; the card was not written; {advice}.")
    return picture


# -- files ------------------------------------------------------------------------------------------------------------


def _refused(what: str, advice: str) -> CardError:
    return CardError(f"{what}; nothing was imported; {advice}.")


def _of_json(data: bytes, stem: str, salvage: Salvage, otherwise: str = "The card in the file is not JSON") -> Card:
    """The card of a JSON document. Raises CardError, which says `otherwise` of what is none."""
    if len(data) > MOST_JSON:
        raise _refused(TOO_LONG, "shorten it where it was made")
    if not data.strip(BLANK.encode()):
        raise _refused("The card is empty", AGAIN)
    text = _decoded(data, salvage).strip(BLANK)
    if not text.startswith(("{", "[", '"')):
        raise _refused(otherwise, FORMATS)
    try:
        value = salvage.parsed(text)
    except ValueError as error:
        raise _refused(f"The card's JSON cannot be read ({error})", AGAIN) from error
    return _card(normal(value, stem, salvage), salvage)


def _decoded(data: bytes, salvage: Salvage) -> str:
    """UTF-8, UTF-16 or UTF-32 text, or else Windows-1252."""
    encoding: str = json.detect_encoding(data)
    if not encoding.startswith("utf-8"):
        salvage.tell(f"The file was {encoding[:6].upper()} instead of UTF-8, and was read as that")
    try:
        return data.decode(encoding, "surrogatepass")
    except UnicodeDecodeError:
        if encoding.startswith("utf-8"):
            salvage.tell("The file was not UTF-8, and was read as Windows-1252")
            encoding = "cp1252"
        text = data.decode(encoding, "replace")
        if "\N{REPLACEMENT CHARACTER}" in text:
            salvage.tell(NOT_WHOLE_TEXT)
        return text


def _of_png(data: bytes, stem: str) -> Card:
    """The card in a picture: the first of its texts that is one, those of version 3 before the others."""
    found = texts_of(data, *KEYWORDS, most=2 * MOST_JSON)
    errors: list[CardError] = []
    for keyword, text in sorted(found.texts, key=lambda each: KEYWORDS.index(each[0])):
        salvage = _about(found)
        if errors:
            salvage.tell(f"The first card in the picture cannot be read, so its other one ({keyword}) was")
        try:
            return _of_json(_unpacked(text, salvage), stem, salvage)
        except CardError as error:
            errors.append(error)
    if not found.whole:
        raise _refused("The picture is cut off or damaged, and no card in it is whole", AGAIN)
    if errors:
        raise errors[0]
    if found.too_long:
        raise _refused(TOO_LONG, "shorten it where it was made")
    if found.broken:
        raise _refused("The card in the picture is damaged", AGAIN)
    raise _refused(
        f"The picture {NO_CARD}", "take the original file, as many sites and chats strip cards from pictures"
    )


def _about(found: PngTexts) -> Salvage:
    """What is told of a picture whose card is read."""
    salvage = Salvage()
    if found.damaged:
        salvage.tell("The picture is damaged (checksum), so the card may be too")
    if not found.whole:
        salvage.tell("The picture is cut off or damaged, and the card was read from what is there")
    if found.too_long:
        salvage.tell(f"A text in the picture unpacks to more than {2 * MOST_JSON >> 20} MB and was left out")
    if found.broken:
        salvage.tell("A text in the picture cannot be unpacked and was left out")
    return salvage


def _unpacked(text: bytes, salvage: Salvage) -> bytes:
    """A picture's text out of base64, or as it is if it is JSON already."""
    text = text.strip(BLANK.encode())
    if text.startswith(b"{"):
        salvage.tell("The card in the picture was not packed as usual (base64)")
        return text
    try:
        return base64.b64decode(b"".join(text.split()), validate=True)
    except binascii.Error:
        salvage.tell("The card in the picture was packed wrongly (base64) and read as far as possible")
        letters = re.sub(rb"[^A-Za-z0-9+/]", b"", text.translate(bytes.maketrans(b"-_", b"+/")))
        whole = letters[: len(letters) - (len(letters) % 4 == 1)]
        return base64.b64decode(whole + b"=" * (-len(whole) % 4))


# What zipfile may raise over damaged files; most of them it was seen to.
ZIP_SURPRISES = (zipfile.BadZipFile, OSError, EOFError, ValueError, RuntimeError, zlib.error, struct.error, IndexError)


def _of_charx(data: bytes, stem: str) -> Card:
    """The card of a zip file; pictures and sounds in it are left out, and told."""
    if data.count(LISTED) > MOST_PACKED:
        raise _refused(f"The CHARX file holds more than {MOST_PACKED:,} files", "export the card as JSON or PNG")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            files = [each for each in archive.infolist() if not each.is_dir()]
            found = _card_file(files)
            if found is None:
                raise _refused(f"The zip file has no {CARD_FILE} in it", FORMATS)
            if found.flag_bits & 1 or found.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise _refused("The CHARX file is encrypted or packed in an unusual way", FORMATS)
            with archive.open(found) as packed:
                text = packed.read(MOST_JSON + 1)
    except ZIP_SURPRISES as error:
        raise _refused("The CHARX file is damaged", AGAIN) from error
    salvage = Salvage()
    if len(files) > 1:
        salvage.tell(f"Only {CARD_FILE} was read from the CHARX file, not its pictures and sounds ({len(files) - 1:,})")
    return _of_json(text, stem, salvage)


def _card_file(files: Iterable[zipfile.ZipInfo]) -> zipfile.ZipInfo | None:
    """The file that is the card: at the top, or else in a folder, the outermost."""
    named = [each for each in files if PurePosixPath(each.filename).name.lower() == CARD_FILE]
    return min(named, key=lambda each: (each.filename.count("/"), each.filename != CARD_FILE), default=None)


# -- what is exported -------------------------------------------------------------------------------------------------


def _whole(card: Card) -> dict[str, Any]:
    """The card as JSON of version 3: as it was read, but for what says something else now."""
    blank: dict[str, Any] = {**dict.fromkeys((*TEXTS.values(), "first_mes"), ""), **{key: [] for key in LISTS}}
    bare = {"spec": V3[0], "spec_version": V3[1], "data": {**blank, "extensions": {}}}
    whole: dict[str, Any] = json.loads(card.source) if card.source else bare
    before, data = _card(whole, Salvage()), whole["data"]
    for name, key in {**TEXTS, "nickname": "nickname"}.items():
        if getattr(card, name) != getattr(before, name):
            data[key] = getattr(card, name)
    for name, key in {"group_greetings": "group_only_greetings", "tags": "tags"}.items():
        if getattr(card, name) != getattr(before, name):
            data[key] = list(getattr(card, name))
    if card.greetings != before.greetings:
        data["first_mes"], *data["alternate_greetings"] = card.greetings or ("",)
    if card.book is None:
        data.pop("character_book", None)
    elif card.book != before.book:
        data["character_book"] = book_json(card.book, data.get("character_book"))
    return whole


def normal(value: Any, stem: str, salvage: Salvage) -> dict[str, Any]:
    """A card of version 3 from a JSON value of any version or state. Raises CardError if it is no card.

    What this gives is given by it again, unchanged.
    """
    whole = _object(value, salvage)
    data, rest = _parts(whole, salvage)
    _must_be_card(whole, data)
    _tell_version(whole, salvage)
    _part_greetings(data, salvage)
    book = _moved_book(data, salvage)
    nickname = data.pop("nickname", None)
    known: dict[str, Any] = {"name": _name(data.pop("name", None), stem, salvage)}
    for key in (*TEXTS.values(), "first_mes"):
        if key not in known:
            known[key] = salvage.text(data.pop(key), key) if key in data else ""
    for key in LISTS:
        known[key] = salvage.texts(data.pop(key), key, commas=key == "tags") if key in data else []
    known["extensions"] = salvage.object(data.pop("extensions", {}), "extensions")
    if nickname is not None and (text := salvage.text(nickname, "nickname")).strip():
        known["nickname"] = text
    if book is not None:
        known["character_book"] = book
    made = {"spec": V3[0], "spec_version": V3[1], "data": {**known, **data}, **rest}
    if is_too_deep(made):
        raise _refused("The card's values are nested too deeply", AGAIN)
    if len(_dumped(made).encode()) > MOST_JSON:
        raise _refused(TOO_LONG, "shorten it where it was made")
    return made


def _dumped(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _object(value: Any, salvage: Salvage) -> dict[str, Any]:
    """The object that is the card, also if it is in a list or inside a text."""
    if isinstance(value, list) and value:
        if len(value) > 1:
            salvage.tell(f"The file holds a list of {len(value):,}, of which the first was read")
        value = value[0]
    inner = _inside(value, "the whole card", salvage)
    if not isinstance(inner, dict):
        raise _refused(f"The file {NO_CARD}", FORMATS)
    return inner


def _inside(value: Any, field: str, salvage: Salvage) -> Any:
    """The object that is written inside a text, or the value as it is."""
    if not isinstance(value, str):
        return value
    try:
        inner = salvage.parsed(value)
    except ValueError:
        return value
    if isinstance(inner, dict):
        salvage.tell(UNPACKED, field)
        return inner
    return value


def _parts(whole: dict[str, Any], salvage: Salvage) -> tuple[dict[str, Any], dict[str, Any]]:
    """The fields of the card under their usual names, and what else stands beside them.

    In version 1 the fields are the whole; later ones have them in `data`, where they count more than beside it.
    """
    beside = {key: each for key, each in whole.items() if key not in ("spec", "spec_version", "data")}
    inner = _inside(whole.get("data"), "data", salvage)
    beside = _with_usual_names(beside, salvage)
    if not isinstance(inner, dict):
        if inner is not None:
            salvage.tell(NO_OBJECT, "data")
        return beside, {}
    data = _with_usual_names(inner, salvage)
    for key in FIELDS:
        if key not in beside:
            continue
        other = beside.pop(key)
        if data.get(key) is None:
            data[key] = other
            if other is not None:
                salvage.tell(BESIDE, key)
        elif other not in (data[key], None, "", []):
            salvage.tell(TWICE, key)
    return data, beside


def _with_usual_names(values: dict[str, Any], salvage: Salvage) -> dict[str, Any]:
    found = renamed(values, OLD_NAMES)
    if "char_name" in values or "char_greeting" in values or "char_persona" in values:
        salvage.tell("The card's fields had the names of an older program")
    return {key: each for key, each in found.items() if key not in OLD_NAMES}


def _must_be_card(whole: dict[str, Any], data: dict[str, Any]) -> None:
    spec, inner = whole.get("spec"), whole.get("data")
    says = {key for key in TELLING if data.get(key) not in (None, "", [], {})}
    kind = spec if isinstance(spec, str) else ""
    if kind.startswith("chara_card") and (says or data.get("name")):
        return
    lore = "entries" in whole or (isinstance(inner, dict) and "entries" in inner)
    if kind.startswith("lorebook") or (lore and says <= {"description"}):
        raise _refused("The file is a lorebook and not a character card", "choose a card, or add it as lore")
    if not says:
        raise _refused(f"The file {NO_CARD}", FORMATS)


def _tell_version(whole: dict[str, Any], salvage: Salvage) -> None:
    spec, version = whole.get("spec"), whole.get("spec_version")
    if spec not in SPECS:
        shown = _line(spec if isinstance(spec, str) else _dumped(spec))[:40]
        salvage.tell(f"The card is of a kind that clew does not know ({shown}), and was read as version 3")
    elif spec == V3[0] and _is_newer(version):
        salvage.tell(f"The card is of a newer version ({_line(str(version))[:40]}) than clew knows, but was read")


def _is_newer(version: Any) -> bool:
    try:
        return float(version) > float(V3[1])
    except (TypeError, ValueError):
        return False


def _part_greetings(data: dict[str, Any], salvage: Salvage) -> None:
    """Make alternatives of the others where the first message is a list."""
    match data.get("first_mes"), data.get("alternate_greetings"):
        case [first, _, *_] as messages, others:
            salvage.tell("The first message was a list, of which the others became alternatives")
            after = others if isinstance(others, list) else [] if others is None else [others]
            data["first_mes"], data["alternate_greetings"] = first, [*messages[1:], *after]


def _moved_book(data: dict[str, Any], salvage: Salvage) -> dict[str, Any] | None:
    """The lorebook, taken out of the fields or out of their extensions."""
    if "character_book" in data and data["character_book"] is None:
        salvage.tell(EMPTY, "character_book")
    value = data.pop("character_book", None)
    book = None if value is None else normal_book(value, salvage)
    if value is not None and book is None:
        salvage.tell("Left out, since it was no lorebook", "character_book")
    extensions = data.get("extensions")
    if book is None and isinstance(extensions, dict) and extensions.get("character_book") is not None:
        book = normal_book(extensions["character_book"], salvage)
        if book is not None:
            salvage.tell(IN_EXTENSIONS)
            data["extensions"] = {key: each for key, each in extensions.items() if key != "character_book"}
    return book


def _name(value: Any, stem: str, salvage: Salvage) -> str:
    """The card's name, or else its file's. Raises CardError where neither has one."""
    name = "" if value is None else salvage.text(value, "name")
    if _line(name):
        return name
    name = _line(salvage.clean(stem))
    if not name:
        raise _refused("The card has no name", "give it one where it was made, or name its file after the character")
    salvage.tell(UNNAMED)
    return name


def _line(text: str) -> str:
    """A text as one line, '' if there is nothing in it that can be seen."""
    line = " ".join(text.split())
    return line if any(each.isprintable() and not each.isspace() for each in line) else ""


CHARACTERS = 4  # about as many make a token of English
ALWAYS = ("description", "personality", "system_prompt", "post_history")
USUAL = 3_000  # tokens that a shortened prompt has by default (`low_water` in the settings)
MUST = 0.6  # the share of these that a card may take before it is told

# -- what clew uses ---------------------------------------------------------------------------------------------------


def _card(whole: dict[str, Any], salvage: Salvage) -> Card:
    """The card of its normal form, within the bounds."""
    data = whole["data"]
    texts = {name: salvage.cut(data[key], key) for name, key in TEXTS.items() if name != "name"}
    book = data.get("character_book")
    greetings = [each for each in (data["first_mes"], *data["alternate_greetings"]) if each.strip()]
    always = tokens_of(*(texts[name] for name in ALWAYS))
    if always > MUST * USUAL:
        salvage.tell(
            f"About {always:,} tokens of the card stand in every prompt, more than {MUST:.0%} of the {USUAL:,} that a "
            "shortened one usually has, so that replies see little of the story; shorten its description, or raise "
            "low_water in the settings"
        )
    return Card(
        name=salvage.cut(_line(data["name"]), "name", LONGEST_NAME).rstrip(),
        nickname=salvage.cut(_line(data.get("nickname", "")), "nickname", LONGEST_NAME).rstrip(),
        greetings=_few(greetings, "greetings", MOST_GREETINGS, salvage),
        group_greetings=_few(data["group_only_greetings"], "greetings for groups", MOST_GREETINGS, salvage),
        tags=_few(data["tags"], "tags", MOST_TAGS, salvage),
        book=None if book is None else book_of(book, salvage),
        source=_dumped(whole),
        notes=salvage.notes(),  # after all that can be told
        **texts,
    )


def tokens_of(*texts: str) -> int:
    """About how many tokens some texts take, before a model is there that could tell."""
    return sum(map(len, texts)) // CHARACTERS


def always_told(card: Card) -> int:
    """About how many tokens of a card are in every prompt of its voice."""
    return tokens_of(*(getattr(card, name) for name in ALWAYS), card.examples)


def _few(texts: list[str], what: str, most: int, salvage: Salvage) -> tuple[str, ...]:
    if len(texts) > most:
        salvage.tell(f"The card has more than {most:,} {what}, of which the rest is kept for export only")
    return tuple(salvage.cut(each, what) for each in texts[:most])


# -- macros -----------------------------------------------------------------------------------------------------------

MOST_DRAWS = 1_000  # in one text
DEEPEST_DRAW = 8  # macros in macros
MOST_DICE, MOST_SIDES = 100, 10_000
DICE = re.compile(r"(?:(\d{0,3})d)?(\d{1,5})([+-]\d{1,5})?", re.ASCII | re.IGNORECASE)


def _atomic(name: str, pattern: str) -> str:
    """A group that gives nothing back: a lookahead, repeated. The quantifier `*+` is wrong before Python 3.11.5."""
    return f"(?=(?P<{name}>{pattern}))(?P={name})"


# What stands in a macro: anything but two braces, or another macro that has none in it.
_NOTE = _atomic("note", r"(?:[^{}]|\{\{[^{}]*\}\}|[{}](?![{}]))*")
_OF = _atomic("of", r"(?:[^{}]|\{\{(?!//|\s{0,8}(?:random|pick|roll)\b)[^{}]*\}\}|[{}](?![{}]))*")
FILLED = re.compile(
    r"\{\{(?://" + _NOTE + r"|\s{0,8}(?P<name>char|user|original)\s{0,8})\}\}|<(?P<tag>char|bot|user)>", re.IGNORECASE
)
DRAWN = re.compile(
    r"\{\{(?://" + _NOTE + r"|\s{0,8}(?P<kind>random|pick|roll)\s{0,8}::?" + _OF + r")\}\}", re.IGNORECASE
)


def filled(text: str, *, char: str, user: str, original: str | None = None) -> str:
    """A card's text with the names in it, and without its comments; done whenever it is shown or goes into a prompt.

    `char` is the nickname, or else the name. `original` is the text in whose place this one goes; None leaves
    `{{original}}` as it is. Names are put in as they are: a macro in one is not filled.
    """

    def fill(macro: re.Match[str]) -> str:
        match (macro["name"] or macro["tag"] or "").lower():
            case "":
                return ""
            case "user":
                return user
            case "original":
                return macro[0] if original is None else original
            case _:
                return char

    return FILLED.sub(fill, text)


def drawn(text: str, rng: random.Random) -> str:
    """A card's text with its random choices and dice drawn, and without its comments; done once, and stored.

    What cannot be drawn stays as it is, and so does what comes after the first MOST_DRAWS.
    """
    left = MOST_DRAWS

    def draw(macro: re.Match[str]) -> str:
        nonlocal left
        if macro["kind"] is None:
            return ""
        result = None if left == 0 else (_rolled if macro["kind"].lower() == "roll" else _chosen)(macro["of"], rng)
        if result is None:
            return macro[0]
        left -= 1
        return result

    for _ in range(DEEPEST_DRAW):  # from the innermost macros outwards; what is put in is never longer
        before, text = text, DRAWN.sub(draw, text)
        if text == before:
            break
    return text


def _chosen(options: str, rng: random.Random) -> str | None:
    """One of the options, which `::` or else commas part; None if there are none."""
    if not options.strip():
        return None
    if "::" in options:
        return rng.choice(options.split("::"))
    return rng.choice(re.split(r"(?<!\\),", options)).strip().replace("\\,", ",")


def _rolled(dice: str, rng: random.Random) -> str | None:
    """The sum of 2d6, d20, 20 or 2d6+1; None for what is no dice, or too many."""
    found = DICE.fullmatch("".join(dice.split()))
    if found is None:
        return None
    count, sides, more = int(found[1] or 1), int(found[2]), int(found[3] or 0)
    if not (0 < count <= MOST_DICE and 0 < sides <= MOST_SIDES):
        return None
    return str(sum(rng.randint(1, sides) for _ in range(count)) + more)
