"""`clew ingest`: take documents into the memory, and bring those that are there up to date."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from tui.commands.choosing import home_of
from tui.commands.opened import with_memory
from tui.commands.removing import carry_out
from tui.exit_codes import ExitCode
from tui.output import SILENCE_S, Narration, put, put_json, say
from tui.text import by_ending, counted, one_line

if TYPE_CHECKING:
    from agent.face import Face
    from agent.ingesting.ingester import IngestProgress, IngestReport

CLIENT = "ingest"
WORD = "yes"
NOT_IN_USE = "not in use"  # taken out, or not read to its end
NO_PATH = "The path is empty. Nothing was added; give a file or a folder (`.` is the current one)."


def ingest(
    ctx: typer.Context,
    path: Annotated[str | None, typer.Argument(metavar="PATH", help="A file, or a folder with all below it.")] = None,
    project: Annotated[str | None, typer.Option("--project", metavar="NAME", help="The project it belongs to.")] = None,
    tags: Annotated[
        list[str] | None, typer.Option("--tag", metavar="WORD", help="A tag to find it by; repeatable.")
    ] = None,
    no_embed: Annotated[
        bool, typer.Option("--no-embed", help="Leave the embedding to the next chat, which does it in the background.")
    ] = False,
    prune: Annotated[
        bool, typer.Option("--prune", help="Remove documents whose files are gone, without asking.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Add documents: Markdown, text, source code and PDF.

    They are recalled and cited in chats. Without a path, the documents are listed. Run it again to read only what
    changed; if files are gone, it asks before it removes their documents. `clew undo` undoes an ingest; `clew delete`
    deletes a document permanently. Ctrl+C keeps the files read so far.
    """
    if path is not None and not path.strip():
        raise typer.BadParameter(NO_PATH)

    async def work(agent: "Face", narration: Narration) -> bool:
        if path is None:
            return await _list(agent, as_json=as_json)

        def progress(step: "IngestProgress") -> None:
            narration.tell(f"reading {step.done:,} of {step.total:,}: {one_line(step.file)}")

        reading = agent.documents.ingest(Path(path), project=project, tags=tags or [])
        async for step in reading:
            progress(step)
        report = await reading
        narration.clear()
        for line in [] if as_json else words(report):
            put(line)
        taken_out = await _take_out(agent, report.missing, prune=prune, as_json=as_json) if report.missing else False
        if as_json:
            put_json(figures(report, taken_out=taken_out))
        if not no_embed:
            await _embed(agent, narration)
        return not report.skipped

    if not with_memory(home_of(ctx), work, client=CLIENT, brief=path is None, silence_s=SILENCE_S):
        raise typer.Exit(ExitCode.BAD_DATA)


async def _embed(agent: "Face", narration: Narration) -> None:
    """Embed what was read, and tell how far that is."""
    from agent.agent import Agent
    from agent.events import EmbeddingProgress

    async def follow() -> None:
        async for notice in agent.notices():
            if isinstance(notice, EmbeddingProgress) and notice.state == "embedding":
                narration.tell(f"embedding {notice.done:,} of {counted(notice.total, 'text')}")

    following = asyncio.create_task(follow())
    try:
        if isinstance(agent, Agent):  # a service does so by itself
            cast("Agent", agent).embed()
        await agent.idle()
    finally:
        following.cancel()


async def _list(agent: "Face", *, as_json: bool) -> bool:
    documents = await agent.documents.all()
    if as_json:
        put_json([_document(each) for each in documents])
        return True
    if not documents:
        say("No documents yet. `clew ingest PATH` adds a file or a folder.")
    for each in documents:
        pieces = counted(each.chunks, "passage").rjust(14) if each.chunks else NOT_IN_USE
        put(f"{each.id}  {each.type:8}  {pieces:14}  {one_line(each.title)}  ({one_line(each.path)})")
    return True


async def _take_out(agent: "Face", missing: Sequence[str], *, prune: bool, as_json: bool) -> bool:
    """Take documents whose files are gone out of the memory, if that is agreed to; whether it was done."""
    plan = await agent.plans.take_out(missing)
    if not as_json:
        done = await carry_out(agent, plan, word=WORD, yes=prune, dry_run=False, as_json=False)
        one = len(missing) == 1
        removed = f"{'It was' if one else 'They were'} removed from the memory."
        stays = f"{'It stays' if one else 'They stay'} in the memory. Use --prune to remove {'it' if one else 'them'}."
        say(removed if done else stays)
        return done
    if prune:
        await agent.plans.carry_out(plan)
    return prune


def _document(each: Any) -> dict[str, Any]:
    return {
        "id": each.id,
        "title": each.title,
        "path": each.path,
        "type": each.type,
        "project": each.project,
        "tags": list(each.tags),
        "size": each.size,
        "chunks": each.chunks,
        "at": each.at.isoformat(),
    }


def figures(report: "IngestReport", *, taken_out: bool) -> dict[str, Any]:
    """The report for programs; of the files that are gone, whether their documents were taken out."""
    return {
        "path": report.path,
        "added": report.added,
        "refreshed": report.refreshed,
        "unchanged": report.unchanged,
        "missing": [] if taken_out else report.missing,
        "removed": report.missing if taken_out else [],
        "skipped": [{"path": path, "why": why} for path, why in report.skipped],
        "others": report.others,
        "guessed": report.guessed,
        "chunks": report.chunks,
        "stopped": report.stopped,
    }


def words(report: "IngestReport") -> list[str]:
    """The report for people."""
    parts = [
        f"{len(files):,} {what}"
        for what, files in (
            ("new", report.added),
            ("refreshed", report.refreshed),
            ("unchanged", report.unchanged),
            ("gone from the disk", report.missing),
        )
        if files
    ]
    pieces = f" ({counted(report.chunks, 'new passage')})" if report.chunks else ""
    lines = [f"Documents: {', '.join(parts) or 'none'}{pieces}."]
    lines += [f"Left out: {one_line(why)}" for _, why in report.skipped]
    lines += [f"Not all UTF-8, so some letters are guesses: {one_line(path)}" for path in report.guessed]
    if report.others:
        lines.append(f"Skipped, because clew reads Markdown, text, code and PDF: {by_ending(report.others)}.")
    if report.stopped:
        lines.append("Stopped. What was read stays; run the same command again to continue.")
    return lines
