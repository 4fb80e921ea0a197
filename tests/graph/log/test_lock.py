"""Taking turns at a memory: who holds it for long is named at once, who holds it for a moment is waited for."""

import json
import threading
from pathlib import Path

import pytest

from graph.errors import SERVE, MemoryHeld
from graph.log.lock import MemoryLock, holder


def named(folder: Path) -> tuple[str, bool] | None:
    """Who holds the memory, and whether only for a moment."""
    name = holder(folder)
    return (name.command, name.brief) if name is not None else None


def test_a_brief_holder_and_one_that_ends_soon_are_waited_for(folder: Path) -> None:
    brief = MemoryLock.take(folder, command="clew (mcp)", brief=True)
    assert named(folder) == ("clew (mcp)", True)
    letting_go = threading.Timer(0.3, brief.release)  # longer than who holds it for good is waited for
    letting_go.start()
    taken = MemoryLock.take(folder, command="clew (chat)")
    letting_go.join()
    assert named(folder) == ("clew (chat)", False)
    taken.end_soon()
    assert named(folder) == ("clew (chat)", True)
    letting_go = threading.Timer(0.3, taken.release)
    letting_go.start()
    MemoryLock.take(folder, command="clew (ask)").release()
    letting_go.join()


def test_a_brief_holder_that_does_not_let_go_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("graph.log.lock._BRIEF_S", 0.2)
    brief = MemoryLock.take(folder, command="clew (mcp)", brief=True)
    with pytest.raises(MemoryHeld, match=r"clew \(mcp\)"):
        MemoryLock.take(folder, command="clew (chat)")
    brief.release()


def test_who_waits_for_a_brief_holder_is_told_at_once_of_one_that_keeps_it(folder: Path) -> None:
    brief = MemoryLock.take(folder, command="clew (ask)", brief=True)
    told: list[str] = []

    def wait() -> None:
        with pytest.raises(MemoryHeld) as held:
            MemoryLock.take(folder, command="clew (import)", brief=True, waits_s=600)
        told.append(str(held.value))

    waiting = threading.Thread(target=wait)
    waiting.start()
    stored = json.loads((folder / "holder.json").read_text())
    (folder / "holder.json").write_text(json.dumps(stored | {"command": "clew (chat)", "brief": False}))
    waiting.join()
    assert "`clew (chat)`" in told[0]
    assert "Close that one first" in told[0]
    brief.release()


def test_one_that_keeps_it_is_not_waited_for_and_of_a_service_it_is_told_how_it_is_ended(folder: Path) -> None:
    kept = MemoryLock.take(folder, command="clew (chat)")
    with pytest.raises(MemoryHeld, match=r"clew \(chat\)"):
        MemoryLock.take(folder, command="clew (ask)", waits_s=600)  # more than a test may take
    kept.release()
    kept = MemoryLock.take(folder, command=SERVE)
    with pytest.raises(MemoryHeld, match=r"`clew serve` \(process \d+\).*`clew serve --stop`"):
        MemoryLock.take(folder, command="clew (ask)")
    kept.release()


def test_the_name_that_an_earlier_clew_left_is_read(folder: Path) -> None:
    taken = MemoryLock.take(folder, command="clew (chat)")
    stored = json.loads((folder / "holder.json").read_text())
    del stored["brief"]
    (folder / "holder.json").write_text(json.dumps(stored))
    assert named(folder) == ("clew (chat)", False)
    taken.release()
