"""`clew mcp`: the memory for other programs, over the Model Context Protocol on stdin and stdout."""

import sys
from typing import Annotated

import typer

from tui.commands.log import text_of
from tui.commands.place import home_of
from tui.exit_codes import ExitCode
from tui.output import say

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)

ON_A_TERMINAL = """clew mcp speaks the Model Context Protocol on stdin and stdout to the program that starts it.
Configure that program to run `clew mcp`, for example:
{"clew": {"command": "clew", "args": ["mcp"]}}"""


@app.command()
def mcp(
    ctx: typer.Context,
    project: Annotated[
        str | None, typer.Option(metavar="NAME", help="Act as a chat in this project; otherwise outside all projects.")
    ] = None,
) -> None:
    """Serve the memory to other programs. Tools: recall, recent, about, remember (for your review), relations, query.

    Add `clew mcp` to those programs as an MCP server over stdio; they start it themselves. It reads what is in use and
    writes only proposals, which wait for your review (`clew review`); mcp_remember in the settings changes that. What
    belongs to a project is available only if the project is named, here or in a call.
    """
    home = home_of(ctx)
    if sys.stdin.isatty():
        say(ON_A_TERMINAL)
        raise typer.Exit(ExitCode.USAGE)
    from models.quiet import guard_descriptors

    guard_descriptors(home.native_log)
    from tui.mcp.server import serve

    try:
        serve(home, project=text_of(project))
    except KeyboardInterrupt:
        raise typer.Exit(ExitCode.INTERRUPTED) from None
