"""A reply of an Agent, for a command: of one of its own, or of the service that runs.

Invariants: `accepted TURN` is on stderr before the model is asked. The first signal stops the reply and keeps what
came; a second Ctrl+C, or a reader that does not read on, ends the process as a kill would, which the log survives.
"""

import asyncio
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Any

from agent.agent import Agent
from agent.events import AgentEvent, ApprovalWanted, MemoryPreparing, ModelProgress, Notice
from agent.face import Face
from agent.home import Home
from agent.model_host import Loader
from agent.settings import Settings, server_of
from graph.errors import NotFound
from tui.commands.opened import Watch
from tui.commands.replies import CLIENT, NEAR, AskRequest, Interrupts, ReplyPrinter, break_silence
from tui.commands.waiting import tell_erasing
from tui.exit_codes import ExitCode
from tui.joining import joined
from tui.output import LONG_S, Narration
from tui.termination import Termination
from tui.text import clean

Begin = Callable[[Face], Awaitable[AsyncIterator[AgentEvent]]]  # what is to be answered, begun with an agent


def run_question(
    home: Home, settings: Settings, question: AskRequest, printer: ReplyPrinter, *, loader: Loader | None = None
) -> ExitCode:
    """Ask, and say the answer; how it ended. Raises MemoryFailure, ModelError or AgentError before it is accepted."""
    on_server = question.model is not None and server_of(question.model, settings.servers) is not None
    if question.model is not None and loader is None and not on_server:
        _check_model(home, question.model)

    async def begin(agent: Face) -> AsyncIterator[AgentEvent]:
        session = await _session(agent, question)
        heard = await _whispered(agent, session, question.whisper) if question.whisper is not None else {}
        await allow(agent, question.references)
        more: dict[str, Any] = {"references": question.references, **heard}
        return agent.send(session, question.text, project=question.project, turn=question.turn, **more)

    return run_answer(home, settings, begin, printer, yes=question.yes, loader=loader)


async def allow(agent: Face, references: Sequence[str]) -> None:
    """Who names an address on the command line asks for it; what is near needs a yes of its own, and is refused."""
    for host in await agent.references.asks(references):
        if not host.startswith(NEAR):
            await agent.references.allow(host)


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
    narration = Narration()
    agent = await joined(
        home,
        settings,
        name=CLIENT,
        kind="command",
        own=lambda: Agent(home, settings, client=CLIENT, brief=True, loader=loader),
        tell=Watch(narration).take,
    )
    narration.clear()
    return await _answer(agent, begin, printer, termination, yes=yes)


def _check_model(home: Home, model: str) -> None:
    """Refuse, before anything is stored, a model that is not there and a file that says that it is no chat model.

    Raises ModelError. Only the file's head is read; what else is wrong with a model shows when it is loaded.
    """
    from models.header import read_header
    from models.loading import check_kind
    from models.store import ModelStore

    check_kind(read_header(ModelStore(home.models).path(model)), embeds=False)


async def _answer(agent: Face, begin: Begin, printer: ReplyPrinter, termination: Termination, *, yes: bool) -> ExitCode:
    notices = asyncio.create_task(_tell(agent.notices(), printer))
    interrupts: Interrupts | None = None
    try:
        await agent.start(load_model=False)
        interrupts = Interrupts(agent.stop, termination)
        await _converse(agent, begin, printer, yes=yes)
        if printer.code is ExitCode.OK and termination.code is None:
            printer.finish()
            if not _is_shared(agent):
                await agent.reflection.run_briefly()  # the reply is out
    except asyncio.CancelledError:
        if termination.code is None:
            raise
    finally:
        if interrupts is not None:
            interrupts.over()
        if not _is_shared(agent):
            await tell_erasing(agent)
        await agent.close()
        notices.cancel()
        with suppress(asyncio.CancelledError):
            await notices
    printer.end_line()
    return printer.code if termination.code is None else termination.code


def _is_shared(agent: Face) -> bool:
    """Whether it goes on when this command has ended."""
    return bool(getattr(agent, "shared", False))


async def _converse(agent: Face, begin: Begin, printer: ReplyPrinter, *, yes: bool) -> None:
    agent.approvals.clients = {CLIENT} if yes else set()
    silence = asyncio.create_task(break_silence(printer))
    try:
        async for event in await begin(agent):
            printer.event(event)
            if isinstance(event, ApprovalWanted):
                with suppress(NotFound):  # stopped meanwhile
                    await agent.approvals.answer(event.approval, allowed=True)
    finally:
        silence.cancel()


async def _session(agent: Face, question: AskRequest) -> str | None:
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


async def _whispered(agent: Face, session: str | None, name: str) -> dict[str, str]:
    """Who alone hears it. Raises NotFound or AgentError."""
    assert session is not None
    return {"whisper": await agent.stories.named(session, clean(name))}


async def _tell(notices: AsyncIterator[Notice], printer: ReplyPrinter) -> None:
    """Pass notices on; that work began is told again if nothing was heard since, for where only long work counts."""
    again: asyncio.TimerHandle | None = None
    try:
        async for notice in notices:
            if again is not None:
                again.cancel()
            if isinstance(notice, MemoryPreparing):
                printer.preparing(notice.done, notice.total)
                continue
            printer.notice(notice)
            late = isinstance(notice, ModelProgress)
            again = asyncio.get_running_loop().call_later(LONG_S, printer.notice, notice) if late else None
    finally:
        if again is not None:
            again.cancel()
