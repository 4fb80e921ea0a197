"""The second wall: statements that the first never saw are sent to the engine, and can do nothing either."""

import hashlib
from pathlib import Path

import pytest

from graph.console.graph_copy import FollowedGraph
from graph.errors import GraphFailure
from graph.memory import Memory
from tests.graph.talk import said, talk

pytestmark = pytest.mark.process

CANARY = "Xylophonist"
OUTSIDE, MEMORY = "{outside}", "{memory}"
# One a line; {outside} is a folder that holds canary.csv, a file with the canary, and other.kuzu, a copy of the graph.
HOSTILE = (*(Path(__file__).parent / "wall.txt").read_text("utf-8").splitlines(), f"RETURN {'(' * 40}1{')' * 40}")


@pytest.fixture
def spoken(whole: Memory) -> Memory:
    """Four turns of one chat."""
    talk(whole, 4)
    return whole


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A folder that nothing may be read from or written to."""
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "canary.csv").write_text(f"{CANARY}\n{CANARY}\n")
    (folder / "evil.so").write_bytes(b"\x7fELF")
    return folder


def tree(folder: Path) -> dict[str, str]:
    """All files and folders, with what is in them."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "folder"
        for path in folder.rglob("*")
    }


def told(memory: Memory, cypher: str) -> str:
    """All that an engine says of a statement which nobody looked at."""
    request = {
        "query": "RETURN 1", "statement": "RETURN 1", "lines_before": 0, "cypher": cypher,
        "counted": cypher, "counting": [], "regexes": [], "parameters": {},
        "timeout_s": 1.0, "limit": 100, "bytes": 1 << 20,
    }  # fmt: skip
    try:
        return repr(list(memory._apart.ask(request, live_in=None)))
    except GraphFailure as error:
        return str(error)


def test_what_passes_the_first_wall_reads_nothing_writes_nothing_changes_nothing_and_takes_no_longer_than_it_may(
    spoken: Memory, outside: Path, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    FollowedGraph(spoken._graph).copy(outside / "other.kuzu", lambda: None)
    spoken.console.run("RETURN 1")
    before = tree(tmp_path), spoken.query("MATCH (n:Turn) RETURN n.id AS id, n.text AS text ORDER BY id")
    for statement in HOSTILE:
        heard = told(spoken, statement.replace(OUTSIDE, str(outside)).replace(MEMORY, str(folder)))
        assert CANARY not in heard, statement
        assert "root:" not in heard, statement
        assert "PATH=" not in heard, statement
        assert "failed" not in heard, statement  # it is raised, and never taken for an answer
        assert spoken.console.run("MATCH (t:Turn) RETURN count(*)").rows == ((4,),), statement
    assert (tree(tmp_path), spoken.query("MATCH (n:Turn) RETURN n.id AS id, n.text AS text ORDER BY id")) == before
    assert not spoken.append(said("more", parent="s3"))[0].graph_behind
    endless = "UNWIND range(1, 100000) AS a UNWIND range(1, 100000) AS b RETURN count(a + b)"
    assert "took too long" in told(spoken, f"CALL timeout = 0; {endless}")  # though it was switched off
    assert told(spoken, "RETURN 1").startswith("[{")
