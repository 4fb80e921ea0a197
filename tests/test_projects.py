"""Projects are apart: what is said in one, or in none, leaves by no way into another; what is for all is seen in each.

In each place, two projects and outside of them, things are said, learned, remembered, pinned, written and read in, each
with a nonce of its own. Then every way out is taken from every place, and looked through for the nonces of others.
"""

import json
import re
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar, cast, get_args

import pytest

from agent import tools as looks
from agent.agent import Agent
from agent.errors import AgentError
from agent.events import RecallDone, ReplyEnded, TurnAccepted
from agent.home import Home
from agent.quoting import mark_of
from agent.settings import Settings
from agent.tools import Correct, Look, OpenTurn, Toolbox, WriteBlock
from graph.errors import NotFound
from graph.events import CoreWritten, EntityNoted, Event, ObservationKind, ObservationReinforced, TurnRated
from graph.ids import new_id
from graph.readings.newest import NODE_KINDS
from graph.values import Filters, Wanted
from graph.visibility import EVERYONE, Viewer
from tests.agent.conftest import collect
from tests.fakes import FakeGenerator
from tests.graph.teach import observed
from tui.mcp import serializers
from tui.mcp.tools import Tools

PLAIN = Settings(embedder="none", tools="off", kv_mb=0, reflect=False, recall_limit=20, recall_tokens=4_000)
PLACES: tuple[str | None, ...] = (None, "boats", "rails")
NONCE = re.compile(r"zq[a-z]+\d+")
ASKED = "What of the marmalade, the harbour and the jar?"
OF_THE_MEMORY = ("What did we talk about recently?", "What are the themes across all our chats?")
NOW = datetime(2030, 1, 1, tzinfo=UTC)
SHARED = ("memories", "blocks", "pinned memories", "newest nodes", "mcp recall", "mcp query MATCH (n) RETURN n")


