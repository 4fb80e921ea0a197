"""Where the KV states of prompt logs wait while others are in the foreground, or clew is closed.

A model holds two of them itself, so that two voices of a story take turns and nothing is copied. What has to leave it
is copied out before anything else is evaluated (some 10 ms, awaited), and parked in RAM. It moves to the disk where
nothing happens for a while, where it has no room in RAM any more, and before the model is closed. A chat's goes there
after each of its replies, so that after a kill at most one exchange is read again. The prompt log goes
along, as sampled tokens are not what a tokenizer makes of their text. What comes back is only a proposal:
`prompt.extend` cuts it to the path as it is now.

Copying, saving and forgetting are never cancelled half-way, and the last two happen one at a time. What was copied
before something was forgotten is dropped, so that a state which was forgotten cannot come back.
"""

import asyncio
from collections.abc import Callable, Collection, Coroutine, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, NamedTuple

from pydantic import TypeAdapter, ValidationError

from agent.references.quotes import is_read
from models.errors import ModelError
from models.parked import Parked, ParkedStates
from models.placing import common
from models.protocols import Entry, Generator
from models.states import KVStates, mentions, worth_keeping

from .prompt import PromptLog

WORTH = 64  # tokens; fewer are evaluated sooner than they are fetched
FETCH = 8  # a state is fetched from disk at least that much sooner than it is evaluated
IDLE_S = 10.0  # after a reply, so that a story that is killed comes back fast too …
IDLE_TOKENS = 512  # … where that much is new


@dataclass(frozen=True, slots=True)
class StateKey:
    """A prompt log fits one session and one loaded model: the very object, as tokens mean nothing to another.

    In a story each `voice` of the cast has one of its own, by its id.
    """

    session: str
    model: Generator
    voice: str | None = None


@dataclass(slots=True)
class Use:
    """What is known of a log's state in the model: how many of its tokens are on disk, and whether it is nowhere else
    as it is now."""

    saved: int = 0
    changed: bool = False


class Taken(NamedTuple):
    """A copy of what a model has of a log."""

    use: Use
    parked: Parked
    forgotten: int  # as it was when the copy was made


@cache
def _logs() -> TypeAdapter[PromptLog]:
    return TypeAdapter(PromptLog)


def to_note(log: PromptLog) -> Any:
    """A prompt log as JSON values, whatever fields it has."""
    return _logs().dump_python(log, mode="json")


def from_note(note: Any) -> PromptLog | None:
    """The prompt log that `to_note` was given; None if it was one of another kind."""
    try:
        return _logs().validate_python(note)
    except ValidationError:
        return None


