"""Other ways for a chat to go on: answered again, said otherwise, gone back, forked, and all of it as a tree.

The rows of the tree are pure values, made without recursion: a chat may be thousands of turns deep.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from textual.content import Content

from graph.values import Ref
from tui.chat_view import ChatView
from tui.history_handlers import HOW_TO_GO_BACK
from tui.keymaps import REWIND, TREE
from tui.navigation import question_of
from tui.reasons import who
from tui.text import MUTED, cut, in_chat, one_line, plain, when
from tui.widgets.chooser import Chooser, ChooserKey
from tui.widgets.dialogs import ForkRequest, ForkScreen
from tui.widgets.impact import ImpactChoice, ImpactScreen, preview_of
from tui.widgets.message import AssistantMessage, Message, UserMessage
from tui.widgets.pages import PageText

if TYPE_CHECKING:
    from agent.plans import Plan
    from graph.values import Branch, Turn
    from tui.chat import Chat


DEEPEST = 8  # levels that are set in; further ones stand under one another
HERE, ON_PATH, OFF_PATH = "◉", "●", "○"


@dataclass(frozen=True, slots=True)
class TreeRow:
    """A turn of the tree: how deep it is set in, whether it begins a side branch, and its place among its siblings."""

    branch: "Branch"
    depth: int
    begins: bool
    place: int
    places: int


def rows_of(roots: "Sequence[Branch]") -> list[TreeRow]:
    """Every turn once, each before what follows it; side branches before the way that goes on."""
    rows: list[TreeRow] = []
    ahead = list(_children(roots, 0))
    while ahead:
        row = ahead.pop()
        rows.append(row)
        ahead.extend(_children(row.branch.children, row.depth))
    return rows


def _children(branches: "Sequence[Branch]", depth: int) -> Iterator[TreeRow]:
    """The rows of siblings, the one to be taken first last: the way that goes on comes after the side branches."""
    places = len(branches)
    main = next((branch for branch in branches if branch.on_path), branches[-1] if branches else None)
    for place, branch in reversed(list(enumerate(branches))):
        if branch is main:
            yield TreeRow(branch, depth, False, place, places)
    for place, branch in reversed(list(enumerate(branches))):
        if branch is not main:
            yield TreeRow(branch, depth + 1, True, place, places)


def head_of(rows: Sequence[TreeRow]) -> str | None:
    """The turn at which the chat stands."""
    return next((row.branch.turn for row in rows if row.branch.head), None)


def painted(row: TreeRow, width: int, names: Mapping[str, str]) -> list[Content]:
    """One line: where it stands, who said what, and the chats that leave here by `names`."""
    branch = row.branch
    depth = min(row.depth, DEEPEST)
    lanes = "│ " * (depth - 1) + ("├─" if row.begins else "│ ") if depth else ""
    mark = HERE if branch.head else ON_PATH if branch.on_path else OFF_PATH
    style = "bold $primary" if branch.head else "$primary" if branch.on_path else MUTED
    parts = [
        plain(lanes, "$border"),
        plain(f"{mark} ", style),
        plain(f"{who(branch.role, branch.speaker)}: ", "bold" if branch.on_path else MUTED),
    ]
    if row.places > 1:
        parts.insert(2, plain(f"‹{row.place + 1}/{row.places}› ", "$primary"))
    parts += [plain(f"↳ {cut(names.get(fork, 'New chat'), 24)}  ", "$warning") for fork in branch.forks]
    parts.append(_words(branch, width))
    return [Content.assemble(*parts)]


def _words(branch: "Branch", width: int) -> Content:
    if branch.hidden:
        return plain("hidden", f"italic {MUTED}")
    if branch.text is None:
        return plain("erased", f"italic {MUTED}")
    return plain(one_line(branch.text[: 4 * width]), "" if branch.on_path else MUTED)


def particulars(row: TreeRow, names: Mapping[str, str], now: datetime) -> Content:
    """When and by whom it was said, where it stands, and which chats leave it."""
    branch = row.branch
    facts = [f"{who(branch.role, branch.speaker)} · {when(branch.at, now)}"]
    if row.places > 1:
        facts.append(f"{row.place + 1} of {row.places} versions")
    facts.append(
        "current position" if branch.head else "on the current branch" if branch.on_path else "on another branch"
    )
    if branch.hidden:
        facts.append("hidden")
    lines = [plain(" · ".join(facts), MUTED)]
    lines += [plain(f"↳ “{cut(names.get(fork, 'New chat'), 60)}” forks here", "$warning") for fork in branch.forks]
    if branch.text is not None:
        lines += [Content(""), plain(branch.text[:4000])]
    return Content("\n").join(lines)


NO_CHAT = "This chat has no messages yet."
NONE_OF_YOURS = "There is no message of yours to go back to here."
REWIND_KEYS = (ChooserKey(REWIND[0], "before"), ChooserKey(REWIND[1], "after"))
TREE_KEYS = (ChooserKey(TREE[0], "go"), ChooserKey(TREE[1], "ego"))
WHAT_IF = ("what-if", "--what-if", "whatif")


def chat_of(view: ChatView) -> "tuple[Chat, str] | None":
    """The chat on the screen and its session; None, which is said, where nothing was said yet."""
    chat, session = view.chat, view.session
    if chat is None or session is None:
        view.ui.say(NO_CHAT)
        return None
    return chat, session


# Answered again, said otherwise


async def regenerate(view: ChatView, argument: str) -> None:
    if (found := chat_of(view)) is not None:
        found[0].regenerate(refused=lambda words: _refused(view, words))


def go_on(view: ChatView, message: Message) -> None:
    """`+` on a reply that was cut off: a longer one in its place."""
    if (found := chat_of(view)) is not None:
        chat, turn = found[0], message.turn
        chat.regenerate(turn, refused=lambda words: _refused(view, words), keys=True, goes_on=True)


def answer_again(view: ChatView, message: Message) -> None:
    """`r` on a message: another reply beside the one it has."""
    if not isinstance(message, UserMessage | AssistantMessage):
        view.ui.say("Only messages and replies can be regenerated, not tool results.")
    elif (found := chat_of(view)) is not None:
        view.ui.begin(_answer_again(view, *found, message))


async def _answer_again(view: ChatView, chat: "Chat", session: str, message: UserMessage | AssistantMessage) -> None:
    """Where more follows the reply, it is said what left with it."""
    view.ui.unsay()
    messages = view.transcript.messages
    asked = message if isinstance(message, UserMessage) else question_of(messages, messages.index(message))
    later = _followed(view, message)
    plan = None
    if later and asked is not None and not (isinstance(asked, UserMessage) and asked.queued) and not view.answers:
        plan = await chat.service.branches.plan_rewind(session, asked.turn)

    def began() -> None:
        if plan is not None:
            view.ui.say(left_with(plan, later))

    chat.regenerate(message.turn, refused=lambda words: _refused(view, words), began=began, keys=True)


def _refused(view: ChatView, words: str) -> None:
    """Say why not: as long as it holds, where it is for a reply that is being written."""
    words = in_chat(words)
    view.ui.say(words, error=True)
    view.refusal = words if view.answers else ""


async def walk(view: ChatView, message: Message, step: int) -> None:
    """← → on a message: the one before or after it in its place, with what followed that."""
    found, alternatives = chat_of(view), message.alternatives
    if found is None or alternatives is None or len(alternatives.turns) < 2:
        view.ui.say("No other versions. Press r to regenerate, or e to edit your message.")
        return
    view.ui.unsay()
    chat, session = found
    place = alternatives.place + step
    if not 0 <= place < len(alternatives.turns):
        view.ui.say(f"This is the {'first' if step < 0 else 'last'} of {len(alternatives.turns)} versions.")
        return
    turn = alternatives.turns[place]
    later = _followed(view, message)
    plan = await chat.service.branches.plan_switch(session, turn) if later else None
    await chat.service.branches.switch(session, turn)
    await chat.reread(at=turn, focus=True)
    if plan is not None:
        view.ui.say(left_with(plan, later))
    view.refresh_panel()


def _followed(view: ChatView, message: Message) -> int:
    """How many messages of the chat stand after one on the screen, and after the reply to it."""
    turns = [turn for turn in view.transcript.window.turns if turn.role != "tool" and not turn.queued]
    place = next((place for place, turn in enumerate(turns) if turn.id == message.turn), len(turns))
    later = turns[place + 1 :]
    if isinstance(message, UserMessage) and later and later[0].role != "user":
        later = later[1:]
    return len(later)


def left_with(plan: "Plan", later: int) -> str:
    """What left with the way that a chat went on, in a line."""
    memories = len(plan.impact.lost) + len(plan.impact.fallen_back)
    told = f"{later} later {'message' if later == 1 else 'messages'} removed from this chat"
    if memories:
        told += f", {memories} {'memory' if memories == 1 else 'memories'} no longer used"
    return f"{told}. {HOW_TO_GO_BACK}"


# Going back


@dataclass(frozen=True, slots=True)
class RewindStop:
    """One of the person's turns on the path, where the chat stands `before` it, and where after its answer."""

    turn: "Turn"
    before: str | None
    after: str


