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
from itertools import pairwise
from typing import Any

from agent import prompt
from agent.events import Compaction, Notice, Warned
from agent.packs import Fresh, Pack, Packs, packs_of, unanswered
from agent.prompt import PREFIX, Cause, Limits, PromptLog, PromptMark, Quotes, block_id, version_of
from agent.quoting import PIN_BOUND, Quote, excerpt, neutral
from agent.references.quotes import ReferenceQuotes, is_read
from agent.shelf import WORTH, Shelf, StateKey, to_note
from agent.story.book import Book
from agent.story.lore import Lore, budget, constant, lore_of, matching, within_budget
from agent.story.play import Plays
from agent.story.scenes import CLOSED, STATE
from agent.story.stage import told_to
from agent.story.voice import Voice, as_seen, head_of, voice_of
from graph.errors import GraphFailure
from graph.events import Recalled
from graph.events.references import referred
from graph.memory import Memory
from graph.values import CoreBlock, Observation, Session, Turn
from graph.visibility import EVERYONE, Viewer
from models.protocols import Generator
from models.states import KVStates


class PinnedItems:
    """Makes the quotes of what is in every prompt; tells once of each that there is no room for."""

    def __init__(self, memory: Memory, notify: Callable[[Notice], None], plays: Plays) -> None:
        self._memory = memory
        self._notify = notify
        self._plays = plays
        self._told: set[str] = set()

    def fresh(
        self, generator: Generator, limits: Limits, held: frozenset[str], session: Session, voice: str | None = None
    ) -> Pack:
        """What a prompt has room for and does not hold: it enters it with the next message, blocks first.

        In a story, what the `voice` that replies knows of the stage is in the place of core blocks.
        """
        blocks = [quote for quote in self._blocks(generator, limits, session, voice) if quote.id not in held]
        pinned = [quote for quote in self._pinned(generator, limits, session, voice) if quote.id not in held]
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
        voice: str | None = None,
    ) -> Quotes:
        """A prompt's quotes with what is in every prompt; `packs` are those that `quotes` was made from."""
        core = self._blocks(generator, limits, session, voice)
        pinned = self._pinned(generator, limits, session, voice)
        lore = self.lore(session, voice) if voice is not None else {}
        now = {quote.id: quote for quote in (*core, *pinned)} | lore
        held = {item.id for pack in packs.values() for item in pack} | (log.held if log else set())
        known = {id for id in held if _is_block(id)}
        if voice is None:
            gone = self._gone_blocks(known - now.keys(), session.world, session.project)
        else:
            gone = self._gone_lines(known - now.keys(), session, voice)
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
            stale=quotes.stale | frozenset(known - now.keys() - gone),
            headers=quotes.headers if voice is None else (STAGE, STAGE_NOW),
        )

    def gone(self, ids: Iterable[str], *, world: str | None = None) -> set[str]:
        """Those of what a prompt of a world (None: any) holds, whatever it is, whose words it may not keep."""
        held = set(ids)
        blocks = {id for id in held if _is_block(id)}
        read = {id for id in held if is_read(id)}
        there = self._memory.readings.references({referred(id) for id in read}) if read else {}
        dropped = {id for id in read if not (found := there.get(referred(id))) or not found.attached}
        kept = self._memory.readings.lines_kept({version_of(id) for id in blocks}) if blocks else set()
        blocks = {id for id in blocks if version_of(id) not in kept}
        gone = self._memory.readings.gone({id for id in held - read if not _is_block(id)})
        with suppress(GraphFailure):  # then nobody knows, and nothing is kept that might not be
            gone -= self._memory.readings.observations(gone, world=world).keys() if gone else set()
            gone -= self._memory.readings.chunks(gone).keys() if gone else set()
        return gone | dropped | self._gone_blocks(blocks, world)

    def _gone_blocks(self, ids: set[str], world: str | None, project: Viewer = EVERYONE) -> set[str]:
        """Those versions of blocks that were emptied since, or that came from what may not be shown any more."""
        if not ids:
            return set()
        there = self._memory.readings.block_versions((version_of(id) for id in ids), world=world, project=project)
        return {id for id in ids if version_of(id) not in there}

    def called_for(
        self,
        generator: Generator,
        limits: Limits,
        held: Collection[str],
        session: Session,
        voice: str,
        seen: list[Turn],
    ) -> tuple[Pack, tuple[str, ...]]:
        """The lore that a voice is told with its next reply, by what it saw; and in words what is left out, and why."""
        books = self._books(session, voice)
        found, unread = matching(books, seen, lambda id: f"{PREFIX}{id}" in held)
        room = budget(books, limits.lore)
        taken, left_out = within_budget(found, lambda text: len(generator.tokenize(text)), room)
        pack = tuple(
            Recalled(id=f"{PREFIX}{each.id}", kind="block", ranks={"pin": n}) for n, each in enumerate(taken, start=1)
        )
        return pack, tuple(f"“{each.title}” was left out: {each.why}." for each in (*unread, *left_out))

    def lore(self, session: Session, voice: str) -> dict[str, Quote]:
        """All lore that a voice may be told, by its id in prompts."""
        every = (lore for _, entries in self._books(session, voice) for lore in entries)
        return {quote.id: quote for quote in map(_quote_lore, every)}

    def _constants(self, session: Session, voice: str) -> list[Quote]:
        return [_quote_lore(lore) for lore in constant(self._books(session, voice))]

    def _books(self, session: Session, voice: str) -> list[tuple[Book, list[Lore]]]:
        play = self._plays.of(session, voice)
        member = play.member(voice) if play is not None else None
        return lore_of(play, member) if play is not None and member is not None else []

    def _gone_lines(self, ids: set[str], session: Session, voice: str) -> set[str]:
        """Those lines of a stage that do not hold on the path any more, or come from what a voice did not see."""
        there = self._memory.readings.holding(session.id, (version_of(id) for id in ids), voice) if ids else set()
        return {id for id in ids if version_of(id) not in there}

    def _lines(self, session: Session, voice: str) -> list[Quote]:
        """The stage as a voice is told of it."""
        play = self._plays.of(session, voice)
        member = play.member(voice) if play is not None else None
        if play is None or member is None:
            return []
        renewal = self._memory.readings.heard(session.id, voice) // ANEW
        strangers = [each.id for each in play.cast if play.are_strangers(voice, each.id)]
        met = {each for each in strangers if self._memory.readings.have_met(session.id, voice, each)}
        told = told_to(play, member, renewal, met)
        return [Quote(f"{PREFIX}{each.key}@{each.seq}", f"- {neutral(each.text)}") for each in told]

    def _blocks(
        self, generator: Generator, limits: Limits, session: Session, voice: str | None = None
    ) -> tuple[Quote, ...]:
        if voice is not None:
            lines = [*self._lines(session, voice), *self._constants(session, voice)]
            return self._fitting(lines, generator, limits.stage, "lines of the stage", "Shorten some (Ctrl+T)")
        blocks = [quote_block(block) for block in self._memory.readings.blocks(session.world, project=session.project)]
        return self._fitting(blocks, generator, limits.blocks, "core blocks", "Shorten one (/blocks lists them)")

    def _pinned(
        self, generator: Generator, limits: Limits, session: Session, voice: str | None = None
    ) -> tuple[Quote, ...]:
        if voice is not None:
            return ()
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


