"""Cards in every state are imported or refused in one sentence, come out as they went in, and never run away."""

import base64
import json
import random
import tomllib
import zipfile
import zlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.errors import AgentError
from agent.story import card_png
from agent.story.book import Book, Entry
from agent.story.cards import Card, CardError, card_json, drawn, filled, into_png, read_card
from tests.agent.story.cards import make
from tests.examples import examples, few

V1 = Card(
    name="Mara",
    description="{{char}} keeps the lighthouse.",
    personality="wary",
    scenario="A storm.",
    greetings=("Who is there?",),
    examples="<START>\n{{user}}: Hello.\n{{char}}: Go away.",
)
V2 = replace(
    V1,
    greetings=("Who is there?", "Come in.", "The lamp is out."),
    creator_notes="Slow.",
    system_prompt="Be {{char}}. {{original}}",
    post_history="Stay in the lamp room.",
    tags=("sea", "storm"),
    creator="someone",
    version="1.2",
)
V3 = replace(V2, nickname="Mar", group_greetings=("You two!",))
SMALL = Card(name="Mara")
LAMP = Entry(keys=("lamp",), content="It is old.", order=10)
BOOK = Book((LAMP,), name="Lighthouse", scan_depth=4, token_budget=300)


CARDS = {"v1": V1, "v2": V2, "v3": V3, "small": SMALL}


def card_of(like: str, notes: Sequence[str] = (), **fields: Any) -> tuple[Card, list[str]]:
    """A card as cards.toml has it, and its notes."""
    told: dict[str, Any] = {name: tuple(it) if isinstance(it, list) else it for name, it in fields.items()}
    if "lamp" in told:
        told["book"] = Book((entry_of(LAMP, told.pop("lamp")),))
    elif told.get("book") == "BOOK":
        told["book"] = BOOK
    elif "book" in told:
        entries = [entry_of(Entry(), each) for each in told["book"].pop("entries", [])]
        told["book"] = Book(tuple(entries), **told["book"])
    return replace(CARDS[like], **told), list(notes)


def entry_of(like: Entry, fields: dict[str, Any]) -> Entry:
    told: dict[str, Any] = {name: tuple(it) if isinstance(it, list) else it for name, it in fields.items()}
    return replace(like, **told)


TABLES = tomllib.loads(Path(__file__).with_name("cards.toml").read_text(encoding="utf-8"))
LARGE = {
    "greetings-201.json": (
        replace(SMALL, greetings=tuple(f"{number}." for number in range(200))),
        ["The card has more than 200 greetings, of which the rest is kept for export only."],
    ),
    "book-2001.json": (
        replace(SMALL, book=Book((Entry(content="x"),) * 2000)),
        ["The lorebook has more than 2,000 entries, of which the rest is kept for export only."],
    ),
    "keys-201.json": (
        replace(SMALL, book=Book((replace(LAMP, keys=tuple(f"k{number}" for number in range(200))),))),
        ["Keys beyond 200 of an entry, or longer than 500 characters, are kept for export only."],
    ),
}
IMPORTED = {file: card_of(**row) for file, row in TABLES["imported"].items()} | LARGE
REFUSED: dict[str, str] = TABLES["refused"]


def read(file: str) -> Card:
    path = make.FOLDER / file
    return read_card(path.read_bytes(), path.stem)


def data_of(card: Card) -> dict[str, Any]:
    """The fields of an exported card."""
    data: dict[str, Any] = json.loads(card_json(card))["data"]
    return data


def test_the_tables_tell_of_every_card_in_the_folder_once() -> None:
    files = {file.name for file in make.FOLDER.iterdir() if file.suffix != ".py" and file.is_file()}
    assert files == IMPORTED.keys() | REFUSED.keys()
    assert files >= make.fixtures().keys()
    assert IMPORTED.keys() & REFUSED.keys() == set()
    assert len(files) >= 60


@pytest.mark.parametrize("file", IMPORTED)
def test_a_card_is_imported_with_what_was_put_right_and_exported_as_it_is(file: str) -> None:
    card, notes = IMPORTED[file]
    found = read(file)
    assert found == card
    assert list(found.notes) == notes
    assert all(note.endswith(".") and ". " not in note for note in notes)
    again(found)
    value = json.loads(card_json(found))
    assert (value["spec"], value["spec_version"]) == ("chara_card_v3", "3.0")


def again(card: Card) -> None:
    """Export a card, in both ways, and import it as it was."""
    for exported in (card_json(card), into_png(card, make.png())):
        found = read_card(exported)
        assert (found, found.source) == (card, card.source)


