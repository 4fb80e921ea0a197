"""What is done with stories: beginning and opening one, its cast, presence, whispers, and who saw a message."""

from typing import TYPE_CHECKING

from tui.chat_view import NOT_YET, ChatView, may_keep
from tui.parts import Parts
from tui.scene import NO_STORY, YOU, is_, placed, whispered
from tui.state import CastMember, Passed, Scene
from tui.text import one_line
from tui.widgets.dialogs import AskLine, Pick
from tui.widgets.message import Aside, AssistantMessage, Message, UserMessage

if TYPE_CHECKING:
    from agent.story.cards import Card
    from tui.chat import Chat

BEGUN = "The story has begun. ((…)) is for nobody in it, *…* is done; /cast tells who plays."
NOBODY_ELSE = "Nobody else is here who could answer. /present NAME brings somebody back, /cast tells who plays."
HOW_TO_WHISPER = "Write /whisper NAME and what only they are to hear."
NO_WITNESSES = "Nobody in the story hears what is said out of character."
NOT_WRITTEN = "One moment: this message is not finished."


def story_of(view: ChatView) -> "tuple[Chat, Scene] | None":
    """The chat on the screen, and the story that it plays in; None, which is said, where it plays in none."""
    if view.chat is None:
        view.ui.say(NOT_YET)
    elif view.scene is None:
        view.ui.say(NO_STORY)
    else:
        return view.chat, view.scene
    return None


# Beginning, and opening


async def story(parts: Parts, argument: str) -> None:
    """Open the story of that name, or begin it; without a name: choose among all, if there are any."""
    view, name = parts.view, argument.strip()
    if view.chat is None:
        parts.ui.say(NOT_YET)
        return
    known = await view.chat.service.stories.all()
    found = [each for each in known if one_line(each.name).casefold() == one_line(name).casefold()]
    if name and found:
        await _open(view, found[-1].sessions[0])
    elif name or not known:
        await begin_story(view, name=name)
    else:
        from tui.stories.all import choose_story

        chosen = await choose_story(view, view.chat.service, known)
        if chosen is not None and chosen.answer == "new":
            await begin_story(view)
        elif chosen is not None and chosen.item is not None:
            await _open(view, chosen.item.sessions[0])


async def begin_story(view: ChatView, *, name: str = "", host: str = "") -> None:
    """The page of a new story, and its chat once it is begun. `host` is the path of a card."""
    from tui.stories.begin import StoryScreen

    if view.chat is None or not await may_keep(view, "a story is"):
        return
    screen = StoryScreen(view, name=name, host=host)
    session = await view.ui.ask(screen)
    if session is not None:
        await _open(view, session)
        view.ui.say(screen.told or BEGUN, error=bool(screen.told))


async def _open(view: ChatView, session: str) -> None:
    await view.ui.open_session(session)
    view.composer.focus()


# The cast


async def cast(parts: Parts, argument: str) -> None:
    if story_of(parts.view) is None:
        return
    from tui.stories.cast import CastScreen

    await parts.ui.ask(CastScreen(parts.view))


async def present(parts: Parts, argument: str) -> None:
    await _place(parts, argument, present=True)


async def away(parts: Parts, argument: str) -> None:
    await _place(parts, argument, present=False)


async def _place(parts: Parts, argument: str, *, present: bool) -> None:
    """Bring somebody onto the scene, or take them off it; the only one who can be meant needs no name."""
    if (found := story_of(parts.view)) is None:
        return
    chat, scene = found
    meant = [each for each in scene.cast if each.seat != YOU and each.present != present]
    if argument.strip():
        member = scene.member(await chat.service.stories.named(scene.session, argument.strip()))
    elif len(meant) == 1:
        member = meant[0]
    else:
        await cast(parts, "")
        return
    if member is not None:
        await place(parts.view, chat, member, present=present)


async def place(view: ChatView, chat: "Chat", member: CastMember, *, present: bool) -> None:
    """Bring a member onto the scene, or take it off, from here on."""
    assert chat.session is not None
    if member.present == present:
        view.ui.say(f"{is_(member)} {'there' if present else 'away'} already.")
        return
    await chat.service.stories.place(chat.session, member.id, present=present)
    await view.show_about()
    view.ui.say(placed(member, present=present))


async def moved(view: ChatView, message: Message) -> None:
    """`a` on a message: what it seems to tell, or else the last ones, is so: who is there, time, a scene."""
    told = (each.move for each in (message, *reversed(view.transcript.messages)))
    move = next((each for each in told if each is not None), None)
    if move is None:
        view.ui.say("Nobody seems to have left, and no time to pass. /away NAME takes somebody off the scene.")
    elif (found := story_of(view)) is not None:
        chat, scene = found
        if isinstance(move, Passed):
            await _pass(view, chat, move)
            return
        member = scene.member(move.member)
        if member is not None:
            await place(view, chat, member, present=move.here)


