"""kill -9 of the service at random moments with three faces attached: nothing is lost or doubled, nobody hangs.

    python -m bench.kill_service [--n 200] [--starters 20] [--longest 4.0] [--seed 1] [--json]

One face chats, one watches that chat, one reads and searches. The moments fall anywhere, also while the next service
starts. Before that so many starters come at once, in processes of their own, and must all meet the same service.
Exits 1 if a promise was broken.
"""

import argparse
import asyncio
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import aclosing, asynccontextmanager, closing, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path

import psutil

from agent.errors import AgentError
from agent.events import Failed, ReplyEnded, TurnAccepted
from agent.home import Home
from agent.service.client import AgentClient
from agent.service.starting import Starter
from agent.settings import Settings
from bench.leaving import services
from bench.report import percentile, report, say
from graph.errors import MemoryFailure
from graph.reader import LogReader

STARTER = """
import asyncio, sys
from pathlib import Path
from agent.home import Home
from agent.service.client import AgentClient
from agent.service.starting import Starter
from agent.settings import Settings

async def main():
    home = Home(Path(sys.argv[1]), Path(sys.argv[2]))
    client = AgentClient(Starter(home).connect, Settings(), name="starter")
    await client.start()
    print((await (await client._at()).ask("health", {}))["pid"], flush=True)
    await asyncio.to_thread(sys.stdin.readline)
    await client.close()

asyncio.run(main())
"""
PATIENCE_S = 60.0  # in which whatever is asked is answered, or fails
LISTED = 5_000
MESSAGES = ("Tell me a long story about a lighthouse.", "Explain how bread is baked.", "List ten animals.")
GOES_ON = (AgentError, MemoryFailure, OSError)


@dataclass(slots=True)
class Toll:
    """What the kills did; `worst_back_s` is how long a face was without a service that answers."""

    starters: int = 0
    services: int = 0
    kills: int = 0
    accepted: int = 0
    lost: int = 0
    doubled: int = 0
    hung: int = 0
    doctor_failures: int = 0
    back_p50_s: float = 0.0
    back_p95_s: float = 0.0
    seconds: float = 0.0
    first_failure: str = ""

    @property
    def clean(self) -> bool:
        """Whether no promise was broken."""
        return not (self.lost or self.doubled or self.hung or self.doctor_failures or self.services > 1)


@dataclass(slots=True)
class Faces:
    """Three of them on one home, until `over`."""

    home: Home
    toll: Toll
    over: asyncio.Event = field(default_factory=asyncio.Event)
    heard: asyncio.Event = field(default_factory=asyncio.Event)  # a message was accepted
    session: str | None = None
    accepted: dict[str, str] = field(default_factory=dict)  # the messages by their turns
    back: list[float] = field(default_factory=list)

    async def chat(self, chance: random.Random) -> None:
        """Say one thing after the other, each when the reply to the last has ended."""
        async with self._client("chat") as client:
            number = 0
            while not self.over.is_set():
                number += 1
                await self._timely("chatting", self._say(client, f"{chance.choice(MESSAGES)} ({number})"))

    async def _say(self, client: AgentClient, text: str) -> None:
        async with aclosing(client.send(self.session, text)) as events:
            async for event in events:
                if isinstance(event, TurnAccepted):
                    self.session = event.session
                    self.accepted[event.turn] = text
                    self.heard.set()
                if isinstance(event, ReplyEnded | Failed) or self.over.is_set():
                    return

    async def go_on(self, least_s: float) -> None:
        """Let what runs go on to its end, and until another message was accepted where that takes longer."""
        self.heard.clear()
        await asyncio.sleep(least_s)
        with suppress(TimeoutError):
            async with asyncio.timeout(PATIENCE_S):
                await self.heard.wait()

    async def watch(self) -> None:
        """Follow that chat, and again where the service was lost."""
        async with self._client("watcher") as client:
            while not self.over.is_set():
                if self.session is None:
                    await asyncio.sleep(0.05)
                    continue
                async with aclosing(client.watch(self.session)) as events:
                    async for _ in events:
                        if self.over.is_set():
                            return

    async def read(self) -> None:
        """Look at the chat and search, without a pause; how long nothing came of that is noted."""
        async with self._client("reader") as client:
            since: float | None = None
            while not self.over.is_set():
                before = time.monotonic()
                try:
                    await self._timely("reading", self._look(client))
                except GOES_ON:
                    since = since or before
                    await asyncio.sleep(0.02)
                    continue
                if since is not None:
                    self.back.append(time.monotonic() - since)
                    since = None
                await asyncio.sleep(0.05)

    async def _look(self, client: AgentClient) -> None:
        if self.session is not None:
            await client.chats.thread(self.session, limit=40)
        await client.search.recall("lighthouse")

    async def _timely(self, what: str, asked: Coroutine[None, None, None]) -> None:
        try:
            async with asyncio.timeout(PATIENCE_S):
                await asked
        except TimeoutError:
            self.toll.hung += 1
            note(self.toll, f"{what} took longer than {PATIENCE_S:.0f} s")

    @asynccontextmanager
    async def _client(self, name: str) -> AsyncIterator[AgentClient]:
        """A face, which begins when it can."""
        client = AgentClient(Starter(self.home).connect, Settings(), name=name)
        try:
            while not self.over.is_set():
                with suppress(*GOES_ON):
                    await client.start()
                    break
            yield client
        finally:
            await client.close()


