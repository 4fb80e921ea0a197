"""The memory panel: what was recalled for the reply in focus, and what its keys do."""

import asyncio

import pytest
from textual.pilot import Pilot

from agent.events import EmbeddingProgress, GraphProgress
from graph.errors import GraphFailure
from graph.events import Role
from tests.tui.beliefs import standing
from tests.tui.conftest import Running, agree, screen_text, status_line, wait_until
from tests.tui.scripted import ScriptedAgent
from tui import panel_controller
from tui.app import ClewApp
from tui.memories.screen import MemoriesScreen
from tui.widgets.dialogs import Reader
from tui.widgets.impact import ImpactScreen
from tui.widgets.long_list import Rows
from tui.widgets.memory import MemoryPanel
from tui.widgets.message import AssistantMessage

ASKED = "tide pools?"
BESIDE = "2 Jun 2025, later: The gorge was closed"
LAST = "Pools!"


def agent_that_recalls() -> ScriptedAgent:
    agent = ScriptedAgent(reply="Go at dawn.")
    agent.add_session("Packing", ("What should I pack?", "Water."))
    agent.add_session("Crete", ("The tide pools were best", "Lovely."), ("The gorge was closed", LAST))
    return agent


def words(app: ClewApp) -> str:
    """What the screen says, on one line, the columns of the two halves apart."""
    panel = app.parts.panel.panel
    assert panel is not None
    left = panel.region.x
    return " ".join(" ".join(line[left:] for line in screen_text(app).splitlines()).split())


def panel_of(app: ClewApp) -> MemoryPanel:
    panel = app.parts.panel.panel
    assert panel is not None
    return panel


async def say(app: ClewApp, pilot: Pilot[int], text: str) -> None:
    """Send that once all before it can be found by its meaning, and wait for the reply."""
    assert app.view.backstage is not None
    agent = app.view.backstage.service
    assert isinstance(agent, ScriptedAgent)
    await agent.idle()
    before = app.view.state.last
    await pilot.press(*text, "enter")
    await wait_until(
        pilot, lambda: app.view.state.last is not before and app.view.state.reply is None and not app.view.state.waiting
    )


async def pinned(agent: ScriptedAgent) -> list[str]:
    """The messages that are pinned."""
    return [turn.id for turn in await agent.chats.pinned()]


async def is_hidden(agent: ScriptedAgent, turn: str) -> bool:
    return (await agent.chats.exchange(turn)).turn.hidden


async def opened(app: ClewApp, pilot: Pilot[int], count: int = 3) -> MemoryPanel:
    """The panel, once it shows `count` items: for `ASKED` two matches, behind what was said later on the first."""
    await pilot.press("f7")
    await wait_until(pilot, lambda: app.parts.panel.open and len(panel_of(app).pack.recalled) == count, "the panel")
    await pilot.pause()
    return panel_of(app)


async def test_the_panel_says_for_the_newest_reply_what_from_when_and_why(chat: Running) -> None:
    async with chat(agent_that_recalls(), size=(120, 40)) as (app, pilot):
        await say(app, pilot, ASKED)
        await opened(app, pilot)
        await wait_until(pilot, lambda: "Memory for “tide pools?”" in words(app), "Memory for “tide pools?”")
        newest = "you · Crete The gorge was closed said later on the topic of a match"
        await wait_until(pilot, lambda: newest in words(app), newest)
        first = "by its words (rank 1), by its meaning (rank 2), soon before a match; its chat has the words"
        await wait_until(pilot, lambda: f"you · Crete The tide pools were best {first}" in words(app))
        assert BESIDE not in words(app), "what is a row itself stands once"
        last = "by its meaning (rank 1), by its words (rank 2), soon after a match; its chat has the words"
        await wait_until(pilot, lambda: f"clew · Crete Pools! {last}" in words(app), f"clew · Crete Pools! {last}")
        assert app.view.composer.region.width > 60


async def test_it_fills_as_soon_as_recall_is_done_before_the_reply_is(chat: Running) -> None:
    agent = agent_that_recalls()
    async with chat(agent, size=(120, 40)) as (app, pilot):
        await agent.idle()
        agent.go.clear()
        await pilot.press("f7")
        await wait_until(pilot, lambda: app.parts.panel.open)
        await pilot.press("escape")
        assert app.focused is app.view.composer
        await pilot.press(*ASKED, "enter")
        await wait_until(pilot, lambda: "The tide pools were best" in words(app))
        assert agent.answering == "S000"
        agent.go.set()
        await say(app, pilot, "what did we say on 2024-03-05?")
        await wait_until(pilot, lambda: "Nothing was said then." in words(app))


