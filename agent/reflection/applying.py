"""What a model proposed becomes events, as far as people's own words bear it out.

Nothing is taken on trust: a sentence has to be grounded in the turns it names; what is known already gains a proof and
no twin; a change acts by itself only on what the turns speak of, is never older than what it changes, and keeps the way
there; a deletion only where the user's own words correct the same subject. All else waits for a review, or is nothing.
"""

import re
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from agent.quoting import neutral
from agent.reflection.likeness import says_again
from graph.beliefs import Near, Observation
from graph.events import ObservationKind
from graph.values import Turn

from .bearing import babble, borne_out
from .consolidation import Action, Create, Delete, Update
from .correcting import corrects
from .grounding import KINDRED, Grounding, ground
from .likeness import Embed, cosine, names_of, negated, says_the_same, shared
from .making import ACTIVE_ABOVE, Draft, speaks_of
from .sentences import sentences
from .statements import cue_of, slots_of
from .words import content, numbers, tokens

FindNear = Callable[[str], Awaitable[list[Near]]]
LONGEST = 30  # words
RELATED = 0.3  # share of the words, or
RELATED_MEANING = 0.5  # cosine from which two sentences may be about the same
CHANGED_MEANING = 0.3  # the same, where the person says that something changed
FAR = 0.34  # below both, a sentence has nothing to do with its turns
NO_LONGER = "No longer so: "
JOURNEY = re.compile(r"\b(?:used to|no longer|formerly|previously|before:) |,? (?:any ?more|before)\b", re.IGNORECASE)


class Applier:
    """Turns the actions of one answer into events of a draft; `shown` are the observations of the prompt, in order."""

    def __init__(self, draft: Draft, shown: Sequence[Observation], *, near: FindNear, embed: Embed) -> None:
        self._draft = draft
        self._shown = shown
        self._near = near
        self._embed = embed

    async def apply(self, actions: Sequence[Action]) -> None:
        """Each action by itself, in order."""
        counts = self._draft.outcome
        for action in actions:
            turns = self._turns(action.sources)
            if not turns:
                counts.skipped += 1
                continue
            match action:
                case Create():
                    counts.created += (made := await self._create(action, action.category, turns))
                case Update():
                    counts.updated += (made := await self._update(action, turns))
                case Delete():
                    counts.deleted += (made := self._delete(action, turns))
            counts.skipped += not made

    def _turns(self, numbers: Sequence[int]) -> list[Turn]:
        said = self._draft.material.said
        return [said[number - 1] for number in dict.fromkeys(numbers) if 1 <= number <= len(said)]

    def _known(self, number: int) -> Observation | None:
        return self._shown[number - 1] if 1 <= number <= len(self._shown) else None

    async def _create(self, action: Create | Update, category: ObservationKind, turns: Sequence[Turn]) -> bool:
        text = sentence(action.text)
        meaning = await self._meaning(text, _words(turns))
        grounding = self._ground(text, _words(turns), meaning)
        if not text or babble(text) or invented(text, grounding) or far(grounding, meaning):
            return False
        sources = [turn.id for turn in turns]
        sure = borne_out(text, _words(turns), cosine=meaning)
        how: dict[str, Any] = {"confidence": action.confidence, "grounded": grounding.grounded, "sure": sure}
        for near in await self._near(text):
            known = near.observation
            if not self._same_people(known, turns):
                continue
            if says_the_same(text, known.text or "", near.cosine or None):
                if self._draft.stands_beside(known, sources, **how):
                    continue
                return grounding.grounded and self._draft.support(known, sources)
            if slots_of(text) & slots_of(known.text or ""):
                return self._revise(known, text, action.confidence, turns, grounding)
        return self._draft.make(text, category=category, sources=sources, **how)

    async def _update(self, action: Update, turns: Sequence[Turn]) -> bool:
        old, text = self._known(action.memory), sentence(action.text)
        if old is None or not old.text or not text:
            return False
        meaning = await self._meaning(text, [old.text])
        words = _words(turns)
        corrected = any(corrects(each, old.text) for each in words)
        changed = corrected or any(map(marks_change, words))
        if not self._same_people(old, turns) or not (corrected or related(text, old.text, meaning, changed=changed)):
            return await self._create(action, old.kind, turns)
        if says_the_same(text, old.text, meaning):
            if old.status == "candidate" and await self._create(action, old.kind, turns):
                return True
            heard = ground(old.text, words, cosine=await self._meaning(old.text, words), known=self._speakers())
            again = heard.grounded or any(says_again(each, old.text) for each in words)
            return again and self._draft.support(old, [turn.id for turn in turns])
        grounding = self._ground(text, [*words, old.text], meaning)
        if not grounding.grounded:  # that it was otherwise before is no denial
            grounding = self._ground(JOURNEY.sub("", text), [*words, old.text], meaning)
        if babble(text) or invented(text, grounding) or not told_now(text, old.text, words):
            return False
        alone = self._ground(JOURNEY.sub("", text), words, await self._meaning(text, words))
        told = alone.grounded and (changed or bool(names_of(text) & names_of(old.text)))
        told = told or (changed and fresh_of(text, old.text) <= {*content(" ".join(words)), *numbers(" ".join(words))})
        if alone.grounded and not self._acts(old, text, turns, told=told) and borne_out(text, words):
            return self._make(text, old.kind, action.confidence, turns)  # true whatever becomes of the old one
        return self._revise(old, text, action.confidence, turns, grounding, told=told)

    def _revise(
        self,
        old: Observation,
        text: str,
        confidence: float,
        turns: Sequence[Turn],
        grounding: Grounding,
        *,
        told: bool = False,
    ) -> bool:
        """A new revision of `old`, under review where the turns do not show (`told`) that it is otherwise now."""
        if not newer(turns, old):
            return False
        return self._draft.make(
            with_journey(text, old.text or ""),
            category=old.kind,
            confidence=confidence,
            sources=[turn.id for turn in turns],
            grounded=grounding.grounded,
            sure=self._acts(old, text, turns, told=told),
            supersedes=old,
        )

    def _acts(self, old: Observation, text: str, turns: Sequence[Turn], *, told: bool) -> bool:
        """Whether a revision needs no review: the turns show that it is otherwise now, and that it is as it says."""
        known = old.text or ""
        shown = told or bool(slots_of(text) & slots_of(known)) or keeps(text, known)
        shown = shown or any(corrects(turn.text or "", known) for turn in turns)
        return shown and any(borne_out(each, _words(turns), before=known) for each in (text, JOURNEY.sub("", text)))

    def _make(self, text: str, category: ObservationKind, confidence: float, turns: Sequence[Turn]) -> bool:
        sources = [turn.id for turn in turns]
        return self._draft.make(text, category=category, confidence=confidence, sources=sources)

    def _delete(self, action: Delete, turns: Sequence[Turn]) -> bool:
        old = self._known(action.memory)
        if old is None or not old.text or not self._same_people(old, turns) or not newer(turns, old):
            return False
        for turn in turns:
            if corrects(turn.text or "", old.text):
                return self._draft.retire(old, turn.id)
        subject = set(content(old.text))
        if len(subject & set(content(" ".join(_words(turns))))) * 2 < len(subject) or old.status == "candidate":
            return False
        return self._draft.make(
            NO_LONGER + old.text,
            category=old.kind,
            confidence=ACTIVE_ABOVE,
            sources=[turn.id for turn in turns],
            grounded=False,
            sure=False,
            supersedes=old,
        )

    def _speakers(self) -> list[str]:
        return [*self._draft.material.speakers, "user"]

    def _ground(self, text: str, words: Sequence[str], meaning: float | None) -> Grounding:
        return ground(text, words, cosine=meaning, known=self._speakers())

    def _same_people(self, known: Observation, turns: Sequence[Turn]) -> bool:
        return any(speaks_of(known, turn.speaker) for turn in turns)

    async def _meaning(self, text: str, others: Sequence[str]) -> float | None:
        """The best cosine of a sentence with some texts; None without an embedder."""
        if not text or not others:
            return None
        first, *rest = await self._embed([text, *others])
        found = [value for value in (cosine(first, other) for other in rest) if value is not None]
        return max(found, default=None)


