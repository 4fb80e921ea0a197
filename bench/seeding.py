"""What a good model would have left in the memory, as events: what the hostile one is let loose on."""

from collections.abc import Sequence

from graph.events import Event, ObservationKind, ObservationMade, ObservationRetired, ObservationSupported
from graph.ids import new_id

from .expected import Conversation, Known

CONFIDENCE = 0.9


class Seeds:
    """The observations of one conversation, made as its exchanges are said; `ids` are those of its turns."""

    def __init__(self, conversation: Conversation, ids: Sequence[str]) -> None:
        self._conversation, self._ids = conversation, ids
        self._follows = conversation.followed()
        self._made: dict[int, ObservationMade] = {}

    @property
    def active(self) -> frozenset[int]:
        """The places in `known` of what should be in use, and was made."""
        return frozenset(place for place in self._made if self._conversation.known[place].active)

    def after(self, exchange: range) -> list[Event]:
        """What the turns of an exchange add: observations, revisions, support and retirements."""
        events: list[Event] = []
        for place, item in enumerate(self._conversation.known):
            said = [self._ids[source] for source in item.sources if source in exchange]
            if said and place not in self._made:
                self._made[place] = self._make(place, item, said[0])
                events.append(self._made[place])
                said = said[1:]
            events += [ObservationSupported(observation=self._made[place].observation, source=turn) for turn in said]
            if item.status[0] == "invalid" and place in self._made:
                taken = self._conversation.taken_back(place)
                if taken in exchange:
                    id = self._made[place].observation
                    events.append(ObservationRetired(observation=id, by_turn=self._ids[taken]))
        return events

    def _make(self, place: int, item: Known, turn: str) -> ObservationMade:
        before = self._made.get(self._follows[place]) if place in self._follows else None
        id = new_id()
        return ObservationMade(
            observation=id,
            series=before.series if before else id,
            supersedes=before.observation if before else None,
            category=ObservationKind.FACT,
            status="candidate" if item.status[0] == "candidate" else "active",
            confidence=CONFIDENCE,
            grounded=True,
            origin="model",
            sources=(*(before.sources if before else ()), turn),
            text=self._conversation.sentence(item),
        )
