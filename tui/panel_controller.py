"""The memory panel: which reply it is about, what was recalled for it and why, and what its keys ask for.

What is shown (`Pack`) is pure: made from what the agent hands out, tested without an app.

The reply in focus is the one the reader chose among the messages, or in the panel with ← and →; else the newest.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

from agent.quoting import excerpt
from tui import history_handlers
from tui.chat_view import ROOM_FOR_BOTH, ROOM_FOR_THREE, ChatView, hide
from tui.latest import Latest
from tui.memory_controller import MemoryController
from tui.navigation import answer_at, go_to, question_of, said_in, stop_reply
from tui.node_links import walk_from
from tui.reasons import newer, shared, who, why
from tui.state import Pack, PackItem, State, graph_trouble
from tui.text import cut, one_line, when
from tui.widgets.dialogs import Confirm, Reader
from tui.widgets.memory import MemoryPanel
from tui.widgets.message import AssistantMessage, Message, UserMessage

if TYPE_CHECKING:
    from agent.references.attachments import Given
    from graph.values import Hit, Later, Observation, Turn
    from tui.chat import Chat
    from tui.reasons import Shared


LONGEST = 280  # characters of an item's words; Enter opens all of them
MOST_PINNED = 12
NO_REPLY = "No reply yet. What is recalled for a reply appears here."
RECALL_OFF = "Recall is off (recall = false in config.toml): replies use only this chat."
NOTHING_FITS = "No memories match this message."
NOTHING_THEN = "No memories were used for this reply."
GONE = "What was recalled for this reply has been hidden or erased since."
ROUTES = {
    "recent": "You asked for recent messages: these are the newest, not the best matches.",
    "thread": "You asked about this chat: these are the parts that no longer fit in the prompt.",
    "themes": "You asked for themes: the model was given the themes of the whole memory.",
}
LOOKING = "Searching the memory …"


@dataclass(frozen=True, slots=True)
class PanelRequest:
    """What the panel is asked to show: the reply of that id (None: the one in the making) to the message `turn`.

    `query` is what was looked for by hand instead; then there is no reply.
    """

    reply: str | None = None
    turn: str | None = None
    said: str = ""
    recalled: int = 0
    newest: bool = True
    query: str | None = None


def title_of(wanted: PanelRequest) -> str:
    """What the items below were recalled for."""
    said = wanted.query if wanted.query is not None else wanted.said
    return f"for “{cut(said, 60)}”" if said.strip() else ""


def item_of_hit(
    hit: "Hit", now: datetime, tied: "Shared", later: "Sequence[Later]", *, asked: str, pinned: bool, hidden: bool
) -> PackItem:
    """A hit as an item, below what was said `later`: of long words the stretch that answers best what was asked, as the
    model was given it."""
    said = "".join(f"{when(each.at, now)}, later: {cut(each.text, LONGEST // 3)}\n" for each in later)
    words = said + excerpt(one_line(hit.text), asked, LONGEST - 2 - len(said))  # and a mark at either end
    match hit.kind:
        case "observation":
            head = _joined((when(hit.at, now), "learned"))
        case "chunk":
            head = _joined((when(hit.at, now), cut(hit.session_name or "a document", 40)))
        case _:
            head = _joined(
                (when(hit.at, now), who(hit.role, hit.speaker), _chat(hit.session_name, cut(hit.text, LONGEST)))
            )
    whole = hit.text if hit.kind == "chunk" else ""
    return PackItem(hit.id, hit.session, head, words, why(hit, tied), pinned, hidden, hit.kind, whole)


def item_of_pin(turn: "Turn", now: datetime, names: Mapping[str, str | None], *, hidden: bool) -> PackItem:
    """A pinned turn as an item."""
    words = "erased" if turn.text is None else cut(turn.text, LONGEST)
    parts = (when(turn.at, now), who(turn.role, turn.speaker), _chat(names.get(turn.session), words))
    return PackItem(turn.id, turn.session, _joined(parts), words, "", pinned=True, hidden=hidden or turn.hidden)


def item_of_belief(observation: "Observation", now: datetime) -> PackItem:
    """A pinned observation as an item."""
    words = "erased" if observation.text is None else cut(observation.text, LONGEST)
    head = _joined((when(observation.at, now), "learned"))
    return PackItem(observation.id, "", head, words, "", pinned=True, kind="observation")


def _chat(name: str | None, words: str) -> str:
    """The chat's name, unless it is only the words below it again."""
    line = one_line(name or "")
    return "" if words.startswith(line.rstrip("…")) else cut(line, 22)


