"""`clew hide`, `unhide`, `delete` and `forget`: the impact shown first, then asked for, then carried out as shown."""

import sys
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from graph.errors import NotFound
from tui.commands.choosing import SHORT, SHORTEST_PREFIX, home_of
from tui.commands.learned import as_json as one_as_json
from tui.commands.learned import lines, with_agent
from tui.exit_codes import ExitCode
from tui.impact import as_json as impact_as_json
from tui.impact import lines_of
from tui.output import paint, put, put_json, say
from tui.text import clean, counted, one_line

if TYPE_CHECKING:
    from agent.erasure import Purged
    from agent.face import Face
    from agent.plans import Plan
    from graph.values import Observation


FOR_GOOD = "This cannot be undone."
UNDONE_BY = "`clew undo` undoes this."


async def carry_out(agent: "Face", plan: "Plan", *, word: str | None, yes: bool, dry_run: bool, as_json: bool) -> bool:
    """Show a plan, and do it if that is agreed to by typing `word` (None: nobody is asked); whether it was done.

    With `dry_run` it is only shown. Waits until what is erased is purged. As JSON it is told once, when all is over.
    """
    if not as_json:
        _show(plan)
    agreed = not dry_run and (yes or word is None or (not as_json and _confirmed(word)))
    purged: Purged | None = None
    if agreed:
        await agent.plans.carry_out(plan)
        if plan.impact.erases:
            purged = await agent.erasure.finished()
            if purged.pending is not None or (purged.texts and not purged.leftovers):
                say(told_of(purged))
    if as_json:
        told = {"what": plan.what, "notes": list(plan.notes), "impact": impact_as_json(plan.impact), "done": agreed}
        put_json(told | ({"purged": purged.pending is None and not purged.leftovers} if purged is not None else {}))
    if purged is not None:
        end_purge(purged)
    return agreed


def end_purge(purged: "Purged") -> None:
    """Exit with the code for what could not be erased, where words are left in some file."""
    if purged.pending is None and purged.leftovers:  # the purge told which files by itself
        say("It is deleted from every chat and from memory, but not from every file.")
    if purged.leftovers or purged.pending is not None:
        raise typer.Exit(ExitCode.IO_ERROR)


def end(done: bool, *, dry_run: bool, said: str, instead: str) -> None:
    """Say how it ended; what was to be done and was not exits with 1."""
    if done:
        say(said)
    elif dry_run:
        say("Nothing was changed.")
    else:
        say(instead)
        raise typer.Exit(ExitCode.FAILED)


async def turn_of(agent: "Face", wanted: str) -> str:
    """The id of the turn that is meant, by the beginning of it, whichever of its exchange. Raises NotFound."""
    try:
        exchange = await agent.chats.exchange(wanted)
    except NotFound as missing:
        if len(wanted) >= SHORTEST_PREFIX:
            raise
        raise NotFound(
            f"There is no message {one_line(wanted) or 'without an id'}. {SHORT}`clew log` lists them."
        ) from missing
    said = [exchange.turn, *exchange.tools, *([exchange.reply] if exchange.reply else [])]
    return next((turn.id for turn in said if turn.id.startswith(wanted.upper())), exchange.turn.id)


def _show(plan: "Plan") -> None:
    put(paint(one_line(plan.what), "1"))
    for line in lines_of(plan.impact):
        put(paint(line, "2") if line.startswith("  ") else line)
    for note in plan.notes:
        put(one_line(note))
    put(paint(FOR_GOOD, "31") if plan.impact.erases else UNDONE_BY)


def _confirmed(word: str, *before: str) -> bool:
    """Whether someone who was shown what happens, and is told `before`, types the word; nobody can in a pipe."""
    if sys.stdin is None or not sys.stdin.isatty():
        return False
    for line in before:
        say(line)
    say(f"Type {word} and press Enter to continue; anything else cancels.")
    return sys.stdin.readline().strip().lower() == word