async def test_it_follows_the_reply_in_focus_and_walks_by_itself(chat: Running) -> None:
    agent = agent_that_recalls()
    async with chat(agent, size=(120, 40)) as (app, pilot):
        await say(app, pilot, ASKED)
        await say(app, pilot, "which gorge?")
        await opened(app, pilot, 1)
        await pilot.press("escape", "tab", "up", "up")
        await wait_until(pilot, lambda: "for “tide pools?”" in panel_of(app).pack.title)
        assert len(panel_of(app).pack.recalled) == 3
        await pilot.press("up", "up")
        await wait_until(pilot, lambda: "What should I pack?" in panel_of(app).pack.title)
        assert panel_of(app).pack.note == panel_controller.NOTHING_THEN
        await pilot.press("escape")
        await wait_until(pilot, lambda: "for “which gorge?”" in panel_of(app).pack.title)
        await pilot.press("f7", "left")
        await wait_until(pilot, lambda: "for “tide pools?”" in panel_of(app).pack.title)
        await pilot.press("right")
        await wait_until(pilot, lambda: "for “which gorge?”" in panel_of(app).pack.title)


async def test_the_keys_work_on_a_reply_for_which_nothing_was_recalled(chat: Running) -> None:
    agent = agent_that_recalls()
    async with chat(agent, size=(120, 40)) as (app, pilot):
        await say(app, pilot, ASKED)
        await say(app, pilot, "what did we say on 2024-03-05?")
        await pilot.press("f7")
        await wait_until(pilot, lambda: "Nothing was said then." in words(app))
        assert panel_of(app).has_keys
        await pilot.press("left")
        await wait_until(pilot, lambda: "for “tide pools?”" in panel_of(app).pack.title)
        await pilot.press("right")
        await wait_until(pilot, lambda: "for “what did we say" in panel_of(app).pack.title)
        await pilot.press("j", "k", "p", "h", "enter", "u")
        await wait_until(pilot, lambda: "Nothing to undo" in screen_text(app))
        await pilot.press("escape")
        assert app.focused is app.view.composer


async def test_after_a_restart_it_still_says_that_nothing_was_said_then(chat: Running) -> None:
    agent = ScriptedAgent()
    session = agent.add_session("Old")
    agent.add_turn(session, "What did we say yesterday?")
    call = 'recent_conversations(limit=6, since="2026-11-19")'
    agent.add_turn(session, f"{call}\nNothing was said on 2026-11-19.", role=Role.TOOL)
    agent.add_turn(session, "Nothing.", role=Role.ASSISTANT)
    async with chat(agent, size=(120, 40)) as (app, pilot):
        await app.open_session(session)
        await opened(app, pilot, 0)
        await wait_until(pilot, lambda: "Nothing was said on 2026-11-19." in words(app))


async def test_p_pins_a_message_among_the_messages_and_unpins_it(chat: Running) -> None:
    agent = agent_that_recalls()
    turn = agent.turns["S000"][0]
    async with chat(agent, size=(120, 40)) as (app, pilot):
        await pilot.press("tab", "k", "p")
        await agree(pilot)
        await wait_until(pilot, lambda: "Pinned. Press p again to unpin it." in screen_text(app))
        assert await pinned(agent) == [turn]
        await pilot.press("f7")
        await wait_until(pilot, lambda: [item.turn for item in panel_of(app).pack.pinned] == [turn])
        await pilot.press("escape", "tab", "k", "p")
        await agree(pilot)
        await wait_until(pilot, lambda: not panel_of(app).pack.pinned)
        assert await pinned(agent) == []
        assert app.view.composer.text == ""


async def test_a_reply_still_being_written_cannot_be_pinned(chat: Running) -> None:
    agent = agent_that_recalls()
    agent.go.clear()
    async with chat(agent, size=(120, 40)) as (app, pilot):
        await pilot.press(*"one", "enter")
        await wait_until(pilot, lambda: app.view.state.reply is not None)
        await pilot.press("tab", "p")
        await wait_until(pilot, lambda: "finished replies can be pinned" in screen_text(app))


