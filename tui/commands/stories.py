"""`clew story` and `clew card`: stories with characters from cards, their casts, and what a card says."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from tui.commands.choosing import complete_session, home_of, reader_of
from tui.commands.learned import with_agent
from tui.output import fit, instant, local, paint, put, put_json, say, width
from tui.text import clean, counted, one_line, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine
    from typing import Any

    from agent.face import Face
    from agent.stories import Player
    from agent.story.cards import Card
    from agent.story.knowledge import Knowledge
    from agent.story.overview import Overview
    from graph.values import StoryWorld, Turn

Answer = TypeVar("Answer")
CLIENT = "story"
NOT_YET = "There are no stories yet. `clew story begin NAME --host FILE` begins one."
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
OfStory = Annotated[
    str,
    typer.Argument(metavar="SESSION", help="A chat of the story, or the `last` one.", autocompletion=complete_session),
]
Who = Annotated[str, typer.Argument(metavar="NAME", help="One of the cast.")]

story = typer.Typer(
    add_completion=False, no_args_is_help=True, help="Play stories with characters, each of whom knows what they saw."
)


@story.command("list")
def list_stories(ctx: typer.Context, as_json: Json = False) -> None:
    """List the stories, newest last."""
    from graph.errors import MemoryMissing

    try:
        found = reader_of(ctx).stories()
    except MemoryMissing:
        found = []
    if as_json:
        put_json([_story_json(each) for each in found])
        return
    for each in found:
        head = f"{each.sessions[0]}  {local(each.at)}  {counted(len(each.sessions), 'chat'):>8}  "
        put(paint(head, "2") + fit(each.name, max(12, width() - len(head))))
    if not found:
        say(NOT_YET)


def _story_json(each: StoryWorld) -> dict[str, object]:
    return {"story": each.world, "name": each.name, "begun_at": instant(each.at), "sessions": list(each.sessions)}


@story.command()
def begin(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help="What the story is called.")],
    host: Annotated[str, typer.Option(metavar="FILE|NAME", help="The host: a character card, or just a name.")],
    guest: Annotated[str | None, typer.Option(metavar="FILE|NAME", help="A guest, if there is one.")] = None,
    you: Annotated[str, typer.Option(metavar="NAME", help="What the cast calls you.")] = "You",
    scenario: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Where it starts, instead of what the host's card says.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Begin a story.

    Prints the id of its chat: `clew --session ID` opens it, `clew ask --session ID` plays on.
    """
    home = home_of(ctx)
    first, second = _card(host), _card(guest) if guest is not None else None

    async def ask(agent: Face) -> tuple[str, list[Player]]:
        session = await agent.stories.begin(
            clean(name), first, guest=second, you=clean(you), scenario=clean(scenario) if scenario is not None else None
        )
        return session, await agent.stories.cast(session)

    session, players = with_agent(home, ask, client=CLIENT)
    notes = [*first.notes, *(second.notes if second is not None else ())]
    if as_json:
        put_json(
            {"session": session, "name": clean(name), "cast": [_player_json(each) for each in players], "notes": notes}
        )
        return
    put(session)
    for note in notes:
        say(one_line(note))


@story.command()
def cast(ctx: typer.Context, session: OfStory, as_json: Json = False) -> None:
    """Show who plays in a story. ● is on the scene, ○ is away."""

    async def ask(agent: Face, of: str) -> list[Player]:
        return await agent.stories.cast(of)

    found = _of_story(ctx, session, ask)
    if as_json:
        put_json([_player_json(each) for each in found])
        return
    for each in found:
        put(f"{'●' if each.present else '○'} {one_line(each.name)}  {paint(each.seat, '2')}")
    if not found:
        say("This chat plays in no story.")


def _player_json(player: Player) -> dict[str, object]:
    return {"member": player.member, "name": player.name, "seat": player.seat, "present": player.present}


@story.command()
def present(ctx: typer.Context, session: OfStory, name: Who) -> None:
    """Bring somebody onto the scene, from here on."""
    _place(ctx, session, name, present=True)


@story.command()
def away(ctx: typer.Context, session: OfStory, name: Who) -> None:
    """Take somebody off the scene. They see nothing of what follows."""
    _place(ctx, session, name, present=False)