async def rewind(view: ChatView, argument: str) -> None:
    """Choose one of one's own messages, and go back to before it, or to after its answer."""
    if (found := chat_of(view)) is None or view.backstage is None:
        return
    chat, session = found
    stops = stops_of(await chat.service.chats.thread(session))
    if not stops:
        view.ui.say(NONE_OF_YOURS)
        return

    async def preview(stop: RewindStop) -> PageText:
        return preview_of(await chat.service.branches.plan_rewind(session, stop.before))

    chosen = await view.ui.ask(
        Chooser[RewindStop](
            "Go back to one of your messages",
            stops,
            paint=_stop_row,
            identity=lambda stop: stop.turn.id,
            preview=preview,
            keys=REWIND_KEYS,
            failures=view.failures,
        )
    )
    if chosen is None or not isinstance(chosen.item, RewindStop):
        return
    stop = chosen.item
    before = chosen.answer == "before"
    if not before and stop is stops[0]:
        view.ui.say("The chat is already there.")
        return
    await _go_back(view, chat, session, stop.before if before else stop.after, stop, before=before)


def stops_of(thread: "list[Turn]") -> list[RewindStop]:
    """The person's turns on a path, the newest first."""
    stops = []
    after = thread[-1].id if thread else ""
    for place in range(len(thread) - 1, -1, -1):
        turn = thread[place]
        before = thread[place - 1].id if place else None
        if turn.role == "user" and not turn.queued and not turn.hidden:
            stops.append(RewindStop(turn, before, after))
        if turn.role == "user":
            after = before or ""
    return stops


