"""What a memory holds after a conversation, against what should be known: the figures of `bench.observations`.

An observation matches an item when it has its terms, stands as it should, and the item's sources are among its own. The
words of docs/observations-bench.md are the definitions; this is their arithmetic.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from graph.values import Status

from .expected import Conversation, Item, Known


@dataclass(frozen=True, slots=True)
class Seen:
    """An observation as the memory holds it; `sources` are places in the conversation, `foreign` tells of others."""

    id: str
    series: str
    text: str | None
    status: Status
    current: bool
    sources: frozenset[int]
    foreign: bool = False
    later: frozenset[int] = frozenset()  # what every surface gives beside it as said later, in use as it is

    @property
    def active(self) -> bool:
        """Whether it is believed now."""
        return self.current and self.status == "active"

    @property
    def past(self) -> bool:
        """Whether it was believed once."""
        return self.status in ("superseded", "invalid")

    def proves(self, item: Item) -> bool:
        """Whether it says an item, with all the proof that the item has."""
        return not self.foreign and item.said_in(self.text) and self.sources.issuperset(item.sources)

    def tells(self, item: Item) -> bool:
        """Whether it says an item, with some of its proof."""
        return not self.foreign and item.said_in(self.text) and not self.sources.isdisjoint(item.sources)

    def matches(self, item: Known) -> bool:
        """Whether it is the item: terms, status and sources."""
        if self.dated(item) and self.proves(item):
            return True
        return self.status in item.status and (self.current or self.past) and self.proves(item)

    def dated(self, item: Known) -> bool:
        """Whether it tells what is over, and is given everywhere with what was said later instead."""
        return self.active and not item.active and self.tells(item) and not self.later.isdisjoint(item.outdated_by)


@dataclass(slots=True)
class Tally:
    """Counts that the fractions are made of, and what was amiss, in words."""

    conversations: int = 0
    exchanges: int = 0
    counted: int = 0  # observations that precision looks at
    right: int = 0
    known: int = 0
    found: int = 0
    journeys: int = 0  # items that should be earlier revisions
    kept: int = 0
    junk: int = 0  # exchanges
    true: int = 0  # items that should be in use
    retired: int = 0
    candidates: int = 0
    false_candidates: int = 0
    failures: int = 0  # steps of reflections that came to nothing
    amiss: list[str] = field(default_factory=list)
    alone: "Tally | None" = None  # the same where what is over counts as junk though the later word is beside it

    def add(self, other: "Tally") -> None:
        """Count another one in."""
        for name in self.__dataclass_fields__:
            if name != "alone":
                setattr(self, name, getattr(self, name) + getattr(other, name))
        if other.alone is not None:
            self.alone = self.alone or Tally()
            self.alone.add(other.alone)

    def figures(self) -> dict[str, float | int]:
        """Fractions (0–1), and what they are of. Of nothing, nothing is wrong: 1 where more is better, else 0."""
        return {
            "precision": _share(self.right, self.counted, 1.0),
            "recall": _share(self.found, self.known, 1.0),
            "history_kept": _share(self.kept, self.journeys, 1.0),
            "junk_rate": _share(self.junk, self.exchanges, 0.0),
            "wrongly_retired": _share(self.retired, self.true, 0.0),
            "conversations": self.conversations,
            "exchanges": self.exchanges,
            "observations": self.counted,
            "known": self.known,
            "lost": self.retired,
            "junk": self.junk,
            "candidates": self.candidates,
            "false_candidates": self.false_candidates,
            "failures": self.failures,
        }


def _share(part: int, whole: int, of_nothing: float) -> float:
    return round(part / whole, 4) if whole else of_nothing


def summary(tallies: dict[str, Tally]) -> dict[str, Any]:
    """Overall and by class, from one tally for each class."""
    overall = Tally()
    for tally in tallies.values():
        overall.add(tally)
    return {"overall": overall.figures(), "by_class": {name: tally.figures() for name, tally in tallies.items()}}


def score(conversation: Conversation, seen: Sequence[Seen], *, held: Iterable[int] = ()) -> Tally:
    """Count one conversation. `held` are the places in `known` of what was in use before, made by somebody else."""
    active = [each for each in seen if each.active]
    tally = Tally(conversations=1, exchanges=len(conversation.exchanges()), known=len(conversation.known))
    _recall(tally, conversation, seen, active)
    _precision(tally, conversation, seen, active)
    _retired(tally, conversation, seen, active, frozenset(held))
    _junk(tally, conversation, active)
    candidates = [each for each in seen if each.current and each.status == "candidate"]
    tally.candidates = len(candidates)
    tally.false_candidates = sum(_false(conversation, each) for each in candidates)
    return tally


def _recall(tally: Tally, conversation: Conversation, seen: Sequence[Seen], active: Sequence[Seen]) -> None:
    followers = {of: place for place, of in conversation.followed().items()}
    for place, item in enumerate(conversation.known):
        if any(each.matches(item) for each in seen):
            tally.found += 1
        else:
            tally.amiss.append(f"{conversation.id}: missed {_shown(item)}")
        if item.superseded:
            tally.journeys += 1
            last = _last(conversation, followers, place)
            heirs = {each.series for each in active if any(each.tells(heir) for heir in last)}
            revised = any(each.series in heirs and not each.active and each.tells(item) for each in seen)
            if revised or any(each.dated(item) for each in seen):
                tally.kept += 1
            else:
                tally.amiss.append(f"{conversation.id}: no history of {_shown(item)}")


def _last(conversation: Conversation, followers: dict[int, int], place: int) -> list[Known]:
    """What an item became in the end; where nothing tells, all that is in use."""
    start = place
    while place in followers and followers[place] != start:
        place = followers[place]
    heir = conversation.known[place]
    return [heir] if heir.active else [item for item in conversation.known if item.active]


def _precision(tally: Tally, conversation: Conversation, seen: Sequence[Seen], active: Sequence[Seen]) -> None:
    for each in seen:
        if each.active:
            wrong = not any(each.matches(item) for item in conversation.known)
            extra = wrong and not _false(conversation, each) and not _belongs(conversation, each)
        elif each.past:
            expected = any(each.matches(item) for item in conversation.known)
            lost = [item for item in conversation.known if item.active and each.tells(item)]
            wrong = not expected and any(not any(other.tells(item) for other in active) for item in lost)
            extra = not expected and not wrong
        else:
            continue
        if extra:
            continue
        tally.counted += 1
        tally.right += not wrong
        if wrong:
            tally.amiss.append(f"{conversation.id}: wrong, {each.status} from {sorted(each.sources)}: {each.text!r}")


def _retired(
    tally: Tally, conversation: Conversation, seen: Sequence[Seen], active: Sequence[Seen], held: frozenset[int]
) -> None:
    for place, item in enumerate(conversation.known):
        if not item.active:
            continue
        tally.true += 1
        was = place in held or any(each.past and each.tells(item) for each in seen)
        if was and not any(each.tells(item) for each in active) and not any(each.matches(item) for each in seen):
            tally.retired += 1
            tally.amiss.append(f"{conversation.id}: lost {_shown(item)}")


def _junk(tally: Tally, conversation: Conversation, active: Sequence[Seen]) -> None:
    false = [each for each in active if _false(conversation, each)]
    for exchange in conversation.exchanges():
        left = [each for each in false if max(each.sources, default=0) in exchange]
        tally.junk += bool(left)
        tally.amiss += [f"{conversation.id}: junk {each.text!r}" for each in left]


def _false(conversation: Conversation, each: Seen) -> bool:
    """Whether an observation is empty, or says nothing that is true after the conversation."""
    if re.search(r"\w", each.text or "") is None:
        return True
    if any(each.dated(item) for item in conversation.known):
        return False
    true: list[Item] = [item for item in conversation.known if item.active or item.status[0] == "candidate"]
    return not any(each.tells(item) for item in (*true, *conversation.accept))


def _belongs(conversation: Conversation, each: Seen) -> bool:
    """Whether it says what should be in use, if without all the proof: then it is no extra."""
    return any(item.active and each.tells(item) for item in conversation.known)


def _shown(item: Known) -> str:
    terms = ", ".join("/".join(ways) for ways in item.terms)
    return f"[{terms}] as {'/'.join(item.status)} from {list(item.sources)}"
