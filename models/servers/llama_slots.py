"""The two places on a llama-server that a chat's prompt is evaluated in, which trade places as the contexts do here.

A server remembers in each slot what it evaluated last, and evaluates of the next prompt what is new. So as not to lose
the chat's prompt, what is done in the background goes to another slot, where there is one.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from models.errors import ServerRefused
from models.servers.client import ServerClient
from models.servers.llama_tokens import unreadable

STEP_S = 0.1  # of evaluating, as what a closed connection leaves unfinished is evaluated to its end
FIRST_STEP, LEAST_STEP, LONGEST_STEP = 64, 8, 2048  # tokens
LONGEST_MS = 1e9  # what takes longer, or no number of milliseconds at all, is no pace


@dataclass(slots=True)
class Slot:
    """A slot, and the tokens that it was last given, as far as is known here."""

    id: int
    tokens: list[int] = field(default_factory=list)

    def common(self, prompt: Sequence[int]) -> int:
        """How many tokens of `prompt` need no evaluation; the last one always does."""
        length = 0
        for one, other in zip(self.tokens, prompt, strict=False):
            if one != other:
                break
            length += 1
        return min(length, len(prompt) - 1)


class Slots:
    """The foreground's and the background's, which are one where the server has only one."""

    def __init__(self, client: ServerClient, ids: Sequence[int], *, context: int) -> None:
        self.context = context
        self.front = Slot(ids[0])
        self.back = Slot(ids[1]) if len(ids) > 1 else self.front
        self.reading_s: float | None = None  # by the last prompts
        self._client = client

    def nearest(self, prompt: Sequence[int]) -> Slot:
        """The slot that has evaluated more of `prompt`, as the foreground's."""
        if self.back.common(prompt) > self.front.common(prompt):
            self.swap()
        return self.front

    def forget(self) -> None:
        """Nothing is known any more of what the server has."""
        self.front.tokens, self.back.tokens = [], []

    async def save(self, name: str) -> list[int]:
        """Have the server write the foreground's slot into a file of its own; the tokens. Raises ServerError."""
        slot, tokens = self.front, list(self.front.tokens)
        await self._client.asked(f"/slots/{slot.id}?action=save", {"filename": name})
        return tokens

    async def restore(self, name: str, tokens: Sequence[int]) -> None:
        """Have it read one that has these tokens into the foreground's slot. Raises ServerError."""
        await self._client.asked(f"/slots/{self.front.id}?action=restore", {"filename": name})
        self.front.tokens = list(tokens)

    async def empty(self, name: str) -> None:
        """Have it write a file with nothing in it, over what was there. Raises ServerError."""
        await self._client.asked(f"/slots/{self.back.id}?action=erase", {})
        self.back.tokens = []
        await self._client.asked(f"/slots/{self.back.id}?action=save", {"filename": name})

    async def full(self) -> bool:
        """Whether every slot of the server has something to do; not where it keeps that to itself."""
        try:
            told = await self._client.asked("/slots")
        except ServerRefused:
            return False
        return bool(slots := slots_told(told)) and all(each.get("is_processing") is True for each in slots)

    def swap(self) -> None:
        """The background's becomes the foreground's."""
        self.front, self.back = self.back, self.front

    def step(self) -> int:
        """How many tokens are to be evaluated at once."""
        if self.reading_s is None:
            return FIRST_STEP
        return max(LEAST_STEP, min(LONGEST_STEP, int(STEP_S / max(self.reading_s, 1e-9))))

    async def evaluate(self, slot: Slot, prompt: Sequence[int]) -> int:
        """Evaluate a prompt and say nothing; how many tokens had to be. Raises ServerError."""
        body = {"prompt": list(prompt), "n_predict": 0, "cache_prompt": True, "id_slot": slot.id}
        try:
            said = await self._client.asked("/completion", body)
        finally:  # cancelled or not, it is evaluated to its end
            slot.tokens = list(prompt)
        return self.evaluated(said)

    def evaluated(self, said: Any) -> int:
        """How many tokens of a prompt were evaluated, as the end of an answer has it; the pace is kept."""
        timings = said.get("timings") if isinstance(said, dict) else None
        match timings:
            case {"prompt_n": int(count), "prompt_ms": float() | int() as ms} if 0 <= count <= self.context:
                if count >= LEAST_STEP and 0 <= ms < LONGEST_MS:
                    self.reading_s = ms / 1000 / count
                return count
        raise unreadable(self._client, "the times of a reply")


def slots_told(told: Any) -> list[dict[str, Any]]:
    """The slots that a server tells of, as far as they can be read."""
    return [each for each in told if isinstance(each, dict)] if isinstance(told, list) else []
