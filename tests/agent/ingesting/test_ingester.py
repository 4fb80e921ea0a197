"""The memory says what the files say now: what is new, what changed, what is gone, and nothing half-way."""

import errno
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.errors import DocumentMissing, DocumentUnreadable
from agent.ingesting import ingester as module
from agent.ingesting.files import SAFE, find
from agent.ingesting.ingester import Ingester, IngestProgress, IngestReport
from graph.memory import Memory


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    opened = Memory.open(tmp_path / "memory", command="test")
    opened.open_graph(lambda progress: None)
    yield opened
    opened.close()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    (folder / "sub").mkdir(parents=True)
    (folder / "tides.md").write_text("# Tides\n\nTwice a day.\n\n# Moon\n\nIt pulls.\n")
    (folder / "sub" / "boat.py").write_text("class Boat:\n    floats = True\n")
    return folder


def ingest(memory: Memory, path: Path) -> IngestReport:
    return Ingester(memory).run(path)


def close(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let nobody look into a folder; the modes of files hold nobody back who is root."""
    scan, look = os.scandir, Path.lstat
    refused = PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(folder))

    def scandir(path: str) -> object:
        if Path(path) == folder:
            raise refused
        return scan(path)

    def lstat(self: Path) -> os.stat_result:
        if folder in self.parents:
            raise refused
        return look(self)

    monkeypatch.setattr(os, "scandir", scandir)
    monkeypatch.setattr(Path, "lstat", lstat)


def test_a_folder_is_taken_in_once_and_what_is_gone_since_is_named_and_stays(memory: Memory, folder: Path) -> None:
    first = ingest(memory, folder)
    head = memory.head()
    second = ingest(memory, folder)
    assert ([Path(path).name for path in first.added], first.chunks) == (["tides.md", "boat.py"], 3)
    assert (len(second.unchanged), second.added, memory.head()) == (2, [], head)
    folder.rename(folder.with_name("elsewhere"))
    for where in (".", "tides.md", "sub"):
        with pytest.raises(DocumentMissing, match=r"not found: .* Nothing was changed\..* read from there stay?"):
            ingest(memory, folder / where)
    with pytest.raises(DocumentMissing, match=r"Nothing was changed\.$"):
        ingest(memory, folder / "never there")
    folder.with_name("elsewhere").rename(folder)
    (folder / "tides.md").unlink()
    assert [Path(path).name for path in ingest(memory, folder).missing] == ["tides.md"]
    (folder / "sub" / "boat.py").unlink()
    assert len(ingest(memory, folder).missing) == 2, "as of a disk that is not mounted"
    assert memory.head() == head
    assert {(each.title, each.chunks) for each in memory.readings.documents()} == {("Tides", 2), ("boat.py", 1)}


def test_a_changed_file_keeps_the_pieces_that_stay_and_changed_back_is_as_it_was(memory: Memory, folder: Path) -> None:
    ingest(memory, folder)
    tides = next(each for each in memory.readings.documents() if each.title == "Tides")
    before = memory.readings.document_chunks(tides.id)
    (folder / "tides.md").write_text("# Tides\n\nTwice a day.\n\n# Moon\n\nIt pulls hard.\n")
    report = ingest(memory, folder / "tides.md")
    after = memory.readings.document_chunks(tides.id)
    assert ([Path(path).name for path in report.refreshed], report.chunks) == (["tides.md"], 1)
    assert after[0].id == before[0].id
    assert [each.text for each in after] == ["Twice a day.", "It pulls hard."]
    assert memory.readings.chunks([before[1].id]) == {}
    for words in ("# Tides\n\nOnce.\n", "# Tides\n\nTwice a day.\n\n# Moon\n\nIt pulls.\n"):
        (folder / "tides.md").write_text(words)
        ingest(memory, folder / "tides.md")
    assert [each.headings for each in memory.readings.document_chunks(tides.id)] == [("Tides",), ("Moon",)]


def test_what_cannot_be_looked_at_is_told_and_not_taken_for_gone(
    memory: Memory, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ingest(memory, folder)
    (folder / "new.txt").write_text("More.\n")
    with monkeypatch.context() as patched:
        close(folder / "sub", patched)
        report = ingest(memory, folder)
    assert (report.missing, [Path(path).name for path in report.added]) == ([], ["new.txt"])
    assert report.skipped == [(str(folder / "sub"), f"{folder / 'sub'} cannot be read: Permission denied. {SAFE}")]


def test_a_document_keeps_its_project_and_tags_when_it_is_read_again_without_them(memory: Memory, folder: Path) -> None:
    Ingester(memory, project="sea", tags=["tide"]).run(folder / "tides.md")
    (folder / "tides.md").write_text("# Tides\n\nOnce.\n")
    ingest(memory, folder)
    assert [(each.project, each.tags) for each in memory.readings.documents() if each.title == "Tides"] == [
        ("sea", ("tide",))
    ]


@pytest.mark.process
def test_what_is_passed_over_guessed_or_unreadable_is_named_the_others_are_read(memory: Memory, folder: Path) -> None:
    (folder / "plan.docx").write_bytes(b"PK\3\4\0")
    (folder / "alt.txt").write_bytes("Größe: 3 €".encode("cp1252"))
    (folder / "rows.csv").write_text("tide,high\n")
    (folder / "rows.json").write_text('{"tide": "high"}')
    (folder / "broken.pdf").write_bytes(b"%PDF-1.4")
    report = ingest(memory, folder)
    assert [Path(path).name for path in report.others] == ["plan.docx"]
    assert [Path(path).name for path in report.guessed] == ["alt.txt"]
    assert {Path(path).name for path in report.added} >= {"alt.txt", "rows.csv", "rows.json", "tides.md", "boat.py"}
    ((path, why),) = report.skipped
    assert Path(path).name == "broken.pdf"
    assert "damaged or not a PDF" in why


def test_a_file_that_became_unreadable_keeps_what_was_read_of_it(memory: Memory, folder: Path) -> None:
    ingest(memory, folder)
    (folder / "tides.md").write_bytes(b"\0\0\0\0")
    report = ingest(memory, folder)
    assert (report.missing, len(report.skipped)) == ([], 1)
    assert {each.title for each in memory.readings.documents()} == {"Tides", "boat.py"}


def test_a_folder_without_documents_says_so(memory: Memory, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(DocumentUnreadable, match="contains no Markdown"):
        ingest(memory, tmp_path / "empty")


def test_what_was_stopped_is_done_by_another_run(memory: Memory, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "AT_ONCE", 4)
    (folder / "long.md").write_text("".join(f"# Part {n}\n\n{n} words\n\n" for n in range(20)))
    asked = iter([False, False, False] + [True] * 100)
    stopped = Ingester(memory, stopping=lambda: next(asked)).run(folder / "long.md")
    half = {each.title: each.chunks for each in memory.readings.documents()}
    again = ingest(memory, folder / "long.md")
    assert (stopped.stopped, stopped.added, half) == (True, [], {"Part 0": 0})
    assert (len(again.added), again.chunks) == (1, 8)  # twelve of them were stored before
    assert {each.title: each.chunks for each in memory.readings.documents()} == {"Part 0": 20}


def test_progress_names_each_file(memory: Memory, folder: Path) -> None:
    steps: list[IngestProgress] = []
    Ingester(memory, progress=steps.append).run(folder)
    assert [(step.done, step.total, step.file) for step in steps] == [
        (number, 2, file.name) for number, file in enumerate(find(folder).files)
    ] + [(2, 2, "")]


def test_a_name_that_no_text_can_hold_is_told_and_the_others_are_read(memory: Memory, folder: Path) -> None:
    Path(os.fsdecode(os.fsencode(folder) + b"/d_\xff.md")).write_text("It would be read anew each time.")
    report = ingest(memory, folder)
    ((_, why),) = [each for each in report.skipped if "d_" in each[0]]
    assert why.startswith("d_\ufffd.md has a name that is not UTF-8,")
    assert why.endswith(f" {SAFE} Rename it, then try again.")
    assert report.added
    assert not ingest(memory, folder).missing
