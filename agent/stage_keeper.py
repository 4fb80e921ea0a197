"""Keeps the stage of a story after each reply, where a trusted model is there to choose; else nothing is asked.

All that comes of an exchange is one append, `reflection.done` its last event: a kill before it leaves nothing, and what
is left is found again after the next reply. A judgement that fails is recorded and changes nothing.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress

from pydantic import BaseModel

from agent.background import BackgroundTasks, Foreground
from agent.errors import AgentError
from agent.events import Notice, SessionsChanged
from agent.prompts import Prompts
from agent.reflection.consolidation import within
from agent.reflection.trust import Trusts
from agent.story.judging import (
    BAR,
    MOST_TOKENS,
    SpeaksUp,
    asked,
    asked_of_stage,
    asked_to_speak,
    changes_of,
    numbered,
    open_plots,
    others_of,
    plots_moved,
    schema_of,
    stage_schema,
)
from agent.story.play import Play, play_of
from agent.story.plots import Plot
from graph.errors import MemoryFailure
from graph.events import Event, ReflectionDone, ReflectionFailed, StageSet, TurnRated
from graph.ids import new_id
from graph.memory import Memory
from graph.values import Member, Session, Turn
from models.errors import EngineClosed, ModelError, RunError
from models.protocols import Generator

OWN_TIME_S = 10.0  # of thinking about one question
LATEST = 3  # exchanges that are looked at, where more were left over


class StageKeeper:
    """Judges what the exchanges of stories changed. `model` is what may be asked, None: nobody."""

    def __init__(
        self,
        memory: Memory,
        trusts: Trusts,
        prompts: Prompts,
        foreground: Foreground,
        background: BackgroundTasks,
        *,
        model: Callable[[], Awaitable[Generator | None]],
        tell: Callable[[Notice], None],
        own_time_s: float = OWN_TIME_S,
    ) -> None:
        self._memory = memory
        self._trusts = trusts
        self._prompts = prompts
        self._foreground = foreground
        self._background = background
        self._model = model
        self._tell = tell
        self._own_time_s = own_time_s
        self._one = asyncio.Lock()

    def after_reply(self, session: str) -> None:
        """A reply of a chat is durable: judge what it changed, in the background."""
        self._background.start(self._keep(session))

    async def _keep(self, session: str) -> None:
        with suppress(MemoryFailure, ModelError, AgentError):  # found again after the next reply
            about = await asyncio.to_thread(self._memory.readings.session, session)
            if about.story is None:
                return
            async with self._one:
                await self._quiet()
                generator = await self.judge()
                if generator is not None:
                    await self._judge_all(about, generator)

    async def speaks_up(self, session: str, play: Play, spoke: str, reply: str) -> str | None:
        """Who of those that heard a reply and were not asked says something now; None: nobody, also where it fails.

        Asked only of a model that is known to be trusted: nobody waits for a probe.
        """
        generator = await self._model()
        score = await self._trusts.recalled(generator) if generator is not None else None
        if generator is None or score is None or score < BAR:
            return None
        said = await asyncio.to_thread(self._memory.readings.turn, reply)
        for member in play.voices:
            if member.id != spoke and member.id in (said.witnesses or ()):
                lines = numbered(await asyncio.to_thread(self._seen, session, member.id, said))
                prompt = await asyncio.to_thread(asked_to_speak, generator, member, lines)
                with suppress(RunError, TimeoutError):
                    async with asyncio.timeout(self._own_time_s):
                        answer = await generator.structured(prompt, SpeaksUp, max_tokens=MOST_TOKENS)
                    if answer.speaks:
                        return member.id
        return None

    async def judge(self) -> Generator | None:
        """The model, where it is trusted with stories."""
        generator = await self._model()
        if generator is None:
            return None
        return generator if await self._trusts.score(generator) >= BAR else None

    async def _quiet(self) -> None:
        while self._foreground.busy or self._prompts.busy:
            await self._foreground.free()
            await self._prompts.settled()

    async def _judge_all(self, session: Session, generator: Generator) -> None:
        for reply in (await asyncio.to_thread(self._memory.readings.unjudged, session.id))[-LATEST:]:
            events = await self._judged(session, reply, generator)
            await asyncio.to_thread(self._append, reply, events)
            self._tell(SessionsChanged(session.id))

    async def _judged(self, session: Session, reply: Turn, generator: Generator) -> list[Event]:
        """What one reply changed for each who heard it, and that it was looked at."""
        reflection = new_id()
        events: list[Event] = []
        errors = 0
        play = await asyncio.to_thread(play_of, self._memory.readings, session)
        for member in play.voices if play is not None else ():
            if play is None or member.id not in (reply.witnesses or ()):
                continue
            seen = await asyncio.to_thread(self._seen, session.id, member.id, reply)
            answer = await self._ask(generator, play, member, seen)
            if answer is None:
                errors += 1
                failed = {"reflection": reflection, "turns": (reply.id,), "step": "stage", "error": "NoAnswer"}
                events.append(ReflectionFailed.model_validate({**failed, "model": generator.info.name}))
                continue
            for change in changes_of(answer.model_dump(), member, others_of(play, member), numbered(seen)):
                line = {"owner": change.owner, "aspect": change.aspect, "text": change.text}
                place = {"world": session.world, "after": reply.id, "sources": change.sources, "by": "model"}
                events.append(StageSet.model_validate({**place, **line}))
        if play is not None and (plots := open_plots(play)):
            events += await self._judge_stage(session, play, plots, reply, generator)
        changed = sum(isinstance(event, StageSet) for event in events)
        name, score = generator.info.name, self._trusts.known(generator)
        return [
            *events,
            ReflectionDone(
                reflection=reflection,
                turns=(reply.id,),
                model=name,
                trust="model",
                probe=score,
                created=changed,
                errors=errors,
            ),
        ]

    async def _judge_stage(
        self, session: Session, play: Play, plots: list[Plot], reply: Turn, generator: Generator
    ) -> list[Event]:
        """What becomes of the plots, and how much the exchange matters, by what all who are there saw of it.

        An answer that is of no use changes nothing.
        """
        there = {each.id for each in play.voices}
        seen = await asyncio.to_thread(self._seen, session.id, play.voices[0].id, reply) if there else []
        lines = numbered([turn for turn in seen if there <= set(turn.witnesses or ())])
        if not lines:
            return []
        prompt = await asyncio.to_thread(asked_of_stage, generator, plots, lines)
        answer = await self._answer(generator, prompt, stage_schema(plots))
        if answer is None:
            return []
        told = answer.model_dump()
        place = {"world": session.world, "after": reply.id, "by": "model"}
        events: list[Event] = [
            StageSet.model_validate(
                {**place, "owner": each.owner, "aspect": each.aspect, "text": each.text, "sources": each.sources}
            )
            for each in plots_moved(told, plots, lines)
        ]
        rated = dict.fromkeys(line.turn for line in lines)
        judged = await asyncio.to_thread(self._memory.readings.judged, list(rated))
        fresh = (turn for turn in rated if turn not in judged)
        return [*events, *(TurnRated(turn=turn, significance=told["significance"], by="model") for turn in fresh)]

    def _seen(self, session: str, member: str, reply: Turn) -> list[Turn]:
        """What a member saw of the exchange that a reply ends."""
        path = self._memory.readings.thread(session, witness=member)
        upto = next((at for at, turn in enumerate(path) if turn.id == reply.id), len(path) - 1)
        there = [turn for turn in path[: upto + 1] if turn.text is not None and not turn.hidden and turn.role != "note"]
        asked = max((at for at, turn in enumerate(there) if turn.role == "user"), default=len(there) - 1)
        return there[max(asked, 0) :]

    async def _ask(self, generator: Generator, play: Play, member: Member, seen: list[Turn]) -> BaseModel | None:
        """An answer that fits its schema, None where there is none in time; asked twice."""
        others, lines = others_of(play, member), numbered(seen)
        if not lines:
            return None
        prompt = await asyncio.to_thread(asked, generator, member, others, lines)
        return await self._answer(generator, prompt, schema_of(others, lines))

    async def _answer(self, generator: Generator, prompt: list[int], schema: type[BaseModel]) -> BaseModel | None:
        """An answer that fits a schema, asked for twice; None where there is none in time."""
        for _ in range(2):
            try:
                call = generator.structured(prompt, schema, max_tokens=MOST_TOKENS)
                return await within(self._own_time_s, call, self._foreground)
            except EngineClosed:
                raise
            except (RunError, TimeoutError):
                continue
        return None

    def _append(self, reply: Turn, events: list[Event]) -> None:
        """All of it, unless the reply was taken away meanwhile."""
        now = self._memory.readings.turn(reply.id)
        if not now.hidden and not now.deleted:
            self._memory.append(*events)
