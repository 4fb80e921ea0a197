"""`clew ask`, `regenerate` and `edit`: one message, one streamed reply, in a pipe or on a terminal.

Invariants: `accepted TURN` is on stderr before the model is asked. The first signal stops the reply and keeps what
came; a second Ctrl+C, or a reader that does not read on, ends the process as a kill would, which the log survives.
"""

import asyncio
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from agent.agent import Agent
from agent.events import (
    AgentEvent,
    ApprovalWanted,
    Failed,
    GraphProgress,
    MemoryAwaited,
    MemoryPreparing,
    MemoryReady,
    ModelFailed,
    ModelProgress,
    ModelReady,
    Notice,
    PromptRead,
    ReplyEnded,
    ReplyStarted,
    TokensArrived,
    TurnAccepted,
    Warned,
)
from agent.home import Home
from agent.model_host import Loader
from agent.settings import Settings
from graph.errors import NotFound
from tui.commands.choosing import aim, complete_session, complete_shown, home_of
from tui.commands.waiting import tell_erasing
from tui.exit_codes import ExitCode, exit_code_of
from tui.joining import joined
from tui.output import LONG_S, SILENCE_S, Narration, put, put_json, say
from tui.state import model_step
from tui.termination import Termination
from tui.text import clean, counted, shown, size_of

CLIENT = "ask"
THINKING = "thinking …"
Begin = Callable[[Agent], Awaitable[AsyncIterator[AgentEvent]]]  # what is to be answered, begun with an agent
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
        self._session = ""
        self.code = ExitCode.OK

    def event(self, event: AgentEvent) -> None:
        """Say one event. Raises BrokenPipeError when nobody reads any more."""
        match event:
            case TurnAccepted():
                self._narration.clear()
                self._session = event.session
                say(f"accepted {event.turn}")
            case ReplyStarted(cut_tokens=cut) if cut:
                self._narration.clear()
                unseen = counted(cut, "token")
                say(f"The message is too long for the model, which does not see {unseen} of it. All of it is saved.")
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
                self._narration.clear()
                self.end_line()
                say(f"clew: {self._outside_the_chat(event.message)}")
                self.code = self._code_of(event)
            case _:
                pass

    def silent(self) -> None:
        """Nothing was said for a while: on a terminal a line is owed."""
        if not self._begun and self._narration.blank:
            self._narration.tell(THINKING)

    def notice(self, notice: Notice) -> None:
        """Say what goes on beside the reply; only long work is told of where no terminal listens."""
        match notice:
            case ModelProgress(state="fetching") if notice.total:
                done, total = size_of(notice.done), size_of(notice.total)
                self._narration.tell(f"{model_step(notice.state, notice.name)}: {done} of {total}")
            case ModelProgress():
                self._narration.tell(f"{model_step(notice.state, notice.name)} …")
            case MemoryPreparing(done=done, total=total):
                self._narration.tell(f"preparing the memory for this version: {done:,} of {total:,} events …")
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

    def _ended(self, event: ReplyEnded) -> None:
        self._narration.clear()
        if self._as_json:
            put_json({"reply": event.text} | {name: getattr(event, name) for name in FIGURES})
        self.end_line()
        if event.stop_reason == "failed":
            say(f"clew: The reply failed: {event.error or 'The model gave no reason.'} The partial reply is saved.")
            self.code = ExitCode.FAILED
        elif event.stop_reason == "length":
            say("The reply was cut off at the maximum length (sampling.max_tokens, or the context).")

    def _code_of(self, event: Failed) -> ExitCode:
        if event.error is not None:
            return exit_code_of(event.error.exception())
        return ExitCode.UNAVAILABLE if self._model_failed else ExitCode.FAILED


class Interrupts:
    """SIGINT, SIGTERM and SIGHUP while a reply is made: the first one stops it."""

    def __init__(self, agent: Agent, termination: Termination) -> None:
        self._agent = agent
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
        if not self._agent.stop() and self._task is not None:
            self._task.cancel()


def run_question(
    home: Home, settings: Settings, question: AskRequest, printer: ReplyPrinter, *, loader: Loader | None = None
) -> ExitCode:
    """Ask, and say the answer; how it ended. Raises MemoryFailure, ModelError or AgentError before it is accepted."""
    if question.model is not None and loader is None:
        _check_model(home, question.model)

    async def begin(agent: Agent) -> AsyncIterator[AgentEvent]:
        return agent.send(await _session(agent, question), question.text, project=question.project)

    return run_answer(home, settings, begin, printer, yes=question.yes, loader=loader)


def run_answer(
    home: Home,
    settings: Settings,
    begin: Begin,
    printer: ReplyPrinter,
    *,
    yes: bool = False,
    loader: Loader | None = None,
) -> ExitCode:
    """Say what `begin` has answered; how it ended. With `yes` what the model asks to change in the memory is allowed.

    Raises what `begin` raises, and MemoryFailure where the memory cannot be opened.
    """
    with Termination(signals=(signal.SIGINT, signal.SIGTERM, signal.SIGHUP)) as termination:
        return asyncio.run(_joined(home, settings, begin, printer, termination, loader=loader, yes=yes))


