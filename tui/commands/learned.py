"""How the commands show what was learned: an observation on two lines, as JSON, and with its whole story."""

import sys
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, TypeVar

import typer

from tui.output import fit, instant, local, paint, put_json, text_of, width
from tui.reasons import proven_by
from tui.text import clean, counted, one_line

if TYPE_CHECKING:
    from agent.face import Face
    from agent.home import Home
    from graph.values import Later, Observation, Proof, Relationship, Story

Answer = TypeVar("Answer")
Word = TypeVar("Word", bound=str)
MOST_BYTES = 1 << 16  # of what is piped in: what is kept is far shorter
COLOURS = {"candidate": "33", "active": "32", "superseded": "2", "invalid": "31"}
RELATIONS = {
    "DERIVED_FROM": "from",
    "SUPPORTED_BY": "said again",
    "REINFORCED_BY": "echoed",
    "RETIRED_BY": "contradicted by",
}
ERASED = "(erased)"


def with_agent(home: "Home", work: "Callable[[Face], Awaitable[Answer]]", *, client: str) -> Answer:
    """What `work` answers, given the agent with its graph caught up. Raises MemoryFailure or AgentError."""
    from tui.commands.opened import with_memory
    from tui.output import Narration

    async def ask(agent: "Face", narration: Narration) -> Answer:
        return await work(agent)

    return with_memory(home, ask, client=client)


def has_memory(home: "Home") -> bool:
    """Whether anything was ever stored in a home: a question about nothing makes no memory."""
    from graph.errors import MemoryMissing
    from graph.reader import LogReader

    try:
        LogReader.open(home.memory).close()
    except MemoryMissing:
        return False
    return True


def one_of(given: str | None, known: Sequence[Word], what: str) -> Word | None:
    """A word of a closed set, in any case of letters. Raises BadParameter."""
    if given is None:
        return None
    word = clean(given).strip().lower()
    for each in known:
        if each == word:
            return each
    raise typer.BadParameter(f"{given!r} is not a valid {what}. Choose from: {', '.join(known)}.")


def read_text(words: Sequence[str], example: str) -> str:
    """The words of the command line, or what is piped in for `-`. Raises BadParameter if there are none."""
    if list(words) == ["-"] and sys.stdin is not None:
        text = text_of(sys.stdin.buffer.read(MOST_BYTES))
    else:
        text = " ".join(words)
    if not text.strip():
        raise typer.BadParameter(f"Missing text. Example: {example}")
    return clean(text)


def as_json(memory: "Observation") -> dict[str, object]:
    """An observation as JSON has it; `sources` and `supports` are ids of live turns and chunks.

    `corrected` are those of the sources whose words it puts right.
    """
    return {
        "id": memory.id,
        "text": memory.text,
        "kind": str(memory.kind),
        "status": memory.status,
        "confidence": round(memory.confidence, 4),
        "proof_count": memory.proof_count,
        "trend": memory.trend,
        "sources": list(memory.sources),
        "supports": list(memory.supports),
        "corrected": list(memory.corrected),
        "about": list(memory.about),
        "project": memory.project,
        "scope": memory.scope,
        "tags": list(memory.tags),
        "world": memory.world,
        "origin": memory.origin,
        "proposed_by": memory.proposed_by or None,
        "grounded": memory.grounded,
        "pinned": memory.pinned,
        "live": memory.live,
        "current": memory.current,
        "series": memory.series,
        "supersedes": memory.supersedes,
        "parents": list(memory.parents),
        "at": instant(memory.at),
        "first_seen": instant(memory.first_seen),
        "reference_count": memory.reference_count,
        "last_referenced_at": instant(memory.last_referenced_at) if memory.last_referenced_at else None,
        "relationship": relationship_json(memory.relationship),
        "fact_type": memory.fact_type,
        "whose": memory.whose,
        "later": [later_json(each) for each in memory.later],
    }


def later_json(later: "Later") -> dict[str, object]:
    """A turn that was said later on the topic of something, as JSON has it."""
    return {"turn": later.turn, "at": instant(later.at), "speaker": later.speaker, "text": later.text}


