"""The observations of an exchange: proposed by a model that is trusted, else people's own sentences, word for word.

Sparse and true rather than rich and false. A later sentence of the same kind, where there is one value at a time,
revises the earlier one; what a person takes back is retired; what is said again counts as proof.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Any, Literal

from agent.background import Foreground
from agent.language.words import content, numbers, tokens
from agent.reflection.applying import Applier, marks_change, newer
from agent.reflection.consolidation import (
    MOST_SHOWN,
    MOST_TOKENS,
    Action,
    Actions,
    Listed,
    NumberedLine,
    question,
    refuses,
    usable,
    within,
)
from agent.reflection.correcting import corrects
from agent.reflection.likeness import Embed, cosine, holds, names_of, says_again, says_the_same
from agent.reflection.making import Draft, Review, speaks_of
from agent.reflection.material import YOU, Material, Trust, taught_by
from agent.reflection.statements import Statement, cue_of, denial, slots_of, statements
from agent.reflection.trust import Trusts, trusted
from graph.events import ObservationRetired
from graph.memory import Memory
from graph.relations import kinds
from graph.values import NearObservation, Observation, Turn
from models.errors import EngineClosed, RunError, StructuredOutputError
from models.protocols import Generator

CONFIDENCE = 0.8
SHORT = 4  # telling words
LONGEST_ASKED = 2000  # characters of a turn by which what is known is looked for
GOES_ON = re.compile(
    r"\s*(?:[,;:–—]|\s-)?\s+(?:so|but|because|cuz|coz|since (?=i\b|my\b|we\b)|although|though|which"
    r"|and (?=i\b|i['’]|my\b|we\b|it\b|that\b))\b"
    r"|\s*(?:[;–—]|\s-\s|,\s(?=i\b|i['’]|my\b|we\b|can\b|what\b|how\b|any\b|is\b|do\b|should\b|could\b))",
    re.IGNORECASE,
)
IMAGINED = re.compile(
    r"\b(?:for (?:a|my|the|our) (?:\w+ ){0,2}(?:story|novel|poem|song|scene|sketch|play|script|game|campaign|character)"
    r"|write (?:me )?(?:a|an|the) (?:\w+ ){0,2}(?:story|poem|song|scene|sketch|paragraph|monologue|dialogue|limerick)"
    r"|(?:in|from) (?:the )?first person|role-?play|pretend|monologue|fan ?fiction)\b",
    re.IGNORECASE,
)
IN_EARNEST = re.compile(
    r"\b(?:(?:no,? )?seriously(?: though| now)?|jok(?:es|ing) aside|kidding aside|for real)\b", re.I
)
ONWARDS = re.compile(r"^[\s,;:–—(-]*(?:(?:so|but|because|cuz|coz|since|although|though|and)\b\s*)?", re.IGNORECASE)
FindNear = Callable[[str], Awaitable[list[NearObservation]]]


async def keep_statements(draft: Draft, near: FindNear) -> None:
    """Every sentence of the draft's turns in which someone describes themselves becomes events.

    What is known and said again within other words gains a proof; what they take back without more is retired.
    """
    for turn in draft.material.said:
        for statement in latest(_told(turn)):
            for each in apart(statement):
                await _keep(draft, turn, each, near)
        for known_near in await near((turn.text or "")[:LONGEST_ASKED]):
            known = known_near.observation
            revised = any(made.supersedes == known.id for made in draft.made)
            if not speaks_of(known, turn.speaker) or revised or not known.text:
                continue
            again = says_again(turn.text or "", known.text.removeprefix(f"{turn.speaker}: "))
            if again and not marks_change(turn.text or ""):  # whatever else is denied beside it
                if not draft.touched(known):
                    draft.support(known, [turn.id])
            elif newer([turn], known) and corrects(turn.text or "", known.text):
                draft.outcome.deleted += draft.retire(known, turn.id)


def latest(found: list[Statement]) -> list[Statement]:
    """Of sentences of one turn about the same slot, only the last one where it changes the others."""
    return [
        each
        for at, each in enumerate(found)
        if each.slot is None or not any(later.slot == each.slot and later.cue != "new" for later in found[at + 1 :])
    ]


def _told(turn: Turn) -> list[Statement]:
    """What a person tells of themselves in a turn: nothing where they ask for fiction, or before "seriously though"."""
    text = turn.text or ""
    if IMAGINED.search(text):
        return []
    joke = max((match.start() for match in IN_EARNEST.finditer(text)), default=0)
    return statements(text[joke:], turn=turn.id)


def apart(statement: Statement) -> list[Statement]:
    """What a sentence tells, each for itself, and without what it goes on to: a repeat of either is then known.

    "My name is Wilma and I live in Delft" is two, so that who moves keeps the name.
    """
    told: list[Statement] = []
    start = 0
    for end in [*(match.start() for match in GOES_ON.finditer(statement.text)), len(statement.text)]:
        found = statements(ONWARDS.sub("", statement.text[start:end]).rstrip(" .") + ".", turn=statement.turn)
        if len(found) == 1 and (found[0].negated == statement.negated or told):
            told += found
            start = end
    if len({each.negated for each in told}) > 1 or statement.cue == "correction":
        return [statement]  # what is not, and what is instead, say together what was wrong
    whole = [each for each in told if (each.slot, each.category) == (statement.slot, statement.category)]
    return [replace(each, cue=statement.cue) for each in told] if whole else [statement]


async def _keep(draft: Draft, turn: Turn, statement: Statement, near: FindNear) -> None:
    text = statement.text if turn.speaker == YOU else f"{turn.speaker}: {statement.text}"
    known = [each for each in await near(text) if speaks_of(each.observation, turn.speaker)]
    beside: set[str] = set()  # what waits for review with the same words
    for each in known:
        told = each.observation.text or ""
        if says_the_same(text, told, each.cosine or None) or _only_again(turn, statement, told):
            if draft.stands_beside(each.observation, [turn.id], confidence=CONFIDENCE):
                beside.add(each.observation.id)
                continue
            draft.outcome.skipped += not draft.support(each.observation, [turn.id])
            return
    others = [each.observation for each in known if each.observation.id not in beside]
    old = _revised(statement, turn, [each for each in others if not draft.touched(each)])
    if old is not None and not newer([turn], old):
        draft.outcome.skipped += 1
        return
    if old is not None and statement.cue != "change" and denial(statement):
        draft.outcome.deleted += draft.retire(old, turn.id)
        return
    if old is not None and statement.cue == "correction":
        draft.outcome.deleted += draft.retire(old, turn.id)
    made = draft.make(text, category=statement.category, confidence=CONFIDENCE, sources=[turn.id], supersedes=old)
    draft.outcome.created += made and old is None
    draft.outcome.updated += made and old is not None
    draft.outcome.skipped += not made


def _only_again(turn: Turn, statement: Statement, known: str) -> bool:
    """Whether a sentence says what is known, and no name and no number beside it; or less."""
    own = known.removeprefix(f"{turn.speaker}: ")
    fresh = names_of(statement.text) - set(tokens(own)) or numbers(statement.text) - numbers(own)
    if fresh:
        return False
    if says_again(statement.text, own) and not marks_change(turn.text or ""):
        return True  # whatever else is denied beside it
    less = statement.slot is not None and statement.slot in slots_of(own) and holds(own, statement.text)
    return not corrects(turn.text or "", own) and (less or says_again(statement.text, own))


def _revised(statement: Statement, turn: Turn, known: list[Observation]) -> Observation | None:
    """What a statement revises: what has its slot, or what its words correct."""
    for each in known:
        if statement.slot is not None and statement.slot in slots_of(each.text or "") and not denial(statement):
            return each
    meant = next((each for each in known if corrects(turn.text or "", each.text or "")), None)
    if meant is None and statement.cue == "correction":  # "wait no, I work in Bern": what was told just so before
        meant = next((each for each in known if each.kind == statement.category and _likewise(statement, each)), None)
    return meant


def _likewise(statement: Statement, known: Observation) -> bool:
    """Whether a short observation is told in the words of a sentence, but for what is different."""
    words = set(content(known.text or ""))
    return 0 < len(words) <= SHORT and 2 * len(words & set(content(statement.text))) >= len(words)


OWN_TIME_S = 60.0  # of thinking about one exchange, once
NEAREST = 15
# characters by which near observations are looked for
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
        taught = await asyncio.to_thread(taught_by, self._memory, material)
        draft = Draft(material, entities, review=review, origin=origin, taught=taught)
        draft.outcome.trust, draft.outcome.probe = origin, score
        draft.outcome.model = generator.info.name if generator is not None else None
        if origin == "model" and generator is not None:
            await self._consolidate(draft, generator)
        else:
            await keep_statements(draft, lambda text: self._near(text, material))
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
        (vector,) = await self._embed([text])
        found = await asyncio.to_thread(
            self._memory.near, text, vector=vector, world=material.world, project=material.project, limit=NEAREST
        )
        found = [near for near in found if not (near.observation.plain or _is_of_another(near.observation, text))]
        new = [near for near in found if not near.cosine and near.observation.text]
        if vector is None or not new:
            return found
        vectors = await self._embed([near.observation.text or "" for near in new])
        cosines = {near.observation.id: cosine(vector, each) or 0.0 for near, each in zip(new, vectors, strict=True)}
        return [
            NearObservation(near.observation, cosines.get(near.observation.id, near.cosine), near.words)
            for near in found
        ]


def _is_of_another(known: Observation, text: str) -> bool:
    """Whether it says of somebody what can be said of several, and a text that corrects nothing names another one."""
    told = known.relationship
    if told is None or kinds()[told.kind].single or cue_of(text) != "new":
        return False
    return not any(end.name != YOU and end.name.casefold() in text.casefold() for end in (told.subject, told.object))


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
