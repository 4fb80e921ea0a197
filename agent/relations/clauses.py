"""The clauses of a sentence, read by a language's words as who, does what, to whom: each tells a relationship."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations

from agent.language.words import wordset
from agent.relations.naming import Called, Chunk, End, Kin, Known, Naming
from agent.relations.times import Time
from agent.relations.words import Language, Phrase, Token
from graph.relations import kinds

FAMILY = frozenset({"parent_of", "grandparent_of", "sibling_of", "relative_of"})  # it ends with nobody's leaving
DENIABLE = wordset("met likes trusts works_with works_for lives_with lives_in knows manages teaches treats owns")
FELT = frozenset({"likes", "trusts", "knows", "friend_of"})  # of which the past tense does not say that it is over
NO_PLACES = frozenset(kinds()) - {"lives_in", "likes", "knows", "owns", "works_for", "member_of", "other"}
OF_THINGS = frozenset({"lives_in", "works_for", "member_of", "owns"})  # their objects are nobody


@dataclass(frozen=True, slots=True)
class FoundRelation:
    """A relationship as it was said, from subject to object, with the word of relationship if one was used."""

    subject: End
    kind: str
    object: End
    since: str | None
    until: str | None
    polarity: bool
    ended: bool
    word: str | None
    sentence: str


@dataclass(slots=True)
class _Helped:
    """What the helping words before a verb told: "has never really", "did not", "used to"."""

    verbs: list[tuple[str, str]] = field(default_factory=list)  # lemma and form
    negated: bool = False
    never: bool = False
    used: bool = False


@dataclass(slots=True)
class Clauses:
    """Reads one sentence; of its `doubted` tokens only what they take for granted of the speaker's people."""

    naming: Naming
    words: Language
    known: Known
    times: Sequence[Time]
    sentence: str
    doubted: Sequence[bool]
    begin: int = 0
    found: list[FoundRelation] = field(default_factory=list)

    def read(self) -> list[FoundRelation]:
        """All of the sentence, clause by clause."""
        at, fresh, subject, opening = 0, True, None, True
        size = len(self.naming.tokens)
        while at < size:
            before = self.naming.before(at)
            if self.naming.has("who", at) and (who := before) and not self.naming.has("single", at + 1):
                end = self._does(at + 1, who)
                subject = who if self.naming.has("and", self._until(at + 1)) else None
                at, fresh, opening = end or at + 1, False, False
                continue
            if (end := (self._whom(at, before) if before else None) or self._mine(at)) is not None:
                at, fresh, opening = end, False, False
                continue
            if fresh or self.naming.has("nominative", at):
                self.begin, fresh = at, True
                chunk = self.naming.chunk(at)
                if chunk is None and self.naming.low(at - 1) == "(":  # "Patrice (works with me at Kroger)"
                    noted = self.naming.ended.get(at - 1)
                    subject = noted if noted and len(noted.ends) == 1 else None
                lead = self.words.starts("leads", self.naming.tokens, at)
                if chunk is None and self._implied(at, opening=opening):
                    chunk = Chunk([self.known.speaker], at)
                end = self._clause(chunk) if chunk else None
                if end is None and chunk is None and subject is not None:
                    end = self._does(at, subject)
                if end is None and lead:
                    at += lead
                    continue
                opening = opening and chunk is None and not self.naming.tokens[at].word
                if chunk is not None:
                    self._tell(chunk, at)
                    subject = chunk if end is not None or subject is None else None
                    end = end or chunk.end
                if end is not None:
                    at, fresh = max(end, at + 1), False
                    continue
            token = self.naming.tokens[at]
            ended = (not token.word and token.low not in ("'s", "'", "-")) or self.words.has("joins", token.low)
            if not ended and not fresh and (chunk := self.naming.single(at)) is not None:
                self._tell(chunk, at)
                at = max(chunk.end, at + 1)
                continue
            if self.words.has("who", token.low):
                subject = None
            at, fresh = at + 1, ended
        return self.found

    def _implied(self, at: int, *, opening: bool) -> bool:
        """Whether who speaks is left out: "Just moved to Lyon", "trabajo en Siemens"."""
        if opening and self.words.starts("implied", self.naming.tokens, at):
            return True
        while self.naming.has("adverbs", at) or self.naming.has("never", at):
            at += 1
        forms = self.words.forms.get(self.naming.low(at), ())
        known = any(form in ("past", "ing") and lemma in self.words.phrases for lemma, form in forms)
        return opening and bool(self.words.option("implied")) and (known or self.naming.has("gets", at))

    def _mine(self, at: int) -> int | None:
        """What is told by "my job at Siemens", wherever it stands, and where that ends."""
        if not self.naming.has("mine", at) or self.doubted[at]:
            return None
        return self._says(at, Chunk([self.known.speaker], at), _Helped())

    def _tell(self, chunk: Chunk, at: int) -> None:
        """What a chunk tells by itself; who died is nobody's any more, but for family."""
        if self.words.has("not", self.naming.low(at - 1)):
            return
        died = self.words.starts("died", self.naming.tokens, chunk.end) > 0
        for told in chunk.told:
            over = died and told.noun.kind not in FAMILY
            until = self._when(self._until(chunk.end)).get("in") if over else None
            self._called(replace(told, over=told.over or over), until=until)

    def _when(self, end: int) -> dict[str, str | None]:
        """The times that the clause up to a token tells."""
        return {time.role: time.value for time in self.times if self.begin <= time.at <= end}

    def _called(
        self, told: Called, *, polarity: bool = True, since: str | None = None, until: str | None = None
    ) -> None:
        """A relationship by its word; of a symmetric one whoever was said first stands first."""
        ends = (told.owner, told.who)
        if any(self.words.has("tools", str(end).lower()) for end in ends):
            return
        symmetric = kinds()[told.noun.kind].symmetric
        if (symmetric and told.first) or (not symmetric and not told.noun.turned):
            ends = (told.who, told.owner)
        self._add(ends, told.noun.kind, since, until, polarity, told.over, told.noun.word)

    def _add(
        self,
        ends: tuple[End, End],
        kind: str,
        since: str | None,
        until: str | None,
        polarity: bool,
        ended: bool,
        word: str | None = None,
    ) -> None:
        if ends[0] != ends[1]:
            self.found.append(FoundRelation(ends[0], kind, ends[1], since, until, polarity, ended, word, self.sentence))

    def _clause(self, chunk: Chunk) -> int | None:
        """A clause about whom its first chunk names, and where it ends; None where nothing was read."""
        at = self.naming.aside(chunk.end)
        comma = self.naming.low(at) == ","
        if (whom := self._whom(at + comma, chunk)) is not None:
            return self._does(whom, chunk) or whom
        if self.naming.has("who", at + comma):
            end = self._does(at + comma + 1, chunk)
            after = end if end is not None else self._until(at + comma + 1)
            main = self._does(after + 1, chunk) if comma and self.naming.low(after) == "," else None
            return main or (self._does(after, chunk) if end and not comma else None) or end
        return self._does(at, chunk) or (self._does(at + 1, chunk) if comma and chunk.told else None)

    def _whom(self, at: int, chunk: Chunk) -> int | None:
        """What "… who I share a flat with" tells of who was named before, and where that ends."""
        who = self.naming.has("whom", at)
        if not self.naming.has("single", at + who) or (self.naming.low(at - 1) == "," and not who):
            return None
        return self._does(at + who + 1, Chunk([self.known.speaker], at), chunk) if chunk.ends else None

    def _does(self, at: int, subject: Chunk, what: Chunk | None = None) -> int | None:
        """What somebody does (to `what`, said before), and where that ends; None where it is nothing that is known."""
        helped = _Helped()
        if self.words.option("implied") and any(
            form == "ing" for _, form in self.words.forms.get(self.naming.low(at), ())
        ):
            helped.verbs.append(("be", "base"))  # "Working at Siemens now"
        while at < len(self.naming.tokens) and not self.doubted[at]:
            end = None if what else self._is(at, subject, helped) or self._has(at, subject, helped)
            end = end or self._says(at, subject, helped, what)
            if end is not None:
                return end
            low = self.naming.low(at)
            forms = self.words.forms.get(low, set())
            helping = [each for each in forms if self.words.has("helping", each[0])]
            if size := self.words.starts("used", self.naming.tokens, at):
                helped.used, at = True, at + size - 1
            elif self.words.has("not", low):
                helped.negated = True
                helped.never |= self.words.has("never", low)
            elif helping:
                helped.verbs.append(min(helping))
            elif not self.words.has("adverbs", low) and not self.words.has("clitics", low):
                return None
            at += 1
        return None

    def _is(self, at: int, subject: Chunk, helped: _Helped) -> int | None:
        """ "Ada is my sister", "Ada's boss is Carla", "my boss is called Carla"."""
        forms = self.words.forms.get(self.naming.low(at), set())
        be = next((each for each in forms if self.words.has("copula", each[0])), None)
        if be is None:
            return None
        at, negated = at + 1, helped.negated
        while self.words.has("adverbs", self.naming.low(at)) or self.words.has("not", self.naming.low(at)):
            negated = negated or self.words.has("not", self.naming.low(at))
            at += 1
        if subject.noun is None and len(subject.ends) == 1 and isinstance(kin := subject.ends[0], Kin):
            subject = replace(subject, noun=self.words.nouns.get(tuple(kin.word.split())), owner=kin.owner)
        unnamed = subject.noun is not None and subject.owner is not None
        at += called if (called := unnamed and self.naming.has("named", at)) else 0
        self.naming.subject = subject.ends
        what = self.naming.chunk(at, whole=True)
        self.naming.subject = []
        what = what and self.naming.ours(what, at)
        if what is None and called:
            end, small = self.naming.small(at, subject.noun, named=True) if subject.noun else (at, "")
            what = Chunk([small], end) if small else None
        if what is None or not self._may_end(what.end):
            return None
        state = self._state(be, helped, negated, self._until(what.end))
        if state is None:
            return None
        over, polarity, times = state
        called_so = [
            Called(part.owner, part.noun, who, part.over, first=True)
            for part in (what.parts or [what])
            if part.noun is not None and part.owner is not None
            for who in subject.ends
            if not subject.parts or part.noun.plural or len(subject.ends) == 1
        ]
        if not called_so and unnamed and subject.noun and subject.owner is not None:
            names = [end for end in what.ends if isinstance(end, str) and end != self.known.speaker]
            as_many = len(names) == len(what.ends) and (subject.noun.plural or len(names) == 1)
            if what.noun is None and what.ends and as_many:
                called_so = [Called(subject.owner, subject.noun, name, subject.over) for name in names]
                if polarity and len(names) == 1 and isinstance(subject.owner, str):
                    self.known.call(Kin(subject.owner, subject.noun.word), names[0])
        if not called_so:
            return None
        for told in called_so:
            kind = told.noun.kind
            if kind in OF_THINGS and isinstance(told.who, Kin):
                return None
            self.known.note(told.who, self.naming.start + at, told.noun.gender)
            if polarity and isinstance(told.who, str) and isinstance(told.owner, str) and len(subject.ends) == 1:
                self.known.call(Kin(told.owner, told.noun.word), told.who)
            if polarity:
                ended = told.over or (over and kind not in FAMILY)
                if over and kind in FAMILY and negated:
                    continue
                self._called(
                    Called(told.owner, told.noun, told.who, ended, told.first),
                    since=times.get("since"),
                    until=times.get("until"),
                )
            elif kind in DENIABLE:
                self._called(Called(told.owner, told.noun, told.who, False, told.first), polarity=False)
        for told in what.told:
            self._called(told)
        return what.end

    def _has(self, at: int, subject: Chunk, helped: _Helped) -> int | None:
        """ "I have a sister called Ada", "Bob's got two kids, Timo and Bea"."""
        size = self.words.starts("has", self.naming.tokens, at) or self.words.starts("gets", self.naming.tokens, at)
        if not size or helped.negated or helped.used or len(subject.ends) > 2:
            return None
        what = self.naming.chunk(at + size)
        if what is None or what.noun is None or what.owner is not None:
            return None
        if not what.ends and not what.noun.plural and len(subject.ends) == 1 and isinstance(subject.ends[0], str):
            self.known.note(Kin(subject.ends[0], what.noun.word), self.naming.start + at, what.noun.gender)
        if not what.ends:
            return None
        past = any(form == "past" for _, form in self.words.forms.get(self.naming.low(at), ())) and not helped.verbs
        past = past and not self.naming.has("gets", at)
        for owner in subject.ends:
            for who in what.ends:
                self._called(Called(owner, what.noun, who, past and what.noun.kind not in FAMILY))
        return what.end

    def _says(self, at: int, subject: Chunk, helped: _Helped, whom: Chunk | None = None) -> int | None:
        """A phrase with its object, and what its verb says besides: "works with Bob at Siemens"."""
        low = self.naming.low(at)
        for lemma, form in sorted(self.words.forms.get(low, {(low, "base")})):
            for phrase in self.words.phrases.get(lemma, ()):
                whole = whom is None or not (phrase.mine or phrase.together or "~" in phrase.words)
                if not whole or not self._fits(phrase, lemma, form, subject, helped):
                    continue
                for end, what, negated in self._match(phrase, 1, at + 1, subject, whom):
                    if self._said(phrase, (lemma, form), subject, what, helped, negated, end):
                        if helped.negated or negated:
                            return end
                        end = self._besides(phrase, (lemma, form), subject, helped, end)
                        return self._so_does(phrase, (lemma, form), subject, what, helped, end)
        return None

    def _besides(self, phrase: Phrase, form: tuple[str, str], subject: Chunk, helped: _Helped, at: int) -> int:
        for other in self.words.phrases[phrase.words[0]]:
            unlike = other.kind != phrase.kind and other.begins == phrase.begins and not other.together
            if not unlike or len(other.words) < 2 or other.words[1] in (*self.words.forms, "*"):
                continue
            for end, what, _ in self._match(other, 1, at, subject):
                if self._said(other, form, subject, what, helped, False, end):
                    return end
        return at

    def _so_does(
        self, phrase: Phrase, form: tuple[str, str], subject: Chunk, what: Chunk | None, helped: _Helped, at: int
    ) -> int:
        """What "and so does Callum" tells after "Priya reports to me", and where that ends."""
        size = self.words.starts("so_does", self.naming.tokens, at)
        other = self.naming.single(at + size) if size and not phrase.together else None
        if other is None or not other.ends or not self._may_end(other.end):
            return at
        return other.end if self._said(phrase, form, other, what, helped, False, other.end) else at

    def _fits(self, phrase: Phrase, lemma: str, form: str, subject: Chunk, helped: _Helped) -> bool:
        """Whether a verb's form goes with its subject and with the helping verbs before it."""
        several = len(subject.ends) + (subject.also is not None)
        if phrase.together and (several < 2 or (several > 2 and kinds()[phrase.kind].single)):
            return False
        if not self.words.option("agrees"):
            return form != "done" or bool(helped.verbs) or lemma == "be"
        if helped.used:
            return form == "base"
        if not helped.verbs:
            many = len(subject.ends) > 1 or subject.ends == [self.known.speaker] or lemma == "be"
            bare = lemma not in self.words.data["verbs"]  # "can not stand"
            been = (lemma, form) == ("be", "done")  # "Been in the choir since May"
            return bare or been or form in ("past", "base" if many else "third") or (lemma == "be" and form == "third")
        last = helped.verbs[-1][0]
        been = lemma == "be" and form == "done"
        return form == {"do": "base", "have": "done", "be": "ing"}.get(last, "") or been

    def _match(
        self, phrase: Phrase, word: int, at: int, subject: Chunk, what: Chunk | None = None, negated: bool = False
    ) -> Iterator[tuple[int, Chunk | None, bool]]:
        """The ways in which a phrase's words stand from a token on: where they end, the object, and whether "not"."""
        rest = phrase.words[word:]
        if not rest and (phrase.together or phrase.mine or what is not None):
            yield at, what, negated
            return
        low = self.naming.low(at)
        if not rest or rest[0] == "~":
            self.naming.subject = subject.ends
            what = self.naming.chunk(at, whole=True)
            self.naming.subject = []
            no = self.words.has("not", low)
            if what is None and (no or self.words.has("adverbs", low)):  # "n'aime pas Bob", "manages both Ada and Bob"
                yield from self._match(phrase, word, at + 1, subject, None, negated or no)
            elif what is not None and (what.ends or what.noun):
                yield from self._match(phrase, word + 1, what.end, subject, what, negated)
                if what.parts:  # "in Ghent, my husband and I": no list
                    yield from self._match(phrase, word + 1, what.parts[0].end, subject, what.parts[0], negated)
        elif rest[0] == "*":
            for more in range(1, 5):
                passed = self.naming.tokens[at : at + more]
                if len(passed) < more or any(not self._passes(phrase, each) for each in passed):
                    return
                yield from self._match(phrase, word + 1, at + more, subject, what, negated)
        elif low == rest[0] or any(lemma == rest[0] for lemma, _ in self.words.forms.get(low, ())):
            yield from self._match(phrase, word + 1, at + 1, subject, what, negated)
        elif self.words.has("adverbs", low) or self.words.has("not", low):
            yield from self._match(phrase, word, at + 1, subject, what, negated or self.words.has("not", low))

    def _passes(self, phrase: Phrase, token: Token) -> bool:
        named = token.capital and not phrase.loose and not self.words.has("no_names", token.low)
        said = token.text[0].isalnum() and not (named and self.words.option("agrees"))
        return said and token.low not in phrase.but and not self.words.has("joins", token.low)

    def _said(
        self,
        phrase: Phrase,
        form: tuple[str, str],
        subject: Chunk,
        what: Chunk | None,
        helped: _Helped,
        negated: bool,
        end: int,
    ) -> bool:
        """Whether a phrase that matched says something of people that are known; then it is kept."""
        known = bool(subject.told) or any(isinstance(one, Kin) for one in subject.ends)
        if not subject.ends or self.naming.low(end) in phrase.not_before or (phrase.needs == "name" and known):
            return False
        if phrase.careful and phrase.over and self.naming.has("ours", subject.end - 1):
            return False  # several leave a town sooner than an employer
        if "~" not in phrase.words[:-1]:
            loose = phrase.loose and end < len(self.naming.tokens) and self.naming.tokens[end].word
            before = what is not None and what.end <= subject.end  # "who I live with is …"
            goes_on = before or self.words.has("mine", phrase.words[0])
            goes_on = goes_on and (self.naming.has("tells", end) or self.naming.has("named", end))
            if not self._may_end(end) and not loose and not goes_on:
                return False
        if what is None and phrase.together:
            also = [] if subject.also is None else [subject.also]
            pairs = list(combinations([*subject.ends, *also], 2))
        elif phrase.mine:
            pairs = [(one, self.known.speaker) for one in subject.ends]
        else:
            pairs = [(one, other) for one in subject.ends for other in (what.ends if what else ())]
        if what is not None and not what.ends:
            return not (helped.negated or negated)  # "with my parents": nobody to name, and the clause goes on
        back = -1 if phrase.mine and phrase.turned else 1  # whoever speaks is somebody anyway
        if not pairs or not all(self._plausible(phrase, *pair[::back]) for pair in pairs):
            return False
        until = self._until(end)
        lasts = {"since", "until", "lasting"} if helped.verbs else {"since", "until"}
        if phrase.needs == "time" and not self._when(until).keys() & lasts:
            return False
        negated |= helped.negated or (bool(self.words.option("not_after")) and self.naming.has("not", end))
        state = self._state(form, helped, negated, until, phrase)
        if state is None:
            return False
        over, polarity, times = state
        if not polarity and phrase.kind not in DENIABLE:
            return False
        over = over and phrase.kind not in FAMILY
        for one, other in pairs:
            ends = (other, one) if phrase.turned else (one, other)
            self._add(ends, phrase.kind, times.get("since"), times.get("until"), polarity, over)
            if phrase.kind in OF_THINGS and not self.words.has("people", str(ends[1]).lower()):
                self.known.things.add(ends[1])
        for told in what.told if what is not None else ():
            self._called(told)
        return True

    def _plausible(self, phrase: Phrase, one: End, other: End) -> bool:
        """Whether the ends of a phrase are people and places as far as anything tells."""
        people, place = (
            isinstance(other, Kin) or other == self.known.speaker or self.words.has("people", other.split()[0].lower()),
            isinstance(other, str) and self.words.starts("places", self.words.tokens(other), 0) > 0,
        )
        person = people or (other in self.known.people and self.known.people[other][1] is not None)
        tool = isinstance(other, str) and self.words.has("tools", other.lower())
        if tool and (phrase.careful or phrase.kind != "works_for"):
            return False
        if phrase.kind == "lives_in":
            return not person
        group = other in self.known.groups
        group |= isinstance(other, str) and self.words.has("groups", other.split()[-1].lower())
        doctor = isinstance(other, str) and self.words.has("doctors", other.split()[0].lower().rstrip("."))
        if (phrase.needs == "group" and not group) or (phrase.needs == "doctor" and not doctor):
            return False
        if phrase.careful and (person or place or group):
            return False
        if phrase.kind == "owns" and self.known.speaker == (one if phrase.turned else other):
            return False
        if one == other or (place and phrase.kind in NO_PLACES):
            return False
        return not (phrase.kind in NO_PLACES and other in self.known.things)

    def _may_end(self, at: int) -> bool:
        """Whether a name or chunk can end before a token: "Bob jokes" is not about Bob."""
        if at >= len(self.naming.tokens):
            return True
        token = self.naming.tokens[at]
        if not token.word:
            return token.low not in ("'s", "/", "'")
        return any(self.naming.has(role, at) for role in ("after", "not", "adverbs")) and not self.naming.has(
            "tells", at
        )

    def _until(self, at: int) -> int:
        """Where the clause around a token ends."""
        tokens = self.naming.tokens
        while at < len(tokens) and tokens[at].word and not self.words.has("joins", tokens[at].low):
            at += 1
        return at

    def _state(
        self, form: tuple[str, str], helped: _Helped, negated: bool, end: int, phrase: Phrase | None = None
    ) -> tuple[bool, bool, dict[str, str | None]] | None:
        """Whether what is said is over, whether it holds, and since and until when; None where that is unclear."""
        when = self._when(end)
        since, until = when.get("since"), when.get("until")
        begins = bool(phrase and phrase.begins) or self.words.has("becoming", form[0])
        over = bool(phrase and phrase.over)
        perfect = any(verb in self.words.data["words"]["perfect"] for verb, _ in helped.verbs) or form[1] == "done"
        first = helped.verbs[0] if helped.verbs else form
        past = first[1] == "past" and not perfect
        kind = phrase.kind if phrase else ""
        done = bool(phrase and phrase.past)
        gone = any(self.naming.has("anymore", at) for at in range(self.begin, end))
        if negated:
            if gone and not begins and not over and not (phrase and phrase.denied):
                return True, True, {"until": when.get("in") or until}
            if helped.never and kind == "met":
                return False, False, {}
            if begins or over or gone or (past and not helped.never) or (phrase and (phrase.denied or phrase.together)):
                return None
            return False, False, {"since": since}
        if helped.used:
            return (True, True, {"until": until}) if not begins and not over else None
        if begins or over:
            if not (past or perfect or done or (over and phrase and phrase.words[0] == "be")):
                return None
            if over:
                return True, True, {"until": until or when.get("in") or since}
            ended = until is not None
            return ended, True, {"since": since or when.get("in"), "until": until}
        if phrase and phrase.denied:
            return (False, False, {}) if not past and not perfect else None
        lasts = "since" in when or "lasting" in when or kind in FELT
        if perfect and phrase and not lasts and not any(verb == "be" for verb, _ in (*helped.verbs, form)):
            return None  # "I've worked at Siemens": still or once?
        if past and kind in FELT and until is None:
            return None
        return past or until is not None, True, {"since": since, "until": until}
