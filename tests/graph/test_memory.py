"""The whole memory: who holds it, what a crash leaves, what bad input does."""

import os
import resource
import signal
import sqlite3
import subprocess
import sys
import textwrap
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from graph.errors import GraphFailure, LogUnwritable, MemoryHeld
from graph.log.lock import holder
from graph.memory import Memory
from graph.reader import LogReader
from tests.examples import soaking
from tests.graph.conftest import Open, bad, with_graph
from tests.graph.deeds import begin, drop
from tests.graph.talk import reply, said, talk

MB = 1 << 20


def test_a_second_opening_is_told_at_once_who_holds_the_memory_until_it_is_closed(memory: Memory, folder: Path) -> None:
    with pytest.raises(MemoryHeld, match=rf"`test` \(process {os.getpid()}\)") as refused:
        Memory.open(folder, command="other")
    assert refused.value.holder == holder(folder)
    name = (folder / "holder.json").read_bytes()
    memory.close()
    assert holder(folder) is None
    (folder / "holder.json").write_bytes(name)
    assert holder(folder) is None, "one that died holds nothing"
    with closing(Memory.open(folder, command="other")) as other:
        memory.close()  # a second time, which leaves the next holder alone
        assert holder(folder) is not None
        assert other.starts == 2


def test_a_reply_cut_off_by_a_crash_becomes_a_truncated_turn(memory: Memory, opening: Open) -> None:
    talk(memory, 1)
    memory.stream("r", session="s", parent="s0", model="tiny", text="Once upon a")
    again = opening()
    turn = again.readings.thread("s")[-1]
    assert again.recovered == 1
    assert (turn.id, turn.text, turn.stop_reason) == ("r", "Once upon a", "crashed")
    assert (turn.model, turn.client) == ("tiny", "test")
    assert turn.truncated
    assert opening().recovered == 0


def test_a_wordless_reply_is_none_and_a_stored_ones_stream_goes(memory: Memory, opening: Open, folder: Path) -> None:
    talk(memory, 1)
    memory.stream("empty", session="s", parent="s0", model="tiny", text="")
    talk(memory, 1, "t")
    memory.append(reply("r", "t", parent="t0", text="whole"))
    memory.stream("r", session="t", parent="t0", model=None, text="who")
    again = opening()
    assert again.recovered == 0
    assert [each.reply and each.reply.text for each in again.readings.exchanges()] == ["whole", None]
    with closing(sqlite3.connect(folder / "log.sqlite")) as db:
        assert db.execute("SELECT count(*) FROM streams").fetchone() == (0,)


def test_messages_left_in_the_queue_are_taken_up_in_order_after_a_cut_off_reply(memory: Memory, opening: Open) -> None:
    talk(memory, 1)
    talk(memory, 1, "gone")
    memory.append(said("g1", "gone", queued=True), drop("gone"))
    memory.append(said("q1", queued=True), said("q2", queued=True))
    memory.stream("r", session="s", parent="s0", model="tiny", text="Once")
    again = opening()
    assert [turn.id for turn in again.readings.thread("s")] == ["s0", "r", "q1", "q2"]
    assert again.readings.waiting("s") == []
    head = again.head()
    assert opening().head() == head


def test_lone_surrogates_nul_and_five_megabytes_go_through_log_words_and_graph(whole: Memory) -> None:
    texts = {
        "lone": "a\ud800b",
        "pair": "\ud83d\ude00",
        "nul": "a\x00b",
        "big": "word " * MB,
        "control": "\x1b[2J\r\x07",
    }
    whole.append(begin("s", client="te\ud800st"))
    for turn, text in texts.items():
        assert not whole.append(said(turn, text=text))[0].graph_behind
    expected = {**texts, "lone": "a\ufffdb", "pair": "\U0001f600"}
    assert {turn: whole.readings.turn(turn).text for turn in texts} == expected
    rows = whole.query("MATCH (t:Turn) RETURN t.id AS id, t.text AS text")
    assert {row["id"]: row["text"] for row in rows} == expected
    assert bad(whole) == []


def test_a_disk_that_fills_up_is_named_and_stops_the_append_and_nothing_else(memory: Memory) -> None:
    talk(memory, 2)
    with no_space_beyond(1 * MB), pytest.raises(LogUnwritable, match="Earlier data is safe"):
        memory.append(said("big", parent="s1", text="x" * 2 * MB))
    with no_space_beyond(1 * MB), pytest.raises(LogUnwritable):
        memory.stream("r", session="s", parent="s1", model=None, text="x" * 2 * MB)
    memory._log._db.execute("PRAGMA max_page_count = 1")  # SQLite then answers as it does on ENOSPC
    with pytest.raises(LogUnwritable, match="The disk is full"):
        memory.append(said("big", parent="s1", text="x" * MB))
    memory._log._db.execute("PRAGMA max_page_count = 1000000")
    assert [turn.id for turn in memory.readings.thread("s")] == ["s0", "s1"]
    memory.append(said("small", parent="s1"))
    assert memory.readings.thread("s")[-1].id == "small"
    assert bad(memory) == []


