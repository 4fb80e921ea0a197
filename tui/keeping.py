"""What was learned, in the chat: the notice of it and its undoing, the memory screen, leave to change it, privacy."""

from dataclasses import replace
from typing import TYPE_CHECKING

from tui import finding
from tui.ingest import Ingest
from tui.text import cut, one_line
from tui.trail import ChatPlace
from tui.widgets.composer import Composer
from tui.widgets.dialogs import Confirm
from tui.widgets.message import Answer, Message, UserMessage
from tui.worlds import world_of

if TYPE_CHECKING:
    from agent.events import Learned, Notice
    from graph.beliefs import Observation, Wanted
    from tui.app import ClewApp
    from tui.memories.screen import MemoriesScreen

NOTICE_S = 45.0
KEYS = " · F4 show · F8 undo"
NOTHING_LEARNED = "Nothing has been learned since clew started. Press F4 to see earlier memories."
MOST_ABOUT = 30


class Keeping:
    """The memory's part of the app: the screen itself is made when it is asked for."""

    def __init__(self, app: "ClewApp") -> None:
        self._app = app
        self._learned: tuple[str, ...] = ()  # the ids of what was learned last
        self._shown: str | None = None  # the one that F4 shows, while the notice stands
        self._left_at: str | None = None  # the memory from which the screen led to a message, to come back to
        self._taken_back: list[tuple[str, str]] = []  # ids and their status before F8
        self.ingest = Ingest(app)
        self._notices = 0

    @property
    def screen(self) -> "MemoriesScreen | None":
        """The memory screen, if it is open."""
        from tui.memories.screen import MemoriesScreen

        return next((each for each in self._app.screen_stack if isinstance(each, MemoriesScreen)), None)

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

        app = self._app
        if app.chat is None or app.backstage is None:
            app.say(finding.NOT_YET)
            return
        world = await world_of(app.chat.service, app.chat.session)
        screen = MemoriesScreen(
            app,
            page=page,
            choose=choose or self._shown or (self._left_at if page == "observations" else None),
            wanted=wanted,
            proposed=proposed,
            world=world,
            project=await self.project(),
        )
        self._unsay()
        if told:
            app.call_after_refresh(app.say, told)
        way = await app.push_screen_wait(screen)
        self._left_at = screen.left_at
        if way is not None:
            await finding.go_to(app, *way)

    # Notices

    def heard(self, notice: "Notice") -> None:
        """Something was learned or changed."""
        from agent.events import GraphProgress, Learned, MemoriesChanged

        match notice:
            case Learned():
                self._tell(notice)
                self._refresh()
            case MemoriesChanged():
                self._refresh()
            case GraphProgress():
                self._refresh()

    def _refresh(self) -> None:
        for screen in self._app.screen_stack[1:]:
            if (refresh := getattr(screen, "refresh_soon", None)) is not None:
                refresh()
        self._app.remembering.refresh_soon()

    def _tell(self, learned: "Learned") -> None:
        if not learned.observations:
            return
        self._learned = tuple(identity for identity, _ in learned.observations)
        self._taken_back = []
        self._shown = self._learned[0]
        more = len(self._learned) - 1
        rest = (f" +{more}" if more else "") + (f" · {learned.review} to review" if learned.review else "")
        self._notices += 1
        self._composer.notice(f"Learned: {one_line(learned.observations[0][1])}", f"{rest}{KEYS}")
        self._app.set_timer(NOTICE_S, lambda number=self._notices: self._unsay(number))

    def _unsay(self, number: int | None = None) -> None:
        """The notice goes, if it is still that one."""
        if number is None or number == self._notices:
            self._shown = None
            self._composer.notice("", "")

    @property
    def _composer(self) -> Composer:
        return self._app.composer

    async def undo_learned(self) -> None:
        """What was learned last is rejected; once more, it is brought back."""
        app = self._app
        if app.chat is None or not self._learned:
            app.say(NOTHING_LEARNED)
            return
        service = app.chat.service
        if self._taken_back:
            back, self._taken_back = self._taken_back, []
            for identity, status in back:
                await service.memories.restore(identity, "candidate" if status == "candidate" else "active")
            app.say("Restored.")
            return
        for identity in self._learned:
            status = (await service.memories.story(identity)).observation.status
            if status in ("candidate", "active"):
                await service.memories.reject(identity)
                self._taken_back.append((identity, status))
        self._unsay()
        count = len(self._taken_back)
        what = "The memory is" if count == 1 else f"{count} memories are"
        app.say(f"{what} no longer used. Press F8 again to restore." if count else "Nothing was changed.")

    def point_at(self, identity: str) -> None:
        """F4 shows this one, while it is told of."""
        self._shown = identity
        self._notices += 1
        self._app.set_timer(NOTICE_S, lambda number=self._notices: self._unsay(number))

    # Leave to change the memory

    async def answer(self, approval: str, *, allowed: bool) -> None:
        """Allow or refuse what the model wants to change."""
        app = self._app
        if app.chat is None:
            return
        app.chat.answered(approval)
        app.composer.focus()
        if allowed:
            await app.chat.service.approvals.answer(approval, allowed=True)
        else:
            await app.chat.service.approvals.answer(approval, allowed=False)
            app.say("Denied. Nothing was changed.")

    def refuse_waiting(self) -> bool:
        """Refuse what waits for leave; False if nothing does."""
        wanted = self._app.state.approval
        if wanted is None:
            return False
        self._app.run_worker(self._app.guarded(self.answer(wanted.approval, allowed=False)))
        return True

    # What is kept out of memory

    def is_private(self, session: str | None) -> bool:
        """Whether nothing of that chat is kept."""
        return session in self._app.state.private

    async def keeps(self, what: str = "a memory you add by hand is") -> bool:
        """Whether what is asked for may be kept for good: in a private chat the person is asked, and no is the rule."""
        app = self._app
        if not self.is_private(app.current_session):
            return True
        words = f"This chat is private, but {what} saved permanently."
        return await app.push_screen_wait(Confirm("Save it permanently?", words, yes="save"))

    async def begin_private(self) -> None:
        """A chat of which nothing is kept, on the screen."""
        app = self._app
        if app.chat is None:
            app.say(finding.NOT_YET)
            return
        app.writing.expect_private()
        session = None
        try:
            session = await app.chat.service.private.begin()
        finally:
            if session is None:
                app.writing.private_failed()
        app.drafts.keep_off_disk(session)
        app.chat.begun_private(session)
        app.trail.leave(ChatPlace(app.chat.session, app.transcript.top_turn))
        await app.open_session(session)
        app.composer.focus()
        app.say("Private chat: nothing is saved or learned, and it is gone when you quit. Press Alt+← to leave it.")
        app.writing.private_came()

    async def withhold(self, message: Message) -> None:
        """Keep a message out of memory, or let it be remembered again."""
        app = self._app
        if (
            app.chat is None
            or not isinstance(message, UserMessage | Answer)
            or (isinstance(message, Answer) and message.writing)
        ):
            app.say("Only messages and finished replies can be kept out of memory.")
            return
        if self.is_private(app.chat.session):
            app.say("Private chats are never remembered.")
            return
        withheld = not message.withheld
        title, yes = ("Keep “{}” out of memory?", "keep out") if withheld else ("Allow “{}” in memory again?", "allow")
        words = (
            "It stays in this chat. Its reply is kept out of memory too."
            if withheld
            else "Its reply is allowed again too."
        )
        if not await app.push_screen_wait(Confirm(title.format(cut(message.text or "erased", 48)), words, yes=yes)):
            return
        if withheld:
            await app.chat.service.chats.withhold(message.turn)
        else:
            await app.chat.service.chats.release(message.turn)
        app.chat.withheld(message.turn, withheld=withheld)
        words = "Kept out of memory. It stays in this chat" if withheld else "Allowed in memory again"
        app.say(f"{words}. Press o again to {'allow it' if withheld else 'keep it out'}.")
        app.remembering.refresh_soon()

    # Finding one by hand

    async def project(self) -> str | None:
        """The project of the chat on the screen, or of the one that the next message begins."""
        chat = self._app.chat
        if chat is None or chat.session is None:
            return self._app.options.project
        return (await chat.service.chats.get(chat.session)).project

    async def one_of(self, words: str) -> "Observation | list[Observation]":
        """The observation of that id, or those with these words."""
        from graph.beliefs import Wanted

        assert self._app.chat is not None
        service = self._app.chat.service
        found = await service.memories.find(Wanted(text=words, world=self._app.state.world), limit=20)
        if len(found) == 1:
            return found[0]
        return found

    async def about(self, name: str) -> "list[Observation]":
        """What was learned about a name, then what has it among its words; nothing while the graph cannot tell."""
        from graph.beliefs import Wanted

        app = self._app
        if app.chat is None or app.backstage is None:
            return []
        try:
            seen = Wanted(world=app.state.world, viewer=await self.project())
            about = await app.chat.service.memories.find(replace(seen, about=name), limit=MOST_ABOUT)
            named = await app.chat.service.memories.find(replace(seen, text=name), limit=MOST_ABOUT)
        except app.backstage.failures:
            return []
        return list({each.id: each for each in (*about, *named)}.values())[:MOST_ABOUT]

    async def by_id(self, word: str) -> "Observation | None":
        """The observation whose id is, or begins with, this word, as it stands in the world of the chat."""
        app = self._app
        if app.chat is None or app.backstage is None or not looks_like_id(word):
            return None
        try:
            return (await app.chat.service.memories.story(word, world=app.state.world)).observation
        except app.backstage.failures:
            return None


def looks_like_id(word: str) -> bool:
    """Whether a word may be the beginning of an id: six characters or more, a digit among them."""
    return 6 <= len(word) <= 26 and word.isalnum() and any(letter.isdigit() for letter in word)
