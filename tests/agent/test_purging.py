"""What is deleted leaves every file of the home: while the agent runs, after a kill, and in the backups."""

import asyncio
import itertools
import json
import shutil
import sqlite3
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from agent.agent import Agent
from agent.asking.shelf import Ran, Saved
from agent.asking.store import QueryStore
from agent.backups import _head as newest_of
from agent.erasure import GONE_TOO, PurgeStopped, absent, purge_copies
from agent.events import TurnAccepted, Warned
from agent.home import Home
from agent.language.words import stem
from agent.settings import Settings
from agent.themes import Sketch
from graph.errors import MemoryFailure
from graph.events import TurnDeleted
from graph.log import byte_search
from graph.log.byte_search import Forms, forms_of, look, look_into
from graph.memory import Memory
from graph.transfer.backup import backups_of, copy_log
from graph.transfer.restoring import prepared
from graph.upkeep import Purge
from tests.agent.conftest import MakeAgent, collect
from tests.fakes import FakeGenerator

SECRET = "Xylophonist"
WORDS = forms_of([SECRET])
QUIET = Settings(reflect=False)
DAMAGED = b"SQLite format 3\0" + b"x" * 4096


def holding(words: Forms = WORDS) -> set[str]:
    """The files of the home that hold a word, the models' left out."""
    home = Home.resolve()
    found = look(home.root, words, leave_out={home.models})
    return {str(path.relative_to(home.root)) for path, held in found if held}


async def backed_up(name: str = "auto.sqlite") -> Path:
    """A backup of the memory as it is, where clew keeps those it makes by itself."""
    copy = backups_of(Home.resolve().memory) / name
    copy.parent.mkdir(exist_ok=True)
    await asyncio.to_thread(copy_log, Home.resolve().memory, copy)
    return copy


@asynccontextmanager
async def warnings_of(agent: Agent) -> AsyncIterator[list[str]]:
    """What the agent warns of until it is closed, as it is in the end."""
    told: list[str] = []

    async def listen() -> None:
        told.extend([notice.message async for notice in agent.notices() if isinstance(notice, Warned)])

    listening = asyncio.create_task(listen())
    await asyncio.sleep(0)
    yield told
    await agent.close()
    await listening


def breaking(error: MemoryFailure | PurgeStopped) -> Callable[..., None]:
    """What raises an error, whatever it is called with."""

    def broken(*args: object) -> None:
        raise error

    return broken


async def say(agent: Agent, text: str, session: str | None = None) -> tuple[str, str]:
    """A message and its reply; the session, and the message's turn."""
    await agent.idle()  # the graph is open, and follows
    accepted = (await collect(agent.send(session, text)))[0]
    assert isinstance(accepted, TurnAccepted)
    return accepted.session, accepted.turn


async def delete(agent: Agent, turn: str) -> None:
    """Delete a message and the reply to it."""
    reply = (await asyncio.to_thread(agent._memory.readings.exchange, turn)).reply
    assert reply is not None
    await asyncio.to_thread(agent._memory.append, TurnDeleted(turn=turn), TurnDeleted(turn=reply.id))
    await agent._prompts.forget_turns({turn, reply.id})
    agent.erasure.begin()


@pytest.mark.restarts
async def test_no_file_of_an_open_home_has_a_word_of_what_was_deleted(agent: Agent) -> None:
    session, _ = await say(agent, "We begin with a harmless remark.")
    _, first = await say(agent, f"My neighbour is a {SECRET}.", session)
    _, second = await say(agent, "The other one is a bassoonist.", session)
    assert holding()
    await delete(agent, first)
    task = agent.erasure._task
    assert task is not None
    await delete(agent, second)  # while the first purge runs
    done = await agent.erasure.finished()
    assert task.done()
    assert (done.leftovers, done.pending) == ((), None)
    assert done.words > 0
    assert holding(forms_of([SECRET, "bassoonist"])) == set()
    assert await asyncio.to_thread(agent._memory.purge.waiting) == {}
    assert {check.name for check in await asyncio.to_thread(agent._memory.doctor) if not check.ok} <= {"permissions"}

    _, turn = await say(agent, f"My neighbour is a {SECRET} by profession.", session)
    await say(agent, f"Once more: a {SECRET}.", session)
    await delete(agent, turn)
    done = await agent.erasure.finished()
    assert (done.leftovers, done.pending) == ((), None)
    assert holding()
    assert not holding(forms_of(["profession"]))


