"""A model on a llama-server beside the embedded one: what is evaluated, how soon it stops, and what a kill costs.

    python -m bench.servers [--exchanges 60] [--chats 40] [--alike 30] [--only native,pool,alike] [--json]

The servers are real ones, of the xllamacpp wheel with the default chat model, and end with the run. Four questions:

- **Exact**: a long chat through an Agent, whose replies are short so that it is long in exchanges. Of each prompt only
  what is new may be evaluated: what was said since, and the one token of a reply cut off at its most that no one has
  evaluated. Turns whose prompt was rewritten since the last one (`agent.rewrites`) are counted apart. The first token
  of late turns is compared with that of early ones of equal depth.
- **Pace and stop**: decoding through the generator and by a bare streaming request, by turns, with one prompt in one
  slot. Stop is timed to `Finished("stopped")`, and to the moment from which the server says that it has nothing to do.
- **Pool**: two servers that save slots into one folder; one is killed with SIGKILL in the middle of a reply. What a
  chat has to evaluate again is told apart for those whose slot was in the folder, and for all others.
- **Alike**: one conversation through the embedded model, the llama-server natively, and its /v1: the kinds of events
  in the log, the fields of the replies' audit, a tool's choice, and an object by a schema.
"""

import argparse
import asyncio
import json
import statistics
import tempfile
import time
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx2
from pydantic import BaseModel, ValidationError

from agent.agent import Agent
from agent.events import AgentEvent, Failed, ReplyEnded, TokensArrived, ToolAsked, ToolDone
from agent.home import Home
from agent.model_host import llama_loader
from agent.settings import Server, Settings
from agent.tools import CHOOSE, GUIDE, ToolChoice
from bench.report import Figure, report, say
from graph.events import Role, Sampling, TurnSaid
from graph.reader import LogReader
from models.protocols import Finished, FrameRole, Generator, Piece, SamplingParams
from models.servers.address import checked_address
from models.servers.client import ServerClient
from models.servers.llama_generator import LlamaServerGenerator, connect_llama
from models.servers.pace import STEP_S
from models.servers.pool import PoolGenerator
from models.servers.slot_files import FILES
from models.store import DEFAULT_CHAT, ModelStore
from tests.models.llama_server import Running, serving

SERVER = "den"
REPLY_TOKENS = 12
HIGH, LOW, CONTEXT = 1000, 500, 2048  # tokens: small, so that a short run meets several compactions
EARLY, LATE, EQUAL_DEPTH = range(3, 23), 20, 100
DECODED, DECODINGS, STOPS = 128, 7, 10
CHOICE_TOKENS = 640  # the longest text that a choice may have ends within them
PAGE = "The ferry leaves the harbour at nine in the morning, and the market opens an hour before that. " * 8
THINGS = ("tide pools", "lighthouses", "sourdough", "owls", "the moon", "old maps", "bridges", "bees", "glaciers")
ASKS = ("What is nice about {}?", "Who cares most for {}, and why?", "Name one thing to know about {}.")
AUDIT = frozenset(TurnSaid.model_fields) - {"text", "turn", "parent", "session"}


class Bird(BaseModel):
    """What every model is asked for."""

    bird: bool
    legs: int


@dataclass(frozen=True, slots=True)
class Turn:
    """A reply that ended: how soon it began, and what was evaluated of what; `new` is None behind a rewrite."""

    number: int
    first_ms: float
    evaluated: int
    depth: int
    new: int | None


def settings_of(model: str, *, most: int = REPLY_TOKENS, **more: object) -> Settings:
    """A chat in which nothing but what is measured asks the model."""
    values: dict[str, object] = {
        "model": model,
        "context": CONTEXT,
        "high_water": HIGH,
        "low_water": LOW,
        "reflect": False,
        "recall": False,
        "tools": "off",
        "kv_mb": 0,
        "sampling": Sampling(temperature=0, max_tokens=most),
    }
    return Settings.model_validate(values | more)


