"""A purge leaves no byte of what was deleted in the memory's files, wherever it is broken off and begun again."""

import random
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable
from contextlib import closing
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
from tests.examples import few
from tests.graph.conftest import Open, bad, ignore, purge, with_graph
from tests.graph.deeds import delete
from tests.graph.talk import reply, said, talk
from tests.graph.teach import forget, observed

SECRET = "Xylophonist"
NOW = datetime(2026, 11, 1, tzinfo=UTC)


def holding(folder: Path, *words: str) -> list[str]:
    return [path.name for path, held in look(folder, forms_of(words or [SECRET])) if held]


def holding_words(folder: Path, words: Iterable[str]) -> list[str]:
    return [word for _, held in look(folder, forms_of(words)) for word in held or ()]


def tell_a_secret(memory: Memory) -> None:
    talk(memory, 4)
    memory.append(said("t", parent="s3", text=f"I am a {SECRET}."), reply("u", parent="t", text="How nice."))
    memory.append(observed("m1", "t", text=f"The user is a {SECRET}"))


@pytest.fixture
def left(whole: Memory) -> Memory:
    """A memory whose graph has a deleted word in its file."""
    tell_a_secret(whole)
    whole.append(delete("t"))
    return whole


@pytest.mark.restarts
def test_after_a_purge_no_file_of_the_open_memory_has_a_word_and_all_goes_on(whole: Memory, folder: Path) -> None:
    tell_a_secret(whole)
    for _ in range(2):  # it is in the graph's file, and with the next one in the one set aside
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
    assert bad(whole) == []


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
        for turn in ("t", "s3", "s2")[: few(4)]:
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


def test_nothing_reads_text_to_be_purged_and_what_came_and_went_at_once_goes_too(memory: Memory, folder: Path) -> None:
    tell_a_secret(memory)
    memory.append(delete("t"))
    memory.append(said("v", parent="u", text=f"Still a {SECRET}."), delete("v"))
    assert memory.readings.turn("t").text is None
    assert not any(SECRET in text for _, text in memory.unembedded("any", 99))
    with memory.readings.snapshot() as db:
        for index in ("words", "learned"):
            assert db.execute(f"SELECT rowid FROM {index} WHERE {index} MATCH ?", (SECRET,)).fetchall() == []
    purge(memory)
    assert holding(folder) == []


def test_words_of_kept_texts_are_not_looked_for(memory: Memory) -> None:
    tell_a_secret(memory)
    memory.append(
        said("v", parent="u", text="My cousin plays the bassoon."), said("w", parent="v", text="A bassoon? Zanzibar!")
    )
    memory.append(delete("w"))
    assert set(memory.purge.words()) == {"Zanzibar", "A bassoon? Zanzibar!"}
    memory.append(said("x", parent="v", text="In zanzibar."))
    assert set(memory.purge.words()) == {"A bassoon? Zanzibar!"}, "every word is kept, and nobody says them like this"
    memory.append(said("y", parent="x", text="So: a bassoon? Zanzibar!"))
    assert memory.purge.words() == {}


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
        *("append", "word indexes", "half the word indexes", "building", "loading", "set aside"),
        *("in place", "graph", "files", "blank", "emptied"),
    ],
)
def test_a_purge_that_was_killed_at_any_step_is_ended_by_the_next(opening: Open, folder: Path, step: str) -> None:
    memory = with_graph(opening)
    tell_a_secret(memory)
    memory.close()
    ended = subprocess.run([sys.executable, "-c", CHILD, step, str(folder)], check=False, timeout=60)
    assert ended.returncode == 9
    memory = with_graph(opening)
    assert memory.purge.waiting()
    purge(memory)
    assert holding(folder) == []
    assert memory.purge.waiting() == {}
    assert bad(memory) == []


@pytest.mark.restarts
def test_graphs_follow_while_another_is_built_and_later_deletions_wait_for_the_next(left: Memory, folder: Path) -> None:
    left.append(said("v", parent="u", text="Zanzibar"))
    first = frozenset(left.purge.waiting())
    behind: list[bool] = []

    def meanwhile(progress: Progress) -> None:
        if progress.what == "rebuilding":
            more = said(f"v{len(behind)}", parent="u", text=f"more {len(behind)}")
            behind.append(left.append(more, *([] if behind else [delete("v")]))[0].graph_behind)

    left.purge.run(meanwhile)
    assert left.purge.done(first)
    assert list(left.purge.waiting().values()) == ["Zanzibar"]
    assert holding(folder) == []
    assert set(behind) == {False}
    assert left.graph_ready
    told = left.query("MATCH (t:Turn) WHERE t.text STARTS WITH 'more' RETURN count(*) AS n")
    assert told == [{"n": len(behind)}]
    purge(left)
    assert holding(folder, "Zanzibar") == []
    assert left.query("MATCH (t:Turn {id: 'v'}) RETURN t.text AS text") == [{"text": None}]
    assert bad(left) == []


def closes(memory: Memory) -> Callable[[Progress], None]:
    """Closes a graph in the middle of its rebuild."""

    def close(progress: Progress) -> None:
        if progress.what == "rebuilding":
            memory._graph._stopping.set()

    return close


