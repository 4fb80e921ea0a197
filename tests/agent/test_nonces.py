"""Belief follows proof, through the whole Agent: no word of a turn that is not live is shown to a model or a person.

Each turn carries a nonce of its own, each reply too. What is derived (observations, core blocks, titles, names of
entities) carries the nonces of the turns it names as its sources. After any deeds, what can be read is looked through.
"""

import asyncio
import itertools
import re
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, example, given
from hypothesis import strategies as st

from agent.agent import Agent
from agent.errors import AgentError
from agent.home import Home
from agent.settings import Settings
from graph.errors import InvalidEvent, NotFound
from graph.events import (
    CoreWritten,
    EntityNoted,
    Event,
    HeadMoved,
    ObservationSupported,
    SessionTitled,
    TurnDeleted,
    TurnWithheld,
)
from graph.ids import new_id
from graph.values import Wanted
from tests.agent.conftest import collect
from tests.examples import histories, soaking
from tests.fakes import FakeGenerator
from tests.graph.teach import observed

PLAIN = Settings(tools="off", kv_mb=1, reflect=False, context=1024, high_water=700, low_water=350)
NONCE = re.compile(r"nonce[a-z]+\d+")
DEEDS = (
    *("say", "say", "say", "learn", "learn", "support", "revise", "note", "correct", "block", "own block", "title"),
    *("synthesize", "synthesize", "name", "delete", "rewind", "forward", "restore", "withhold", "delete chat"),
)
OF_MEMORIES = ("promote", "reject", "forget", "pin", "unpin")
OF_TURNS = {"hide": "hide", "unhide": "unhide", "pin turn": "pin", "release": "release"}
STEPS = st.lists(
    st.tuples(st.sampled_from((*DEEDS, *OF_MEMORIES, *OF_TURNS, "hide")), st.integers(0, 1000)),
    min_size=3,
    max_size=16 if soaking() else 8,
)


