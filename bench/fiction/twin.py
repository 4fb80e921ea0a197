"""Twin runs: a story is played, and played again in a home of its own without what one of the cast, B, never saw. What
B's models are given has to be the same, token for token.

The twin has only those deeds by which B ever saw something (or would have, by a correction), and those that are of no
turn: who comes and goes, is renamed or reset. A message with a note is said without it. Where the story goes back to a
turn that B did not see, its twin goes back to the nearest one above that B saw, and so on.

Not every deed has a twin: who is sent away while B is, and comes back because the story goes back, may stay away in the
twin, where all of that is one place. Such a deed is found by the casts of both, by what is refused only there, and by
turns that are nowhere in the twin; it is left out of both, and they are played again. What is left out is counted.
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.fiction.episodes import (
    Deed,
    Edit,
    Episode,
    Fork,
    Kill,
    OfTurn,
    Person,
    Plain,
    Ref,
    Regenerate,
    Rewind,
    Say,
    Witness,
    card_of,
    deed_of,
)
from bench.fiction.playing import Actor, Done, Given, Performance

TRIES = 12  # deeds that are left out before it is given up
MOVES = ("rewind", "forward", "switch")


@dataclass(slots=True)
class Played:
    """What came of a performance, and what B was given by the numbers of deeds; `hits` are keys of what B recalled."""

    at: Performance
    done: list[Done] = field(default_factory=list)
    given: list[tuple[int, Given]] = field(default_factory=list)
    hits: list[tuple[int, tuple[str, ...]]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Difference:
    """The first place where the twin's prompts differ: after which deed, what, and whether recall found other turns."""

    n: int
    what: str
    one: str
    other: str
    recall: bool = False
    words: bool = True  # not only other tokens for the same words


@dataclass(slots=True)
class Twins:
    """The outcome of an episode: how many `prompts` were compared, and the deeds that are `left_out`."""

    prompts: int = 0
    left_out: list[int] = field(default_factory=list)
    hits: int = 0  # turns that were recalled for B
    unseen: int = 0  # turns that B never saw
    difference: Difference | None = None
    undone: str = ""  # why there is no twin


class NoTwin(Exception):
    """The deed of a number has none."""

    def __init__(self, n: int, why: str) -> None:
        super().__init__(why)
        self.n = n


async def twins(episode: Episode, folder: Path, *, b: str | None = None, **how: Any) -> Twins:
    """Play an episode and its twin, of B by the name it came with: the guest, else the host."""
    found = Twins()
    b = b or card_of(episode.cast.guest or episode.cast.host).name
    numbered = episode.model_copy(
        update={"deeds": tuple(deed.model_copy(update={"n": at}) for at, deed in enumerate(episode.deeds))}
    )
    model = Actor()  # one vocabulary for all, so that equal words are equal tokens
    for _ in range(TRIES):
        deeds = [deed for deed in numbered.deeds if deed.n not in found.left_out]
        trial = len(found.left_out)
        one = await _played(
            numbered.model_copy(update={"deeds": tuple(deeds)}), folder / f"one{trial}", b, model=model.again(), **how
        )
        try:
            plan = Plan(one, b)
            twin = plan.episode()
            other = await _played(twin, folder / f"other{trial}", b, model=model.again(), **how)
            plan.check(other)
        except NoTwin as none:
            found.left_out.append(none.n)
            found.undone = str(none)
            continue
        found.undone = ""
        found.prompts = len(_replies(one))
        found.hits = sum(len(keys) for _, keys in one.hits)
        member = one.at.member.get(b, "")
        found.unseen = sum(member not in told.ever for told in one.at.book.turns.values())
        found.difference = difference(one, other)
        return found
    return found


async def _played(episode: Episode, home: Path, b: str, **how: Any) -> Played:
    at = Performance(episode, home, **how)
    played = Played(at)
    try:
        async for done in at.play():
            played.done.append(done)
            member = at.member.get(b)
            if member is None:
                continue
            played.given += [(done.n, each) for each in done.given if each.voice == member]
            played.hits.append(
                (done.n, tuple(at.book.turns[hit.id].key for voice, hit in done.hits if voice == member))
            )
    finally:
        await at.close()
    return played


