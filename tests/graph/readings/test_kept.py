"""Core blocks, projects, documents, notes and pins as the log has them, with and without the graph."""

import hashlib

import pytest

from graph.errors import NotFound
from graph.events import ProjectMade
from graph.memory import Memory
from graph.reader import LogReader
from tests.graph.deeds import (
    assign,
    begin,
    delete,
    drop,
    fork,
    hide,
    move,
    pin,
    rate,
    release,
    unhide,
    unpin,
    withhold,
    write,
)
from tests.graph.talk import reply, said, talk
from tests.graph.teach import read, remove


def said_in(memory: Memory, world: str = "main") -> dict[str, str]:
    return {block.name: block.text for block in memory.readings.blocks(world)}


def test_a_block_says_what_was_written_last_and_an_empty_one_is_gone(memory: Memory) -> None:
    for name, text in (("persona", "kind"), ("human", "Ann"), ("persona", "curt"), ("human", " ")):
        memory.append(write(name, text))
    talk(memory, 1)
    memory.append(fork("w", "s", "s0", world="what-if"))
    memory.append(write("persona", "a pirate", world="what-if"))
    (block,) = memory.readings.blocks()
    assert (block.name, block.text, block.by, block.world, block.version) == ("persona", "curt", "user", "main", 3)
    assert said_in(memory, "what-if") == {"persona": "a pirate"}
    assert said_in(memory, "nowhere") == {}
    reader = LogReader.open(memory._folder)
    assert reader.blocks() == memory.readings.blocks()
    reader.close()


def test_a_block_whose_source_is_taken_away_is_read_as_it_was_before(memory: Memory) -> None:
    talk(memory, 4)
    memory.append(*read("d", "c1"), write("human", "first"), write("human", "second", "s0", "c1", by="agent"))
    memory.append(write("human", "third", "s2", by="agent"))
    assert said_in(memory) == {"human": "third"}
    for out, back in ((hide("s2"), unhide("s2")), (withhold("s2"), release("s2")), (move("s", "s1"), move("s", "s3"))):
        memory.append(out)
        assert said_in(memory) == {"human": "second"}
        memory.append(back)
        assert said_in(memory) == {"human": "third"}
    memory.append(delete("s2"), *read("d", "c2"))
    assert said_in(memory) == {"human": "first"}


def test_projects_are_those_that_were_made_and_those_of_sessions(memory: Memory) -> None:
    memory.append(begin("a", project="boats"), begin("b", project="Attic"), begin("c", project="boats"))
    memory.append(begin("gone", project="gone"), drop("gone"), ProjectMade(project="boats", text="To sea"))
    memory.append(ProjectMade(project="boats", status="archived", text="To the lake"))
    memory.append(ProjectMade(project="empty", text=None), assign("b", "boats"), assign("b", "cellar"))
    found = [(each.name, each.description, each.status, each.sessions) for each in memory.readings.projects()]
    assert found == [("boats", "To the lake", "archived", 2), ("cellar", "", "active", 1), ("empty", "", "active", 0)]
    assert [memory.readings.session(id).project for id in "abc"] == ["boats", "cellar", "boats"]
    memory.append(said("q", "b"), reply("r", "b", parent="q"))
    assert [each.turn.id for each in memory.readings.exchanges(project="cellar")] == ["q"]
    assert memory.readings.exchanges(project="Attic") == []
    assert memory.readings.about("CELLAR").kind == "project"


def test_a_document_is_as_it_was_read_last(memory: Memory) -> None:
    memory.append(*read("d", "c1", "c2"), *read("e", "c9"), *read("d", "c2", "c3", new=("c3",), size=9, tags=("sea",)))
    assert [each.id for each in memory.readings.documents()] == ["d", "e"]
    document = memory.readings.document("d")
    assert (document.title, document.path, document.size, document.chunks) == ("d", "/tmp/d.md", 9, 2)
    assert (document.tags, document.type) == (("sea",), "markdown")
    held = [(each.id, each.position, each.headings, each.text) for each in memory.readings.document_chunks("d")]
    assert held == [("c2", 0, ("Head",), "c2"), ("c3", 1, ("Head",), "c3")]
    assert memory.readings.chunks(["c1", "c3", "c9", "nothing"]).keys() == {"c3", "c9"}
    assert memory.readings.chunks(["c3"])["c3"] == memory.readings.document_chunks("d")[1]
    assert memory.readings.held_chunks("d") == ["c2", "c3"]
    ever = {hashlib.sha256(f"Head\n{id}".encode()).digest(): id for id in ("c1", "c2", "c3")}
    assert memory.readings.chunk_hashes("d") == ever


