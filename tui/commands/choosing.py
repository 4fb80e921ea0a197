"""Which session or turn is meant: whole ids, beginnings of them, and `last`; and the same for the shell's TAB."""

import re
from typing import TYPE_CHECKING

import typer

from graph.errors import MemoryFailure, NotFound
from tui.text import clean, one_line

if TYPE_CHECKING:
    from graph.reading import LogReader
    from graph.values import Session, Turn

OFFERED = 50
SHORTEST_PREFIX = 6
SHORT = "Ids can be shortened to 6 characters or more. "


def session_of(reader: "LogReader", wanted: str) -> "Session":
    """The chat that `wanted` names: an id, the beginning of one, or `last`, the one that a person spoke in last.

    Raises NotFound or Ambiguous.
    """
    return reader.session_named(clean(wanted))


def aim(reader: "LogReader", wanted: str | None, session: str | None = None) -> "tuple[Session, Turn | None]":
    """The chat, and the turn of it, that are meant: by a turn's or a chat's id, or nothing for the `last` chat.

    `session` names the chat where a turn that several share is meant in another than the one it was said in. Ids may be
    cut to their first 6 or more characters. Raises NotFound or Ambiguous, and BadParameter for an empty one.
    """
    from graph.sessions import LAST

    for given in (wanted, session):
        if given is not None and not given.strip():
            raise typer.BadParameter("The id is empty. `clew log` and `clew sessions` list the ids.")
    if wanted is None or wanted == LAST:
        return session_of(reader, session or LAST), None
    try:
        turn = reader.turn_named(clean(wanted))
    except NotFound as missing:
        try:
            return session_of(reader, wanted), None
        except NotFound:
            short = SHORT if len(clean(wanted).strip()) < SHORTEST_PREFIX else ""
            raise NotFound(
                f"There is no message or chat {wanted}. {short}`clew log` and `clew sessions` list them."
            ) from missing
    return session_of(reader, session or turn.session), turn


PROJECT = "Look from inside this project; otherwise from outside all projects."


def project_in(reader: "LogReader", named: str | None) -> str | None:
    """How the project that is named, in any case, is written; None where none is. Raises NotFound."""
    if named is None:
        return None
    there = [each.name for each in reader.projects()]
    wanted = " ".join(clean(named).split())
    found = [each for each in there if each.casefold() == wanted.casefold()]
    if not found:
        listed = f"Projects: {one_line(', '.join(there))}." if there else "There are no projects yet."
        raise NotFound(f"There is no project {one_line(wanted)}. {listed} Nothing was changed.")
    return wanted if wanted in found else found[0]


def outside(reader: "LogReader", project: str | None) -> str:
    """What to add where nothing was found: that what belongs to projects was not looked at, if there are any."""
    return " outside of projects; use --project NAME for one" if project is None and reader.projects() else ""


def complete_session(ctx: typer.Context, incomplete: str) -> list[tuple[str, str]]:
    """For the shell: ids of sessions that begin like this, with their names."""
    return [(session.id, _harmless(session.name)) for session in _offered(ctx) if session.id.startswith(incomplete)][
        :OFFERED
    ]


def complete_shown(ctx: typer.Context, incomplete: str) -> list[tuple[str, str]]:
    """For the shell: ids of turns and of sessions that begin like this."""
    from agent.errors import AgentError
    from graph.reading import LogReader
    from tui.commands.place import home_of

    try:
        reader = LogReader.open(home_of(ctx, writing=False).memory)
        said = reader.in_view(each.turn for each in reader.exchanges(limit=500))
        turns = [(turn.id, _harmless(turn.text)) for turn in said]
    except (MemoryFailure, AgentError):
        return []
    return [each for each in turns if each[0].startswith(incomplete)][:OFFERED] + complete_session(ctx, incomplete)


def _harmless(text: str | None) -> str:
    """Stored words for a script that the shell evaluates: nothing is left in them that any shell would act on."""
    return " ".join(re.sub(r"[^\w.,? -]", " ", text or "").split())[:60]


def _offered(ctx: typer.Context) -> "list[Session]":
    from agent.errors import AgentError
    from graph.reading import LogReader
    from tui.commands.place import home_of

    try:
        return LogReader.open(home_of(ctx, writing=False).memory).sessions(archived=True)
    except (MemoryFailure, AgentError):
        return []