async def kill_many(
    home: Home, *, kills: int, seed: int, longest_s: float, tell: Callable[[str], None] = lambda line: None
) -> Toll:
    """Kill the service so often, each up to `longest_s` seconds after the last time; then hold the log against it."""
    chance, toll, began = random.Random(seed), Toll(), time.monotonic()
    faces = Faces(home, toll)
    tasks = [asyncio.create_task(each) for each in (faces.chat(random.Random(seed)), faces.watch(), faces.read())]
    while toll.kills < kills and not any(task.done() for task in tasks):
        await asyncio.sleep(chance.uniform(0, longest_s))
        found = services(home.root)
        for process in found:
            with suppress(psutil.NoSuchProcess):
                process.kill()
                toll.kills += 1
        if toll.kills % 10 == 0:
            tell(f"{toll.kills} of {kills} killed, {len(faces.accepted)} messages accepted, {toll.hung} hung")
    await faces.go_on(longest_s)
    faces.over.set()
    async with asyncio.timeout(2 * PATIENCE_S):
        ended = await asyncio.gather(*tasks, return_exceptions=True)
    for error in (each for each in ended if isinstance(each, BaseException)):
        toll.hung += 1
        note(toll, f"a face ended with {type(error).__name__}: {error}")
    await end(home)
    count(home, faces.accepted, toll)
    toll.accepted = len(faces.accepted)
    if faces.back:
        toll.back_p50_s, toll.back_p95_s = percentile(faces.back, 0.5), percentile(faces.back, 0.95)
    toll.seconds = round(time.monotonic() - began, 1)
    return toll


async def end(home: Home) -> None:
    """Have the service end, also one that is only starting."""
    while services(home.root):
        await Starter(home).retire()
        await asyncio.sleep(0.1)


def count(home: Home, accepted: dict[str, str], toll: Toll) -> None:
    """Hold the log against what was accepted, and ask the doctor."""
    with closing(LogReader.open(home.memory)) as reader:
        kept = {each.turn.id: each.turn.text or "" for each in reader.exchanges(limit=LISTED)}
    texts = Counter(kept.values())
    toll.lost = sum(kept.get(turn) != text for turn, text in accepted.items())
    toll.doubled = sum(many - 1 for many in texts.values())
    environment = os.environ | {"CLEW_HOME": str(home.root), "CLEW_MODELS": str(home.models)}
    command = [sys.executable, "-m", "tui", "doctor", "--json", "--no-model"]
    ended = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, env=environment, check=False)
    toll.doctor_failures += not (ended.returncode == 0 and json.loads(ended.stdout)["ok"] is True)
    for trouble in (toll.lost and "an accepted message is not kept", toll.doubled and "a message is kept twice"):
        if trouble:
            note(toll, trouble)
    if toll.doctor_failures:
        note(toll, (ended.stdout + ended.stderr).decode("utf-8", "replace")[-1000:])


def start_many(home: Home, starters: int) -> list[int | None]:
    """So many starters at once; the process that each of them met, None where it met none."""
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", STARTER, str(home.root), str(home.models)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(starters)
    ]
    met: list[int | None] = []
    for process in processes:
        assert process.stdout is not None
        said = process.stdout.readline().strip()
        met.append(int(said) if said else None)
    for process in processes:
        process.communicate("\n")
    return met


def note(toll: Toll, words: str) -> None:
    toll.first_failure = toll.first_failure or words


def main() -> int:
    """Run the benchmark and print its figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--n", type=int, default=200)
    parser.add_argument("--starters", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--longest", type=float, default=4.0, help="seconds between two kills, at most")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="clew-kill-") as folder:
        home = Home(Path(folder), Home.resolve().models)
        met = start_many(home, options.starters)
        say(f"{options.starters} starters met {Counter(met)}")
        asyncio.run(end(home))
        toll = asyncio.run(kill_many(home, kills=options.n, seed=options.seed, longest_s=options.longest, tell=say))
        toll.starters, toll.services = options.starters, len(set(met))
        if None in met:
            toll.hung += met.count(None)
            note(toll, "a starter met no service")
    report(asdict(toll), as_json=options.json)
    return 0 if toll.clean else 1


if __name__ == "__main__":
    sys.exit(main())
