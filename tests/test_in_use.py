"""What is not in use is told by no door and stands in no prompt, whichever way it went out of use.

Each way is taken with a nonce of its own. Then every way out is taken, as for projects, and looked through for them.
"""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agent.story.cards import Card
from tests.test_projects import ASKED, NONCE, OF_THE_MEMORY, Tellers, begun

# Where it is told all the same: what is kept out of the memory stays in its chat, what waits for review is listed as
# that, a what-if is a node, and what was believed once is told as that, or as what was said.
TOLD = {
    "withheld": ("an old chat", "hits of an old chat", "open_turn"),
    "proposed": ("memories",),
    "what-if": ("newest nodes",),
    "superseded": (
        *("about", "tool about", "mcp about", "mcp relations", "mcp query", "mcp recent", "newest nodes", "open_turn"),
        *("recall", "recent", "communities", "tool themes", "a new chat: What are the them", "an old chat: What are"),
    ),
}
KNOWN = "What do you know about me?"


class Retired(Tellers):
    """Says things that go out of use."""

    async def furnish_all(self) -> dict[str, str]:
        """How each nonce, or memory by its id, went out of use; two stay."""
        agent, went = self.agent, dict[str, str]()

        def jar(how: str) -> str:
            nonce = self.word(None)
            went[nonce] = how
            return f"I like the harbour jar of {nonce} marmalade."

        chat = await self.talk(None, 1)
        await agent.memories.remember(jar("in use"))
        proposed = (await agent.proposals.add(jar("proposed"), by="Helper")).memory
        rejected = (await agent.proposals.add(jar("rejected"), by="Helper")).memory
        await agent.memories.reject(rejected.id)
        older = await agent.memories.remember("I like the harbour jar of plum marmalade.")
        await agent.memories.correct(older.id, jar("in use"))
        forgotten = await agent.memories.remember(jar("forgotten"))
        await agent.memories.forget(forgotten.id)
        await self.say(chat, jar("hidden"))
        await agent.chats.hide(self.turns[chat][-1])
        await self.say(chat, jar("withheld"))
        await agent.chats.withhold(self.turns[chat][-1])
        await self.say(chat, jar("rewound"))
        await agent.branches.rewind(chat, self.turns[chat][-2])
        what_if = await agent.branches.fork(chat, what_if=True)
        self.turns[what_if], self.words[what_if] = [], []
        await self.say(what_if, jar("what-if"))
        world = (await agent.chats.get(what_if)).world
        supposed = await agent.memories.remember(jar("what-if"), world=world)
        story = await agent.stories.begin("Harbour", Card(name="Mara"))
        self.turns[story], self.words[story] = [], []
        await self.say(story, jar("story"))
        deleted = await self.talk(None, 1)
        await self.say(deleted, jar("deleted"))
        await agent.chats.delete(deleted)
        self.chats[None].remove(deleted)
        await agent.reflection.run()
        await agent.idle()
        went |= {
            proposed.id: "proposed",
            rejected.id: "rejected",
            "jar of plum marmalade": "superseded",
            supposed.id: "what-if",
        }
        return went


@pytest.fixture
async def retired(tmp_path: Path) -> AsyncIterator[Retired]:
    async with begun(Retired, tmp_path) as found:
        yield found


@pytest.mark.process
@pytest.mark.restarts
async def test_what_is_not_in_use_is_told_by_no_door_and_stands_in_no_prompt(retired: Retired) -> None:
    went = await retired.furnish_all()
    before = len(retired.model.prompts)
    told = await retired.ways(None) | await retired.in_chats(None, [KNOWN])
    await retired.say(await retired.talk(None, 1), ASKED)
    await retired.agent.reflection.run()
    told["an old chat and others"] = " ".join(map(retired.model.detokenize, retired.model.prompts[before:]))
    leaked = [
        f"{how}: {way}"
        for way, words in told.items()
        for mark, how in went.items()
        if how != "in use" and mark in words and not way.startswith(TOLD.get(how, ()))
    ]
    assert not leaked, "\n".join(leaked)
    in_use = {nonce for nonce, how in went.items() if how == "in use"}
    assert [
        way for way in ("recall", "memories", "an old chat and others") if not in_use & set(NONCE.findall(told[way]))
    ] == []
    assert {ASKED, *OF_THE_MEMORY, KNOWN} <= {way.partition(": ")[2] for way in told}
