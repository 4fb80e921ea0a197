"""The six tools: what each does with the memory. What goes wrong is raised, with a message for who called.

`recent` and `about` read the log beside whoever holds the memory; the others, and `recent` of observations, need the
memory for themselves for a moment. None of them answers with what the user hid, deleted or keeps out of memory, or with
what belongs to a what-if: recall, the recent and about are of the main world and of what is live there, and what the
graph tells is checked. Each answers as in a chat of the project that the call names, or the command, or of none.
"""

import asyncio
from collections.abc import Collection, Sequence
from contextlib import closing
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from agent.errors import AgentError
from agent.home import Home
from graph.errors import MemoryMissing, NotFound
from tui.commands.choosing import project_in
from tui.commands.output import instant
from tui.commands.since import parse_since
from tui.mcp import shapes
from tui.mcp.telling import in_force, may_be_told, told, told_hit, told_newest, told_node
from tui.mcp.visits import Visits

if TYPE_CHECKING:
    from graph.newest import Newest, NodeKind
    from graph.reading import LogReader
    from graph.recent import Within
    from graph.subgraphs import Node

TIMEOUT_S = 10.0
LOOKED_AT = 5  # times as many neighbours as are told are looked at: some of them may not be
NODES = ("Entity", "Turn", "Observation", "Session", "Document", "Chunk", "Project")
UNTOLD = frozenset({"Wording", "World", "CoreBlock"})  # neighbours that are the user's own affair
OUTCOMES = {
    "waits": ("waits for review", "It waits for the user's review, and is not in use until then."),
    "in use": ("in use", "It is remembered."),
    "known": ("known already", "That is already remembered. Nothing was stored."),
    "waits already": ("waits already", "That is already waiting for the user's review. Nothing was stored."),
    "rejected before": ("rejected before", "The user rejected that before. Nothing was stored."),
}


