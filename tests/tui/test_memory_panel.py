"""The memory panel: what was recalled for the reply in focus, and what its keys do."""

from textual.pilot import Pilot

from agent.events import EmbeddingProgress, GraphProgress
from graph.errors import GraphFailure
from graph.events import Role
from tests.examples import few
from tests.tui.acting import converse, enter, press, some
from tests.tui.beliefs import standing
from tests.tui.conftest import Running, agree, screen_text, status_line, wait_until
from tests.tui.scripted import ScriptedAgent
from tests.tui.seeing import sees
from tui import panel_controller
from tui.app import ClewApp
from tui.memories.screen import MemoriesScreen
from tui.widgets.dialogs import Reader
from tui.widgets.impact import ImpactScreen
from tui.widgets.long_list import Rows
from tui.widgets.memory import MemoryPanel

ASKED, OF_A_DAY = "tide pools?", "what did we say on 2024-03-05?"
BESIDE = "2 Jun 2025, later: The gorge was closed"
LAST = "Pools!"


def agent_that_recalls() -> ScriptedAgent:
    agent = ScriptedAgent(reply="Go at dawn.")
    agent.add_session("Packing", ("What should I pack?", "Water."))
    agent.add_session("Crete", ("The tide pools were best", "Lovely."), ("The gorge was closed", LAST))
    return agent


def words(app: ClewApp) -> str:
    """What the panel says, on one line."""
    left = panel_of(app).region.x
    return " ".join(" ".join(line[left:] for line in screen_text(app).splitlines()).split())


def panel_of(app: ClewApp) -> MemoryPanel:
    panel = app.parts.panel.panel
    assert panel is not None
    return panel


async def tells(app: ClewApp, pilot: Pilot[int], *told: str) -> None:
    """Wait until the panel says all of that."""
    await wait_until(pilot, lambda: app.parts.panel.open and all(each in words(app) for each in told), f"{told}")


async def is_about(app: ClewApp, pilot: Pilot[int], title: str, *keys: str) -> None:
    """Press keys, and wait until that is what the panel is about."""
    await pilot.press(*keys)
    await wait_until(pilot, lambda: app.parts.panel.open and title in panel_of(app).pack.title, title)


async def say(app: ClewApp, pilot: Pilot[int], text: str) -> None:
    """Send that once all before it can be found by its meaning, and wait for the reply."""
    assert app.view.backstage is not None
    await app.view.backstage.service.idle()
    await converse(pilot, text)


async def pinned(agent: ScriptedAgent) -> list[str]:
    """The messages that are pinned."""
    return [turn.id for turn in await agent.chats.pinned()]


async def is_hidden(agent: ScriptedAgent, turn: str) -> bool:
    return (await agent.chats.exchange(turn)).turn.hidden


async def opened(app: ClewApp, pilot: Pilot[int], count: int = 3) -> MemoryPanel:
    """The panel, once it shows `count` items: for `ASKED` two matches, and what was said later on the first."""
    await pilot.press("f7")
    await wait_until(pilot, lambda: app.parts.panel.open and len(panel_of(app).pack.recalled) == count, "the panel")
    await pilot.pause()
    return panel_of(app)


async def test_f7_and_the_line_below_a_reply_lead_to_the_panel_which_says_what_from_when_and_why(chat: Running) -> None:
    agent = agent_that_recalls()
    async with chat(agent, size=(120, 40)) as (app, pilot):
        await press(pilot, "f7", until=lambda: app.parts.panel.open and panel_of(app).has_keys)
        await pilot.press("escape")
        assert app.parts.panel.open
        await press(pilot, "f7", until=lambda: panel_of(app).has_keys)
        await press(pilot, "f7", until=lambda: not app.parts.panel.open)
        assert app.focused is app.view.composer

        await say(app, pilot, ASKED)
        await sees(pilot, "recalled 3")
        await pilot.click(".recalled")
        await is_about(app, pilot, "for “tide pools?”")
        await press(pilot, "f7", until=lambda: not app.parts.panel.open)
        await press(pilot, "tab", "m", until=lambda: app.parts.panel.open and panel_of(app).has_keys)
        first = "by its words (rank 1), by its meaning (rank 2), soon before a match; its chat has the words"
        then = "by its meaning (rank 1), by its words (rank 2), soon after a match; its chat has the words"
        await tells(app, pilot, "Memory for “tide pools?”", f"you · Crete The tide pools were best {first}")
        await tells(app, pilot, "you · Crete The gorge was closed said later on the topic of a match")
        await tells(app, pilot, f"clew · Crete {LAST} {then}")
        assert BESIDE not in words(app), "what is a row itself stands once"
        assert app.view.composer.region.width > 60
        agent.tell(GraphProgress("rebuilding", 1, 4))
        await tells(app, pilot, "being rebuilt (25%)")
        agent.tell(GraphProgress("ready"))
        await wait_until(pilot, lambda: "being rebuilt" not in words(app))

        panel = panel_of(app)
        await press(pilot, "home", "down", "enter", until=lambda: app.view.session == "S001")
        await wait_until(
            pilot, lambda: any(m.has_class("-flash") and m.text == LAST for m in app.view.transcript.messages)
        )
        assert panel.has_keys
        assert len(panel.pack.recalled) == 3
        assert panel.chosen is not None
        assert panel.chosen.words == LAST
        await press(pilot, "alt+left", until=lambda: app.view.session == "S000")
        await is_about(app, pilot, "for “tide pools?”", "escape")


