"""`clew import`: what it says, its exit codes, and that it embeds."""

import json
from pathlib import Path

import pytest

from agent.home import Home
from graph.reader import LogReader
from tests.tui.commands.conftest import Clew, held, refused
from tui.exit_codes import ExitCode

LINES: list[dict[str, object]] = [
    {"role": "user", "text": "Where do limpets go at low tide?", "time": 1700000000},
    {"role": "assistant", "text": "They clamp down on their home scar.", "time": "2023-11-14T22:14:00"},
    {"role": "system", "text": "Be brief."},
]
OTHERS = [line | {"text": f"{line['text']} Why?"} for line in LINES[:2]]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "chat.jsonl"
    path.write_text("\n".join(map(json.dumps, LINES)))
    return path


def test_it_says_what_came_and_what_did_not(clew: Clew, file: Path) -> None:
    ended = clew("import", str(file), "--no-embed")
    assert (ended.code, ended.err) == (ExitCode.OK, "")
    assert ended.out.splitlines() == [
        "Imported 2 messages in 1 chat (JSON Lines).",
        "Left out: 1 of the system.",
        "1 time without an offset taken as UTC.",
    ]
    again = clew("import", str(file), "--no-embed", "--json")
    assert again.json == {
        "file": str(file),
        "format": "JSON Lines",
        "chats": {"new": 0, "continued": 0, "known": 1, "archived": 0},
        "messages": {"new": 0, "known": 2, "gone": 0, "differing": 0, "skipped": {"of the system": 1}, "odd": []},
        "times": {"future": 0, "without_offset": 1},
        "broken_lines": {"count": 0, "first": []},
    }


def test_it_reads_a_pipe_and_lists_broken_lines_and_the_exit_code_says_so(clew: Clew, file: Path, home: Path) -> None:
    ended = clew("import", "-", "--no-embed", "--json", stdin=file.read_bytes())
    assert (ended.json["file"], ended.json["messages"]["new"]) == ("-", 2)
    assert [each.name for each in (home / "cache").iterdir() if each.name != "native.log"] == []
    assert "standard input is empty" in clew("import", "-").err
    broken = "\n".join(map(json.dumps, OTHERS)) + "\n{broken" * 7
    ended = clew("import", "-", "--no-embed", stdin=broken.encode())
    assert ended.code == ExitCode.BAD_DATA
    assert "7 lines broken, left out (line 3: Expecting" in ended.out
    assert "; and 2 more)." in ended.out
    assert ended.out.startswith("Imported 2 messages")


def test_a_file_that_is_none_changes_nothing(clew: Clew, tmp_path: Path, file: Path) -> None:
    broken = tmp_path / "broken.json"
    broken.write_text('[{"chat_messages": []},\n{"chat_messages": ]')
    for path, code, says in (
        (tmp_path / "gone.json", ExitCode.NOT_FOUND, "File not found"),
        (tmp_path, ExitCode.BAD_DATA, "is a folder"),
        (broken, ExitCode.BAD_DATA, "not valid at line 2, column 19"),
    ):
        ended = clew("import", str(path))
        assert (ended.code, ended.out) == (code, "")
        assert says in ended.err
        assert "Nothing was imported." in ended.err
    reader = LogReader.open(Home.resolve().memory)
    assert reader.counts()["events"] == 0
    reader.close()


def test_the_import_waits_for_its_turn_and_stands_without_the_embedder_and_says_how_to_get_it(
    clew: Clew, file: Path, home: Path
) -> None:
    home.mkdir()
    with held(home):
        refused(clew, (("import", str(file)), ExitCode.HELD, "clew (chat)"))
    ended = clew("import", str(file))
    assert ended.code == ExitCode.OK
    assert "clew models pull minilm-l6" in ended.err
    assert "Imported 2 messages" in ended.out


def test_what_is_imported_is_embedded_with_the_real_embedder(answering: Clew, file: Path, home: Path) -> None:
    ended = answering("import", str(file))
    assert (ended.code, ended.out.splitlines()[0]) == (0, "Imported 2 messages in 1 chat (JSON Lines).")
    with held(home) as memory:
        [(key, dimension, count)] = memory.readings.embedders()
    assert key.startswith("minilm-l6@")
    assert (dimension, count) == (384, 2)


def test_one_message_is_said_as_one_and_other_words_under_a_known_id_are_told(clew: Clew, file: Path) -> None:
    file.write_text(json.dumps({"role": "user", "text": "apples", "session": "1", "id": "1"}))
    clew("import", str(file), "--no-embed")
    assert "1 message was there already." in clew("import", str(file), "--no-embed").out.splitlines()
    file.write_text(json.dumps({"role": "user", "text": "trams", "session": "1", "id": "1"}))
    ended = clew("import", str(file), "--no-embed")
    assert ended.code == ExitCode.BAD_DATA
    assert "1 message has the same id as one imported before but other words: it is kept beside" in ended.out
    assert clew("import", str(file), "--no-embed").code == ExitCode.OK


def test_an_export_that_was_cut_off_is_told_and_so_are_archived_chats(clew: Clew, file: Path, tmp_path: Path) -> None:
    clew("import", str(file), "--no-embed")
    lines = clew("export").out.splitlines(keepends=True)
    cut = tmp_path / "cut.jsonl"
    cut.write_text("".join(lines[:-1]))
    ended = clew("import", str(cut), "--no-embed")
    assert ended.code == ExitCode.BAD_DATA
    assert f"1 of the {len(lines) - 1} events that the file should have are not in it" in ended.out
    as_json = clew("import", str(cut), "--no-embed", "--json")
    assert (as_json.code, as_json.json["events"]["missing"]) == (ExitCode.BAD_DATA, 1)
    cut.write_text("".join(lines))
    assert clew("import", str(cut), "--no-embed").code == ExitCode.OK

    asked = {"message": {"id": "q", "author": {"role": "user"}, "content": {"parts": ["Why tides?"]}}}
    archived = tmp_path / "conversations.json"
    archived.write_text(json.dumps([{"conversation_id": "c", "is_archived": True, "mapping": {"q": asked}}]))
    ended = clew("import", str(archived), "--no-embed")
    assert ended.out.splitlines()[1] == "1 of the chats is archived, as it was there."
    assert "Why tides?" not in clew("sessions").out
