"""The home folder of a command: --home, else CLEW_HOME, else the user's own."""

from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from agent.home import Home


def home_of(ctx: typer.Context, *, writing: bool = True, make: bool | None = None) -> "Home":
    """The home that the command line names, its folders made; one that is only read from need not be writable.

    Where there is none, a command that only reads makes none, unless it says so (`make`). Raises HomeError.
    """
    from agent.home import Home

    named = ctx.find_root().params.get("home")
    return Home.resolve(Path(named) if named else None, writing=writing, make=writing if make is None else make)
