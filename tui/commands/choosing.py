"""Which session or turn is meant: whole ids, beginnings of them, and `last`; and the same for the shell's TAB."""

import re
from typing import TYPE_CHECKING

import typer

from graph.errors import Ambiguous, MemoryFailure, NotFound
from tui.text import clean, one_line

if TYPE_CHECKING:
    from graph.reading import LogReader
    from graph.values import Session, Turn

LAST = "last"
OFFERED = 50
SHORTEST_PREFIX = 6
SHORT = "Ids can be shortened to 6 characters or more. "


def choose_session(sessions: "list[Session]", wanted: str) -> "Session":
    """The session that `wanted` names: an id, the beginning of one in any case of letters, or `last`.

    `sessions` come with the newest activity first. Raises NotFound or Ambiguous.
    """
    if wanted == LAST:
        kept = [session for session in sessions if not session.archived]
        if not kept:
            raise NotFound("There is no chat to continue yet. Leave out `--session` to start one.")
        return kept[0]
    begin = wanted.strip().upper()
    found = [session for session in sessions if begin and session.id.startswith(begin)]
    exact = [session for session in found if session.id == begin]
    if len(exact or found) == 1:
        return (exact or found)[0]
    if found:
        raise Ambiguous(f"{len(found)} chats have ids starting with {wanted}. Give more characters.")
    raise NotFound(f"There is no chat {wanted}. `clew sessions` lists them.")


def aim(reader: "LogReader", wanted: str | None, session: str | None = None) -> "tuple[Session, Turn | None]":
    """The chat, and the turn of it, that are meant: by a turn's or a chat's id, `last`, or nothing for the last chat.

    `session` names the chat where a turn that several share is meant in another than the one it was said in. Ids may be
    cut to their first 6 or more characters. Raises NotFound or Ambiguous, and BadParameter for an empty one.
    """
    for given in (wanted, session):
        if given is not None and not given.strip():
            raise typer.BadParameter("The id is empty. `clew log` and `clew sessions` list the ids.")
    known = all_sessions(reader)
    if wanted is None or wanted == LAST:
        return (_last_chat(reader, known) if session is None else choose_session(known, clean(session))), None
    try:
        turn = reader.turn_named(clean(wanted))
    except NotFound as missing:
        try:
            return choose_session(known, clean(wanted)), None
        except NotFound:
            short = SHORT if len(clean(wanted).strip()) < SHORTEST_PREFIX else ""
            raise NotFound(
                f"There is no message or chat {wanted}. {short}`clew log` and `clew sessions` list them."
            ) from missing
    return choose_session(known, clean(session) if session is not None else turn.session), turn


def _last_chat(reader: "LogReader", sessions: "list[Session]") -> "Session":
    """The chat with the newest activity, not one that keeps what is stated by hand or proposed. Raises NotFound."""
    from agent.chats import NO_CHATS

    chats = [
        each
        for each in sessions
        if not each.archived
        and all(reader.notes_session(each.project, client=client) != each.id for client in NO_CHATS)
    ]
    if not chats:
        raise NotFound("There are no chats yet, except archived ones. Start one with `clew` or `clew ask`.")
    return choose_session(chats, LAST)


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


def all_sessions(reader: "LogReader") -> "list[Session]":
    """Every session that was not deleted, archived ones included, the newest activity first."""
    found = {session.id: session for archived in (False, True) for session in reader.sessions(archived=archived)}
    return sorted(found.values(), key=lambda session: session.last_at, reverse=True)


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
        return all_sessions(LogReader.open(home_of(ctx, writing=False).memory))
    except (MemoryFailure, AgentError):
        return []
