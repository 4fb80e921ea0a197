"""What is taken away or brought back: deletes with their impact first, hiding, undoing, marks."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from textual.content import Content

from tui import chat_view
from tui.chat_view import NOT_YET, PRIVATE, ChatView, may_keep
from tui.keymaps import MARKS
from tui.text import MUTED, cut, one_line, plain
from tui.widgets.chooser import Chooser, ChooserKey
from tui.widgets.dialogs import AskLine, Confirm
from tui.widgets.impact import ImpactChoice, ImpactScreen, preview_of
from tui.widgets.message import Aside, AssistantMessage, Message, UserMessage
from tui.widgets.pages import PageText

if TYPE_CHECKING:
    from agent.face import Face
    from agent.plans import Plan
    from graph.history.marks import Mark

REASONS = {
    "named": "",
    "automatic": "set automatically",
    "rewind": "before going back",
    "restore": "before a mark was restored",
}
HOW_TO_GO_BACK = "/undo undoes this."
NOTHING_BACK = "Nothing to restore"
AS_IT_WAS = "Everything is still as it was at this mark."
MARK_KEYS = (ChooserKey(MARKS[0], "restore"), ChooserKey(MARKS[1], "new", always=True), ChooserKey(MARKS[2], "clear"))
NO_MARKS = "No marks yet. Press n to add one here. clew also sets marks automatically, such as before you go back."


async def agreed(
    view: ChatView,
    title: str,
    *ways: ImpactChoice,
    yes: str,
    words: str = "",
    easy: bool = False,
    for_good: bool = False,
) -> "Plan | None":
    """Ask with the impact in words; what was agreed to is done, and handed back. `for_good`: whatever it erases."""
    chat, backstage = view.chat, view.backstage
    if chat is None or backstage is None:
        view.ui.say(NOT_YET)
        return None
    screen = ImpactScreen(title, ways, yes=yes, failures=backstage.failures, words=words, easy=easy, for_good=for_good)
    plan: Plan | None = await view.ui.ask(screen)
    if plan is not None:
        await chat.service.plans.carry_out(plan)
        for desk in view.desks.values():
            desk.let_go()  # of rows that may hold what was erased just now
    return plan


async def refresh(view: ChatView) -> None:
    """Something in the log changed that any part of the screen may show: read it all again."""
    chat = view.chat
    if chat is None:
        return
    if chat.session is not None and (await chat.service.chats.get(chat.session)).deleted:
        await view.ui.open_session(None)
    else:
        await chat.reread()
        await view.adopt(chat.session, asked_in=chat.session)
    await chat_view.fill(view)
    view.refresh_soon()


# A message


async def delete_message(view: ChatView, message: Message) -> None:
    """`x` on a message: it goes for good, alone or with its exchange, after asking."""
    if not isinstance(message, UserMessage | AssistantMessage | Aside) or not _is_over(view, message):
        view.ui.say("Only messages and finished replies can be deleted; tool results are deleted with their message.")
        return
    assert view.chat is not None
    service, turn = view.chat.service, message.turn
    ways = [ImpactChoice("this message only", lambda: service.plans.delete(turn))]
    if not isinstance(message, Aside):
        other = "with its reply" if isinstance(message, UserMessage) else "with its message"
        ways.append(ImpactChoice(other, lambda: service.plans.delete(turn, exchange=True)))
    title = f"Delete “{cut(message.text or 'erased', 48)}” permanently?"
    plan = await agreed(view, title, *ways, yes="delete permanently")
    if plan is not None:
        await refresh(view)
        view.composer.focus()
        view.ui.say("Deleted permanently. The messages after it are unchanged.")


async def hide_message(view: ChatView, message: Message) -> None:
    """`h` on a message: out of view, memory and prompts, after asking; again: back."""
    if not isinstance(message, UserMessage | AssistantMessage | Aside) or not _is_over(view, message):
        view.ui.say("Only messages and finished replies can be hidden.")
        return
    assert view.chat is not None
    service, turn = view.chat.service, message.turn
    if message.hidden:
        plan = await service.plans.unhide(turn)
        await service.plans.carry_out(plan)
        view.chat.hidden(turn, hidden=False)
        view.ui.say(f"Unhidden{_memories(plan)}. Press h to hide it again.")
    elif await hide(view, turn, message.text):
        view.ui.say("Hidden from chat, memory and prompts. Press h to unhide it.")
    view.refresh_panel()


async def hide(view: ChatView, turn: str, words: str) -> bool:
    """Hide a message with these words, once it is agreed to what goes with it; whether it was done."""
    assert view.chat is not None
    service = view.chat.service
    way = ImpactChoice("hide", lambda: service.plans.hide(turn))
    if await agreed(view, f"Hide “{cut(words or 'erased', 48)}”?", way, yes="hide") is None:
        return False
    view.chat.hidden(turn, hidden=True)
    return True


def _memories(plan: "Plan") -> str:
    """What memories come back with a message, for one line."""
    back = len(plan.impact.returning) + len(plan.impact.fallen_back)
    return f"; {back} {'memory' if back == 1 else 'memories'} will be used again" if back else ""


def _is_over(view: ChatView, message: Message) -> bool:
    """It is in the log, and may be changed: no queued message, no reply being written, no private chat."""
    if view.chat is None or (isinstance(message, AssistantMessage) and message.writing):
        return False
    if view.is_private(view.chat.session):
        view.ui.say(PRIVATE)
        return False
    return not (isinstance(message, UserMessage) and message.queued)


# Undoing


async def undo(view: ChatView, argument: str) -> None:
    if view.chat is None:
        view.ui.say(NOT_YET)
        return
    number = argument.strip()
    if number and not number.isdecimal():
        view.ui.say("/undo undoes the last change; /undo NUMBER undoes the one with that number in `clew undo --list`.")
        return
    change = await view.chat.service.history.undo(int(number) if number else None)
    await refresh(view)
    view.ui.say(f"You {one_line(change.what)}; that has been undone.")


# Marks


async def marks(view: ChatView, argument: str) -> None:
    """The places to come back to; with a name: one is set here."""
    if view.chat is None or view.backstage is None:
        view.ui.say(NOT_YET)
    elif argument.strip():
        await _set(view, argument.strip())
    else:
        await _choose_mark(view)


async def _set(view: ChatView, name: str) -> None:
    assert view.chat is not None
    if not await may_keep(view, "a mark and its name are"):
        view.composer.give_back(f"/marks {name}")
        view.ui.say("Nothing was saved. The name is in the composer.")
        return
    await view.chat.service.history.marks.add(name)
    view.ui.say(f"Marked: “{cut(name, 40)}”. Use /marks to come back here.")


async def _choose_mark(view: ChatView) -> None:
    assert view.chat is not None
    assert view.backstage is not None
    service = view.chat.service

    listed: list[Mark] = list(await service.history.marks.all())
    told = {mark.id: await _told(service, mark, view.failures) for mark in listed}
    idle: set[str] = set()  # those at which everything stands already

    async def preview(mark: "Mark") -> PageText:
        if not await service.history.restores(mark.id):
            return PageText(plain(f"{NOTHING_BACK}. {AS_IT_WAS}", MUTED))
        return preview_of(await service.history.plan_restore(mark.id))

    async def look(redraw: Callable[[], None]) -> None:
        for mark in listed:
            if not await service.history.restores(mark.id):
                idle.add(mark.id)
                redraw()

    chosen = await view.ui.ask(
        Chooser["Mark"](
            "Marks",
            listed,
            paint=lambda mark, width: _mark_row(mark, told[mark.id], idle=mark.id in idle),
            identity=lambda mark: mark.id,
            preview=preview,
            keys=MARK_KEYS,
            failures=view.failures,
            empty=NO_MARKS,
            more=look,
        )
    )
    if chosen is None:
        return
    if chosen.answer == "new":
        if name := await view.ui.ask(AskLine("Name of the mark", placeholder="Name")):
            await _set(view, name)
    elif chosen.item is not None and chosen.answer == "clear":
        title, words = f"Remove {_name(chosen.item)}?", "Only the mark is removed; your chats stay as they are."
        if await view.ui.ask(Confirm(title, words, yes="remove")):
            await service.history.marks.remove(chosen.item.id)
            view.ui.say("Mark removed.")
    elif chosen.item is not None:
        await _restore(view, chosen.item)


async def _restore(view: ChatView, mark: "Mark") -> None:
    assert view.chat is not None
    service = view.chat.service
    if not await service.history.restores(mark.id):
        view.ui.say(f"{NOTHING_BACK}: {AS_IT_WAS[0].lower()}{AS_IT_WAS[1:]}")
        return
    way = ImpactChoice("restore", lambda: service.history.plan_restore(mark.id))
    words = "Messages sent since stay available as other versions (/tree)."
    if await agreed(view, f"Restore {_name(mark)}?", way, yes="restore", words=words) is not None:
        await refresh(view)
        view.ui.say(f"Restored {_name(mark)}. {HOW_TO_GO_BACK}")


def _name(mark: "Mark") -> str:
    return f"“{cut(mark.name, 40)}”" if mark.name else f"the mark from {mark.at.astimezone():%-d %b, %H:%M}"


async def _told(service: "Face", mark: "Mark", failures: tuple[type[Exception], ...]) -> str:
    """What a mark is called in the list: its name, or what it stands before, in which chat."""
    words = one_line(mark.name or "") or REASONS.get(mark.reason, mark.reason)
    if mark.session is None:
        return words
    chat = (await service.chats.get(mark.session)).name or "an untitled chat"
    if mark.turn is None:
        return f"{words} to the start of “{cut(chat, 40)}”"
    try:
        turn = (await service.chats.exchange(mark.turn)).turn
        text = "erased" if turn.text is None else "hidden" if turn.hidden else turn.text
    except failures:  # it was deleted since
        text = "erased"
    return f"{words} to “{cut(text, 30)}” in “{cut(chat, 30)}”"


def _mark_row(mark: "Mark", head: str, *, idle: bool) -> list[Content]:
    """A mark in two lines; dim where everything stands as it was there already."""
    when = f"{mark.at.astimezone():%-d %b %Y, %H:%M}"
    if idle:
        return [plain(head, MUTED), plain(f"{NOTHING_BACK.lower()} · {when}", MUTED)]
    return [plain(head, "bold" if mark.name else ""), plain(when, MUTED)]
