"""What a model looked up on its way to a reply: one folded line, live and read back."""

import asyncio
from collections.abc import Sequence

from textual.pilot import Pilot

from agent.events import ToolAsked, ToolDone, ToolProgress
from agent.quoting import mark_of
from graph.events import TurnHidden
from graph.values import Turn
from models.protocols import Answer as Structured
from tests.fakes import FakeGenerator
from tests.tables import each
from tests.tui.acting import enter, press
from tests.tui.conftest import Running, here, screen_text, wait_until
from tests.tui.scripted import CONTEXT, MODEL, START, ScriptedAgent
from tests.tui.seeing import sees
from tests.tui.test_memory_panel import ASKED, agent_that_recalls
from tui.app import ClewApp
from tui.toolwords import SHOWN_RESULT, ToolCall, answered, asked, line_of, read_call, under_way, whole
from tui.widgets.message import AssistantMessage, ToolBlock

RESULT = '- #ABC123 2025-06-03, user: "The tide pools"\n- #ABC124 2025-06-03, assistant: "Lovely"'
SEARCH = {"tool": "search_memory", "query": "tide pools", "limit": 2}
THEMES = {"tool": "themes"}


class Namer(FakeGenerator):
    """It finds names for so many themes, and then waits until `naming` is set."""

    def __init__(self, most: int) -> None:
        super().__init__("Hello there.", context=CONTEXT, name=MODEL)
        self.naming = asyncio.Event()
        self._left = most

    async def structured(self, prompt: Sequence[int], schema: type[Structured], *, max_tokens: int = 512) -> Structured:
        if self._left == 0:
            await self.naming.wait()
        self._left = max(0, self._left - 1)
        return await super().structured(prompt, schema, max_tokens=max_tokens)


def agent_with_tools(model: FakeGenerator | None = None) -> ScriptedAgent:
    """Its model may look for tide pools, of which two messages speak, and for themes, of which there are two."""
    agent = ScriptedAgent(model=model, tools="on")
    agent.add_session("Old", ("The tide pools", "Lovely tide pools."))
    agent.add_session("Two", ("[bold]Two[/] themes.", "Two themes."), ("[bold]Two[/] more themes.", "Two more themes."))
    return agent


async def ask(app: ClewApp, pilot: Pilot[int], text: str = "hi") -> None:
    """Send that in a new chat."""
    await press(pilot, "ctrl+n", until=lambda: app.view.session is None)
    await pilot.press(*text, "enter")


def calls(app: ClewApp) -> list[str]:
    """The lines on the screen that tell of calls."""
    return [line for line in screen_text(app).splitlines() if "searched memory for “tide pools” · " in line]


def is_answered(app: ClewApp) -> bool:
    return app.view.state.last is not None and app.view.state.reply is None


def stored(text: str | None, **more: str) -> Turn:
    return Turn("C", "S", None, 1, "tool", "tool", text, START, "chat", **more)  # type: ignore[arg-type]


def test_a_stored_call_reads_as_it_was_told_live_and_one_that_takes_long_tells_how_far_it_is() -> None:
    live = asked(ToolAsked("S", "T", "C", "search_memory", {"query": "tide pools", "limit": 5}))
    assert line_of(live) == "searched memory for “tide pools” · …"
    live = answered(live, ToolDone("S", "T", "C", "search_memory", RESULT))
    assert line_of(live) == "searched memory for “tide pools” · 2 found"
    back = read_call(stored(f'search_memory(query="tide pools", limit=5)\n{RESULT}'))
    assert line_of(back) == line_of(live)
    assert RESULT in whole(back)
    live = under_way(asked(ToolAsked("S", "T", "C", "themes", {})), ToolProgress("S", "T", "C", "themes", 3, 6))
    assert line_of(live) == "looked for themes · 3 of 6 …"
    done = answered(live, ToolDone("S", "T", "C", "themes", "1. Pools: low tide"))
    assert line_of(done) == "looked for themes · 1 found"


LINES: tuple[tuple[str | None, str], ...] = (
    ('about(name="Ada")\nNothing was said by or about Ada.', "looked up “Ada” · nothing found"),
    ('search_memory(query="x", limit=1)\nNothing was found.', "searched memory for “x” · nothing found"),
    ('recent_conversations(limit=6, since="2026-11-19")\nNothing was said on 2026-11-19.',
     "looked at recent conversations · nothing found"),
    ("recent_conversations(limit=5, since=None)\n- a\n- b", "looked at recent conversations · 2 found"),
    ("themes()\nTwo themes.", "looked for themes · done"),
    ("themes()\n1. Pools: low tide\n  - a\n  also #B\n2. Cats: Miso\n  - c", "looked for themes · 2 found"),
    ('open_turn(id="#X")\nError: There is no turn #X.', "opened a message · failed: There is no turn #X."),
    ("dance(fast=True)\nok", "called dance · done"),
    ("words that no tool wrote", "looked something up · done"),
    (None, "looked something up · done"),
    ("", "looked something up · nothing found"),
)  # fmt: skip


def test_whatever_is_stored_becomes_one_line_and_a_huge_answer_is_cut() -> None:
    def check(row: tuple[str | None, str]) -> None:
        assert line_of(read_call(stored(row[0]))) == row[1]

    each(LINES, check)
    call = answered(
        ToolCall("about", {"name": "x" * 500}), ToolDone("S", "T", "C", "about", "Error: no", error="no\nno")
    )
    assert line_of(call).endswith("…” · failed: no no")
    assert len(line_of(call)) < 120
    assert len(whole(ToolCall("about", {}, "x" * 100_000))) < SHOWN_RESULT + 100