async def test_p_pins_to_the_top_h_hides_and_u_undoes(chat: Running) -> None:
    agent = agent_that_recalls()
    turn = agent.turns["S001"][2]
    async with chat(agent, size=(120, 40)) as (app, pilot):
        await say(app, pilot, ASKED)
        await opened(app, pilot)
        await pilot.press("p")
        await agree(pilot)
        await wait_until(pilot, lambda: [item.turn for item in panel_of(app).pack.pinned] == [turn])
        assert await pinned(agent) == [turn]
        await wait_until(pilot, lambda: "Pinned. Press u to undo." in screen_text(app))
        await wait_until(pilot, lambda: "Pinned ◆" in words(app), "Pinned ◆")
        await pilot.press("h")
        await wait_until(pilot, lambda: isinstance(app.screen, ImpactScreen) and app.screen.plan is not None)
        await pilot.press("escape", "h")
        await wait_until(pilot, lambda: isinstance(app.screen, ImpactScreen) and app.screen.plan is not None)
        assert not await is_hidden(agent, turn)
        await agree(pilot)
        await wait_until(pilot, lambda: panel_of(app).pack.recalled[0].hidden)
        assert await is_hidden(agent, turn)
        await pilot.press("u")
        await wait_until(pilot, lambda: not panel_of(app).pack.recalled[0].hidden)
        assert not await is_hidden(agent, turn)
        await pilot.press("u")
        await wait_until(pilot, lambda: "Unpinned." in screen_text(app))
        assert await pinned(agent) == []
        await pilot.press("u")
        await wait_until(pilot, lambda: "Nothing to undo" in screen_text(app))
        await wait_until(pilot, lambda: panel_of(app).pack.pinned == ())


async def test_a_hidden_message_says_so_where_it_stands(chat: Running) -> None:
    agent = agent_that_recalls()
    async with chat(agent, size=(120, 40)) as (app, pilot):
        await pilot.press(*"/recall pack", "enter")
        await wait_until(pilot, lambda: app.parts.panel.open and panel_of(app).pack.recalled)
        assert panel_of(app).pack.recalled[0].words == "What should I pack?"
        await pilot.press("h")
        await agree(pilot)
        await wait_until(pilot, lambda: "hidden · h to unhide" in screen_text(app))
        await pilot.press("h")
        await wait_until(pilot, lambda: "hidden · h to unhide" not in screen_text(app))


async def test_enter_goes_there_the_panel_stays_and_the_way_back_is_one_key(chat: Running) -> None:
    async with chat(agent_that_recalls(), size=(120, 40)) as (app, pilot):
        await say(app, pilot, ASKED)
        panel = await opened(app, pilot)
        await pilot.press("down", "down", "enter")
        await wait_until(pilot, lambda: app.view.session == "S001")
        await wait_until(
            pilot, lambda: any(m.has_class("-flash") and m.text == LAST for m in app.view.transcript.messages)
        )
        assert panel.has_keys
        assert len(panel.pack.recalled) == 3
        assert panel.chosen is not None
        assert panel.chosen.words == LAST
        await pilot.press("alt+left")
        await wait_until(pilot, lambda: app.view.session == "S000")
        await pilot.press("escape")
        await wait_until(pilot, lambda: "for “tide pools?”" in panel.pack.title)


async def test_the_line_below_a_reply_leads_to_the_panel(chat: Running) -> None:
    async with chat(agent_that_recalls(), size=(120, 40)) as (app, pilot):
        await say(app, pilot, ASKED)
        await wait_until(pilot, lambda: "recalled 3" in screen_text(app))
        await pilot.click(".recalled")
        await wait_until(pilot, lambda: app.parts.panel.open and "for “tide pools?”" in panel_of(app).pack.title)
        await pilot.press("f7")
        await wait_until(pilot, lambda: not app.parts.panel.open)
        await pilot.press("tab", "m")
        await wait_until(pilot, lambda: app.parts.panel.open and panel_of(app).has_keys)


async def test_f7_shows_goes_there_and_hides(chat: Running) -> None:
    async with chat(agent_that_recalls(), size=(100, 30)) as (app, pilot):
        await pilot.press("f7")
        await wait_until(pilot, lambda: app.parts.panel.open and panel_of(app).has_keys)
        await pilot.press("escape")
        assert app.parts.panel.open
        await pilot.press("f7")
        await wait_until(pilot, lambda: panel_of(app).has_keys)
        await pilot.press("f7")
        await wait_until(pilot, lambda: not app.parts.panel.open)
        assert app.focused is app.view.composer


