"""`clew rebuild`: the graph anew from the log, which is not changed."""

import time
from typing import TYPE_CHECKING, Annotated

import typer

from tui.commands.place import home_of
from tui.output import Narration, put_json, say
from tui.text import counted

if TYPE_CHECKING:
    from graph.values import Progress

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


@app.command()
def rebuild(
    ctx: typer.Context,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Rebuild the graph from the log. No other clew may be using the memory. Nothing can be lost."""
    from graph.memory import Memory
    from graph.reading import LogReader
    from models.quiet import guard_descriptors

    home = home_of(ctx)
    LogReader.open(home.memory).close()  # a home without a memory is not given one here
    guard_descriptors(home.native_log)
    narration = Narration()
    started = time.perf_counter()
    memory = Memory.open(home.memory, command="clew rebuild")
    try:
        memory.rebuild(lambda step: narration.tell(describe(step)))
        events = memory.head()
    finally:
        narration.clear()
        memory.close()
    seconds = time.perf_counter() - started
    if as_json:
        put_json({"events": events, "seconds": round(seconds, 3)})
    say(f"The graph was rebuilt: {counted(events, 'event')} in {seconds:.1f} s.")


def describe(step: "Progress") -> str:
    """How far work on the graph is, on one line."""
    of = f": {step.done:,} of {counted(step.total, 'event')}" if step.total else " …"
    return f"{step.what} the graph{of}"