def _place(ctx: typer.Context, session: str, name: str, *, present: bool) -> None:
    async def ask(agent: Face, of: str) -> str:
        member = await agent.stories.named(of, clean(name))
        await agent.stories.place(of, member, present=present)
        return next(each.name for each in await agent.stories.cast(of) if each.member == member)

    found = one_line(_of_story(ctx, session, ask))
    say(f"{found} is on the scene from here on." if present else f"{found} is away and sees nothing of what follows.")


@story.command()
def seen(ctx: typer.Context, session: OfStory, name: Who, as_json: Json = False) -> None:
    """Show a story as one of its cast saw it."""

    async def ask(agent: Face, of: str) -> list[Turn]:
        return await agent.stories.seen_by(of, await agent.stories.named(of, clean(name)))

    found = _of_story(ctx, session, ask)
    if as_json:
        put_json(
            [
                {"turn": each.id, "role": each.role, "speaker": each.speaker, "at": instant(each.at), "text": each.text}
                for each in found
            ]
        )
        return
    for place, each in enumerate(found):
        put(("\n" if place else "") + paint(f"{one_line(each.speaker)}: ", "1") + shown(each.text or ""))
    if not found:
        say("Nothing yet.")


@story.command()
def stage(ctx: typer.Context, session: OfStory, as_json: Json = False) -> None:
    """Show what stands on the stage of a story: of the cast, how they stand to each other, plots, scenes, the world."""

    async def ask(agent: Face, of: str) -> Overview:
        return await agent.stories.overview(of)

    found = _of_story(ctx, session, ask)
    names = {each.member: each.name for each in found.cast}
    titles = {f"plot:{each.id}": each.title for each in found.plots} | {
        f"scene:{each.id}": each.title for each in found.scenes
    }

    def owner(id: str) -> str:
        return titles.get(id) or " → ".join(names.get(each, each) for each in id.split(">"))

    if as_json:
        put_json(
            [
                {"owner": each.owner, "of": owner(each.owner), "aspect": each.aspect, "text": each.text, "by": each.by}
                for each in found.lines
            ]
        )
        return
    for each in found.lines:
        aspect = paint(one_line(each.aspect.split(":")[0]), "2")
        put(f"{one_line(owner(each.owner))}  {aspect}  {shown(each.text or '')}")
    if not found.lines:
        say("Nothing is set yet.")


@story.command()
def scene(
    ctx: typer.Context,
    session: OfStory,
    title: Annotated[str, typer.Argument(metavar="TITLE", help="What the scene is called; `close` ends it.")],
) -> None:
    """Begin a scene, or end the one that is open."""

    async def ask(agent: Face, of: str) -> str:
        if clean(title).casefold() == "close":
            return f"{(await agent.stories.close_scene(of)).title} is over."
        await agent.stories.open_scene(of, clean(title))
        return f"{clean(title)} begins."

    say(one_line(_of_story(ctx, session, ask)))


@story.command()
def skip(
    ctx: typer.Context,
    session: OfStory,
    until: Annotated[str, typer.Argument(metavar="WHEN", help="When the story goes on.")],
    tell: Annotated[str, typer.Option(metavar="TEXT", help="Narration, told to whoever is there.")] = "",
) -> None:
    """Let time pass in a story."""

    async def ask(agent: Face, of: str) -> None:
        await agent.stories.skip(of, clean(until), narration=clean(tell))

    _of_story(ctx, session, ask)
    say(f"It is {one_line(clean(until))}.")


def knows(
    ctx: typer.Context,
    name: Who,
    words: Annotated[list[str], typer.Argument(metavar="WORDS", help="Of what.")],
    session: Annotated[
        str | None,
        typer.Option(metavar="SESSION", help="A chat of a story.", show_default="that of the last one begun"),
    ] = None,
    as_json: Json = False,
) -> None:
    """Show what somebody in a story knows of something: ✓ knows, ~ outdated out of their sight, ✗ does not know."""
    from agent.errors import AgentError

    async def ask(agent: Face) -> Knowledge:
        stories = await agent.stories.all()
        if session is None and not stories:
            raise AgentError(NOT_YET)
        of = await _session(agent, clean(session)) if session is not None else stories[-1].sessions[0]
        return await agent.stories.knows(of, await agent.stories.named(of, clean(name)), clean(" ".join(words)))

    found = with_agent(home_of(ctx), ask, client=CLIENT)
    if as_json:
        put_json(
            {
                "topic": found.topic,
                "goes_by": found.believed.turn if found.believed is not None else None,
                "messages": [
                    {"turn": each.turn, "speaker": each.speaker, "at": instant(each.at), "text": each.text}
                    | {"mark": each.mark}
                    for each in found.every
                ],
            }
        )
        return
    for each in found.every:
        mark = {"knows": "✓", "outdated": "~"}.get(each.mark, "✗")
        put(f"{mark} {paint(f'{one_line(each.speaker)}: ', '1')}{shown(each.text)}")
    if not found.every:
        say("Nothing was said of it.")
    elif found.ignorance:
        say(f"{one_line(clean(name))} {found.ignorance}.")


