"""What a model proposed becomes events, as far as people's own words of themselves bear it out.

A sentence can have all its words from a message and be false: "The user's name is Otto", of "my dog is called Otto".
Looked for is one sentence, or two that follow one another, that the person meant: no question, no joke, no supposition,
nobody else's words; about the same one, telling the same trait, as sure or as denied.

Nothing is taken on trust: a sentence has to be grounded in the turns it names; what is known already gains a proof and
no twin; a change acts by itself only on what the turns speak of, is never older than what it changes, and keeps the way
there; a deletion only where the user's own words correct the same subject. All else waits for a review, or is nothing.
"""

import re
from collections.abc import Awaitable, Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any

from agent.language.doubt import (
    DOUBT,
    FICTION,
    GIVEN,
    INJECTED,
    JOKE,
    LAUGH,
    REPORTED,
    TAKEN_BACK,
    WRITE,
    before_reports,
)
from agent.language.sentences import KIN, MASK, Sentence, clause, led_in, parts, sentences, spelled
from agent.language.words import content, fold, numbers, tokens, wordset
from agent.quoting import neutral
from agent.reflection.consolidation import Action, Create, Delete, Update
from agent.reflection.correcting import corrects
from agent.reflection.grounding import KINDRED, Grounding, agrees, ground, verbatim
from agent.reflection.languages import FIRST
from agent.reflection.likeness import Embed, cosine, names_of, negated, says_again, says_the_same, shared
from agent.reflection.making import ACTIVE_ABOVE, Draft, speaks_of
from agent.reflection.slots import mentioned, slots_of
from agent.reflection.statements import cue_of
from graph.events import ObservationKind
from graph.values import NearObservation, Observation, Turn

COMMA = re.compile(
    r"\s*[,;–—]\s+|\s+-\s+|\s+(?:and|but|so) (?=(?:i|i['’]m|we|my|our|what|which|how|any|can|do|is)\b)", re.I
)
ASKS = re.compile(
    r"^\W*(?:and |but |so |or |ok |then )?(?:am|is|are|was|were|do|does|did|don['’]?t|isn['’]?t|aren['’]?t|have|has|had"
    r"|can|could|should|shall|will|would|may|who|what|whats|which|where|when|why|how|whose|any)\b",
    re.I,
)
BARELY_ASKS = re.compile(
    r"^\W*(?:am|is|are|was|were|do|does|did|can|could|should|would|what|where|why|how|which)\b", re.I
)
SUPPOSES = re.compile(
    r"^\W*(?:and |but |so |well |ok )?(?:if|unless|suppose|supposing|imagine|let['’]?s say|say|assuming"
    r"|what if|wenn|falls"
    r"|si|se|s['’]il|als ik|in case i)\b(?!.{0,4}\b(?:llam|chiam|cham))",
    re.I,
)
POWER = re.compile(
    r"\b(?:am|['’]m) the (?:developer|creator|system|operator|programmer|admin\w*)|root access|superuser|privileges?"
    r"|authori[sz]ed|bypass|override",
    re.I,
)
BABBLE = re.compile(
    r"^(?:the )?(?:user|speaker)(?:['’]s [\w-]+)? (?:is|are|was|hates|likes|loves|has|wants"
    r"|lives in) (?:(?:the|a) )?(?:i|you|we|they"
    r"|he|she|it|its|is|are|am|was|should|could|would|to|for|this|that|those|these|any|what|how|why|if|so|or|and|but"
    r"|s|m|re|ve|ll|me|my|your|us|do|does|did|can|will|lol|ok|please)\b",
    re.I,
)
TWO_VERBS = re.compile(
    r"^(?:the )?(?:user|speaker) is (?:[\w'-]+ ){1,3}?(?<!and )(?<!who )(?<!that )(?<!but )(?<!which )(?:is"
    r"|was|are|were)\b",
    re.I,
)
NO_NAME = re.compile(r"\bname is (?:ich|je|io|eu|yo|ik|i|ok|hey|hi|hello|hallo|hola|ciao)\b", re.I)
COPULA = re.compile(r"^(?:the )?(?:user|speaker) (?:is|was) (?P<doing>(?=(?:not |now |\w+ly )?\w+ing\b))?", re.I)
BEING = "am|are|was|were|been|being|become|became|turned|went|got|get|stay|feel|identify|work|trained|retired"
ADVERB = r"not|now|also|just|an?|the|still|really|no|longer|so|very|as|both|currently|\w+ly|always|never|been"
PASSED = wordset("a an the not no longer now also very still just currently really")
OWN = wordset("i im ive my me mine we our us myself")
PRONOUNS = wordset("he she they it his her their its")
MINE = re.compile(rf"\b(?:my|our) (?:\w+ )?({KIN})\b", re.I)
STRICT = re.compile(r"^(?:.* )?(?:name|age|birthday|residence|employer|birthplace|hometown|marital|pronouns)$")


