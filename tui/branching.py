"""Other ways for a chat to go on: answered again, said otherwise, gone back, forked, and all of it as a tree."""

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from textual.content import Content

from graph.subgraphs import Ref
from tui.dates import when
from tui.leaving import answers_here
from tui.places import REWIND, TREE
from tui.replies import question_of
from tui.text import MUTED, cut, in_chat, one_line, plain
from tui.widgets.chooser import Chooser, ChooserKey
from tui.widgets.forking import ForkRequest, ForkScreen
from tui.widgets.impact import ImpactChoice, ImpactScreen, preview_of
from tui.widgets.message import Answer, Message, UserMessage
from tui.widgets.pages import PageText

if TYPE_CHECKING:
    from agent.plans import Plan
    from graph.values import Turn
    from tui.app import ClewApp
    from tui.branches import TreeRow
    from tui.chat import Chat

NO_CHAT = "This chat has no messages yet."
NONE_OF_YOURS = "There is no message of yours to go back to here."
HOW_TO_GO_BACK = "/undo undoes this."
REWIND_KEYS = (ChooserKey(REWIND[0], "before"), ChooserKey(REWIND[1], "after"))
TREE_KEYS = (ChooserKey(TREE[0], "go"), ChooserKey(TREE[1], "ego"))
WHAT_IF = ("what-if", "--what-if", "whatif")


def chat_of(app: "ClewApp") -> "tuple[Chat, str] | None":
    """The chat on the screen and its session; None, which is said, where nothing was said yet."""
    chat, session = app.chat, app.current_session
    if chat is None or session is None:
        app.say(NO_CHAT)
        return None
    return chat, session


# Answered again, said otherwise


async def regenerate(app: "ClewApp", argument: str) -> None:
    if (found := chat_of(app)) is not None:
        found[0].regenerate(refused=lambda words: _refused(app, words))


def answer_again(app: "ClewApp", message: Message) -> None:
    """`r` on a message: another reply beside the one it has."""
    if not isinstance(message, UserMessage | Answer):
        app.say("Only messages and replies can be regenerated, not tool results.")
    elif (found := chat_of(app)) is not None:
        app.run_worker(app.guarded(_answer_again(app, *found, message)))


async def _answer_again(app: "ClewApp", chat: "Chat", session: str, message: UserMessage | Answer) -> None:
    """Where more follows the reply, it is said what left with it."""
    app.unsay()
    messages = app.transcript.messages
    asked = message if isinstance(message, UserMessage) else question_of(messages, messages.index(message))
    later = _followed(app, message)
    plan = None
    if later and asked is not None and not (isinstance(asked, UserMessage) and asked.queued) and not answers_here(app):
        plan = await chat.service.branches.plan_rewind(session, asked.turn)

    def began() -> None:
        if plan is not None:
            app.say(left_with(plan, later))

    chat.regenerate(message.turn, refused=lambda words: _refused(app, words), began=began, keys=True)


def _refused(app: "ClewApp", words: str) -> None:
    """Say why not: as long as it holds, where it is for a reply that is being written."""
    words = in_chat(words)
    app.say(words, error=True)
    app.refusal = words if answers_here(app) else ""


async def edit(app: "ClewApp", argument: str) -> None:
    messages = [each for each in app.transcript.messages if isinstance(each, UserMessage) and not each.queued]
    if not messages:
        app.say(NO_CHAT)
    else:
        say_otherwise(app, messages[-1], argument)


def say_otherwise(app: "ClewApp", message: Message, text: str = "") -> None:
    """`e` on a message: its text stands in the composer, to be sent as a new branch."""
    if not isinstance(message, UserMessage):
        app.say("Only your own messages can be edited. Press r to regenerate a reply.")
    elif message.queued:
        app.run_worker(app.guarded(app.writing.take_back(message.turn)))
    elif chat_of(app) is not None:
        app.writing.editing.begin(message.turn, text or message.text)


