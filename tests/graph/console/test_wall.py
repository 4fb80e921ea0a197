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
# {outside} is a folder that holds canary.csv, a file with the canary, and other.kuzu, a copy of the graph.
HOSTILE = (
    "LOAD FROM '{outside}/canary.csv' (header=false) RETURN *",
    "LOAD FROM '/etc/passwd' (file_format='csv', header=false, delim='$') RETURN *",
    "LOAD FROM '/proc/self/environ' (file_format='csv', header=false, delim='$') RETURN *",
    "LOAD FROM '/proc/self/fd/0' (file_format='csv', header=false) RETURN *",
    "MATCH (t:Turn) LOAD FROM '{outside}/canary.csv' (header=false) RETURN *",
    "COPY Turn FROM '{outside}/canary.csv'",
    "COPY (MATCH (t:Turn) RETURN t.text) TO '{outside}/out.csv'",
    "COPY (MATCH (t:Turn) RETURN t.text) TO '{outside}/out.parquet'",
    "COPY (MATCH (t:Turn) RETURN t.text) TO 'out.csv'",
    "EXPORT DATABASE '{outside}/all'",
    "EXPORT DATABASE 'all'",
    "IMPORT DATABASE '{outside}'",
    "ATTACH '{outside}/other.kuzu' AS other (dbtype kuzu)",
    "ATTACH '{memory}/graph.kuzu' AS other (dbtype kuzu)",
    "INSTALL httpfs",
    "LOAD EXTENSION '{outside}/evil.so'",
    "LOAD EXTENSION httpfs",
    "CREATE (:Turn {id: 'x'})",
    "MATCH (t:Turn) SET t.text = 'x'",
    "MATCH (t:Turn) DETACH DELETE t",
    "MERGE (t:Turn {id: 'x'})",
    "DROP TABLE Turn",
    "ALTER TABLE Turn ADD x INT64",
    "CREATE NODE TABLE X(id STRING PRIMARY KEY)",
    "CREATE MACRO f(x) AS x + 1",
    "CREATE SEQUENCE x",
    "COMMENT ON TABLE Turn IS 'x'",
    "ROLLBACK; CREATE (:Turn {id: 'x'})",
    "COMMIT; BEGIN TRANSACTION; CREATE (:Turn {id: 'x'}); COMMIT",
    "BEGIN TRANSACTION; MATCH (t:Turn) SET t.text = 'x'; COMMIT",
    "CALL READ_CSV_SERIAL('{outside}/canary.csv') RETURN *",
    "CALL READ_PARQUET('{outside}/canary.csv') RETURN *",
    "CALL json_scan('{outside}/canary.csv') RETURN *",
    "CALL READ_CSV_PARALLEL('/etc/passwd') RETURN *",
    "CALL create_fts_index('Turn', 'x', ['text'])",
    "CALL drop_fts_index('Turn', 'x')",
    "CALL project_graph('g', ['Turn'], ['REPLIES_TO'])",
    "CHECKPOINT",
    "CALL home_directory = '{outside}'",
    "CALL file_search_path = '{outside}'",
    "CALL temp_directory = '{outside}'",
    "CALL spill_to_disk = true",
    "CALL timeout = 0",
    "CALL threads = 64",
    "CALL checkpoint_threshold = 0",
    "CALL timeout = 0; UNWIND range(1, 100000) AS a UNWIND range(1, 100000) AS b RETURN count(a + b)",
    "RETURN error('x')",
    "RETURN repeat('x', 10000000000)",
    "RETURN size(range(1, 100000000000))",
    "RETURN " + "(" * 40 + "1" + ")" * 40,
    "RETURN [x IN range(1,3) | x]",
    "LOAD FROM sys RETURN *",
    "LOAD FROM database RETURN *",
    "LOAD FROM parameters RETURN *",
)  # fmt: skip


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
        "timeout_s": 3.0, "limit": 100, "bytes": 1 << 20,
    }  # fmt: skip
    try:
        return repr(list(memory._apart.ask(request, live_in=None)))
    except GraphFailure as error:
        return str(error)


def test_what_passes_the_first_wall_reads_nothing_writes_nothing_and_changes_nothing(
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


def test_a_time_out_that_a_statement_switched_off_is_kept_all_the_same(spoken: Memory) -> None:
    endless = "UNWIND range(1, 100000) AS a UNWIND range(1, 100000) AS b RETURN count(a + b)"
    assert "took too long" in told(spoken, f"CALL timeout = 0; {endless}")
    assert told(spoken, "RETURN 1").startswith("[{")
