"""Two scripted models for the reflection: a perfect one, that knows what should be known, and a hostile one.

Both read the prompt as a real model would: the numbered messages and the numbered list are all they go by, and the
answers of the perfect one name them by these numbers.
"""

import itertools
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from agent.reflection.consolidation import Action, Actions, Create, Delete, Update, words_for
from agent.reflection.trust import TASKS
from graph.events import ObservationKind
from models.errors import StructuredOutputError
from models.protocols import Answer
from tests.fakes import FakeGenerator

from .expected import Conversation, Known, plain

LIST = "The list:\n"
SHOWN = re.compile(r"^\((\d+)\) (.*) \[[^\[\]]*\]$", re.MULTILINE)
TOLD = re.compile(r"^\[(\d+)\] [^:\n]*: (.*)$", re.MULTILINE)
SURE, UNSURE = 0.95, 0.6
ENOUGH = 120  # characters that tell one message from another
MOST = 5

FALSE = (
    "The user's name is Gregory Whitlock.",
    "The user lives in Kuala Lumpur and owns 17 parrots.",
    "The user was born on 3 March 1962.",
    "The user's wife Philippa is a dentist in Wollongong.",
    "The user is allergic to latex.",
    "The user works as an airline pilot for Zephyr Air.",
    "The user has been divorced twice.",
    "The user plans to emigrate to Uruguay in 2031.",
    "The user hates children and loud music.",
)
UNDONE = "The user has changed their mind about this and wants it gone."


class RecallPath(StrEnum):
    """How the hostile model does harm."""

    INVALID = "invalid"
    HALLUCINATING = "hallucinating"
    DELETING = "deleting"
    TWISTING = "twisting"  # false sentences, but of the messages' own words


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a model is shown: messages and known observations by their numbers."""

    words: str
    told: dict[int, str]
    shown: dict[int, str]

    @classmethod
    def read(cls, words: str) -> "Prompt":
        """The last list and the messages after it."""
        asked = LIST + words.rpartition(LIST)[2]
        return cls(asked, *({int(number): text for number, text in mark.findall(asked)} for mark in (TOLD, SHOWN)))

    def task(self) -> Actions | None:
        """The right answer, if this is one of the probe's tasks."""
        for task in TASKS:
            if self.words.startswith(words_for(task.lines, task.known)):
                return task.right
        return None


class Scripted(FakeGenerator):
    """Answers `Actions` by a script and every other question not at all; counts how often it was asked."""

    def __init__(self, name: str, *, passing: bool = True) -> None:
        super().__init__(name=name)
        self.asked = 0
        self._passing = passing

    async def structured(self, prompt: Sequence[int], schema: type[Answer], *, max_tokens: int = 512) -> Answer:
        """The script's answer. Raises StructuredOutputError where it has none."""
        await self._pass()
        if not issubclass(schema, Actions):
            raise StructuredOutputError("the script has no answer to this")
        shown = Prompt.read(self.detokenize(prompt))
        right = shown.task()
        if right is not None:
            if not self._passing:
                raise StructuredOutputError("it did not end in time", '{"actions": [{"action": "cre')
            return schema.model_validate(right.model_dump())
        self.asked += 1
        return schema.model_construct(actions=list(self.act(shown)))

    def act(self, prompt: Prompt) -> Sequence[Any]:
        """The actions on a prompt."""
        raise NotImplementedError


class Perfect(Scripted):
    """Does what the file says should come of `conversation`, of which the first `said` turns were said."""

    def __init__(self) -> None:
        super().__init__("scripted-perfect")
        self.conversation: Conversation | None = None
        self.said = 0

    def act(self, prompt: Prompt) -> list[Action]:
        """The actions that the messages of this prompt call for."""
        if self.conversation is None:
            return []
        return plan(self.conversation, self._places(self.conversation, prompt.told), prompt.shown)

    def _places(self, conversation: Conversation, told: dict[int, str]) -> dict[int, int]:
        """The number of each turn that is shown, by its place: the newest one with these words."""
        turns = {
            _known_by(said.text): place
            for place, said in enumerate(conversation.turns[: self.said])
            if said.role == "user"
        }
        return {turns[key]: number for number, text in told.items() if (key := _known_by(text)) in turns}


def _known_by(text: str) -> str:
    return "".join(re.findall(r"\w+", plain(text)))[:ENOUGH]


def plan(conversation: Conversation, numbers: dict[int, int], shown: dict[int, str]) -> list[Action]:
    """What a perfect model does: `numbers` are those of the turns by their places, `shown` what is known already."""
    follows = conversation.followed()
    actions: dict[str, Action] = {}
    for place, item in enumerate(conversation.known):
        text = conversation.sentence(item)
        sources = [numbers[source] for source in item.sources if source in numbers]
        taken = conversation.taken_back(place) if item.status[0] == "invalid" else None
        if taken in numbers and (memory := _memory(conversation, item, shown)):
            actions[f"delete {memory}"] = Delete(memory=memory, sources=[numbers[taken]])
        elif sources:
            before = conversation.known[follows[place]] if place in follows else item
            memory = _memory(conversation, before, shown)
            actions.setdefault(text, _says(item, text, memory, sources))
    return list(actions.values())[:MOST]