@story.command("card")
def export_card(
    ctx: typer.Context,
    session: OfStory,
    name: Who,
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="The file to write.")],
    png: Annotated[
        Path | None, typer.Option(metavar="PICTURE", help="Put the card into a copy of this PNG picture.")
    ] = None,
) -> None:
    """Write the card of one of the cast to a file, as JSON or in a picture."""
    from agent.errors import AgentError
    from tui.cards import pictured
    from tui.files import ExportFailed, write

    async def ask(agent: Face, of: str) -> bytes:
        return await agent.stories.card(of, await agent.stories.named(of, clean(name)))

    data = _of_story(ctx, session, ask)
    if png is not None:
        data = pictured(data, png)
    try:
        size = write(out, iter([data]))
    except ExportFailed as error:
        raise AgentError(str(error)) from error
    say(f"Written to {one_line(str(out))} ({size:,} bytes).")


def card(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A character card: JSON, PNG or CHARX.")],
    as_json: Json = False,
) -> None:
    """Show what a character card says, and what was put right in reading it. Nothing is stored."""
    from tui.cards import about, sections

    found = _card(str(file), path=True)
    if as_json:
        put_json(_card_json(found))
        return
    put(paint(one_line(found.name), "1"))
    if about(found):
        put(paint(about(found), "2"))
    for title, text in sections(found):
        put(f"\n{paint(title, '36')}\n{shown(text)}")
    if found.book is not None:
        put(f"\n{paint('Lorebook', '36')}\n{counted(len(found.book.entries), 'entry', 'entries')}")
    for note in found.notes:
        say(one_line(note))


def _card_json(found: Card) -> dict[str, object]:
    return {
        "name": found.name,
        "nickname": found.nickname,
        "creator": found.creator,
        "version": found.version,
        "tags": list(found.tags),
        "description": found.description,
        "personality": found.personality,
        "scenario": found.scenario,
        "greetings": list(found.greetings),
        "group_greetings": list(found.group_greetings),
        "examples": found.examples,
        "system_prompt": found.system_prompt,
        "post_history": found.post_history,
        "creator_notes": found.creator_notes,
        "book_entries": len(found.book.entries) if found.book is not None else None,
        "notes": list(found.notes),
    }


def _card(said: str, *, path: bool = False) -> Card:
    """A card from its file, or of somebody who is only named. Raises CardError, or DocumentMissing for no such file."""
    from agent.errors import AgentError, DocumentMissing
    from tui.cards import card_of, card_path, is_path, read_card_at

    said = clean(said).strip()
    if path or is_path(said):
        if not card_path(said).exists():
            raise DocumentMissing(f"There is no file {one_line(said)}. Nothing was changed.")
        return asyncio.run(read_card_at(said))
    found = asyncio.run(card_of(said))
    if found is None:
        raise AgentError("A character needs a card or a name. Nothing was changed.")
    return found


def _of_story(ctx: typer.Context, session: str, work: Callable[[Face, str], Coroutine[Any, Any, Answer]]) -> Answer:
    """What `work` answers of the chat that is meant. Raises NotFound, Ambiguous or AgentError."""

    async def ask(agent: Face) -> Answer:
        return await work(agent, await _session(agent, clean(session)))

    return with_agent(home_of(ctx), ask, client=CLIENT)


async def _session(agent: Face, said: str) -> str:
    """The chat that is meant, by its id or by the name of its story. Raises NotFound or Ambiguous."""
    from graph.errors import NotFound

    try:
        return (await agent.chats.named(said)).id
    except NotFound:
        wanted = one_line(said).casefold()
        found = [each for each in await agent.stories.all() if one_line(each.name).casefold() == wanted]
        if not found:
            raise
        return found[-1].sessions[0]