def told_of(purged: "Purged") -> str:
    """What a purge came to, in words."""
    if purged.pending is not None:
        return f"It is deleted from every chat and from memory, but not yet from every file: {purged.pending}"
    return "No trace of it is left in any file of the home folder, except words that also occur elsewhere."


def hide(
    ctx: typer.Context,
    id: Annotated[str, typer.Argument(metavar="ID", help="The message; 6 characters or more.")],
    exchange: Annotated[bool, typer.Option("--exchange", help="The whole exchange: message and reply.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", "-n", help="Only show what would be removed.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Hide a message from chats, memory and prompts. Memories learned from it go too. `clew unhide` reverses this."""

    async def work(agent: "Face") -> bool:
        plan = await agent.plans.hide(await turn_of(agent, clean(id).strip()), exchange=exchange)
        return await carry_out(agent, plan, word=None, yes=True, dry_run=dry_run, as_json=as_json)

    done = with_agent(home_of(ctx), work, client="hide")
    end(done, dry_run=dry_run, said="Hidden.", instead="Nothing was hidden.")


def unhide(
    ctx: typer.Context,
    id: Annotated[str, typer.Argument(metavar="ID", help="The message; 6 characters or more.")],
    exchange: Annotated[bool, typer.Option("--exchange", help="The whole exchange: message and reply.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", "-n", help="Only show what would be unhidden.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Unhide a message, with the memories learned from it."""

    async def work(agent: "Face") -> bool:
        plan = await agent.plans.unhide(await turn_of(agent, clean(id).strip()), exchange=exchange)
        return await carry_out(agent, plan, word=None, yes=True, dry_run=dry_run, as_json=as_json)

    done = with_agent(home_of(ctx), work, client="unhide")
    end(done, dry_run=dry_run, said="Unhidden.", instead="Nothing was unhidden.")


def delete(
    ctx: typer.Context,
    ids: Annotated[
        list[str], typer.Argument(metavar="ID", help="A message, chat, document or memory; 6 characters or more.")
    ],
    exchange: Annotated[
        bool, typer.Option("--exchange", help="Delete the whole exchange: a message with all its replies.")
    ] = False,
    session: Annotated[bool, typer.Option("--session", help="Treat the ids as chats.")] = False,
    document: Annotated[bool, typer.Option("--document", help="Treat the ids as documents.")] = False,
    memory: Annotated[bool, typer.Option("--memory", help="Treat the ids as memories.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", "-n", help="Only show what would be removed.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Delete permanently. What is deleted is erased, and undo, marks or backups cannot bring it back.

    It first shows what will be deleted (the messages and the memories learned from them) and what will stay although it
    says the same. Without --yes it then asks; if it cannot ask, it deletes nothing and exits with 1.
    """
    kinds = [name for name, given in _given(exchange, session, document, memory).items() if given]
    if len(kinds) > 1:
        raise typer.BadParameter("Use only one of --exchange, --session, --document and --memory.")
    kind = kinds[0] if kinds else None

    async def work(agent: "Face") -> bool:
        plans = [await _plan(agent, clean(id).strip(), kind) for id in dict.fromkeys(ids)]
        return await carry_out(
            agent, await _joined(agent, plans), word="delete", yes=yes, dry_run=dry_run, as_json=as_json
        )

    done = with_agent(home_of(ctx), work, client="delete")
    end(done, dry_run=dry_run, said="Deleted.", instead="Nothing was deleted. Use --yes to delete it.")


def _either(kinds: Sequence[str]) -> str:
    """Kinds of things in words: a message, chat, document or memory."""
    named = ["chat" if kind == "session" else kind for kind in kinds]
    return " or ".join(each for each in (", ".join(named[:-1]), named[-1]) if each)


def _given(exchange: bool, session: bool, document: bool, memory: bool) -> dict[str, bool]:
    return {"exchange": exchange, "session": session, "document": document, "memory": memory}


async def _plan(agent: "Face", wanted: str, kind: str | None) -> "Plan":
    """What deleting the one thing that is meant would do. Raises NotFound, or Ambiguous where several are."""
    from graph.errors import Ambiguous

    ways: dict[str, Callable[[str], Awaitable[Plan]]] = {
        "message": lambda id: agent.plans.delete(id, exchange=kind == "exchange"),
        "session": agent.plans.delete_session,
        "document": agent.plans.remove_document,
        "memory": agent.plans.forget,
    }
    asked = {"message": turn_of, "session": _session, "document": _document, "memory": _memory}
    only = {None: list(asked), "exchange": ["message"]}.get(kind, [kind or ""])
    found: dict[str, str] = {}
    for what in only:
        try:
            found[what] = await asked[what](agent, wanted)
        except NotFound:
            continue
    if not found:
        short = SHORT if len(wanted) < SHORTEST_PREFIX else ""
        raise NotFound(
            f"There is no {_either(only)} {one_line(wanted) or 'without an id'}. {short}"
            "Nothing was deleted; `clew log`, `clew sessions`, "
            "`clew memories` and `clew ingest` list the ids."
        )
    if len(found) > 1:
        raise Ambiguous(
            f"{wanted} may be a {_either(list(found))}. Nothing was deleted. Give more characters of the id, or "
            "use one of --exchange, --session, --document and --memory."
        )
    ((what, id),) = found.items()
    return await ways[what](id)


async def _joined(agent: "Face", plans: "list[Plan]") -> "Plan":
    """One plan of several: all of it or nothing."""
    if len(plans) == 1:
        return plans[0]
    events = list(dict.fromkeys(event for plan in plans for event in plan.events))
    notes = list(dict.fromkeys(note for plan in plans for note in plan.notes))
    return await agent.plans.plan("; ".join(plan.what for plan in plans), *events, notes=notes)


async def _session(agent: "Face", wanted: str) -> str:
    chats = [*await agent.chats.all(), *await agent.chats.all(archived=True)]
    found = _begins((each.id for each in chats), wanted, "chats")
    return found or (await agent.chats.get(wanted)).id  # a deleted one is told of by its whole id


async def _document(agent: "Face", wanted: str) -> str:
    found = _begins((each.id for each in await agent.documents.all()), wanted, "documents")
    return found or (await agent.documents.get(wanted)).id


def _begins(ids: Iterable[str], wanted: str, several: str) -> str | None:
    """The one id that begins like this. Raises Ambiguous."""
    from graph.errors import Ambiguous

    short = len(wanted) < SHORTEST_PREFIX
    found = [id for id in ids if id == wanted or (not short and id.startswith(wanted.upper()))]
    if len(found) > 1:
        raise Ambiguous(f"Several {several} have ids starting with {wanted}. Give more characters.")
    return found[0] if found else None


async def _memory(agent: "Face", wanted: str) -> str:
    return (await agent.memories.story(wanted)).observation.id


def forget(
    ctx: typer.Context,
    id: Annotated[str, typer.Argument(metavar="ID", help="The memory; 6 characters or more.")],
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON: a list of what is deleted.")] = False,
) -> None:
    """Forget a memory permanently, with all its versions.

    The messages it was learned from stay in their chats. Without --yes it asks first; if it cannot ask, it only shows
    what would be deleted and exits with 1.
    """

    async def ask(agent: "Face") -> "tuple[list[Observation], bool]":
        going = await agent.memories.forgetting(clean(id))
        _forget_show(going, as_json=as_json)
        said = f"This permanently deletes {counted(len(going), 'version')} of it. This cannot be undone."
        allowed = yes or _confirmed("forget", said, "The messages it was learned from stay in their chats.")
        if allowed:
            await agent.memories.forget(going[0].id)
            end_purge(await agent.erasure.finished())
        return going, allowed

    going, done = with_agent(home_of(ctx), ask, client="forget")
    if not done:
        say("Nothing was forgotten. Use --yes to forget it.")
        raise typer.Exit(ExitCode.FAILED)
    say(f"Forgotten: {counted(len(going), 'version')} of it.")


def _forget_show(going: "list[Observation]", *, as_json: bool) -> None:
    if as_json:
        put_json([one_as_json(each) for each in going])
        return
    for each in going:
        put(lines(each))
