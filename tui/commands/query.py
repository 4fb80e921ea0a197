"""`clew query` and `schema`: a query of one's own to the memory graph, and what there is in it to ask for.

stdout is the rows and nothing else; how many there are, how many of them are not shown, and how long it took, is said
on stderr.
"""

import csv
import io
import json
import sys
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from enum import StrEnum
from textwrap import wrap
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tui.commands.choosing import AS_OF, home_of, looking_back, project_named, when, world_of
from tui.exit_codes import ExitCode, exit_code_of
from tui.output import ENDLESS, clip, complain, fit, instant, paint, put, put_json, say, width
from tui.text import counted, one_line, shown
from tui.worlds import MAIN

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from agent.face import Face
    from agent.home import Home
    from graph.console.catalogue import NodeKind, RelationshipKind, Schema
    from graph.console.console import Answer
    from tui.output import Narration


PARAM = "A value for $NAME in the query, as JSON or text. Can be repeated."
MOST_ROWS = 100_000
LONGEST_S = 600.0
WIDEST = 60  # columns of a terminal that one column of a table takes, where there are several
MOST_BYTES = 1 << 16
IN_WORLD = "What $world stands for in the query, by its id or a chat of it; main without it."
IN_WORDS = "CYPHER is a question in plain words: who did I mention most in March?"
IN_PROJECT = "Only what is in use in this project and outside of what-ifs; otherwise all of the graph."
OF_ALL = "The answer is of all projects, and of none; --project NAME keeps to one."
NOT_SURE = (
    "This is the nearest ready query, but it may not be what you asked. Nothing was run. Ask in other words, or run it "
    "yourself with `clew query`."
)