@pytest.mark.restarts
async def test_nothing_that_is_kept_of_texts_in_memory_has_a_word_of_what_was_deleted(agent: Agent) -> None:
    _, turn = await say(agent, f"My neighbour is a {SECRET}.")
    stem(SECRET)
    agent._themes._sketches["key", (SECRET,)] = Sketch(title=SECRET, summary=SECRET)
    before = stem.cache_info().hits  # type: ignore[attr-defined]
    stem(SECRET)
    assert stem.cache_info().hits == before + 1  # type: ignore[attr-defined]
    await delete(agent, turn)
    await agent.erasure.finished()
    assert stem.cache_info().currsize == 0  # type: ignore[attr-defined]
    assert not agent._themes._sketches


@pytest.mark.restarts
async def test_a_cache_that_holds_a_word_goes_and_any_other_file_is_named(agent: Agent) -> None:
    home = Home.resolve()
    async with warnings_of(agent) as told:
        _, turn = await say(agent, f"My neighbour is a {SECRET}.")
        drafts = home.cache / "drafts"
        drafts.mkdir(exist_ok=True)
        (drafts / "new.txt").write_text(f"about the {SECRET.upper()} again")
        (drafts / "other.txt").write_text("about something else")
        mine = home.root / "notes.json"
        mine.write_text(f'["{SECRET.lower()}"]')
        aside = (await backed_up()).rename(backups_of(home.memory) / "damaged-2026.sqlite")
        aside.write_bytes(DAMAGED)
        await delete(agent, turn)
        assert sorted((await agent.erasure.finished()).leftovers) == sorted((mine, aside))
        assert sorted(path.name for path in drafts.iterdir()) == ["other.txt"]
        assert mine.exists()
        assert aside.read_bytes() == DAMAGED
    for left, how in ((mine, "are still in"), (aside, "may still be in")):
        assert [message for message in told if f"words {how}" in message and str(left) in message]


@pytest.mark.restarts
async def test_automatic_backups_lose_it_too_and_still_verify(agent: Agent) -> None:
    session, turn = await say(agent, f"My neighbour is a {SECRET}.")
    await say(agent, "And mine is a gardener.", session)
    copy = await backed_up()
    (copy.parent / "broken.sqlite").write_bytes(DAMAGED)
    assert holding() >= {"backups/auto.sqlite"}
    await delete(agent, turn)
    done = await agent.erasure.finished()
    assert done.leftovers == ()
    assert holding() == set()
    assert sorted(path.name for path in copy.parent.iterdir()) == ["auto.sqlite"]
    with closing(sqlite3.connect(copy)) as db:
        assert db.execute("SELECT count(*) FROM events WHERE text LIKE '%gardener%'").fetchone() == (1,)
        assert db.execute("SELECT count(*) FROM events WHERE kind = 'turn.deleted'").fetchone() == (2,)
        assert db.execute("SELECT count(*) FROM purging").fetchone() == (0,)
    again = copy.parent.parent / "again"
    again.mkdir()
    copy.rename(again / "log.sqlite")
    with closing(Memory.open(again, command="test")) as memory:
        assert {check.name for check in memory.doctor() if not check.ok} <= {"permissions", "graph"}


