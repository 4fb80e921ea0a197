"""The user's leave to change the memory, which a model's tool waits for before it does anything.

Asking and answering are events. Whatever is no answer refuses: a stop, a new message, a face that cannot ask anybody,
the end of the program.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from graph.errors import NotFound
from graph.events import ApprovalAsked, ApprovalGiven, ApprovalRefused
from graph.ids import new_id
from graph.values import Recorded

from .events import ApprovalWanted

Record = Callable[..., list[Recorded]]
CHAT = "chat"


@dataclass(frozen=True, slots=True)
class Request:
    """What a tool wants to change, for which message, in words for people; `kept` is what the log keeps of them.

    `client` said the message.
    """

    session: str
    turn: str
    tool: str
    what: str
    kept: str
    client: str


class Approvals:
    """The requests that wait. `clients` are those that can be asked."""

    def __init__(self, record: Record) -> None:
        self.clients = {CHAT}
        self._record = record
        self._waiting: dict[str, asyncio.Future[bool]] = {}

    async def ask(self, request: Request, tell: Callable[[ApprovalWanted], None]) -> bool:
        """Ask for leave and wait for the answer; whether it was given. Raises LogUnwritable."""
        approval = new_id()
        asked = ApprovalAsked(
            approval=approval, session=request.session, by_turn=request.turn, tool=request.tool, text=request.kept
        )
        if request.client not in self.clients:
            await asyncio.to_thread(self._record, asked, ApprovalRefused(approval=approval))
            return False
        answer = self._waiting[approval] = asyncio.get_running_loop().create_future()
        try:
            await asyncio.to_thread(self._record, asked)
            tell(ApprovalWanted(request.session, request.turn, approval, request.tool, request.what))
            allowed: bool = await answer
            if not allowed:
                await asyncio.to_thread(self._record, ApprovalRefused(approval=approval))
            return allowed
        finally:
            self._waiting.pop(approval, None)

    async def answer(self, approval: str, *, allowed: bool) -> None:
        """Answer one. Raises NotFound if it waits for no answer (any more): then nothing comes of it."""
        waiting = self._waiting.pop(approval, None)
        if waiting is None or waiting.done():
            raise NotFound("That request was already answered, or its reply has ended. Nothing was changed.")
        if allowed:
            await asyncio.to_thread(self._record, ApprovalGiven(approval=approval))
        if not waiting.done():
            waiting.set_result(allowed)

    def refuse_all(self) -> None:
        """No answer comes any more."""
        for waiting in self._waiting.values():
            if not waiting.done():
                waiting.set_result(False)
