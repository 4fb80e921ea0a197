"""Reflects on finished exchanges in the background, one at a time, as they were said.

Invariants:
- Nobody waits for it. It begins nothing while a message waits for its answer or a prompt is worked on, and what it asks
  of the model yields to a reply by itself.
- What to do next is asked of the memory each time: nothing is queued only in RAM, so a kill loses no exchange.
- All that came of an exchange is one append, `reflection.done` its last event. A kill before it leaves nothing, so that
  nothing is learned twice. The title alone comes ahead of it: it is waited for, and making it again does no harm.
- A step that fails is recorded and takes nothing from the others.
"""

import asyncio
import contextlib
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from agent.background import Foreground, Worker
from agent.errors import AgentError
from agent.events import Learned, Notice, Reflecting, SessionsChanged, Warned
from agent.prompts import Prompts
from agent.reflection.keeping import lost_names, with_names
from agent.relations.learning import choose_all, learn
from graph.errors import SURPRISES, GraphFailure, InvalidEvent, MemoryFailure, NotFound
from graph.events import EntityNoted, Event, ObservationMade, ReflectionDone, ReflectionFailed
from graph.memory import Memory
from graph.values import Turn, Unreflected
from models.errors import EngineClosed, ModelError
from models.protocols import Generator

from .consolidation import within
from .learning import OWN_TIME_S, Learning
from .making import Review
from .material import Material, Outcome, gather, still_there
from .steps import echoed, make_title, note_names, rate_turns

T = TypeVar("T")
TRIES = 2  # at one exchange, where what it stands on changes meanwhile
FAILURES = (ModelError, AgentError, TimeoutError, InvalidEvent, NotFound, *SURPRISES)
Step = Any  # of ReflectionFailed
Chosen = Mapping[str, Sequence[Any]]  # what a model chose of relationships, by turn


class Changed(Exception):
    """What an exchange was read from is no longer as it was: read it again."""