@dataclass
class Tellers:
    """Says things in places, and knows who may see each nonce: a place, or everyone."""

    agent: Agent
    model: FakeGenerator
    folder: Path
    owners: dict[str, Viewer] = field(default_factory=dict)
    chats: dict[str | None, list[str]] = field(default_factory=dict)
    turns: dict[str, list[str]] = field(default_factory=dict)  # of a chat
    words: dict[str, list[str]] = field(default_factory=dict)  # of a chat
    observations: dict[str | None, list[str]] = field(default_factory=dict)

    def word(self, owner: Viewer, chat: str | None = None) -> str:
        """A nonce that nobody said yet."""
        where = "all" if owner is EVERYONE else owner or "none"
        nonce = f"zq{where}{len(self.owners)}"
        self.owners[nonce] = owner
        if chat is not None:
            self.words[chat].append(nonce)
        return nonce

    def sees(self, place: str | None, nonce: str) -> bool:
        return self.owners[nonce] in (EVERYONE, place)

    async def talk(self, place: str | None, exchanges: int = 3) -> str:
        """A chat."""
        chat = await self.agent.chats.configure(None, project=place)
        self.chats.setdefault(place, []).append(chat)
        self.words[chat], self.turns[chat] = [], []
        for _ in range(exchanges):
            # What is learned from this one, of none, is of what the user likes, and so for all.
            liked = self.word(EVERYONE if place is None else place, None if place is None else chat)
            await self.say(chat, f"I like {liked} marmalade. The harbour jar is {self.word(place, chat)}.")
        await self.agent.chats.rename(chat, f"Marmalade {self.word(place, chat)}")
        return chat

    async def say(self, chat: str, text: str) -> list[Any]:
        events = await collect(self.agent.send(chat, text))
        await self.agent.idle()
        self.turns[chat].append(next(event.turn for event in events if isinstance(event, TurnAccepted)))
        return events

    async def furnish(self, place: str | None) -> None:
        """All that can be kept besides what is said; by hand, of no project, it is for all."""
        by_hand: Viewer = EVERYONE if place is None else place
        chat = self.chats[place][0]
        first, second, third = self.turns[chat][:3]
        noted = await self.agent.memories.remember(
            f"The harbour marmalade came from {self.word(by_hand)}.", project=place
        )
        await self.agent.memories.pin(noted.id)
        told = f"The jar of marmalade at the harbour is {self.word(place, chat)}."
        fact = observed(new_id(), first, project=place, text=told)
        self.observations[place] = [fact.observation]
        self.store(
            fact,
            EntityNoted(entity=new_id(), category="thing", by_turn=second, text=self.word(place, chat)),
            TurnRated(turn=third, significance=3, by="user"),
            CoreWritten(block="learned", by="agent", sources=(first,), text=f"The jar: {self.word(place, chat)}."),
            CoreWritten(block="said", by="agent", project=place, sources=(first,), text=self.word(place, chat)),
        )
        await self.agent.chats.pin(second)
        await self.agent.memories.write_block(f"of-{place}", f"Owns {self.word(by_hand)} marmalade.", project=place)
        file = self.folder / f"{place}.md"
        file.write_text(f"# Harbour {self.word(by_hand)}\n\nMarmalade of the jar {self.word(by_hand)}.\n")
        await self.agent.documents.ingest(file, project=place)

    def store(self, *events: Event) -> None:
        self.agent._memory.append(*events)

    # -- ways out ---------------------------------------------------------------------------------------------------

    async def ways(self, place: str | None) -> dict[str, str]:
        """What each way out tells in a place."""
        given = await self.in_chats(place) | await self.by_tools(place)
        return given | self.asked(place) | await self.mcp(place)

    async def in_chats(self, place: str | None, asking: Sequence[str] = (ASKED, *OF_THE_MEMORY)) -> dict[str, str]:
        """What a model is given in a new chat and in an old one, or the memory answers, and what is kept of it."""
        told: dict[str, str] = {}
        new = await self.agent.chats.configure(None, project=place)
        self.turns[new], self.words[new] = [], []
        for name, chat in (("a new chat", new), ("an old chat", self.chats[place][-1])):
            for asked in asking:
                made = len(self.model.prompts)
                events = await self.say(chat, asked)
                replied = " ".join(event.text for event in events if isinstance(event, ReplyEnded))
                prompts = " ".join(map(self.model.detokenize, self.model.prompts[made:]))
                told[f"{name}: {asked}"] = f"{prompts} {replied}"
                hits = [hit for event in events if isinstance(event, RecallDone) for hit in event.hits]
                told[f"hits of {name}: {asked}"] = " ".join(map(str, hits)) if hits or asked != ASKED else "nothing"
        return told

    async def by_tools(self, place: str | None) -> dict[str, str]:
        toolbox, chat = Toolbox(self.agent._memory, self.agent._recaller, self.agent._themes), self.chats[place][-1]
        calls: tuple[Look, ...] = (
            looks.RecentConversations(tool="recent_conversations", limit=20, since=None),
            looks.SearchMemory(tool="search_memory", query=ASKED, limit=10),
            looks.AboutName(tool="about", name="marmalade"),
            looks.Themes(tool="themes"),
            *(OpenTurn(tool="open_turn", id=turn) for turns in self.turns.values() for turn in turns),
        )
        told: dict[str, str] = {}
        for call in calls:
            answered = await toolbox.call(call, session=chat, turn=self.turns[chat][0], generator=self.model)
            way = "open_turn" if isinstance(call, OpenTurn) else f"tool {call.tool}"
            told[way] = f"{told.get(way, '')}{answered}"
        return told

    def asked(self, place: str | None) -> dict[str, str]:
        memory = self.agent._memory
        about = memory.readings.about("marmalade", project=place)
        near = memory.near(ASKED, vector=None, world="main", project=place, limit=50)
        recalled = [
            memory.recall.search(words, filters=Filters(project=place), now=NOW, timezone=UTC, limit=100)
            for words in (ASKED, "marmalade", "harbour", "jar", "What was said this year?")
        ]
        return {
            "recall": str(recalled),
            "recent exchanges": str(memory.readings.recent("exchange", 100, project=place)),
            "recent turns": str(memory.readings.recent("turn", 100, project=place)),
            "newest nodes": str(memory.readings.newest(NODE_KINDS, 500, project=place)),
            "about": str(about),
            "pinned turns": str(memory.readings.pinned(project=place)),
            "pinned memories": str(memory.readings.pinned_observations(project=place)),
            "blocks": str(memory.readings.blocks(project=place)),
            "what is known": str(near),
            "memories": str(memory.readings.memories(Wanted(viewer=place), now=NOW)),
            "communities": str(memory.recall.communities(None, filters=Filters(project=place))),
        }

    async def mcp(self, place: str | None) -> dict[str, str]:
        """What another program is told, whose call names the project."""
        tools = Tools(Home.resolve(), cast(Any, Visits(self.agent)))
        kinds = list(get_args(serializers.NodeKind))
        told: dict[str, str] = {
            "mcp recall": str(await tools.recall(query=ASKED, limit=50, project=place)),
            "mcp recent": str(await tools.recent(limit=50, project=place)),
            "mcp recent nodes": str(await tools.recent(kinds=kinds, limit=50, project=place)),
            "mcp about": str(await tools.about(name="marmalade", limit=50, project=place)),
        }
        for cypher in ("MATCH (n) RETURN n", "MATCH (a)-[r]->(b) RETURN a, b"):
            rows = await tools.query(cypher=cypher, limit=500, project=place)
            told[f"mcp query {cypher}"] = json.dumps(rows.rows)
        related: list[str] = []
        named = [*self.turns, *(turns[0] for turns in self.turns.values())]
        named += [*(id for ids in self.observations.values() for id in ids), "you", "boats", "rails"]
        for id in named:
            try:
                related.append(str(await tools.relations(of=id, limit=50, project=place)))
            except NotFound:
                continue
        return told | {"mcp relations": str(related)}


