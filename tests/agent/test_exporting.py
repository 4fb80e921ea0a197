"""A chat as a file that people read, and the whole memory as one that another clew takes in."""

import json
import random
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from agent.errors import ExportUnreadable
from agent.exporting import as_jsonl, as_markdown, into_file
from agent.importer import Importer, ImportReport
from graph.errors import CopyFailed, NotFound
from graph.events import MarkSet, PinSet, Role, SessionRenamed, TurnDeleted, TurnHidden
from graph.memory import Memory
from graph.reader import LogReader
from tests.graph.talk import reply, said, talk
from tests.graph.teach import observed


@dataclass
class Two:
    """A memory here, one there, and a file between them."""

    here: Memory
    there: Memory
    reader: LogReader  # of here
    file: Path

    def lines(self, session: str | None = None) -> list[str]:
        return list(as_jsonl(self.reader, clew="9.9", session=session))

    def import_there(self, lines: Iterable[str], **options: Any) -> ImportReport:
        """Import lines there, as a file."""
        self.file.write_text("".join(lines), encoding="utf-8")
        return Importer(self.there, **options).run(self.file)


@pytest.fixture
def two(tmp_path: Path) -> Iterator[Two]:
    places = [tmp_path / place / "memory" for place in ("here", "there")]
    with ExitStack() as opened:
        here, there = (opened.enter_context(closing(Memory.open(place, command="test"))) for place in places)
        reader = opened.enter_context(closing(LogReader.open(places[0])))
        yield Two(here, there, reader, tmp_path / "export.jsonl")


def texts(memory: Memory, session: str = "s") -> list[str | None]:
    return [turn.text for turn in memory.readings.thread(session)]


def test_markdown_is_what_a_chat_shows(two: Two) -> None:
    here, reader = two.here, two.reader
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
    lines = page.splitlines()
    assert [line for line in lines if line.startswith("**")] == [line for line in lines if " · " in line]
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


def test_the_first_line_says_what_it_is_and_erased_texts_are_null(two: Two) -> None:
    talk(two.here, 2)
    two.here.append(TurnDeleted(turn="s1"))
    first, *events = map(json.loads, two.lines())
    told = {"clew": "export", "format": 1, "version": "9.9", "head": 5, "session": None}
    assert {key: first[key] for key in told} == told
    assert [event["seq"] for event in events] == [1, 2, 3, 4, 5]
    assert [event.get("erased") for event in events] == [None, None, True, None, None]
    assert (events[2]["text"], events[1]["text"]) == (None, "s0")
    with pytest.raises(NotFound):
        two.lines("none")


def test_a_file_is_written_whole_or_not_at_all(two: Two) -> None:
    talk(two.here, 2)

    def breaking() -> Iterator[str]:
        yield "half"
        raise OSError(28, "No space left on device")

    with pytest.raises(CopyFailed, match="No space left"):
        into_file(two.file, breaking(), replace=False)
    assert not list(two.file.parent.glob("export*"))
    into_file(two.file, two.lines(), replace=False)
    assert two.file.stat().st_mode & 0o777 == 0o600
    with pytest.raises(CopyFailed, match="already exists"):
        into_file(two.file, ["new"], replace=False)
    with pytest.raises(CopyFailed, match="is a folder"):
        into_file(two.file.parent, ["new"], replace=True)
    into_file(two.file, ["new"], replace=True)
    assert two.file.read_text() == "new"


