"""`clew entity`: who somebody is, in a person's own words."""

from typing import TYPE_CHECKING, Annotated

import typer

from tui.commands.choosing import WORLD, home_of, world_of
from tui.commands.learned import has_memory, with_agent
from tui.output import fit, put, put_json, say, width
from tui.text import clean

if TYPE_CHECKING:
    from agent.face import Face
    from graph.values import Entity


def entity(
    ctx: typer.Context,
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="NAME", help="A name; or rename, kind, alias, unalias, merge or split, and names."),
    ] = None,
    called: Annotated[
        str | None, typer.Option("--as", metavar="NAME", help="What the one split off is called.")
    ] = None,
    another: Annotated[
        bool, typer.Option("--another", help="Rename although somebody else is called so: they are two.")
    ] = False,
    world: Annotated[str | None, typer.Option(metavar="ID", help=WORLD)] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON: a list.")] = False,
) -> None:
    """Say who people, places and things are. Without words, list them; with a name, show one.

    `rename NAME NEW`, `kind NAME KIND` (person, place, organisation, animal, thing, group), `alias NAME ALIAS`,
    `unalias NAME ALIAS`, `merge NAME OTHER` (they are one), `split NAME ID…` (these messages and memories mean another
    one). A name of several words goes in quotes; an id does as well. `clew undo` undoes each.
    """
    from tui.entities import asked, line

    home = home_of(ctx)
    given = [clean(each).strip() for each in words or []]
    of, name = world_of(home, world), clean(called).strip() if called is not None else None

    async def ask(agent: "Face") -> "tuple[str, list[Entity]]":
        return await asked(agent.entities, given, called=name, another=another, world=of)

    told, found = with_agent(home, ask, client="entity") if given or has_memory(home) else ("", [])
    if as_json:
        put_json([_as_json(each) for each in found])
        return
    for each in found:
        put(fit(line(each), width()))
    if told and given:
        say(told)
    elif not found:
        say("Nobody and nothing is known by name yet.")


def _as_json(entity: "Entity") -> dict[str, object]:
    return {
        "id": entity.id,
        "name": entity.name,
        "kind": entity.kind,
        "others": list(entity.others),
        "aliases": [text for _, text in entity.aliases],
        "merged": list(entity.merged),
    }
