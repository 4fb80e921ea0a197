"""The prompt logs of the open sessions: brought up to date before a reply, with what is pinned; shortened, warmed.

Core blocks and pinned observations enter a prompt like new pins of turns, inside the frame of the next message, and are
folded in behind the system frame when the prompt is built anew. A block that was written anew is new, and its old text
stays where it stands until then; one that is gone, or may not be shown any more, is cut like a hidden turn.

Compaction never makes anyone wait: the shortened prompt is evaluated beside the one in use, a message that arrives
meanwhile is answered on the old one, and the work goes on afterwards from where it was.
"""

import asyncio
import threading
from collections import Counter, OrderedDict
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any

from agent import prompt
from agent.events import Compaction, Notice, Warned
from agent.packs import Fresh, Pack, Packs, packs_of, unanswered
from agent.prompt import PREFIX, Cause, Limits, PromptLog, Quotes, block_id, version_of
from agent.quoting import PIN_BOUND, Quote, excerpt, neutral
from agent.settings import DEFAULT_SYSTEM_PROMPT, ELSEWHERE
from agent.shelf import WORTH, Shelf, StateKey, to_note
from graph.errors import GraphFailure
from graph.events import Recalled
from graph.memory import Memory
from graph.values import CoreBlock, Observation, Session, Turn
from graph.visibility import EVERYONE, Viewer
from models.protocols import Generator
from models.states import KVStates


class PinnedItems:
    """Makes the quotes of what is in every prompt; tells once of each that there is no room for."""

    def __init__(self, memory: Memory, notify: Callable[[Notice], None]) -> None:
        self._memory = memory
        self._notify = notify
        self._told: set[str] = set()

    def fresh(self, generator: Generator, limits: Limits, held: frozenset[str], session: Session) -> Pack:
        """What a prompt has room for and does not hold: it enters it with the next message, blocks first."""
        blocks = [quote for quote in self._blocks(generator, limits, session) if quote.id not in held]
        pinned = [quote for quote in self._pinned(generator, limits, session) if quote.id not in held]
        return (
            *(Recalled(id=each.id, kind="block", ranks={"pin": n}) for n, each in enumerate(blocks, start=1)),
            *(Recalled(id=each.id, kind="observation", ranks={"pin": n}) for n, each in enumerate(pinned, start=1)),
        )

    def complete(
        self,
        quotes: Quotes,
        generator: Generator,
        limits: Limits,
        *,
        log: PromptLog | None,
        packs: Mapping[str, Pack],
        session: Session,
    ) -> Quotes:
        """A prompt's quotes with what is in every prompt; `packs` are those that `quotes` was made from."""
        core, pinned = self._blocks(generator, limits, session), self._pinned(generator, limits, session)
        now = {quote.id: quote for quote in (*core, *pinned)}
        held = {item.id for pack in packs.values() for item in pack} | (log.held if log else set())
        known = {id for id in held if _is_block(id)}
        gone = self._gone_blocks(known - now.keys(), session.world, session.project)
        whole = dict(quotes.packs)
        for turn, pack in packs.items():
            there = {quote.id for quote in whole.get(turn, ())}
            if lacking := tuple(now[item.id] for item in pack if item.id in now and item.id not in there):
                whole[turn] = lacking + whole.get(turn, ())
        return replace(
            quotes,
            packs=whole,
            core=core,
            pins=(*quotes.pins, *pinned),
            gone=frozenset({id for id in quotes.gone if not _is_block(id)} | gone) - {quote.id for quote in pinned},
            stale=frozenset(known - now.keys() - gone),
        )

    def gone(self, ids: Iterable[str], *, world: str | None = None) -> set[str]:
        """Those of what a prompt of a world (None: any) holds, whatever it is, whose words it may not keep."""
        held = set(ids)
        blocks = {id for id in held if _is_block(id)}
        gone = self._memory.readings.gone(held - blocks)
        with suppress(GraphFailure):  # then nobody knows, and nothing is kept that might not be
            gone -= self._memory.readings.observations(gone, world=world).keys() if gone else set()
            gone -= self._memory.readings.chunks(gone).keys() if gone else set()
        return gone | self._gone_blocks(blocks, world)

    def _gone_blocks(self, ids: set[str], world: str | None, project: Viewer = EVERYONE) -> set[str]:
        """Those versions of blocks that were emptied since, or that came from what may not be shown any more."""
        if not ids:
            return set()
        there = self._memory.readings.block_versions((version_of(id) for id in ids), world=world, project=project)
        return {id for id in ids if version_of(id) not in there}

    def _blocks(self, generator: Generator, limits: Limits, session: Session) -> tuple[Quote, ...]:
        blocks = [quote_block(block) for block in self._memory.readings.blocks(session.world, project=session.project)]
        return self._fitting(blocks, generator, limits.blocks, "core blocks", "Shorten one (/blocks lists them)")

    def _pinned(self, generator: Generator, limits: Limits, session: Session) -> tuple[Quote, ...]:
        memories = self._memory.readings.pinned_observations(session.world, project=session.project)
        pinned = [quote_memory(each) for each in memories]
        return self._fitting(pinned, generator, limits.pins, "pinned memories", "Unpin some of them")

    def _fitting(
        self, quotes: list[Quote], generator: Generator, room: int, what: str, advice: str
    ) -> tuple[Quote, ...]:
        """The first that fit their share of the prompt."""
        fitting: list[Quote] = []
        left = room
        for quote in quotes:
            size = len(generator.tokenize(quote.line)) + 1
            if size <= left:
                fitting.append(quote)
                left -= size
        left_out = [quote for quote in quotes if quote not in fitting]
        if any(quote.id not in self._told for quote in left_out):
            self._told.update(quote.id for quote in left_out)
            self._notify(
                Warned(
                    f"{len(left_out)} of {len(quotes)} {what} do not fit in the {room} tokens reserved for them. "
                    f"{advice}. Nothing was lost."
                )
            )
        return tuple(fitting)


