"""Queries run in a process of their own: it answers as the graph stands, ends when it must, harms nobody."""

import contextlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from graph.console.console import Answer
from graph.console.graph_copy import FollowedGraph
from graph.console.workers import CANCELLED, CLOSING, ERASED, FOLDER, QueryProcess, QueryWorkers
from graph.errors import EngineEnded, GraphFailure, NoRoom, QueryTimeout
from graph.history.past import ENDED
from graph.kuzu import room
from graph.kuzu.follower import BEHIND
from graph.kuzu.store import GraphStore
from graph.log.byte_search import forms_of, look
from graph.memory import Memory
from graph.values import Progress
from tests.examples import few
from tests.graph.conftest import Open, ignore, no_more_files
from tests.graph.deeds import delete
from tests.graph.talk import said, talk

pytestmark = pytest.mark.process

ENDLESS = (
    "UNWIND range(1, 100000) AS a UNWIND range(1, 100000) AS b UNWIND range(1, 100000) AS c RETURN count(a + b + c)"
)
COUNT = "MATCH (t:Turn) RETURN count(*)"
ALL = "MATCH (t:Turn) RETURN t.id AS id, t.seq AS seq, t.text AS text, t.live AS live ORDER BY t.seq"


class Asking:
    """A query that runs in a thread; `begun` when an engine has it, `ended` with what came of it."""

    def __init__(self, memory: Memory, cypher: str = ENDLESS, **more: Any) -> None:
        self.cancelled = threading.Event()
        self.ended: Answer | GraphFailure | None = None
        self._memory, self._cypher, self._more = memory, cypher, more
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        more = {"timeout_s": 60.0, **self._more}
        try:
            self.ended = self._memory.console.run(self._cypher, cancelled=self.cancelled, **more)
        except GraphFailure as error:
            self.ended = error

    def wait(self) -> Answer | GraphFailure:
        self._thread.join(60)
        assert self.ended is not None
        return self.ended


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> threading.Semaphore:
    """Let go of once for each request that an engine was sent."""
    sent = threading.Semaphore(0)
    ask = QueryWorkers.ask

    def told(self: QueryWorkers, request: Any, **more: Any) -> Iterator[dict[str, Any]]:
        before = self._ready

        def ready(*arguments: Any) -> Any:
            engine = before(*arguments)
            sent.release()
            return engine

        self._ready = ready  # type: ignore[assignment, method-assign]
        return ask(self, request, **more)

    monkeypatch.setattr(QueryWorkers, "ask", told)
    return sent


@pytest.fixture
def begun(monkeypatch: pytest.MonkeyPatch) -> threading.Semaphore:
    """Let go of once for each request that an engine has begun with."""
    heard = threading.Semaphore(0)
    following = QueryProcess._next

    def told(self: QueryProcess, *arguments: Any) -> dict[str, Any] | None:
        found = following(self, *arguments)
        if found == {"begun": True}:
            heard.release()
        return found

    monkeypatch.setattr(QueryProcess, "_next", told)
    return heard


def copies(folder: Path) -> list[Path]:
    return list((folder / FOLDER).rglob("*")) if (folder / FOLDER).exists() else []


def ends(pid: int) -> bool:
    """Whether a process is gone, or only waits to be seen off; asked of the system until it is."""
    with contextlib.suppress(ChildProcessError):
        os.waitpid(pid, 0)
    for _ in range(2_000):
        state = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False)
        if not state.stdout.strip() or state.stdout.startswith("Z"):
            return True
    return False


def test_one_process_answers_while_the_graph_stands_and_another_when_it_moved(spoken: Memory, folder: Path) -> None:
    assert spoken.console.run(COUNT).rows == ((6,),)
    (first,) = spoken._apart.pids()
    assert spoken.console.run(COUNT).rows == ((6,),)
    assert spoken._apart.pids() == [first]
    if sys.platform == "linux":  # shortest paths begin a thread, and none would begin for who is not root
        assert psutil.Process(first).rlimit(psutil.RLIMIT_NPROC) == psutil.Process().rlimit(psutil.RLIMIT_NPROC)
    assert copies(folder) == []  # nothing lies on the disk of a copy that is open
    spoken.append(said("more", parent="s5"))
    assert spoken.console.run(COUNT).rows == ((7,),)
    (second,) = spoken._apart.pids()
    assert second != first
    assert ends(first)
    spoken.close()
    assert not (folder / FOLDER).exists()