def test_a_home_that_cannot_be_written_is_named_and_can_still_be_read(memory: Memory, folder: Path) -> None:
    talk(memory, 2)
    memory.close()
    with nobody_may_write(folder):
        with pytest.raises(LogUnwritable, match="cannot be written"):
            Memory.open(folder, command="test")
        reader = LogReader.open(folder)
        assert [turn.id for turn in reader.thread("s")] == ["s0", "s1"]
        reader.close()
        with pytest.raises(LogUnwritable, match="cannot be written"):
            Memory.open(folder / "deeper", command="test")


def test_everything_stored_is_the_users_alone(whole: Memory, folder: Path) -> None:
    talk(whole, 2)
    assert {path.name for path in folder.iterdir() if path.stat().st_mode & 0o077} == set()
    assert folder.stat().st_mode & 0o777 == 0o700


@pytest.mark.process
def test_opening_a_memory_imports_no_engine() -> None:
    code = """
    import sys, tempfile, pathlib
    from graph.memory import Memory
    Memory.open(pathlib.Path(tempfile.mkdtemp()) / "m", command="test").close()
    print([name for name in ("kuzu", "numpy", "pyarrow", "textual", "llama_cpp") if name in sys.modules])
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


WRITER = """
import sys
from pathlib import Path
from graph.events import SessionStarted
from graph.ids import new_id
from graph.memory import Memory
from tests.graph.talk import reply, said

memory = Memory.open(Path(sys.argv[1]), command="writer")
memory.open_graph(lambda progress: None)
session, parent = new_id(), None
memory.append(SessionStarted(session=session, client="writer"))
while True:
    question, answer = new_id(), new_id()
    memory.append(said(question, session, parent=parent, text="word " * 20))
    print("turn", question, flush=True)
    for words in range(1, 4):
        memory.stream(answer, session=session, parent=question, model="m", text="word " * words)
        print("stream", answer, words, flush=True)
    memory.append(reply(answer, session, parent=question, text="word " * 9), ends_stream=answer)
    print("turn", answer, flush=True)
    parent = answer
"""


KILLED_AFTER = (3, 9, *(1, 2, 4, 5, 7, 27, 11, 14, 16, 29, 61, 63), *(1, 3))  # acknowledged steps


@pytest.mark.process
def test_kill_9_loses_nothing_acknowledged_and_needs_no_repair(folder: Path, opening: Open) -> None:
    told: list[list[str]] = []
    for lines in KILLED_AFTER[: len(KILLED_AFTER) if soaking() else 2]:  # each begins on what the last one's death left
        told += killed_writer(folder, lines)
        memory = with_graph(opening)
        assert all(memory.readings.turn(id).text for kind, id, *_ in told if kind == "turn")
        streamed = {id: int(rest[0]) for kind, id, *rest in told if kind == "stream"}
        for id, words in streamed.items():
            assert len((memory.readings.turn(id).text or "").split()) >= words
        assert bad(memory) == []
        memory.close()


def killed_writer(folder: Path, lines: int) -> list[list[str]]:
    """Let a process write, kill it as soon as it has acknowledged so many steps; returns all it acknowledged."""
    command = [sys.executable, "-c", WRITER, str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        told = [writer.stdout.readline() for _ in range(lines)]
        writer.send_signal(signal.SIGKILL)
        told += writer.stdout.readlines()
    assert writer.returncode == -signal.SIGKILL
    return [line.split() for line in told if line.endswith("\n")]


@contextmanager
def no_space_beyond(bytes: int) -> Iterator[None]:
    """No file of this process grows beyond a size: a write that would fails, as on a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (bytes, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, before)


@contextmanager
def nobody_may_write(folder: Path) -> Iterator[None]:
    """The folder and its files become read-only, and root, who could write all the same, becomes nobody."""
    parents = [path for path in folder.parents if path.owner() != "root" or path.stat().st_mode & 0o001 == 0]
    modes = {path: path.stat().st_mode for path in [*parents, folder, *folder.iterdir()]}
    for path in parents:
        path.chmod(0o755)
    folder.chmod(0o555)
    for path in folder.iterdir():
        path.chmod(0o444)
    if os.geteuid() == 0:
        os.seteuid(65534)
    try:
        yield
    finally:
        if os.getuid() == 0:
            os.seteuid(0)
        for path, mode in modes.items():
            path.chmod(mode)


@pytest.mark.restarts
def test_closing_while_the_graph_opens_leaves_nobody_waiting(tmp_path: Path) -> None:
    for head_start in range(12):
        memory = Memory.open(tmp_path, command="test")
        begun = threading.Event()

        def opening(memory: Memory = memory, begun: threading.Event = begun) -> None:
            begun.set()
            try:
                memory.open_graph(lambda progress: None)
            except GraphFailure:
                return  # it was closed first

        thread = threading.Thread(target=opening, daemon=True)
        thread.start()
        if head_start % 3:
            begun.wait(10)
        memory.close()
        thread.join(30)
        assert not thread.is_alive()
