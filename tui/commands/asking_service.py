"""`clew ask` beside a service: its socket is asked with as little as that takes, for an answer at once.

What an Agent needs is not imported: that takes longer than the first words of the reply.
"""

import asyncio
import signal
from contextlib import suppress
from dataclasses import fields, replace
from typing import Any

from agent import flat_events
from agent.flat_events import ApprovalWanted, ErrorValue, Failed, TurnAccepted
from agent.home import Home
from agent.service.address import elsewhere, found
from agent.service.protocol import Message, ServiceError, ServiceLost
from agent.service.wire import CUT, Wire, streams_to
from graph.ids import new_id
from tui.commands.replies import CLIENT, NEAR, AskRequest, Interrupts, ReplyPrinter, break_silence
from tui.exit_codes import ExitCode
from tui.termination import Termination
from tui.text import clean


def ask_service(home: Home, question: AskRequest, printer: ReplyPrinter) -> ExitCode | AskRequest:
    """Ask the service that runs; how it ended, or where none took it what to ask another with: nothing was said then.

    Raises what the Agent raises where the session is not to be had.
    """
    with Termination(signals=(signal.SIGINT, signal.SIGTERM, signal.SIGHUP)) as termination:
        return asyncio.run(_Asking(replace(question, turn=new_id()), printer, termination).ask(home))


class _Asking:
    """One message to a service, and its reply."""

    def __init__(self, question: AskRequest, printer: ReplyPrinter, termination: Termination) -> None:
        self._question, self._printer, self._termination = question, printer, termination
        self._session: str | None = None
        self._answering: str | None = None

    async def ask(self, home: Home) -> ExitCode | AskRequest:
        """Connect, ask, and take leave."""
        try:
            wire = Wire(await streams_to(elsewhere() or found(home)))
        except (OSError, ServiceError):
            return self._question
        wire.beside = self._beside
        silence = asyncio.create_task(break_silence(self._printer))
        interrupts = Interrupts(lambda: self._stop(wire), self._termination)
        try:
            self._answering = (await wire.hello(name=CLIENT, kind="command"))["answering"]
            await self._converse(wire)
        except ServiceError:  # it went away, or does not understand this clew
            if self._session is None:
                return self._question
            self._printer.event(Failed.because(ServiceLost(CUT), turn=self._question.turn))
        except asyncio.CancelledError:
            if self._termination.code is None:
                raise
        finally:
            silence.cancel()
            interrupts.over()
            await wire.close()
        if self._termination.code is None:
            self._printer.finish()
        else:
            self._printer.end_line()
        return self._printer.code if self._termination.code is None else self._termination.code

    async def _converse(self, wire: Wire) -> None:
        if self._question.yes:
            await wire.ask("asked", {"asked": True})
        told: asyncio.Queue[Message | None] = asyncio.Queue()
        session = await self._chat(wire)
        asked: dict[str, Any] = {
            "session": session,
            "text": self._question.text,
            "project": self._question.project,
            "client": CLIENT,
            "turn": self._question.turn,
        }
        if self._question.whisper is not None:
            named = {"session": session, "name": clean(self._question.whisper)}
            asked["whisper"] = await wire.ask("stories.named", named)
        if self._question.references:
            asked["references"] = list(self._question.references)
            for host in await wire.ask("references.asks", {"addresses": asked["references"]}):
                if not host.startswith(NEAR):
                    await wire.ask("references.allow", {"host": host})
        sent = asyncio.ensure_future(wire.ask("send", asked, told.put_nowait))
        sent.add_done_callback(lambda _: told.put_nowait(None))
        try:
            while (params := await told.get()) is not None:
                await self._event(wire, _made(params))
            await sent
        finally:
            sent.cancel()

    async def _event(self, wire: Wire, event: Any) -> None:
        if isinstance(event, TurnAccepted):
            self._session = event.session
        self._printer.event(event)
        if isinstance(event, ApprovalWanted):
            from graph.errors import NotFound

            with suppress(NotFound):  # stopped meanwhile
                await wire.ask("approvals.answer", {"approval": event.approval, "allowed": True})

    async def _chat(self, wire: Wire) -> str | None:
        """The session to go on with, its system prompt changed as asked; None for a new one without any."""
        question, session = self._question, None
        if question.session is not None:
            session = (await wire.ask("chats.named", {"id": clean(question.session)}))["id"]
        if question.system is None:
            return session
        changed = {"session": session, "system_prompt": question.system, "project": question.project}
        return str(await wire.ask("chats.configure", changed))

    def _beside(self, method: str, params: Message) -> None:
        if method == "state":
            self._answering = params["answering"]
        elif method == "notice":
            self._printer.notice(_made(params))

    def _stop(self, wire: Wire) -> bool:
        """Stop the reply, if it is this one that is in the making."""
        if self._session is None or self._answering != self._session:
            return False
        asyncio.ensure_future(wire.ask("stop", {}))  # noqa: RUF006 (its answer is not waited for)
        return True


def _made(told: Message) -> Any:
    """An event or a notice; None for what has more than plain values in it, which no reply is shown by."""
    of, values = getattr(flat_events, told["k"], None), told["v"]
    if of is None:
        return None
    known = {each.name: values[each.name] for each in fields(of) if each.name in values}  # a later clew tells more
    error = known.get("error")
    return of(**known | {"error": ErrorValue(**error)}) if isinstance(error, dict) else of(**known)