def babble(text: str) -> bool:
    """Whether a text is no sentence about anyone, but a piece of one stuck to "the user is"."""
    return bool(BABBLE.match(text) or NO_NAME.search(text) or TWO_VERBS.match(text))


def borne_out(text: str, said: Sequence[str], *, before: str = "", cosine: float | None = None) -> bool:
    """Whether a person's messages bear a sentence out; `before` is the observation that it revises, if it does."""
    if babble(text):
        return False
    return any(_bears(text, window, before, cosine) for window in _windows(said))


def meant(said: str) -> list[str]:
    """What a person told in a message, in earnest and of their own, clause by clause where the rest is not."""
    found = []
    all_said = sentences(said)
    for at, sentence in enumerate(all_said):
        plain = sentence.plain.replace(MASK, " ")
        if INJECTED.search(plain) or FICTION.search(plain) or GIVEN.search(plain) or WRITE.search(plain):
            break
        following = all_said[at + 1].plain if at + 1 < len(all_said) else ""
        told = "" if _unmeant(plain, following) else _told(sentence, plain)
        found.append(told)
    return found


def _unmeant(plain: str, following: str) -> bool:
    sober, next_sober = LAUGH.sub(" ", plain), LAUGH.sub(" ", following).strip()
    back = TAKEN_BACK.match(next_sober) is not None or JOKE.search(next_sober) is not None
    return bool(JOKE.search(sober) or POWER.search(plain) or SUPPOSES.match(plain)) or back


def _told(sentence: Sentence, plain: str) -> str:
    """The clauses of a sentence that are told: not asked, not doubted, not reported."""
    plain = before_reports(plain)
    if REPORTED.search(led_in(plain)):
        return ""
    whole = plain.strip() == sentence.plain.replace(MASK, " ").strip()
    asked = whole and sentence.text.rstrip(" )!.").endswith(("?", "？"))
    if ASKS.match(plain) and (not whole or asked or BARELY_ASKS.match(plain)):
        return ""
    if not asked and not DOUBT.search(plain):
        return plain
    pieces = [piece for piece in COMMA.split(plain) if piece]
    told = [piece for piece in (pieces[:-1] if asked else pieces) if not DOUBT.search(piece) and not ASKS.match(piece)]
    return ", ".join(told)


def _windows(said: Sequence[str]) -> Iterator[str]:
    """Each sentence that is meant, and each two that follow one another."""
    for words in said:
        told = meant(words)
        yield from (each for each in told if each)
        yield from (f"{one}. {other}" for one, other in pairwise(told) if one and other)


def _bears(text: str, window: str, before: str, cosine: float | None) -> bool:
    if verbatim(text, window):
        return True
    grounding = ground(text, [window, before] if before else [window], cosine=cosine, known=("user",))
    if not grounding.grounded or not _about_the_same(text, window):
        return False
    telling = slots_of(text) - slots_of(before) or slots_of(text)
    if not telling:
        return _is_said_to_be(text, window)
    pieces = (window, *parts(window), *COMMA.split(window))
    there = frozenset(slot for piece in pieces for slot in slots_of(piece)) | mentioned(window)
    there |= {f"have {match[1].casefold()}" for match in MINE.finditer(window)}  # who speaks of a brother has one
    if telling & there or {slot.split(" ")[0] for slot in telling if not STRICT.match(slot)} & {
        slot.split(" ")[0] for slot in there
    }:
        return True
    return grounding.overlap == 1 and not any(STRICT.match(slot) for slot in telling)


