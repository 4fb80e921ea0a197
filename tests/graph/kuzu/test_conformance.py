"""What the engine has to answer: fifty queries as clew and people ask them, and what is not an answer.

All goes through graph/kuzu/engine.py and nothing else, on a graph made of a real log (told.py says of what), and the
rows that are expected (conformance.toml) are those of its events. To try another engine, write that file anew; or write
a module with the same names and let `engine` below give it, but not for a fork of Kuzu: two of them in one process do
not load. Where all of this passes, a higher VERSION in graph/projection/schema.py has every graph made anew, and
tests/graph/console asks what people's Cypher means to it.
"""

import threading
import time
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import graph.kuzu.engine
from graph.kuzu.rebuild import events_of
from graph.memory import Memory
from graph.projection.schema import META, NODES, RELS, VERSION, NodeTable, statements
from graph.projection.tables import Tables, fold
from graph.reader import LogReader
from tests.graph.kuzu.told import EVENTS, STANDS_FOR, TEXTS

SIZES = {"pool_bytes": 256 << 20, "most_bytes": 1 << 30}  # the pages as many as the store has


@pytest.fixture(scope="module")
def engine() -> ModuleType:
    """The engine that is asked."""
    return graph.kuzu.engine


@pytest.fixture(scope="module")
def path(engine: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A graph of the events, loaded and closed."""
    folder = tmp_path_factory.mktemp("conformance")
    memory = Memory.open(folder / "memory", command="test")
    memory.append(*EVENTS)
    memory.close()
    reader = LogReader.open(folder / "memory")
    tables = fold(events_of(reader, reader.head()), reader.event)
    reader.close()
    database = engine.Database(folder / "any.kuzu", **SIZES)
    _load(engine, database, tables)
    database.close()
    return folder / "any.kuzu"


def _load(engine: ModuleType, database: Any, tables: Tables) -> None:
    writer = database.connect(threads=1)
    for statement in statements():
        writer.execute(statement).close()
    writer.execute(f"CREATE (:`{META.name}` {{id: 0, version: {VERSION}, applied: {len(EVENTS)}, link: ''}})").close()
    for table in NODES:
        if rows := list(tables.nodes[table.name].values()):
            columns = dict(zip(table.names, zip(*rows, strict=True), strict=True))
            writer.copy(table.name, engine.columns(columns, dict(table.columns)))
    for rel, end in [(each, end) for each in RELS for end in each.ends]:
        types = {"from": "STRING", "to": "STRING", **dict(rel.columns)}
        if found := [(*ends[:2], *values) for ends, values in tables.rels[rel.name, end].items()]:
            columns = dict(zip(types, zip(*found, strict=True), strict=True))
            ends = (rel.start, end) if len(rel.ends) > 1 else None
            writer.copy(rel.name, engine.columns(columns, types), ends=ends)
    writer.checkpoint()
    writer.close()


@pytest.fixture(scope="module")
def reader(engine: ModuleType, path: Path) -> Iterator[Any]:
    """A connection to the graph, which is opened to be read."""
    database = engine.Database(path, **SIZES, threads=2, read_only=True)
    connection = database.connect(threads=2)
    connection.walk_up_to(1_000)
    yield connection
    connection.close()
    database.close()


@pytest.fixture
def writer(engine: ModuleType, tmp_path: Path) -> Iterator[Any]:
    """A connection to a graph of its own, of a table and a relationship."""
    database = engine.Database(tmp_path / "own.kuzu", **SIZES)
    connection = database.connect(threads=1)
    connection.execute("CREATE NODE TABLE A (id STRING, n INT64, yes BOOL, x DOUBLE, PRIMARY KEY (id))").close()
    connection.execute("CREATE REL TABLE R (FROM A TO A, at INT64)").close()
    yield connection
    connection.close()
    database.close()


def told(rows: Any) -> Any:
    """Rows or values of the table as the engine has them."""
    if isinstance(rows, list):
        return [told(each) for each in rows]
    return STANDS_FOR.get(rows, rows) if isinstance(rows, str) else rows


QUERIES = tomllib.loads(Path(__file__).with_name("conformance.toml").read_text(encoding="utf-8"))["query"]


@pytest.mark.parametrize("query", QUERIES, ids=lambda query: query["name"])
def test_a_query_finds_what_the_events_say(reader: Any, query: dict[str, Any]) -> None:
    cypher, expected = query["cypher"], told(query["rows"])
    values = {name: told(value) for name, value in query.get("values", {}).items()}
    result = reader.execute(cypher, values | ({"world": "main"} if "$world" in cypher else {}), timeout_s=20)
    total, rows = result.total, result.rows()
    if "ORDER BY" not in cypher:
        rows, expected = sorted(rows, key=repr), sorted(expected, key=repr)
    assert rows == expected
    assert total == len(expected)


def test_what_the_graph_holds_is_found_as_well(reader: Any) -> None:
    found = reader.execute("MATCH (m:Meta {id: 0}) RETURN m.version, m.applied, m.link").rows()
    assert found == [[VERSION, len(EVENTS), ""]]
    assert len(QUERIES) == 49


def test_columns_have_names_and_types(reader: Any) -> None:
    result = reader.execute(
        "MATCH (t:Turn {id: 'b3'})-[r:RECALLED]->(o:Observation) RETURN t.id, t.at AS at, t.live AS live, "
        "r.score AS score, collect(o.id) AS ids, epoch_ms(t.at) AS time, label(r) = 'RECALLED' AS is, o, r"
    )
    assert result.columns == ["t.id", "at", "live", "score", "ids", "time", "is", "o", "r"]
    assert result.types == ["STRING", "INT64", "BOOL", "DOUBLE", "STRING[]", "TIMESTAMP", "BOOL", "NODE", "REL"]
    result.close()


def test_nodes_and_relationships_are_maps_that_name_themselves(reader: Any) -> None:
    found = reader.execute("MATCH (t:Turn)-[r:RECALLED]->(o:Observation) RETURN t, r, o.id").rows()
    ((node, relationship, _),) = found
    inner = {"offset", "table"}
    assert (node["_label"], node["id"], node["_id"].keys()) == ("Turn", "b3", inner)
    assert (relationship["_label"], relationship["score"], relationship["_src"]) == ("RECALLED", 0.25, node["_id"])
    assert relationship["_dst"].keys() == relationship["_id"].keys() == inner


def test_rows_come_one_by_one_and_all_of_many_pages(reader: Any) -> None:
    result = reader.execute("UNWIND range(1, 2500) AS x RETURN x, -x AS y ORDER BY x")
    assert result.total == 2500
    assert [result.row(), result.row()] == [[1, -1], [2, -2]]
    assert result.rows() == [[x, -x] for x in range(3, 2501)]


def test_what_cannot_be_asked_is_an_error_that_names_it(engine: ModuleType, reader: Any) -> None:
    for what, cypher, said in (
        ("a word that is none", "MATCH (t:Turn) RETRUN t", "RETRUN"),
        ("a table there is not", "MATCH (t:Tune) RETURN t", "Tune"),
        ("a property there is not", "MATCH (t:Turn) RETURN t.txt", "txt"),
        ("a name there is not", "MATCH (t:Turn) RETURN u", "u"),
        ("a function there is not", "RETURN nonsense(1)", "(?i)nonsense"),
        ("types that do not go together", "RETURN 'a' * 2", "STRING"),
    ):
        with pytest.raises(engine.ERRORS, match=said) as error:
            reader.execute(cypher)
        assert engine.why(error.value) == "query", what
    with pytest.raises(engine.SeveralStatements):
        reader.execute("RETURN 1; RETURN 2")
    assert not issubclass(engine.SeveralStatements, engine.ERRORS)


ENDLESS = "UNWIND range(1, 100000) AS a UNWIND range(1, 100000) AS b RETURN count(DISTINCT a % 7 + b % 5)"


def test_a_query_ends_when_its_time_is_up(engine: ModuleType, path: Path) -> None:
    with _another(engine, path) as connection:
        began = time.monotonic()
        with pytest.raises(engine.ERRORS) as error:
            connection.execute(ENDLESS, timeout_s=0.1)
        assert engine.why(error.value) == "time"
        assert time.monotonic() - began < 10
        assert connection.execute("RETURN 1", timeout_s=20).rows() == [[1]]


def test_a_query_ends_when_it_is_interrupted(engine: ModuleType, path: Path) -> None:
    with _another(engine, path) as connection:
        done = threading.Event()

        def interrupt() -> None:
            while not done.wait(0.05):  # one that has not quite begun does not hear it
                connection.interrupt()

        thread = threading.Thread(target=interrupt)
        thread.start()
        try:
            with pytest.raises(engine.ERRORS) as error:
                connection.execute(ENDLESS)
        finally:
            done.set()
            thread.join()
        assert engine.why(error.value) == "time"


def test_more_memory_than_there_may_be_is_told(engine: ModuleType, path: Path) -> None:
    with _another(engine, path, pool_bytes=64 << 20) as connection:
        much = "UNWIND range(1, 100000) AS a UNWIND range(1, 1000) AS b RETURN count(DISTINCT a * 1000 + b)"
        with pytest.raises(engine.ERRORS) as error:
            connection.execute(much, timeout_s=60)
        assert engine.why(error.value) == "memory"


@contextmanager
def _another(engine: ModuleType, path: Path, **sizes: int) -> Iterator[Any]:
    database = engine.Database(path, **SIZES | sizes, threads=2, read_only=True)
    connection = database.connect(threads=2)
    yield connection
    connection.close()
    database.close()


def test_nothing_is_written_where_it_is_opened_to_be_read(engine: ModuleType, reader: Any) -> None:
    for change in ("SET t.text = 'x'", "DETACH DELETE t"):
        with pytest.raises(engine.ERRORS, match="read-only"):
            reader.execute(f"MATCH (t:Turn) {change}")
    assert reader.execute("MATCH (t:Turn) WHERE t.text <> 'x' RETURN count(*)").rows() == [[len(TEXTS)]]


def test_a_file_that_is_no_graph_is_an_error(engine: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "no.kuzu").write_bytes(b"this is no graph" * 1_000)
    with pytest.raises(engine.ERRORS):
        engine.Database(tmp_path / "no.kuzu", **SIZES)


ADD = "CREATE (:A {id: $id, n: $n})"
ALL = "MATCH (a:A) RETURN a.id, a.n ORDER BY a.id"


def test_a_transaction_is_whole_or_not_at_all(engine: ModuleType, writer: Any) -> None:
    writer.begin()
    writer.execute(ADD, {"id": "a", "n": 1}, keep=True).close()
    writer.execute(ADD, {"id": "b", "n": None}, keep=True).close()
    writer.execute("MATCH (a:A {id: 'a'}), (b:A {id: 'b'}) CREATE (a)-[:R {at: 7}]->(b)").close()
    writer.commit()
    writer.begin()
    writer.execute("MATCH (a:A {id: $id}) SET a.n = $n", {"id": "a", "n": 2}, keep=True).close()
    writer.execute("MATCH (a:A)-[r:R]->(b:A {id: 'b'}) DELETE r").close()
    assert writer.execute(ALL).rows() == [["a", 2], ["b", None]]
    writer.roll_back()
    assert writer.execute(ALL).rows() == [["a", 1], ["b", None]]
    assert writer.execute("MATCH (a:A)-[r:R]->(b:A) RETURN a.id, b.id, r.at").rows() == [["a", "b", 7]]


def test_an_error_takes_the_whole_transaction_back(engine: ModuleType, writer: Any) -> None:
    writer.begin()
    writer.execute(ADD, {"id": "a", "n": 1}, keep=True).close()
    with pytest.raises(engine.ERRORS, match="primary key"):
        writer.execute(ADD, {"id": "a", "n": 2}, keep=True)
    writer.roll_back()
    assert writer.execute(ALL).rows() == []
    writer.execute(ADD, {"id": "a", "n": 3}, keep=True).close()
    assert writer.execute(ALL).rows() == [["a", 3]]


VALUES = {"STRING": "ä", "INT64": 1 << 40, "BOOL": True, "DOUBLE": 0.5}


@pytest.mark.parametrize("table", NODES, ids=lambda table: table.name)
def test_a_node_is_made_and_changed_by_values_named_as_its_columns(writer: Any, table: NodeTable) -> None:
    columns = ", ".join(f"`{name}` {type}" for name, type in table.columns)
    writer.execute(f"CREATE NODE TABLE `{table.name}` ({columns}, PRIMARY KEY (`id`))").close()
    nothing = {name: None for name in table.names} | {"id": "ä"}
    made = f"CREATE (:`{table.name}` {{{', '.join(f'`{name}`: ${name}' for name in table.names)}}})"
    listed = f"MATCH (n:`{table.name}`) RETURN {', '.join(f'n.`{name}`' for name in table.names)}"
    writer.execute(made, nothing, keep=True).close()
    assert writer.execute(listed).rows() == [list(nothing.values())]
    values = {name: VALUES[type] for name, type in table.columns}
    changes = ", ".join(f"n.`{name}` = ${name}" for name in table.names if name != "id")
    writer.execute(f"MATCH (n:`{table.name}` {{id: $id}}) SET {changes}", values, keep=True).close()
    assert writer.execute(listed).rows() == [list(values.values())]


TYPES = {"id": "STRING", "n": "INT64", "yes": "BOOL", "x": "DOUBLE"}


def test_columns_are_copied_with_their_nulls(engine: ModuleType, writer: Any) -> None:
    values = {"id": ("a", "ü"), "n": (1 << 60, None), "yes": (None, True), "x": (0.1, None)}
    writer.copy("A", engine.columns(values, TYPES))
    writer.copy("R", engine.columns({"from": ["a"], "to": ["ü"], "at": [None]}, ENDS))
    assert writer.execute("MATCH (a:A) RETURN a.id, a.n, a.yes, a.x ORDER BY a.id").rows() == [
        ["a", 1 << 60, None, 0.1],
        ["ü", None, True, None],
    ]
    assert writer.execute("MATCH (a:A)-[r:R]->(b:A) RETURN a.id, b.id, r.at").rows() == [["a", "ü", None]]


ENDS = {"from": "STRING", "to": "STRING", "at": "INT64"}


@pytest.mark.parametrize("folded", [True, False])
def test_what_was_committed_is_there_when_opened_again(engine: ModuleType, tmp_path: Path, *, folded: bool) -> None:
    path = tmp_path / "again.kuzu"
    database = engine.Database(path, **SIZES)
    connection = database.connect(threads=1)
    connection.execute("CREATE NODE TABLE A (id STRING, n INT64, PRIMARY KEY (id))").close()
    connection.checkpoint()
    assert not engine.wal_of(path).exists()
    connection.execute(ADD, {"id": "a", "n": 1}).close()
    assert engine.wal_of(path).stat().st_size > 0
    if not folded:
        connection.leave_log()
    connection.close()
    database.close()
    assert engine.wal_of(path).exists() == (not folded)
    assert {each.name for each in tmp_path.iterdir()} <= {path.name + each for each in engine.COMPANIONS}
    with _another(engine, path) as reader:
        assert reader.execute(ALL).rows() == [["a", 1]]
