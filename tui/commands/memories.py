"""`clew memories`, `review`, `remember`, `correct`, `pin` and `blocks`: what was learned, and what is made of it."""

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, get_args

import typer

from graph.errors import NotFound
from graph.visibility import EVERYONE, Everyone
from tui.commands.choosing import AS_OF, WORLD, home_of, looking_back, stamped, when, world_of
from tui.commands.learned import as_json as one_as_json
from tui.commands.learned import has_memory, lines, one_of, read_text, standing, with_agent
from tui.commands.log import text_of
from tui.commands.waiting import tell_waiting
from tui.output import paint, put, put_json, say
from tui.text import clean, one_line, shown

if TYPE_CHECKING:
    from datetime import datetime

    from agent.face import Face
    from graph.values import CoreBlock, Observation, Wanted
    from tui.output import Narration


MOST = 1000
STATUSES = ("candidate", "active", "superseded", "invalid")
TYPES = ("world", "experience", "opinion")
TRENDS = ("new", "strengthening", "stable", "weakening", "stale")


def memories(
    ctx: typer.Context,
    words: Annotated[
        list[str] | None, typer.Argument(metavar="WORDS", help="Only memories containing these words.")
    ] = None,
    status: Annotated[
        str | None, typer.Option(metavar="STATUS", help=f"Only this status: {', '.join(STATUSES)}.")
    ] = None,
    kind: Annotated[
        str | None, typer.Option(metavar="KIND", help="Only this kind: identity, preference, fact, state, plan …")
    ] = None,
    fact_type: Annotated[
        str | None, typer.Option("--type", metavar="TYPE", help=f"Only this type of fact: {', '.join(TYPES)}.")
    ] = None,
    about: Annotated[str | None, typer.Option(metavar="NAME", help="Only about this person, place or thing.")] = None,
    project: Annotated[str | None, typer.Option(metavar="NAME", help="Only this project.")] = None,
    trend: Annotated[str | None, typer.Option(metavar="TREND", help=f"Only this trend: {', '.join(TRENDS)}.")] = None,
    pinned: Annotated[bool, typer.Option("--pinned", help="Only pinned memories.")] = False,
    everything: Annotated[
        bool, typer.Option("--all", help="Any status, including memories whose proof is gone.")
    ] = False,
    limit: Annotated[int, typer.Option("--limit", "-k", metavar="N", min=0, max=MOST, help="Maximum number.")] = 50,
    world: Annotated[str | None, typer.Option(metavar="ID", help=WORLD)] = None,
    as_of: Annotated[str | None, typer.Option("--as-of", metavar="TIME", help=AS_OF)] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON: a list.")] = False,
) -> None:
    """List the memories in use and those waiting for review."""
    from graph.events import ObservationKind
    from graph.fact_types import FactType
    from graph.reader import LogReader
    from graph.values import Status, Trend, Wanted

    at = when(as_of)
    wanted = Wanted(
        status=one_of(status, get_args(Status), "status"),
        kind=one_of(kind, tuple(ObservationKind), "kind"),
        fact_type=one_of(fact_type, get_args(FactType), "type of fact"),
        about=text_of(about),
        project=text_of(project),
        trend=one_of(trend, get_args(Trend), "trend"),
        pinned=pinned or None,
        text=clean(" ".join(words or [])).strip() or None,
        dead=everything,
        everything=everything,
    )
    home = home_of(ctx, writing=False)
    if wanted == Wanted():  # all of it: what was said tells how two stand, too; `relations` lists those
        wanted = replace(wanted, plain=False)
    wanted = replace(wanted, world=world_of(home, world))
    if at is not None:
        LogReader.open(home.memory).close()  # of nothing there is no past
    found = _found(ctx, wanted, limit, at) if has_memory(home) and limit else []
    if as_json:
        put_json(stamped([one_as_json(each) | {"shown_in": wanted.world} for each in found], at))
        return
    for each in found:
        put(lines(each))
    if not found and limit:
        then = "" if at is None else " by then"
        say(f"No matching memories{then or ' yet'}. `clew remember TEXT` adds one.")


