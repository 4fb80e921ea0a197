"""What the Agent learns by itself: reflection on finished exchanges, begun after each reply, and titles of chats."""

import asyncio
from collections.abc import Coroutine, Iterable
from contextlib import suppress
from typing import Any

from graph.beliefs import Unreflected
from graph.errors import SURPRISES, GraphFailure, MemoryFailure
from graph.events import MAIN_WORLD, ObservationReinforced
from graph.memory import Memory
from models.errors import ModelError
from models.protocols import Generator

from .errors import AgentError
from .events import Notice, SessionsChanged, Warned
from .models import ModelHost
from .reflection.learning import Learning
from .reflection.reflector import Reflector
from .reflection.steps import STEP, echoed
from .settings import Settings

BRIEFLY = 4  # exchanges that are reflected on where somebody waits for a command to end
BRIEF_S = 0.8


class Reflects:
    """The part of the Agent that reflects; what it works with is the Agent's."""

    settings: Settings
    _models: ModelHost
    _learning: Learning
    _reflector: Reflector
    _opening: asyncio.Task[None] | None

    @property
    def _memory(self) -> Memory:
        raise NotImplementedError

    def _tell(self, notice: Notice) -> None:
        raise NotImplementedError

    def _mark_if_due(self) -> None:
        raise NotImplementedError

    def _spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        raise NotImplementedError

    async def reflect(self, *, reinforce: bool = True, by_model: bool = True) -> None:
        """Reflect on everything that was not reflected on yet, to its end. Raises MemoryFailure.

        With `by_model` false people's own sentences are kept, word for word.
        """
        await self._reflector.reflect(reinforce=reinforce, by_model=by_model)

    async def reflect_again(self, turn: str, *, reinforce: bool = True, by_model: bool = True) -> None:
        """Reflect once more on the exchange of a turn, by its id or the beginning of it; or for the first time.

        What it taught before is not learned again, nor what was rejected since; what was forgotten may be. Raises
        NotFound, also where its words are not to be learned from, Ambiguous, AgentError or MemoryFailure.
        """
        found = await asyncio.to_thread(self._memory.reflected, turn)
        await self._reflector.again(found, reinforce=reinforce, by_model=by_model)

    async def reflect_briefly(self) -> None:
        """Reflect on the first of what waits, where that asks no model for anything; the rest is left for later.

        Never longer than BRIEF_S, and never raises: what is not done now is found again at the next start.
        """
        model = self._models.current
        if model is None or not self.settings.reflect or not await self._learning.asks_no_model(model):
            return
        with suppress(TimeoutError, MemoryFailure, *SURPRISES):
            async with asyncio.timeout(BRIEF_S):
                if self._opening is not None:
                    await asyncio.shield(self._opening)
                await self._reflector.reflect(by_model=False, most=BRIEFLY)

    async def model_ready(self) -> None:
        """Load the chat model of the settings, for a start that left that out. Raises ModelError, told by a notice."""
        await self._models.get(self.settings.model)

    async def _to_learn_from(self) -> int:
        with suppress(GraphFailure):
            return await self.unreflected()
        return 0  # the graph does not answer just now

    async def unreflected(self) -> int:
        """How many exchanges wait for reflection."""
        return await asyncio.to_thread(self._memory.unreflected_count)

    async def reinforce(self, turns: Iterable[str], *, step: float = STEP) -> list[ObservationReinforced]:
        """Strengthen what turns echo, each observation by each turn once, also if asked again; what was strengthened.

        Raises ValueError for a negative step.
        """
        return await asyncio.to_thread(self._reinforce, list(turns), step)

    def _reinforce(self, turns: list[str], step: float) -> list[ObservationReinforced]:
        said = self._memory.quotable(turns)
        events: list[ObservationReinforced] = []
        for turn in (said[id] for id in turns if id in said):
            session = self._memory.session(turn.session)
            events += echoed(self._memory, [turn], world=session.world, project=session.project, step=step)
        if events:
            self._memory.append(*events)
        return events

    def _after_reply(self, session: str, first_turn: str | None, generator: Generator) -> None:
        """A reply is durable; `first_turn` is the message it answers, if that began the session."""
        self._tell(SessionsChanged(session))
        self._mark_if_due()
        if first_turn is not None and not self.settings.reflect:  # reflection begins with the title
            self._spawn(self._title(session, first_turn, generator))

    async def _title(self, session: str, turn: str, generator: Generator) -> None:
        """Let the model better a title that is only the first words."""
        try:
            exchange = await asyncio.to_thread(self._memory.exchange, turn)
            turns = (turn,) if exchange.reply is None else (turn, exchange.reply.id)
            await self._reflector.title(Unreflected(turns, session, MAIN_WORLD, None), generator)
        except (MemoryFailure, ModelError, AgentError) as error:
            self._tell(Warned(f"The chat title could not be generated: {error}"))