async def test_the_list_of_chats_and_the_panel_stand_together_only_where_there_is_room(chat: Running) -> None:
    async with chat(agent_that_recalls(), size=(80, 24)) as (app, pilot):
        await pilot.press("f7")
        await wait_until(pilot, lambda: app.parts.panel.open)
        await pilot.press("f2")
        await wait_until(pilot, lambda: app.view.sessions.display and not app.parts.panel.open)
        await pilot.press("f7")
        await wait_until(pilot, lambda: app.parts.panel.open and not app.view.sessions.display)
    async with chat(ScriptedAgent(), size=(140, 40)) as (app, pilot):
        await pilot.press("f7")
        await wait_until(pilot, lambda: app.parts.panel.open)
        await pilot.press("f2")
        await wait_until(pilot, lambda: app.view.sessions.display)
        assert app.parts.panel.open


@pytest.mark.parametrize("size", [(20, 5), (40, 15), (71, 20)])
async def test_in_a_narrow_terminal_the_panel_takes_the_place_of_the_chat(chat: Running, size: tuple[int, int]) -> None:
    agent = agent_that_recalls()
    async with chat(agent, size=size) as (app, pilot):
        await say(app, pilot, ASKED)
        panel = await opened(app, pilot)
        assert not app.view.composer.region
        assert panel.query_one(Rows).size.height >= 1
        await pilot.press("p")
        await agree(pilot)
        await wait_until(pilot, lambda: panel.pack.pinned)
        assert await pinned(agent) == agent.turns["S001"][2:3]
        await pilot.press("escape")
        await wait_until(pilot, lambda: not app.parts.panel.open and app.focused is app.view.composer)
        await pilot.press("f7")
        await wait_until(pilot, lambda: app.parts.panel.open)
        await pilot.press("enter")
        await wait_until(pilot, lambda: app.view.session == "S001" and not app.parts.panel.open)


async def test_a_terminal_that_becomes_narrow_keeps_what_has_the_keys(chat: Running) -> None:
    async with chat(agent_that_recalls(), size=(120, 40)) as (app, pilot):
        await pilot.press("f7")
        await wait_until(pilot, lambda: app.parts.panel.has_keys)
        await pilot.resize_terminal(50, 20)
        await wait_until(pilot, lambda: not app.view.composer.region)
        assert app.parts.panel.has_keys
        await pilot.resize_terminal(120, 40)
        await pilot.press("escape")
        await wait_until(pilot, lambda: app.focused is app.view.composer)
        assert app.parts.panel.open
        await pilot.resize_terminal(50, 20)
        await wait_until(pilot, lambda: not app.parts.panel.open and app.view.composer.region)
        await pilot.press(*"hi")
        assert app.view.composer.text == "hi"


async def test_words_can_be_recalled_by_hand(chat: Running) -> None:
    async with chat(agent_that_recalls(), size=(120, 40)) as (app, pilot):
        await pilot.press(*"/recall tide pools", "enter")
        await wait_until(pilot, lambda: app.parts.panel.open and panel_of(app).pack.recalled)
        assert panel_of(app).pack.recalled[0].words == f"{BESIDE}\nThe tide pools were best"
        await wait_until(pilot, lambda: "for “tide pools”" in words(app), "for “tide pools”")
        await pilot.press("escape")
        await wait_until(pilot, lambda: "What should I pack?" in panel_of(app).pack.title)


