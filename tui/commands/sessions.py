"""`clew sessions` and `projects`: the chats, newest activity first, and what they can belong to."""

from typing import TYPE_CHECKING, Annotated

import typer

from graph.errors import MemoryMissing
from tui.commands.choosing import home_of
from tui.commands.learned import has_memory, with_agent
from tui.output import fit, instant, local, paint, put, put_json, say, width
from tui.text import clean, counted, one_line
from tui.worlds import MAIN

if TYPE_CHECKING:
    from agent.agent import Agent
    from graph.beliefs import Project
    from graph.values import Session


def sessions(
    ctx: typer.Context,
    archived: Annotated[bool, typer.Option("--archived", help="List archived chats instead.")] = False,
    limit: Annotated[int | None, typer.Option("--limit", "-k", metavar="N", min=0, help="Maximum number.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON: a list.")] = False,
) -> None:
    """List the chats, newest activity first."""
    from graph.reading import LogReader

    try:
        known = LogReader.open(home_of(ctx, writing=False).memory).sessions(archived=archived)
    except MemoryMissing:
        known = []
    found = [each for each in known if each.archived == archived]
    if not (found or as_json):
        say("There are no archived chats." if archived else "There are no chats yet. `clew` starts one.")
    found = found[:limit]
    if as_json:
        put_json([summary(session) for session in found])
        return
    for session in found:
        put(_line(session))


def summary(session: "Session") -> dict[str, str | int | bool | None]:
    """A session as JSON has it; times are UTC."""
    return {
        "id": session.id,
        "name": session.name,
        "project": session.project,
        "world": session.world,
        "model": session.model,
        "turns": session.turns,
        "archived": session.archived,
        "started_at": instant(session.started_at),
        "last_at": instant(session.last_at),
    }


def _line(session: "Session") -> str:
    head = f"{session.id}  {local(session.last_at)}  {session.turns:>5}  "
    project = f"[{session.project}] " if session.project else ""
    project += "(what-if) " if session.world != MAIN else ""
    return paint(head, "2") + fit(f"{project}{session.name or '(no title yet)'}", max(12, width() - len(head)))


def projects(
    ctx: typer.Context,
    make: Annotated[
        str | None, typer.Option(metavar="NAME", help="Create a project, or change its description.")
    ] = None,
    about: Annotated[str, typer.Option(metavar="TEXT", help="Description of the new project.")] = "",
    archive: Annotated[
        str | None, typer.Option(metavar="NAME", help="Archive a project; what belongs to it stays.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON: a list.")] = False,
) -> None:
    """List the projects. Shows how many chats and memories each has."""
    home = home_of(ctx)
    if make is not None and archive is not None:
        raise typer.BadParameter("Use only one of --make and --archive.")

    async def ask(agent: "Agent") -> "list[Project]":
        if make is not None:
            await agent.projects.make(clean(make), clean(about))
        elif archive is not None:
            await agent.projects.archive(clean(archive))
        return await agent.projects.all()

    changes = make is not None or archive is not None
    found = with_agent(home, ask, client="projects") if changes or has_memory(home) else []
    if as_json:
        put_json(
            [
                {
                    "name": each.name,
                    "description": each.description,
                    "status": each.status,
                    "sessions": each.sessions,
                    "observations": each.observations,
                }
                for each in found
            ]
        )
        return
    for each in found:
        put(_projects_line(each))
    if not found:
        say("There are no projects yet. `clew projects --make NAME` creates one.")


def _projects_line(project: "Project") -> str:
    name = one_line(project.name) + ("  (archived)" if project.status == "archived" else "")
    counts = f"{counted(project.sessions, 'chat')}, {counted(project.observations, 'memory', 'memories')}"
    about = f"  {project.description}" if project.description else ""
    return f"{paint(name, '1')}  {paint(fit(counts + about, max(20, width() - len(name) - 2)), '2')}"
