"""What was learned, in the chat: the notice of it and its undoing, the memory screen, leave to change it, privacy."""

from typing import TYPE_CHECKING

from tui.chat_view import NOT_YET, ChatView
from tui.composer_controller import ComposerController
from tui.ingestion import Ingestion
from tui.navigation import go_to
from tui.state import ChatPlace
from tui.text import cut, one_line
from tui.widgets.composer import Composer
from tui.widgets.dialogs import Confirm
from tui.widgets.message import AssistantMessage, Message, UserMessage
from tui.worlds import world_of

if TYPE_CHECKING:
    from agent.events import Learned, Notice
    from graph.values import Observation, Wanted

NOTICE_S = 45.0
KEYS = " · F4 show · F8 undo"
NOTHING_LEARNED = "Nothing has been learned since clew started. Press F4 to see earlier memories."


class MemoryController:
    """What was learned, for the chat: its notices and the memory screen, which is made when it is asked for."""

    def __init__(self, view: ChatView, writing: ComposerController) -> None:
        self._view = view
        self._writing = writing
        self._learned: tuple[str, ...] = ()  # the ids of what was learned last
        self._shown: str | None = None  # the one that F4 shows, while the notice stands
        self._left_at: str | None = None  # the memory from which the screen led to a message, to come back to
        self._taken_back: list[tuple[str, str]] = []  # ids and their status before F8
        self.ingest = Ingestion(view)
        self._notices = 0

    async def open(
        self,
        page: str = "observations",
        *,
        choose: str | None = None,
        wanted: "Wanted | None" = None,
        told: str = "",
        proposed: str = "",
    ) -> None:
        """The memory screen, until it closes; then where it led to. `proposed` stands in the first correction."""
        from tui.memories.screen import MemoriesScreen

        view = self._view
        if view.chat is None or view.backstage is None:
            view.ui.say(NOT_YET)
            return
        world = await world_of(view.chat.service, view.chat.session)
        screen = MemoriesScreen(
            view,
            self.ingest,
            page=page,
            choose=choose or self._shown or (self._left_at if page == "observations" else None),
            wanted=wanted,
            proposed=proposed,
            world=world,
            project=await view.project(),
        )
        self._unsay()
        if told:
            view.app.call_after_refresh(view.ui.say, told)
        way = await view.ui.ask(screen)
        self._left_at = screen.left_at
        if way is not None:
            await go_to(view, *way)

    # Notices

    def heard(self, notice: "Notice") -> None:
        """Something was learned or changed."""
        from agent.events import GraphProgress, Learned, MemoriesChanged, Proposed

        match notice:
            case Learned():
                self._tell(notice)
                self._refresh()
            case Proposed():
                rest = f" · {one_line(notice.by)} · {notice.review} to review · /review"
                self._say(f"Proposed: {one_line(notice.text)}", rest)
                self._refresh()
            case MemoriesChanged():
                self._refresh()
            case GraphProgress():
                self._refresh()

    def _refresh(self) -> None:
        self._view.refresh_soon()

    def _tell(self, learned: "Learned") -> None:
        if not learned.observations:
            return
        self._learned = tuple(identity for identity, _ in learned.observations)
        self._taken_back = []
        self._shown = self._learned[0]
        more = len(self._learned) - 1
        rest = (f" +{more}" if more else "") + (f" · {learned.review} to review" if learned.review else "")
        self._say(f"Learned: {one_line(learned.observations[0][1])}", f"{rest}{KEYS}")

    def _say(self, words: str, rest: str) -> None:
        """A quiet line above the composer, for a while."""
        self._notices += 1
        self._composer.notice(words, rest)
        self._view.app.set_timer(NOTICE_S, lambda number=self._notices: self._unsay(number))

    def _unsay(self, number: int | None = None) -> None:
        """The notice goes, if it is still that one."""
        if number is None or number == self._notices:
            self._shown = None
            self._composer.notice("", "")

    @property
    def _composer(self) -> Composer:
        return self._view.composer

    async def undo_learned(self) -> None:
        """What was learned last is rejected; once more, it is brought back."""
        view = self._view
        if view.chat is None or not self._learned:
            view.ui.say(NOTHING_LEARNED)
            return
        service = view.chat.service
        if self._taken_back:
            back, self._taken_back = self._taken_back, []
            for identity, status in back:
                await service.memories.restore(identity, "candidate" if status == "candidate" else "active")
            view.ui.say("Restored.")
            return
        for identity in self._learned:
            status = (await service.memories.story(identity)).observation.status
            if status in ("candidate", "active"):
                await service.memories.reject(identity)
                self._taken_back.append((identity, status))
        self._unsay()
        count = len(self._taken_back)
        what = "The memory is" if count == 1 else f"{count} memories are"
        view.ui.say(f"{what} no longer used. Press F8 again to restore." if count else "Nothing was changed.")

    def point_at(self, identity: str) -> None:
        """F4 shows this one, while it is told of."""
        self._shown = identity
        self._notices += 1
        self._view.app.set_timer(NOTICE_S, lambda number=self._notices: self._unsay(number))

    # Leave to change the memory

    async def answer(self, approval: str, *, allowed: bool) -> None:
        """Allow or refuse what the model wants to change."""
        view = self._view
        if view.chat is None:
            return
        view.chat.answered(approval)
        view.composer.focus()
        if allowed:
            await view.chat.service.approvals.answer(approval, allowed=True)
        else:
            await view.chat.service.approvals.answer(approval, allowed=False)
            view.ui.say("Denied. Nothing was changed.")

    def refuse_waiting(self) -> bool:
        """Refuse what waits for leave; False if nothing does."""
        wanted = self._view.state.approval
        if wanted is None:
            return False
        self._view.ui.begin(self.answer(wanted.approval, allowed=False))
        return True

    # What is kept out of memory

    async def begin_private(self) -> None:
        """A chat of which nothing is kept, on the screen."""
        view = self._view
        if view.chat is None:
            view.ui.say(NOT_YET)
            return
        self._writing.expect_private()
        session = None
        try:
            session = await view.chat.service.private.begin()
        finally:
            if session is None:
                self._writing.private_failed()
        view.drafts.keep_off_disk(session)
        view.chat.begun_private(session)
        view.trail.leave(ChatPlace(view.chat.session, view.transcript.top_turn))
        await view.ui.open_session(session)
        view.composer.focus()
        view.ui.say("Private chat: nothing is saved or learned, and it is gone when you quit. Press Alt+← to leave it.")
        self._writing.private_came()

    async def withhold(self, message: Message) -> None:
        """Keep a message out of memory, or let it be remembered again."""
        view = self._view
        if (
            view.chat is None
            or not isinstance(message, UserMessage | AssistantMessage)
            or (isinstance(message, AssistantMessage) and message.writing)
        ):
            view.ui.say("Only messages and finished replies can be kept out of memory.")
            return
        if view.is_private(view.chat.session):
            view.ui.say("Private chats are never remembered.")
            return
        withheld = not message.withheld
        title, yes = ("Keep “{}” out of memory?", "keep out") if withheld else ("Allow “{}” in memory again?", "allow")
        words = (
            "It stays in this chat. Its reply is kept out of memory too."
            if withheld
            else "Its reply is allowed again too."
        )
        if not await view.ui.ask(Confirm(title.format(cut(message.text or "erased", 48)), words, yes=yes)):
            return
        if withheld:
            await view.chat.service.chats.withhold(message.turn)
        else:
            await view.chat.service.chats.release(message.turn)
        view.chat.withheld(message.turn, withheld=withheld)
        words = "Kept out of memory. It stays in this chat" if withheld else "Allowed in memory again"
        view.ui.say(f"{words}. Press o again to {'allow it' if withheld else 'keep it out'}.")
        view.refresh_panel()

    # Finding one by hand

    async def one_of(self, words: str) -> "Observation | list[Observation]":
        """The observation of that id, or those with these words."""
        from graph.values import Wanted

        assert self._view.chat is not None
        service = self._view.chat.service
        found = await service.memories.find(Wanted(text=words, world=self._view.state.world), limit=20)
        if len(found) == 1:
            return found[0]
        return found

    async def by_id(self, word: str) -> "Observation | None":
        """The observation whose id is, or begins with, this word, as it stands in the world of the chat."""
        view = self._view
        if view.chat is None or view.backstage is None or not looks_like_id(word):
            return None
        try:
            return (await view.chat.service.memories.story(word, world=view.state.world)).observation
        except view.failures:
            return None


def looks_like_id(word: str) -> bool:
    """Whether a word may be the beginning of an id: six characters or more, a digit among them."""
    return 6 <= len(word) <= 26 and word.isalnum() and any(letter.isdigit() for letter in word)
