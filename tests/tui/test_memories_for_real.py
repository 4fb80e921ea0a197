"""What the memory screen and its commands leave in a real log and on the disk; only the models are fakes."""

from pathlib import Path

import pytest

from tests.fakes import FakeGenerator
from tests.tui.acting import closes, converse, enter, paste, press
from tests.tui.conftest import agree
from tests.tui.seeing import sees
from tests.tui.test_recall_for_real import running
from tui.memories.screen import MemoriesScreen
from tui.widgets.message import UserMessage

pytestmark = pytest.mark.ui


def contents(folder: Path) -> list[bytes]:
    """All that the files below a folder hold."""
    return [file.read_bytes() for file in folder.rglob("*") if file.is_file()]


async def test_ratings_blocks_documents_and_what_is_kept_out_reach_the_log(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    for name, text in (("Gorges", "The Samaria gorge is closed in winter."), ("Gulls", "Of the coast.")):
        (notes / f"{name}.md").write_text(f"# {name}\n\n{text}\n", encoding="utf-8")
    (notes / "plan.docx").write_bytes(b"PK")
    async with running(tmp_path, FakeGenerator("Fine."), reflect=False) as (app, pilot, agent):

        async def held() -> dict[str, int]:
            return {each.title: each.chunks for each in await agent.documents.all()}

        await converse(app, pilot, "I got married today")
        message = next(each for each in app.view.transcript.messages if isinstance(each, UserMessage))
        await agent.memories.rate(message.turn, 2)
        await press(pilot, "f4", "4", "down", "down", opens=MemoriesScreen, shows="I got married today")
        await press(pilot, "enter", "3", shows="Rated 3")
        assert [turn.id for turn in await agent.memories.rated(3)] == [message.turn]
        await pilot.press("left", "3", "n")
        await paste(pilot, "human", "enter", shows="Core block: human")
        await paste(pilot, "I am Noor.", "enter", shows="“human” saved")
        assert [block.text for block in await agent.memories.blocks()] == ["I am Noor."]
        await closes(pilot, "escape")

        await enter(app, pilot, f"/ingest {notes}", "Documents: 2 added. Unsupported: plan.docx.")
        await enter(app, pilot, "/documents", "1 passage", "Gulls", opens=MemoriesScreen)
        await press(pilot, "end", "enter", shows="The Samaria gorge is closed in winter.")
        await closes(pilot, "escape", "escape")
        (notes / "Gulls.md").unlink()
        gone = "1 file no longer exists. Remove it from the memory?"
        await enter(app, pilot, f"/ingest {notes}", gone, "Nothing is erased. To erase a document, delete it.")
        await press(pilot, "escape", shows="The document stays in the memory")
        assert await held() == {"Gorges": 1, "Gulls": 1}
        await enter(app, pilot, f"/ingest {notes}", gone)
        await agree(pilot)
        await sees(pilot, "It was removed from the memory. /undo undoes this.")
        assert await held() == {"Gorges": 1, "Gulls": 0}
        await enter(app, pilot, "/undo", "removed the document “Gulls” from the memory")
        assert await held() == {"Gorges": 1, "Gulls": 1}
        await enter(app, pilot, "/undo", "added 2 documents")
        assert await held() == {"Gorges": 0, "Gulls": 0}
        notes.rename(tmp_path / "elsewhere")
        await enter(app, pilot, f"/ingest {notes}", "File or folder not found")
        await enter(app, pilot, '/ingest ""', "No path given")

        message.focus()
        await pilot.press("o")
        await agree(pilot)
        await sees(pilot, "Kept out of memory")
        session = app.view.session
        await app.open_session(None)
        await app.open_session(session)
        await sees(pilot, "kept out of memory")


async def test_a_private_chat_leaves_no_word_behind(tmp_path: Path) -> None:
    async with running(tmp_path, FakeGenerator("Certainly."), reflect=False) as (app, pilot, agent):
        await enter(app, pilot, "/private", "Private chat: nothing is saved")
        await converse(app, pilot, "my secret is xyzzy")
        await sees(pilot, "Certainly.")
        assert await agent.search.words("xyzzy") == []
        assert app.view.session not in [each.id for each in await agent.chats.all()]
    assert not any(b"xyzzy" in content for content in contents(tmp_path))