async def _joined(
    home: Home,
    settings: Settings,
    begin: Begin,
    printer: ReplyPrinter,
    termination: Termination,
    *,
    loader: Loader | None,
    yes: bool,
) -> ExitCode:
    """The reply of the service that runs, or of an Agent of this command's own."""
    agent = await joined(
        home,
        settings,
        name=CLIENT,
        kind="command",
        own=lambda: Agent(home, settings, client=CLIENT, brief=True, loader=loader),
    )
    return await _answer(agent, begin, printer, termination, yes=yes)


def _check_model(home: Home, model: str) -> None:
    """Refuse, before anything is stored, a model that is not there and a file that says that it is no chat model.

    Raises ModelError. Only the file's head is read; what else is wrong with a model shows when it is loaded.
    """
    from models.header import read_header
    from models.loading import check_kind
    from models.store import ModelStore

    check_kind(read_header(ModelStore(home.models).path(model)), embeds=False)


async def _answer(
    agent: Agent, begin: Begin, printer: ReplyPrinter, termination: Termination, *, yes: bool
) -> ExitCode:
    notices = asyncio.create_task(_tell(agent.notices(), printer))
    interrupts: Interrupts | None = None
    try:
        await agent.start(load_model=False)
        interrupts = Interrupts(agent, termination)
        await _converse(agent, begin, printer, yes=yes)
        if printer.code is ExitCode.OK and termination.code is None:
            printer.end_line()
            await agent.reflection.run_briefly()  # the reply is out
    except asyncio.CancelledError:
        if termination.code is None:
            raise
    finally:
        if interrupts is not None:
            interrupts.over()
        await tell_erasing(agent)
        await agent.close()
        notices.cancel()
        with suppress(asyncio.CancelledError):
            await notices
    printer.end_line()
    return printer.code if termination.code is None else termination.code


async def _converse(agent: Agent, begin: Begin, printer: ReplyPrinter, *, yes: bool) -> None:
    agent.approvals.clients = {CLIENT} if yes else set()
    silence = asyncio.create_task(_break_silence(printer))
    try:
        async for event in await begin(agent):
            printer.event(event)
            if isinstance(event, ApprovalWanted):
                with suppress(NotFound):  # stopped meanwhile
                    await agent.approvals.answer(event.approval, allowed=True)
    finally:
        silence.cancel()


async def _break_silence(printer: ReplyPrinter) -> None:
    """On a terminal nobody is left without a line for long."""
    while True:
        await asyncio.sleep(SILENCE_S)
        printer.silent()


async def _session(agent: Agent, question: AskRequest) -> str | None:
    """The session to go on with, its settings changed as asked; None for a new one without any.

    A service may answer with another model than the one that is asked for: then the chat has that for its own.
    """
    found = None if question.session is None else await agent.chats.named(clean(question.session))
    changed: dict[str, Any] = {} if question.system is None else {"system_prompt": question.system}
    if question.model not in (None, (found.model if found else None) or agent.settings.model):
        changed["model"] = question.model
    if changed:
        return await agent.chats.configure(found.id if found else None, project=question.project, **changed)
    return found.id if found else None


async def _tell(notices: AsyncIterator[Notice], printer: ReplyPrinter) -> None:
    """Pass notices on; that work began is told again if nothing was heard since, for where only long work counts."""
    again: asyncio.TimerHandle | None = None
    try:
        async for notice in notices:
            if again is not None:
                again.cancel()
            printer.notice(notice)
            late = isinstance(notice, ModelProgress)
            again = asyncio.get_running_loop().call_later(LONG_S, printer.notice, notice) if late else None
    finally:
        if again is not None:
            again.cancel()


MOST_BYTES = 8 << 20


def ask(
    ctx: typer.Context,
    message: Annotated[
        list[str] | None, typer.Argument(metavar="MESSAGE", help="The message; piped text is added to it.")
    ] = None,
    session: Annotated[
        str | None,
        typer.Option(
            metavar="ID",
            help="Continue this chat, or the `last` one; without it, start a new chat.",
            autocompletion=complete_session,
        ),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(metavar="NAME|PATH", help="The model that answers; a chat with its own model changes to it."),
    ] = None,
    project: Annotated[str | None, typer.Option(metavar="NAME", help="The project of a new chat.")] = None,
    system: Annotated[
        str | None, typer.Option(metavar="TEXT", help="The system prompt of the chat, from here on.")
    ] = None,
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Allow the model to change the memory; otherwise it may not.")
    ] = False,
    no_attach: Annotated[bool, typer.Option("--no-attach", help="Send `@file` in MESSAGE as plain text.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object when the reply is complete.")] = False,
) -> None:
    """Ask something and print the reply. `@file` in MESSAGE attaches the text of that file.

    `accepted TURN` on stderr means that the message is saved. Ctrl+C stops the reply and keeps the partial reply.
    """
    text = message_of(message or [], attached=not no_attach)
    from agent.settings import load_settings
    from agent.text import clean_message
    from models.quiet import guard_descriptors

    clean_message(text)  # an empty message is refused before anything is opened
    home = home_of(ctx)
    if model is not None:
        from models.store import ModelStore

        model = ModelStore(home.models).absolute(model)
    settings = load_settings(home.config, **({"model": model} if model is not None else {}))
    guard_descriptors(home.native_log)
    question = AskRequest(
        text,
        session=session,
        project=clean(project) if project is not None else None,
        system=clean(system) if system is not None else None,
        model=model,
        yes=yes,
    )
    raise typer.Exit(run_question(home, settings, question, ReplyPrinter(as_json=as_json)))