def _joined(parts: Sequence[str]) -> str:
    return " · ".join(part for part in parts if part)


def pack_of(
    wanted: PanelRequest,
    hits: "Sequence[Hit]",
    pins: "Sequence[Turn]",
    *,
    state: "State",
    recall_on: bool,
    now: datetime,
    names: Mapping[str, str | None],
    hidden: frozenset[str] = frozenset(),
    beliefs: "Sequence[Observation]" = (),
    read: "Sequence[Given]" = (),
) -> Pack:
    """The panel for what is wanted; `hidden` are the turns that recall leaves out, `names` those of the chats.

    `beliefs` are the pinned observations, `read` is what it was given of references, whose words are kept nowhere.
    """
    pinned_ids = {turn.id for turn in pins} | {belief.id for belief in beliefs}
    asked = wanted.query if wanted.query is not None else wanted.said
    tied, later = shared(hits), newer(hits)
    items = tuple(
        item_of_hit(hit, now, tied, later[hit.id], asked=asked, pinned=hit.id in pinned_ids, hidden=hit.id in hidden)
        for hit in hits
    )
    pinned = (
        *(item_of_belief(belief, now) for belief in beliefs),
        *(item_of_pin(turn, now, names, hidden=turn.id in hidden) for turn in pins),
    )
    recall = state.recall_for(wanted.turn) if wanted.turn is not None else None
    left_out = map(one_line, recall.left_out) if recall is not None else ()
    note = note_of(wanted, bool(items), state, recall_on=recall_on)
    return Pack(
        title_of(wanted),
        state.what_if,
        items,
        pinned[:MOST_PINNED],
        max(0, len(pinned) - MOST_PINNED),
        "\n".join(filter(None, (note if items or not read else "", *left_out, *map(_of_source, read)))),
    )


def _of_source(given: "Given") -> str:
    """One reference that a reply was given, and how it can be told whether it says the same."""
    what = f", {given.passages} passages of it" if given.passages > 1 else ", a passage of it" if given.passages else ""
    day = given.read_at.astimezone()
    return (
        f"Read {day:%-d %b %H:%M}{what}: {cut(one_line(given.address), 80) or 'an erased address'} · {given.hash[:8]}"
    )


def keep_hidden(pack: Pack, before: Pack, hidden: Collection[str]) -> Pack:
    """The pack with what was just hidden from it still at its place, marked, so that it can be brought back there."""
    if pack.title != before.title:
        return pack
    there = {item.turn for item in pack.recalled}
    items = list(pack.recalled)
    for place, item in enumerate(before.recalled):
        if item.turn in hidden and item.turn not in there:
            items.insert(place, replace(item, hidden=True))
    return replace(pack, recalled=tuple(items), note="" if items and not pack.recalled else pack.note)


def note_of(wanted: PanelRequest, found: bool, state: "State", *, recall_on: bool) -> str:
    """Why there is nothing to see, or what the search could not use; empty where nothing needs saying."""
    recall = state.recall_for(wanted.turn) if wanted.turn is not None else None
    if wanted.query is None and wanted.reply is None and wanted.turn is None:
        return NO_REPLY if recall_on else RECALL_OFF
    now = wanted.newest or wanted.query is not None
    trouble = _trouble(state) if now else ""
    if found:
        return trouble or (ROUTES.get(recall.route, "") if recall is not None else "")
    if wanted.recalled and wanted.reply is not None and recall is None:
        return GONE
    if recall is not None and recall.note:
        return one_line(recall.note)
    if not recall_on and wanted.query is None:
        return RECALL_OFF
    if wanted.reply is None and wanted.query is None and recall is None:
        return LOOKING
    fits = NOTHING_FITS if now else NOTHING_THEN
    return f"{fits} {trouble}".strip()


def _trouble(state: "State") -> str:
    """What recall cannot use just now."""
    trouble = graph_trouble(
        state,
        opening="The memory graph is still opening.",
        until="; recall will be complete when that is done.",
        failed="The graph cannot be read, so nothing can be recalled. Run `clew doctor` to find out why.",
    )
    if trouble:
        return trouble
    embedding = state.embedding
    if embedding is not None and embedding.state == "loading":
        return "The embedder is still loading: recall works by words only."
    if embedding is not None and embedding.state == "failed":
        return "No embedder: recall works by words only."
    if embedding is not None and embedding.state == "embedding" and 2 * embedding.done < embedding.total:
        return (
            f"{embedding.done:,} of {embedding.total:,} messages can be found by meaning so far, all of them by words."
        )
    return ""


