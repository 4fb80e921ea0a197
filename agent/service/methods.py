"""What can be asked of the Agent over the socket, and how values cross it: both are read off its methods' annotations.

A method of the Agent or of a part of it is one of three: it answers (a coroutine), it works in steps (a `Work`), or it
streams events. Parameters and results are what pydantic makes of their annotations in JSON; a value whose annotation is
`Any` is JSON already. Methods that take or give what cannot cross, such as models, are not asked from outside.
"""

import inspect
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from pydantic import TypeAdapter, WrapValidator
from pydantic.errors import PydanticSchemaGenerationError, PydanticUserError

from agent.agent import Agent
from agent.asking.queries import Queries
from agent.branches import Branches
from agent.chats import Chats, Projects
from agent.documents import Documents
from agent.entities import Entities
from agent.erasure import Erasure
from agent.events import AgentEvent, Notice
from agent.graph import GraphReader
from agent.history import History
from agent.marks import Marks
from agent.memories import Memories
from agent.models import Models
from agent.outlets import Work
from agent.past import DocumentReader, MemoryReader, PastView, PastViewer, ProjectReader
from agent.planning import Planner
from agent.private import PrivateChats
from agent.proposals import Proposals
from agent.references.attachments import References
from agent.reflections import Reflection
from agent.search import Search
from agent.served import ModelServers
from agent.settings import Settings, as_given
from agent.steps import Approvals
from agent.stories import Stories
from agent.synthesis import Syntheses
from graph.readings.statistics import Statistics

Kind = Literal["answer", "steps", "stream"]

PARTS: Mapping[str, type] = {
    "chats": Chats, "branches": Branches, "memories": Memories, "entities": Entities, "projects": Projects,
    "proposals": Proposals, "plans": Planner, "history": History, "history.marks": Marks, "past": PastViewer,
    "search": Search, "documents": Documents, "graph": GraphReader, "queries": Queries, "models": Models,
    "models.servers": ModelServers,
    "private": PrivateChats, "reflection": Reflection, "erasure": Erasure, "syntheses": Syntheses,
    "approvals": Approvals, "stories": Stories, "references": References,
}  # fmt: skip
OF_PAST: Mapping[str, type] = {
    "": PastView, "graph": GraphReader, "memories": MemoryReader, "projects": ProjectReader,
    "documents": DocumentReader,
}  # fmt: skip
# Of the Agent itself: the rest of it begins and ends it.
OF_AGENT = frozenset(
    (
        "send",
        "watch",
        "retry",
        "regenerate",
        "edit",
        "speak",
        "stop",
        "go_on",
        "withdraw",
        "opened",
        "status",
        "use_settings",
        "idle",
    )
)
OWN = frozenset(
    (
        "models.close", "models.heard", "models.reload", "models.renamed", "private.sweep", "private.end",
        "private.stop", "private.use", "private.folder_of", "private.owner_of", "past.at", "approvals.refuse_all",
        "approvals.ask", "erasure.begin", "history.marks.add_if_due", "references.close",
    )
)  # fmt: skip
# What only reads: where the service is lost meanwhile, it is asked again of the next one.
READING = frozenset(
    (
        "branches.alternatives", "branches.plan_rewind", "branches.plan_switch", "branches.tree", "branches.worlds",
        "chats.all", "chats.exchange", "chats.get", "chats.last", "chats.named", "chats.pinned", "chats.said",
        "chats.thread", "chats.waiting", "documents.all", "documents.chunks", "documents.get", "entities.everyone",
        "entities.find", "erasure.is_left", "graph.around", "graph.ego", "graph.neighbours", "graph.node",
        "graph.provenance", "graph.schema", "graph.statistics", "graph.subgraph", "graph.validate", "history.changes",
        "history.marks.all", "history.marks.find", "history.plan_restore", "history.restores", "idle",
        "memories.blocks", "memories.find", "memories.forgetting", "memories.rated", "memories.review",
        "memories.significance", "memories.story", "memories.whom", "models.doubts", "models.embedder_ready",
        "models.ready", "models.servers.found_here", "models.servers.in_use", "models.servers.models_of",
        "models.servers.names", "opened", "plans.delete", "plans.delete_session", "plans.forget", "plans.hide",
        "plans.plan", "plans.remove_document", "plans.session_deletion", "plans.take_out", "plans.unhide",
        "private.all", "projects.all", "projects.name", "queries.history", "queries.saved",
        "queries.translates_by_model", "references.all", "references.asks", "references.given", "references.read",
        "references.words", "reflection.unreflected", "reflection.waiting", "search.context",
        "search.dossier", "search.newest", "search.overview", "search.quotes", "search.recall",
        "search.recent", "search.themes", "search.words", "status", "stories.all", "stories.card", "stories.changes",
        "stories.decay", "stories.knows", "stories.plots", "stories.scenes", "stories.stage", "stories.ties",
        "stories.cast", "stories.due", "stories.overview", "stories.skip_plan", "stories.named", "stories.seen_by",
    )
)  # fmt: skip
LISTED = (Iterable, Collection, Sequence)


