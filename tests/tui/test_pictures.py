"""A few whole screens, compared with pictures that were looked at (update them with `pytest --snapshot-update`)."""

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from textual.pilot import Pilot

from tests.tui.conftest import make_app, screen_text, settled, wait_until
from tests.tui.fake_agent import FakeAgent
from tui.app import ClewApp

Compare = Callable[..., bool]

REPLY = """Three things are worth your time:

1. The **palace of Knossos**, early in the morning.
2. The *Samaria gorge*, if it is open.

```python
def pack(days: int) -> list[str]:
    return ["water"] * days
```

| Place | Hours |
|---|---|
| Knossos | 2 |

<div>[bold]Words[/] that look like tags stay words.</div>
"""


def full_agent() -> FakeAgent:
    agent = FakeAgent()
    agent.add_session("Trip to Crete", ("What should I see in Crete?", REPLY))
    agent.add_session("Bread with a long title that does not fit", ("q", "a"))
    agent.add_session(None, ("q", "a"))
    return agent


def before(
    app: ClewApp, *keys: str, shows: str, wait: Callable[[ClewApp], object] = lambda app: True
) -> Callable[[Pilot[int]], Awaitable[None]]:
    """Wait for the chat, press keys, wait for words on the screen."""

    async def run(pilot: Pilot[int]) -> None:
        app.composer.cursor_blink = False
        await wait_until(pilot, lambda: app.chat is not None and app.chat.opened_once)
        await pilot.press(*keys)
        await wait_until(pilot, lambda: shows in screen_text(app) and wait(app), shows)
        await settled(pilot, app)

    return run


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
def test_a_chat(snap_compare: Compare, tmp_path: Path, size: tuple[int, int]) -> None:
    app = make_app(full_agent(), tmp_path)
    assert snap_compare(app, terminal_size=size, run_before=before(app, shows="stay words"))


def test_the_first_start(snap_compare: Compare, tmp_path: Path) -> None:
    app = make_app(FakeAgent(model_ready=False), tmp_path)
    assert snap_compare(app, terminal_size=(80, 24), run_before=before(app, shows="43%"))


def test_the_list_of_chats_in_light(snap_compare: Compare, tmp_path: Path) -> None:
    app = make_app(full_agent(), tmp_path, theme="light")
    run = before(app, "f2", shows="Bread with", wait=lambda app: app.sessions.chosen is not None)
    assert snap_compare(app, terminal_size=(120, 40), run_before=run)


def test_the_commands_while_typing(snap_compare: Compare, tmp_path: Path) -> None:
    app = make_app(full_agent(), tmp_path)
    assert snap_compare(app, terminal_size=(80, 24), run_before=before(app, "slash", shows="/retry"))


def test_a_tiny_terminal(snap_compare: Compare, tmp_path: Path) -> None:
    app = make_app(full_agent(), tmp_path)
    assert snap_compare(app, terminal_size=(20, 5), run_before=before(app, shows="ready"))
