"""`clew doctor` and `rebuild`: what is well and what is not, each with what to do; the graph anew from the log."""

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from graph.log.byte_search import LEAST, forms_of
from tui.commands.choosing import home_of
from tui.commands.waiting import describe
from tui.exit_codes import ExitCode
from tui.joining import retire
from tui.output import Narration, paint, put, put_json, say
from tui.text import counted, shown

if TYPE_CHECKING:
    from agent.home import Home
    from graph.values import Check


def doctor(
    ctx: typer.Context,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    no_model: Annotated[bool, typer.Option("--no-model", help="Do not load the models to test them.")] = False,
    deep: Annotated[bool, typer.Option("--deep", help="With --absent: search every file in the home folder.")] = False,
    absent: Annotated[
        str | None,
        typer.Option("--absent", metavar="-", help="Check that words from standard input are nowhere to be found."),
    ] = None,
) -> None:
    """Check the settings, memory, models and disk. Nothing is changed, except the repairs that every start makes.

    Exits with 1 if something is wrong, and with 75 if another clew is using the memory (then only the log is checked).

    With --deep --absent - it searches for words instead. It reads them from standard input, separated by spaces or line
    breaks, and searches every file in the home folder except the models: in upper and lower case, stemmed, and escaped
    as in JSON. It lists the files that contain one and exits with 1 if there are any. It works while another clew runs.
    """
    from models.quiet import guard_descriptors
    from tui.commands.disk import parts_of
    from tui.commands.examination import examine

    if absent is not None:
        look_for_words(ctx, source=absent, deep=deep, as_json=as_json)
        return
    home = home_of(ctx, writing=False, make=True)
    guard_descriptors(home.native_log)
    narration = Narration()
    found = examine(home, models=not no_model, tell=narration.tell)
    narration.clear()
    well = all(check.ok for check in found.checks)
    if as_json:
        checks = [
            {"name": c.name, "ok": c.ok, "detail": c.detail, "advice": "" if c.ok else c.advice} for c in found.checks
        ]
        put_json({"ok": well, "held_by": found.held_by, "checks": checks, "disk": parts_of(home)})
    else:
        for check in found.checks:
            put(_lines(check))
    if found.held_by is not None:
        say(f"clew: {found.held_by}")
    raise typer.Exit(ExitCode.FAILED if not well else ExitCode.HELD if found.held_by else ExitCode.OK)


def _lines(check: "Check") -> str:
    mark = paint("ok   ", "32") if check.ok else paint("WRONG", "1;31")
    line = f"{mark} {check.name:<12} {shown(check.detail)}"
    return line if check.ok or not check.advice else f"{line}\n      → {shown(check.advice)}"


MOST_BYTES = 1 << 20


def look_for_words(ctx: typer.Context, *, source: str, deep: bool, as_json: bool) -> None:
    """Read the words, look for them, say where they are. Ends the command where one is found, or with a usage error."""
    from agent.erasure import absent

    if source != "-":
        raise typer.BadParameter(
            "it takes only -, and reads the words from standard input, so that no shell history keeps them"
        )
    if not deep:
        raise typer.BadParameter("--absent searches every file, so it needs --deep")
    words = _words()
    if not words:
        raise typer.BadParameter("there are no words to search for on standard input")
    home = home_of(ctx, writing=False)
    narration = Narration()
    narration.tell("searching every file …")
    files, found, unread = absent(home, forms_of(words, least=1))
    narration.clear()
    named = {str(path): sorted(held) for path, held in found.items()}
    if as_json:
        told = {"found": named, "unread": [str(path) for path in unread]}
        put_json({"ok": not (named or unread), "words": len(words), "files": files} | told)
    else:
        for path, held in named.items():
            put(f"{shown(path)}: {shown(', '.join(held))}")
        for each in unread:
            put(f"{shown(str(each))}: it cannot be read, and may hold any of them")
        put(_summary(len(words), files, len(named)))
        _explain(home, found)
    raise typer.Exit(ExitCode.FAILED if named or unread else ExitCode.OK)


def _words() -> set[str]:
    if sys.stdin is None or sys.stdin.closed:
        return set()
    if sys.stdin.isatty():
        say("Type the words, then press Ctrl+D.")
    return set(sys.stdin.buffer.read(MOST_BYTES).decode("utf-8", "replace").split())


def _summary(words: int, files: int, holding: int) -> str:
    looked = f"{words} {'word' if words == 1 else 'words'} searched for in {files} {'file' if files == 1 else 'files'}"
    return f"{looked}: {f'found in {holding}' if holding else 'none found'}."


def _explain(home: "Home", found: dict[Path, set[str]]) -> None:
    """Why a word may be there though it was deleted."""
    if any(len(word.encode()) < LEAST for held in found.values() for word in held):
        say(f"Words of fewer than {LEAST} letters can turn up in large files by chance.")
    if found and _waits(home):
        say("Deleted content is not yet purged from every file. Start clew to finish that.")


def _waits(home: "Home") -> bool:
    from graph.errors import MemoryFailure
    from graph.log.erasing import waits
    from graph.reader import LogReader

    try:
        reader = LogReader.open(home.memory)
    except MemoryFailure:
        return False
    try:
        with reader.snapshot() as db:
            return waits(db)
    finally:
        reader.close()


def rebuild(
    ctx: typer.Context,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Rebuild the graph from the log. No other clew may be using the memory. Nothing can be lost."""
    from graph.memory import Memory
    from graph.reader import LogReader
    from models.quiet import guard_descriptors

    home = home_of(ctx)
    LogReader.open(home.memory).close()  # a home without a memory is not given one here
    guard_descriptors(home.native_log)
    narration = Narration()
    started = time.perf_counter()
    retire(home)
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
