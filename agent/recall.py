"""What a message is answered with from the memory: how to look is read from the message, and little is taken.

Four ways: recall by words and meaning; the newest exchanges, or those of a time; what this conversation's prompt has
dropped; themes, which a tool's turn finds. Who asks for the newest, or what is known of them, is answered in what is
found, without a model. Nothing here waits for a model but for one short embedding, and nothing that goes wrong keeps a
reply from coming: it comes without, and says so.
"""

import asyncio
import re
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta, tzinfo

from agent.text import local_zone
from graph.errors import SURPRISES, MemoryFailure
from graph.events import ObservationKind, Strategy
from graph.memory_view import MemoryView
from graph.recall.intent import LEFT_OFF, Intent, read_intent
from graph.values import Exchange, Filters, Hit, Kind, Reason, Session, Turn, Vector, Wanted
from graph.whole_words import words_in
from models.protocols import Generator

from .events import Route
from .language.person import of_oneself
from .quoting import quote_hit
from .recounting import MOST, known, talked
from .reflection.material import YOU
from .relevance import FEW, about_oneself, relevant, roles_asked, says_something, without_outdated

Embed = Callable[[str], Awaitable[Vector | None]]
PATIENCE_S = 5.0  # no reply waits longer for what is only beside it
UNLEARNED = 500  # exchanges from which nothing was learned yet that are looked at
LOOKED_AT = 3  # times as many hits as are taken are weighed
TELLING = tuple(ObservationKind)  # kinds of memories, from what tells most of somebody
LONGEST_ASKED = 300  # characters in which a question for themes comes to its point
OF_US = re.compile(
    r"\b(?:we|we've|our|us|my|i|i've|conversations?|chats?|everything|talk\w*|discuss\w*|memory|across|all)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Bounds:
    """The most that is put before the model: turns, and tokens of their quotes; `brief` where it can use but few."""

    turns: int
    tokens: int
    brief: bool = False


@dataclass(frozen=True, slots=True)
class RecallRequest:
    """What is being answered, and what its prompt holds already: ids, and the oldest turn of the session in it.

    In a story, `voice` is who of the cast answers: it remembers what it saw.
    """

    text: str
    session: str
    held: frozenset[str]
    first_turn: str | None
    voice: str | None = None


@dataclass(frozen=True, slots=True)
class Recollection:
    """What was found for a message, the best first, and how; `note` says why there is nothing, where that says much.

    `answer` is the reply where the memory itself is asked: `hits` are then what it tells, and no model is.
    """

    route: Route
    hits: tuple[Hit, ...] = ()
    took_ms: float = 0.0
    note: str = ""
    answer: str = ""


class Recaller:
    """Looks back for messages and for tools; `embed` gives a query's vector, or None where there is no embedder."""

    def __init__(self, memory: MemoryView, embed: Embed, *, zone: Callable[[], tzinfo] = local_zone) -> None:
        self._memory = memory
        self._embed = embed
        self._zone = zone

    async def look(self, message: RecallRequest, generator: Generator, bounds: Bounds) -> Recollection:
        """What to put before the model with a message. Never raises for the memory's sake."""
        started = time.perf_counter()
        intent = await asyncio.to_thread(read_intent, message.text, now=self.now, timezone=self._zone())
        if intent.route == "themes" and not OF_US.search(message.text[:LONGEST_ASKED]):
            intent = replace(intent, route="recall")  # of a party, say
        if message.voice is not None:
            intent = replace(intent, route="recall")  # a character is asked, not the memory
        found = Recollection(intent.route)
        try:
            async with asyncio.timeout(PATIENCE_S):
                session = await asyncio.to_thread(self._memory.readings.session, message.session)
                hits = await self._hits(message, intent, bounds, session)
                if message.voice is None and (answer := self._answer(message.text, intent, hits)):
                    found = replace(found, hits=tuple(hits), answer=answer, note="" if hits else answer)
                    return replace(found, took_ms=(time.perf_counter() - started) * 1000)
                most = bounds.turns if intent.route == "recall" else bounds.turns * 2  # questions with their answers
                if bounds.brief and intent.route == "recall":
                    most = min(most, FEW)
                hits = await asyncio.to_thread(lambda: self.with_later(self.still_true(hits)))
                fresh = [hit for hit in hits if hit.id not in message.held]
                taken = await asyncio.to_thread(within, fresh, message.text, generator, Bounds(most, bounds.tokens))
                found = replace(found, hits=tuple(taken))
        except MemoryFailure as error:
            found = replace(found, note=f"The memory could not be searched: {error}")
        except SURPRISES as error:  # what damage makes of any code that reads it
            why = f"{type(error).__name__}: {error}. Run `clew doctor` to find the cause"
            found = replace(found, note=f"The memory could not be searched: {why}.")
        except TimeoutError:
            found = replace(found, note="Recall took too long, so this reply is written without it.")
        return replace(found, took_ms=(time.perf_counter() - started) * 1000)

    async def recall(self, query: str, *, limit: int, filters: Filters) -> list[Hit]:
        """Everything that words, meaning and the graph find for a query. Raises GraphFailure."""
        now, zone = self.now, self._zone()
        spoken = await asyncio.to_thread(self._memory.recall.spoken, query, now=now, timezone=zone)
        vector = await self._embed(spoken)

        def search() -> list[Hit]:
            from .relations.whom import called_in, kinds_in  # which no start has to wait for

            kin, asks = called_in(query), kinds_in(query)
            hits = self._memory.recall.search(
                query, vector=vector, filters=filters, now=now, timezone=zone, limit=limit, kin=kin, asks=asks
            )
            replies = self._memory.readings.quotable(hit.id for hit in hits if hit.role == "assistant")
            return [hit for hit in hits if hit.id not in replies or not replies[hit.id].retells]

        return await asyncio.to_thread(search)

    @property
    def now(self) -> datetime:
        return datetime.now(UTC)

    async def _hits(self, message: RecallRequest, intent: Intent, bounds: Bounds, session: Session) -> list[Hit]:
        match intent.route:
            case "recent":
                return await asyncio.to_thread(self._recent, message, intent, bounds, session)
            case "thread":
                return await asyncio.to_thread(self._dropped, message, bounds)
            case "recall" if message.voice is not None:
                return await self._witnessed(message, intent, bounds, session)
            case "recall" if about_oneself(message.text, intent):
                return await asyncio.to_thread(self._known, session)
            case "recall" if await asyncio.to_thread(says_something, intent):
                filters = Filters(
                    world=session.world,
                    project=session.project,
                    exclude=message.held,
                    roles=roles_asked(message.text),
                )
                hits = await self.recall(message.text, limit=bounds.turns * LOOKED_AT, filters=filters)
                return await asyncio.to_thread(relevant, hits, message.text, intent, read=bounds.brief)
            case _:
                return []

    async def _witnessed(self, message: RecallRequest, intent: Intent, bounds: Bounds, session: Session) -> list[Hit]:
        """What a voice of a story saw that matters, whoever said it."""
        if not await asyncio.to_thread(says_something, intent):
            return []
        kinds: frozenset[Kind] = frozenset({"turn"})
        filters = Filters(world=session.world, exclude=message.held, witness=message.voice, kinds=kinds)
        hits = await self.recall(message.text, limit=bounds.turns * LOOKED_AT, filters=filters)
        from agent.story.play import play_of  # which no start has to wait for
        from agent.story.plots import spent

        play = await asyncio.to_thread(play_of, self._memory.readings, session, message.voice)
        over = {words[-1] for words in spent(play, message.voice)} if play is not None else set[str]()
        return [hit for hit in hits if over.isdisjoint(words_in(hit.text or ""))]

    def _recent(self, message: RecallRequest, intent: Intent, bounds: Bounds, session: Session) -> list[Hit]:
        """The newest exchanges of other conversations; of this one too where a time is asked for, or where we were."""
        timed = intent.since is not None or intent.until is not None or LEFT_OFF.search(message.text) is not None
        exchanges: list[Exchange] = self._memory.readings.recent(
            "exchange",
            bounds.turns * LOOKED_AT + 1,
            world=session.world,
            project=session.project,
            since=intent.since,
            until=intent.until,
            exclude_session=None if timed else message.session,
        )
        others = [
            each
            for each in exchanges
            if (each.reply is not None or each.turn.session != message.session)
            and (each.reply is None or not each.reply.retells)
        ]
        return self.as_hits(
            (turn for each in others[: bounds.turns] for turn in (each.turn, each.reply) if turn is not None), "recent"
        )

    def _dropped(self, message: RecallRequest, bounds: Bounds) -> list[Hit]:
        """Turns of this conversation that its prompt holds no more, spread evenly over them, oldest first."""
        if message.first_turn is None:
            return []
        path = self._memory.readings.thread(message.session, before=message.first_turn)
        said = [turn for turn in path if turn.role != "tool" and turn.id not in message.held]
        return self.as_hits(spread(said, bounds.turns * 2), "thread")

    def _answer(self, text: str, intent: Intent, hits: Sequence[Hit]) -> str:
        """What the memory itself answers; empty where it is not asked."""
        if intent.route == "recent":
            return talked(hits, self._zone()) if hits else nothing_said(intent, self._zone())
        return known(hits) if intent.route == "recall" and about_oneself(text, intent) else ""

    def _known(self, session: Session) -> list[Hit]:
        """What was learned of the user that this session may see: who they are first, and of a kind the newest.

        Behind it, what they said of themselves from which nothing was learned yet.
        """
        known = self._memory.readings.memories(
            Wanted(status="active", world=session.world, viewer=session.project, plain=False), now=self.now
        )
        found = [each for each in known if not each.about or YOU in each.about]  # what was added by hand names nobody
        found.sort(key=lambda each: TELLING.index(each.kind))
        learned = [
            Hit(
                kind="observation",
                id=each.id,
                session="",
                session_name=None,
                role="user",
                speaker=YOU,
                text=each.text,
                at=each.at,
                score=0.0,
                reasons=(Reason("observation", rank, 0.0),),
                sources=each.sources,
            )
            for rank, each in enumerate(found[:MOST], start=1)
            if each.text
        ]
        return [*learned, *self.still_true(self._unlearned(session))[: MOST - len(learned)]]

    def _unlearned(self, session: Session) -> list[Hit]:
        """What the user said of themselves and nothing was learned from yet, the newest first."""
        waiting = self._memory.readings.unreflected(UNLEARNED)
        there = self._memory.readings.quotable(
            (id for each in waiting for id in each.turns), world=session.world, project=session.project
        )
        said = sorted((turn for turn in there.values() if turn.role == "user"), key=lambda turn: turn.at, reverse=True)
        return [replace(hit, text=own) for hit in self.as_hits(said, "recent") if (own := of_oneself(hit.text))]

    def still_true(self, hits: Sequence[Hit]) -> list[Hit]:
        """Without what is known to be outdated, where what tells it anew is among them: a model takes either."""
        turns = [hit.id for hit in hits if hit.kind == "turn"]
        return without_outdated(hits, self._memory.readings.outdated(turns) if turns else {})

    def with_later(self, hits: Sequence[Hit]) -> list[Hit]:
        """Hits, and behind them what was said later on the topic of any, the newest first: hits too, once each."""
        own = {hit.id: hit for hit in hits}
        missing = [later.turn for hit in hits for later in hit.later if later.turn not in own]
        there = self._memory.readings.quotable(missing)
        own |= {hit.id: hit for hit in self.as_hits((there[id] for id in there), "later")}
        found = {hit.id: hit for hit in hits}
        found |= {each.turn: own[each.turn] for hit in hits for each in hit.later if each.turn in own}
        return list(found.values())

    def as_hits(self, turns: Iterable[Turn], strategy: Strategy) -> list[Hit]:
        """Turns that no search ranked, in their order."""
        names: dict[str, str | None] = {}
        hits: list[Hit] = []
        for turn in turns:
            if turn.text is None or turn.hidden or turn.empty:
                continue
            if turn.session not in names:
                names[turn.session] = self._memory.readings.session(turn.session).name
            reasons = (Reason(strategy, len(hits) + 1, 0.0),)
            hits.append(
                Hit(
                    kind="turn",
                    id=turn.id,
                    session=turn.session,
                    session_name=names[turn.session],
                    role=turn.role,
                    speaker=turn.speaker,
                    text=turn.text,
                    at=turn.at,
                    score=0.0,
                    reasons=reasons,
                )
            )
        return hits


def within(hits: Sequence[Hit], text: str, generator: Generator, bounds: Bounds) -> list[Hit]:
    """The first hits that fit the bounds; one that is too long is passed over.

    What was said later than one that is taken comes along with it, beyond the bound of turns.
    """
    taken: list[Hit] = []
    room, most = bounds.tokens, bounds.turns
    for hit in hits:
        size = len(generator.tokenize(quote_hit(hit, about=text).line)) + 1
        beside = any(reason.strategy == "later" for reason in hit.reasons)
        wanted = any(hit.id == later.turn for each in taken for later in each.later) if beside else most > 0
        if size > room or not wanted:
            continue
        taken.append(hit)
        room -= size
        most -= not beside
    return taken


def spread(turns: Sequence[Turn], most: int) -> list[Turn]:
    """At most `most` of the turns, evenly from first to last."""
    if len(turns) <= most:
        return list(turns)
    return [turns[round(n * (len(turns) - 1) / (most - 1))] for n in range(most)] if most > 1 else [turns[0]]


def nothing_said(intent: Intent, zone: tzinfo) -> str:
    """What is told where nothing was said in the time that was asked for, or ever."""
    since, until = (_moment(at, zone) if at is not None else "" for at in (intent.since, intent.until))
    if since and until:
        day = (
            intent.since is not None and (intent.since + timedelta(days=1)).astimezone(zone).date().isoformat() == until
        )
        when = f"on {since}" if day and " " not in since else f"from {since} until {until}"
    else:
        when = f"from {since} on" if since else until and f"before {until}"
    return f"Nothing was said {when}." if when else "Nothing was said in other conversations yet."


def _moment(at: datetime, zone: tzinfo) -> str:
    """A day, with the time where that is not its beginning."""
    local = at.astimezone(zone)
    return local.date().isoformat() if (local.hour, local.minute) == (0, 0) else f"{local:%Y-%m-%d %H:%M}"
