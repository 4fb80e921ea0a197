"""`clew export`: chats as a file, for another clew or for people. Reads the log without a lock, beside a chat."""

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tui.commands.choosing import session_of
from tui.commands.place import home_of
from tui.exit_codes import ExitCode
from tui.output import put, say
from tui.text import shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from graph.reading import LogReader

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


class ExportFormat(StrEnum):
    """What an export is written as."""

    JSONL = "jsonl"
    MARKDOWN = "markdown"


@app.command()
def export(
    ctx: typer.Context,
    session: Annotated[str | None, typer.Option("--session", metavar="ID", help="Export only this chat.")] = None,
    all_: Annotated[bool, typer.Option("--all", help="Export everything (the default).")] = False,
    format_: Annotated[
        ExportFormat, typer.Option("--format", help="jsonl for another clew, or markdown to read.")
    ] = ExportFormat.JSONL,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write to this file instead of stdout.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing file.")] = False,
) -> None:
    """Export chats as JSON Lines or Markdown. JSON Lines has every event, and `clew import` can read it.

    A single chat comes with its messages and the memories learned from them alone. Markdown leaves out other versions
    and what is hidden or deleted. Vectors are not exported.
    """
    from graph.reading import LogReader

    if session is not None and all_:
        say("clew: use either --session or --all, not both.")
        raise typer.Exit(ExitCode.USAGE)
    reader = LogReader.open(home_of(ctx, writing=False).memory)
    try:
        pieces = _pieces(reader, session, format_)
        if output is None:
            safe = sys.stdout.isatty()  # a terminal obeys control characters
            for piece in pieces:
                put(shown(piece) if safe else piece, end="")
        else:
            from agent.exporting import into_file

            into_file(output.absolute(), pieces, replace=force)
            say(f"Written to {output}.")
    finally:
        reader.close()


def _pieces(reader: "LogReader", session: str | None, form: ExportFormat) -> "Iterator[str]":
    from agent.exporting import as_jsonl, as_markdown
    from tui.version import VERSION

    wanted = session_of(reader, session).id if session is not None else None
    if form is ExportFormat.JSONL:
        return as_jsonl(reader, clew=VERSION, session=wanted)
    return as_markdown(reader, session=wanted)
