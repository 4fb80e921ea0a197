"""`clew relate` and `relations`: who stands how to whom, and how a person says so."""

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from tui.commands.choosing import AS_OF, SEEN_IN, WORLD, home_of, looking_back, project_named, stamped, when, world_of
from tui.commands.learned import as_json as one_as_json
from tui.commands.learned import has_memory, later_lines, lines, one_of, with_agent
from tui.commands.log import text_of
from tui.output import fit, local, paint, put, put_json, say, width
from tui.relationships import related
from tui.text import clean, counted, one_line

if TYPE_CHECKING:
    from datetime import datetime

    from agent.face import Face
    from graph.values import Observation, Wanted
    from tui.output import Narration

MOST = 10_000


def relate(
    ctx: typer.Context,
    words: Annotated[
        list[str],
        typer.Argument(metavar="WHO KIND WHOM", help="Ada works_with Bob; `me` is you; `not` before the kind."),
    ],
    since: Annotated[
        str | None, typer.Option(metavar="DATE", help="When it began: 2026-10-14, 2026-10 or 2026.")
    ] = None,
    until: Annotated[str | None, typer.Option(metavar="DATE", help="When it ended, if it is over.")] = None,
    project: Annotated[str | None, typer.Option(metavar="NAME", help="Only for this project.")] = None,
    world: Annotated[str | None, typer.Option(metavar="ID", help=WORLD)] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON: the memory.")] = False,
) -> None:
    """Say how two people, places or things stand to each other. What is known already gains proof instead."""
    from agent.relations.stating import checked, read

    dates = (("since", since), ("until", until))
    times = "".join(f" {name} {checked(clean(date))}" for name, date in dates if date is not None)
    stated = read(clean(" ".join(words)) + times)

    async def ask(agent: "Face") -> "Observation":
        named = text_of(project)
        where = await agent.projects.name(named) if named is not None else None
        return await agent.memories.relate(stated, project=where, world=of)

    home = home_of(ctx)
    of = world_of(home, world)
    made = with_agent(home, ask, client="relate")
    if as_json:
        put_json(one_as_json(made))
    else:
        put(lines(made))


def relations(
    ctx: typer.Context,
    name: Annotated[
        list[str] | None, typer.Argument(metavar="NAME", help="Only of this person, place or thing.")
    ] = None,
    kind: Annotated[str | None, typer.Option(metavar="KIND", help="Only this kind: works_with, parent_of …")] = None,
    project: Annotated[str | None, typer.Option(metavar="NAME", help=SEEN_IN)] = None,
    over: Annotated[bool, typer.Option("--over", help="Also those that are over.")] = False,
    kinds: Annotated[bool, typer.Option("--kinds", help="List the kinds there are.")] = False,
    limit: Annotated[int, typer.Option("--limit", "-k", metavar="N", min=0, max=MOST, help="Maximum number.")] = 200,
    world: Annotated[str | None, typer.Option(metavar="ID", help=WORLD)] = None,
    as_of: Annotated[str | None, typer.Option("--as-of", metavar="TIME", help=AS_OF)] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON: a list.")] = False,
) -> None:
    """List who stands how to whom, as the memories in use say."""
    if kinds:
        _list_kinds(as_json=as_json)
        return
    from graph import relations as table
    from graph.values import Wanted
    from graph.visibility import EVERYONE

    at, home = when(as_of), home_of(ctx, writing=False)
    of = one_of(kind, tuple(table.kinds()), "kind of relationship")
    named = clean(" ".join(name or [])).strip() or None
    seen = EVERYONE if project is None else project_named(home, project)
    wanted = Wanted(status="active", about=named, world=world_of(home, world), related=True, viewer=seen)
    found = _found(ctx, wanted, at) if has_memory(home) else []
    found = [
        each
        for each in found
        if each.relationship is not None
        and of in (None, each.relationship.kind)
        and (over or each.relationship.until is None)
    ][:limit]
    if as_json:
        put_json(stamped([one_as_json(each) | {"shown_in": wanted.world} for each in found], at))
        return
    for each in found:
        put(line(each))
    if not found and limit:
        of_whom = f" of {named}" if named is not None else ""
        then = "" if at is None else " by then"
        say(f"No relationships{of_whom} are known{then}. `clew relate Ada works_with Bob` adds one.")


def line(memory: "Observation") -> str:
    """A relationship for people, on one line, and on another what was said since on its topic."""
    told = related(memory.relationship) if memory.relationship is not None else ""
    of = f"project {one_line(memory.project)} · " if memory.project is not None else ""
    proof = paint(f"{of}{counted(memory.proof_count, 'proof')} · {local(memory.said_at)} · {memory.id}", "2")
    return "\n".join([fit(f"{told}  {proof}", width()), *later_lines(memory.later[:1], width(), 4)])


def _list_kinds(*, as_json: bool) -> None:
    from graph.relations import kinds

    if as_json:
        told = [
            {
                "kind": each.name,
                "label": each.label,
                "inverse": each.inverse,
                "symmetric": each.symmetric,
                "single": each.single,
            }
            for each in kinds().values()
        ]
        put_json(told)
        return
    for each in kinds().values():
        way = "both ways" if each.symmetric else f"from the other end: {each.inverse}"
        put(f"{each.name:<15} {each.label:<24} {paint(way + (' · one at a time' if each.single else ''), '2')}")


def _found(ctx: typer.Context, wanted: "Wanted", at: "datetime | int | None") -> "list[Observation]":
    async def ask(agent: "Face", narration: "Narration") -> "list[Observation]":
        if at is None:
            seen = wanted.viewer if isinstance(wanted.viewer, str) else None
            who = wanted.about
            meant = await agent.memories.whom(who, world=wanted.world, project=seen) if who is not None else None
            return await agent.memories.find(replace(wanted, about=meant), limit=MOST)
        async with looking_back(agent, narration, at) as past:
            return await past.memories.find(wanted, limit=MOST)

    from tui.commands.opened import with_memory

    return with_memory(home_of(ctx), ask, client="relations", open_graph=at is None)
