"""What becomes of what is written: a command is done, a message sent, edited or kept waiting, a draft kept."""

import asyncio
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from textual.timer import Timer

from tui import actions
from tui.attachments import CannotAttach, FileName, NoFile, attached, file_names, still_meant
from tui.chat_view import ChatView
from tui.latest import Latest
from tui.referring import Referring
from tui.text import one_line
from tui.widgets.banner import Banner
from tui.widgets.composer import Completion, Completions, Composer

if TYPE_CHECKING:
    from tui.chat import Chat

    pass


EDITING = "Editing: Enter saves a new version, Esc cancels"
STILL_EDITING = "Editing"  # before what else there is to say
LEFT = "Edit cancelled. Nothing was changed."


class MessageEdit:
    """The composer's other state. What stood in it before comes back when it is left, or sent."""

    def __init__(self, view: ChatView) -> None:
        self._view = view
        self._turn: str | None = None
        self.original = ""
        self.kept = ""  # what was in the composer before: the draft on disk meanwhile

    @property
    def under_way(self) -> bool:
        """Something is being edited."""
        return self._turn is not None

    def begin(self, turn: str, text: str) -> None:
        """Put a message of the chat on the screen into the composer."""
        composer = self._view.composer
        if not self.under_way:
            self.kept = composer.text
        self._turn, self.original = turn, text
        composer.put(text)
        composer.focus()
        self._view.ui.unsay()
        self._banner.hold(EDITING, STILL_EDITING)

    def leave(self) -> bool:
        """Give up: the composer is as it was before; False if nothing is being edited."""
        if not self.under_way:
            return False
        self._end()
        self._view.composer.put(self.kept)
        self._view.ui.say(LEFT)
        return True

    def send(self, chat: "Chat", text: str, references: Sequence[str] = ()) -> None:
        """Enter was pressed: the chat goes on from the edited message; if it cannot, the text is back to be edited."""
        assert self._turn is not None
        turn, original, kept = self._turn, self.original, self.kept
        self._end()
        composer = self._view.composer
        composer.put(kept)

        def refused(words: str) -> None:
            if chat.session == session:
                self.begin(turn, text)
                self.original, self.kept = original, kept
            self._view.ui.say(words, error=True)

        session = chat.session
        chat.edit(turn, text, references=references, refused=refused)

    def _end(self) -> None:
        self._turn = None
        self._banner.hold("")

    @property
    def _banner(self) -> Banner:
        return self._view.banner


DRAFT_S = 0.4


