"""What a trusted model proposed becomes events, as far as people's own words bear it out.

A sentence has to be grounded in the turns it names: its names, numbers and most of its words occur there, and it denies
what they deny. What is known already gains a proof and no twin. A change acts where it is grounded and is never older
than what it changes; one that is not waits for a review as a revision of just that. A deletion acts only where the
turn's own words end what is known; else that is in question. No list of words overrules the model.
"""

import re
from collections.abc import Awaitable, Callable, Collection, Sequence

from agent.language.clauses import clauses
from agent.language.doubt import injected
from agent.language.sentences import LINK, QUOTED
from agent.language.words import MONTHS, UNIT_NAMES, content, numbers, tokens, wordset
from agent.quoting import neutral
from agent.reflection.consolidation import Action, Create, Delete, Update
from agent.reflection.grounding import ENOUGH, Grounding, ground
from agent.reflection.heads import CHANGED, IN_QUESTION, changes
from agent.reflection.likeness import WEEKDAYS, Embed, cosine, names_of, of_the_same, says_the_same
from agent.reflection.making import ACTIVE_ABOVE, Draft, speaks_of
from graph.values import NearObservation, Observation, Turn

WORD = re.compile(r"[\w'-]+")
FindNear = Callable[[str], Awaitable[list[NearObservation]]]
LONGEST = 30  # words
FAR = 0.34  # share of the words: with less, and no meaning, a sentence is no use to a reviewer either
HEARD = 0.45  # what cosine and share of the words come to where a message says it in other words (348 of 372 that did),
OF_WORDS = 0.6  # as the share counts (with both so, 2 of 1,155 inventions passed; with the cosine alone 42),
CHANGES = 0.4  # the cosine of what changes something known,
NEAR_ENOUGH = 0.3  # and may end it, as far as it is asked in the review
SUPPOSED = wordset(  # of what is not so
    "if would i'd we'd could might maybe imagine suppose pretend wish wenn falls wäre würde hätte vielleicht si serais"
    " aurais peut-être ojalá quizás sería tendría se fossi sarei forse talvez seria zou misschien"
)
DATED = frozenset(MONTHS) | WEEKDAYS | {f"{day}s" for day in WEEKDAYS}  # which a model reads off a message's day
COUNTS = {word: str(at) for at, word in enumerate(UNIT_NAMES.split()[:13])}  # of what was named
ENGLISH = wordset("i i'm my me we our the a an and is are was were it that this to of for with on have has had you not")
OTHER = wordset(  # small words of other languages
    "der die das und ich nicht mit für ist auf mein meine wir le les des du et je est pour avec mon ma sur el los que"
    " por para con mi y es una il che di per sono ho della mio mia os um uma não eu meu minha het een ik en van mijn de"
    " la un"
)
LEAST_OTHER = 0.1  # of the words: then neither words nor vectors compare it with a sentence in English
NO_LONGER = "No longer so: "
JOURNEY = re.compile(r"\b(?:used to|no longer|formerly|previously) |,? (?:any ?more|before)\b", re.IGNORECASE)