class HitBuilder:
    """Does the deeds, and looks for nonces where none may be. `number` chooses what a deed is done to."""

    def __init__(self, agent: Agent, model: FakeGenerator) -> None:
        self.agent = agent
        self.model = model
        self.chats: list[str] = []
        self.made: list[str] = []
        self.count = 0

    def word(self) -> str:
        """A nonce nobody said yet."""
        self.count += 1
        return f"nonce{chr(ord('a') + self.count % 26)}{self.count}"

    def turns(self) -> dict[str, str]:
        """Every turn that was said, and its text; an erased one has none."""
        with self.agent._memory.readings.snapshot() as db:
            rows = db.execute("SELECT turns.id, coalesce(text, '') FROM turns JOIN events USING (seq) ORDER BY seq")
            return dict(rows.fetchall())

    def live(self) -> set[str]:
        rows = self.agent._memory.query("MATCH (t:Turn) WHERE t.live RETURN t.id AS id")
        return {row["id"] for row in rows}

    def sources(self, number: int) -> tuple[str, ...]:
        """One or two turns that are live."""
        live = sorted(self.live())
        return tuple(dict.fromkeys(live[(number * step) % len(live)] for step in (1, 7))) if live else ()

    def told(self, sources: tuple[str, ...]) -> str:
        """The nonces of turns."""
        texts = self.turns()
        return " ".join(word for turn in sources for word in NONCE.findall(texts[turn])[:1])

    async def do(self, deed: str, number: int) -> None:
        try:
            if deed in OF_MEMORIES:
                await self._decide(number, getattr(self.agent.memories, deed))
            elif deed in OF_TURNS:
                if turn := self._any(number):
                    await getattr(self.agent.chats, OF_TURNS[deed])(turn)
            else:
                await getattr(self, deed.replace(" ", "_"))(number)
        except (AgentError, InvalidEvent, NotFound):
            return  # what cannot be done now
        finally:
            await self.agent.idle()

    async def say(self, number: int) -> None:
        chat = self.chats[number % len(self.chats)] if self.chats and number % 3 else None
        events = await collect(self.agent.send(chat, f"What of the boat {self.word()} then?"))
        if chat is None:
            self.chats.append(events[0].session)  # type: ignore[union-attr]

    async def learn(self, number: int) -> None:
        if sources := self.sources(number):
            self._made(sources, status="candidate" if number % 2 else "active")

    async def support(self, number: int) -> None:
        if self.made and (sources := self.sources(number)):
            self._store(ObservationSupported(observation=self.made[number % len(self.made)], source=sources[0]))

    async def revise(self, number: int) -> None:
        found = await self.agent.memories.find()
        if found and (sources := self.sources(number)):
            old = found[number % len(found)]
            self._made((*sources, *old.sources), supersedes=old.id, series=old.series)

    async def note(self, number: int) -> None:
        self.made.append((await self.agent.memories.remember(f"I own {self.word()}.")).id)

    async def correct(self, number: int) -> None:
        if found := await self.agent.memories.find():
            made = await self.agent.memories.correct(found[number % len(found)].id, f"I own {self.word()}.")
            self.made.append(made.id)

    async def synthesize(self, number: int) -> None:
        found = await self.agent.memories.find(Wanted(status="active"))
        if len(found) > 1:
            one, other = found[number % len(found)], found[(number + 1) % len(found)]
            text = None if number % 2 else f"{one.text} {other.text}"
            self.made.append((await self.agent.syntheses.make(one.id, other.id, text)).id)

    async def block(self, number: int) -> None:
        if sources := self.sources(number):
            name = f"b{number % 3}"
            self._store(CoreWritten(block=name, by="agent", sources=sources, text=f"See {self.told(sources)}."))

    async def own_block(self, number: int) -> None:
        await self.agent.memories.write_block(f"b{number % 3}", "" if number % 2 else "The user's own words.")

    async def title(self, number: int) -> None:
        if self.chats and (sources := self.sources(number)):
            chat = self.chats[number % len(self.chats)]
            self._store(SessionTitled(session=chat, sources=sources, text=f"On {self.told(sources)}"))

    async def name(self, number: int) -> None:
        if sources := self.sources(number)[:1]:
            noted = EntityNoted(entity=new_id(), category="thing", by_turn=sources[0], text=self.told(sources) or "Ada")
            self._store(noted)

    async def delete(self, number: int) -> None:
        if turn := self._any(number):
            self._store(TurnDeleted(turn=turn))
            await self.agent._prompts.forget_turns([turn])

    async def rewind(self, number: int) -> None:
        if self.chats:
            chat = self.chats[number % len(self.chats)]
            path = await self.agent.chats.thread(chat)
            to = path[number % len(path)].id if path and number % 4 else None
            self._store(HeadMoved(session=chat, turn=to))

    async def forward(self, number: int) -> None:
        with self.agent._memory.readings.snapshot() as db:
            said = db.execute("SELECT session, id FROM turns WHERE role <> 'note'").fetchall()
        if said:
            session, turn = said[number % len(said)]
            if not self.agent._memory.readings.session(session).deleted:
                self._store(HeadMoved(session=session, turn=turn))

    async def restore(self, number: int) -> None:
        await self._decide(number, lambda id: self.agent.memories.restore(id, "candidate"))

    async def withhold(self, number: int) -> None:
        if turn := self._any(number):
            self._store(TurnWithheld(turn=turn))

    async def delete_chat(self, number: int) -> None:
        if len(self.chats) > 1:
            await self.agent.chats.delete(self.chats.pop(number % len(self.chats)))

    async def look(self) -> None:
        """No nonce of a turn that is not live is anywhere to be read."""
        prompt = await self.prompt()
        live, texts = self.live(), self.turns()
        there = {word for turn in live for word in NONCE.findall(texts[turn])}
        for place, text in {**prompt, **await self.shown()}.items():
            assert set(NONCE.findall(text)) <= there, (place, text)

    async def prompt(self) -> dict[str, str]:
        """What the model is given in one of the chats, and what is kept of it."""
        if not self.chats:
            return {}
        chat = self.chats[self.count % len(self.chats)]
        await collect(self.agent.send(chat, "go on"))
        await self.agent.idle()
        logs = [log for key, log in self.agent._prompts._logs.items() if key.session == chat]
        kept = {f"prompt log of {chat}": self.model.detokenize(log.tokens) for log in logs}
        return kept | {f"prompt of {chat}": self.model.detokenize(self.model.prompts[-1])}

    async def shown(self) -> dict[str, str]:
        """Everything that people are shown, and that is recalled, but for a chat's own thread, by where it stands."""
        agent = self.agent
        everything = await agent.memories.find(Wanted(everything=True))
        found = {f"observation {each.id}": each.text or "" for each in everything}
        found |= {f"block {each.name}": each.text for each in await agent.memories.blocks()}
        chats = [*await agent.chats.all(), *await agent.chats.all(archived=True)]
        found |= {f"title of {each.id}": each.name or "" for each in chats}
        rows = self.agent._memory.query(
            "MATCH (s:Session) WHERE s.title IS NOT NULL RETURN s.id AS id, s.title AS title"
        )
        found |= {f"title of {row['id']} in the graph": row["title"] for row in rows}
        hits = await agent.search.words("nonce*")
        for word in {word for text in self.turns().values() for word in NONCE.findall(text)}:
            hits += await agent.search.words(word)
        for hit in hits:
            if not hit.mark:
                found[f"snippet of {hit.turn.id}"] = "".join(piece.text for piece in hit.snippet)
        recalled = await agent.search.recall("the boat", limit=50)
        found |= {f"recalled {each.id}": each.text for each in recalled}
        return found

    def _made(self, sources: tuple[str, ...], **more: Any) -> None:
        id, sources = new_id(), tuple(dict.fromkeys(sources))
        self._store(observed(id, *sources, confidence=0.9, text=f"The boat is {self.told(sources)}.", **more))
        self.made.append(id)

    async def _decide(self, number: int, deed: Callable[[str], Awaitable[object]]) -> None:
        found = await self.agent.memories.find(Wanted(everything=True))
        if found:
            await deed(found[number % len(found)].id)

    def _any(self, number: int) -> str | None:
        turns = list(self.turns())
        return turns[number % len(turns)] if turns else None

    def _store(self, event: Event) -> None:
        self.agent._memory.append(event)


@given(STEPS)
@example([("pin turn", 0), ("say", 0), ("say", 695), ("rewind", 0)])  # a pin that sleeps, in another chat's prompt
@histories(12, excused=[HealthCheck.function_scoped_fixture])
def test_no_word_of_a_turn_that_is_not_live_is_shown_to_anyone(steps: list[tuple[str, int]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(live_through(steps, Path(folder)))


async def live_through(steps: list[tuple[str, int]], folder: Path) -> None:
    said = itertools.count(1)
    model = FakeGenerator(lambda prompt: f"I see noncereply{next(said)} there.", context=PLAIN.context)
    agent = Agent(Home.resolve(folder), PLAIN, client="test", loader=lambda name, progress: model)
    try:
        await agent.start(load_embedder=False)
        await agent.idle()
        teller = HitBuilder(agent, model)
        await teller.say(0)
        for deed, number in steps:
            await teller.do(deed, number)
            await teller.look()
    finally:
        await agent.close()
