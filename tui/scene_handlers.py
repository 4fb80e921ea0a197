"""What is done on the stage of a story: scenes, time that passes, plots, lore, and what somebody knows."""

from typing import TYPE_CHECKING

from tui.chat_view import hide
from tui.parts import Parts
from tui.story_handlers import story_of
from tui.text import cut, one_line

if TYPE_CHECKING:
    from tui.stories.rows import Page

ROOM_FOR_STAGE = 150  # cells from which the list of chats or the memory panel may stand there too
ENDS = ("close", "end")
NO_FILE = "Write /lore and the file of a lorebook (JSON); “for NAME” behind it gives it to one of them alone."


async def stage(parts: Parts, argument: str) -> None:
    await _show(parts, "cast")


async def _show(parts: Parts, page: "Page", member: str | None = None, words: str = "") -> None:
    if story_of(parts.view) is None:
        return
    from tui.stories.stage import StageScreen

    if parts.view.width < ROOM_FOR_STAGE:  # the chat is to be read beside it
        if parts.view.sessions.display:
            hide(parts.view)
        if parts.panel.open:
            parts.panel.hide()
    await parts.ui.ask(StageScreen(parts.view, page=page, member=member, words=words))
    parts.view.composer.focus()


async def scene(parts: Parts, argument: str) -> None:
    """Begin a scene, or end the one that is open; without a title: what there are."""
    if (found := story_of(parts.view)) is None:
        return
    chat, here = found
    title = argument.strip()
    if not title:
        await _show(parts, "world")
        return
    if title.casefold() in ENDS:
        closed = await chat.service.stories.close_scene(here.session)
        told = f"“{cut(one_line(closed.title), 40)}” is over; each who was there remembers it as they saw it."
    else:
        await chat.service.stories.open_scene(here.session, title)
        told = f"“{cut(one_line(title), 40)}” begins here. /scene close ends it."
    await parts.view.show_about()
    parts.ui.say(told)


async def skip(parts: Parts, argument: str) -> None:
    if story_of(parts.view) is None:
        return
    from tui.stories.skip import skip_time

    told = await skip_time(parts.view, argument.strip())
    if told is not None:
        parts.ui.say(told)


async def meanwhile(parts: Parts, argument: str) -> None:
    """The others go on without you; what you write is told, and nobody says it."""
    if (found := story_of(parts.view)) is None:
        return
    chat, here = found
    said = argument.strip()
    if said.casefold() in ENDS:
        await chat.service.stories.come_back(here.session)
        told = "You are back. Each of them remembers what they saw of it; you know nothing."
    else:
        await chat.service.stories.meanwhile(here.session, said or "Meanwhile")
        told = "You are away. What you write is narration, i lets the other one speak; /meanwhile end comes back."
    await parts.view.show_about()
    parts.ui.say(told)


async def plot(parts: Parts, argument: str) -> None:
    """Plan an event, or open a thread; without a title: the plan."""
    if (found := story_of(parts.view)) is None:
        return
    chat, here = found
    first, _, rest = argument.strip().partition(" ")
    thread = first.casefold() == "thread" and bool(rest.strip())
    title = rest.strip() if thread else argument.strip()
    if not title:
        await _show(parts, "plan")
        return
    await chat.service.stories.note_plot(here.session, title, sort="thread" if thread else "event")
    name = cut(one_line(title), 40)
    parts.ui.say(f"“{name}” is open. Ctrl+T, 4 lists it." if thread else f"“{name}” is planned. Ctrl+T, 4 starts it.")


async def lore(parts: Parts, argument: str) -> None:
    """A lorebook is known from here on, to everybody or to one."""
    if (found := story_of(parts.view)) is None:
        return
    chat, here = found
    file, _, name = argument.strip().partition(" for ")
    if not file:
        parts.ui.say(NO_FILE)
        return
    from agent.stories import read_book_file
    from tui.cards import card_path

    book = await read_book_file(card_path(file.strip()))
    member = await chat.service.stories.named(here.session, name.strip()) if name.strip() else None
    await chat.service.stories.add_lore(here.session, book, member=member)
    whose = name.strip() or "everybody"
    parts.ui.say(f"{len(book.entries)} entries of “{cut(one_line(book.name), 40)}” for {whose}. /undo takes them away.")


async def knows(parts: Parts, argument: str) -> None:
    """What a member of the cast knows: all it keeps, or of some words."""
    if (found := story_of(parts.view)) is None:
        return
    chat, here = found
    name, _, words = argument.strip().partition(" ")
    member = await chat.service.stories.named(here.session, name) if name else None
    await _show(parts, "knows", member, words.strip())