@asynccontextmanager
async def agent_on(home: Home, settings: Settings, model: Generator | None = None) -> AsyncIterator[Agent]:
    """An Agent on a home, with its model loaded."""
    home.root.mkdir(parents=True, exist_ok=True)
    loader = llama_loader(home, settings) if model is None else (lambda name, progress: model)
    agent = Agent(home, settings, client="bench", loader=loader)
    await agent.start(load_embedder=False)
    try:
        await agent.models.ready()
        yield agent
    finally:
        await agent.close()


async def said(
    agent: Agent, session: str | None, text: str, hear: Callable[[AgentEvent], None] = lambda event: None
) -> tuple[ReplyEnded, float]:
    """A message and its reply, with the milliseconds from one to the first words of the other."""
    start, first = time.perf_counter(), 0.0
    ended: ReplyEnded | None = None
    async with aclosing(agent.send(session, text)) as events:
        async for event in events:
            hear(event)
            match event:
                case TokensArrived() if event.text and not first:
                    first = (time.perf_counter() - start) * 1000
                case ReplyEnded():
                    ended = event
                case Failed():
                    raise SystemExit(f"{text!r} was not answered: {event.message}")
    if ended is None:
        raise SystemExit(f"{text!r} had no end")
    return ended, first


def message(number: int) -> str:
    thing = THINGS[number % len(THINGS)]
    return ASKS[number // len(THINGS) % len(ASKS)].format(thing) + f" ({number})"


# -- exact


async def exact(home: Home, address: str, exchanges: int) -> dict[str, Figure]:
    """One long chat on a server."""
    settings = settings_of(f"{ModelStore(home.models).path(DEFAULT_CHAT).stem}@{SERVER}", servers=one(address))
    turns: list[Turn] = []
    async with agent_on(home, settings) as agent:
        session: str | None = None
        before: ReplyEnded | None = None
        rewrites = 0
        for number in range(1, exchanges + 1):
            text = f"{PAGE} Keep that in mind." if number == 1 else message(number)
            end, first = await said(agent, session, text)
            known, rewrites = rewrites, sum(agent.rewrites.values())
            new = grown(before, end) if before is not None and known == rewrites else None
            turns.append(Turn(number, first, end.evaluated_tokens, end.prompt_tokens, new))
            if end.evaluated_tokens != new:
                say(f"{number:>4} {first:6.0f} ms, {end.evaluated_tokens} evaluated of {end.prompt_tokens}, {new} new")
            session, before = end.session, end
            await agent.idle()
    compared = [turn for turn in turns if turn.new is not None]
    behind = [turn for turn in turns[1:] if turn.new is None]
    early = [turn for turn in compared if turn.number in EARLY]
    late = [turn for turn in compared if turn.number > len(turns) - LATE]
    pairs = [(turn, min(early, key=lambda other: abs(other.depth - turn.depth))) for turn in late if early]
    pairs = [(turn, other) for turn, other in pairs if abs(turn.depth - other.depth) <= EQUAL_DEPTH]
    return {
        "exchanges": len(turns),
        "rewrites": rewrites,
        "turns_exact": sum(turn.evaluated == turn.new for turn in compared),
        "turns_not_exact": sum(turn.evaluated != turn.new for turn in compared),
        "turns_behind_a_rewrite": len(behind),
        "evaluated_behind_a_rewrite": max((turn.evaluated for turn in behind), default=None),
        "equal_depth_pairs": len(pairs),
        "first_token_early_ms": statistics.median(other.first_ms for _, other in pairs) if pairs else None,
        "first_token_late_ms": statistics.median(turn.first_ms for turn, _ in pairs) if pairs else None,
        "late_over_early": statistics.median(turn.first_ms / other.first_ms for turn, other in pairs)
        if pairs
        else None,
    }


def grown(before: ReplyEnded, end: ReplyEnded) -> int:
    """How many tokens of a prompt were not in the one before it or its reply, but for one that nobody evaluated."""
    cut = before.stop_reason == "length"
    return end.prompt_tokens - before.prompt_tokens - before.completion_tokens + cut


def one(address: str | list[str], **more: object) -> dict[str, Server]:
    return {SERVER: Server.model_validate({"address": address, **more})}


# -- pace and stop


async def paced(address: str) -> dict[str, Figure]:
    """Decoding and stopping, of a generator by itself."""
    client = ServerClient(checked_address(SERVER, address))
    model = await asyncio.to_thread(connect_llama, client, name=SERVER, context=4096)
    async with httpx2.AsyncClient(base_url=address, timeout=60, trust_env=False) as bare:
        try:
            return await decoding(model, bare) | await stopping(model, bare)
        finally:
            await model.close()


async def decoding(model: LlamaServerGenerator, bare: httpx2.AsyncClient) -> dict[str, Figure]:
    """Tokens a second of one prompt in one slot, by turns; the first of each warms it up."""
    prompt = opening(model, ("user", f"{PAGE} Count slowly from one to a hundred."))
    pairs: list[tuple[float, float]] = []
    for _ in range(DECODINGS + 1):
        ours = await generated(model, prompt)
        pairs.append((ours, await streamed(bare, model.slots.front.id, prompt)))
        say(f"decoding {pairs[-1][0]:.1f} tokens a second, bare {pairs[-1][1]:.1f}")
    return {
        "decode_per_s": statistics.median(ours for ours, _ in pairs[1:]),
        "decode_bare_per_s": statistics.median(theirs for _, theirs in pairs[1:]),
        "decode_over_bare": statistics.median(ours / theirs for ours, theirs in pairs[1:]),
    }


async def generated(model: LlamaServerGenerator, prompt: list[int]) -> float:
    """Tokens a second, from the first words of a reply to its end."""
    first = 0.0
    async with aclosing(model.generate(prompt, SamplingParams(temperature=0, max_tokens=DECODED))) as steps:
        async for step in steps:
            match step:
                case Piece() if not first:
                    first = time.perf_counter()
                case Finished():
                    return (step.completion_tokens - 1) / (time.perf_counter() - first)
    raise SystemExit("a reply had no end")


async def streamed(bare: httpx2.AsyncClient, slot: int, prompt: list[int]) -> float:
    """The same by nothing but a request."""
    body = {
        "prompt": prompt, "id_slot": slot, "n_predict": DECODED, "temperature": 0, "top_k": 40, "top_p": 0.95,
        "min_p": 0.05, "repeat_penalty": 1.1, "repeat_last_n": 64, "cache_prompt": True, "stream": True,
    }  # fmt: skip
    first, count = 0.0, 0
    async with bare.stream("POST", "/completion", json=body) as response:
        async for line in response.aiter_lines():
            if line.startswith("data:"):
                event = json.loads(line[5:])
                first = first or time.perf_counter()
                count = event.get("tokens_predicted", count)
    return (count - 1) / (time.perf_counter() - first)


async def stopping(model: LlamaServerGenerator, bare: httpx2.AsyncClient) -> dict[str, Figure]:
    """Milliseconds from a stop to its being told, and to the server's having nothing to do."""
    reading, decoded = [], []
    for number in range(STOPS):
        later_s = STEP_S * number / STOPS
        reading.append(await stopped(model, bare, f"{number}. " + PAGE * 8, later_s, decoding=False))
        decoded.append(await stopped(model, bare, f"{number}. Tell a very long story.", later_s, decoding=True))
        say("stopped {:.0f} and {:.0f} ms, decoding {:.0f} and {:.0f} ms".format(*reading[-1], *decoded[-1]))
    found: dict[str, Figure] = {"stops": STOPS}
    for name, times in (("reading", reading), ("decoding", decoded)):
        for what, place in (("told", 0), ("idle", 1)):
            found[f"stop_{name}_{what}_ms"] = statistics.median(each[place] for each in times)
            found[f"stop_{name}_{what}_worst_ms"] = max(each[place] for each in times)
    return found


async def stopped(
    model: LlamaServerGenerator, bare: httpx2.AsyncClient, text: str, later_s: float, *, decoding: bool
) -> tuple[float, float]:
    """Stop a reply so long after some of its prompt was read, or some of it came: not always between two steps."""
    prompt = opening(model, ("user", text))
    began, told, said = 0.0, 0.0, 0
    due: asyncio.TimerHandle | None = None

    def stop() -> None:
        nonlocal began
        began = time.perf_counter()
        model.stop()

    def stop_soon() -> None:
        nonlocal due
        due = due or asyncio.get_running_loop().call_later(later_s, stop)

    def progress(done: int, total: int) -> None:
        if not decoding and done > total // 4:
            stop_soon()

    async for step in model.generate(prompt, SamplingParams(max_tokens=1000, seed=1), progress=progress):
        match step:
            case Piece():
                said += len(step.tokens)
                if decoding and said > 8:
                    stop_soon()
            case Finished():
                told = time.perf_counter()
                if step.reason != "stopped":
                    raise SystemExit(f"a stop came too late: {step}")
    while any(each["is_processing"] for each in (await bare.get("/slots")).json()):
        pass
    return 1000 * (told - began), 1000 * (time.perf_counter() - began)


# -- pool


async def pool(home: Home, model: Path, chats: int) -> dict[str, Figure]:
    """Chats on two servers, one of which is killed while a reply comes from it."""
    folder = home.root / "slots"
    folder.mkdir(parents=True)
    with serving(model, states=folder) as first, serving(model, states=folder) as other:
        settings = settings_of(f"{model.stem}@{SERVER}", most=8, servers=one([first, other], states=True))
        load = llama_loader(home, settings)
        generator = await asyncio.to_thread(load, settings.model, lambda step: None)
        assert isinstance(generator, PoolGenerator)
        async with agent_on(home, settings, generator) as agent:
            return await killed(agent, generator, {host_of(each): each for each in (first, other)}, chats)


@dataclass(slots=True)
class Chat:
    """One of many: where it was answered, its last reply, and what was said in it."""

    session: str
    host: str
    end: ReplyEnded
    sent: list[str]


async def killed(agent: Agent, generator: PoolGenerator, servers: dict[str, Running], many: int) -> dict[str, Figure]:
    """A message in each chat; then another in each, until in the middle of these a server is killed; then all go on."""
    chats: list[Chat] = []
    for number in range(many):
        text = f"Chat {number}. {PAGE[: len(PAGE) // 2]} {message(number)}"
        end, _ = await said(agent, None, text)
        chats.append(Chat(end.session, generator._current.host, end, [text]))
    middle = many // 2
    for number, chat in enumerate(chats[:middle]):
        await again(agent, generator, chat, f"And besides: {message(number)}")
    dying, gone = chats[middle], chats[middle].host
    spare = [chat for chat in chats if chat is not dying]
    # The last ones are in the folder; the oldest of them gives its file to the one that is cut off and goes on first.
    carried = {chat.session for chat in chats[max(0, middle - FILES + 1) : middle] if chat.host == gone}
    say(f"killing {gone}, which has {sum(each.host == gone for each in chats)} of {many} chats")
    truncated = await cut_off(agent, dying, servers[gone])
    shares: dict[str, list[float]] = {"carried": [], "not_carried": [], "stayed": []}
    for chat in [dying, *reversed(spare[:middle]), *spare[middle:]]:  # the last ones first, as people go on
        before, last = chat.host, chat.end
        await again(agent, generator, chat, f"Go on: {message(len(chat.sent))}")
        if chat is dying:
            continue
        share = max(0, chat.end.evaluated_tokens - grown(last, chat.end)) / chat.end.prompt_tokens
        kind = "stayed" if before != gone else "carried" if chat.session in carried else "not_carried"
        shares[kind].append(share)
        say(f"{kind}: {chat.end.evaluated_tokens} evaluated of {chat.end.prompt_tokens}")
    lost = 0
    for chat in chats:
        path = await agent.chats.thread(chat.session)
        lost += len(set(chat.sent) - {turn.text for turn in path if turn.role == "user"})
        if path[-1].role != "assistant" or not path[-1].text or path[-1].error:
            raise SystemExit(f"the chat {chat.sent[0][:12]!r} did not go on")
    found: dict[str, Figure] = {
        "chats": many,
        "messages": sum(len(each.sent) for each in chats),
        "messages_lost": lost,
        "chats_gone_on": len(chats),
        "reply_cut_off_kept": int(truncated),
    }
    for kind, values in shares.items():
        found[f"chats_{kind}"] = len(values)
        found[f"evaluated_again_{kind}"] = statistics.median(values) if values else None
        found[f"evaluated_again_{kind}_worst"] = max(values, default=None)
    return found


async def again(agent: Agent, generator: PoolGenerator, chat: Chat, text: str) -> None:
    """Another message of a chat."""
    chat.sent.append(text)
    chat.end, _ = await said(agent, chat.session, text)
    await agent.idle()
    chat.host = generator._current.host


async def cut_off(agent: Agent, chat: Chat, server: Running) -> bool:
    """Kill the server of a chat as soon as words of a reply came; whether these were kept."""

    def kill(event: AgentEvent) -> None:
        if isinstance(event, TokensArrived) and event.text:
            server.kill()

    chat.sent.append("Tell a very long story.")
    own = Sampling(temperature=0, max_tokens=1000)
    await agent.use_settings(agent.settings.model_copy(update={"sampling": own}))
    end, _ = await said(agent, chat.session, chat.sent[-1], kill)
    await agent.use_settings(agent.settings.model_copy(update={"sampling": Sampling(temperature=0, max_tokens=8)}))
    chat.end = end
    return end.truncated and bool(end.text) and end.error is not None


def host_of(address: str) -> str:
    return checked_address(SERVER, address).host


# -- alike


@dataclass(frozen=True, slots=True)
class Talk:
    """What is left of a conversation."""

    kinds: tuple[str, ...]
    audit: frozenset[str]
    tools: int
    tools_failed: int
    choice: bool
    valid: bool


async def alike(home: Home, address: str, exchanges: int) -> dict[str, Figure]:
    """One conversation in three ways."""
    named = ModelStore(home.models).path(DEFAULT_CHAT).stem
    ways = {
        "embedded": settings_of(DEFAULT_CHAT),
        "native": settings_of(f"{named}@{SERVER}", servers=one(address, kind="llama")),
        "common": settings_of(f"{named}@{SERVER}", servers=one(address, kind="openai")),
    }
    talks = {}
    for way, settings in ways.items():
        began = time.perf_counter()
        talks[way] = await talked(Home(home.root / way, home.models), settings, exchanges)
        say(f"{way}: {len(talks[way].kinds)} events in {time.perf_counter() - began:.0f} s")
    found: dict[str, Figure] = {"alike_exchanges": exchanges, "alike_events": len(talks["embedded"].kinds)}
    for way in ("native", "common"):
        found[f"{way}_same_log"] = int(talks[way].kinds == talks["embedded"].kinds)
        found[f"{way}_same_audit"] = int(talks[way].audit == talks["embedded"].audit)
        if talks[way].audit != talks["embedded"].audit:
            say(f"{way} differs in {sorted(talks[way].audit ^ talks['embedded'].audit)}")
    for way, talk in talks.items():
        found |= {f"{way}_tools": talk.tools, f"{way}_tools_failed": talk.tools_failed}
        found |= {f"{way}_tool_choice_valid": int(talk.choice), f"{way}_schema_valid": int(talk.valid)}
    return found


async def talked(home: Home, settings: Settings, exchanges: int) -> Talk:
    """A conversation, and beside it a chat with tools and an object."""
    generator = await asyncio.to_thread(llama_loader(home, settings), settings.model, lambda step: None)
    asked: list[AgentEvent] = []
    async with agent_on(home, settings, generator) as agent:
        session = None
        for number in range(exchanges):
            end, _ = await said(agent, session, message(number))
            await agent.idle()
            session = end.session
        head = (await agent.status()).log_head
        await agent.use_settings(agent.settings.model_copy(update={"tools": "on"}))
        for text in ("What did I ask you about bees?", "Which conversations did we have lately?"):
            await said(agent, None, text, lambda event: asked.append(event))
            await agent.idle()
        choice = await chosen(generator)
        asked_for = await asyncio.to_thread(opening, generator, ("user", "Is a heron a bird? As JSON."))
        valid = isinstance(await generator.structured(asked_for, Bird), Bird)
    reader = LogReader.open(home.root / "memory")
    try:
        events = [each.event for each in reader.events(limit=head)]
    finally:
        reader.close()
    replies = [each for each in events if isinstance(each, TurnSaid) and each.role is Role.ASSISTANT]
    audit = frozenset(name for name in AUDIT if all(getattr(each, name) is not None for each in replies))
    done = [each for each in asked if isinstance(each, ToolDone)]
    unanswered = sum(isinstance(each, ToolAsked) for each in asked) - len(done)
    return Talk(tuple(each.kind for each in events), audit, len(done), unanswered, choice, valid)


async def chosen(generator: Generator) -> bool:
    """Whether a model that is told of the tools chooses one, or to answer, in the form that a choice has."""
    told: tuple[tuple[FrameRole, str], ...] = (("system", GUIDE), ("user", "What did we say about owls?"))
    prompt = await asyncio.to_thread(opening, generator, *told, ("user", CHOOSE))
    text = ""
    async for step in generator.generate(prompt, SamplingParams(max_tokens=CHOICE_TOKENS), schema=ToolChoice):
        text += step.text if isinstance(step, Piece) else ""
    try:
        ToolChoice.model_validate_json(text)
    except ValidationError:
        say(f"no choice of a tool: {text[:80]!r}")
        return False
    return True


def opening(generator: Generator, *messages: tuple[FrameRole, str]) -> list[int]:
    """A prompt that asks for a reply to these."""
    framed = (generator.frame(role, text, first=not number) for number, (role, text) in enumerate(messages))
    return [*(token for frame in framed for token in frame), *generator.reply_open()]


def measure(options: argparse.Namespace) -> dict[str, Figure]:
    """All figures."""
    models = Home.resolve().models
    model = ModelStore(models).path(DEFAULT_CHAT)
    figures: dict[str, Figure] = {}
    with tempfile.TemporaryDirectory(prefix="clew-servers-") as folder:
        root = Path(folder)
        if {"native", "alike"} & options.only:
            with serving(model) as address:
                if "native" in options.only:
                    figures |= asyncio.run(exact(Home(root / "exact", models), address, options.exchanges))
                    figures |= asyncio.run(paced(address))
                if "alike" in options.only:
                    figures |= asyncio.run(alike(Home(root / "alike", models), address, options.alike))
        if "pool" in options.only:
            figures |= asyncio.run(pool(Home(root / "pool", models), model, options.chats))
    return figures


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m bench.servers")
    parser.add_argument("--exchanges", type=int, default=60)
    parser.add_argument("--chats", type=int, default=40)
    parser.add_argument("--alike", type=int, default=30, help="exchanges of the conversation that is had in three ways")
    parser.add_argument("--only", type=lambda text: set(text.split(",")), default={"native", "pool", "alike"})
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    report(measure(options), as_json=options.json)


if __name__ == "__main__":
    main()
