"""Who leaves or joins a scene, guessed from what is said and told; a guess is proposed, and never decides.

Found are a member, or the speaker as "I" or unsaid in an action, with a verb of moving right after them and where they
move to ("*Jonas leaves the room*", "I have to go now"), and what is said on leaving and on coming ("brb", "I'm back",
"Welcome back, Mara"). What is denied, asked, supposed, told again or of another time is nothing, and neither is a way
within the room, nor a farewell to one by name: whoever says that stays.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import Literal

from agent.story.moving import NAME, THEIRS, Form, Way, forms, starts, way
from agent.story.names import Named, Names, Part, Token
from agent.story.telling import How, pieces
from agent.story.words import common, language

CLAUSE = 60  # words of a clause that are read
TAG = 2  # words after which a question is none: "I have to go, okay?"
QUESTIONS = frozenset(("can", "should", "will", "shall", "is", "are", "am", "has", "have", "was", "were"))


@dataclass(frozen=True, slots=True)
class Guess:
    """A member who leaves or joins, and the sentence that says so."""

    id: str
    kind: Way
    sentence: str


@dataclass(frozen=True, slots=True)
class _Words:
    """The folded words between two marks, short forms spelled out, and of each whom it names."""

    lows: tuple[str, ...]
    ids: tuple[frozenset[str], ...]

    def __getitem__(self, cut: slice) -> "_Words":
        return _Words(self.lows[cut], self.ids[cut])


@dataclass(frozen=True, slots=True)
class _Sentence:
    chunks: tuple[_Words, ...]
    text: str
    asks: bool


@dataclass(frozen=True, slots=True)
class _Subject:
    """Who does something: as "I", by name, or unsaid."""

    ids: tuple[str, ...]
    how: Literal["i", "named", "unsaid"]


def departure(text: str, names: Sequence[Named], *, speaker: str | None = None) -> list[Guess]:
    """Who leaves or joins by a message, in order; `speaker` is the id of whoever says "I".

    Nobody leaves twice without joining between; a name that several share is nobody's.
    """
    found: list[Guess] = []
    last: dict[str, Way] = {}
    reading = Names(names, common=common())
    parts = [(piece.how, [*_sentences(piece.text, reading.tokens(piece.text))]) for piece in pieces(text)]
    for (how, sentences), after in pairwise([*parts, ("done", [])]):
        reader = _Reader(how, _speaker(after, speaker) if how == "said" else speaker)
        for guess in reader.guesses(sentences):
            if last.get(guess.id) != guess.kind:
                found.append(guess)
            last[guess.id] = guess.kind
    return found


def _speaker(after: tuple[How, list[_Sentence]], speaker: str | None) -> str | None:
    """Whoever says what is told on after: "…," Mara said; nobody known where it is "she said"."""
    how, sentences = after
    if how != "told" or not sentences:
        return speaker
    words = sentences[0].chunks[0]
    if not any(starts("sayings", words.lows, at) for at in (0, 1)):
        return speaker
    named = [ids for ids in words.ids[:2] if ids]
    if named:
        return next(iter(named[0])) if len(named[0]) == 1 else None
    return None if starts("others", words.lows) or starts("others", words.lows, 1) else speaker


@dataclass(frozen=True, slots=True)
class _Reader:
    """One way of telling, and who speaks."""

    how: How
    speaker: str | None

    def guesses(self, sentences: Sequence[_Sentence]) -> Iterator[Guess]:
        stays = _is_answer(sentences)
        for sentence in sentences:
            for id_, kind in chain(self._spoken(sentence, stays=stays), self._moved(sentence)):
                yield Guess(id_, kind, sentence.text)

    def _spoken(self, sentence: _Sentence, *, stays: bool) -> Iterator[tuple[str, Way]]:
        """Who leaves or comes by what is said then; `stays`: a farewell only answers another's."""
        late = False
        for at, chunk in enumerate(sentence.chunks if self.how == "said" else ()):
            late = late or _has("times", chunk.lows)
            if starts("welcomes", chunk.lows):
                greeted = [ids for beside in sentence.chunks[max(0, at - 1) : at + 2] for ids in beside.ids]
                yield from ((id_, "joins") for ids in greeted if len(ids) == 1 for id_ in ids)
            elif self.speaker is not None and (kind := _by_phrase(chunk.lows, stays=stays, late=late)) is not None:
                yield self.speaker, kind

    def _moved(self, sentence: _Sentence) -> Iterator[tuple[str, Way]]:
        """Who leaves or joins by what they do."""
        now = [chunk.lows for chunk in sentence.chunks if not _is_farewell(chunk.lows)]
        if self.how == "said" and any(_has("times", lows) for lows in now):
            return
        subject = _Subject((self.speaker,), "unsaid") if self.speaker is not None and self.how == "done" else None
        under, last = False, len(sentence.chunks) - 1
        for at, chunk in enumerate(sentence.chunks):
            under = under and not starts("turns", chunk.lows)
            asked = sentence.asks and (at == last or len(sentence.chunks[last].lows) > TAG)
            for first, clause in enumerate(_clauses(chunk), start=at):
                under = under or starts("under", clause.lows) > 0
                subject, kind = self._clause(clause, subject, begins=first == 0)
                if subject is not None and kind is not None and not under and not asked:
                    yield from ((id_, kind) for id_ in subject.ids)
                under = under or _has("under", clause.lows)

    def _clause(self, clause: _Words, before: _Subject | None, *, begins: bool) -> tuple[_Subject | None, Way | None]:
        """Whoever does something in a clause, and whether they leave or join by it.

        Where nobody is named it is whoever did something `before`, unless another does.
        """
        first = _skip(clause.lows, 0, "leads", "adverbs")
        if before is not None and (kind := self._verb(clause.lows, first, before)) is not None:
            return before, kind
        subject = before
        for at in range(first, len(clause.lows)):
            told = self._subject(clause, at)
            if told is not None:
                subject, after = told
                kind = None if _is_supposed(clause.lows[:at]) else self._verb(clause.lows, after, subject)
                if kind is not None:
                    return subject, kind
        if subject is before and starts("others", clause.lows, first):
            subject = None
        elif subject is None and begins and self.how == "said" and self.speaker is not None:
            kind = _unsaid(clause.lows, first)
            return None if kind is None else _Subject((self.speaker,), "i"), kind
        return subject, "leaves" if self.how != "said" and _has("parting", clause.lows) else None

    def _subject(self, clause: _Words, at: int) -> tuple[_Subject, int] | None:
        """The subject that stands there, and where its verb may be."""
        low = clause.lows[at]
        if self.speaker is not None and (low == "i" or clause.lows[at : at + 2] == ("let", "me")):
            return _Subject((self.speaker,), "i"), at + (low == "i")
        if len(clause.ids[at]) != 1:
            return None
        ids = [*clause.ids[at]]
        while clause.lows[at + 1 : at + 3] == ("and", NAME) and len(clause.ids[at + 2]) == 1:
            at += 2
            ids += clause.ids[at]
        return _Subject(tuple(ids), "named"), at + 1

    def _verb(self, lows: Sequence[str], at: int, subject: _Subject) -> Way | None:
        """Where the verb leads that stands there, after adverbs and words such as "have to"."""
        mine, past = subject.how == "i", self.how != "said"
        if mine and (kind := _about(lows, at)) is not None:
            return kind
        allowed: set[Form] = {"base"} if mine or len(subject.ids) > 1 else {"third"}
        if subject.how == "unsaid":
            allowed = {"base", "third", "ing"}
        if past:
            allowed.add("past")
        at = _skip(lows, at, "adverbs")
        helped = at < len(lows) and (starts("are", lows, at) or (past and starts("were", lows, at)))
        if helped or lows[at - 1 : at] == (THEIRS,):
            at = _skip(lows, at + bool(helped), "adverbs")
            if (kind := way("be", lows[at:], meant=False)) is not None:
                return kind
            allowed = {"ing"}
        elif starts("have", lows, at):
            allowed, at = {"done"}, _skip(lows, at + 1, "adverbs")
        return _led(lows, at, allowed, meant=mine and allowed == {"ing"})


