"""People, places and things by hand, as typed behind `clew entity` and `/entity`: what is asked, and what is told."""

import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING

from agent.errors import AgentError
from tui.text import counted, one_line

if TYPE_CHECKING:
    from agent.entities import Entities
    from graph.values import Entity

FORMS = {
    "show": ("NAME", 1),
    "rename": ("NAME NEW", 2),
    "kind": ("NAME KIND", 2),
    "alias": ("NAME ALIAS", 2),
    "unalias": ("NAME ALIAS", 2),
    "merge": ("NAME OTHER", 2),
    "split": ("NAME ID…", 2),
}
USAGE = "Nothing was changed. Ways to ask: " + " · ".join(f"{verb} {form}" for verb, (form, _) in FORMS.items()) + "."
QUOTES = "Put names of several words in quotes."


async def asked(
    entities: "Entities", words: Sequence[str], *, called: str | None, another: bool, world: str
) -> "tuple[str, list[Entity]]":
    """Do what the words ask for: what is told of it, and whom it is of. Raises AgentError, NotFound or Ambiguous."""
    if not words:
        found = await entities.everyone(world=world)
        return f"{counted(len(found), 'person, place or thing', 'people, places and things')}.", found
    verb, names = words[0].casefold(), list(words[1:])
    if verb not in FORMS:
        verb, names = "show", [" ".join(words)]
    form, least = FORMS[verb]
    if len(names) < least or (len(names) > least and verb != "split"):
        raise AgentError(f"`{verb}` takes {form}. Nothing was changed. {QUOTES}")
    if (called is not None and verb != "split") or (another and verb != "rename"):
        raise AgentError(f"--as goes with `split`, --another with `rename`. {USAGE}")
    told, entity = await _done(entities, verb, names, called, another, world)
    return told, [entity]


async def _done(
    entities: "Entities", verb: str, names: list[str], called: str | None, another: bool, world: str
) -> "tuple[str, Entity]":
    match verb:
        case "show":
            return "", await entities.find(names[0], world=world)
        case "rename":
            found = await entities.rename(*names, another=another, world=world)
            return f"Renamed {one_line(names[0])} to {one_line(found.name)}.", found
        case "kind":
            found = await entities.set_kind(*names, world=world)
            return f"{one_line(found.name)} is of the kind {found.kind} now.", found
        case "alias":
            found = await entities.alias(*names, world=world)
            return f"{one_line(found.name)} is also called {one_line(names[1])}.", found
        case "unalias":
            found = await entities.unalias(*names, world=world)
            return f"{one_line(found.name)} is no longer called {one_line(names[1])}.", found
        case "merge":
            found = await entities.merge(*names, world=world)
            return f"{one_line(names[1])} is {one_line(found.name)}: they are one.", found
        case _:
            found = await entities.split(names[0], names[1:], called=called, world=world)
            return f"{one_line(found.name)} ({found.id}) is another one than {one_line(names[0])}.", found


def line(entity: "Entity") -> str:
    """One on one line: name, kind, what else it is called."""
    also = f" · also {', '.join(one_line(each) for each in entity.others)}" if entity.others else ""
    return f"{one_line(entity.name)} · {entity.kind}{also} · {entity.id}"


def typed(argument: str) -> tuple[list[str], str | None, bool]:
    """Words, `--as` and `--another` of one line. Raises AgentError for quotes that do not close."""
    try:
        words = shlex.split(argument)
    except ValueError as error:
        raise AgentError(f"A quote is not closed. Nothing was changed. {QUOTES}") from error
    another, called = "--another" in words, None
    words = [each for each in words if each != "--another"]
    if "--as" in words:
        at = words.index("--as")
        called = " ".join(words[at + 1 : at + 2]) or None
        del words[at : at + 2]
    return words, called, another
