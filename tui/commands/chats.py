"""`clew sessions`, `projects`, `rewind`, `fork` and `tree`: the chats, what they belong to, and how they branch.

The tree has a line for each turn; one reply after the other stands below the one before, and only where a chat branches
its branches are set in.
"""

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from graph.errors import MemoryMissing
from tui.commands.choosing import aim, complete_session, complete_shown, home_of, reader_of
from tui.commands.learned import has_memory, with_agent
from tui.impact import as_json as impact_json
from tui.impact import lines_of
from tui.output import fit, instant, local, paint, put, put_json, say, width
from tui.reasons import who
from tui.text import clean, counted, one_line
from tui.worlds import MAIN

if TYPE_CHECKING:
    from agent.face import Face
    from agent.plans import Plan
    from graph.reader import LogReader
    from graph.values import Branch, Project, Session


def sessions(
    ctx: typer.Context,
    archived: Annotated[bool, typer.Option("--archived", help="List archived chats instead.")] = False,
    limit: Annotated[int | None, typer.Option("--limit", "-k", metavar="N", min=0, help="Maximum number.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON: a list.")] = False,
) -> None:
    """List the chats, newest activity first."""
    try:
        known = reader_of(ctx).sessions(archived=archived)
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
        "story": session.story,
        "model": session.model,
        "turns": session.turns,
        "archived": session.archived,
        "started_at": instant(session.started_at),
        "last_at": instant(session.last_at),
    }


def _line(session: "Session") -> str:
    head = f"{session.id}  {local(session.last_at)}  {session.turns:>5}  "
    project = f"[{session.project}] " if session.project else ""
    project += "(story) " if session.story is not None else ""
    project += "(what-if) " if session.world not in (MAIN, session.story) else ""
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

    async def ask(agent: "Face") -> "list[Project]":
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


START = "start"


