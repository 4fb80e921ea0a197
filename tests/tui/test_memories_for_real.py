"""The memory screen on the real agent, with a real log and graph; only the models are fakes."""

from pathlib import Path
from typing import Any

import pytest

from graph.events import ObservationKind
from tests.fakes import FakeGenerator
from tests.graph.teach import observed
from tests.tui.conftest import agree, wait_until
from tests.tui.seeing import words
from tests.tui.test_memories_screen import listed, observations
from tests.tui.test_recall_for_real import running, say
from tui.memories.screen import MemoriesScreen
from tui.widgets.banner import Approval
from tui.widgets.impact import ImpactScreen
from tui.widgets.message import UserMessage

pytestmark = pytest.mark.ui


async def test_what_is_remembered_is_listed_with_its_words_corrected_and_forgotten(tmp_path: Path) -> None:
    async with running(tmp_path, FakeGenerator("Fine."), reflect=False) as (app, pilot, agent):
        await say(app, pilot, "I moved to Berlin last week")
        app.view.composer.put("/remember I live in Berlin")
        await pilot.press("enter")
        await wait_until(pilot, lambda: "Remembered: I live in Berlin" in words(app))
        await pilot.press("f4")
        await wait_until(pilot, lambda: isinstance(app.screen, MemoriesScreen) and len(listed(app)) == 1)
        await wait_until(pilot, lambda: "your note: “I live in Berlin”" in words(app))
        first = listed(app)[0]
        await pilot.press("p")
        await wait_until(pilot, lambda: "Pinned: the model will always see it" in words(app))
        await pilot.press("c")
        await wait_until(pilot, lambda: "What is true instead?" in words(app))
        await pilot.press("ctrl+a", "ctrl+k", *"I live in Potsdam", "enter")
        await wait_until(pilot, lambda: "Corrected" in words(app) and listed(app) not in ([], [first]))
        await wait_until(
            pilot, lambda: "History" in words(app) and "your correction: “I live in Potsdam”" in words(app)
        )
        assert len((await agent.memories.story(first)).revisions) == 2
        await pilot.press("u")
        await wait_until(pilot, lambda: listed(app) == [first], "the one before")
        await pilot.press("d")
        await wait_until(pilot, lambda: isinstance(app.screen, ImpactScreen) and app.screen.plan is not None)
        await pilot.press("tab", "enter")
        await wait_until(pilot, lambda: "No memories yet" in words(app))
        assert await agent.memories.find() == []


async def test_ratings_blocks_documents_and_what_is_kept_out_reach_the_log(tmp_path: Path) -> None:
    notes = tmp_path / "notes.md"
    notes.write_text("# Gorges\n\nThe Samaria gorge is closed in winter.\n", encoding="utf-8")
    async with running(tmp_path, FakeGenerator("Fine."), reflect=False) as (app, pilot, agent):
        await say(app, pilot, "I got married today")
        message = next(each for each in app.view.transcript.messages if isinstance(each, UserMessage))
        await agent.memories.rate(message.turn, 2)
        await pilot.press("f4", "4", "down", "down")
        await wait_until(pilot, lambda: isinstance(app.screen, MemoriesScreen) and "I got married today" in words(app))
        await pilot.press("enter", "3")
        await wait_until(pilot, lambda: "Rated 3" in words(app))
        assert [turn.id for turn in await agent.memories.rated(3)] == [message.turn]
        await pilot.press("left", "3", "n", *"human", "enter")
        await wait_until(pilot, lambda: "Core block: human" in words(app))
        await pilot.press(*"I am Noor.", "enter")
        await wait_until(pilot, lambda: "“human” saved" in words(app))
        assert [block.text for block in await agent.memories.blocks()] == ["I am Noor."]
        await pilot.press("escape")
        app.view.composer.put(f"/ingest {notes}")
        await pilot.press("enter")
        await wait_until(pilot, lambda: "Documents: 1 added" in words(app))
        app.view.composer.put("/documents")
        await pilot.press("enter")
        await wait_until(pilot, lambda: isinstance(app.screen, MemoriesScreen) and "1 passage" in words(app))
        await pilot.press("enter")
        await wait_until(pilot, lambda: "The Samaria gorge is closed in winter." in words(app))
        await pilot.press("escape", "escape")
        await wait_until(pilot, lambda: len(app.screen_stack) == 1)
        message.focus()
        await pilot.press("o")
        await agree(pilot)
        await wait_until(pilot, lambda: "Kept out of memory" in words(app))
        session = app.view.session
        await app.open_session(None)
        await app.open_session(session)
        await wait_until(pilot, lambda: "kept out of memory" in words(app))


