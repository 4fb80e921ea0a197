"""Takes the pictures of the README, each of a running chat on the demo's memory: `make pictures`.

The chat runs without a terminal, with the real model and embedder. A picture is taken once the screen says what it is
to show, and has stood still; one that never does is an error that names it.
"""

import argparse
import asyncio
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from textual.pilot import Pilot

from agent.home import Home
from demo.memory import build
from tui.app import ClewApp
from tui.entry import make_app
from tui.page_handlers import picture
from tui.themes import full_name

DOCS = Path(__file__).parent.parent / "docs"
STILL = 3  # times that the screen was the same
LOOK_S = 0.1
LOOKS = 1200  # at the screen, before what it was to show is given up


@dataclass(frozen=True)
class Type:
    """Words typed as keys; a message is sent by a key of its own."""

    words: str


@dataclass(frozen=True)
class See:
    """Words that the screen has to show before it goes on, in so many looks at it."""

    words: str
    looks: int = LOOKS


@dataclass(frozen=True)
class Ask:
    """A query in the graph screen, run."""

    cypher: str


@dataclass(frozen=True)
class Walk:
    """A node of the graph by its name."""

    name: str


Step = str | Type | See | Ask | Walk  # a string is a key


@dataclass(frozen=True)
class Shot:
    """A picture: how one comes there, and how large the terminal is."""

    name: str
    steps: tuple[Step, ...]
    size: tuple[int, int] = (112, 32)
    theme: str = "dark"
    new: bool = False


MOST_PROVEN = """MATCH (o:Observation)-[:DERIVED_FROM|SUPPORTED_BY]->(t:Turn)
WHERE o.current AND t.live
RETURN o.text AS memory, o.kind AS kind, count(*) AS proofs
ORDER BY proofs DESC"""
WHO = "MATCH (o:Observation)-[r:ABOUT]->(e:Entity) WHERE o.current RETURN o, r, e"
CHAT_OF_THE_MAST = ("f2", Type("mast"), See("rotten"), "enter", See("iroko"))
THE_STORY = ("f2", Type("lighthouse"), See("The Lighthouse"), "enter", See("Where else"))
SHOTS = (
    Shot("chat", (See("No walnuts"),)),
    Shot("restart", ("f2", See("Launching Wren"))),
    Shot("memory", ("f7", See("Recalled"), "left", See("allergic to walnuts")), size=(120, 32)),
    Shot("memories", ("f4", See("Used to live"), "end", See("Lives in Munich")), size=(120, 34)),
    Shot("tree", ("f6", See("orange cake")), size=(112, 24)),
    Shot("delete", (*CHAT_OF_THE_MAST, "tab", "up", "x", See("Delete")), size=(100, 30)),
    Shot("graph", (Ask(MOST_PROVEN), See("walnuts")), size=(124, 34)),
    Shot("drawn", (Ask(WHO), See("rows"), "f6", "2", See("nodes · ")), size=(124, 36)),
    Shot("ego", (Walk("Wren"), See("Launches Wr"), See("nodes · ")), size=(132, 38)),
    Shot("proof", (Walk("Lisbon"), See("Used to live"), "down", "p", See("It is decided")), size=(112, 28)),
    Shot("stats", ("f9", See("How much it matters")), size=(112, 36)),
    Shot("story", (*THE_STORY, "ctrl+t", See("you play them"), "2", See("told a secret")), size=(124, 36)),
    Shot("knows", (*THE_STORY, Type("/knows Corin log"), "enter", See("knows nothing of it")), size=(112, 30)),
    Shot("search", ("ctrl+f", Type("garboard"), See("Caulking")), size=(112, 28)),
)  # fmt: skip


def text_of(app: ClewApp) -> str:
    """The words on the screen, line by line."""
    return "\n".join("".join(segment.text for segment in strip) for strip in app.screen._compositor.render_strips())


async def take(shot: Shot, home: Path) -> str:
    """The picture as SVG. Raises TimeoutError when the screen does not come to show what it should."""
    app = make_app(home=home, new=shot.new)
    app.view.fixed_theme = full_name(shot.theme)
    async with app.run_test(size=shot.size) as pilot:
        try:
            app.view.composer.cursor_blink = False
            await _until(pilot, lambda: app.view.chat is not None and app.view.chat.opened_once, "the chat")
            await _until(pilot, lambda: _settled(app), "the model, the graph and the embedder")
            for step in shot.steps:
                await _do(step, pilot, app)
            await _still(pilot, app)
            return picture(app)
        finally:
            await app.leave()


async def _do(step: Step, pilot: Pilot[int], app: ClewApp) -> None:
    match step:
        case See(words, looks):
            await _until(pilot, lambda: words in text_of(app), words, looks)
        case Type(words):
            await pilot.press(*("space" if each == " " else each for each in words))
        case Ask(cypher):
            app.perform("graph", cypher)
            await _until(pilot, lambda: "F5" in text_of(app), "the graph screen")
            await pilot.press("f5")
        case Walk(name):
            app.perform("ego", name)
        case key:
            await pilot.press(key)


def _settled(app: ClewApp) -> bool:
    """What is brought in after the first paint is there, and nothing is said for a while only."""
    graph, embedding = app.view.state.graph, app.view.state.embedding
    done = ("ready", "failed")
    return all(each is not None and each.state in done for each in (app.view.state.model, graph, embedding))


async def _still(pilot: Pilot[int], app: ClewApp) -> None:
    before, same = "", 0
    while same < STILL:
        await pilot.pause(LOOK_S)
        now = text_of(app)
        same = same + 1 if now == before else 0
        before = now


async def _until(pilot: Pilot[int], true: Callable[[], bool], what: str, looks: int = LOOKS) -> None:
    for _ in range(looks):
        if true():
            return
        await pilot.pause(LOOK_S)
    raise TimeoutError(f"the screen never showed {what!r}:\n{text_of(pilot.app)}")  # type: ignore[arg-type]


def take_all(folder: Path, shots: tuple[Shot, ...]) -> None:
    """Build a demo, and write the pictures of it to a folder."""
    with TemporaryDirectory(prefix="clew-demo-") as home:
        build(Home.resolve(Path(home)))
        for shot in shots:
            path = folder / f"{shot.name}.svg"
            path.write_text(asyncio.run(take(shot, Path(home))), encoding="utf-8")
            print(path, file=sys.stderr)


def main() -> None:
    """The command line of this module."""
    parser = argparse.ArgumentParser(prog="python -m demo.pictures", description=__doc__)
    parser.add_argument("names", nargs="*", choices=[[], *(shot.name for shot in SHOTS)], help="only these")
    parser.add_argument("--to", type=Path, default=DOCS, metavar="FOLDER")
    arguments = parser.parse_args()
    os.umask(0o077)
    os.environ["CLEW_MODELS"] = str(Home.resolve().models)  # the demo's own home has none
    os.environ["CLEW_OFFER_MODEL"] = "false"
    os.environ["CLEW_SERVICE"] = "false"  # nothing outlives the pictures
    take_all(arguments.to, tuple(shot for shot in SHOTS if not arguments.names or shot.name in arguments.names))


if __name__ == "__main__":
    main()