class NotCrossing(TypeError):
    """An annotation of what cannot cross the socket."""


@dataclass(frozen=True)
class Method:
    """One method by its name, such as "memories.find"."""

    name: str
    kind: Kind
    signature: inspect.Signature
    hints: Mapping[str, Any] = field(repr=False)
    gives: Any  # what comes of it, or of a stream an event
    steps: Any = None  # what a step is
    plain: bool = False  # it is no coroutine: it answers at once

    @cached_property
    def result(self) -> TypeAdapter[Any]:
        return adapter(self.gives)

    @cached_property
    def step(self) -> TypeAdapter[Any]:
        return adapter(self.steps)

    @property
    def reads(self) -> bool:
        return self.name in READING

    @cached_property
    def tells(self) -> str | None:
        """The parameter that is called with how far it is, if there is one."""
        return next((name for name, hint in self.hints.items() if _is_callback(hint)), None)

    def packed(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        """Arguments as JSON has them, but for a callback. Raises TypeError for what the method does not take."""
        bound = dict(self.signature.bind(*args, **kwargs).arguments)
        bound |= bound.pop(self._rest, {})
        return {
            name: self._argument(name).dump_python(_portable(value, self._hint(name)), mode="json")
            for name, value in bound.items()
            if name != self.tells
        }

    def unpacked(self, values: Mapping[str, Any]) -> tuple[list[Any], dict[str, Any]]:
        """The arguments of a call, by place and by name. Raises ValidationError, TypeError for what is none of its."""
        made = {name: self._argument(name).validate_python(value) for name, value in values.items()}
        several = [name for name, each in self.signature.parameters.items() if each.kind is each.VAR_POSITIONAL]
        before = list(self.signature.parameters)[: list(self.signature.parameters).index(several[0])] if several else []
        args = [*(made.pop(name) for name in before), *made.pop(several[0], ())] if several else []
        self.signature.bind(*args, **made)  # says what is missing
        return args, made

    @cached_property
    def _rest(self) -> str:
        """The parameter that takes all others by name, if there is one."""
        return next((name for name, each in self.signature.parameters.items() if each.kind is each.VAR_KEYWORD), "")

    @cached_property
    def _more(self) -> Mapping[str, Any]:
        """What others these are."""
        return get_type_hints(get_args(self.hints[self._rest])[0]) if self._rest else {}

    def _hint(self, name: str) -> Any:
        if name in self._more:
            return self._more[name]
        if name not in self.signature.parameters or name in (self.tells, self._rest):
            raise TypeError(f"{self.name} has no parameter {name[:40]!r}")
        hint = self.hints[name]
        several = self.signature.parameters[name].kind is inspect.Parameter.VAR_POSITIONAL
        return tuple[hint, ...] if several else hint  # type: ignore[valid-type]

    def _argument(self, name: str) -> TypeAdapter[Any]:
        return adapter(self._hint(name))


@cache
def methods() -> Mapping[str, Method]:
    """All that can be asked, by name; of a past with "then." before it."""
    asked = [("", Agent, OF_AGENT), *((part, of, None) for part, of in PARTS.items())]
    found = {each.name: each for prefix, of, only in asked for each in _methods(prefix, of, only)}
    then = [each for part, of in OF_PAST.items() for each in _methods(f"then.{part}" if part else "then", of, None)]
    return found | {each.name: each for each in then}


def _methods(prefix: str, of: type, only: frozenset[str] | None) -> Iterable[Method]:
    for name, function in inspect.getmembers(of, inspect.isfunction):
        whole = f"{prefix}.{name}" if prefix else name
        if name.startswith("_") or whole in OWN or (only is not None and name not in only):
            continue
        try:
            yield _method(whole, function)
        except NotCrossing:
            continue


def _method(name: str, function: Callable[..., Any]) -> Method:
    hints = get_type_hints(function, localns={"Statistics": Statistics}, include_extras=True)
    given = hints.pop("return")
    signature = inspect.signature(function)
    signature = signature.replace(parameters=[each for each in signature.parameters.values() if each.name != "self"])
    taken = {key: hint for key, hint in hints.items() if not _is_callback(hint)}
    kind: Kind = "answer"
    steps: Any = None
    gives = given
    if get_origin(given) is Work:
        kind = "steps"
        steps, gives = get_args(given)
    elif get_origin(given) in (AsyncGenerator, AsyncIterator):
        kind, gives = "stream", get_args(given)[0]
    method = Method(name, kind, signature, hints, gives, steps, plain=not inspect.iscoroutinefunction(function))
    for each in (*method._more, *(name for name in taken if name != method._rest)):
        method._argument(each)
    for each in (gives, steps) if gives is not PastView else (steps,):
        if each is not None:
            adapter(each)
    return method


@cache
def adapter(annotation: Any) -> TypeAdapter[Any]:
    """What makes JSON of values of an annotation, and values of JSON. Raises NotCrossing."""
    try:
        return TypeAdapter(_concrete(annotation))
    except (PydanticSchemaGenerationError, PydanticUserError) as error:
        raise NotCrossing(f"{annotation} cannot cross the socket") from error


def adapter_of(value: object) -> TypeAdapter[Any]:
    """The same for a value by what it is."""
    of: Any = type(value)
    return adapter(of)


TOLD = {each.__name__: each for each in (*get_args(AgentEvent), *get_args(Notice))}  # events and notices by their names


def _concrete(annotation: Any) -> Any:
    """The same, of what crosses as something else: with lists for whatever can be gone through, maybe twice."""
    origin, args = get_origin(annotation), get_args(annotation)
    if annotation is Settings:  # which would else take this process's environment for more than what was sent
        return Annotated[Settings, WrapValidator(lambda value, _: as_given(value))]
    if origin in LISTED:
        return tuple[_concrete(args[0]), ...]  # type: ignore[misc]
    if origin in (Union, UnionType):
        return Union[tuple(map(_concrete, args))]  # noqa: UP007 (of as many as there are)
    return annotation


def _portable(value: Any, annotation: Any) -> Any:
    """A value that is gone through only once, as a tuple; a path from the root on, as the service is elsewhere."""
    if isinstance(value, Path):
        return value.expanduser().absolute()
    parts = get_args(annotation) if get_origin(annotation) in (Union, UnionType) else (annotation,)
    goes = any(get_origin(part) in LISTED for part in parts)
    return tuple(value) if goes and not isinstance(value, str | NoneType) else value


def _is_callback(hint: Any) -> bool:
    parts = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    return any(get_origin(part) is Callable or part is Callable for part in parts)
