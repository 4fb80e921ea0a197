"""What the screen knows, as frozen values: the chat and its agent, the memory panel, the places that were left.

Nothing here imports Textual or the agent, so that it is there for the first paint. The conversation itself is not kept
here (the log has it): only what is on its way, the reply being written, messages waiting for one, model and graph.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import PurePath
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from agent.events import (
        ApprovalWanted,
        EmbeddingProgress,
        GraphProgress,
        PromptRead,
        RecallDone,
        ReplyEnded,
        ToolAsked,
    )
    from graph.values import Kind
    from tui.backstage import Choice


ASSISTANT = "assistant"  # who replies in a chat that plays in no story


@dataclass(frozen=True, slots=True)
class Model:
    """The model as the screen shows it; `done` and `total` are bytes while fetching, hundredths while loading."""

    state: Literal["none", "fetching", "loading", "ready", "failed"] = "none"
    name: str = ""
    done: int = 0
    total: int = 0
    context: int = 0
    message: str = ""


@dataclass(frozen=True, slots=True)
class Waiting:
    """A durable message that has no reply yet; `queued` behind one that is being written."""

    session: str
    turn: str
    text: str
    queued: bool


@dataclass(frozen=True, slots=True)
class Reply:
    """The reply being written, whole so far."""

    session: str
    turn: str
    reply_turn: str
    model: str
    prompt_tokens: int
    cut_tokens: int = 0
    text: str = ""
    tokens: int = 0
    tokens_per_second: float = 0.0
    thinking: bool = False
    speaker: str = ASSISTANT  # the name of who replies in a story


@dataclass(frozen=True, slots=True)
class CastMember:
    """Who plays in a story; `seat` is you, host or guest."""

    id: str
    name: str
    seat: str
    present: bool


@dataclass(frozen=True, slots=True)
class Scene:
    """The story that a chat plays in, by its world and its name, and the cast as the chat stands, by seats.

    `facts` say where it stands: the scene, the place, the time with the weather, as far as they are set. `within` is
    the scene that is open, and `set_at` are the messages at which these were set.
    """

    session: str
    world: str
    name: str
    cast: tuple[CastMember, ...]
    facts: tuple[str, ...] = ()
    within: str = ""
    set_at: frozenset[str] = frozenset()

    @property
    def voices(self) -> tuple[CastMember, ...]:
        """Those present whom a model speaks for, the host first."""
        return tuple(each for each in self.cast if each.present and each.seat != "you")

    def member(self, id: str | None) -> CastMember | None:
        """One of the cast by its id."""
        return next((each for each in self.cast if each.id == id), None)

    def called(self, name: str) -> CastMember | None:
        """One of the cast by the name it has now."""
        return next((each for each in self.cast if each.name == name), None)


@dataclass(frozen=True, slots=True)
class Cue:
    """What stands above a message of a story: who speaks, from which seat ("" if that is not known).

    `saw` are the cast by name and seat, and whether each saw it; empty where everybody did.
    """

    name: str
    seat: str = ""
    saw: tuple[tuple[str, str, bool], ...] = ()


@dataclass(frozen=True, slots=True)
class Move:
    """Who of a story's cast seems to have left the scene, or to be back (`here`), to be agreed to."""

    member: str
    name: str
    here: bool


@dataclass(frozen=True, slots=True)
class Passed:
    """What a message of the user seems to tell, to be agreed to: time passes, all go somewhere, the scene is over."""

    sort: Literal["time", "place", "close"]
    words: str


@dataclass(frozen=True, slots=True)
class StoryDraft:
    """What was typed on the page of a new story, which is there again when it is opened anew."""

    name: str = ""
    you: str = ""
    host: str = ""
    host_is: str = ""
    guest: str = ""
    guest_is: str = ""
    scenario: str = ""
    greeting: int = 0


@dataclass(frozen=True, slots=True)
class State:
    """Everything the screen shows beside the messages; the little that is read from the memory is set by `Chat`."""

    memory_open: bool = False
    recovered: int = 0
    graph: "GraphProgress | None" = None  # None: not opened yet
    embedding: "EmbeddingProgress | None" = None  # None: no word of the embedder yet
    recalls: "tuple[RecallDone, ...]" = ()  # the newest ones, oldest first
    private: frozenset[str] = frozenset()  # chats of which nothing is kept
    world: str = "main"  # of the chat on the screen
    what_if: str = ""  # what the what-if of the chat on the screen is called; empty in the main world
    scene: Scene | None = None  # of the chat that was on the screen when it was read last
    reflecting: int = 0  # exchanges still to reflect on in the background
    approval: "ApprovalWanted | None" = None  # what a model waits for leave to change
    read: "PromptRead | None" = None  # how far the model is with a long prompt
    tool: "ToolAsked | None" = None  # the last one called for the reply that has not begun yet
    model: Model = Model()
    loaded: Model | None = None  # stays when another cannot be loaded
    away: tuple[str, ...] = ()  # the other machines that words go to
    chat_model: str = ""  # the one that answers in the chat on the screen
    reply: Reply | None = None
    waiting: tuple[Waiting, ...] = ()
    held: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: MappingProxyType({}))  # by session: on hold
    context: Mapping[str, tuple[int, int]] = field(default_factory=lambda: MappingProxyType({}))  # used, total
    compacting: str | None = None  # the session whose prompt is being shortened
    last: "ReplyEnded | None" = None
    offer: "Choice | None" = None  # a better model that this machine runs
    trouble: str | None = None

    def recall_for(self, turn: str) -> "RecallDone | None":
        """What was recalled for that message, if it was not long ago."""
        return next((recall for recall in reversed(self.recalls) if recall.turn == turn), None)

    def waiting_in(self, session: str | None) -> tuple[Waiting, ...]:
        return tuple(message for message in self.waiting if message.session == session)

    @property
    def coming(self) -> tuple[Waiting, ...]:
        """The messages that will be answered without anybody's word."""
        return tuple(each for each in self.waiting if each.turn not in self.held.get(each.session, ()))

    def queued_in(self, session: str | None) -> tuple[Waiting, ...]:
        """The messages of a chat that wait for their turn, and can be taken back."""
        return tuple(message for message in self.waiting_in(session) if message.queued)

    def reply_in(self, session: str | None) -> Reply | None:
        return self.reply if self.reply is not None and self.reply.session == session else None


