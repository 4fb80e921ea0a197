"""What the memory's actions do: the screen and its pages, remember, forget, correct, projects, documents, privacy."""

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from tui import history_handlers
from tui.chat_view import NOT_YET, may_keep
from tui.parts import Parts
from tui.text import MUTED, counted, cut, one_line, plain
from tui.widgets.dialogs import AskLine, AskText, Confirm, Reader
from tui.widgets.impact import ImpactChoice

if TYPE_CHECKING:
    from graph.values import Observation

REMEMBER = "What should clew remember?"
RELATE = "Who stands how to whom?"
LOOKS = ("show",)
CHOICES = 20
NO_PROJECT = ("none", "-")
HOW_PROJECTS = (
    "/project NAME moves this chat to a project (and creates it if needed); /project none removes it from its project."
)


async def memories(parts: Parts, argument: str) -> None:
    if not argument.strip():
        await parts.memory.open()
        return
    from graph.values import Wanted

    words = argument.strip()
    found = await parts.memory.by_id(words)
    if found is not None:
        await parts.memory.open(choose=found.id, wanted=Wanted(everything=True))
    elif parts.view.chat is not None and not await _known(parts, words, 1):
        parts.ui.say(f"No memory contains “{cut(words, 40)}”. Press F4 to see them all.")
    else:
        await parts.memory.open(wanted=Wanted(text=words))


async def review(parts: Parts, argument: str) -> None:
    words = argument.strip()
    told = (
        f"/review takes no arguments. To search for “{cut(words, 40)}”, use /memories followed by the words."
        if words
        else ""
    )
    await parts.memory.open("review", told=told)


async def blocks(parts: Parts, argument: str) -> None:
    name = argument.strip()
    if parts.view.chat is None or not name:
        await parts.memory.open("blocks")
        return
    names = [
        block.name
        for block in await parts.view.chat.service.memories.blocks(
            world=parts.view.state.world, project=await parts.view.project()
        )
    ]
    known = next((each for each in names if each.casefold() == name.casefold()), None)
    told = "" if known is not None else f"There is no core block “{cut(name, 40)}”. Press n to write one."
    await parts.memory.open("blocks", choose=known, told=told)


async def documents(parts: Parts, argument: str) -> None:
    identity, chat = argument.strip(), parts.view.chat
    known = chat is not None and identity in {each.id for each in await chat.service.documents.all()}
    told = "" if known or not identity else "/documents takes no arguments. To add a document, use /ingest PATH."
    await parts.memory.open("documents", choose=identity if known else None, told=told)


async def unlearn(parts: Parts, argument: str) -> None:
    await parts.memory.undo_learned()


async def remember(parts: Parts, argument: str) -> None:
    if parts.view.chat is None:
        parts.ui.say(NOT_YET)
        return
    asked: str | None = argument.strip() or await parts.ui.ask(AskLine(REMEMBER, placeholder="A sentence"))
    if asked and not await may_keep(parts.view):
        _left(parts, "remember", asked)
    elif asked:
        project = await parts.view.project()
        made = await parts.view.chat.service.memories.remember(asked, project=project, world=parts.view.state.world)
        where = " in this what-if" if parts.view.state.what_if else ""
        parts.ui.say(f"Remembered{where}: {cut(made.text or '', 80)} · F4 shows it")
        parts.memory.point_at(made.id)


async def relate(parts: Parts, argument: str) -> None:
    if parts.view.chat is None:
        parts.ui.say(NOT_YET)
        return
    asked: str | None = argument.strip() or await parts.ui.ask(AskLine(RELATE, placeholder="Ada works_with Bob"))
    if asked and not await may_keep(parts.view):
        _left(parts, "relate", asked)
    elif asked:
        from agent.relations.stating import read

        stated, project = read(asked), await parts.view.project()
        made = await parts.view.chat.service.memories.relate(stated, project=project, world=parts.view.state.world)
        where = " in this what-if" if parts.view.state.what_if else ""
        parts.ui.say(f"Noted{where}: {cut(made.text or '', 80)} · F4 shows it")
        parts.memory.point_at(made.id)


