"""What becomes of an answer: a file, whole or not at all and for its owner alone, or what is drawn of it."""

import csv
import json
import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from graph.console.console import Answer
from graph.values import Edge, Ref
from tests.tui.queries.test_cells import PATH, PERSON, SAID_BY, TURN
from tui.files import ExportFailed, write
from tui.queries import export
from tui.queries.completing import tables_of

ANSWER = Answer(
    ("t.text", "n", "n"),
    (('a, "b"\nc', 1, None), ("\x1b[31mred", {"x": [1, "é"]}, 1.5), ("x" * 100_000, True, "∅")),
    3,
    1.0,
)


def test_csv_and_json_hold_every_row(tmp_path: Path) -> None:
    target = export.target_of("answer.csv", tmp_path)
    export.write_rows(target, ANSWER)
    rows = list(csv.reader(target.path.read_text(encoding="utf-8").splitlines(keepends=True)))
    assert rows[0] == ["t.text", "n", "n"]
    assert rows[1] == ['a, "b"\nc', "1", ""]
    assert rows[2] == ["␛[31mred", '{"x": [1, "é"]}', "1.5"]
    assert rows[3][0] == "x" * 100_000
    assert stat.S_IMODE(target.path.stat().st_mode) == 0o600
    target = export.target_of("answer.json", tmp_path)
    export.write_rows(target, ANSWER)
    told = json.loads(target.path.read_text(encoding="utf-8"))
    assert told[0] == {"t.text": 'a, "b"\nc', "n": 1, "n_2": None}
    assert told[1]["n"] == {"x": [1, "é"]}
    assert json.loads("".join(export.as_json(Answer(("a",), (), 0, 1.0)))) == []
    assert export.unique(("a", "a", "a_2", "a")) == ["a", "a_2", "a_2_2", "a_3"]


WRONG = {
    "": "Enter a file name",
    "answer.txt": "The file name must end in",
    "nowhere/answer.csv": "There is no folder",
    "folder.csv": "is a folder",
    "a\0b.csv": "That is not a valid file name",
    "~nobody-is-called-so/a.csv": "There is no folder",
    f"{'x' * 300}.csv": "File name too long",
}


def test_what_cannot_be_written_and_a_file_that_is_there_are_told(tmp_path: Path) -> None:
    (tmp_path / "folder.csv").mkdir()
    for said, why in WRONG.items():
        with pytest.raises(ExportFailed, match=why):
            export.target_of(said, tmp_path)
    (tmp_path / "answer.csv").write_text("mine", encoding="utf-8")
    assert export.target_of("answer.csv", tmp_path).exists
    assert not export.target_of("other.CSV", tmp_path).exists


def test_a_failed_write_leaves_what_was_there_and_nothing_beside(tmp_path: Path) -> None:
    path = tmp_path / "answer.csv"
    path.write_text("mine", encoding="utf-8")

    def breaking() -> Iterator[bytes]:
        yield b"half"
        raise OSError(28, os.strerror(28))

    with pytest.raises(ExportFailed, match="No space left"):
        write(path, breaking())
    assert path.read_text(encoding="utf-8") == "mine"
    assert list(tmp_path.iterdir()) == [path]
    with pytest.raises(ExportFailed, match="was not written: No such file"):
        write(tmp_path / "gone since it was looked at" / "answer.csv", iter([b"x"]))


async def test_what_is_left_out_is_never_silent(tmp_path: Path) -> None:
    target = export.target_of("answer.csv", tmp_path)
    assert await export.written(target, ANSWER) == f"3 rows in {target.path} (100 KB)"
    assert "the first ones of 12 340 rows" in export.left_out(Answer(("a",), ((1,),), 12_340, 1.0, "rows"))
    assert "too large" in export.left_out(Answer(("a",), ((1,),), None, 1.0, "bytes"))


# What of an answer is drawn: nodes, relationships and paths, wherever they stand in its values

FIRST, SECOND = Ref("Turn", "T1"), Ref("Entity", "noor")


def test_nodes_and_relationships_are_looked_for_in_columns_paths_lists_and_structures() -> None:
    for row in ((TURN, SAID_BY, PERSON), (PATH,), ([PATH],), ({"a": {"b": [TURN, SAID_BY, PERSON]}},)):
        found = export.subgraph_of([row, row])
        assert len(found.nodes) == 2
        assert {node.ref for node in found.nodes} == {FIRST, SECOND}
        assert found.edges == (Edge(FIRST, SECOND, "SAID_BY"),)
    assert export.subgraph_of([(1, "a", None, [2], {"x": 3})]).nodes == ()


def test_a_path_in_a_circle_ends_and_what_cannot_be_drawn_is_counted() -> None:
    back = {**SAID_BY, "_src": "3:0", "_dst": "2:0", "_id": "9:1", "_label": "KNOWS"}
    found = export.subgraph_of([({"_nodes": [TURN, PERSON, TURN], "_rels": [SAID_BY, back]},)])
    assert len(found.nodes) == 2
    assert {edge.name for edge in found.edges} == {"SAID_BY", "KNOWS"}
    found = export.subgraph_of([(SAID_BY,)])
    assert (found.nodes, found.edges, found.more_edges) == ((), (), 1)
    many = [({**TURN, "_id": f"2:{each}", "id": f"T{each}"},) for each in range(export.MOST_NODES + 7)]
    found = export.subgraph_of(many)
    assert (len(found.nodes), found.more_nodes) == (export.MOST_NODES, 7)
    found = export.subgraph_of([({**TURN, "_id": "2:9", "id": "T9"},), (PATH,)])
    assert found.nodes[-1].ref == Ref("Turn", "T9")


def test_words_of_a_hidden_turn_are_not_drawn() -> None:
    node = export.subgraph_of([({**TURN, "hidden": True},)]).nodes[0]
    assert (node.title, node.mark) == (export.HIDDEN, "hidden")
    assert "Hello" not in str(node.details)


def test_a_cell_leads_to_its_node_or_to_the_one_whose_id_it_is_or_to_the_first_of_its_row() -> None:
    assert export.first_ref([1, [PERSON]]) == SECOND
    cypher = "MATCH (t:Turn)-[:SAID_BY]->(e:Entity) RETURN t, t.id, e.id, e.name"
    assert tables_of(cypher, "e") == ["Entity"]
    columns, row = ("t.id", "e.id", "e.name"), ("T1", "noor", "Noor")
    assert [export.ref_in(cypher, columns, row, place) for place in range(3)] == [FIRST, SECOND, FIRST]
    assert export.ref_in(cypher, ("n", "t"), (1, TURN), 0) == FIRST
    assert export.ref_in(cypher, ("n",), (1,), 0) is None
