"""What references cost: a chat that refers to 100 pages beside one that refers to none, and a source that is silent.

    python -m bench.references [--references 100] [--exchanges 24] [--json]

Both chats run through the real Agent with the real model, by turns, the same message in each. The pages are on a server
of this machine; by the first measured message all of them are read, and those that there is room for stand in the
prompt. The chat without begins with a text of its own, so that both are equally deep. Then a third chat refers to a
page that never comes: its message is to be answered without it.
"""

import argparse
import asyncio
import random
import statistics
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import aclosing, contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from agent.agent import Agent
from agent.events import RecallDone, ReplyEnded, TokensArrived
from agent.home import Home
from agent.settings import Settings, as_given
from bench.report import Figure, percentile, report, say
from graph.events import Sampling

PAGE_WORDS = 350
REPLY_TOKENS = 24
CHAT = (
    "Good morning, how do you do?",
    "Tell me something nice about a walk in the rain.",
    "What would you cook for three friends on a Friday?",
    "Is it better to read in the morning or at night?",
    "Give me one good reason to learn to whistle.",
    "What makes a letter worth keeping?",
)
OF_PAGES = "What do the notes say about the {} of the {}?"
THINGS = ("keeper", "engine", "bridge", "garden", "mirror", "anchor", "ladder", "kettle", "orchard", "chapel")
PLACES = ("harbour", "mill", "abbey", "station", "quarry", "island", "market", "library", "tower", "ferry")
FILLING = (
    "Nobody can say when this was written down, nor by whom, but it has been copied many times since.",
    "In the winter of that year the road was closed, and what was needed came by boat.",
    "The old people remember it otherwise, and both accounts are kept here side by side.",
    "A drawing of it hangs in the hall, where the light does it no good.",
    "It was repaired twice, at some expense, and has not been touched since.",
)


def page(number: int) -> str:
    """A page of its own, the same at each run."""
    chance = random.Random(number)
    thing, place = THINGS[number % len(THINGS)], PLACES[number // len(THINGS) % len(PLACES)]
    fact = f"The {thing} of the {place} is painted {chance.choice(('red', 'blue', 'green', 'white'))} on feast days."
    sentences, words = [fact], 0
    while words < PAGE_WORDS:
        sentences.append(chance.choice(FILLING))
        words += len(sentences[-1].split())
    paragraphs = ["\n".join(sentences[at : at + 5]) for at in range(0, len(sentences), 5)]
    return f"Notes on the {thing} of the {place}\n\n" + "\n\n".join(paragraphs)


class Pages(BaseHTTPRequestHandler):
    """Serves pages by their numbers; of `never` no answer comes until `over`."""

    over = threading.Event()

    def do_GET(self) -> None:
        if self.path == "/never":
            self.over.wait(60)
            return
        body = page(int(self.path.strip("/"))).encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/plain; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing is told."""


@contextmanager
def served() -> Iterator[str]:
    """A server of pages for as long as it is used; where it is."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Pages)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        Pages.over.set()
        server.shutdown()


@dataclass(frozen=True, slots=True)
class Answer:
    """One reply: ms to the first text, from sending, and sizes in tokens; `read` counts the references it was given."""

    session: str
    first_ms: float
    evaluated: int
    depth: int
    read: int


async def ask(agent: Agent, session: str | None, text: str, *references: str) -> Answer:
    """Send one message, and time what its user waits for."""
    start, first, read = time.perf_counter(), None, 0
    async with aclosing(agent.send(session, text, references=references)) as events:
        async for event in events:
            if isinstance(event, RecallDone):
                read = event.read
            if isinstance(event, TokensArrived) and first is None and event.text:
                first = (time.perf_counter() - start) * 1000
            if isinstance(event, ReplyEnded):
                now = (time.perf_counter() - start) * 1000
                return Answer(event.session, first or now, event.evaluated_tokens, event.prompt_tokens, read)
    raise SystemExit("a message was not answered")


async def compared(agent: Agent, at: str, count: int, exchanges: int) -> dict[str, Figure]:
    """The two chats, by turns."""
    addresses = [f"{at}/{number}" for number in range(count)]
    start = time.perf_counter()
    began = await ask(agent, None, "Here are my notes.", *addresses)
    await agent.references.read(began.session)
    reading_s = time.perf_counter() - start
    brought = await ask(agent, began.session, CHAT[0])
    await agent.idle()
    filling = " ".join(FILLING * (1 + brought.depth // 90))
    other = await ask(agent, None, f"Here are my notes. {filling[: brought.depth * 4]}")
    await agent.idle()
    other = await ask(agent, other.session, CHAT[0])
    await agent.idle()
    plain: list[tuple[Answer, Answer]] = []
    asking: list[tuple[Answer, Answer]] = []
    for number in range(exchanges):
        asks = number % 4 == 3
        text = OF_PAGES.format(THINGS[number % 10], PLACES[number // 10 % 10]) if asks else CHAT[number % len(CHAT)]
        pair = []
        for session in (began.session, other.session):
            pair.append(await ask(agent, session, text))
            await agent.idle()
        (asking if asks else plain).append((pair[0], pair[1]))
        told = "  ".join(
            f"{each.first_ms:6.0f} ms, {each.evaluated:4} of {each.depth:5}, read {each.read}" for each in pair
        )
        say(f"{number + 1:>3}  {told}")
    return {
        "references": count,
        "read_s": reading_s,
        "first_message_s": began.first_ms / 1000,
        **figures("plain", plain),
        **figures("asking", asking),
        **figures("all", plain + asking),
    }


def figures(name: str, pairs: list[tuple[Answer, Answer]]) -> dict[str, Figure]:
    """Of messages of one sort: medians with and without references, and the ratio of each pair in the middle."""
    ratios = [one.first_ms / other.first_ms for one, other in pairs]
    return {
        f"{name}_with_ms": statistics.median(one.first_ms for one, _ in pairs),
        f"{name}_without_ms": statistics.median(other.first_ms for _, other in pairs),
        f"{name}_ratio": statistics.median(ratios),
        f"{name}_ratio_p95": percentile(ratios, 0.95),
        f"{name}_new_tokens": statistics.median(one.evaluated - other.evaluated for one, other in pairs),
    }


async def run(options: argparse.Namespace, folder: Path) -> dict[str, Figure]:
    """All of it; the figures."""
    with served() as at:
        settings: Settings = as_given(
            {
                "sampling": Sampling(seed=7, max_tokens=REPLY_TOKENS),
                "reflect": False,
                "recall": False,  # whose quotes would be other ones in each of the chats
                "hosts": "own:127.0.0.1",
            }
        )
        agent = Agent(Home(folder, Home.resolve().models), settings, client="bench")
        await agent.start()
        await agent.models.ready()
        await agent.idle()
        found = await compared(agent, at, options.references, options.exchanges)
        alone = await ask(agent, None, "Good evening to you.")
        slow = await ask(agent, None, "Good evening to you.", f"{at}/never")
        again = await ask(agent, slow.session, "And what now?")
        await agent.close()
    return found | {
        "alone_first_s": alone.first_ms / 1000,
        "slow_source_first_s": slow.first_ms / 1000,
        "slow_source_again_s": again.first_ms / 1000,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--references", type=int, default=100)
    parser.add_argument("--exchanges", type=int, default=24)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        report(asyncio.run(run(options, Path(folder))), as_json=options.json)


if __name__ == "__main__":
    main()
