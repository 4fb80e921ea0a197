"""What is learned by itself: reflection on finished exchanges, begun after each reply, and titles of chats."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress

from graph.errors import SURPRISES, GraphFailure, MemoryFailure
from graph.events import MAIN_WORLD, ObservationReinforced
from graph.memory import Memory
from graph.values import Unreflected
from models.errors import ModelError
from models.protocols import Generator

from .background import BackgroundTasks
from .errors import AgentError
from .events import Notice, SessionsChanged, Warned
from .marks import Marks
from .model_host import ModelHost
from .reflection.learning import Learning
from .reflection.reflector import Reflector
from .reflection.steps import STEP, echoed
from .settings import Settings

BRIEFLY = 4  # exchanges that are reflected on where somebody waits for a command to end
BRIEF_S = 0.8


class Reflection:
    """Has exchanges reflected on, and titles chats."""

    def __init__(
        self,
        memory: Memory,
        models: ModelHost,
        learning: Learning,
        reflector: Reflector,
        marks: Marks,
        background: BackgroundTasks,
        *,
        settings: Callable[[], Settings],
        tell: Callable[[Notice], None],
        graph_opened: Callable[[], Awaitable[None]],
        judge: Callable[[], Awaitable[Generator | None]],
    ) -> None:
        """`graph_opened` waits for the graph, where one is being opened; `judge` is the model for titles, if any."""
        self._memory = memory
        self._models = models
        self._learning = learning
        self._reflector = reflector
        self._marks = marks
        self._background = background
        self._settings = settings
        self._tell = tell
        self._graph_opened = graph_opened
        self._judge = judge

    async def run(self, *, reinforce: bool = True, by_model: bool = True) -> None:
        """Reflect on everything that was not reflected on yet, to its end. Raises MemoryFailure.

        With `by_model` false people's own sentences are kept, word for word.
        """
        await self._reflector.reflect(reinforce=reinforce, by_model=by_model)

    async def again(self, turn: str, *, reinforce: bool = True, by_model: bool = True) -> None:
        """Reflect once more on the exchange of a turn, by its id or the beginning of it; or for the first time.

        What it taught before is not learned again, nor what was rejected since; what was forgotten may be. Raises
        NotFound, also where its words are not to be learned from, Ambiguous, AgentError or MemoryFailure.
        """
        found = await asyncio.to_thread(self._memory.readings.reflected, turn)
        await self._reflector.again(found, reinforce=reinforce, by_model=by_model)

    async def run_briefly(self) -> None:
        """Reflect on the first of what waits, where that asks no model for anything; the rest is left for later.

        Never longer than BRIEF_S, and never raises: what is not done now is found again at the next start.
        """
        model = self._models.current
        if model is None or not self._settings().reflect or not await self._learning.asks_no_model(model):
            return
        with suppress(TimeoutError, MemoryFailure, *SURPRISES):
            async with asyncio.timeout(BRIEF_S):
                await self._graph_opened()
                await self._reflector.reflect(by_model=False, most=BRIEFLY)

    async def waiting(self) -> int:
        """How many exchanges wait for reflection; 0 while the graph does not answer."""
        with suppress(GraphFailure):
            return await self.unreflected()
        return 0  # the graph does not answer just now

    async def unreflected(self) -> int:
        """How many exchanges wait for reflection."""
        return await asyncio.to_thread(self._memory.readings.unreflected_count)

    async def reinforce(self, turns: Iterable[str], *, step: float = STEP) -> list[ObservationReinforced]:
        """Strengthen what turns echo, each observation by each turn once, also if asked again; what was strengthened.

        Raises ValueError for a negative step.
        """
        return await asyncio.to_thread(self._reinforce, list(turns), step)

    def _reinforce(self, turns: list[str], step: float) -> list[ObservationReinforced]:
        said = self._memory.readings.quotable(turns)
        events: list[ObservationReinforced] = []
        for turn in (said[id] for id in turns if id in said):
            session = self._memory.readings.session(turn.session)
            events += echoed(self._memory, [turn], world=session.world, project=session.project, step=step)
        if events:
            self._memory.append(*events)
        return events

    def after_reply(self, session: str, first_turn: str | None, generator: Generator) -> None:
        """A reply is durable; `first_turn` is the message it answers, if that began the session."""
        self._tell(SessionsChanged(session))
        self._marks.add_if_due()
        if first_turn is not None and not self._settings().reflect:  # reflection begins with the title
            self._background.start(self._title(session, first_turn, generator))

    async def _title(self, session: str, turn: str, generator: Generator) -> None:
        """Let the judge, or the model that answered, better a title that is only the first words."""
        generator = await self._judge() or generator
        try:
            exchange = await asyncio.to_thread(self._memory.readings.exchange, turn)
            turns = (turn,) if exchange.reply is None else (turn, exchange.reply.id)
            await self._reflector.title(Unreflected(turns, session, MAIN_WORLD, None), generator)
        except (MemoryFailure, ModelError, AgentError) as error:
            self._tell(Warned(f"The chat title could not be generated: {error}"))
