"""`clew web`: the chat in a browser on this machine, on the loopback address only."""

import asyncio
import errno
from typing import Annotated

import typer

from tui.commands.place import home_of
from tui.exit_codes import ExitCode
from tui.output import put, say

PORT = 8421

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


@app.command()
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
