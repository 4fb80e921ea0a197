"""`clew about` and `themes`: all there is about a name, and what the conversations were about, citing turns.

The themes are communities of the memory's graph; the chat model gives them names. Without it they have their own words.
"""

from typing import TYPE_CHECKING, Annotated

import typer

from graph.errors import MemoryMissing
from tui.commands.choosing import PROJECT, WORLD, home_of, outside, project_in, world_in
from tui.output import fit, instant, local, paint, put, put_json, say, width
from tui.reasons import who
from tui.text import clean, counted, one_line, shown
from tui.worlds import MAIN

if TYPE_CHECKING:
    from agent.agent import Agent
    from agent.themes import Overview
    from graph.hits import About
    from graph.values import Turn
    from tui.output import Narration


MOST_MESSAGES = 200


def about(
    ctx: typer.Context,
    name: Annotated[list[str], typer.Argument(metavar="NAME", help="A person, place or project.")],
    limit: Annotated[
        int, typer.Option("--limit", "-k", metavar="N", min=0, max=MOST_MESSAGES, help="Maximum number of messages.")
    ] = 20,
    project: Annotated[str | None, typer.Option(metavar="NAME", help=PROJECT)] = None,
    world: Annotated[str | None, typer.Option(metavar="ID", help=WORLD)] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Show everything about a person, place or project."""
    wanted = clean(" ".join(name)).strip()
    if not wanted:
        raise typer.BadParameter("Give a name: clew about Ada")
    from graph.reading import LogReader

    of, elsewhere = MAIN, ""
    try:
        reader = LogReader.open(home_of(ctx, writing=False).memory)
        of = world_in(reader, world)
        of_project = project_in(reader, project)
        elsewhere = outside(reader, of_project)
        found = reader.about(wanted, limit=limit, world=of, project=of_project)
    except MemoryMissing:
        from graph.hits import About

        found = About(wanted, "word", 0, 0, None, None)
    if as_json:
        put_json(_whole(found) | {"world": of})
    elif not (found.said or found.mentioned or found.turns):
        say(f"Nothing in the memory mentions {one_line(wanted)}{elsewhere}.")
    else:
        put(_page(found))


def _whole(found: "About") -> dict[str, object]:
    return {
        "name": found.name,
        "kind": found.kind,
        "said": found.said,
        "mentioned": found.mentioned,
        "first_at": instant(found.first_at) if found.first_at else None,
        "last_at": instant(found.last_at) if found.last_at else None,
        "sessions": [{"id": id, "name": name, "turns": turns} for id, name, turns in found.sessions],
        "turns": [turn_summary(turn) for turn in found.turns],
    }


def turn_summary(turn: "Turn") -> dict[str, object]:
    """A turn that is cited, as JSON has it."""
    return {
        "id": turn.id,
        "session": turn.session,
        "role": turn.role,
        "speaker": turn.speaker,
        "at": instant(turn.at),
        "text": turn.text,
    }


def _page(found: "About") -> str:
    counts = f"{found.kind} · said {counted(found.said, 'message')} · named in {counted(found.mentioned, 'other')}"
    span = f" · {local(found.first_at)} to {local(found.last_at)}" if found.first_at and found.last_at else ""
    lines = [paint(one_line(found.name), "1"), paint(fit(counts + span, width()), "2")]
    lines += [fit(f"  {id}  {turns:>5}  {name or '(no title yet)'}", width()) for id, name, turns in found.sessions]
    return "\n".join([*lines, *(f"\n{turn_lines(turn)}" for turn in found.turns)])


def turn_lines(turn: "Turn") -> str:
    """A turn that is cited, on two lines."""
    head = fit(f"{turn.id}  {local(turn.at)}  {who(turn.role, turn.speaker)}", width())
    return f"{paint(head, '2')}\n  {fit(turn.text if turn.text is not None else '(erased)', width() - 2)}"


MOST_THEMES = 20
NONE = "There are too few messages to find themes yet."


def themes(
    ctx: typer.Context,
    limit: Annotated[
        int, typer.Option("--limit", "-k", metavar="N", min=1, max=MOST_THEMES, help="Maximum number.")
    ] = 6,
    project: Annotated[str | None, typer.Option(metavar="NAME", help=PROJECT)] = None,
    world: Annotated[str | None, typer.Option(metavar="ID", help=WORLD)] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Find the themes across all chats. Each comes with the messages it is based on."""
    from graph.reading import LogReader

    try:
        reader = LogReader.open(home_of(ctx, writing=False).memory)
    except MemoryMissing:
        _put(None, as_json=as_json)
        return
    of, of_project = world_in(reader, world), project_in(reader, project)
    empty = reader.counts()["turns"] == 0
    reader.close()
    if empty:
        _put(None, as_json=as_json)
        return
    from tui.commands.opened import with_memory

    async def ask(agent: "Agent", narration: "Narration") -> "Overview":
        def progress(done: int, total: int) -> None:
            narration.tell(f"naming themes: {done} of {total}")

        narration.tell("finding themes …")
        return await agent.search.overview(limit=limit, progress=progress, world=of, project=of_project)

    _put(with_memory(home_of(ctx), ask, client="themes", by_meaning=True), as_json=as_json, world=of)


def _put(found: "Overview | None", *, as_json: bool, world: str = MAIN) -> None:
    if as_json:
        listed = [
            {"title": theme.title, "summary": theme.summary, "turns": [turn_summary(turn) for turn in theme.turns]}
            for theme in (found.themes if found is not None else ())
        ]
        put_json({"overview": found.text if found is not None else "", "themes": listed, "world": world})
    elif found is None or not found.themes:
        say(NONE)
    else:
        put(_themes_page(found))


def _themes_page(found: "Overview") -> str:
    blocks = [shown(found.text)] if found.text else []
    for theme in found.themes:
        head = [paint(shown(theme.title), "1"), shown(theme.summary)]
        blocks.append("\n".join([*head, *(turn_lines(turn) for turn in theme.turns)]))
    return "\n\n".join(blocks)
