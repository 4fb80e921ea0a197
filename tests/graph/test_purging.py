"""A purge leaves no byte of what was deleted in the memory's files, wherever it is broken off and begun again."""

import random
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from graph.errors import GraphFailure, LogDamaged, LogUnwritable, MemoryFailure
from graph.kuzu.follower import Follower
from graph.kuzu.opening import PURGE
from graph.kuzu.rebuild import ASIDE, NEW
from graph.log.byte_search import forms_of, look
from graph.log.erasing import empty_wal
from graph.log.log import Log
from graph.memory import Memory
from graph.transfer.backup import copy_log
from graph.upkeep import purge_copy
from graph.values import Progress
from tests.graph.conftest import Open, ignore
from tests.graph.talk import delete, reply, said, talk
from tests.graph.teach import forget, observed

SECRET = "Xylophonist"
NOW = datetime(2026, 11, 1, tzinfo=UTC)


def holding(folder: Path, *words: str) -> list[str]:
    return [path.name for path, held in look(folder, forms_of(words or [SECRET])) if held]


def purge(memory: Memory) -> None:
    memory.purge.run(ignore)
    assert memory.purge.done(memory.purge.waiting())


def tell_a_secret(memory: Memory) -> None:
    talk(memory, 4)
    memory.append(
        said("t", parent="s3", text=f"I am a {SECRET}."),
        reply("u", parent="t", text="How nice."),
        observed("m1", "t", text=f"The user is a {SECRET}"),
    )
    memory.rebuild(ignore)  # in the graph's file, and with the next one in the one set aside


def tell_a_secret_and_leave_it(memory: Memory) -> None:
    """A log whose graph has a deleted word in its file."""
    tell_a_secret(memory)
    memory.append(delete("t"))


@pytest.mark.restarts
def test_after_a_purge_no_file_of_the_open_memory_has_a_word_and_everything_goes_on(
    whole: Memory, folder: Path
) -> None:
    tell_a_secret(whole)
    whole.rebuild(ignore)
    assert {"graph.kuzu", ASIDE, "log.sqlite"} <= set(holding(folder))
    whole.append(delete("t"))
    assert whole.readings.search_words(SECRET) == []
    assert set(whole.purge.waiting().values()) == {f"I am a {SECRET}.", f"The user is a {SECRET}"}
    purge(whole)
    assert holding(folder) == []
    assert whole.graph_ready
    whole.append(said("v", parent="u", text="It goes on."))
    assert whole.query("MATCH (t:Turn {id: 'v'}) RETURN t.text AS text") == [{"text": "It goes on."}]
    assert [check for check in whole.doctor() if not check.ok] == []


@pytest.mark.restarts
def test_whoever_reads_while_the_graphs_change_places_is_answered(whole: Memory) -> None:
    tell_a_secret(whole)
    stop, heard, troubles = threading.Event(), [0, 0], list[Exception]()

    def read(which: int, question: Callable[[], object]) -> None:
        while not stop.is_set():
            try:
                question()
                heard[which] += 1
            except MemoryFailure as error:
                troubles.append(error)

    readers = [
        threading.Thread(target=read, args=(0, lambda: whole.query("MATCH (t:Turn) RETURN count(t)"))),
        threading.Thread(target=read, args=(1, lambda: whole.recall.search("nice", now=NOW, timezone=UTC))),
    ]
    for reader in readers:
        reader.start()
    try:
        for turn in ("t", "s3", "s2"):
            whole.append(delete(turn))
            before = list(heard)
            purge(whole)
            while any(now <= then for now, then in zip(heard, before, strict=True)) and not troubles:
                stop.wait(0.01)
    finally:
        stop.set()
        for reader in readers:
            reader.join()
    assert not troubles


@pytest.mark.restarts
def test_nothing_reads_a_text_that_waits_to_be_purged(whole: Memory) -> None:
    tell_a_secret(whole)
    whole.append(delete("t"))
    assert whole.readings.turn("t").text is None
    assert whole.unembedded("any", 99) == [each for each in whole.unembedded("any", 99) if SECRET not in each[1]]
    with whole.readings.snapshot() as db:
        for index in ("words", "learned"):
            assert db.execute(f"SELECT rowid FROM {index} WHERE {index} MATCH ?", (SECRET,)).fetchall() == []


