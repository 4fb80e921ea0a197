"""`clew projects`: what chats, memories and documents can belong to: list, make, archive."""

from typing import TYPE_CHECKING, Annotated

import typer

from tui.commands.learned import has_memory, with_agent
from tui.commands.place import home_of
from tui.output import fit, paint, put, put_json, say, width
from tui.text import clean, counted, one_line

if TYPE_CHECKING:
    from agent.agent import Agent
    from graph.beliefs import Project

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


@app.command()
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
        put(_line(each))
    if not found:
        say("There are no projects yet. `clew projects --make NAME` creates one.")


def _line(project: "Project") -> str:
    name = one_line(project.name) + ("  (archived)" if project.status == "archived" else "")
    counts = f"{counted(project.sessions, 'chat')}, {counted(project.observations, 'memory', 'memories')}"
    about = f"  {project.description}" if project.description else ""
    return f"{paint(name, '1')}  {paint(fit(counts + about, max(20, width() - len(name) - 2)), '2')}"
