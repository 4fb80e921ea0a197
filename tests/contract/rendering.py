"""A home as plain text: what the Agent of today reads in it, and what the doctor says of it.

Every time in it comes from the home. Ids are left out: whatever refers to something does so by its words.
"""

import asyncio
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from agent.agent import Agent
from agent.home import Home
from agent.settings import load_settings, setting_states, written
from graph.events import MAIN_WORLD
from graph.transfer.backup import listed
from graph.values import Branch, Observation, Proof, Session, Turn, Wanted, World
from tests.contract.prepared import call, fake_embedder, fake_model, living_in
from tui.drafts import Drafts

SEARCHED = "boat"
GONE = "(gone)"


def rendering(root: Path) -> str:
    """The text of the home at `root`."""
    with living_in(root):
        page = asyncio.run(_read(Home.resolve()))
        ended = call("doctor", "--no-model", "--json")
        page.head("Doctor")
        for each in json.loads(ended.out)["checks"]:
            page.put(0, f"{each['name']}: {'ok' if each['ok'] else each['detail']}")
        page.put(0, f"exit code {ended.code}")
    return "\n".join(page.lines).lstrip("\n") + "\n"


@dataclass
class Page:
    """Lines, and the words of everything in the home by its id."""

    lines: list[str] = field(default_factory=list)
    words: dict[str, str] = field(default_factory=dict)
    worlds: dict[str, str] = field(default_factory=dict)

    def head(self, words: str) -> None:
        self.lines += ["", f"# {words}"]

    def put(self, depth: int, words: str, *facts: str) -> None:
        """A line, set in, with some facts behind it."""
        told = ", ".join(fact for fact in facts if fact)
        self.lines.append("  " * depth + words.replace("\n", " ⏎ ") + (f"  [{told}]" if told else ""))

    def named(self, id: str) -> str:
        return self.words.get(id, GONE)


async def _read(home: Home) -> Page:
    """Everything, read by an Agent that was started as that of any face is; no model answers or learns."""
    agent = Agent(home, load_settings(home.config), client="test", loader=fake_model(), embedder_loader=fake_embedder)
    page = Page()
    await agent.start(load_model=False)
    try:
        await agent.idle()
        worlds = await agent.branches.worlds()
        page.worlds = {world.id: world.name or world.id for world in worlds}
        sessions = [*await agent.chats.all(), *await agent.chats.all(archived=True)]
        await _collect_words(page, agent, sessions, worlds)
        _put_settings(page, home)
        await _put_sessions(page, agent, sessions)
        for world in worlds:
            await _put_memories(page, agent, world)
        await _put_what_is_arranged(page, agent)
        await _put_documents(page, agent)
        await _put_queries(page, agent)
        await _put_the_past(page, agent, home)
        await _put_counts(page, agent)
    finally:
        await agent.close()
    return page


async def _collect_words(page: Page, agent: Agent, sessions: Iterable[Session], worlds: Iterable[World]) -> None:
    """Learn what everything says, so that it can be named by that."""
    for session in sessions:
        page.words[session.id] = session.name or "(no title)"
        page.words |= {branch.turn: branch.text or GONE for branch in _branches(await agent.branches.tree(session.id))}
        page.words |= {turn.id: turn.text or GONE for turn in await agent.chats.thread(session.id)}
    for world in worlds:
        everything = Wanted(everything=True, dead=True, world=world.id)
        page.words |= {each.id: each.text or GONE for each in await agent.memories.find(everything)}
    for document in await agent.documents.all():
        page.words |= {chunk.id: chunk.text for chunk in await agent.documents.chunks(document.id)}


def _put_settings(page: Page, home: Home) -> None:
    page.head("Settings that are not the defaults")
    for state in setting_states(home.config):
        if state.value != state.setting.default:
            page.put(0, f"{state.setting.key} = {written(state.value)}")
    page.head("Draft of a new chat")
    page.put(0, Drafts(home.drafts).load(None))


