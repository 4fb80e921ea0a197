"""A chat as a file that people read, and the whole memory as one that another clew takes in."""

import json
import random
import zipfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from agent.errors import ExportUnreadable
from agent.exporting import as_jsonl, as_markdown, into_file
from agent.importer import Importer
from graph.errors import CopyFailed, NotFound
from graph.events import MarkSet, PinSet, Role, SessionRenamed, TurnDeleted, TurnHidden
from graph.memory import Memory
from graph.reader import LogReader
from tests.graph.talk import reply, said, talk
from tests.graph.teach import observed


@pytest.fixture
def here(tmp_path: Path) -> Iterator[Memory]:
    memory = Memory.open(tmp_path / "here" / "memory", command="test")
    yield memory
    memory.close()


@pytest.fixture
def there(tmp_path: Path) -> Iterator[Memory]:
    memory = Memory.open(tmp_path / "there" / "memory", command="test")
    yield memory
    memory.close()


@pytest.fixture
def reader(here: Memory, tmp_path: Path) -> Iterator[LogReader]:
    opened = LogReader.open(tmp_path / "here" / "memory")
    yield opened
    opened.close()


def texts(memory: Memory, session: str = "s") -> list[str | None]:
    return [turn.text for turn in memory.readings.thread(session)]


def test_markdown_is_what_a_chat_shows(here: Memory, reader: LogReader) -> None:
    talk(here, 2)
    here.append(
        SessionRenamed(session="s", text="Limpets\nand tides"),
        reply("another", parent="s0", text="an alternative"),
        said("hidden", parent="another", text="out of view"),
        said("looked", parent="hidden", role=Role.TOOL, speaker="tool", text="looked up"),
        said("gone", parent="looked", text="gone for good"),
        reply("empty", parent="gone", text=""),
        reply("last", parent="empty", text="The last one\nin two lines"),
        TurnHidden(turn="hidden"),
        TurnDeleted(turn="gone"),
    )
    page = "".join(as_markdown(reader, session="s"))
    assert page.startswith("# Limpets and tides\n\n")
    assert [line for line in page.splitlines() if line.startswith("**")] == [
        line for line in page.splitlines() if " · " in line
    ]
    assert page.count("**you**") == 1
    assert page.count("**assistant**") == 2
    assert page.endswith("The last one\nin two lines\n")
    for left_out in ("s1", "out of view", "looked up", "gone for good"):
        assert left_out not in page
    talk(here, 2, "t")
    both = "".join(as_markdown(reader))
    assert both.index("# Limpets") < both.index("\n---\n\n# ")
    with pytest.raises(NotFound):
        list(as_markdown(reader, session="none"))


def test_the_first_line_says_what_it_is_and_erased_texts_are_null(here: Memory, reader: LogReader) -> None:
    talk(here, 2)
    here.append(TurnDeleted(turn="s1"))
    first, *events = map(json.loads, as_jsonl(reader, clew="9.9"))
    assert {key: first[key] for key in ("clew", "format", "version", "head", "session")} == {
        "clew": "export",
        "format": 1,
        "version": "9.9",
        "head": 5,
        "session": None,
    }
    assert [event["seq"] for event in events] == [1, 2, 3, 4, 5]
    assert [event.get("erased") for event in events] == [None, None, True, None, None]
    assert (events[2]["text"], events[1]["text"]) == (None, "s0")
    with pytest.raises(NotFound):
        list(as_jsonl(reader, clew="9.9", session="none"))


def test_a_file_is_written_whole_or_not_at_all(here: Memory, reader: LogReader, tmp_path: Path) -> None:
    talk(here, 2)
    target = tmp_path / "out.jsonl"

    def breaking() -> Iterator[str]:
        yield "half"
        raise OSError(28, "No space left on device")

    with pytest.raises(CopyFailed, match="No space left"):
        into_file(target, breaking(), replace=False)
    assert not list(tmp_path.glob("out*"))
    into_file(target, as_jsonl(reader, clew="1"), replace=False)
    assert target.stat().st_mode & 0o777 == 0o600
    with pytest.raises(CopyFailed, match="already exists"):
        into_file(target, ["new"], replace=False)
    with pytest.raises(CopyFailed, match="is a folder"):
        into_file(tmp_path, ["new"], replace=True)
    into_file(target, ["new"], replace=True)
    assert target.read_text() == "new"


def test_an_export_is_known_by_its_lines_however_they_stand(
    here: Memory, there: Memory, reader: LogReader, tmp_path: Path
) -> None:
    talk(here, 30)
    here.append(observed("o", "s0"))
    lines = list(as_jsonl(reader, clew="1"))
    random.Random(3).shuffle(lines)
    file = tmp_path / "export.jsonl"
    file.write_text("\ufeff" + "".join(lines), encoding="utf-8")
    report = Importer(there).run(file)
    assert (report.format, report.new, report.known, report.chats_new) == ("clew's export", 30, 0, 1)
    assert report.merged is not None
    assert report.merged.refused == {}
    assert texts(there) == texts(here)
    packed = tmp_path / "export.zip"
    with zipfile.ZipFile(packed, "w") as archive:
        archive.write(file, "export.jsonl")
    again = Importer(there).run(packed)
    assert (again.new, again.known, again.chats_known) == (0, 30, 1)
    assert there.head() == here.head()


