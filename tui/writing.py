"""What becomes of what is written: a command is done, a message is sent or waits for the memory, a draft is kept."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from textual.timer import Timer

from tui import actions
from tui.attaching import CannotAttach, FileName, NoFile, attach, file_names
from tui.drafts import Drafts
from tui.editing import Editing
from tui.text import one_line
from tui.widgets.completions import Completion, Completions
from tui.widgets.composer import Composer

if TYPE_CHECKING:
    from tui.app import ClewApp
    from tui.chat import Chat

DRAFT_S = 0.4


class Writing:
    """The composer's part of the app. The draft of each chat is on disk at most DRAFT_S after a key."""

    def __init__(self, app: "ClewApp", drafts: Drafts) -> None:
        self._app = app
        self._drafts = drafts
        self._draft_of: str | None = None
        self._opened = False  # a chat is on the screen
        self._timer: Timer | None = None
        self._held = ""  # the text on which Enter was pressed before the memory was open
        self._doubted = ""  # the text of which it was asked whether a command or a file is meant
        self._coming: list[str] | None = None  # what was sent to a private chat that is being begun; None: none is
        self._apart: dict[str, list[str]] = {}  # what was sent in each private chat, newest first
        self.editing = Editing(app)

    # Drafts

    def typed(self) -> None:
        """The text has changed."""
        text = self._app.composer.text
        if self._held and text != self._held:
            self._held = ""
            self._app.unsay()
        if text and text != self._doubted:
            self._settle_doubt()
        self._offer(self._completions())
        if self._timer is None and self._opened:
            self._timer = self._app.set_timer(DRAFT_S, self.keep)

    def moved(self) -> None:
        """The cursor is elsewhere, where nothing may be to complete."""
        if isinstance(self._panel.chosen, FileName) and self._app.composer.file_typed is None:
            self._offer([])

    def keep(self) -> None:
        """Write the draft of the chat on the screen; before there is one, the draft on disk is still to be read."""
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
        if self._opened and not self.private_comes:
            self._keep(self.editing.kept if self.editing.under_way else self._app.composer.text)

    def _keep(self, draft: str) -> None:
        session = self._app.current_session
        if self._draft_of is None and session is not None:
            self._drafts.save(None, "")  # the new chat has become a session
        self._draft_of = session
        self._drafts.save(session, "" if _begins_private(draft) else draft)

    def turn_to(self, session: str | None, *, first: bool) -> None:
        """Another chat comes on the screen: the draft of the one that is left stays with it."""
        self.editing.leave()
        composer, draft = self._app.composer, self._drafts.load(session)
        if session is not None and session in self._app.state.private:
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
        return self.private_comes or self._app.current_session in self._app.state.private

    @property
    def private_comes(self) -> bool:
        """A private chat is being begun."""
        return self._coming is not None

    def expect_private(self, *, since: bool = False) -> None:
        """A private chat is being begun: from now on nothing that is typed touches the disk or waits in another chat.

        With `since` that holds of what stands in the composer, too: it was typed after the command.
        """
        if self._coming is not None or self._app.chat is None:
            return
        if since:
            self._keep("")
        else:
            self.editing.leave()
            self.keep()
            self._app.composer.put("")
        self._coming = []
        self._app.composer.turn_to([])

    def private_came(self) -> None:
        """The private chat is on the screen: it gets what was sent to it meanwhile."""
        coming, self._coming = self._coming, None
        for text in coming or ():
            self.sent(text)

    def private_failed(self) -> None:
        """There is no private chat, and what was typed for it goes nowhere else."""
        self._coming = None
        self._app.composer.turn_to(self._apart.get(self._app.current_session or ""))
        self._app.composer.put(self._drafts.load(self._app.current_session))

    # Sending

    def sent(self, text: str) -> None:
        """Enter was pressed on `text`, and the composer is empty again."""
        app, composer = self._app, self._app.composer
        if self._coming is not None:
            self._coming.append(text)
            return
        if self.editing.under_way:
            self._send_edited(text)
            return
        match actions.parse(text):
            case str(explained):
                composer.give_back(text)
                app.say(explained)
            case actions.Command(actions.PRIVATE, argument):
                composer.remember(f"/{actions.PRIVATE.slash}")
                self._begin_private(argument)
            case actions.Command(action, argument):
                composer.remember(text)
                app.perform(action.name, argument)
            case None if not text.strip():
                if app.chat is None or app.chat.session is None or not app.chat.service.go_on(app.chat.session):
                    app.say("The message is empty.")
            case None if app.chat is None or not app.state.memory_open:
                composer.give_back(text)
                self._held = text
                app.say("The memory is still opening. Your message will be sent as soon as it is ready.")
            case None if text != self._doubted and (command := actions.meant(text)) is not None:
                self._doubted = text
                composer.give_back(text)
                app.say(
                    f"Did you mean {command.split()[0]}? Press Tab for the command, or Enter to send it as a message."
                )
            case None:
                self._send(app.chat, text)

    def _begin_private(self, first: str = "") -> None:
        """Begin a private chat; `first` is what is said in it first."""
        self.expect_private(since=True)
        if self._coming is None:
            self._app.composer.give_back(f"/{actions.PRIVATE.slash} {first}")
        elif first:
            self._coming.append(first)
        self._app.perform(actions.PRIVATE.name)

    def _send(self, chat: "Chat", text: str) -> None:
        """Send a message, with the files that it names."""
        if (whole := self._with_files(text)) is not None:
            self._app.composer.remember(text)
            chat.send(whole, project=self._app.options.project)

    def _send_edited(self, text: str) -> None:
        """Send what an earlier message is to be instead."""
        chat = self._app.chat
        if not text.strip() or text == self.editing.original:
            self._app.composer.give_back(text)
            self._app.say(
                "Nothing has changed yet. Edit the message, or press Esc to cancel."
                if text.strip()
                else "The message is empty."
            )
        elif chat is not None and (whole := self._with_files(text, before=self.editing.original)) is not None:
            self._app.composer.remember(text)
            self.editing.send(chat, whole)

    def _with_files(self, text: str, *, before: str = "") -> str | None:
        """The text with the files it names; None if one cannot go along, which is said, and the text is back.

        What is no file goes as it is when it is sent once more.
        """
        try:
            whole = attach(text, Path.cwd(), before=before, as_words=text == self._doubted)
        except NoFile as error:
            self._doubted = text
            self._app.composer.give_back(text)
            self._app.say(f"{one_line(str(error))} Nothing was sent. Press Enter again to send it anyway.", error=True)
            return None
        except CannotAttach as error:
            self._app.composer.give_back(text)
            self._app.say(
                f"{one_line(str(error))} Nothing was sent. Your message is still in the composer.", error=True
            )
            return None
        self._settle_doubt()
        return whole

    def _settle_doubt(self) -> None:
        """What was asked about a text does not hold any more: it is sent, or another one is written."""
        if self._doubted:
            self._doubted = ""
            self._app.unsay()

    async def take_back(self, turn: str | None = None) -> None:
        """A message that waits for its turn is not sent: its words are in the composer again. None: the last one."""
        app, chat = self._app, self._app.chat
        queued = [each.turn for each in app.state.queued_in(app.current_session)]
        if chat is None or chat.session is None or not queued or self.editing.under_way:
            return
        session = chat.session
        text = await chat.service.withdraw(session, turn or queued[-1])
        if chat.session == session:
            app.composer.give_back(text)
            app.composer.focus()
            self.keep()
            app.say("Removed from the queue. Press Enter to send it again.")

    def send_held(self) -> None:
        """The memory is open: send what waited for it."""
        if self._held and self._app.composer.text.endswith(self._held):
            self._held = ""
            self._app.composer.action_send()

    # The list of commands, or of files

    def _completions(self) -> Sequence[Completion]:
        composer = self._app.composer
        if not self.editing.under_way and (found := actions.completions(composer.text)):
            return found
        typed = composer.file_typed
        return file_names(typed, Path.cwd()) if typed is not None else []

    def _offer(self, found: Sequence[Completion]) -> None:
        self._panel.offer(found)
        self._app.composer.choosing = bool(found)

    @property
    def _panel(self) -> Completions:
        return self._app.screen_stack[0].query_one(Completions)

    def close_list(self) -> bool:
        """Take the list away; False if there is none. The text stays."""
        was_open = self._app.composer.choosing
        self._offer([])
        return was_open

    def asked(self, what: str, amount: int) -> bool:
        """A key of the composer that is about the list; False if it is about something else."""
        composer, chosen = self._app.composer, self._panel.chosen
        doubted = actions.meant(self._doubted) if composer.text == self._doubted else None
        if what == "complete" and doubted is not None:
            composer.put(doubted)
        elif what == "choose":
            self._panel.move(amount)
        elif what == "accept" and isinstance(chosen, actions.Action):
            composer.put("")
            composer.remember(f"/{chosen.slash}")
            if chosen is actions.PRIVATE:
                self._begin_private()
            else:
                self._app.perform(chosen.name)
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
            self._app.say(f"No file name starts with {one_line(typed)}.")

    def complete(self, chosen: Completion, composer: Composer) -> None:
        """Put the command into the composer, to go on with its argument, or the file's name into the message."""
        if isinstance(chosen, FileName):
            composer.put_file(chosen.mention)
        else:
            composer.put(f"/{chosen.slash} ")
        composer.focus()


def _begins_private(text: str) -> bool:
    """Whether it is the command that begins a private chat, with what is to be said in it."""
    return isinstance(command := actions.parse(text), actions.Command) and command.action is actions.PRIVATE
