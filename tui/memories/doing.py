"""What is done to the memory on its screen, each with how it is undone; `u` takes the last thing back."""

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from graph.beliefs import CoreBlock, Observation
    from graph.values import Turn
    from tui.memories.view import View
    from tui.service import Service

MOST_UNDONE = 100
NOTHING = "There is nothing to undo here."
STANDS_AGAIN = {"candidate": "it is under review again", "active": "it is in use again"}


class Doing:
    """Each deed answers with the words for the person; `can_undo` counts what can be taken back.

    `follow` is what the last deed or its undoing was about, by its series or name: the mark of the list goes with it.
    """

    def __init__(self, service: "Service", view: "View") -> None:
        self._service = service
        self._view = view
        self._done: list[tuple[str, str, Callable[[], Awaitable[object]]]] = []
        self.follow: str | None = None

    @property
    def can_undo(self) -> int:
        return len(self._done)

    def _keep(self, about: str, words: str, undone: str, undo: Callable[[], Awaitable[object]]) -> str:
        """Remember how it is undone; `undone` says how things stand then."""
        self.follow = about
        self._done = [*self._done, (about, undone, undo)][-MOST_UNDONE:]
        return f"{words}. u undoes it."

    async def undo(self) -> str:
        """Take the last deed back."""
        if not self._done:
            return NOTHING
        about, undone, undo = self._done.pop()
        await undo()
        self.follow = about
        return f"Undone: {undone}."

    # Observations

    async def promote(self, observation: "Observation") -> str:
        await self._service.promote(observation.id)
        back = "it is under review again"
        words = "Promoted: it is in use now"
        return self._keep(observation.series, words, back, lambda: self._service.restore(observation.id, "candidate"))

    async def reject(self, observation: "Observation") -> str:
        before = _standing(observation)
        await self._service.reject(observation.id)
        words, back = "Rejected: it is not used", STANDS_AGAIN[before]
        return self._keep(observation.series, words, back, lambda: self._service.restore(observation.id, before))

    async def edit(self, observation: "Observation", text: str) -> str:
        """A candidate in better words, which are the person's own now."""
        made = await self._service.reword(observation.id, text)
        words, back = "Edited: it is in use in your words", f"{STANDS_AGAIN[_standing(observation)]}, as it read before"
        return self._keep(observation.series, words, back, lambda: self._take_back(made, observation))

    async def correct(self, observation: "Observation", text: str) -> str:
        made = await self._service.correct(observation.id, text)
        words, back = "Corrected: what it was before is kept behind it", "it reads as it did before you corrected it"
        return self._keep(observation.series, words, back, lambda: self._take_back(made, observation))

    async def _take_back(self, made: "Observation", before: "Observation") -> None:
        """The new revision is rejected; the one before stands again as it stood."""
        if made.id != before.id:
            await self._service.reject(made.id)
        story = await self._service.memory(before.id)
        now = next((each for each in story.revisions if each.id == before.id), story.observation)
        if now.status != before.status and before.status in ("candidate", "active"):
            await self._service.restore(before.id, _standing(before))

    async def pin(self, observation: "Observation") -> str:
        world = None if self._view.world == observation.world else self._view.world

        def pin() -> Awaitable[None]:
            return self._service.pin_memory(observation.id, world=world)

        def unpin() -> Awaitable[None]:
            return self._service.unpin_memory(observation.id, world=world)

        if observation.pinned:
            await unpin()
            return self._keep(observation.series, "Unpinned", "it is pinned again", pin)
        await pin()
        words = "Pinned: it is always given to the model"
        return self._keep(observation.series, words, "it is not pinned any more", unpin)

    # Core blocks, ratings

    async def write_block(self, name: str, text: str, before: "CoreBlock | None") -> str:
        """Write a core block; an empty text takes it away."""
        world = self._view.world
        await self._service.write_block(name, text, world=world)
        words = f"“{name}” is written" if text.strip() else f"“{name}” is gone"
        was = before.text if before is not None else ""
        back = f"“{name}” {'reads as it did before' if text.strip() else 'is there again'}"
        if not was.strip():
            back = f"“{name}” is not there any more"
        return self._keep(name, words, back, lambda: self._service.write_block(name, was, world=world))

    async def rate(self, turns: "Sequence[Turn]", significance: int, before: int) -> str:
        identities = [turn.id for turn in turns]
        await self._service.rate(identities, significance)
        one = len(turns) == 1
        words = f"{'It is' if one else f'{len(turns)} turns are'} rated {significance}"
        was = "the rating was" if one else f"the rating of {len(turns)} turns was"
        back = f"{was} {significance}, it is {before} again"
        return self._keep(f"{before}", words, back, lambda: self._service.rate(identities, before))


def _standing(observation: "Observation") -> Literal["candidate", "active"]:
    return "candidate" if observation.status == "candidate" else "active"