class QueryFormat(StrEnum):
    """How the rows are written."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"


def query(
    ctx: typer.Context,
    cypher: Annotated[str, typer.Argument(metavar="CYPHER", help="MATCH … RETURN …; `-` reads it.")],
    param: Annotated[list[str] | None, typer.Option("--param", "-p", metavar="NAME=VALUE", help=PARAM)] = None,
    format: Annotated[
        QueryFormat, typer.Option("--format", "-f", help="How the rows are written.")
    ] = QueryFormat.TABLE,
    as_json: Annotated[bool, typer.Option("--json", help="The same as --format json.")] = False,
    ask: Annotated[bool, typer.Option("--ask", help=IN_WORDS)] = False,
    as_of: Annotated[str | None, typer.Option("--as-of", metavar="TIME", help=AS_OF)] = None,
    world: Annotated[str | None, typer.Option(metavar="ID", help=IN_WORLD)] = None,
    project: Annotated[str | None, typer.Option(metavar="NAME", help=IN_PROJECT)] = None,
    limit: Annotated[
        int, typer.Option("--limit", "-k", metavar="N", min=1, max=MOST_ROWS, help="Maximum number of rows.")
    ] = 500,
    timeout: Annotated[
        float, typer.Option(metavar="SECONDS", min=0.001, max=LONGEST_S, help="Seconds the query may take.")
    ] = 10.0,
) -> None:
    """Read the memory graph with Cypher. Nothing can be changed with it.

    It reads the whole graph, of all worlds: what is said or learned in a what-if has its id in `t.world` and `o.world`,
    the rest has main; `t.live` and `o.current` tell how it stands there. `WHERE o.world = $world` keeps to one world.
    `clew schema` lists what there is to ask for.

    With --ask it takes a question in plain words, says on stderr which query that is, and runs it.

    Exit codes: 0 answered, also without rows, and where there are more than are written (stderr says so); 1 it took too
    long, ended its engine, or the graph cannot be asked now; 2 the query is wrong or would do more than read, or a
    value does not fit; 66 there is no memory, world or time like that; 69
    the question needs a model that is not there; 75 another clew has the memory.
    """
    from agent.errors import NotUnderstood
    from graph.console.grammar import checked
    from graph.console.lexing import parameters_of
    from graph.console.parameters import given
    from graph.errors import EngineEnded, QueryFailed, QueryTimeout
    from graph.reader import LogReader
    from models.errors import NotInstalled

    at, values = when(as_of), values_of(param or ())
    text = cypher if cypher != "-" else sys.stdin.buffer.read(MOST_BYTES).decode("utf-8", "replace")
    try:
        if ask and values:
            raise typer.BadParameter("A question in plain words takes no --param. Nothing was run.")
        if not ask:  # before the memory is opened, which may take a while
            asked = parameters_of(checked(text))
            if missing := [each for each in asked if each not in values]:
                raise _no_value(missing)
            given(text, values)
        home = home_of(ctx, writing=False)
        LogReader.open(home.memory).close()  # a question about nothing makes no memory
        of = world_of(home, world, told="$world is")
        if project is not None and of != MAIN:
            raise typer.BadParameter("--project looks outside of what-ifs: leave --world out. Nothing was run.")
        named = project_named(home, project) if project is not None else None
        answer = _asked(home_of(ctx), text, None if ask else values, limit, timeout, at, of, named)
    except (QueryTimeout, EngineEnded) as error:
        complain(error)
        raise typer.Exit(ExitCode.FAILED) from error
    except NotInstalled as error:  # told by a notice
        raise typer.Exit(exit_code_of(error)) from error
    except (QueryFailed, NotUnderstood) as error:
        complain(error)
        raise typer.Exit(ExitCode.USAGE) from error
    _put(answer, QueryFormat.JSON if as_json else format, at, of)
    say(summary(answer))


def _no_value(names: Sequence[str]) -> typer.BadParameter:
    told = " ".join(f"--param {each}=…" for each in names)
    return typer.BadParameter(
        f"The query asks for {', '.join(f'${each}' for each in names)}: say {told}. Nothing was run."
    )


def _asked(
    home: "Home",
    text: str,
    given: Mapping[str, Any] | None,
    limit: int,
    timeout_s: float,
    at: "datetime | int | None",
    world: str,
    project: str | None,
) -> "Answer":
    """The answer to a query with the values that are given, or (None) to a question in plain words.

    With a `project` only what is live is looked at, and of that what its chats see.
    """
    from tui.commands.opened import with_memory

    async def ask(agent: "Face", narration: "Narration") -> "Answer":
        cypher, values = (text, given) if given is not None else await _in_words(agent, narration, text, world)
        if given is None and project is None and await agent.projects.all():
            say(OF_ALL)
        async with AsyncExitStack() as looking:
            past = await looking.enter_async_context(looking_back(agent, narration, at)) if at is not None else None
            return await (past or agent).graph.console(
                cypher,
                parameters=values,
                timeout_s=timeout_s,
                limit=limit,
                world=world,
                live_only=project is not None,
                project=project,
            )

    return with_memory(home, ask, client="query", open_graph=at is None, by_meaning=given is None)


async def _in_words(
    agent: "Face", narration: "Narration", question: str, world: str
) -> "tuple[str, Mapping[str, Any]]":
    """A question as a query, told on stderr before it runs. Raises NotUnderstood, also where that may be another."""
    from agent.errors import NotUnderstood

    narration.tell("reading the question …")
    found = await agent.queries.translate(question, world=world)
    narration.clear()
    by = f" (written by {found.model})" if found.model else ""
    say(shown(f"{found.words}{by}\n{found.cypher}"))
    for name, value in found.parameters.items():
        say(shown(f"${name} = {json.dumps(value, ensure_ascii=False)}"))
    if found.how == "nearest":
        raise NotUnderstood(NOT_SURE)
    return found.cypher, found.parameters


def summary(answer: "Answer") -> str:
    """How many rows there are, how many of them are shown and why not all, and how long it took."""
    if answer.total is None:
        told = f"the first {counted(len(answer.rows), 'row')}, and there may be more"
    elif answer.total > len(answer.rows):
        told = f"{len(answer.rows):,} of {answer.total:,} rows"
    else:
        told = counted(answer.total, "row")
    why = {
        "": "",
        "rows": " (use --limit for more)",
        "bytes": " (the others are too large)",
        "time": " (the time ran out before the others came; use --timeout for more)",
    }
    return f"{told}, {answer.took_ms:.0f} ms{why[answer.cut]}"


def _put(answer: "Answer", format: QueryFormat, at: "datetime | int | None", world: str) -> None:
    match format:
        case QueryFormat.JSON:
            told: dict[str, object] = {
                "columns": list(answer.columns),
                "rows": [dict(zip(answer.columns, row, strict=True)) for row in answer.rows],
                "total": answer.total,
                "cut": answer.cut or None,
                "took_ms": round(answer.took_ms, 3),
            }
            if world != MAIN:
                told["world"] = world
            if at is not None:
                told["as_of"] = at if isinstance(at, int) else instant(at)
            put_json(told)
        case QueryFormat.CSV:
            put(as_csv(answer), end="")
        case QueryFormat.TABLE:
            for line in as_table(answer, width()):
                put(line)


def as_csv(answer: "Answer") -> str:
    """The rows as RFC 4180 has them, with a line of names; nothing in them that a terminal would obey."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow([shown(each) for each in answer.columns])
    writer.writerows([shown(spelled(value)) for value in row] for row in answer.rows)
    return text.getvalue()


def as_table(answer: "Answer", columns: int) -> list[str]:
    """The rows in columns as wide as what is in them, none wider than there is room for; all of it where none is."""
    rows = [[one_line(spelled(value)) for value in row] for row in answer.rows]
    names = [one_line(each) for each in answer.columns]
    if not names:
        return []
    most = columns if len(names) == 1 else max(4, min(WIDEST, columns - 4))
    wide = [min(most, max(len(each) for each in column)) for column in zip(names, *rows, strict=True)]
    head = _line(names, wide, columns)
    return [paint(head, "1"), *(_line(row, wide, columns) for row in rows)]