def _unsaid(lows: Sequence[str], at: int) -> Way | None:
    """Whether one leaves who leaves out "I": "gotta go", "heading home"."""
    if _has("are", lows):
        return None  # "going there is fun"
    return _about(lows, at) or ("leaves" if _led(lows, at, {"ing"}, meant=True) == "leaves" else None)


def _led(lows: Sequence[str], at: int, allowed: Collection[Form], *, meant: bool) -> Way | None:
    verbs = forms().get(lows[at], ()) if at < len(lows) else ()
    return next((way(verb, lows[at + 1 :], meant=meant) for verb, form in verbs if form in allowed), None)


def _about(lows: Sequence[str], at: int) -> Way | None:
    """Whether one leaves who says what they are about to do: "have to go", "should get going"."""
    at = _skip(lows, at, "adverbs")
    size = starts("frames", lows, at)
    if not size:
        return None
    at = _skip(lows, at + size, "adverbs")
    if size := starts("errands", lows, at):
        after = lows[at + size :]
        ends = not after or starts("ends", after) > 0 or starts("adverbs", after) > 0
        return "leaves" if ends or not starts("alone", lows, at) else None
    return "leaves" if _led(lows, at, {"base"}, meant=True) == "leaves" else None


def _is_farewell(lows: Sequence[str]) -> bool:
    return starts("farewells", lows, _skip(lows, 0, "leads", "adverbs")) > 0


