"""The prompt as an append-only token log: each prompt begins with the previous one and its reply, token by token.

A `PromptLog` is one session's log. It only ever grows at its end, except for the counted rewrites: a compaction, a head
that moved (cut to the common prefix), a turn that was hidden or erased (cut before it). So the KV cache of the last
prompt always fits the next one, and only new tokens are evaluated. Text enters through `Generator.frame` alone, which
cannot turn it into control tokens. The log is a cache: it is rebuilt from the memory when a session is opened.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Literal

from graph.values import Turn
from models.protocols import FrameRole, Generator

Cause = Literal["compaction", "head_move", "removal"]

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

    @property
    def reply(self) -> int:
        """The least room kept for a reply."""
        return min(512, self.context // 8)


@dataclass(frozen=True, slots=True)
class Mark:
    """Where a turn's frame begins in the token log."""

    turn: str
    start: int


@dataclass(slots=True)
class PromptLog:
    """The tokens a session's model has seen, with where its system frames and its turns begin.

    `left_out` says, per turn that was too long, how many tokens of its middle the model was not given.
    """

    tokens: list[int]
    systems: list[tuple[int, str]]
    marks: list[Mark] = field(default_factory=list)
    left_out: dict[str, int] = field(default_factory=dict)

    @property
    def system(self) -> str:
        """The system prompt in force at the end of the log."""
        return self.systems[-1][1]

    @property
    def first_turn(self) -> str | None:
        """The oldest turn in the log."""
        return self.marks[0].turn if self.marks else None

    def hash(self) -> str:
        """A SHA-256 over the token ids, so that an audit can tell equal prompts."""
        return sha256(",".join(map(str, self.tokens)).encode()).hexdigest()


def shown(turns: Sequence[Turn]) -> list[Turn]:
    """The turns of a path that a model may see: said by someone, not hidden, not erased."""
    return [turn for turn in turns if turn.text is not None and not turn.hidden]


def begin(generator: Generator, system: str) -> PromptLog:
    """An empty log: the system frame alone."""
    tokens = generator.frame("system", system, first=True)
    return PromptLog(tokens=tokens, systems=[(0, system)])


def build(generator: Generator, system: str, turns: Sequence[Turn], limits: Limits, *, budget: int) -> PromptLog:
    """A log of the newest turns of a path that fit `budget` tokens, beginning with a user's turn where one fits.

    The last exchange is always in it, shortened if it alone is too long.
    """
    log = begin(generator, system)
    room = budget - len(log.tokens)
    frames: list[tuple[Turn, list[int], int]] = []
    for turn in reversed(shown(turns)):
        frame, left_out = _frame(generator, turn, min(limits.message, max(room, limits.low_water // 4)))
        if len(frame) > room and len(frames) >= 2:
            break
        room -= len(frame)
        frames.append((turn, frame, left_out))
    while len(frames) > 1 and frames[-1][0].role != "user":
        frames.pop()
    for turn, frame, left_out in reversed(frames):
        _append(log, turn, frame, left_out)
    return log


def resume(generator: Generator, system: str, turns: Sequence[Turn], limits: Limits) -> PromptLog:
    """The log a session begins with in a new process: all of it where that is below the high water, else the low."""
    whole = build(generator, system, turns, limits, budget=limits.high_water)
    if len(whole.marks) == len(shown(turns)):
        return whole
    return build(generator, system, turns, limits, budget=limits.low_water)


def extend(
    log: PromptLog, generator: Generator, system: str, turns: Sequence[Turn], limits: Limits, rewrites: Counter[Cause]
) -> PromptLog:
    """The log brought up to the path `turns` (or its end, from the log's first turn on).

    Appends where that is possible; where not, cuts to the common prefix and counts why. A system prompt that changed is
    appended as a new system frame, and folded into the front by the next compaction.
    """
    path = shown(turns)
    start = next((i for i, turn in enumerate(path) if turn.id == log.first_turn), None)
    tail = path[start or 0 :]
    common = 0
    while common < min(len(tail), len(log.marks)) and tail[common].id == log.marks[common].turn:
        common += 1
    if common < len(log.marks):
        on_path = {turn.id for turn in turns}
        rewrites["removal" if log.marks[common].turn in on_path else "head_move"] += 1
        if common == 0:
            return resume(generator, system, turns, limits)
        _cut(log, common)
    if system != log.system and len(tail) > common:
        log.systems.append((len(log.tokens), system))
        log.tokens += generator.frame("system", system)
    for turn in tail[common:]:
        frame, left_out = _frame(generator, turn, limits.message)
        _append(log, turn, frame, left_out)
    return log


def close_reply(log: PromptLog, generator: Generator, *, turn: str, tokens: Sequence[int]) -> None:
    """Append a reply that was just generated: its very tokens, as sampled, then the frame's end."""
    log.marks.append(Mark(turn, len(log.tokens)))
    log.tokens += [*generator.reply_open(), *tokens, *generator.reply_close()]


def asking(log: PromptLog, generator: Generator) -> list[int]:
    """The log with the assistant's turn opened: what the model is given."""
    return log.tokens + generator.reply_open()


def _append(log: PromptLog, turn: Turn, frame: list[int], left_out: int) -> None:
    log.marks.append(Mark(turn.id, len(log.tokens)))
    log.tokens += frame
    if left_out:
        log.left_out[turn.id] = left_out


def _cut(log: PromptLog, keep: int) -> None:
    """Keep the first `keep` turns, and the system frames among them."""
    end = log.marks[keep].start
    for mark in log.marks[keep:]:
        log.left_out.pop(mark.turn, None)
    del log.marks[keep:]
    del log.tokens[end:]
    log.systems = [(start, text) for start, text in log.systems if start < end]


def _frame(generator: Generator, turn: Turn, limit: int) -> tuple[list[int], int]:
    """A turn's frame of at most about `limit` tokens, and how many were left out of its middle."""
    text = turn.text or ""
    role: FrameRole = "assistant" if turn.role == "assistant" else "user"
    frame = generator.frame(role, text)
    if len(frame) <= limit:
        return frame, 0
    tokens = generator.tokenize(text)
    note = LEFT_OUT.format(len(tokens))
    keep = max(2, limit - (len(frame) - len(tokens)) - len(generator.tokenize(note)) - 4)
    head, tail = tokens[: keep // 2], tokens[len(tokens) - keep // 2 :]
    left_out = len(tokens) - len(head) - len(tail)
    kept = generator.detokenize(head) + LEFT_OUT.format(left_out) + generator.detokenize(tail)
    return generator.frame(role, kept), left_out