class Reflector:
    """One background task: `start` it, `wake` it, wait until it is `idle`, `close` it; or `reflect` at once."""

    def __init__(
        self,
        memory: Memory,
        learning: Learning,
        prompts: Prompts,
        foreground: Foreground,
        *,
        model: Callable[[], Awaitable[Generator | None]],
        notify: Callable[[Notice], None],
        review: Callable[[], Review],
    ) -> None:
        self._memory = memory
        self._learning = learning
        self._prompts = prompts
        self._foreground = foreground
        self._model = model
        self._notify = notify
        self._review = review
        self._given_up: set[Unreflected] = set()  # of this run: they are tried again after the next start
        self._told: Reflecting | None = None
        self._warned = ""
        self._wake = asyncio.Event()
        self._resting = asyncio.Event()
        self._resting.set()
        self._one = asyncio.Lock()
        self._worker = Worker("Learning", self._run, notify)
        self._threads: set[asyncio.Future[Any]] = set()

    def start(self) -> None:
        """Reflect from now on whenever there is something to."""
        self._resting.clear()
        self._worker.start()

    def wake(self) -> None:
        """Something was said, or changed: look whether there is something to reflect on."""
        if self._worker.works:
            self._resting.clear()
            self._wake.set()

    @property
    def busy(self) -> bool:
        return not self._resting.is_set()

    async def idle(self) -> None:
        """Wait until there is nothing to reflect on that can be reflected on now."""
        await self._resting.wait()

    async def close(self) -> None:
        """End after the append that runs; what is left is found again at the next start and told of no more."""
        await self._worker.close()
        await asyncio.gather(*self._threads, return_exceptions=True)
        self._resting.set()
        if self._told is not None and self._told.left:
            self._told = replace(self._told, left=0)
            self._notify(self._told)

    async def reflect(self, *, reinforce: bool = True, by_model: bool = True, most: int | None = None) -> None:
        """Do all there is to do now, or `most` of it. Raises MemoryFailure, and then the rest is found again later.

        With `by_model` false no model is asked anything: people's own sentences are kept, and titles stay as they are.
        """
        async with self._one:
            model: Generator | None = None
            tries: Counter[Unreflected] = Counter()
            while (most is None or tries.total() < most) and (found := await self._next()):
                model = await self._ready(by_model=by_model)
                await self._tell(model)
                tries[found] += 1
                await self._reflect_on(found, model, last=tries[found] >= TRIES, reinforce=reinforce)
            await self._tell(model, left=0 if most is None else None)

    async def again(self, found: Unreflected, *, reinforce: bool = True, by_model: bool = True) -> None:
        """Reflect once more on what was reflected on: what it taught before is not learned again.

        Raises MemoryFailure, and AgentError where its words were taken away meanwhile.
        """
        async with self._one:
            for _ in range(TRIES):
                model = await self._ready(by_model=by_model)
                with contextlib.suppress(Changed, EngineClosed):
                    return await self._once(found, model, reinforce=reinforce)
            raise AgentError("The exchange was changed meanwhile. Nothing was learned. Try again.")

    # -- the background -------------------------------------------------------------------------------------------

    async def _run(self) -> None:
        await self._in_thread(self._restore_names)
        self._wake.set()
        while True:
            if not self._wake.is_set():
                self._resting.set()
            await self._wake.wait()
            self._wake.clear()
            try:
                await self.reflect()
            except GraphFailure:
                continue  # it is opened or renewed: whoever does that wakes us
            except (MemoryFailure, *SURPRISES) as error:
                why = str(error) if isinstance(error, MemoryFailure) else f"{type(error).__name__}."
                self._warn(f"Nothing could be learned from the last messages: {why} clew will try again later.")

    def _restore_names(self) -> None:
        """What an older clew left without its name, in a log from before, is called again as it was."""
        if events := lost_names(self._memory):
            self._memory.append(*events)

    def _warn(self, message: str) -> None:
        """Once, until it is about something else: it may be tried again often."""
        if message != self._warned:
            self._warned = message
            self._notify(Warned(message))

    async def _next(self) -> Unreflected | None:
        found = await self._in_thread(self._memory.readings.unreflected, len(self._given_up) + 1)
        return next((each for each in found if each not in self._given_up), None)

    async def _quiet(self) -> None:
        """Wait until nobody waits for an answer and no prompt is shortened or warmed."""
        while self._foreground.busy or self._prompts.busy:
            await self._foreground.free()
            await self._prompts.settled()

    async def _ready(self, *, by_model: bool) -> Generator | None:
        """The model to reflect with, once nobody waits for an answer. Raises GraphFailure while there is no graph."""
        await self._quiet()
        if not self._memory.graph_ready:
            raise GraphFailure("Existing memories cannot be read while the graph is opening.")
        return await self._model() if by_model else None

    async def _tell(self, model: Generator | None, *, left: int | None = None) -> None:
        count = await self._in_thread(self._memory.readings.unreflected_count) if left is None else left
        now = Reflecting(count, self._learning.trust(model))
        if now != self._told and (count or self._told is not None):
            self._told = now
            self._notify(now)

    # -- one exchange ---------------------------------------------------------------------------------------------

    async def _reflect_on(self, found: Unreflected, model: Generator | None, *, last: bool, reinforce: bool) -> None:
        """Reflect on one exchange; where something changed under it, it is asked for and read again, but for the last
        time."""
        try:
            await self._once(found, model, reinforce=reinforce)
        except (Changed, EngineClosed):
            if last:
                self._given_up.add(found)
        except InvalidEvent as error:
            if last:
                self._given_up.add(found)
                material = await self._in_thread(gather, self._memory, found)
                failed = _failure(material, "observations", model, type(error).__name__)
                await self._in_thread(self._append, material, [failed, _done(material, Outcome(errors=1))])

    async def _once(self, found: Unreflected, model: Generator | None, *, reinforce: bool) -> None:
        material = await self._in_thread(gather, self._memory, found)
        failed: list[ReflectionFailed] = []

        async def step(name: Step, work: Awaitable[T], otherwise: T) -> T:
            try:
                return await work
            except (EngineClosed, GraphFailure):
                raise
            except FAILURES as error:
                failed.append(_failure(material, name, model, type(error).__name__))
                return otherwise

        if model is not None:
            await step("title", self._title(material, model), None)
        thread, memory = self._in_thread, self._memory
        names, ids = await step("entities", thread(note_names, memory, material), ([], {}))
        echoes = await step("reinforcement", self._reinforced(material), []) if reinforce else []
        await self._quiet()
        observing = self._learning.observe(material, model, ids, review=self._review())
        draft = await step("observations", observing, None)
        judged = draft.significance if draft is not None else {}
        rating = rate_turns(memory, material, judged, self._learning.embed)
        ratings = await step("significance", rating, [])
        outcome = draft.outcome if draft is not None else Outcome(errors=1)
        if outcome.failure is not None:
            failed.append(_failure(material, "observations", model, outcome.failure))
        plain: tuple[list[Event], list[Event]] = [*names], []
        own = [turn for turn in material.said if draft is None or turn.id not in draft.foreign]
        chosen: Chosen = {}
        if model is not None and outcome.trust == "model":
            chosen = await step("relations", choose_all(own, model, self._in_own_time), chosen)
            await self._quiet()
        related = thread(self._related, material, own, names, ids, outcome.events, chosen)
        known, relations = await step("relations", related, plain)
        made = [each for each in (*outcome.events, *relations) if isinstance(each, ObservationMade)]
        await self._quiet()
        await self._in_thread(
            self._append,
            material,
            [*known, *ratings, *outcome.events, *relations, *echoes, *failed, _done(material, outcome)],
        )
        if made:
            waiting = sum(each.status == "candidate" for each in made)
            texts = tuple((each.observation, each.text or "") for each in made)
            self._notify(Learned(material.session, texts, waiting))

    def _related(
        self,
        material: Material,
        own: list[Turn],
        names: list[EntityNoted],
        ids: dict[str, str],
        learned: list[Event],
        chosen: Chosen,
    ) -> tuple[list[Event], list[Event]]:
        return learn(
            self._memory,
            own,
            names,
            ids,
            learned,
            world=material.world,
            project=material.project,
            reflection=material.reflection,
            instead_of=material.instead_of,
            review=self._review(),
            chosen=chosen,
        )

    def _in_own_time(self, call: Coroutine[Any, Any, Any]) -> Awaitable[Any]:
        return within(OWN_TIME_S, call, self._foreground)

    async def title(self, found: Unreflected, model: Generator) -> None:
        """Better a chat's title that is only its first words. Raises MemoryFailure."""
        material = await self._in_thread(gather, self._memory, found)
        with contextlib.suppress(Changed):
            await self._title(material, model)

    async def _title(self, material: Material, model: Generator) -> None:
        """Give a chat its title, unless it is renamed, deleted, or loses those words meanwhile."""
        if material.instead_of is not None:
            return
        session = await self._in_thread(self._memory.readings.session, material.session)
        better = await make_title(session, material, model)
        if better is None:
            return
        now = await self._in_thread(self._memory.readings.session, better.session)
        if not now.named_by_user and not now.deleted:
            await self._in_thread(self._append, material, [better])
            self._notify(SessionsChanged(better.session))

    async def _reinforced(self, material: Material) -> list[Any]:
        turns = (*material.said, *material.replies)
        return await self._in_thread(
            lambda: echoed(self._memory, turns, world=material.world, project=material.project)
        )

    def _append(self, material: Material, events: list[Event]) -> None:
        """All of it or nothing. Raises Changed where a word it stands on is not to be kept any more."""
        made = {event.observation for event in events if isinstance(event, ObservationMade)}
        known = {id for event in events for id in _known(event)} - made
        there = self._memory.readings.observations(known, world=material.world).keys() if known else set[str]()
        if not still_there(self._memory, material) or not known <= there:
            raise Changed
        self._memory.append(*with_names(self._memory, events))

    async def _in_thread(self, function: Callable[..., T], *arguments: object) -> T:
        """What a thread answers; if the wait is cancelled, `close` still waits for the thread."""
        task = asyncio.ensure_future(asyncio.to_thread(function, *arguments))
        self._threads.add(task)
        task.add_done_callback(self._threads.discard)
        return await asyncio.shield(task)


def _failure(material: Material, step: Step, model: Generator | None, error: str) -> ReflectionFailed:
    name = model.info.name if model is not None else None
    return ReflectionFailed(reflection=material.reflection, turns=material.turns, step=step, model=name, error=error)


def _done(material: Material, outcome: Outcome) -> ReflectionDone:
    return ReflectionDone(
        reflection=material.reflection,
        turns=material.turns,
        instead_of=material.instead_of,
        model=outcome.model,
        trust=outcome.trust,
        probe=outcome.probe,
        created=outcome.created,
        updated=outcome.updated,
        deleted=outcome.deleted,
        skipped=outcome.skipped,
        errors=outcome.errors,
    )


def _known(event: Event) -> list[str]:
    """The observations that were there before and that an event leans on: they must not be gone since."""
    if isinstance(event, ObservationMade):
        return [event.supersedes] if event.supersedes is not None else []
    found = getattr(event, "observation", None)
    return [found] if isinstance(found, str) else []