class Shelf:
    """Parks, saves, brings back and forgets states; `current` gives a log as JSON values, or None to keep none of it.

    `gone` tells which of some turns may be kept no more. For one event loop, but for `log`.
    """

    def __init__(
        self,
        states: KVStates,
        current: Callable[[StateKey], tuple[list[int], Any] | None],
        gone: Callable[[set[str]], set[str]] = lambda held: set(),
    ) -> None:
        self._states = states
        self._current = current
        self._gone = gone
        self._parked = ParkedStates[StateKey]()
        self._uses: dict[StateKey, Use] = {}  # the one used last comes last
        self._one = asyncio.Lock()
        self._forgotten = 0  # how often something was: what was copied before is not kept after
        self._tasks: set[asyncio.Task[Any]] = set()
        self._copying: set[asyncio.Task[Any]] = set()
        self._timer: asyncio.TimerHandle | None = None
        self.idle_s = IDLE_S

    def used(self, key: StateKey) -> None:
        """Tell that the model went on with a log: it is kept when it has to leave, and saved when nothing happens."""
        if self._states.limit == 0:
            return
        self._uses[key] = self._uses.pop(key, Use())
        self._uses[key].changed = True
        self._parked.remove(key)  # from before
        if key.voice is None:
            self._copy(key, 1, self._begin_saving)
        self.rest()

    def rest(self) -> None:
        """Tell that nothing runs: what is not on disk is saved if that lasts."""
        self._cancel_timer()
        if self._states.limit == 0:
            return
        self._timer = asyncio.get_running_loop().call_later(self.idle_s, self._save_all, IDLE_TOKENS)

    async def leave(self, *, stays: StateKey | None = None) -> None:
        """Somebody is about to use the model: nothing is saved until `rest`, and copies that are being made are done.

        Without `stays` it is somebody who is not known here, and the states of all logs are copied out.
        """
        self._cancel_timer()
        while self._copying:
            await asyncio.wait(set(self._copying))
        if stays is None:
            for key in [key for key, use in self._uses.items() if use.changed]:
                await self._park(key)
            self.rest()

    async def written(self) -> None:
        """Wait until all that was begun is done, what is being saved above all."""
        while self._tasks:
            await asyncio.wait(set(self._tasks))

    async def save(self) -> None:
        """Save what is not on disk and worth it, however little is new; returns when it is there."""
        self._cancel_timer()
        self._save_all(0)
        await self.written()

    async def give_up(self, model: Generator) -> None:
        """A model is about to be closed: save what it knows of any log, and wait for that."""
        await self.save()
        self._uses = {key: use for key, use in self._uses.items() if key.model is not model}
        self._parked.forget(lambda key, _: key.model is model)

    def log(self, key: StateKey) -> PromptLog | None:
        """The prompt log that was kept with a state; blocking, in any thread."""
        if (parked := self._parked.get(key)) is not None:
            return from_note(parked.note)
        kept = self._states.find(key.session, key.model.state_key, key.voice)
        return None if kept is None else from_note(kept.header.note)

    async def bring_back(self, key: StateKey, log: PromptLog, *, of: str | None = None, replies: bool = True) -> bool:
        """Give the model back what it knew of this log, where that is kept and spares it work.

        What has to leave the model for that, and for the reply that comes next, is parked; without `replies` a
        `prefill` comes next, which sees to that itself. `of` names another session whose log this one begins with.
        False where nothing of the session is kept.
        """
        warm = key.model.warm(log.tokens)
        there = len(log.tokens) < warm + WORTH
        if not there:
            source = key if of is None else replace(key, session=of)
            parked = self._parked.get(source)
            if parked is not None:
                there = True
                await self._put_parked(key, source, parked, log.tokens, warm)
            else:
                there = await self._fetch(key, source, log.tokens, warm)
        if replies:
            await self._make_way(key, log.tokens, "generate")
        return there

    async def prefill(self, key: StateKey, tokens: Sequence[int]) -> bool:
        """`Generator.prefill` of a log, while nobody waits; what has to leave the model for that is parked first."""
        await self._make_way(key, tokens, "prefill")
        cold = len(tokens) - key.model.warm(tokens)
        done = await key.model.prefill(tokens)
        if done and cold >= WORTH:
            self.used(key)
        else:
            self.rest()
        return done

    async def forget(self, session: str) -> None:
        """Remove a session's states, of all its voices."""
        self._forgotten += 1
        for key in [key for key in self._uses if key.session == session]:
            del self._uses[key]
        self._parked.forget(lambda key, _: key.session == session)
        await self._do(lambda: self._states.forget(session))

    async def forget_turns(self, turns: Collection[str]) -> None:
        """Remove all states that were shown one of these turns, or any other that is gone."""
        self._forgotten += 1
        await self._do(lambda: self._sweep(frozenset(turns)))

    async def tidy(self, sessions: Collection[str]) -> None:
        """Remove the states of all but these sessions, and those that were shown a turn that is gone."""
        self._forgotten += 1
        there = frozenset(sessions)
        self._parked.forget(lambda key, _: key.session not in there)
        await self._do(lambda: self._tidied(there))

    def _tidied(self, sessions: frozenset[str]) -> None:
        self._states.tidy(sessions)
        self._sweep(frozenset())

    def _sweep(self, turns: frozenset[str]) -> None:
        """Remove what mentions one of these turns or one that is gone, and what does not tell what it mentions."""
        held: set[str] = set()
        for kept in self._states.kept():
            log = from_note(kept.header.note)
            if log is not None:
                held |= log.held
            else:
                self._states.remove(kept)
        for key, parked in self._parked.items():
            log = from_note(parked.note)
            if log is not None:
                held |= log.held
            else:
                self._parked.remove(key, parked)
        if gone := turns | self._gone(held):
            self._states.forget_mentioning(gone)
            self._parked.forget(lambda _, parked: mentions(parked.note, gone))

    async def _put_parked(
        self, key: StateKey, source: StateKey, parked: Parked, tokens: Sequence[int], warm: int
    ) -> None:
        """Put a state back that is in RAM, if it spares anything; then it is in the model again, and only there."""
        if _shared(parked.state.tokens, tokens) - warm < WORTH:
            return
        await self._make_way(key, parked.state.tokens, "put_state")
        done = await key.model.put_state(parked.state)
        if source == key or not done:
            self._parked.remove(source, parked)
        if source == key and done:
            self._uses.setdefault(key, Use()).changed = True

    async def _fetch(self, key: StateKey, source: StateKey, tokens: Sequence[int], warm: int) -> bool:
        """Put a state back that is on disk, if it spares enough; False if there is none."""
        model = key.model
        kept = await asyncio.to_thread(self._states.find, source.session, model.state_key, source.voice)
        if kept is None or len(kept.header.tokens) >= model.info.context:
            return False
        shared = _shared(kept.header.tokens, tokens)
        if shared - warm < max(WORTH, len(kept.header.tokens) // FETCH):
            return True
        state = await asyncio.to_thread(self._states.read, kept)
        if state is None:
            return True
        await self._make_way(key, state.tokens, "put_state")
        if not await model.put_state(state):
            await asyncio.to_thread(self._states.remove, kept)
        elif source == key:
            self._uses.setdefault(key, Use()).saved = shared
        return True

    async def _make_way(self, key: StateKey, prompt: Sequence[int], entry: Entry) -> None:
        """Park what its model would not keep of other logs when a prompt comes in."""
        for other, use in list(self._uses.items()):
            if other == key or not use.changed or other.model is not key.model:
                continue
            current = await asyncio.to_thread(self._current, other)
            if current is None:
                continue
            if key.model.warm(current[0]) < WORTH:
                use.changed = False  # it was pushed out by what nobody told of
            elif not key.model.keeps(current[0], prompt, entry):
                await self._park(other)

    async def _park(self, key: StateKey) -> None:
        """Copy a state out into RAM; also if the caller is cancelled."""
        await asyncio.shield(self._copy(key, None, self._put_in_ram))

    def _put_in_ram(self, key: StateKey, taken: Taken) -> None:
        for other, parked in self._parked.put(key, taken.parked):
            self._begin(self._write(other, parked, self._forgotten))

    def _save_all(self, least: int) -> None:
        """Begin to save what is parked, and of what is in the models that of which `least` tokens are new."""
        for key, parked in self._parked.items():
            self._begin(self._move_to_disk(key, parked, self._forgotten))
        for key in [key for key, use in self._uses.items() if use.changed]:
            self._copy(key, least, self._begin_saving)

    def _begin_saving(self, key: StateKey, taken: Taken) -> None:
        self._begin(self._save(key, taken))

    async def _move_to_disk(self, key: StateKey, parked: Parked, forgotten: int) -> None:
        """Save what is parked; a small chat is read again when it is opened, the voices of a story stay in RAM then.

        So does what was shown words of others: it may be in no file.
        """
        small = key.voice is None and not _worth(key, parked)
        if small or await self._write(key, parked, forgotten):
            self._parked.remove(key, parked)

    async def _save(self, key: StateKey, taken: Taken) -> None:
        if not await self._write(key, taken.parked, taken.forgotten):
            taken.use.changed = True

    async def _write(self, key: StateKey, parked: Parked, forgotten: int) -> bool:
        """Write a copy to disk, if nothing was forgotten since it was known that there is nothing in it that was."""
        model = key.model
        async with self._one:
            if forgotten != self._forgotten or not _worth(key, parked) or _shows_others(parked.note):
                return False
            saved = await asyncio.to_thread(
                self._states.save,
                key.session,
                model.state_key,
                parked.state,
                parked.note,
                context=model.info.context,
                voice=key.voice,
            )
        if saved and key in self._uses:
            self._uses[key].saved = len(parked.state.tokens)
        return saved

    def _copy(self, key: StateKey, least: int | None, then: Callable[[StateKey, Taken], object]) -> asyncio.Task[Any]:
        """Begin to copy a state out, and hand the copy on. Where `least` is a number, it is for the disk."""

        async def copying() -> None:
            taken = await self._taken(key, least)
            if taken is not None:
                then(key, taken)

        task = self._begin(copying())
        self._copying.add(task)
        task.add_done_callback(self._copying.discard)
        return task

    async def _taken(self, key: StateKey, least: int | None) -> Taken | None:
        """A copy of the model's state; None if there is nothing to keep."""
        use, forgotten = self._uses.get(key), self._forgotten
        if use is None or not use.changed:
            return None
        current = await asyncio.to_thread(self._current, key)
        if current is None:
            return None
        tokens, note = current
        if least is not None and _shows_others(note):
            return None  # it stays in the model
        if least is not None and (
            0 <= len(tokens) - use.saved < least or not worth_keeping(len(tokens), 0, key.model.reading_s)
        ):
            return None  # before anything is copied
        use.changed = False
        try:
            state = await key.model.take_state(tokens)
        except ModelError:
            return None  # closed meanwhile: a state less
        if state is None or len(state.tokens) < WORTH:
            return None
        if forgotten != self._forgotten:
            use.changed = True
            return None
        return Taken(use, Parked(state, note), forgotten)

    async def _do(self, work: Callable[[], None]) -> None:
        """Run a blocking function after all that was begun before it, also if the caller is cancelled."""
        await asyncio.shield(self._begin(self._done(work)))

    async def _done(self, work: Callable[[], None]) -> None:
        async with self._one:
            await asyncio.to_thread(work)

    def _begin(self, work: Coroutine[Any, Any, object]) -> asyncio.Task[Any]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def _cancel_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def _worth(key: StateKey, parked: Parked) -> bool:
    """Whether a state is worth its place on disk."""
    return worth_keeping(len(parked.state.tokens), parked.size, key.model.reading_s)


def _shows_others(note: Any) -> bool:
    """Whether a prompt log quotes what was read at a reference: its words are in no file."""
    log = from_note(note)
    return log is not None and any(is_read(each) for each in log.held)


def _shared(a: Sequence[int], b: Sequence[int]) -> int:
    """Length of the longest common prefix."""
    return common(a, (*b, -1))