def quote_block(block: CoreBlock) -> Quote:
    """A core block as `- name: "what it says"`, whole."""
    return Quote(block_id(block), f'- {neutral(block.name)}: "{neutral(block.text)}"')


def quote_memory(memory: Observation) -> Quote:
    """An observation as `- date, memory: "what it says"`."""
    day = memory.first_seen.astimezone().date().isoformat()
    return Quote(memory.id, f'- {day}, memory: "{excerpt(neutral(memory.text or ""), "", PIN_BOUND)}"')


def _is_block(id: str) -> bool:
    return id.startswith(PREFIX)


KEPT = 8


@dataclass(frozen=True, slots=True)
class Prepared:
    """What a session's prompt holds ahead of a reply, as ids; its oldest turn; and the pins that are new to it.

    A `doubted` model is given little, and it may have wasted what it was given before: `held` is then without what the
    prompt only quotes, which is found and shown again, though not quoted again.
    """

    held: frozenset[str]
    first_turn: str | None
    new_pins: Pack
    doubted: bool = False


class Prompts:
    """The logs by session, least recently used first out; `rewrites` counts every exception to append-only."""

    def __init__(
        self,
        memory: Memory,
        notify: Callable[[Notice], None],
        *,
        default_system: str,
        states: KVStates,
        guide: Callable[[Generator], str] = lambda generator: "",
        doubts: Callable[[Generator], bool] = lambda generator: False,
        leaving: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        self._memory = memory
        self._notify = notify
        self.default_system = default_system
        self._guide = guide  # what a model that has tools is told of them, after the system prompt
        self._doubts = doubts  # which models are given what was recalled directly before the message
        self._leaving = leaving  # lets others that use the model copy out what it knows of theirs
        self._packs = Packs(memory, notify)
        self._pins = PinnedItems(memory, notify)
        self._logs: OrderedDict[StateKey, PromptLog] = OrderedDict()
        self._plans: dict[StateKey, str] = {}
        self._work: asyncio.Task[None] | None = None
        self._updating = threading.Lock()  # a thread goes on when the task that waits for it is cancelled
        self._doubtful: set[str] = set()  # sessions whose log may hold what was taken out since
        self.shelf = Shelf(states, self._saveable, self._pins.gone)
        self.rewrites: Counter[Cause] = Counter()

    def system(self, session: Session, generator: Generator) -> str:
        """The system prompt in force for a session."""
        own = self.default_system if session.system_prompt is None else session.system_prompt
        if generator.info.away and own == DEFAULT_SYSTEM_PROMPT:
            own = ELSEWHERE
        guide = self._guide(generator)
        return f"{own}\n\n{guide}" if guide else own

    async def prepare(self, session: str, generator: Generator, limits: Limits) -> Prepared:
        """The session's log up to its last reply, warm; whatever runs in the background is put off."""
        await self.pause()
        key = StateKey(session, generator)
        if self._leaving is not None:
            await self._leaving()
        await self.shelf.leave(stays=key)
        log = await self._updated_log(key, limits, answered=True)
        await self._bring_back(key, log)
        return await asyncio.to_thread(self._prepared, key, log, limits)

    async def before_reply(
        self, session: str, generator: Generator, limits: Limits, fresh: Fresh | None = None
    ) -> PromptLog:
        """The session's log, up to its head, with room for a reply; `fresh` is quoted beside the message it is for."""
        return await self._updated_log(StateKey(session, generator), limits, fresh=fresh)

    def after_reply(self, session: str, generator: Generator, limits: Limits) -> None:
        """Start shortening the session's log if it passed the high-water mark."""
        key = StateKey(session, generator)
        self.shelf.used(key)
        log = self._logs.get(key)
        if log is not None and len(log.tokens) >= limits.high_water:
            self._work = asyncio.create_task(self._compact(key, generator, limits))

    def warm(self, session: str, generator: Generator, limits: Limits) -> None:
        """Evaluate a session's prompt in the background, so that its first message is answered at once."""
        if not self.busy:
            self._work = asyncio.create_task(self._warm(session, generator, limits))

    async def pause(self) -> None:
        """End the background work on prompts; what it evaluated is kept by the generator."""
        if self._work is not None and not self._work.done():
            self._work.cancel()
            await asyncio.gather(self._work, return_exceptions=True)
        self._work = None

    @property
    def busy(self) -> bool:
        """Whether a prompt is being shortened or warmed."""
        return self._work is not None and not self._work.done()

    async def settled(self) -> None:
        """Wait until that has ended."""
        if self._work is not None:
            await asyncio.wait({self._work})

    async def forget(self, session: str) -> None:
        """Drop a session's logs, and its states on disk."""
        await self.pause()
        models = self._models()
        for key in [key for key in self._logs if key.session == session]:
            del self._logs[key]
        await self.shelf.forget(session)
        for model in models:
            await model.forget()

    async def forget_turns(self, turns: Collection[str]) -> None:
        """Let no state on disk keep turns that were hidden, deleted or erased; call it after that is in the log.

        Sessions that were shown one are not saved again until their log was brought up to date.
        """
        self._doubtful |= await asyncio.to_thread(self._showing, frozenset(turns))
        await self.shelf.forget_turns(turns)
        for model in self._models():
            await model.forget()

    def _models(self) -> list[Generator]:
        return list({id(key.model): key.model for key in self._logs}.values())

    async def tidy(self) -> None:
        """Remove the states of sessions that are no more, and what a clew that was killed had no time to forget."""
        sessions = await asyncio.to_thread(self._memory.readings.sessions, archived=True)
        await self.shelf.tidy({session.id for session in sessions})

    async def give_up(self, model: Generator) -> None:
        """A model is about to be closed: end the background work, and save what it knows of the sessions."""
        await self.pause()
        await self.shelf.give_up(model)

    def _showing(self, turns: frozenset[str]) -> set[str]:
        with self._updating:
            held = {key: log.held for key, log in self._logs.items()}
            gone = self._pins.gone(set().union(*held.values())) | turns
            return {key.session for key, ids in held.items() if not gone.isdisjoint(ids)}

    def _saveable(self, key: StateKey) -> tuple[list[int], Any] | None:
        """A session's tokens and its whole log as JSON values, as they are now."""
        with self._updating:
            log = self._logs.get(key)
            return None if log is None or key.session in self._doubtful else (list(log.tokens), to_note(log))

    async def _updated_log(
        self, key: StateKey, limits: Limits, *, answered: bool = False, fresh: Fresh | None = None
    ) -> PromptLog:
        log, before = await asyncio.to_thread(self._update, key, limits, answered=answered, fresh=fresh)
        if before:
            self.rewrites["compaction"] += 1
            self._notify(Compaction(key.session, "done", before, len(log.tokens)))
        return log

    def _prepared(self, key: StateKey, log: PromptLog, limits: Limits) -> Prepared:
        """What the log holds, what will be in it before the next reply anyway, and the pins that are new to it."""
        path = self._memory.readings.thread(key.session, limit=len(log.marks) + 4)
        waiting = {turn.id for turn in unanswered(path)}
        held = frozenset(log.held | waiting)
        session = self._memory.readings.session(key.session)
        standing = self._pins.fresh(key.model, limits, held, session)
        pins = (*standing, *self._packs.new_pins(key.model, limits, held, session=session))
        doubted = self._doubts(key.model)
        return Prepared(frozenset(log.turns | waiting) if doubted else held, log.first_turn, pins, doubted)

    def _update(
        self, key: StateKey, limits: Limits, *, answered: bool = False, fresh: Fresh | None = None
    ) -> tuple[PromptLog, int]:
        """The log up to the head, and its size before it had to be shortened at once (0 if it had not).

        Only up to the last reply where `answered`.
        """
        with self._updating:
            return self._updated(key, limits, answered=answered, fresh=fresh)

    def _updated(self, key: StateKey, limits: Limits, *, answered: bool, fresh: Fresh | None) -> tuple[PromptLog, int]:
        session, generator, before = key.session, key.model, 0
        log = self._logs.get(key)
        about = self._memory.readings.session(session)
        system = self.system(about, generator)

        def thread(limit: int | None = None) -> list[Turn]:
            path = self._memory.readings.thread(session, limit=limit)
            return path[: len(path) - len(unanswered(path))] if answered else path

        def quotes(path: Sequence[Turn], held: PromptLog | None = None) -> Quotes:
            return self._quotes(path, about, generator, limits, held or log, fresh)

        if log is None:
            log = self.shelf.log(key)
        if log is None:
            path, lent = thread(), self._lent(key, system)
            told = quotes(path, lent)
            if lent is not None and set(lent.pins) <= {quote.id for quote in (*told.core, *told.pins)}:
                log = prompt.extend(lent, generator, system, path, limits, Counter(), told)
            else:
                log = prompt.resume(generator, system, path, limits, quotes(path))
        else:
            path = thread(len(log.marks) + 4)
            if log.first_turn is not None and all(turn.id != log.first_turn for turn in path):
                path = thread()
            log = prompt.extend(log, generator, system, path, limits, self.rewrites, quotes(path))
        if len(log.tokens) + limits.reply > limits.context:
            # No room for a reply, and no time to shorten in the background: the message before it was too long.
            before, path = len(log.tokens), thread()
            log = prompt.build(generator, system, path, limits, budget=limits.low_water, quotes=quotes(path))
            self._plans.pop(key, None)
        self._keep(key, log)
        self._doubtful.discard(session)
        return log, before

    def _lent(self, key: StateKey, system: str) -> PromptLog | None:
        """A copy of the log that a fork left, if it can begin with it: its words are in the model, or on disk."""
        origin = self._memory.readings.origin(key.session)
        if origin is None or origin[0] in self._doubtful:
            return None
        log = self._logs.get(other := StateKey(origin[0], key.model)) or self.shelf.log(other)
        return deepcopy(log) if log is not None and [text for _, text in log.systems] == [system] else None

    async def _bring_back(self, key: StateKey, log: PromptLog) -> None:
        """Give the model back what it knew of a session; of a fork, what it knew of the session that this left."""
        if not await self.shelf.bring_back(key, log):
            origin = await asyncio.to_thread(self._memory.readings.origin, key.session)
            if origin is not None:
                await self.shelf.bring_back(key, log, of=origin[0])

    def _quotes(
        self,
        path: Sequence[Turn],
        session: Session,
        generator: Generator,
        limits: Limits,
        log: PromptLog | None,
        fresh: Fresh | None,
    ) -> Quotes:
        """All that a path's prompt quotes: what its replies were given, and what is in every prompt of its kind."""
        quotes = self._packs.quotes(path, generator, limits, log, fresh, session=session)
        packs = packs_of(path, fresh)
        quotes = self._pins.complete(quotes, generator, limits, log=log, packs=packs, session=session)
        return replace(quotes, before=self._doubts(generator))

    def _keep(self, key: StateKey, log: PromptLog) -> None:
        self._logs[key] = log
        self._logs.move_to_end(key)
        while len(self._logs) > KEPT:
            self._logs.popitem(last=False)

    async def _compact(self, key: StateKey, generator: Generator, limits: Limits) -> None:
        before = len(self._logs[key].tokens)
        short = await asyncio.to_thread(self._shortened, key, generator, limits)
        after = len(short.tokens)
        self._notify(Compaction(key.session, "started", before, after))
        evaluated = asyncio.ensure_future(generator.prefill(short.tokens))
        try:
            await asyncio.wait({evaluated})
        finally:
            # Cancelled or not: where the generator has made the short prompt its own, the log must follow it.
            evaluated.cancel()
            await asyncio.wait({evaluated})
            done = not evaluated.cancelled() and evaluated.exception() is None and evaluated.result()
            if done:
                self._plans.pop(key, None)
                self.rewrites["compaction"] += 1
                self._keep(key, short)
                self.shelf.used(key)
            self._notify(Compaction(key.session, "done" if done else "interrupted", before, after))

    def _shortened(self, key: StateKey, generator: Generator, limits: Limits) -> PromptLog:
        """The log to go on with: from the turn planned the first time, so that interrupted work is not done twice."""
        session = self._memory.readings.session(key.session)
        system = self.system(session, generator)
        path = self._memory.readings.thread(key.session)
        quotes = self._quotes(path, session, generator, limits, None, None)
        planned = self._plans.get(key)
        start = next((i for i, turn in enumerate(path) if turn.id == planned), None)
        if start is not None:
            log = prompt.build(generator, system, path[start:], limits, budget=limits.high_water, quotes=quotes)
            if log.first_turn == planned and len(log.tokens) < (limits.low_water + limits.high_water) // 2:
                return log
        log = prompt.build(generator, system, path, limits, budget=limits.low_water, quotes=quotes)
        if log.first_turn is not None:
            self._plans[key] = log.first_turn
        return log

    async def _warm(self, session: str, generator: Generator, limits: Limits) -> None:
        key = StateKey(session, generator)
        await self.shelf.leave(stays=key)
        log = await self._updated_log(key, limits, answered=True)
        await self._bring_back(key, log)
        if log.marks:
            cold = len(log.tokens) - generator.warm(log.tokens)
            if await generator.prefill(log.tokens) and cold >= WORTH:
                self.shelf.used(key)
