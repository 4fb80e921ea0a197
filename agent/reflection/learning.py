"""The observations of an exchange: proposed by a model that is trusted, else people's own sentences, word for word.

Sparse and true rather than rich and false. A later sentence of the same kind, where there is one value at a time,
revises the earlier one; what a person takes back is retired; what is said again counts as proof.
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from typing import Any, Literal

from agent.background import Foreground
from agent.reflection.applying import Applier, newer, question
from agent.reflection.consolidation import (
    MOST_SHOWN,
    MOST_TOKENS,
    Action,
    Actions,
    Listed,
    NumberedLine,
    refuses,
    usable,
    within,
)
from agent.reflection.consolidation import question as asked_of
from agent.reflection.frames import spoken_in_a_frame
from agent.reflection.heads import CHANGED, IN_QUESTION, changes
from agent.reflection.likeness import Embed, cosine, of_the_same, says_again
from agent.reflection.making import Draft, Review, speaks_of
from agent.reflection.material import YOU, Material, Trust, before, taught_by
from agent.reflection.statements import Statement, told
from agent.reflection.trust import Trusts, trusted
from graph.events import ObservationRetired
from graph.memory import Memory
from graph.relations import kinds
from graph.values import NearObservation, Observation, Turn
from models.errors import EngineClosed, RunError, StructuredOutputError
from models.protocols import Generator

LONGEST_ASKED = 2000  # characters of a turn by which what is known is looked for
CONFIDENCE = 0.8
FindNear = Callable[[str], Awaitable[list[NearObservation]]]


async def keep_statements(draft: Draft, near: FindNear, embed: Embed, foreign: Collection[str] = ()) -> None:
    """What the draft's turns tell that lasts becomes events; of turns that are `foreign`, spoken as somebody else,
    nothing is.

    What says again what is known is a proof of it. What ends it is a revision, where words of change and nearness agree
    that it does; where they hardly do, what is known is in question, and waits for a review beside the new statement.
    """
    for turn in draft.material.said:
        if turn.id in foreign:
            draft.significance[turn.id] = 0
            continue
        found = await told(turn.text or "", embed)
        draft.significance[turn.id] = found.significance
        for statement in found.statements:
            await _keep(draft, turn, statement, near, embed)


async def _keep(draft: Draft, turn: Turn, statement: Statement, near: FindNear, embed: Embed) -> None:
    text = statement.text if turn.speaker == YOU else f"{turn.speaker}: {statement.text}"
    known = [each for each in await near(text) if speaks_of(each.observation, turn.speaker)]
    vectors = await embed([each.observation.text or "" for each in known])
    told_before = [(each.observation.text or "", vector) for each, vector in zip(known, vectors, strict=True)]
    changed = changes(statement.text, statement.vector, told_before)
    beside: set[str] = set()  # what waits for review with the same words
    for each, change in zip(known, changed, strict=True):
        if change < IN_QUESTION and says_again(text, each.observation.text or "", each.cosine or None):
            if draft.stands_beside(each.observation, [turn.id], confidence=CONFIDENCE):
                beside.add(each.observation.id)
                draft.support(each.observation, [turn.id])
                continue
            draft.outcome.skipped += not draft.support(each.observation, [turn.id])
            return
    old, sure = _changed(draft, turn, statement, known, changed, beside)
    revised = old if sure >= CHANGED else None
    made = draft.make(text, category=statement.category, confidence=CONFIDENCE, sources=[turn.id], supersedes=revised)
    draft.outcome.created += made and revised is None
    draft.outcome.updated += made and revised is not None
    draft.outcome.skipped += not made
    if made and old is not None and revised is None:
        question(draft, old, [turn])


def _changed(
    draft: Draft,
    turn: Turn,
    statement: Statement,
    known: Sequence[NearObservation],
    changed: Sequence[float],
    beside: Collection[str],
) -> tuple[Observation | None, float]:
    """What a statement changes most likely, and how likely; None where it is likely of nothing."""
    likely = [
        (sure, each.observation)
        for each, sure in zip(known, changed, strict=True)
        if sure >= IN_QUESTION
        and of_the_same(statement.text, each.observation.text or "", each.observation.about)
        and each.observation.id not in beside
        and not draft.touched(each.observation)
        and newer([turn], each.observation)
    ]
    sure, old = max(likely, key=lambda each: each[0], default=(0.0, None))
    return old, sure


OWN_TIME_S = 60.0  # of thinking about one exchange, once
NEAREST = 15
REFUSED = "Refused"


async def no_model() -> Generator | None:
    """There is none."""
    return None


class Learning:
    """Learns from one exchange at a time; appends nothing."""

    def __init__(
        self,
        memory: Memory,
        trusts: Trusts,
        embed: Embed,
        foreground: Foreground,
        *,
        fallback: Callable[[], Awaitable[Generator | None]] = no_model,
        own_time_s: float = OWN_TIME_S,
    ) -> None:
        self._memory = memory
        self._trusts = trusts
        self.embed = embed
        self._foreground = foreground
        self._fallback = fallback  # what is asked where the model refuses
        self._own_time_s = own_time_s

    async def observe(
        self, material: Material, generator: Generator | None, entities: Mapping[str, str], *, review: Review
    ) -> Draft:
        """What the exchange teaches. Raises EngineClosed where the model went away meanwhile, or a GraphFailure."""
        score = await self.score(generator) if material.said else None
        origin: Trust = "model" if generator is not None and score is not None and trusted(score) else "verbatim"
        taught = await asyncio.to_thread(taught_by, self._memory, material)
        draft = Draft(material, entities, review=review, origin=origin, taught=taught)
        draft.outcome.trust, draft.outcome.probe = origin, score
        draft.outcome.model = generator.info.name if generator is not None else None
        earlier = await asyncio.to_thread(before, self._memory, material)
        foreign = draft.foreign = spoken_in_a_frame([*earlier, *material.said])
        if origin == "model" and generator is not None:
            await self._consolidate(draft, generator, earlier, foreign)
        else:
            await keep_statements(draft, lambda text: self._near(text, material), self.embed, foreign)
        await asyncio.to_thread(self._retire_earlier, draft)
        return draft

    def trust(self, generator: Generator | None) -> Literal["model", "verbatim", "unknown"]:
        """What a model is known to be fit for."""
        if generator is None:
            return "verbatim"
        score = self._trusts.known(generator)
        return "unknown" if score is None else "model" if trusted(score) else "verbatim"

    async def asks_no_model(self, generator: Generator) -> bool:
        """Whether a model is asked for nothing: it failed the probe, or is too small to be worth one here.

        People's own sentences are then kept, word for word, which no model can harm.
        """
        return await asyncio.to_thread(self._trusts.doubts, generator)

    async def score(self, generator: Generator | None) -> float | None:
        """What the model makes of the probe; None without one, or where it could not be asked."""
        if generator is None:
            return None
        try:
            return await self._trusts.score(generator)
        except EngineClosed:
            raise
        except RunError:
            return None

    async def _consolidate(
        self, draft: Draft, generator: Generator, earlier: Sequence[Turn], foreign: Collection[str]
    ) -> None:
        material = draft.material
        asked = " ".join(turn.text or "" for turn in material.said)[:LONGEST_ASKED]
        known = [near.observation for near in await self._near(asked, material)]
        shown = [each for each in known if each.status == "active"][
            :MOST_SHOWN
        ]  # what waits for review is no knowledge
        actions = await self._ask(draft, generator, shown)
        applier = Applier(
            draft,
            shown,
            near=lambda text: self._near(text, material),
            embed=self.embed,
            foreign=foreign,
            earlier=[turn.text or "" for turn in earlier if turn.id not in foreign],
        )
        await applier.apply(actions)

    async def _ask(self, draft: Draft, generator: Generator, shown: list[Observation]) -> list[Action]:
        """The model's actions; after a refusal those of the fallback, after another failure one stricter question."""
        for stricter in (False, True):
            actions = await self._asked(draft, generator, shown, stricter=stricter)
            if actions is not None:
                return actions
            if draft.outcome.failure == REFUSED and (other := await self._other(generator)) is not None:
                draft.outcome.model, draft.outcome.probe = other.info.name, await self.score(other)
                return await self._asked(draft, other, shown) or []
        return []

    async def _asked(
        self, draft: Draft, generator: Generator, shown: list[Observation], *, stricter: bool = False
    ) -> list[Action] | None:
        """What a model answers, None where it is no use; `failure` says why."""
        known = [
            Listed(each.text or "", each.proof_count, each.confidence, in_use=each.status == "active") for each in shown
        ]
        counts = draft.outcome
        try:
            prompt = await asyncio.to_thread(fitting, generator, draft.material, known, stricter=stricter)
            call = generator.structured(prompt, Actions, max_tokens=MOST_TOKENS)
            answer: object = await within(self._own_time_s, call, self._foreground)
            counts.failure = None
        except EngineClosed:
            raise
        except (RunError, TimeoutError) as error:
            counts.failure = type(error).__name__
            answer = error.text if isinstance(error, StructuredOutputError) else None
        if refuses(answer):
            counts.failure = REFUSED
            counts.errors += 1
            return None
        actions, left_out = usable(answer)
        counts.errors += left_out + (counts.failure is not None)
        if actions or (counts.failure is None and not left_out):
            counts.failure = None
            return actions
        counts.failure = counts.failure or "UnusableActions"
        return None

    async def _other(self, generator: Generator) -> Generator | None:
        """The fallback, if there is one that is trusted and is not the model that refused."""
        other = await self._fallback()
        if other is None or other.state_key == generator.state_key:
            return None
        score = await self.score(other)
        return other if score is not None and trusted(score) else None

    def _retire_earlier(self, draft: Draft) -> None:
        """What a contradicted memory had taken the place of does not come back: that was outdated before."""
        for retired in [each for each in draft.outcome.events if isinstance(each, ObservationRetired)]:
            if retired.by_turn is not None:
                story = self._memory.readings.memory(retired.observation, world=draft.material.world)
                for each in story.revisions:
                    if each.live and each.status == "superseded" and each.at < story.observation.at:
                        draft.retire(each, retired.by_turn)

    async def _near(self, text: str, material: Material) -> list[NearObservation]:
        """The nearest observations, those nearest in meaning also where they have no vector of their own yet."""
        (vector,) = await self.embed([text])
        found = await asyncio.to_thread(
            self._memory.near,
            text,
            vector=vector,
            world=material.world,
            project=material.project,
            limit=NEAREST,
            under_review=True,
        )
        found = [near for near in found if not (near.observation.plain or _is_of_another(near.observation, text))]
        new = [near for near in found if not near.cosine and near.observation.text]
        if vector is None or not new:
            return found
        vectors = await self.embed([near.observation.text or "" for near in new])
        cosines = {near.observation.id: cosine(vector, each) or 0.0 for near, each in zip(new, vectors, strict=True)}
        return [
            NearObservation(near.observation, cosines.get(near.observation.id, near.cosine), near.words)
            for near in found
        ]


def _is_of_another(known: Observation, text: str) -> bool:
    """Whether it says of somebody what can be said of several, and a text names another one."""
    told = known.relationship
    if told is None or kinds()[told.kind].single:
        return False
    return not any(end.name != YOU and end.name.casefold() in text.casefold() for end in (told.subject, told.object))


def fitting(generator: Generator, material: Material, known: list[Listed], **how: Any) -> list[int]:
    """The question, its messages cut where the model's context is small."""
    room = generator.info.context - MOST_TOKENS
    lines = lines_of(material)
    prompt: list[int] = []
    for longest in (None, 400, 100):
        cut = [NumberedLine(line.speaker, line.text[:longest], line.evidence) for line in lines]
        prompt = asked_of(generator, cut, known, **how)
        if len(prompt) < room:
            break
    return prompt


def lines_of(material: Material) -> list[NumberedLine]:
    """The exchange as it is shown: people's words, then the replies."""
    said = [NumberedLine(turn.speaker, turn.text or "") for turn in material.said]
    return said + [NumberedLine(turn.speaker, turn.text or "", evidence=False) for turn in material.replies]
