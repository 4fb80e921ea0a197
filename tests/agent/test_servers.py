"""An agent whose models are on servers: what happens when one fails, who stands in, who judges, what is kept of it."""

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from agent.agent import Agent
from agent.events import AgentEvent, Failed, Notice, ReplyEnded, ReplyStarted, Warned
from agent.home import Home
from agent.model_host import llama_loader
from agent.settings import Server, Settings, write_server
from models.errors import ServerError, ServerLost, ServerUnreachable, UnknownModel
from models.protocols import Finished, ModelInfo, Piece, ReadProgress, SamplingParams
from tests.agent.conftest import collect, opened
from tests.fakes import FakeGenerator
from tests.models.llama_server import serving

GONE = ServerUnreachable("den", "nobody answers at den:8080", "Start it.")
LOST = ServerLost("den", "the connection ended in the middle", "Try again.")
LOST.evaluated = 7


class Failing(FakeGenerator):
    """On a server that fails with `error`, after `first` words of its reply."""

    def __init__(self, error: ServerError, *, first: int = 0) -> None:
        super().__init__("One two three four.", name="big@den")
        self._info = ModelInfo("big@den", Path("big@den"), "fake", 0, 8192, "fake", away="den:8080")
        self.error = error
        self.first = first

    async def generate(
        self,
        prompt: Sequence[int],
        params: SamplingParams,
        *,
        schema: type[BaseModel] | None = None,
        progress: ReadProgress | None = None,
    ) -> AsyncGenerator[Piece | Finished, None]:
        said = 0
        async for step in super().generate(prompt, params, schema=schema, progress=progress):
            if said >= self.first:
                raise self.error
            said += 1
            yield step


@asynccontextmanager
async def running(
    models: dict[str, Callable[[], FakeGenerator]], **settings: Any
) -> AsyncIterator[tuple[Agent, list[Notice]]]:
    def load(name: str, progress: object) -> FakeGenerator:
        return models[name]()

    agent = Agent(Home.resolve(), Settings(reflect=False, **settings), client="test", loader=load)
    told: list[Notice] = []
    heard = agent.notices()

    await agent.start()
    try:
        yield agent, told
    finally:
        await agent.close()
        told += [notice async for notice in heard]


def refused() -> FakeGenerator:
    raise GONE


def of(events: list[AgentEvent], kind: type[Any]) -> list[Any]:
    return [event for event in events if isinstance(event, kind)]


@pytest.mark.parametrize("big", [refused, lambda: Failing(GONE)], ids=["at loading", "at asking"])
async def test_where_nothing_came_of_a_server_the_stand_in_answers(big: Callable[[], FakeGenerator]) -> None:
    models = {"big@den": big, "small": lambda: FakeGenerator("Here I am.", name="small")}
    async with running(models, model="big@den", stand_in="small") as (agent, told):
        events = await collect(agent.send(None, "Hello?"))
        (end,) = of(events, ReplyEnded)
        assert (end.text, end.error) == ("Here I am.", None)
        assert {each.reply_turn for each in of(events, ReplyStarted)} == {end.reply_turn}
        path = await agent.chats.thread(end.session)
        found = [(turn.role, turn.model, turn.host) for turn in path]
        assert found == [("user", None, None), ("assistant", "small", None)]
    assert f"{GONE} small answers instead." in [each.message for each in told if isinstance(each, Warned)]


async def test_without_a_stand_in_the_message_waits_and_says_why() -> None:
    up: list[Callable[[], FakeGenerator]] = [refused, lambda: FakeGenerator("Back again.", name="big@den")]
    models = {"big@den": lambda: up[0]()}
    async with running(models, model="big@den") as (agent, _):
        events = await collect(agent.send(None, "Hello?"))
        (failed,) = of(events, Failed)
        assert "nobody answers at den:8080" in failed.message
        up.pop(0)
        session = events[0].session  # type: ignore[union-attr]
        (end,) = of(await collect(agent.retry(session)), ReplyEnded)
        assert end.text == "Back again."


@pytest.mark.parametrize("stand_in", ["", "small"])
async def test_what_came_before_a_loss_is_kept_as_truncated_and_names_the_host(stand_in: str) -> None:
    models = {"big@den": lambda: Failing(LOST, first=2), "small": lambda: FakeGenerator("Here I am.", name="small")}
    async with running(models, model="big@den", stand_in=stand_in) as (agent, _):
        (end,) = of(await collect(agent.send(None, "Count.")), ReplyEnded)
        assert end.text
        assert "One two three four.".startswith(end.text)
        assert end.truncated
        assert "the connection ended in the middle" in end.error
        reply = (await agent.chats.thread(end.session))[-1]
        assert (end.evaluated_tokens, end.first_token_ms is not None) == (7, True)
        assert (reply.text, reply.stop_reason, reply.host) == (end.text, "failed", "den:8080")


