"""What `clew ask` asks, and how the reply is said: its words on stdout, all else on stderr."""

import asyncio
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agent.flat_events import (
    ApprovalWanted,
    Failed,
    GraphProgress,
    MemoryAwaited,
    MemoryReady,
    ModelFailed,
    ModelProgress,
    ModelReady,
    PromptRead,
    ReplyEnded,
    ReplyStarted,
    TokensArrived,
    TurnAccepted,
    Warned,
)
from tui.exit_codes import ExitCode, exit_code_of
from tui.output import SILENCE_S, Narration, put, put_json, say
from tui.state import ASSISTANT, model_step
from tui.termination import Termination
from tui.text import counted, one_line, shown, size_of

if TYPE_CHECKING:
    from agent.events import AgentEvent, Notice

CLIENT = "ask"
NEAR = "own:"  # before a host of this machine or a private network, which needs a yes of its own
THINKING = "thinking …"
FIGURES = (
    "session",
    "turn",
    "reply_turn",
    "truncated",
    "prompt_tokens",
    "evaluated_tokens",
    "completion_tokens",
    "first_token_ms",
    "total_ms",
)


@dataclass(frozen=True, slots=True)
class AskRequest:
    """What to ask and where; `session` may be the beginning of an id, or `last`; None begins a new one."""

    text: str
    session: str | None = None
    project: str | None = None
    system: str | None = None
    model: str | None = None
    turn: str | None = None  # the id that it was sent with already
    references: tuple[str, ...] = ()  # addresses, and whole paths of files, that the chat is to read
    whisper: str | None = None  # the name of the one in a story who alone hears it
    yes: bool = False  # allow what the model asks to change in the memory