@pytest.mark.parametrize("file", REFUSED)
def test_a_card_that_cannot_be_read_is_refused_in_one_sentence(file: str) -> None:
    with pytest.raises(CardError) as refused:
        read(file)
    assert str(refused.value) == REFUSED[file]
    assert REFUSED[file].endswith(".")
    assert ". " not in REFUSED[file]
    assert isinstance(refused.value, AgentError)


# -- what is kept -----------------------------------------------------------------------------------------------------


def test_unknown_fields_and_extensions_are_exported_as_they_came() -> None:
    value = json.loads(card_json(read("unknown-fields.json")))
    assert value["vendor"] == {"a": [1]}
    assert value["data"]["extensions"] == make.MORE["extensions"]
    assert value["data"]["creation_date"] == 7
    assert value["data"]["creator_notes_multilingual"] == {"de": "Langsam."}
    assert data_of(read("v3.json"))["assets"] == [{"type": "icon", "uri": "ccdefault:"}]
    assert json.loads(card_json(read("sillytavern.json")))["avatar"] == "none"


def test_what_is_beyond_the_bounds_and_what_is_ignored_is_exported_too() -> None:
    assert len(data_of(read("greetings-201.json"))["alternate_greetings"]) == 201
    assert len(data_of(read("book-2001.json"))["character_book"]["entries"]) == 2001
    (entry,) = data_of(read("entry-decorators.json"))["character_book"]["entries"]
    assert entry["content"].startswith("@@depth 4\n@@@instruct_depth 5\n")
    assert data_of(read("name-long.json"))["name"] == "Mara " * 40
    text = "x" * 100_001
    card = read_card(make.as_json(make.small(description=text)))
    assert (len(card.description), data_of(card)["description"]) == (100_000, text)


def test_a_lorebook_from_sillytavern_keeps_what_only_that_understands() -> None:
    lamp, sea = data_of(read("book-by-uid.json"))["character_book"]["entries"]
    assert (lamp["uid"], lamp["keys"], lamp["enabled"], lamp["position"]) == (0, ["lamp"], False, "before_char")
    assert (sea["depth"], sea["position"], sea["extensions"]) == (2, "after_char", {"position": 4})


def test_an_exported_card_has_every_field_that_readers_of_version_2_expect() -> None:
    data = data_of(read("v1.json"))
    texts = [name for name in (*make.TEXTS, *make.MORE) if name not in ("alternate_greetings", "tags", "extensions")]
    assert all(isinstance(data[name], str) for name in texts)
    assert (data["alternate_greetings"], data["tags"], data["extensions"]) == ([], [], {})
    assert data["group_only_greetings"] == []


def test_what_was_changed_since_is_exported_over_what_was_read_and_the_rest_is_kept() -> None:
    card = read("book.json")
    assert card.book is not None
    book = replace(card.book, scan_depth=None, entries=(*card.book.entries, Entry(keys=("sea",), content="Cold.")))
    changed = replace(card, name="Ada", nickname="A", greetings=("Hi.",), tags=(), description="New.", book=book)
    found = read_card(card_json(changed))
    assert found == changed
    assert data_of(found)["extensions"] == make.MORE["extensions"]
    without = replace(changed, book=None, greetings=(), nickname="")
    assert read_card(card_json(without)) == without


def test_an_entry_that_was_not_changed_keeps_its_decorators_when_another_is_added() -> None:
    card = read("entry-decorators.json")
    assert card.book is not None
    changed = replace(card, book=replace(card.book, entries=(Entry(content="New."), *card.book.entries)))
    new, old = data_of(changed)["character_book"]["entries"]
    assert new["content"] == "New."
    assert old["content"].startswith("@@depth 4")
    assert read_card(card_json(changed)) == changed


def test_a_card_that_was_never_read_can_be_exported() -> None:
    card = replace(V3, book=replace(BOOK, entries=(replace(LAMP, priority=3), Entry())))
    assert read_card(card_json(card)) == card


def test_a_card_without_a_name_is_called_after_its_file_and_refused_where_that_has_none() -> None:
    data = make.as_json(make.without("name", make.v2()))
    assert read_card(data, " Mara\x00 \n").name == "Mara"
    for stem in ("", " ", "\u200b"):
        with pytest.raises(CardError) as refused:
            read_card(data, stem)
        what = "give it one where it was made, or name its file after the character"
        assert str(refused.value) == f"The card has no name; nothing was imported; {what}."


# -- pictures ---------------------------------------------------------------------------------------------------------


