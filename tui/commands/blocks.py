"""`clew blocks`: the core blocks, which are in every prompt: list, show and write them."""

from typing import TYPE_CHECKING, Annotated

import typer

from graph.errors import NotFound
from graph.visibility import EVERYONE, Everyone
from tui.commands.learned import has_memory, read_text, with_agent
from tui.commands.log import text_of
from tui.commands.place import home_of
from tui.commands.worlds import WORLD, world_of
from tui.output import paint, put, put_json, say
from tui.text import clean, one_line, shown

if TYPE_CHECKING:
    from agent.agent import Agent
    from graph.beliefs import CoreBlock

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


@app.command()
def blocks(
    ctx: typer.Context,
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="The block to show or write.")] = None,
    words: Annotated[
        list[str] | None, typer.Argument(metavar="TEXT", help='Its new text; `-` reads it from stdin, "" removes it.')
    ] = None,
    project: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The block as used in this project's chats; otherwise in all chats."),
    ] = None,
    world: Annotated[str | None, typer.Option(metavar="ID", help=WORLD)] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON: a list.")] = False,
) -> None:
    """List, show or write core blocks. These are short texts included in every prompt, such as `persona`."""
    home = home_of(ctx)
    of, named = world_of(home, world), text_of(project)

    async def viewer(agent: "Agent") -> "str | Everyone":
        return EVERYONE if named is None else await agent.projects.name(named)

    async def listed(agent: "Agent") -> "list[CoreBlock]":
        return await agent.memories.blocks(world=of, project=await viewer(agent))

    wanted = clean(name).strip() if name is not None else None
    if wanted is not None and words:
        text = read_text(words, "clew blocks persona …") if any(word.strip() for word in words) else ""

        async def write(agent: "Agent") -> "list[CoreBlock]":
            where = await viewer(agent)
            await agent.memories.write_block(wanted, text, world=of, project=None if where is EVERYONE else where)
            return await agent.memories.blocks(world=of, project=None if where is EVERYONE else where)

        found = [each for each in with_agent(home, write, client="blocks") if each.name == wanted]
        say(f"The core block {wanted} {'was saved' if text else 'was removed'}.")
    else:
        found = with_agent(home, listed, client="blocks") if has_memory(home) else []
        found = [each for each in found if wanted is None or each.name == wanted]
        if wanted is not None and not found:
            raise NotFound(f"There is no core block {wanted}. `clew blocks {wanted} TEXT` creates it.")
    _put(found, as_json=as_json)


def _put(found: "list[CoreBlock]", *, as_json: bool) -> None:
    if as_json:
        put_json(
            [
                {
                    "name": each.name,
                    "text": each.text,
                    "by": each.by,
                    "world": each.world,
                    "project": each.project,
                    "version": each.version,
                }
                for each in found
            ]
        )
        return
    for each in found:
        of = paint(f"  project {one_line(each.project)}", "2") if each.project is not None else ""
        put(f"{paint(one_line(each.name), '1')}{of}\n{shown(each.text)}")
    if not found:
        say("There are no core blocks yet. `clew blocks persona TEXT` creates one.")