def later_lines(told: "Sequence[Later]", columns: int, indent: int) -> list[str]:
    """For people, a line for each, the newest first."""
    return [paint(fit(f"{' ' * indent}later: {local(each.at)}  {one_line(each.text)}", columns), "33") for each in told]


def relationship_json(told: "Relationship | None") -> dict[str, object] | None:
    """How two stand to each other, as JSON has it; the ends by name, and by the ids of their entities."""
    if told is None:
        return None
    return {
        "subject": told.subject.name,
        "kind": told.kind,
        "object": told.object.name,
        "subject_id": told.subject.id,
        "object_id": told.object.id,
        "since": told.since,
        "until": told.until,
        "polarity": told.polarity,
    }


def lines(memory: "Observation") -> str:
    """An observation for people, on two lines."""
    facts = [
        memory.id,
        local(memory.said_at),
        *([f"proposed by {memory.proposed_by}"] if memory.proposed_by else []),
        str(memory.kind),
        standing(memory),
        f"{memory.confidence:.0%}",
        counted(memory.proof_count, "proof"),
        memory.trend,
        *([f"project {memory.project}"] if memory.project else []),
        *(f"#{tag}" for tag in memory.tags),
        *(["pinned"] if memory.pinned else []),
    ]
    head = fit("  ".join(facts), width())
    return "\n".join([paint(head, "2"), *later_lines(memory.later, width(), 2), f"  {words(memory)}"])


def standing(memory: "Observation") -> str:
    """How an observation stands: its status, unless that is not all. What it stood in for may have come back."""
    if not memory.live:
        return "removed with its proof"
    if memory.status in ("candidate", "active") and not memory.current:
        if memory.parents:
            return "not in use (what it was made from no longer is)"
        return "not in use (the version it replaced came back)"
    return memory.status


def words(memory: "Observation") -> str:
    """What an observation says, in the colour of how it stands."""
    text = memory.text if memory.text is not None else ERASED
    return paint(
        fit(text, width() - 2), COLOURS[memory.status] if memory.live and standing(memory) == memory.status else "2"
    )


def put_story_json(story: "Story") -> None:
    """An observation with all there is to it, as one object."""
    put_json(
        as_json(story.observation)
        | {
            "made_from": [as_json(each) for each in story.parents],
            "revisions": [
                as_json(each) | {"proof": [_proof_json(proof) for proof in _proof(story, each)]}
                for each in story.revisions
            ],
        }
    )


def _proof(story: "Story", revision: "Observation") -> "list[Proof]":
    """The words that prove a revision: what it corrects proves those before it."""
    return [proof for proof in story.proofs.get(revision.id, ()) if proof.id not in revision.corrected]


def page(story: "Story") -> str:
    """An observation with its revisions, the oldest first, and the words that prove each."""
    memory = story.observation
    whole = one_line(memory.text) if memory.text is not None else ERASED
    told = [paint(whole, "1"), lines(memory).split("\n", 1)[0]]
    if memory.about:
        told.append(paint(fit(f"about {', '.join(memory.about)}", width()), "2"))
    for each in story.parents:
        told += [paint(fit(f"made from  {standing(each)}  {each.id}", width()), "36"), f"  {words(each)}"]
    for number, each in enumerate(story.revisions, start=1):
        head = f"{number}. {local(each.at)}  {standing(each)}  {each.id}"
        told += ["", paint(fit(head, width()), "36"), f"  {words(each)}"]
        told += [_proof_line(proof, each) for proof in _proof(story, each)]
    return "\n".join(told)


def _proof_line(proof: "Proof", revision: "Observation") -> str:
    speaker = proven_by(proof, revision) if proof.kind == "turn" else proof.speaker
    head = f"    {RELATIONS[proof.relation]}: {local(proof.at)} {one_line(speaker)} · {proof.id}"
    text = proof.text if proof.text is not None else "(now hidden or deleted)"
    return f"{paint(fit(head, width()), '2')}\n      {fit(text, width() - 6)}"


def _proof_json(proof: "Proof") -> dict[str, object]:
    return {
        "id": proof.id,
        "kind": proof.kind,
        "relation": proof.relation,
        "at": instant(proof.at),
        "live": proof.live,
        "speaker": proof.speaker,
        "session": proof.session,
        "text": proof.text,
    }
