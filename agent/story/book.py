"""A character's lorebook, which is told where its keys are said; and how JSON that people made is read leniently.

Reading takes two steps. `normal_book` makes of any JSON value a lorebook as version 3 of the card format has it, with
all its entries and unknown fields: that is what is exported again. `book_of` takes from this what clew uses, within its
bounds. What either puts right is told to a `Salvage`.
"""

import json
import math
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from graph.letters import paired

DEEPEST = 64  # lists and objects in each other
LONGEST = 100_000  # characters of one text
LONGEST_KEY = 500  # characters
MOST_KEYS = 200  # of an entry, and as many secondary ones
MOST_ENTRIES = 2_000
LARGEST = 1_000_000_000  # of numbers
DIGITS = 30  # of a whole number; a longer one is a float
FIELDS_TOLD = 6  # in one sentence
USUAL_ORDER = 100  # of an entry that names none; SillyTavern's default

BLANK = " \t\r\n\0\ufeff"
CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
UNKEEPABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
NUMBER = re.compile(r"\s*[+-]?\d{1,15}(\.\d{1,15})?\s*")
DECORATOR = re.compile(r"\s*@@@?([A-Za-z_]\w{0,60})")
YES, NO = ("true", "yes", "on", "1"), ("false", "no", "off", "0", "")

EMPTY = "Read as empty, since it was null"
WAS_NUMBER = "Written as a number or as true or false, and read as text"
JOINED = "Written as a list, and joined to one text"
NO_TEXT = "Left out, since it was no text"
ONE = "Written as one text, and read as a list of one"
SPLIT = "Written as one text, and split at its commas"
NUMBERED = "Written with names where a list belongs, and read as a list"
WAS_TEXT = "Written as a text, and read as a number"
NO_NUMBER = "Left out, since it was no number"
WAS_FLAG = "Written in another way than true or false, and read as that"
NO_FLAG = "Neither true nor false, and read as usual"
NO_OBJECT = "Left out, since it was of the wrong kind"
UNPACKED = "Written as JSON inside a text, and unpacked"
CLEANED = "Texts had characters that cannot be kept, which were taken out or replaced"
NOT_FINITE = "Numbers that are infinite or none at all were left out"
CUT = "Too long, and cut in the chat though not for export"
FOREIGN = "The lorebook was in another program's form and was read all the same"
LISTED = "The lorebook was a bare list of entries, and was read as one"
WRAPPED = "The lorebook stood one level too deep and was taken from there"
ELSEWHERE = "Told after the character, since the place asked for is not one of the format"
NO_ENTRY = "Parts of the lorebook that are no entries were left out"
FEWER = f"The lorebook has more than {MOST_ENTRIES:,} entries, of which the rest is kept for export only"
FEWER_KEYS = f"Keys beyond {MOST_KEYS} of an entry, or longer than {LONGEST_KEY} characters, are kept for export only"
IGNORED = "Instructions in the lorebook that clew does not follow, kept for export"

NEVER = "Off, since its chance is none"
OF_TAGS = "Off, since it is for characters by their tags, which clew does not go by"
OF_LOGIC = "Off, since clew does not know the logic of its secondary keys"

Position = Literal["before_char", "after_char"]
Logic = Literal["any", "not all", "not any", "all"]
LOGICS: tuple[Logic, ...] = ("any", "not all", "not any", "all")  # by SillyTavern's numbers


