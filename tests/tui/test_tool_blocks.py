"""What a model looked up on its way to a reply: one folded line, live and read back."""

import asyncio
from collections.abc import Sequence

import pytest
from textual.pilot import Pilot

from agent.events import ToolAsked, ToolDone, ToolProgress
from agent.quoting import mark_of
from graph.events import TurnHidden
from graph.values import Turn
from models.protocols import Answer as Structured
from tests.fakes import FakeGenerator
from tests.tui.conftest import Running, here, screen_text, wait_until
from tests.tui.scripted import CONTEXT, MODEL, START, ScriptedAgent
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
    await pilot.press("ctrl+n")
    await wait_until(pilot, lambda: app.view.session is None)
    await pilot.press(*text, "enter")


def is_answered(app: ClewApp) -> bool:
    return app.view.state.last is not None and app.view.state.reply is None


def stored(text: str | None, **more: str) -> Turn:
    return Turn("C", "S", None, 1, "tool", "tool", text, START, "chat", **more)  # type: ignore[arg-type]


def test_a_stored_call_reads_as_it_was_told_live() -> None:
    live = asked(ToolAsked("S", "T", "C", "search_memory", {"query": "tide pools", "limit": 5}))
    assert line_of(live) == "searched memory for “tide pools” · …"
    live = answered(live, ToolDone("S", "T", "C", "search_memory", RESULT))
    assert line_of(live) == "searched memory for “tide pools” · 2 found"
    back = read_call(stored(f'search_memory(query="tide pools", limit=5)\n{RESULT}'))
    assert line_of(back) == line_of(live)
    assert RESULT in whole(back)


def test_a_call_that_takes_long_tells_how_far_it_is_until_it_is_done() -> None:
    live = under_way(asked(ToolAsked("S", "T", "C", "themes", {})), ToolProgress("S", "T", "C", "themes", 3, 6))
    assert line_of(live) == "looked for themes · 3 of 6 …"
    done = answered(live, ToolDone("S", "T", "C", "themes", "1. Pools: low tide"))
    assert line_of(done) == "looked for themes · 1 found"


async def test_the_progress_of_a_call_is_on_the_screen(chat: Running) -> None:
    model = Namer(1)
    agent = agent_with_tools(model)
    agent.take_steps(THEMES)
    async with chat(agent) as (app, pilot):
        await agent.idle()
        await ask(app, pilot)
        await wait_until(pilot, lambda: "looked for themes · 1 of 2 …" in screen_text(app))
        model.naming.set()
        await wait_until(pilot, lambda: "looked for themes · 2 found" in screen_text(app))


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('about(name="Ada")\nNothing was said by or about Ada.', "looked up “Ada” · nothing found"),
        ('search_memory(query="x", limit=1)\nNothing was found.', "searched memory for “x” · nothing found"),
        (
            'recent_conversations(limit=6, since="2026-11-19")\nNothing was said on 2026-11-19.',
            "looked at recent conversations · nothing found",
        ),
        ("recent_conversations(limit=5, since=None)\n- a\n- b", "looked at recent conversations · 2 found"),
        ("themes()\nTwo themes.", "looked for themes · done"),
        ("themes()\n1. Pools: low tide\n  - a\n  also #B\n2. Cats: Miso\n  - c", "looked for themes · 2 found"),
        ('open_turn(id="#X")\nError: There is no turn #X.', "opened a message · failed: There is no turn #X."),
        ("dance(fast=True)\nok", "called dance · done"),
        ("words that no tool wrote", "looked something up · done"),
        (None, "looked something up · done"),
        ("", "looked something up · nothing found"),
    ],
)
def test_whatever_is_stored_becomes_one_line(text: str | None, line: str) -> None:
    assert line_of(read_call(stored(text))) == line