def _is_said_to_be(text: str, window: str) -> bool:
    """Of "The user is …": whether the person says of themselves that they are, right before the first word of it."""
    match = COPULA.match(text)
    if match is None:
        return True
    first = next((word for word in tokens(text[match.end() :]) if word not in PASSED), "")
    words = spelled(fold(window))
    doing = match["doing"] is not None
    between = r".{0,60}\b" if doing else rf"\b(?:{BEING})\b(?: (?:{ADVERB}))*? "
    return bool(first) and re.search(rf"\b(?:i|we) (?:[\w'-]+ )?{between}{re.escape(first)}", words) is not None


def _about_the_same(text: str, window: str) -> bool:
    """Whether the clause that has most of the text's words speaks of the one that the text does."""
    taken = clause(text)
    if taken is None:
        return True
    wanted = set(content(text)) | numbers(text)
    pieces = [piece for sentence in re.split(r"[.!?]\s+", window) for piece in parts(sentence)]
    shares = [len(wanted & (set(content(piece)) | numbers(piece))) for piece in pieces]
    most = max(shares, default=0)
    nearest = [piece for piece, share in zip(pieces, shares, strict=True) if share == most]
    return any(_speaks_of(taken.who, piece) and (len(nearest) == 1 or agrees(text, [piece])) for piece in nearest)


def _speaks_of(who: str, piece: str) -> bool:
    found, words = clause(piece), set(tokens(piece))
    if not who:
        if found is not None:
            return not found.who or bool(mentioned(piece))
        return bool(words & OWN) or FIRST.match(piece.strip()) is not None or not words & PRONOUNS
    kin = who.split(" ")[0]
    return kin in words or bool(words & PRONOUNS) or bool(set(tokens(who)) & words)


FindNear = Callable[[str], Awaitable[list[NearObservation]]]
LONGEST = 30  # words
RELATED = 0.3  # share of the words, or
RELATED_MEANING = 0.5  # cosine from which two sentences may be about the same
CHANGED_MEANING = 0.3  # the same, where the person says that something changed
FAR = 0.34  # below both, a sentence has nothing to do with its turns
NO_LONGER = "No longer so: "
JOURNEY = re.compile(r"\b(?:used to|no longer|formerly|previously|before:) |,? (?:any ?more|before)\b", re.IGNORECASE)


