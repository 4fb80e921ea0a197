"""Makes the home of the clew that this is, by living in it: python -m tests.contract.make

Run it once when a version is released, record the contract and commit both; a home of an earlier version is never made
anew. Everything in it was said and done through the Agent, with fakes for models. The graph is left out: it is made of
the log. `FOLDER` is where it lived, and stands in it as the folder of its documents and backups.
"""

import asyncio
import json
import shutil
import tarfile
import tempfile
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

from agent.agent import Agent
from agent.asking.shelf import Ran
from agent.events import AgentEvent, ReplyEnded
from agent.home import Home
from agent.settings import Value, load_settings, write_setting
from graph.events import ObservationKind, Sampling
from tests.contract.prepared import NAME, PACKED, call, fake_embedder, fake_model, living_in
from tests.fakes import Reply
from tui.drafts import Drafts

FOLDER = Path(tempfile.gettempdir()) / "clew-contract"
LEFT_OUT = ("graph.", "lock", "holder", "native.log", "kv", "models")  # how names begin of what every start makes

SETTINGS: dict[str, Value] = {
    "theme": "light",
    "recall_limit": 4,
    "tools": "off",
    "kv_mb": 0,
    "bell_after_s": 0.0,
    "sampling.temperature": 0.5,
}
TIDES = """# Tides

The sea at the harbour of Porto rises twice a day.

## Springs

At full moon the water reaches the old wall.
"""
LIST = "For the boat: rope, tar, a lamp.\n"
LONGER = "For the boat: rope, tar, a lamp, and a flag.\n"
LETTERS = (
    {"id": "1", "role": "user", "text": "Dear diary, Knossos was hot.", "time": "2019-07-01T10:00:00Z"},
    {"id": "2", "role": "assistant", "text": "Was the maze in the shade?", "time": "2019-07-01T10:00:05Z"},
    {"id": "3", "role": "user", "text": "Ada walked ahead with a thread.", "time": "2019-07-01T10:01:00Z"},
)
OF_LETTERS = {"session": "letters", "title": "Old letters"}
REPLIES = (
    "Hello Mara.",
    "Tea with honey, noted.",
    "Porto it is.",
    "I will not repeat it.",
    "In Porto.",
    "Braga, then.",
    "Bees are good neighbours.",
    "Every evening then.",
    "Water them at dusk.",
    "Every second evening then.",
    "A good name.",
    "June has light winds.",
    "Green suits a wren.",
    "Blue is quiet.",
    "Red sails.",
    "Then winter is free.",
    "I am sorry to hear that.",
    "A ladder is a fine thing.",
    "You said: I like tea with honey.",
    "Here it goes.",
    Reply("A rhyme in", reason="length"),
)