def difference(one: Played, other: Played) -> Difference | None:
    """The first difference in what B was given."""
    hits, twins = dict(one.hits), dict(other.hits)
    given, others = (_replies(each) for each in (one, other))
    for at in range(max(len(given), len(others))):
        mine, theirs = (each[at] if at < len(each) else None for each in (given, others))
        if mine is None or theirs is None or mine[0] != theirs[0]:
            a, b = (f"a prompt by deed {each[0]}" if each else "nothing" for each in (mine, theirs))
            return Difference(min(each[0] for each in (mine, theirs) if each), "another prompt", a, b)
        (n, one_s), (_, other_s) = mine, theirs
        if one_s.tokens != other_s.tokens:
            recall = hits.get(n, ()) != twins.get(n, ())
            a, b = _around(one_s.text, other_s.text)
            return Difference(n, one_s.how, a, b, recall=recall, words=one_s.text != other_s.text)
    return None


def _replies(played: Played) -> list[tuple[int, Given]]:
    """The prompts of B's replies. When something is evaluated ahead of them depends on what others do."""
    return [(n, each) for n, each in played.given if each.how == "reply"]


def _around(one: str, other: str) -> tuple[str, str]:
    at = next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    return one[max(0, at - 80) : at + 160], other[max(0, at - 80) : at + 160]