async def test_it_fills_before_the_reply_is_there_follows_the_reply_in_focus_and_walks_by_itself(chat: Running) -> None:
    agent = agent_that_recalls()
    async with chat(agent, size=(120, 40)) as (app, pilot):
        await agent.idle()
        agent.go.clear()
        await press(pilot, "f7", until=lambda: app.parts.panel.open)
        await pilot.press("escape")
        assert app.focused is app.view.composer
        await enter(pilot, ASKED)
        await tells(app, pilot, "The tide pools were best")
        assert agent.answering == "S000"
        agent.go.set()
        await wait_until(pilot, lambda: app.view.state.reply is None and agent.answering is None)

        await say(app, pilot, "which gorge?")
        await wait_until(pilot, lambda: len(panel_of(app).pack.recalled) == 1)
        await is_about(app, pilot, "for “tide pools?”", "tab", "up", "up")
        assert len(panel_of(app).pack.recalled) == 3
        await is_about(app, pilot, "What should I pack?", "up", "up")
        assert panel_of(app).pack.note == panel_controller.NOTHING_THEN
        await is_about(app, pilot, "for “which gorge?”", "escape")
        await is_about(app, pilot, "for “tide pools?”", "f7", "left")
        await is_about(app, pilot, "for “which gorge?”", "right")
        await pilot.press("escape")

        await say(app, pilot, OF_A_DAY)
        await tells(app, pilot, "Nothing was said on 2024-03-05.")
        await press(pilot, "f7", until=lambda: panel_of(app).has_keys)
        await is_about(app, pilot, "for “which gorge?”", "left")
        await is_about(app, pilot, "for “what did we say", "right")
        await press(pilot, "j", "k", "p", "h", "enter", "u", shows="Nothing to undo")
        await pilot.press("escape")
        assert app.focused is app.view.composer


async def test_words_can_be_recalled_by_hand_and_what_recall_lacks_is_told_and_ends_nothing(chat: Running) -> None:
    agent = agent_that_recalls()
    async with chat(agent, size=(120, 40)) as (app, pilot):
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
        agent.tell(GraphProgress("ready"))

        mend = agent.fail("search.recall", GraphFailure("The graph is behind [now]."))
        app.perform("recall", "tide")
        await tells(app, pilot, "The graph is behind [now].")
        mend()
        await pilot.press("escape")
        await enter(pilot, "/recall tide pools", until=lambda: panel_of(app).pack.recalled)
        assert panel_of(app).pack.recalled[0].words == f"{BESIDE}\nThe tide pools were best"
        await tells(app, pilot, "for “tide pools”")
        await is_about(app, pilot, "What should I pack?", "escape")


async def test_p_pins_a_message_among_the_messages_h_hides_what_was_recalled_and_says_so(chat: Running) -> None:
    agent = agent_that_recalls()
    turn = agent.turns["S000"][0]
    async with chat(agent, size=(120, 40)) as (app, pilot):
        await pilot.press("tab", "k", "p")
        await agree(pilot)
        await sees(pilot, "Pinned. Press p again to unpin it.")
        assert await pinned(agent) == [turn]
        await press(pilot, "f7", until=lambda: [item.turn for item in panel_of(app).pack.pinned] == [turn])
        await pilot.press("escape", "tab", "k", "p")
        await agree(pilot)
        await wait_until(pilot, lambda: not panel_of(app).pack.pinned)
        assert await pinned(agent) == []
        assert app.view.composer.text == ""
        await pilot.press("escape")
        await enter(pilot, "/recall pack", until=lambda: panel_of(app).pack.recalled)
        assert panel_of(app).pack.recalled[0].words == "What should I pack?"
        await pilot.press("h")
        await agree(pilot)
        await sees(pilot, "hidden · h to unhide")
        await press(pilot, "h", until=lambda: "hidden · h to unhide" not in screen_text(app))
        await pilot.press("escape")
        agent.go.clear()
        await enter(pilot, "one", until=lambda: app.view.state.reply is not None)
        await press(pilot, "tab", "p", shows="finished replies can be pinned")


async def test_p_pins_to_the_top_h_hides_and_u_undoes(chat: Running) -> None:
    agent = agent_that_recalls()
    turn = agent.turns["S001"][0]
    async with chat(agent, size=(120, 40)) as (app, pilot):
        await say(app, pilot, ASKED)
        await opened(app, pilot)
        await pilot.press("p")
        await agree(pilot)
        await wait_until(pilot, lambda: [item.turn for item in panel_of(app).pack.pinned] == [turn])
        assert await pinned(agent) == [turn]
        await sees(pilot, "Pinned. Press u to undo.")
        await tells(app, pilot, "Pinned ◆")
        await press(pilot, "h", opens=ImpactScreen)
        await press(pilot, "escape", "h", opens=ImpactScreen)
        assert not await is_hidden(agent, turn)
        await agree(pilot)
        await wait_until(pilot, lambda: panel_of(app).pack.recalled[0].hidden)
        assert await is_hidden(agent, turn)
        await press(pilot, "u", until=lambda: not panel_of(app).pack.recalled[0].hidden)
        assert not await is_hidden(agent, turn)
        await press(pilot, "u", shows="Unpinned.")
        assert await pinned(agent) == []
        await press(pilot, "u", shows="Nothing to undo")
        await wait_until(pilot, lambda: panel_of(app).pack.pinned == ())


