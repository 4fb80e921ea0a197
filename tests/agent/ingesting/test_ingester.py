"""The memory says what the files say now: what is new, what changed, what is gone, and nothing half-way."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.errors import DocumentUnreadable
from agent.ingesting import ingester as module
from agent.ingesting.files import find
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


def test_a_folder_is_taken_in_and_a_second_time_says_nothing_new(memory: Memory, folder: Path) -> None:
    first = ingest(memory, folder)
    head = memory.head()
    second = ingest(memory, folder)

    assert ([Path(path).name for path in first.added], first.chunks) == (["tides.md", "boat.py"], 3)
    assert (len(second.unchanged), second.added, memory.head()) == (2, [], head)
    assert {(each.title, each.chunks) for each in memory.documents()} == {("Tides", 2), ("boat.py", 1)}


def test_a_changed_file_keeps_the_pieces_that_stayed_the_same(memory: Memory, folder: Path) -> None:
    ingest(memory, folder)
    tides = next(each for each in memory.documents() if each.title == "Tides")
    before = memory.document_chunks(tides.id)
    (folder / "tides.md").write_text("# Tides\n\nTwice a day.\n\n# Moon\n\nIt pulls hard.\n")

    report = ingest(memory, folder / "tides.md")
    after = memory.document_chunks(tides.id)

    assert ([Path(path).name for path in report.refreshed], report.chunks) == (["tides.md"], 1)
    assert after[0].id == before[0].id
    assert [each.text for each in after] == ["Twice a day.", "It pulls hard."]
    assert memory.chunks([before[1].id]) == {}


def test_a_file_that_changed_back_is_what_it_was(memory: Memory, folder: Path) -> None:
    path = folder / "tides.md"
    words = path.read_text()
    ingest(memory, path)
    path.write_text("# Tides\n\nOnce.\n")
    ingest(memory, path)
    path.write_text(words)
    ingest(memory, path)

    (document,) = memory.documents()
    assert [each.headings for each in memory.document_chunks(document.id)] == [("Tides",), ("Moon",)]


def test_a_file_that_vanished_leaves_with_its_words(memory: Memory, folder: Path) -> None:
    ingest(memory, folder)
    (folder / "tides.md").unlink()

    report = ingest(memory, folder)

    assert [Path(path).name for path in report.removed] == ["tides.md"]
    assert [each.title for each in memory.documents()] == ["boat.py"]
    with memory.snapshot() as db:
        assert db.execute("SELECT count(*) FROM events WHERE text LIKE '%Twice%'").fetchone() == (0,)


def test_a_single_file_that_vanished_leaves_too(memory: Memory, folder: Path) -> None:
    path = folder / "tides.md"
    ingest(memory, path)
    path.unlink()

    assert ingest(memory, path).removed == [str(path.resolve())]


def test_a_folder_that_vanished_as_a_whole_leaves_with_all_below_it(
    memory: Memory, folder: Path, tmp_path: Path
) -> None:
    (tmp_path / "other.md").write_text("Stays.\n")
    ingest(memory, tmp_path / "other.md")
    ingest(memory, folder)
    paths = sorted(each.path for each in memory.documents() if "other" not in each.path)
    shutil.rmtree(folder)

    report = ingest(memory, folder)

    assert sorted(report.removed) == paths
    assert [each.title for each in memory.documents()] == ["other.md"]
    with pytest.raises(DocumentUnreadable, match="There is no file"):
        ingest(memory, folder)


def test_an_unreadable_file_of_a_folder_is_told_and_the_others_are_read(memory: Memory, folder: Path) -> None:
    (folder / "broken.pdf").write_bytes(b"%PDF-1.4")

    report = ingest(memory, folder)

    assert len(report.added) == 2
    ((path, why),) = report.skipped
    assert Path(path).name == "broken.pdf"
    assert "damaged PDF" in why


def test_a_file_that_became_unreadable_keeps_what_was_read_of_it(memory: Memory, folder: Path) -> None:
    ingest(memory, folder)
    (folder / "tides.md").write_bytes(b"\0\0\0\0")

    report = ingest(memory, folder)

    assert (report.removed, len(report.skipped)) == ([], 1)
    assert {each.title for each in memory.documents()} == {"Tides", "boat.py"}


def test_a_folder_without_documents_says_so(memory: Memory, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()

    with pytest.raises(DocumentUnreadable, match="holds no Markdown"):
        ingest(memory, tmp_path / "empty")


def test_what_was_stopped_is_done_by_the_same_command(
    memory: Memory, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "AT_ONCE", 4)
    (folder / "long.md").write_text("".join(f"# Part {n}\n\n{n} words\n\n" for n in range(20)))
    asked = iter([False, False, False] + [True] * 100)
    stopped = Ingester(memory, stopping=lambda: next(asked)).run(folder / "long.md")
    half = {each.title: each.chunks for each in memory.documents()}

    again = ingest(memory, folder / "long.md")

    assert (stopped.stopped, stopped.added, half) == (True, [], {"Part 0": 0})
    assert len(again.refreshed) == 1
    assert {each.title: each.chunks for each in memory.documents()} == {"Part 0": 20}


def test_progress_names_each_file(memory: Memory, folder: Path) -> None:
    steps: list[IngestProgress] = []

    Ingester(memory, progress=steps.append).run(folder)

    assert [(step.done, step.total, step.file) for step in steps] == [
        (number, 2, file.name) for number, file in enumerate(find(folder))
    ] + [(2, 2, "")]
