"""Leaks: whether anything reaches a voice of what it did not see, and whether who saw what is as the rules have it.

After each deed are looked through: all that models were given since for a voice (prompts of replies, of judgements, and
what was prefilled), what was recalled for it, the chats as `seen_by` tells them, and the states on the disk. Each may
hold the words of V only: turns that the member saw, since its last reset, not hidden or deleted, on the path of the
chat; where something is quoted, live in its world; in a state, wherever they are now, as nothing is shown of it that is
not on the path again. Of cards, the voice's own, and of others the first
paragraph; of minds, its own.

What is found has a kind: `unseen` was never the voice's to know, or is not any more; `off the path` it saw, in what was
left since, and where that is quoted from another chat it is `stale`, as it is in any prompt; `unknown` is given to
nobody knows whom; `witnesses` and `cast` are where the book and the story differ; an edit that is heard by more than
what it replaces was is `wider`. All but the stale ones are LEAKS.
"""

import re
from collections.abc import AsyncIterator, Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from agent.quoting import HEADER, PINS
from agent.story.judging import EVERYBODY
from bench.fiction import nonces
from bench.fiction.book import Scope, Told
from bench.fiction.playing import Done, Performance

QUOTED = re.compile(rf"(?:{re.escape(HEADER)}|{re.escape(PINS)})(?:\n(?:On |- )[^\n\x1e]*)+")
Kind = Literal["unseen", "off the path", "stale", "unknown", "witnesses", "cast", "wider"]
LEAKS: frozenset[Kind] = frozenset({"unseen", "off the path", "unknown", "witnesses", "cast", "wider"})


@dataclass(frozen=True, slots=True)
class Leak:
    """Something that is found where it may not be, after deed `n`; `who` by the name they came with."""

    n: int
    kind: Kind
    where: str
    who: str | None
    what: str

    def __str__(self) -> str:
        return f"deed {self.n}: {self.kind} in {self.where} of {self.who}: {self.what}"


