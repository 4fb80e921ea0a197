"""What the pages of the memory screen need of it, and what is done to the memory there, each thing with its undoing."""

from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol

from textual.content import Content

from tui.text import one_line

if TYPE_CHECKING:
    from agent.face import Face
    from agent.plans import Plan
    from graph.values import CoreBlock, Observation, Turn
    from tui.memories.view import View
    from tui.state import State


MOST_UNDONE = 100
STANDS_AGAIN = {"candidate": "it is under review again", "active": "it is in use again"}


class SessionChanges:
    """Each work answers with the words for the person.

    `follow` is what the last work or its undoing was about, by its series or name: the mark of the list goes with it.
    """

    def __init__(self, service: "Face", view: "View") -> None:
        self._service = service
        self._view = view
        self._done: list[tuple[str, str, int]] = []
        self.follow: str | None = None

    @property
    def can_undo(self) -> bool:
        """Something was done here that is not undone."""
        return bool(self._done)

    async def _keep(self, about: str, words: str, undone: str) -> str:
        """Remember which change it is, and how things stand once it is undone."""
        self.follow = about
        changes = await self._service.history.changes(limit=1)
        if changes:
            self._done = [*self._done, (about, undone, changes[0].seq)][-MOST_UNDONE:]
        return f"{words}. Press u to undo."

    async def undo(self) -> str:
        """Take the last work back; where nothing was done here, the last change that was made anywhere."""
        if not self._done:
            return f"You {one_line((await self._service.history.undo()).what)}; that has been undone."
        about, undone, seq = self._done.pop()
        await self._service.history.undo(seq)
        self.follow = about
        return f"Undone: {undone}."

    # Observations

    async def promote(self, observation: "Observation") -> str:
        await self._service.memories.promote(observation.id)
        back = "it is under review again"
        words = "Kept: now in use"
        return await self._keep(observation.series, words, back)

    async def reject(self, observation: "Observation") -> str:
        before = _standing(observation)
        await self._service.memories.reject(observation.id)
        words, back = "Rejected: no longer used", STANDS_AGAIN[before]
        return await self._keep(observation.series, words, back)

    async def edit(self, observation: "Observation", text: str) -> str:
        """A candidate in better words, which are the person's own now."""
        if observation.world == self._view.world:
            await self._service.memories.reword(observation.id, text)
        else:  # the person's own words hold here; where it is of, it goes on waiting
            await self._service.memories.correct(observation.id, text, world=self._view.world)
        words, back = (
            "Edited: now in use in your words",
            f"{STANDS_AGAIN[_standing(observation)]}, with its earlier text",
        )
        return await self._keep(observation.series, words, back)

    async def correct(self, observation: "Observation", text: str) -> str:
        await self._service.memories.correct(observation.id, text, world=self._view.world)
        words, back = "Corrected: the earlier version is kept", "it has its earlier text again"
        return await self._keep(observation.series, words, back)

    async def synthesize(self, one: "Observation", other: "Observation", text: str) -> str:
        """A memory made from two, in the world that is shown."""
        made = await self._service.syntheses.make(one.id, other.id, text, world=self._view.world)
        return await self._keep(made.series, "Made from both", "it is no longer there")

    async def pin(self, observation: "Observation") -> str:
        world = None if self._view.world == observation.world else self._view.world
        if observation.pinned:
            await self._service.memories.unpin(observation.id, world=world)
            return await self._keep(observation.series, "Unpinned", "it is pinned again")
        await self._service.memories.pin(observation.id, world=world)
        words = "Pinned: the model will always see it"
        return await self._keep(observation.series, words, "it is no longer pinned")

    # Core blocks, ratings

    async def write_block(self, name: str, text: str, before: "CoreBlock | None") -> str:
        """Write a core block, for the project of the chat or for all; an empty text takes it away."""
        project = before.project if before is not None and not text.strip() else self._view.project
        await self._service.memories.write_block(name, text, world=self._view.world, project=project)
        words = f"“{name}” saved" if text.strip() else f"“{name}” removed"
        was = before.text if before is not None else ""
        back = f"“{name}” {'has its earlier text again' if text.strip() else 'is back'}"
        if not was.strip():
            back = f"“{name}” no longer exists"
        return await self._keep(name, words, back)

    async def rate(self, turns: "Sequence[Turn]", significance: int, before: int) -> str:
        identities = [turn.id for turn in turns]
        await self._service.memories.rate(identities, significance)
        one = len(turns) == 1
        words = f"{'Rated' if one else f'{len(turns)} messages rated'} {significance}"
        was = "the rating was" if one else f"the rating of {len(turns)} messages was"
        back = f"{was} {significance}, now {before} again"
        return await self._keep(f"{before}", words, back)


