"""What a query finds: its first rows before all are counted, within bounds of bytes, time and memory."""

import json
import os
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest

from graph.console import console, worker
from graph.console.console import Answer
from graph.errors import QueryFailed
from graph.kuzu import engine
from graph.memory import Memory

pytestmark = pytest.mark.process

COUNT = "MATCH (t:Turn) RETURN count(*)"


def test_the_first_rows_are_told_before_all_are_counted(standing: Memory) -> None:
    told: list[Answer] = []
    product = "MATCH (a:Turn), (b:Turn) UNWIND range(1, 30000) AS x RETURN a.id, b.id, x"
    answer = standing.console.run(product, first=told.append, limit=500)
    assert [(len(each.rows), each.total, each.cut) for each in (*told, answer)] == [
        (500, None, "rows"), (500, 36 * 30_000, "rows"),
    ]  # fmt: skip
    assert told[0].rows == answer.rows
    assert told[0].columns == ("a.id", "b.id", "x")


def test_an_answer_that_is_whole_is_told_once_with_its_total(standing: Memory) -> None:
    told: list[Answer] = []
    answer = standing.console.run(COUNT, first=told.append)
    assert [each.total for each in told] == [answer.total] == [1]
    assert answer.cut == ""


def test_rows_of_many_bytes_are_cut_and_it_is_said(standing: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(console, "MOST_BYTES", 1_000)
    answer = standing.console.run("UNWIND range(1, 1000) AS x RETURN x, 'some words that take room'")
    assert (answer.cut, answer.total) == ("bytes", 1_000)
    assert 0 < len(answer.rows) < 50


def test_a_count_that_takes_too_long_is_left_out(standing: Memory) -> None:
    slow = (
        "UNWIND range(1, 100000) AS a UNWIND range(1, 100000) AS b UNWIND range(1, 100000) AS c "
        "RETURN DISTINCT a % 1000000 AS x, b % 100 AS y"
    )
    answer = standing.console.run(slow, timeout_s=1.5, limit=3)
    assert (len(answer.rows), answer.total, answer.cut) == (3, None, "rows")


def test_rows_that_came_are_told_when_time_is_up_for_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(worker, "time", SimpleNamespace(monotonic=lambda: now[0]))
    request = worker.WARMING | {"cypher": "UNWIND range(1, 1000) AS x RETURN x", "limit": 900, "counting": []}
    database = engine.Database(tmp_path / "any.kuzu", pool_bytes=64 << 20, most_bytes=1 << 28)
    told = []
    for each in worker.answer(database, request | {"counted": "RETURN 1000"}):
        told.append(json.loads(each))
        now[0] += 100.0 if "rows" in told[-1] else 0.0
    database.close()
    rows = [[each] for each in range(1, worker.FRAME_ROWS + 1)]
    assert told[1:] == [{"rows": rows}, {"there": 1000, "cut": "time"}, {"counted": None}, {"done": True}]


def test_an_answer_of_many_whole_nodes_takes_a_bounded_part_of_our_memory(standing: Memory) -> None:
    nodes = "MATCH (t:Turn {id: 's0'}) UNWIND range(1, 100000) AS x RETURN t"
    standing.console.run(COUNT)
    before = _resident()
    answer = standing.console.run(nodes, limit=100_000, timeout_s=60)
    assert _resident() - before < 150 << 20
    assert (answer.cut, answer.total) == ("bytes", 100_000)
    assert len(answer.rows) > 10_000


def test_large_values_come_whole(standing: Memory) -> None:
    text = 'äöü€\n"' * 4096
    answer = standing.console.run("RETURN $s AS s, [$s, NULL] AS l, {a: $s} AS m", parameters={"s": text})
    assert answer.rows == ((text, [text, None], {"a": text}),)
    assert answer.columns == ("s", "l", "m")


HOSTILE = (
    "MATCH (a:Turn), (b:Turn) UNWIND range(1, 100000) AS x UNWIND range(1, 100000) AS y RETURN collect(x + y)",
    "UNWIND range(1, 100000) AS a UNWIND range(1, 100000) AS b RETURN count(DISTINCT a * b)",
    "UNWIND range(1, 100000) AS a UNWIND range(1, 100000) AS b RETURN a, b UNION RETURN 1 AS a, 2 AS b",
    "WITH 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx' AS s " + "WITH s + s AS s " * 40 + "RETURN s",
    "UNWIND range(1, 100000) AS a WITH collect(a) AS l UNWIND range(1, 99999) AS b RETURN list_concat(l, l) ORDER BY b",
)  # fmt: skip


@pytest.mark.parametrize("query", HOSTILE, ids=range(len(HOSTILE)))
def test_a_query_without_measure_ends_in_its_bounds_and_takes_nothing_of_ours(standing: Memory, query: str) -> None:
    standing.console.run(COUNT)
    before = _resident()
    with pytest.raises(QueryFailed, match=r"more memory than one may take|took too long|ended its engine"):
        standing.console.run(query, timeout_s=20)
    assert _resident() - before < 20 << 20
    assert standing.query("MATCH (t:Turn) RETURN count(*) AS n") == [{"n": 6}]
    assert standing.console.run(COUNT).rows == ((6,),)


def _resident() -> int:
    done = subprocess.run(["ps", "-o", "rss=", "-p", str(os.getpid())], capture_output=True, text=True, check=True)
    return int(done.stdout) << 10


def test_what_is_loaded_ahead_is_all_that_values_need(standing: Memory) -> None:
    """The statement that brings everything in runs, and so does each of its parts once nothing can be opened."""
    assert standing.query(worker.FIRST)
    row = standing.console.run(
        "RETURN CAST(1.5 AS DECIMAL(5, 2)), date('2026-01-01'), timestamp('2026-01-01 00:00:00'), interval('1 day')"
    ).rows[0]
    assert row == ("1.50", "2026-01-01", "2026-01-01T00:00:00", "1 day, 0:00:00")
