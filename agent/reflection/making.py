"""Observations as events: which status they get, what they stand on, and what makes one unnecessary.

Everything that is learned goes through a `Draft`, which knows what the reflection has made so far, and what came of its
turns before: nothing is said twice, no turn supports what it was made from, and no revision leaves out a source of the
one before. So what was rejected comes again only with new proof. What is seen here but belongs elsewhere, since it is
seen everywhere, stays as it is: what is said in one project changes nothing outside.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from agent.language.words import tokens
from graph.events import ObservationKind, ObservationMade, ObservationRetired, ObservationSupported
from graph.ids import new_id
from graph.values import Observation

from .likeness import names_of, says_the_same
from .material import YOU, Material, Outcome, Taught

STORED_FROM = 0.5  # less sure is not kept
ACTIVE_ABOVE = 0.75  # up to here it waits for a review
SUPPORT = 0.05  # what a repetition adds to the confidence
Review = Literal["auto", "ask"]


class Draft:
    """The observations of one reflection, as they come."""

    def __init__(
        self,
        material: Material,
        entities: Mapping[str, str],
        *,
        review: Review,
        origin: Literal["model", "verbatim"],
        taught: Taught | None = None,
    ) -> None:
        self.material = material
        self.outcome = Outcome()
        self._entities = entities
        self._review = review
        self._origin = origin
        self._taught = taught or Taught()
        self._supported: set[tuple[str, str]] = set()
        self._retired: set[str] = set()
        self._superseded: set[str] = set()
        self._texts: set[str] = set()
        self.made: list[ObservationMade] = []
        self.significance: dict[str, int] = {}  # of its turns, as far as it was judged
        self.foreign: frozenset[str] = frozenset()  # those of its turns in which somebody else speaks

    def make(
        self,
        text: str,
        *,
        category: ObservationKind,
        confidence: float,
        sources: Sequence[str],
        grounded: bool = True,
        sure: bool = True,
        supersedes: Observation | None = None,
    ) -> bool:
        """A new observation, or a revision of one; under review unless all is well. False: there is nothing to keep."""
        folded = " ".join(tokens(text))
        if confidence < STORED_FROM or not sources or folded in self._texts or self._made_before(text, sources):
            return False
        retold = supersedes is not None and (self._origin == "model" or (supersedes.text or "") in text)
        before = supersedes.sources if supersedes is not None and retold else ()  # a change alone proves nothing of it
        if supersedes is not None and supersedes.project != self.material.project:
            supersedes = None
        if supersedes is not None and supersedes.series in self._superseded:
            return False  # one answer revises an observation once
        active = self._in_use(confidence, grounded=grounded, sure=sure)
        id = new_id()
        made = ObservationMade(
            observation=id,
            series=supersedes.series if supersedes is not None else id,
            supersedes=supersedes.id if supersedes is not None else None,
            instead_of=self.material.instead_of,
            world=self.material.world,
            project=self.material.project,
            tags=supersedes.tags if supersedes is not None else (),
            about=self._about(text, sources, supersedes),
            category=category,
            status="active" if active else "candidate",
            confidence=confidence,
            grounded=grounded,
            origin=self._origin,
            reflection=self.material.reflection,
            sources=tuple(dict.fromkeys((*sources, *before))),
            text=text,
        )
        self._texts.add(folded)
        if supersedes is not None:
            self._superseded.add(supersedes.series)
        self.made.append(made)
        self.outcome.events.append(made)
        return True

    def support(self, observation: Observation, sources: Iterable[str]) -> bool:
        """Turns say the same again. False where they do already, or are what it was made from."""
        if observation.project != self.material.project:
            return False
        told = self._told(observation)
        fresh = [source for source in sources if source not in told and (observation.id, source) not in self._supported]
        for source in fresh:
            self._supported.add((observation.id, source))
            self.outcome.events.append(
                ObservationSupported(
                    observation=observation.id,
                    source=source,
                    amount=SUPPORT,
                    reflection=self.material.reflection,
                )
            )
        return bool(fresh)

    def retire(self, observation: Observation, by_turn: str) -> bool:
        """A person's own words in a turn contradict it. False if that turn is what it was made from."""
        told = self._told(observation)
        if observation.id in self._retired or by_turn in told or observation.project != self.material.project:
            return False
        self._retired.add(observation.id)
        self.outcome.events.append(
            ObservationRetired(observation=observation.id, by_turn=by_turn, reflection=self.material.reflection)
        )
        return True

    def stands_beside(
        self,
        candidate: Observation,
        sources: Sequence[str],
        *,
        confidence: float,
        grounded: bool = True,
        sure: bool = True,
    ) -> bool:
        """Whether what says the same as a candidate is made beside it, as it needs no review and has new proof."""
        new = not set(sources) <= self._told(candidate)
        return candidate.status == "candidate" and new and self._in_use(confidence, grounded=grounded, sure=sure)

    def touched(self, observation: Observation) -> bool:
        """Whether this reflection has revised, retired or supported an observation."""
        supported = {id for id, _ in self._supported}
        return observation.series in self._superseded or observation.id in self._retired | supported

    def _in_use(self, confidence: float, *, grounded: bool, sure: bool) -> bool:
        """Whether something is in use without a review."""
        return sure and grounded and confidence > ACTIVE_ABOVE and self._review == "auto"

    def _told(self, observation: Observation) -> set[str]:
        """The turns of which an observation was made, that support it, or that did something to it before."""
        return {*observation.sources, *observation.supports, *self._taught.by(observation.id)}

    def _made_before(self, text: str, sources: Sequence[str]) -> bool:
        """Whether the same turns made the same before, whatever became of it."""
        return any(
            set(sources) <= self._taught.by(id) and says_the_same(text, each.text or "", None)
            for id, each in self._taught.live.items()
        )

    def _about(self, text: str, sources: Iterable[str], supersedes: Observation | None) -> tuple[str, ...]:
        """Entities: the speakers of its turns, and whoever it names."""
        wanted = set(sources)
        speakers = [turn.speaker for turn in self.material.said if turn.id in wanted]
        said = {*tokens(text), *names_of(text)}
        named = [id for name, id in self._entities.items() if set(tokens(name)) <= said]
        return tuple(dict.fromkeys((*speakers, *named)))


def speaks_of(observation: Observation, speaker: str) -> bool:
    """Whether an observation is about what this person says; one that names nobody is taken for the user's."""
    return speaker in observation.about or (not observation.about and speaker == YOU)
