"""What a session's prompt quotes, read from the memory: the context packs its replies were stored with, and the pins.

A pack says only which turns, observations and chunks were put before the model. Their words are read each time a prompt
is brought up to date, so what was hidden or erased in between is found out, and the same pack gives the same lines
again after a restart.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import tzinfo

from agent.references.quotes import ReferenceQuotes, is_read
from graph.events import Recalled
from graph.events.references import referred
from graph.memory import Memory
from graph.readings.quoted import Believed
from graph.values import Chunk, Hit, Session, Turn
from models.protocols import Generator

from .events import Notice, Warned
from .prompt import Limits, PromptLog, Quotes
from .quoting import BOUND, PIN_BOUND, Quote, quote, quote_chunk

Pack = tuple[Recalled, ...]
DECIMALS = 4


@dataclass(frozen=True, slots=True)
class Fresh:
    """The pack of the message that is being answered, which no reply keeps yet."""

    turn: str
    pack: Pack


def pack_of(hits: Iterable[Hit]) -> Pack:
    """Hits as they are stored with the reply they were put before the model for."""
    return tuple(
        Recalled(
            id=hit.id,
            kind=hit.kind,
            score=round(hit.score, DECIMALS),
            ranks={reason.strategy: reason.rank for reason in hit.reasons},
            boosts={boost.name: round(boost.amount, DECIMALS) for boost in hit.boosts},
            path=tuple((step.relation, step.node) for step in hit.path),
        )
        for hit in hits
    )


class Packs:
    """Makes the quotes of a prompt; tells once of each pin that there is no room for."""

    def __init__(
        self,
        memory: Memory,
        notify: Callable[[Notice], None],
        *,
        references: ReferenceQuotes | None = None,
        zone: tzinfo | None = None,
    ) -> None:
        self._memory = memory
        self._notify = notify
        self._references = references
        self._zone = zone
        self._told: set[str] = set()

    def quotes(
        self,
        path: Sequence[Turn],
        generator: Generator,
        limits: Limits,
        log: PromptLog | None,
        fresh: Fresh | None,
        *,
        session: Session,
        voice: str | None = None,
    ) -> Quotes:
        """The quotes that belong to a path of a session; what `log` quotes and may not any more is among `gone`.

        In a story, of what the `voice` saw that replies.
        """
        packs = packs_of(path, fresh)
        pinned = self._pinned(session, voice)
        ids = {item.id for pack in packs.values() for item in pack} | (log.held if log else set())
        ids |= {item.id for turn in path if turn.retells for item in turn.recalled}
        read = {id for id in ids if is_read(id)}
        ids -= read
        given = [*path, *pinned] if voice is None else pinned  # there the path's words stand behind names
        said = self._memory.readings.quotable(ids - {turn.id for turn in given}, project=session.project)
        said |= {turn.id: turn for turn in given if turn.text is not None and not turn.hidden}
        if voice is not None:
            seen = self._memory.readings.seen(session.id, voice, said)
            said = {id: turn for id, turn in said.items() if id in seen}
        there = {**said, **self._learned(ids - said.keys() - {turn.id for turn in given}, session)}
        # A pin sleeps while its turn is on no path: its words leave the prompts they stand in as a pin.
        by_pin = {item.id for pack in packs.values() for item in pack if "pin" in item.ranks}
        for id in (by_pin | set(log.pins if log else ())) & said.keys() - {turn.id for turn in given}:
            if said[id].pinned:
                del there[id]
        asks = {turn.id: turn.text or "" for turn in path}
        sources, taken_back = self._read(read, packs, asks, log, fresh, session)

        def quoted(item: Recalled, turn: str) -> Quote | None:
            found = there.get(item.id)
            return self._quote(found, item, asks.get(turn, "")) if found is not None else sources.get(item.id)

        return Quotes(
            packs={
                turn: tuple(quote for item in pack if (quote := quoted(item, turn)) is not None)
                for turn, pack in packs.items()
                if pack
            },
            pins=self._pins(pinned, generator, limits),
            gone=frozenset(ids - there.keys()) | taken_back,
            stale=frozenset(read - sources.keys() - taken_back),
        )

    def _read(
        self,
        names: set[str],
        packs: Mapping[str, Pack],
        asks: Mapping[str, str],
        log: PromptLog | None,
        fresh: Fresh | None,
        session: Session,
    ) -> tuple[dict[str, Quote], set[str]]:
        """What was read at references, as it is quoted, and what of it may not be quoted any more.

        A log that was made without something is given it with the next message: its frames stay as they are.
        """
        if not names:
            return {}, set()
        attached = {each.id for each in self._memory.readings.attached(session.id)}
        dropped = {name for name in names if referred(name) not in attached}
        if self._references is None:
            return {}, dropped
        taken_back = dropped | self._references.taken_back(names)
        new = {item.id for item in fresh.pack} if fresh is not None else set[str]()
        wanted = names - taken_back if log is None else (names & log.held | names & new) - taken_back
        asked = {item.id: asks.get(turn, "") for turn, pack in packs.items() for item in pack}
        return self._references.quotes(wanted, lambda name: asked.get(name, "")), taken_back

    def new_pins(
        self, generator: Generator, limits: Limits, held: frozenset[str], *, session: Session, voice: str | None = None
    ) -> Pack:
        """The pins that a session's prompt has room for and does not hold: they enter it with the next message."""
        pins = self._pins(self._pinned(session, voice), generator, limits)
        missing = [pin.id for pin in pins if pin.id not in held]
        return tuple(Recalled(id=id, ranks={"pin": rank}) for rank, id in enumerate(missing, start=1))

    def _pinned(self, session: Session, voice: str | None) -> list[Turn]:
        """What is pinned where a session is; in a story, of what a voice saw."""
        seen_by = (session.id, voice) if voice is not None else None
        return self._memory.readings.pinned(session.world, project=session.project, seen_by=seen_by)

    def _learned(self, ids: set[str], session: Session) -> dict[str, Believed | Chunk]:
        """Those of the ids that are observations or chunks which may be quoted in a session."""
        if not ids:
            return {}
        believed = self._memory.readings.believed(ids, world=session.world, project=session.project)
        return {**believed, **self._memory.readings.chunks(ids - believed.keys(), project=session.project)}

    def _quote(self, found: Turn | Believed | Chunk, item: Recalled, about: str) -> Quote:
        bound = PIN_BOUND if "pin" in item.ranks else BOUND
        about = "" if "pin" in item.ranks else about
        match found:
            case Chunk():
                return quote_chunk(found.id, found.place, found.text, about=about, bound=bound)
            case _:
                return quote(found, about=about, bound=bound, zone=self._zone)

    def _pin(self, turn: Turn) -> Quote:
        return quote(turn, bound=PIN_BOUND, zone=self._zone)

    def _pins(self, pinned: Sequence[Turn], generator: Generator, limits: Limits) -> tuple[Quote, ...]:
        """The pins that fit their share of the prompt, the oldest first."""
        pins: list[Quote] = []
        left_out: list[Quote] = []
        room = limits.pins
        for turn in pinned:
            pin = self._pin(turn)
            size = len(generator.tokenize(pin.line)) + 1
            if size > room:
                left_out.append(pin)
            else:
                pins.append(pin)
                room -= size
        fresh = [pin for pin in left_out if pin.id not in self._told]
        if fresh:
            self._told.update(pin.id for pin in fresh)
            self._notify(
                Warned(
                    f"{len(left_out)} of {len(pinned)} pins do not fit in the {limits.pins} tokens reserved for "
                    "them; the oldest are kept. Unpin some in the memory panel (/memory). Nothing was lost."
                )
            )
        return tuple(pins)


def packs_of(path: Sequence[Turn], fresh: Fresh | None) -> dict[str, Pack]:
    """The context pack of each message of a path that has one; what a reply tells itself is not quoted beside it."""
    asked = asked_by(path)
    replies = (turn for turn in path if turn.role == "assistant" and not turn.retells)
    packs = {asked[turn.id].id: turn.recalled for turn in replies if turn.id in asked}
    return packs | ({fresh.turn: fresh.pack} if fresh is not None else {})


def asked_by(path: Sequence[Turn]) -> dict[str, Turn]:
    """The user's turn that each reply, and each tool's turn, of a path belongs to."""
    found: dict[str, Turn] = {}
    asked: Turn | None = None
    for turn in path:
        if turn.role in ("assistant", "tool"):
            if asked is not None:
                found[turn.id] = asked
        else:
            asked = turn
    return found


def unanswered(path: Sequence[Turn]) -> Sequence[Turn]:
    """The end of a path that no reply follows."""
    last = max((i for i, turn in enumerate(path) if turn.role == "assistant"), default=-1)
    return path[last + 1 :]