@pytest.mark.restarts
def test_words_of_kept_texts_are_not_looked_for(whole: Memory) -> None:
    tell_a_secret(whole)
    whole.append(
        said("v", parent="u", text="My cousin plays the bassoon."), said("w", parent="v", text="A bassoon? Zanzibar!")
    )
    whole.append(delete("w"))
    assert set(whole.purge.words()) == {"Zanzibar", "A bassoon? Zanzibar!"}
    whole.append(said("x", parent="v", text="In zanzibar."))
    assert set(whole.purge.words()) == {"A bassoon? Zanzibar!"}, "every word is kept, and nobody says them like this"
    whole.append(said("y", parent="x", text="So: a bassoon? Zanzibar!"))
    assert whole.purge.words() == {}


CHILD = """
import os, sys
from pathlib import Path
from graph.memory import Memory
from graph import upkeep
from graph.kuzu import rebuild, follower
from graph.events import TurnDeleted
from tests.graph.conftest import ignore
step, folder = sys.argv[1], Path(sys.argv[2])
memory = Memory.open(folder, command="child")
memory.open_graph(ignore)
memory.append(TurnDeleted(turn="t"))
def die(*args, **named):
    os._exit(9)
match step:
    case "append": die()
    case "word indexes": memory._graph.purge = die
    case "half the word indexes": memory._log.rewrite_words = lambda index, first: index == "learned" and die()
    case "building": rebuild.follow = die
    case "loading": rebuild.FEW, rebuild._load = 0, die
    case "set aside": rebuild._move = die
    case "in place": follower.open_trusted = die
    case "graph": memory._graph._clear = die
    case "files": memory.purge.done = die
    case "blank": upkeep.erasing.empty_wal = die
    case "emptied": memory._log.forget_purged = die
memory.purge.run(ignore)
memory.purge.done(memory.purge.waiting())
"""


@pytest.mark.process
@pytest.mark.parametrize(
    "step",
    [
        "append",
        "word indexes",
        "half the word indexes",
        "building",
        "loading",
        "set aside",
        "in place",
        "graph",
        "files",
        "blank",
        "emptied",
    ],
)
def test_a_purge_that_was_killed_at_any_step_is_ended_by_the_next(opening: Open, folder: Path, step: str) -> None:
    memory = opening()
    memory.open_graph(ignore)
    tell_a_secret(memory)
    memory.close()
    ended = subprocess.run([sys.executable, "-c", CHILD, step, str(folder)], check=False, timeout=60)
    assert ended.returncode == 9
    memory = opening()
    memory.open_graph(ignore)
    assert memory.purge.waiting()
    purge(memory)
    assert holding(folder) == []
    assert memory.purge.waiting() == {}
    assert [check for check in memory.doctor() if not check.ok] == []


@pytest.mark.restarts
def test_what_is_deleted_during_a_purge_stays_for_the_next(whole: Memory, folder: Path) -> None:
    tell_a_secret(whole)
    whole.append(said("v", parent="u", text="Zanzibar"))
    whole.append(delete("t"))
    first = frozenset(whole.purge.waiting())

    def meanwhile(progress: Progress) -> None:
        if progress.what == "rebuilding" and "v" not in whole.history.reach.deleted(["v"]):
            whole.append(delete("v"))

    whole.purge.run(meanwhile)
    assert whole.purge.done(first)
    assert list(whole.purge.waiting().values()) == ["Zanzibar"]
    assert holding(folder) == []
    purge(whole)
    assert holding(folder, "Zanzibar") == []
    assert whole.query("MATCH (t:Turn {id: 'v'}) RETURN t.text AS text") == [{"text": None}]