async def _put_sessions(page: Page, agent: Agent, sessions: Iterable[Session]) -> None:
    """Every chat: what is known of it, what stands on its path, and how it branches."""
    for session in sorted(sessions, key=lambda each: each.started_at):
        page.head(f"Chat: {session.name or '(no title)'}")
        page.put(
            0,
            f"{session.turns} turns, {_time(session.started_at)} to {_time(session.last_at)}",
            f"project {session.project}" if session.project else "",
            f"world {page.worlds[session.world]}" if session.world != MAIN_WORLD else "",
            "named by hand" if session.named_by_user else "",
            "archived" if session.archived else "",
        )
        if session.system_prompt:
            page.put(0, f"system prompt: {session.system_prompt}")
        if session.sampling:
            page.put(0, f"sampling: {json.dumps(session.sampling, sort_keys=True)}")
        thread = await agent.chats.thread(session.id)
        beside = await agent.branches.alternatives(session.id, [turn.id for turn in thread])
        for turn in thread:
            _put_turn(page, turn, f"version {beside[turn.id].label}" if turn.id in beside else "")
        if beside:
            page.put(0, "branches:")
            _put_branches(page, await agent.branches.tree(session.id), 1)


def _put_turn(page: Page, turn: Turn, version: str) -> None:
    flags = ("pinned", "hidden", "withheld", "queued", "deleted")
    page.put(
        1,
        f"{turn.index} {_time(turn.at)} {turn.role} {turn.speaker}: {turn.text if turn.text is not None else GONE}",
        f"model {turn.model}" if turn.model else "",
        f"ended by {turn.stop_reason}" if turn.stop_reason else "",
        version,
        *(flag for flag in flags if getattr(turn, flag)),
    )
    for item in turn.recalled:
        page.put(2, f"recalled {item.kind}: {page.named(item.id)}", ", ".join(sorted(item.ranks)))


def _put_branches(page: Page, branches: Iterable[Branch], depth: int) -> None:
    for branch in branches:
        forks = [f"fork {page.named(fork)}" for fork in branch.forks]
        dot = "●" if branch.on_path else "○"
        page.put(depth, f"{dot} {branch.role}: {branch.text or GONE}", "head" if branch.head else "", *forks)
        _put_branches(page, branch.children, depth + 1)


async def _put_memories(page: Page, agent: Agent, world: World) -> None:
    """Every memory that a world knows of, with its earlier forms and its proof."""
    page.head(f"Memories of {page.worlds[world.id]}")
    everything = Wanted(everything=True, dead=True, world=world.id)
    for memory in sorted(await agent.memories.find(everything), key=lambda each: (each.first_seen, each.at, each.id)):
        page.put(0, memory.text or GONE, *_facts(page, memory))
        story = await agent.memories.story(memory.id, world=world.id) if memory.live else None
        for proof in story.proofs.get(memory.id, ()) if story is not None else ():
            page.put(1, f"{proof.relation} {_said(proof)}", "" if proof.live else "not live")


def _facts(page: Page, memory: Observation) -> list[str]:
    """How a memory stands. Its trend is left out, which is of today."""
    return [
        str(memory.kind),
        memory.status,
        "current" if memory.current else "",
        "live" if memory.live else "",
        f"{memory.confidence:.2f}",
        f"origin {memory.origin}",
        f"proposed by {memory.proposed_by}" if memory.proposed_by else "",
        f"scope {memory.scope}",
        f"project {memory.project}" if memory.project else "",
        *(f"#{tag}" for tag in memory.tags),
        "pinned" if memory.pinned else "",
        f"about {' and '.join(memory.about)}" if memory.about else "",
        f"instead of “{page.named(memory.supersedes)}”" if memory.supersedes else "",
        f"echoed {memory.reference_count} times" if memory.reference_count else "",
    ]


def _said(proof: Proof) -> str:
    return f"{_time(proof.at)} {proof.role} {proof.speaker}: {proof.text if proof.text is not None else GONE}"