class ComposerController:
    """What becomes of the text in the composer. The draft of each chat is on disk at most DRAFT_S after a key."""

    def __init__(self, view: ChatView) -> None:
        self._view = view
        self._drafts = view.drafts
        self._draft_of: str | None = None
        self._opened = False  # a chat is on the screen
        self._timer: Timer | None = None
        self._held = ""  # the text on which Enter was pressed before the memory was open
        self._doubted = ""  # the text of which it was asked whether a command or a file is meant
        self._coming: list[str] | None = None  # what was sent to a private chat that is being begun; None: none is
        self._apart: dict[str, list[str]] = {}  # what was sent in each private chat, newest first
        self._files: Latest[str, list[FileName]] = Latest(_files_of, self._offer_files)
        self.editing = MessageEdit(view)
        self._referring = Referring(view)

    # Drafts

    def typed(self) -> None:
        """The text has changed."""
        text = self._view.composer.text
        if self._held and text != self._held:
            self._held = ""
            self._view.ui.unsay()
        if text and text != self._doubted:
            self._settle_doubt()
        if text and not self._referring.asked_of(text) and self._referring.settle():
            self._view.ui.unsay()
        self._complete()
        self._view.address()
        if self._timer is None and self._opened:
            self._timer = self._view.app.set_timer(DRAFT_S, self.keep)

    def moved(self) -> None:
        """The cursor is elsewhere, where nothing may be to complete."""
        if isinstance(self._panel.chosen, FileName) and self._view.composer.file_typed is None:
            self._offer([])

    def keep(self) -> None:
        """Write the draft of the chat on the screen; before there is one, the draft on disk is still to be read."""
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
        if self._opened and not self.private_comes:
            self._keep(self.editing.kept if self.editing.under_way else self._view.composer.text)

    def _keep(self, draft: str) -> None:
        session = self._view.session
        if self._draft_of is None and session is not None:
            self._drafts.save(None, "")  # the new chat has become a session
        self._draft_of = session
        self._drafts.save(session, "" if _begins_private(draft) else draft)

    def give_back(self, text: str, session: str | None) -> None:
        """Text that was not sent, or is not to be, is again where it was written: on the screen, or a draft."""
        if session == self._view.session:
            self._view.composer.give_back(text)
        else:
            later = self._drafts.load(session)
            self._drafts.save(session, text + ("\n" if later else "") + later)

    def turn_to(self, session: str | None, *, first: bool) -> None:
        """Another chat comes on the screen: the draft of the one that is left stays with it."""
        self.editing.leave()
        composer, draft = self._view.composer, self._drafts.load(session)
        if session is not None and session in self._view.state.private:
            typed = composer.apart if self.private_comes else None
            self._apart.setdefault(session, typed or [])
        if self.private_comes and session in self._apart:
            pass  # what stands in the composer was typed for this chat
        elif not first:
            self.keep()
            composer.put(draft)
        elif draft:  # what was typed before there was a chat follows its draft
            composer.give_back(draft)
        composer.turn_to(self._apart.get(session or ""))
        self._draft_of = session
        self._opened = True

    # Private chats

    @property
    def private(self) -> bool:
        """What is typed now belongs to a private chat: to the one on the screen, or to one that is being begun."""
        return self.private_comes or self._view.session in self._view.state.private

    @property
    def private_comes(self) -> bool:
        """A private chat is being begun."""
        return self._coming is not None

    def expect_private(self, *, since: bool = False) -> None:
        """A private chat is being begun: from now on nothing that is typed touches the disk or waits in another chat.

        With `since` that holds of what stands in the composer, too: it was typed after the command. Nor does a crash of
        this process, which has it on the screen, leave a core file.
        """
        if self._coming is not None or self._view.chat is None:
            return
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
        if since:
            self._keep("")
        else:
            self.editing.leave()
            self.keep()
            self._view.composer.put("")
        self._coming = []
        self._view.composer.turn_to([])

    def private_came(self) -> None:
        """The private chat is on the screen: it gets what was sent to it meanwhile."""
        coming, self._coming = self._coming, None
        for text in coming or ():
            self.sent(text)

    def private_failed(self) -> None:
        """There is no private chat, and what was typed for it goes nowhere else."""
        self._coming = None
        self._view.composer.turn_to(self._apart.get(self._view.session or ""))
        self._view.composer.put(self._drafts.load(self._view.session))

    # Sending

    def sent(self, text: str) -> None:
        """Enter was pressed on `text`, and the composer is empty again."""
        view, composer = self._view, self._view.composer
        if self._coming is not None:
            self._coming.append(text)
            return
        if self.editing.under_way:
            self._send_edited(text)
            return
        match actions.parse(text):
            case str(explained):
                composer.give_back(text)
                view.ui.say(explained)
            case actions.Command(actions.PRIVATE, argument):
                composer.remember(f"/{actions.PRIVATE.slash}")
                self._begin_private(argument)
            case actions.Command(action, argument):
                composer.remember(text)
                view.ui.perform(action.name, argument)
            case None if not text.strip():
                if view.chat is None or view.chat.session is None or not view.chat.service.go_on(view.chat.session):
                    view.ui.say("The message is empty.")
            case None if view.chat is None or not view.state.memory_open:
                composer.give_back(text)
                self._held = text
                view.ui.say("The memory is still opening. Your message will be sent as soon as it is ready.")
            case None if text != self._doubted and (command := actions.meant(text)) is not None:
                self._doubted = text
                composer.give_back(text)
                view.ui.say(
                    f"Did you mean {command.split()[0]}? Press Tab for the command, or Enter to send it as a message."
                )
            case None if (named := self._named(text)) is not None:
                composer.remember(text)
                if named or self._referring.mentioned(text) or self._referring.brought(text):
                    self._send_along(view.chat, text, named)
                else:
                    view.chat.send(text, project=view.options.project)

    def _send_along(self, chat: "Chat", text: str, named: Sequence[str]) -> None:
        """Send a message with what it names and mentions."""
        project, session = self._view.options.project, chat.session

        def deliver(references: Sequence[str]) -> None:
            if chat.session == session:
                chat.send(text, project=project, references=references)
            else:  # another chat is on the screen meanwhile
                self.give_back(text, session)

        back = partial(self.give_back, text, session)
        self._view.ui.begin(self._referring.bring(chat, text, named, deliver, back))

    async def _accept(self, chat: "Chat", text: str) -> None:
        """Tab was pressed where it was asked whether new hosts may be read: they may, and the message goes."""
        await self._referring.accept(chat)
        if self._view.composer.text == text:
            self._view.composer.put("")
            self._view.ui.unsay()
            self.sent(text)

    def _begin_private(self, first: str = "") -> None:
        """Begin a private chat; `first` is what is said in it first."""
        self.expect_private(since=True)
        if self._coming is None:
            self._view.composer.give_back(f"/{actions.PRIVATE.slash} {first}")
        elif first:
            self._coming.append(first)
        self._view.ui.perform(actions.PRIVATE.name)

    def _send_edited(self, text: str) -> None:
        """Send what an earlier message is to be instead."""
        chat = self._view.chat
        if not text.strip() or text == self.editing.original:
            self._view.composer.give_back(text)
            self._view.ui.say(
                "Nothing has changed yet. Edit the message, or press Esc to cancel."
                if text.strip()
                else "The message is empty."
            )
        elif chat is not None and (named := self._named(text, before=self.editing.original)) is not None:
            self._view.composer.remember(text)
            if not named and not self._referring.mentioned(text) and not self._referring.brought(text):
                self.editing.send(chat, text)
                return

            def deliver(references: Sequence[str]) -> None:
                if self.editing.under_way:
                    self.editing.send(chat, text, references)

            back = partial(self._view.composer.give_back, text)
            self._view.ui.begin(self._referring.bring(chat, text, named, deliver, back))

    def _named(self, text: str, *, before: str = "") -> tuple[str, ...] | None:
        """What the text names with an @; None if one cannot go along, which is said, and the text is back.

        What is no file goes as it is when it is sent once more.
        """
        try:
            brought = self._view.composer.brought_with(text)
            named = attached(text, Path.cwd(), before=before, as_words=text == self._doubted, brought=brought)
        except NoFile as error:
            self._doubted = text
            self._view.composer.give_back(text)
            self._view.ui.say(
                f"{one_line(str(error))} Nothing was sent. Press Enter again to send it anyway.", error=True
            )
            return None
        except CannotAttach as error:
            self._view.composer.give_back(text)
            self._view.ui.say(
                f"{one_line(str(error))} Nothing was sent. Your message is still in the composer.", error=True
            )
            return None
        self._settle_doubt()
        return named

    def _settle_doubt(self) -> None:
        """What was asked about a text does not hold any more: it is sent, or another one is written."""
        if self._doubted:
            self._doubted = ""
            self._view.ui.unsay()

    async def take_back(self, turn: str | None = None) -> None:
        """A message that waits for its turn is not sent: its words are in the composer again. None: the last one."""
        view, chat = self._view, self._view.chat
        queued = [each.turn for each in view.state.queued_in(view.session)]
        if chat is None or chat.session is None or not queued or self.editing.under_way:
            return
        session = chat.session
        text = await chat.service.withdraw(session, turn or queued[-1])
        self.give_back(text, session)
        if chat.session == session:
            view.composer.focus()
            self.keep()
            view.ui.say("Removed from the queue. Press Enter to send it again.")

    def send_held(self) -> None:
        """The memory is open: send what waited for it."""
        if self._held and self._view.composer.text.endswith(self._held):
            self._held = ""
            self._view.composer.action_send()

    # The list of commands, or of files

    def _complete(self) -> None:
        composer = self._view.composer
        commands = [] if self.editing.under_way else actions.completions(composer.text)
        typed = composer.file_typed if not commands else None
        if typed is None:
            self._offer(commands)
            return
        self._offer(still_meant(self._panel.offered, typed))  # until it is known what else there is
        self._view.ui.begin(self._files.ask(typed))

    def _offer_files(self, typed: str, found: Sequence[Completion]) -> None:
        if self._view.composer.file_typed == typed:
            self._offer(found)

    def _offer(self, found: Sequence[Completion]) -> None:
        self._panel.offer(found)
        self._view.composer.choosing = bool(found)

    @property
    def _panel(self) -> Completions:
        return self._view.screen.query_one(Completions)

    def close_list(self) -> bool:
        """Take the list away; False if there is none. The text stays."""
        was_open = self._view.composer.choosing
        self._offer([])
        return was_open

    def asked(self, what: str, amount: int) -> bool:
        """A key of the composer that is about the list; False if it is about something else."""
        composer, chosen = self._view.composer, self._panel.chosen
        doubted = actions.meant(self._doubted) if composer.text == self._doubted else None
        if what == "complete" and doubted is not None:
            composer.put(doubted)
        elif what == "complete" and self._referring.asked_of(composer.text) and self._view.chat is not None:
            self._view.ui.begin(self._accept(self._view.chat, composer.text))
        elif what == "choose":
            self._panel.move(amount)
        elif what == "accept" and isinstance(chosen, actions.Action):
            composer.put("")
            composer.remember(f"/{chosen.slash}")
            if chosen is actions.PRIVATE:
                self._begin_private()
            else:
                self._view.ui.perform(chosen.name)
        elif what in ("accept", "complete") and chosen is not None:
            self.complete(chosen, composer)
        elif what == "complete" and composer.file_typed:
            self._complete_file(composer.file_typed, composer)
        else:
            return False
        return True

    def _complete_file(self, typed: str, composer: Composer) -> None:
        """Tab where no list is open: it was closed, the name is whole, or there is no such file."""
        found = file_names(typed, Path.cwd(), whole=True)
        if len(found) == 1:
            self.complete(found[0], composer)
        elif found:
            self._offer(found)
        else:
            self._view.ui.say(f"No file name starts with {one_line(typed)}.")

    def complete(self, chosen: Completion, composer: Composer) -> None:
        """Put the command into the composer, to go on with its argument, or the file's name into the message."""
        if isinstance(chosen, FileName):
            composer.put_file(chosen.mention)
        else:
            composer.put(f"/{chosen.slash} ")
        composer.focus()


async def _files_of(typed: str) -> list[FileName]:
    return await asyncio.to_thread(file_names, typed, Path.cwd())


def _begins_private(text: str) -> bool:
    """Whether it is the command that begins a private chat, with what is to be said in it."""
    return isinstance(command := actions.parse(text), actions.Command) and command.action is actions.PRIVATE