@pytest.mark.restarts
def test_the_graph_follows_while_another_is_built_in_its_place(whole: Memory) -> None:
    tell_a_secret(whole)
    whole.append(delete("t"))
    behind: list[bool] = []

    def meanwhile(progress: Progress) -> None:
        if progress.what == "rebuilding":
            number = len(behind)
            behind.append(whole.append(said(f"v{number}", parent="u", text=f"more {number}"))[0].graph_behind)

    whole.purge.run(meanwhile)
    assert set(behind) == {False}
    assert whole.graph_ready
    said_meanwhile = whole.query("MATCH (t:Turn) WHERE t.text STARTS WITH 'more' RETURN count(*) AS n")
    assert said_meanwhile == [{"n": len(behind)}]
    assert [check.name for check in whole.doctor() if not check.ok] == []


@pytest.mark.process
def test_the_graph_of_a_large_log_is_built_in_a_process_of_its_own(
    whole: Memory, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tell_a_secret_and_leave_it(whole)
    monkeypatch.setattr("graph.kuzu.rebuild_worker.SMALL", 0)
    monkeypatch.setattr("graph.kuzu.rebuild._load", None)  # it is not this process that loads the tables
    steps: list[Progress] = []
    whole.purge.run(steps.append)
    assert Progress("rebuilding", 1, whole.head()) in steps
    assert whole.purge.done(whole.purge.waiting())
    assert holding(folder) == []
    assert [check for check in whole.doctor() if not check.ok] == []


@pytest.mark.process
def test_a_process_that_cannot_build_the_graph_is_told_and_leaves_the_graph_in_use(
    whole: Memory, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("graph.kuzu.rebuild_worker.SMALL", 0)
    tell_a_secret_and_leave_it(whole)
    with sqlite3.connect(folder / "log.sqlite") as db:
        structure = db.execute("SELECT structure FROM events WHERE seq = 2").fetchone()[0]
        db.execute("UPDATE events SET structure = '[]' WHERE seq = 2")
    with pytest.raises(MemoryFailure):
        whole.purge.run(ignore)
    assert whole.graph_ready
    assert not (folder / NEW).exists()
    with db:
        db.execute("UPDATE events SET structure = ? WHERE seq = 2", (structure,))
    db.close()
    purge(whole)
    assert holding(folder) == []


@pytest.mark.process
def test_closing_ends_the_process_that_builds(opening: Open, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("graph.kuzu.rebuild_worker.SMALL", 0)
    memory = opening()
    memory.open_graph(ignore)
    tell_a_secret_and_leave_it(memory)

    def closing(progress: Progress) -> None:
        if progress.what == "rebuilding":
            memory._graph._stopping.set()

    with pytest.raises(GraphFailure):
        memory.purge.run(closing)
    assert not (folder / NEW).exists()


@pytest.mark.restarts
def test_without_an_open_graph_its_files_go_and_the_next_opening_makes_it_anew(opening: Open, folder: Path) -> None:
    memory = opening()
    memory.open_graph(ignore)
    tell_a_secret(memory)
    memory = opening()
    memory.append(delete("t"))
    purge(memory)
    assert holding(folder) == []
    assert not (folder / "graph.kuzu").exists()
    memory.open_graph(ignore)
    assert [check for check in memory.doctor() if not check.ok] == []


@pytest.mark.restarts
def test_a_purge_ends_when_the_memory_is_closed_and_nothing_is_lost(opening: Open, folder: Path) -> None:
    memory = opening()
    memory.open_graph(ignore)
    tell_a_secret(memory)
    memory.append(delete("t"))

    def closing(progress: Progress) -> None:
        if progress.what == "rebuilding":
            memory._graph._stopping.set()

    with pytest.raises(GraphFailure):
        memory.purge.run(closing)
    memory = opening()
    memory.open_graph(ignore)
    purge(memory)
    assert holding(folder) == []


@pytest.mark.restarts
def test_a_reader_of_the_log_keeps_the_purge_pending_and_the_writer_goes_on(whole: Memory, folder: Path) -> None:
    tell_a_secret(whole)
    whole.append(delete("t"))
    whole.purge.run(ignore)
    reader = sqlite3.connect(folder / "log.sqlite", isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM events").fetchone()
    waiting = whole.purge.waiting()
    assert not whole.purge.done(waiting)
    assert set(whole.purge.waiting()) == set(waiting)
    whole.append(said("v", parent="u", text="It goes on."))
    reader.execute("ROLLBACK")
    reader.close()
    assert whole.purge.done(waiting)
    assert (whole.purge.waiting(), holding(folder)) == ({}, [])


def test_whatever_is_deleted_in_whatever_order_leaves_no_byte(memory: Memory, folder: Path) -> None:
    source = random.Random(11)
    told = {f"t{number}": f"zq{number:04}y" for number in range(300)}
    talk(memory, 1)
    for at in range(0, 300, 20):
        memory.append(
            *(
                said(turn, text=" ".join([word, *source.choices(["alpha", "beta", "gamma"], k=source.randint(0, 700))]))
                for turn, word in list(told.items())[at : at + 20]
            )
        )
    empty_wal(folder / "log.sqlite")
    gone: set[str] = set()
    for _ in range(6):
        chosen = source.sample(sorted(told.keys() - gone), 40)
        for turn in chosen:
            memory.append(delete(turn))
        gone |= set(chosen)
        purge(memory)
        found = {word for path, held in look(folder, forms_of(told.values())) for word in held}
        assert found == {word for turn, word in told.items() if turn not in gone}


def test_said_and_deleted_in_one_append_leaves_the_word_index_too(memory: Memory, folder: Path) -> None:
    talk(memory, 1)
    memory.append(said("t", text=f"I am a {SECRET}."), delete("t"))
    purge(memory)
    assert holding(folder) == []


@pytest.mark.restarts
def test_a_copy_loses_what_was_deleted_since_and_is_one_file_that_verifies(whole: Memory, folder: Path) -> None:
    tell_a_secret(whole)
    copy = folder.parent / "copies" / "log.sqlite"
    copy.parent.mkdir(mode=0o700)
    copy_log(folder, copy)
    assert holding(copy.parent) == ["log.sqlite"]
    whole.append(delete("t"), forget("m1"))
    assert whole.purge.copy(copy) == 2
    assert whole.purge.copy(copy) == 0
    assert [path.name for path in copy.parent.iterdir()] == ["log.sqlite"]
    assert holding(copy.parent) == []
    again = Memory.open(copy.parent, command="test")
    again.open_graph(ignore)
    assert [check for check in again.doctor() if not check.ok] == []
    assert again.readings.turn("s3").text == "s3"
    again.close()


def test_a_copy_that_cannot_be_opened_is_told(folder: Path, memory: Memory) -> None:
    talk(memory, 1)
    broken = folder.parent / "broken.sqlite"
    broken.write_bytes(b"not a database, whatever it says" * 200)
    with pytest.raises((LogDamaged, LogUnwritable)):
        purge_copy(broken, folder)


@pytest.mark.restarts
def test_a_graph_that_has_to_be_made_anew_during_a_purge_is_made_once(
    whole: Memory, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tell_a_secret(whole)
    whole.append(delete("t"))
    replace = Follower._replace

    def after_a_rebuild(follower: Follower) -> None:
        follower._rebuild()
        replace(follower)

    monkeypatch.setattr(Follower, "_replace", after_a_rebuild)
    purge(whole)
    assert whole.graph_ready
    assert not (folder / PURGE).exists()
    assert holding(folder) == []


@pytest.mark.restarts
def test_an_append_does_not_wait_for_the_rewriting_of_the_indexes(
    whole: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    tell_a_secret(whole)
    whole.append(delete("t"))
    between, appended = threading.Event(), threading.Event()

    def breathe() -> None:
        between.set()
        appended.wait(20)

    monkeypatch.setattr(whole.purge, "_breathe", breathe)
    monkeypatch.setattr(Log, "rewrite_words", lambda log, index, first: first)
    work = threading.Thread(target=whole.purge.run, args=(ignore,))
    work.start()
    assert between.wait(20)
    whole.append(said("v", parent="u", text="It goes on."))
    appended.set()
    work.join()
    assert whole.readings.turn("v").text == "It goes on."