def test_a_process_killed_before_it_begins_a_query_is_replaced(spoken: Memory, asked: threading.Semaphore) -> None:
    spoken.console.prepare()
    (pid,) = spoken._apart.pids()
    os.kill(pid, signal.SIGSTOP)
    query = Asking(spoken, COUNT)
    assert asked.acquire(timeout=60)
    os.kill(pid, signal.SIGKILL)
    answer = query.wait()
    assert isinstance(answer, Answer)
    assert answer.rows == ((6,),)
    assert spoken._apart.pids() != [pid]


def test_a_copy_made_beside_a_writer_is_the_graph_at_one_event(spoken: Memory, tmp_path: Path) -> None:
    """Checkpoints, commits and copies at once; each copy is compared with what the log has up to its event."""
    stop = threading.Event()

    def write() -> None:
        before = "s5"
        for number in range(100_000):
            spoken.append(said(f"w{number}", parent=before, text=f"word {number} " * 20))
            before = f"w{number}"
            if number % 7 == 0:
                spoken._graph.inspect(lambda store, at: _checkpoint(store))
            if stop.is_set():
                return

    writer = threading.Thread(target=write, daemon=True)
    writer.start()
    copied: list[tuple[int, Path]] = []
    try:
        while len(copied) < few(12) or len({at for at, _ in copied}) < 2:
            number = len(copied)
            path = tmp_path / f"copy{number}" / "graph.kuzu"
            path.parent.mkdir()
            copied.append((FollowedGraph(spoken._graph).copy(path, lambda: None), path))
    finally:
        stop.set()
        writer.join(60)
    assert len({at for at, _ in copied}) > 1
    everything = spoken.query(ALL)
    for at, path in copied:
        store = GraphStore.open(path)
        assert store.applied()[1] == at
        assert store.query("MATCH (t:Turn) RETURN t.seq AS seq, t.text AS text ORDER BY t.seq", None, timeout_s=10) == [
            {"seq": row["seq"], "text": row["text"]} for row in everything if row["seq"] <= at
        ]
        assert store.query("MATCH (:Turn)-[r:REPLIES_TO]->(:Turn) RETURN count(*) AS n", None, timeout_s=10) == [
            {"n": sum(row["seq"] <= at for row in everything) - 1}
        ]
        store.close()


def _checkpoint(store: GraphStore) -> None:
    with store._gate.alone(timeout_s=0.01) as alone:
        if alone:
            store.checkpoint()


def test_a_chat_goes_on_beside_a_query_that_a_cancel_or_close_ends(spoken: Memory, asked: threading.Semaphore) -> None:
    query = Asking(spoken)
    assert asked.acquire(timeout=60)
    (pid,) = spoken._apart.pids()
    recorded = spoken.append(said("more", parent="s5"))
    assert not recorded[0].graph_behind
    assert spoken.query("MATCH (t:Turn) RETURN count(*) AS n") == [{"n": 7}]
    assert query.ended is None
    query.cancelled.set()
    ended = query.wait()
    assert isinstance(ended, QueryTimeout)
    assert str(ended) == CANCELLED
    assert ends(pid)
    assert spoken.console.run(COUNT).rows == ((7,),)
    assert asked.acquire(timeout=60)
    query = Asking(spoken)
    assert asked.acquire(timeout=60)
    (pid,) = spoken._apart.pids()
    spoken.close()
    assert str(query.wait()) == CLOSING
    assert ends(pid)
    with pytest.raises(GraphFailure, match=r"memory is clos"):
        spoken.console.run(COUNT)


