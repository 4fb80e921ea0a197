"""The graph tells when the log has lost its last events, which its own chain cannot."""

from pathlib import Path

import pytest

from graph.errors import EventsMissing
from graph.kuzu.rebuild import ASIDE
from graph.memory import Memory
from graph.sqlite import LOG
from graph.values import Check
from tests.graph.conftest import Open, change, ignore, with_graph
from tests.graph.talk import said, talk


def findings(memory: Memory) -> dict[str, Check]:
    return {check.name: check for check in memory.doctor() if not check.ok}


def cut(folder: Path, seq: int) -> None:
    deletions = (f"DELETE FROM {table} WHERE seq > {seq}" for table in ("events", "contents"))
    change(folder, *deletions, "INSERT INTO words (words) VALUES ('rebuild')")


@pytest.mark.restarts
def test_last_events_that_are_gone_are_told_once_and_stay_a_finding(whole: Memory, opening: Open, folder: Path) -> None:
    talk(whole, 5)
    whole.close()
    cut(folder, 4)
    memory = opening()
    with pytest.raises(EventsMissing, match=r"ends at event 4, the graph had seen 6: the last events are missing"):
        memory.open_graph(ignore)
    assert memory.graph_ready
    assert b"s4" in (folder / ASIDE).read_bytes()
    memory = with_graph(opening)
    found = findings(memory)
    assert list(found) == ["last events"]
    assert "ends at event 4, the graph had seen 6" in found["last events"].detail
    assert "backup" in found["last events"].advice
    memory.append(said("more", parent="s2"), said("then", parent="more"), said("on", parent="then"))
    assert "not the one the graph had seen" in findings(memory)["last events"].detail
    memory.rebuild(ignore)
    assert findings(memory) == {}


@pytest.mark.restarts
def test_a_backup_that_has_them_ends_the_finding(whole: Memory, opening: Open, folder: Path) -> None:
    talk(whole, 5)
    whole.close()
    backup = (folder / LOG).read_bytes()
    cut(folder, 4)
    memory = opening()
    with pytest.raises(EventsMissing):
        memory.open_graph(ignore)
    memory.close()
    (folder / LOG).write_bytes(backup)
    memory = with_graph(opening)
    assert findings(memory) == {}


def test_where_the_log_is_wrong_no_advice_says_that_nothing_is_lost(whole: Memory, folder: Path) -> None:
    talk(whole, 5)
    change(folder, "UPDATE events SET text = 'never said' WHERE seq = 3")
    found = findings(whole)
    assert {"texts", "words", "graph"} <= set(found)
    assert not [check for check in found.values() if "nothing is lost" in check.advice]