async def _pass(view: ChatView, chat: "Chat", passed: Passed) -> None:
    """Have time pass as it was told, or a scene begin or end."""
    from tui.stories.skip import skip_time

    assert chat.session is not None
    match passed.sort:
        case "time":
            told = await skip_time(view, passed.words)
        case "place":
            await chat.service.stories.open_scene(chat.session, passed.words)
            told = f"Scene: {passed.words}. Each remembers the last one as they saw it. /undo takes it back."
        case _:
            await chat.service.stories.close_scene(chat.session)
            told = "The scene is over; each who was there remembers it as they saw it. /undo takes it back."
    await view.show_about()
    if told is not None:
        view.ui.say(told)


# What is said


async def whisper(parts: Parts, argument: str) -> None:
    if (found := story_of(parts.view)) is None:
        parts.view.composer.give_back(f"/whisper {argument}")
        return
    chat, scene = found
    to, text = whispered(argument, scene.voices)
    if to is not None and text.strip():
        chat.whisper(text, to.id, typed=f"/whisper {argument}")
        return
    parts.view.composer.give_back(f"/whisper {argument}")
    who = ", ".join(each.name for each in scene.voices) or "nobody"
    parts.ui.say(HOW_TO_WHISPER if to is not None else f"{HOW_TO_WHISPER} Who could hear it: {who}.")


async def speak(parts: Parts, argument: str) -> None:
    if (found := story_of(parts.view)) is None:
        return
    chat, scene = found
    name = argument.strip()
    if name:
        member = await chat.service.stories.named(scene.session, name)
    else:
        last = await chat.spoke_last()
        other = next((each for each in scene.voices if each.id != last), None)
        if other is None:
            parts.ui.say(NOBODY_ELSE)
            return
        member = other.id
    chat.speak(member)


# Who saw it


async def seen(parts: Parts, argument: str) -> None:
    if (found := story_of(parts.view)) is None:
        return
    chat, scene = found
    name: str | None = argument.strip()
    if not name:
        names = [each.name for each in scene.cast]
        name = await parts.ui.ask(Pick("The story as whom?", names, names[-1]))
    if name:
        member = scene.member(await chat.service.stories.named(scene.session, name))
        if member is not None:
            from tui.stories.seen import show_seen

            await show_seen(parts.view, chat, scene, member)


async def edit_witnesses(view: ChatView, message: Message) -> None:
    """`W` on a message: say who of the cast saw it."""
    if isinstance(message, Aside):
        view.ui.say(NO_WITNESSES)
        return
    if (found := story_of(view)) is None:
        return
    chat, scene = found
    turn = next((each for each in view.transcript.window.turns if each.id == message.turn), None)
    queued = isinstance(message, UserMessage) and message.queued
    if turn is None or queued or (isinstance(message, AssistantMessage) and message.writing):
        view.ui.say(NOT_WRITTEN)
        return
    from tui.stories.witnesses import WitnessScreen

    members = await view.ui.ask(WitnessScreen(scene, turn))
    if members is not None and set(members) != set(turn.witnesses or ()):
        await chat.service.stories.witnessed(turn.id, members)
        await chat.reread(at=turn.id, focus=True)
        view.ui.say("Changed who saw it. /undo undoes this.")


# Cards


async def card(parts: Parts, argument: str) -> None:
    """Show what a card says; from there it becomes the host of a new story, or the guest of this one."""
    from tui.cards import read_card_at
    from tui.stories.card import CardPage, CardSuggester, JoiningCardPage

    view = parts.view
    if view.chat is None:
        parts.ui.say(NOT_YET)
        return
    path: str | None = argument.strip() or await parts.ui.ask(
        AskLine("Read a character card", placeholder="~/cards/mara.png", yes="read", suggester=CardSuggester())
    )
    if not path:
        return
    read = await read_card_at(path)
    scene = view.scene
    joins = scene is not None and all(each.seat != "guest" for each in scene.cast)
    page = JoiningCardPage(read) if joins else CardPage(read)
    await parts.ui.ask(page)
    if page.seat == "host":
        await begin_story(view, host=path)
    elif page.seat == "guest" and scene is not None:
        await join(view, view.chat, scene, read)


async def join(view: ChatView, chat: "Chat", scene: Scene, read: "Card") -> None:
    """A guest joins the story."""
    await chat.service.stories.join(scene.session, read)
    await view.show_about()
    view.ui.say(f"{one_line(read.name)} has joined, and knows nothing of what was said before.")
