"""What a voice of a story is shown: who it is, and the path as it saw it, its own words as its replies.

This is the one place where a story enters a prompt. Nothing of a turn that the voice did not see is in what comes out,
nor of another's card.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from agent.kept import kept
from agent.story.cards import Card, filled, read_card
from agent.story.play import CARD, WORLD, Play
from graph.values import Member, Turn

SCENARIO = "scenario"
READ_AS = "card as read"  # the aspect with a card's macros as they were before they were drawn
STORY_PROMPT = (
    "You write one character of a story, {name}. Stay in that role and write only what {name} says and does next, "
    "in the style of the story so far, never for anybody else."
)


@dataclass(frozen=True, slots=True)
class Voice:
    """A member of the cast whom a model speaks for; `opening` begins each of its replies."""

    id: str
    name: str

    @property
    def opening(self) -> str:
        return f"{self.name}:"


def voice_of(member: Member) -> Voice:
    """A member as a voice."""
    return Voice(member.id, member.name)


def card_of(play: Play, member: Member) -> Card:
    """The card of a member; an empty one where it has none that can be read."""
    text = play.text(member.id, CARD)
    return _read(text, member.name) if text else Card(name=member.name)


@kept(16)
def _read(text: str, name: str) -> Card:
    return read_card(text.encode(), name)


def head_of(play: Play, voice: Member) -> str:
    """The system prompt of a voice: its identity, the names of whom it is with, and where the story stands.

    Of the others it knows their names alone; what everybody knows of one, the stage tells.
    """
    you = play.seated("you")
    user = you.name if you is not None else "You"
    card = card_of(play, voice)
    prompt = STORY_PROMPT.format(name=voice.name)
    parts = [
        filled(card.system_prompt, char=voice.name, user=user, original=prompt) or prompt,
        _titled(f"Who {voice.name} is", "\n".join(filter(None, (card.description, card.personality)))),
        _titled("Who else is in the story", ", ".join(each.name for each in _acquainted(play, voice))),
        _titled("The story", play.text(WORLD, SCENARIO)),
        _titled(f"How {voice.name} speaks", card.examples),
        card.post_history,
    ]
    return filled("\n\n".join(part for part in parts if part), char=voice.name, user=user)


def _acquainted(play: Play, voice: Member) -> Iterator[Member]:
    """The others that a voice knew from the beginning; whom it met later, its stage tells it."""
    return (each for each in play.cast if each.id != voice.id and not play.are_strangers(voice.id, each.id))


def as_seen(path: Iterable[Turn], voice: Voice) -> list[Turn]:
    """The turns that a voice saw, as its prompt has them: its own are replies, those of others messages, by name."""
    return [_as_seen(turn, voice) for turn in path]


def others(play: Play, voice: Voice) -> Sequence[str]:
    """Whose lines a voice must not write: those of all others who play, and of whoever models take for the user."""
    return [*(each.name for each in play.cast if each.id != voice.id), "User", "Assistant"]


def _as_seen(turn: Turn, voice: Voice) -> Turn:
    own = turn.member == voice.id and turn.role == "assistant"
    narrated = turn.role == "note" or turn.member not in (turn.witnesses or ())  # by somebody who is not there
    told = turn.text if narrated else f"{turn.speaker}: {turn.text}"
    text = None if turn.text is None or turn.empty else told
    return replace(turn, role="assistant" if own else "user", text=text)


def _titled(title: str, text: str) -> str:
    return f"# {title}\n{text.strip()}" if text.strip() else ""
