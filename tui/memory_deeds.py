"""What the memory's actions do: the screen and its pages, remember, forget, correct, projects, documents, privacy."""

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from tui import altering
from tui.finding import NOT_YET
from tui.text import MUTED, counted, cut, one_line, plain
from tui.widgets.dialogs import AskLine, AskText, Confirm, Reader
from tui.widgets.impact import ImpactChoice

if TYPE_CHECKING:
    from graph.beliefs import Observation
    from tui.app import ClewApp

REMEMBER = "What should clew remember?"
CHOICES = 20
NO_PROJECT = ("none", "-")
HOW_PROJECTS = (
    "/project NAME moves this chat to a project (and creates it if needed); /project none removes it from its project."
)


async def memories(app: "ClewApp", argument: str) -> None:
    if not argument.strip():
        await app.keeping.open()
        return
    from graph.beliefs import Wanted

    words = argument.strip()
    found = await app.keeping.by_id(words)
    if found is not None:
        await app.keeping.open(choose=found.id, wanted=Wanted(everything=True))
    elif app.chat is not None and not await _known(app, words, 1):
        app.say(f"No memory contains “{cut(words, 40)}”. Press F4 to see them all.")
    else:
        await app.keeping.open(wanted=Wanted(text=words))


async def review(app: "ClewApp", argument: str) -> None:
    words = argument.strip()
    told = (
        f"/review takes no arguments. To search for “{cut(words, 40)}”, use /memories followed by the words."
        if words
        else ""
    )
    await app.keeping.open("review", told=told)


async def blocks(app: "ClewApp", argument: str) -> None:
    name = argument.strip()
    if app.chat is None or not name:
        await app.keeping.open("blocks")
        return
    names = [
        block.name
        for block in await app.chat.service.memories.blocks(world=app.state.world, project=await app.keeping.project())
    ]
    known = next((each for each in names if each.casefold() == name.casefold()), None)
    told = "" if known is not None else f"There is no core block “{cut(name, 40)}”. Press n to write one."
    await app.keeping.open("blocks", choose=known, told=told)


async def documents(app: "ClewApp", argument: str) -> None:
    told = "/documents takes no arguments. To add a document, use /ingest PATH." if argument.strip() else ""
    await app.keeping.open("documents", told=told)


async def unlearn(app: "ClewApp", argument: str) -> None:
    await app.keeping.undo_learned()


async def remember(app: "ClewApp", argument: str) -> None:
    if app.chat is None:
        app.say(NOT_YET)
        return
    asked: str | None = argument.strip() or await app.push_screen_wait(AskLine(REMEMBER, placeholder="A sentence"))
    if asked and not await app.keeping.keeps():
        _left(app, "remember", asked)
    elif asked:
        project = await app.keeping.project()
        made = await app.chat.service.memories.remember(asked, project=project, world=app.state.world)
        where = " in this what-if" if app.state.what_if else ""
        app.say(f"Remembered{where}: {cut(made.text or '', 80)} · F4 shows it")
        app.keeping.point_at(made.id)


async def forget(app: "ClewApp", argument: str) -> None:
    words = argument.strip()
    if app.chat is None or not words:
        await app.keeping.open(told="Choose a memory and press d to forget it.")
        return
    found = await app.keeping.by_id(words) or await app.keeping.one_of(words)
    if not isinstance(found, list):
        await _forget(app, found)
    elif found:
        from graph.beliefs import Wanted

        told = f"{len(found)} memories match. Choose one and press d to forget it."
        await app.keeping.open(wanted=Wanted(text=words), told=told)
    else:
        app.say("No memory contains these words. To delete a message instead, search for it with Ctrl+F.")


async def _forget(app: "ClewApp", found: "Observation") -> None:
    from tui.memories.observations import FORGET_WORDS

    assert app.chat is not None
    service = app.chat.service
    words = FORGET_WORDS
    if app.keeping.is_private(app.chat.session):
        words = f"{words} This chat is private, but a memory you forget is forgotten in all chats."
    way = ImpactChoice("forget", lambda: service.plans.forget(found.id))
    if await altering.agreed(app, "Forget this permanently?", way, yes="forget permanently", words=words) is not None:
        app.say("Forgotten permanently.")


async def correct(app: "ClewApp", argument: str) -> None:
    """Correct the one of that id, or choose among those with these words: `ID TEXT`, `WORDS: TEXT`, `WORDS`."""
    given = argument.strip()
    word, _, text = given.partition(" ")
    found = await app.keeping.by_id(word) if word else None
    if app.chat is None or not given:
        await app.keeping.open(told="Choose a memory and press c to correct it.")
    elif found is None:
        await _correct_by_words(app, given)
    elif not text.strip():
        await app.keeping.open(choose=found.id, told="Press c to correct it.")
    else:
        await _correct(app, found, text.strip())