class Applier:
    """Turns the actions of one answer into events of a draft; `shown` are the observations of the prompt, in order."""

    def __init__(
        self,
        draft: Draft,
        shown: Sequence[Observation],
        *,
        near: FindNear,
        embed: Embed,
        foreign: Collection[str] = (),
        earlier: Sequence[str] = (),
    ) -> None:
        """`foreign` are turns in which somebody else speaks, `earlier` is what the person said before in the chat."""
        self._draft = draft
        self._earlier = earlier
        self._foreign = foreign
        self._shown = shown
        self._near = near
        self._embed = embed

    async def apply(self, actions: Sequence[Action]) -> None:
        """Each action by itself, in order."""
        counts = self._draft.outcome
        for action in actions:
            turns = self._turns(action.sources)
            if not turns:
                counts.skipped += 1
                continue
            match action:
                case Create():
                    counts.created += (made := await self._create(action, turns))
                case Update():
                    counts.updated += (made := await self._update(action, turns))
                case Delete():
                    counts.deleted += (made := await self._delete(action, turns))
            counts.skipped += not made

    def _turns(self, numbers: Sequence[int]) -> list[Turn]:
        """The turns of an action, without those in which somebody else speaks, or that give the program orders."""
        said = self._draft.material.said
        named = [said[number - 1] for number in dict.fromkeys(numbers) if 1 <= number <= len(said)]
        return [turn for turn in named if turn.id not in self._foreign and not injected(turn.text or "")]

    def _known(self, number: int) -> Observation | None:
        return self._shown[number - 1] if 1 <= number <= len(self._shown) else None

    async def _create(self, action: Create, turns: Sequence[Turn]) -> bool:
        text = sentence(action.text)
        grounded = await self._borne_out(text, turns, HEARD) if text else None
        if grounded is None:
            return False
        sources = [turn.id for turn in turns]
        for near in await self._near(text):
            known = near.observation
            if self._same_people(known, turns) and says_the_same(text, known.text or "", near.cosine or None):
                if self._draft.stands_beside(known, sources, confidence=action.confidence, grounded=grounded):
                    continue
                return grounded and self._draft.support(known, sources)
        return self._draft.make(
            text,
            category=action.category,
            confidence=action.confidence,
            sources=sources,
            grounded=grounded,
            sure=not supposed(text, turns),
        )

    async def _update(self, action: Update, turns: Sequence[Turn]) -> bool:
        old, text = self._known(action.memory), sentence(action.text)
        if old is None or not old.text or not text or not self._same_people(old, turns):
            return False
        if says_the_same(text, old.text, await self._meaning(text, [old.text])):
            return await self._again(old, action.confidence, turns)
        now = JOURNEY.sub("", text)  # that it was otherwise before is no denial
        grounded = await self._borne_out(now, turns, CHANGES, fresh_of(now, old.text))
        if grounded is None or not newer(turns, old):
            return False
        return self._draft.make(
            text,
            category=old.kind,
            confidence=action.confidence,
            sources=[turn.id for turn in turns],
            grounded=grounded,
            sure=not supposed(text, turns),
            supersedes=old,
        )

    async def _again(self, old: Observation, confidence: float, turns: Sequence[Turn]) -> bool:
        """The same again is a proof where the turns say it; of what waits for review, it may be one beside it."""
        text, sources = old.text or "", [turn.id for turn in turns]
        vector, *said = await self._embed([text, *(turn.text or "" for turn in turns)])
        ended = [
            changes(turn.text or "", here, [(text, vector)])[0] >= IN_QUESTION
            for turn, here in zip(turns, said, strict=True)
        ]
        if any(ended) or not await self._borne_out(text, turns, HEARD):
            return False
        if self._draft.stands_beside(old, sources, confidence=confidence):
            return self._draft.make(text, category=old.kind, confidence=confidence, sources=sources)
        return self._draft.support(old, sources)

    async def _borne_out(
        self, text: str, turns: Sequence[Turn], near: float, telling: frozenset[str] | None = None
    ) -> bool | None:
        """Whether turns bear a sentence out, by most of its words or, `near` enough, its meaning; None: it is nothing.

        Its names and numbers must have been said there, before in the chat, or be known. `telling` are the words that
        count, if not all do.
        """
        words = own_words(turns)
        there = [*(turn.text or "" for turn in turns), *self._earlier, *(each.text or "" for each in self._shown)]
        known = [*self._draft.material.speakers, "user"]
        if unsaid(text, ground(text, there, cosine=None, known=known), {turn.at.year for turn in turns}):
            return None
        if all(map(otherwise, words)):
            return telling is None  # a change that nothing bears out waits for a review
        found = ground(text, words, cosine=None, known=known)
        said = {*content(" ".join(words)), *numbers(" ".join(words))}
        enough = found.overlap >= ENOUGH if telling is None else len(telling & said) * 2 >= len(telling) > 0
        beside = OF_WORDS * found.overlap if telling is None else 0.0
        if enough or (await self._meaning(text, words) or 0.0) + beside >= near:
            return True
        return None if telling is None and found.overlap < FAR else False

    async def _delete(self, action: Delete, turns: Sequence[Turn]) -> bool:
        old = self._known(action.memory)
        if old is None or not old.text or not self._same_people(old, turns) or not newer(turns, old):
            return False
        near = False
        for turn in turns:
            said = turn.text or ""
            vector, known = await self._embed([said, old.text])
            sure = changes(said, vector, [(old.text, known)])[0] >= CHANGED
            if sure and of_the_same(said, old.text, old.about):
                return self._draft.retire(old, turn.id)
            near |= (cosine(vector, known) or 0.0) >= NEAR_ENOUGH or not set(content(old.text)).isdisjoint(
                content(said)
            )
        return near and question(self._draft, old, turns)

    def _same_people(self, known: Observation, turns: Sequence[Turn]) -> bool:
        return any(speaks_of(known, turn.speaker) for turn in turns)

    async def _meaning(self, text: str, others: Sequence[str]) -> float | None:
        """The best cosine of a sentence with some texts; None without an embedder."""
        if not text or not others:
            return None
        first, *rest = await self._embed([text, *others])
        found = [value for value in (cosine(first, other) for other in rest) if value is not None]
        return max(found, default=None)