def _standing(observation: "Observation") -> Literal["candidate", "active"]:
    return "candidate" if observation.status == "candidate" else "active"


NOTHING_LEARNED = (
    "No memories yet. What clew learns as you chat appears here, each memory with its "
    "proof.\n\nUse /remember TEXT to add one yourself."
)
NOTHING_THEN = "Nothing was known then. Press Esc to return to now."
NOTHING_FITS = "No memories match these filters. Press Backspace to clear them."
NOTHING_WAITS = (
    "Nothing to review. Memories that clew is unsure about appear here: press a to keep one, e to edit it or x to "
    "reject it."
)
NO_BLOCKS = (
    "No core blocks yet. Press n to write one: a short text included in every prompt, such as who you "
    "are or how clew should talk to you."
)
NOTHING_RATED = (
    "Nothing is rated yet. After each exchange clew rates how much it matters: 0 routine, 1 notable, "
    "2 significant, 3 pivotal."
)
NO_DOCUMENTS = "No documents yet. Press i to add a file or folder (Markdown, text, code or PDF), or use /ingest PATH."


LEFT = "Nothing was changed."


class Host(Protocol):
    """The screen as its pages see it."""

    proposed: str  # the words that are to stand in the next correction

    @property
    def service(self) -> "Face":
        """What changes the memory."""
        ...

    @property
    def view(self) -> "View":
        """What the pages read from."""
        ...

    @property
    def failures(self) -> tuple[type[Exception], ...]: ...

    @property
    def doing(self) -> "SessionChanges": ...

    @property
    def state(self) -> "State": ...

    def say(self, words: str, *, error: bool = False) -> None:
        """Words for the person, at the foot of the screen."""
        ...

    def do(self, work: Coroutine[Any, Any, str | None], *, reads: bool = False) -> None:
        """Do it, tell what it answers or why it failed, and read the page again; one at a time.

        In a view of the past only what just `reads` is done.
        """
        ...

    def refresh_soon(self) -> None:
        """Read the page and the counts again."""
        ...

    def counted(self) -> None:
        """The page has another count."""
        ...

    async def keeps(self) -> bool:
        """Whether it may be kept for good; in a private chat the person is asked."""
        ...

    async def ask_line(
        self, title: str, value: str = "", *, placeholder: str = "", yes: str = "save"
    ) -> str | None: ...

    async def ask_text(self, title: str, value: str, *, words: str = "") -> str | None: ...

    async def agree(self, title: str, plan: "Callable[[], Awaitable[Plan]]", *, yes: str, words: str = "") -> bool:
        """Show what a plan would do, and do it if the person agrees."""
        ...

    async def confirm(self, title: str, words: str, *, yes: str) -> bool: ...

    def read(self, title: str, words: Content | str) -> None: ...

    def ingest(self, path: str) -> None: ...

    def walk_from(self, table: str, identity: str) -> None:
        """Show a node of the graph with its neighbours."""
        ...

    def go_to(self, session: str, turn: str) -> None:
        """Close, and show a turn where it was said."""
        ...
