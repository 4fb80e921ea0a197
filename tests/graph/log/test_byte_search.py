"""Words are found in any file, in every form, quotations in any spelling, and nothing that is not there is found."""

import errno
import os
import random
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from graph.log.byte_search import CHUNK, Finder, forms_of, kept_of, look, look_into, shared, words_in
from graph.memory import Memory
from tests.graph.deeds import delete
from tests.graph.talk import said, talk
from tests.tables import each

HELD = (
    *("a Xylophone here", "aXYLOPHONEb", "the xylophon, stemmed", "Ärger", "ÄRGER", "arger", "кошка", "КОШКА"),
    *('{"text": "\\u00c4rger"}', '{"text": "\\u00E4RGER"}'),
)


def test_a_word_is_found_in_each_of_its_forms_also_across_two_pieces_of_a_large_file(tmp_path: Path) -> None:
    words = forms_of(["Xylophone", "Ärger", "Кошка", "elsewhere"])

    def is_found(held: str) -> None:
        (tmp_path / "file").write_bytes(b"\x00\xff" + held.encode() + b"\x00")
        found = look_into(tmp_path / "file", words)
        assert len(found) == 1
        assert found < set(words)

    each(HELD, is_found)
    (tmp_path / "large").write_bytes(b" " * (CHUNK - 4) + b"Xylophone" + b" " * CHUNK)
    assert look_into(tmp_path / "large", forms_of(["xylophone"])) == {"xylophone"}


def test_what_is_found_in_random_bytes_is_what_is_there(tmp_path: Path) -> None:
    source = random.Random(5)
    words = ["".join(source.choices("abc", k=source.randint(1, 9))) for _ in range(60)]
    for _ in range(50):
        data = bytes(source.choices(b"abcABC", k=400))
        chunks = [data[at : at + 7] for at in range(0, len(data), 7)]
        forms = [word.encode() for word in words]
        assert Finder(forms).find(chunks) == {form for form in forms if form in data.lower()}


def test_short_words_are_left_out_unless_they_are_asked_for() -> None:
    assert words_in(["Two_words, 4711: ab-cd!"]) == {"Two", "words", "4711", "ab", "cd"}
    assert set(forms_of(["4711", "ab", "words"])) == {"words"}
    assert set(forms_of(["4711", "ab"], least=1)) == {"4711", "ab"}


def test_every_file_below_a_folder_is_looked_into_but_links_and_what_is_left_out(tmp_path: Path) -> None:
    for name in ("a", "b/c", "out/d"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("Xylophone")
    (tmp_path / "link").symlink_to(tmp_path / "a")
    found = list(look(tmp_path, forms_of(["Xylophone"]), leave_out=[tmp_path / "out"]))
    assert found == [(tmp_path / "a", {"Xylophone"}), (tmp_path / "b/c", {"Xylophone"})]


def test_what_cannot_be_looked_into_is_not_called_clean(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home, away = tmp_path / "home", tmp_path / "away"
    for folder in (home / "backups", home / "closed", away):
        folder.mkdir(parents=True)
        (folder / "a").write_text("Xylophone")
    (home / "elsewhere").symlink_to(away)
    (home / "there").symlink_to(away / "a")
    scandir = os.scandir

    def closed(path: str | int) -> object:  # a descriptor, where what is left of the test is removed
        if not isinstance(path, int) and Path(path).name == "closed":
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", closed)
    found = dict(look(home, forms_of(["Xylophone"])))
    assert found.pop(home / "backups/a") == {"Xylophone"}
    assert found == dict.fromkeys([home / "elsewhere", home / "there", home / "closed"])


def test_the_words_of_an_index_are_found_though_it_shortens_them(memory: Memory, folder: Path, tmp_path: Path) -> None:
    talk(memory, 1)
    memory.append(said("t", text="xylophonea xylophoneb xylophonec"))
    memory.append(delete("t"))
    with closing(sqlite3.connect(tmp_path / "log.sqlite")) as copy:
        with closing(sqlite3.connect(folder / "log.sqlite")) as db:
            db.backup(copy)
        copy.execute("DELETE FROM purging")
        copy.execute("INSERT INTO words (rowid, text) VALUES (99, 'xylophonea xylophoneb')")
        copy.commit()
        copy.execute("VACUUM")
    assert look_into(tmp_path / "log.sqlite", forms_of(["xylophoneb"])) == {"xylophoneb"}
    assert look_into(tmp_path / "log.sqlite", forms_of(["xylophonq"])) == set()


ERASED = "Along the garboard plank, port side. Mara thinks the planks\nonly need to take up water."


PIECES = (
    *("planks only need to take up", "GARBOARD   Plank\n\tPORT", "(?i).*garboard.*plank.*", "garboard plan"),
    *("a note: the Garbóard-plank it was", "need_to_take_up"),
)
NO_PIECES = ("", "plank", "the planks", "Mara only", "water side port plank", "take  up")


def test_a_piece_is_found_in_any_case_and_spacing_but_nothing_short_or_otherwise_put_together() -> None:
    found = shared([*PIECES, *NO_PIECES, "a harmless one"], ["x", ERASED])
    assert set(found) == set(PIECES)
    assert shared(["so I am at a"], ["I am at a."]) == {"so I am at a": {" i am at a "}}, "four short words are one"
    assert shared(["I am at", "I am at b"], ["I am at a."]) == {}
    assert shared(["plank port"], ["the garboard plank", "port side"]) == {}, "none goes from one text to the next"


def test_halves_that_are_kept_do_not_make_the_whole_one_kept() -> None:
    (pieces,) = shared(["planks only need to take up water"], [ERASED]).values()
    assert kept_of(pieces, ["The planks only need to", "only need to take up water"]) == set()
    assert kept_of(pieces, ["So the PLANKS, only, need to take-up water!"]) == pieces