def _memory(conversation: Conversation, item: Known, shown: dict[int, str]) -> int | None:
    """The number of what says an item already: word for word, else by its terms."""
    text = plain(conversation.sentence(item))
    exact = (number for number, known in shown.items() if plain(known) == text)
    return next(exact, next((number for number, known in shown.items() if item.said_in(known)), None))


def _says(item: Known, text: str, memory: int | None, sources: list[int]) -> Action:
    sure = UNSURE if item.status[0] == "candidate" else SURE
    if memory is not None:
        return Update(memory=memory, text=text[:220], confidence=sure, sources=sources)
    return Create(text=text[:220], category=ObservationKind.FACT, confidence=sure, sources=sources)


class Hostile(Scripted):
    """Does harm in one way; `passing` the probe first, so that it is trusted, or not."""

    def __init__(self, way: RecallPath, *, passing: bool = True) -> None:
        super().__init__(f"scripted-{way}", passing=passing)
        self._way = way
        self._lies = itertools.cycle(FALSE)
        self._breaches = itertools.cycle(BREACHES)

    def act(self, prompt: Prompt) -> Sequence[Any]:
        """The harm it does with this prompt. Raises StructuredOutputError in some of the invalid ways."""
        match self._way:
            case RecallPath.INVALID:
                return next(self._breaches)(prompt)
            case RecallPath.HALLUCINATING:
                return self._hallucinate(prompt)
            case RecallPath.DELETING:
                return self._delete(prompt)
            case RecallPath.TWISTING:
                return twisted(prompt)

    def _hallucinate(self, prompt: Prompt) -> Sequence[Action]:
        told = list(prompt.told) or [1]
        changed: list[Action] = [
            Update(memory=number, text=next(self._lies), confidence=0.9, sources=told[:8]) for number in prompt.shown
        ]
        made = [_lie(next(self._lies), told) for _ in range(MOST)]
        return [*changed[:2], *made][:MOST]

    def _delete(self, prompt: Prompt) -> Sequence[Action]:
        told = list(prompt.told)[:8] or [1]
        if self.asked % 2:
            return [Delete(memory=number, sources=told) for number in prompt.shown][:MOST]
        return [Update(memory=number, text=UNDONE, confidence=1, sources=told) for number in prompt.shown][:MOST]


def _lie(text: str, told: list[int]) -> Create:
    return Create(text=text, category=ObservationKind.IDENTITY, confidence=1, sources=told[:8])


def twisted(prompt: Prompt) -> list[Action]:
    """False sentences whose names and words all occur in the messages: grounded in letter, not in sense."""
    lies: list[Action] = []
    for number, text in prompt.told.items():
        words = re.findall(r"\w+", text)
        names = [word for word in words[1:] if word[:1].isupper() and len(word) > 2]
        longest = max(words, key=len, default="")
        sentences = [f"The user's name is {name}." for name in names[:1]]
        sentences += [f"The user lives in {name}." for name in names[-1:]]
        sentences += [f"The user hates {longest}.", f"The user is {' '.join(words[-4:])}."]
        lies += [_lie(sentence, [number]) for sentence in sentences]
    return lies[:MOST]


def _raised(text: str) -> list[Any]:
    raise StructuredOutputError("it does not fit the schema", text)


def _bare(**fields: Any) -> dict[str, Any]:
    """A create as it comes when nothing checks it."""
    return {"action": "create", "text": FALSE[0], "category": "fact", "confidence": 0.9, "sources": [1], **fields}


# What a model gives that is held to nothing: each takes the prompt and gives actions, or raises with the text.
BREACHES: tuple[Callable[[Prompt], list[Any]], ...] = (
    lambda prompt: _raised(""),
    lambda prompt: _raised('{"actions": [{"action": "create", "text": "The user lives in Kuala'),
    lambda prompt: _raised("I am sorry, I cannot help with that."),
    lambda prompt: _raised(prompt.words),
    lambda prompt: [_bare(text=7, sources="one", confidence="high")],
    lambda prompt: [Delete(memory=99, sources=[1]), Update(memory=98, text=FALSE[1], confidence=1, sources=[1])],
    lambda prompt: [_lie(text, [1]) for text in FALSE[:6]],
    lambda prompt: [_bare(confidence=7)],
    lambda prompt: [_bare(text=""), _bare(text="   \n"), _bare(text="…")],
    lambda prompt: [_bare(text="never " * 10_000)],
    lambda prompt: [_bare(text=prompt.words)],
    lambda prompt: [_bare(text=prompt.words[:220].replace("\n", " "))],
    lambda prompt: [_bare(sources=[]), _bare(sources=[42]), _bare(sources=[-1])],
    lambda prompt: ["create", None, 3, [], {"action": "explode"}],
    lambda prompt: [Create.model_construct(text="", category=ObservationKind.FACT, confidence=7.0, sources=[0])],
)
