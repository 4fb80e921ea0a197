"""What people and programs touch is as it was recorded, and a home of the version before is read as it was."""

import json
from pathlib import Path

import pytest

from tests.contract.comparing import RECORDED, check, differences
from tests.contract.prepared import unpack
from tests.contract.programs import shape
from tests.contract.recordings import OF_HOME, PLAIN

SLOW = {"home.txt": pytest.mark.restarts, "json_keys.json": pytest.mark.process}
PLACES = ("/home/", "/root/", "/Users/", "/dev/shm/")  # of a machine


@pytest.mark.parametrize("name", PLAIN)
def test_what_people_and_programs_touch_is_as_it_was_recorded(name: str) -> None:
    check(name, PLAIN[name]())


@pytest.mark.parametrize("name", [pytest.param(name, marks=SLOW.get(name, ())) for name in OF_HOME])
def test_a_home_of_the_version_before_tells_people_and_programs_what_it_did(name: str, tmp_path: Path) -> None:
    check(name, OF_HOME[name](unpack(tmp_path)))


def test_every_file_that_is_recorded_is_compared() -> None:
    assert {path.name for path in RECORDED.iterdir()} == {*PLAIN, *OF_HOME}


@pytest.mark.parametrize("name", [*PLAIN, *OF_HOME])
def test_a_recording_knows_nothing_of_the_machine_that_made_it(name: str) -> None:
    text = (RECORDED / name).read_text(encoding="utf-8")
    assert [place for place in PLACES if place in text] == []


def test_every_command_that_tells_json_is_asked_for_it() -> None:
    known = json.loads((RECORDED / "commands.json").read_text(encoding="utf-8"))["commands"]
    tell = {name for name, told in known.items() if "--json" in told}
    asked = json.loads((RECORDED / "json_keys.json").read_text(encoding="utf-8"))
    assert {name for name in tell if not any(line.startswith(f"{name} ") for line in asked)} == set()


def test_a_difference_is_told_entry_by_entry(tmp_path: Path) -> None:
    (tmp_path / "some.json").write_text('{"ask": {"--json": {"default": false}, "--yes": {"flags": ["-y"]}}}\n')
    with pytest.raises(AssertionError) as told:
        check("some.json", {"ask": {"--json": {"default": True}, "--all": {"flags": ["-a"]}}}, tmp_path)
    assert str(told.value).splitlines()[:4] == [
        "some.json is not as it was recorded:",
        '  added    ask › --all › flags: ["-a"]',
        '  removed  ask › --yes › flags: ["-y"]',
        "  changed  ask › --json › default: false → true",
    ]
    assert "python -m tests.contract.record" in str(told.value)
    assert "CHANGELOG.md" in str(told.value)


def test_a_text_that_differs_is_told_line_by_line() -> None:
    assert differences("home.txt", "one\ntwo\n", "one\nthree\n")[-2:] == ["  -two", "  +three"]


def test_a_recording_that_is_missing_is_a_difference(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="not as it was recorded"):
        check("none.json", {}, tmp_path)


def test_a_shape_has_keys_and_types_and_no_values() -> None:
    assert shape([{"a": 1, "b": None}, {"a": 2, "b": "x", "c": [True]}]) == [
        {"a": "int", "b": "null or str", "c?": ["bool"]}
    ]
    assert shape({"ranks": {"lexical": 1, "graph": 2}, "items": []}) == {"items": [], "ranks": {"*": "int"}}
    assert shape([None, {"a": 1.5}]) == [{"either": [{"a": "float"}, "null"]}]
