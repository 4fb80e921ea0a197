"""Pictures of the screen as SVG: from a running chat by /screenshot, headless by `python -m tui.screenshot`.

python -m tui.screenshot chat.svg --size 120x40 --say "Hello" --home FOLDER --theme light
"""

import argparse
import asyncio
import re
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from textual.pilot import Pilot

    from tui.app import ClewApp

_FONT_FACE = re.compile(r"@font-face \{.*?\}\s*", re.DOTALL)


def picture(app: "ClewApp") -> str:
    """The screen as SVG; fonts of the web are left out, so that looking at it asks no server for anything."""
    return _FONT_FACE.sub("", app.export_screenshot(title="clew"))


def save(app: "ClewApp", name: str = "") -> Path:
    """Write the picture to `name`, or to a new file named by the time, in the current folder. Raises OSError."""
    path = Path(name or f"clew-{datetime.now():%Y%m%d-%H%M%S}.svg").expanduser().absolute()
    path.write_text(picture(app), encoding="utf-8")
    return path


async def shoot(
    app: "ClewApp", path: Path, *, size: tuple[int, int], say: str, press: list[str], wait_s: float
) -> None:
    """Run the chat without a terminal, say something, wait for the reply, press keys, write the picture."""
    async with app.run_test(size=size) as pilot:
        async with asyncio.timeout(wait_s):
            await _until(pilot, lambda: app.chat is not None and app.state.model.state in ("ready", "failed"))
            await _until(pilot, lambda: _can_recall(app))
            if say:
                app.composer.put(say)
                await pilot.press("enter")
                await _until(pilot, lambda: app.state.last is not None)
                await _until(pilot, lambda: app.state.reply is None and not app.state.waiting)
        await pilot.press(*press)
        await pilot.pause()
        save(app, str(path))
        await app.leave()


def _can_recall(app: "ClewApp") -> bool:
    """Graph and embedder are there, or will not come."""
    graph, embedding = app.state.graph, app.state.embedding
    known = graph is not None and graph.state in ("ready", "failed")
    return known and embedding is not None and embedding.state in ("ready", "failed")


async def _until(pilot: "Pilot[int]", true: Callable[[], bool]) -> None:
    while not true():
        await pilot.pause(0.05)


def main() -> None:
    """The command line of this module."""
    parser = argparse.ArgumentParser(prog="python -m tui.screenshot", description=__doc__)
    parser.add_argument("path", type=Path)
    parser.add_argument("--size", default="120x40", help="columns x rows")
    parser.add_argument("--home", type=Path, help="the memory to show (default: your own)")
    parser.add_argument("--model", help="a model's name or a GGUF file")
    parser.add_argument("--theme", default="dark")
    parser.add_argument("--new", action="store_true", help="begin a new chat")
    parser.add_argument("--say", default="", help="a message to send first")
    parser.add_argument("--press", nargs="*", default=[], help="keys to press before the picture")
    parser.add_argument("--wait", type=float, default=120, help="seconds to wait for model and reply")
    arguments = parser.parse_args()
    width, _, height = arguments.size.partition("x")

    from tui.entry import make_app
    from tui.themes import full_name

    app = make_app(home=arguments.home, model=arguments.model, new=arguments.new)
    app.fixed_theme = full_name(arguments.theme)
    size = (int(width), int(height))
    asyncio.run(shoot(app, arguments.path, size=size, say=arguments.say, press=arguments.press, wait_s=arguments.wait))


if __name__ == "__main__":
    main()
