"""`clew import` and `export`: chats from elsewhere, each message once, and chats as files for elsewhere."""

import asyncio
import shutil
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager, nullcontext, suppress
from enum import StrEnum
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tui.commands.choosing import home_of, reader_of, session_of
from tui.commands.waiting import tell_erasing
from tui.exit_codes import ExitCode
from tui.output import Narration, put, put_json, say
from tui.text import counted, one_line, shown

if TYPE_CHECKING:
    from agent.agent import Agent
    from agent.events import Notice
    from agent.home import Home
    from agent.importer import ImportProgress, ImportReport
    from graph.reader import LogReader
    from graph.transfer.merging import Merged


CLIENT = "import"
GO_ON = "What was imported stays; run the same command again to continue."


def import_(
    ctx: typer.Context,
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE", help="clew's export, conversations.json or the .zip with it, JSON Lines; `-` reads it."
        ),
    ],
    no_embed: Annotated[
        bool, typer.Option("--no-embed", help="Leave the embedding to the next chat, which does it in the background.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Import chats from clew, ChatGPT, Claude or JSON Lines.

    Also reads LoCoMo-shaped JSON, and lines of role, text and time.

    Importing a file again, or a newer export of the same chats, adds only what is new; what was deleted here stays
    deleted. Times without an offset are taken as UTC. Ctrl+C loses nothing that was imported.
    """
    from agent.agent import Agent
    from agent.settings import load_settings
    from models.quiet import guard_descriptors

    home = home_of(ctx)
    settings = load_settings(home.config)
    guard_descriptors(home.native_log)
    agent = Agent(home, settings, client=CLIENT, brief=True)
    try:
        with piped(home) if str(file) == "-" else nullcontext(file) as given:
            report = asyncio.run(_import(agent, given, str(file), embed=not no_embed, as_json=as_json))
    except KeyboardInterrupt:
        say(f"Stopped. {GO_ON}")
        raise typer.Exit(ExitCode.INTERRUPTED) from None
    if report.bad_count or report.missing or report.differing or (report.merged and report.merged.refused):
        raise typer.Exit(ExitCode.BAD_DATA)


@contextmanager
def piped(home: "Home") -> Iterator[Path]:
    """What comes through a pipe, as a file that can be read twice; nothing of it is left, however clew ends."""
    with TemporaryFile(dir=home.cache) as kept, TemporaryDirectory(prefix="clew-") as folder:
        shutil.copyfileobj(sys.stdin.buffer, kept)
        kept.flush()
        path = Path(folder) / "standard input"
        path.symlink_to(f"/dev/fd/{kept.fileno()}")
        yield path


async def _import(agent: "Agent", file: Path, named: str, *, embed: bool, as_json: bool) -> "ImportReport":
    """Import, report, and then embed; the graph, which would follow each message, catches up at the next start."""
    narration = Narration()
    notices = asyncio.create_task(_narrate(agent.notices(), narration))
    try:
        await agent.start(load_model=False, load_embedder=False, open_graph=False)

        def progress(step: "ImportProgress") -> None:
            of = (
                f"importing {step.done:,} of {counted(step.total, 'message')}"
                if step.total
                else f"reading {file.name} …"
            )
            narration.tell(of)

        importing = agent.documents.import_chats(file)
        async for step in importing:
            progress(step)
        report = await importing
        report.file = named
        narration.clear()
        if as_json:
            put_json(figures(report))
        else:
            for line in words(report):
                put(line)
        if report.merged is not None and report.merged.deleted:
            agent.open_graph()
            await agent.erasure.finished()
        if embed:
            agent.embed()
            await agent.idle()
        return report
    finally:
        narration.clear()
        await tell_erasing(agent)
        await agent.close()
        notices.cancel()
        with suppress(asyncio.CancelledError):
            await notices


async def _narrate(notices: "AsyncIterator[Notice]", narration: Narration) -> None:
    """Who is waited for, and how far the embedding is."""
    from agent.events import EmbeddingProgress, MemoryAwaited, MemoryPreparing, Warned

    async for notice in notices:
        match notice:
            case MemoryPreparing(done=done, total=total):
                narration.tell(f"preparing the memory for this version: {done:,} of {total:,} events …")
            case MemoryAwaited():
                narration.tell(f"{notice.message} …")
            case EmbeddingProgress(state="loading"):
                narration.tell("loading the embedder …")
            case EmbeddingProgress(state="embedding"):
                narration.tell(f"embedding {notice.done:,} of {counted(notice.total, 'text')}")
            case EmbeddingProgress(state="failed") | Warned():
                narration.clear()
                say(f"clew: {notice.message}")
            case _:
                pass


def figures(report: "ImportReport") -> dict[str, Any]:
    """The report for programs."""
    return {
        "file": report.file,
        "format": report.format,
        "chats": {
            "new": report.chats_new,
            "continued": report.chats_grown,
            "known": report.chats_known,
            "archived": report.archived,
        },
        "messages": {
            "new": report.new,
            "known": report.known,
            "gone": report.gone,
            "differing": report.differing,
            "skipped": dict(report.skipped),
            "odd": report.odd,
        },
        **({"events": _of_events(report.merged, report.missing)} if report.merged is not None else {}),
        "times": {"future": report.future, "without_offset": report.naive},
        "broken_lines": {
            "count": report.bad_count,
            "first": [{"line": number, "why": why} for number, why in report.bad],
        },
    }


def _of_events(merged: "Merged", missing: int) -> dict[str, Any]:
    """What became of the events of an export of clew's own, for programs."""
    return {
        "new": merged.new,
        "known": merged.known,
        "erased_here": merged.erased,
        "deleted": merged.deleted,
        "missing": missing,
        "older": merged.older,
        "refused": dict(merged.refused),
        "first_refused": [{"line": number, "why": why} for number, why in merged.first_refused],
    }


def _told_of_events(merged: "Merged") -> list[str]:
    """What became of the events of an export of clew's own, for people."""
    lines = [f"{counted(merged.new, 'event')} in all; {merged.known:,} known before."]
    if merged.erased:
        lines.append(f"{counted(merged.erased, 'event')} of what was erased here, and stays erased.")
    if merged.deleted:
        lines.append(f"{counted(merged.deleted, 'deletion')} that the export knows of made here too.")
    if merged.older:
        lines.append(f"{counted(merged.older, 'change')} left out: it was changed here later.")
    if merged.refused:
        first = "; ".join(f"line {number}: {one_line(why)}" for number, why in merged.first_refused)
        left = merged.refused.total() - len(merged.first_refused)
        more = f"; and {left:,} more" if left > 0 else ""
        lines.append(f"{counted(merged.refused.total(), 'event')} could not be imported ({first}{more}).")
    return lines


def words(report: "ImportReport") -> list[str]:
    """The report for people."""
    grown = f", {report.chats_grown:,} of which went on" if report.chats_grown else ""
    chats = counted(report.chats_new + report.chats_grown, "chat")
    lines = [f"Imported {counted(report.new, 'message')} in {chats}{grown} ({report.format})."]
    if report.merged is not None:
        return [*lines, *_told_of_events(report.merged), *_missing(report), *_broken(report)]
    if report.archived:
        was = "is archived, as it was there" if report.archived == 1 else "are archived, as they were there"
        lines.append(f"{report.archived:,} of the chats {was}.")
    if report.known:
        gone = f", {report.gone:,} of them erased or hidden here, and left so" if report.gone else ""
        were = "was" if report.known == 1 else "were"
        lines.append(f"{counted(report.known, 'message')} {were} there already{gone}.")
    if report.differing == 1:
        lines.append(
            "1 message has the same id as one imported before but other words: it is kept beside that one, as another "
            "version of it or in a chat of its own."
        )
    elif report.differing:
        lines.append(
            f"{report.differing:,} messages have the same ids as ones imported before but other words: they are kept "
            "beside those, as other versions of them or in chats of their own."
        )
    if report.skipped:
        parts = ", ".join(f"{count:,} {why}" for why, count in report.skipped.most_common())
        lines.append(f"Left out: {parts}.")
    lines += [f"Not understood, and left out: {each}." for each in report.odd]
    if report.future:
        lines.append(f"{counted(report.future, 'time')} in the future not kept: the nearest one known is taken.")
    if report.naive:
        lines.append(f"{counted(report.naive, 'time')} without an offset taken as UTC.")
    return [*lines, *_broken(report)]


def _missing(report: "ImportReport") -> list[str]:
    """Whether the file was cut off between two lines."""
    if not report.missing:
        return []
    events = counted(report.counted, "event")
    return [
        f"{report.missing:,} of the {events} that the file should have are not in it: it was cut off, or lines were "
        "taken out. Export again and import the whole file: only they will be added."
    ]


def _broken(report: "ImportReport") -> list[str]:
    """Which lines were broken."""
    if not report.bad_count:
        return []
    first = "; ".join(f"line {number}: {one_line(why)}" for number, why in report.bad)
    more = f"; and {report.bad_count - len(report.bad):,} more" if report.bad_count > len(report.bad) else ""
    return [
        f"{counted(report.bad_count, 'line')} broken, left out ({first}{more}).",
        "Fix them and import the file again: only they will be added.",
    ]


class ExportFormat(StrEnum):
    """What an export is written as."""

    JSONL = "jsonl"
    MARKDOWN = "markdown"


def export(
    ctx: typer.Context,
    session: Annotated[str | None, typer.Option("--session", metavar="ID", help="Export only this chat.")] = None,
    all_: Annotated[bool, typer.Option("--all", help="Export everything (the default).")] = False,
    format_: Annotated[
        ExportFormat, typer.Option("--format", help="jsonl for another clew, or markdown to read.")
    ] = ExportFormat.JSONL,
    seer: Annotated[
        str | None, typer.Option("--as", metavar="NAME", help="Of a story: only what one of its cast saw.")
    ] = None,
    scene: Annotated[str | None, typer.Option("--scene", metavar="TITLE", help="Of a story: only one scene.")] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write to this file instead of stdout.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing file.")] = False,
) -> None:
    """Export chats as JSON Lines or Markdown. JSON Lines has every event, and `clew import` can read it.

    A single chat comes with its messages and the memories learned from them alone. Markdown leaves out other versions
    and what is hidden or deleted. Vectors are not exported. With --as or --scene it is to be read: the messages of a
    story as they were seen, which nothing imports.
    """
    if session is not None and all_:
        say("clew: use either --session or --all, not both.")
        raise typer.Exit(ExitCode.USAGE)
    if (seer is not None or scene is not None) and session is None:
        say("clew: --as and --scene need the chat of a story: --session ID. `clew story list` names them.")
        raise typer.Exit(ExitCode.USAGE)
    reader = reader_of(ctx)
    if session is not None and (seer is not None or scene is not None):
        pieces = _script(reader, session, format_, seer, scene)
    else:
        pieces = _pieces(reader, session, format_)
    if output is None:
        safe = sys.stdout.isatty()  # a terminal obeys control characters
        for piece in pieces:
            put(shown(piece) if safe else piece, end="")
    else:
        from agent.exporting import into_file

        into_file(output.absolute(), pieces, replace=force)
        say(f"Written to {output}.")


def _pieces(reader: "LogReader", session: str | None, form: ExportFormat) -> "Iterator[str]":
    from agent.exporting import as_jsonl, as_markdown
    from tui.version import VERSION

    wanted = session_of(reader, session).id if session is not None else None
    if form is ExportFormat.JSONL:
        return as_jsonl(reader, clew=VERSION, session=wanted)
    return as_markdown(reader, session=wanted)


def _script(
    reader: "LogReader", session: str, form: ExportFormat, seer: str | None, scene: str | None
) -> "Iterator[str]":
    """What was seen of a story. Raises NotFound or AgentError."""
    from agent.story.script import as_lines, as_markdown, script_of

    script = script_of(reader, session_of(reader, session).id, seer=seer, scene=scene)
    return as_lines(script) if form is ExportFormat.JSONL else as_markdown(script)