class Plan:
    """The twin of a performance: which deeds it has, and what they name there."""

    def __init__(self, one: Played, b: str) -> None:
        self._one = one
        self._book = one.at.book
        self._member = member = one.at.member.get(b)
        self._there = {id for id, told in self._book.turns.items() if member is not None and member in told.ever}
        self._deeds: list[Deed] = []
        self._heads: dict[str, str | None] = {}
        self._gone: set[str] = set()  # turns that are deleted by then
        self._labels = {session: label for label, session in one.at.labels.items() if label.startswith("@chat")}
        self._first = next(iter(self._book.chats))
        with_deed = {told.id: done for done in one.done for told in done.new}
        # What is said with something that B saw is said in the twin too, whoever saw it.
        for id in list(self._there):
            done = with_deed[id]
            if done.n >= 0:
                self._there |= {told.id for told in done.new if told.role != "note"}
        if any(self._book.turns[id].role == "note" for id in self._there):
            raise NoTwin(self._by_correction(), "a note is seen")

    def _by_correction(self) -> int:
        return next(done.n for done in self._one.done if isinstance(done.deed, Witness) and not done.refused)

    def episode(self) -> Episode:
        """The twin. Raises NoTwin."""
        given = self._one.at.episode
        greetings = self._one.done[0].new
        seen = [told.id in self._there for told in greetings]
        cast = given.cast
        if greetings and not any(seen):
            for told in greetings:
                self._there.discard(told.id)
            host = {key: value for key, value in cast.host.items() if key not in ("greetings", "group_greetings")}
            cast = cast.model_copy(update={"host": host})
        else:
            self._there |= {told.id for told in greetings}
        for done in self._one.done:
            if done.n >= 0 and done.refused is None:
                self._add(done)
            self._follow(done)
        return given.model_copy(update={"cast": cast, "deeds": tuple(self._deeds)})

    def check(self, other: Played) -> None:
        """Whether the twin stands as the story does after each deed. Raises NoTwin."""
        twins = {done.n: done for done in other.done}
        one_at, other_at = self._one.at, other.at
        names = {id: name for name, id in one_at.member.items()}
        twin_names = {id: name for name, id in other_at.member.items()}
        refused = {done.n for done in other.done if done.refused is not None}
        only_here: int | None = None  # the last deed since both were the same that the twin has not
        for done in self._one.done:
            if done.n in refused and done.n >= 0:
                why = next(each.refused for each in other.done if each.n == done.n and each.refused)
                raise NoTwin(done.n, f"refused there: {why}")
            twin = twins.get(done.n)
            if twin is None or done.n < 0:
                only_here = done.n if done.n >= 0 else only_here
                continue
            blamed = done.n if only_here is None else only_here
            for session, cast in done.cast.items():
                label = self._labels.get(session)
                there = other_at.labels.get(label) if label is not None else next(iter(other_at.book.chats))
                mine = [(names[member], *rest) for member, *rest in cast]
                theirs = [(twin_names[member], *rest) for member, *rest in twin.cast.get(there or "", ())]
                if mine != theirs:
                    raise NoTwin(blamed, f"another cast: {mine} and {theirs}")
                if done.stage[session] != twin.stage.get(there or "", ()):
                    raise NoTwin(blamed, f"another stage: {done.stage[session]} and {twin.stage.get(there or '')}")
            only_here = None

    # -- what a deed is there -------------------------------------------------------------------------------------

    def _add(self, done: Done) -> None:
        match deed := done.deed:
            case Say() | Kill(text=str()):
                self._say(done)
            case Edit():
                old = done.instead
                if old is not None and old.id in self._there and self._is_there(done):
                    self._emit(done, deed.model_copy(update={"turn": self._label(old.id), "text": self._text(done)}))
                elif self._is_there(done) and self._member not in done.new[0].witnesses:
                    raise NoTwin(done.n, "it was heard by fewer than a message would be there")
                else:
                    self._say(done)
            case Regenerate():
                if self._is_there(done):
                    if done.meant is None or done.meant not in self._there:
                        raise NoTwin(done.n, "the reply is nowhere there")
                    self._emit(done, deed.model_copy(update={"turn": self._label(done.meant)}))
            case Person(do="speak"):
                if self._is_there(done):
                    if self._nearest(done.new[0].parent) is None:
                        raise NoTwin(done.n, "nothing was said there")
                    self._emit(done, deed)
            case Witness() | OfTurn(do="hide" | "unhide" | "pin" | "unpin" | "delete"):
                if done.meant is not None and done.meant in self._there:
                    self._emit(done, deed.model_copy(update={"turn": self._label(done.meant)}))
                    if deed.do == "delete":
                        self._delete(done.meant)
            case Rewind() | OfTurn() | Plain(do="forward"):
                pass  # heads follow
            case Fork():
                at = self._nearest(done.heads[self._forked(done)])
                if at is None:
                    raise NoTwin(done.n, "there is nothing to fork from there")
                self._emit(done, deed.model_copy(update={"turn": self._label(at)}))
                self._heads[self._forked(done)] = at
            case _:
                self._emit(done, deed)

    def _say(self, done: Done) -> None:
        if not self._is_there(done):
            if isinstance(done.deed, Kill):
                self._emit(done, done.deed.model_copy(update={"text": None}))
            return
        said = next(told for told in done.new if told.role == "user")
        self._go(done, done.chat.session, self._nearest(said.parent))
        fields = {"do": "say", "text": self._text(done), "n": done.n, "in": self._chat(done.chat.session)}
        if isinstance(done.deed, Say) and done.deed.whisper is not None:
            fields["whisper"] = done.deed.whisper
        if isinstance(done.deed, Kill):
            fields["do"] = "kill"
        self._deeds.append(deed_of(**fields))

    def _emit(self, done: Done, deed: Deed) -> None:
        self._deeds.append(deed.model_copy(update={"n": done.n, "chat": self._chat(done.chat.session), "label": None}))

    def _follow(self, done: Done) -> None:
        """Let the heads of the twin stand where those of the story do, as far as B saw."""
        moved = {told.session for told in done.new if told.id in self._there}
        for session, head in done.heads.items():
            to = self._nearest(head)
            if session in moved or session not in self._heads:
                self._heads[session] = to
            self._go(done, session, to)

    def _go(self, done: Done, session: str, to: str | None) -> None:
        if self._heads.get(session) == to:
            return
        self._heads[session] = to
        turn = self._label(to) if to is not None else None
        self._deeds.append(deed_of(**{"do": "rewind", "turn": turn, "n": done.n, "in": self._chat(session)}))

    def _is_there(self, done: Done) -> bool:
        return any(told.id in self._there for told in done.new)

    def _text(self, done: Done) -> str:
        return next(told.text or "" for told in done.new if told.role == "user")

    def _nearest(self, turn: str | None) -> str | None:
        return next((told.id for told in self._book.up(turn) if told.id in self._there - self._gone), None)

    def _label(self, turn: str) -> str:
        told = self._book.turns[turn]
        n, _, rest = told.key.partition(".")
        return f"@{n}.{rest}"

    def _chat(self, session: str) -> Ref:
        return self._labels.get(session, 0)

    def _forked(self, done: Done) -> str:
        return self._one.at.labels[f"@chat{done.n}"]

    def _delete(self, turn: str) -> None:
        """A turn is deleted: heads that stand there stand at what it followed."""
        self._gone.add(turn)
        for session, head in self._heads.items():
            self._heads[session] = self._nearest(head)