def test_a_document_that_was_removed_or_never_read_is_not_there(memory: Memory) -> None:
    memory.append(*read("d", "c1"), remove("d"))
    assert memory.readings.documents() == []
    assert memory.readings.chunks(["c1"]) == memory.readings.chunks([]) == {}
    assert memory.readings.chunk_hashes("d") == memory.readings.chunk_hashes("x") == {}
    assert memory.readings.held_chunks("d") == memory.readings.held_chunks("x") == []
    for unknown in ("d", "x", ""):
        with pytest.raises(NotFound, match="clew ingest"):
            memory.readings.document(unknown)
        with pytest.raises(NotFound):
            memory.readings.document_chunks(unknown)


def test_notes_have_a_session_of_each_project_in_main(memory: Memory) -> None:
    assert memory.readings.notes_session(None) is None
    talk(memory, 1)
    memory.append(fork("f", "s", "s0", world="what-if"))
    memory.append(begin("w", client="notes", world="what-if"))
    memory.append(begin("n", client="notes"), begin("p", client="notes", project="p"))
    assert [memory.readings.notes_session(project) for project in (None, "p", "q")] == ["n", "p", None]
    memory.append(drop("n"))
    assert memory.readings.notes_session(None) is None


def pins(memory: Memory, world: str = "main") -> list[str]:
    return [turn.id for turn in memory.readings.pinned(world)]


def test_the_newest_pivotal_turns_of_each_speaker_are_pinned_by_themselves(memory: Memory) -> None:
    talk(memory, 24)
    memory.append(*(rate(f"s{number}", 3, by="model") for number in range(24)))
    assert pins(memory) == [f"s{number}" for number in range(8, 24)]
    memory.append(rate("s22", 2, by="user"), hide("s20"), withhold("s18"))
    mine = [f"s{number}" for number in (2, 4, 6, 8, 10, 12, 14, 16)]
    assert [id for id in pins(memory) if id in mine] == mine
    memory.append(move("s", "s3"))
    assert pins(memory) == ["s0", "s1", "s2", "s3"]


def test_a_pin_by_hand_stays_and_one_taken_off_by_hand_does_not_come_back(memory: Memory) -> None:
    talk(memory, 24)
    memory.append(pin("s0"), *(rate(f"s{n}", 3) for n in range(0, 24, 2)))
    assert pins(memory) == ["s0", *(f"s{number}" for number in range(8, 24, 2))]
    memory.append(unpin("s22"), unpin("s0"), rate("s22", 3, by="model"))
    assert pins(memory) == [f"s{number}" for number in range(6, 22, 2)]
    assert not memory.readings.turn("s10").pinned  # of itself, not by hand
    talk(memory, 2, "t")
    memory.append(fork("w", "t", "t1", "what-if"), said("w0", "w", parent="t1"), rate("w0", 3), rate("t1", 3))
    assert ("t1" in pins(memory), pins(memory, "what-if")[-2:]) == (True, ["t1", "w0"]), "each world that sees it"
    assert "w0" not in pins(memory)


def test_a_withheld_turn_stays_in_its_chat_and_in_search_and_leaves_the_rest(memory: Memory) -> None:
    talk(memory, 2)
    memory.append(said("secret", parent="s1", text="I live in Lisbon"), reply("answer", parent="secret"))
    memory.append(pin("secret"), withhold("secret"))
    assert memory.readings.turn("secret").withheld
    assert [turn.id for turn in memory.readings.thread("s")][2] == "secret"
    assert [found.turn.id for found in memory.readings.search("Lisbon")] == ["secret"]
    assert pins(memory) == []
    assert [turn.id for turn in memory.readings.recent("turn", 9)] == ["answer", "s1", "s0"]
    assert [each.turn.id for each in memory.readings.recent("exchange", 9)] == ["s0"]
    assert memory.readings.about("Lisbon").turns == ()
    memory.append(release("secret"))
    assert not memory.readings.turn("secret").withheld
    assert pins(memory) == ["secret"]
    assert [turn.id for turn in memory.readings.about("Lisbon").turns] == ["secret"]