def test_who_stops_waiting_ends_nobody_elses_query(spoken: Memory, asked: threading.Semaphore) -> None:
    first = Asking(spoken)
    assert asked.acquire(timeout=60)
    second, third = Asking(spoken), Asking(spoken, COUNT)
    second.cancelled.set()
    assert str(second.wait()) == CANCELLED
    assert first.ended is None
    assert spoken._apart.pids()
    first.cancelled.set()
    assert str(first.wait()) == CANCELLED
    answer = third.wait()
    assert isinstance(answer, Answer)
    assert answer.rows == ((6,),)


def test_an_engine_that_breaks_down_or_does_not_hear_or_ended_is_told_and_the_next_query_is_answered(
    spoken: Memory, asked: threading.Semaphore, begun: threading.Semaphore
) -> None:
    query = Asking(spoken)
    assert begun.acquire(timeout=60)
    os.kill(spoken._apart.pids()[0], signal.SIGSEGV)
    ended = query.wait()
    assert isinstance(ended, EngineEnded)
    assert str(ended).startswith("The query ended its engine (it broke down: as it does of a time")
    assert spoken.console.run(COUNT).rows == ((6,),)
    while asked.acquire(blocking=False):
        pass
    query = Asking(spoken, timeout_s=1.0)
    assert asked.acquire(timeout=60)
    os.kill(spoken._apart.pids()[0], signal.SIGSTOP)  # so it hears of no time that is up, and is killed
    ended = query.wait()
    assert isinstance(ended, QueryTimeout)
    assert "took too long" in str(ended)
    assert spoken.console.run(COUNT).rows == ((6,),)
    engine, _ = spoken._apart._engines[False]
    assert engine._child.stdin is not None
    engine._child.stdin.close()  # as if nobody had asked for its time: the child ends by itself
    engine._reading.join(60)
    assert spoken.console.run(COUNT).rows == ((6,),)


def test_the_child_ends_by_itself_when_nobody_asks(spoken: Memory, tmp_path: Path) -> None:
    copy = tmp_path / "idle" / "copy.kuzu"
    copy.parent.mkdir()
    FollowedGraph(spoken._graph).copy(copy, lambda: None)
    code = (
        f"from graph.console import worker; worker.IDLE_S = 0.2; raise SystemExit(worker.main([{str(copy)!r}, 'all']))"
    )
    done = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=Path(__file__).parents[3]
    )
    assert done.stdin is not None
    assert done.stdout is not None
    with done.stdin, done.stdout:
        assert done.stdout.read() == b'{"ready": true}\n'
        assert done.wait(60) == 0
    assert list(copy.parent.iterdir()) == []


LIMITED = """
import resource, sys
from pathlib import Path
from graph.memory import Memory
from tests.graph.talk import talk
resource.setrlimit(resource.RLIMIT_AS, (72 << 30, 72 << 30))  # the graph itself maps 64 GB
memory = Memory.open(Path(sys.argv[1]), command="test")
memory.open_graph(lambda step: None)
talk(memory, 4)
print(memory.console.run("MATCH (t:Turn) RETURN count(*)").rows)
print(*memory._apart.pids(), flush=True)
sys.stdin.read()
"""