async def walk(app: "ClewApp", message: Message, step: int) -> None:
    """← → on a message: the one before or after it in its place, with what followed that."""
    found, alternatives = chat_of(app), message.alternatives
    if found is None or alternatives is None or len(alternatives.turns) < 2:
        app.say("No other versions. Press r to regenerate, or e to edit your message.")
        return
    app.unsay()
    chat, session = found
    place = alternatives.place + step
    if not 0 <= place < len(alternatives.turns):
        app.say(f"This is the {'first' if step < 0 else 'last'} of {len(alternatives.turns)} versions.")
        return
    turn = alternatives.turns[place]
    later = _followed(app, message)
    plan = await chat.service.branches.plan_switch(session, turn) if later else None
    await chat.service.branches.switch(session, turn)
    await chat.reread(at=turn, focus=True)
    if plan is not None:
        app.say(left_with(plan, later))
    app.remembering.refresh_soon()


def _followed(app: "ClewApp", message: Message) -> int:
    """How many messages of the chat stand after one on the screen, and after the reply to it."""
    turns = [turn for turn in app.transcript.window.turns if turn.role != "tool" and not turn.queued]
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


async def rewind(app: "ClewApp", argument: str) -> None:
    """Choose one of one's own messages, and go back to before it, or to after its answer."""
    if (found := chat_of(app)) is None or app.backstage is None:
        return
    chat, session = found
    stops = stops_of(await chat.service.chats.thread(session))
    if not stops:
        app.say(NONE_OF_YOURS)
        return

    async def preview(stop: RewindStop) -> PageText:
        return preview_of(await chat.service.branches.plan_rewind(session, stop.before))

    chosen = await app.push_screen_wait(
        Chooser[RewindStop](
            "Go back to one of your messages",
            stops,
            paint=_stop_row,
            identity=lambda stop: stop.turn.id,
            preview=preview,
            keys=REWIND_KEYS,
            failures=app.backstage.failures,
        )
    )
    if chosen is None or not isinstance(chosen.item, RewindStop):
        return
    stop = chosen.item
    before = chosen.answer == "before"
    if not before and stop is stops[0]:
        app.say("The chat is already there.")
        return
    await _go_back(app, chat, session, stop.before if before else stop.after, stop, before=before)


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
    app: "ClewApp", chat: "Chat", session: str, turn: str | None, stop: RewindStop, *, before: bool
) -> None:
    await chat.service.branches.rewind(session, turn)
    app.transcript.follow = True
    await chat.reread()
    app.composer.focus()
    if before and not app.composer.text:
        app.composer.put(stop.turn.text or "")
    where = "before" if before else "after the reply to"
    app.say(f"Went back to {where} “{_quoted(stop.turn.text)}”. {HOW_TO_GO_BACK}")
    app.remembering.refresh_soon()


def _quoted(text: str | None) -> str:
    """The first words of a message, for the end of a sentence."""
    return cut(text or "erased", 40).rstrip(".")


def _stop_row(stop: RewindStop, width: int) -> list[Content]:
    text = "erased" if stop.turn.text is None else one_line(stop.turn.text[: 4 * width])
    return [plain(text), plain(when(stop.turn.at, datetime.now().astimezone()), MUTED)]


# The tree


async def tree(app: "ClewApp", argument: str) -> None:
    """The chat with all its branches; Enter goes on from one of its turns, g walks the graph from it and comes back."""
    if (found := chat_of(app)) is None:
        return
    chat, session = found
    answer, row = await _choose_turn(app, chat, session, None)
    while row is not None and answer == "ego":
        if await _walked_away(app, row.branch.turn):
            return
        answer, row = await _choose_turn(app, chat, session, row.branch.turn)
    if row is not None:
        await _go_on_from(app, chat, session, row)


