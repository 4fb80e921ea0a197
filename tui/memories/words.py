"""How an observation is told: its row, its trend drawn as a line of bars, its revisions and its source words."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from textual.content import Content

from tui.reasons import proven_by
from tui.relationships import related
from tui.state import State, graph_trouble
from tui.text import MUTED, cut, one_line, plain, shown, size_of, when

if TYPE_CHECKING:
    from agent.synthesis import Proposal
    from graph.values import Observation, Proof, Story


PIN = "◆"
BOTH = "What do both say together?"
CHOOSE_TWO = "Choose a memory and press m, then another one and press m again."
STATUS_MARKS = {
    "active": ("●", "$success"),
    "candidate": ("?", "$warning"),
    "superseded": ("↷", MUTED),
    "invalid": ("✕", "$error"),
}
STANDING = ("active", "candidate")
STATUS_WORDS = {"active": "in use", "candidate": "to review", "superseded": "superseded", "invalid": "not true"}
BARS = "▁▂▃▄▅▆▇█"
SPARKS, SPARK_DAYS = 6, 30  # the last half year, a bar a month
MOST_SHOWN = 4_000  # characters of a text, of which there should be thirty words
MOST_QUOTED = 400
ERASED = "erased"
RELATIONS = {
    "DERIVED_FROM": "",
    "SUPPORTED_BY": "same statement",
    "REINFORCED_BY": "repeated it",
    "RETIRED_BY": "contradicts it",
}


def sparkline(times: Sequence[datetime], now: datetime) -> str:
    """One bar for each of the last months, the newest last: a blank base for none, full from seven times on."""
    counts = [0] * SPARKS
    for at in times:
        age = (now - at) // timedelta(days=SPARK_DAYS)
        if 0 <= age < SPARKS:
            counts[SPARKS - 1 - age] += 1
        elif age < 0:
            counts[-1] += 1
    return "".join(BARS[min(count, len(BARS) - 1)] for count in counts)


def proposed_by(proposal: "Proposal") -> str:
    """Whose words are proposed for a memory made from two."""
    whose = f"Worded by {one_line(proposal.model)}" if proposal.model else "Their own words"
    return f"{whose}; at most 30 words. It is in use while both memories are."


def day(at: datetime) -> str:
    """A date as it stands in a timeline: 2026-03-02, in the reader's time zone."""
    return f"{at.astimezone():%Y-%m-%d}"


def row(observation: "Observation", width: int, now: datetime) -> list[Content]:
    """Two lines: the text behind its status; kind, proofs, trend and when."""
    mark, style = STATUS_MARKS[observation.status]
    text = ERASED if observation.text is None else one_line(observation.text[: 4 * width])
    quiet = observation.status in ("superseded", "invalid") or not observation.live or observation.text is None
    quiet = quiet or (observation.relationship is not None and observation.relationship.until is not None)
    pin = plain(f"{PIN} ", "$primary") if observation.pinned else Content("")
    head = Content.assemble(plain(f"{mark} ", style), pin, plain(text, MUTED if quiet else ""))
    parts = [observation.kind, f"{observation.proof_count}×" if observation.proof_count > 1 else ""]
    by = f"proposed by {one_line(observation.proposed_by)}" if observation.proposed_by else ""
    facts = " · ".join([*filter(None, [*parts, by]), when(observation.said_at, now)])
    spark = sparkline(observation.times, now)
    gone = "" if observation.live else " · gone"
    newer = observation.later[:1]
    since = "".join(f" · later, {when(each.at, now)}: “{one_line(each.text[:width])}”" for each in newer)
    told = Content.assemble("  ", plain(spark, "$accent"), plain(f"  {facts}{gone}", MUTED), plain(since, "$warning"))
    return [head, told]


def later(observation: "Observation", now: datetime) -> list[Content]:
    """What was said later on its topic, the newest first: it stands before what it may outdate."""
    return [
        plain(f"{when(each.at, now)} later: “{_bounded(one_line(each.text))}”", "$warning")
        for each in observation.later
    ]


def detail(story: "Story", place: int, now: datetime, width: int) -> tuple[Content, int]:
    """All there is to an observation in `width` cells, and the line at which the source `place` stands."""
    observation = story.observation
    text = plain(_bounded(observation.text), "bold" if observation.text is not None else f"italic {MUTED}")
    said = f"said {day(observation.said_at)}"
    lines = [*later(observation, now), text, plain(said, MUTED), Content("")]
    lines += [_standing(observation), *_facts(observation, now)]
    if story.parents:
        lines += [Content(""), plain("Made from", "bold $secondary"), *_parents(story, width)]
    if observation.relationship is not None:
        lines.append(plain(related(observation.relationship), MUTED if observation.relationship.until else "$accent"))
    if len(story.revisions) > 1:
        lines += [Content(""), plain("History", "bold $secondary"), *_timeline(story, width)]
    lines += [Content(""), plain("Proof", "bold $secondary")]
    found = proofs(story)
    whose = {(proof.id, proof.relation): each for each in story.revisions for proof in story.proofs.get(each.id, ())}
    corrected = {id for revision in story.revisions for id in revision.corrected}
    at = 0
    for number, proof in enumerate(found):
        if number == place:
            at = sum(_height(line, width) for line in lines)
        earlier = proof not in story.proofs.get(observation.id, ())
        by = proven_by(proof, whose.get((proof.id, proof.relation), observation))
        notes = ("of an earlier version" if earlier else "", "corrected since" if proof.id in corrected else "")
        lines.append(_quote(proof, by, width, chosen=number == place, notes=notes))
    if not found:
        lines.append(plain("Its proof can no longer be shown.", MUTED))
    return Content("\n").join(lines), at


