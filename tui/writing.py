"""What becomes of what is written: a command is done, a message is sent or waits for the memory, a draft is kept."""

from pathlib import Path
from typing import TYPE_CHECKING

from textual.timer import Timer

from tui import actions
from tui.attaching import CannotAttach, attach
from tui.drafts import Drafts
from tui.editing import Editing
from tui.widgets.completions import Completions
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
        self._doubted = ""  # the text of which it was asked whether a command is meant
        self.editing = Editing(app)

    # Drafts

    def typed(self) -> None:
        """The text has changed."""
        text = self._app.composer.text
        if self._held and text != self._held:
            self._held = ""
            self._app.unsay()
        if text and text != self._doubted:
            self._doubted = ""
        self._offer([] if self.editing.under_way else actions.completions(text))
        if self._timer is None and self._opened:
            self._timer = self._app.set_timer(DRAFT_S, self.keep)

    def keep(self) -> None:
        """Write the draft of the chat on the screen; before there is one, the draft on disk is still to be read."""
        if not self._opened:
            return
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
        session = self._app.current_session
        if self._draft_of is None and session is not None:
            self._drafts.save(None, "")  # the new chat has become a session
        self._draft_of = session
        self._drafts.save(session, self.editing.kept if self.editing.under_way else self._app.composer.text)

    def turn_to(self, session: str | None, *, first: bool) -> None:
        """Another chat comes on the screen: the draft of the one that is left stays with it."""
        self.editing.leave()
        composer, draft = self._app.composer, self._drafts.load(session)
        if not first:
            self.keep()
            composer.put(draft)
        elif draft:  # what was typed before there was a chat follows its draft
            composer.give_back(draft)
        self._draft_of = session
        self._opened = True

    # Sending

    def sent(self, text: str) -> None:
        """Enter was pressed on `text`, and the composer is empty again."""
        app, composer = self._app, self._app.composer
        if self.editing.under_way:
            self._send_edited(text)
            return
        match actions.parse(text):
            case str(explained):
                composer.give_back(text)
                app.say(explained)
            case actions.Command(action, argument):
                composer.remember(text)
                app.perform(action.name, argument)
            case None if not text.strip():
                app.say("There is nothing to send: the message is empty.")
            case None if app.chat is None or not app.state.memory_open:
                composer.give_back(text)
                self._held = text
                app.say("The memory is being opened; this is sent the moment it is.")
            case None if text != self._doubted and (command := actions.meant(text)) is not None:
                self._doubted = text
                composer.give_back(text)
                app.say(f"Did you mean {command.split()[0]}? Tab makes it the command; Enter sends it as it is.")
            case None:
                self._doubted = ""
                self._send(app.chat, text)

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
            self._app.say("Change it first; Esc leaves it as it is." if text.strip() else "The message is empty.")
        elif chat is not None and (whole := self._with_files(text, before=self.editing.original)) is not None:
            self._app.composer.remember(text)
            self.editing.send(chat, whole)

    def _with_files(self, text: str, *, before: str = "") -> str | None:
        """The text with the files it names; None if one cannot go along, which is said, and the text is back."""
        try:
            return attach(text, Path.cwd(), before=before)
        except CannotAttach as error:
            self._app.composer.give_back(text)
            self._app.say(str(error), error=True)
            return None

    def send_held(self) -> None:
        """The memory is open: send what waited for it."""
        if self._held and self._app.composer.text.endswith(self._held):
            self._held = ""
            self._app.composer.action_send()

    # The list of commands

    def _offer(self, found: list[actions.Action]) -> None:
        self._panel.offer(found)
        self._app.composer.choosing = bool(found)

    @property
    def _panel(self) -> Completions:
        return self._app.screen_stack[0].query_one(Completions)

    def close_list(self) -> bool:
        """Take the list of commands away; False if there is none. The text stays."""
        was_open = self._app.composer.choosing
        self._offer([])
        return was_open

    def asked(self, what: str, amount: int) -> bool:
        """A key of the composer that is about the list; False if it is about something else."""
        composer, action = self._app.composer, self._panel.chosen
        if what == "complete" and self._doubted and composer.text == self._doubted:
            composer.put(actions.meant(self._doubted) or "")
        elif what == "choose":
            self._panel.move(amount)
        elif what == "accept" and action is not None:
            composer.put("")
            composer.remember(f"/{action.slash}")
            self._app.perform(action.name)
        elif what == "complete" and action is not None:
            self.complete(action, composer)
        else:
            return False
        return True

    def complete(self, action: actions.Action, composer: Composer) -> None:
        """Put the command into the composer, to go on with its argument."""
        composer.put(f"/{action.slash} ")
        composer.focus()