async def test_a_judge_gives_titles_and_one_that_cannot_be_used_is_told_once() -> None:
    judge = FakeGenerator(name="judge@den", answers=[{"title": "The old harbour town"}])
    models: dict[str, Callable[[], FakeGenerator]] = {
        "chat": lambda: FakeGenerator("Nice.", name="chat", answers=[{"title": "by the chat"}, {"title": "another"}]),
        "judge@den": lambda: judge,
        "gone@den": refused,
    }
    async with running(models, model="chat", judge="judge@den") as (agent, told):
        (first,) = of(await collect(agent.send(None, "Tell me about the old harbour town.")), ReplyEnded)
        await agent.idle()
        assert (await agent.chats.get(first.session)).name == "The old harbour town"
        await agent.use_settings(agent.settings.model_copy(update={"judge": "gone@den"}))
        assert judge.closed
        for _ in range(2):
            (other,) = of(await collect(agent.send(None, "And of the new lighthouse there.")), ReplyEnded)
            await agent.idle()
            assert (await agent.chats.get(other.session)).name != "The old harbour town"
    warned = [each.message for each in told if isinstance(each, Warned)]
    assert [each for each in warned if each.startswith("The judge cannot be used")] == [
        f"The judge cannot be used: {GONE}"
    ]


async def test_what_is_deleted_is_on_no_servers_disk() -> None:
    model = FakeGenerator("Nice.", name="chat")
    async with running({"chat": lambda: model}, model="chat") as (agent, _):
        (end,) = of(await collect(agent.send(None, "Hello.")), ReplyEnded)
        await agent.idle()
        before = model.forgot
        await agent.plans.carry_out(await agent.plans.hide(end.turn))
        assert model.forgot > before


async def test_no_model_is_told_where_it_runs() -> None:
    models: dict[str, Callable[[], FakeGenerator]] = {"big@den": lambda: Failing(LOST, first=99)}
    async with running(models, model="big@den") as (agent, _):
        await collect(agent.send(None, "Where are you?"))
        model = agent._host.current
        assert isinstance(model, FakeGenerator)
        assert "runs on" not in model.detokenize(model.prompts[0])


async def test_a_server_that_was_put_into_the_settings_meanwhile_is_known_by_its_name() -> None:
    loaded: list[str] = []

    def load(name: str, progress: object) -> FakeGenerator:
        loaded.append(name)
        assert name != "tiny@den" or "den" in agent.settings.servers
        return FakeGenerator(name=name)

    async with opened(Settings(model="chat", reflect=False), load) as agent:
        write_server(Home.resolve().config, "den", Server(address="http://localhost:8080"))
        await agent.models.use("tiny@den")
        assert loaded == ["chat", "tiny@den"]
        assert agent.settings.model == "tiny@den"


def test_a_server_that_is_none_is_told_by_its_name() -> None:
    with pytest.raises(UnknownModel, match="no server 'gone' in the settings"):
        llama_loader(Home.resolve(), Settings())("tiny@gone", lambda _: None)


@pytest.fixture(scope="module")
def address(chat_gguf: Path) -> Iterator[str]:
    with serving(chat_gguf) as at:
        yield at


@pytest.mark.model
@pytest.mark.parametrize("kind", ["llama", "openai"])
async def test_a_chat_by_a_real_server_is_kept_as_one_by_the_embedded_model(address: str, kind: str) -> None:
    settings = Settings(
        model="SmolLM2-135M-Instruct.Q4_1@den",
        servers={"den": Server(address=address, kind=kind)},  # type: ignore[arg-type]
        reflect=False,
        sampling={"max_tokens": 12, "temperature": 0},  # type: ignore[arg-type]
    )
    async with opened(settings) as agent:
        session, before = None, 0
        for said in ("My boat is called Heron.", "What is it called?", "Thank you."):
            (end,) = of(await collect(agent.send(session, said)), ReplyEnded)
            assert end.text
            assert 0 < end.evaluated_tokens <= end.prompt_tokens
            assert end.first_token_ms is not None
            if kind == "llama" and session is not None:
                assert end.evaluated_tokens < end.prompt_tokens - before + 2
            session, before = end.session, end.prompt_tokens
        path = await agent.chats.thread(end.session)
        assert [turn.role for turn in path] == ["user", "assistant"] * 3
        assert {turn.model for turn in path if turn.role == "assistant"} == {settings.model}
        assert {turn.host for turn in path} == {None}  # it is this machine