def main() -> None:
    """Live in a new home, and pack it."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    notes = FOLDER / "notes"
    notes.mkdir(parents=True)
    (notes / "tides.md").write_text(TIDES, encoding="utf-8")
    (notes / "list.txt").write_text(LIST, encoding="utf-8")
    letters = "".join(json.dumps(OF_LETTERS | each) + "\n" for each in LETTERS)
    (notes / "letters.jsonl").write_text(letters, encoding="utf-8")
    with living_in(FOLDER / NAME):
        home = Home.resolve()
        load_settings(home.config)
        for key, value in SETTINGS.items():
            write_setting(home.config, key, value)
        asyncio.run(live(home, notes))
        backup = call("backup")
        assert backup.code == 0, backup.err
    with tarfile.open(PACKED, "w:gz") as packed:
        packed.add(home.root, NAME, filter=_neutral)
    shutil.rmtree(FOLDER)
    print(f"{PACKED}: {PACKED.stat().st_size:,} bytes")


async def live(home: Home, notes: Path) -> None:
    """Everything that can be said and done, once."""
    settings = load_settings(home.config)
    agent = Agent(home, settings, client="chat", loader=fake_model(*REPLIES), embedder_loader=fake_embedder)
    await agent.start()
    await agent.idle()
    try:
        await agent.projects.make("garden", "Bees and beans")
        await agent.projects.make("boat", "A small one, of wood")
        await agent.projects.make("attic", "Boxes")
        await agent.projects.archive("attic")
        await talk(agent)
        await grow_beans(agent)
        await sail(agent)
        await take_out(agent)
        await learn(agent)
        await read(agent, notes)
        await ask_the_graph(agent)
        Drafts(home.drafts).save(None, "Dear Ada,")
        await agent.idle()
    finally:
        await agent.close()


async def talk(agent: Agent) -> None:
    """A chat about oneself, of which something changes; it is renamed twice, once by mistake, and pinned and rated."""
    chat = (await say(agent, None, "Hi, I am Mara. I live in Lyon.")).session
    tea = await say(agent, chat, "I like tea with honey.")
    moved = await say(agent, chat, "I moved to Porto, so I live in Porto now.")
    secret = await say(agent, chat, "My password is rosebud.")
    await say(agent, chat, "Do you remember where I live?")
    await say(agent, chat, "Actually, I made a mistake: I live in Braga, not in Porto.")
    await agent.chats.rename(chat, "First words")
    await agent.chats.rename(chat, "Wrong words")
    await agent.history.undo()
    await agent.chats.pin(tea.turn)
    await agent.memories.rate([moved.turn], 2)
    await agent.plans.carry_out(await agent.plans.delete(secret.turn, exchange=True))
    await agent.erasure.finished()


async def grow_beans(agent: Agent) -> None:
    """A chat of a project, with a reply made anew and a message edited."""
    chat = (await say(agent, None, "My sister Ada keeps bees in the garden.", project="garden")).session
    beans = await say(agent, chat, "The beans need water every evening.")
    await ended(agent, agent.regenerate(chat, beans.reply_turn))
    await ended(agent, agent.edit(chat, beans.turn, "The beans need water every second evening."))
    await agent.chats.rename(chat, "Beans")


async def sail(agent: Agent) -> None:
    """A chat that goes back and says something else, with a fork and a what-if."""
    named = await say(agent, None, "My boat is called Wren.", project="boat")
    chat = named.session
    june = await say(agent, chat, "I plan to sail to the island in June.")
    await say(agent, chat, "Should I paint the hull green?")
    await agent.branches.rewind(chat, june.reply_turn)
    await say(agent, chat, "Should I paint the hull blue?")
    await agent.chats.rename(chat, "Boat")
    sails = await agent.branches.fork(chat, at=named.reply_turn, name="Sails")
    await say(agent, sails, "The sails of Wren are red.")
    sold = await agent.branches.fork(chat, what_if=True, name="Without a boat")
    await say(agent, sold, "I sold the boat and I live in Lisbon.")
    await agent.history.marks.add("Before the summer")


async def take_out(agent: Agent) -> None:
    """Messages kept out of memory, hidden and said before, a deleted chat, and one with settings of its own."""
    quarrel = await say(agent, None, "I quarrelled with Tom.")
    await agent.chats.withhold(quarrel.turn)
    ladder = await say(agent, quarrel.session, "I own a tall ladder.")
    await agent.chats.hide(ladder.turn)
    await say(agent, quarrel.session, "I like tea with honey.")
    await agent.chats.rename(quarrel.session, "Tom")
    gone = await say(agent, None, "This chat is deleted soon.")
    await agent.plans.carry_out(await agent.plans.delete_session(gone.session))
    await agent.erasure.finished()
    rhymes = await agent.chats.configure(
        None, system_prompt="Answer in rhymes.", sampling=Sampling(temperature=0.2, max_tokens=64)
    )
    await say(agent, rhymes, "What rhymes with thyme?")
    await agent.chats.rename(rhymes, "Rhymes")


async def learn(agent: Agent) -> None:
    """Memories that are stated, corrected, forgotten, proposed and reviewed, and core blocks."""
    nuts = await agent.memories.remember("I am allergic to peanuts.", kind=ObservationKind.FACT, tags=["health"])
    await agent.memories.pin(nuts.id)
    await agent.memories.remember("The garden has two apple trees.", project="garden")
    bicycle = await agent.memories.remember("I own a red bicycle.")
    await agent.memories.correct(bicycle.id, "I own a blue bicycle.")
    cat = await agent.memories.remember("My cat is called Moss.")
    await agent.memories.forget(cat.id)
    await agent.erasure.finished()
    chess = await agent.proposals.add("Mara plays chess.", by="Helper")
    await agent.memories.promote(chess.memory.id)
    rain = await agent.proposals.add("Mara hates rain.", by="Helper")
    await agent.memories.reject(rain.memory.id)
    await agent.proposals.add("Mara prefers short answers.", by="Helper")
    await agent.memories.write_block("persona", "You are dry and kind.")
    await agent.memories.write_block("human", "She is called Mara.")
    await agent.memories.write_block("human", "She grows beans.", project="garden")


async def read(agent: Agent, notes: Path) -> None:
    """Documents, one of which is read again, and chats from elsewhere, which go to the archive."""
    await agent.documents.ingest(notes / "tides.md", project="boat", tags=["sea"])
    await agent.documents.ingest(notes / "list.txt")
    (notes / "list.txt").write_text(LONGER, encoding="utf-8")
    await agent.documents.ingest(notes / "list.txt")
    report = await agent.documents.import_chats(notes / "letters.jsonl")
    assert report.last_session is not None
    await agent.chats.archive(report.last_session)


async def ask_the_graph(agent: Agent) -> None:
    """Queries that were run and saved."""
    people = "MATCH (e:Entity) WHERE e.kind = $kind RETURN e.name AS name ORDER BY name"
    await agent.queries.save("People", people, {"kind": "person"})
    await agent.queries.save("Turns", "MATCH (t:Turn) RETURN count(*) AS turns")
    at = datetime(2026, 3, 1, 9, tzinfo=UTC)
    await agent.queries.keep(Ran(people, at, {"kind": "person"}, 3, 2.5))
    await agent.queries.keep(Ran("MATCH (t:Turm) RETURN t", at.replace(minute=1), error="There is no table Turm."))


async def say(agent: Agent, session: str | None, text: str, *, project: str | None = None) -> ReplyEnded:
    """Say something and have it answered and learned from."""
    return await ended(agent, agent.send(session, text, project=project))


async def ended(agent: Agent, events: AsyncIterator[AgentEvent]) -> ReplyEnded:
    """How a reply ended, when nothing of it goes on in the background any more."""
    told = [event async for event in events]
    last = told[-1]
    assert isinstance(last, ReplyEnded), last
    await agent.idle()
    return last


def _neutral(member: tarfile.TarInfo) -> tarfile.TarInfo | None:
    """A file of nobody in particular; None for what is left out."""
    if Path(member.name).name.startswith(LEFT_OUT):
        return None
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    return member


if __name__ == "__main__":
    main()