def message_of(words: list[str], *, attached: bool = True) -> str:
    """The argument, with the files it names if they are `attached`, then what was piped, a blank line between them."""
    said = " ".join(words)
    return "\n\n".join(part for part in (_with_files(said) if attached else said, _piped()) if part.strip())


def _with_files(said: str) -> str:
    """What was said with the files it names as `@file`; of what is piped, which others may have written, none goes."""
    from tui.attachments import CannotAttach, NoFile, attach

    try:
        return attach(said, Path.cwd())
    except CannotAttach as error:
        say(f"clew: {error} Nothing was sent or stored. Correct the name, or add --no-attach to send it as words.")
        raise typer.Exit(ExitCode.NOT_FOUND if isinstance(error, NoFile) else ExitCode.BAD_DATA) from error


def _piped() -> str:
    """What stdin has, if it is a pipe or a file; bytes that are no UTF-8 become replacement characters."""
    if sys.stdin is None or sys.stdin.closed or sys.stdin.isatty():
        return ""
    raw = sys.stdin.buffer.read(MOST_BYTES + 1)
    if len(raw) > MOST_BYTES:
        say(f"clew: What was piped is longer than {MOST_BYTES >> 20} MiB, so nothing was sent or stored. Shorten it.")
        raise typer.Exit(ExitCode.BAD_DATA)
    return raw.decode("utf-8", "replace")


def regenerate(
    ctx: typer.Context,
    id: Annotated[
        str | None,
        typer.Argument(
            metavar="SESSION|REPLY",
            help="A reply, the message it answers, or a chat (its last reply). Without it: the last chat.",
            autocompletion=complete_shown,
        ),
    ] = None,
    session: Annotated[
        str | None, typer.Option(metavar="ID", help="The chat to use, if not the one with the message: a fork of it.")
    ] = None,
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Allow the model to change the memory; otherwise it may not.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object when the reply is complete.")] = False,
) -> None:
    """Regenerate a reply. Both versions are kept, and the chat continues from the new one.

    If you stop it before the first word (Ctrl+C), the chat is unchanged. `clew tree` shows all versions.
    """
    from agent.settings import load_settings
    from graph.reader import LogReader
    from models.quiet import guard_descriptors

    home = home_of(ctx)
    reader = LogReader.open(home.memory)
    of, turn = aim(reader, id, session)
    reader.close()
    settings = load_settings(home.config)
    guard_descriptors(home.native_log)

    async def begin(agent: "Agent") -> "AsyncIterator[AgentEvent]":
        return agent.regenerate(of.id, turn.id if turn is not None else None)

    raise typer.Exit(run_answer(home, settings, begin, ReplyPrinter(as_json=as_json), yes=yes))


def edit(
    ctx: typer.Context,
    turn: Annotated[str, typer.Argument(metavar="TURN", help="One of your messages.", autocompletion=complete_shown)],
    text: Annotated[
        list[str] | None, typer.Argument(metavar="TEXT", help="The new text; piped input is added after it.")
    ] = None,
    session: Annotated[
        str | None, typer.Option(metavar="ID", help="The chat to use, if not the one with the message: a fork of it.")
    ] = None,
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Allow the model to change the memory; otherwise it may not.")
    ] = False,
    no_attach: Annotated[
        bool, typer.Option("--no-attach", help="Send `@file` in TEXT as plain text; attach nothing.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object when the reply is complete.")] = False,
) -> None:
    """Edit an earlier message. This starts a new branch with its own reply.

    Nothing is lost: the original and everything after it stay, and `clew tree` shows them.
    """
    words = message_of(text or [], attached=not no_attach)
    from agent.settings import load_settings
    from agent.text import clean_message
    from graph.reader import LogReader
    from models.quiet import guard_descriptors

    clean_message(words)  # nothing to say is refused before anything is opened
    home = home_of(ctx)
    reader = LogReader.open(home.memory)
    of, meant = aim(reader, turn, session)
    reader.close()
    if meant is None:
        raise NotFound(f"{turn} is a chat, not a message of one. `clew show {of.id}` lists its messages.")
    old = meant.id
    settings = load_settings(home.config)
    guard_descriptors(home.native_log)

    async def begin(agent: "Agent") -> "AsyncIterator[AgentEvent]":
        return agent.edit(of.id, old, words)

    raise typer.Exit(run_answer(home, settings, begin, ReplyPrinter(as_json=as_json), yes=yes))