async def _put_what_is_arranged(page: Page, agent: Agent) -> None:
    """Core blocks, projects, pins, ratings, and marks that stay."""
    page.head("Core blocks")
    for block in sorted(await agent.memories.blocks(), key=lambda each: (each.name, each.project or "")):
        page.put(
            0, f"{block.name}: {block.text}", f"by {block.by}", f"project {block.project}" if block.project else ""
        )
    page.head("Projects")
    for project in sorted(await agent.projects.all(), key=lambda each: each.name):
        counts = f"{project.sessions} chats", f"{project.observations} memories"
        page.put(0, f"{project.name}: {project.description}", project.status, *counts)
    page.head("Pinned messages")
    for turn in await agent.chats.pinned():
        page.put(0, turn.text or GONE)
    page.head("Significance")
    for rating, count in sorted((await agent.memories.significance()).items()):
        page.put(0, f"{rating}: {count}")
    page.head("Marks with a name")
    for mark in await agent.history.marks.all():
        if mark.name is not None:
            page.put(0, f"{_time(mark.at)} {mark.name}", f"before event {mark.seq}")


async def _put_documents(page: Page, agent: Agent) -> None:
    page.head("Documents")
    for document in sorted(await agent.documents.all(), key=lambda each: each.title):
        tags = [f"#{tag}" for tag in document.tags]
        project = f"project {document.project}" if document.project else ""
        page.put(0, document.title, Path(document.path).name, document.type, f"{document.size} bytes", project, *tags)
        for chunk in await agent.documents.chunks(document.id):
            page.put(1, f"{chunk.place}: {chunk.text}")


async def _put_queries(page: Page, agent: Agent) -> None:
    page.head("Saved queries")
    for saved in await agent.queries.saved():
        page.put(0, f"{saved.name}: {saved.cypher}", json.dumps(dict(saved.parameters)) if saved.parameters else "")
    page.head("Queries that were run, the newest first")
    for ran in await agent.queries.history():
        rows = f"{ran.rows} rows in {ran.took_ms} ms" if ran.rows is not None else ""
        page.put(0, f"{_time(ran.at)} {ran.cypher}", json.dumps(dict(ran.parameters)), rows, ran.error)


async def _put_the_past(page: Page, agent: Agent, home: Home) -> None:
    """What can be undone, what a search finds, and the backups."""
    page.head("Changes by hand, the newest first")
    for change in await agent.history.changes(limit=50):
        what = " ".join("…" if _is_id(word) else word for word in change.what.split())
        page.put(0, f"{_time(change.at)} {what}", "" if change.undoable else change.why_not)
    page.head(f"Found by a search for “{SEARCHED}”")
    for found in sorted(await agent.search.words(SEARCHED), key=lambda each: (each.turn.at, each.turn.id)):
        page.put(0, found.turn.text or GONE, found.session_name or "", found.mark)
    page.head("Backups")
    for backup in listed(home.memory):
        page.put(0, backup.path.name, "automatic" if backup.automatic else "by hand")


async def _put_counts(page: Page, agent: Agent) -> None:
    """How much there is in the graph."""
    schema, status = await agent.graph.schema(), await agent.status()
    page.head("Counts")
    for name, count in sorted(status.counts.items()):
        page.put(0, f"{name}: {count}")
    page.head("Counts of the graph")
    counts = {each.name: each.count for each in schema.nodes} | {each.name: each.count for each in schema.relationships}
    for name, count in counts.items():
        page.put(0, f"{name}: {count}")


def _branches(branches: Iterable[Branch]) -> Iterator[Branch]:
    for branch in branches:
        yield branch
        yield from _branches(branch.children)


def _is_id(word: str) -> bool:
    """Whether a word looks like an id: 26 letters and digits."""
    bare = word.strip("().,“”")
    return len(bare) == 26 and bare.isalnum() and bare.isupper()


def _time(at: datetime) -> str:
    """To the second, UTC."""
    return f"{at:%Y-%m-%d %H:%M:%S}"