Teller = TypeVar("Teller", bound=Tellers)


class Visits:
    """The memory is open already."""

    def __init__(self, agent: Agent) -> None:
        self._agent = agent

    @asynccontextmanager
    async def agent(self) -> AsyncIterator[Agent]:
        yield self._agent


@asynccontextmanager
async def begun(kind: type[Teller], folder: Path) -> AsyncIterator[Teller]:
    """Tellers of a kind, with an agent that has an empty memory."""
    model = FakeGenerator("I see.", context=PLAIN.context)
    agent = Agent(Home.resolve(), PLAIN, client="test", loader=lambda name, progress: model)
    await agent.start()
    await agent.idle()
    try:
        yield kind(agent, model, folder)
    finally:
        await agent.close()


@pytest.fixture
async def bare(tmp_path: Path) -> AsyncIterator[Tellers]:
    """Two projects."""
    async with begun(Tellers, tmp_path) as found:
        for name in ("boats", "rails"):
            await found.agent.projects.make(name)
        yield found


@pytest.fixture
async def tellers(bare: Tellers) -> Tellers:
    """Two projects and what is outside of them, all furnished."""
    for place in PLACES:
        await bare.talk(place)
        await bare.talk(place, 1)
        await bare.agent.reflection.run(by_model=False)
        await bare.furnish(place)
    return bare


def leaks(tellers: Tellers, place: str | None, ways: dict[str, str]) -> Iterator[str]:
    for way, words in ways.items():
        for nonce in sorted(set(NONCE.findall(words))):
            if not tellers.sees(place, nonce):
                yield f"{nonce} by {way} in {place}"


@pytest.mark.process
async def test_nothing_leaves_its_project(tellers: Tellers) -> None:
    for place in PLACES:
        ways = await tellers.ways(place)
        assert list(leaks(tellers, place, ways)) == []
        told = {way: set(NONCE.findall(words)) for way, words in ways.items()}
        own = {nonce for nonce, owner in tellers.owners.items() if owner == place}
        for way, nonces in told.items():
            if not way.startswith("hits of") and "recently" not in way:
                assert nonces & own or (place is None and way == "pinned memories"), way  # it was looked at
        for way in SHARED:
            assert any(tellers.owners[nonce] is EVERYONE for nonce in told[way]), way


@pytest.mark.process
async def test_a_chat_that_is_moved_takes_its_words_along(tellers: Tellers) -> None:
    moved = tellers.chats["boats"][0]
    shown = await tellers.in_chats("boats", [ASKED])  # which is in the prompt of the other chat from now on
    assert set(tellers.words[moved]) & set(NONCE.findall(str(shown)))
    await tellers.agent.projects.assign(moved, "rails")
    tellers.owners.update(dict.fromkeys(tellers.words[moved], "rails"))
    for place in PLACES:
        assert list(leaks(tellers, place, await tellers.ways(place))) == []
    assert set(tellers.words[moved]) & set(NONCE.findall(tellers.asked("rails")["recall"]))