@pytest.mark.process
def test_the_graph_of_a_large_log_is_built_in_a_process_of_its_own_which_fails_or_is_ended_without_harm(
    left: Memory, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("graph.kuzu.rebuild_worker.SMALL", 0)
    monkeypatch.setattr("graph.kuzu.rebuild._load", None)  # it is not this process that loads the tables
    with closing(sqlite3.connect(folder / "log.sqlite", isolation_level=None)) as db:
        structure = db.execute("SELECT structure FROM events WHERE seq = 2").fetchone()[0]
        db.execute("UPDATE events SET structure = '[]' WHERE seq = 2")
        with pytest.raises(MemoryFailure):
            left.purge.run(ignore)
        assert left.graph_ready
        assert not (folder / NEW).exists()
        db.execute("UPDATE events SET structure = ? WHERE seq = 2", (structure,))
    steps: list[Progress] = []
    left.purge.run(steps.append)
    assert Progress("rebuilding", 1, left.head()) in steps
    assert left.purge.done(left.purge.waiting())
    assert holding(folder) == []
    assert bad(left) == []
    left.append(delete("u"))
    with pytest.raises(GraphFailure):
        left.purge.run(closes(left))
    assert not (folder / NEW).exists()


@pytest.mark.restarts
def test_a_closed_graphs_files_go_and_the_next_opening_makes_others(whole: Memory, opening: Open, folder: Path) -> None:
    tell_a_secret(whole)
    memory = opening()
    memory.append(delete("t"))
    purge(memory)
    assert holding(folder) == []
    assert not (folder / "graph.kuzu").exists()
    memory.open_graph(ignore)
    assert bad(memory) == []


@pytest.mark.restarts
def test_a_purge_ends_when_the_memory_is_closed_and_nothing_is_lost(left: Memory, opening: Open, folder: Path) -> None:
    with pytest.raises(GraphFailure):
        left.purge.run(closes(left))
    memory = with_graph(opening)
    purge(memory)
    assert holding(folder) == []


def test_a_reader_of_the_log_keeps_the_purge_pending_and_the_writer_goes_on(memory: Memory, folder: Path) -> None:
    tell_a_secret(memory)
    memory.append(delete("t"))
    memory.purge.run(ignore)
    with closing(sqlite3.connect(folder / "log.sqlite", isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM events").fetchone()
        waiting = memory.purge.waiting()
        assert not memory.purge.done(waiting)
        assert set(memory.purge.waiting()) == set(waiting)
        memory.append(said("v", parent="u", text="It goes on."))
        reader.execute("ROLLBACK")
    assert memory.purge.done(waiting)
    assert (memory.purge.waiting(), holding(folder)) == ({}, [])


def test_whatever_is_deleted_in_whatever_order_leaves_no_byte(memory: Memory, folder: Path) -> None:
    source = random.Random(11)
    told = {f"t{number}": f"zq{number:04}y" for number in range(200)}
    talk(memory, 1)
    for at in range(0, 200, 20):
        memory.append(
            *(
                said(turn, text=" ".join([word, *source.choices(["alpha", "beta", "gamma"], k=source.randint(0, 400))]))
                for turn, word in list(told.items())[at : at + 20]
            )
        )
    empty_wal(folder / "log.sqlite")
    gone: set[str] = set()
    for _ in range(few(12)):
        chosen = source.sample(sorted(told.keys() - gone), 15)
        for turn in chosen:
            memory.append(delete(turn))
        gone |= set(chosen)
        purge(memory)
        kept = {word for turn, word in told.items() if turn not in gone}
        if set(holding_words(folder, told.values())) - kept:  # a page of a word index kept what was moved from it
            memory.purge.compact()  # as agent/erasure.py does
        assert set(holding_words(folder, told.values())) == kept


def test_a_copy_loses_what_was_deleted_since_and_is_one_file_that_verifies(memory: Memory, folder: Path) -> None:
    tell_a_secret(memory)
    copy = folder.parent / "copies" / "log.sqlite"
    copy.parent.mkdir(mode=0o700)
    copy_log(folder, copy)
    assert holding(copy.parent) == ["log.sqlite"]
    memory.append(delete("t"), forget("m1"))
    assert memory.purge.copy(copy) == 2
    assert memory.purge.copy(copy) == 0
    assert [path.name for path in copy.parent.iterdir()] == ["log.sqlite"]
    assert holding(copy.parent) == []
    with closing(Memory.open(copy.parent, command="test")) as again:
        again.open_graph(ignore)
        assert bad(again) == []
        assert again.readings.turn("s3").text == "s3"
    broken = folder.parent / "broken.sqlite"
    broken.write_bytes(b"not a database, whatever it says" * 200)
    with pytest.raises((LogDamaged, LogUnwritable)):
        purge_copy(broken, folder)


@pytest.mark.restarts
def test_a_graph_remade_in_a_purge_is_made_once(left: Memory, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    replace = Follower._replace

    def after_a_rebuild(follower: Follower) -> None:
        follower._rebuild()
        replace(follower)

    monkeypatch.setattr(Follower, "_replace", after_a_rebuild)
    purge(left)
    assert left.graph_ready
    assert not (folder / PURGE).exists()
    assert holding(folder) == []


def test_an_append_does_not_wait_for_the_rewriting_of_indexes(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    tell_a_secret(memory)
    memory.append(delete("t"))
    between, appended = threading.Event(), threading.Event()

    def breathe() -> None:
        between.set()
        appended.wait(20)

    monkeypatch.setattr(memory.purge, "_breathe", breathe)
    monkeypatch.setattr(Log, "rewrite_words", lambda log, index, first: first)
    work = threading.Thread(target=memory.purge.run, args=(ignore,))
    work.start()
    assert between.wait(20)
    memory.append(said("v", parent="u", text="It goes on."))
    appended.set()
    work.join()
    assert memory.readings.turn("v").text == "It goes on."