async def entity(parts: Parts, argument: str) -> None:
    if parts.view.chat is None:
        parts.ui.say(NOT_YET)
        return
    from tui.entities import asked, line, typed

    words, called, another = typed(argument)
    if words and words[0] not in LOOKS and not await may_keep(parts.view):
        _left(parts, "entity", argument)
        return
    service, world = parts.view.chat.service, parts.view.state.world
    told, found = await asked(service.entities, words, called=called, another=another, world=world)
    if len(found) == 1 and words:
        where = " In this what-if only." if told and parts.view.state.what_if else ""
        parts.ui.say(f"{told or line(found[0])}{where}")
    else:
        listed = "\n".join(map(line, found)) or "Nobody and nothing is known by name yet."
        parts.ui.show(Reader("People, places and things", plain(listed)))


async def forget(parts: Parts, argument: str) -> None:
    words = argument.strip()
    if parts.view.chat is None or not words:
        await parts.memory.open(told="Choose a memory and press d to forget it.")
        return
    found = await parts.memory.by_id(words) or await parts.memory.one_of(words)
    if not isinstance(found, list):
        await _forget(parts, found)
    elif found:
        from graph.values import Wanted

        told = f"{len(found)} memories match. Choose one and press d to forget it."
        await parts.memory.open(wanted=Wanted(text=words), told=told)
    else:
        parts.ui.say("No memory contains these words. To delete a message instead, search for it with Ctrl+F.")


async def _forget(parts: Parts, found: "Observation") -> None:
    from tui.memories.observations import FORGET_WORDS

    assert parts.view.chat is not None
    service = parts.view.chat.service
    words = FORGET_WORDS
    if parts.view.is_private(parts.view.chat.session):
        words = f"{words} This chat is private, but a memory you forget is forgotten in all chats."
    way = ImpactChoice("forget", lambda: service.plans.forget(found.id))
    if (
        await history_handlers.agreed(
            parts.view, "Forget this permanently?", way, yes="forget permanently", words=words
        )
        is not None
    ):
        parts.ui.say("Forgotten permanently.")


async def synthesize(parts: Parts, argument: str) -> None:
    """Make a memory from two, by their ids; what it says is asked where it does not follow them."""
    from tui.memories.words import BOTH, CHOOSE_TWO, proposed_by

    one, other, text = (*argument.split(maxsplit=2), "", "", "")[:3]
    if parts.view.chat is None or not other:
        await parts.memory.open(told=CHOOSE_TWO)
        return
    syntheses = parts.view.chat.service.syntheses
    world, project = parts.view.state.world, await parts.view.project()
    asked: str | None = text.strip()
    if not asked:
        proposed = await syntheses.propose(one, other, world=world, project=project)
        asked = await parts.ui.ask(AskText(BOTH, proposed.text, words=proposed_by(proposed)))
    if asked is None or not asked.strip() or not await may_keep(parts.view):
        _left(parts, "synthesize", argument)
        return
    try:
        made = await syntheses.make(one, other, asked, world=world, project=project)
    except parts.view.failures:
        parts.view.composer.give_back(f"/synthesize {one} {other} {asked}")
        raise
    where = " in this what-if" if parts.view.state.what_if else ""
    parts.ui.say(f"Made from both{where}: {cut(made.text or '', 80)} · F4 shows it")
    parts.memory.point_at(made.id)


async def correct(parts: Parts, argument: str) -> None:
    """Correct the one of that id, or choose among those with these words: `ID TEXT`, `WORDS: TEXT`, `WORDS`."""
    given = argument.strip()
    word, _, text = given.partition(" ")
    found = await parts.memory.by_id(word) if word else None
    if parts.view.chat is None or not given:
        await parts.memory.open(told="Choose a memory and press c to correct it.")
    elif found is None:
        await _correct_by_words(parts, given)
    elif not text.strip():
        await parts.memory.open(choose=found.id, told="Press c to correct it.")
    else:
        await _correct(parts, found, text.strip())


