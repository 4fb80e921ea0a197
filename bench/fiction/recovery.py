"""What stands after kills and ways back: a story that is played by a process of its own, which is killed at any moment.

    python -m bench.fiction.recovery HOME SEED

plays in a folder until it is killed: words, presence, scenes, plots, ties, ways back and forward, forks, replies anew.
After each kill the log is read by the reference of the tests, which knows events and nothing else, and every chat's
cast, stage and who saw what have to be what it says of the path; so do plots, ties and presence, and `clew doctor`
compares the tables with ones made anew.
"""

import asyncio
import random
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

from agent.agent import Agent
from agent.errors import AgentError
from agent.home import Home
from agent.story.play import Play, play_of
from agent.story.plots import plots_of
from agent.story.ties import ties_of
from bench.fiction.opened import of_two, opened, say
from bench.report import Figure
from bench.report import say as tell
from graph.errors import InvalidEvent, NotFound
from graph.events import MAIN_WORLD, StageSet
from graph.ids import as_datetime
from graph.memory import Memory
from graph.values import StageLine
from tests.fakes import FakeGenerator
from tests.reference import Reference

SHORTEST_S, LONGEST_S = 0.05, 2.5  # of playing, before it is killed
BEGUN = "begun"  # is printed by a process once it plays
MOST_CHATS = 4
THINGS = ("mood", "action", "place", "holding", "goals")


async def play(home: Path, seed: int) -> None:
    """Play until the process is killed."""
    rng = random.Random(seed)
    async with opened(home, FakeGenerator("Hm.", "So be it.", "*nods* Go on.")) as agent:
        if not await agent.stories.all():
            await of_two(agent)
        print(BEGUN, flush=True)
        while True:
            with suppress(AgentError, InvalidEvent, NotFound):  # what cannot be done here is not done
                await _deed(agent, rng)


async def _deed(agent: Agent, rng: random.Random) -> None:
    stories = agent.stories
    chats = [chat for story in await stories.all() for chat in story.sessions]
    session = rng.choice(chats)
    cast = await stories.cast(session)
    who, other = rng.sample([each.member for each in cast], 2) if len(cast) > 1 else (cast[0].member,) * 2
    path = [turn.id for turn in await agent.chats.thread(session)]
    plots = [plot.id for plot in await stories.plots(session)]
    match rng.choice(
        (
            "say",
            "say",
            "say",
            "put",
            "tie",
            "place",
            "scene",
            "close",
            "plot",
            "move",
            "skip",
            "back",
            "anew",
            "fork",
            "whisper",
        )
    ):
        case "say":
            await say(agent, session, rng.choice(("What now?", "Mara, go on.", "Jonas, you?", "*waits*")))
        case "whisper":
            await say(agent, session, "Nobody else may know.", whisper=who)
        case "put":
            await stories.put(session, who, rng.choice(THINGS), rng.choice(("one", "another", "")))
        case "tie":
            await stories.put(session, f"{who}>{other}", rng.choice(("affinity", "trust")), str(rng.randint(-100, 100)))
        case "place":
            await stories.place(session, who, present=rng.random() < 0.6)
        case "scene":
            await stories.open_scene(session, f"Scene {rng.randrange(100)}")
        case "close":
            await stories.close_scene(session)
        case "plot":
            await stories.note_plot(session, f"Plot {rng.randrange(1000)}", texts={"trigger": "clock: dusk"})
        case "move" if plots:
            await stories.move_plot(session, rng.choice(plots), rng.choice(("active", "completed", "cancelled")))
        case "skip":
            await stories.skip(
                session, rng.choice(("dusk", "dawn", "noon")), narration=rng.choice(("", "Time went by."))
            )
        case "back" if path:
            await agent.branches.rewind(session, rng.choice(path))
        case "anew" if path:
            async for _ in agent.regenerate(session, None):
                pass
        case "fork" if path and len(chats) < MOST_CHATS:
            await agent.branches.fork(session, at=rng.choice(path), what_if=rng.random() < 0.5)


def differing(memory: Memory) -> list[str]:
    """The chats of stories that are not what the log's events make of them, with what differs."""
    reference = Reference()
    for stored in memory._reader.events(limit=1_000_000):
        reference.apply(stored.event)
    found = []
    for session, world in reference.world.items():
        if world == MAIN_WORLD or world not in reference.story or session not in reference.head:
            continue
        cast = [(each.id, each.name, each.seat, each.since) for each in memory.readings.cast(session)]
        stage = {
            key: line.text
            for key, line in memory.readings.stage(session).items()
            if line.value is None and key[1] not in ("seat", "reset")
        }
        views = {
            member: [turn.id for turn in memory.readings.thread(session, witness=member)]
            for member in reference.members
        }
        expected = {
            "cast": reference.cast(session),
            "stage": reference.stage(session),
            "views": {member: reference.view(session, member) for member in reference.members},
        }
        for what, value in {"cast": cast, "stage": stage, "views": views}.items():
            if value != expected[what]:
                found.append(f"{session}: {what} {value!r}, not {expected[what]!r}")
        found += _folded(memory, reference, session)
    return found


def _folded(memory: Memory, reference: Reference, session: str) -> list[str]:
    """Plots, ties and who is there, where they are not what the lines make of them that the reference has."""
    kept = play_of(memory.readings, memory.readings.session(session))
    assert kept is not None
    sets = [event for event in reference._played(session) if isinstance(event, StageSet)]
    history = tuple(
        StageLine(each.owner, each.aspect, each.text, None, each.by, at, as_datetime(0), each.after)
        for at, each in enumerate(sets)
    )
    again = Play(kept.cast, {(line.owner, line.aspect): line for line in history}, history)
    return [f"{session}: {what}" for what, of in FOLDED.items() if of(kept) != of(again)]


FOLDED: dict[str, Callable[[Play], object]] = {
    "plots": lambda play: [(plot.id, plot.title, plot.state, plot.trigger) for plot in plots_of(play)],
    "ties": lambda play: [
        (tie.owner.id, tie.target.id, tie.affinity, tie.trust) for tie in ties_of(play.cast, play.history)
    ],
    "presence": lambda play: [each.id for each in play.present],
}


def recovery(folder: Path, kills: int, seed: int) -> dict[str, Figure]:
    """Kill so many processes, one after the other, in one memory."""
    rng = random.Random(seed)
    home = folder / "home"
    wrong = unsound = events = lines = 0
    for at in range(kills):
        command = (sys.executable, "-m", "bench.fiction.recovery", str(home), str(seed * 1000 + at))
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            if process.stdout.readline().strip() != BEGUN:
                raise RuntimeError("the process that plays did not begin")
            with suppress(subprocess.TimeoutExpired):
                process.wait(rng.uniform(SHORTEST_S, LONGEST_S))
            process.send_signal(signal.SIGKILL)
        with closing(Memory.open(Home.resolve(home).memory, command="bench")) as memory:
            found = differing(memory)
            wrong += len(found)
            for each in found[:3]:
                tell(f"recovery, after kill {at + 1}: {each}")
            bad = [check for check in memory.doctor() if not check.ok and check.name == "tables"]
            unsound += len(bad)
            events = memory.head()
            stories = [chat for story in memory.readings.stories() for chat in story.sessions]
            lines = sum(len(memory.readings.stage(chat)) for chat in stories)
    return {
        "recovery_kills": kills,
        "recovery_events": events,
        "recovery_lines": lines,
        "recovery_differing": wrong,
        "recovery_tables_unsound": unsound,
    }


if __name__ == "__main__":
    asyncio.run(play(Path(sys.argv[1]), int(sys.argv[2])))