def test_a_card_goes_into_a_picture_of_which_the_rest_stays_byte_for_byte() -> None:
    others = make.text(b"Software", b"GIMP")
    bare = make.HEAD + others + make.damaged(make.PIXELS) + make.PIXELS + make.END + b"left over"
    written = into_png(V3, bare)
    before, after = make.HEAD + others, make.damaged(make.PIXELS) + make.PIXELS + make.END + b"left over"
    assert written.startswith(before)
    assert written.endswith(after)
    chunks = list(card_png.chunks(written[: -len(after)].replace(others, b"")))
    assert [chunk.data.partition(b"\0")[0] for chunk in chunks[1:]] == [b"ccv3", b"chara"]
    assert not any(chunk.damaged for chunk in chunks)


def test_a_card_in_a_picture_takes_the_place_of_any_that_were_there() -> None:
    packed = make.chunk(b"zTXt", b"Chara\0\0" + zlib.compress(make.packed(make.v2())))
    written = into_png(V3, make.HEAD + make.CCV3 + packed + make.PIXELS + make.CHARA + make.END)
    assert written == into_png(V3, make.png())
    assert into_png(V1, written) == into_png(V1, make.png())


def test_readers_of_version_2_find_theirs_in_the_picture() -> None:
    texts = dict(card_png.texts_of(into_png(V3, make.png()), "chara", most=1 << 20).texts)
    value = json.loads(base64.b64decode(texts["chara"]))
    assert (value["spec"], value["spec_version"]) == ("chara_card_v2", "2.0")
    assert value["data"]["first_mes"] == "Who is there?"


def test_a_picture_that_is_not_whole_or_would_be_too_large_to_be_read_takes_no_card() -> None:
    large = make.HEAD + make.chunk(b"IDAT", bytes(20 << 20)) + make.END
    broken = (b"", b"GIF89a", make.HEAD, make.png()[:-3], make.SIGNATURE + make.END)
    for picture, why in [(large, "larger than 20 MB"), *((each, "not a whole PNG") for each in broken)]:
        with pytest.raises(CardError, match=rf"^The picture is {why}; the card was not written; choose .*\.$"):
            into_png(V3, picture)


# -- bounds -----------------------------------------------------------------------------------------------------------


LIMIT = 2 << 20  # bytes of JSON


def many_files() -> bytes:
    file = BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for number in range(10_001):
            archive.writestr(zipfile.ZipInfo(str(number)), b"")
    return file.getvalue()


def nested(depth: int) -> dict[str, Any]:
    return {"name": "Mara", "description": "A keeper.", "more": json.loads("[" * depth + "]" * depth)}


NESTED = "The card's JSON cannot be read (values nested too deeply);"
BOUNDS: dict[str, tuple[Callable[[], bytes], str]] = {
    "a file of 20 MB": (lambda: bytes((20 << 20) + 1), "The file is larger than 20 MB;"),
    "a text of 2 MB": (lambda: make.as_json(make.small(description="x" * LIMIT)), "The card is longer than 2 MB "),
    "a text that is 2 MB with all its fields": (
        lambda: make.as_json({"name": "Mara", "description": "x" * (LIMIT - 50)}),
        "The card is longer than 2 MB ",
    ),
    "a million brackets": (lambda: b"[" * 1_000_000, NESTED),
    "300,000 objects in objects": (lambda: b'{"a":' * 300_000, NESTED),
    "a deep card in a text": (
        lambda: make.as_json({"spec": "chara_card_v2", "data": json.dumps(nested(63))}),
        "The card's values are nested too deeply;",
    ),
    "a zip of 10,001 files": (many_files, "The CHARX file holds more than 10,000 files;"),
    "a zip that unpacks to 50 MB": (
        lambda: make.zipped({"card.json": bytes(50 << 20)}),
        "The card is longer than 2 MB ",
    ),
    "a picture of 100,000 chunks": (
        lambda: make.HEAD + make.chunk(b"tIME", b"") * 100_000 + make.CHARA + make.END,
        "The picture is cut off or damaged, and no card in it is whole;",
    ),
    "a picture that unpacks to 50 MB": (
        lambda: make.png(make.chunk(b"zTXt", b"chara\0\0" + zlib.compress(bytes(50 << 20)))),
        "The card is longer than 2 MB ",
    ),
    "a picture with a thousand bombs": (
        lambda: make.png(*[make.chunk(b"zTXt", b"chara\0\0" + make.BOMB)] * 1_000),
        "The card is longer than 2 MB ",
    ),
    "a picture with a thousand broken cards": (
        lambda: make.png(*[make.text(b"chara", b"e30=")] * 1_000),
        "The file holds no character card;",
    ),
}