class Tools:
    """The tools over the memory of a home."""

    def __init__(self, home: Home, visits: Visits, *, project: str | None = None) -> None:
        self._home = home
        self._visits = visits
        self._own = project

    async def recall(self, asked: shapes.RecallArguments) -> shapes.Hits:
        """What was said that matters for some words."""
        from graph.hits import Filters
        from graph.recall.lexical import says_anything
        from tui.reasons import shared

        if not says_anything(asked.query):
            raise AgentError("The query contains no words. Nothing was done.")
        since, until = moment(asked.since), moment(asked.until)
        if not await asyncio.to_thread(self._anything):
            return shapes.Hits(hits=[], by_meaning=False)
        project = await asyncio.to_thread(self._project, asked.project)
        filters = Filters(person=asked.person, project=project, since=since, until=until)
        async with self._visits.agent() as agent:
            by_meaning = await agent.models.embedder_ready()
            hits = await agent.search.recall(asked.query, limit=asked.limit, filters=filters)
        return shapes.Hits(hits=[told_hit(hit, shared(hits)) for hit in hits], by_meaning=by_meaning)

    async def recent(self, asked: shapes.RecentArguments) -> shapes.Exchanges | shapes.NewestShape:
        """The newest exchanges, or nodes of some kinds."""
        project = await asyncio.to_thread(self._project, asked.project)
        if asked.kinds:
            found = await self._newest(asked, project)
            return shapes.NewestShape(items=[told_newest(each) for each in found])
        return await asyncio.to_thread(self._recent, asked.limit, moment(asked.since), moment(asked.until), project)

    async def _newest(self, asked: shapes.RecentArguments, project: str | None) -> "list[Newest]":
        within: Within = {"since": moment(asked.since), "until": moment(asked.until), "project": project}
        if not await asyncio.to_thread(self._anything):
            return []
        if "observation" in asked.kinds:
            async with self._visits.agent() as agent:
                return await agent.search.newest(asked.kinds, asked.limit, **within)
        return await asyncio.to_thread(self._of_the_log, asked.kinds, asked.limit, within)

    async def about(self, asked: shapes.AboutArguments) -> shapes.AboutShape:
        """What there is about somebody or something."""
        project = await asyncio.to_thread(self._project, asked.project)
        return await asyncio.to_thread(self._about, asked.name, asked.limit, project)

    async def remember(self, asked: shapes.RememberArguments, *, by: str) -> shapes.RememberedShape:
        """Propose something to be remembered."""
        from agent.settings import load_settings
        from graph.events import ObservationKind

        settings = await asyncio.to_thread(load_settings, self._home.config)
        if settings.mcp_remember == "off":
            raise AgentError(
                "The user does not allow other programs to propose memories. Nothing was stored. "
                'mcp_remember = "review" in the settings would allow it.'
            )
        kind = ObservationKind(asked.kind) if asked.kind is not None else None
        project = await asyncio.to_thread(self._project, asked.project)
        async with self._visits.agent() as agent:
            made = await agent.proposals.add(
                asked.text, by=by, kind=kind, project=project, in_use=settings.mcp_remember == "active"
            )
        outcome, words = OUTCOMES[made.outcome]
        return shapes.RememberedShape.model_validate(
            {"outcome": outcome, "told": words, "id": made.memory.id, "text": made.memory.text or ""}
        )

    async def relations(self, asked: shapes.RelationsArguments) -> shapes.Relations:
        """What a name or an id is related to."""
        from graph.subgraphs import Ref

        name = " ".join(asked.of.split())
        missing = NotFound(f"Nothing in the memory has the name or id {name!r}. Nothing was changed; `about` or "
                           "`recall` find names and ids.")  # fmt: skip
        if not await asyncio.to_thread(self._anything):
            raise missing
        project = await asyncio.to_thread(self._project, asked.project)
        async with self._visits.agent() as agent:
            for table in NODES:
                try:
                    ego = await agent.graph.ego(Ref(table, name), per=asked.limit * LOOKED_AT)
                    break
                except NotFound:
                    continue
            else:
                raise missing
        if not in_force(ego.node) or not await asyncio.to_thread(self._seen, [ego.node], project):
            raise missing
        relations = []
        for side in ego.sides:
            if side.table in UNTOLD:
                continue
            nodes = [node for node in side.nodes if in_force(node)]
            nodes = await asyncio.to_thread(self._seen, nodes, project)
            if nodes:
                relations.append(
                    shapes.Relation(
                        relation=side.relation,
                        leads="out" if side.outgoing else "in",
                        items=[told_node(node) for node in nodes[: asked.limit]],
                        more=len(nodes) > asked.limit or side.total > len(side.nodes),
                    )
                )
        return shapes.Relations(of=told_node(ego.node), relations=relations)

    async def query(self, asked: shapes.QueryArguments) -> shapes.RowsShape:
        """Ask the graph a query that only reads, of what is live."""
        project = await asyncio.to_thread(self._project, asked.project)
        async with self._visits.agent() as agent:
            answer = await agent.graph.console(
                asked.cypher,
                parameters=asked.parameters,
                timeout_s=TIMEOUT_S,
                limit=asked.limit,
                live_only=True,
                project=project,
            )
        return shapes.RowsShape(
            columns=list(answer.columns),
            rows=[list(row) for row in answer.rows],
            total=answer.total,
            cut=answer.cut,
            took_ms=round(answer.took_ms, 1),
        )

    # -- of the log, beside whoever holds the memory ----------------------------------------------------------------

    def _anything(self) -> bool:
        """Whether anything was ever stored: a question about nothing makes no memory."""
        from graph.reading import LogReader

        try:
            LogReader.open(self._home.memory).close()
        except MemoryMissing:
            return False
        return True

    def _project(self, named: str | None) -> str | None:
        """The project whose eyes a call looks with: that it names, or the command; None for those of none.

        Raises NotFound.
        """
        from graph.reading import LogReader

        wanted = named if named is not None else self._own
        if wanted is None:
            return None
        try:
            with closing(LogReader.open(self._home.memory)) as reader:
                return project_in(reader, wanted)
        except MemoryMissing as error:
            raise NotFound(f"There is no project {wanted}: the memory is empty.") from error

    def _recent(
        self, limit: int, since: datetime | None, until: datetime | None, project: str | None
    ) -> shapes.Exchanges:
        from graph.reading import LogReader

        try:
            reader = LogReader.open(self._home.memory)
        except MemoryMissing:
            return shapes.Exchanges(exchanges=[])
        try:
            found = reader.recent("exchange", limit, since=since, until=until, project=project)
            return shapes.Exchanges(
                exchanges=[
                    shapes.ExchangeShape(
                        said=told(each.turn, reader.session(each.turn.session).name),
                        reply=told(each.reply, None) if each.reply is not None and may_be_told(each.reply) else None,
                        project=each.project,
                    )
                    for each in found
                    if may_be_told(each.turn)
                ]
            )
        finally:
            reader.close()

    def _of_the_log(self, kinds: "Sequence[NodeKind]", limit: int, within: "Within") -> "list[Newest]":
        from graph.reading import LogReader

        with closing(LogReader.open(self._home.memory)) as reader:
            return reader.newest(kinds, limit, **within)

    def _about(self, name: str, limit: int, project: str | None) -> shapes.AboutShape:
        from graph.reading import LogReader

        wanted = " ".join(name.split())
        if not wanted:
            raise AgentError("The name is empty. Nothing was done. Name a person, place or project.")
        try:
            reader = LogReader.open(self._home.memory)
        except MemoryMissing:
            return shapes.AboutShape(name=wanted, kind="word", said=0, mentioned=0, chats=[], messages=[])
        try:
            found = reader.about(wanted, limit=limit, project=project)
        finally:
            reader.close()
        titles = {id: title for id, title, _ in found.sessions}
        return shapes.AboutShape(
            name=found.name,
            kind=found.kind,
            said=found.said,
            mentioned=found.mentioned,
            first_at=instant(found.first_at) if found.first_at else None,
            last_at=instant(found.last_at) if found.last_at else None,
            chats=[shapes.ChatShape(id=id, title=title, messages=turns) for id, title, turns in found.sessions],
            messages=[told(turn, titles.get(turn.session)) for turn in found.turns if may_be_told(turn)],
        )

    def _seen(self, nodes: "Sequence[Node]", project: str | None) -> "list[Node]":
        """Those of some nodes that a chat of a project, or of none, sees.

        Of people and things, those that something names which may be told: of others, not even the name is told.
        """
        from graph.reading import LogReader

        with closing(LogReader.open(self._home.memory)) as reader:
            seen = {table: _ids(reader, table, nodes, project) for table in {node.ref.table for node in nodes}}
        return [node for node in nodes if node.ref.id in seen[node.ref.table]]