async def _correct_by_words(parts: Parts, given: str) -> None:
    """What follows a colon is how it really is; the words before it say which one is meant."""
    from graph.values import Wanted

    assert parts.view.chat is not None
    words, _, text = (part.strip() for part in given.partition(": "))
    found = await _known(parts, words, CHOICES)
    if not found:
        parts.view.composer.give_back(f"/correct {given}")
        parts.ui.say(f"No memory contains “{cut(words, 40)}”. Press F4 to see them all.")
    elif text and len(found) == 1:
        said = f"Now: {cut(found[0].text or '', 200)}"
        asked = await parts.ui.ask(AskText("What is true instead?", text, words=said))
        if asked is not None and asked.strip():
            await _correct(parts, found[0], asked.strip())
        else:
            parts.view.composer.give_back(f"/correct {given}")
            parts.ui.say("Nothing was changed.")
    else:
        several = "1 memory" if len(found) == 1 else f"{len(found)} memories"
        told = f"{several} match. Choose one and press c to correct it."
        await parts.memory.open(wanted=Wanted(text=words), told=told, proposed=text)


async def _correct(parts: Parts, found: "Observation", text: str) -> None:
    assert parts.view.chat is not None
    if not await may_keep(parts.view):
        _left(parts, "correct", f"{found.id} {text}")
        return
    made = await parts.view.chat.service.memories.correct(found.id, text, world=parts.view.state.world)
    where = " in this what-if" if parts.view.state.what_if else ""
    parts.ui.say(f"Corrected{where}: {cut(made.text or '', 80)} · F4 shows it")
    parts.memory.point_at(made.id)


async def _known(parts: Parts, words: str, limit: int) -> "list[Observation]":
    """What the world of the chat knows that has these words."""
    from graph.values import Wanted

    assert parts.view.chat is not None
    return await parts.view.chat.service.memories.find(Wanted(text=words, world=parts.view.state.world), limit=limit)


def _left(parts: Parts, slash: str, argument: str) -> None:
    """Nothing was kept; the words stand in the composer again."""
    parts.view.composer.give_back(f"/{slash} {argument}")
    parts.ui.say("Nothing was saved. Your text is in the composer.")


async def project(parts: Parts, argument: str) -> None:
    """Show the projects, or put this chat into one."""
    chat, name = parts.view.chat, argument.strip()
    if chat is None:
        parts.ui.say(NOT_YET)
        return
    known = {each.name.casefold(): each for each in await chat.service.projects.all()}
    if not name:
        await _show_projects(parts)
        return
    if parts.view.is_private(chat.session):
        parts.ui.say("Private chats cannot belong to a project, as they are not saved. Press Alt+← to leave it.")
        return
    if name.casefold() in NO_PROJECT:
        await _assign(parts, None)
        return
    if name.casefold() not in known:
        words = (
            "Chats, memories and documents can belong to it. What is learned there stays separate from other projects."
        )
        if not await parts.ui.ask(Confirm(f"Create the project “{cut(name, 50)}”?", words, yes="create")):
            return
        await chat.service.projects.make(name)
    await _assign(parts, known[name.casefold()].name if name.casefold() in known else " ".join(name.split()))


async def _assign(parts: Parts, name: str | None) -> None:
    assert parts.view.chat is not None
    session = parts.view.chat.session
    parts.view.options = replace(parts.view.options, project=name)
    if session is not None:
        await parts.view.chat.service.projects.assign(session, name)
    parts.ui.say(
        "This chat no longer belongs to a project." if name is None else f"This chat now belongs to {one_line(name)}."
    )


async def _show_projects(parts: Parts) -> None:
    from textual.content import Content

    assert parts.view.chat is not None
    here = await parts.view.project()
    lines = [plain(HOW_PROJECTS, MUTED)]
    for each in await parts.view.chat.service.projects.all():
        mark = "› " if each.name == here else "  "
        away = " · archived" if each.status == "archived" else ""
        head = plain(f"{mark}{one_line(each.name)}", "bold")
        counts = f"  {counted(each.sessions, 'chat')} · {counted(each.observations, 'memory', 'memories')}{away}"
        lines += [Content(""), head + plain(counts, MUTED)]
        if each.description:
            lines.append(plain(f"  {one_line(each.description)}"))
    parts.ui.show(Reader("Projects", Content("\n").join(lines)))


async def ingest(parts: Parts, argument: str) -> None:
    path: str | None = argument.strip() or await parts.ui.ask(
        AskLine("Add a file or folder", placeholder="~/notes", yes="add")
    )
    if path and not await may_keep(parts.view):
        _left(parts, "ingest", path)
    elif path:
        parts.memory.ingest.begin(re.sub(r"^(['\"])(.*)\1$", r"\2", path))


async def private(parts: Parts, argument: str) -> None:
    await parts.memory.begin_private()