async def test_a_call_stands_before_the_reply_now_and_later_and_enter_unfolds_it(chat: Running) -> None:
    agent = agent_with_tools()
    agent.take_steps(SEARCH, THEMES)
    looking, found = agent.hold_search("tide pools"), mark_of(agent.turns["S000"][0])
    async with chat(agent, size=(120, 40)) as (app, pilot):
        await agent.idle()
        await ask(app, pilot)
        await sees(pilot, "searched memory for “tide pools” · …", "looking it up")
        looking.set()
        await wait_until(pilot, lambda: is_answered(app))
        await sees(pilot, "· 2 found")
        kinds = [type(message) for message in app.view.transcript.messages[1:]]
        assert kinds == [ToolBlock, ToolBlock, AssistantMessage]
        await wait_until(pilot, lambda: "[bold]Two[/] themes." in screen_text(app))  # they were asked for to be read
        assert screen_text(app).count(found) == 1  # as one of the themes
        await press(pilot, "tab", "k", "k", "enter", until=lambda: screen_text(app).count(found) == 2)
        await sees(pilot, "[bold]Two[/] themes.")
        await pilot.press("down", "enter", "k", "enter")
        await wait_until(pilot, lambda: found not in screen_text(app) and "Two[/]" not in screen_text(app))

        await pilot.press("escape")
        agent.take_steps(SEARCH)
        before = app.view.state.last
        await press(pilot, *"again", "enter", until=lambda: app.view.state.last is not before and is_answered(app))
        await wait_until(pilot, lambda: len(app.view.transcript.window.turns) == 7)
        assert len(await agent.chats.thread(here(app))) == 7
        live, told = [type(message) for message in app.view.transcript.messages], calls(app)
        await app.open_session(app.view.session)
        await sees(pilot, "2 found")
        assert [type(message) for message in app.view.transcript.messages] == live
        assert calls(app) == told, "the same way live and from the log"


async def test_a_reply_tells_how_much_was_recalled_for_it_live_and_later(chat: Running) -> None:
    agent = agent_that_recalls()
    async with chat(agent) as (app, pilot):
        await agent.idle()
        await ask(app, pilot, ASKED)
        await sees(pilot, "recalled 3")
        await wait_until(pilot, lambda: is_answered(app))
        session = app.view.session
        await app.open_session("S000")
        await app.open_session(session)
        await sees(pilot, "recalled 3")
        await app.open_session("S001")
        await sees(pilot, "Lovely.")
        assert "recalled" not in screen_text(app)


async def test_themes_tell_their_progress_and_lie_open_until_they_are_folded(chat: Running) -> None:
    model = Namer(1)
    agent = agent_with_tools(model)
    agent.take_steps(THEMES)
    async with chat(agent) as (app, pilot):
        await agent.idle()
        await ask(app, pilot)
        await sees(pilot, "▸ looked for themes · 1 of 2 …")
        model.naming.set()
        await sees(pilot, "▾ looked for themes · 2 found", "1. themes, two, bold: [bold]Two[/] more themes.")
        await wait_until(pilot, lambda: is_answered(app))
        await press(pilot, "tab", "k", "enter", until=lambda: "1. themes" not in screen_text(app))
        await app.open_session(app.view.session)
        await sees(pilot, "1. themes, two, bold: [bold]Two[/] more themes.")


async def test_what_was_stopped_while_it_was_looked_up_says_so_and_goes_when_it_is_tried_again(chat: Running) -> None:
    agent = agent_with_tools()
    agent.take_steps(SEARCH)
    looking = agent.hold_search("tide pools")
    async with chat(agent) as (app, pilot):
        await agent.idle()
        await ask(app, pilot)
        await sees(pilot, "searched memory for “tide pools” · …")
        await press(pilot, "escape", shows="“tide pools” · stopped")
        await sees(pilot, "Stopped before the reply began", "/retry")
        assert "Partial reply saved" not in screen_text(app)
        await press(pilot, "tab", "enter", shows="It was stopped.")
        assert "returned nothing" not in screen_text(app)
        looking.set()
        agent.take_steps(SEARCH)
        await press(pilot, "escape", *"/retry", "enter", until=lambda: is_answered(app))
        kinds = [type(message) for message in app.view.transcript.messages[1:]]
        assert kinds == [ToolBlock, AssistantMessage]
        assert "stopped" not in screen_text(app)

        agent.go.clear()
        looking.clear()
        await ask(app, pilot, "one")
        await wait_until(pilot, lambda: app.view.state.reply is not None)
        agent.take_steps(SEARCH)
        await press(pilot, *"two", "enter", shows="Queued")
        agent.go.set()
        await sees(pilot, "searched memory for “tide pools” · …")
        assert "Queued" not in screen_text(app), "it is no more, once something is looked up for it"
        looking.set()


async def test_a_hidden_message_says_so_and_a_last_one_without_a_reply_how_to_get_one(chat: Running) -> None:
    agent = ScriptedAgent()
    session = agent.add_session("Left", ("The tide pools", "Lovely."))
    agent.add_turn(session, "list ten fruits")
    agent.add_events(TurnHidden(turn=agent.turns[session][0]))
    async with chat(agent) as (app, pilot):
        await sees(pilot, "no reply yet · /retry to get one", "hidden · h to unhide")
        assert screen_text(app).count("hidden ·") == 1
        agent.go.clear()
        await enter(pilot, "/retry", until=lambda: app.view.state.reply is not None)
        assert "no reply yet" not in screen_text(app)
        await app.open_session(session)
        assert "no reply yet" not in screen_text(app)  # one is being written
        agent.go.set()
        await wait_until(pilot, lambda: is_answered(app))
        await app.open_session(session)
        assert "no reply yet" not in screen_text(app)