def _found(ctx: typer.Context, wanted: "Wanted", limit: int, at: "datetime | int | None") -> "list[Observation]":
    async def ask_then(agent: "Face", narration: "Narration", at: "datetime | int") -> "list[Observation]":
        async with looking_back(agent, narration, at) as past:
            named = wanted
            if wanted.project is not None:
                named = replace(wanted, project=await past.project_name(wanted.project))
            return await past.memories.find(named, limit=limit)

    async def ask(agent: "Face", narration: "Narration") -> "list[Observation]":
        if at is not None:
            return await ask_then(agent, narration, at)
        named = wanted if wanted.project is None else replace(wanted, project=await agent.projects.name(wanted.project))
        await tell_waiting(agent)
        return await agent.memories.find(named, limit=limit)

    from tui.commands.opened import with_memory

    return with_memory(home_of(ctx), ask, client="memories", open_graph=at is None)


def review(
    ctx: typer.Context,
    promote: Annotated[str | None, typer.Option(metavar="ID", help="Keep it.")] = None,
    reject: Annotated[str | None, typer.Option(metavar="ID", help="Reject it as wrong.")] = None,
    edit: Annotated[tuple[str, str] | None, typer.Option(metavar="ID TEXT", help="Keep it in your own words.")] = None,
    restore: Annotated[
        str | None, typer.Option(metavar="ID", help="Undo a decision: it waits for review again.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON: a list, or the decision.")] = False,
) -> None:
    """Review uncertain memories. Without options, it lists those waiting for review."""
    if sum(given is not None for given in (promote, reject, edit, restore)) > 1:
        raise typer.BadParameter("Only one decision at a time.")
    home = home_of(ctx)
    if promote is None and reject is None and edit is None and restore is None:
        _list(with_agent(home, _waits, client="review") if has_memory(home) else [], as_json)
        return

    async def decide(agent: "Face") -> "tuple[Observation, str]":
        if edit is not None:
            made = await agent.memories.reword(clean(edit[0]), clean(edit[1]))
            return made, f"In use in your words. `clew review --reject {made.id}` undoes it."
        id = clean(promote or reject or restore or "")
        if promote is not None:
            await agent.memories.promote(id)
            told = f"Kept: now in use. `clew review --restore {id}` undoes it."
        elif reject is not None:
            await agent.memories.reject(id)
            told = f"Rejected. `clew review --restore {id}` undoes it."
        else:
            await agent.memories.restore(id, "candidate")
            now = (await agent.memories.story(id)).observation
            told = "It waits for review again." if now.current else f"It is no longer rejected: {standing(now)}."
        return (await agent.memories.story(id)).observation, told

    memory, told = with_agent(home, decide, client="review")
    if as_json:
        put_json(one_as_json(memory))
    else:
        put(lines(memory))
    say(told)


async def _waits(agent: "Face") -> "list[Observation]":
    await tell_waiting(agent)
    return await agent.memories.review()


def _list(found: "list[Observation]", as_json: bool) -> None:
    if as_json:
        put_json([one_as_json(each) for each in found])
        return
    for each in found:
        put(lines(each))
    if found:
        say("Decide with --promote ID, --reject ID or --edit ID TEXT; `clew show ID` shows its proof.")
    else:
        say("Nothing is waiting for review.")


def remember(
    ctx: typer.Context,
    words: Annotated[
        list[str] | None, typer.Argument(metavar="TEXT", help="A sentence; `-` reads it from stdin.")
    ] = None,
    kind: Annotated[
        str | None, typer.Option(metavar="KIND", help="Its kind: identity, preference, fact, state, plan …")
    ] = None,
    project: Annotated[str | None, typer.Option(metavar="NAME", help="Only for this project.")] = None,
    tags: Annotated[
        list[str] | None, typer.Option("--tag", metavar="TAG", help="A tag for a separate scope; can be repeated.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON: the memory.")] = False,
) -> None:
    """Add a memory. If it is already known, it gains proof instead."""
    from graph.events import ObservationKind

    of = one_of(kind, tuple(ObservationKind), "kind")
    text = read_text(words or [], "clew remember I moved to Lyon")

    async def ask(agent: "Face") -> "Observation":
        named = text_of(project)
        where = await agent.projects.name(named) if named is not None else None
        return await agent.memories.remember(text, kind=of, project=where, tags=tags or [])

    made = with_agent(home_of(ctx), ask, client="remember")
    if as_json:
        put_json(one_as_json(made))
    else:
        put(lines(made))


