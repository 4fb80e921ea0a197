"""`clew doctor --deep --absent -`: whether words that are to be gone are in any file of the home."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from graph.absence import LEAST, forms_of
from tui.commands.place import home_of
from tui.exit_codes import ExitCode
from tui.output import Narration, put, put_json, say
from tui.text import shown

if TYPE_CHECKING:
    from agent.home import Home

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
    files, found = absent(home, forms_of(words, least=1))
    narration.clear()
    named = {str(path): sorted(held) for path, held in found.items()}
    if as_json:
        put_json({"ok": not named, "words": len(words), "files": files, "found": named})
    else:
        for path, held in named.items():
            put(f"{shown(path)}: {shown(', '.join(held))}")
        put(_summary(len(words), files, len(named)))
        _explain(home, found)
    raise typer.Exit(ExitCode.FAILED if named else ExitCode.OK)


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
    from graph.purging import waits
    from graph.reading import LogReader

    try:
        reader = LogReader.open(home.memory)
    except MemoryFailure:
        return False
    try:
        with reader.snapshot() as db:
            return waits(db)
    finally:
        reader.close()
