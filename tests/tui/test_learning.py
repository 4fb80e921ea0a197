"""What was learned, told in the chat: the quiet notice, its two keys, the status bar; leave to change the memory."""

import threading
from pathlib import Path

import pytest
from textual.pilot import Pilot

from agent.events import ApprovalWanted, Learned, Proposed, Reflecting, ReplyStarted, ToolDone
from agent.ingesting import ingester
from agent.ingesting.files import ReadFile, read
from tests.examples import few
from tests.tui.acting import enter, press
from tests.tui.beliefs import BERLIN, CELLO, SISTER, learned_agent, screen_of, standing
from tests.tui.conftest import Running, screen_text, status_line, wait_until
from tests.tui.scripted import ScriptedAgent
from tests.tui.seeing import sees, words
from tui.app import ClewApp
from tui.fold import fold
from tui.memories.screen import MemoriesScreen
from tui.memory_controller import NOTHING_LEARNED
from tui.state import State
from tui.widgets.banner import Approval

SLOW = "walnut"  # a search for it takes long
WALNUTS = "[b]Ada[/b] hates walnuts"
ASKED = f"Remember: {WALNUTS}"


@pytest.fixture(autouse=True)
def no_guard(monkeypatch: pytest.MonkeyPatch) -> None:
    """An answer counts at once."""
    monkeypatch.setattr(Approval, "guard_s", 0.0)


async def test_a_notice_takes_neither_focus_nor_room_and_f4_opens_what_it_tells(chat: Running) -> None:
    agent = learned_agent()
    async with chat(agent) as (app, pilot):
        await press(pilot, "f8", shows=NOTHING_LEARNED[:40])
        await pilot.press(*"hel")
        height = app.view.transcript.size.height
        agent.tell(Learned("S000", ((BERLIN, "Moved to [Berlin]"), (SISTER, "x")), 1))
        await sees(pilot, "Learned: Moved to [Berlin]", "+1 · 1 to review · F4 show · F8 undo")
        await pilot.press("l", "o")
        assert app.view.composer.text == "hello"
        assert app.view.transcript.size.height == height
        await press(pilot, "f4", opens=MemoriesScreen, shows="History")
        chosen = screen_of(app).page.rows.chosen
        assert getattr(chosen, "id", None) == BERLIN
        await press(pilot, "escape", until=lambda: "Learned:" not in words(app) and app.view.composer.text == "hello")

        agent.tell(Proposed(BERLIN, "Moved to [Berlin]", "Zed (over MCP)", 3))
        await sees(pilot, "Proposed: Moved to [Berlin]", "Zed (over MCP) · 3 to review · /review")
        assert app.view.composer.text == "hello"
        agent.tell(Learned("S000", ((SISTER, "Has a sister"), (CELLO, "Cello")), 1))
        await sees(pilot, "Learned: Has a sister")
        await press(pilot, "f8", shows="2 memories are no longer used. Press F8 again to restore.")
        assert [(await standing(agent, each)).status for each in (SISTER, CELLO)] == ["invalid", "invalid"]
        await press(pilot, "f8", shows="Restored.")
        assert [(await standing(agent, each)).status for each in (SISTER, CELLO)] == ["active", "candidate"]
        agent.tell(Reflecting(1_200, "model"))
        await wait_until(pilot, lambda: "learning from 1,200 messages" in status_line(app))
        agent.tell(Reflecting(0, "model"))
        await wait_until(pilot, lambda: "learning" not in status_line(app))

        await pilot.resize_terminal(60, 20)
        agent.tell(Learned("S000", ((SISTER, "long \x1b[2J " * few(5_000)),), 0))
        await sees(pilot, "F4 show · F8 undo")
        await pilot.resize_terminal(40, 20)
        await sees(pilot, "… · F4 show · F8 undo")
        assert "\x1b" not in screen_text(app)


class Leave:
    """What an agent was answered: whether each request was allowed."""

    def __init__(self, agent: ScriptedAgent) -> None:
        self._calls = agent.watch_calls("approvals.answer")

    @property
    def answers(self) -> list[bool]:
        return [how["allowed"] for _, how in self._calls]


async def asked(app: ClewApp, pilot: Pilot[int], text: str = "hi") -> Approval:
    await enter(pilot, text)
    shown = app.screen_stack[0].query_one(Approval)
    await wait_until(pilot, lambda: shown.display and shown.region.height > 0, "the question")
    return shown