async def _go_back(
    view: ChatView, chat: "Chat", session: str, turn: str | None, stop: RewindStop, *, before: bool
) -> None:
    await chat.service.branches.rewind(session, turn)
    view.transcript.follow = True
    await chat.reread()
    view.composer.focus()
    if before and not view.composer.text:
        view.composer.put(stop.turn.text or "")
    where = "before" if before else "after the reply to"
    view.ui.say(f"Went back to {where} “{_quoted(stop.turn.text)}”. {HOW_TO_GO_BACK}")
    view.refresh_panel()


def _quoted(text: str | None) -> str:
    """The first words of a message, for the end of a sentence."""
    return cut(text or "erased", 40).rstrip(".")


def _stop_row(stop: RewindStop, width: int) -> list[Content]:
    text = "erased" if stop.turn.text is None else one_line(stop.turn.text[: 4 * width])
    return [plain(text), plain(when(stop.turn.at, datetime.now().astimezone()), MUTED)]


# The tree


async def tree(view: ChatView, argument: str) -> None:
    """The chat with all its branches; Enter goes on from one of its turns, g walks the graph from it and comes back."""
    if (found := chat_of(view)) is None:
        return
    chat, session = found
    answer, row = await _choose_turn(view, chat, session, None)
    while row is not None and answer == "ego":
        if await _walked_away(view, row.branch.turn):
            return
        answer, row = await _choose_turn(view, chat, session, row.branch.turn)
    if row is not None:
        await _go_on_from(view, chat, session, row)


