"""A person at the keyboard, without waiting: keys with the time between them, on a clock that a test moves on."""

import asyncio
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from textual.events import Key
from textual.pilot import Pilot

from tui.app import ClewApp

NAMES = {
    " ": "space",
    ".": "full_stop",
    ",": "comma",
    "'": "apostrophe",
    "?": "question_mark",
    "!": "exclamation_mark",
    "+": "plus",
}
FASTEST_S, SLOWEST_S = 0.06, 0.25  # between two keys of ordinary typing
SHORTEST_PAUSE_S, LONGEST_PAUSE_S = 0.31, 5.0
ELSEWHERE = 25  # keys, about, until the focus is somewhere else
SENTENCES = Path(__file__).with_suffix(".txt").read_text("utf-8").splitlines()


@dataclass
class Alarm:
    """Something that is due at a time."""

    at: float
    then: Callable[[], None]
    stopped: bool = False

    def stop(self) -> None:
        self.stopped = True


class Clock:
    """The keyboard's clock: it stands still until the test moves it on."""

    def __init__(self) -> None:
        self.now = 0.0
        self._alarms: list[Alarm] = []

    def later(self, seconds: float, then: Callable[[], None]) -> Alarm:
        alarm = Alarm(self.now + seconds, then)
        self._alarms.append(alarm)
        return alarm

    def pass_(self, seconds: float) -> bool:
        """Let time pass; whether anything was due."""
        self.now += seconds
        due = [alarm for alarm in self._alarms if alarm.at <= self.now and not alarm.stopped]
        self._alarms = [alarm for alarm in self._alarms if alarm.at > self.now and not alarm.stopped]
        for alarm in due:
            alarm.then()
        return bool(due)


def burst(app: ClewApp, *keys: str) -> None:
    """Keys that come in one piece: none waits for what the one before does."""
    for key in keys:
        app.post_message(Key(NAMES.get(key, key), key if len(key) == 1 else None))


async def press(app: ClewApp, *keys: str) -> None:
    """Keys, each handled before the next one comes; no time passes on the clock."""
    for key in keys:
        burst(app, key)
        await asyncio.sleep(0)
        while not app.keyboard.idle:  # noqa: ASYNC110 - it takes a few turns of the loop
            await asyncio.sleep(0)


def typing(chance: random.Random) -> Iterator[tuple[str, float]]:
    """Ordinary typing, without end: each key, and the seconds until the next."""
    while True:
        for letter in chance.choice(SENTENCES):
            slip = chance.random() < 0.02
            for key in (chance.choice("hpoxjkyn"), "backspace", letter) if slip else (letter,):
                pause = chance.random() < 0.06
                low, high = (SHORTEST_PAUSE_S, LONGEST_PAUSE_S) if pause else (FASTEST_S, SLOWEST_S)
                yield key, chance.uniform(low, high)
        yield chance.choice((" ", " ", "enter")), chance.uniform(FASTEST_S, LONGEST_PAUSE_S)


async def go_elsewhere(app: ClewApp, pilot: Pilot[Any], chance: random.Random) -> str:
    """Put the focus anywhere: on a message, in a list, on another screen, on nothing."""
    while len(app.screen_stack) > 1:
        await press(app, "escape")
        await pilot.pause()
    where = chance.choice(("message", "message", "message", "tab", "f2", "f7", "f4", "ctrl+f", "nothing", "anything"))
    messages, chain = app.view.transcript.messages, app.screen.focus_chain
    match where:
        case "message" if messages:
            app.screen.set_focus(chance.choice(messages))
        case "nothing":
            app.screen.set_focus(None)
        case "anything" if chain:
            app.screen.set_focus(chance.choice(chain))
        case "message" | "anything":
            pass
        case key:
            await press(app, key)
    await pilot.pause()
    return where


async def type_away(app: ClewApp, pilot: Pilot[Any], clock: Clock, *, keys: int, seed: int) -> list[str]:
    """So many keys of ordinary typing, with the focus anywhere; which places it was put to, each with the keys there.

    Each key comes as soon as the one before is handled. A pause lets the app finish what it is about, as it would.
    """
    chance = random.Random(seed)
    told: list[str] = []
    for number, (key, gap) in enumerate(typing(chance)):
        if number == keys:
            return told
        if number % ELSEWHERE == 0:
            told.append(await go_elsewhere(app, pilot, chance) + ": ")
        await press(app, key)
        told[-1] += f"{key} " if len(key) > 1 else key
        if clock.pass_(gap) or gap >= SHORTEST_PAUSE_S:
            await pilot.pause()
            told[-1] += "…" if gap >= SHORTEST_PAUSE_S else ""
    return told
