"""Which of a model's two contexts a prompt belongs in: where most of it is, and else where less is lost.

The foreground's context has what was evaluated last. Two prompts that take turns, each of which begins with its own one
before, come to have a context each, and nothing of either is evaluated twice.
"""

from collections.abc import Sequence
from typing import Protocol

from models.protocols import Entry

SHARED = 16  # tokens; fewer in common are not worth cutting what somebody may come back to …
LOST = 64  # … which is more than so many
OPENING = 32  # tokens at most of what opens a reply: a log that was not answered does not have them


class Evaluated(Protocol):
    """What a context has evaluated; the first `read` of its tokens were a prompt, those behind them were sampled."""

    @property
    def tokens(self) -> list[int]: ...

    @property
    def read(self) -> int: ...


def common(evaluated: Sequence[int], prompt: Sequence[int]) -> int:
    """How many tokens of `prompt`, but for its last, are those that were evaluated."""
    most = max(0, min(len(evaluated), len(prompt) - 1))
    mine, theirs = list(evaluated[:most]), list(prompt[:most])
    if mine == theirs:
        return most
    least = 0
    while least < most:  # slices compare a hundred times as fast as tokens one by one
        middle = (least + most + 1) // 2
        if mine[least:middle] == theirs[least:middle]:
            least = middle
        else:
            most = middle - 1
    return least


def loses(context: Evaluated, prompt: Sequence[int]) -> int:
    """How many tokens that were read are cut where `prompt` is evaluated in a context."""
    return max(0, context.read - common(context.tokens, prompt))


def behind(front: Evaluated, back: Evaluated | None, prompt: Sequence[int], entry: Entry) -> bool:
    """Whether `prompt` belongs in the background's context (to be made, if there is none)."""
    there, beside = common(front.tokens, prompt), common(back.tokens, prompt) if back is not None else 0
    at_stake = back is not None and loses(back, prompt) > LOST
    if entry == "generate":
        if abs(beside - there) >= SHARED:
            return beside > there
        return loses(front, prompt) > LOST or (beside > there and not at_stake)
    if loses(front, prompt) > min(OPENING, there):
        return True
    # Nothing of the foreground's is lost. A prefill that has most to do yet still leaves it alone, if it can.
    return entry == "prefill" and there * 2 <= len(prompt) and not at_stake


def keeps(
    front: Evaluated, back: Evaluated | None, tokens: Sequence[int], prompt: Sequence[int], entry: Entry, *, jobs: bool
) -> bool:
    """Whether what is evaluated of `tokens` stays where `prompt` comes next.

    With `jobs` the background's context is theirs, too, and nothing stays in it for long.
    """
    held = back if back is not None and common(back.tokens, tokens) > common(front.tokens, tokens) else front
    known = common(held.tokens, tokens)
    if known < LOST:
        return True
    goes = back if behind(front, back, prompt, entry) else front
    if held is goes:
        return common(held.tokens, prompt) >= known
    return not jobs
