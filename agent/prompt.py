"""The prompt as an append-only token log, each beginning with the one before and its reply; core blocks within it.

In a prompt a block is identified by its version, the event that wrote it, so that one which was written anew is new to
a prompt that holds the old one.

A `PromptLog` is one session's log. It only ever grows at its end, except for the counted rewrites: a compaction, a head
that moved (cut to the common prefix), a turn that was hidden or erased (cut before it). So the KV cache of the last
prompt always fits the next one, and only new tokens are evaluated. Text enters through `Generator.frame` alone, which
cannot turn it into control tokens. The log is a cache: it is rebuilt from the memory when a session is opened.

What was recalled for a message stands before its words: in a system frame of its own, with the date where that is new
to the log, as it also does before a message that speaks of time (told with a hello it is what a small model answers, or
why it refuses); in a story, and where a model's system frame is none, in the frame of the message. What the user pinned
stands after the system frame, or with the message it was new with. Each turn is quoted once in a log, and not where its
own frame is there. A frame whose quotes may not be shown any more is cut, like a hidden turn.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Literal

from agent.errors import AgentError
from agent.quoting import ANSWERED, HEADER, NOTHING, NOW, PASSAGES, PINS, UNSAID, UNTOLD, Quote, block, lines_of
from agent.relevance import asks_of_life, asks_of_time
from agent.text import clean_message, local_zone
from graph.values import CoreBlock, Turn
from models.protocols import FrameRole, Generator

NAME = re.compile(r"[\w-]{1,32}")
LONGEST = 2000  # characters
PREFIX = "block:"


def block_name(name: str) -> str:
    """A core block's name, checked. Raises AgentError."""
    if not NAME.fullmatch(name):
        raise AgentError("A core block's name can have up to 32 letters, digits, - and _. Nothing was changed.")
    return name


def block_text(text: str) -> str:
    """What a core block is to say, cleaned; it may be empty. Raises AgentError."""
    says = clean_message(text) if text.strip() else ""
    if len(says) > LONGEST:
        raise AgentError(
            f"That is {len(says):,} characters. A core block can have at most {LONGEST:,}, as it is in every prompt. "
            "Nothing was changed. Shorten it."
        )
    return says


def block_id(block: CoreBlock) -> str:
    """How a prompt and a context pack name this version of a block."""
    return f"{PREFIX}{block.name}@{block.version}"


def name_of(id: str) -> str:
    """The name in a block's id."""
    return id.removeprefix(PREFIX).rpartition("@")[0]


def version_of(id: str) -> int:
    """The version in a block's id; 0 for none."""
    version = id.rpartition("@")[2]
    return int(version) if version.isascii() and version.isdigit() else 0


Cause = Literal["compaction", "head_move", "removal"]

TOYS = range(1_000_000, 200_000_000)  # bytes of a model that, warned, knows nothing at all; some tell no size
CORE = "[Core memory, which the user keeps before every conversation]"
CORE_NOW = "[Core memory, as the user has it from now on]"
LEFT_OUT = "\n[… {} tokens left out here …]\n"


