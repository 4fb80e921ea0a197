"""`clew delete ID…`: messages, exchanges, chats, documents and memories, for good, after showing what goes along."""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from tui.commands.changing import carry_out, end, turn_of
from tui.commands.choosing import SHORT, SHORTEST_PREFIX
from tui.commands.learned import with_agent
from tui.commands.place import home_of
from tui.text import clean, one_line

if TYPE_CHECKING:
    from agent.agent import Agent
    from agent.plans import Plan

WORD = "delete"

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


@app.command()
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

    async def work(agent: "Agent") -> bool:
        plans = [await _plan(agent, clean(id).strip(), kind) for id in dict.fromkeys(ids)]
        return await carry_out(agent, await _joined(agent, plans), word=WORD, yes=yes, dry_run=dry_run, as_json=as_json)

    done = with_agent(home_of(ctx), work, client="delete")
    end(done, dry_run=dry_run, said="Deleted.", instead="Nothing was deleted. Use --yes to delete it.")


def _either(kinds: Sequence[str]) -> str:
    """Kinds of things in words: a message, chat, document or memory."""
    named = ["chat" if kind == "session" else kind for kind in kinds]
    return " or ".join(each for each in (", ".join(named[:-1]), named[-1]) if each)


def _given(exchange: bool, session: bool, document: bool, memory: bool) -> dict[str, bool]:
    return {"exchange": exchange, "session": session, "document": document, "memory": memory}


async def _plan(agent: "Agent", wanted: str, kind: str | None) -> "Plan":
    """What deleting the one thing that is meant would do. Raises NotFound, or Ambiguous where several are."""
    from graph.errors import Ambiguous, NotFound

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


async def _joined(agent: "Agent", plans: "list[Plan]") -> "Plan":
    """One plan of several: all of it or nothing."""
    if len(plans) == 1:
        return plans[0]
    events = list(dict.fromkeys(event for plan in plans for event in plan.events))
    notes = list(dict.fromkeys(note for plan in plans for note in plan.notes))
    return await agent.plans.plan("; ".join(plan.what for plan in plans), *events, notes=notes)


async def _session(agent: "Agent", wanted: str) -> str:
    chats = [*await agent.chats.all(), *await agent.chats.all(archived=True)]
    found = _begins((each.id for each in chats), wanted, "chats")
    return found or (await agent.chats.get(wanted)).id  # a deleted one is told of by its whole id


async def _document(agent: "Agent", wanted: str) -> str:
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


async def _memory(agent: "Agent", wanted: str) -> str:
    return (await agent.memories.story(wanted)).observation.id