def synthesize(
    ctx: typer.Context,
    one: Annotated[str, typer.Argument(metavar="ID", help="A memory; 6 characters or more.")],
    other: Annotated[str, typer.Argument(metavar="OTHER", help="Another one.")],
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="TEXT", help="What both say, in a sentence; without it, their own words, for review."),
    ] = None,
    project: Annotated[str | None, typer.Option(metavar="NAME", help="Only if both are seen in this project.")] = None,
    world: Annotated[str | None, typer.Option(metavar="ID", help=WORLD)] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON: the memory.")] = False,
) -> None:
    """Make a memory from two others. It is in use while both are, and goes with either."""
    text = read_text(words, "clew synthesize 01ABCD 01EFGH Ada and Bob share an office") if words else None

    async def ask(agent: "Face") -> "Observation":
        named = text_of(project)
        where = EVERYONE if named is None else await agent.projects.name(named)
        return await agent.syntheses.make(clean(one), clean(other), text, world=of, project=where)

    home = home_of(ctx)
    of = world_of(home, world)
    made = with_agent(home, ask, client="synthesize")
    if as_json:
        put_json(one_as_json(made))
    else:
        put(lines(made))
    say(
        f"`clew show {made.id}` shows both it was made from."
        if made.status == "active"
        else f"It waits for review: `clew review --promote {made.id}`, or `--edit {made.id} TEXT` in your own words."
    )


def correct(
    ctx: typer.Context,
    id: Annotated[str, typer.Argument(metavar="ID", help="The memory; 6 characters or more.")],
    words: Annotated[list[str], typer.Argument(metavar="TEXT", help="The corrected text; `-` reads it from stdin.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON: the new version.")] = False,
) -> None:
    """Correct a memory. The earlier version stays in its history."""
    text = read_text(words, 'clew correct 01ABCD "I live in Lyon"')

    async def ask(agent: "Face") -> "Observation":
        return await agent.memories.correct(clean(id), text)

    made = with_agent(home_of(ctx), ask, client="correct")
    if as_json:
        put_json(one_as_json(made))
    else:
        put(lines(made))
    say(f"`clew show {made.id}` shows its history.")


def pin(
    ctx: typer.Context,
    id: Annotated[str, typer.Argument(metavar="ID", help="A memory or a message; 6 characters or more.")],
    off: Annotated[bool, typer.Option("--off", help="Unpin it.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Pin a memory or message. It is then in every prompt, from the next message on."""
    home, wanted = home_of(ctx), clean(id).strip()

    async def ask(agent: "Face") -> tuple[str, str]:
        try:
            found = (await agent.memories.story(wanted)).observation.id
        except NotFound:
            turn = await _turn(agent, wanted)
            await (agent.chats.unpin(turn) if off else agent.chats.pin(turn))
            return "turn", turn
        await (agent.memories.unpin(found) if off else agent.memories.pin(found))
        return "memory", found

    kind, meant = with_agent(home, ask, client="pin")
    if as_json:
        put_json({"kind": kind, "id": meant, "pinned": not off})
    say(f"{'Unpinned' if off else 'Pinned'} the {'message' if kind == 'turn' else 'memory'} {meant}.")


async def _turn(agent: "Face", wanted: str) -> str:
    """The id of the turn that is meant, by the beginning of it. Raises NotFound or Ambiguous."""
    try:
        exchange = await agent.chats.exchange(wanted)
    except NotFound as missing:
        raise NotFound(
            f"There is no memory or message {wanted}. `clew memories` and `clew log` list them."
        ) from missing
    said = [exchange.turn, *exchange.tools, *([exchange.reply] if exchange.reply else [])]
    return next((turn.id for turn in said if turn.id.startswith(wanted.upper())), exchange.turn.id)


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

    async def viewer(agent: "Face") -> "str | Everyone":
        return EVERYONE if named is None else await agent.projects.name(named)

    async def listed(agent: "Face") -> "list[CoreBlock]":
        return await agent.memories.blocks(world=of, project=await viewer(agent))

    wanted = clean(name).strip() if name is not None else None
    if wanted is not None and words:
        text = read_text(words, "clew blocks persona …") if any(word.strip() for word in words) else ""

        async def write(agent: "Face") -> "list[CoreBlock]":
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
