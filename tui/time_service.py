"""What going back needs of the agent: branches, worlds, deletes with their impact, undoing, marks, the past."""

from collections.abc import AsyncIterator, Collection, Iterable
from contextlib import AbstractAsyncContextManager
from datetime import datetime
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from agent.events import AgentEvent
    from graph.branches import Alternatives, Branch, World
    from graph.impacts import Impact


class Plan(Protocol):
    """What would be done, in words, and what it changes."""

    @property
    def what(self) -> str: ...

    @property
    def impact(self) -> "Impact": ...

    @property
    def notes(self) -> tuple[str, ...]:
        """What else is to be known before it happens."""
        ...


class Change(Protocol):
    """A change in the log; `why_not` says why it cannot be undone."""

    @property
    def seq(self) -> int: ...

    @property
    def at(self) -> datetime: ...

    @property
    def what(self) -> str: ...

    @property
    def undoable(self) -> bool: ...


class Mark(Protocol):
    """A place in the log to come back to."""

    @property
    def id(self) -> str: ...

    @property
    def at(self) -> datetime: ...

    @property
    def reason(self) -> str: ...

    @property
    def session(self) -> str | None:
        """The chat that went back after it."""
        ...

    @property
    def turn(self) -> str | None:
        """Where that went: None is its beginning."""
        ...

    @property
    def name(self) -> str | None: ...


class KeepsTime(Protocol):
    """The part of Agent that branches, deletes and goes back; see agent/branching.py and agent/plans.py."""

    # Branches and worlds

    def regenerate(self, session: str, turn: str | None = None) -> "AsyncIterator[AgentEvent]": ...

    def edit(self, session: str, turn: str, text: str) -> "AsyncIterator[AgentEvent]": ...

    async def rewind_plan(self, session: str, turn: str | None) -> Any: ...

    async def rewind(self, session: str, turn: str | None, *, plan: Any = None) -> Any: ...

    async def switch(self, session: str, turn: str) -> Any: ...

    async def switch_plan(self, session: str, turn: str) -> Any: ...

    async def fork(
        self, session: str, *, at: str | None = None, what_if: bool = False, name: str | None = None
    ) -> str: ...

    async def alternatives(self, session: str, turns: Iterable[str]) -> "dict[str, Alternatives]": ...

    async def tree(self, session: str) -> "tuple[Branch, ...]": ...

    async def worlds(self) -> "list[World]": ...

    # Changes with their impact

    async def plan_delete(self, turn: str, *, exchange: bool = False) -> Any: ...

    async def plan_delete_session(self, session: str) -> Any: ...

    async def plan_remove_document(self, document: str) -> Any: ...

    async def plan_take_out(self, paths: Collection[str]) -> Any: ...

    async def plan_forget(self, id: str) -> Any: ...

    async def plan_hide(self, turn: str, *, exchange: bool = False) -> Any: ...

    async def plan_unhide(self, turn: str, *, exchange: bool = False) -> Any: ...

    async def restores(self, mark: str) -> bool: ...

    async def plan_restore(self, mark: str) -> Any: ...

    async def carry_out(self, plan: Any) -> Any: ...

    async def changes(self, limit: int = ...) -> Any: ...

    async def undo(self, seq: int | None = None) -> Any: ...

    async def marks(self) -> Any: ...

    async def mark(self, name: str) -> Any: ...

    async def unmark(self, id: str) -> Any: ...

    # The past

    def past(self, when: datetime) -> AbstractAsyncContextManager[Any]: ...
