"""`clew mcp` and `web`: the memory for other programs, and the chat in a browser on this machine."""

import asyncio
import errno
import sys
from typing import Annotated

import typer

from tui.commands.choosing import home_of
from tui.commands.log import text_of
from tui.exit_codes import ExitCode
from tui.output import put, say

ON_A_TERMINAL = """clew mcp speaks the Model Context Protocol on stdin and stdout to the program that starts it.
Configure that program to run `clew mcp`, for example:
{"clew": {"command": "clew", "args": ["mcp"]}}"""


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


PORT = 8421


def web(
    ctx: typer.Context,
    port: Annotated[
        int, typer.Option(metavar="PORT", min=0, max=65535, help="The port to listen on; 0 picks any free port.")
    ] = PORT,
) -> None:
    """Use clew in a browser on this computer. It prints the address to open and runs until Ctrl+C.

    The address contains a secret token. Other computers cannot connect, and nothing is loaded from the internet. A chat
    ends when its page is closed.
    """
    home = home_of(ctx)
    from tui.web.server import LOOPBACK, listen, serve

    try:
        listening = listen(port)
    except OSError as error:
        say(f"clew: {_why(port, error)} Nothing was started. Try --port {port + 1 if port < 65535 else PORT}, or "
            "--port 0 for any free port.")  # fmt: skip
        raise typer.Exit(ExitCode.FAILED) from error
    say(
        f"clew is listening on {LOOPBACK} only. Open this address in a browser on this computer. Ctrl+C stops it "
        "and its chats."
    )
    raise typer.Exit(asyncio.run(serve(home.root, listening, put)))


def _why(port: int, error: OSError) -> str:
    match error.errno:
        case errno.EADDRINUSE:
            return f"Port {port} is already in use by another program."
        case errno.EACCES:
            return f"Port {port} is reserved for the system."
        case _:
            return f"Port {port} cannot be used: {error.strerror or error}."
