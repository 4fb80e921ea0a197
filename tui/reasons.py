"""Why something was recalled, in plain words: the strategies that found it with its rank there, then what lifted it."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from tui.text import one_line

if TYPE_CHECKING:
    from graph.events import Recalled, Strategy
    from graph.readings.quoted import Believed
    from graph.values import Hit, Later, Observation, Proof, Turn

    Shared = frozenset[tuple[Strategy, int]]

CLEW = "clew"
NOTE = "your note"
CORRECTION = "your correction"
FOUND_BY: "dict[Strategy, str]" = {
    "lexical": "by its words",
    "semantic": "by its meaning",
    "observation": "through a memory learned from it",
    "graph": "next to a match",
    "recency": "because it is new",
    "recent": "among the newest",
    "thread": "from this chat",
    "theme": "from a theme",
    "tool": "looked up by the model",
    "pin": "pinned by you",
    "later": "said later on the topic of a match",
    "reference": "this chat refers to it",
}
UNRANKED = frozenset(("pin", "thread", "later", "reference"))
LIFTED_BY = {
    "recency": "recent",
    "pin": "pinned",
    "time": "from the time asked about",
    "beside_time": "near the time asked about",
    "opening": "it opens its chat",
    "dated": "it names a time",
    "counted": "it gives a number",
    "names": "it gives a name",
    "chat": "its chat has the words",
}
STEPS = {
    "REPLIES_TO": "answers a match",
    "REPLIED_TO": "answered by a match",
    "IN_SESSION": "in a chat with a match",
    "MENTIONS": "names somebody related",
    "ABOUT": "about somebody related",
    "DERIVED_FROM": "tells of a relationship",
}
FAR_STEPS = {"REPLIES_TO": "soon after a match", "REPLIED_TO": "soon before a match"}
DIRECT = 2  # steps of a path: what matched, and the one edge from it
TELLING = 0.1  # smaller boosts change no order a person would see


def newer(hits: "Sequence[Hit]") -> "dict[str, Sequence[Later]]":
    """What to tell beside each of some hits that was said later on its topic: the newest that is no hit before it."""
    place = {hit.id: at for at, hit in enumerate(hits)}
    return {
        hit.id: [each for each in hit.later if place.get(each.turn, len(hits)) > at][:1] for at, hit in enumerate(hits)
    }


def who(role: str, speaker: str) -> str:
    """Who said it, as the screen names people; a note was written by hand, and said in no chat."""
    if role == "note":
        return NOTE if speaker in ("", "you") else f"note of {one_line(speaker)}"
    return CLEW if role == "assistant" and speaker == "assistant" else one_line(speaker) or role


def proven_by(proof: "Proof", revision: "Observation") -> str:
    """Whose words prove a revision of a memory."""
    name = who(proof.role, proof.speaker)
    corrects = revision.supersedes is not None and proof.relation == "DERIVED_FROM"
    return CORRECTION if name == NOTE and corrects else name


def shared(hits: "Iterable[Hit]") -> "Shared":
    """The ranks that more than one of these hits has: they say nothing of any one of them."""
    return _shared((reason.strategy, reason.rank) for hit in hits for reason in hit.reasons)


def shared_stored(items: "Iterable[Recalled]") -> "Shared":
    """The same for the items of a stored context pack."""
    return _shared(rank for item in items for rank in item.ranks.items())


def _shared(ranks: "Iterable[tuple[Strategy, int]]") -> "Shared":
    return frozenset(rank for rank, count in Counter(ranks).items() if count > 1)


def why(hit: "Hit", shared: "Shared" = frozenset()) -> str:
    """All reasons on one line: `by its words (rank 1), next to a match; recent, you are named`.

    Ranks that are `shared` with other hits are left out.
    """
    ranks = _telling({reason.strategy: reason.rank for reason in hit.reasons}, shared)
    boosts = {boost.name: boost.amount for boost in hit.boosts}
    words = _explain(ranks, boosts, [step.relation for step in hit.path], _speaker(hit))
    return f"{words}: {one_line(hit.way)}" if hit.way else words


def why_stored(item: "Recalled", turn: "Turn | Believed | None", shared: "Shared" = frozenset()) -> str:
    """The same for an item of a stored context pack; `turn` is None where it can be shown no more."""
    speaker = _speaker(turn) if turn is not None else ""
    return _explain(_telling(item.ranks, shared), item.boosts, [relation for relation, _ in item.path], speaker)


def _speaker(said: "Hit | Turn | Believed") -> str:
    return who("user" if said.role == "note" else said.role, said.speaker)


def _telling(ranks: "Mapping[Strategy, int]", shared: "Shared") -> "dict[Strategy, int]":
    """The strategies in the order of their ranks, with 0 for a rank that tells nothing."""
    order = sorted(ranks.items(), key=lambda each: each[1])
    return {strategy: 0 if (strategy, rank) in shared else rank for strategy, rank in order}


def _explain(
    ranks: "Mapping[Strategy, int]", boosts: "Mapping[str, float]", path: "Sequence[str]", speaker: str
) -> str:
    found = [_reason(strategy, rank, path) for strategy, rank in ranks.items()]
    lifted = [_boost(name, speaker) for name, amount in boosts.items() if amount >= TELLING]
    return "; ".join(", ".join(dict.fromkeys(parts)) for parts in (found, lifted) if parts)


def _reason(strategy: "Strategy", rank: int, path: "Sequence[str]") -> str:
    if strategy == "graph":
        steps = {**STEPS, **FAR_STEPS} if len(path) > DIRECT else STEPS
        return steps.get(path[-1], FOUND_BY["graph"]) if path else FOUND_BY["graph"]
    words = FOUND_BY.get(strategy, strategy)
    return words if strategy in UNRANKED or rank < 1 else f"{words} (rank {rank})"


def _boost(name: str, speaker: str) -> str:
    if name == "speaker":
        return "you are named" if speaker == "you" else f"{speaker or 'the speaker'} is named"
    return LIFTED_BY.get(name, name.replace("_", " "))
