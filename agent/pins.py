"""What is in every prompt: core blocks and pinned observations, beside the pinned turns (agent/packs.py).

They enter a prompt like new pins, inside the frame of the next message, and are folded in behind the system frame when
the prompt is built anew. A block that was written anew is new, and its old text stays where it stands until then; one
that is gone, or may not be shown any more, is cut like a hidden turn.
"""

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace

from agent.prompt import PREFIX, block_id, version_of
from graph.beliefs import CoreBlock, Observation
from graph.errors import GraphFailure
from graph.events import Recalled
from graph.memory import Memory
from graph.values import Session
from graph.visibility import EVERYONE, Viewer
from models.protocols import Generator

from .events import Notice, Warned
from .packs import Pack
from .prompt import Limits, PromptLog, Quotes
from .quoting import PIN_BOUND, Quote, excerpt, neutral


class PinnedItems:
    """Makes the quotes of what is in every prompt; tells once of each that there is no room for."""

    def __init__(self, memory: Memory, notify: Callable[[Notice], None]) -> None:
        self._memory = memory
        self._notify = notify
        self._told: set[str] = set()

    def fresh(self, generator: Generator, limits: Limits, held: frozenset[str], session: Session) -> Pack:
        """What a prompt has room for and does not hold: it enters it with the next message, blocks first."""
        blocks = [quote for quote in self._blocks(generator, limits, session) if quote.id not in held]
        pinned = [quote for quote in self._pinned(generator, limits, session) if quote.id not in held]
        return (
            *(Recalled(id=each.id, kind="block", ranks={"pin": n}) for n, each in enumerate(blocks, start=1)),
            *(Recalled(id=each.id, kind="observation", ranks={"pin": n}) for n, each in enumerate(pinned, start=1)),
        )

    def complete(
        self,
        quotes: Quotes,
        generator: Generator,
        limits: Limits,
        *,
        log: PromptLog | None,
        packs: Mapping[str, Pack],
        session: Session,
    ) -> Quotes:
        """A prompt's quotes with what is in every prompt; `packs` are those that `quotes` was made from."""
        core, pinned = self._blocks(generator, limits, session), self._pinned(generator, limits, session)
        now = {quote.id: quote for quote in (*core, *pinned)}
        held = {item.id for pack in packs.values() for item in pack} | (log.held if log else set())
        known = {id for id in held if _is_block(id)}
        gone = self._gone_blocks(known - now.keys(), session.world, session.project)
        whole = dict(quotes.packs)
        for turn, pack in packs.items():
            there = {quote.id for quote in whole.get(turn, ())}
            if lacking := tuple(now[item.id] for item in pack if item.id in now and item.id not in there):
                whole[turn] = lacking + whole.get(turn, ())
        return replace(
            quotes,
            packs=whole,
            core=core,
            pins=(*quotes.pins, *pinned),
            gone=frozenset({id for id in quotes.gone if not _is_block(id)} | gone) - {quote.id for quote in pinned},
            stale=frozenset(known - now.keys() - gone),
        )

    def gone(self, ids: Iterable[str], *, world: str | None = None) -> set[str]:
        """Those of what a prompt of a world (None: any) holds, whatever it is, whose words it may not keep."""
        held = set(ids)
        blocks = {id for id in held if _is_block(id)}
        gone = self._memory.gone(held - blocks)
        with suppress(GraphFailure):  # then nobody knows, and nothing is kept that might not be
            gone -= self._memory.observations(gone, world=world).keys() if gone else set()
            gone -= self._memory.chunks(gone).keys() if gone else set()
        return gone | self._gone_blocks(blocks, world)

    def _gone_blocks(self, ids: set[str], world: str | None, project: Viewer = EVERYONE) -> set[str]:
        """Those versions of blocks that were emptied since, or that came from what may not be shown any more."""
        if not ids:
            return set()
        there = self._memory.block_versions((version_of(id) for id in ids), world=world, project=project)
        return {id for id in ids if version_of(id) not in there}

    def _blocks(self, generator: Generator, limits: Limits, session: Session) -> tuple[Quote, ...]:
        blocks = [quote_block(block) for block in self._memory.blocks(session.world, project=session.project)]
        return self._fitting(blocks, generator, limits.blocks, "core blocks", "Shorten one (/blocks lists them)")

    def _pinned(self, generator: Generator, limits: Limits, session: Session) -> tuple[Quote, ...]:
        memories = self._memory.pinned_observations(session.world, project=session.project)
        pinned = [quote_memory(each) for each in memories]
        return self._fitting(pinned, generator, limits.pins, "pinned memories", "Unpin some of them")

    def _fitting(
        self, quotes: list[Quote], generator: Generator, room: int, what: str, advice: str
    ) -> tuple[Quote, ...]:
        """The first that fit their share of the prompt."""
        fitting: list[Quote] = []
        left = room
        for quote in quotes:
            size = len(generator.tokenize(quote.line)) + 1
            if size <= left:
                fitting.append(quote)
                left -= size
        left_out = [quote for quote in quotes if quote not in fitting]
        if any(quote.id not in self._told for quote in left_out):
            self._told.update(quote.id for quote in left_out)
            self._notify(
                Warned(
                    f"{len(left_out)} of {len(quotes)} {what} do not fit in the {room} tokens reserved for them. "
                    f"{advice}. Nothing was lost."
                )
            )
        return tuple(fitting)


def quote_block(block: CoreBlock) -> Quote:
    """A core block as `- name: "what it says"`, whole."""
    return Quote(block_id(block), f'- {neutral(block.name)}: "{neutral(block.text)}"')


def quote_memory(memory: Observation) -> Quote:
    """An observation as `- date, memory: "what it says"`."""
    day = memory.first_seen.astimezone().date().isoformat()
    return Quote(memory.id, f'- {day}, memory: "{excerpt(neutral(memory.text or ""), "", PIN_BOUND)}"')


def _is_block(id: str) -> bool:
    return id.startswith(PREFIX)
