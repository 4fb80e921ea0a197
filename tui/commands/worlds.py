"""Which world a command shows: what `--world` means, and how it is said where it is not the main one."""

from contextlib import closing
from typing import TYPE_CHECKING

from tui.commands.sessions import MAIN
from tui.output import say
from tui.text import clean, one_line

if TYPE_CHECKING:
    from agent.home import Home
    from graph.reading import LogReader

WORLD = "In this what-if, given by its id or by one of its chats."


def world_in(reader: "LogReader", named: str | None, *, told: str = "In") -> str:
    """The id of the world that is named, main where none is; one that is not main is said on stderr, with its name.

    Raises NotFound or Ambiguous.
    """
    if named is None:
        return MAIN
    world = reader.world(clean(named).strip())
    if world.id != MAIN:
        say(f"{told} the what-if {f'“{one_line(world.name)}” ' if world.name else ''}({one_line(world.id)}).")
    return world.id


def world_of(home: "Home", named: str | None, *, told: str = "In") -> str:
    """As `world_in`, of the memory of a home; where none is named, nothing is opened. Raises MemoryMissing too."""
    if named is None:
        return MAIN
    from graph.reading import LogReader

    with closing(LogReader.open(home.memory)) as reader:
        return world_in(reader, named, told=told)