class Applier:
    """Turns the actions of one answer into events of a draft; `shown` are the observations of the prompt, in order."""

    def __init__(self, draft: Draft, shown: Sequence[Observation], *, near: FindNear, embed: Embed) -> None:
        self._draft = draft
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
                    counts.created += (made := await self._create(action, action.category, turns))
                case Update():
                    counts.updated += (made := await self._update(action, turns))
                case Delete():
                    counts.deleted += (made := self._delete(action, turns))
            counts.skipped += not made

    def _turns(self, numbers: Sequence[int]) -> list[Turn]:
        said = self._draft.material.said
        return [said[number - 1] for number in dict.fromkeys(numbers) if 1 <= number <= len(said)]

    def _known(self, number: int) -> Observation | None:
        return self._shown[number - 1] if 1 <= number <= len(self._shown) else None

    async def _create(self, action: Create | Update, category: ObservationKind, turns: Sequence[Turn]) -> bool:
        text = sentence(action.text)
        meaning = await self._meaning(text, _words(turns))
        grounding = self._ground(text, _words(turns), meaning)
        if not text or babble(text) or invented(text, grounding) or far(grounding, meaning):
            return False
        sources = [turn.id for turn in turns]
        sure = borne_out(text, _words(turns), cosine=meaning)
        how: dict[str, Any] = {"confidence": action.confidence, "grounded": grounding.grounded, "sure": sure}
        for near in await self._near(text):
            known = near.observation
            if not self._same_people(known, turns):
                continue
            if says_the_same(text, known.text or "", near.cosine or None):
                if self._draft.stands_beside(known, sources, **how):
                    continue
                return grounding.grounded and self._draft.support(known, sources)
            if slots_of(text) & slots_of(known.text or ""):
                return self._revise(known, text, action.confidence, turns, grounding)
        return self._draft.make(text, category=category, sources=sources, **how)

    async def _update(self, action: Update, turns: Sequence[Turn]) -> bool:
        old, text = self._known(action.memory), sentence(action.text)
        if old is None or not old.text or not text:
            return False
        meaning = await self._meaning(text, [old.text])
        words = _words(turns)
        corrected = any(corrects(each, old.text) for each in words)
        changed = corrected or any(map(marks_change, words))
        if not self._same_people(old, turns) or not (corrected or related(text, old.text, meaning, changed=changed)):
            return await self._create(action, old.kind, turns)
        if says_the_same(text, old.text, meaning):
            if old.status == "candidate" and await self._create(action, old.kind, turns):
                return True
            heard = ground(old.text, words, cosine=await self._meaning(old.text, words), known=self._speakers())
            again = heard.grounded or any(says_again(each, old.text) for each in words)
            return again and self._draft.support(old, [turn.id for turn in turns])
        grounding = self._ground(text, [*words, old.text], meaning)
        if not grounding.grounded:  # that it was otherwise before is no denial
            grounding = self._ground(JOURNEY.sub("", text), [*words, old.text], meaning)
        if babble(text) or invented(text, grounding) or not told_now(text, old.text, words):
            return False
        alone = self._ground(JOURNEY.sub("", text), words, await self._meaning(text, words))
        told = alone.grounded and (changed or bool(names_of(text) & names_of(old.text)))
        told = told or (changed and fresh_of(text, old.text) <= {*content(" ".join(words)), *numbers(" ".join(words))})
        if alone.grounded and not self._acts(old, text, turns, told=told) and borne_out(text, words):
            return self._make(text, old.kind, action.confidence, turns)  # true whatever becomes of the old one
        return self._revise(old, text, action.confidence, turns, grounding, told=told)

    def _revise(
        self,
        old: Observation,
        text: str,
        confidence: float,
        turns: Sequence[Turn],
        grounding: Grounding,
        *,
        told: bool = False,
    ) -> bool:
        """A new revision of `old`, under review where the turns do not show (`told`) that it is otherwise now."""
        if not newer(turns, old):
            return False
        return self._draft.make(
            with_journey(text, old.text or ""),
            category=old.kind,
            confidence=confidence,
            sources=[turn.id for turn in turns],
            grounded=grounding.grounded,
            sure=self._acts(old, text, turns, told=told),
            supersedes=old,
        )

    def _acts(self, old: Observation, text: str, turns: Sequence[Turn], *, told: bool) -> bool:
        """Whether a revision needs no review: the turns show that it is otherwise now, and that it is as it says."""
        known = old.text or ""
        shown = told or bool(slots_of(text) & slots_of(known)) or keeps(text, known)
        shown = shown or any(corrects(turn.text or "", known) for turn in turns)
        return shown and any(borne_out(each, _words(turns), before=known) for each in (text, JOURNEY.sub("", text)))

    def _make(self, text: str, category: ObservationKind, confidence: float, turns: Sequence[Turn]) -> bool:
        sources = [turn.id for turn in turns]
        return self._draft.make(text, category=category, confidence=confidence, sources=sources)

    def _delete(self, action: Delete, turns: Sequence[Turn]) -> bool:
        old = self._known(action.memory)
        if old is None or not old.text or not self._same_people(old, turns) or not newer(turns, old):
            return False
        for turn in turns:
            if corrects(turn.text or "", old.text):
                return self._draft.retire(old, turn.id)
        subject = set(content(old.text))
        if len(subject & set(content(" ".join(_words(turns))))) * 2 < len(subject) or old.status == "candidate":
            return False
        return self._draft.make(
            NO_LONGER + old.text,
            category=old.kind,
            confidence=ACTIVE_ABOVE,
            sources=[turn.id for turn in turns],
            grounded=False,
            sure=False,
            supersedes=old,
        )

    def _speakers(self) -> list[str]:
        return [*self._draft.material.speakers, "user"]

    def _ground(self, text: str, words: Sequence[str], meaning: float | None) -> Grounding:
        return ground(text, words, cosine=meaning, known=self._speakers())

    def _same_people(self, known: Observation, turns: Sequence[Turn]) -> bool:
        return any(speaks_of(known, turn.speaker) for turn in turns)

    async def _meaning(self, text: str, others: Sequence[str]) -> float | None:
        """The best cosine of a sentence with some texts; None without an embedder."""
        if not text or not others:
            return None
        first, *rest = await self._embed([text, *others])
        found = [value for value in (cosine(first, other) for other in rest) if value is not None]
        return max(found, default=None)


