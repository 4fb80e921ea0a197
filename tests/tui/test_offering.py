"""A better model is offered after the first reply: shown, got by one key, put off, never offered again."""

from datetime import date, timedelta
from pathlib import Path

import pytest

from agent.home import Home, offer_is_due, put_off_offer
from models import fitting
from models.catalogue import HubSource, entry
from models.errors import FetchError
from tests.fakes import Reply
from tests.models.servers import serving
from tests.tui.acting import enter, press
from tests.tui.conftest import Running, here, screen_text, wait_until
from tests.tui.fake_backstage import FakeBackstage
from tests.tui.scripted import MODEL, ScriptedAgent
from tests.tui.seeing import sees
from tui.app import ClewApp
from tui.backstage import OFFERED_AGAIN, Choice, Options, RealBackstage

BETTER = Choice("qwen3-4b", 2_500_000_000, False, "much better answers")
OFFER = "A better model fits this computer: qwen3-4b, 2.5 GB"


def backstage_of(app: ClewApp, found: Choice | None = BETTER) -> FakeBackstage:
    assert isinstance(app.view.backstage, FakeBackstage)
    app.view.backstage.found = found
    return app.view.backstage


async def test_after_the_first_reply_a_better_model_is_offered_and_one_key_gets_it(chat: Running) -> None:
    agent = ScriptedAgent(reply=Reply("Hello there.", took_ms=(40.0, 100.0)))  # of four tokens
    used = agent.watch_calls("models.use")
    async with chat(agent) as (app, pilot):
        backstage = backstage_of(app)
        assert OFFER not in screen_text(app)
        await press(pilot, *"hi", "enter", shows=(OFFER, "/better never"))
        assert (backstage.fetched, backstage.speeds) == ([], (50.0,))
        await press(pilot, "f5", shows="qwen3-4b is now the model")
        assert (backstage.fetched, backstage.kept) == (["qwen3-4b"], {"model": "qwen3-4b"})
        assert used == [(("qwen3-4b",), {"session": None})]
        await pilot.press(*"more", "enter")
        await wait_until(pilot, lambda: len(app.view.transcript.messages) == 4 and not app.view.state.waiting)
        await wait_until(pilot, lambda: app.view.state.reply is None)
        assert len(await agent.chats.thread(here(app))) == 4
        assert len(backstage.speeds) == 1  # it is asked once


async def test_escape_puts_the_offer_off_and_never_is_a_setting(chat: Running) -> None:
    async with chat(ScriptedAgent()) as (app, pilot):
        backstage = backstage_of(app)
        await press(pilot, *"hi", "enter", shows=OFFER)
        await press(pilot, "escape", shows="You will be asked again")
        assert backstage.put_off
        assert (app.view.state.offer, len(app.screen_stack), backstage.fetched) == (None, 1, [])
        await press(pilot, "f5", shows=OFFER)
        await enter(pilot, "/better never", shows="not be asked again")
        assert (backstage.kept, app.view.state.offer) == ({"offer_model": False}, None)


async def test_the_key_alone_fetches_nothing_and_a_failure_leaves_the_model_there_was(chat: Running) -> None:
    agent = ScriptedAgent()
    used = agent.watch_calls("models.use")
    async with chat(agent) as (app, pilot):
        backstage = backstage_of(app, None)
        await press(pilot, "f5", shows="No better model")
        backstage.found = BETTER
        await press(pilot, "f5", shows=OFFER)
        assert backstage.fetched == []
        backstage.fetch_failure = "The connection broke off."
        await press(pilot, "f5", shows="broke off")
        assert (used, agent.settings.model, backstage.kept) == ([], MODEL, {})
        await sees(pilot, "ready")


@pytest.mark.process
def test_what_fits_is_found_offline_and_fetched_when_asked_for(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CLEW_MODELS", raising=False)
    monkeypatch.setattr(fitting, "memory_for_a_model", lambda: 2 * 10**9)
    monkeypatch.setattr(fitting, "has_disk", lambda folder, size: True)
    monkeypatch.setattr(fitting, "has_way_out", lambda: True)
    with serving() as site:
        for key, value in site.environment.items():
            monkeypatch.setenv(key, value)
        best = entry("qwen2.5-coder-0.5b")
        assert isinstance(best.source, HubSource)
        content = b"GGUF" + bytes(1000)
        site.put_hub(best.source.repo, best.source.file, content, sha256=best.sha256)
        backstage = RealBackstage(Home.resolve(home), Options(home=home))
        found = backstage.better(130.0)
        assert found is not None
        assert (found.name, found.installed, site.offsets) == (best.name, False, [])
        assert found.pace == pytest.approx(130 * entry(MODEL).size / best.size)
        with pytest.raises(FetchError):  # what is served is another file than the catalogue means
            backstage.fetch(found.name, lambda step: None)
        assert site.offsets[0] == 0
        (home / "models" / best.file).write_bytes(content)
        again = backstage.better(130.0)
        assert again is not None
        assert again.installed
        monkeypatch.setattr(fitting, "has_way_out", lambda: False)
        assert backstage.better(130.0) == again  # it is here
        (home / "models" / best.file).unlink()
        assert backstage.better(130.0) is None


def test_an_offer_that_was_put_off_is_due_again_after_a_week_and_never_after_never(home: Path) -> None:
    place = Home.resolve(home)
    backstage = RealBackstage(place, Options(home=home))
    assert backstage.may_offer()
    backstage.postpone_offer()
    assert not backstage.may_offer()
    assert offer_is_due(place, date.today() + OFFERED_AGAIN)
    put_off_offer(place, date.today() - timedelta(days=1))
    assert backstage.may_offer()
    put_off_offer(place, date.today() + timedelta(days=3_000))
    assert backstage.may_offer()  # a clock was ahead
    place.offered.write_text("nonsense")
    assert backstage.may_offer()
    backstage.keep("offer_model", False)
    assert not RealBackstage(place, Options(home=home)).may_offer()