async def test_the_panel_stands_beside_chats_and_messages_only_where_there_is_room(chat: Running) -> None:
    agent = agent_that_recalls()
    async with chat(agent, size=(120, 40)) as (app, pilot):
        await press(pilot, "f7", until=lambda: app.parts.panel.has_keys)
        await pilot.resize_terminal(50, 20)
        await wait_until(pilot, lambda: not app.view.composer.region)
        assert app.parts.panel.has_keys
        await pilot.resize_terminal(120, 40)
        await press(pilot, "escape", until=lambda: app.focused is app.view.composer)
        assert app.parts.panel.open
        await pilot.resize_terminal(50, 20)
        await wait_until(pilot, lambda: not app.parts.panel.open and app.view.composer.region)
        await pilot.press(*"hi")
        assert app.view.composer.text == "hi"

        await pilot.resize_terminal(80, 24)
        await press(pilot, "f7", until=lambda: app.parts.panel.open)
        await press(pilot, "f2", until=lambda: app.view.sessions.display and not app.parts.panel.open)
        await press(pilot, "f7", until=lambda: app.parts.panel.open and not app.view.sessions.display)
        await pilot.resize_terminal(140, 40)
        await press(pilot, "f2", until=lambda: app.view.sessions.display)
        assert app.parts.panel.open


async def test_in_a_narrow_terminal_the_panel_takes_the_place_of_the_chat(chat: Running) -> None:
    agent = agent_that_recalls()
    async with chat(agent, size=(71, 20)) as (app, pilot):
        await say(app, pilot, ASKED)
        for size in some((71, 20), (40, 15), (20, 5)):
            await app.open_session("S000")
            await pilot.resize_terminal(*size)
            panel = await opened(app, pilot)
            assert not app.view.composer.region
            assert panel.query_one(Rows).size.height >= 1
            if size == (20, 5):
                await pilot.press("p")
                await agree(pilot)
                await wait_until(pilot, lambda panel=panel: panel.pack.pinned)  # type: ignore[misc]
                assert await pinned(agent) == agent.turns["S001"][:1]
            await press(pilot, "escape", until=lambda: not app.parts.panel.open and app.focused is app.view.composer)
            await press(pilot, "f7", until=lambda: app.parts.panel.open)
            await press(pilot, "enter", until=lambda: app.view.session == "S001" and not app.parts.panel.open)


async def test_observations_and_pieces_of_documents_open_where_they_belong(chat: Running) -> None:
    agent = ScriptedAgent()
    agent.add_session("Packing", ("What should I pack?", "Water."))
    agent.add_session("Crete", ("The tide pools were best", "Lovely."))
    likes = agent.learn("Likes tide pools [x]", agent.turns["S001"][0])
    agent.add_document("Notes", "/notes/crete.md", "The pools are closed. " * 90, headings=("Gorges",))
    async with chat(agent, size=(120, 40)) as (app, pilot):
        await say(app, pilot, "pools?")
        await opened(app, pilot, 2)
        await tells(app, pilot, "learned Likes tide pools [x]", "Notes › Gorges The pools are closed.")
        await press(pilot, "h", shows="Only messages can be hidden.")
        await pilot.press("p")
        await agree(pilot)
        await wait_until(pilot, lambda: len(panel_of(app).pack.pinned) == 1)
        assert (await standing(agent, likes)).pinned
        await press(pilot, "enter", opens=MemoriesScreen)
        await press(pilot, "escape", until=lambda: app.parts.panel.has_keys)
        await press(pilot, "end", "enter", opens=Reader, shows="/notes/crete.md")


async def test_of_stored_replies_hostile_words_are_harmless(chat: Running) -> None:
    agent = ScriptedAgent()
    here = agent.add_session("Packing")
    hostile = agent.add_session("[/]\x1b]0;title\x07" * 50)
    texts = ["\x1b[2J[bold]x " * (few(5000) if number == 0 else 200) for number in range(30)]
    said = [agent.add_turn(hostile, text, speaker="[red]you") for text in texts]
    agent.add_turn(here, ASKED)
    agent.add_turn(here, "Go at dawn.", role=Role.ASSISTANT, recalled=agent.add_recalled(*said))
    async with chat(agent, size=(120, 40)) as (app, pilot):
        await wait_until(pilot, lambda: app.view.transcript.last_answer is not None)
        await opened(app, pilot, 30)
        assert "\x1b" not in screen_text(app)
        assert all(len(item.words) <= panel_controller.LONGEST for item in panel_of(app).pack.recalled)