async def test_documents_whose_files_are_gone_leave_with_a_yes_and_undo_takes_an_ingest_back(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    for name in ("Gorges", "Gulls"):
        (notes / f"{name}.md").write_text(f"# {name}\n\nOf the coast.\n", encoding="utf-8")
    (notes / "plan.docx").write_bytes(b"PK")

    async with running(tmp_path, FakeGenerator("Fine."), reflect=False) as (app, pilot, agent):

        async def type_in(slash: str, then: str) -> None:
            app.view.composer.put(slash)
            await pilot.press("enter")
            await wait_until(pilot, lambda: then in words(app))

        async def held() -> dict[str, int]:
            return {each.title: each.chunks for each in await agent.documents.all()}

        await type_in(f"/ingest {notes}", "Documents: 2 added. Unsupported: plan.docx.")
        (notes / "Gulls.md").unlink()
        await type_in(f"/ingest {notes}", "1 file no longer exists. Remove it from the memory?")
        await wait_until(pilot, lambda: "Nothing is erased. To erase a document, delete it." in words(app))
        await pilot.press("escape")
        await wait_until(pilot, lambda: "The document stays in the memory" in words(app))
        assert await held() == {"Gorges": 1, "Gulls": 1}
        await type_in(f"/ingest {notes}", "1 file no longer exists. Remove it from the memory?")
        await agree(pilot)
        await wait_until(pilot, lambda: "It was removed from the memory. /undo undoes this." in words(app))
        assert await held() == {"Gorges": 1, "Gulls": 0}
        await type_in("/undo", "removed the document “Gulls” from the memory")
        assert await held() == {"Gorges": 1, "Gulls": 1}
        await type_in("/undo", "added 2 documents")
        assert await held() == {"Gorges": 0, "Gulls": 0}
        notes.rename(tmp_path / "elsewhere")
        await type_in(f"/ingest {notes}", "File or folder not found")
        await type_in('/ingest ""', "No path given")


async def test_a_private_chat_leaves_no_word_behind(tmp_path: Path) -> None:
    async with running(tmp_path, FakeGenerator("Certainly."), reflect=False) as (app, pilot, agent):
        app.view.composer.put("/private")
        await pilot.press("enter")
        await wait_until(pilot, lambda: "Private chat: nothing is saved" in words(app))
        await say(app, pilot, "my secret is xyzzy")
        await wait_until(pilot, lambda: "Certainly." in words(app))
        assert await agent.search.words("xyzzy") == []
        assert app.view.session not in [each.id for each in await agent.chats.all()]
    assert not any(b"xyzzy" in content for content in contents(tmp_path))


async def test_a_model_changes_the_memory_only_with_leave(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Approval, "guard_s", 0.0)
    answer, keep = {"tool": "answer"}, {"tool": "remember", "text": "The user hates walnuts"}
    generator = FakeGenerator("Noted.", "Well.", structured_replies=[keep, answer, keep, answer])
    async with running(tmp_path, generator, tools="on", reflect=False) as (app, pilot, agent):
        for keys, known in ((("enter",), 0), (("right", "enter"), 1)):
            before = app.view.state.last
            app.view.composer.put("Please remember that I hate walnuts")
            await pilot.press("enter")
            shown = app.screen_stack[0].query_one(Approval)
            await wait_until(pilot, lambda shown=shown: shown.display and shown.has_focus, "the question")  # type: ignore[misc]
            await wait_until(pilot, lambda: "The user hates walnuts" in words(app), "The user hates walnuts")
            await pilot.press(*keys)
            await wait_until(pilot, lambda before=before: app.view.state.last is not before)  # type: ignore[misc]
            assert len(await agent.memories.find()) == known
            assert not shown.display


def contents(folder: Path) -> list[bytes]:
    """All that the files below a folder hold."""
    return [file.read_bytes() for file in folder.rglob("*") if file.is_file()]


async def test_the_review_works_on_a_real_candidate(tmp_path: Path) -> None:
    async with running(tmp_path, FakeGenerator("Fine."), reflect=False) as (app, pilot, agent):
        await say(app, pilot, "Perhaps I should learn the cello")
        turn = next(each.turn for each in app.view.transcript.messages if isinstance(each, UserMessage))
        perhaps: dict[str, Any] = {
            "category": ObservationKind.PLAN,
            "status": "candidate",
            "text": "Wants to learn the cello",
        }
        agent._memory.append(observed("01JCANDIDATE00000000000000", turn, confidence=0.6, **perhaps))
        await pilot.press("f4", "2")
        await wait_until(pilot, lambda: isinstance(app.screen, MemoriesScreen) and "learn the cello" in words(app))
        await wait_until(pilot, lambda: "Perhaps I should learn the cello" in words(app))
        await pilot.press("a")
        await wait_until(pilot, lambda: "Nothing to review" in words(app))
        assert [each.status for each in await agent.memories.find()] == ["active"]
        await pilot.press("u")
        await wait_until(pilot, lambda: observations(app).rows.chosen is not None)
        await pilot.press("x")
        await wait_until(pilot, lambda: "Rejected" in words(app) and "Nothing to review" in words(app))
        assert await agent.memories.find() == []
        await pilot.press("u")
        await wait_until(pilot, lambda: observations(app).rows.chosen is not None)
        await pilot.press("enter")
        await wait_until(pilot, lambda: any(each.has_class("-flash") for each in app.view.transcript.messages))