def _line(cells: Sequence[str], wide: Sequence[int], columns: int) -> str:
    shortened = [fit(cell, room) for cell, room in zip(cells, wide, strict=True)] if columns < ENDLESS else cells
    line = "  ".join(cell.ljust(room) for cell, room in zip(shortened, wide, strict=True)).rstrip()
    return clip(line, columns)


def spelled(value: Any) -> str:
    """A value in a cell: words as they are, nothing for null, a path in words, nodes and lists as JSON."""
    match value:
        case None:
            return ""
        case str():
            return value
        case {"_nodes": _, "_rels": _}:
            from tui.queries.cells import brief

            return brief(value)
        case _:
            return json.dumps(value, ensure_ascii=False)


def values_of(given: Sequence[str]) -> dict[str, Any]:
    """The values by name. Raises BadParameter for what has no name, or one that was there already."""
    values: dict[str, Any] = {}
    for each in given:
        name, sign, value = each.partition("=")
        name = name.strip().removeprefix("$")
        if not sign or not name.isidentifier():
            raise typer.BadParameter(f"{each!r} is not NAME=VALUE", param_hint="--param")
        if name in values:
            raise typer.BadParameter(f"${name} is given twice", param_hint="--param")
        values[name] = read(value)
    return values


def read(value: str) -> Any:
    """A value as it was meant: 3, true, null, ["a", "b"] and "3" are JSON, everything else is text."""
    try:
        return json.loads(value, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        return value


def _no_constant(name: str) -> Any:
    raise ValueError(name)  # NaN and Infinity, which JSON has not


class SchemaFormat(StrEnum):
    """Output format."""

    TABLE = "table"
    JSON = "json"


def schema(
    ctx: typer.Context,
    format: Annotated[SchemaFormat, typer.Option("--format", "-f", help="Output format.")] = SchemaFormat.TABLE,
    as_json: Annotated[bool, typer.Option("--json", help="The same as --format json.")] = False,
    as_of: Annotated[str | None, typer.Option("--as-of", metavar="TIME", help=AS_OF)] = None,
) -> None:
    """List the tables of the memory graph. It shows their row counts and columns, for use with `clew query`.

    Exit codes: 0 done; 1 the graph cannot be asked now; 66 there is no memory or time like that; 75 another clew has
    the memory.
    """
    from graph.reader import LogReader

    at = when(as_of)
    LogReader.open(home_of(ctx, writing=False).memory).close()  # a question about nothing makes no memory
    found = _schema_asked(home_of(ctx), at)
    if as_json or format is SchemaFormat.JSON:
        put_json(as_values(found, at))
        return
    for line in as_lines(found):
        put(line)


def _schema_asked(home: "Home", at: "datetime | int | None") -> "Schema":
    from tui.commands.opened import with_memory

    async def ask(agent: "Face", narration: "Narration") -> "Schema":
        if at is None:
            return await agent.graph.schema()
        async with looking_back(agent, narration, at) as past:
            return await past.graph.schema()

    return with_memory(home, ask, client="query", open_graph=at is None)


def as_values(found: "Schema", at: "datetime | int | None" = None) -> dict[str, object]:
    """As JSON: two lists of tables, each with its properties."""
    told: dict[str, object] = {
        "nodes": [_table(each) for each in found.nodes],
        "relationships": [_table(each) | {"from": each.start, "to": list(each.ends)} for each in found.relationships],
    }
    return told if at is None else told | {"as_of": at if isinstance(at, int) else instant(at)}


def _table(table: "NodeKind | RelationshipKind") -> dict[str, object]:
    properties = [{"name": each.name, "type": each.type, "meaning": each.meaning} for each in table.properties]
    return {"name": table.name, "count": table.count, "meaning": table.meaning, "properties": properties}


def as_lines(found: "Schema") -> "Iterator[str]":
    """A line for every table, and one for every property under it; all of it is our own words."""
    room = width() if sys.stdout.isatty() else None
    for node in found.nodes:
        yield paint(folded(f"(:{node.name})  {node.count:,}", room, under=2), "1")
        yield from _under(node, room)
    for each in found.relationships:
        ends = " or ".join(f":{end}" for end in each.ends)
        yield paint(folded(f"(:{each.start})-[:{each.name}]->({ends})  {each.count:,}", room, under=2), "1")
        yield from _under(each, room)


def _under(table: "NodeKind | RelationshipKind", room: int | None) -> "Iterator[str]":
    yield folded(f"  {table.meaning}", room, under=2)
    for each in table.properties:
        yield folded(f"    {each.name:<17}  {each.type:<6}  {each.meaning}", room, under=31)
    yield ""


def folded(line: str, room: int | None, *, under: int) -> str:
    """A line in as many as it needs, the others from the column `under` which it goes on."""
    if room is None or len(line) <= room:
        return line
    return "\n".join(wrap(line, room, subsequent_indent=" " * min(under, room // 3)))