class ReplyPrinter:
    """Says the events of one reply: its words on stdout as they come, or one JSON object at the end."""

    def __init__(self, *, as_json: bool = False, narration: Narration | None = None) -> None:
        self._as_json = as_json
        self._narration = narration or Narration()
        self._safe = sys.stdout.isatty()  # a terminal obeys control characters, a pipe wants the words as they are
        self._open_line = False
        self._begun = False  # its words are on stdout
        self._model_failed = False
        self._session = self._turn = ""
        self._speaker = ASSISTANT
        self._over = False  # its reply has ended, or failed
        self.code = ExitCode.OK

    def event(self, event: "AgentEvent") -> None:
        """Say one event. Raises BrokenPipeError when nobody reads any more."""
        match event:
            case TurnAccepted():
                self._narration.clear()
                self._session, self._turn = event.session, event.turn
                say(f"accepted {event.turn}")
                if event.queued:
                    say("Another reply is being written; yours comes after it.")
            case ReplyStarted():
                self._started(event)
            case TokensArrived(text=text) if text:
                self._narration.clear()
                self._begun = not self._as_json
                if not self._as_json:
                    put(shown(text) if self._safe else text, end="")
                    self._open_line = not text.endswith("\n")
            case TokensArrived(thinking=True):
                self._narration.tell(THINKING)
            case PromptRead(done=done, total=total):
                self._narration.tell(f"reading {done:,} of {counted(total, 'token')}")
            case ApprovalWanted(what=what):
                self._narration.clear()
                say(f"allowed by --yes: {what}")
            case ReplyEnded():
                self._ended(event)
            case Failed():
                self._over = True
                self._narration.clear()
                self.end_line()
                say(f"clew: {self._outside_the_chat(event.message)}")
                self.code = self._code_of(event)
            case _:
                pass

    def finish(self) -> None:
        """All is told. What nobody was asked to answer has no reply."""
        if self._turn and not self._over:
            if self._as_json:
                put_json({"reply": None, "session": self._session, "turn": self._turn})
            say("It was said out of character: nobody in the story hears that, and there is no reply.")
        self.end_line()

    def silent(self) -> None:
        """Nothing was said for a while: on a terminal a line is owed."""
        if not self._begun and self._narration.blank:
            self._narration.tell(THINKING)

    def notice(self, notice: "Notice") -> None:
        """Say what goes on beside the reply; only long work is told of where no terminal listens."""
        match notice:
            case ModelProgress(state="fetching") if notice.total:
                done, total = size_of(notice.done), size_of(notice.total)
                self._narration.tell(f"{model_step(notice.state, notice.name)}: {done} of {total}")
            case ModelProgress():
                self._narration.tell(f"{model_step(notice.state, notice.name)} …")
            case MemoryAwaited():
                self._narration.tell(f"{notice.message} …")
            case MemoryReady():
                self._narration.clear()
            case ModelReady():
                self._narration.clear()
            case ModelFailed():
                self._model_failed = True
                self._narration.clear()
            case GraphProgress(state="rebuilding") if notice.total:
                self._narration.tell(f"rebuilding the graph: {notice.done:,} of {counted(notice.total, 'event')}")
            case GraphProgress(state="failed") | Warned():
                self._narration.clear()
                say(f"clew: {notice.message}")
            case _:
                pass

    def preparing(self, done: int, total: int) -> None:
        """The memory is made ready for this version: so many of so many events."""
        self._narration.tell(f"preparing the memory for this version: {done:,} of {total:,} events …")

    def end_line(self) -> None:
        """A reply on stdout ends with a newline, whatever its own last character is."""
        if self._open_line:
            self._open_line = False
            put("")

    def _outside_the_chat(self, message: str) -> str:
        """A message of the agent's with its advice put for someone who has no chat open, where /retry would do."""
        return message.replace(
            "use /retry to get a reply",
            f"`clew --session {self._session}` opens its chat; use /retry there to get a reply",
        )

    def _started(self, event: ReplyStarted) -> None:
        """Say what the model does not see, and in a story who replies."""
        self._speaker = event.speaker
        if event.cut_tokens:
            self._narration.clear()
            unseen = counted(event.cut_tokens, "token")
            say(f"The message is too long for the model, which does not see {unseen} of it. All of it is saved.")
        if event.speaker != ASSISTANT:
            self._narration.clear()
            say(f"{one_line(event.speaker)}:")

    def _ended(self, event: ReplyEnded) -> None:
        self._over = True
        self._narration.clear()
        if self._as_json:
            told = {"reply": event.text} | {name: getattr(event, name) for name in FIGURES}
            put_json(told | ({"speaker": self._speaker} if self._speaker != ASSISTANT else {}))
        self.end_line()
        if event.stop_reason == "failed":
            say(f"clew: The reply failed: {event.error or 'The model gave no reason.'} The partial reply is saved.")
            self.code = ExitCode.FAILED
        elif event.stop_reason == "length":
            say("The reply was cut off at the maximum length (sampling.max_tokens, or the context).")
        elif event.stop_reason == "repeating":
            say("The reply was ended, as it had begun to repeat itself.")

    def _code_of(self, event: Failed) -> ExitCode:
        if event.error is not None:
            return exit_code_of(event.error.exception())
        return ExitCode.UNAVAILABLE if self._model_failed else ExitCode.FAILED


class Interrupts:
    """SIGINT, SIGTERM and SIGHUP while a reply is made: the first one stops it."""

    def __init__(self, stop: Callable[[], bool], termination: Termination) -> None:
        """`stop` stops the reply; False where there is none, and then the task that is this one is given up."""
        self._stop_reply = stop
        self._loop = asyncio.get_running_loop()
        self._task = asyncio.current_task()
        self._termination = termination
        termination.listen(self._met)

    def over(self) -> None:
        """The reply is no more to be stopped: what ends now ends by itself, or in the time that is left for it."""
        self._termination.listen(lambda code: None)

    def _met(self, code: ExitCode) -> None:
        with suppress(RuntimeError):  # the loop has ended: so does the process
            self._loop.call_soon_threadsafe(self._stop)

    def _stop(self) -> None:
        if not self._stop_reply() and self._task is not None:
            self._task.cancel()


async def break_silence(printer: ReplyPrinter) -> None:
    """On a terminal nobody is left without a line for long."""
    while True:
        await asyncio.sleep(SILENCE_S)
        printer.silent()
