"""`clew backup`, `restore` and `export`: what they say, what they leave behind, and beside whom they work."""

import json
import sqlite3
import subprocess
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from agent.home import Home
from graph.events import SessionRenamed, TurnDeleted
from graph.sqlite import LOG
from graph.transfer.backup import backups_of
from tests.tui.commands.conftest import Clew, Record, Remember, held, refused
from tui.exit_codes import ExitCode


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "backup.sqlite"


def said_now() -> list[str | None]:
    with held(Home.resolve().root) as memory:
        return [turn.text for session in memory.readings.sessions() for turn in memory.readings.thread(session.id)]


def test_a_backup_is_made_beside_a_clew_and_listed(clew: Clew, remember: Remember, file: Path, home: Path) -> None:
    remember("Where do limpets go?")
    with held(home):
        ended = clew("backup", str(file))
        by_itself = clew("backup", "--json")
    assert (ended.code, ended.out) == (ExitCode.OK, f"{file}\n")
    assert ended.err.startswith("Copied 2 messages in 1 chat, ")
    assert (by_itself.json["turns"], by_itself.json["events"]) == (2, 3)
    assert Path(by_itself.json["file"]).parent == backups_of(Home.resolve().memory)
    listed = clew("backup", "--list", "--json").json
    assert {each["file"] for each in listed} == {str(file), by_itself.json["file"]}
    assert not any(each["automatic"] for each in listed)
    assert str(file) in clew("backup", "--list").out


def test_a_target_that_is_none_is_told_of_and_left(clew: Clew, remember: Remember, file: Path, tmp_path: Path) -> None:
    assert clew("backup", "--list", "--json").json == []
    remember("Where do limpets go?")
    file.write_text("mine")
    refused(
        clew,
        (("backup", str(file)), ExitCode.IO_ERROR, "--force"),
        (("backup", str(tmp_path)), ExitCode.IO_ERROR, ""),
        (("backup", str(Home.resolve().memory / LOG), "--force"), ExitCode.IO_ERROR, ""),
        (("backup", "/dev/null", "--force"), ExitCode.IO_ERROR, "not a regular file"),
    )
    assert file.read_text() == "mine"
    assert clew("backup", str(file), "--force").code == ExitCode.OK


@pytest.mark.restarts
def test_a_restore_shows_asks_and_keeps_what_was(clew: Clew, remember: Remember, record: Record, file: Path) -> None:
    first = remember("the first one")
    clew("backup", str(file))
    remember("the second one")
    record(TurnDeleted(turn=first.turn))
    home = Home.resolve()
    home.states.mkdir(parents=True)
    (home.states / "01ABC-model.kv").write_bytes(b"of a chat that may not be")
    shown = clew("restore", str(file))
    assert shown.code == ExitCode.FAILED
    assert "2 fewer messages, 1 fewer chat, 3 fewer events" in shown.out
    assert "What was deleted since stays deleted (1 deletion repeated)." in shown.out
    assert "Nothing was restored. Use --yes to restore it." in shown.err
    assert "the second one" in said_now()
    ended = clew("restore", str(file), "--yes", "--json")
    assert ended.code == ExitCode.OK
    assert (ended.json["restored"], ended.json["erased_again"], ended.json["another_memory"]) == (True, 1, False)
    assert "the second one" not in said_now()
    assert "the first one" not in said_now()
    assert not list(home.states.glob("*"))
    kept = Path(ended.json["kept"])
    assert kept.name.startswith("before-restore-")
    assert clew("restore", str(kept), "--yes").code == ExitCode.OK
    assert "the second one" in said_now()
    assert clew("doctor", "--no-model").out.count("WRONG") == clew("doctor", "--no-model").out.count("WRONG model")