def test_a_failure_is_told_and_a_huge_answer_is_cut() -> None:
    call = answered(
        ToolCall("about", {"name": "x" * 500}), ToolDone("S", "T", "C", "about", "Error: no", error="no\nno")
    )
    assert line_of(call).endswith("…” · failed: no no")
    assert len(line_of(call)) < 120
    assert len(whole(ToolCall("about", {}, "x" * 100_000))) < SHOWN_RESULT + 100


async def test_a_call_stands_between_the_message_and_the_reply_and_enter_unfolds_it(chat: Running) -> None:
    agent = agent_with_tools()
    agent.take_steps(SEARCH, THEMES)
    looking, found = agent.hold_search("tide pools"), mark_of(agent.turns["S000"][0])
    async with chat(agent, size=(120, 40)) as (app, pilot):
        await agent.idle()
        await ask(app, pilot)
        await wait_until(pilot, lambda: "searched memory for “tide pools” · …" in screen_text(app))
        await wait_until(pilot, lambda: "looking it up" in screen_text(app), "looking it up")
        looking.set()
        await wait_until(pilot, lambda: is_answered(app))
        await wait_until(pilot, lambda: "· 2 found" in screen_text(app))
        kinds = [type(message) for message in app.view.transcript.messages[1:]]
        assert kinds == [ToolBlock, ToolBlock, AssistantMessage]
        await wait_until(pilot, lambda: "[bold]Two[/] themes." in screen_text(app))  # they were asked for to be read
        assert screen_text(app).count(found) == 1  # as one of the themes
        await pilot.press("tab", "k", "k", "enter")
        await wait_until(pilot, lambda: screen_text(app).count(found) == 2)
        await wait_until(pilot, lambda: "[bold]Two[/] themes." in screen_text(app), "[bold]Two[/] themes.")
        await pilot.press("down", "enter", "k", "enter")
        await wait_until(pilot, lambda: found not in screen_text(app) and "Two[/]" not in screen_text(app))


async def test_calls_of_an_old_thread_are_folded_too_and_a_new_chat_settles_with_them(chat: Running) -> None:
    agent = agent_with_tools()
    async with chat(agent) as (app, pilot):
        await pilot.press("ctrl+n")
        for number in range(3):
            agent.take_steps(SEARCH)
            before = app.view.state.last
            await pilot.press(*f"m{number}", "enter")
            await wait_until(pilot, lambda before=before: app.view.state.last is not before and is_answered(app))  # type: ignore[misc]
            assert len(await agent.chats.thread(here(app))) == 3 * number + 3
        await wait_until(pilot, lambda: len(app.view.transcript.window.turns) == 9)
        live = [type(message) for message in app.view.transcript.messages]
        await app.open_session(app.view.session)
        await wait_until(pilot, lambda: "2 found" in screen_text(app))
        assert [type(message) for message in app.view.transcript.messages] == live


async def test_a_reply_tells_how_much_was_recalled_for_it_live_and_later(chat: Running) -> None:
    agent = agent_that_recalls()
    async with chat(agent) as (app, pilot):
        await agent.idle()
        await ask(app, pilot, ASKED)
        await wait_until(pilot, lambda: "recalled 3" in screen_text(app))
        await wait_until(pilot, lambda: is_answered(app))
        session = app.view.session
        await app.open_session("S000")
        await app.open_session(session)
        await wait_until(pilot, lambda: "recalled 3" in screen_text(app))
        await app.open_session("S001")
        await wait_until(pilot, lambda: "Lovely." in screen_text(app))
        assert "recalled" not in screen_text(app)


async def test_a_hidden_message_says_so(chat: Running) -> None:
    agent = ScriptedAgent()
    session = agent.add_session("Old", ("The tide pools", "Lovely."))
    agent.add_events(TurnHidden(turn=agent.turns[session][0]))
    async with chat(agent) as (app, pilot):
        await wait_until(pilot, lambda: "hidden · h to unhide" in screen_text(app))
        assert screen_text(app).count("hidden ·") == 1