class Salvage:
    """Reads JSON values that may not be of the kind they should be, and tells what it put right.

    Each kind of salvage is one sentence, in the order in which they were first met, and names the fields.
    """

    def __init__(self) -> None:
        self._told: dict[str, Counter[str]] = {}

    def tell(self, what: str, field: str = "") -> None:
        """Note what was put right, a sentence without its full stop, and in which field of the card."""
        self._told.setdefault(what, Counter())[field] += 1

    def notes(self) -> tuple[str, ...]:
        """What was put right, as sentences."""
        return tuple(_sentence(what, fields) for what, fields in self._told.items())

    def parsed(self, text: str) -> Any:
        """The JSON value that a text begins with, its texts such as can be kept. Raises ValueError, which says why.

        Controls in texts are let through, and so are words after the value.
        """
        text = text.strip(BLANK)
        read = self._number
        decoder = json.JSONDecoder(strict=False, parse_int=read, parse_float=read, parse_constant=read)
        try:
            value, end = decoder.raw_decode(text)
        except json.JSONDecodeError as error:
            raise ValueError(f"{error.msg.removesuffix(' at')} at line {error.lineno}, column {error.colno}") from error
        except RecursionError as error:
            raise ValueError("values nested too deeply") from error
        if is_too_deep(value):
            raise ValueError("values nested too deeply")
        if text[end:].strip(BLANK):
            self.tell("What follows the card in its file was left out")
        return self._cleaned(value)

    def text(self, value: Any, field: str) -> str:
        """A text, '' for what is none."""
        match value:
            case str():
                return value.replace("\r\n", "\n").replace("\r", "\n")
            case None | []:
                self.tell(EMPTY, field)
                return ""
            case bool() | int() | float():
                self.tell(WAS_NUMBER, field)
                return json.dumps(value)
            case list() if parts := [self.text(each, field) for each in value if isinstance(each, str)]:
                self.tell(JOINED, field)
                return "\n".join(parts)
            case _:
                self.tell(NO_TEXT, field)
                return ""

    def texts(self, value: Any, field: str, *, commas: bool = False) -> list[str]:
        """A list of texts without blank ones; one text is split where `commas` part it."""
        match value:
            case None:
                self.tell(EMPTY, field)
                return []
            case str():
                self.tell(SPLIT if commas else ONE, field)
                values: list[Any] = list(value.split(",")) if commas else [value]
            case list():
                values = value
            case dict():
                self.tell(NUMBERED, field)
                values = list(value.values())
            case _:
                values = [value]
        texts = [self.text(each, field) for each in values if each is not None]
        return [each.strip() if commas else each for each in texts if each.strip()]

    def number(self, value: Any, field: str) -> int | float | None:
        """A number, None for what is none."""
        match value:
            case None:
                return None
            case int() | float() if not isinstance(value, bool):
                return value
            case str() if NUMBER.fullmatch(value):
                self.tell(WAS_TEXT, field)
                return float(value) if "." in value else int(value)
            case _:
                self.tell(NO_NUMBER, field)
                return None

    def flag(self, value: Any, field: str, *, usually: bool) -> bool:
        """Whether something is so."""
        match value:
            case bool():
                return value
            case None:
                return usually
            case int() | float() | str() if (word := str(value).strip().lower()) in (*YES, *NO):
                self.tell(WAS_FLAG, field)
                return word in YES
            case _:
                self.tell(NO_FLAG, field)
                return usually

    def object(self, value: Any, field: str) -> dict[str, Any]:
        """An object, empty for what is none."""
        if isinstance(value, dict):
            return value
        if value is not None:
            self.tell(NO_OBJECT, field)
        return {}

    def cut(self, text: str, field: str, longest: int = LONGEST) -> str:
        """A text of at most so many characters."""
        if len(text) > longest:
            self.tell(CUT, field)
        return text[:longest]

    def clean(self, text: str) -> str:
        """A text without controls; half surrogate pairs become replacement characters."""
        if not UNKEEPABLE.search(text):
            return text
        self.tell(CLEANED)
        return CONTROLS.sub("", paired(text))

    def _cleaned(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.clean(value)
        if isinstance(value, list):
            return [self._cleaned(each) for each in value]
        if isinstance(value, dict):
            return {self.clean(key): self._cleaned(each) for key, each in value.items()}
        return value

    def _number(self, text: str) -> int | float | None:
        if len(text) <= DIGITS and text.removeprefix("-").isdigit():
            return int(text)
        number = float(text)
        if not math.isfinite(number):
            self.tell(NOT_FINITE)
            return None
        return number


@dataclass(frozen=True, slots=True)
class Entry:
    """A piece of lore and when it is told.

    It is told where one of `keys` was said, and if it is `selective` also one of `secondary`, or as its `logic` says; a
    `constant` one always, one that is not `enabled` never. Lower `order` comes earlier; where there is no room the
    lowest `priority` is left out, by `order` where there is none. `content` is without decorators. `name` and `comment`
    are for people.
    """

    keys: tuple[str, ...] = ()
    content: str = ""
    secondary: tuple[str, ...] = ()
    selective: bool = False
    enabled: bool = True
    constant: bool = False
    order: int = USUAL_ORDER
    priority: int | None = None
    case_sensitive: bool = False
    use_regex: bool = False  # the keys are patterns
    logic: Logic = "any"  # which of the secondary keys
    chance: int = 100  # of 100, that it is told when it could be
    members: tuple[str, ...] = ()  # by name, whose alone it is; all others' where `but` them
    but: bool = False
    position: Position = "after_char"
    name: str = ""
    comment: str = ""

    def is_for(self, name: str) -> bool:
        """Whether a character of that name may be told it."""
        return not self.members or (name.casefold() in map(str.casefold, self.members)) != self.but


@dataclass(frozen=True, slots=True)
class Book:
    """A lorebook: keys are looked for in the last `scan_depth` turns, and in told entries too if it is `recursive`.

    `token_budget` is for all that is told at once. None leaves either to clew.
    """

    entries: tuple[Entry, ...] = ()
    name: str = ""
    scan_depth: int | None = None
    token_budget: int | None = None
    recursive: bool = False


def is_too_deep(value: Any) -> bool:
    """Whether a JSON value is nested deeper than is read."""
    level = [value]
    for _ in range(DEEPEST):
        level = [each for each in level if isinstance(each, dict | list)]
        level = [inside for each in level for inside in (each.values() if isinstance(each, dict) else each)]
    return any(isinstance(each, dict | list) for each in level)


def renamed(values: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """An object with fields under their usual names where those are free."""
    found = dict(values)
    for old, new in names.items():
        if old in found and found.get(new) is None:
            found[new] = found.pop(old)
    return found


# -- what is exported -------------------------------------------------------------------------------------------------

# How SillyTavern, RisuAI and Agnai call an entry's fields in lorebooks of their own.
NAMES = {
    "key": "keys",
    "keywords": "keys",
    "keysecondary": "secondary_keys",
    "secondkey": "secondary_keys",
    "entry": "content",
    "order": "insertion_order",
    "insertorder": "insertion_order",
    "caseSensitive": "case_sensitive",
    "useRegex": "use_regex",
    "alwaysActive": "constant",
}


def normal_book(value: Any, salvage: Salvage) -> dict[str, Any] | None:
    """A lorebook in the form of version 3, whatever it came in; None if it is none."""
    if isinstance(value, str):
        try:
            value = salvage.parsed(value)
        except ValueError:
            return None
        salvage.tell(UNPACKED, "character_book")
    if isinstance(value, list):
        salvage.tell(LISTED)
        value = {"entries": value}
    if not isinstance(value, dict):
        return None
    if "entries" not in value and isinstance(value.get("data"), dict) and "entries" in value["data"]:
        salvage.tell(WRAPPED)
        value = value["data"]
    rest = dict(value)
    known: dict[str, Any] = {
        "entries": _normal_entries(rest.pop("entries", []), salvage),
        "extensions": salvage.object(rest.pop("extensions", {}), "extensions of the lorebook"),
    }
    for name in ("name", "description"):
        if (text := rest.pop(name, None)) is not None:
            known[name] = salvage.text(text, f"{name} of the lorebook")
    for name in ("scan_depth", "token_budget"):
        if (number := salvage.number(rest.pop(name, None), name)) is not None:
            known[name] = number
    if (flag := rest.pop("recursive_scanning", None)) is not None:
        known["recursive_scanning"] = salvage.flag(flag, "recursive_scanning", usually=False)
    return {**known, **rest}


def _normal_entries(value: Any, salvage: Salvage) -> list[dict[str, Any]]:
    """The entries of a list, or of an object that numbers them; those beyond the bound stay as they are."""
    if value is None:
        salvage.tell(EMPTY, "entries of the lorebook")
        return []
    parts = list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else [value]
    entries = [each for each in parts if isinstance(each, dict)]
    for _ in range(len(parts) - len(entries)):
        salvage.tell(NO_ENTRY)
    if isinstance(value, dict) or any("keys" not in each and not NAMES.keys().isdisjoint(each) for each in entries):
        salvage.tell(FOREIGN)
    return [*(_normal_entry(each, salvage) for each in entries[:MOST_ENTRIES]), *entries[MOST_ENTRIES:]]


def _normal_entry(value: Mapping[str, Any], salvage: Salvage) -> dict[str, Any]:
    rest = renamed(value, NAMES)
    if "disable" in rest and rest.get("enabled") is None:
        rest["enabled"] = not salvage.flag(rest.pop("disable"), "disable", usually=False)
    use_regex = salvage.flag(rest.pop("use_regex", None), "use_regex", usually=False)
    order = salvage.number(rest.pop("insertion_order", None), "insertion_order")
    known: dict[str, Any] = {
        "keys": salvage.texts(rest.pop("keys", []), "keys", commas=not use_regex),
        "content": salvage.text(rest.pop("content", ""), "content of an entry"),
        "extensions": dict(salvage.object(rest.pop("extensions", {}), "extensions of an entry")),
        "enabled": salvage.flag(rest.pop("enabled", None), "enabled", usually=True),
        "insertion_order": USUAL_ORDER if order is None else order,
        "use_regex": use_regex,
        "constant": salvage.flag(rest.pop("constant", None), "constant", usually=False),
    }
    if (secondary := rest.pop("secondary_keys", None)) is not None:
        known["secondary_keys"] = salvage.texts(secondary, "secondary_keys", commas=not use_regex)
    for name in ("selective", "case_sensitive"):
        if (flag := rest.pop(name, None)) is not None:
            known[name] = salvage.flag(flag, name, usually=False)
    if (priority := salvage.number(rest.pop("priority", None), "priority")) is not None:
        known["priority"] = priority
    for name in ("name", "comment"):
        if (text := rest.pop(name, None)) is not None:
            known[name] = salvage.text(text, f"{name} of an entry")
    if (position := rest.pop("position", None)) is not None:
        known["position"] = _normal_position(position, known["extensions"], salvage)
    return {**known, **rest}


def _normal_position(value: Any, extensions: dict[str, Any], salvage: Salvage) -> Position:
    """One of the two positions of the format; SillyTavern's others are kept where it looks for them."""
    if value in ("before_char", 0):
        return "before_char"
    if value not in ("after_char", 1):
        salvage.tell(ELSEWHERE, "position")
        extensions.setdefault("position", value)
    return "after_char"


def book_json(book: Book, old: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """A lorebook as JSON of version 3; unknown fields, and entries that say the same, are taken from an `old` one."""
    kept = {} if old is None else {entry_of(each, Salvage()): each for each in old["entries"][:MOST_ENTRIES]}
    rest = {} if old is None else {key: each for key, each in old.items() if key not in ("scan_depth", "token_budget")}
    numbers = {"scan_depth": book.scan_depth, "token_budget": book.token_budget}
    return {
        "extensions": {},
        **rest,
        "entries": [kept.get(each) or entry_json(each) for each in book.entries],
        "name": book.name,
        "recursive_scanning": book.recursive,
        **{key: number for key, number in numbers.items() if number is not None},
    }


def entry_json(entry: Entry) -> dict[str, Any]:
    """An entry as JSON of version 3."""
    value: dict[str, Any] = {
        "keys": list(entry.keys),
        "content": entry.content,
        "extensions": {
            "selectiveLogic": LOGICS.index(entry.logic),
            "probability": entry.chance,
            **({"characterFilter": {"names": [*entry.members], "isExclude": entry.but}} if entry.members else {}),
        },
        "enabled": entry.enabled,
        "insertion_order": entry.order,
        "use_regex": entry.use_regex,
        "constant": entry.constant,
        "secondary_keys": list(entry.secondary),
        "selective": entry.selective,
        "case_sensitive": entry.case_sensitive,
        "name": entry.name,
        "comment": entry.comment,
        "position": entry.position,
    }
    return value if entry.priority is None else {**value, "priority": entry.priority}


# -- what clew uses ---------------------------------------------------------------------------------------------------


def book_of(value: Mapping[str, Any], salvage: Salvage) -> Book:
    """A lorebook of its normal form, within the bounds; decorators are taken out of the contents and told."""
    entries = value["entries"]
    if len(entries) > MOST_ENTRIES:
        salvage.tell(FEWER)
    return Book(
        entries=tuple(entry_of(each, salvage) for each in entries[:MOST_ENTRIES]),
        name=salvage.cut(value.get("name", ""), "name of the lorebook"),
        scan_depth=_whole(value.get("scan_depth"), least=0),
        token_budget=_whole(value.get("token_budget"), least=0),
        recursive=value.get("recursive_scanning", False),
    )


def entry_of(value: Mapping[str, Any], salvage: Salvage) -> Entry:
    """An entry of its normal form."""
    content, decorators = undecorated(value["content"])
    for each in decorators:
        salvage.tell(IGNORED, f"@@{each}")
    told = _told(value, salvage)
    return Entry(
        keys=_keys(value["keys"], salvage),
        content=salvage.cut(content, "content of an entry"),
        secondary=_keys(value.get("secondary_keys", []), salvage),
        selective=value.get("selective", False),
        enabled=value["enabled"] and not told.off,
        logic=told.logic,
        chance=told.chance,
        members=told.members,
        but=told.but,
        constant=value["constant"],
        order=_whole(value["insertion_order"]) or 0,
        priority=_whole(value.get("priority")),
        case_sensitive=value.get("case_sensitive", False),
        use_regex=value["use_regex"],
        position=value.get("position", "after_char"),
        name=salvage.cut(value.get("name", ""), "name of an entry"),
        comment=salvage.cut(value.get("comment", ""), "comment of an entry"),
    )


@dataclass(frozen=True, slots=True)
class _When:
    """What SillyTavern's own fields ask of an entry; `off`: what cannot be met."""

    logic: Logic
    chance: int
    members: tuple[str, ...]
    but: bool
    off: bool


def _told(value: Mapping[str, Any], salvage: Salvage) -> _When:
    """When an entry may be told; of what is never told it is said which entry that is."""
    fields = renamed({**value.get("extensions", {}), **value}, {"character_filter": "characterFilter"})
    logic = salvage.number(fields.get("selectiveLogic"), "selectiveLogic") or 0
    chance = salvage.number(fields.get("probability"), "probability")
    always = chance is None or not salvage.flag(fields.get("useProbability"), "useProbability", usually=True)
    only = fields.get("characterFilter")
    only = salvage.object({"names": only} if isinstance(only, str | list) else only, "characterFilter")
    named = salvage.texts(only.get("names", []), "names of a characterFilter", commas=True)
    names = tuple(each.removesuffix(".png") for each in named)
    known = logic in range(len(LOGICS))
    why = NEVER if not always and (chance or 0) <= 0 else OF_TAGS if only.get("tags") else "" if known else OF_LOGIC
    if why and value["enabled"]:
        salvage.tell(why, value.get("name") or value.get("comment") or ", ".join(value["keys"][:2]) or "an entry")
    number = 100 if always or chance is None else math.ceil(min(100, chance))
    but = salvage.flag(only.get("isExclude"), "isExclude", usually=False)
    return _When(LOGICS[int(logic)] if known else "any", number, names, but, bool(why))


def undecorated(content: str) -> tuple[str, list[str]]:
    """An entry's words, and the names of the decorators in the lines before them."""
    names: list[str] = []
    at = 0
    while at < len(content):
        end = content.find("\n", at) + 1 or len(content)
        decorator = DECORATOR.match(content, at, end)
        if decorator is not None:
            names.append(decorator[1])
        elif content[at:end].strip():
            break
        at = end
    return (content[at:], names) if names else (content, [])


def _keys(keys: list[str], salvage: Salvage) -> tuple[str, ...]:
    short = [each for each in keys if len(each) <= LONGEST_KEY][:MOST_KEYS]
    if len(short) < len(keys):
        salvage.tell(FEWER_KEYS)
    return tuple(short)


def _whole(number: int | float | None, least: int = -LARGEST) -> int | None:
    return None if number is None else round(max(least, min(LARGEST, number)))


def _sentence(what: str, fields: Counter[str]) -> str:
    """What was put right, with the fields, or else how often."""
    named = [name if count == 1 else f"{name} ({count:,} times)" for name, count in fields.items() if name]
    if not named:
        return f"{what}." if fields.total() == 1 else f"{what} ({fields.total():,} times)."
    more = len(named) - FIELDS_TOLD
    return f"{what}: {', '.join(named[:FIELDS_TOLD])}{f' and {more:,} more' if more > 0 else ''}."