RECALLED_BY_HAND = 12  # items of /recall
DONE = {"pin": "Pinned", "unpin": "Unpinned", "hide": "Hidden from recall", "unhide": "Unhidden"}
PRIVATE = "This chat is private: nothing is recalled for it, and it is not in the memory."
PINNING = {
    "pin": "The model will always see it.",
    "unpin": "The model will see it only when it is recalled.",
}
TABLES = {"turn": "Turn", "observation": "Observation", "chunk": "Chunk"}  # of the graph, by the kind of an item
UNDOES = {"pin": "unpin", "unpin": "pin", "hide": "unhide", "unhide": "hide"}


class PanelController:
    """What the memory panel shows, and what its keys do; the panel is mounted when it is first asked for."""

    def __init__(self, view: ChatView, memory: MemoryController) -> None:
        self._view = view
        self._memory = memory
        self._message: str | None = None  # the turn of the message in focus; None: the newest reply
        self._query: str | None = None
        self._held: PanelRequest | None = None  # stays on the panel while the reader goes from item to item
        self._done: list[tuple[str, PackItem, int]] = []  # what was done here, to be undone with u: its change's number
        self._hidden: set[str] = set()  # turns hidden here: they stay on the panel, to be brought back
        self._latest: Latest[PanelRequest, tuple[Pack, str]] = Latest(self._read, self._show)

    @property
    def panel(self) -> MemoryPanel | None:
        return self._view.panel

    @property
    def open(self) -> bool:
        """The panel is on the screen."""
        return self.panel is not None and self.panel.display

    @property
    def has_keys(self) -> bool:
        """The panel is on the screen, and the keys go to it."""
        return self._view.panel_has_keys

    # Showing

    async def toggle(self) -> None:
        """Show it; go to it; hide it."""
        if self.has_keys:
            self.hide()
        else:
            await self.show()

    async def show(self, *, message: str | None = None, query: str | None = None) -> None:
        """Show the panel for a message, for words to recall, or for what is in focus; its keys work at once."""
        view, panel = self._view, self.panel
        focused = view.screen.focused
        if message is not None or query is not None:
            self._be_about(message, query)
        elif panel is None or not panel.display:
            self._be_about(focused.turn if isinstance(focused, Message) else None)
        if view.sessions.display and view.width < ROOM_FOR_THREE:
            hide(view)
        if panel is None:
            panel = MemoryPanel(self.refresh_soon)
            await view.screen.query_one("#body").mount(panel)
        panel.display = True
        view.screen.set_class(True, "-remembering")
        panel.take_focus()
        await self.refresh()

    def hide(self) -> None:
        """Back to the chat alone."""
        panel = self.panel
        if panel is not None:
            panel.display = False
        self._view.screen.set_class(False, "-remembering")
        self._be_about(None)
        self._view.composer.focus()

    def make_room(self, width: int) -> None:
        """The terminal is `width` cells wide now: where the panel would cover the message being written, it goes."""
        if width < ROOM_FOR_BOTH and self.open and not self.has_keys:
            self.hide()

    def focus(self, message: Message | None) -> None:
        """The focus went to a message, or back to the composer: the panel is about that one, or the newest."""
        turn = message.turn if message is not None else None
        if self.open and (turn != self._message or self._query is not None or self._held is not None):
            self._be_about(turn)
            self.refresh_soon()

    def renew(self) -> None:
        """There is a newer reply: the panel is about that."""
        self._be_about(None)
        self.refresh_soon()

    def chat_opened(self) -> None:
        """Another chat is on the screen: the panel is about that, unless the panel led there."""
        if self._held is None:
            self.renew()

    def _be_about(self, message: str | None, query: str | None = None) -> None:
        self._message, self._query, self._held = message, query, None

    def refresh_soon(self) -> None:
        """Read again what the panel shows, if it is shown."""
        if self.open:
            self._view.ui.begin(self.refresh())

    async def refresh(self) -> None:
        """Read again what the panel shows."""
        await self._latest.ask(self.wanted())

    # Which reply

    def wanted(self) -> PanelRequest:
        """What the panel is to show now."""
        if self._held is not None:
            return self._held
        if self._query is not None:
            return PanelRequest(query=self._query)
        chat = self._view.chat
        if chat is None:
            return PanelRequest()
        reply, waiting = chat.state.reply_in(chat.session), chat.state.waiting_in(chat.session)
        messages = self._view.transcript.messages
        place = next((place for place, each in enumerate(messages) if each.turn == self._message), None)
        if place is None:
            if reply is not None:
                return PanelRequest(None, reply.turn, said_in(messages, reply.turn))
            if waiting:
                return PanelRequest(None, waiting[0].turn, waiting[0].text)
            place = len(messages) - 1
        answer = answer_at(messages, place)
        if answer is None:
            return PanelRequest()
        said = question_of(messages, messages.index(answer))
        turn = said.turn if said is not None else None
        newest = answer is answer_at(messages, len(messages) - 1)
        own = None if answer.writing else answer.turn
        return PanelRequest(own, turn, said.text if said is not None else "", answer.recalled, newest)

    def _walk(self, step: int) -> None:
        """To the reply before or after the one that is shown."""
        answers = [message for message in self._view.transcript.messages if isinstance(message, AssistantMessage)]
        if not answers:
            return
        now = self.wanted()
        here = next((place for place, each in enumerate(answers) if each.turn == now.reply), len(answers) - 1)
        target = answers[max(0, min(len(answers) - 1, here + step))]
        self._be_about(target.turn)
        target.scroll_visible(animate=False)
        target.flash()
        self.refresh_soon()

    # Reading

    async def _read(self, wanted: PanelRequest) -> tuple[Pack, str]:
        """The pack, and what failed while it was read."""
        view, backstage = self._view, self._view.backstage
        if view.chat is None or backstage is None:
            return Pack(note="The memory is still opening."), ""
        if view.is_private(view.session):
            return Pack(note=PRIVATE), ""
        try:
            return await self._pack(view.chat, wanted), ""
        except backstage.failures as error:
            return Pack(note=str(error)), str(error)

    async def _pack(self, chat: "Chat", wanted: PanelRequest) -> Pack:
        service = chat.service
        hits = await self._hits(chat, wanted)
        project = await self._view.project()
        pins = await service.chats.pinned(world=chat.state.world, project=project)
        names = {each: (await service.chats.get(each)).name for each in {turn.session for turn in pins}}
        pack = pack_of(
            wanted,
            hits,
            pins,
            state=chat.state,
            recall_on=service.settings.recall,
            now=datetime.now().astimezone(),
            names=names,
            hidden=frozenset(self._hidden),
            beliefs=await self._beliefs(chat),
            read=await self._read_for(chat, wanted),
        )
        before = self.panel.pack if self.panel is not None else Pack()
        return keep_hidden(pack, before, self._hidden)

    async def _read_for(self, chat: "Chat", wanted: PanelRequest) -> "Sequence[Given]":
        """What a reply was given of what its chat refers to."""
        if wanted.reply is None or chat.session is None:
            return ()
        return await chat.service.references.given(chat.session, wanted.reply)

    async def _beliefs(self, chat: "Chat") -> "Sequence[Observation]":
        """The pinned observations; none while the graph cannot tell them."""
        from graph.values import Wanted as Filters

        assert self._view.backstage is not None
        seen = Filters(pinned=True, world=chat.state.world, viewer=await self._view.project())
        try:
            return await chat.service.memories.find(seen, limit=MOST_PINNED)
        except self._view.failures:
            return ()

    async def _hits(self, chat: "Chat", wanted: PanelRequest) -> "Sequence[Hit]":
        if wanted.query is not None:
            from graph.values import Filters

            filters = Filters(world=chat.state.world, project=await self._view.project())
            return await chat.service.search.recall(wanted.query, limit=RECALLED_BY_HAND, filters=filters)
        recall = chat.state.recall_for(wanted.turn) if wanted.turn is not None else None
        if wanted.reply is not None:
            return await chat.service.search.context(wanted.reply)
        return recall.hits if recall is not None else ()

    def _show(self, wanted: PanelRequest, answer: tuple[Pack, str]) -> None:
        panel = self.panel
        if panel is not None:
            panel.show(answer[0])

    # The panel's keys

    async def asked(self, what: str, item: "PackItem | None") -> None:
        """A key in the panel."""
        match what:
            case "leave" if stop_reply(self._view):
                pass
            case "leave" if self._view.width < ROOM_FOR_BOTH:
                self.hide()
            case "leave":
                self._view.composer.focus()
            case "earlier" | "later":
                self._walk(-1 if what == "earlier" else 1)
            case "undo":
                await self._undo()
            case "open" if item is not None and item.kind == "observation":
                await self._memory.open(choose=item.turn)
            case "open" if item is not None and item.kind == "chunk":
                await self._read_chunk(item)
            case "hide" if item is not None and item.kind != "turn":
                self._view.ui.say(
                    "Only messages can be hidden. Press F4 to reject or forget memories, or to delete documents."
                )
            case "pin" if item is not None and item.kind == "chunk":
                self._view.ui.say("Only messages and memories can be pinned, not parts of documents.")
            case "ego" if item is not None:
                walk_from(self._view, TABLES[item.kind], item.turn)
            case "open" if item is not None:
                if self._view.width < ROOM_FOR_BOTH:
                    self.hide()
                else:
                    self._held = self.wanted()
                await go_to(self._view, item.session, item.turn)
            case "pin" if item is not None:
                await self._do("unpin" if item.pinned else "pin", item)
            case "hide" if item is not None:
                await self._do("unhide" if item.hidden else "hide", item)

    async def _read_chunk(self, item: "PackItem") -> None:
        """The piece of a document whole, under the name of its file."""
        assert self._view.chat is not None
        documents = await self._view.chat.service.documents.all()
        path = next((each.path for each in documents if each.id == item.session), "")
        self._view.ui.show(Reader(cut(path or item.head, 80), item.whole))

    async def pin_message(self, message: Message) -> None:
        """Pin what is focused among the messages, or unpin it."""
        view, backstage = self._view, self._view.backstage
        if view.chat is None or backstage is None:
            return
        if not isinstance(message, UserMessage | AssistantMessage) or (
            isinstance(message, AssistantMessage) and message.writing
        ):
            view.ui.say("Only messages and finished replies can be pinned.")
            return
        try:
            pinned = await view.chat.service.chats.pinned(world=view.chat.state.world)
            what = "unpin" if message.turn in {turn.id for turn in pinned} else "pin"
            if not await self._sure(what, message.text):
                return
            await self._change(view.chat, what, message.turn)
        except backstage.failures as error:
            view.ui.say(str(error), error=True)
            return
        view.ui.say(f"{DONE[what]}. Press p again to {UNDOES[what]} it.")
        self.refresh_soon()

    async def _undo(self) -> None:
        if not self._done:
            self._view.ui.say("Nothing to undo here.")
            return
        chat = self._view.chat
        if chat is None:
            return
        what, item, change = self._done.pop()
        await chat.service.history.undo(change)
        self._note(chat, UNDOES[what], item)
        self._view.ui.say(f"{DONE[UNDOES[what]]}.")
        await self.refresh()

    async def _do(self, what: str, item: "PackItem") -> None:
        chat = self._view.chat
        if chat is None or (what in PINNING and not await self._sure(what, item.words)):
            return
        if item.kind == "observation":
            change = chat.service.memories.pin if what == "pin" else chat.service.memories.unpin
            await change(item.turn, world=_world(chat))
        elif what == "hide":
            if not await history_handlers.hide(self._view, item.turn, item.words):
                return
        else:
            await self._change(chat, what, item.turn)
        self._note(chat, what, item)
        changes = await chat.service.history.changes(limit=1)
        self._done += [(what, item, changes[0].seq)] if changes else []
        self._view.ui.say(f"{DONE[what]}. Press u to undo.")
        await self.refresh()

    async def _sure(self, what: str, text: str) -> bool:
        """Whether it is to be pinned, or unpinned: a letter that asks for it may have been typed."""
        title = f"{what.capitalize()} “{cut(text or 'erased', 48)}”?"
        return await self._view.ui.ask(Confirm(title, PINNING[what], yes=what))

    def _note(self, chat: "Chat", what: str, item: "PackItem") -> None:
        """What is hidden here stays on the panel, and says so in the chat."""
        if what in ("hide", "unhide"):
            (self._hidden.add if what == "hide" else self._hidden.discard)(item.turn)
            chat.hidden(item.turn, hidden=what == "hide")

    async def _change(self, chat: "Chat", what: str, turn: str) -> None:
        match what:
            case "pin":
                await chat.service.chats.pin(turn, world=_world(chat))
            case "unpin":
                await chat.service.chats.unpin(turn, world=_world(chat))
            case _:
                await chat.service.chats.unhide(turn)


def _world(chat: "Chat") -> str | None:
    """The what-if that a pin is for; None where an item's own world is meant."""
    return chat.state.world if chat.state.what_if else None