async def _correct_by_words(app: "ClewApp", given: str) -> None:
    """What follows a colon is how it really is; the words before it say which one is meant."""
    from graph.beliefs import Wanted

    assert app.chat is not None
    words, _, text = (part.strip() for part in given.partition(": "))
    found = await _known(app, words, CHOICES)
    if not found:
        app.composer.give_back(f"/correct {given}")
        app.say(f"No memory contains “{cut(words, 40)}”. Press F4 to see them all.")
    elif text and len(found) == 1:
        said = f"Now: {cut(found[0].text or '', 200)}"
        asked = await app.push_screen_wait(AskText("What is true instead?", text, words=said))
        if asked is not None and asked.strip():
            await _correct(app, found[0], asked.strip())
        else:
            app.composer.give_back(f"/correct {given}")
            app.say("Nothing was changed.")
    else:
        several = "1 memory" if len(found) == 1 else f"{len(found)} memories"
        told = f"{several} match. Choose one and press c to correct it."
        await app.keeping.open(wanted=Wanted(text=words), told=told, proposed=text)


async def _correct(app: "ClewApp", found: "Observation", text: str) -> None:
    assert app.chat is not None
    if not await app.keeping.keeps():
        _left(app, "correct", f"{found.id} {text}")
        return
    made = await app.chat.service.memories.correct(found.id, text, world=app.state.world)
    where = " in this what-if" if app.state.what_if else ""
    app.say(f"Corrected{where}: {cut(made.text or '', 80)} · F4 shows it")
    app.keeping.point_at(made.id)


async def _known(app: "ClewApp", words: str, limit: int) -> "list[Observation]":
    """What the world of the chat knows that has these words."""
    from graph.beliefs import Wanted

    assert app.chat is not None
    return await app.chat.service.memories.find(Wanted(text=words, world=app.state.world), limit=limit)


def _left(app: "ClewApp", slash: str, argument: str) -> None:
    """Nothing was kept; the words stand in the composer again."""
    app.composer.give_back(f"/{slash} {argument}")
    app.say("Nothing was saved. Your text is in the composer.")


async def project(app: "ClewApp", argument: str) -> None:
    """Show the projects, or put this chat into one."""
    chat, name = app.chat, argument.strip()
    if chat is None:
        app.say(NOT_YET)
        return
    known = {each.name.casefold(): each for each in await chat.service.projects.all()}
    if not name:
        await _show_projects(app)
        return
    if app.keeping.is_private(chat.session):
        app.say("Private chats cannot belong to a project, as they are not saved. Press Alt+← to leave it.")
        return
    if name.casefold() in NO_PROJECT:
        await _assign(app, None)
        return
    if name.casefold() not in known:
        words = (
            "Chats, memories and documents can belong to it. What is learned there stays separate from other projects."
        )
        if not await app.push_screen_wait(Confirm(f"Create the project “{cut(name, 50)}”?", words, yes="create")):
            return
        await chat.service.projects.make(name)
    await _assign(app, known[name.casefold()].name if name.casefold() in known else " ".join(name.split()))


async def _assign(app: "ClewApp", name: str | None) -> None:
    assert app.chat is not None
    session = app.chat.session
    app.options = replace(app.options, project=name)
    if session is not None:
        await app.chat.service.projects.assign(session, name)
    app.say(
        "This chat no longer belongs to a project." if name is None else f"This chat now belongs to {one_line(name)}."
    )


async def _show_projects(app: "ClewApp") -> None:
    from textual.content import Content

    assert app.chat is not None
    here = await app.keeping.project()
    lines = [plain(HOW_PROJECTS, MUTED)]
    for each in await app.chat.service.projects.all():
        mark = "› " if each.name == here else "  "
        away = " · archived" if each.status == "archived" else ""
        head = plain(f"{mark}{one_line(each.name)}", "bold")
        counts = f"  {counted(each.sessions, 'chat')} · {counted(each.observations, 'memory', 'memories')}{away}"
        lines += [Content(""), head + plain(counts, MUTED)]
        if each.description:
            lines.append(plain(f"  {one_line(each.description)}"))
    app.push_screen(Reader("Projects", Content("\n").join(lines)))


async def ingest(app: "ClewApp", argument: str) -> None:
    path: str | None = argument.strip() or await app.push_screen_wait(
        AskLine("Add a file or folder", placeholder="~/notes", yes="add")
    )
    if path and not await app.keeping.keeps():
        _left(app, "ingest", path)
    elif path:
        app.keeping.ingest.begin(re.sub(r"^(['\"])(.*)\1$", r"\2", path))


async def private(app: "ClewApp", argument: str) -> None:
    await app.keeping.begin_private()
