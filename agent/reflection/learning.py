"""The observations of an exchange: proposed by a model that is trusted, else people's own sentences, word for word."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Literal

from agent.background import Foreground
from agent.reflection.asking import refuses
from graph.beliefs import Near, Observation
from models.errors import EngineClosed, RunError, StructuredOutputError
from models.protocols import Generator

from .applying import Applier
from .asking import within
from .consolidation import MOST_SHOWN, MOST_TOKENS, Action, Actions, Listed, NumberedLine, question, usable
from .extractor import keep_statements
from .likeness import Embed, cosine
from .making import Draft, Review
from .material import Material, Store, Trust, taught_by
from .trust import Trusts, trusted

OWN_TIME_S = 60.0  # of thinking about one exchange, once
NEAREST = 15
LONGEST_ASKED = 2000  # characters by which near observations are looked for
REFUSED = "Refused"


async def no_model() -> Generator | None:
    """There is none."""
    return None


class Learning:
    """Learns from one exchange at a time; appends nothing."""

    def __init__(
        self,
        store: Store,
        trusts: Trusts,
        embed: Embed,
        foreground: Foreground,
        *,
        fallback: Callable[[], Awaitable[Generator | None]] = no_model,
        own_time_s: float = OWN_TIME_S,
    ) -> None:
        self._store = store
        self._trusts = trusts
        self._embed = embed
        self._foreground = foreground
        self._fallback = fallback  # what is asked where the model refuses
        self._own_time_s = own_time_s

    async def observe(
        self, material: Material, generator: Generator | None, entities: Mapping[str, str], *, review: Review
    ) -> Draft:
        """What the exchange teaches. Raises EngineClosed where the model went away meanwhile, or a GraphFailure."""
        score = await self.score(generator) if material.said else None
        origin: Trust = "model" if generator is not None and score is not None and trusted(score) else "verbatim"
        taught = await asyncio.to_thread(taught_by, self._store, material)
        draft = Draft(material, entities, review=review, origin=origin, taught=taught)
        draft.outcome.trust, draft.outcome.probe = origin, score
        draft.outcome.model = generator.info.name if generator is not None else None
        if origin == "model" and generator is not None:
            await self._consolidate(draft, generator)
        else:
            await keep_statements(draft, lambda text: self._near(text, material))
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

    async def _consolidate(self, draft: Draft, generator: Generator) -> None:
        material = draft.material
        asked = " ".join(turn.text or "" for turn in material.said)[:LONGEST_ASKED]
        shown = [near.observation for near in (await self._near(asked, material))[:MOST_SHOWN]]
        actions = await self._ask(draft, generator, shown)
        applier = Applier(draft, shown, near=lambda text: self._near(text, material), embed=self._embed)
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
        prompt = await asyncio.to_thread(fitting, generator, draft.material, known, stricter=stricter)
        try:
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

    async def _near(self, text: str, material: Material) -> list[Near]:
        """The nearest observations, those nearest in meaning also where they have no vector of their own yet."""
        (vector,) = await self._embed([text])
        found = await asyncio.to_thread(
            self._store.near, text, vector=vector, world=material.world, project=material.project, limit=NEAREST
        )
        new = [near for near in found if not near.cosine and near.observation.text]
        if vector is None or not new:
            return found
        vectors = await self._embed([near.observation.text or "" for near in new])
        cosines = {near.observation.id: cosine(vector, each) or 0.0 for near, each in zip(new, vectors, strict=True)}
        return [Near(near.observation, cosines.get(near.observation.id, near.cosine), near.words) for near in found]


def fitting(generator: Generator, material: Material, known: list[Listed], **how: Any) -> list[int]:
    """The question, its messages cut where the model's context is small."""
    room = generator.info.context - MOST_TOKENS
    lines = lines_of(material)
    prompt: list[int] = []
    for longest in (None, 400, 100):
        cut = [NumberedLine(line.speaker, line.text[:longest], line.evidence) for line in lines]
        prompt = question(generator, cut, known, **how)
        if len(prompt) < room:
            break
    return prompt


def lines_of(material: Material) -> list[NumberedLine]:
    """The exchange as it is shown: people's words, then the replies."""
    said = [NumberedLine(turn.speaker, turn.text or "") for turn in material.said]
    return said + [NumberedLine(turn.speaker, turn.text or "", evidence=False) for turn in material.replies]