def _quote_lore(lore: Lore) -> Quote:
    return Quote(f"{PREFIX}{lore.id}", f"- {neutral(lore.text)}")


def quote_block(block: CoreBlock) -> Quote:
    """A core block as `- name: "what it says"`, whole."""
    return Quote(block_id(block), f'- {neutral(block.name)}: "{neutral(block.text)}"')


def quote_memory(memory: Observation) -> Quote:
    """An observation as `- date, memory: "what it says"`."""
    day = memory.first_seen.astimezone().date().isoformat()
    said = excerpt(neutral(memory.text or ""), "", PIN_BOUND)
    return Quote(memory.id, f'- {day}, memory: "{said}"', memory.first_seen)


def _is_block(id: str) -> bool:
    return id.startswith(PREFIX)


STAGE = "[Where the story stands]"
STAGE_NOW = "[Where the story stands from now on]"
KEPT = 8
ANEW = 8  # messages of the user after which a voice is told again what everybody does
STEP = 3  # a voice may have seen one turn of so many


@dataclass(frozen=True, slots=True)
class Prepared:
    """What a session's prompt holds ahead of a reply, as ids; its oldest turn; and the pins that are new to it.

    A `doubted` model is given little, and it may have wasted what it was given before: `held` is then without what the
    prompt only quotes, which is found and shown again, though not quoted again. Nothing is quoted any more in the
    frames of `framed` turns, which are there already. `last` is the last turn it shows.
    """

    held: frozenset[str]
    first_turn: str | None
    new_pins: Pack
    doubted: bool = False
    left_out: tuple[str, ...] = ()  # of lore, in words
    framed: frozenset[str] = frozenset()
    last: str | None = None


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
        references: ReferenceQuotes | None = None,
        leaving: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        self._memory = memory
        self._notify = notify
        self.default_system = default_system
        self._guide = guide  # what a model that has tools is told of them, after the system prompt
        self._doubts = doubts  # which models are given what was recalled directly before the message
        self._leaving = leaving  # lets others that use the model copy out what it knows of theirs
        self._packs = Packs(memory, notify, references=references)
        self.plays = Plays(memory)
        self._pins = PinnedItems(memory, notify, self.plays)
        self._logs: OrderedDict[StateKey, PromptLog] = OrderedDict()
        self._plans: dict[StateKey, str] = {}
        self._scenes_over: set[StateKey] = set()  # logs that still begin with a scene that was closed
        self._work: asyncio.Task[None] | None = None
        self._updating = threading.Lock()  # a thread goes on when the task that waits for it is cancelled
        self._voices: dict[str, Voice] = {}  # of stories, by the ids of members
        self._limits: dict[StateKey, Limits] = {}
        self._doubtful: set[StateKey] = set()  # logs that may hold what was taken out since
        self.shelf = Shelf(states, self._saveable, self._pins.gone)
        self.rewrites: Counter[Cause] = Counter()

    def system(self, session: Session, generator: Generator) -> str:
        """The system prompt in force for a session, with what the model is told of tools."""
        own, guide = self.own_system(session), self._guide(generator)
        return f"{own}\n\n{guide}" if guide else own

    def own_system(self, session: Session) -> str:
        """The system prompt in force for a session."""
        return self.default_system if session.system_prompt is None else session.system_prompt

    async def prepare(
        self, session: str, generator: Generator, limits: Limits, *, voice: Voice | None = None
    ) -> Prepared:
        """The session's log up to its last reply, warm; whatever runs in the background is put off.

        In a story, the log of the `voice` that replies.
        """
        await self.pause()
        key = self._key(session, generator, voice)
        if self._leaving is not None:
            await self._leaving()
        await self.shelf.leave(stays=key)
        log = await self._updated_log(key, limits, answered=True)
        await self._bring_back(key, log)
        return await asyncio.to_thread(self._prepared, key, log, limits)

    async def before_reply(
        self,
        session: str,
        generator: Generator,
        limits: Limits,
        fresh: Fresh | None = None,
        *,
        voice: Voice | None = None,
    ) -> PromptLog:
        """The session's log, up to its head, with room for a reply; `fresh` is quoted beside the message it is for."""
        return await self._updated_log(self._key(session, generator, voice), limits, fresh=fresh)

    def tokens_of(self, session: str, generator: Generator, reply: Turn) -> list[int]:
        """The tokens of a reply as it was sampled, where its log is there; blocking."""
        log = self._logs.get(StateKey(session, generator))
        for mark, after in pairwise([*log.marks, PromptMark("", len(log.tokens))] if log is not None else ()):
            if mark.turn == reply.id and log is not None:
                begins, ends = len(generator.reply_open()), len(generator.reply_close())
                return log.tokens[mark.start + begins : after.start - ends]
        return generator.tokenize(reply.text or "")

    def after_reply(self, session: str, generator: Generator, limits: Limits, *, voice: Voice | None = None) -> None:
        """Start shortening the session's log if it passed the high-water mark."""
        key = self._key(session, generator, voice)
        self.shelf.used(key)
        log = self._logs.get(key)
        if any(each.session == session for each in self._scenes_over):
            self._work = asyncio.create_task(self._compress())
        elif log is not None and len(log.tokens) >= limits.high_water:
            self._work = asyncio.create_task(self._compact(key, generator, limits))
        elif voice is not None:
            self._work = asyncio.create_task(self._let_hear(key, limits, last=log.marks[-1].turn if log else None))

    async def compress(self, session: str) -> None:
        """Let the prompts of a story's voices begin with the scene that is open now, evaluated in the background."""
        await self.pause()
        self._scenes_over |= {key for key in self._logs if key.session == session and key.voice is not None}
        self._work = asyncio.create_task(self._compress())

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

    async def forget_voice(self, member: str) -> None:
        """Drop the logs of a voice whose memory begins elsewhere now, and their states on disk."""
        await self.pause()
        keys = [key for key in self._logs if key.voice == member]
        for key in keys:
            del self._logs[key]
        stories = await asyncio.to_thread(self._memory.readings.stories)
        for session in (session for story in stories for session in story.sessions):
            await self.shelf.forget(session)  # what was kept in an earlier run, too
        for model in {id(key.model): key.model for key in keys}.values():
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

    def _showing(self, turns: frozenset[str]) -> set[StateKey]:
        with self._updating:
            held = {key: log.held for key, log in self._logs.items()}
            gone = self._pins.gone(set().union(*held.values())) | turns
            return {key for key, ids in held.items() if not gone.isdisjoint(ids)}

    def _saveable(self, key: StateKey) -> tuple[list[int], Any] | None:
        """A session's tokens and its whole log as JSON values, as they are now."""
        with self._updating:
            log = self._logs.get(key)
            return None if log is None or key in self._doubtful else (list(log.tokens), to_note(log))

    async def _updated_log(
        self,
        key: StateKey,
        limits: Limits,
        *,
        answered: bool = False,
        last: str | None = None,
        fresh: Fresh | None = None,
    ) -> PromptLog:
        log, before = await asyncio.to_thread(self._update, key, limits, answered=answered, last=last, fresh=fresh)
        if before:
            self.rewrites["compaction"] += 1
            self._notify(Compaction(key.session, "done", before, len(log.tokens)))
        return log

    def _prepared(self, key: StateKey, log: PromptLog, limits: Limits) -> Prepared:
        """What the log holds, what will be in it before the next reply anyway, and the pins that are new to it."""
        path = self._path(key, len(log.marks) + 4)
        waiting = {turn.id for turn in unanswered(path)}
        held = frozenset(log.held | waiting)
        session = self._memory.readings.session(key.session)
        standing = self._pins.fresh(key.model, limits, held, session, key.voice)
        pins = (*standing, *self._packs.new_pins(key.model, limits, held, session=session, voice=key.voice))
        doubted = self._doubts(key.model)
        left_out: tuple[str, ...] = ()
        if key.voice is not None:
            told, left_out = self._pins.called_for(key.model, limits, log.held, session, key.voice, path)
            pins = (*pins, *told)
        given = frozenset(log.turns | waiting) if doubted else held
        return Prepared(
            given, log.first_turn, pins, doubted, left_out, frozenset(log.turns), path[-1].id if path else None
        )

    def _update(
        self,
        key: StateKey,
        limits: Limits,
        *,
        answered: bool = False,
        last: str | None = None,
        fresh: Fresh | None = None,
    ) -> tuple[PromptLog, int]:
        """The log up to the head, and its size before it had to be shortened at once (0 if it had not).

        Only up to the last reply where `answered`, or up to a turn.
        """
        with self._updating:
            return self._updated(key, limits, answered=answered, last=last, fresh=fresh)

    def _updated(
        self, key: StateKey, limits: Limits, *, answered: bool, last: str | None, fresh: Fresh | None
    ) -> tuple[PromptLog, int]:
        session, generator, before = key.session, key.model, 0
        log = self._logs.get(key)
        about = self._memory.readings.session(session)
        system = self._system_of(key, about)

        def thread(limit: int | None = None) -> list[Turn]:
            path = self._path(key, limit)
            if last is not None:  # what was said since is for the message that it is
                ends = next((at for at, turn in enumerate(path, start=1) if turn.id == last), len(path))
                return path[:ends]
            open_ = len(unanswered(path)) if answered else 0
            if log is not None and log.marks and path and log.marks[-1].turn == path[-1].id and path[-1].stop_reason:
                return path  # what another voice said was evaluated while the user was reading; nothing is quoted in it
            return path[: len(path) - (open_ if key.voice is None else min(open_, 1))]

        def quotes(path: Sequence[Turn], held: PromptLog | None = None) -> Quotes:
            return self._quotes(key, path, about, limits, held or log, fresh)

        if log is None or (key.voice is not None and not log.marks):  # it may have come late
            log = self.shelf.log(key)
        if log is None:
            path, lent = thread(), self._lent(key, system)
            told = quotes(path, lent)
            if lent is not None and set(lent.pins) <= {quote.id for quote in (*told.core, *told.pins)}:
                log = prompt.extend(lent, generator, system, path, limits, Counter(), told)
            else:
                path = self._of_scene(key, path)
                log = prompt.resume(generator, system, path, limits, quotes(path))
        else:
            path = thread(len(log.marks) + 4)
            if log.first_turn is not None and all(turn.id != log.first_turn for turn in path):
                path = thread()
            log = prompt.extend(log, generator, system, path, limits, self.rewrites, quotes(path))
        if len(log.tokens) + limits.reply > limits.context:
            # No room for a reply, and no time to shorten in the background: the message before it was too long.
            before, path = len(log.tokens), self._of_scene(key, thread())
            log = prompt.build(generator, system, path, limits, budget=limits.low_water, quotes=quotes(path))
            self._plans.pop(key, None)
        self._open(key, log)
        self._keep(key, log)
        self._limits[key] = limits
        self._doubtful.discard(key)
        return log, before

    def _key(self, session: str, generator: Generator, voice: Voice | None) -> StateKey:
        if voice is None:
            return StateKey(session, generator)
        self._voices[voice.id] = voice
        return StateKey(session, generator, voice.id)

    def _path(self, key: StateKey, limit: int | None = None) -> list[Turn]:
        """The path of a session; in a story as a voice saw it, at least so many turns of it where there are."""
        if key.voice is None:
            return self._memory.readings.thread(key.session, limit=limit)
        most = limit * STEP if limit is not None else None
        seen = self._memory.readings.thread(key.session, limit=most, witness=key.voice)
        if limit is not None and len(seen) < limit:
            seen = self._memory.readings.thread(key.session, witness=key.voice)
        return as_seen(seen, self._voices[key.voice])

    def _first_voice(self, session: str) -> tuple[Voice | None, bool]:
        """Who is the first to answer in a story, if anybody is there; and whether it is one."""
        play = self.plays.of(self._memory.readings.session(session))
        return voice_of(play.voices[0]) if play is not None and play.voices else None, play is not None

    def _of_scene(self, key: StateKey, path: list[Turn]) -> list[Turn]:
        """What a voice has seen since the last scene closed, and the exchange before it; all of it where none did."""
        play = self.plays.of(self._memory.readings.session(key.session)) if key.voice else None
        closed = [line for line in play.history if line.aspect == STATE and line.text == CLOSED] if play else []
        if not closed:
            return path
        whole = [turn.id for turn in self._memory.readings.thread(key.session)]
        ends = whole.index(closed[-1].after) if closed[-1].after in whole else -1
        since = set(whole[ends + 1 :])
        first = next((at for at, turn in enumerate(path) if turn.id in since), len(path))
        return path[max(0, first - 2) :]

    def _system_of(self, key: StateKey, session: Session) -> str:
        """The system prompt in force for a session; in a story, what makes the voice who it is."""
        play = self.plays.of(session) if key.voice is not None else None
        member = play.member(key.voice) if play is not None else None
        if play is None or member is None:
            return self.system(session, key.model)
        self._voices[member.id] = voice_of(member)
        return head_of(play, member)

    def _open(self, key: StateKey, log: PromptLog) -> None:
        """Let the replies in a log begin with who speaks."""
        if key.voice is not None:
            log.opening = key.model.tokenize(self._voices[key.voice].opening)

    def _lent(self, key: StateKey, system: str) -> PromptLog | None:
        """A copy of the log that a fork left, if it can begin with it: its words are in the model, or on disk."""
        origin = self._memory.readings.origin(key.session)
        if origin is None or replace(key, session=origin[0]) in self._doubtful:
            return None
        log = self._logs.get(other := replace(key, session=origin[0])) or self.shelf.log(other)
        return deepcopy(log) if log is not None and [text for _, text in log.systems] == [system] else None

    async def _bring_back(self, key: StateKey, log: PromptLog) -> None:
        """Give the model back what it knew of a session; of a fork, what it knew of the session that this left."""
        if not await self.shelf.bring_back(key, log):
            origin = await asyncio.to_thread(self._memory.readings.origin, key.session)
            if origin is not None:
                await self.shelf.bring_back(key, log, of=origin[0])

    def _quotes(
        self,
        key: StateKey,
        path: Sequence[Turn],
        session: Session,
        limits: Limits,
        log: PromptLog | None,
        fresh: Fresh | None,
    ) -> Quotes:
        """All that a path's prompt quotes: what its replies were given, and what is in every prompt of its kind."""
        generator = key.model
        quotes = self._packs.quotes(path, generator, limits, log, fresh, session=session, voice=key.voice)
        packs = packs_of(path, fresh)
        quotes = self._pins.complete(quotes, generator, limits, log=log, packs=packs, session=session, voice=key.voice)
        return replace(quotes, played=key.voice is not None)

    def _keep(self, key: StateKey, log: PromptLog) -> None:
        self._logs[key] = log
        self._logs.move_to_end(key)
        while len(self._logs) > KEPT:
            self._logs.popitem(last=False)

    async def _compact(self, key: StateKey, generator: Generator, limits: Limits) -> None:
        before = len(self._logs[key].tokens)
        short = await asyncio.to_thread(self._short, key, generator, limits)
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
                self._scenes_over.discard(key)
                self.rewrites["compaction"] += 1
                self._keep(key, short)
                self.shelf.used(key)
            self._notify(Compaction(key.session, "done" if done else "interrupted", before, after))

    def _short(self, key: StateKey, generator: Generator, limits: Limits) -> PromptLog:
        with self._updating:  # what was cancelled may still be at it, and would put its log in the place of this one
            return self._shortened(key, generator, limits)

    def _shortened(self, key: StateKey, generator: Generator, limits: Limits) -> PromptLog:
        """The log to go on with: from the turn planned the first time, so that interrupted work is not done twice."""
        session = self._memory.readings.session(key.session)
        system = self._system_of(key, session)
        path = self._of_scene(key, self._path(key))
        quotes = self._quotes(key, path, session, limits, None, None)
        planned = self._plans.get(key)
        start = next((i for i, turn in enumerate(path) if turn.id == planned), None)
        if start is not None:
            log = prompt.build(generator, system, path[start:], limits, budget=limits.high_water, quotes=quotes)
            if log.first_turn == planned and len(log.tokens) < (limits.low_water + limits.high_water) // 2:
                self._open(key, log)
                return log
        log = prompt.build(generator, system, path, limits, budget=limits.low_water, quotes=quotes)
        if log.first_turn is not None:
            self._plans[key] = log.first_turn
        self._open(key, log)
        return log

    async def _compress(self) -> None:
        """Shorten what begins with a scene that is over; what a message interrupts is gone on with after its reply."""
        for key in [*self._scenes_over]:
            self._plans.pop(key, None)
            limits = self._limits.get(key) if key in self._logs else None
            if limits is None or not await asyncio.to_thread(self._plays_still, key):
                self._scenes_over.discard(key)
            else:
                await self._compact(key, key.model, limits)

    def _plays_still(self, key: StateKey) -> bool:
        """Whether a voice has a seat in its story."""
        play = self.plays.of(self._memory.readings.session(key.session))
        return play is not None and play.member(key.voice or "") is not None

    def _read_plays(self, spoke: StateKey) -> None:
        """Have the play at hand for the next message, as everybody sees it and as the voices do."""
        session = self._memory.readings.session(spoke.session)
        play = self.plays.of(session)
        for member in play.voices if play is not None else ():
            self.plays.of(session, member.id)

    async def _let_hear(self, spoke: StateKey, limits: Limits, *, last: str | None) -> None:
        """Evaluate what a voice said, up to its `last` reply, for those who heard it, while the user reads."""
        await asyncio.to_thread(self._read_plays, spoke)
        others = [
            key
            for key in self._logs
            if key.session == spoke.session and key.model is spoke.model and key.voice not in (None, spoke.voice)
        ]
        for key in others:
            heard = await asyncio.to_thread(self._memory.readings.seen, key.session, key.voice or "", [last or ""])
            if not heard:
                continue
            log = await self._updated_log(key, limits, last=last)
            await key.model.prefill(log.tokens)

    async def _warm(self, session: str, generator: Generator, limits: Limits) -> None:
        voice, plays = await asyncio.to_thread(self._first_voice, session)
        if plays and voice is None:
            return  # nobody is there who could hear it
        key = self._key(session, generator, voice)
        await self.shelf.leave(stays=key)
        log = await self._updated_log(key, limits, answered=True)
        await self._bring_back(key, log)
        if log.marks:
            cold = len(log.tokens) - generator.warm(log.tokens)
            if await generator.prefill(log.tokens) and cold >= WORTH:
                self.shelf.used(key)