def test_a_broken_line_is_told_by_its_number_and_the_rest_is_in(
    here: Memory, there: Memory, reader: LogReader, tmp_path: Path
) -> None:
    talk(here, 4)
    lines = list(as_jsonl(reader, clew="1"))
    whole = list(lines)
    lines[3] = lines[3][:40] + "\n"
    file = tmp_path / "export.jsonl"
    file.write_text("".join(lines))
    report = Importer(there).run(file)
    assert ([number for number, _ in report.bad], report.bad_count) == ([4], 1)
    assert texts(there) == ["s0", "s2", "s3"]
    file.write_text("".join(whole))
    assert Importer(there).run(file).new == 1
    lines[0] = "{\n"  # not even the first line is needed
    file.write_text("".join(lines))
    assert Importer(there).run(file).known == 3


@pytest.mark.parametrize("session", [None, "s"])
@pytest.mark.parametrize("counted", [True, False])
def test_an_export_that_was_cut_between_two_lines_says_how_much_is_missing(
    here: Memory, there: Memory, reader: LogReader, tmp_path: Path, session: str | None, counted: bool
) -> None:
    talk(here, 6)
    lines = list(as_jsonl(reader, clew="9.9", session=session))
    if not counted:  # as clew wrote it before
        lines[0] = json.dumps({key: value for key, value in json.loads(lines[0]).items() if key != "events"}) + "\n"
    path = tmp_path / "x.jsonl"
    path.write_text("".join(lines[:-3]))
    report = Importer(there).run(path)
    events = len(lines) - 1
    known = (3, events) if counted or session is None else (0, 0)
    assert (report.missing, report.counted, report.new) == (*known, 3)
    path.write_text("".join(lines) * 2)
    whole = Importer(there).run(path)
    assert (whole.missing, whole.new) == (0, 3)


def test_an_export_of_a_newer_clew_imports_nothing(
    here: Memory, there: Memory, reader: LogReader, tmp_path: Path
) -> None:
    talk(here, 2)
    lines = [json.loads(line) for line in as_jsonl(reader, clew="1")]
    file = tmp_path / "export.jsonl"
    for number, change, says in (
        (0, {"format": 2}, "format 2; this clew reads 1"),
        (2, {"kind": "turn.sung"}, r"line 3 .*turn\.sung, version"),
        (3, {"version": 9}, "version 9"),
    ):
        changed = [*lines[:number], lines[number] | change, *lines[number + 1 :]]
        file.write_text("\n".join(map(json.dumps, changed)))
        with pytest.raises(ExportUnreadable, match=rf"written by a newer clew.*{says}.*Nothing was imported"):
            Importer(there).run(file)
    assert there.head() == 0


def test_two_exports_in_one_file_come_one_after_the_other(
    here: Memory, there: Memory, reader: LogReader, tmp_path: Path
) -> None:
    talk(here, 3)
    talk(there, 3, "t")
    other = LogReader.open(tmp_path / "there" / "memory")
    file = tmp_path / "both.jsonl"
    file.write_text("".join([*as_jsonl(reader, clew="1"), *as_jsonl(other, clew="1")]))
    other.close()
    report = Importer(there).run(file)
    assert (report.new, report.known) == (3, 3)
    assert texts(there, "t") == ["t0", "t1", "t2"]
    assert texts(there) == ["s0", "s1", "s2"]


def test_an_import_that_was_cut_off_goes_on(here: Memory, there: Memory, reader: LogReader, tmp_path: Path) -> None:
    for number in range(5):
        talk(here, 100, f"s{number}-")
    file = tmp_path / "export.jsonl"
    file.write_text("".join(as_jsonl(reader, clew="1")))
    asked: list[None] = []

    def stopping() -> bool:
        asked.append(None)
        return len(asked) == 2

    cut = Importer(there, stopping=stopping).run(file)
    assert cut.stopped
    assert 0 < cut.new < 500
    rest = Importer(there).run(file)
    assert cut.new + rest.new == 500
    heads = {session.id: session.head for session in here.readings.sessions()}
    assert {session.id: session.head for session in there.readings.sessions()} == heads


def test_what_an_import_brings_is_no_change_by_hand_and_sets_no_mark(
    here: Memory, there: Memory, reader: LogReader, tmp_path: Path
) -> None:
    talk(here, 3)
    first, second = tmp_path / "first.jsonl", tmp_path / "second.jsonl"
    first.write_text("".join(as_jsonl(reader, clew="1")), encoding="utf-8")
    Importer(there).run(first)
    there.append(SessionRenamed(session="s", text="Named here"))
    named = there.history.changes.newest(10)
    assert len(named) == 1
    here.append(TurnHidden(turn="s0"))
    here.append(MarkSet(mark="m", reason="named", text="of the other memory"))
    here.append(PinSet(turn="s1"))
    second.write_text("".join(as_jsonl(reader, clew="1")), encoding="utf-8")
    report = Importer(there).run(second)
    assert report.merged is not None
    assert report.merged.new == 2, "what hides and what pins"
    assert there.history.reach.turns(["s0"])[0].hidden
    assert there.history.changes.newest(10) == named
    assert there.history.marks.offered(now=datetime.now(UTC)) == []
    with pytest.raises(NotFound, match="not a change you made"):
        there.history.changes.of_event(there.head())
