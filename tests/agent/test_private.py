"""Private chats: they answer like any other, and nothing of them is anywhere when they are over."""

import ctypes
import os
import resource
from pathlib import Path

import pytest

from agent import private
from agent.events import ReplyEnded
from agent.settings import Settings
from graph.log.lock import MemoryLock
from graph.memory import Memory
from tests.agent.conftest import MakeAgent, collect
from tests.agent.test_recall import only, ready, say, spelled
from tests.fakes import FakeGenerator

PLAIN = Settings(tools="off", reflect=False)
SECRET = "zephyrine"


@pytest.fixture(autouse=True)
def ram(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """This test's own folder for what lives in RAM."""
    folder = tmp_path / "ram"
    folder.mkdir()
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(folder))
    return folder


def names(folder: Path) -> set[str]:
    """What is in a folder."""
    return {path.name for path in folder.iterdir()}


def holding(folder: Path, word: str) -> list[Path]:
    """The files below a folder that hold a word."""
    return [path for path in folder.rglob("*") if path.is_file() and word.encode() in path.read_bytes().lower()]


async def test_a_private_chat_answers_and_leaves_no_trace(make_agent: MakeAgent, home: Path, ram: Path) -> None:
    model = FakeGenerator("Noted.", "I see, Zephyrine it is.")
    agent = await ready(make_agent, model, PLAIN)
    public, _, _ = await say(agent, None, "My dog is called Biscuit.")
    events, sessions = agent._memory.head(), await agent.chats.all()
    chat = await agent.private.begin()
    assert chat in agent.private
    ended = only(await collect(agent.send(chat, "My boat is called Zephyrine.")), ReplyEnded)
    assert (ended.session, ended.text) == (chat, "I see, Zephyrine it is.")
    only(await collect(agent.send(chat, "And my dog Biscuit?")), ReplyEnded)
    assert SECRET in spelled(model, model.prompts[-1]).lower()  # it goes on from what was said in it
    assert "is called Biscuit" not in spelled(model, model.prompts[-1])  # and is given nothing of the memory
    assert [turn.role for turn in await agent.chats.thread(chat)] == ["user", "assistant"] * 2
    await agent.opened(chat)
    await agent.idle()
    assert (agent._memory.head(), await agent.chats.all(), await agent.chats.last()) == (events, sessions, public)
    assert await agent.chats.said() == ["My dog is called Biscuit."]
    (folder,) = names(ram)
    assert agent.private.folder == ram / folder
    assert [each.id for each in await agent.private.all()] == [chat]
    assert resource.getrlimit(resource.RLIMIT_CORE)[0] == 0
    assert os.stat(ram / folder).st_mode & 0o777 == 0o700
    forgot = model.forgot
    await agent.private.end()
    assert model.forgot == forgot + 1, "also what a server wrote down"
    await agent.close()
    assert names(ram) == set()
    assert holding(home, SECRET) == []


async def test_nothing_of_a_private_chat_is_on_the_disk_and_it_can_be_stopped_like_any_other(
    make_agent: MakeAgent, home: Path, ram: Path
) -> None:
    model = FakeGenerator("one two three four five six seven")
    agent = await ready(make_agent, model, PLAIN)
    chat = await agent.private.begin()
    only(await collect(agent.send(chat, "My boat is called Zephyrine.")), ReplyEnded)
    assert holding(ram, SECRET)
    await agent.idle()
    assert holding(home, SECRET) == []
    model.gate.clear()
    events = agent.send(chat, "hello there")
    await anext(events)
    await model.waiting.wait()
    assert agent.answering == chat
    assert agent.stop()
    model.gate.set()
    assert only(await collect(events), ReplyEnded).truncated
    assert not agent.stop()
    await agent.private.end()
    assert names(ram) == set()
    assert chat not in agent.private
    await agent.close()
    assert holding(home, SECRET) == []


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "mallopt"), reason="only glibc can")
async def test_memory_that_is_freed_is_cleared_while_there_are_private_chats(make_agent: MakeAgent) -> None:
    """The engine of the graph writes buffers whole, and so wrote what SQLite had freed."""
    agent = await ready(make_agent, FakeGenerator("Noted."), PLAIN)
    await agent.private.begin()
    libc = ctypes.CDLL(None)
    libc.malloc.restype, libc.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
    libc.free.argtypes = [ctypes.c_void_p]
    places = [libc.malloc(3_000) for _ in range(50)]
    for place in places:
        ctypes.memmove(place, (SECRET * 300).encode(), 2_700)
    for place in places:
        libc.free(place)
    taken = [libc.malloc(3_000) for _ in range(50)]
    assert not any(SECRET.encode() in ctypes.string_at(place, 3_000) for place in taken)
    for place in taken:
        libc.free(place)


async def test_what_a_killed_clew_left_is_removed_but_not_of_one_that_runs(make_agent: MakeAgent, ram: Path) -> None:
    left, used, other = (ram / f"{private.BEGINNING}{name}" for name in ("left", "used", "other"))
    Memory.open(left, command="test").close()
    running = Memory.open(used, command="test")
    other.write_text("a file that is nobody's folder")
    try:
        await ready(make_agent, FakeGenerator("I see."), PLAIN)
        assert names(ram) == {used.name, other.name}
    finally:
        running.close()


async def test_what_is_left_in_another_runtime_folder_or_of_a_draft_is_removed_too(
    make_agent: MakeAgent, ram: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent = await ready(make_agent, FakeGenerator("I see."), PLAIN)
    await agent.private.begin()  # which notes where that is
    left, draft, used = (ram / f"{name}x" for name in (private.BEGINNING, private.DRAFTS, f"{private.DRAFTS}used"))
    Memory.open(left, command="test").close()
    draft.mkdir()
    (draft / "message-1.md").write_text(SECRET)
    lock = MemoryLock.take(used, command="test")
    (used / "message-1.md").write_text(SECRET)
    await agent.close()
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    await ready(make_agent, FakeGenerator("I see."), PLAIN)
    assert names(ram) == {used.name}
    lock.release()


def test_without_a_folder_in_ram_the_systems_temporary_one_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", "/nowhere")
    monkeypatch.setattr(os.path, "isdir", lambda path: False)
    monkeypatch.setenv("TMPDIR", "/tmp")
    assert private.place().exists()