async def _choose_turn(app: "ClewApp", chat: "Chat", session: str, choose: str | None) -> "tuple[str, TreeRow | None]":
    """What is to be done, and with which turn; None if nothing."""
    from tui.branches import TreeRow, head_of, painted, particulars, rows_of

    assert app.backstage is not None
    rows = rows_of(await chat.service.branches.tree(session))
    names = await _names(chat, rows)

    async def preview(row: TreeRow) -> Content:
        return particulars(row, names, datetime.now().astimezone())

    chosen = await app.push_screen_wait(
        Chooser[TreeRow](
            "Branches of this chat",
            rows,
            paint=lambda row, width: painted(row, width, names),
            identity=lambda row: row.branch.turn,
            preview=preview,
            keys=TREE_KEYS,
            failures=app.backstage.failures,
            choose=choose or head_of(rows),
            height=1,
            empty=NO_CHAT,
        )
    )
    if chosen is None or not isinstance(chosen.item, TreeRow):
        return "", None
    return chosen.answer, chosen.item


async def _walked_away(app: "ClewApp", turn: str) -> bool:
    """Walk the graph from a turn; whether that led somewhere else."""
    from tui.egos.opening import open_ego

    return await open_ego(app, Ref("Turn", turn))


async def _names(chat: "Chat", rows: "list[TreeRow]") -> dict[str, str]:
    """The names of the chats that leave the tree."""
    forks = {fork for row in rows for fork in row.branch.forks}
    return {fork: (await chat.service.chats.get(fork)).name or "New chat" for fork in forks}


async def _go_on_from(app: "ClewApp", chat: "Chat", session: str, row: "TreeRow") -> None:
    if row.branch.head:
        app.say("The chat is already there.")
        return
    if row.branch.hidden:
        app.say("This message is hidden. Unhide it with h first.")
        return
    assert app.backstage is not None
    turn = row.branch.turn
    way = ImpactChoice("continue from there", lambda: chat.service.branches.plan_rewind(session, turn))
    screen = ImpactScreen(
        f"Continue from “{cut(row.branch.text or 'erased', 44)}”?",
        [way],
        yes="continue from there",
        failures=app.backstage.failures,
        easy=True,
    )
    plan = await app.push_screen_wait(screen)
    if plan is None:
        return
    await chat.service.branches.rewind(session, turn, plan=plan)
    app.transcript.follow = True
    await chat.reread()
    app.composer.focus()
    app.say(f"The chat continues from “{_quoted(row.branch.text)}”. {HOW_TO_GO_BACK}")
    app.remembering.refresh_soon()


# Forks


async def fork(app: "ClewApp", argument: str) -> None:
    """A chat of its own that shares this one's past, or a what-if: `[what-if] [name]`."""
    word, _, rest = argument.strip().partition(" ")
    what_if = word.lower() in WHAT_IF
    name = (rest if what_if else argument).strip() or None
    if (found := chat_of(app)) is not None:
        await _fork(app, *found, None, ForkRequest(what_if, name))


async def fork_at(app: "ClewApp", message: Message) -> None:
    """`f` on a message: a chat that has all up to it, once it is chosen of which world."""
    if not isinstance(message, UserMessage | Answer) or (isinstance(message, Answer) and message.writing):
        app.say("You can fork from a message or a finished reply.")
    elif isinstance(message, UserMessage) and message.queued:
        app.say("This message is still queued. You can fork from it once it has a reply.")
    elif (found := chat_of(app)) is not None:
        if app.keeping.is_private(found[1]):
            app.say("Private chats are not saved, so they cannot be forked.")
            return
        asked = ForkScreen(f"Fork from “{cut(message.text or 'erased', 44)}”")
        wanted: ForkRequest | None = await app.push_screen_wait(asked)
        if wanted is not None:
            await _fork(app, *found, message.turn, wanted)


async def _fork(app: "ClewApp", chat: "Chat", session: str, at: str | None, wanted: ForkRequest) -> None:
    """Make it and show it; where it left the other, one comes back to."""
    from tui.trail import ChatPlace

    made = await chat.service.branches.fork(session, at=at, what_if=wanted.what_if, name=wanted.name)
    app.trail.leave(ChatPlace(session, app.transcript.top_turn))
    await app.open_session(made)
    app.composer.focus()
    kind = "This is a what-if: other chats never see it" if wanted.what_if else "This is a new chat with the same past"
    app.say(f"{kind}. Press Alt+← to return to the original.")
