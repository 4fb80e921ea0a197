"""The demo's memory is built whole, is never mixed with another, and can be pictured."""

import os
from contextlib import closing
from datetime import UTC, datetime

import pytest

from agent.home import Home
from demo import pictures
from demo.memory import DemoFailed, build
from graph.memory import Memory
from graph.values import Wanted


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Home:
    """The demo's home, made once: nothing here changes what is in it."""
    home, before = Home.resolve(tmp_path_factory.mktemp("demo") / "home"), os.umask(0o077)
    build(home)
    os.umask(before)
    return home


@pytest.fixture
def demo(built: Home, monkeypatch: pytest.MonkeyPatch) -> Home:
    """The same, for somebody who keeps files private and has no models, which nothing here tries to download."""
    for name in ("CLEW_MODEL", "CLEW_EMBEDDER"):
        monkeypatch.setenv(name, "nothing-here.gguf")
    os.umask(0o077)
    return built


@pytest.mark.restarts
def test_the_memory_holds_all_of_the_story_and_is_left_alone_from_then_on(demo: Home) -> None:
    with closing(Memory.open(demo.memory, command="test")) as memory:
        memory.open_graph(lambda _: None)
        found = memory.readings.memories(Wanted(everything=True), now=datetime.now(UTC), limit=100)
        texts = {each.text: each for each in found}
        lives = texts["Used to live in Munich, now lives in Lisbon."]
        assert (lives.status, lives.pinned, lives.proof_count) == ("active", True, 4)
        assert texts["Lives in Munich."].status == "superseded"
        assert len(memory.readings.sessions()) == 13
        assert all(session.name for session in memory.readings.sessions() if session.world == "main")
        assert memory.readings.unreflected(10) == []
        assert [check for check in memory.doctor() if not check.ok] == []
    before = (demo.memory / "log.sqlite").read_bytes()
    with pytest.raises(DemoFailed, match="not changed"):
        build(demo)
    assert (demo.memory / "log.sqlite").read_bytes() == before


@pytest.mark.process
async def test_a_picture_shows_what_it_was_told_to(demo: Home) -> None:
    (shot,) = (each for each in pictures.SHOTS if each.name == "chat")
    drawn = await pictures.take(shot, demo.root)
    assert drawn.startswith("<svg")
    assert "almond" in drawn
    assert "http" not in drawn.replace("http://www.w3.org/", "").replace("https://www.textualize.io", "")


@pytest.mark.process
async def test_a_picture_that_never_comes_names_what_it_waited_for(demo: Home) -> None:
    with pytest.raises(TimeoutError, match="never showed 'a purple cow'"):
        await pictures.take(pictures.Shot("none", (pictures.See("a purple cow", looks=3),)), demo.root)