class Looker:
    """Looks after each deed of a performance; `looked` counts the places."""

    def __init__(self, performance: Performance) -> None:
        self.looked = dict.fromkeys(("prompts", "prefills", "hits", "seen", "states", "turns"), 0)
        self._at = performance

    async def look(self, done: Done) -> list[Leak]:
        """What is wrong after a deed."""
        found = [*self._given(done), *self._hits(done), *self._witnesses(done), *self._cast(done), *self._states(done)]
        return [*found, *[leak async for leak in self._seen(done)]]

    # -- what a voice was given -----------------------------------------------------------------------------------

    def _given(self, done: Done) -> Iterator[Leak]:
        for each in done.given:
            self.looked["prefills" if each.how == "prefill" else "prompts"] += 1
            if each.voice is None:
                if each.how != "judgement" or nonces.found([each.text]):  # a probe tells of nobody
                    yield self._leak(done, "unknown", each.how, None, each.text[:60] + each.text[-60:])
                continue
            if each.voice == EVERYBODY:
                for voice in self._at.book.present(done.chat.world, done.chat.head):
                    yield from self._held(done, "a judgement of all", voice, each.text, "path")
                continue
            bare = QUOTED.sub("", each.text)
            yield from self._held(done, each.how, each.voice, bare, "path")
            yield from self._held(done, f"quotes of a {each.how}", each.voice, each.text, "world", beside=bare)
            yield from self._cards(done, each.how, each.voice, each.text)

    def _hits(self, done: Done) -> Iterator[Leak]:
        for voice, hit in done.hits:
            self.looked["hits"] += 1
            if voice is None:
                yield self._leak(done, "unknown", "hits", None, hit.text[:60])
                continue
            text = "\n".join([hit.text, *(later.text or "" for later in hit.later)])
            yield from self._held(done, "hits", voice, text, "world")

    def _states(self, done: Done) -> Iterator[Leak]:
        for state in self._at.states():
            self.looked["states"] += 1
            if state.voice is None or state.claims != state.voice:
                yield self._leak(
                    done, "unknown", f"a state of {self._name(state.claims)}", state.voice, state.text[:60]
                )
                continue
            yield from self._held(done, "a state", state.voice, state.text, "ever", session=state.session)
            yield from self._cards(done, "a state", state.voice, state.text)

    async def _seen(self, done: Done) -> AsyncIterator[Leak]:
        book = self._at.book
        for chat in book.chats.values():
            for member in book.cast(chat.world, chat.head).values():
                self.looked["seen"] += 1
                seen = [turn.id for turn in await self._at.agent.stories.seen_by(chat.session, member)]
                due = [told.id for told in book.seen(chat, member, "path")]
                if seen != due:
                    more = sorted(book.turns[id].key for id in set(seen) - set(due))
                    less = sorted(book.turns[id].key for id in set(due) - set(seen))
                    yield self._leak(
                        done, "unseen" if more else "witnesses", "seen_by", member, f"too many {more}, too few {less}"
                    )

    def _held(
        self,
        done: Done,
        where: str,
        voice: str,
        text: str,
        scope: Scope,
        *,
        session: str | None = None,
        beside: str = "",
    ) -> Iterator[Leak]:
        book = self._at.book
        chat = book.chats[session] if session is not None else done.chat
        told = _turns_only(nonces.found([text]) - nonces.found([beside]))
        bad = told - nonces.found(each.text for each in book.seen(chat, voice, scope))
        if bad:
            ever = nonces.found(each.text for each in book.seen(chat, voice, "ever"))
            if unseen := bad - ever:
                yield self._leak(done, "unseen", where, voice, " ".join(sorted(unseen)))
            if off := bad & ever:
                yield self._leak(done, "stale" if beside else "off the path", where, voice, " ".join(sorted(off)))

    def _cards(self, done: Done, where: str, voice: str, text: str) -> Iterator[Leak]:
        own = {nonces.of("p", number) for number, member in self._at.cards.items() if member == voice}
        own |= {nonce for nonce, member in self._at.minds.items() if member == voice}
        bad = {nonce for nonce in nonces.found([text]) if nonce[5] in "pi"} - own
        if bad:
            yield self._leak(done, "unseen", f"cards and minds in a {where}", voice, " ".join(sorted(bad)))

    # -- who saw what ---------------------------------------------------------------------------------------------

    def _witnesses(self, done: Done) -> Iterator[Leak]:
        for told in done.new:
            self.looked["turns"] += 1
            due = self._due(done, told)
            if due is not None and told.witnesses != due:
                kind: Kind = "witnesses"
                if done.instead is not None and not told.witnesses - self._present(told):
                    kind = "wider" if told.witnesses - due else kind
                more, less = told.witnesses - due, due - told.witnesses
                yield self._leak(
                    done, kind, f"turn {told.key}", None, f"too many {self._all(more)}, too few {self._all(less)}"
                )

    def _due(self, done: Done, told: Told) -> frozenset[str] | None:
        """Who sees what is said, by the rules."""
        if told.role == "note":
            return frozenset()
        if done.n < 0:
            return frozenset(self._at.book.cast(done.chat.world, None).values())
        present = self._present(told)
        if told.role == "user":
            you = frozenset({self._at.member["you"]}) & present  # what is told while you are away, you do not see
            if done.whispered is not None:
                return you | {done.whispered}
            if done.instead is not None:
                return present & done.instead.witnesses  # what you did not see yourself stays so
            return present
        among = done.among
        if among is None and told.parent is not None and any(each.role == "user" for each in done.new):
            among = next(each.witnesses for each in done.new if each.role == "user")
        return (present if among is None else present & among) | {told.speaker}

    def _present(self, told: Told) -> frozenset[str]:
        book = self._at.book
        return frozenset(book.present(book.chats[told.session].world, told.parent))

    def _cast(self, done: Done) -> Iterator[Leak]:
        book = self._at.book
        for session, players in done.cast.items():
            chat = book.chats[session]
            seats, present = book.cast(chat.world, chat.head), book.present(chat.world, chat.head)
            due = {(member, seat, member in present) for seat, member in seats.items()}
            found = {(member, seat, there) for member, _, seat, there in players}
            if due != found:
                told = [(self._name(member), seat, there) for member, seat, there in sorted(found ^ due)]
                yield self._leak(done, "cast", "the cast", None, str(told))

    def _leak(self, done: Done, kind: Kind, where: str, who: str | None, what: str) -> Leak:
        return Leak(done.n, kind, where, self._name(who), what)

    def _name(self, member: str | None) -> str | None:
        return next((name for name, id in self._at.member.items() if id == member), member)

    def _all(self, members: Iterable[str]) -> list[str]:
        return sorted(str(self._name(member)) for member in members)


def _turns_only(found: set[str]) -> set[str]:
    return {nonce for nonce in found if nonce[5] not in "opi"}
