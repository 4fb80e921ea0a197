"""The two places on a llama-server that a chat's prompt is evaluated in, which trade places as the contexts do here.

A server remembers in each slot what it evaluated last, and evaluates of the next prompt what is new. So as not to lose
the chat's prompt, what is done in the background goes to another slot, where there is one.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from models.errors import ServerRefused
from models.servers.client import ServerClient
from models.servers.llama_tokens import unreadable
from models.servers.pace import FIRST_STEP, Pace

ASIDE = 32  # prompts
LONGEST_MS = 1e9  # what is longer, or no number, is no time that something took


@dataclass(slots=True)
class Slot:
    """A slot, and the tokens that it was last given, as far as is known here."""

    id: int
    tokens: list[int] = field(default_factory=list)

    def common(self, prompt: Sequence[int]) -> int:
        """How many tokens of `prompt` need no evaluation; the last one always does."""
        return shared(self.tokens, prompt)


def shared(evaluated: Sequence[int], prompt: Sequence[int]) -> int:
    """How many tokens of `prompt` need no evaluation where these are evaluated; the last one always does."""
    length = 0
    for one, other in zip(evaluated, prompt, strict=False):
        if one != other:
            break
        length += 1
    return min(length, len(prompt) - 1)


class Slots:
    """The foreground's and the background's, which are one where the server has only one.

    A server may put a prompt aside that another pushes out of its slot, and fetch it when that comes again. Then it has
    to be asked for as far as it went: the first steps of it alone would have the server begin anew.
    """

    def __init__(self, client: ServerClient, ids: Sequence[int], *, context: int) -> None:
        self.context = context
        self.front = Slot(ids[0])
        self.back = Slot(ids[1]) if len(ids) > 1 else self.front
        self.pace = Pace()
        self._client = client
        self._aside: deque[list[int]] = deque(maxlen=ASIDE)
        self._puts_aside = True

    def known(self, slot: Slot, prompt: Sequence[int]) -> int:
        """How many tokens of `prompt` the server has, in the slot or put aside, as far as is known here."""
        return max([slot.common(prompt), *(shared(each, prompt) for each in self._aside)])

    def give(self, slot: Slot, prompt: Sequence[int]) -> None:
        """A slot is given another prompt."""
        if self._puts_aside and slot.common(prompt) * 2 < len(slot.tokens):
            self._aside.append(slot.tokens)
        slot.tokens = list(prompt)

    def nearest(self, prompt: Sequence[int]) -> Slot:
        """The slot that has evaluated more of `prompt`, as the foreground's."""
        if self.back.common(prompt) > self.front.common(prompt):
            self.swap()
        return self.front

    def forget(self) -> None:
        """Nothing is known any more of what the server has."""
        self.front.tokens, self.back.tokens = [], []
        self._aside.clear()

    async def save(self, name: str) -> tuple[list[int], int]:
        """Have the server write the foreground's slot into a file of its own; its tokens, and its bytes.

        Raises ServerError.
        """
        slot, tokens = self.front, list(self.front.tokens)
        match await self._client.asked(f"/slots/{slot.id}?action=save", {"filename": name}):
            case {"n_written": int(size)}:
                return tokens, size
        raise unreadable(self._client, "what it saved")

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

    async def evaluate(self, slot: Slot, prompt: Sequence[int]) -> int:
        """Evaluate a prompt and say nothing; how many tokens had to be. Raises ServerError."""
        expected = len(prompt) - self.known(slot, prompt)
        body = {"prompt": list(prompt), "n_predict": 0, "cache_prompt": True, "id_slot": slot.id}
        try:
            said = await self._client.asked("/completion", body)
        finally:  # cancelled or not, it is evaluated to its end
            self.give(slot, prompt)
        count = self.evaluated(said)
        self.compare(count, expected)
        return count

    def compare(self, count: int, expected: int) -> None:
        """What is put aside is asked for no more where a server had to evaluate it after all: it takes long."""
        if count > expected + FIRST_STEP:
            self._puts_aside = False
            self._aside.clear()

    def evaluated(self, said: Any) -> int:
        """How many tokens of a prompt were evaluated, as the end of an answer has it; the pace is kept."""
        timings = said.get("timings") if isinstance(said, dict) else None
        match timings:
            case {"prompt_n": int(count), "prompt_ms": float() | int() as ms} if 0 <= count <= self.context:
                if 0 <= ms < LONGEST_MS:
                    self.pace.note(count, ms / 1000)
                return count
        raise unreadable(self._client, "the times of a reply")


def slots_told(told: Any) -> list[dict[str, Any]]:
    """The slots that a server tells of, as far as they can be read."""
    return [each for each in told if isinstance(each, dict)] if isinstance(told, list) else []
