"""What everything stands on: the live graph, the rebuilt one and a naive reading of the events are the same."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given

from graph.doctor import compare
from graph.events import Event, Recalled, TextErased
from graph.kuzu import rebuild
from graph.kuzu.rebuild import events_of
from graph.memory import Memory
from graph.projection.paths import Paths
from graph.projection.schema import NODES, RELS, TURN
from graph.projection.tables import Tables, fold
from tests.examples import histories, soaking
from tests.graph.conftest import bad, fresh, ignore
from tests.graph.deeds import begin, fork, hide, move, pin, taken, unpin
from tests.graph.histories import STEPS, history
from tests.graph.talk import reply, said

COLUMNS = {table.name: table.names for table in NODES}


def of(tables: Tables, table: str, *columns: str) -> dict[str, tuple[Any, ...]]:
    places = [COLUMNS[table].index(column) for column in columns]
    return {id: tuple(row[place] for place in places) for id, row in tables.nodes[table].items()}


def relations(tables: Tables, rel: str, to: str) -> dict[str, str]:
    return {start: end for start, end, *_ in tables.rels[rel, to]}


def folded(memory: Memory) -> Tables:
    reader = memory._reader
    return fold(events_of(reader, memory.head()), reader.event)


def differences(memory: Memory) -> list[str]:
    """Where the graph is not what a fold of the log is."""
    return memory._graph.inspect(lambda store, at: [str(each) for each in compare(folded(memory), store)])


@histories(12 if soaking() else 8)
@given(STEPS)
def test_the_live_graph_and_a_rebuilt_one_equal_a_fold_of_the_log(steps: list[tuple[int, int, int]]) -> None:
    conversation = history(steps)
    with fresh(graph=True) as memory:
        for event in conversation.events:
            assert not memory.append(event)[0].graph_behind
        assert [check.detail for check in memory.doctor() if check.name == "tables" and not check.ok] == []
        assert differences(memory) == []
        for few in (0, len(conversation.events)):  # loaded, and followed
            with pytest.MonkeyPatch.context() as monkeypatch:
                monkeypatch.setattr(rebuild, "FEW", few)
                memory.rebuild(ignore)
            assert differences(memory) == []
        assert bad(memory) == []


@histories(150)
@given(STEPS)
def test_liveness_is_what_the_words_say(steps: list[tuple[int, int, int]]) -> None:
    conversation = history(steps)
    with fresh() as memory:
        memory.append(*conversation.events)
        tables = folded(memory)
        turns = tables.nodes["Turn"]
        live = {id for id, row in turns.items() if row[TURN.names.index("live")]}
        assert live == conversation.live()
        assert {id for id, row in turns.items() if row[TURN.names.index("pinned")]} == conversation.pinned
        follows = {turn: above for turn, above in conversation.follows().items() if above is not None}
        assert relations(tables, "REPLIES_TO", "Turn") == follows
        heads = {each: conversation.nearest(head) for each, head in conversation.head.items()}
        assert relations(tables, "HEAD", "Turn") == {each: head for each, head in heads.items() if head is not None}
        with memory.readings.snapshot() as db:
            paths = Paths(db)
            assert {id for id in turns if paths.sees(id, conversation.world[conversation.home[id]])} == live
        in_main = {id for id in live if conversation.world[conversation.home[id]] == "main"}
        found = [turn for id in in_main if (turn := memory.readings.turn(id)).text]
        newest = sorted(found, key=lambda turn: (turn.at, int(turn.id[4:])), reverse=True)
        assert [turn.id for turn in memory.readings.recent("turn", 5)] == [turn.id for turn in newest[:5]]
        assert {turn.id for turn in memory.readings.pinned()} == conversation.pinned & in_main
        for session, head in conversation.head.items():
            assert memory.readings.session(session).head == heads[session]
            kept = [turn for turn in conversation.path(head) if turn not in conversation.deleted]
            assert [turn.id for turn in memory.readings.thread(session)] == kept


@pytest.mark.restarts
def test_the_tables_are_those_worked_out_by_hand() -> None:
    """A short history with everything that has a rule of its own; events are numbered from 1."""
    packed = [
        Recalled(id="q1", score=0.5, ranks={"lexical": 3, "graph": 2}),
        Recalled(id="q1", score=0.1, ranks={"lexical": 1}),  # a second time: the first counts
        Recalled(id="a1", score=0.25),
        Recalled(id="o", kind="observation", score=1.0, ranks={"observation": 1}),
        Recalled(id="later", score=1.0, ranks={"lexical": 1}),
    ]
    events: list[Event] = [
        begin("s", project="maze", source="x", said_at=1_000),  # 1
        said("q1", text="What?", said_at=5_000),  # 2
        reply("a1", parent="q1", text="That.", said_at=4_000),  # 3
        said("w", queued=True, text="And?", said_at=3_000),  # 4
        reply("a2", parent="q1", text="No, this.", said_at=6_000, recalled=packed),  # 5: q1 and a2 are on the path
        taken("w", "s", parent="a2"),  # 6
        pin("q1"),  # 7
        fork("f", "s", "a1", "what-if"),  # 8
        hide("w"),  # 9
        move("s", "a1"),  # 10: a2 and w leave the path, a1 enters it
        TextErased(events=(3,)),  # 11
        pin("a2"),  # 12
        unpin("a2"),  # 13
    ]
    columns = ["seq", "at", "index", "parent", "depth", "text", "live", "hidden", "queued", "pinned", "touched"]
    expected = {
        "q1": (2, 5_000, 0, None, 0, "What?", True, False, False, True, 7, 1),
        "a1": (3, 4_000, 1, "q1", 1, None, True, False, False, False, 11, 1),
        "w": (4, 3_000, 2, "a2", 2, "And?", False, True, False, False, 10, 0),
        "a2": (5, 6_000, 3, "q1", 1, "No, this.", False, False, False, False, 13, 0),
    }
    speakers = {("q1", "you"), ("w", "you"), ("a1", "assistant"), ("a2", "assistant")}
    with fresh(graph=True) as memory:
        for event in events:
            memory.append(event)
        for _ in range(2):  # as it was kept, and rebuilt
            assert rows(memory, "Turn", [*columns, "heads"]) == expected
            sessions = rows(memory, "Session", ["world", "project", "started_at", "last_at", "turns", "head"])
            assert sessions["s"] == ("main", "maze", 1_000, 6_000, 4, "a1")
            assert sessions["f"][:2] + sessions["f"][4:] == ("what-if", None, 0, "a1")
            given = edges(memory, "RECALLED", "strategy", "rank", "score")
            assert given == {("a2", "q1", "graph", 2, 0.5), ("a2", "a1", None, None, 0.25)}
            assert edges(memory, "REPLIES_TO") == {("a1", "q1"), ("a2", "q1"), ("w", "a2")}
            assert edges(memory, "HEAD") == {("s", "a1"), ("f", "a1")}
            assert edges(memory, "IN_WORLD") == {("s", "main"), ("f", "what-if")}
            assert edges(memory, "IN_SESSION") == {(turn, "s") for turn in expected}
            assert edges(memory, "SAID_BY") == speakers
            memory.rebuild(ignore)


def rows(memory: Memory, table: str, columns: Sequence[str]) -> dict[str, tuple[Any, ...]]:
    """Some columns of all nodes by id: in the graph, or where it is closed in a fold of the log."""
    if not memory.graph_ready:
        return of(folded(memory), table, *columns)
    listed = ", ".join(f"n.`{name}` AS `{name}`" for name in ("id", *columns))
    found = memory.query(f"MATCH (n:`{table}`) RETURN {listed}")
    return {row["id"]: tuple(row[name] for name in columns) for row in found}


def edges(memory: Memory, rel: str, *properties: str) -> set[tuple[Any, ...]]:
    """The ends of all relationships of a name, with some of their properties: as `rows`."""
    if memory.graph_ready:
        listed = "".join(f", r.`{name}`" for name in properties)
        return {tuple(row.values()) for row in memory.query(f"MATCH (a)-[r:`{rel}`]->(b) RETURN a.id, b.id{listed}")}
    (places,) = [[table.names.index(name) for name in properties] for table in RELS if table.name == rel]
    found = [each for (name, _), each in folded(memory).rels.items() if name == rel]
    return {(*ends[:2], *(values[place] for place in places)) for each in found for ends, values in each.items()}


def asked_for(memory: Memory, matters: Callable[[str], bool]) -> list[str]:
    """The ids that the engine is asked for from now on, in the statements that matter."""
    store = memory._graph._store
    assert store is not None
    execute, asked = store.execute, list[str]()

    def listening(cypher: str, parameters: Mapping[str, Any] | None = None) -> list[list[Any]]:
        if matters(cypher):
            asked.append(str((parameters or {})["id"]))
        return execute(cypher, parameters)

    store.execute = listening  # type: ignore[method-assign]
    return asked
