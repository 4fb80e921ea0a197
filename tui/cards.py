"""Character cards as people name them, in files, and what a card says in words; for the screens and the commands."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from tui.files import ExportFailed, path_of
from tui.text import cut, one_line

if TYPE_CHECKING:
    from agent.story.cards import Card

ENDINGS = (".json", ".png", ".charx")


def is_path(said: str) -> bool:
    """Whether a file is meant, and not a name."""
    return "/" in said or said.startswith("~") or said.lower().endswith(ENDINGS)


def card_path(said: str) -> Path:
    """The file that is meant. Raises AgentError."""
    from agent.errors import AgentError

    try:
        return path_of(said, Path.cwd())
    except ExportFailed as error:
        raise AgentError(str(error)) from error


async def read_card_at(said: str) -> "Card":
    """The card in the file that is meant. Raises AgentError, in a sentence."""
    from agent.stories import read_card_file

    return await read_card_file(card_path(said))


async def card_of(said: str, told: str = "") -> "Card | None":
    """The card in a file, or that of somebody who is only named, and `told` of; None for nothing. Raises AgentError."""
    from agent.story.cards import Card

    if not said:
        return None
    return await read_card_at(said) if is_path(said) else Card(name=said, description=told)


def about(card: "Card") -> str:
    """What it is called besides, by whom it is, and its tags, in a line; empty where it has none of them."""
    parts = [
        f"called {one_line(card.nickname)}" if card.nickname else "",
        f"by {one_line(card.creator)}" if card.creator else "",
        one_line(card.version),
        ", ".join(map(one_line, card.tags)),
    ]
    return cut(" · ".join(filter(None, parts)), 300)


USER = "{{user}}"  # as cards have it, for whoever is not known yet


def sections(card: "Card", *, user: str = USER) -> Iterator[tuple[str, str]]:
    """What it says, under headings; its name is filled in, and that of the `user`."""
    from agent.story.cards import filled

    for title, text in (
        ("Who it is", card.description),
        ("Personality", card.personality),
        ("Scenario", card.scenario),
        *((f"Greeting {number}", text) for number, text in enumerate(card.greetings, start=1)),
        *((f"Greeting for a group {number}", text) for number, text in enumerate(card.group_greetings, start=1)),
        ("How it speaks", card.examples),
        ("System prompt", card.system_prompt),
        ("After the dialogue", card.post_history),
        ("From its creator, not for the model", card.creator_notes),
    ):
        if text.strip():
            yield title, filled(text, char=card.nickname or card.name, user=user).strip()


def pictured(card: bytes, picture: Path) -> bytes:
    """A PNG picture with a card in it, which is JSON; blocking. Raises AgentError, in a sentence."""
    from agent.errors import AgentError
    from agent.story.cards import into_png, read_card

    try:
        return into_png(read_card(card), picture.read_bytes())
    except OSError as error:
        raise AgentError(f"{one_line(str(picture))} cannot be read: {error.strerror}. Nothing was written.") from error