STEPS = ("words", "run", "copy", "done", "unkept", "that_quote")


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.restarts
async def test_a_purge_that_is_broken_off_at_any_step_ends_clean_after_the_next_start(
    make_agent: MakeAgent, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    agent = await make_agent(FakeGenerator(), QUIET)
    _, turn = await say(agent, f"My neighbour is a {SECRET}.")
    await backed_up()
    with monkeypatch.context() as patched:
        patched.setattr(Purge, step, breaking(PurgeStopped()))
        await agent.plans.carry_out(await agent.plans.delete(turn, exchange=True))
        assert (await agent.erasure.finished()).pending is not None
        await agent.close()
    agent = await make_agent(FakeGenerator(), QUIET)
    assert await asyncio.to_thread(agent._memory.purge.waiting)
    await agent.idle()
    assert not await agent.erasure.is_left(), "it goes on by itself"
    done = await agent.erasure.finished()
    assert (done.leftovers, done.pending) == ((), None)
    assert holding() == set()


@pytest.mark.restarts
async def test_trouble_leaves_the_end_of_a_purge_for_later(agent: Agent, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agent.erasure.AGAIN_S", (0.0,))
    session, turn = await say(agent, f"My neighbour is a {SECRET}.")
    _, other = await say(agent, "The other one is a bassoonist.", session)
    with monkeypatch.context() as patched:
        patched.setattr(Purge, "run", breaking(MemoryFailure("The disk is full.")))
        await delete(agent, turn)
        assert (await agent.erasure.finished()).pending == "The disk is full."
    assert (await agent.erasure.finished()).pending is None
    assert holding() == set()

    with closing(sqlite3.connect(Home.resolve().memory / "log.sqlite", isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM events").fetchone()
        await delete(agent, other)
        assert (await agent.erasure.finished()).pending is not None
        await say(agent, "The chat goes on.", session)
    assert (await agent.erasure.finished()).pending is None
    assert holding(forms_of(["bassoonist"])) == set()


@pytest.mark.restarts
async def test_a_backup_or_a_file_that_is_busy_for_a_moment_stays_and_is_worked_off_later(
    agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("graph.sqlite.BUSY_TIMEOUT_S", 0.0)
    session, turn = await say(agent, f"My neighbour is a {SECRET}.")
    _, other = await say(agent, "The other one is a bassoonist.", session)
    copy = await backed_up()
    with closing(sqlite3.connect(copy, isolation_level=None)) as db:
        db.execute("BEGIN IMMEDIATE")
        await delete(agent, turn)
        assert "Close it and try again" in ((await agent.erasure.finished()).pending or "")
    assert copy.exists(), "a lock says nothing against a backup"
    assert (await agent.erasure.finished()).pending is None
    assert holding() == set()

    note = Home.resolve().root / "unread.txt"
    note.write_text("bassoonist")
    chunks = byte_search._chunks

    def unreadable(path: Path) -> Iterator[bytes]:
        if path == note:
            raise PermissionError(13, "Permission denied")
        return chunks(path)

    with monkeypatch.context() as patched:
        patched.setattr(byte_search, "_chunks", unreadable)
        await delete(agent, other)
        assert f"may still be in {note}, which cannot be read" in ((await agent.erasure.finished()).pending or "")
        assert absent(Home.resolve(), forms_of(["bassoonist"]))[2] == [note]
    assert (await agent.erasure.finished()).leftovers == (note,)


KEPT = {
    "My neighbour is a Xylophonist.": "The Xylophonist upstairs",
    "We are happily sailing along.": "Happy sailors sailed",
    "Many xylophonists relocated.": "A xylophonist and his relocation",
    "Our Résumé is for Frau Müllerin.": "resume for MÜLLERIN and muller",
}
HOW = ("name", "prompt", "message", "memory")
ONE_EACH = list(zip(KEPT, HOW, strict=True))
OTHERWISE = [each for each in itertools.product(KEPT, HOW) if each not in ONE_EACH]


@pytest.mark.parametrize(
    ("said", "how"), [*ONE_EACH, *(pytest.param(*each, marks=pytest.mark.soak) for each in OTHERWISE)]
)
@pytest.mark.restarts
async def test_what_is_kept_in_another_form_of_a_word_is_no_leftover(agent: Agent, said: str, how: str) -> None:
    session, _ = await say(agent, "We begin with a harmless remark.")
    _, turn = await say(agent, said, session)
    match how:
        case "name":
            await agent.chats.rename(session, KEPT[said])
        case "prompt":
            await agent.chats.configure(session, system_prompt=KEPT[said])
        case "message":
            await say(agent, KEPT[said], session)
        case _:
            await agent.memories.remember(KEPT[said])
    await backed_up()
    await agent.plans.carry_out(await agent.plans.delete(turn, exchange=True))
    done = await agent.erasure.finished()
    assert (done.leftovers, done.pending) == ((), None)
    assert not holding(forms_of([said.rstrip(".")])), "nobody has the sentence"


@pytest.mark.restarts
async def test_a_backup_made_while_a_purge_runs_loses_it_too(agent: Agent, monkeypatch: pytest.MonkeyPatch) -> None:
    _, turn = await say(agent, f"My neighbour is a {SECRET}.")
    late = await backed_up()
    before = late.rename(Home.resolve().root / "before.bin")
    times = []

    def copies(memory: Memory, home: Home, progress: object) -> list[str]:
        times.append(purge_copies(memory, home, lambda _: None))
        if before.exists():
            before.rename(late)
        return times[-1]

    monkeypatch.setattr("agent.erasure.purge_copies", copies)
    await delete(agent, turn)
    assert (await agent.erasure.finished()).leftovers == ()
    assert len(times) == 2
    assert holding() == set()


def test_looking_into_a_copy_leaves_nothing_beside_it(tmp_path: Path) -> None:
    copy = tmp_path / "auto-2026.sqlite"
    with closing(sqlite3.connect(copy, isolation_level=None)) as db:
        db.execute("PRAGMA journal_mode = WAL").fetchone()
        for index in ("words", "learned"):
            db.execute(f"CREATE VIRTUAL TABLE {index} USING fts5(text, content = '')")
            db.execute(f"INSERT INTO {index} (rowid, text) VALUES (1, 'xylophonb'), (2, 'xylophonist')")
    assert look_into(copy, forms_of(["Xylophonist"])) == {"Xylophonist"}
    assert list(tmp_path.iterdir()) == [copy]


async def test_restoring_and_counting_a_backup_leave_nothing_beside_it(agent: Agent, tmp_path: Path) -> None:
    home = Home.resolve()
    await say(agent, "Hello there.")
    copy = tmp_path / "copy.sqlite"
    await asyncio.to_thread(copy_log, home.memory, copy)
    with closing(sqlite3.connect(copy, isolation_level=None)) as db:
        db.execute("PRAGMA journal_mode = WAL").fetchone()
        db.execute("UPDATE meta SET value = value WHERE key = 'starts'")
        crashed = tmp_path / "crashed"
        crashed.mkdir()
        for name in ("copy.sqlite", "copy.sqlite-wal"):
            shutil.copy(tmp_path / name, crashed / name)
    for backup in (copy, crashed / copy.name):
        before = sorted(backup.parent.iterdir())
        with prepared(home.memory, backup) as ready:
            assert ready.there.head == agent._memory.head()
        assert newest_of(backup) == agent._memory.head()
        assert sorted(backup.parent.iterdir()) == before


@pytest.mark.restarts
async def test_a_sentence_is_found_where_its_words_but_not_itself_are_said_elsewhere(agent: Agent) -> None:
    home = Home.resolve()
    session, turn = await say(agent, f"My secret is {SECRET}.")
    await say(agent, f"Again: my secret is {SECRET}. Yes.", session)
    raw, escaped, other = home.root / "notes.txt", home.root / "notes.json", home.root / "other.txt"
    raw.write_text(f"My secret is {SECRET}.")
    await delete(agent, turn)
    assert (await agent.erasure.finished()).leftovers == ()

    _, turn = await say(agent, f'My "secret" is {SECRET}, äh.', session)
    await say(agent, f"Who said {SECRET}: is my secret äh?", session)
    raw.write_text(f'so: my "SECRET" is {SECRET}, äh. Indeed')
    escaped.write_text(json.dumps({"said": f'My "secret" is {SECRET}, äh.'}))
    other.write_text(f"{SECRET} is my secret, äh")
    await delete(agent, turn)
    assert set((await agent.erasure.finished()).leftovers) == {raw, escaped}


QUOTED = "Along the garboard plank, port side. Mara thinks the planks only need to take up water again."
SAID_ELSEWHERE = ("Mara walks along the port side again.", "She thinks a garboard is a plank; planks take water up.",
                  "We only need to take the boat out.", "The other literal words stay as they are.")  # fmt: skip
QUOTING = (
    Saved("Along the garboard plank, port side", "RETURN 1"),
    Saved("a string", "MATCH (t:Turn) WHERE t.text CONTAINS 'planks only need to take up' RETURN t"),
    Saved("large letters", r"RETURN 'GARBOARD PLANK,\nPORT SIDE'"),
    Saved("a list", "RETURN $all", {"all": [{"of": "garboard   plank"}]}),
    Saved("a remark", "RETURN 1 // mara thinks the planks"),
    Saved("a column", "RETURN 1 AS `garboard plank`"),
    Saved("not closed", 'RETURN "only need to take up'),
)
OTHERS = (Saved("harmless", "MATCH (t:Turn) RETURN t.text"), Saved("words", "RETURN 'the planks'", {"a": "port side"}),
          Saved("said", "RETURN 'We only need to take the boat'"))  # fmt: skip


@pytest.mark.restarts
async def test_a_piece_of_what_was_deleted_leaves_queries_and_drafts_for_its_words_together(agent: Agent) -> None:
    home, session = Home.resolve(), None
    for text in SAID_ELSEWHERE:
        session, _ = await say(agent, text, session)
    _, turn = await say(agent, QUOTED, session)
    store = QueryStore(home.queries)
    for each in (*QUOTING, *OTHERS):
        store.save(each)
        assert store.keep(Ran(each.cypher, datetime.now(UTC), each.parameters, error="no 'garboard plank' there"))
        assert store.keep(Ran(each.cypher, datetime.now(UTC), each.parameters))
    (home.queries / "saved.jsonl.part").write_text("cut off: garboard plank, port")
    home.drafts.mkdir()
    drafts = {"query": "RETURN 'garboard plank", "new": "Mara thinks the planks", "kept": "the planks"}
    for name, text in drafts.items():
        (home.drafts / f"{name}.txt").write_text(text)
    async with warnings_of(agent) as told:
        await delete(agent, turn)
        assert (await agent.erasure.finished()).leftovers == ()
        assert [each.name for each in store.saved().entries] == ["harmless", "said", "words"]
        assert {each.cypher for each in store.history().entries} == {"RETURN 1", *(each.cypher for each in OTHERS)}
        assert not any(each.error for each in store.history().entries)
        assert sorted(path.name for path in home.drafts.iterdir()) == ["kept.txt"]
        assert sorted(path.name for path in home.queries.iterdir()) == ["history.jsonl", "lock", "saved.jsonl"]
    assert GONE_TOO.format("7 saved queries") in told


@pytest.mark.restarts
async def test_queries_that_cannot_be_written_anew_are_named(agent: Agent) -> None:
    _, turn = await say(agent, QUOTED)
    store = QueryStore(Home.resolve().queries)
    store.save(Saved("a", "RETURN 'planks only need'"))
    (store.folder / "saved.jsonl.part").mkdir()
    await delete(agent, turn)
    assert (await agent.erasure.finished()).leftovers == (store.saved_file, store.folder)