def _by_phrase(lows: Sequence[str], *, stays: bool, late: bool) -> Way | None:
    """Whether one comes or leaves who says this between two marks; `late`: what is said is to be at another time."""
    for at in sorted({0, _skip(lows, 0, "leads", "adverbs")}):
        after = at + starts("leaving", lows, at)
        if after > at and _goes_on(lows, after) and (not late or lows[after - 1] in ("back", "return")):
            return "leaves"
        after = at + starts("coming", lows, at)
        more = not starts("exact", lows, at) and after < _skip(lows, after, "adverbs", "whence")
        if after > at and not late and (after == len(lows) or more):
            return "joins"
        after = at + starts("farewells", lows, at)
        whole = _skip(lows, after, "everybody", "adverbs", "whole") == len(lows)
        if after > at and not stays and (whole or not starts("whole", lows, at)):
            return "leaves"
    return None


def _goes_on(lows: Sequence[str], at: int) -> bool:
    """Whether what follows a phrase of leaving lets it be one: "I'm off to bed", but not "I'm off sugar"."""
    if starts("off", lows[at - 1 : at]):
        return at == len(lows) or lows[at] in ("to", "now", "then", "again", "for")
    if lows[at - 1] in ("the", "my"):
        return any(starts("places", lows, each) for each in range(at, min(at + 3, len(lows))))
    return True


def _is_answer(sentences: Sequence[_Sentence]) -> bool:
    """Whether a farewell is what those say who stay: to one by name, or after such as "okay"."""
    chunks = [chunk for sentence in sentences for chunk in sentence.chunks]
    if any(_has("everybody", chunk.lows) for chunk in chunks):
        return False
    return any(ids for chunk in chunks for ids in chunk.ids) or (bool(chunks) and starts("replies", chunks[0].lows) > 0)


def _is_supposed(before: Sequence[str]) -> bool:
    """Whether words before a subject say that what follows is asked, supposed or told again."""
    return _has("supposing", before) or _has("under", before) or (bool(before) and before[-1] in QUESTIONS)


def _has(role: str, lows: Sequence[str]) -> bool:
    return any(starts(role, lows, at) for at in range(len(lows)))


def _skip(lows: Sequence[str], at: int, *roles: str) -> int:
    """Where the words go on after those of some roles; adverbs are all that end in -ly."""
    while at < len(lows):
        size = max(starts(role, lows, at) for role in roles)
        if not size and not ("adverbs" in roles and lows[at].endswith("ly")):
            break
        at += max(size, 1)
    return at


def _clauses(chunk: _Words) -> Iterator[_Words]:
    """Words cut before those that join clauses; between two names "and" joins these."""
    cuts = [
        at
        for at in range(1, len(chunk.lows))
        if starts("cuts", chunk.lows, at) and not (chunk.ids[at - 1] and any(chunk.ids[at + 1 : at + 2]))
    ]
    for start, end in pairwise([0, *cuts, len(chunk.lows)]):
        yield chunk[start : min(end, start + CLAUSE)]


def _sentences(text: str, tokens: Sequence[Token]) -> Iterator[_Sentence]:
    chunks: list[_Words] = []
    chunk: list[tuple[str, frozenset[str]]] = []
    start = 0
    for token in (*tokens, Token(Part.END, "", "", len(text), len(text))):
        if token.part in (Part.NAME, Part.WORD):
            chunk += _spelled(token)
            continue
        if chunk:
            chunks.append(_Words(tuple(low for low, _ in chunk), tuple(ids for _, ids in chunk)))
            chunk = []
        if token.part is Part.END:
            if chunks:
                yield _Sentence(tuple(chunks), text[start : token.end].strip(), "?" in token.text)
            chunks, start = [], token.end


def _spelled(token: Token) -> list[tuple[str, frozenset[str]]]:
    """The words of a token, as they are compared."""
    if token.part is Part.NAME and (token.sure or token.capital):
        return [(THEIRS if token.possessive else NAME, token.ids)]
    return [
        (low, frozenset()) for low in language("english")["departures"]["spelled"].get(token.low, token.low).split()
    ]
