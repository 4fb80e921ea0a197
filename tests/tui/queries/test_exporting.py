"""Rows as files: whole or not at all, for their owner alone, and what is wrong is said before anything is lost."""

import csv
import json
import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from graph.console.console import Answer
from tui.files import ExportFailed, write
from tui.queries.export import as_json, left_out, target_of, unique, write_rows, written

ANSWER = Answer(
    ("t.text", "n", "n"),
    (('a, "b"\nc', 1, None), ("\x1b[31mred", {"x": [1, "é"]}, 1.5), ("x" * 100_000, True, "∅")),
    3,
    1.0,
)


def test_csv_holds_every_row(tmp_path: Path) -> None:
    target = target_of("answer.csv", tmp_path)
    write_rows(target, ANSWER)
    rows = list(csv.reader(target.path.read_text(encoding="utf-8").splitlines(keepends=True)))
    assert rows[0] == ["t.text", "n", "n"]
    assert rows[1] == ['a, "b"\nc', "1", ""]
    assert rows[2] == ["␛[31mred", '{"x": [1, "é"]}', "1.5"]
    assert rows[3][0] == "x" * 100_000
    assert stat.S_IMODE(target.path.stat().st_mode) == 0o600


def test_json_holds_every_row_and_tells_equal_names_apart(tmp_path: Path) -> None:
    target = target_of("answer.json", tmp_path)
    write_rows(target, ANSWER)
    rows = json.loads(target.path.read_text(encoding="utf-8"))
    assert rows[0] == {"t.text": 'a, "b"\nc', "n": 1, "n_2": None}
    assert rows[1]["n"] == {"x": [1, "é"]}
    assert json.loads("".join(as_json(Answer(("a",), (), 0, 1.0)))) == []
    assert unique(("a", "a", "a_2", "a")) == ["a", "a_2", "a_2_2", "a_3"]


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("", "Enter a file name"),
        ("answer.txt", "The file name must end in"),
        ("nowhere/answer.csv", "There is no folder"),
        ("folder.csv", "is a folder"),
        ("a\0b.csv", "That is not a valid file name"),
        ("~nobody-is-called-so/a.csv", "There is no folder"),
        (f"{'x' * 300}.csv", "File name too long"),
    ],
)
def test_what_cannot_be_written_is_said(tmp_path: Path, said: str, why: str) -> None:
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(ExportFailed, match=why):
        target_of(said, tmp_path)


def test_a_file_that_is_there_is_told(tmp_path: Path) -> None:
    (tmp_path / "answer.csv").write_text("mine", encoding="utf-8")
    assert target_of("answer.csv", tmp_path).exists
    assert not target_of("other.CSV", tmp_path).exists


def test_a_failed_write_leaves_what_was_there_and_nothing_beside(tmp_path: Path) -> None:
    path = tmp_path / "answer.csv"
    path.write_text("mine", encoding="utf-8")

    def breaking() -> Iterator[bytes]:
        yield b"half"
        raise OSError(28, os.strerror(28))

    with pytest.raises(ExportFailed, match="No space left"):
        write(path, breaking())
    assert path.read_text(encoding="utf-8") == "mine"
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_that_has_gone_is_said(tmp_path: Path) -> None:
    inside = tmp_path / "gone"  # since it was looked at
    with pytest.raises(ExportFailed, match="was not written: No such file"):
        write(inside / "answer.csv", iter([b"x"]))


async def test_what_is_left_out_is_never_silent(tmp_path: Path) -> None:
    target = target_of("answer.csv", tmp_path)
    assert await written(target, ANSWER) == f"3 rows in {target.path} (100 KB)"
    assert "the first ones of 12 340 rows" in left_out(Answer(("a",), ((1,),), 12_340, 1.0, "rows"))
    assert "too large" in left_out(Answer(("a",), ((1,),), None, 1.0, "bytes"))