def test_killing_a_clew_of_limited_space_ends_its_engine_and_half_a_copy_goes(folder: Path, opening: Open) -> None:
    root = Path(__file__).parents[3]
    clew = subprocess.Popen(
        [sys.executable, "-c", LIMITED, str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        cwd=root, env={**os.environ, "PYTHONPATH": str(root)},
    )  # fmt: skip
    assert clew.stdout is not None
    assert clew.stdin is not None
    with clew.stdout, clew.stdin:
        assert clew.stdout.readline() == "((4,),)\n"
        pid = int(clew.stdout.readline())
        clew.kill()
        clew.wait(60)
    assert ends(pid)
    half = folder / FOLDER / "01X" / "copy.kuzu"  # as of one that was killed while it copied
    half.parent.mkdir(parents=True)
    half.write_bytes(b"x")
    memory = opening()
    assert not (folder / FOLDER).exists()
    memory.open_graph(ignore)
    assert memory.console.run(COUNT).rows == ((4,),)


def test_erasing_ends_the_engine_and_no_copy_has_words(whole: Memory, folder: Path, asked: threading.Semaphore) -> None:
    talk(whole, 2)
    whole.append(said("secret", parent="s1", text="Xylophonist"))
    query = Asking(whole)
    assert asked.acquire(timeout=60)
    (pid,) = whole._apart.pids()
    whole.append(delete("secret"))
    assert str(query.wait()) == ERASED
    assert ends(pid)
    assert whole.console.run("MATCH (t:Turn {id: 'secret'}) RETURN t.text").rows == ((None,),)
    (pid,) = whole._apart.pids()  # of a graph that has lost the words, in a file that may have them
    whole.purge.run(ignore)
    assert ends(pid)
    assert whole.purge.done(whole.purge.waiting())
    assert [path.name for path, held in look(folder, forms_of(["Xylophonist"])) if held] == []


def test_a_copy_made_during_an_erasure_is_dropped(whole: Memory, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    talk(whole, 2)
    whole.append(said("secret", parent="s1", text="Xylophonist"))
    copied, go_on = threading.Event(), threading.Event()
    copy = GraphStore.copy_file

    def slow(store: GraphStore, into: Path) -> int:
        since = copy(store, into)
        copied.set()
        assert go_on.wait(60)
        return since

    monkeypatch.setattr(GraphStore, "copy_file", slow)
    query = Asking(whole, COUNT)
    assert copied.wait(60)
    assert copies(folder)
    erasing = threading.Thread(target=whole._apart.erased)
    erasing.start()
    go_on.set()
    erasing.join(60)
    assert copies(folder) == []
    assert str(query.wait()) == ERASED


def test_a_past_has_an_engine_of_its_own_which_ends_with_it(spoken: Memory, asked: threading.Semaphore) -> None:
    spoken.console.prepare()
    with spoken.past(4) as past:
        assert past.console.run(COUNT).rows == ((3,),)
        (pid,) = past._apart.pids()
        assert pid not in spoken._apart.pids()
        query = Asking(past)  # type: ignore[arg-type]
        assert asked.acquire(timeout=60)
        assert asked.acquire(timeout=60)
        spoken.append(delete("s5"))
        assert str(query.wait()) == ENDED
        assert ends(pid)
        with pytest.raises(GraphFailure, match="deleted permanently"):
            past.console.run(COUNT)


def test_a_graph_that_cannot_be_asked_or_copied_says_why_and_leaves_nothing(
    memory: Memory, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(GraphFailure, match="not open yet"):
        memory.console.run(COUNT)
    memory.open_graph(ignore)
    talk(memory, 2)
    said_then: list[str] = []

    def ask(progress: Progress) -> None:
        if not memory.graph_ready:
            with pytest.raises(GraphFailure) as caught:
                memory.console.run(COUNT)
            said_then.append(str(caught.value))

    memory.rebuild(ask)
    assert set(said_then) == {BEHIND}
    monkeypatch.setattr(room, "TO_OPEN", 1 << 60)
    with pytest.raises(NoRoom, match=r"disk is nearly full.*a query needs.*Nothing was changed.*ask again"):
        memory.console.run(COUNT)
    monkeypatch.undo()
    assert memory.console.run(COUNT).rows == ((2,),)

    def full(store: GraphStore, into: Path) -> int:
        into.write_bytes(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(GraphStore, "copy_file", full)
    memory.append(said("more", parent="s1"))  # so that there is something to copy
    with pytest.raises(NoRoom, match=r"could not be copied.*No space left.*Free some space"):
        memory.console.run(COUNT)
    assert copies(folder) == []
    monkeypatch.undo()
    with no_more_files(), pytest.raises(GraphFailure, match=r"could not be copied.*Try again in a moment") as busy:
        memory.console.run(COUNT)
    assert not isinstance(busy.value, NoRoom)
    assert memory.console.run(COUNT).rows == ((3,),)
