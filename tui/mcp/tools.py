"""The six tools: what each does with the memory. What goes wrong is raised, with a message for who called.

Their signatures are the schemas that other programs see, and their docstrings what their models read.

`recent` and `about` read the log beside whoever holds the memory; the others, and `recent` of observations, need the
memory for themselves for a moment. None of them answers with what the user hid, deleted or keeps out of memory, or with
what belongs to a what-if: recall, the recent and about are of the main world and of what is live there, and what the
graph tells is checked. Each answers as in a chat of the project that the call names, or the command, or of none.
"""

import asyncio
from collections.abc import Collection, Sequence
from contextlib import closing
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

from mcp.server.mcpserver import Context
from pydantic import Field

from agent.errors import AgentError
from agent.home import Home
from graph.errors import MemoryMissing, NotFound
from tui.commands.choosing import parse_since, project_named
from tui.mcp import serializers
from tui.mcp.serializers import (
    Kind,
    Limit,
    NodeKind,
    Project,
    Time,
    in_force,
    may_be_told,
    told,
    told_hit,
    told_newest,
    told_node,
)
from tui.mcp.visits import Visits
from tui.output import instant

if TYPE_CHECKING:
    from graph.reader import LogReader
    from graph.readings.newest import NewestFilter, NewestItem
    from graph.values import Node

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

    async def recall(
        self,
        query: Annotated[
            str, Field(min_length=1, max_length=4_000, description="What to look for, in words; a question is fine.")
        ],
        limit: Limit = 10,
        since: Time = None,
        until: Time = None,
        person: Annotated[str | None, Field(max_length=200, description="Only what this person said.")] = None,
        project: Project = None,
    ) -> serializers.Hits:
        """Find what was said or learned before that matters for a question: by words, by meaning and by what is
        related, over all of the user's chats and documents. Each hit tells when, who said it, in which chat, and why
        it was found. Use it when the user refers to anything from before.
        """
        from graph.recall.lexical import says_anything
        from graph.values import Filters
        from tui.reasons import shared

        if not says_anything(query):
            raise AgentError("The query contains no words. Nothing was done.")
        start, end = moment(since), moment(until)
        if not await asyncio.to_thread(self._anything):
            return serializers.Hits(hits=[], by_meaning=False)
        project = await asyncio.to_thread(self._project, project)
        filters = Filters(person=person, project=project, since=start, until=end)
        async with self._visits.agent() as agent:
            by_meaning = await agent.models.embedder_ready()
            hits = await agent.search.recall(query, limit=limit, filters=filters)
        return serializers.Hits(hits=[told_hit(hit, shared(hits)) for hit in hits], by_meaning=by_meaning)

    async def recent(
        self,
        kinds: Annotated[
            Sequence[NodeKind],
            Field(
                max_length=7,
                description="Instead of exchanges, the newest of these: turn (a message), session (a chat), "
                "observation (a memory in use), entity (who or what was named), document, chunk (a piece of one), "
                "project.",
            ),
        ] = (),
        limit: Limit = 10,
        since: Time = None,
        until: Time = None,
        project: Project = None,
    ) -> serializers.Exchanges | serializers.NewestShape:
        """List what the user and the assistant talked about lately, or in a time, the newest first. Use it for
        "what did we talk about yesterday"; to find a subject, use recall. With kinds, list the newest of other parts
        of the memory: what was learned, who was named, documents, chats.
        """
        project = await asyncio.to_thread(self._project, project)
        within: NewestFilter = {"since": moment(since), "until": moment(until), "project": project}
        if kinds:
            found = await self._newest(kinds, limit, within)
            return serializers.NewestShape(items=[told_newest(each) for each in found])
        return await asyncio.to_thread(self._recent, limit, within)

    async def _newest(self, kinds: Sequence[NodeKind], limit: int, within: "NewestFilter") -> "list[NewestItem]":
        if not await asyncio.to_thread(self._anything):
            return []
        if "observation" in kinds:
            async with self._visits.agent() as agent:
                return await agent.search.newest(kinds, limit, **within)
        return await asyncio.to_thread(self._of_the_log, kinds, limit, within)

    async def about(
        self,
        name: Annotated[
            str, Field(min_length=1, max_length=200, description='A person, place or project; or "my sister".')
        ],
        limit: Annotated[Limit, Field(description="How many messages at most.")] = 10,
        project: Project = None,
    ) -> serializers.AboutShape:
        """Tell what there is about a person, place or project: who it stands how to, what is believed about it now and
        what was before, a timeline, how often and since when it comes up, and the newest messages that name it.
        """
        project = await asyncio.to_thread(self._project, project)
        return await asyncio.to_thread(self._about, name, limit, project)

    async def remember(
        self,
        text: Annotated[
            str,
            Field(
                min_length=1,
                max_length=2_000,
                description="One statement of at most 500 characters that makes sense by itself, such as: "
                "The user's sister Ada lives in Lyon.",
            ),
        ],
        kind: Annotated[Kind | None, Field(description="What it is about; guessed if it is left out.")] = None,
        project: Annotated[
            str | None, Field(max_length=200, description="The project that it is for; else it is for all of them.")
        ] = None,
        *,
        context: Context,
    ) -> serializers.RememberedShape:
        """Propose one lasting statement about the user or their world to be remembered. It waits for the user's review
        and is not in use before, unless the user set it otherwise. It is kept as your proposal, not as the user's
        words. What is known already is not stored again.
        """
        from agent.settings import load_settings
        from graph.events import ObservationKind

        settings = await asyncio.to_thread(load_settings, self._home.config)
        if settings.mcp_remember == "off":
            raise AgentError(
                "The user does not allow other programs to propose memories. Nothing was stored. "
                'mcp_remember = "review" in the settings would allow it.'
            )
        project = await asyncio.to_thread(self._project, project)
        async with self._visits.agent() as agent:
            made = await agent.proposals.add(
                text,
                by=_caller(context),
                kind=ObservationKind(kind) if kind is not None else None,
                project=project,
                in_use=settings.mcp_remember == "active",
            )
        outcome, words = OUTCOMES[made.outcome]
        return serializers.RememberedShape.model_validate(
            {"outcome": outcome, "told": words, "id": made.memory.id, "text": made.memory.text or ""}
        )

    async def relations(
        self,
        of: Annotated[
            str,
            Field(
                min_length=1,
                max_length=200,
                description="A name (of a person, place or thing), or an id from another answer.",
            ),
        ],
        limit: Annotated[Limit, Field(description="How many neighbours at most, of each relation.")] = 10,
        project: Project = None,
    ) -> serializers.Relations:
        """List how a person, place or thing stands to others (`relationships`: works_with, parent_of …, each with its
        proof), and what a message, memory, chat, document or name is directly related to in the memory's graph: what
        names it, what was learned about it, what proves it. Takes a name, or an id from another answer.
        """
        from graph.relations import kinds
        from graph.values import Ref, Wanted

        name = " ".join(of.split())
        missing = NotFound(f"Nothing in the memory has the name or id {name!r}. Nothing was changed; `about` or "
                           "`recall` find names and ids.")  # fmt: skip
        if not await asyncio.to_thread(self._anything):
            raise missing
        project = await asyncio.to_thread(self._project, project)
        async with self._visits.agent() as agent:
            name = await agent.memories.whom(name, project=project)
            for table in NODES:
                try:
                    ego = await agent.graph.ego(Ref(table, name), per=limit * LOOKED_AT)
                    break
                except NotFound:
                    continue
            else:
                raise missing
            wanted = Wanted(status="active", related=True, entity=ego.node.ref.id, viewer=project)
            told = await agent.memories.find(wanted, limit=limit) if ego.node.ref.table == "Entity" else []
        if not in_force(ego.node) or not await asyncio.to_thread(self._seen, [ego.node], project):
            raise missing
        relations = []
        for side in ego.sides:
            if side.table in UNTOLD or side.relation in kinds():  # those are told by their memories
                continue
            nodes = [node for node in side.nodes if in_force(node)]
            nodes = await asyncio.to_thread(self._seen, nodes, project)
            if nodes:
                relations.append(
                    serializers.Relation(
                        relation=side.relation,
                        leads="out" if side.outgoing else "in",
                        items=[told_node(node) for node in nodes[:limit]],
                        more=len(nodes) > limit or side.total > len(side.nodes),
                    )
                )
        stands = [serializers.told_relationship(each, each.relationship) for each in told if each.relationship]
        return serializers.Relations(of=told_node(ego.node), relationships=stands, relations=relations)

    async def query(
        self,
        cypher: Annotated[
            str,
            Field(
                min_length=1,
                max_length=20_000,
                description="One Cypher statement that only reads, such as: MATCH (o:Observation)-[:ABOUT]->(e:Entity) "
                "RETURN e.name, count(*) AS memories ORDER BY memories DESC",
            ),
        ],
        parameters: Annotated[
            dict[str, Any] | None, Field(description='Values for the $names in the query, such as {"name": "Ada"}.')
        ] = None,
        limit: Annotated[int, Field(ge=1, le=500, description="How many rows at most.")] = 50,
        project: Project = None,
    ) -> serializers.RowsShape:
        """Ask the memory's graph one Cypher query that only reads (Kuzu's dialect). Node tables: Turn (id, session,
        role, speaker, text, at in UTC milliseconds, significance), Observation (id, text, kind, confidence, at),
        Entity (id, name, kind), Session (id, name, title), Document, Chunk, Project. Relationships:
        (Turn)-[:IN_SESSION]->(Session), (Turn)-[:REPLIES_TO]->(Turn), (Turn)-[:SAID_BY]->(Entity),
        (Turn)-[:MENTIONS]->(Entity), (Observation)-[:DERIVED_FROM]->(Turn), (Observation)-[:ABOUT]->(Entity),
        (Entity)-[:RELATES {kind, since, until, polarity}]->(Entity).
        It sees what is live, and nothing else.
        """
        project = await asyncio.to_thread(self._project, project)
        async with self._visits.agent() as agent:
            answer = await agent.graph.console(
                cypher,
                parameters=parameters,
                timeout_s=TIMEOUT_S,
                limit=limit,
                live_only=True,
                project=project,
            )
        return serializers.RowsShape(
            columns=list(answer.columns),
            rows=[list(row) for row in answer.rows],
            total=answer.total,
            cut=answer.cut,
            took_ms=round(answer.took_ms, 1),
        )

    # -- of the log, beside whoever holds the memory ----------------------------------------------------------------

    def _anything(self) -> bool:
        """Whether anything was ever stored: a question about nothing makes no memory."""
        from graph.reader import LogReader

        try:
            LogReader.open(self._home.memory).close()
        except MemoryMissing:
            return False
        return True

    def _project(self, named: str | None) -> str | None:
        """The project whose eyes a call looks with: that it names, or the command; None for those of none.

        Raises NotFound.
        """
        wanted = named if named is not None else self._own
        return project_named(self._home, wanted) if wanted is not None else None

    def _recent(self, limit: int, within: "NewestFilter") -> serializers.Exchanges:
        from graph.reader import LogReader

        try:
            reader = LogReader.open(self._home.memory)
        except MemoryMissing:
            return serializers.Exchanges(exchanges=[])
        try:
            found = reader.recent("exchange", limit, **within)
            return serializers.Exchanges(
                exchanges=[
                    serializers.ExchangeShape(
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

    def _of_the_log(self, kinds: Sequence[NodeKind], limit: int, within: "NewestFilter") -> "list[NewestItem]":
        from graph.reader import LogReader

        with closing(LogReader.open(self._home.memory)) as reader:
            return reader.newest(kinds, limit, **within)

    def _about(self, name: str, limit: int, project: str | None) -> serializers.AboutShape:
        from agent.dossier import dossier
        from graph.beside import readings_beside
        from graph.reader import LogReader

        wanted = " ".join(name.split())
        if not wanted:
            raise AgentError("The name is empty. Nothing was done. Name a person, place or project.")
        try:
            reader = LogReader.open(self._home.memory)
        except MemoryMissing:
            return serializers.AboutShape(name=wanted, kind="word", said=0, mentioned=0, chats=[], messages=[])
        with closing(reader), readings_beside(reader, self._home.memory) as readings:
            whole = dossier(readings, wanted, limit=limit, project=project, private=False)
        found = whole.words
        titles = {id: title for id, title, _ in found.sessions}
        return serializers.AboutShape(
            name=found.name,
            kind=found.kind,
            said=found.said,
            mentioned=found.mentioned,
            first_at=instant(found.first_at) if found.first_at else None,
            last_at=instant(found.last_at) if found.last_at else None,
            relationships=[
                serializers.told_relationship(each, each.relationship)
                for each in whole.relationships
                if each.relationship is not None
            ],
            believed=[serializers.told_belief(each) for each in whole.believed],
            was=[serializers.told_belief(*each) for each in whole.was],
            timeline=[
                serializers.MomentShape(when=each.when, what=each.what, over=each.over, memory=each.memory)
                for each in whole.timeline
            ],
            chats=[serializers.ChatShape(id=id, title=title, messages=turns) for id, title, turns in found.sessions],
            messages=[told(turn, titles.get(turn.session)) for turn in found.turns if may_be_told(turn)],
        )

    def _seen(self, nodes: "Sequence[Node]", project: str | None) -> "list[Node]":
        """Those of some nodes that a chat of a project, or of none, sees.

        Of people and things, those that something names which may be told: of others, not even the name is told.
        """
        from graph.reader import LogReader

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


def _caller(context: Context) -> str:
    """What the client calls itself."""
    params = context.session.client_params
    info = params.client_info if params is not None else None
    return str(info.title or info.name) if info is not None else ""
