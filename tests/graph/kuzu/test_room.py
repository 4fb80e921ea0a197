"""A nearly full disk stops the graph in time: the log goes on, the process ends by itself, the graph comes back."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from graph.errors import NoRoom
from graph.kuzu import room
from graph.kuzu.overlay import Overlay
from graph.kuzu.rebuild import NEW
from graph.kuzu.store import GraphStore
from graph.memory import Memory
from tests.graph.conftest import Open, ignore, with_graph
from tests.graph.talk import said, talk

LIVE = "MATCH (t:Turn) WHERE t.live RETURN t.id AS id ORDER BY t.seq"

SCRIPT = """
import resource, sys
from pathlib import Path
from graph.kuzu import room
from graph.errors import GraphFailure
from graph.memory import Memory
from tests.graph.talk import talk, said
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
memory = Memory.open(Path(sys.argv[1]), command="test")
talk(memory, 2)
if sys.argv[2] == "unseen":  # as when another program takes the room between the look and the write
    room.TO_OPEN = room.TO_FOLLOW = -(1 << 40)
elif sys.argv[2] == "while following":
    memory.open_graph(lambda step: None)
    memory.append(said("more", parent="s1"))
    room.TO_OPEN = room.TO_FOLLOW = -(1 << 40)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[3]), resource.RLIM_INFINITY))
try:
    memory.open_graph(lambda step: None)
except GraphFailure as e:
    print(e)
before = "more" if sys.argv[2] == "while following" else "s1"
for n in range(3):
    memory.append(said(f"t{n}", parent=before, text="the word " * 20))
    before = f"t{n}"
print("said")
memory.close()
"""


def run(folder: Path, how: str, limit: int) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-c", SCRIPT, str(folder), how, str(limit)],
        capture_output=True, text=True, timeout=60, check=False,
        cwd=Path(__file__).parents[3], env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])},
    )  # fmt: skip


@pytest.mark.process
def test_under_a_limit_of_file_sizes_the_process_ends_by_itself_and_says_why(folder: Path, opening: Open) -> None:
    done = run(folder, "seen", 4_096_000)
    assert (done.returncode, done.stderr) == (0, "")
    assert "nearly full" in done.stdout
    assert "catch up automatically" in done.stdout
    assert done.stdout.endswith("said\n")
    memory = with_graph(opening)
    assert [row["id"] for row in memory.query(LIVE)] == ["s0", "s1", "t0", "t1", "t2"]


@pytest.mark.process
@pytest.mark.parametrize(("how", "limit"), [("unseen", 1_000_000), ("while following", 700_000)])
def test_a_write_that_fails_at_last_leaves_the_engine_alone(folder: Path, opening: Open, how: str, limit: int) -> None:
    done = run(folder, how, limit)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith("said\n")
    memory = with_graph(opening)
    assert [row["id"] for row in memory.query(LIVE)][-3:] == ["t0", "t1", "t2"]
    assert [check.name for check in memory.doctor() if not check.ok] == []


def test_a_graph_without_room_waits_and_goes_on_when_there_is(whole: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    talk(whole, 2)
    free = room.left
    monkeypatch.setattr(room, "left", lambda folder: 1 << 20)
    assert whole.append(said("more", parent="s1"))[0].graph_behind
    whole._graph.inspect(lambda store, at: None)  # what was asked of the graph's thread before is done
    assert [row["id"] for row in whole.query(LIVE)] == ["s0", "s1"]
    monkeypatch.setattr(room, "left", free)
    whole.append(said("then", parent="more"))
    whole._graph.inspect(lambda store, at: None)
    assert whole.graph_ready
    assert [row["id"] for row in whole.query(LIVE)] == ["s0", "s1", "more", "then"]


@pytest.mark.restarts
def test_without_room_the_engine_is_not_even_opened(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    talk(memory, 2)
    free = room.left
    monkeypatch.setattr(room, "left", lambda folder: 1 << 20)
    with monkeypatch.context() as never:
        never.delattr(GraphStore, "open")
        with pytest.raises(NoRoom, match=r"nearly full.*safe in the log.*catch up automatically"):
            memory.open_graph(ignore)
    monkeypatch.setattr(room, "left", free)
    memory.append(said("more", parent="s1"))
    memory._graph._do(lambda: None)
    assert memory.graph_ready


@pytest.mark.restarts
def test_closing_without_room_keeps_the_commits(whole: Memory, opening: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    talk(whole, 2)
    with monkeypatch.context() as full:
        full.setattr(room, "left", lambda folder: 0)
        whole.close()
    told: list[str] = []
    memory = opening()
    memory.open_graph(lambda step: told.append(step.what))
    assert told == ["opening", "ready"]
    assert [row["id"] for row in memory.query(LIVE)] == ["s0", "s1"]


@pytest.mark.filterwarnings("error::pytest.PytestUnhandledThreadExceptionWarning")
def test_closing_a_graph_whose_folder_was_deleted_is_no_error(whole: Memory, folder: Path) -> None:
    talk(whole, 2)
    shutil.rmtree(folder)
    whole._graph.close()
    assert whole._graph._thread is not None
    assert not whole._graph._thread.is_alive()


def test_half_built_graphs_make_way_before_the_log_is_written(folder: Path, memory: Memory, opening: Open) -> None:
    for name in (NEW, NEW + ".wal", NEW + ".shadow"):
        (folder / name).write_bytes(b"x")
    opening()
    assert not list(folder.glob(NEW + "*"))


@pytest.mark.restarts
def test_a_graph_whose_engine_failed_is_rebuilt(whole: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    talk(whole, 2)

    def breaks(self: Overlay, *, applied: int, link: str) -> None:
        monkeypatch.undo()
        self._store.execute("MATCH (t:Nothing) RETURN t")

    monkeypatch.setattr(Overlay, "flush", breaks)
    assert whole.append(said("more", parent="s1"))[0].graph_behind
    whole._graph._do(lambda: None)
    assert [row["id"] for row in whole.query(LIVE)] == ["s0", "s1", "more"]