async def test_who_asks_what_is_known_of_them_is_told_what_their_project_knows(bare: Tellers) -> None:
    nonce = bare.word("boats")
    await bare.agent.memories.remember(f"I own a boat called {nonce}.", project="boats")
    for place in PLACES:
        chat = await bare.agent.chats.configure(None, project=place)
        bare.turns[chat] = []
        await bare.say(chat, "What do you know about me?")
        told = (await bare.agent.chats.thread(chat))[-1].text or ""
        assert (nonce in told) == bare.sees(place, nonce), place


async def test_what_is_said_in_a_project_changes_nothing_that_is_for_all(bare: Tellers) -> None:
    agent, memory = bare.agent, bare.agent._memory
    everywhere = await agent.memories.remember("I live in Lisbon.")
    chat = await bare.talk("boats")
    for said in ("I moved to Porto.", "I live in Porto now.", "I no longer live in Lisbon.", "I live in Lisbon."):
        await bare.say(chat, said)
    await agent.reflection.run(by_model=False)
    there = memory.readings.memory(everywhere.id).observation
    assert (there.current, there.status, there.project, there.supports) == (True, "active", None, ())
    outside = {each.text for each in await agent.memories.find(Wanted(viewer=None))}
    assert "I live in Lisbon." in outside
    assert not any("Porto" in (text or "") for text in outside)
    assert any("Porto" in (each.text or "") for each in await agent.memories.find(Wanted(viewer="boats")))


async def test_an_echo_in_a_project_strengthens_who_the_user_is_and_nothing_else_of_outside(bare: Tellers) -> None:
    agent, chat = bare.agent, await bare.talk("rails")
    likes = await agent.memories.remember("I like gooseberry jam on toast.")
    fact = await agent.memories.remember("The green ferry leaves at seven.", kind=ObservationKind.FACT)
    await bare.say(chat, "I like gooseberry jam on toast. The green ferry leaves at seven.")
    echoed = await agent.reflection.reinforce([bare.turns[chat][-1]])
    assert [each.observation for each in echoed if isinstance(each, ObservationReinforced)] == [likes.id]
    assert (await agent.memories.story(fact.id)).observation.reference_count == 0


async def test_a_project_has_its_own_version_of_a_block_until_that_is_emptied(bare: Tellers) -> None:
    agent = bare.agent

    async def says() -> dict[str | None, list[str]]:
        return {place: [block.text for block in await agent.memories.blocks(project=place)] for place in PLACES}

    await agent.memories.write_block("persona", "terse")
    await agent.memories.write_block("persona", "salty", project="boats")
    assert await says() == {None: ["terse"], "boats": ["salty"], "rails": ["terse"]}
    assert [block.text for block in await agent.memories.blocks()] == ["terse", "salty"]
    with pytest.raises(AgentError, match="in all projects"):
        await agent.memories.write_block("persona", "", project="rails")
    await agent.memories.write_block("persona", "", project="boats")
    assert await says() == {None: ["terse"], "boats": ["terse"], "rails": ["terse"]}
    await agent.history.undo()
    assert (await says())["boats"] == ["salty"]
    await agent.memories.write_block("persona", "")
    assert await says() == {None: [], "boats": ["salty"], "rails": []}


async def test_a_model_may_not_change_from_a_project_what_is_for_all(bare: Tellers) -> None:
    agent, memory = bare.agent, bare.agent._memory
    known, chat = await agent.memories.remember("I live in Lisbon."), await bare.talk("boats")
    changes, turn = agent._conversation._steps._changes, bare.turns[chat][0]
    call = Correct(tool="correct", mark=mark_of(known.id), text="I live in Porto.")
    with pytest.raises(AgentError, match="only the user can correct it"):
        changes.plan(call, turn=turn, held={known.id}, project="boats")
    block = WriteBlock(tool="write_block", name="learned", text="The harbour jar.")
    await changes.do(changes.plan(block, turn=turn, held=set(), project="boats"))
    assert [len(memory.readings.blocks(project=place)) for place in PLACES] == [0, 1, 0]
