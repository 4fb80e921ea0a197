"""Where the KV states of sessions wait while others are in the foreground, or clew is closed.

Whoever leaves is copied out before anything else is evaluated (some 10 ms, awaited); the copy is written beside what
goes on. The prompt log goes into the file with it, as sampled tokens are not what a tokenizer makes of their text. What
comes back is only a proposal: `prompt.extend` cuts it to the path as it is now. Saving and forgetting happen one at a
time and are never cancelled half-way, so that a state which was forgotten cannot come back.
"""

import asyncio
from collections.abc import Callable, Collection, Coroutine
from dataclasses import dataclass
from functools import cache
from typing import Any

from pydantic import TypeAdapter, ValidationError

from models.errors import ModelError
from models.protocols import Generator, KVState
from models.states import KVStates, worth_keeping

from .prompt import PromptLog

WORTH = 64  # tokens; fewer are evaluated sooner than they are fetched
FETCH = 8  # a state is fetched at least that much sooner than it is evaluated
IDLE_S = 10.0  # after a reply, so that a clew that is killed comes back fast too …
IDLE_TOKENS = 512  # … where that much is new


@dataclass(frozen=True, slots=True)
class StateKey:
    """A prompt log fits one session and one loaded model: the very object, as tokens mean nothing to another."""

    session: str
    model: Generator


@dataclass(slots=True)
class Use:
    """What is known of a session's state in the model: how many tokens of its log are on disk, and whether all are."""

    saved: int = 0
    changed: bool = False


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
    """Saves, brings back and forgets states; `current` gives a session's log as JSON values, or None to save nothing.

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
        self._uses: dict[StateKey, Use] = {}
        self._one = asyncio.Lock()
        self._forgotten = 0  # how often something was: what was copied before is not written after
        self._tasks: set[asyncio.Task[None]] = set()
        self._copying: set[asyncio.Event] = set()
        self._timer: asyncio.TimerHandle | None = None
        self.idle_s = IDLE_S

    def used(self, key: StateKey) -> None:
        """Tell that a session was answered: its state is to be saved when it leaves, or when nothing happens."""
        if self._states.limit == 0:
            return
        self._uses.setdefault(key, Use()).changed = True
        self._cancel_timer()
        self._timer = asyncio.get_running_loop().call_later(self.idle_s, self._save, key, IDLE_TOKENS)

    async def leave(self, *, stays: StateKey | None = None) -> None:
        """Copy out the states of all sessions but one, as far as they changed; they are written afterwards."""
        self._cancel_timer()
        for key, use in self._uses.items():
            if use.changed and key != stays:
                self._save(key)
        for copied in set(self._copying):
            await copied.wait()

    async def written(self) -> None:
        """Wait until all that was copied out is on disk."""
        while self._tasks:
            await asyncio.wait(set(self._tasks))

    async def give_up(self, model: Generator) -> None:
        """A model is about to be closed: save what it knows of any session, and wait for that."""
        await self.leave()
        await self.written()
        self._uses = {key: use for key, use in self._uses.items() if key.model is not model}

    def log(self, key: StateKey) -> PromptLog | None:
        """The prompt log that was saved with a session's state; blocking, in any thread."""
        kept = self._states.find(key.session, key.model.state_key)
        return None if kept is None else from_note(kept.header.note)

    async def bring_back(self, key: StateKey, log: PromptLog, *, of: str | None = None) -> bool:
        """Give the model back what it knew of this log, where that is on disk and spares it work.

        `of` names another session whose log this one begins with. False where nothing of the session is on disk.
        """
        model = key.model
        warm = model.warm(log.tokens)
        if len(log.tokens) < warm + WORTH:
            return True
        kept = await asyncio.to_thread(self._states.find, of or key.session, model.state_key)
        if kept is None or len(kept.header.tokens) >= model.info.context:
            return False
        shared = _shared(kept.header.tokens, log.tokens)
        if shared - warm < max(WORTH, len(kept.header.tokens) // FETCH):
            return True
        state = await asyncio.to_thread(self._states.read, kept)
        if state is None:
            return True
        if not await model.put_state(state):
            await asyncio.to_thread(self._states.remove, kept)
        elif of is None:
            self._uses.setdefault(key, Use()).saved = shared
        return True

    async def forget(self, session: str) -> None:
        """Remove a session's states."""
        self._forgotten += 1
        for key in [key for key in self._uses if key.session == session]:
            del self._uses[key]
        await self._do(lambda: self._states.forget(session))

    async def forget_turns(self, turns: Collection[str]) -> None:
        """Remove the states of all sessions that were shown one of these turns, or any other that is gone."""
        self._forgotten += 1
        await self._do(lambda: self._sweep(frozenset(turns)))

    async def tidy(self, sessions: Collection[str]) -> None:
        """Remove the states of all but these sessions, and those that were shown a turn that is gone."""
        await self._do(lambda: self._tidied(frozenset(sessions)))

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
        if gone := turns | self._gone(held):
            self._states.forget_mentioning(gone)

    def _save(self, key: StateKey, least: int = 0) -> asyncio.Event:
        """Begin to save a session's state if `least` tokens are new; the event tells that it is copied out (or not)."""
        copied = asyncio.Event()
        self._copying.add(copied)
        self._begin(self._saved(key, least, copied))
        return copied

    async def _saved(self, key: StateKey, least: int, copied: asyncio.Event) -> None:
        try:
            taken = await self._taken(key, least)
        finally:
            copied.set()
            self._copying.discard(copied)
        if taken is None:
            return
        use, state, note, forgotten = taken
        async with self._one:
            if forgotten != self._forgotten:
                use.changed = True
                return
            model = key.model
            saved = await asyncio.to_thread(
                self._states.save, key.session, model.state_key, state, note, context=model.info.context
            )
            if saved:
                use.saved = len(state.tokens)

    async def _taken(self, key: StateKey, least: int) -> tuple[Use, KVState, Any, int] | None:
        """A copy of the model's state, and what belongs to it; None if there is nothing to save."""
        use, forgotten = self._uses.get(key), self._forgotten
        if use is None or not use.changed:
            return None
        current = await asyncio.to_thread(self._current, key)
        if current is None or 0 <= len(current[0]) - use.saved < least:
            return None
        reading_s = key.model.reading_s
        if not worth_keeping(len(current[0]), 0, reading_s):  # before anything is copied
            return None
        use.changed = False
        try:
            state = await key.model.take_state(current[0])
        except ModelError:
            return None  # closed meanwhile: a state less
        if state is None or len(state.tokens) < WORTH:
            return None
        if not worth_keeping(len(state.tokens), len(state.data), reading_s):
            return None
        return use, state, current[1], forgotten

    async def _do(self, work: Callable[[], None]) -> None:
        """Run a blocking function after all that was begun before it, also if the caller is cancelled."""
        await asyncio.shield(self._begin(self._done(work)))

    async def _done(self, work: Callable[[], None]) -> None:
        async with self._one:
            await asyncio.to_thread(work)

    def _begin(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def _cancel_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def _shared(a: Collection[int], b: Collection[int]) -> int:
    """Length of the longest common prefix."""
    pairs = enumerate(zip(a, b, strict=False))
    return next((at for at, (x, y) in pairs if x != y), min(len(a), len(b)))
