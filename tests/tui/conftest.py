"""What the screen's tests share: an app on an agent, and a way to wait without sleeping for a guess."""

import os
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from textual._compositor import Compositor
from textual.app import App
from textual.css.model import RuleSet
from textual.css.stylesheet import Stylesheet
from textual.pilot import Pilot

from tests import marking
from tests.examples import soaking
from tests.tui.fake_backstage import FakeBackstage
from tests.tui.scripted import ScriptedAgent
from tui.app import ClewApp
from tui.backstage import Backstage, Options
from tui.keyboard import Later
from tui.themes import full_name
from tui.widgets.dialogs import Question
from tui.widgets.impact import ImpactScreen

PATIENCE_S = float(os.environ.get("CLEW_TEST_PATIENCE_S", "60"))  # on a machine that has much else to do

Running = Callable[..., Any]


@pytest.fixture(autouse=True, scope="session")
def _styles_are_parsed_once() -> Iterator[None]:
    """Every app has a style sheet of its own, and parsing it was an eighth of what an app takes."""
    parse, known = Stylesheet._parse_rules, dict[Any, Any]()

    def once(self: Stylesheet, *given: Any, **more: Any) -> Any:
        key = (tuple(sorted(self._variables.items())), given, tuple(sorted(more.items())))
        if key not in known:
            known[key] = parse(self, *given, **more)
        return known[key]

    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(Stylesheet, "_parse_rules", once)
        monkeypatch.setattr(RuleSet, "__hash__", object.__hash__)  # the same, and not written in Python
        yield


@pytest.fixture(autouse=True)
def _painted_when_it_is_read(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody sees what an app without a terminal paints: a screen is painted when a test reads it.

    It is painted as in life, region by region, in soak always and else in those marked `sample`.
    """
    paint = Compositor.render_update

    def later(self: Compositor, full: bool = False, **how: Any) -> Any:
        if full:
            return paint(self, full, **how)
        self._dirty_regions.clear()
        return None

    if not soaking() and request.node.get_closest_marker("sample") is None:
        monkeypatch.setattr(Compositor, "render_update", later)


@pytest.fixture(autouse=True)
def _in_utc(request: pytest.FixtureRequest) -> Iterator[None]:
    """Days and hours on a screen are those of where one is: tests that name them are in Greenwich."""
    if not {"chat", "snap_compare"} & set(request.fixturenames):
        yield
        return
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setenv("TZ", "UTC")
        time.tzset()
        yield
    time.tzset()


@pytest.fixture(autouse=True)
def _apps_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Which test runs an app is noted."""
    run_test = App.run_test

    def noted(self: App[Any], **more: Any) -> Any:
        marking.saw("ui")
        return run_test(self, **more)

    monkeypatch.setattr(App, "run_test", noted)


async def wait_until(pilot: Pilot[Any], true: Callable[[], object], what: str = "the condition") -> None:
    """Let the app work until `true()`, or what it answers when it is awaited; after PATIENCE_S a failure, which shows
    the screen.
    """
    until = time.monotonic() + PATIENCE_S
    while not (await found if isinstance(found := true(), Awaitable) else found):
        if time.monotonic() > until:
            pytest.fail(f"{what} did not come true. The screen:\n{screen_text(pilot.app)}")
        await pilot.pause(0.01)


async def there(pilot: Pilot[int], app: ClewApp) -> None:
    """Wait for the chat and the graph."""
    await wait_until(pilot, lambda: app.view.chat is not None and app.view.chat.opened_once, "the chat")
    await wait_until(pilot, lambda: has_graph(app), "the graph")


async def settled(pilot: Pilot[int], app: ClewApp) -> None:
    """Let the app work until two frames after one another are the same."""
    frames = [""]

    def same() -> bool:
        frames.append(screen_text(app))
        return frames[-1] == frames[-2]

    await wait_until(pilot, same, "a screen that stays the same")


async def agree(pilot: Pilot[Any]) -> None:
    """Press the button of the question that comes, once it is on the screen."""

    def asked() -> bool:
        screen = pilot.app.screen
        return isinstance(screen, Question) and not (isinstance(screen, ImpactScreen) and screen.plan is None)

    await wait_until(pilot, asked, "a question")
    await pilot.press("tab", "enter")


def at_once(seconds: float, then: Callable[[], None]) -> None:
    """The clock of the keyboard in tests that press one letter after another, each of them meant: no key follows."""
    then()


def make_app(
    agent: ScriptedAgent,
    cache: Path,
    *,
    theme: str = "dark",
    options: Options | None = None,
    later: Later = at_once,
) -> ClewApp:
    """The app on an agent; `app.view.backstage` is a FakeBackstage once it has connected."""
    backstage = FakeBackstage(agent, cache / "config.toml", theme=theme)

    async def connect() -> Backstage:
        return backstage

    app = ClewApp(connect, cache, options, theme=full_name(theme), later=later)
    return app


@pytest.fixture
def chat(tmp_path: Path) -> Running:
    """`async with chat(agent, size=…) as (app, pilot)`: the running app with its chat open."""

    @asynccontextmanager
    async def running(
        agent: ScriptedAgent, *, size: tuple[int, int] = (80, 24), opened: bool = True, **more: Any
    ) -> AsyncIterator[tuple[ClewApp, Pilot[int]]]:
        app = make_app(agent, tmp_path, **more)
        async with app.run_test(size=size) as pilot:
            if opened:
                await there(pilot, app)
                await pilot.pause()
            yield app, pilot
            agent.let_go()
            await app.leave()

    return running


def has_graph(app: ClewApp) -> bool:
    """Whether the graph follows the log, or cannot be opened: before that plans are not worked out."""
    return app.view.state.graph is not None and app.view.state.graph.state in ("ready", "failed")


def here(app: ClewApp) -> str:
    """The chat on the screen."""
    assert app.view.session is not None
    return app.view.session


def screen_text(app: App[Any]) -> str:
    """The words on the screen, line by line."""
    return "\n".join("".join(segment.text for segment in strip) for strip in app.screen._compositor.render_strips())


def status_line(app: ClewApp) -> str:
    """The last line of the screen."""
    return screen_text(app).splitlines()[-1]