def test_a_file_that_is_no_backup_is_refused_and_any_while_another_clew_has_the_memory(
    clew: Clew, remember: Remember, file: Path, tmp_path: Path, home: Path
) -> None:
    remember("Where do limpets go?")
    clew("backup", str(file))
    whole = file.read_bytes()
    cut = tmp_path / "cut.sqlite"
    cut.write_bytes(whole[: len(whole) // 2])
    newer = tmp_path / "newer.sqlite"
    newer.write_bytes(whole)
    with closing(sqlite3.connect(newer)) as db:
        db.execute("PRAGMA user_version = 99")
        db.commit()
    for path, code, says in (
        (cut, ExitCode.BAD_DATA, "cut short"),
        (newer, ExitCode.BAD_DATA, "newer clew"),
        (tmp_path / "none", ExitCode.NOT_FOUND, "File not found"),
    ):
        ended = clew("restore", str(path), "--yes")
        assert (ended.code, ended.out) == (code, "")
        assert says in ended.err
        assert "Nothing was changed" in ended.err
    with held(home):
        refused(clew, (("restore", str(file), "--yes"), ExitCode.HELD, "clew (chat)"))
    assert "Where do limpets go?" in said_now()


def test_an_export_goes_to_another_and_back(clew: Clew, remember: Remember, record: Record, tmp_path: Path) -> None:
    said = remember("Where do limpets go?", "Home.")
    record(SessionRenamed(session=said.session, text="Limpets"))
    out = tmp_path / "all.jsonl"
    assert clew("export", "-o", str(out)).code == ExitCode.OK
    assert clew("export").out.splitlines()[1:] == clew("export", "--all", "--format", "jsonl").out.splitlines()[1:]
    kinds = [json.loads(line).get("kind") for line in out.read_text().splitlines()]
    assert kinds[1:3] == ["session.started", "turn.said"]
    other = ("--home", str(tmp_path / "other"))
    ended = clew("import", str(out), "--no-embed", *other)
    assert (ended.code, ended.err) == (ExitCode.OK, "")
    found = ended.out.splitlines()
    assert found == ["Imported 2 messages in 1 chat (clew's export).", "4 events in all; 0 known before."]
    again = clew("import", str(out), "--no-embed", "--json", *other).json
    assert (again["messages"]["new"], again["events"]["known"], again["events"]["refused"]) == (0, 4, {})
    page = clew("export", "--session", said.session[:20], "--format", "markdown", *other).out
    assert page.startswith("# Limpets\n")
    assert "Where do limpets go?" in page


def test_what_the_import_cannot_take_is_told_and_an_export_is_no_way_to_overwrite_something(
    clew: Clew, remember: Remember, tmp_path: Path, home: Path
) -> None:
    said = remember("Where do limpets go?", title="Limpets")
    out = tmp_path / "all.jsonl"
    clew("export", "-o", str(out))
    lines = out.read_text().splitlines()
    out.write_text("\n".join([*lines[:2], "{broken", *lines[3:]]))
    ended = clew("import", str(out), "--no-embed", "--home", str(tmp_path / "other"))
    assert ended.code == ExitCode.BAD_DATA
    assert "1 line broken, left out (line 3: Expecting" in ended.out
    assert "1 event could not be imported (line 5: there is no turn or chunk" in ended.out

    before, here = out.read_text(), ("--home", str(home))
    assert clew("export", "-o", str(out), *here).code == ExitCode.IO_ERROR
    assert out.read_text() == before
    assert clew("export", "--session", said.session, "--all", *here).code == ExitCode.USAGE
    assert clew("export", "--session", "01NONE", *here).code == ExitCode.NOT_FOUND
    assert clew("export", "-o", str(out), "--force", *here).code == ExitCode.OK


@pytest.mark.restarts
def test_deletions_an_export_brings_are_purged(clew: Clew, remember: Remember, record: Record, tmp_path: Path) -> None:
    said = remember("The word is zugspitze.")
    out, other, home = tmp_path / "all.jsonl", tmp_path / "other", str(Home.resolve().root)
    clew("export", "-o", str(out))
    clew("import", str(out), "--no-embed", "--home", str(other))
    assert b"zugspitz" in (other / "memory" / LOG).read_bytes()
    record(TurnDeleted(turn=said.turn))
    clew("export", "-o", str(out), "--force", "--home", home)
    ended = clew("import", str(out), "--no-embed", "--home", str(other))
    assert ended.code == ExitCode.OK
    assert "that the export knows of made here too." in ended.out
    assert [path for path in other.rglob("*") if path.is_file() and b"zugspitz" in path.read_bytes()] == []


def test_a_backup_killed_in_the_middle_harms_nothing(
    clew: Clew, remember: Remember, background: Callable[..., "subprocess.Popen[bytes]"], file: Path
) -> None:
    remember("Where do limpets go?")
    process = background("backup", str(file))
    process.kill()
    process.wait()
    assert not file.exists() or file.read_bytes().startswith(b"SQLite format 3")
    assert clew("backup", str(file), "--force").code == ExitCode.OK
    assert "Where do limpets go?" in said_now()


@pytest.mark.restarts
def test_where_a_backup_lies_is_no_word_that_a_delete_left(clew: Clew, tmp_path: Path) -> None:
    notes = tmp_path / "Zugspitze"
    notes.mkdir()
    (notes / "a.md").write_text("Limpets.\n")
    assert clew("ingest", str(notes / "a.md"), "--no-embed").code == ExitCode.OK
    assert clew("backup", str(notes / "b.sqlite")).code == ExitCode.OK
    (document,) = json.loads(clew("ingest", "--json").out)
    ended = clew("delete", "--document", document["id"], "--yes")
    assert (ended.code, "1 backup elsewhere will still contain it" in ended.out) == (ExitCode.OK, True)
    assert "No trace of it is left in any file of the home folder" in ended.err


@pytest.mark.restarts
def test_a_copy_that_was_cut_off_is_gone_before_a_delete_looks(clew: Clew, remember: Remember) -> None:
    said = remember("Where do limpets go?")
    left = backups_of(Home.resolve().memory) / "before-restore-2026-11-21T030405Z.sqlite.part"
    left.parent.mkdir()
    left.write_bytes((Home.resolve().memory / LOG).read_bytes())
    assert clew("delete", said.turn, "--yes").code == ExitCode.OK
    assert not left.exists()


def test_erase_takes_the_backups_of_the_home_and_no_other(clew: Clew, remember: Remember, file: Path) -> None:
    remember("Where do limpets go?")
    clew("backup")
    clew("backup", str(file))
    place = backups_of(Home.resolve().memory)
    (place / "mine.txt").write_text("not of clew")
    assert clew("erase", "--yes").code == ExitCode.OK
    assert [path.name for path in place.iterdir()] == ["mine.txt"]
    assert file.exists()