async def test_observations_and_pieces_of_documents_open_where_they_belong(chat: Running) -> None:
    agent = ScriptedAgent()
    agent.add_session("Packing", ("What should I pack?", "Water."))
    agent.add_session("Crete", ("The tide pools were best", "Lovely."))
    likes = agent.learn("Likes tide pools [x]", agent.turns["S001"][0])
    agent.add_document("Notes", "/notes/crete.md", "The pools are closed. " * 90, headings=("Gorges",))
    async with chat(agent, size=(120, 40)) as (app, pilot):
        await say(app, pilot, "pools?")
        await opened(app, pilot, 2)
        await wait_until(pilot, lambda: "learned Likes tide pools [x]" in words(app), "learned Likes tide pools [x]")
        await wait_until(pilot, lambda: "Notes › Gorges The pools are closed." in words(app))
        await pilot.press("h")
        await wait_until(pilot, lambda: "Only messages can be hidden." in screen_text(app))
        await pilot.press("p")
        await agree(pilot)
        await wait_until(pilot, lambda: len(panel_of(app).pack.pinned) == 1)
        assert (await standing(agent, likes)).pinned
        await pilot.press("enter")
        await wait_until(pilot, lambda: isinstance(app.screen, MemoriesScreen))
        await pilot.press("escape")
        await wait_until(pilot, lambda: app.parts.panel.has_keys)
        await pilot.press("end", "enter")
        await wait_until(pilot, lambda: isinstance(app.screen, Reader) and "/notes/crete.md" in screen_text(app))


async def test_a_failure_is_told_in_the_panel_and_ends_nothing(chat: Running) -> None:
    agent = agent_that_recalls()
    async with chat(agent, size=(120, 40)) as (app, pilot):
        mend = agent.fail("search.recall", GraphFailure("The graph is behind [now]."))
        app.perform("recall", "tide")
        await wait_until(pilot, lambda: app.parts.panel.open and "The graph is behind [now]." in words(app))
        mend()
        app.perform("recall", "tide pools")
        await wait_until(pilot, lambda: panel_of(app).pack.recalled)
        assert panel_of(app).pack.recalled[0].words == f"{BESIDE}\nThe tide pools were best"


async def test_what_recall_lacks_is_said_until_it_is_there(chat: Running) -> None:
    agent = agent_that_recalls()
    async with chat(agent, size=(120, 40)) as (app, pilot):
        await say(app, pilot, ASKED)
        await opened(app, pilot)
        agent.tell(GraphProgress("rebuilding", 1, 4))
        await wait_until(pilot, lambda: "being rebuilt (25%)" in words(app))
        agent.tell(GraphProgress("ready"))
        await wait_until(pilot, lambda: "being rebuilt" not in words(app))


async def test_embedding_shows_in_the_bar_and_a_failed_embedder_is_told_once(chat: Running) -> None:
    agent = agent_that_recalls()
    async with chat(agent) as (app, pilot):
        await agent.idle()
        agent.tell(EmbeddingProgress("embedding", "minilm", 1200, 10_000))
        await wait_until(pilot, lambda: "embedding 1,200/10,000" in status_line(app))
        agent.tell(EmbeddingProgress("ready", "minilm", 10_000, 10_000))
        await wait_until(pilot, lambda: "embedding" not in status_line(app))
        agent.tell(EmbeddingProgress("embedding", "minilm", 10_000, 10_001))
        failed = EmbeddingProgress("failed", "minilm", message="The embedder is gone. `clew models pull minilm`.")
        agent.tell(failed)
        await wait_until(pilot, lambda: "no embedder" in status_line(app) and "models pull minilm" in screen_text(app))
        app.unsay()
        agent.tell(failed)
        agent.tell(GraphProgress("rebuilding", 1, 4))
        await wait_until(pilot, lambda: "25%" in screen_text(app) or "rebuilding" in screen_text(app))
        assert "models pull minilm" not in screen_text(app)


async def test_huge_and_hostile_words_are_cut_and_harmless(chat: Running) -> None:
    agent = ScriptedAgent()
    here = agent.add_session("Packing")
    hostile = agent.add_session("[/]\x1b]0;title\x07" * 50)
    texts = ["\x1b[2J[bold]x " * (5000 if number == 0 else 200) for number in range(30)]
    said = [agent.add_turn(hostile, text, speaker="[red]you") for text in texts]
    agent.add_turn(here, ASKED)
    agent.add_turn(here, "Go at dawn.", role=Role.ASSISTANT, recalled=agent.add_recalled(*said))
    async with chat(agent, size=(120, 40)) as (app, pilot):
        await wait_until(pilot, lambda: isinstance(app.view.transcript.last_answer, AssistantMessage))
        await pilot.press("f7")
        await wait_until(pilot, lambda: app.parts.panel.open and len(panel_of(app).pack.recalled) == 30)
        await asyncio.sleep(0)
        assert "\x1b" not in screen_text(app)
        assert all(len(item.words) <= panel_controller.LONGEST for item in panel_of(app).pack.recalled)