def _words(turns: Sequence[Turn]) -> list[str]:
    return [turn.text or "" for turn in turns]


def sentence(text: str) -> str:
    """The text as one line; empty where it says nothing, or is no sentence but a page."""
    line = neutral(text).strip(" -*•")
    return line if 0 < len(line.split()) <= LONGEST and any(char.isalpha() for char in line) else ""


def invented(text: str, grounding: Grounding) -> bool:
    """Whether the sentence has names, numbers or relatives that nobody spoke of, or says the opposite of what was
    said."""
    lacking = {part for word in grounding.lacking for part in tokens(word)}
    facts = names_of(text) | KINDRED | {"not"}
    return any(word.isdigit() for word in lacking) or not facts.isdisjoint(lacking)


def far(grounding: Grounding, meaning: float | None) -> bool:
    """Whether a sentence has nothing to do with its turns, so that it is no use to a reviewer either."""
    return not grounding.grounded and grounding.overlap < FAR and (meaning or 0.0) < RELATED_MEANING


def related(text: str, known: str, meaning: float | None, *, changed: bool = False) -> bool:
    """Whether two sentences may be about the same; where the person says that something is otherwise now, with less."""
    if slots_of(text) & slots_of(known):
        return True
    near = CHANGED_MEANING if changed else RELATED_MEANING
    return shared(text, known) >= RELATED or (meaning is not None and meaning >= near)


def fresh_of(text: str, known: str) -> set[str]:
    """The content words and numbers that a revision has and the one before it has not."""
    return (set(content(text)) - set(content(known))) | (numbers(text) - numbers(known))


def told_now(text: str, known: str, words: Sequence[str]) -> bool:
    """Whether what is new in a revision is in the new words: else it is only said otherwise, and nothing happened."""
    fresh = fresh_of(text, known)
    said = " ".join(words)
    there = set(content(said)) | numbers(said)
    if not fresh:
        return any(corrects(each, known) for each in words)
    return len(fresh & there) * 2 >= len(fresh)


def marks_change(words: str) -> bool:
    """Whether some sentence of a message says of itself that something is otherwise now, or was wrong."""
    return any(cue_of(each.text) != "new" for each in sentences(words) if each.own)


def keeps(text: str, known: str) -> bool:
    """Whether a revision says all that the one before it claims, and maybe more."""
    return (
        numbers(known) <= numbers(text)
        and negated(known) == negated(text)
        and set(content(known)) - {"user"} <= set(content(text))
    )


def with_journey(text: str, known: str) -> str:
    """A revision with what was before, where it leaves that out and there is room."""
    if names_of(known) <= set(tokens(text)) and numbers(known) <= numbers(text) and negated(known) == negated(text):
        return text
    whole = f"{text.rstrip('.')}; before: {known}"
    return whole if len(whole.split()) <= LONGEST else text


def newer(turns: Sequence[Turn], known: Observation) -> bool:
    """Whether some turn was said no earlier than anything that speaks for an observation."""
    return not known.times or max(turn.at for turn in turns) >= known.times[-1]
