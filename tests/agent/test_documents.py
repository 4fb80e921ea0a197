"""Documents by hand: what an ingest read, or what was taken out of the memory, is one change, and undone whole."""

from pathlib import Path

import pytest

from agent.agent import Agent
from agent.errors import AgentError
from tests.agent.test_plans import chat
from tests.graph.teach import observed


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "tides.md").write_text("# Tides\n\nTwice a day.\n")
    (folder / "moon.md").write_text("# Moon\n\nIt pulls.\n")
    return folder


async def pieces(agent: Agent) -> dict[str, dict[str, str]]:
    """The pieces that each document holds by their ids, by its title."""
    return {
        each.title: {chunk.id: chunk.text for chunk in await agent.documents.chunks(each.id)}
        for each in await agent.documents.all()
    }


async def held(agent: Agent) -> dict[str, list[str]]:
    """Their words alone."""
    return {title: list(chunks.values()) for title, chunks in (await pieces(agent)).items()}


async def test_an_ingest_is_one_change_that_is_undone_and_done_again(agent: Agent, folder: Path) -> None:
    _, (one,) = await chat(agent, "Hello there.")
    await agent.chats.hide(one.turn)
    await agent.documents.ingest(folder)
    before = await held(agent)
    undone = await agent.history.undo()
    assert (undone.what, await held(agent)) == ("added 2 documents", {"Tides": [], "Moon": []})
    changes = await agent.history.changes()
    found = [change.what for change in changes]
    assert found == ["undid a change (added 2 documents)", "added 2 documents", f"hid the message {one.turn}"]
    await agent.history.undo(changes[0].seq)
    assert await held(agent) == before
    assert [change.undoable for change in (await agent.history.changes())[1:3]] == [False, True]


async def test_what_was_read_again_goes_back_to_what_it_said(agent: Agent, folder: Path) -> None:
    await agent.documents.ingest(folder)
    before = await held(agent)
    await agent.documents.ingest(folder)
    (folder / "tides.md").write_text("# Tides\n\nOnce.\n")
    await agent.documents.ingest(folder)
    assert await held(agent) == before | {"Tides": ["Once."]}
    assert (await agent.history.undo()).what == "added the document “Tides”"
    assert await held(agent) == before
    assert (await agent.history.undo()).what == "added 2 documents"
    with pytest.raises(AgentError, match="nothing to undo"):
        await agent.history.undo()


async def test_what_is_taken_out_is_shown_first_and_comes_back_with_what_it_taught(agent: Agent, folder: Path) -> None:
    await agent.documents.ingest(folder)
    before = await held(agent)
    moon = next(each for each in await agent.documents.all() if each.title == "Moon")
    (piece,) = await agent.documents.chunks(moon.id)
    agent._memory.append(observed("PULL", piece.id, text="The moon pulls"))
    (folder / "moon.md").unlink()
    missing = (await agent.documents.ingest(folder)).missing
    plan = await agent.plans.take_out(missing)
    assert (plan.what, plan.notes[0]) == ("Remove the document “Moon” from the memory", str(folder / "moon.md"))
    assert ([form.id for form in plan.impact.lost], plan.impact.erases) == (["PULL"], False)
    assert await held(agent) == before
    await agent.plans.carry_out(plan)
    assert await held(agent) == before | {"Moon": []}
    assert (await agent.documents.ingest(folder)).missing == [], "it is asked once"
    with pytest.raises(AgentError, match="no longer in the memory"):
        await agent.plans.take_out(missing)
    assert (await agent.history.undo()).what == "removed the document “Moon” from the memory"
    assert await held(agent) == before
    assert [each.id for each in await agent.memories.find()] == ["PULL"]


@pytest.mark.restarts
async def test_what_was_deleted_since_stays_deleted_when_its_ingest_is_undone(agent: Agent, folder: Path) -> None:
    await agent.documents.ingest(folder)
    ingest = (await agent.history.changes())[0]
    moon = next(each for each in await agent.documents.all() if each.title == "Moon")
    await agent.plans.carry_out(await agent.plans.remove_document(moon.id))
    await agent.erasure.finished()
    await agent.history.undo(ingest.seq)
    assert await held(agent) == {"Tides": []}
    tides = (await agent.documents.all())[0]
    assert (await agent.plans.remove_document(tides.id)).notes[0] == "1 passage will be erased."
    await agent.plans.carry_out(await agent.plans.remove_document(tides.id))
    with agent._memory.readings.snapshot() as db:
        assert db.execute("SELECT count(*) FROM events WHERE text LIKE '%Twice%'").fetchone() == (0,)


async def test_going_back_to_a_mark_puts_documents_back_with_their_own_pieces(agent: Agent, folder: Path) -> None:
    await agent.documents.ingest(folder / "tides.md")
    mark = await agent.history.marks.add("before")
    await agent.documents.ingest(folder)
    before = await pieces(agent)
    (folder / "moon.md").rename(folder.parent / "moon.md")
    await agent.plans.carry_out(await agent.plans.take_out((await agent.documents.ingest(folder)).missing))
    (folder.parent / "moon.md").rename(folder / "moon.md")
    report = await agent.documents.ingest(folder)
    assert ([Path(path).name for path in report.added], report.chunks) == (["moon.md"], 0)
    assert await pieces(agent) == before

    plan = await agent.history.plan_restore(mark.id)
    assert plan.notes == ("1 document goes back to its earlier version.",)
    await agent.plans.carry_out(plan)
    assert await held(agent) == {"Tides": ["Twice a day."], "Moon": []}
