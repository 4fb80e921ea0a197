"""A small agent in memory for the screen's tests: it keeps the promises of Agent and writes what it is told to."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from agent.errors import AgentError
from agent.events import (
    AgentEvent,
    ApprovalWanted,
    Failed,
    GraphProgress,
    MemoryReady,
    ModelFailed,
    ModelProgress,
    ModelReady,
    Notice,
    QueueHeld,
    RecallDone,
    ReplyEnded,
    ReplyStarted,
    SessionsChanged,
    TokensArrived,
    ToolAsked,
    ToolDone,
    ToolProgress,
    TurnAccepted,
    TurnWithdrawn,
)
from agent.relevance import open_quotes
from agent.settings import Settings
from graph.events import Recalled, Sampling
from graph.hits import About, Filters, Found, Hit, Segment
from graph.statistics import Statistics
from graph.values import Exchange, Session, Turn
from graph.visibility import EVERYONE, Viewer
from tests.tui.fake_graph import FakeGraph
from tests.tui.fake_memory import FakeKeeping
from tests.tui.fake_time import FakeTime

ALL = Filters()
START = datetime(2025, 6, 3, 14, 2, tzinfo=UTC)


class FakeFailure(AgentError):
    """What a fake raises for people to read."""


@dataclass(frozen=True)
class FakeStatus:
    home: str = "/home/you/.local/share/clew"
    starts: int = 3
    uptime_s: float = 62.0
    counts: dict[str, int] = field(default_factory=lambda: {"turns": 12, "sessions": 2})
    graph_ready: bool = True
    model: str | None = None


# The parts of the Agent: what their methods are called here, where that is another name.
PARTS: dict[str, dict[str, str]] = {
    "approvals": {"answer": "answer_approval"},
    "branches": {"plan_rewind": "rewind_plan", "plan_switch": "switch_plan"},
    "chats": {"all": "sessions", "get": "session", "last": "last_session", "named": "session_named"},
    "documents": {"all": "documents"},
    "graph": {"prepare": "prepare_console"},
    "history": {},
    "marks": {"add": "mark", "all": "marks", "remove": "unmark"},
    "memories": {"find": "memories", "pin": "pin_memory", "story": "memory", "unpin": "unpin_memory"},
    "models": {"use": "use_model"},
    "past": {"at": "past"},
    "plans": {
        "delete": "plan_delete",
        "delete_session": "plan_delete_session",
        "forget": "plan_forget",
        "hide": "plan_hide",
        "remove_document": "plan_remove_document",
        "take_out": "plan_take_out",
        "unhide": "plan_unhide",
    },
    "private": {"all": "private_sessions", "begin": "private", "folder": "private_folder"},
    "projects": {"all": "projects", "archive": "archive_project", "make": "make_project"},
    "queries": {
        "history": "query_history",
        "keep": "keep_query",
        "remove": "remove_query",
        "save": "save_query",
        "saved": "saved_queries",
    },
    "search": {"words": "search"},
}


class FakePart:
    """A part of the fake agent: its methods are those of the whole, by other names."""

    def __init__(self, agent: "FakeAgent", part: str) -> None:
        self._agent = agent
        self._part = part

    def __contains__(self, session: object) -> bool:
        return session in self._agent.private_chats

    def __getattr__(self, name: str) -> Any:
        flat = PARTS[self._part].get(name, name)
        if flat == name and name in PARTS:
            return FakePart(self._agent, name)
        own = vars(self._agent).get(flat)  # what a test put in its place
        if own is None or isinstance(own, FakePart):
            return getattr(type(self._agent), flat).__get__(self._agent)
        return own


class FakeAgent(FakeKeeping, FakeTime, FakeGraph):
    """Conversations in dictionaries. `hold` makes replies wait before each word until `go` is set."""

    def __init__(self, *, reply: str = "Hello there.", model_ready: bool = True) -> None:
        super().__init__()
        for part in PARTS:
            setattr(self, part, FakePart(self, part))
        self.reply = reply
        self.approvals_wanted: list[tuple[str, str]] = []  # tool and words: asked before a reply
        self.settings = Settings(system_prompt="You are clew.")
        self.model_ready = model_ready
        self.model_failure: str | None = None
        self.start_failure: Exception | None = None
        self.refusal: str | None = None
        self.no_model: str | None = None  # why no model can answer
        self.reply_failure: str | None = None  # why a reply breaks off after its words
        self.total_ms = 100.0
        self.counted: Statistics | str = "The graph is closed."  # a failure
        self.opening = asyncio.Event()
        self.opening.set()
        self.go = asyncio.Event()
        self.go.set()
        self.turns: dict[str, list[Turn]] = {}
        self.all_sessions: dict[str, Session] = {}
        self.reads: list[tuple[str | None, int | None]] = []
        self.closed = False
        self.used: list[str] = []
        self.asked_about: list[tuple[str, str]] = []  # names, and in which world
        self.hits: list[Hit] = []  # what recall finds for any message
        self.doubted = False  # the model may waste what was recalled for it
        self.note = ""  # why it finds nothing
        self.tools: list[tuple[str, dict[str, str | int | float | None], str]] = []  # called before a reply
        self.missing: dict[str, str] = {}  # what a reply was told instead of quotes
        self.progress: tuple[int, int] | None = None  # of each tool
        self.looking = asyncio.Event()  # a tool waits for it
        self.looking.set()
        self.searched: list[tuple[str, int]] = []
        self.searching = asyncio.Event()  # a search waits for it
        self.searching.set()
        self.search_failure: str | None = None
        self.off_path: dict[str, list[Turn]] = {}
        self._answering: str | None = None
        self._stopped = False
        self._one = asyncio.Lock()
        self._queued: dict[str, list[Turn]] = {}
        self._held: dict[str, asyncio.Event] = {}  # queued messages on hold
        self._withdrawn: dict[str, asyncio.Event] = {}
        self._notices: asyncio.Queue[Notice | None] = asyncio.Queue()
        self._count = 0

    def let_go(self) -> None:
        """Hold nothing back any more."""
        self.go.set()
        self.opening.set()

    # filling

    def add_session(self, name: str | None, *exchanges: tuple[str, str]) -> str:
        identity = f"S{len(self.all_sessions):03}"
        at = START - timedelta(days=len(self.all_sessions))
        self.all_sessions[identity] = Session(
            identity, name, False, "main", None, None, False, False, at, at, 2 * len(exchanges)
        )
        self.turns[identity] = []
        for question, answer in exchanges:
            self._say(identity, "user", question)
            self._say(identity, "assistant", answer)
        return identity

    def _say(self, session: str, role: str, text: str, **more: Any) -> Turn:
        turns = self.turns[session]
        self._count += 1
        turn = Turn(
            f"T{self._count:06}",
            session,
            turns[-1].id if turns else None,
            len(turns),
            role,
            "you" if role == "user" else "assistant",
            text,
            START + timedelta(seconds=self._count),
            "chat",
            **more,
        )
        if not turn.queued:
            turns.append(turn)
        return turn

    def tell(self, notice: Notice) -> None:
        self._notices.put_nowait(notice)

    # Service

    @property
    def answering(self) -> str | None:
        return self._answering

    async def start(self) -> None:
        await self.opening.wait()
        if self.start_failure is not None:
            raise self.start_failure
        self.tell(MemoryReady(sum(len(turns) for turns in self.turns.values()), 0))
        self.tell(GraphProgress("ready"))
        if self.model_failure is not None:
            self.tell(ModelFailed("broken", self.model_failure))
        elif self.model_ready:
            self.tell(ModelReady("smollm2-135m", 8192))
        else:
            self.tell(ModelProgress("fetching", "smollm2-135m", 58_000_000, 135_000_000))

    async def close(self) -> None:
        self.closed = True
        self._notices.put_nowait(None)

    async def notices(self) -> AsyncIterator[Notice]:
        while (notice := await self._notices.get()) is not None:
            yield notice

    async def send(self, session: str | None, text: str, *, project: str | None = None) -> AsyncIterator[AgentEvent]:
        if self.refusal is not None:
            yield Failed(self.refusal)
            return
        new = session is None
        here = session if session is not None else self.add_session(None)
        queued = self._one.locked()
        turn = self._say(here, "user", text, queued=queued)
        if queued:
            self._queued.setdefault(here, []).append(turn)
        yield TurnAccepted(here, turn.id, text, queued, new)
        if not await self._turn_comes(turn):
            yield TurnWithdrawn(here, turn.id)
            return
        try:
            if queued:
                self._queued[here].remove(turn)
                self.turns[here].append(replace(turn, queued=False))
            async for event in self._answer(here, turn.id):
                yield event
        finally:
            self._one.release()

    async def _turn_comes(self, turn: Turn) -> bool:
        """Wait for the one floor there is; False if the message is withdrawn before."""
        withdrawn = self._withdrawn.setdefault(turn.id, asyncio.Event())
        while True:
            taking, leaving = asyncio.ensure_future(self._one.acquire()), asyncio.ensure_future(withdrawn.wait())
            await asyncio.wait({taking, leaving}, return_when=asyncio.FIRST_COMPLETED)
            leaving.cancel()
            if not withdrawn.is_set() and turn.id not in self._held:
                return True
            if not taking.cancel():
                self._one.release()
            if withdrawn.is_set():
                return False
            await self._held[turn.id].wait()

    def go_on(self, session: str) -> bool:
        held = [turn.id for turn in self._queued.get(session, []) if turn.id in self._held]
        for turn in held:
            self._held.pop(turn).set()
        if held:
            self.tell(QueueHeld(session, ()))
        return bool(held)

    async def withdraw(self, session: str, turn: str) -> str:
        waiting = self._queued.get(session, [])
        found = next((each for each in waiting if each.id == turn), None)
        if found is None:
            raise AgentError("That message is being answered or was already answered.")
        waiting.remove(found)
        self._withdrawn[turn].set()
        if (held := self._held.pop(turn, None)) is not None:
            held.set()
        self.tell(QueueHeld(session, tuple(each.id for each in waiting if each.id in self._held)))
        return found.text or ""

    async def _answer(self, session: str, turn: str) -> AsyncIterator[AgentEvent]:
        if self.no_model is not None:
            yield Failed(f"{self.no_model} Your message is saved; use /retry to get a reply.", turn)
            return
        self._answering, self._stopped = session, False
        self._count += 1
        identity = f"R{self._count:06}"
        open_ones = open_quotes(self.hits, self.turn(turn).text or "") if self.doubted else ()
        yield RecallDone(session, turn, "recall", tuple(self.hits), 3.0, self.note, open_ones)
        for number, (tool, arguments, result) in enumerate(self.tools):
            call = f"{identity}C{number}"
            yield ToolAsked(session, turn, call, tool, arguments)
            if self.progress is not None:
                yield ToolProgress(session, turn, call, tool, *self.progress)
            await self.go.wait()
            await self.looking.wait()
            if self._stopped:
                yield ToolDone(session, turn, call, tool, "", error="It was stopped.")
                self._answering = None
                yield Failed(
                    "Stopped before the model was asked. Your message is saved; use /retry to get a reply.", turn
                )
                return
            given = ", ".join(f'{name}="{value}"' for name, value in arguments.items())
            said = self._say(session, "tool", f"{tool}({given})\n{result}")
            self.turns[session][-1] = replace(said, id=call)
            yield ToolDone(session, turn, call, tool, result)
        for number, (tool, what) in enumerate(self.approvals_wanted):
            approval = f"{identity}A{number}"
            yield ApprovalWanted(session, turn, approval, tool, what)
            await self.answered.wait()
        yield ReplyStarted(session, turn, identity, "smollm2-135m", 40)
        words, count = "", 0
        for word in self.reply.replace(" ", " \0").split("\0"):
            await self.go.wait()
            if self._stopped:
                break
            words, count = words + word, count + 1
            yield TokensArrived(session, identity, word, count, 12.5)
            await asyncio.sleep(0)
        reason = "failed" if self.reply_failure else "stopped" if self._stopped else "end"
        recalled = tuple(Recalled(id=hit.id, score=hit.score) for hit in self.hits)
        said = self._say(session, "assistant", words, stop_reason=reason, error=self.reply_failure, recalled=recalled)
        self.turns[session][-1] = replace(said, id=identity)
        self._answering = None
        yield ReplyEnded(
            session,
            turn,
            identity,
            words,
            reason != "end",
            reason,
            self.reply_failure,
            40,
            8,
            count,
            80.0,
            self.total_ms,
            40 + count,
            8192,
        )
        if self.all_sessions[session].name is None:
            self.all_sessions[session] = replace(self.all_sessions[session], name="A first chat")
            self.tell(SessionsChanged(session))

    async def retry(self, session: str) -> AsyncIterator[AgentEvent]:
        last = next(turn for turn in reversed(self.turns[session]) if turn.role != "tool")
        if last.role != "user":
            yield Failed("No message here is waiting for a reply. Nothing was changed.")
            return
        yield TurnAccepted(session, last.id, last.text or "", queued=False, new_session=False)
        async with self._one:
            async for event in self._answer(session, last.id):
                yield event

    def stop(self) -> bool:
        self._stopped = True
        waiting = tuple(turn.id for turn in self._queued.get(self._answering or "", []))
        for turn in waiting:
            self._held.setdefault(turn, asyncio.Event())
        if waiting and self._answering is not None:
            self.tell(QueueHeld(self._answering, waiting))
        self.answered.set()
        self.go.set()
        return self._answering is not None

    async def sessions(self, *, archived: bool = False) -> list[Session]:
        known = (s for s in self.all_sessions.values() if s.archived == archived and not s.deleted)
        return [session for session in known if session.id not in self.private_chats]

    async def private_sessions(self) -> list[Session]:
        return [self.all_sessions[session] for session in self.private_chats]

    async def session(self, session: str) -> Session:
        if session not in self.all_sessions:
            raise FakeFailure(f"There is no chat {session}.")
        return self.all_sessions[session]

    async def thread(self, session: str, *, before: str | None = None, limit: int | None = None) -> list[Turn]:
        self.reads.append((before, limit))
        turns = self.turns[session]
        if before is not None:
            turns = turns[: [turn.id for turn in turns].index(before)]
        return list(turns if limit is None else turns[-limit:] if limit else [])

    async def waiting(self, session: str) -> list[Turn]:
        return list(self._queued.get(session, []))

    async def session_named(self, id: str) -> Session:
        return await self.session(id)

    async def last_session(self) -> str | None:
        found = await self.sessions()
        return found[0].id if found else None

    async def said(self, limit: int = 200) -> list[str]:
        return [t.text or "" for turns in self.turns.values() for t in reversed(turns) if t.role == "user"][:limit]

    async def rename(self, session: str, name: str) -> None:
        self._change(session, name=name, named_by_user=True)

    async def archive(self, session: str) -> None:
        self._change(session, archived=True)

    async def unarchive(self, session: str) -> None:
        self._change(session, archived=False)

    async def delete(self, session: str) -> None:
        self._change(session, deleted=True)

    def _change(self, session: str, **changes: Any) -> None:
        self.all_sessions[session] = replace(self.all_sessions[session], **changes)
        self.tell(SessionsChanged(session))

    async def configure(self, session: str | None, *, project: str | None = None, **changes: Any) -> str:
        here = session if session is not None else self.add_session(None)
        if isinstance(sampling := changes.get("sampling"), Sampling):
            changes["sampling"] = sampling.model_dump()
        self._change(here, **changes)
        return here

    async def use_model(self, name: str, *, session: str | None = None) -> None:
        if name.endswith("broken.gguf"):
            failure = "That file is not a GGUF model. The model before it stays."
            self.tell(ModelFailed(name, failure))
            raise FakeFailure(failure)
        self.used.append(name)
        self.no_model = None
        self.tell(ModelReady(name, 8192))
        if session is None:
            self.settings = self.settings.model_copy(update={"model": name})
        else:
            await self.configure(session, model=name)

    async def use_embedder(self, name: str) -> None:
        self.settings = self.settings.model_copy(update={"embedder": name})

    async def use_settings(self, new: Settings) -> None:
        if new.context > 100_000:
            raise FakeFailure("There is not enough memory for that. The model before it stays.")
        self.settings = new

    # recall and search

    def hit(self, turn: Turn, **more: Any) -> Hit:
        """That turn as recall finds it."""
        name = self.all_sessions[turn.session].name
        return Hit("turn", turn.id, turn.session, name, turn.role, turn.speaker, turn.text or "", turn.at, 1.0, **more)

    def _everything(self) -> list[Turn]:
        return [turn for turns in (*self.turns.values(), *self.off_path.values()) for turn in turns]

    def turn(self, identity: str) -> Turn:
        found = next((turn for turn in self._everything() if turn.id == identity), None)
        if found is None:
            raise FakeFailure(f"There is no turn {identity}.")
        return found

    def say_unanswered(self, session: str, text: str) -> None:
        """A message that clew was ended before answering."""
        self._say(session, "user", text)

    def say_off_path(self, session: str, parent: str, role: str, text: str) -> Turn:
        """A turn that the chat did not go on with."""
        self._count += 1
        turn = Turn(f"A{self._count:06}", session, parent, 0, role, role, text, START, "chat")
        self.off_path.setdefault(session, []).append(turn)
        return turn

    async def search(self, text: str, limit: int = 50) -> list[Found]:
        self.searched.append((text, limit))
        await self.searching.wait()
        if self.search_failure is not None:
            raise FakeFailure(self.search_failure)
        words = text.casefold().split()
        away = {turn.id for turns in self.off_path.values() for turn in turns}
        found = []
        for turn in self._everything():
            said = turn.text or ""
            if words and all(word in said.casefold() for word in words):
                place = said.casefold().index(words[0])
                parts = (said[:place], said[place : place + len(words[0])], said[place + len(words[0]) :])
                snippet = tuple(Segment(part, number == 1) for number, part in enumerate(parts) if part)
                mark: Any = "alternative" if turn.id in away else "hidden" if turn.hidden else ""
                found.append(Found(turn, self.all_sessions[turn.session].name, snippet, mark))
        return found[:limit]

    async def recall(self, query: str, *, limit: int = 10, filters: Filters = ALL) -> list[Hit]:
        return [self.hit(found.turn) for found in await self.search(query, limit)]

    async def about(self, name: str, *, world: str = "main", project: Viewer = EVERYONE) -> About:
        self.asked_about.append((name, world))
        found = [each.turn for each in await self.search(name)]
        return About(name, "word", 0, len(found), None, None, (), tuple(found))

    async def context(self, reply_turn: str) -> list[Hit]:
        known = {hit.id: hit for hit in self.hits}
        recalled = [item.id for item in self.turn(reply_turn).recalled if item.id in known]
        return [known[each] for each in recalled if known[each].kind != "turn" or not self.turn(each).hidden]

    async def quotes(self, replies: Sequence[str]) -> dict[str, tuple[Hit, ...]]:
        return {each: open_quotes(await self.context(each), self._asked(each)) for each in replies if self.doubted}

    def _asked(self, reply: str) -> str:
        turns = next(turns for turns in self.turns.values() if any(turn.id == reply for turn in turns))
        place = [turn.id for turn in turns].index(reply)
        return next((turn.text or "" for turn in reversed(turns[:place]) if turn.role == "user"), "")

    async def missed(self, reply_turn: str) -> str:
        return self.missing.get(reply_turn, "")

    async def exchange(self, turn: str) -> Exchange:
        return Exchange(self.turn(turn), None, None)

    def _replace(self, identity: str, **changes: Any) -> None:
        for turns in (*self.turns.values(), *self.off_path.values()):
            turns[:] = [replace(turn, **changes) if turn.id == identity else turn for turn in turns]

    def _change_turn(self, identity: str, **changes: bool) -> None:
        async def undo() -> None:
            self._replace(identity, **{name: not value for name, value in changes.items()})

        self._replace(identity, **changes)
        self.by_hand("a message", undo)

    async def pin(self, turn: str, *, world: str | None = None) -> None:
        self._change_turn(turn, pinned=True)

    async def unpin(self, turn: str, *, world: str | None = None) -> None:
        self._change_turn(turn, pinned=False)

    async def hide(self, turn: str) -> None:
        self._change_turn(turn, hidden=True)

    async def unhide(self, turn: str) -> None:
        self._change_turn(turn, hidden=False)

    async def pinned(self, *, world: str = "main", project: Viewer = EVERYONE) -> list[Turn]:
        return [turn for turn in self._everything() if turn.pinned]

    async def opened(self, session: str) -> None:
        return None

    async def statistics(self) -> Statistics:
        if isinstance(self.counted, str):
            raise FakeFailure(self.counted)
        return self.counted

    async def status(self) -> FakeStatus:
        return FakeStatus(model="smollm2-135m")