RECALLS_KEPT = 8
TOY = "smollm2-135m"  # the model that is for trying clew, and for its tests


def speed_of(reply: "ReplyEnded | None") -> float:
    """Tokens a second that a reply was written with; 0 where there is none, or it is too short to tell."""
    if reply is None or reply.first_token_ms is None or reply.completion_tokens < 2:
        return 0.0
    writing_ms = reply.total_ms - reply.first_token_ms
    return 1000 * (reply.completion_tokens - 1) / writing_ms if writing_ms > 0 else 0.0


def model_label(name: str) -> str:
    """A model for people: its name, or the name of its file without the folder."""
    return PurePath(name).stem if name.endswith(".gguf") else name


def model_step(step: str, name: str) -> str:
    """What is being done with a model: downloading the search model minilm-l6, loading the chat model mine.gguf."""
    from models.catalogue import CATALOGUE
    from tui.text import one_line

    kind = next((entry.kind for entry in CATALOGUE if entry.name == name), "chat")
    doing = "downloading" if step == "fetching" else step
    return f"{doing} the {'search' if kind == 'embed' else 'chat'} model {one_line(name)}"


def used_now(state: State, session: str, used: int) -> Mapping[str, tuple[int, int]]:
    """The context of every session after `session` turned out to use `used` tokens."""
    total = state.context.get(session, (0, 0))[1]
    return MappingProxyType({**state.context, session: (used, total)})


def resumed(state: State, session: str, used: int) -> State:
    """The state after opening a chat whose newest reply left `used` tokens of context; what is known better stays."""
    if session in state.context:
        return state
    return replace(state, context=used_now(state, session, used))


def activity(state: State, session: str | None) -> str:
    """A few words for the status bar: what clew is doing now."""
    if not state.memory_open:
        return "opening"
    read = state.read
    if read is not None and read.session == session:
        return f"reading {read.done:,} of {read.total:,} tokens"
    reply = state.reply
    if reply is not None:
        if reply.session != session:
            return "replying in another chat"
        return "thinking" if reply.thinking or not reply.text else "writing"
    if state.approval is not None and state.approval.session == session:
        return "waiting for permission"
    if state.tool is not None and state.tool.session == session:
        return "looking it up"
    match state.model.state:
        case "fetching":
            return "downloading a model"
        case "loading":
            return f"loading the model{_share(state.model.done, state.model.total)}"
        case "failed":
            return "no model"
        case "ready":
            asked = next((message.turn for message in state.coming if message.session == session), None)
            return "ready" if asked is None else "thinking" if state.recall_for(asked) else "looking in your memory"
        case "none":
            return "starting"


def _share(done: int, total: int) -> str:
    return f" {100 * done // total}%" if total else ""


def graph_trouble(state: State, *, opening: str, until: str, failed: str, following: str = "catching up") -> str:
    """What keeps the graph from being used just now, and what becomes of it `until` then; empty where nothing does."""
    graph = state.graph
    if graph is None or graph.state == "opening":
        return opening
    if graph.state in ("rebuilding", "catching up"):
        share = f" ({100 * graph.done // graph.total}%)" if graph.total else ""
        return f"The graph is {'being rebuilt' if graph.state == 'rebuilding' else following}{share}{until}"
    return failed if graph.state == "failed" else ""


@dataclass(frozen=True, slots=True)
class PackItem:
    """One thing recalled or pinned: where it stands, what it says, and why it is here."""

    turn: str
    session: str
    head: str
    words: str
    why: str = ""
    pinned: bool = False
    hidden: bool = False
    kind: "Kind" = "turn"
    whole: str = ""  # the whole text of a piece of a document


@dataclass(frozen=True, slots=True)
class Pack:
    """The panel: the pinned items, then the recalled ones of `title`; `note` says what is missing, and why."""

    title: str = ""
    world: str = ""  # what the what-if it is of is called; empty for the main world
    recalled: tuple[PackItem, ...] = ()
    pinned: tuple[PackItem, ...] = ()
    more_pinned: int = 0
    note: str = ""


MOST_PLACES = 50


@dataclass(frozen=True, slots=True)
class ChatPlace:
    """A place in a chat: the session (None: a new chat) and the turn at the top of the view (None: the end)."""

    session: str | None
    turn: str | None


class Trail:
    """The places left by jumps, the newest last."""

    def __init__(self) -> None:
        self._places: list[ChatPlace] = []

    def leave(self, place: ChatPlace) -> None:
        """A jump leads away from here."""
        if not self._places or self._places[-1] != place:
            self._places = [*self._places, place][-MOST_PLACES:]

    def back(self) -> ChatPlace | None:
        """The place before the last jump, once; None if there is none."""
        return self._places.pop() if self._places else None