async def test_a_model_waits_for_leave_a_button_gives_or_refuses_it_and_no_letter_that_is_typed_is_a_yes(
    chat: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent = learned_agent(tools="on")
    agent.take_steps(*[{"tool": "remember", "text": WALNUTS}, {"tool": "answer"}] * 4)
    leave = Leave(agent)
    async with chat(agent) as (app, pilot):
        for keys in (["enter"], ["escape"], ["right", "enter"]):
            before, answered = app.view.state.last, leave.answers
            shown = await asked(app, pilot)
            await wait_until(pilot, lambda: ASKED in words(app), ASKED)
            await wait_until(pilot, lambda shown=shown: shown.has_focus and "[ Deny ] [ Allow ]" in words(app))  # type: ignore[misc]
            assert "waiting for permission" in status_line(app)
            allowed = keys == ["right", "enter"]
            if allowed:
                await press(pilot, *"yes", until=lambda: app.view.composer.text == "yes")
                assert leave.answers == answered
                assert shown.display
                await press(pilot, "tab", until=lambda shown=shown: shown.has_focus)  # type: ignore[misc]
            await pilot.press(*keys)
            await wait_until(
                pilot,
                lambda before=before: app.view.state.last is not before and app.view.state.reply is None,  # type: ignore[misc]
            )
            assert leave.answers == [*answered, allowed]
            assert (WALNUTS in [each.text for each in await agent.memories.find()]) == allowed
            assert not shown.display
            assert app.view.composer.has_focus
        assert app.view.composer.text == "yes"
        monkeypatch.setattr(Approval, "guard_s", 1e9)
        answered, shown = leave.answers, await asked(app, pilot)
        await wait_until(pilot, lambda: shown.has_focus)
        await press(pilot, "enter", "right", "enter", "y", until=lambda: app.view.composer.text == "y")
        assert leave.answers == answered, "an Enter that was on its way answers nothing"


async def test_it_takes_no_keys_from_words_that_are_being_written(chat: Running) -> None:
    agent = learned_agent(tools="on")
    search = {"tool": "search_memory", "query": SLOW, "limit": 5}
    agent.take_steps(search, {"tool": "remember", "text": WALNUTS})
    looking = agent.hold_search(SLOW)
    leave = Leave(agent)
    async with chat(agent) as (app, pilot):
        await enter(pilot, "hi", until=lambda: app.view.state.tool is not None)
        await pilot.press(*"next")
        looking.set()
        shown = app.screen_stack[0].query_one(Approval)
        await wait_until(pilot, lambda: shown.display)
        assert app.view.composer.has_focus
        await sees(pilot, "Tab answer it")
        await press(pilot, "escape", until=lambda: leave.answers == [False])


def test_a_question_goes_when_its_tool_is_done_or_its_reply_begins() -> None:
    wanted = ApprovalWanted("S", "T", "A", "remember", "what")
    state = fold(State(), wanted)
    assert state.approval == wanted
    assert fold(state, ToolDone("S", "other", "C", "remember", "")).approval == wanted
    assert fold(state, ToolDone("S", "T", "C", "remember", "")).approval is None
    assert fold(state, ReplyStarted("S", "T", "R", "m", 1)).approval is None


async def test_documents_are_read_in_until_esc(chat: Running, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    agent = learned_agent()
    notes = tmp_path / "notes"
    notes.mkdir()
    for name in ("first", "second", "third"):
        (notes / f"{name}.md").write_text(f"# {name}\n\nThe {name} note.\n", encoding="utf-8")
    go = threading.Event()

    def slowly(path: Path) -> ReadFile:
        if path.name == "second.md":
            go.wait()
        return read(path)

    monkeypatch.setattr(ingester, "read", slowly)
    async with chat(agent, size=(80, 24)) as (app, pilot):
        await enter(pilot, f"/ingest {notes}", "Reading 1 of 3: second.md")
        await press(pilot, *"hi", "enter", until=lambda: app.view.state.last is not None)
        await pilot.press("escape")
        go.set()
        await sees(pilot, "Stopped. The files read so far are kept")
        await enter(pilot, f"/ingest {notes}", "Documents: 2 added, 1 unchanged")