@pytest.mark.parametrize("what", BOUNDS)
def test_what_is_too_large_too_deep_or_too_many_is_refused(what: str) -> None:
    file, begins = BOUNDS[what]
    with pytest.raises(CardError) as refused:
        read_card(file())
    assert str(refused.value).startswith(begins)
    assert "nothing was imported" in str(refused.value)


def test_as_deep_as_is_allowed_and_half_a_million_entries_up_to_the_bound_are_imported_and_exported() -> None:
    card = read_card(make.as_json(nested(62)))
    assert read_card(card_json(card)).source == card.source
    with pytest.raises(CardError):
        read_card(make.as_json(nested(63)))
    value = make.small(character_book={"entries": [{}] * few(500_000)})
    card = read_card(json.dumps(value, separators=(",", ":")).encode())
    assert card.book is not None
    assert len(card.book.entries) == 2_000
    assert read_card(card_json(card)).source == card.source


# -- macros -----------------------------------------------------------------------------------------------------------


def test_names_are_filled_in_and_comments_go() -> None:
    for text, shown in TABLES["filled"]:
        assert filled(text, char="Mara", user="Ann", original="Be kind.") == shown, text
    as_it_is = filled("{{user}} {{original}}", char="{{user}}", user="{{char}}\\1")
    assert as_it_is == "{{char}}\\1 {{original}}", "without an original its place stays"


def test_choices_and_dice_are_drawn_among_what_there_is() -> None:
    rng = random.Random(1)
    for text, results in TABLES["drawn"]:
        assert {drawn(text, rng) for _ in range(60)} == set(results), text


def test_the_same_seed_draws_the_same_a_thousand_times_at_most() -> None:
    text = "{{random:a,b,c}} {{roll:3d6}} {{pick:a,b,c}}"
    assert drawn(text, random.Random(7)) == drawn(text, random.Random(7))
    assert drawn("{{roll:d1}}" * 1_200, random.Random(1)) == "1" * 1_000 + "{{roll:d1}}" * 200


MUCH = few(100_000)
HOSTILE = [
    *("{" * 10 * MUCH, "}" * 10 * MUCH, "<" * 10 * MUCH, "{{random:" * MUCH, "{{//" * 2 * MUCH, "{{ " * 3 * MUCH),
    *("{{// {{a}} " * MUCH, "{{// " + "{{a}} " * MUCH, "{{roll:100d9}}" * MUCH, "{{random:a,b}}" * MUCH),
    *("{{" * 3 * MUCH + "}}" * 3 * MUCH, "{{random:" * MUCH + "a,b" + "}}" * MUCH, "{{random:a" + "{{b}}" * 2 * MUCH),
    *("{{" + " " * 10 * MUCH, "{{random:" + "," * 10 * MUCH + "}}", "{{roll:" + "9" * 10 * MUCH + "}}"),
]


@pytest.mark.parametrize("text", HOSTILE, ids=range(16))
def test_hostile_macros_come_to_an_end_and_never_grow(text: str) -> None:
    assert len(drawn(text, random.Random(1))) <= len(text)
    assert len(filled(text, char="M", user="A")) <= len(text)


# -- anything at all --------------------------------------------------------------------------------------------------

WORDS = st.text(max_size=12) | st.sampled_from(["{{char}}", "@@depth 4\nx", "a, b", "{}", "null", "\ud800", "\r\0"])
LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | WORDS
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3), max_leaves=8
)
ENTRY_NAMES = st.sampled_from([*make.ENTRY, "key", "disable", "position", "secondary_keys", "selective", "constant"])
BOOK_NAMES = st.sampled_from(["name", "description", "scan_depth", "token_budget", "recursive_scanning", "extensions"])
NAMES = st.sampled_from([*make.TEXTS, *make.MORE, "nickname", "group_only_greetings", "char_name", "data", "x"])