def rewind(
    ctx: typer.Context,
    turn: Annotated[
        str,
        typer.Argument(
            metavar="TURN|start",
            help="The message to continue from, or `start`: before the first message of --session or the last chat.",
            autocompletion=complete_shown,
        ),
    ],
    session: Annotated[
        str | None, typer.Option(metavar="ID", help="The chat, if not the one where it was said: a fork of it.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", "-n", help="Only show what would change.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", hidden=True)] = False,  # it can be undone, so nothing is asked
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Go back to an earlier message.

    Later messages leave the chat and the memory until you go forward again. Nothing is lost, so it does not ask:
    `clew undo` undoes it.
    """
    from graph.errors import NotFound

    home = home_of(ctx)
    reader = reader_of(ctx, home)
    of, meant = aim(reader, None if turn == START else turn, session)
    reader.close()
    if meant is None and turn != START:
        raise NotFound(f"{turn} is a chat, not a message. `clew show {of.id}` lists its messages.")
    target = meant.id if meant is not None else None

    async def work(agent: "Face") -> "Plan":
        plan = await agent.branches.plan_rewind(of.id, target)
        if not dry_run:
            await agent.branches.rewind(of.id, target, plan=plan)
        return plan

    plan = with_agent(home, work, client="rewind")
    if as_json:
        told = {"session": of.id, "turn": target, "was": of.head, "done": not dry_run}
        put_json(told | {"what": plan.what, "notes": list(plan.notes), "impact": impact_json(plan.impact)})
        return
    put(paint(plan.what, "1"))
    for line in (*lines_of(plan.impact), *plan.notes):
        put(line)
    say("Nothing was changed." if dry_run else "Done. Nothing is lost; `clew undo` undoes it.")


def fork(
    ctx: typer.Context,
    session: Annotated[
        str | None,
        typer.Argument(metavar="SESSION", help="The chat; without it the last one.", autocompletion=complete_session),
    ] = None,
    at: Annotated[
        str | None, typer.Option(metavar="TURN", help="Where the new chat starts; without it, the last message.")
    ] = None,
    what_if: Annotated[
        bool, typer.Option("--what-if", help="In a world of its own: what is said there is remembered only there.")
    ] = False,
    name: Annotated[str | None, typer.Option(metavar="NAME", help="A name for the new chat.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Start a new chat with the past of another.

    Nothing is copied, and the other chat stays as it is.

    Prints the new chat's id: `clew --session ID` opens it, `clew ask --session ID` continues it.
    """
    from graph.errors import NotFound

    home = home_of(ctx)
    reader = reader_of(ctx, home)
    origin, turn = aim(reader, at, session) if at is not None else aim(reader, session)
    reader.close()
    if turn is None and at is not None:
        raise NotFound(f"{at} is a chat, not a message. `clew show {at}` lists its messages.")
    leaves = turn.id if turn is not None else None

    async def work(agent: "Face") -> "Session":
        new = await agent.branches.fork(
            origin.id, at=leaves, what_if=what_if, name=clean(name) if name is not None else None
        )
        return await agent.chats.get(new)

    made = with_agent(home, work, client="fork")
    if as_json:
        told = {"session": made.id, "world": made.world, "name": made.name}
        put_json(told | {"origin": origin.id, "at": made.head, "what_if": what_if})
        return
    put(made.id)
    say(
        "This is a what-if: other chats see nothing of it, and it sees nothing said in them from now on."
        if what_if
        else "Both chats share what was said so far, and each remembers what the other says."
    )


DEEPEST = 24  # columns that lines are set in at most


@dataclass(frozen=True, slots=True)
class TreeLine:
    """A turn of the tree: what is drawn before it and before what belongs to it, and its place among its like."""

    branch: "Branch"
    parent: str | None
    lead: str
    below: str
    place: str  # 2/3, or nothing where it stands alone


def tree(
    ctx: typer.Context,
    session: Annotated[
        str | None,
        typer.Argument(metavar="SESSION", help="The chat; without it the last one.", autocompletion=complete_session),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Show the branches of a chat.

    ● is on the current path, ○ on another branch; forks are listed where they leave.
    """
    reader = reader_of(ctx)
    of, _ = aim(reader, session)
    lines = tree_lines(reader.tree(of.id))
    if as_json:
        turns = [_json(reader, line) for line in lines]
        put_json({"session": of.id, "name": of.name, "world": of.world, "head": of.head, "turns": turns})
        return
    world = "" if of.world in (MAIN, of.story) else f" · what-if {one_line(of.world)}"
    put(paint(one_line(of.name or "(no title yet)"), "1") + paint(f"  {of.id}{world}", "2"))
    for line in lines:
        put(_drawn(line))
        for fork in line.branch.forks:
            put(_fork(reader, line, fork, of.world))
    if not lines:
        say("Nothing was said in this chat yet.")


def tree_lines(branches: "tuple[Branch, ...]") -> list[TreeLine]:
    """The turns in the order in which they are drawn; however deep the tree is, nothing calls itself."""
    found: list[TreeLine] = []
    left = [*reversed(_siblings(branches, None, ""))]
    while left:
        line = left.pop()
        found.append(line)
        left += reversed(_siblings(line.branch.children, line.branch.turn, line.below))
    return found


def _siblings(branches: "tuple[Branch, ...]", parent: str | None, indent: str) -> list[TreeLine]:
    """What follows one turn, each on its line: set in where it is more than one."""
    among, before = Counter(branch.role for branch in branches), Counter[str]()
    lines = []
    for number, branch in enumerate(branches, start=1):
        before[branch.role] += 1
        count = among[branch.role]
        place = f"{before[branch.role]}/{count}" if count > 1 else ""
        last = number == len(branches)
        lead, below = (indent + ("└─ " if last else "├─ "), indent + ("   " if last else "│  "))
        if len(branches) == 1 or len(below) > DEEPEST:
            lead = below = indent
        lines.append(TreeLine(branch, parent, lead, below, place))
    return lines


def _drawn(line: TreeLine) -> str:
    branch = line.branch
    dot = "●" if branch.on_path else "○"
    words = "(hidden)" if branch.hidden else branch.text if branch.text is not None else "(erased)"
    place = f"‹{line.place}› " if line.place else ""
    tail = "  ◀ the chat is here" if branch.head else ""
    head = f"{line.lead}{dot} {one_line(branch.turn)}  "
    text = fit(f"{place}{who(branch.role, branch.speaker)}: {words}", max(12, width() - len(head) - len(tail)))
    return paint(head, "36" if branch.on_path else "2") + text + paint(tail, "1")


def _fork(reader: "LogReader", line: TreeLine, fork: str, world: str) -> str:
    about = reader.session(fork)
    kind = "fork" if about.world == world else "what-if"
    lead = f"{line.below}  ↳ {kind} {one_line(fork)}  "
    return paint(lead + fit(about.name or "(no title yet)", max(12, width() - len(lead))), "35")


def _json(reader: "LogReader", line: TreeLine) -> dict[str, object]:
    branch = line.branch
    forks = [reader.session(fork) for fork in branch.forks]
    return {
        "turn": branch.turn,
        "parent": line.parent,
        "role": branch.role,
        "speaker": branch.speaker,
        "text": branch.text,
        "at": instant(branch.at),
        "on_path": branch.on_path,
        "head": branch.head,
        "hidden": branch.hidden,
        "alternative": line.place or None,
        "forks": [{"session": fork.id, "world": fork.world, "name": fork.name} for fork in forks],
    }