def _words(turns: Sequence[Turn]) -> list[str]:
    return [turn.text or "" for turn in turns]


def sentence(text: str) -> str:
    """The text as one line; empty where it says nothing, or is no sentence but a page."""
    line = neutral(text).strip(" -*•")
    return line if 0 < len(line.split()) <= LONGEST and any(char.isalpha() for char in line) else ""


def invented(text: str, grounding: Grounding) -> bool:
    """Whether the sentence has names, numbers or relatives that nobody spoke of, or says the opposite of what was
    said."""
    lacking = {part for word in grounding.lacking for part in tokens(word)}
    facts = names_of(text) | KINDRED | {"not"}
    return any(word.isdigit() for word in lacking) or not facts.isdisjoint(lacking)


def far(grounding: Grounding, meaning: float | None) -> bool:
    """Whether a sentence has nothing to do with its turns, so that it is no use to a reviewer either."""
    return not grounding.grounded and grounding.overlap < FAR and (meaning or 0.0) < RELATED_MEANING


def related(text: str, known: str, meaning: float | None, *, changed: bool = False) -> bool:
    """Whether two sentences may be about the same; where the person says that something is otherwise now, with less."""
    if slots_of(text) & slots_of(known):
        return True
    near = CHANGED_MEANING if changed else RELATED_MEANING
    return shared(text, known) >= RELATED or (meaning is not None and meaning >= near)


def fresh_of(text: str, known: str) -> set[str]:
    """The content words and numbers that a revision has and the one before it has not."""
    return (set(content(text)) - set(content(known))) | (numbers(text) - numbers(known))


def told_now(text: str, known: str, words: Sequence[str]) -> bool:
    """Whether what is new in a revision is in the new words: else it is only said otherwise, and nothing happened."""
    fresh = fresh_of(text, known)
    said = " ".join(words)
    there = set(content(said)) | numbers(said)
    if not fresh:
        return any(corrects(each, known) for each in words)
    return len(fresh & there) * 2 >= len(fresh)


def marks_change(words: str) -> bool:
    """Whether some sentence of a message says of itself that something is otherwise now, or was wrong."""
    return any(cue_of(each.text) != "new" for each in sentences(words) if each.own)


def keeps(text: str, known: str) -> bool:
    """Whether a revision says all that the one before it claims, and maybe more."""
    return (
        numbers(known) <= numbers(text)
        and negated(known) == negated(text)
        and set(content(known)) - {"user"} <= set(content(text))
    )


def with_journey(text: str, known: str) -> str:
    """A revision with what was before, where it leaves that out and there is room."""
    if names_of(known) <= set(tokens(text)) and numbers(known) <= numbers(text) and negated(known) == negated(text):
        return text
    whole = f"{text.rstrip('.')}; before: {known}"
    return whole if len(whole.split()) <= LONGEST else text


def newer(turns: Sequence[Turn], known: Observation) -> bool:
    """Whether some turn was said no earlier than anything that speaks for an observation."""
    return not known.times or max(turn.at for turn in turns) >= known.times[-1]
