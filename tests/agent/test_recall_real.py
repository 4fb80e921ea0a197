"""The whole way with both real models: facts told in one chat are put before the model in another, by their meaning."""

from collections.abc import Callable
from pathlib import Path

from agent.agent import Agent
from agent.events import ModelProgress, RecallDone, ReplyEnded
from agent.home import Home
from agent.model_host import LoadedEmbedder
from agent.quoting import HEADER
from agent.settings import Settings
from models.embedder import load_embedder
from models.generator import LlamaGenerator, load_generator
from tests.agent.conftest import collect
from tests.agent.test_recall import only
from tests.examples import few

SETTINGS = Settings.model_validate(
    {"context": 2048, "high_water": 1500, "low_water": 800, "tools": "off", "kv_mb": 0, "reflect": False}
    | {"sampling": {"temperature": 0, "max_tokens": 4}}
)
FACTS = (
    "My dog Biscuit is a brown beagle.",
    "I work as a nurse at the harbour hospital.",
    "We fly to Lisbon in May with my sister Ana.",
)


async def agent_of(chat: Path, embedder: Path) -> tuple[Agent, LlamaGenerator]:
    generator = load_generator(
        chat, name="smollm2-135m", context=SETTINGS.context, memo=Home.resolve().probed
    )  # its own: the agent closes it

    def loader(name: str, progress: Callable[[ModelProgress], None]) -> LlamaGenerator:
        return generator

    def embedder_loader(name: str) -> LoadedEmbedder:
        return LoadedEmbedder(load_embedder(embedder, name=name, memo=Home.resolve().probed), f"{name}@test")

    agent = Agent(Home.resolve(), SETTINGS, client="test", loader=loader, embedder_loader=embedder_loader)
    await agent.start()
    await agent.idle()
    return agent, generator


async def test_what_one_chat_was_told_another_recalls_also_after_restarts(chat_gguf: Path, embed_gguf: Path) -> None:
    agent, generator = await agent_of(chat_gguf, embed_gguf)
    session: str | None = None
    for fact in FACTS:
        session = only(await collect(agent.send(session, fact)), ReplyEnded).session
        await agent.idle()
    assert session is not None
    told = {turn.text: turn.id for turn in await agent.chats.thread(session)}
    asked_of = list(zip(("What is my puppy called?", "Which job do I have?"), FACTS, strict=False))
    for question, fact in asked_of[-few(2) :]:
        events = await collect(agent.send(None, question))
        recalled, ended = only(events, RecallDone), only(events, ReplyEnded)
        await agent.idle()
        assert told[fact] in [hit.id for hit in recalled.hits]
        hit = next(hit for hit in recalled.hits if hit.id == told[fact])
        assert "semantic" in [reason.strategy for reason in hit.reasons]
        (stored,) = [item for item in (await agent.chats.thread(ended.session))[-1].recalled if item.id == told[fact]]
        assert stored.ranks == {reason.strategy: reason.rank for reason in hit.reasons}
    log = next(log for key, log in agent._prompts._logs.items() if key.session == ended.session)
    asked = log.tokens[: log.marks[1].start]
    text = generator.detokenize(asked)
    assert f"\n{HEADER}\n" in text
    assert f": {FACTS[1].replace('I work', 'You work')}\nuser\n{question}\n" in text
    for nothing in ("ok thanks", "What is the capital of Mongolia?")[-few(2) :]:
        assert only(await collect(agent.send(None, nothing)), RecallDone).hits == ()
        await agent.idle()
    await agent.close()

    agent, _ = await agent_of(chat_gguf, embed_gguf)
    assert only(await collect(agent.send(ended.session, "ok thanks")), RecallDone).hits == ()
    log = next(log for key, log in agent._prompts._logs.items() if key.session == ended.session)
    assert log.tokens[: len(asked)] == asked
    assert log.quoted == {log.marks[0].turn: [hit.id for hit in recalled.hits]}
    await agent.close()