def _height(line: Content, width: int) -> int:
    return max(1, line.get_height({}, max(1, width)))


def _hanging(first: Content, words: Content, width: int, indent: int) -> Content:
    """Words behind `first`, their further lines set in by `indent`."""
    room = max(8, width - indent)
    lines = (first[indent:] + words).wrap(room)
    return Content.assemble(first[:indent], Content("\n" + " " * indent).join(lines))


def _standing(observation: "Observation") -> Content:
    mark, style = STATUS_MARKS[observation.status]
    pin = f" · {PIN} pinned" if observation.pinned else ""
    gone = "" if observation.live else " · its proof is no longer in memory"
    if observation.live and observation.parents and not observation.current and observation.status in STANDING:
        gone = " · not used: what it was made from no longer is"
    return Content.assemble(
        plain(f"{mark} {STATUS_WORDS[observation.status]}", style),
        plain(f" · {observation.kind} · {100 * observation.confidence:.0f}% sure{pin}{gone}", MUTED),
    )


def _facts(observation: "Observation", now: datetime) -> list[Content]:
    scope = "global" if observation.tags else one_line(observation.scope) or "global"
    facts = [
        observation.trend,
        f"{observation.proof_count} {'proof' if observation.proof_count == 1 else 'proofs'}",
        f"first said {day(observation.first_seen)}",
    ]
    spark = plain(sparkline(observation.times, now), "$accent")
    lines = [Content.assemble(spark, plain(f" {' · '.join(facts)}", MUTED))]
    tags = "".join(f" · #{one_line(tag)}" for tag in observation.tags)
    where = (scope if not observation.project else f"project {one_line(observation.project)}") + tags
    about = f" · about {one_line(', '.join(observation.about))[:200]}" if observation.about else ""
    if about or where != "global":
        lines.append(plain(f"{where}{about}", MUTED))
    if observation.reference_count and observation.last_referenced_at is not None:
        last = when(observation.last_referenced_at, now)
        lines.append(plain(f"came up again {observation.reference_count}×, last {last}", MUTED))
    if not observation.grounded:
        lines.append(plain("not fully supported by the proof below", "$warning"))
    return lines


def _parents(story: "Story", width: int) -> list[Content]:
    lines = []
    for parent in story.parents:
        mark, style = STATUS_MARKS[parent.status]
        head = Content.assemble(plain(f"{day(parent.at)} ", MUTED), plain(f"{mark} ", style))
        text = ERASED if parent.text is None else one_line(parent.text[:MOST_QUOTED])
        gone = "" if parent.live else " · gone"
        lines.append(_hanging(head, plain(f"{text}{gone}", "" if parent.current else MUTED), width, head.cell_length))
    return lines


def _timeline(story: "Story", width: int) -> list[Content]:
    lines = []
    for revision in story.revisions:
        here = revision.id == story.observation.id
        mark, style = STATUS_MARKS[revision.status]
        text = ERASED if revision.text is None else one_line(revision.text[:MOST_QUOTED])
        arrow = "→" if revision is not story.revisions[0] else " "
        head = Content.assemble(plain(f"{day(revision.at)} {arrow} ", MUTED), plain(f"{mark} ", style))
        words = plain(text, "bold" if here else MUTED if not revision.current else "")
        lines.append(_hanging(head, words, width, head.cell_length))
    return lines


def proofs(story: "Story") -> "list[Proof]":
    """The words behind the newest revision, then those behind the earlier ones, which it may correct; each once."""
    found: dict[tuple[str, str], Proof] = {}
    for revision in (story.observation, *reversed(story.revisions)):
        for proof in story.proofs.get(revision.id, ()):
            if proof.id not in revision.corrected:
                found.setdefault((proof.id, proof.relation), proof)
    return list(found.values())


def _quote(proof: "Proof", by: str, width: int, *, chosen: bool, notes: "tuple[str, ...]") -> Content:
    speaker = by if proof.kind == "turn" else f"from {one_line(proof.speaker)}"
    about = (RELATIONS[proof.relation], *notes, "" if proof.live else "no longer in memory")
    told = " · ".join(part for part in about if part)
    text = ERASED if proof.text is None else f"“{cut(proof.text[: 2 * MOST_QUOTED], MOST_QUOTED)}”"
    head = Content.assemble(
        plain("› " if chosen else "  ", "bold $primary"),
        plain(f"{day(proof.at)} {speaker}{f' ({told})' if told else ''}: ", "bold" if chosen else MUTED),
    )
    return _hanging(head, plain(text, "" if proof.live else MUTED), width, 2)


def _bounded(text: str | None) -> str:
    if text is None:
        return ERASED
    if len(text) <= MOST_SHOWN:
        return shown(text)
    return (
        f"{shown(text[:MOST_SHOWN])}… {size_of(len(text.encode('utf-8', errors='replace')))} in all; press c "
        "to see the rest"
    )


def trouble_of(state: "State") -> str:
    """What keeps the list from being whole just now; empty where nothing does."""
    return graph_trouble(
        state,
        opening="The memory graph is still opening. Memories are shown as soon as it is ready.",
        until=". Memories are shown when that is done.",
        failed="The graph cannot be read, so memories cannot be shown. Run `clew doctor` to find out why.",
    )