async def _choose_turn(view: ChatView, chat: "Chat", session: str, choose: str | None) -> "tuple[str, TreeRow | None]":
    """What is to be done, and with which turn; None if nothing."""

    assert view.backstage is not None
    rows = rows_of(await chat.service.branches.tree(session))
    names = await _names(chat, rows)

    async def preview(row: TreeRow) -> Content:
        return particulars(row, names, datetime.now().astimezone())

    chosen = await view.ui.ask(
        Chooser[TreeRow](
            "Branches of this chat",
            rows,
            paint=lambda row, width: painted(row, width, names),
            identity=lambda row: row.branch.turn,
            preview=preview,
            keys=TREE_KEYS,
            failures=view.failures,
            choose=choose or head_of(rows),
            height=1,
            empty=NO_CHAT,
        )
    )
    if chosen is None or not isinstance(chosen.item, TreeRow):
        return "", None
    return chosen.answer, chosen.item


async def _walked_away(view: ChatView, turn: str) -> bool:
    """Walk the graph from a turn; whether that led somewhere else."""
    from tui.nodes.opening import open_node

    return await open_node(view, Ref("Turn", turn))


async def _names(chat: "Chat", rows: "list[TreeRow]") -> dict[str, str]:
    """The names of the chats that leave the tree."""
    forks = {fork for row in rows for fork in row.branch.forks}
    return {fork: (await chat.service.chats.get(fork)).name or "New chat" for fork in forks}


async def _go_on_from(view: ChatView, chat: "Chat", session: str, row: "TreeRow") -> None:
    if row.branch.head:
        view.ui.say("The chat is already there.")
        return
    if row.branch.hidden:
        view.ui.say("This message is hidden. Unhide it with h first.")
        return
    assert view.backstage is not None
    turn = row.branch.turn
    way = ImpactChoice("continue from there", lambda: chat.service.branches.plan_rewind(session, turn))
    screen = ImpactScreen(
        f"Continue from “{cut(row.branch.text or 'erased', 44)}”?",
        [way],
        yes="continue from there",
        failures=view.failures,
        easy=True,
    )
    plan = await view.ui.ask(screen)
    if plan is None:
        return
    await chat.service.branches.rewind(session, turn, plan=plan)
    view.transcript.follow = True
    await chat.reread()
    view.composer.focus()
    view.ui.say(f"The chat continues from “{_quoted(row.branch.text)}”. {HOW_TO_GO_BACK}")
    view.refresh_panel()


# Forks


async def fork(view: ChatView, argument: str) -> None:
    """A chat of its own that shares this one's past, or a what-if: `[what-if] [name]`."""
    word, _, rest = argument.strip().partition(" ")
    what_if = word.lower() in WHAT_IF
    name = (rest if what_if else argument).strip() or None
    if (found := chat_of(view)) is not None:
        await _fork(view, *found, None, ForkRequest(what_if, name))


async def fork_at(view: ChatView, message: Message) -> None:
    """`f` on a message: a chat that has all up to it, once it is chosen of which world."""
    if not isinstance(message, UserMessage | AssistantMessage) or (
        isinstance(message, AssistantMessage) and message.writing
    ):
        view.ui.say("You can fork from a message or a finished reply.")
    elif isinstance(message, UserMessage) and message.queued:
        view.ui.say("This message is still queued. You can fork from it once it has a reply.")
    elif (found := chat_of(view)) is not None:
        if view.is_private(found[1]):
            view.ui.say("Private chats are not saved, so they cannot be forked.")
            return
        asked = ForkScreen(f"Fork from “{cut(message.text or 'erased', 44)}”")
        wanted: ForkRequest | None = await view.ui.ask(asked)
        if wanted is not None:
            await _fork(view, *found, message.turn, wanted)


async def _fork(view: ChatView, chat: "Chat", session: str, at: str | None, wanted: ForkRequest) -> None:
    """Make it and show it; where it left the other, one comes back to."""
    from tui.state import ChatPlace

    made = await chat.service.branches.fork(session, at=at, what_if=wanted.what_if, name=wanted.name)
    view.trail.leave(ChatPlace(session, view.transcript.top_turn))
    await view.ui.open_session(made)
    view.composer.focus()
    kind = "This is a what-if: other chats never see it" if wanted.what_if else "This is a new chat with the same past"
    view.ui.say(f"{kind}. Press Alt+← to return to the original.")