@dataclass(frozen=True, slots=True)
class Limits:
    """The prompt's sizes, in tokens; `message` is the most that one turn may take before its middle is left out."""

    context: int
    high_water: int
    low_water: int

    @property
    def message(self) -> int:
        """Two thirds of the high-water mark: a pasted page fits, and there is still room for a chat about it."""
        return self.high_water * 2 // 3

    def of(self, turn: Turn) -> int:
        """The most for one turn; a tool's answer is less than a message, as there can be several before a reply."""
        return self.low_water // 6 if turn.role == "tool" else self.message

    @property
    def recalled(self) -> int:
        """The most that may be quoted beside one message."""
        return self.low_water // 3

    @property
    def pins(self) -> int:
        """The most that what is pinned may take of a prompt."""
        return self.low_water // 4

    @property
    def blocks(self) -> int:
        """The most that core blocks may take of a prompt."""
        return self.low_water // 4

    @property
    def lore(self) -> int:
        """The most that lore may take beside one message."""
        return self.low_water // 6

    @property
    def references(self) -> int:
        """The most that references may take of a prompt which stand in it whole."""
        return self.low_water // 3

    @property
    def passages(self) -> int:
        """The most that passages of references may take beside one message."""
        return self.low_water // 10

    @property
    def stage(self) -> int:
        """The most that what stands on a story's stage may take of a prompt."""
        return self.low_water // 3

    @property
    def reply(self) -> int:
        """The least room kept for a reply."""
        return min(512, self.context // 8)


@dataclass(frozen=True, slots=True)
class PromptMark:
    """Where a turn's frame begins in the token log."""

    turn: str
    start: int


@dataclass(frozen=True, slots=True)
class Quotes:
    """What is quoted beside the turns of a path: for a user's turn its context pack, core blocks, and what is pinned.

    `gone` is what may not be quoted any more: hidden, erased or deleted since it was. `stale` is not quoted anew, as
    there is a later text, but may stay where it stands until the log is built anew. `core` stands under the first of
    the `headers` at the front, and under the second where it is new. What is `played` is a story: it has no date,
    and in it all stands in the frames of those who speak.
    """

    packs: Mapping[str, tuple[Quote, ...]] = field(default_factory=dict)
    pins: tuple[Quote, ...] = ()
    core: tuple[Quote, ...] = ()
    gone: frozenset[str] = frozenset()
    stale: frozenset[str] = frozenset()
    played: bool = False
    headers: tuple[str, str] = (CORE, CORE_NOW)


BARE = Quotes()


@dataclass(slots=True)
class PromptLog:
    """The tokens a session's model has seen, with where its system frames and its turns begin.

    `left_out` says, per turn that was too long, how many tokens of its middle the model was not given; `quoted` what
    stands quoted in the frame of a turn, `pins` what stands after the system frame, core blocks among it. Each reply
    begins with `opening`: in a story, the name of who speaks. `days` are those that the model was told, with the turn.
    """

    tokens: list[int]
    systems: list[tuple[int, str]]
    marks: list[PromptMark] = field(default_factory=list)
    left_out: dict[str, int] = field(default_factory=dict)
    quoted: dict[str, list[str]] = field(default_factory=dict)
    pins: list[str] = field(default_factory=list)
    opening: list[int] = field(default_factory=list)
    days: dict[str, str] = field(default_factory=dict)

    @property
    def system(self) -> str:
        """The system prompt in force at the end of the log."""
        return self.systems[-1][1]

    @property
    def first_turn(self) -> str | None:
        """The oldest turn in the log."""
        return self.marks[0].turn if self.marks else None

    @property
    def held(self) -> set[str]:
        """Everything whose words the log holds, in a frame of its own or quoted."""
        return self.turns | {id for ids in self.quoted.values() for id in ids} | set(self.pins)

    @property
    def turns(self) -> set[str]:
        """What has a frame of its own in it."""
        return {mark.turn for mark in self.marks}

    def hash(self) -> str:
        """A SHA-256 over the token ids, so that an audit can tell equal prompts."""
        return sha256(",".join(map(str, self.tokens)).encode()).hexdigest()


def shown(turns: Sequence[Turn], quotes: Quotes = BARE) -> list[Turn]:
    """The turns of a path that a model may see: said by someone, not hidden, not erased, quoting nothing that is.

    Nor empty: where a small model sees two empty replies, most of those that follow are empty too.
    """
    there = (turn for turn in turns if turn.text is not None and not turn.hidden and not turn.empty)
    return [turn for turn in there if not _tells_of(turn, quotes.gone)]


def begin(
    generator: Generator, system: str, pins: Sequence[Quote] = (), core: Sequence[Quote] = (), header: str = CORE
) -> PromptLog:
    """A log without turns: the system frame, the core blocks, and what is pinned."""
    tokens = generator.frame("system", system, first=True)
    if pins or core:
        tokens += generator.frame("user", "\n\n".join(filter(None, (block(header, core), block(PINS, pins)))))
    return PromptLog(tokens=tokens, systems=[(0, system)], pins=[quote.id for quote in (*core, *pins)])


def build(
    generator: Generator, system: str, turns: Sequence[Turn], limits: Limits, *, budget: int, quotes: Quotes = BARE
) -> PromptLog:
    """A log of the newest turns of a path that fit `budget` tokens: all, or from a user's turn on where one fits.

    The last exchange is always in it, shortened if it alone is too long.
    """
    room = budget - len(begin(generator, system, quotes.pins, quotes.core, quotes.headers[0]).tokens)
    if turns and not quotes.played:
        room -= len(generator.frame("system", _today(_day(turns[-1]))))
    kept: list[Turn] = []
    limit: dict[str, int] = {}
    told = shown(turns, quotes)
    for turn in reversed(told):
        limit[turn.id] = min(limits.of(turn), max(room, limits.low_water // 4))
        frame, _ = _frame(generator, turn, limit[turn.id], quotes.packs.get(turn.id, ()), quotes, None)
        if len(frame) > room and len(kept) >= 2 and any(each.role == "user" for each in kept):
            break
        room -= len(frame)
        kept.append(turn)
    while 1 < len(kept) < len(told) and kept[-1].role != "user":
        kept.pop()
    there = {turn.id for turn in kept} | {quote.id for turn in kept for quote in quotes.packs.get(turn.id, ())}
    pins, core = ([quote for quote in each if quote.id not in there] for each in (quotes.pins, quotes.core))
    log = begin(generator, system, pins, core, quotes.headers[0])
    for turn in reversed(kept):
        _append(log, generator, turn, limit[turn.id], quotes)
    return log


def resume(
    generator: Generator, system: str, turns: Sequence[Turn], limits: Limits, quotes: Quotes = BARE
) -> PromptLog:
    """The log a session begins with in a new process: all of it where that is below the high water, else the low."""
    whole = build(generator, system, turns, limits, budget=limits.high_water, quotes=quotes)
    if len(whole.marks) == len(shown(turns, quotes)):
        return whole
    return build(generator, system, turns, limits, budget=limits.low_water, quotes=quotes)


def extend(
    log: PromptLog,
    generator: Generator,
    system: str,
    turns: Sequence[Turn],
    limits: Limits,
    rewrites: Counter[Cause],
    quotes: Quotes = BARE,
) -> PromptLog:
    """The log brought up to the path `turns` (or its end, from the log's first turn on).

    Appends where that is possible; where not, cuts to the common prefix and counts why. A system prompt that changed is
    appended as a new system frame, and folded into the front by the next compaction.
    """
    if quotes.gone.intersection(log.pins):
        rewrites["removal"] += 1
        return resume(generator, system, turns, limits, quotes)
    path = shown(turns, quotes)
    start = next((i for i, turn in enumerate(path) if turn.id == log.first_turn), None)
    tail = path[start or 0 :]
    common = _common(log, tail, quotes)
    if common < len(log.marks):
        on_path = {turn.id for turn in turns}
        rewrites["removal" if log.marks[common].turn in on_path else "head_move"] += 1
        if common == 0:
            return resume(generator, system, turns, limits, quotes)
        _cut(log, common)
    if system != log.system and len(tail) > common:
        log.systems.append((len(log.tokens), system))
        log.tokens += generator.frame("system", system)
    for turn in tail[common:]:
        _append(log, generator, turn, limits.of(turn), quotes)
    return log


def close_reply(log: PromptLog, generator: Generator, *, turn: str, tokens: Sequence[int]) -> None:
    """Append a reply that was just generated, not an empty one: its very tokens, as sampled, then the frame's end."""
    log.marks.append(PromptMark(turn, len(log.tokens)))
    log.tokens += [*_opened(log, generator), *tokens, *generator.reply_close()]


def asking(log: PromptLog, generator: Generator) -> list[int]:
    """The log with the assistant's turn opened: what the model is given."""
    return log.tokens + _opened(log, generator)


def _opened(log: PromptLog, generator: Generator) -> list[int]:
    return [*generator.reply_open(), *log.opening]


def _common(log: PromptLog, tail: Sequence[Turn], quotes: Quotes) -> int:
    """How many of the log's turns are those of the path, with the same quotes."""
    common, held = 0, set(log.pins)
    for mark, turn in zip(log.marks, tail, strict=False):
        due = [quote.id for quote in _due(quotes, turn, held)]
        stands = [id for id in log.quoted.get(turn.id, []) if id not in quotes.stale]
        if mark.turn != turn.id or stands != due:
            break
        held.update([turn.id, *due])
        common += 1
    return common


def _due(quotes: Quotes, turn: Turn, held: set[str]) -> list[Quote]:
    """What is quoted in a turn's frame: its pack, but for what stands in the log before it or may not be shown."""
    return [quote for quote in quotes.packs.get(turn.id, ()) if quote.id not in held and quote.id not in quotes.gone]


def _tells_of(turn: Turn, gone: frozenset[str]) -> bool:
    return turn.retells and not gone.isdisjoint(item.id for item in turn.recalled)


def _append(log: PromptLog, generator: Generator, turn: Turn, limit: int, quotes: Quotes) -> None:
    due = _due(quotes, turn, log.held)
    wanted = turn.role == "user" and not quotes.played and (bool(due) or asks_of_time(turn.text or ""))
    day = _day(turn) if wanted else None
    if day == next(reversed(log.days.values()), None):
        day = None
    frame, left_out = _frame(generator, turn, limit, due, quotes, day, first=not log.marks and not log.pins)
    if day is not None:
        log.days[turn.id] = day
    log.marks.append(PromptMark(turn.id, len(log.tokens)))
    log.tokens += frame
    if left_out:
        log.left_out[turn.id] = left_out
    if due:
        log.quoted[turn.id] = [quote.id for quote in due]


def _cut(log: PromptLog, keep: int) -> None:
    """Keep the first `keep` turns, and the system frames among them."""
    end = log.marks[keep].start
    for mark in log.marks[keep:]:
        log.left_out.pop(mark.turn, None)
        log.quoted.pop(mark.turn, None)
        log.days.pop(mark.turn, None)
    del log.marks[keep:]
    del log.tokens[end:]
    log.systems = [(start, text) for start, text in log.systems if start < end]


def _day(turn: Turn) -> str:
    return f"{turn.at.astimezone(local_zone()):%A, %-d %B %Y}"


def _frame(
    generator: Generator,
    turn: Turn,
    limit: int,
    quotes: Sequence[Quote],
    all_: Quotes,
    day: str | None,
    *,
    first: bool = False,
) -> tuple[list[int], int]:
    """A turn's frame, its words of at most about `limit` tokens, and how many were left out of their middle.

    Before it stands what the model is told with it: the `day` where that is new, and what is quoted. What comes `first`
    has nothing above it.
    """
    text = turn.text or ""
    if turn.role == "tool":
        text = f"{ANSWERED}\n{lines_of(text)}"
    role: FrameRole = "assistant" if turn.role == "assistant" else "user"
    frame = generator.frame(role, text)
    left_out = 0
    if len(frame) > limit:
        tokens = generator.tokenize(text)
        note = LEFT_OUT.format(len(tokens))
        keep = max(2, limit - (len(frame) - len(tokens)) - len(generator.tokenize(note)) - 4)
        head, tail = tokens[: keep // 2], tokens[len(tokens) - keep // 2 :]
        left_out = len(tokens) - len(head) - len(tail)
        text = generator.detokenize(head) + LEFT_OUT.format(left_out) + generator.detokenize(tail)
    warned = generator.info.size not in TOYS
    told, beside = _told(turn, quotes, all_, day, first=first, warned=warned) if turn.role != "assistant" else ("", "")
    if told and (all_.played or generator.frame("system", told) == generator.frame("user", told)):
        told, beside = "", "\n\n".join(filter(None, (told, beside)))
    if beside:
        text = f"{beside}\n\n{text}"
    return (generator.frame("system", told) if told else []) + generator.frame(role, text), left_out


def _today(day: str) -> str:
    return f"Today is {day}."


def alone(message: str, generator: Generator) -> str:
    """A message without its chat; who asks of their own life is not to be told what nobody knows."""
    unknown = generator.info.size not in TOYS and asks_of_life(message)
    return f"{NOTHING}\n\n{message}" if unknown else message


def _told(
    turn: Turn, quotes: Sequence[Quote], all_: Quotes, day: str | None, *, first: bool, warned: bool
) -> tuple[str, str]:
    """What a model is told before a message by us, and what stands above its words as others wrote it.

    It is `warned` to say no more than it was told, unless that would be all that it says.
    """
    core = block(all_.headers[1], [quote for quote in quotes if quote.id.startswith(PREFIX)])
    said = sorted((quote for quote in quotes if quote.at is not None), key=lambda quote: quote.at or turn.at)
    read = [quote for quote in quotes if quote.at is None and not quote.whole and not quote.id.startswith(PREFIX)]
    whole = [quote.line for quote in quotes if quote.whole]
    unknown = warned and turn.role == "user" and not all_.played
    unknown = unknown and asks_of_life(turn.text or "", [quote.line for quote in said])
    nothing = (NOTHING if first else UNSAID) if unknown else ""
    told = block(HEADER, said, UNTOLD if unknown else "") or nothing
    above = [*whole, block(PASSAGES, read), *([NOW] if whole or read else [])]
    parts = (_today(day) if day is not None else "", core, told)
    return "\n\n".join(filter(None, parts)), "\n\n".join(filter(None, above))