def some(names: st.SearchStrategy[str], **fields: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """An object with anything in the fields it should have."""
    return st.builds(
        lambda loose, fixed: {**loose, **fixed},
        st.dictionaries(names, VALUES, max_size=6),
        st.fixed_dictionaries({}, optional=fields),
    )


ENTRIES = st.lists(some(ENTRY_NAMES) | VALUES, max_size=3) | st.dictionaries(WORDS, some(ENTRY_NAMES), max_size=3)
BOOKS = some(BOOK_NAMES, entries=ENTRIES) | VALUES
DATA = some(NAMES, character_book=BOOKS, extensions=st.fixed_dictionaries({"character_book": BOOKS}), name=WORDS)
OF_CARDS = some(NAMES, data=DATA | DATA.map(json.dumps), spec=VALUES | st.just("chara_card_v2"), character_book=BOOKS)


def imported(data: bytes) -> Card | None:
    """The card, None where it was refused; nothing else may happen, and what is exported must be the same again."""
    try:
        card = read_card(data, "stem")
    except CardError as error:
        refused = str(error)
    else:
        assert card.name
        again(card)
        assert json.dumps([card.name, card.notes, card.source], ensure_ascii=False).encode()
        return card
    assert refused.count("; nothing was imported; ") == 1
    return None


@examples(300)
@given(VALUES | DATA | OF_CARDS)
def test_any_json_is_imported_or_refused_and_exported_as_it_was(value: Any) -> None:
    imported(json.dumps(value).encode())


@examples(200)
@given(OF_CARDS, WORDS, st.lists(WORDS))
def test_a_card_that_says_something_is_always_imported(card: dict[str, Any], words: str, greetings: list[str]) -> None:
    said = {"description": f"A keeper. {words}", "alternate_greetings": greetings}
    found = imported(json.dumps({**card, "spec": "chara_card_v2", "data": {**make.TEXTS, **said}}).encode())
    assert found is not None
    assert found.description.startswith("A keeper.")


STARTS = st.sampled_from(
    [b"", make.SIGNATURE, make.HEAD, b"PK\3\4", b"\xff\xd8\xff", b"{", b"\xff\xfe", b"\xef\xbb\xbf["]
)


@examples(300)
@given(STARTS, st.binary(max_size=200))
def test_any_bytes_are_imported_or_refused(start: bytes, rest: bytes) -> None:
    imported(start + rest)


@examples(600)
@given(
    st.sampled_from([make.png(make.CHARA), make.PNG["itxt-packed"], make.FULL, make.STORED, make.BYTES["bom.json"]]),
    st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.integers(0, 255)), max_size=4),
    st.floats(0, 1),
)
def test_damaged_files_are_imported_or_refused(data: bytes, changes: list[tuple[float, int]], length: float) -> None:
    file = bytearray(data)
    for at, byte in changes:
        file[int(at * len(file))] = byte
    imported(bytes(file[: round(length * len(file))] if changes and changes[0][1] % 2 else file))


TEXT = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=30)
SAID = TEXT.filter(lambda text: bool(text.strip()))
NAME = st.from_regex(r"[A-Za-zÀ-ž]{1,9}( [A-Za-z]{1,9})?", fullmatch=True)
NUMBERS = st.none() | st.integers(0, 1_000_000)
BUILT_ENTRIES = st.builds(
    Entry,
    keys=st.lists(SAID.map(str.strip), max_size=3).map(tuple),
    content=TEXT.filter(lambda text: "@@" not in text),
    secondary=st.lists(SAID.map(str.strip), max_size=2).map(tuple),
    order=st.integers(-1000, 1000),
    priority=st.none() | st.integers(-1000, 1000),
    name=TEXT,
    comment=TEXT,
)
BUILT_BOOKS = st.builds(
    Book, st.lists(BUILT_ENTRIES, max_size=3).map(tuple), name=TEXT, scan_depth=NUMBERS, token_budget=NUMBERS
)
SEVERAL = st.lists(SAID.map(str.strip), max_size=3).map(tuple)
BUILT = st.builds(
    Card,
    name=NAME,
    nickname=st.just("") | NAME,
    **dict.fromkeys(("description", "personality", "scenario", "examples", "system_prompt", "post_history"), TEXT),
    **dict.fromkeys(("creator_notes", "creator", "version"), TEXT),
    **dict.fromkeys(("greetings", "group_greetings", "tags"), SEVERAL),
    book=st.none() | BUILT_BOOKS,
    notes=st.just(()),
    source=st.just("") | st.sampled_from(sorted(IMPORTED)).map(lambda file: read(file).source),
)


@examples(300)
@given(BUILT)
def test_a_card_that_was_built_is_imported_as_it_was_exported(card: Card) -> None:
    assert read_card(card_json(card)) == card
    assert read_card(into_png(card, make.png())) == card


@examples(200)
@given(st.lists(st.sampled_from([*"{}:,/ ad2", "{{", "}}", "random:", "roll:", "pick::", "//", "char"]), max_size=40))
def test_macros_of_any_shape_end_and_what_has_none_stays(parts: list[str]) -> None:
    text = "".join(parts)
    result = drawn(text, random.Random(1))
    assert len(result) <= len(text)
    if "{{" not in text:
        assert result == text == filled(text, char="M", user="A")