async def test_themes_lie_open_once_they_are_found_until_the_reader_folds_them(chat: Running) -> None:
    model = Namer(0)
    agent = agent_with_tools(model)
    agent.take_steps(THEMES)
    async with chat(agent) as (app, pilot):
        await agent.idle()
        await ask(app, pilot)
        await wait_until(pilot, lambda: "▸ looked for themes · 0 of 2 …" in screen_text(app))
        model.naming.set()
        await wait_until(pilot, lambda: "▾ looked for themes · 2 found" in screen_text(app))
        await wait_until(pilot, lambda: "1. themes, two, bold: [bold]Two[/] more themes." in screen_text(app))
        await wait_until(pilot, lambda: is_answered(app))
        await pilot.press("tab", "k", "enter")
        await wait_until(pilot, lambda: "1. themes" not in screen_text(app))
        await app.open_session(app.view.session)
        await wait_until(pilot, lambda: "1. themes, two, bold: [bold]Two[/] more themes." in screen_text(app))


async def test_a_message_says_no_more_that_it_is_queued_once_something_is_looked_up_for_it(chat: Running) -> None:
    agent = agent_with_tools()
    looking = agent.hold_search("tide pools")
    agent.go.clear()
    async with chat(agent) as (app, pilot):
        await ask(app, pilot, "one")
        await wait_until(pilot, lambda: app.view.state.reply is not None)
        agent.take_steps(SEARCH)
        await pilot.press(*"two", "enter")
        await wait_until(pilot, lambda: "Queued" in screen_text(app))
        agent.go.set()
        await wait_until(pilot, lambda: "searched memory for “tide pools” · …" in screen_text(app))
        assert "Queued" not in screen_text(app)
        looking.set()


async def test_what_was_stopped_while_it_was_looked_up_says_so_and_goes_when_it_is_tried_again(chat: Running) -> None:
    agent = agent_with_tools()
    agent.take_steps(SEARCH)
    looking = agent.hold_search("tide pools")
    async with chat(agent) as (app, pilot):
        await agent.idle()
        await ask(app, pilot)
        await wait_until(pilot, lambda: "searched memory for “tide pools” · …" in screen_text(app))
        await pilot.press("escape")
        await wait_until(pilot, lambda: "“tide pools” · stopped" in screen_text(app))
        await wait_until(pilot, lambda: "Stopped before the reply began" in screen_text(app))
        await wait_until(pilot, lambda: "/retry" in screen_text(app), "/retry")
        assert "Partial reply saved" not in screen_text(app)
        await pilot.press("tab", "enter")
        await wait_until(pilot, lambda: "It was stopped." in screen_text(app))
        assert "returned nothing" not in screen_text(app)
        looking.set()
        agent.take_steps(SEARCH)
        await pilot.press("escape", *"/retry", "enter")
        await wait_until(pilot, lambda: is_answered(app))
        kinds = [type(message) for message in app.view.transcript.messages[1:]]
        assert kinds == [ToolBlock, AssistantMessage]
        assert "stopped" not in screen_text(app)


async def test_a_last_message_without_a_reply_says_how_to_get_one(chat: Running) -> None:
    agent = ScriptedAgent()
    session = agent.add_session("Left", ("The tide pools", "Lovely."))
    agent.add_turn(session, "list ten fruits")
    async with chat(agent) as (app, pilot):
        await wait_until(pilot, lambda: "no reply yet · /retry to get one" in screen_text(app))
        agent.go.clear()
        await pilot.press(*"/retry", "enter")
        await wait_until(pilot, lambda: app.view.state.reply is not None)
        assert "no reply yet" not in screen_text(app)
        await app.open_session(session)
        assert "no reply yet" not in screen_text(app)  # one is being written
        agent.go.set()
        await wait_until(pilot, lambda: is_answered(app))
        await app.open_session(session)
        assert "no reply yet" not in screen_text(app)