def question(draft: Draft, old: Observation, turns: Sequence[Turn]) -> bool:
    """Ask in the review whether something is still so: a revision that denies it, which one key takes or rejects."""
    if old.status == "candidate":
        return False
    return draft.make(
        NO_LONGER + (old.text or ""),
        category=old.kind,
        confidence=ACTIVE_ABOVE,
        sources=[turn.id for turn in turns],
        grounded=False,
        sure=False,
        supersedes=old,
    )


def supposed(text: str, turns: Sequence[Turn]) -> bool:
    """Whether the clause that says most of a text only supposes it."""
    wanted = set(content(text)) | numbers(text)
    said = [(turn.text or "")[each.opens : each.closes] for turn in turns for each in clauses(turn.text or "")]
    nearest = max(said, key=lambda each: len(wanted & (set(content(each)) | numbers(each))), default="")
    words = WORD.findall(nearest.casefold().replace("’", "'"))
    first = next((at for at, word in enumerate(words) if not wanted.isdisjoint({*content(word), *numbers(word)})), None)
    return not SUPPOSED.isdisjoint(words[:first])  # and not "I fish on Saturday, if I am lucky"


def own_words(turns: Sequence[Turn]) -> list[str]:
    """What people said themselves in some turns: without quotes, code and links."""
    return [LINK.sub(" ", QUOTED.sub(" ", turn.text or "")) for turn in turns]


def sentence(text: str) -> str:
    """The text as one line; empty where it says nothing, or is no sentence but a page."""
    line = neutral(text).strip(" -*•")
    return line if 0 < len(line.split()) <= LONGEST and any(char.isalpha() for char in line) else ""


def unsaid(text: str, found: Grounding, years: Collection[int]) -> bool:
    """Whether a sentence has names or numbers that nobody said; what tells a time may come of the `years` it was."""
    lacking = {part for word in found.lacking for part in tokens(word)} - DATED
    lacking -= {str(year + beside) for year in years for beside in (-1, 0, 1)}
    lacking -= {COUNTS[word] for word in tokens(text) if word in COUNTS}
    return any(word.isdigit() for word in lacking) or not names_of(text).isdisjoint(lacking)


def otherwise(text: str) -> bool:
    """Whether a text is in another language, by its small words and its letters."""
    words = [word.strip(".,;:!?") for word in text.casefold().replace("’", "'").split()]
    other = sum(word in OTHER or not word.isascii() for word in words)
    return other > sum(word in ENGLISH for word in words) and other >= LEAST_OTHER * len(words)


def fresh_of(text: str, known: str) -> frozenset[str]:
    """The telling words and numbers that a revision has and the one before it has not."""
    return frozenset((set(content(text)) - set(content(known))) | (numbers(text) - numbers(known)))


def newer(turns: Sequence[Turn], known: Observation) -> bool:
    """Whether some turn was said no earlier than anything that speaks for an observation."""
    return not known.times or max(turn.at for turn in turns) >= known.times[-1]
