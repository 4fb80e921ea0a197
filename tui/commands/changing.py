"""What the commands that change or delete share: the impact shown first, then asked for, then carried out as shown."""

import sys
from typing import TYPE_CHECKING

import typer

from graph.errors import NotFound
from tui.commands.choosing import SHORT, SHORTEST_PREFIX
from tui.exit_codes import ExitCode
from tui.impact import as_json as impact_as_json
from tui.impact import lines_of
from tui.output import paint, put, put_json, say
from tui.text import one_line

if TYPE_CHECKING:
    from agent.agent import Agent
    from agent.erasure import Purged
    from agent.plans import Plan

FOR_GOOD = "This cannot be undone."
UNDONE_BY = "`clew undo` undoes this."


async def carry_out(agent: "Agent", plan: "Plan", *, word: str | None, yes: bool, dry_run: bool, as_json: bool) -> bool:
    """Show a plan, and do it if that is agreed to by typing `word` (None: nobody is asked); whether it was done.

    With `dry_run` it is only shown. Waits until what is erased is purged. As JSON it is told once, when all is over.
    """
    if not as_json:
        _show(plan)
    agreed = not dry_run and (yes or word is None or (not as_json and _confirmed(word)))
    purged: Purged | None = None
    if agreed:
        await agent.plans.carry_out(plan)
        if plan.impact.erases:
            purged = await agent.erasure.finished()
            if purged.pending is not None or (purged.texts and not purged.leftovers):
                say(told_of(purged))
    if as_json:
        told = {"what": plan.what, "notes": list(plan.notes), "impact": impact_as_json(plan.impact), "done": agreed}
        put_json(told | ({"purged": purged.pending is None and not purged.leftovers} if purged is not None else {}))
    if purged is not None:
        end_purge(purged)
    return agreed


def end_purge(purged: "Purged") -> None:
    """Exit with the code for what could not be erased, where words are left in some file."""
    if purged.pending is None and purged.leftovers:  # the purge told which files by itself
        say("It is deleted from every chat and from memory, but not from every file.")
    if purged.leftovers or purged.pending is not None:
        raise typer.Exit(ExitCode.IO_ERROR)


def end(done: bool, *, dry_run: bool, said: str, instead: str) -> None:
    """Say how it ended; what was to be done and was not exits with 1."""
    if done:
        say(said)
    elif dry_run:
        say("Nothing was changed.")
    else:
        say(instead)
        raise typer.Exit(ExitCode.FAILED)


async def turn_of(agent: "Agent", wanted: str) -> str:
    """The id of the turn that is meant, by the beginning of it, whichever of its exchange. Raises NotFound."""
    try:
        exchange = await agent.chats.exchange(wanted)
    except NotFound as missing:
        if len(wanted) >= SHORTEST_PREFIX:
            raise
        raise NotFound(
            f"There is no message {one_line(wanted) or 'without an id'}. {SHORT}`clew log` lists them."
        ) from missing
    said = [exchange.turn, *exchange.tools, *([exchange.reply] if exchange.reply else [])]
    return next((turn.id for turn in said if turn.id.startswith(wanted.upper())), exchange.turn.id)


def _show(plan: "Plan") -> None:
    put(paint(one_line(plan.what), "1"))
    for line in lines_of(plan.impact):
        put(paint(line, "2") if line.startswith("  ") else line)
    for note in plan.notes:
        put(one_line(note))
    put(paint(FOR_GOOD, "31") if plan.impact.erases else UNDONE_BY)


def _confirmed(word: str) -> bool:
    """Whether someone who was shown what happens types the word; nobody can where there is no terminal."""
    if sys.stdin is None or not sys.stdin.isatty():
        return False
    say(f"Type {word} and press Enter to continue; anything else cancels.")
    return sys.stdin.readline().strip().lower() == word


def told_of(purged: "Purged") -> str:
    """What a purge came to, in words."""
    if purged.pending is not None:
        return f"It is deleted from every chat and from memory, but not yet from every file: {purged.pending}"
    return "No trace of it is left in any file of the home folder, except words that also occur elsewhere."