def test_an_export_is_known_by_its_lines_however_they_stand_or_where_two_are_one_file(two: Two, tmp_path: Path) -> None:
    talk(two.here, 30)
    two.here.append(observed("o", "s0"))
    lines = two.lines()
    random.Random(3).shuffle(lines)
    report = two.import_there(["\ufeff", *lines])
    assert (report.format, report.new, report.known, report.chats_new) == ("clew's export", 30, 0, 1)
    assert report.merged is not None
    assert report.merged.refused == {}
    assert texts(two.there) == texts(two.here)
    packed = two.file.with_suffix(".zip")
    with zipfile.ZipFile(packed, "w") as archive:
        archive.write(two.file, "export.jsonl")
    again = Importer(two.there).run(packed)
    assert (again.new, again.known, again.chats_known) == (0, 30, 1)
    assert two.there.head() == two.here.head()

    talk(two.there, 3, "t")
    talk(two.here, 3, "u")
    with closing(LogReader.open(tmp_path / "there" / "memory")) as other:
        report = two.import_there([*two.lines(), *as_jsonl(other, clew="1")])  # one after the other
    assert (report.new, report.known) == (3, 63)
    assert (texts(two.there, "t"), texts(two.there, "u")) == (["t0", "t1", "t2"], ["u0", "u1", "u2"])


def test_of_a_newer_clew_nothing_is_imported_and_of_an_export_with_a_broken_line_the_rest(two: Two) -> None:
    talk(two.here, 4)
    whole, lines = two.lines(), two.lines()
    for number, change, says in (
        (0, {"format": 2}, "format 2; this clew reads 1"),
        (2, {"kind": "turn.sung"}, r"line 3 .*turn\.sung, version"),
        (3, {"version": 9}, "version 9"),
    ):
        changed = json.dumps(json.loads(lines[number]) | change) + "\n"
        with pytest.raises(ExportUnreadable, match=rf"written by a newer clew.*{says}.*Nothing was imported"):
            two.import_there([*lines[:number], changed, *lines[number + 1 :]])
    assert two.there.head() == 0

    lines[3] = lines[3][:40] + "\n"
    report = two.import_there(lines)
    assert ([number for number, _ in report.bad], report.bad_count) == ([4], 1)
    assert texts(two.there) == ["s0", "s2", "s3"]
    assert two.import_there(whole).new == 1
    lines[0] = "{\n"  # not even the first line is needed
    assert two.import_there(lines).known == 3


@pytest.mark.parametrize("session", [None, "s"])
@pytest.mark.parametrize("counted", [True, False])
def test_an_export_cut_between_two_lines_says_how_much_is_missing(two: Two, session: str | None, counted: bool) -> None:
    talk(two.here, 6)
    lines = two.lines(session)
    if not counted:  # as clew wrote it before
        lines[0] = json.dumps({key: value for key, value in json.loads(lines[0]).items() if key != "events"}) + "\n"
    report = two.import_there(lines[:-3])
    known = (3, len(lines) - 1) if counted or session is None else (0, 0)
    assert (report.missing, report.counted, report.new) == (*known, 3)
    whole = two.import_there(lines * 2)
    assert (whole.missing, whole.new) == (0, 3)


def test_an_import_that_was_cut_off_goes_on(two: Two) -> None:
    for number in range(5):
        talk(two.here, 100, f"s{number}-")
    asked = iter((False, True))
    cut = two.import_there(two.lines(), stopping=lambda: next(asked))
    assert cut.stopped
    assert 0 < cut.new < 500
    assert cut.new + two.import_there(two.lines()).new == 500
    heads = {session.id: session.head for session in two.here.readings.sessions()}
    assert {session.id: session.head for session in two.there.readings.sessions()} == heads


def test_what_an_import_brings_is_no_change_by_hand_and_sets_no_mark(two: Two) -> None:
    there = two.there
    talk(two.here, 3)
    two.import_there(two.lines())
    there.append(SessionRenamed(session="s", text="Named here"))
    named = there.history.changes.newest(10)
    assert len(named) == 1
    two.here.append(TurnHidden(turn="s0"))
    two.here.append(MarkSet(mark="m", reason="named", text="of the other memory"))
    two.here.append(PinSet(turn="s1"))
    report = two.import_there(two.lines())
    assert report.merged is not None
    assert report.merged.new == 2, "what hides and what pins"
    assert there.history.reach.turns(["s0"])[0].hidden
    assert there.history.changes.newest(10) == named
    assert there.history.marks.offered(now=datetime.now(UTC)) == []
    with pytest.raises(NotFound, match="not a change you made"):
        there.history.changes.of_event(there.head())