def _ids(reader: "LogReader", table: str, nodes: "Sequence[Node]", project: str | None) -> "Collection[str]":
    """The ids of those nodes of a table that a chat of a project, or of none, sees."""
    from graph.visibility import sees_made, sees_said

    given = [node for node in nodes if node.ref.table == table]
    ids = [node.ref.id for node in given]
    match table:
        case "Turn":
            return reader.quotable(ids, project=project)
        case "Observation":
            return reader.believed(ids, project=project)
        case "Chunk":
            return reader.chunks(ids, project=project)
        case "Session":
            return {id for id in ids if sees_said(project, reader.session(id).project)}
        case "Document":
            return {each.id for each in reader.documents() if sees_made(project, each.project, everywhere=True)}
        case "Project":
            return {id for id in ids if id == project}
        case "Entity":
            abouts = {node.ref.id: reader.about(node.title, limit=0, project=project) for node in given}
            return {id for id, found in abouts.items() if found.said or found.mentioned or id in ("you", "assistant")}
        case _:
            return ids


def moment(text: str | None) -> datetime | None:
    """The UTC time that an argument means. Raises AgentError."""
    if text is None:
        return None
    try:
        return parse_since(text, now=datetime.now(UTC))
    except ValueError as error:
        raise AgentError(f"{error} Nothing was done.") from error
